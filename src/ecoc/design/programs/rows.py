"""What is asked of the chosen columns, and the rows that every formulation shares."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc.design.programs.linear_program import NameBlock

__all__ = ["Parts", "ProgramOptions", "RowBlock"]

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ProgramOptions:
    """What is asked of the chosen columns, beside their conflicts.

    Parameters
    ----------
    targets : array of float, optional
        Wanted distances of the class pairs, as a symmetric k x k matrix or one number for
        each pair (0, 1), (0, 2), ...; the objective is then to minimise the sum of
        abs(distance - wanted), eq. 19 of the paper. By default the smallest distance is
        maximised.
    min_row_distance : float
        The distance that every pair of classes must have, whatever the objective.
    cutoff : float, optional
        A bound on the objective that is known from elsewhere: an upper bound on the
        smallest distance, or a lower bound on the sum of deviations.
    parity_cuts : bool
        Add the rows that follow from parity: the pairwise distances of three classes have
        an even sum. For the smallest distance t = 2s + b with b binary, every triple of
        classes has at least 3s + 2b columns that are not constant on it, and the sum of all
        distances limits t; for whole targets, a triple with an odd sum of targets deviates
        by at least 1. Left out where they cannot lower the bound by averaging, since they
        then only slow the solver down.
    """

    targets: npt.ArrayLike | None = None
    min_row_distance: float = 0
    cutoff: float | None = None
    parity_cuts: bool = True


@dataclass(frozen=True, eq=False)
class Parts:
    """A request whose input has been checked; positions are positions among the candidates."""

    columns: IntArray
    n_classes: int
    n_columns: int
    options: ProgramOptions
    pair_labels: IntArray | None = None

    @property
    def n_choices(self) -> int:
        """The number of variables before those of the objective."""
        return self.columns.size + (0 if self.pair_labels is None else len(self.pair_labels))

    def with_pairs(self, labels: IntArray) -> Parts:
        """Return the parts with one more variable for each pair of candidates."""
        return replace(self, pair_labels=labels)

    def rows(
        self,
        names: NameBlock,
        indices: Sequence[IntArray],
        values: Sequence[int | IntArray],
        lower: float,
        upper: float,
    ) -> RowBlock:
        """Return rows of a few terms each: term i of every row from indices[i] and values[i]."""
        from scipy.sparse import csr_array

        n_rows, n_terms = len(names), len(indices)
        data = np.column_stack([np.broadcast_to(value, n_rows) for value in values])
        matrix = csr_array(
            (
                data.ravel().astype(np.float64),
                np.column_stack(indices).ravel().astype(np.int32),
                np.arange(n_rows + 1) * n_terms,
            ),
            shape=(n_rows, int(max((index.max(initial=0) for index in indices), default=0)) + 1),
        )
        matrix.sort_indices()
        matrix.eliminate_zeros()
        return RowBlock(names, matrix, lower, upper)


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


def parted(columns: IntArray, n_classes: int) -> Iterable[IntArray]:
    """Yield, for each pair of classes, which columns part them: 1 where one does."""
    for p, q in class_tuples(n_classes, 2).tolist():
        yield side(columns, p) ^ side(columns, q)


def not_constant(columns: IntArray, n_classes: int) -> Iterable[IntArray]:
    """Yield, for each triple of classes, which columns are not constant on it."""
    for p, q, r in class_tuples(n_classes, 3).tolist():
        first = side(columns, p)
        yield (first ^ side(columns, q)) | (first ^ side(columns, r))
