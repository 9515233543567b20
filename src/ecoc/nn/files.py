"""Trained models as files: weights as safetensors, everything else as JSON, no pickle."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ecoc._checks import check_int, check_number, counted
from ecoc.codes import Codebook
from ecoc.codes.files import read_json, to_bytes
from ecoc.errors import EcocError, FileFormatError, InvalidInputError
from ecoc.nn.base import NetworkEstimator
from ecoc.nn.classifier import ECOCNetworkClassifier, MulticlassTwin
from ecoc.nn.network import NetworkClassifier
from ecoc.nn.networks.architectures import Factory, InputFormat
from ecoc.nn.training.checkpoints import read_tensors, write_tensors
from ecoc.nn.training.trainer import TrainingRecord

__all__ = ["load_model", "write_model"]

NETWORK_SUFFIX = ".safetensors"
_KIND = "ecoc-nn-model"
_CLASSES: dict[str, type[NetworkEstimator]] = {
    kind.__name__: kind for kind in (ECOCNetworkClassifier, MulticlassTwin, NetworkClassifier)
}
_NOT_KEPT = {"augment", "checkpoint"}
"""Parameters that mean nothing to whoever reads the file."""

_LABEL_TYPE = re.compile(r"[<>=|]?(?:b1|[iuf][1248]|U[0-9]{1,4}|O)")


def write_model(model: NetworkEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, whose name must end in ``.safetensors``."""
    suffix = Path(path).suffix
    if suffix.lower() != NETWORK_SUFFIX:
        # What reads models tells them by their names.
        raise InvalidInputError(
            f"The name of a network's file must end in {NETWORK_SUFFIX}, not {suffix!r}."
        )
    tensors = _weights(model)
    codebook = getattr(model, "codebook_", None)
    metadata = {
        "estimator": type(model).__name__,
        "parameters": _parameters(model),
        "classes": _labels(model.classes_),
        "inputs": {
            "given": list(model.inputs_.given),
            "shape": list(model.inputs_.shape),
            "range": [model.inputs_.low, model.inputs_.high],
        },
        "codebook": None if codebook is None else to_bytes(codebook, ".json").decode(),
        "codebook_reason": getattr(model, "codebook_reason_", None),
        "outlier_threshold": getattr(model, "outlier_threshold_", None),
        "records": [[list(r.losses), list(r.validation_losses)] for r in model.records_],
    }
    write_tensors(Path(path), tensors, _KIND, metadata)


def load_model(
    path: str | os.PathLike[str],
    *,
    architecture: str | Factory | None = None,
) -> Any:
    """Read a model of any kind.

    Parameters
    ----------
    path : str or path
        The file.
    architecture : callable, optional
        The factory that made the networks, if they were not made by name.

    Returns
    -------
    ECOCNetworkClassifier, MulticlassTwin or NetworkClassifier
        Fitted, and able to predict the very same.

    Raises
    ------
    FileFormatError
        If the file is not a whole model; the message says why.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCNetworkClassifier(architecture="mlp", epochs=1, random_state=0).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/iris.safetensors")
    ...     again = load_model(f"{folder}/iris.safetensors")
    >>> bool((again.decision_function(X) == model.decision_function(X)).all())
    True
    """
    tensors, metadata = read_tensors(Path(path), _KIND)
    try:
        estimator = _CLASSES.get(metadata["estimator"])
        if estimator is None:
            raise ValueError(f"no estimator {metadata['estimator']!r} is known")
        model = _restored(estimator, metadata, architecture)
        _fill(model, tensors)
    except FileFormatError:
        raise
    except InvalidInputError as error:
        raise FileFormatError(f"{path}: {error}") from error
    except (KeyError, TypeError, ValueError, ArithmeticError, RuntimeError, EcocError) as error:
        what = f"{type(error).__name__}: {error}"
        raise FileFormatError(f"{path}: not a whole model ({what}).") from error
    return model


def _parameters(model: NetworkEstimator) -> dict[str, Any]:
    """The parameters that are plain data; a codebook is stored as what it was used as."""
    plain = {}
    for name, value in model.get_params(deep=False).items():
        if name in _NOT_KEPT:
            continue
        if isinstance(value, np.generic):
            plain[name] = value.item()
        elif value is None or isinstance(value, bool | int | float | str):
            plain[name] = value
        elif isinstance(value, tuple | list) and name != "codebook":
            plain[name] = [float(v) if isinstance(v, float) else int(v) for v in value]
        # Generators, factories and codebooks are left out here.
    return plain


def _restored(
    kind: type[NetworkEstimator], metadata: Mapping[str, Any], architecture: str | Factory | None
) -> Any:
    parameters = dict(metadata["parameters"])
    known = set(kind().get_params())
    if not set(parameters) <= known:
        raise ValueError(f"unknown parameters {sorted(set(parameters) - known)}")
    for name in ("input_shape", "input_range"):
        if parameters.get(name) is not None:
            parameters[name] = tuple(parameters[name])
    if architecture is not None:
        parameters["architecture"] = architecture
    elif "architecture" not in parameters:
        raise InvalidInputError(
            "the networks were made by a factory; give it as architecture= to read them."
        )
    model: Any = kind(**parameters)
    model.classes_ = _restored_labels(metadata["classes"])
    model.inputs_ = _restored_inputs(metadata["inputs"])
    model.records_ = tuple(
        TrainingRecord(_restored_losses(losses), _restored_losses(validation))
        for losses, validation in metadata["records"]
    )
    if model.reject_outliers is not None:
        # What rejects has a threshold; files of before know neither.
        model.outlier_threshold_ = check_number("outlier_threshold", metadata["outlier_threshold"])
    if metadata["codebook"] is not None:
        model.codebook_ = _restored_codebook(metadata["codebook"], len(model.classes_))
        model.codebook_reason_ = str(metadata["codebook_reason"])
        if "codebook" not in parameters:
            model.codebook = model.codebook_
    return model


def _restored_inputs(stored: Mapping[str, Any]) -> InputFormat:
    given, shape = (
        tuple(check_int(name, size, minimum=1) for size in stored[name])
        for name in ("given", "shape")
    )
    if not given or math.prod(given) != math.prod(shape):
        raise ValueError(f"inputs of the form {given} cannot be taken for {shape}")
    low, high = (check_number("range", end) for end in stored["range"])
    if not low < high:
        raise ValueError(f"no input lies between {low} and {high}")
    return InputFormat(given, shape, low, high)


def _restored_losses(stored: Iterable[Any]) -> tuple[float, ...]:
    return tuple(check_number("a loss", loss) for loss in stored)


def _restored_codebook(text: Any, n_classes: int) -> Codebook:
    if not isinstance(text, str):
        raise TypeError("its codebook is no text")
    try:
        codebook = read_json(text.encode(), False).codebook
    except FileFormatError as error:
        raise ValueError(f"its codebook: {error}") from error
    if codebook.n_classes != n_classes:
        raise ValueError(f"{codebook.n_classes} codewords for {n_classes} classes")
    return codebook


def _labels(classes: npt.NDArray[Any]) -> dict[str, Any]:
    if classes.dtype.kind not in "iufbU" and not all(isinstance(c, str) for c in classes):
        raise InvalidInputError(
            f"Only labels that are numbers or text can be saved, not {classes.dtype}."
        )
    return {"dtype": classes.dtype.str, "values": classes.tolist()}


def _restored_labels(stored: Mapping[str, Any]) -> npt.NDArray[Any]:
    form = _LABEL_TYPE.fullmatch(stored["dtype"])
    if form is None:
        raise ValueError(f"labels cannot be of the type {stored['dtype']!r:.80}")
    dtype = np.dtype(stored["dtype"])
    values = stored["values"]
    if dtype.kind in "OU" and not all(isinstance(value, str) for value in values):
        raise TypeError("labels of text must be texts")
    classes = np.array(values, dtype=dtype)
    if classes.ndim != 1 or len(classes) < 2 or len(np.unique(classes)) != len(classes):
        raise ValueError("the classes must be two or more different labels")
    return classes


def _fill(model: Any, tensors: Mapping[str, Tensor]) -> None:
    """Give the model its networks; on the meta device they take no memory before they fit."""
    codebook = getattr(model, "codebook_", None)
    if codebook is not None and not model.shared_trunk and codebook.n_columns > len(tensors):
        raise ValueError(
            f"{counted(len(tensors), 'weight')} for {counted(codebook.n_columns, 'column')}"
        )
    with torch.device("meta"):
        model._rebuild()
    expected = _weights(model)
    if set(expected) != set(tensors):
        raise ValueError("the weights are not those of this architecture")
    for name, value in tensors.items():
        if value.shape != expected[name].shape or value.dtype != expected[name].dtype:
            raise ValueError(
                f"{name} has the form {tuple(value.shape)} {value.dtype}, not "
                f"{tuple(expected[name].shape)} {expected[name].dtype}"
            )
        if value.is_floating_point() and not bool(torch.isfinite(value).all()):
            raise ValueError(f"{name} has values that are not finite")
    for place, network in enumerate(model._networks()):
        own = {key: tensors[f"{place}/{key}"] for key in network.state_dict()}
        network.load_state_dict(own, assign=True)
        network.eval().requires_grad_(False)


def _weights(model: NetworkEstimator) -> dict[str, Tensor]:
    """The weights of all networks, by the place of the network and their name in it."""
    return {
        f"{place}/{key}": value
        for place, network in enumerate(model._networks())
        for key, value in network.state_dict().items()
    }
