"""The seam for learners that train all columns together; ridge, the simplest of them."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it

from __future__ import annotations

import copy
import numbers
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.svm import SVC
from sklearn.utils.validation import validate_data

from ecoc._typing import Floats

__all__ = ["JointLearner", "JointRidge", "about_column", "joint_learner", "recorded_warnings"]


@dataclass(frozen=True)
class JointRidge:
    """All columns of ``Ridge`` or ``RidgeClassifier`` from one factorisation.

    Exact for dense data and codes of +1 and -1, whose columns differ in nothing but the
    right-hand side. Linear discriminants are not solved so: each column has its own scatter
    within the sides, and what is to be done when it is singular is decided by column.

    Attributes
    ----------
    estimator : Ridge or RidgeClassifier
        The learner, one that :meth:`takes` accepts.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> signs = np.array([[1, 1], [1, -1], [-1, -1], [-1, -1]], dtype=np.int8)
    >>> learner = JointRidge(Ridge(alpha=1e-6))
    >>> learner.score_columns(learner.fit_columns(X, signs), X).round(2)
    array([[ 1.2,  0.4],
           [ 0.4, -0.2],
           [-0.4, -0.8],
           [-1.2, -1.4]])
    """

    estimator: Any

    @staticmethod
    def takes(estimator: Any) -> bool:
        """Whether columns of this learner have one factorisation in common.

        They have not with class weights, which differ between columns, nor with iterative
        solvers. Without a penalty the factorisation may be singular.
        """
        return (
            estimator.solver in {"auto", "cholesky", "svd"}
            and not estimator.positive
            and isinstance(estimator.alpha, numbers.Real)
            and float(estimator.alpha) > 0
            and getattr(estimator, "class_weight", None) is None
        )

    def declines(self, X: Any, signs: npt.NDArray[np.int8]) -> str | None:
        """Why the columns are better trained one by one; None if they are not."""
        if signs.shape[1] == 1:
            return "there is only one."
        if not signs.all():
            return "each column has samples of its own."
        if sp.issparse(X):
            return "sparse data have an iterative solver."
        if np.asarray(X).dtype == np.float32:
            return "in single precision the results would not be the same."
        return None

    def fit_columns(
        self,
        X: Any,
        signs: npt.NDArray[np.int8],
        *,
        sample_weight: Floats | None = None,
    ) -> list[Any]:
        """Train all columns, see :class:`ecoc.multiclass.joint.JointLearner`."""
        ridge = Ridge(**{name: getattr(self.estimator, name) for name in Ridge().get_params()}).fit(
            X, signs.astype(np.float64), sample_weight
        )
        sides = signs[:, 0].astype(np.float64)
        if not is_regressor(self.estimator):
            sides = (signs[:, 0] > 0).astype(np.int64)
        # One is trained as usual, and shows what else a fitted learner has.
        model = clone(self.estimator).fit(X, sides, sample_weight)
        fitted = []
        for column in range(signs.shape[1]):
            learner = copy.deepcopy(model)
            learner.coef_ = ridge.coef_[column].reshape(model.coef_.shape).copy()
            if self.estimator.fit_intercept:
                intercept = ridge.intercept_[column]
                learner.intercept_ = np.full_like(model.intercept_, intercept)
            fitted.append(learner)
        return fitted

    def score_columns(self, estimators: Sequence[Any], X: Any) -> Floats:
        """The scores, see :class:`ecoc.multiclass.joint.JointLearner`."""
        X = validate_data(estimators[0], X, accept_sparse="csr", reset=False)
        coefficients = np.stack([np.ravel(learner.coef_) for learner in estimators], axis=1)
        intercepts = [float(np.ravel(learner.intercept_)[0]) for learner in estimators]
        scores: Floats = np.asarray(X @ coefficients, dtype=np.float64) + np.array(intercepts)
        return scores


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
        from ecoc.multiclass.joint.base import JointRidge

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
