"""The seam for learners that train all columns together, and score them together."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.svm import SVC

from ecoc.multiclass.decoders.base import Floats

__all__ = ["JointLearner", "about_column", "joint_learner", "recorded_warnings"]


@runtime_checkable
class JointLearner(Protocol):
    """A learner of many columns at once.

    An estimator with these two methods is used so by :class:`ecoc.multiclass.ECOCClassifier`.
    What it raises or warns of is passed on under the name of a column if the error or the
    warning has an attribute ``column``, see :func:`about_column`.
    """

    def fit_columns(
        self,
        X: Any,
        signs: npt.NDArray[np.int8],
        *,
        sample_weight: Floats | None = None,
    ) -> list[Any]:
        """Train all columns.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The features, not validated.
        signs : array of int8 of shape (n_samples, n_columns)
            The side of each sample in each column: 1, -1, or 0 where the column does not
            use the sample.
        sample_weight : array of shape (n_samples,), optional
            The weight of each sample, in every column.

        Returns
        -------
        list
            A fitted binary estimator for each column; the same learner, trained for it alone.
        """
        ...

    def score_columns(self, estimators: Sequence[Any], X: Any) -> Floats:
        """The scores of some columns: positive for the +1 side.

        Parameters
        ----------
        estimators : sequence
            Some of those that `fit_columns` returned, in any order; perhaps of another
            learner with the same parameters, because models are saved and loaded.
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The features, not validated.

        Returns
        -------
        array of shape (n_samples, len(estimators))
        """
        ...


def joint_learner(
    estimator: Any, *, n_jobs: int | None = None, verbose: int = 0
) -> JointLearner | None:
    """What trains all columns of a learner together, with the results of training each alone.

    Parameters
    ----------
    estimator : object
        A binary learner.
    n_jobs : int, optional
        Threads, as in joblib, where columns still have work of their own.
    verbose : int, default=0
        Show the progress of that work.

    Returns
    -------
    JointLearner or None
        The learner itself if it is one; an adapter for ``SVC`` (one Gram matrix), ``Ridge``
        and ``RidgeClassifier`` (one factorisation), but not for classes derived from these,
        which may do anything; None for every other learner.

    Examples
    --------
    >>> from sklearn.svm import SVC, LinearSVC
    >>> type(joint_learner(SVC())).__name__
    'SharedKernel'
    >>> joint_learner(LinearSVC()) is None
    True
    """
    if isinstance(estimator, JointLearner):
        return estimator
    if type(estimator) is SVC:
        from ecoc.multiclass.joint.svm import SharedKernel

        shared = SharedKernel(estimator, n_jobs=n_jobs, verbose=verbose)
        return shared if SharedKernel.takes(estimator) else None
    if type(estimator) in {Ridge, RidgeClassifier}:
        from ecoc.multiclass.joint.ridge import JointRidge

        return JointRidge(estimator) if JointRidge.takes(estimator) else None
    return None


@contextmanager
def about_column(column: int) -> Iterator[None]:
    """A context whose errors and warnings carry the number of a column.

    Examples
    --------
    >>> try:
    ...     with about_column(3):
    ...         raise ValueError("singular")
    ... except ValueError as error:
    ...     error.column
    3
    """
    try:
        with recorded_warnings() as caught:
            yield
    except Exception as error:
        error.column = column  # type: ignore[attr-defined]
        raise
    for warning in caught:
        if isinstance(warning.message, Warning):
            warning.message.column = column  # type: ignore[attr-defined]
            warnings.warn(warning.message, stacklevel=3)


@contextmanager
def recorded_warnings() -> Iterator[list[warnings.WarningMessage]]:
    """A context whose warnings are put on a list, if it is entered in the main thread.

    Filters of warnings belong to the process: a thread that changed them would also change
    them for its neighbours, so there they stay as they are and warnings go out at once.
    """
    if threading.current_thread() is not threading.main_thread():
        yield []
        return
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield caught
