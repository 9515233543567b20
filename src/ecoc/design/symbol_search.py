"""Local search for codebooks of several symbols, by exchanges inside balanced columns.

A run asks for one row distance. The search asks for the bound first, then for less until a
run succeeds. Two symbols of a column are exchanged at a time, so that groups keep their sizes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecoc._checks import RandomState, check_int, check_number, check_random_state
from ecoc._limits import Budget
from ecoc._typing import Ints
from ecoc.bounds.problem import SymbolBoundProblem
from ecoc.bounds.symbols import best_symbol_bound
from ecoc.codes.measures import renaming_distance

__all__ = [
    "SymbolSearchResult",
    "search_symbols",
    "separate_columns",
]


@dataclass(frozen=True, eq=False)
class SymbolSearchResult:
    """What a search found.

    Attributes
    ----------
    matrix : ndarray of shape (k, L) or None
        The best codebook of different columns; None if there was none.
    distance : int
        Its least row distance; 0 without a codebook.
    n_runs : int
        How many runs were made.
    seconds : float
        How long it took.
    """

    matrix: Ints | None
    distance: int
    n_runs: int
    seconds: float


def search_symbols(
    n_classes: int,
    n_columns: int,
    n_symbols: int,
    *,
    bound: int | None = None,
    at_least: int = 1,
    n_starts: int = 3,
    n_moves: int = 1_500_000,
    time_limit: float | None = None,
    work_limit: float | None = None,
    random_state: RandomState = None,
    start: npt.ArrayLike | None = None,
) -> SymbolSearchResult:
    """Search for a codebook of several symbols; nothing is proved about it.

    Parameters
    ----------
    n_classes, n_columns, n_symbols : int
        The size, k x L, and the number of symbols, q.
    bound : int, optional
        The row distance that is asked for first; by default the least upper bound.
    at_least : int, default=1
        The least row distance that is of any use.
    n_starts, n_moves : int
        Runs for each distance, and exchanges of each run.
    time_limit : float, optional
        Seconds. Without it the result depends on the seed alone.
    work_limit : float, optional
        How many distances of pairs all runs together may look at.
    random_state : int, Generator or None
        The seed.
    start : array of shape (k, L), optional
        A codebook to improve on; the first run for each distance begins with it.

    Examples
    --------
    >>> result = search_symbols(10, 20, 3, random_state=0)
    >>> result.distance, result.matrix.shape
    (14, (10, 20))
    """
    from ecoc.constructions.symbols import has_different_columns, least_distance
    from ecoc.constructions.symmetric_symbols import Kind, Rotation, anneal_code

    k = check_int("n_classes", n_classes, minimum=2)
    n = check_int("n_columns", n_columns, minimum=1)
    q = check_int("n_symbols", n_symbols, minimum=2)
    check_int("n_starts", n_starts, minimum=1)
    check_int("n_moves", n_moves, minimum=1)
    budget = Budget()
    began = time.monotonic()
    if time_limit is not None:
        budget.deadline = began + check_number("time_limit", time_limit, minimum=0)
    if work_limit is not None:
        budget.work = check_number("work_limit", work_limit, minimum=0)
    rng = check_random_state(random_state)
    best = None if start is None else np.array(start, dtype=np.int64)
    begin = best
    reached = 0 if best is None else least_distance(best)
    top = best_symbol_bound(SymbolBoundProblem(k, n, q)).value if bound is None else bound
    runs = 0
    for goal in range(top, max(reached, at_least - 1), -1):
        if goal <= reached:
            break
        solution = None
        for number in range(n_starts):
            if budget.is_spent:
                break
            runs += 1
            matrix, energy = anneal_code(
                Rotation(k),
                (Kind(),) * n,
                q,
                goal,
                seed=int(rng.integers(2**31)),
                n_moves=n_moves,
                budget=budget,
                start=begin if number == 0 else None,
            )
            if not has_different_columns(matrix):
                continue
            if not energy:
                solution = matrix
                break
            # A near miss is better than nothing where the time is over.
            near = least_distance(matrix)
            if near > max(reached, at_least - 1):
                best, reached = matrix, near
        if solution is not None:
            best, reached = solution, goal
            break
    if best is not None:
        reached = least_distance(best)
    return SymbolSearchResult(best, reached, runs, time.monotonic() - began)


def separate_columns(
    matrix: Ints,
    min_column_distance: int,
    *,
    random_state: RandomState = None,
    n_moves: int = 2_000,
    budget: Budget | None = None,
) -> Ints:
    """Exchange symbols such that columns come further apart and no row distance falls too low.

    Parameters
    ----------
    matrix : ndarray of shape (k, L)
        A codebook; its least row distance is kept.
    min_column_distance : int
        The least distance of columns that is wanted; where it is reached the search ends.
    random_state : int, Generator or None
        The seed.
    n_moves : int
        How many exchanges are tried.
    budget : Budget, optional
        Pays one unit for each pair of columns that is compared.

    Returns
    -------
    ndarray of shape (k, L)
        A codebook that is at least as good.

    Examples
    --------
    >>> matrix = np.array([[0, 0, 0], [0, 0, 1], [1, 1, 1], [1, 1, 2], [2, 2, 2], [2, 2, 0]])
    >>> better = separate_columns(matrix[:, 1:], 2, random_state=0)
    >>> renaming_distance(*matrix[:, 1:].T), renaming_distance(*better.T)
    (3, 3)
    """
    from ecoc.constructions.symbols import least_distance

    rng = check_random_state(random_state)
    spent = Budget() if budget is None else budget
    code = np.array(matrix, dtype=np.int64)
    k, n = code.shape
    wanted = least_distance(code)
    rows = (code[:, None, :] != code[None, :, :]).sum(axis=2)
    apart = np.full((n, n), k, dtype=np.int64)
    for i in range(n):
        for j in range(i):
            apart[i, j] = apart[j, i] = renaming_distance(code[:, i], code[:, j])
    for _ in range(n_moves):
        least = apart.min()
        if n < 2 or least >= min_column_distance or spent.is_spent:
            break
        close = np.argwhere(apart == least)
        c = int(close[rng.integers(len(close))][0])
        p, r = rng.integers(k, size=2)
        if code[p, c] == code[r, c]:
            continue
        column = code[:, c].copy()
        column[p], column[r] = column[r], column[p]
        change = (column[:, None] != column).astype(np.int64)
        change -= code[:, c, None] != code[:, c]
        if (rows + change + wanted * np.eye(k, dtype=np.int64)).min() < wanted:
            continue
        new = np.array([renaming_distance(column, code[:, j]) for j in range(n)])
        new[c] = k
        spent.spend(n)
        if (new.min(), -(new == new.min()).sum()) >= (
            apart[c].min(),
            -(apart[c] == apart[c].min()).sum(),
        ):
            code[:, c] = column
            rows += change
            apart[c] = apart[:, c] = new
    return code
