"""Trained models in files, by skops, which runs no code from the file, and their checks."""

from __future__ import annotations

import copy
import importlib
import inspect
import json
import os
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from io import BytesIO
from types import ModuleType
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.metadata_routing import MetadataRequest
from sklearn.utils.validation import check_is_fitted

from ecoc._checks import counted, listing
from ecoc._files import check_destination, check_zip, read_bytes, write_atomically
from ecoc.codes import Codebook, Provenance
from ecoc.design import Design
from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.multiclass.classifier import ECOCClassifier
from ecoc.multiclass.decoders import names as decoder_names
from ecoc.multiclass.decoders.base import Decoder, FunctionDecoder

__all__ = [
    "load_model",
    "make_parts_sound",
    "repeatable",
    "save_model",
    "sklearn_parts",
    "without_array_adapters",
]


_KINDS = (
    "sklearn._loss.link:BaseLink",
    "sklearn._loss.loss:BaseLoss",
    "sklearn.ensemble._hist_gradient_boosting.predictor:TreePredictor",
    "sklearn.gaussian_process.kernels:Kernel",
    "sklearn.metrics._dist_metrics:DistanceMetric",
    "sklearn.neighbors._ball_tree:BinaryTree64",
    "sklearn.neighbors._kd_tree:BinaryTree64",
    "sklearn.neural_network._stochastic_optimizers:BaseOptimizer",
    "sklearn.utils._bunch:Bunch",
    # Estimators, scorers, and what splits samples for cross-validation.
    "sklearn.utils._metadata_requests:_MetadataRequester",
    "sklearn.utils._metadata_requests:MetadataRequest",
    "sklearn.utils._metadata_requests:MethodMetadataRequest",
)
"""Classes that are trusted, with all that scikit-learn derives from them."""

_NAMES = (
    "numpy.dtype",
    "sklearn.calibration._CalibratedClassifier",
    "sklearn.calibration._SigmoidCalibration",
    "sklearn.tree._tree.Tree",
)


@cache
def sklearn_parts() -> tuple[str, ...]:
    """The full names of what a model file may hold besides what skops itself trusts.

    Examples
    --------
    >>> "sklearn.neural_network._stochastic_optimizers.AdamOptimizer" in sklearn_parts()
    True
    >>> "sklearn.datasets._svmlight_format_io.load_svmlight_file" in sklearn_parts()
    False
    """
    from importlib import import_module

    from sklearn.metrics import get_scorer, get_scorer_names
    from sklearn.utils import all_estimators

    with without_array_adapters():
        all_estimators()  # loads the modules of all estimators, and so their classes
    parts: set[Any] = {get_scorer(name)._score_func for name in get_scorer_names()}
    for kind in _KINDS:
        module, _, name = kind.partition(":")
        parts.update(filter(_is_shipped, _derived(getattr(import_module(module), name))))
    names = {f"{part.__module__}.{part.__qualname__}" for part in parts}
    return tuple(sorted(names.union(_NAMES)))


@contextmanager
def without_array_adapters() -> Iterator[None]:
    """Keep a look through all of scikit-learn from loading torch and dask, for seconds.

    Its adapters for other kinds of arrays import them where they are installed.
    """
    adapters = (f"sklearn.externals.array_api_compat.{name}" for name in ("cupy", "dask", "torch"))
    left_out = [name for name in adapters if name not in sys.modules]
    # With None in its place a module cannot be imported, which is taken for its absence.
    sys.modules.update(dict.fromkeys(left_out))  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in left_out:
            sys.modules.pop(name, None)


def _derived(kind: Any) -> Iterator[type]:
    yield kind
    for cls in kind.__subclasses__():
        yield from _derived(cls)


def _is_shipped(cls: type) -> bool:
    place = cls.__module__.split(".")
    return place[0] == "sklearn" and not {"tests", "externals", "conftest"}.intersection(place)


# --------------------------------------------------------------------- checking


def make_parts_sound(model: Any) -> None:
    """Check what scikit-learn follows unchecked in compiled code, or make it anew.

    Raises
    ------
    InvalidInputError
        If a tree leads out of itself.
    """
    for owner in _parts(model, set()):
        values = vars(owner)
        if "tree_" in values:
            _check_tree(owner)
        if "_predictors" in values:
            for predictor in _flat(values["_predictors"]):
                _check_predictor(predictor, owner.n_features_in_)
        if "_tree" in values:
            _renew_neighbours(owner)


def _check_tree(owner: Any) -> None:
    tree = owner.tree_
    inner = tree.children_left != -1
    n_features = min(tree.n_features, owner.n_features_in_)
    _check_nodes(tree.children_left, tree.children_right, tree.feature, inner, n_features)


def _check_predictor(predictor: Any, n_features: int) -> None:
    nodes = predictor.nodes
    inner = nodes["is_leaf"] == 0
    left, right = nodes["left"].astype(np.int64), nodes["right"].astype(np.int64)
    _check_nodes(left, right, nodes["feature_idx"], inner, n_features)
    by_set = inner & (nodes["is_categorical"] != 0)
    sets = predictor.raw_left_cat_bitsets
    if sets.ndim != 2 or sets.shape[1] != 8 or (nodes["bitset_idx"][by_set] >= len(sets)).any():
        raise InvalidInputError("a tree has sets of categories that it does not hold")


def _check_nodes(left: Any, right: Any, feature: Any, inner: Any, n_features: int) -> None:
    """Check that no tree leads out of itself: scikit-learn follows its indices unchecked."""
    nodes = np.arange(len(left))
    # Leaves have -1; children come after their parents, so that no path runs in circles.
    forward = (nodes < left) & (left < len(nodes)) & (nodes < right) & (right < len(nodes))
    inside = (feature >= 0) & (feature < n_features)
    if not len(nodes) or not (forward & inside)[inner].all():
        raise InvalidInputError("a tree has nodes that lead out of it")


def _renew_neighbours(owner: Any) -> None:
    """Make the search tree of a neighbours model anew, from its training samples."""
    from sklearn.neighbors import BallTree, KDTree

    if owner._tree is None:
        return
    kind = {"kd_tree": KDTree, "ball_tree": BallTree}[owner._fit_method]
    owner._tree = kind(
        owner._fit_X,
        owner.leaf_size,
        metric=owner.effective_metric_,
        **owner.effective_metric_params_,
    )


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list | tuple):
            yield from _flat(value)
        else:
            yield value


def _parts(value: Any, seen: set[int]) -> Iterator[Any]:
    """All objects with attributes inside a model."""
    if id(value) in seen or isinstance(value, type):
        return
    seen.add(id(value))
    inside: Iterable[Any] = ()
    if isinstance(value, dict):
        inside = value.values()
    elif isinstance(value, list | tuple):
        inside = value
    elif isinstance(value, np.ndarray):
        inside = value.ravel().tolist() if value.dtype == object else ()
    elif hasattr(value, "__dict__"):
        yield value
        inside = vars(value).values()
    for part in inside:
        yield from _parts(part, seen)


MODEL_SUFFIX = ".skops"
MAX_MODEL_BYTES = 1 << 32
"""The largest model that is read, 4 GiB when unpacked."""

_SCHEMA = "schema.json"
_FIRST_TIME = (1980, 1, 1, 0, 0, 0)
"""The earliest time that a zip file knows."""

_OWN_TYPES = (
    *(Codebook, Provenance, ECOCClassifier),
    *(
        value
        for value in vars(decoder_names).values()
        if isinstance(value, type) and issubclass(value, Decoder) and value is not FunctionDecoder
    ),
)
_OWN_NAMES = (
    "ecoc.multiclass.joint.kernel_ridge.KernelRidgeColumns",
    "ecoc.multiclass.subclasses.SubclassECOCClassifier",
    "ecoc.tables.features.Feature",
    "ecoc.tables.model.TableModel",
)
"""Types of ours that are only loaded for the files that have them."""

_MOVED = {
    "ecoc.codes.provenance": "ecoc.codes.codebook",
    **{
        f"ecoc.multiclass.{family}": f"ecoc.multiclass.decoders.{family}"
        for family in ("distances", "healing", "learned", "probabilities")
    },
    "ecoc.multiclass.decoders.losses": "ecoc.multiclass.decoders.distances",
    "ecoc.multiclass.features": "ecoc.tables.features",
    "ecoc.multiclass.losses": "ecoc.multiclass.decoders.distances",
    "ecoc.multiclass.kernel_ridge": "ecoc.multiclass.joint.kernel_ridge",
    "ecoc.multiclass.table_model": "ecoc.tables.model",
}
"""Modules that older files name, and where their types are now."""


def save_model(model: Any, path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> None:
    """Write a trained model to a file.

    A :class:`ecoc.design.Design` given as the codebook is saved as its codebook, without
    the proof.

    Parameters
    ----------
    model : ECOCClassifier, SubclassECOCClassifier, Pipeline or TableModel
        A fitted classifier, a pipeline that ends in an ECOCClassifier, or a model of a table.
    path : str or path
        The file; its name must end in ``.skops``.
    trusted : sequence of str
        The full names of types from elsewhere that the model may have; :func:`load_model`
        will want to be told the same.

    Raises
    ------
    InvalidInputError
        If the model has parts that :func:`load_model` would refuse, such as a decoding
        function.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCClassifier(LogisticRegression(max_iter=500)).fit(X, y)
    >>> with TemporaryDirectory() as folder:
    ...     save_model(model, f"{folder}/iris.skops")
    ...     loaded = load_model(f"{folder}/iris.skops")
    >>> bool((loaded.predict(X) == model.predict(X)).all())
    True
    """
    dumps = _skops().dumps

    check_destination(path, [MODEL_SUFFIX])
    _classifier(model)
    try:
        plain = _without_design(model)
        with _named_owners(plain):
            data = repeatable(dumps(plain))
        unknown = _unknown(_foreign(data), trusted)
    except Exception as error:
        raise InvalidInputError(
            f"The model cannot be saved: {type(error).__name__}: {error}"
        ) from error
    if unknown:
        raise InvalidInputError(
            f"The model has parts that could not be loaded again: {listing(unknown)}. Use "
            "decoders, learners and codebooks of this package and scikit-learn, or name what is "
            f"to be trusted, here and on loading: trusted={unknown!r}."
        )
    write_atomically(path, data)


def load_model(path: str | os.PathLike[str], *, trusted: Sequence[str] = ()) -> Any:
    """Read a trained model from a file.

    Nothing in the file is run. Only types of scikit-learn, NumPy, SciPy and this package are
    made, and what the model relies on is checked.

    Parameters
    ----------
    path : str or path
        A file of :func:`save_model`, or of ``skops.io.dump``.
    trusted : sequence of str
        The full names of other types to trust, for learners from elsewhere.

    Returns
    -------
    ECOCClassifier, SubclassECOCClassifier, Pipeline or TableModel
        What was saved.

    Raises
    ------
    FileFormatError
        If the file cannot be read, is no model, or has a type that is not trusted.

    Examples
    --------
    >>> load_model("missing.skops")
    Traceback (most recent call last):
    ecoc.errors.FileFormatError: 'missing.skops' cannot be read: No such file or directory.
    """
    loads = _skops().loads

    name = os.fspath(path)
    data = _read(name)
    try:
        data = _with_present_names(data)
        foreign = _foreign(data)
        unknown = _unknown(foreign, trusted)
    except Exception as error:
        raise FileFormatError(f"{name}: is not a model file, or is damaged ({error}).") from error
    if unknown:
        raise FileFormatError(
            f"{name}: has types that are not trusted: {listing(unknown)}. It was not loaded."
        )
    try:
        # All of them are trusted by now; skops copies the list for every part of the model, so
        # that the names of all that could be trusted would take most of the time.
        model = loads(data, trusted=foreign)
        make_parts_sound(model)
        return _checked(model)
    except Exception as error:
        raise FileFormatError(f"{name}: does not hold a whole model ({error}).") from error


def _read(name: str) -> bytes:
    data = read_bytes(name, max_bytes=MAX_MODEL_BYTES)
    try:
        with check_zip(data, "model file", max_bytes=MAX_MODEL_BYTES):
            return data
    except FileFormatError as error:
        raise FileFormatError(f"{name}: is not a model file, or is cut off ({error})") from error


def _with_present_names(data: bytes) -> bytes:
    """The file, with the names that types have now if it was written before they moved."""
    with zipfile.ZipFile(BytesIO(data)) as file:
        schema = file.read(_SCHEMA)
        present = schema
        for old, new in _MOVED.items():
            entry = '"__module__": "{}"'.format
            present = present.replace(entry(old).encode(), entry(new).encode())
        if present == schema:
            return data
        entries = {name: file.read(name) for name in file.namelist()}
    return _zipped({**entries, _SCHEMA: present})


def _trusted_names() -> list[str]:
    own = [f"{cls.__module__}.{cls.__name__}" for cls in _OWN_TYPES]
    return [*own, *_OWN_NAMES, *sklearn_parts()]


def _foreign(data: bytes) -> list[str]:
    """The types in a file that skops alone would not load."""
    return list(_skops().get_untrusted_types(data=data))


def _unknown(foreign: Iterable[str], trusted: Iterable[str]) -> list[str]:
    """Those of them that nobody trusts."""
    return sorted(set(foreign) - {*_trusted_names(), *trusted})


# --------------------------------------------------------------------- checking


def _skops() -> ModuleType:
    """The library ``skops.io``, loaded on first use."""
    with without_array_adapters():
        return importlib.import_module("skops.io")


def _is_around_pipeline(model: Any) -> bool:
    """Whether a model, such as that of a table, has another in it and can make itself anew."""
    return all(hasattr(type(model), name) for name in ("with_pipeline", "renewed"))


def _classifier(model: Any) -> ECOCClassifier:
    """The classifier in a model, if that is what it is, and fitted."""
    inner = model.pipeline if _is_around_pipeline(model) else model
    inner = inner[-1] if isinstance(inner, Pipeline) else inner
    if not isinstance(inner, ECOCClassifier):
        raise InvalidInputError(
            f"A model must be an ECOCClassifier, a SubclassECOCClassifier, a pipeline that ends in "
            f"an ECOCClassifier, or a TableModel, not {type(inner).__name__}."
        )
    check_is_fitted(inner, "decoder_")
    return inner


def _without_design(model: Any) -> Any:
    """The model with the codebook of a design in the design's place; the model stays as it is."""
    classifier = _classifier(model)
    if not isinstance(classifier.codebook, Design):
        return model
    plain = copy.copy(classifier)
    plain.codebook = classifier.codebook.codebook
    if model is classifier:
        return plain
    pipeline = model.pipeline if _is_around_pipeline(model) else model
    if isinstance(pipeline, Pipeline):
        plain = Pipeline([*pipeline.steps[:-1], (pipeline.steps[-1][0], plain)])
    return model.with_pipeline(plain) if _is_around_pipeline(model) else plain


@contextmanager
def _named_owners(model: Any) -> Iterator[None]:
    """Have requests of metadata name the learner that they belong to instead of holding it.

    skops would go round in circles from the learner to its request and back. The owner is only
    for messages, and may be a name.
    """
    module = MetadataRequest.__module__
    parts = [part for part in _parts(model, set()) if type(part).__module__ == module]
    owners = [part.owner for part in parts]
    for part in parts:
        part.owner = part.owner if isinstance(part.owner, str) else type(part.owner).__name__
    try:
        yield
    finally:
        for part, owner in zip(parts, owners, strict=True):
            part.owner = owner


def _checked(model: Any) -> Any:
    """The model, its codebook and features made anew, so that they are what they claim."""
    classifier = _classifier(model)
    for name, parameter in inspect.signature(ECOCClassifier).parameters.items():
        # A file from before there was the parameter means its default.
        if not hasattr(classifier, name):
            setattr(classifier, name, parameter.default)
    classifier.codebook_ = replace(classifier.codebook_)
    if isinstance(classifier.codebook, Codebook):
        classifier.codebook = replace(classifier.codebook)
    if not isinstance(classifier.decoder_, Decoder):
        raise InvalidInputError("decoder_ must be a decoder.")
    expected = (len(classifier.classes_), len(classifier.estimators_))
    if classifier.codebook_.matrix.shape != expected:
        raise InvalidInputError(
            f"the codebook has shape {classifier.codebook_.matrix.shape}, and there are "
            f"{expected[0]} classes and {counted(expected[1], 'learner')}"
        )
    return model.renewed() if _is_around_pipeline(model) else model


# ------------------------------------------------------- the same model, the same bytes
# What skops writes names every part by its address in memory, and the zip file around it
# has the time of each entry, so that no two files of one model would be alike.


def repeatable(data: bytes) -> bytes:
    """Rewrite a file of skops so that equal models have equal bytes.

    Parts are numbered in the order in which the description names them, sets are sorted, and
    every entry has the same time.
    """
    with zipfile.ZipFile(BytesIO(data)) as file:
        schema = json.loads(file.read(_SCHEMA))
        _sort_sets(schema)
        numbers: dict[int, int] = {}
        names: dict[str, str] = {}
        _renumber(schema, numbers, names)
        entries = {new: file.read(old) for old, new in names.items()}
    # Without indentation, which only the slow encoder of the standard library can do.
    entries[_SCHEMA] = json.dumps(schema).encode()
    return _zipped(entries)


def _zipped(entries: Mapping[str, bytes]) -> bytes:
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in entries.items():
            file.writestr(zipfile.ZipInfo(name, _FIRST_TIME), content, zipfile.ZIP_DEFLATED)
    return written.getvalue()


def _sort_sets(node: Any) -> None:
    """Put the members of sets in an order that does not depend on their hashes."""
    for child in _children(node):
        _sort_sets(child)
    if isinstance(node, dict) and node.get("__loader__") == "SetNode":
        inner = node["content"]
        members = inner["content"] if isinstance(inner, dict) else inner
        if isinstance(members, list):
            members.sort(key=_without_numbers)


def _without_numbers(node: Any) -> str:
    copy = json.loads(json.dumps(node))
    _renumber(copy, {}, {})
    return json.dumps(copy, sort_keys=True)


def _renumber(node: Any, numbers: dict[int, int], names: dict[str, str]) -> None:
    if isinstance(node, dict):
        if isinstance(node.get("__id__"), int):
            node["__id__"] = numbers.setdefault(node["__id__"], len(numbers) + 1)
        if isinstance(node.get("file"), str):
            _, dot, suffix = node["file"].rpartition(".")
            node["file"] = names.setdefault(node["file"], f"{len(names) + 1}{dot}{suffix}")
    for child in _children(node):
        _renumber(child, numbers, names)


def _children(node: Any) -> list[Any]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []
