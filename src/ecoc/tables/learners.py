"""Learners by name: what they are made with, what they want, and what is worth trying."""

# ruff: noqa: N803  # C is what scikit-learn calls it

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags

from ecoc._checks import check_choice, check_number, require
from ecoc.errors import InvalidInputError

__all__ = ["LEARNERS", "TRUSTED_TYPES", "Learner", "installed_learners", "make_learner"]

TRUSTED_TYPES = {
    "lightgbm": (
        "collections.OrderedDict",
        "lightgbm.basic.Booster",
        "lightgbm.sklearn.LGBMClassifier",
    ),
    "xgboost": ("xgboost.core.Booster", "xgboost.sklearn.XGBClassifier"),
}
"""The types in files of models whose learner is another library's, by the name of the learner."""


@dataclass(frozen=True)
class Learner:
    """A binary learner, not fitted.

    Attributes
    ----------
    estimator : object
        A classifier or a regressor of scikit-learn's kind.
    scaled : bool
        Whether features should be brought to one scale for it.
    takes_gaps : bool
        Whether features may be missing, so that nothing needs to be filled in.
    grid : mapping
        Settings of the estimator, and what of each is worth trying.
    """

    estimator: Any
    scaled: bool = True
    takes_gaps: bool = False
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict, repr=False)

    def plain(self) -> Any:
        """The learner for all classes at once, without a code; None if it cannot do that."""
        if not get_tags(self.estimator).classifier_tags.multi_class:
            return None
        # XGBoost wants classes to be 0, 1, 2, ...
        if type(self.estimator).__name__ == "XGBClassifier":
            return _WithNumberedClasses(clone(self.estimator))
        return clone(self.estimator)


class _WithNumberedClasses(ClassifierMixin, BaseEstimator):
    """A classifier that sees the numbers of the classes in the place of their names."""

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> _WithNumberedClasses:
        """Train on the numbers."""
        self.classes_, numbers = np.unique(y, return_inverse=True)
        self.estimator_ = clone(self.estimator).fit(X, numbers)
        return self

    def predict(self, X: Any) -> Any:
        """The names of the predicted classes."""
        return self.classes_[self.estimator_.predict(X)]


@dataclass(frozen=True)
class _Kind:
    make: Callable[..., Any]
    scaled: bool = True
    takes: tuple[str, ...] = ()
    takes_gaps: bool = False
    needs: str | None = None
    grid: Mapping[str, Sequence[Any]] = field(default_factory=dict)


def _svm(**settings: Any) -> Any:
    from sklearn.svm import SVC

    return SVC(**settings)


def _linear_svm(**settings: Any) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(max_iter=10_000, **settings)


def _logistic(**settings: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000, **settings)


def _kernel_ridge(**settings: Any) -> Any:
    from ecoc.multiclass.joint.kernel_ridge import KernelRidgeColumns

    return KernelRidgeColumns(**settings)


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier()


_TREES = 100
"""The trees of a forest, and of boosting in scikit-learn, which are its own defaults."""


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(_TREES)


def _naive_bayes() -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


_LEAST_LEAF = 5
"""The rows of a leaf in boosting: the 20 of these libraries are too many for small tables."""


def _hist_boosting() -> Any:
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=_TREES, min_samples_leaf=_LEAST_LEAF)


def _lightgbm() -> Any:
    # One thread: columns are what is trained at the same time.
    boosting = require("lightgbm", extra="boosting")
    return boosting.LGBMClassifier(min_child_samples=_LEAST_LEAF, n_jobs=1, verbose=-1)


def _xgboost() -> Any:
    return require("xgboost", extra="boosting").XGBClassifier(n_jobs=1)


_PRICES = (0.1, 1.0, 10.0, 100.0)
_PACES = (0.05, 0.2)

_KINDS = {
    "svm": _Kind(_svm, takes=("C", "gamma"), grid={"C": (1.0, 10.0, 100.0), "gamma": (0.25, 1, 4)}),
    # Least squares choose their own settings, by leaving one sample out.
    "kernel-ridge": _Kind(_kernel_ridge, takes=("gamma",)),
    "tree": _Kind(_tree, scaled=False, grid={"min_samples_leaf": (1, 2, 5, 10)}),
    "forest": _Kind(_forest, scaled=False, grid={"max_features": ("sqrt", 0.3, 0.6)}),
    "hist-boosting": _Kind(
        _hist_boosting,
        scaled=False,
        takes_gaps=True,
        grid={"learning_rate": _PACES, "max_leaf_nodes": (7, 31)},
    ),
    "lightgbm": _Kind(
        _lightgbm,
        scaled=False,
        takes_gaps=True,
        needs="lightgbm",
        grid={"learning_rate": _PACES, "num_leaves": (7, 31)},
    ),
    "xgboost": _Kind(
        _xgboost,
        scaled=False,
        takes_gaps=True,
        needs="xgboost",
        grid={"learning_rate": _PACES, "max_depth": (3, 6)},
    ),
    "logistic": _Kind(_logistic, takes=("C",), grid={"C": _PRICES}),
    "linear-svm": _Kind(_linear_svm, takes=("C",), grid={"C": (0.01, 0.1, 1.0, 10.0)}),
    "naive-bayes": _Kind(
        _naive_bayes, scaled=False, grid={"var_smoothing": (1e-9, 1e-6, 1e-3, 0.1)}
    ),
}

LEARNERS = tuple(_KINDS)
"""The names that a learner can be asked for by."""


def installed_learners() -> tuple[str, ...]:
    """The learners that can be used here, known without loading any of them.

    Examples
    --------
    >>> {"svm", "hist-boosting"} <= set(installed_learners())
    True
    """
    return tuple(
        name
        for name, kind in _KINDS.items()
        if kind.needs is None or find_spec(kind.needs) is not None
    )


def make_learner(
    name: str,
    *,
    C: float | None = None,
    gamma: float | None = None,
    n_features: int = 1,
) -> Learner:
    """Make a binary learner.

    Parameters
    ----------
    name : str
        One of :data:`LEARNERS`: a support vector machine with a Gaussian kernel, least
        squares with the same kernel, a decision tree, a forest of 100, gradient boosting with
        histograms, that of LightGBM or XGBoost where they are installed, logistic regression,
        a linear support vector machine, or naive Bayes with Gaussian features.
    C, gamma : float, optional
        The price of errors, and the kernel's parameter, for the learners that have them. They
        leave the grid.
    n_features : int, default=1
        How many features there will be: what a kernel's parameter is tried around.

    Examples
    --------
    >>> make_learner("svm", C=10.0)
    Learner(estimator=SVC(C=10.0), scaled=True, takes_gaps=False)
    >>> make_learner("svm", C=10.0, n_features=8).grid
    {'gamma': (0.03125, 0.125, 0.5)}
    """
    kind = _KINDS[check_choice("learner", name, LEARNERS)]
    settings = {
        key: check_number(key, value)
        for key, value in (("C", C), ("gamma", gamma))
        if value is not None
    }
    for key, value in settings.items():
        if key not in kind.takes:
            having = ", ".join(other for other, its in _KINDS.items() if key in its.takes)
            raise InvalidInputError(f"{key} is a setting of {having}, not of {name}.")
        if value <= 0:
            raise InvalidInputError(f"{key} must be above 0, not {value:g}.")
    grid = {
        key: tuple(factor / n_features for factor in values) if key == "gamma" else tuple(values)
        for key, values in kind.grid.items()
        if key not in settings
    }
    return Learner(kind.make(**settings), kind.scaled, kind.takes_gaps, grid)
