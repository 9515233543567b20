"""Codes of few classes, by exchanging columns among all there are.

With ten classes there are 511 columns, so that trying every one in place of a chosen one
costs little. This finds codes that blocks of Hadamard matrices cannot give because they
would have to repeat columns, for instance all 35 balanced columns of 8 classes less two
blocks A_8.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from ecoc._budget import Budget
from ecoc.codes.columns import columns_to_matrix
from ecoc.constructions.blocks import Goal

__all__ = ["MAX_SMALL_CLASSES", "exchange_columns"]

Signs = npt.NDArray[np.int8]

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
