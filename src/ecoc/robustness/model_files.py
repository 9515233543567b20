"""A trained model from a file and samples for it, ready to be attacked or certified."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int
from ecoc._files import read_arrays, read_bytes
from ecoc.datasets import DATASETS, Dataset, load_dataset
from ecoc.errors import FileFormatError, InvalidInputError

__all__ = ["ModelWithSamples", "read_model_with_samples"]


@dataclass(frozen=True, eq=False)
class ModelWithSamples:
    """A model, samples in the units that it takes, and what these units are.

    Attributes
    ----------
    model : object
        What :func:`ecoc.robustness.evaluate_robustness` takes.
    X, y : arrays
        The samples and their labels.
    box : tuple of float or None
        The range of a feature.
    units : str
        What a radius is measured in.
    """

    model: Any
    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    box: tuple[float, float] | None
    units: str


def read_model_with_samples(
    model: str,
    data: str,
    *,
    folder: str | None = None,
    n_samples: int | None = None,
    random_state: int = 0,
) -> ModelWithSamples:
    """Read a model, and samples for it.

    Parameters
    ----------
    model : str
        A ``.skops`` file of ``ecoc fit``, or a ``.safetensors`` file of :mod:`ecoc.nn`.
    data : str
        For a table model a CSV file that has the classes too. For a network an NPZ file with
        the arrays X and y, or the name of a data set, whose test part is taken, scaled to the
        range that the network was trained on.
    folder : str, optional
        The folder of data files for data sets.
    n_samples : int, optional
        Take so many samples at random.
    random_state : int, default=0
        Which ones.
    """
    suffix = Path(model).suffix.lower()
    if suffix == ".skops":
        loaded = _table_model(model, data)
    elif suffix == ".safetensors":
        loaded = _network(model, data, folder)
    else:
        raise InvalidInputError(
            f"The model must be a .skops file (ecoc fit) or a .safetensors file (ecoc.nn), "
            f"not {model!r}."
        )
    if n_samples is None or check_int("n_samples", n_samples, minimum=1) >= len(loaded.X):
        return loaded
    rows = np.random.default_rng(random_state).permutation(len(loaded.X))[:n_samples]
    return replace(loaded, X=loaded.X[rows], y=loaded.y[rows])


def _table_model(path: str, data: str) -> ModelWithSamples:
    from ecoc.multiclass import load_model
    from ecoc.tables import TableModel, read_table

    model = TableModel.of(load_model(path))
    table = read_table(data)
    if model.target is None:
        raise InvalidInputError(
            "The model does not know which column has the classes; train it with ecoc fit."
        )
    table.check_column("The target", model.target)
    classifier, numbers = model.reach(table)
    labels = np.array(table.column(model.target)).astype(classifier.classes_.dtype)
    scaled = classifier is not model.pipeline
    return ModelWithSamples(
        classifier,
        np.asarray(numbers, dtype=np.float64),
        labels,
        None,
        "standard deviations of each feature" if scaled else "the features' own units",
    )


def _network(path: str, data: str, folder: str | None) -> ModelWithSamples:
    from ecoc._checks import require

    require("torch", extra="nn")
    from ecoc.nn import load_model

    network = load_model(path)
    low, high = network.input_range_
    if data in DATASETS:
        dataset = load_dataset(data, data=folder)
        cut = dataset.n_train or 0
        values, labels = _laid_out(dataset)[cut:], dataset.y[cut:]
        values = low + (high - low) * values / values.max()
    else:
        values, labels = _read_arrays(data)
    shape = network.inputs_.given
    if values[0].size != int(np.prod(shape)):
        raise InvalidInputError(
            f"The samples must have the {int(np.prod(shape))} values that the network takes, not "
            f"{values[0].size}."
        )
    return ModelWithSamples(
        network, values.reshape(-1, *shape), labels, (low, high), "the inputs' range"
    )


def _laid_out(dataset: Dataset) -> npt.NDArray[np.float32]:
    """The samples of a data set, colours before pixels."""
    values = dataset.X if dataset.image_shape is None else dataset.images
    return (np.moveaxis(values, 3, 1) if values.ndim == 4 else values).astype(np.float32)


def _read_arrays(path: str) -> tuple[npt.NDArray[np.float32], npt.NDArray[Any]]:
    try:
        arrays = read_arrays(read_bytes(path), kinds="biufU")
    except FileFormatError as error:
        raise FileFormatError(
            f"{path!r} is neither the name of a data set nor an NPZ file of X and y: {error}"
        ) from error
    if not {"X", "y"} <= set(arrays):
        raise FileFormatError(f"{path}: must have the arrays X and y.")
    values, labels = arrays["X"], arrays["y"]
    if labels.ndim != 1 or values.shape[:1] != labels.shape or not values.size:
        raise FileFormatError(
            f"{path}: X must have a sample for each label of y, at least one, not the shapes "
            f"{values.shape} and {labels.shape}."
        )
    if values.dtype.kind == "U" or not np.isfinite(values).all():
        raise FileFormatError(f"{path}: X must have finite numbers only.")
    return values.astype(np.float32), labels
