"""Ridge columns solved together: one factorisation, a right-hand side for each column."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it
from __future__ import annotations

import copy
import numbers
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone, is_regressor
from sklearn.linear_model import Ridge
from sklearn.utils.validation import validate_data

from ecoc.multiclass.decoders.base import Floats

__all__ = ["JointRidge"]


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
