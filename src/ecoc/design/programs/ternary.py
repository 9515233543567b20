"""The integer program over all ternary columns: which to choose, and the least goal of a pair."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ecoc._typing import Ints, Signs
from ecoc.bounds.ternary import separations, ternary_columns
from ecoc.design.programs.linear_program import LinearProgram, NameBlock, Names
from ecoc.graphs import Graph

__all__ = ["TernaryProgram", "build_ternary_program"]


@dataclass(frozen=True)
class TernaryProgram:
    """The program, and the column that each of its variables but the last stands for.

    Attributes
    ----------
    program : LinearProgram
        A variable for each column, and the least goal of a pair as the last one.
    columns : ndarray of shape (n_variables, n_classes)
        The candidates, in the order of the variables.
    """

    program: LinearProgram
    columns: Signs

    def matrix_of(self, x: npt.ArrayLike) -> Signs:
        """Return the codebook of a solution.

        Examples
        --------
        >>> built = build_ternary_program(3, 3, max_support=2)
        >>> built.matrix_of([1, 1, 0, 1]).tolist()
        [[0, 1], [1, -1], [-1, 0]]
        """
        values = np.asarray(x, dtype=np.float64)
        chosen: Signs = np.ascontiguousarray(self.columns[values[:-1] > 0.5].T)
        return chosen


def build_ternary_program(
    n_classes: int,
    n_columns: int,
    *,
    max_support: int,
    halves: bool = False,
    min_cover: int = 1,
    cutoff: int | None = None,
    costs: npt.ArrayLike | None = None,
    budget: float | None = None,
    doubled_distance: int = 0,
    admissible: npt.ArrayLike | None = None,
) -> TernaryProgram:
    """Build the program: maximise the least cover of a pair over sets of at most L columns.

    Parameters
    ----------
    n_classes, n_columns : int
        The number of classes k, at most ten, and of columns L.
    max_support : int
        The most classes that a column uses.
    halves : bool, default=False
        Maximise the least row distance instead, counted in halves: 2 for opposite entries, 1
        where one is 0.
    min_cover : int, default=1
        The least cover of a pair.
    cutoff : int, optional
        An upper bound on the objective that is known from elsewhere.
    costs : array of shape (n_variables,), optional
        What each of the columns costs.
    budget : float, optional
        What the columns may cost together.
    doubled_distance : int, default=0
        Twice the least distance of two columns.
    admissible : array of bool, optional
        Which of all columns may be chosen.

    Examples
    --------
    >>> from ecoc.design.solvers import solve
    >>> built = build_ternary_program(4, 6, max_support=4, cutoff=3)
    >>> result = solve(built.program)
    >>> result.objective, built.matrix_of(result.x).shape
    (3.0, (4, 6))
    """
    from scipy.sparse import csr_array, hstack, vstack

    from ecoc.graphs import clique_cover

    columns = ternary_columns(n_classes, max_support)
    if admissible is not None:
        columns = columns[np.asarray(admissible, dtype=bool)]
    n = len(columns)
    pairs = np.array(list(combinations(range(n_classes), 2)))
    apart = separations(columns).T.astype(np.float64)
    gains = apart
    if halves:
        used = columns != 0
        both = used[:, pairs[:, 0]] & used[:, pairs[:, 1]]
        gains = 2 * apart + ~both.T
    ones = csr_array(-np.ones((len(pairs), 1)))
    blocks = [hstack([csr_array(gains), ones]), csr_array(np.append(np.ones(n), 0.0)[None, :])]
    names = [NameBlock("pair", pairs), NameBlock("columns")]
    lower = [np.zeros(len(pairs)), np.array([-np.inf])]
    upper = [np.full(len(pairs), np.inf), np.array([float(n_columns)])]
    blocks.append(hstack([csr_array(apart), csr_array((len(pairs), 1))]))
    names.append(NameBlock("cover", pairs))
    lower.append(np.full(len(pairs), float(min_cover)))
    upper.append(np.full(len(pairs), np.inf))
    if budget is not None:
        blocks.append(csr_array(np.append(np.asarray(costs, dtype=float), 0.0)[None, :]))
        names.append(NameBlock("budget"))
        lower.append(np.array([-np.inf]))
        upper.append(np.array([float(budget)]))
    if doubled_distance > 1:
        conflicts = Graph.from_edges(n, _conflicts(columns, doubled_distance))
        cover = clique_cover(conflicts, "greedy")
        blocks.append(
            csr_array(
                (np.ones(cover.members.size), cover.members, cover.indptr),
                shape=(len(cover), n + 1),
            )
        )
        names.append(NameBlock("clique", range(len(cover))))
        lower.append(np.full(len(cover), -np.inf))
        upper.append(np.ones(len(cover)))
    most = float((2 if halves else 1) * n_columns if cutoff is None else cutoff)
    program = LinearProgram(
        "max",
        np.append(np.zeros(n), 1.0),
        vstack(blocks, format="csr"),
        np.concatenate(lower),
        np.concatenate(upper),
        np.zeros(n + 1),
        np.append(np.ones(n), most),
        np.ones(n + 1, dtype=bool),
        Names((NameBlock("x", columns.astype(np.int64)), NameBlock("t"))),
        Names(tuple(names)),
    )
    return TernaryProgram(program, columns)


def _conflicts(columns: Signs, doubled_distance: int) -> Ints:
    """Return the pairs of columns that are too close, up to their sign."""
    entries = columns.astype(np.float32)
    products = np.abs(entries @ entries.T)
    close: Ints = np.argwhere(np.triu(columns.shape[1] - products < doubled_distance, 1))
    return close
