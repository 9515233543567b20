"""Small hitting sets by greedy choice and row-weighting local search.

After C. Gao, X. Yao, T. Weise and J. Li, "An efficient local search heuristic with
row weighting for the unicost set covering problem", EJOR 2015, with costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numba import njit

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_STEPS = 2000


class _Problem(NamedTuple):
    """The items of each row, the rows of each item, and what an item costs."""

    indptr: Ints
    items: Ints
    item_start: Ints
    item_rows: Ints
    costs: Ints


class _State(NamedTuple):
    """What is chosen; a score is by how much a flip changes the weight of the rows that are hit."""

    chosen: Flags
    score: Ints
    stamp: Ints
    may_enter: Flags
    weight: Ints
    hits: Ints


def small_hitting_set(rows: tuple[Ints, Ints], costs: Ints, *, n_rounds: int, seed: int) -> Ints:
    """Return items of small total cost, at least one of each row.

    Parameters
    ----------
    rows : tuple of array
        indptr and items of each row.
    costs : array of int
        The cost of each item.
    n_rounds : int
        How long to search; the result depends on this and the seed alone.
    seed : int
        The seed of the choices.
    """
    indptr, items = rows
    order = np.argsort(items, kind="stable")
    problem = _Problem(
        indptr.astype(np.int64),
        items.astype(np.int64),
        np.searchsorted(items[order], np.arange(costs.size + 1)),
        np.repeat(np.arange(indptr.size - 1), np.diff(indptr))[order],
        costs.astype(np.int64),
    )
    state = _State(
        chosen=np.zeros(costs.size, dtype=np.bool_),
        score=np.diff(problem.item_start),
        stamp=np.zeros(costs.size, dtype=np.int64),
        may_enter=np.ones(costs.size, dtype=np.bool_),
        weight=np.ones(indptr.size - 1, dtype=np.int64),
        hits=np.zeros(indptr.size - 1, dtype=np.int64),
    )
    _choose_greedily(problem, state)
    best = state.chosen.copy()
    rng = np.random.default_rng(seed)
    for _ in range(n_rounds):
        _search(problem, state, best, rng)
    return np.flatnonzero(best)


@njit(cache=True)
def _flip(problem, state, item):
    """Choose an item, or give it up."""
    adding = not state.chosen[item]
    state.chosen[item] = adding
    state.score[item] = -state.score[item]
    first, last = problem.item_start[item], problem.item_start[item + 1]
    for row in problem.item_rows[first:last]:
        sign = 1 if adding else -1
        state.hits[row] += sign
        # The row has just got its first item or lost its last, or a lone item has company.
        alone = 1 if adding else 0
        for other in problem.items[problem.indptr[row] : problem.indptr[row + 1]]:
            if other == item:
                continue
            state.may_enter[other] = True
            if not state.chosen[other]:
                if state.hits[row] == alone:
                    state.score[other] -= sign * state.weight[row]
            elif state.hits[row] == alone + 1:
                state.score[other] += sign * state.weight[row]


@njit(cache=True)
def _is_better(problem, state, item, other):
    lead = state.score[item] * problem.costs[other] - state.score[other] * problem.costs[item]
    return lead > 0 or (lead == 0 and state.stamp[item] < state.stamp[other])


@njit(cache=True)
def _choose_greedily(problem, state):
    while (state.hits == 0).any():
        best = -1
        for item in np.flatnonzero(~state.chosen):
            if best < 0 or _is_better(problem, state, item, best):
                best = item
        _flip(problem, state, best)


@njit(cache=True)
def _give_up_one(problem, state, kept):
    """Give up the item that is missed least."""
    worst = -1
    for item in np.flatnonzero(state.chosen):
        if item != kept and (worst < 0 or _is_better(problem, state, item, worst)):
            worst = item
    if worst >= 0:
        _flip(problem, state, worst)
    return worst


@njit(cache=True)
def _search(problem, state, best, rng):
    added = -1
    for step in range(_STEPS):
        while (state.hits > 0).all():
            if problem.costs[state.chosen].sum() < problem.costs[best].sum():
                best[:] = state.chosen
            _give_up_one(problem, state, -1)
        out = _give_up_one(problem, state, added)
        if out >= 0:
            state.may_enter[out] = False
            state.stamp[out] = step
        room = problem.costs[best].sum() - problem.costs[state.chosen].sum()
        missed = np.flatnonzero(state.hits == 0)
        while missed.size:
            row = missed[rng.integers(0, missed.size)]
            added = -1
            for item in problem.items[problem.indptr[row] : problem.indptr[row + 1]]:
                possible = state.may_enter[item] and problem.costs[item] < room
                if possible and (added < 0 or _is_better(problem, state, item, added)):
                    added = item
            if added < 0:
                break
            _flip(problem, state, added)
            state.stamp[added] = step
            room -= problem.costs[added]
            missed = np.flatnonzero(state.hits == 0)
        for row in missed:
            state.weight[row] += 1
            for item in problem.items[problem.indptr[row] : problem.indptr[row + 1]]:
                state.score[item] += 1
