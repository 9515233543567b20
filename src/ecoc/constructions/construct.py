"""The best code that coding theory gives for a number of classes and columns."""

from __future__ import annotations

import time
from contextlib import nullcontext
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ecoc._checks import (
    RandomState,
    check_choice,
    check_enough_columns,
    check_enough_rows,
    check_int,
    check_number,
    check_random_state,
)
from ecoc._limits import Budget
from ecoc._typing import Signs
from ecoc._workers import one_thread
from ecoc.bounds import BoundProblem, column_limit, words_bound
from ecoc.codes.codebook import Codebook, Provenance, Separation
from ecoc.codes.columns import columns_to_matrix
from ecoc.constructions.blocks import Goal, search_deal
from ecoc.constructions.patchwork import Patchwork, patchworks

__all__ = ["MAX_SMALL_CLASSES", "best_linear", "construct", "constructions", "exchange_columns"]


MAX_SMALL_CLASSES = 10

_STEPS = 400
_STARTS = 4
_TABU = 6
_TRIED = 2000
_PRICE = 4
"""What one entry costs, in inner products of columns: the work of other constructions."""


def exchange_columns(
    n_classes: int,
    n_columns: int,
    distance: int,
    goal: Goal,
    rng: np.random.Generator,
    *,
    budget: Budget,
) -> Signs | None:
    """A code with the given row distance and column distance, or None if none was found.

    Examples
    --------
    >>> code = exchange_columns(8, 21, 12, Goal(1), np.random.default_rng(0), budget=Budget())
    >>> code.shape
    (8, 21)
    """
    candidates = columns_to_matrix(np.arange(1, 1 << (n_classes - 1)), n_classes)
    if n_columns > candidates.shape[1]:
        return None
    first, second = np.array(list(combinations(range(n_classes), 2))).T
    differ = (candidates[first] != candidates[second]).T.astype(np.int64)
    conflicts = _conflicts(candidates, goal)
    for _ in range(_STARTS):
        if budget.is_spent:
            break
        chosen = _exchange(differ, conflicts, n_columns, distance, rng, budget=budget)
        if chosen is not None:
            return np.ascontiguousarray(candidates[:, chosen])
    return None


def _conflicts(candidates: Signs, goal: Goal) -> npt.NDArray[np.int64]:
    """Whether two columns are too near; a column is no conflict of itself."""
    k = len(candidates)
    products = candidates.T.astype(np.int64) @ candidates
    distances = (k - products) // 2
    if not goal.one_sided:
        distances = np.minimum(distances, k - distances)
    near = distances < goal.column_distance
    np.fill_diagonal(near, val=False)
    return near.astype(np.int64)


def _exchange(
    differ: npt.NDArray[np.int64],
    conflicts: npt.NDArray[np.int64],
    n_columns: int,
    distance: int,
    rng: np.random.Generator,
    *,
    budget: Budget,
) -> npt.NDArray[np.int64] | None:
    n_candidates = len(differ)
    chosen = rng.choice(n_candidates, size=n_columns, replace=False)
    held_until = np.zeros(n_candidates, dtype=np.int64)
    inside = np.zeros(n_candidates, dtype=bool)
    inside[chosen] = True
    totals = differ[chosen].sum(axis=0)
    near = conflicts[chosen].sum(axis=0)
    for step in range(_STEPS):
        if totals.min() >= distance and not near[chosen].any():
            return np.sort(chosen)
        if budget.is_late:
            return None
        others = np.flatnonzero(~inside & (held_until <= step))
        if not others.size:
            continue
        places = rng.permutation(n_columns)[: max(1, _TRIED // len(others))]
        leaving = chosen[places]
        after = (totals - differ[leaving])[:, None, :] + differ[others][None, :, :]
        budget.spend(_PRICE * after.size)
        missing = np.maximum(0, distance - after)
        cost = (missing * missing).sum(axis=2)
        nearer = near[others][None, :] - conflicts[np.ix_(leaving, others)] - near[leaving][:, None]
        cost = cost + 4 * nearer + rng.random(cost.shape) * 0.5
        leave, enter = np.unravel_index(int(np.argmin(cost)), cost.shape)
        place, old, new = int(places[leave]), int(leaving[leave]), int(others[enter])
        chosen[place] = new
        inside[old], inside[new] = False, True
        held_until[old] = step + _TABU
        totals = totals - differ[old] + differ[new]
        near = near - conflicts[old] + conflicts[new]
    return None


_LARGE = 1 << 17
"""From how many entries on products of matrices are worth several threads."""

_ROUNDS = 2
"""How often the plans of one distance are tried for the column distance asked for."""

_MAX_STRETCHED = 1 << 12
"""Up to how many classes columns are moved apart beyond a third of the classes: with more they
stand near to half of them as they come, and each further step takes seconds."""

_LEVELS = 3
"""How many different row distances are tried, from the largest, before giving up."""


def constructions(n_classes: int, n_columns: int) -> list[Patchwork]:
    """The constructions that apply, with the row distance each is sure to reach.

    Examples
    --------
    >>> for plan in constructions(11, 22)[:3]:
    ...     print(plan.method, plan.names, plan.distance)
    legendre-pair ('L11',) 12
    levenshtein ('A12', 'A12') 12
    levenshtein ('C24',) 12
    """
    _check_size(n_classes, n_columns)
    return patchworks(n_classes, n_columns)


def construct(
    n_classes: int,
    n_columns: int,
    *,
    min_column_distance: int = 1,
    separation: Separation = "two-sided",
    random_state: RandomState = None,
    time_limit: float | None = None,
    work_limit: float | None = None,
    target_distance: int | None = None,
) -> Codebook | None:
    """The best codebook that the constructions give.

    Constructions are tried from the largest row distance they promise. Freedom that does
    not touch the row distance is spent on the distance of columns: up to the one asked
    for, then up to a third of the classes, and beyond as long as it comes easily.

    Parameters
    ----------
    n_classes, n_columns : int
        The size of the codebook, k x L.
    min_column_distance : int, default=1
        The least distance of columns asked for, rho. Columns are distinct, not
        complementary and not constant in any case.
    separation : {"two-sided", "one-sided"}, default="two-sided"
        How the distance of columns is taken; see :meth:`Codebook.column_distances`.
    random_state : int, Generator or None
        The same seed gives the same codebook, unless the time limit stops the search.
    time_limit : float, optional
        Seconds after which what has been found is returned.
    work_limit : float, optional
        How many inner products of columns may be looked at, which unlike seconds means the
        same on every machine. The first deal of a construction is always made.
    target_distance : int, optional
        Stop as soon as this row distance and `min_column_distance` are met.

    Returns
    -------
    Codebook or None
        The best codebook by row distance, then by column distance; None where no
        construction meets `min_column_distance`.

    Raises
    ------
    InfeasibleError
        If no codebook of that size exists.

    Examples
    --------
    >>> construct(17, 34, min_column_distance=5, random_state=0)
    <Codebook 'legendre-pair': 17 classes x 34 columns, row distance 18, column distance 5>
    """
    return _Request(
        n_classes,
        n_columns,
        min_column_distance=min_column_distance,
        separation=separation,
        random_state=random_state,
        time_limit=time_limit,
        work_limit=work_limit,
        target_distance=target_distance,
    ).best()


def best_linear(
    n_classes: int, n_columns: int, *, random_state: RandomState = None
) -> Codebook | None:
    """The best codebook of words of linear codes (and Kerdock's) alone.

    Good where classes are many and columns few. The row distance in the result's measures
    is counted on the codebook itself.

    Examples
    --------
    >>> best_linear(1000, 63, random_state=0).min_row_distance
    28
    """
    return _Request(n_classes, n_columns, random_state=random_state, family="linear").best()


class _Request:
    """One search: what is asked for, and the best codebook so far."""

    def __init__(
        self,
        n_classes: int,
        n_columns: int,
        *,
        min_column_distance: int = 1,
        separation: Separation = "two-sided",
        random_state: RandomState = None,
        time_limit: float | None = None,
        work_limit: float | None = None,
        target_distance: int | None = None,
        family: str = "any",
    ) -> None:
        self.k, self.length = _check_size(n_classes, n_columns)
        self.rho = check_int("min_column_distance", min_column_distance, minimum=1)
        self.separation: Separation = separation
        self.one_sided = (
            check_choice("separation", separation, ("two-sided", "one-sided")) == "one-sided"
        )
        self.rng = check_random_state(random_state)
        self.seed = None if isinstance(random_state, np.random.Generator) else random_state
        self.budget = Budget()
        if time_limit is not None:
            seconds = check_number("time_limit", time_limit, minimum=0)
            self.budget.deadline = time.monotonic() + seconds
        if work_limit is not None:
            self.budget.work = check_number("work_limit", work_limit, minimum=0)
        self.target = target_distance
        if target_distance is not None:
            check_int("target_distance", target_distance, minimum=1)
        self.family = family
        self.best_code: Codebook | None = None

    def best(self) -> Codebook | None:
        # Many small products: threads inside each of them only get in each other's way.
        with one_thread() if self.k * self.length < _LARGE else nullcontext():
            self._search()
        return self.best_code

    def _search(self) -> None:
        plans = patchworks(self.k, self.length, family=self.family)
        levels = sorted({plan.distance for plan in plans}, reverse=True)[:_LEVELS]
        if not self._columns_fit():
            return
        for distance in levels:
            chosen = [plan for plan in plans if plan.distance == distance]
            for _ in range(_ROUNDS):
                self._try_all(chosen, distance)
                if self.best_code is not None or self.budget.is_spent:
                    break
            if self.best_code is not None or self.budget.is_spent:
                break
        if self.k <= MAX_SMALL_CLASSES and self.family == "any":
            self._try_small()

    def _columns_fit(self) -> bool:
        """Whether theory lets so many columns stand rho apart."""
        if self.rho > self.k:
            return False
        return column_limit(self._shape()) is None

    def _shape(self) -> BoundProblem:
        return BoundProblem(
            self.k, self.length, min_column_distance=self.rho, separation=self.separation
        )

    def _try_all(self, plans: list[Patchwork], distance: int) -> None:
        for plan in plans:
            self._try(plan)
            if self._done(distance):
                return

    def _wanted(self) -> int:
        return self.rho if self.target is not None else max(self.rho, self.k // 3)

    def _done(self, distance: int) -> bool:
        if self.budget.is_spent:
            return True
        if self.best_code is None or self.best_code.min_row_distance < distance:
            return False
        return (self.best_code.min_column_distance(self.separation) or self.k) >= self._wanted()

    def _try(self, plan: Patchwork) -> None:
        matrix, separation = search_deal(
            plan.make,
            Goal(self._wanted(), one_sided=self.one_sided),
            self.rng,
            stretch=self.target is None and self.k <= _MAX_STRETCHED,
            budget=self.budget,
        )
        if separation >= self.rho:
            details = {"blocks": list(plan.names), "n_cut": plan.n_cut, "n_free": plan.n_free}
            self._offer(matrix, plan.method, details)

    def _try_small(self) -> None:
        """Look for what blocks cannot give, from Plotkin's bound downwards."""
        reached = 0 if self.best_code is None else int(self.best_code.min_row_distance)
        goal = Goal(self.rho, one_sided=self.one_sided)
        bound = words_bound(self._shape(), "plotkin")
        most = self.length if bound is None else bound.value
        for distance in range(most, reached, -1):
            if (self.target is not None and reached >= self.target) or self.budget.is_spent:
                return
            matrix = exchange_columns(
                self.k, self.length, distance, goal, self.rng, budget=self.budget
            )
            if matrix is not None:
                self._offer(matrix, "column-exchange", {})
                return

    def _offer(self, matrix: Signs, method: str, details: dict[str, object]) -> None:
        parameters = {
            "n_classes": self.k,
            "n_columns": self.length,
            "min_column_distance": self.rho,
            "separation": self.separation,
            **details,
        }
        code = Codebook(
            matrix, name=method, provenance=Provenance(method, parameters, seed=self.seed)
        )
        if self.best_code is None or self._figures(code) > self._figures(self.best_code):
            self.best_code = code

    def _figures(self, code: Codebook) -> tuple[float, float]:
        return code.min_row_distance, code.min_column_distance(self.separation) or 0


def _check_size(n_classes: int, n_columns: int) -> tuple[int, int]:
    k = check_int("n_classes", n_classes, minimum=2)
    length = check_int("n_columns", n_columns, minimum=1)
    if k <= 64:
        check_enough_columns(k, length, (1 << (k - 1)) - 1)
    check_enough_rows(k, length)
    return k, length
