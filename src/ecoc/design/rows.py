"""The rows that every formulation shares: distances of class pairs, parity and symmetry."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ecoc.design.linear_program import NameBlock
from ecoc.errors import InvalidInputError

__all__ = ["RowBlock", "RowWeights"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

RowWeights: TypeAlias = "Callable[[IntArray, int, int], npt.ArrayLike] | npt.ArrayLike"
"""What a column adds to the distance of a pair of classes: an array of one row for each
pair (0, 1), (0, 2), ..., or a function of the columns and the two classes."""


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Rows of one kind: lower <= matrix x <= upper."""

    names: NameBlock
    matrix: Any
    lower: float | FloatArray
    upper: float | FloatArray

    def limits(self) -> tuple[FloatArray, FloatArray]:
        """The limits of every row."""
        n_rows = self.matrix.shape[0]
        return (
            np.broadcast_to(np.asarray(self.lower, dtype=np.float64), n_rows),
            np.broadcast_to(np.asarray(self.upper, dtype=np.float64), n_rows),
        )


def class_tuples(n_classes: int, size: int) -> IntArray:
    """All increasing tuples of classes, one in each row."""
    found = list(combinations(range(n_classes), size))
    return np.array(found, dtype=np.int64).reshape(len(found), size)


def side(columns: IntArray, class_: int) -> IntArray:
    """Tell for each column, by 0 or 1, on which side of it a class stands."""
    if class_ == 0:
        return np.zeros_like(columns)
    bits: IntArray = (columns >> (class_ - 1)) & 1
    return bits


def sparse_rows(rows: Iterable[FloatArray | IntArray], n_variables: int) -> Any:
    """Stack dense rows as a sparse matrix, one at a time, to hold only the non-zeros."""
    from scipy.sparse import csr_array

    indices: list[npt.NDArray[np.int32]] = [np.empty(0, np.int32)]
    data: list[FloatArray] = [np.empty(0)]
    indptr = [0]
    for row in rows:
        where = np.flatnonzero(row)
        indices.append(where.astype(np.int32))
        data.append(row[where].astype(np.float64))
        indptr.append(indptr[-1] + where.size)
    return csr_array(
        (np.concatenate(data), np.concatenate(indices), np.array(indptr)),
        shape=(len(indptr) - 1, n_variables),
    )


def pair_weights(
    columns: IntArray, n_classes: int, row_weights: RowWeights | None, positions: IntArray
) -> Iterable[FloatArray | IntArray]:
    """Yield, for each pair of classes, what the columns at `positions` add to its distance."""
    pairs = class_tuples(n_classes, 2)
    table: Any = None
    if row_weights is not None and not callable(row_weights):
        table = np.asarray(row_weights, dtype=np.float64)
        if table.shape != (len(pairs), columns.size):
            raise InvalidInputError(
                f"row_weights must have shape ({len(pairs)}, {columns.size}), one row for each "
                f"pair of classes and one column for each candidate, not {table.shape}."
            )
    chosen = columns[positions]
    for i, (p, q) in enumerate(pairs.tolist()):
        if table is not None:
            weights = table[i, positions]
        elif callable(row_weights):
            weights = np.asarray(row_weights(chosen, p, q), dtype=np.float64)
        else:
            yield side(chosen, p) ^ side(chosen, q)
            continue
        if weights.shape != chosen.shape or not np.isfinite(weights).all():
            raise InvalidInputError(
                f"row_weights must give one finite number for each column, for classes {p}, {q}."
            )
        yield weights


def not_constant(columns: IntArray, n_classes: int) -> Iterable[IntArray]:
    """Yield, for each triple of classes, which columns are not constant on it."""
    for p, q, r in class_tuples(n_classes, 3).tolist():
        first = side(columns, p)
        yield (first ^ side(columns, q)) | (first ^ side(columns, r))


def class_order(columns: IntArray, n_classes: int) -> Iterable[IntArray]:
    """Yield d(0, p) - d(0, p + 1) for p = 1, ..., k - 2, as coefficients of the columns.

    Renaming the classes 1, ..., k - 1 permutes the distances to class 0 and changes
    nothing else, so these may be required to be non-increasing.
    """
    for p in range(1, n_classes - 1):
        yield side(columns, p) - side(columns, p + 1)
