"""Local search for codebooks: simulated annealing over k x L matrices of +1 and -1.

A run asks for one fixed goal: every row distance at least t, every pair of columns
separated, every column balanced. Its energy adds up how far each of these is missed, so
energy 0 is a solution. The search asks for the bound first, then for less until a run
succeeds, and spends what is left on asking again for more. Turning one entry changes k row
distances and L column products, which is all the work a move takes.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ecoc._checks import (
    RandomState,
    check_int,
    check_matrix,
    check_number,
    check_random_state,
)
from ecoc._limits import Budget
from ecoc._typing import Ints, Signs
from ecoc._workers import tethered
from ecoc.codes import Codebook, Provenance
from ecoc.design.problem import DesignProblem, balance_limit
from ecoc.errors import InvalidCodebookError, InvalidInputError

if TYPE_CHECKING:
    from ecoc.design._annealing import Rules

__all__ = ["SearchResult", "sample_codebook", "search_codebook"]


_ROUNDS = 4
_DRAWS = 200
_TRIES = 20
_FREE_CLASSES = 12
_MOST_ENTRIES = 4_000_000
"""Codebooks beyond this are tried once: a draw that is not admissible takes too long."""


def sample_codebook(problem: DesignProblem, *, random_state: int = 0) -> Codebook | None:
    """Draw a codebook that satisfies a problem; None if none was found.

    Examples
    --------
    >>> problem = DesignProblem(26, 40, max_imbalance=0.01, class_sizes=range(100, 126))
    >>> code = sample_codebook(problem)
    >>> problem.violations(code)
    []
    """
    generator = np.random.default_rng(random_state)
    large = problem.n_classes * problem.n_columns > _MOST_ENTRIES
    for _ in range(1 if large else _ROUNDS):
        matrix = _random_rows(problem, generator)
        if matrix is None or not _is_solution(problem, matrix):
            matrix = None if large else _random_columns(problem, generator)
        if matrix is not None and _is_solution(problem, matrix):
            return _codebook(matrix, "sampling")
    return None


def _is_solution(problem: DesignProblem, matrix: Signs) -> bool:
    codebook = _codebook(matrix, "sampling")
    return codebook is not None and not problem.violations(codebook)


def _random_rows(problem: DesignProblem, generator: np.random.Generator) -> Signs | None:
    """Different rows: with few columns, random columns would hardly give any."""
    k, length = problem.n_classes, problem.n_columns
    if length > 30:
        bits = generator.integers(0, 2, size=(k, length))
    elif k > 1 << length:
        return None
    else:
        words = generator.choice(1 << length, size=k, replace=False)
        bits = (words[:, None] >> np.arange(length)) & 1
    return (2 * bits - 1).astype(np.int8)


def _random_columns(problem: DesignProblem, generator: np.random.Generator) -> Signs | None:
    """Columns that are balanced and separated as asked, as many as are soon found."""
    k = problem.n_classes
    least, most = problem.separation_limits
    columns = _BalancedColumns(problem, generator)
    kept = np.empty((k, 0), dtype=np.int8)
    for _ in range(_DRAWS):
        column = columns.draw()
        if column is None or kept.shape[1] == problem.n_columns:
            break
        column = column * column[0]
        apart = (k - column.astype(np.int64) @ kept) // 2
        if ((apart >= least) & (apart <= most) & (apart > 0) & (apart < k)).all():
            kept = np.column_stack([kept, column])
    return kept if kept.shape[1] else None


class _BalancedColumns:
    """Draws columns at random: all classes but a few, and then the few so that it fits."""

    def __init__(self, problem: DesignProblem, generator: np.random.Generator) -> None:
        self._generator = generator
        k = problem.n_classes
        self._sizes = np.array(problem.class_sizes or (1,) * k, dtype=np.int64)
        self._limit = int(self._sizes.sum()) - 1
        if problem.max_imbalance is not None:
            allowed = balance_limit(problem.max_imbalance, problem.class_sizes, k)
            self._limit = min(self._limit, allowed)
        n_free = 0 if self._limit == self._sizes.sum() - 1 else min(k, _FREE_CLASSES)
        bits = (np.arange(1 << n_free)[:, None] >> np.arange(n_free)) & 1
        self._choices = (2 * bits - 1).astype(np.int64)

    def draw(self) -> Signs | None:
        """One column; None where the limit is hardly ever met."""
        k = self._sizes.size
        n_free = self._choices.shape[1]
        for _ in range(_TRIES):
            column = (2 * self._generator.integers(0, 2, size=k) - 1).astype(np.int8)
            if n_free == 0:
                return column
            order = self._generator.permutation(k)
            free, fixed = order[:n_free], order[n_free:]
            sides = self._choices @ self._sizes[free] + int(column[fixed] @ self._sizes[fixed])
            fitting = np.flatnonzero(np.abs(sides) <= self._limit)
            if fitting.size:
                column[free] = self._choices[self._generator.choice(fitting)]
                return column
        return None


@dataclass(frozen=True, eq=False)
class SearchResult:
    """The best codebook of a search, and how much was searched.

    Attributes
    ----------
    codebook : Codebook or None
        The best codebook found; None if no run met the rules for columns.
    objective : int, Fraction, float or None
        Its objective; a float where pairs have weights.
    n_runs, n_moves : int
        How much was tried.
    seconds : float
        How long it took.
    """

    codebook: Codebook | None
    objective: float | Fraction | None
    n_runs: int
    n_moves: int
    seconds: float


def search_codebook(
    problem: DesignProblem,
    *,
    bound: float | Fraction | None = None,
    n_starts: int = 8,
    n_moves: int = 2_000_000,
    time_limit: float | None = None,
    work_limit: float | None = None,
    random_state: RandomState = None,
    n_jobs: int | None = None,
    start: Codebook | None = None,
    at_least: int = 1,
    pair_weights: npt.ArrayLike | None = None,
    progress: Callable[[Codebook, float | Fraction], object] | None = None,
) -> SearchResult:
    """Search for a good codebook; nothing is proved about it.

    Parameters
    ----------
    problem : DesignProblem
        What is wanted.
    bound : float, optional
        A bound on the objective; a codebook that meets it ends the search.
    n_starts : int, default=8
        Runs for each goal that is tried.
    n_moves : int, default=2_000_000
        Moves of each run.
    time_limit : float, optional
        Seconds. Without it the result depends on the seed alone.
    work_limit : float, optional
        How many row and column distances all moves together may look at; each move looks at
        those of one row and one column. Unlike seconds it means the same on every machine.
        What is left of either limit once a goal is reached goes into asking for more.
    random_state : int, Generator or None
        The seed.
    n_jobs : int, optional
        Runs at a time, through joblib.
    start : Codebook, optional
        A solution to improve on.
    at_least : int, default=1
        The least row distance that is of any use; nothing below it is looked for.
    pair_weights : array of shape (n_classes, n_classes), optional
        Positive weights of the class pairs, symmetric; the diagonal is not used. The
        objective is then the least of weight times distance, and `at_least` is not used.
    progress : callable, optional
        Called with each better codebook and its objective.

    Returns
    -------
    SearchResult
        Ctrl-C ends the search and keeps the best so far.

    Examples
    --------
    >>> problem = DesignProblem(8, 16, min_column_distance=2)
    >>> result = search_codebook(problem, bound=8, random_state=0)
    >>> result.objective, result.codebook.min_row_distance
    (8, 8)
    """
    check_int("n_starts", n_starts, minimum=1)
    check_int("n_moves", n_moves, minimum=1)
    budget = Budget()
    if time_limit is not None:
        seconds = check_number("time_limit", time_limit, minimum=0)
        budget.deadline = time.monotonic() + seconds
    if work_limit is not None:
        budget.work = check_number("work_limit", work_limit, minimum=0)
    weights = None
    if pair_weights is not None:
        weights = _as_weights(pair_weights, problem)
    search = _Search(
        problem=problem,
        weights=weights,
        generator=check_random_state(random_state),
        budget=budget,
        n_starts=n_starts,
        n_moves=n_moves,
        n_jobs=n_jobs,
        at_least=at_least,
        progress=progress,
    )
    began = time.monotonic()
    if start is not None and not problem.violations(start):
        search.offer(start)
    try:
        if problem.n_classes > 2:
            search.run(bound)
        else:
            search.offer(Codebook([[1], [-1]]))
    except KeyboardInterrupt:
        pass
    return SearchResult(
        search.best, search.objective, search.n_runs, search.total_moves, time.monotonic() - began
    )


@dataclass
class _Search:
    problem: DesignProblem
    weights: npt.NDArray[np.float64] | None
    generator: np.random.Generator
    budget: Budget
    n_starts: int
    n_moves: int
    n_jobs: int | None
    at_least: int
    progress: Callable[[Codebook, float | Fraction], object] | None
    best: Codebook | None = None
    objective: float | Fraction | None = None
    n_runs: int = 0
    total_moves: int = 0

    def run(self, bound: float | Fraction | None) -> None:
        if not self.problem.maximises:
            self._approach_targets(bound)
            return
        if self.weights is not None:
            self._raise_weighted(self.weights, bound)
            return
        top = self._highest() if bound is None else min(int(bound), self._highest())
        goal = top
        while goal > max(self._reached, self.at_least - 1) and not self.budget.is_spent:
            if self._round(self._everywhere(goal)):
                break
            goal -= 1
        # What is left of the time goes into asking again for more.
        while self.budget.is_limited and self._reached < top and not self.budget.is_spent:
            self._round(self._everywhere(max(int(self._reached) + 1, self.at_least)))

    @property
    def _reached(self) -> float:
        return 0 if self.objective is None else float(self.objective)

    def _highest(self) -> int:
        """No codebook has a larger minimum distance than its average one (Plotkin)."""
        k, length = self.problem.n_classes, self.problem.n_columns
        return length * (k * k // 4) // comb(k, 2)

    def _everywhere(self, goal: int) -> Ints:
        return np.full((self.problem.n_classes,) * 2, goal, dtype=np.int64)

    def _raise_weighted(
        self, weights: npt.NDArray[np.float64], bound: float | Fraction | None
    ) -> None:
        """Ask for a share of what averaging allows, then for more as long as that succeeds."""
        k, length = self.problem.n_classes, self.problem.n_columns
        needed = (1 / weights)[np.triu_indices(k, 1)].sum()
        highest = length * (k * k // 4) / needed
        for share in (0.95, 0.9, 0.8, 0.6, 0.3, 0.0):
            if self.budget.is_spent or self._round(_above(share * highest, weights)):
                break
        while not self.budget.is_spent and (bound is None or self._reached < bound):
            if not self._round(_above(self._reached, weights)) and not self.budget.is_limited:
                return

    def _approach_targets(self, bound: float | Fraction | None) -> None:
        while not self.budget.is_spent:
            self._round(self._everywhere(0))
            met = bound is not None and self.objective is not None and self.objective <= bound
            if met or not self.budget.is_limited:
                return

    def _round(self, goals: Ints) -> bool:
        """Some runs for least distances of all pairs; true if one of them reached these."""
        from joblib import Parallel, delayed, effective_n_jobs

        from ecoc.design import _annealing

        seeds = self.generator.integers(2**31 - 1, size=self.n_starts).tolist()
        rules = _rules(self.problem, goals)
        width = effective_n_jobs(self.n_jobs)
        for first in range(0, len(seeds), width):
            runs = Parallel(n_jobs=width)(
                delayed(tethered(_annealing.anneal))(rules, seed, self.n_moves, self.budget)
                for seed in seeds[first : first + width]
            )
            for matrix, moves in runs:
                self.n_runs += 1
                self.total_moves += moves
                self.budget.spend(moves * (rules.k + rules.length))
                self.offer(None if matrix is None else _codebook(matrix, "annealing"))
            if self.problem.maximises and self._meets(goals):
                return True
            if self.budget.is_spent:
                break
        return False

    def _meets(self, goals: Ints) -> bool:
        if self.best is None:
            return False
        pairs = np.triu_indices(len(goals), 1)
        return bool((self.best.row_distances()[pairs] >= goals[pairs]).all())

    def _value(self, codebook: Codebook) -> float | Fraction:
        if self.weights is None:
            return self.problem.objective_of(codebook)
        pairs = np.triu_indices(codebook.n_classes, 1)
        return float((self.weights * codebook.row_distances())[pairs].min())

    def offer(self, codebook: Codebook | None) -> None:
        """Keep a codebook if it satisfies the problem and is better than the best."""
        if codebook is None or self.problem.violations(codebook):
            return
        value = self._value(codebook)
        if self.problem.maximises and self.weights is None and value < self.at_least:
            return
        sign = 1 if self.problem.maximises else -1
        if self.objective is None or sign * (value - self.objective) > 0:
            self.best, self.objective = codebook, value
            if self.progress is not None:
                self.progress(codebook, value)


def _above(value: float, weights: npt.NDArray[np.float64]) -> Ints:
    """The least distances whose weighted value is more than `value`, at least 1 each."""
    goals: Ints = np.maximum(np.floor(value / weights * (1 + 1e-12)) + 1, 1).astype(np.int64)
    return goals


def _as_weights(values: npt.ArrayLike, problem: DesignProblem) -> npt.NDArray[np.float64]:
    if not problem.maximises:
        raise InvalidInputError("pair_weights are for the objective 'max-min-distance'.")
    weights = check_matrix("pair_weights", values)
    k = problem.n_classes
    if weights.shape != (k, k):
        raise InvalidInputError(f"pair_weights must have shape ({k}, {k}), not {weights.shape}.")
    np.fill_diagonal(weights, 1)
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        raise InvalidInputError("pair_weights must be finite and positive.")
    if not np.array_equal(weights, weights.T):
        raise InvalidInputError("pair_weights must be symmetric.")
    return weights


def _rules(problem: DesignProblem, goals: Ints) -> Rules:
    from ecoc.design._annealing import Rules

    k = problem.n_classes
    least, most = problem.separation_limits
    sizes = np.array(problem.class_sizes or (1,) * k, dtype=np.int64)
    total = int(sizes.sum())
    limit = total
    if problem.max_imbalance is not None:
        limit = min(limit, balance_limit(problem.max_imbalance, problem.class_sizes, k))
    targets = problem.target_distances
    return Rules(
        k=k,
        length=problem.n_columns,
        goals=goals,
        product_low=k - 2 * most,
        product_high=k - 2 * least,
        sizes=sizes,
        limit=limit,
        targets=targets if isinstance(targets, np.ndarray) else np.zeros((0, 0)),
    )


def _codebook(matrix: Signs, method: str) -> Codebook | None:
    try:
        return Codebook(matrix, name="designed", provenance=Provenance(method))
    except InvalidCodebookError:
        return None
