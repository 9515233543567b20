"""Least-squares kernel columns: all columns of a codebook from one eigendecomposition."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it
from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from ecoc._checks import check_choice, check_int, check_number, listing
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError
from ecoc.multiclass.joint._kernel_regression import ColumnProblem, ColumnSolution

__all__ = ["KERNELS", "KernelRidgeColumns", "loo_scores"]

KERNELS = ("rbf", "laplacian", "polynomial", "linear")
GAMMA_MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0)
"""Of gamma="scale": what gamma="loo" chooses from."""

_SMALLEST_ALPHA = 1e-100
"""Far below any use, and far enough above the smallest floats to divide by."""

_BLOCK_SIZE = 1 << 22
"""Kernel values that are in memory together at prediction."""


class KernelRidgeColumns(ClassifierMixin, BaseEstimator):
    """Binary least-squares kernel classifier that trains all columns of a codebook at once.

    Ridge regression on -1 and +1 in the feature space of a kernel, with an intercept that is
    not penalised (a least-squares SVM). One eigendecomposition of the Gram matrix serves
    every column, every penalty, and the exact leave-one-out values by which each column's
    penalty is chosen, for the least squared error.

    As the learner of an :class:`ecoc.multiclass.ECOCClassifier` it needs no tuning beyond
    features of similar scale.

    Parameters
    ----------
    kernel : {"rbf", "laplacian", "polynomial", "linear"}, default="rbf"
        As in :func:`sklearn.metrics.pairwise.pairwise_kernels`.
    gamma : "loo", "scale", "auto" or float, default="loo"
        The kernel's coefficient. ``"scale"`` is 1 / (n_features * variance of X), with the
        standard deviation instead of the variance for the Laplacian kernel; ``"auto"`` is
        1 / n_features; ``"loo"`` is the multiple of ``"scale"`` (a quarter to four times)
        with the least leave-one-out error over all columns, found on 1000 of the samples if
        there are more.
    degree : int, default=3
        Of the polynomial kernel.
    coef0 : float, default=1.0
        Of the polynomial kernel.
    alphas : float or sequence of float, optional
        The penalties that each column chooses from, for the sum of squared errors plus alpha
        times the squared norm. By default a wide range relative to the variance of the data
        in feature space.
    max_samples : int, default=4000
        The most training samples for the exact solution, which needs about 24 n**2 bytes and
        time that grows with n**3. More samples are regressed on Nystroem features.
    n_components : int, default=2000
        The number of landmarks of the Nystroem features.
    random_state : int, RandomState or None, default=None
        Chooses the landmarks.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The labels; a positive decision value means the second.
    centres_ : array or sparse matrix of shape (n_centres, n_features)
        The training samples, or the landmarks. Columns trained together share it.
    dual_coef_ : array of shape (n_centres,)
        The coefficients of the kernel functions; 0 for samples that the column does not use.
    intercept_ : float
        The intercept.
    alpha_, gamma_ : float
        The penalty and the kernel's coefficient that were taken.
    loo_scores_ : array of shape (n_samples,)
        For each training sample, the decision value of the classifier trained without it, at
        the penalty that was taken; NaN for samples that the column does not use. With
        Nystroem features the landmarks stay what they are.
    n_features_in_ : int
        The number of features.
    feature_names_in_ : array of shape (n_features,)
        Names of the features, if X had any.

    Notes
    -----
    Such a learner is linear in its labels: at one penalty and one kernel for all columns, the
    sums of column scores under the signs of an equidistant code of -1 and +1 decide exactly as
    one-vs-rest. What another code changes comes from a penalty for each column, from decoders
    that are not linear, from distances that differ, and from columns that fail.

    Sample weights multiply the squared errors; the sample left out is left out with all its
    weight, and samples of weight 0 are not used.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelRidgeColumns().fit(X, y == 2)
    >>> model.score(X, y == 2) > 0.95
    True
    >>> held_out = (model.loo_scores_ > 0) == (y == 2)
    >>> bool(held_out.mean() > 0.9)
    True

    All columns of a codebook at once:

    >>> signs = np.array([[1, 1], [1, -1], [-1, 0]], dtype=np.int8)[y]
    >>> columns = KernelRidgeColumns().fit_columns(X, signs)
    >>> columns[0].centres_ is columns[1].centres_
    True
    >>> KernelRidgeColumns().score_columns(columns, X).shape
    (150, 2)
    """

    def __init__(
        self,
        kernel: str = "rbf",
        *,
        gamma: str | float = "loo",
        degree: int = 3,
        coef0: float = 1.0,
        alphas: float | Sequence[float] | None = None,
        max_samples: int = 4000,
        n_components: int = 2000,
        random_state: Any = None,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.alphas = alphas
        self.max_samples = max_samples
        self.n_components = n_components
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> KernelRidgeColumns:
        """Train on two classes.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The features.
        y : array of shape (n_samples,)
            The labels, of two classes.
        sample_weight : array of shape (n_samples,), optional
            How much each sample's squared error counts.
        """
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        classes, sides = np.unique(y, return_inverse=True)
        if len(classes) > 2:
            raise InvalidInputError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(y)}."
            )
        signs = (2 * sides - 1).astype(np.int8)[:, None]
        self._take(self._solve(X, signs, sample_weight), 0, classes)
        return self

    def fit_columns(
        self,
        X: Any,
        signs: npt.NDArray[np.int8],
        *,
        sample_weight: Floats | None = None,
    ) -> list[KernelRidgeColumns]:
        """Train a classifier for each column; columns that use the same samples share all work.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_samples, n_features)
            The features.
        signs : array of shape (n_samples, n_columns)
            The side of each sample in each column: -1 or +1, or 0 if the column does not use
            the sample.
        sample_weight : array of shape (n_samples,), optional
            How much each sample's squared error counts.

        Returns
        -------
        list of KernelRidgeColumns
            Fitted classifiers with the classes 0 and 1. They share the samples and the
            kernel: a gamma that depends on the data is taken from the samples of all columns.
        """
        first = clone(self)
        X = validate_data(first, X, accept_sparse="csr", dtype=np.float64)
        sides = np.asarray(signs)
        if sides.ndim != 2 or len(sides) != X.shape[0] or not np.isin(sides, (-1, 0, 1)).all():
            raise InvalidInputError(
                f"signs must hold -1, 0 and 1 in an array of shape (n_samples, n_columns) with "
                f"n_samples = {X.shape[0]}, not an array of shape {sides.shape} with the values "
                f"{listing(np.unique(sides).tolist())}."
            )
        solution = self._solve(X, sides.astype(np.int8), sample_weight)
        columns = []
        for column in range(sides.shape[1]):
            learner = clone(self)
            learner.n_features_in_ = first.n_features_in_
            if hasattr(first, "feature_names_in_"):
                learner.feature_names_in_ = first.feature_names_in_
            learner._take(solution, column, np.array([0, 1]))
            columns.append(learner)
        return columns

    def decision_function(self, X: Any) -> Floats:
        """The regression's value for each sample: positive for the second class."""
        check_is_fitted(self)
        return self.score_columns([self], X)[:, 0]

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each sample."""
        scores = self.decision_function(X)
        labels: npt.NDArray[Any] = self.classes_[(scores > 0).astype(np.intp)]
        return labels

    def score_columns(self, estimators: Sequence[KernelRidgeColumns], X: Any) -> Floats:
        """The decision values of fitted classifiers, from one kernel block for all of them.

        Parameters
        ----------
        estimators : sequence of KernelRidgeColumns
            Any of those that :meth:`fit_columns` returned.
        X : array or sparse matrix of shape (n_samples, n_features)
            The features.

        Returns
        -------
        array of shape (n_samples, n_estimators)
        """
        X = validate_data(estimators[0], X, accept_sparse="csr", dtype=np.float64, reset=False)
        scores = np.empty((X.shape[0], len(estimators)))
        for members in _sharing(estimators):
            learner = estimators[members[0]]
            coefficients = np.stack([estimators[i].dual_coef_ for i in members], axis=1)
            used = np.flatnonzero(coefficients.any(axis=1))
            centres = learner.centres_
            if 0 < len(used) < len(coefficients):
                centres, coefficients = centres[used], coefficients[used]
            intercepts = np.array([estimators[i].intercept_ for i in members])
            step = max(1, _BLOCK_SIZE // len(coefficients))
            for start in range(0, X.shape[0], step):
                part = slice(start, start + step)
                block = learner._kernel(X[part], centres, learner.gamma_)
                scores[part, members] = block @ coefficients + intercepts
        return scores

    def _solve(self, X: Any, signs: npt.NDArray[np.int8], sample_weight: Any) -> ColumnSolution:
        alphas = self._check_parameters()
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        signs = np.where(weights[:, None] > 0, signs, np.int8(0))
        _check_sides(signs)
        problem = ColumnProblem(X, signs, np.sqrt(weights), self._kernel, alphas)
        return problem.solve_used(
            self._gammas,
            max_samples=self.max_samples,
            n_landmarks=self.n_components,
            random_state=self.random_state,
        )

    def _take(self, solution: ColumnSolution, column: int, classes: npt.NDArray[Any]) -> None:
        self.classes_ = classes
        self.centres_ = solution.centres
        self.gamma_ = solution.gamma
        self.dual_coef_ = solution.coefficients[:, column].copy()
        self.intercept_ = float(solution.intercepts[column])
        self.alpha_ = float(solution.alphas[column])
        self.loo_scores_ = solution.loo[:, column].copy()

    def _kernel(self, A: Any, B: Any, gamma: float) -> Floats:
        params: dict[str, float] = {} if self.kernel == "linear" else {"gamma": gamma}
        if self.kernel == "polynomial":
            params |= {"degree": self.degree, "coef0": self.coef0}
        block: Floats = pairwise_kernels(A, B, metric=self.kernel, **params)
        return block

    def _gammas(self, X: Any) -> list[float]:
        """The values of gamma to choose from, the nearest to "scale" first."""
        if self.kernel == "linear" or self.gamma == "auto":
            return [1 / X.shape[1]]
        if isinstance(self.gamma, numbers.Real):
            return [float(self.gamma)]
        scale = 1 / (X.shape[1] * _spread(X, root=self.kernel == "laplacian"))
        multiples = sorted(GAMMA_MULTIPLES, key=lambda m: abs(np.log(m)))
        return [scale * m for m in multiples] if self.gamma == "loo" else [scale]

    def _check_parameters(self) -> Floats | None:
        """Check all parameters; return the penalties."""
        check_choice("kernel", self.kernel, KERNELS)
        if isinstance(self.gamma, str):
            check_choice("gamma", self.gamma, ("loo", "scale", "auto"))
        else:
            check_number("gamma", self.gamma, minimum=np.finfo(float).tiny)
        check_int("degree", self.degree, minimum=1)
        check_number("coef0", self.coef0, minimum=0)
        check_int("max_samples", self.max_samples, minimum=2)
        check_int("n_components", self.n_components, minimum=1)
        if self.alphas is None:
            return None
        given = list(np.atleast_1d(np.asarray(self.alphas, dtype=object)))
        if not given:
            raise InvalidInputError("alphas must hold at least one penalty.")
        return np.array([check_number("alphas", alpha, minimum=_SMALLEST_ALPHA) for alpha in given])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.sparse = True
        return tags


def loo_scores(estimators: Sequence[KernelRidgeColumns]) -> Floats:
    """The leave-one-out decision values of columns that were trained together.

    Parameters
    ----------
    estimators : sequence of KernelRidgeColumns
        From :meth:`KernelRidgeColumns.fit_columns`.

    Returns
    -------
    array of shape (n_samples, n_columns)
        In the order of the training samples; NaN where a column does not use a sample.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> signs = np.array([[1, 1], [1, -1], [-1, 0]], dtype=np.int8)[y]
    >>> scores = loo_scores(KernelRidgeColumns().fit_columns(X, signs))
    >>> bool(np.array_equal(np.isnan(scores), signs == 0))
    True
    """
    return np.stack([estimator.loo_scores_ for estimator in estimators], axis=1)


def _spread(X: Any, *, root: bool) -> float:
    """The variance of all entries, or its root; 1 if they are all the same."""
    if hasattr(X, "multiply"):
        variance = float(X.multiply(X).mean() - X.mean() ** 2)
    else:
        variance = float(X.var())
    if variance <= 0:
        return 1.0
    return variance**0.5 if root else variance


def _check_sides(signs: npt.NDArray[np.int8]) -> None:
    one_sided = np.flatnonzero((signs != 1).all(axis=0) | (signs != -1).all(axis=0))
    if len(one_sided):
        error = InvalidInputError(
            "Samples of two classes are needed in every column, with a weight above 0; column "
            f"{listing(one_sided.tolist())} has them of one class or none."
        )
        error.column = int(one_sided[0])  # type: ignore[attr-defined]
        raise error


def _sharing(estimators: Sequence[KernelRidgeColumns]) -> list[list[int]]:
    """The places of estimators that have centres and kernel in common."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, learner in enumerate(estimators):
        check_is_fitted(learner)
        kernel = (learner.kernel, learner.gamma_, learner.degree, learner.coef0)
        groups.setdefault((id(learner.centres_), *kernel), []).append(place)
    return list(groups.values())
