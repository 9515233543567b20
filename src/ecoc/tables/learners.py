"""Binary learners by name, for those who do not want to write Python."""

# ruff: noqa: N803  # C is what scikit-learn calls it
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ecoc._checks import check_choice, check_number
from ecoc.errors import InvalidInputError

__all__ = ["LEARNERS", "Learner", "make_learner"]


@dataclass(frozen=True)
class Learner:
    """A binary learner, not fitted.

    Attributes
    ----------
    estimator : object
        A classifier or a regressor of scikit-learn's kind.
    scaled : bool
        Whether features should be brought to one scale for it.
    """

    estimator: Any
    scaled: bool


@dataclass(frozen=True)
class _Kind:
    make: Callable[..., Any]
    scaled: bool = True
    takes: tuple[str, ...] = ()


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


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier()


def _naive_bayes() -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


_KINDS = {
    "svm": _Kind(_svm, takes=("C", "gamma")),
    "kernel-ridge": _Kind(_kernel_ridge, takes=("gamma",)),
    "tree": _Kind(_tree, scaled=False),
    "forest": _Kind(_forest, scaled=False),
    "logistic": _Kind(_logistic, takes=("C",)),
    "linear-svm": _Kind(_linear_svm, takes=("C",)),
    "naive-bayes": _Kind(_naive_bayes, scaled=False),
}

LEARNERS = tuple(_KINDS)
"""The names that a learner can be asked for by."""


def make_learner(name: str, *, C: float | None = None, gamma: float | None = None) -> Learner:
    """Make a binary learner.

    Parameters
    ----------
    name : str
        One of :data:`LEARNERS`: a support vector machine with a Gaussian kernel, least
        squares with the same kernel, a decision tree, a forest of 100, logistic regression,
        a linear support vector machine, or naive Bayes with Gaussian features.
    C, gamma : float, optional
        The price of errors, and the kernel's parameter, for the learners that have them.

    Examples
    --------
    >>> make_learner("svm", C=10.0)
    Learner(estimator=SVC(C=10.0), scaled=True)
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
    return Learner(kind.make(**settings), kind.scaled)
