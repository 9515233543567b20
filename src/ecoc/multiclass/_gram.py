"""Kernel values of samples, in blocks that BLAS makes."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ecoc.multiclass.decoder import Floats

__all__ = ["Kernel", "gram_matrix", "kernel_block"]

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
