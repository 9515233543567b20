"""The compiled core of the local search: one run of simulated annealing.

Row 0 stays +1: complementing a column changes neither distances nor balance. Columns are
then normalised, and every separation rule is an interval for their inner products. A column
of +1 alone separates nothing and stands for one that is not used: no rule applies to it, and
it is left out of the result.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ecoc._limits import Budget
from ecoc._numba import copy_to, njit, read_only
from ecoc._typing import Floats, Ints, Signs

_CHUNK = 200_000
_LOOK = 50_000_000
"""The moves between two looks at the clock, and the distances they may look at."""


class Rules(NamedTuple):
    """What a run asks for: a least row distance, or target distances, and rules for columns."""

    k: int
    length: int
    goals: Ints
    product_low: int
    product_high: int
    sizes: Ints
    limit: int
    targets: Floats


def anneal(rules: Rules, seed: int, n_moves: int, budget: Budget) -> tuple[Signs | None, int]:
    """One run; the solution it found, or its best matrix that breaks no rule, or None."""
    generator = np.random.default_rng(seed)
    matrix = generator.integers(0, 2, size=(rules.k, rules.length), dtype=np.int8)
    matrix = (2 * matrix - 1).astype(np.int8)
    matrix[0] = 1
    # Single precision is exact for products of so few entries, and fast.
    signs = matrix.astype(np.float32)
    products = (signs.T @ signs).astype(np.int64)
    distances = (rules.length - (signs @ signs.T).astype(np.int64)) // 2
    sides = rules.sizes @ matrix
    counts = matrix.sum(axis=0, dtype=np.int64)
    by_targets = rules.targets.size > 0
    best = np.zeros_like(matrix)
    best_energy = np.array([np.inf])
    # Far above the cost of one wrong pair at the start, far below it at the end.
    hot, cold = (3.0, 0.15) if by_targets else (2.0, 0.12)
    price = rules.k + rules.length
    # Rounded up: what is left of the work is always spent.
    at_most = int(min(n_moves, -(-budget.work // price)))
    done = 0
    while done < at_most and best_energy[0] > 0 and not budget.is_late:
        chunk = min(_CHUNK, max(_LOOK // price, 1), at_most - done)
        warmer = hot * (cold / hot) ** (done / n_moves)
        cooler = hot * (cold / hot) ** ((done + chunk) / n_moves)
        done += _moves(
            matrix,
            distances,
            products,
            sides,
            counts,
            read_only(rules.sizes),
            read_only(rules.goals),
            rules.product_low,
            rules.product_high,
            rules.limit,
            read_only(rules.targets),
            warmer,
            cooler,
            chunk,
            int(generator.integers(2**31 - 1)),
            best,
            best_energy,
        )
    if not np.isfinite(best_energy[0]):
        return None, done
    return best[:, (best != 1).any(axis=0)], done


def compile_kernels() -> None:
    """Compile what a run needs, or load it, by a run of next to no size."""
    ones, none = np.ones((3, 3), dtype=np.int64), np.zeros((0, 0))
    anneal(Rules(3, 3, ones, -3, 3, ones[0], 3, none), 0, 1, Budget())


@njit
def _over(value: int, low: int, high: int) -> int:
    """How far a value lies outside an interval, in steps of two, squared."""
    far = max(low - value, value - high, 0)
    return ((far + 1) // 2) ** 2


@njit
def _row_cost(distance: int, goal: int, target: float, by_targets: bool) -> float:
    if by_targets:
        # Rows that cannot be told apart are no codebook at all.
        return abs(distance - target) + (1000.0 if distance == 0 else 0.0)
    missing = goal - distance
    return float(missing * missing) if missing > 0 else 0.0


@njit
def _moves(  # noqa: PLR0912, PLR0915, PLR0917  # one compiled loop
    matrix: Signs,
    distances: Ints,
    products: Ints,
    sides: Ints,
    counts: Ints,
    sizes: Ints,
    goals: Ints,
    low: int,
    high: int,
    limit: int,
    targets: Floats,
    hot: float,
    cold: float,
    n_moves: int,
    seed: int,
    best: Signs,
    best_energy: Floats,
) -> int:
    """Some moves at falling temperature; stops at energy 0. Returns how many were made."""
    np.random.seed(seed)  # noqa: NPY002  # numba knows only this one
    k, length = matrix.shape
    by_targets = targets.size > 0
    column_weight = 2.0 if by_targets else 1.0
    broken = 0
    cost = 0.0
    for p in range(k):
        for q in range(p):
            target = targets[p, q] if by_targets else 0.0
            cost += _row_cost(distances[p, q], goals[p, q], target, by_targets)
    for i in range(length):
        if counts[i] < k:
            broken += _over(sides[i], -limit, limit)
            for j in range(i):
                if counts[j] < k:
                    broken += _over(products[i, j], low, high)
    step = (cold / hot) ** (1.0 / n_moves)
    temperature = hot
    for move in range(n_moves):
        temperature *= step
        p = 1 + np.random.randint(k - 1)  # noqa: NPY002
        j = np.random.randint(length)  # noqa: NPY002
        old = matrix[p, j]
        change = 0.0
        for q in range(k):
            if q != p:
                d = distances[p, q]
                moved = d + 1 if matrix[q, j] == old else d - 1
                target = targets[p, q] if by_targets else 0.0
                goal = goals[p, q]
                change += _row_cost(moved, goal, target, by_targets) - _row_cost(
                    d, goal, target, by_targets
                )
        side = sides[j] - 2 * old * sizes[p]
        was_used = counts[j] < k
        is_used = counts[j] - 2 * old < k
        worse = 0
        if is_used:
            worse += _over(side, -limit, limit)
        if was_used:
            worse -= _over(sides[j], -limit, limit)
        for i in range(length):
            if i != j and counts[i] < k:
                g = products[j, i]
                if is_used:
                    worse += _over(g - 2 * old * matrix[p, i], low, high)
                if was_used:
                    worse -= _over(g, low, high)
        total = change + column_weight * worse
        if total > 0 and np.random.random() >= np.exp(-total / temperature):  # noqa: NPY002
            continue
        for q in range(k):
            if q != p:
                d = distances[p, q] + (1 if matrix[q, j] == old else -1)
                distances[p, q] = d
                distances[q, p] = d
        for i in range(length):
            if i != j:
                g = products[j, i] - 2 * old * matrix[p, i]
                products[j, i] = g
                products[i, j] = g
        sides[j] = side
        counts[j] -= 2 * old
        matrix[p, j] = -old
        cost += change
        broken += worse
        if broken == 0 and cost < best_energy[0]:
            best_energy[0] = cost
            copy_to(best.ravel(), matrix.ravel())
            if cost == 0:
                return move + 1
    return n_moves
