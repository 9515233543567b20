"""What is asked of the chosen columns, checked and ready to be written as a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecoc.design.linear_program import NameBlock
from ecoc.design.rows import IntArray, RowBlock, RowWeights

__all__ = ["Parts", "ProgramOptions"]


@dataclass(frozen=True, eq=False)
class ProgramOptions:
    """What is asked of the chosen columns, beside their conflicts.

    Parameters
    ----------
    exact_columns : bool
        Choose exactly as many columns as allowed, not at most as many.
    targets : array of float, optional
        Wanted distances of the class pairs, as a symmetric k x k matrix or one number for
        each pair (0, 1), (0, 2), ...; the objective is then to minimise the sum of
        abs(distance - wanted), eq. 19 of the paper. By default the smallest distance is
        maximised.
    row_weights : callable or array of float, optional
        What a column adds to the distance of two classes, as an array of pairs by
        candidates or a function of (columns, p, q). By default 1 where it parts them.
        With it the candidates are mere labels: any distinct whole numbers.
    forced, forbidden : sequence of int
        Columns that must, or must not, be chosen.
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
        then only slow the solver down, and with weights.
    symmetry_breaking : bool
        Require the distances to class 0 not to increase from class 1 to class k - 1. Valid
        if renaming the classes 1, ..., k - 1 maps candidates and conflicts to themselves;
        the conflicts are the caller's responsibility. It helps a proof and hurts finding.
    """

    exact_columns: bool = False
    targets: npt.ArrayLike | None = None
    row_weights: RowWeights | None = None
    forced: npt.ArrayLike = ()
    forbidden: npt.ArrayLike = ()
    min_row_distance: float = 0
    cutoff: float | None = None
    parity_cuts: bool = True
    symmetry_breaking: bool = False


@dataclass(frozen=True, eq=False)
class Parts:
    """A request whose input has been checked; positions are positions among the candidates."""

    columns: IntArray
    n_classes: int
    n_columns: int
    options: ProgramOptions
    forced: IntArray
    forbidden: IntArray
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
