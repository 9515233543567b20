"""Kernel SVMs whose columns share their kernel evaluations, in training and in prediction."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it

from __future__ import annotations

import numbers
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import sklearn
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.base import clone
from sklearn.svm import SVC
from sklearn.utils.validation import validate_data

from ecoc._typing import Floats
from ecoc._workers import in_parallel
from ecoc.multiclass.columns import score_column
from ecoc.multiclass.data import n_samples
from ecoc.multiclass.joint.base import about_column

__all__ = [
    "MAX_GRAM_BYTES",
    "Kernel",
    "SharedKernel",
    "distinct_vectors",
    "gram_matrix",
    "kernel_block",
]


NAMES = ("linear", "poly", "rbf", "sigmoid")

_TILE = 256
"""Rows and columns of a part of the matrix that a processor's cache holds while it is made."""


@dataclass(frozen=True)
class Kernel:
    """A kernel of ``SVC`` with its numbers.

    Attributes
    ----------
    name : {"linear", "poly", "rbf", "sigmoid"}
        As in scikit-learn.
    gamma, coef0, degree
        Its parameters; gamma a number.
    """

    name: str
    gamma: float = 0.0
    coef0: float = 0.0
    degree: int = 3


def gram_matrix(X: Any, kernel: Kernel) -> Floats:
    """The kernel values of all pairs of samples.

    Parameters
    ----------
    X : array of float64 or CSR matrix, of shape (n_samples, n_features)
        The samples.
    kernel : Kernel
        The kernel.

    Returns
    -------
    array of shape (n_samples, n_samples)

    Examples
    --------
    >>> gram_matrix(np.array([[0.0], [1.0], [2.0]]), Kernel("poly", gamma=1.0, degree=2))
    array([[ 0.,  0.,  0.],
           [ 0.,  1.,  4.],
           [ 0.,  4., 16.]])
    """
    n = X.shape[0]
    X = centred(X, X, kernel)[0]
    gram = np.empty((n, n))
    parts = [slice(start, min(start + _TILE, n)) for start in range(0, n, _TILE)]
    for number, rows in enumerate(parts):
        for columns in parts[: number + 1]:
            tile = kernel_block(X[rows], X[columns], kernel, out=gram[rows, columns])
            if rows != columns:
                gram[columns, rows] = tile.T
    if kernel.name == "rbf":
        np.fill_diagonal(gram, 1.0)
    return gram


def centred(X: Any, Y: Any, kernel: Kernel) -> tuple[Any, Any]:
    """Samples and others moved to where the kernel loses fewest digits.

    Distances do not change, and those of samples far from 0 are sums of smaller numbers.
    """
    if kernel.name != "rbf" or sp.issparse(X):
        return X, Y
    centre = Y.mean(axis=0)
    return X - centre, Y - centre


def kernel_block(X: Any, Y: Any, kernel: Kernel, out: Floats | None = None) -> Floats:
    """Kernel values of samples against others, written to `out` if it is given.

    Examples
    --------
    >>> kernel_block(np.array([[0.0], [1.0]]), np.array([[2.0]]), Kernel("rbf", gamma=0.5))
    array([[0.13533528],
           [0.60653066]])
    """
    if kernel.name == "rbf":
        block = _products(X * (2 * kernel.gamma), Y)
        block -= kernel.gamma * _squares(X)[:, None]
        block -= kernel.gamma * _squares(Y)
        np.minimum(block, 0, out=block)
        return np.exp(block, out=block if out is None else out)
    block = _products(X, Y)
    if kernel.name == "linear":
        return np.positive(block, out=block if out is None else out)
    block *= kernel.gamma
    block += kernel.coef0
    if kernel.name == "sigmoid":
        return np.tanh(block, out=block if out is None else out)
    return np.power(block, kernel.degree, out=block if out is None else out)


def _products(X: Any, Y: Any) -> Floats:
    dots = X @ Y.T
    return dots.toarray() if sp.issparse(dots) else np.asarray(dots)


def _squares(X: Any) -> Floats:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


def distinct_vectors(
    groups: Sequence[Any],
    *,
    merge: bool = True,
    likely: Sequence[npt.NDArray[np.int_]] | None = None,
) -> tuple[Any, list[npt.NDArray[np.intp]]]:
    """The different rows of some matrices.

    Parameters
    ----------
    groups : sequence of arrays or CSR matrices
        All with the same number of columns, and all dense or all sparse.
    merge : bool, default=True
        Look for rows that occur more than once; otherwise all are kept.
    likely : sequence of arrays of int, optional
        Numbers of the rows of each matrix: where rows of one number turn out to be equal, as
        they are if columns were trained on the same samples, nothing else is looked at.

    Returns
    -------
    array or CSR matrix
        The different rows.
    list of arrays of int
        For each matrix the places of its rows among them.

    Examples
    --------
    >>> rows, places = distinct_vectors([np.array([[1.0], [2.0]]), np.array([[2.0], [0.5]])])
    >>> rows[places[1]].ravel().tolist(), len(rows)
    ([2.0, 0.5], 3)
    """
    sparse = sp.issparse(groups[0])
    stacked = sp.vstack(groups, format="csr") if sparse else np.concatenate(groups)
    places = np.arange(stacked.shape[0])
    makers: list[Callable[[Any], npt.NDArray[Any]]] = [_sparse_keys if sparse else _dense_keys]
    if likely is not None:
        makers.insert(0, lambda _: np.concatenate(likely))
    for make_keys in makers if merge and len(places) else ():
        _, first, inverse = np.unique(make_keys(stacked), return_index=True, return_inverse=True)
        # Different rows with the same key would be wrong.
        if _same(stacked, stacked[first[inverse]]):
            stacked, places = stacked[first], inverse
            break
    ends = np.cumsum([group.shape[0] for group in groups])
    return stacked, np.split(places, ends[:-1])


def _same(left: Any, right: Any) -> bool:
    if sp.issparse(left):
        return bool((left != right).nnz == 0)
    return bool(np.array_equal(left, right))


def _sparse_keys(rows: Any) -> npt.NDArray[Any]:
    return np.asarray(rows @ np.random.default_rng(0).normal(size=rows.shape[1]))


def _dense_keys(rows: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Keys from the bits of the rows, because a product may depend on where a row stands."""
    bits = np.ascontiguousarray(rows).view(np.uint64)
    # Round numbers end in many zero bits, which a product alone would keep.
    bits = bits * np.uint64(0x9E3779B97F4A7C15)
    bits ^= bits >> np.uint64(32)
    factors = np.random.default_rng(0).integers(1 << 63, size=rows.shape[1], dtype=np.uint64)
    return np.asarray((bits * (2 * factors + 1)).sum(axis=1))


Result = TypeVar("Result")

MAX_GRAM_BYTES = 2 << 30
"""The largest Gram matrix that is made for training: 2 GiB, which is 16,384 samples."""

_WORTH_SHARING = 4
"""How many columns must use a pair of samples on average before a Gram matrix pays."""
_BLOCK_ENTRIES = 1 << 20
"""Kernel values of one block in prediction; more would not stay in the processor's cache."""
_WORTH_MERGING = 64
"""Samples from which it pays to look for support vectors that columns have in common."""


@dataclass(frozen=True)
class SharedKernel:
    """All columns of an ``SVC``, trained on one Gram matrix and scored with one kernel block.

    Trained columns are those that ``SVC`` would find one by one, up to rounding and its
    tolerance, and are ordinary fitted ``SVC`` objects.

    Attributes
    ----------
    estimator : SVC
        The learner, one that :meth:`takes` accepts.
    n_jobs : int, optional
        Threads, as in joblib; all of them read the same Gram matrix.
    verbose : int, default=0
        Show the progress of training.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> signs = np.array([[1, 1], [1, -1], [-1, -1], [-1, 1]], dtype=np.int8)
    >>> learner = SharedKernel(SVC(C=10.0))
    >>> columns = learner.fit_columns(X, signs)
    >>> columns[0]
    SVC(C=10.0)
    >>> np.sign(learner.score_columns(columns, X)).astype(int).tolist() == signs.tolist()
    True
    """

    estimator: Any
    n_jobs: int | None = None
    verbose: int = 0

    @staticmethod
    def takes(estimator: Any) -> bool:
        """Whether columns of this ``SVC`` can share a kernel.

        False for one that also estimates probabilities, which trains more often than once,
        and for parameters that it will refuse itself.
        """
        gamma, kernel = estimator.gamma, estimator.kernel
        return (
            estimator.probability in {False, "deprecated"}
            and (callable(kernel) or kernel in {*NAMES, "precomputed"})
            and (gamma in {"scale", "auto"} if isinstance(gamma, str) else _number(gamma, 0))
            and isinstance(estimator.degree, numbers.Integral)
            and int(estimator.degree) >= 0
            and _number(estimator.coef0, -np.inf)
        )

    def declines(self, _X: Any, signs: npt.NDArray[np.int8]) -> str | None:
        """Why the columns are better trained one by one; None if they are not."""
        if type(get_active_backend()[0]).__module__ != "joblib._parallel_backends":
            return "joblib has other machines to train them on."
        if self.estimator.kernel == "precomputed":
            return None
        n = len(signs)
        used = np.count_nonzero(signs, axis=0).astype(np.float64)
        if used.min() < n and (callable(self.estimator.kernel) or self._gamma_varies()):
            return "with samples of its own each column has a kernel of its own."
        if (used**2).sum() < _WORTH_SHARING * n**2:
            return "they share too few kernel values."
        part = 0.0 if used.min() == n else effective_n_jobs(self.n_jobs) * used.max() ** 2
        needed = 8 * (n**2 + part)
        if needed > MAX_GRAM_BYTES:
            return (
                f"their Gram matrix needs {needed / 2**30:.1f} GiB and may have "
                f"{MAX_GRAM_BYTES / 2**30:.1f}."
            )
        return None

    def _gamma_varies(self) -> bool:
        return bool(self.estimator.kernel != "linear" and self.estimator.gamma == "scale")

    def fit_columns(
        self,
        X: Any,
        signs: npt.NDArray[np.int8],
        *,
        sample_weight: Floats | None = None,
    ) -> list[Any]:
        """Train all columns, see :class:`ecoc.multiclass.joint.JointLearner`."""
        samples = _Samples.of(self.estimator, X)
        gram = samples.gram()

        def fit(column: int) -> Any:
            rows = np.flatnonzero(signs[:, column])
            part = gram if len(rows) == len(gram) else gram[np.ix_(rows, rows)]
            weight = None if sample_weight is None else sample_weight[rows]
            learner = clone(self.estimator).set_params(kernel="precomputed")
            # The samples were checked, so their kernel values need not be.
            with about_column(column), sklearn.config_context(assume_finite=True):
                learner.fit(part, (signs[rows, column] > 0).astype(np.int64), weight)
            return samples.settle(learner, rows)

        columns = [(column,) for column in range(signs.shape[1])]
        return self._in_threads(fit, columns, verbose=self.verbose)

    def score_columns(self, estimators: Sequence[Any], X: Any) -> Floats:
        """The decision values, see :class:`ecoc.multiclass.joint.JointLearner`."""
        scores = np.empty((n_samples(X), len(estimators)))
        groups: dict[Any, list[int]] = defaultdict(list)
        for column, estimator in enumerate(estimators):
            groups[_shared(estimator, X)].append(column)
        for columns in groups.values():
            members = [estimators[column] for column in columns]
            if _shared(members[0], X) is None:
                for column, member in zip(columns, members, strict=True):
                    with about_column(column):
                        scores[:, column] = score_column(member, X, "decision_function")
            else:
                scores[:, columns] = self._group_scores(members, X)
        return scores

    def _group_scores(self, members: Sequence[Any], X: Any) -> Floats:
        first = members[0]
        intercepts = np.concatenate([member.intercept_ for member in members])
        if callable(first.kernel) or first.kernel == "precomputed":
            # One column of the kernel for each training sample.
            values = first._compute_kernel(first._validate_for_predict(X))
            if values.shape[1] != first.shape_fit_[0]:
                first.decision_function(X)  # raises
            places = [member.support_ for member in members]
            coefficients = _coefficients(members, places, first.shape_fit_[0])
            return np.asarray(values @ coefficients + intercepts)
        X = first._validate_for_predict(X)
        merge = X.shape[0] >= _WORTH_MERGING
        vectors, places = distinct_vectors(
            [m.support_vectors_ for m in members],
            merge=merge,
            likely=[m.support_ for m in members],
        )
        coefficients = _coefficients(members, places, vectors.shape[0])
        kernel = _kernel(first, first._gamma)
        X, vectors = centred(X, vectors, kernel)

        def score(start: int) -> Floats:
            block = kernel_block(X[start : start + step], vectors, kernel)
            return np.asarray(block @ coefficients)

        step = max(1, _BLOCK_ENTRIES // max(1, vectors.shape[0]))
        starts = [(start,) for start in range(0, X.shape[0], step)]
        return np.asarray(np.concatenate(self._in_threads(score, starts)) + intercepts)

    def _in_threads(
        self, function: Callable[[int], Result], calls: list[tuple[int]], *, verbose: int = 0
    ) -> list[Result]:
        return in_parallel(
            function, calls, n_jobs=self.n_jobs, verbose=verbose, require="sharedmem"
        )


@dataclass(frozen=True)
class _Samples:
    """Training samples as ``SVC`` sees them, and what it notes of them."""

    model: Any
    X: Any
    kernel: Kernel | None
    """None if the kernel is a function, or was computed before."""

    @classmethod
    def of(cls, estimator: Any, X: Any) -> _Samples:
        model = clone(estimator)
        if callable(estimator.kernel):
            return cls(model, X, None)
        if estimator.kernel == "precomputed" and sp.issparse(X):
            raise TypeError("Sparse precomputed kernels are not supported.")
        X = validate_data(
            *(model, X),
            dtype=np.float64,
            order="C",
            accept_sparse="csr",
            accept_large_sparse=False,
        )
        if estimator.kernel == "precomputed":
            return cls(model, X, None)
        if sp.issparse(X):
            X.sort_indices()
        return cls(model, X, _kernel(estimator, _gamma(estimator.gamma, X)))

    def gram(self) -> Floats:
        if self.kernel is not None:
            return gram_matrix(self.X, self.kernel)
        if not callable(self.model.kernel):
            return np.asarray(self.X)
        values = self.model.kernel(self.X, self.X)
        dense = values.toarray() if sp.issparse(values) else values
        return np.asarray(dense, dtype=np.float64, order="C")

    def settle(self, learner: Any, rows: npt.NDArray[np.intp]) -> Any:
        """Make what was trained on a Gram matrix what it would be without."""
        learner.kernel = self.model.kernel
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self.model, name):
                setattr(learner, name, getattr(self.model, name))
            elif hasattr(learner, name):
                delattr(learner, name)
        if callable(learner.kernel):
            learner._BaseLibSVM__Xfit = self.X
            learner.shape_fit_ = self.X.shape if hasattr(self.X, "shape") else (len(rows),)
        if self.kernel is None:
            return learner
        learner._gamma = self.kernel.gamma
        learner.shape_fit_ = (len(rows), self.X.shape[1])
        learner.support_vectors_ = self.X[rows[learner.support_]]
        learner._sparse = sp.issparse(self.X)
        if learner._sparse:
            matrix = _sparse_type()
            learner.support_vectors_ = matrix(learner.support_vectors_)
            learner._dual_coef_ = matrix(learner._dual_coef_)
            learner.dual_coef_ = -learner._dual_coef_
        return learner


def _sparse_type() -> Any:
    """The kind of sparse matrix that scikit-learn is set to give out."""
    arrays = sklearn.get_config().get("sparse_interface") == "sparray"
    return sp.csr_array if arrays else sp.csr_matrix


def _number(value: Any, minimum: float) -> bool:
    return isinstance(value, numbers.Real) and minimum <= float(value) < np.inf


def _gamma(gamma: Any, X: Any) -> float:
    """The number that ``SVC`` makes of its parameter gamma, summed in the same way."""
    if gamma == "auto":
        return float(1.0 / X.shape[1])
    if gamma != "scale":
        return float(gamma)
    variance = (X.multiply(X)).mean() - (X.mean()) ** 2 if sp.issparse(X) else X.var()
    return float(1.0 / (X.shape[1] * variance)) if variance != 0 else 1.0


def _kernel(estimator: Any, gamma: float) -> Kernel:
    return Kernel(estimator.kernel, gamma, estimator.coef0, estimator.degree)


def _shared(estimator: Any, X: Any) -> Any:
    """What columns must have in common to be scored together; None if they cannot be."""
    if type(estimator) is not SVC or len(estimator.classes_) != 2:
        return None
    if callable(estimator.kernel):
        return "function", estimator.kernel, id(estimator._BaseLibSVM__Xfit)
    if estimator.kernel == "precomputed":
        return "precomputed", estimator.shape_fit_[0]
    if sp.issparse(X) and not estimator._sparse:
        return None
    return _kernel(estimator, estimator._gamma), estimator._sparse


def _coefficients(
    members: Sequence[Any], places: Sequence[npt.NDArray[np.intp]], n_vectors: int
) -> Floats:
    """The dual coefficients of all columns: (n_vectors, n_columns)."""
    result = np.zeros((n_vectors, len(members)))
    for column, (member, where) in enumerate(zip(members, places, strict=True)):
        dual = member.dual_coef_
        values = dual.toarray() if sp.issparse(dual) else dual
        # A vector that one column has twice counts twice.
        np.add.at(result[:, column], where, values.ravel())
    return result
