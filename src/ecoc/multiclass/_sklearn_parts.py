"""The parts of scikit-learn's fitted estimators that a model file may hold, and their checks.

A file names the types that are made on reading it, so the list of those that may be is made
without the file: classes that scikit-learn ships for its fitted estimators, and the functions
behind its scorers. No other function, and nothing that reads, writes or runs anything.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from ecoc.errors import InvalidInputError

__all__ = ["make_parts_sound", "sklearn_parts", "without_array_adapters"]

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
