"""Gram matrices with the values that scikit-learn's libsvm finds in training, to the last bit."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from ecoc._numba import inline, njit
from ecoc.multiclass.decoder import Floats

__all__ = ["Kernel", "gram_matrix", "kernel_block"]

LINEAR, POLY, RBF, SIGMOID = range(4)
NAMES = ("linear", "poly", "rbf", "sigmoid")
_EPS = float(np.finfo(np.float64).eps)
_CHUNK_BYTES = 1 << 22
"""Inner products that are turned into kernel values before the next are computed."""

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

    @property
    def kind(self) -> int:
        """The number of the kernel in compiled code."""
        return NAMES.index(self.name)


def gram_matrix(X: Any, kernel: Kernel) -> Floats:
    """The kernel values of all pairs of samples.

    libsvm sums inner products one by one and keeps kernel values in single precision. A
    matrix product sums in another order, which nearly always rounds to the same single; the
    few entries for which it might not are summed again as libsvm does. Its decisions in
    training, and so the result, are then those of a training without a Gram matrix.

    Parameters
    ----------
    X : array of float64, C-contiguous, or CSR matrix, of shape (n_samples, n_features)
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
    dense = not sp.issparse(X)
    # A copy, because NumPy takes a slower way to the product of a matrix with itself. The
    # sums of a sparse product run over ascending features already, as those of libsvm do:
    # there is nothing to sum again, and no features to do it with.
    other = X.copy().T if dense else X.T.tocsc()
    features, unit = (X, _EPS * (X.shape[1] + 4)) if dense else (np.empty((0, 0)), 0.0)
    gram, squares = np.empty((n, n)), np.empty(n)
    if dense and kernel.name == "rbf":
        _fill_rbf(gram, squares, X, other, unit, float(kernel.gamma))
        return gram
    step = max(1, min(n, _CHUNK_BYTES // (8 * n)))
    for top in range(0, n, step):
        end = min(top + step, n)
        dots = X[top:end] @ other[:, :end]
        _fill(
            *(gram, squares, dots if dense else dots.toarray(), top),
            *(features, unit, kernel.kind),
            *(float(kernel.gamma), float(kernel.coef0), int(kernel.degree)),
        )
    return gram


def kernel_block(X: Any, Y: Any, kernel: Kernel) -> Floats:
    """Kernel values of samples against others, as fast as they come.

    Examples
    --------
    >>> kernel_block(np.array([[0.0], [1.0]]), np.array([[2.0]]), Kernel("rbf", gamma=0.5))
    array([[0.13533528],
           [0.60653066]])
    """
    dots = X @ Y.T
    block: Floats = dots.toarray() if sp.issparse(dots) else np.asarray(dots)
    if kernel.name == "rbf":
        block *= 2
        block -= _squares(X)[:, None]
        block -= _squares(Y)
        np.minimum(block, 0, out=block)
        block *= kernel.gamma
        return np.exp(block, out=block)
    if kernel.name == "linear":
        return block
    block *= kernel.gamma
    block += kernel.coef0
    if kernel.name == "sigmoid":
        return np.tanh(block, out=block)
    return np.power(block, kernel.degree, out=block)


def _squares(X: Any) -> Floats:
    if sp.issparse(X):
        return np.asarray(X.multiply(X).sum(axis=1)).ravel()
    return np.asarray(np.einsum("ij,ij->i", X, X))


@inline
def _power(base: float, times: int) -> float:
    # As libsvm multiplies, not as pow does.
    result = 1.0
    while times > 0:
        if times % 2 == 1:
            result *= base
        base *= base
        times //= 2
    return result


@inline
def _value(  # noqa: PLR0917  # compiled functions take no keywords
    dot: float, squares: float, kind: int, gamma: float, coef0: float, degree: int
) -> float:
    if kind == 2:
        return math.exp(-gamma * (squares - 2 * dot))
    if kind == 0:
        return dot
    if kind == 1:
        return _power(gamma * dot + coef0, degree)
    return math.tanh(gamma * dot + coef0)


@inline
def _doubt(  # noqa: PLR0917
    dot: float, value: float, error: float, kind: int, gamma: float, coef0: float, degree: int
) -> float:
    """How far a value may be from that of a dot product within the error of this one."""
    if kind == 2:
        return abs(value) * (2 * gamma * error + 4e-16)
    if kind == 0:
        return error
    inner = abs(gamma) * error + 4e-16 * abs(gamma * dot + coef0)
    if kind == 1:
        return degree * inner * _power(abs(gamma * dot + coef0) + inner, max(degree - 1, 0)) + (
            4e-16 * degree * abs(value)
        )
    return inner + 4e-16


@njit
def _fill(  # noqa: PLR0917
    gram: Floats,
    squares: Floats,
    dots: Floats,
    top: int,
    X: Floats,
    unit: float,
    kind: int,
    gamma: float,
    coef0: float,
    degree: int,
) -> None:
    """Fill the rows from `top` on up to the diagonal, and the columns that mirror them."""
    n_rows = dots.shape[0]
    for i in range(n_rows):
        squares[top + i] = np.dot(X[top + i], X[top + i]) if unit > 0 else dots[i, top + i]
        dots[i, top + i] = squares[top + i]
    size = 16
    for left in range(0, top + n_rows, size):
        for i in range(max(0, left - top), n_rows):
            for j in range(left, min(left + size, top + i + 1)):
                both = squares[top + i] + squares[j]
                dot = dots[i, j]
                value = _value(dot, both, kind, gamma, coef0, degree)
                if unit > 0 and top + i != j:
                    doubt = _doubt(dot, value, unit * both, kind, gamma, coef0, degree)
                    if np.float32(value - doubt) != np.float32(value + doubt):
                        dot = np.dot(X[top + i], X[j])
                        value = _value(dot, both, kind, gamma, coef0, degree)
                gram[top + i, j] = value
                gram[j, top + i] = value


@njit
def _fill_squares(squares: Floats, X: Floats) -> None:
    for i in range(len(squares)):
        squares[i] = np.dot(X[i], X[i])


def _fill_rbf(  # noqa: PLR0917
    gram: Floats, squares: Floats, X: Floats, other: Floats, unit: float, gamma: float
) -> None:
    """Fill the tiles up to the diagonal, and those that mirror them.

    NumPy has exponentials many at a time; a tile stays in a processor's cache.
    """
    n = len(squares)
    _fill_squares(squares, X)
    # Both exponentials are off by less than 4e-16, and what they are taken of by the rest.
    doubt = 4 * gamma * unit * float(squares.max(initial=0.0)) + 1e-15
    parts = [slice(start, min(start + _TILE, n)) for start in range(0, n, _TILE)]
    for number, rows in enumerate(parts):
        for columns in parts[: number + 1]:
            tile = X[rows] @ other[:, columns]
            if rows == columns:
                np.fill_diagonal(tile, squares[rows])
            tile *= -2
            tile += squares[rows, None] + squares[columns]
            tile *= -gamma
            np.exp(tile, out=tile)
            low = (tile * (1 - doubt)).astype(np.float32)
            high = (tile * (1 + doubt)).astype(np.float32)
            if not np.array_equal(low, high):
                _again(tile, squares, np.argwhere(low != high), rows.start, columns.start, X, gamma)
            gram[rows, columns] = tile
            gram[columns, rows] = tile.T


@njit
def _again(  # noqa: PLR0917
    tile: Floats,
    squares: Floats,
    places: npt.NDArray[np.intp],
    top: int,
    left: int,
    X: Floats,
    gamma: float,
) -> None:
    """Compute entries of a tile whose single is in doubt as libsvm does."""
    for place in range(len(places)):
        row, column = places[place]
        i, j = top + row, left + column
        if i != j:
            both = squares[i] + squares[j]
            tile[row, column] = math.exp(-gamma * (both - 2 * np.dot(X[i], X[j])))
