"""Codes made of blocks of columns whose rows may be dealt to the classes in any way.

Every block is a set of words at pairwise distance at least some d_b, so that however its
rows are dealt, and whatever its columns' signs, rows of the whole are at least the sum of
the d_b apart. That freedom is spent on the columns: an annealing of the deal (see
:mod:`._annealing`) makes them distinct, not complementary, and far from each other.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ecoc._limits import Budget
from ecoc._typing import Signs

__all__ = ["BlockCode", "Goal", "compile_kernels", "free_column", "search_deal", "separation_of"]


_EFFORTS = (0.25, 0.25, 0.5, 1.0, 2.0, 4.0)
"""The work of each start, as a share of what the size asks for."""

_HOT = 4.0
_LEAST_WORK = 4_000_000
_MOST_WORK = 400_000_000
_ENTRY_PRICE = 10
"""What making and measuring a deal costs for each entry, in inner products looked at."""

_LOOK = 20_000_000
"""How many inner products are looked at between two looks at the clock."""


@dataclass(frozen=True, eq=False)
class BlockCode:
    """Blocks side by side, and the row distance they promise.

    Parameters
    ----------
    n_classes : int
        The number of classes, k; each block has at least as many rows.
    distance : int
        What any deal of rows is sure to reach.
    blocks : tuple of ndarray
        Matrices of +1 and -1, a row for each word.
    """

    n_classes: int
    distance: int
    blocks: tuple[Signs, ...]

    @property
    def n_columns(self) -> int:
        """The number of columns of all blocks together."""
        return sum(block.shape[1] for block in self.blocks)


@dataclass(frozen=True)
class Goal:
    """The distance that columns should have.

    Parameters
    ----------
    column_distance : int
        Which distance of columns is enough.
    one_sided : bool
        Whether the distance is taken between columns with +1 in the first row only.
    """

    column_distance: int
    one_sided: bool = False


def free_column(n_classes: int) -> Signs:
    """A block of one column that may take any values."""
    return np.repeat(np.array([[1], [-1]], dtype=np.int8), n_classes, axis=0)


def separation_of(matrix: Signs, *, one_sided: bool = False) -> int:
    """The least distance of columns; 0 where a column is constant or two are the same.

    A constant column counts as one that separates nothing.
    """
    k, length = (int(size) for size in matrix.shape)
    if (np.abs(matrix.sum(axis=0, dtype=np.int64)) == k).any():
        return 0
    if length == 1:
        return k
    products = _products(matrix * matrix[0] if one_sided else matrix)
    np.fill_diagonal(products, -k)
    two_sided = np.abs(products)
    np.fill_diagonal(two_sided, 0)
    if two_sided.max() == k:
        return 0
    largest = products.max() if one_sided else two_sided.max()
    return (k - int(largest)) // 2


def _products(matrix: Signs) -> npt.NDArray[np.float32]:
    """Inner products of all pairs of columns; single precision is exact for so few rows."""
    values = matrix.astype(np.float32)
    return values.T @ values


def search_deal(
    make: Callable[[np.random.Generator], BlockCode],
    goal: Goal,
    rng: np.random.Generator,
    *,
    budget: Budget,
    stretch: bool = False,
) -> tuple[Signs, int]:
    """Deal the rows of blocks so that columns stand well apart.

    Parameters
    ----------
    make : callable
        Makes the blocks, possibly others each time; called once for each start.
    goal : Goal
        Where to stop.
    rng : Generator
        All randomness comes from it.
    budget : Budget
        What may be spent, in inner products of columns. A first deal is always made.
    stretch : bool, default=False
        Once the goal is met, raise it until a start fails.

    Returns
    -------
    matrix : ndarray
        The best matrix found.
    separation : int
        Its column distance, by the rule of the goal.
    """
    best: tuple[Signs, int] = np.empty((0, 0), dtype=np.int8), -1
    efforts = list(_EFFORTS)
    n_failed = 0
    while efforts:
        matrix = _anneal_once(make(rng), goal, rng, efforts[0], budget)
        separation = separation_of(matrix, one_sided=goal.one_sided)
        if separation > best[1]:
            best = matrix, separation
        if budget.is_spent:
            break
        if separation < goal.column_distance:
            efforts.pop(0)
            n_failed += 1
            # Blocks that repeat columns on their own do so however they are dealt.
            if best[1] == 0 and n_failed > 2:
                break
        elif not stretch:
            break
        else:
            # The first failure at a raised goal ends the search.
            goal = replace(goal, column_distance=separation + 1)
            efforts = [1.0]
    return best


def _anneal_once(
    code: BlockCode, goal: Goal, rng: np.random.Generator, effort: float, budget: Budget
) -> Signs:
    from ecoc.constructions import _annealing

    k = code.n_classes
    budget.spend(_ENTRY_PRICE * k * code.n_columns)
    starts = np.cumsum([0, *(block.shape[1] for block in code.blocks)], dtype=np.int64)
    n_rows = np.array([len(block) for block in code.blocks], dtype=np.int64)
    rows = np.zeros((n_rows.max(), starts[-1]), dtype=np.int8)
    order = np.zeros((len(code.blocks), n_rows.max()), dtype=np.int64)
    for b, block in enumerate(code.blocks):
        rows[: len(block), starts[b] : starts[b + 1]] = block
        order[b, : len(block)] = rng.permutation(len(block))
    if goal.one_sided:
        rows *= _dealt(rows, starts, order, 1)[0]
    deal = _annealing.Deal(rows, starts, n_rows, order, _dealt(rows, starts, order, k))
    if budget.is_late:
        # As it comes, and without what may have to be compiled first.
        return deal.matrix
    # A whole number, which the work done can meet exactly.
    work = int(effort * min(_MOST_WORK, max(_LEAST_WORK, 6 * k * int(starts[-1]) ** 2)))
    gram = _annealing.Gram(
        _products(deal.matrix).astype(np.int32), deal.matrix.sum(axis=0, dtype=np.int64)
    )
    penalties = _annealing.Penalties(*_penalties(k, goal))
    stream = np.array([rng.integers(0, 2**62)], dtype=np.uint64)
    cost = _annealing.total_cost(gram, penalties, k)
    best = _annealing.Best(order.copy(), np.array([cost, cost]))
    done = 0
    while done < work and best.costs[1] > 0 and not budget.is_late:
        heat = _annealing.Heat(_HOT, work, done, min(work, done + _LOOK))
        after = _annealing.anneal_deal(
            deal, gram, penalties, int(goal.one_sided), heat, stream, best
        )
        budget.spend(after - done)
        done = after
    _annealing.restore(deal, best.order)
    return deal.matrix


def compile_kernels() -> None:
    """Compile what a search needs, or load it, by a search of next to no size."""
    code = BlockCode(2, 1, (free_column(2), free_column(2)))
    _anneal_once(code, Goal(2), np.random.default_rng(0), 1e-6, Budget())


def _penalties(k: int, goal: Goal) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """What each inner product of columns and each column sum costs, from -k to k."""
    value = np.arange(-k, k + 1, dtype=np.float64)
    size = value if goal.one_sided else np.abs(value)
    products = np.maximum(0.0, size - (k - 2 * goal.column_distance)) ** 2
    # Equal, complementary and constant columns are never acceptable, whatever the rule.
    products[[0, -1]] = np.maximum(products[[0, -1]], 4.0 * k)
    sums = np.where(np.abs(value) == k, 4.0 * k, 0.0)
    return products, sums


def _dealt(
    rows: Signs, starts: npt.NDArray[np.int64], order: npt.NDArray[np.int64], k: int
) -> Signs:
    parts = [rows[order[b, :k], starts[b] : starts[b + 1]] for b in range(len(starts) - 1)]
    return np.ascontiguousarray(np.hstack(parts))
