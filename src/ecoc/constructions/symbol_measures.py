"""What a matrix of symbols is judged by: row distance and different columns."""

from __future__ import annotations

import numpy as np

from ecoc._typing import Ints

__all__ = ["canonical_columns", "has_different_columns", "least_distance"]


def least_distance(matrix: Ints) -> int:
    """Return the least number of places in which two rows differ.

    Examples
    --------
    >>> least_distance(np.array([[0, 1, 2], [0, 2, 1], [1, 1, 1]]))
    2
    """
    return min(
        (int((matrix[i + 1 :] != row).sum(axis=1).min()) for i, row in enumerate(matrix[:-1])),
        default=matrix.shape[1],
    )


def canonical_columns(matrix: Ints) -> Ints:
    """Rename the symbols of each column in the order in which they first occur.

    Examples
    --------
    >>> canonical_columns(np.array([[2, 0], [0, 1], [2, 0]])).tolist()
    [[0, 0], [1, 1], [0, 0]]
    """
    k, n = matrix.shape
    firsts = np.empty((k, n), dtype=np.int64)
    # Each entry becomes the first row with its symbol, then these rows are counted up.
    for p in range(k - 1, -1, -1):
        firsts[p] = p
        later = matrix[p + 1 :] == matrix[p]
        firsts[p + 1 :][later] = p
    new = firsts == np.arange(k)[:, None]
    ranks = np.cumsum(new, axis=0) - 1
    renamed: Ints = np.take_along_axis(ranks, firsts, axis=0)
    return renamed


def has_different_columns(matrix: Ints) -> bool:
    """Tell whether no column is constant and no two are equal up to renaming symbols.

    Examples
    --------
    >>> has_different_columns(np.array([[0, 1], [1, 0]]))
    False
    """
    columns = canonical_columns(matrix)
    if (columns.max(axis=0) == 0).any():
        return False
    return bool(np.unique(columns, axis=1).shape[1] == matrix.shape[1])
