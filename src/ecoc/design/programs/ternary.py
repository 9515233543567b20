"""The integer program over ternary columns: which to choose, and the least goal of a pair."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import Exact
from ecoc._typing import Floats, Ints, Signs
from ecoc.bounds.ternary import exact_costs, exact_ease, separations
from ecoc.design.programs.linear_program import LinearProgram, NameBlock, Names, ProgramSize
from ecoc.design.programs.rows import sparse_rows
from ecoc.design.ternary_problem import TernaryProblem
from ecoc.graphs import Graph

__all__ = ["TernaryProgram", "build_ternary_program", "ternary_program_size"]

_ROUNDING = 1e-9
"""The share by which weighted covers may be wrong in floating point."""


@dataclass(frozen=True)
class TernaryProgram:
    """The program, and the column that each of its first variables stands for.

    Attributes
    ----------
    program : LinearProgram
        A variable for each column, then the objective.
    columns : ndarray of shape (n_columns, n_classes)
        The candidates, in the order of the variables.
    """

    program: LinearProgram
    columns: Signs

    def columns_of(self, x: npt.ArrayLike) -> Signs:
        """Return the matrix of a solution, with a row for each class.

        Examples
        --------
        >>> columns = np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1]], dtype=np.int8)
        >>> built = build_ternary_program(TernaryProblem(3, 3), columns)
        >>> built.columns_of([1, 1, 0, 1]).tolist()
        [[1, 1], [-1, 0], [0, -1]]
        """
        values = np.asarray(x, dtype=np.float64)[: len(self.columns)]
        chosen: Signs = np.ascontiguousarray(self.columns[values > 0.5].T)
        return chosen


def ternary_program_size(problem: TernaryProblem, n_columns: int) -> ProgramSize:
    """Return how large the program is at most, but for rows of columns that are too close."""
    n_pairs = problem.ternary_bounds.n_pairs
    n_rows = 3 * n_pairs + 2
    return ProgramSize(n_columns + 2, n_rows, n_columns * n_rows)


def build_ternary_program(
    problem: TernaryProblem,
    columns: Signs,
    *,
    floor: Exact | None = None,
    cutoff: float | None = None,
) -> TernaryProgram:
    """Build the program: the best objective of sets of at most L of some columns.

    Parameters
    ----------
    problem : TernaryProblem
        What is wanted; its rules on single columns are not looked at.
    columns : ndarray of shape (n_candidates, n_classes)
        The columns to choose among.
    floor : int or Fraction, optional
        The least objective that is of interest.
    cutoff : float, optional
        An upper bound on the objective that is known from elsewhere.

    Examples
    --------
    >>> from ecoc.bounds.ternary import ternary_columns
    >>> from ecoc.design.solvers import solve
    >>> built = build_ternary_program(TernaryProblem(4, 6), ternary_columns(4, 4))
    >>> result = solve(built.program)
    >>> result.objective, built.columns_of(result.x).shape
    (3.0, (4, 6))
    """
    from scipy.sparse import vstack

    n = len(columns)
    pairs = np.array(list(combinations(range(problem.n_classes), 2)))
    apart = separations(columns).T.astype(np.float64)
    goal = _goal(problem, columns, apart, pairs)
    low, high = goal.limits(problem, floor, cutoff)
    tail = goal.tail
    width = n + tail.shape[1]
    blocks: list[Any] = []
    names: list[NameBlock] = []
    lower: list[Floats] = []
    upper: list[Floats] = []

    def add(name: NameBlock, rows: Any, least: float, most: float) -> None:
        blocks.append(rows)
        names.append(name)
        lower.append(np.full(rows.shape[0], least))
        upper.append(np.full(rows.shape[0], most))

    orders = np.vstack([pairs, pairs[:, ::-1]])[: len(tail)]
    rows = sparse_rows((np.append(*row) for row in zip(goal.gains, tail, strict=True)), width)
    add(NameBlock("pair", orders), rows, goal.least, np.inf)
    add(NameBlock("columns"), sparse_rows([np.ones(n)], width), -np.inf, float(problem.n_columns))
    add(NameBlock("cover", pairs), sparse_rows(apart, width), float(problem.min_cover), np.inf)
    if problem.budget is not None:
        costs = np.array([float(cost) for cost in exact_costs(problem.ternary_bounds, columns)])
        add(NameBlock("budget"), sparse_rows([costs], width), -np.inf, float(problem.budget))
    if goal.choice:
        # An error or more takes the choice, by which all rows have to leave a lead.
        row = np.append(np.zeros(n), [1.0, -high])
        add(NameBlock("some"), sparse_rows([row], width), -np.inf, 0.0)
    doubled_distance = 2 * (problem.min_column_distance or 0)
    if doubled_distance > 1:
        cliques = _clique_rows(columns, doubled_distance, width)
        add(NameBlock("clique", range(cliques.shape[0])), cliques, -np.inf, 1.0)
    variables = [NameBlock("x", columns.astype(np.int64)), NameBlock("t"), NameBlock("some")]
    program = LinearProgram(
        "max",
        np.append(np.zeros(n), [1.0, 0.0])[:width],
        vstack(blocks, format="csr"),
        np.concatenate(lower),
        np.concatenate(upper),
        np.append(np.zeros(n), [low, 0.0])[:width],
        np.append(np.ones(n), [high, 1.0])[:width],
        np.append(np.ones(n, dtype=bool), [goal.whole, True])[:width],
        Names(tuple(variables if goal.choice else variables[:-1])),
        Names(tuple(names)),
    )
    return TernaryProgram(program, columns)


@dataclass(frozen=True)
class _Goal:
    """Rows of the objective t: gains of columns - demands t - choice z >= least, z being 0 or 1.

    t counts in units of the objective, and is whole or not.
    """

    gains: Floats
    demands: Floats
    least: float = 0.0
    unit: int = 1
    whole: bool = True
    choice: float = 0.0

    @property
    def tail(self) -> Floats:
        """The coefficients of t, and of z where there is one."""
        choices = np.full_like(self.demands, self.choice)
        return -np.stack([self.demands, choices][: 2 if self.choice else 1], axis=1)

    def limits(
        self, problem: TernaryProblem, floor: Exact | None, cutoff: float | None
    ) -> tuple[float, float]:
        """Return the least and largest t."""
        low = 0.0 if floor is None else self.unit * float(floor)
        high = float(self.unit * problem.n_columns)
        if not self.whole:
            # Objectives are rounded down to six places.
            low *= 1 - _ROUNDING
            high /= float(self.demands.min())
        if cutoff is not None:
            high = min(high, self.unit * cutoff + (0.0 if self.whole else 1e-6))
        return low, max(low, high)


def _goal(problem: TernaryProblem, columns: Signs, apart: Floats, pairs: Ints) -> _Goal:
    """Return the rows of an objective."""
    ones = np.ones(len(pairs))
    if problem.objective == "max-min-cover":
        return _Goal(apart, ones)
    used = (columns != 0).T
    first, second = used[pairs[:, 0]], used[pairs[:, 1]]
    if problem.objective == "max-min-distance":
        return _Goal(2 * apart + ~(first & second), ones, unit=2)
    if problem.objective == "guaranteed-errors":
        # 4 e < 2 o + s_p - s_q in both orders, unless e = 0, which asks for nothing.
        lead = first.astype(np.float64) - second
        gains = np.vstack([2 * apart + lead, 2 * apart - lead])
        most = float(problem.n_columns)
        return _Goal(gains, 4 * np.append(ones, ones), -most, choice=most + 1)
    demands = ones
    if problem.pair_weights is not None:
        demands = np.asarray(problem.pair_weights, dtype=np.float64)[pairs[:, 0], pairs[:, 1]]
    ease = np.array([float(ease) for ease in exact_ease(problem.ternary_bounds, columns)])
    return _Goal(apart * ease, demands, whole=False)


def _clique_rows(columns: Signs, doubled_distance: int, width: int) -> Any:
    """Return rows of columns of which one at most may be chosen."""
    from scipy.sparse import csr_array

    from ecoc.graphs import clique_cover

    cover = clique_cover(
        Graph.from_edges(len(columns), _conflicts(columns, doubled_distance)), "greedy"
    )
    return csr_array(
        (np.ones(cover.members.size), cover.members, cover.indptr), shape=(len(cover), width)
    )


def _conflicts(columns: Signs, doubled_distance: int) -> Ints:
    """Return the pairs of columns that are too close, up to their sign."""
    entries = columns.astype(np.float32)
    products = np.abs(entries @ entries.T)
    close: Ints = np.argwhere(np.triu(columns.shape[1] - products < doubled_distance, 1))
    return close
