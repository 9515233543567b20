"""Kernel values of samples, in blocks that BLAS makes, for vectors that columns share."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ecoc.multiclass.decoders.base import Floats

__all__ = ["Kernel", "distinct_vectors", "gram_matrix", "kernel_block"]

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
        _, first, found = np.unique(make_keys(stacked), return_index=True, return_inverse=True)
        # Different rows with the same key would be wrong.
        if _same(stacked, stacked[first[found]]):
            stacked, places = stacked[first], found
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
