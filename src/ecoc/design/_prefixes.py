"""The compiled core of the search for nested codebooks: columns added, ordered and annealed.

A matrix holds symbols 0, 1, ..., q - 1, a row for each class. Prefixes are what counts: the
least row distance of the first column, of the first two, and so on.
"""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ecoc._numba import njit
from ecoc._typing import Floats, Ints, Signs

_Small: TypeAlias = "npt.NDArray[np.int32]"


@njit
def prefix_distances(matrix: Signs) -> Ints:
    """The least row distance of the first 1, 2, ... columns."""
    k, length = matrix.shape
    apart = np.zeros((k, k), dtype=np.int64)
    least = np.empty(length, dtype=np.int64)
    for column in range(length):
        smallest = length
        for p in range(k):
            for q in range(p):
                if matrix[p, column] != matrix[q, column]:
                    apart[p, q] += 1
                smallest = min(smallest, apart[p, q])
        least[column] = smallest
    return least


@njit
def _nearness(apart: Ints, base: float) -> Floats:
    """The weight of each pair of rows: the nearer they are, the more by powers of a base."""
    k = len(apart)
    least = apart[1, 0]
    for p in range(k):
        for q in range(p):
            least = min(least, apart[p, q])
    weights = np.zeros((k, k))
    for p in range(k):
        for q in range(p):
            weights[p, q] = weights[q, p] = base ** (least - apart[p, q])
    return weights


@njit
def _fits(column: Signs, matrix: Signs, n_columns: int, low: int, high: int) -> bool:
    """Whether a column of two symbols is as far from the first columns as the rules ask."""
    k = len(column)
    for j in range(n_columns):
        product = 0
        for p in range(k):
            product += 1 if column[p] == matrix[p, j] else -1
        if product < low or product > high:
            return False
    return True


@njit
def _same_split(column: Signs, matrix: Signs, n_columns: int, q: int) -> bool:
    """Whether a column is equal to one of the first columns up to the names of its symbols."""
    k = len(column)
    for j in range(n_columns):
        names = np.full(q, -1, dtype=np.int64)
        taken = np.full(q, -1, dtype=np.int64)
        same = True
        for p in range(k):
            a, b = column[p], matrix[p, j]
            if names[a] == -1 and taken[b] == -1:
                names[a], taken[b] = b, a
            elif names[a] != b:
                same = False
                break
        if same:
            return True
    return False


@njit
def _improve_column(  # noqa: PLR0912  # one compiled loop
    column: Signs, weights: Floats, q: int, sizes: Ints, limit: int
) -> float:
    """Move classes between the groups of a column while more near pairs come apart."""
    k = len(column)
    gains = np.zeros((k, q))
    for p in range(k):
        for other in range(k):
            gains[p, column[other]] += weights[p, other]
    sides = np.zeros(q, dtype=np.int64)
    for p in range(k):
        sides[column[p]] += sizes[p]
    for _ in range(50 * k):
        best, best_p, best_s = 1e-12, -1, -1
        for p in range(1, k):
            old = column[p]
            for s in range(q):
                if s == old:
                    continue
                gain = gains[p, old] - gains[p, s]
                if gain > best:
                    if limit < 1 << 60 and abs(
                        (sides[s] + sizes[p]) - (sides[old] - sizes[p])
                    ) > max(limit, abs(sides[old] - sides[s])):
                        continue
                    best, best_p, best_s = gain, p, s
        if best_p < 0:
            break
        old = column[best_p]
        column[best_p] = best_s
        sides[old] -= sizes[best_p]
        sides[best_s] += sizes[best_p]
        for p in range(k):
            gains[p, old] -= weights[p, best_p]
            gains[p, best_s] += weights[p, best_p]
    cut = 0.0
    for p in range(k):
        for other in range(p):
            if column[p] != column[other]:
                cut += weights[p, other]
    return cut


@njit
def _deal(column: Signs, q: int) -> None:
    """Deal the classes to groups of the same size at random, the first class to the first group."""
    for p in range(len(column)):
        other = np.random.randint(p + 1)  # noqa: NPY002
        column[p] = column[other]
        column[other] = p % q
    first = column[0]
    for p in range(len(column)):
        column[p] = (column[p] - first) % q


@njit
def grow(  # noqa: PLR0912, PLR0917  # one compiled loop
    matrix: Signs,
    n_fixed: int,
    until: int,
    q: int,
    base: float,
    n_tries: int,
    low: int,
    high: int,
    sizes: Ints,
    limit: int,
    seed: int,
) -> int:
    """Add the column that parts most near pairs, one after the other; return how many there are.

    It is found by local search from several random columns. Columns before `n_fixed` are there;
    fewer than `until` come out where no column was found that the rules admit.
    """
    np.random.seed(seed)  # noqa: NPY002  # numba knows only this one
    k = len(matrix)
    apart = np.zeros((k, k), dtype=np.int64)
    for j in range(n_fixed):
        for p in range(k):
            for other in range(k):
                if matrix[p, j] != matrix[other, j]:
                    apart[p, other] += 1
    column = np.empty(k, dtype=np.int8)
    for j in range(n_fixed, until):
        weights = _nearness(apart, base)
        best = -1.0
        for trial in range(20 * n_tries):
            if trial >= n_tries and best >= 0:
                break
            cut = 0.0
            if trial < 2 * n_tries:
                _deal(column, q)
                cut = _improve_column(column, weights, q, sizes, limit)
            else:
                # The best columns are all there: any other one.
                for p in range(1, k):
                    column[p] = np.random.randint(q)  # noqa: NPY002
                column[0] = 0
            if cut <= best:
                continue
            if not _admits(column, matrix, j, q, low, high, sizes, limit):
                continue
            best = cut
            matrix[:, j] = column
        if best < 0:
            return j
        for p in range(k):
            for other in range(k):
                if matrix[p, j] != matrix[other, j]:
                    apart[p, other] += 1
    return until


@njit
def _admits(  # noqa: PLR0917  # one compiled loop
    column: Signs,
    matrix: Signs,
    n_columns: int,
    q: int,
    low: int,
    high: int,
    sizes: Ints,
    limit: int,
) -> bool:
    if q > 2:
        first = column[0]
        for p in range(len(column)):
            if column[p] != first:
                return not _same_split(column, matrix, n_columns, q)
        return False
    side = 0
    for p in range(len(column)):
        side += sizes[p] if column[p] == 0 else -sizes[p]
    return abs(side) <= limit and _fits(column, matrix, n_columns, low, high)


@njit
def order_columns(matrix: Signs, n_fixed: int, base: float) -> Signs:
    """Put the columns after the first ones in an order in which each parts most near pairs."""
    k, length = matrix.shape
    result = matrix.copy()
    apart = np.zeros((k, k), dtype=np.int64)
    for j in range(length):
        if j >= n_fixed:
            weights = _nearness(apart, base)
            best, chosen = -1.0, j
            for other in range(j, length):
                cut = 0.0
                for p in range(k):
                    for q in range(p):
                        if result[p, other] != result[q, other]:
                            cut += weights[p, q]
                if cut > best:
                    best, chosen = cut, other
            for p in range(k):
                moved = result[p, chosen]
                result[p, chosen] = result[p, j]
                result[p, j] = moved
        for p in range(k):
            for q in range(k):
                if result[p, j] != result[q, j]:
                    apart[p, q] += 1
    return result


@njit
def _over(value: int, low: int, high: int) -> int:
    """How far a value lies outside an interval, in steps of two."""
    far = max(low - value, value - high, 0)
    return (far + 1) // 2


@njit
def _root(cost: int) -> float:
    return math.sqrt(cost)


@njit
def _count(missing: _Small, apart: int, changes: _Small) -> None:
    """Add what the squares of what is missing change by when a pair comes apart, or nearer."""
    if apart > 0:
        for m in range(len(missing)):
            changes[m] -= max(0, 2 * missing[m] - 1)
    else:
        for m in range(len(missing)):
            changes[m] += max(0, 2 * missing[m] + 1)


@njit
def _shift(missing: _Small, apart: int) -> None:
    for m in range(len(missing)):
        missing[m] -= apart


@njit
def anneal_prefixes(  # noqa: PLR0912, PLR0915, PLR0917  # one compiled loop
    matrix: Signs,
    n_fixed: int,
    q: int,
    goals: Ints,
    low: int,
    high: int,
    sizes: Ints,
    limit: int,
    hot: float,
    cold: float,
    n_moves: int,
    share_of_swaps: float,
    seed: int,
    best: Signs,
) -> float:
    """Some moves at falling temperature; returns the energy of the best matrix.

    The energy is the sum, over prefixes, of the root of how far pairs of rows are from the goal of
    the prefix, squared: it is worth more to bring one prefix to its goal than to bring two closer.
    """
    np.random.seed(seed)  # noqa: NPY002
    k, length = matrix.shape
    # How far each pair of rows is from the goal of each prefix; negative beyond it.
    missing = np.empty((k, k, length), dtype=np.int32)
    costs = np.zeros(length, dtype=np.int64)
    for p in range(k):
        for other in range(k):
            d = 0
            for j in range(length):
                if matrix[p, j] != matrix[other, j]:
                    d += 1
                missing[p, other, j] = goals[j] - d
                if other < p and goals[j] > d:
                    costs[j] += (goals[j] - d) ** 2
    products = np.zeros((length, length), dtype=np.int64)
    sides = np.zeros(length, dtype=np.int64)
    broken = 0
    if q == 2:
        for i in range(length):
            for p in range(k):
                sides[i] += sizes[p] if matrix[p, i] == 0 else -sizes[p]
            broken += _over(sides[i], -limit, limit)
            for j in range(i):
                for p in range(k):
                    products[i, j] += 1 if matrix[p, i] == matrix[p, j] else -1
                products[j, i] = products[i, j]
                broken += _over(products[i, j], low, high)
    energy = 0.0
    for j in range(length):
        energy += _root(costs[j])
    best_energy = np.inf
    if broken == 0:
        best_energy = energy
        best[:] = matrix
    changes = np.zeros(length, dtype=np.int32)
    step = (cold / hot) ** (1.0 / n_moves)
    temperature = hot
    free = length - n_fixed
    for _ in range(n_moves):
        temperature *= step
        if np.random.random() < share_of_swaps:  # noqa: NPY002
            if free < 2:
                continue
            i = n_fixed + np.random.randint(free)  # noqa: NPY002
            if np.random.random() < 0.8:  # noqa: NPY002
                j = min(length - 1, i + 1 + np.random.randint(4))  # noqa: NPY002
            else:
                j = n_fixed + np.random.randint(free)  # noqa: NPY002
            if i == j:
                continue
            if i > j:
                i, j = j, i
            changes[i:j] = 0
            moved_costs = changes[i:j]
            for p in range(k):
                for other in range(p):
                    apart = (matrix[p, j] != matrix[other, j]) - (
                        1 if matrix[p, i] != matrix[other, i] else 0
                    )
                    if apart != 0:
                        _count(missing[p, other, i:j], apart, moved_costs)
            total = 0.0
            for m in range(i, j):
                total += _root(costs[m] + changes[m]) - _root(costs[m])
            if total > 0 and np.random.random() >= np.exp(-total / temperature):  # noqa: NPY002
                continue
            for p in range(k):
                for other in range(p):
                    apart = (matrix[p, j] != matrix[other, j]) - (
                        1 if matrix[p, i] != matrix[other, i] else 0
                    )
                    if apart != 0:
                        _shift(missing[p, other, i:j], apart)
                        _shift(missing[other, p, i:j], apart)
            for m in range(i, j):
                costs[m] += changes[m]
            for p in range(k):
                moved = matrix[p, i]
                matrix[p, i] = matrix[p, j]
                matrix[p, j] = moved
            if q == 2:
                side = sides[i]
                sides[i] = sides[j]
                sides[j] = side
                for m in range(length):
                    if m != i and m != j:  # noqa: PLR1714  # what the compiler takes soonest
                        product = products[i, m]
                        products[i, m] = products[m, i] = products[j, m]
                        products[j, m] = products[m, j] = product
            energy += total
        else:
            p = 1 + np.random.randint(k - 1)  # noqa: NPY002
            j = n_fixed + np.random.randint(free)  # noqa: NPY002
            old = matrix[p, j]
            new = (old + 1 + np.random.randint(q - 1)) % q  # noqa: NPY002
            worse = 0
            sign = 1 if old == 0 else -1
            side = sides[j] - 2 * sign * sizes[p]
            if q == 2:
                worse = _over(side, -limit, limit) - _over(sides[j], -limit, limit)
                for i in range(length):
                    if i != j:
                        product = products[j, i]
                        moved_product = product - (2 if matrix[p, i] == old else -2)
                        worse += _over(moved_product, low, high) - _over(product, low, high)
            changes[j:] = 0
            moved_costs = changes[j:]
            for other in range(k):
                if other == p:
                    continue
                symbol = matrix[other, j]
                if symbol == old:
                    _count(missing[p, other, j:], 1, moved_costs)
                elif symbol == new:
                    _count(missing[p, other, j:], -1, moved_costs)
            total = 2.0 * worse
            for m in range(j, length):
                total += _root(costs[m] + changes[m]) - _root(costs[m])
            if total > 0 and np.random.random() >= np.exp(-total / temperature):  # noqa: NPY002
                continue
            for other in range(k):
                if other == p:
                    continue
                symbol = matrix[other, j]
                apart = 1 if symbol == old else (-1 if symbol == new else 0)
                if apart != 0:
                    _shift(missing[p, other, j:], apart)
                    _shift(missing[other, p, j:], apart)
            for m in range(j, length):
                costs[m] += changes[m]
            if q == 2:
                sides[j] = side
                for i in range(length):
                    if i != j:
                        products[j, i] -= 2 if matrix[p, i] == old else -2
                        products[i, j] = products[j, i]
            matrix[p, j] = new
            broken += worse
            energy += total - 2.0 * worse
        if broken == 0 and energy < best_energy - 1e-9:
            best_energy = energy
            best[:] = matrix
            if energy < 1e-9:
                break
    return best_energy


def compile_kernels() -> None:
    """Compile what a design needs, or load it, by a run of next to no size."""
    sizes = np.ones(4, dtype=np.int64)
    matrix = np.zeros((4, 3), dtype=np.int8)
    grow(matrix, 0, 3, 2, 2.0, 1, -2, 2, sizes, 3, 0)
    matrix = order_columns(matrix, 0, 2.0)
    goals = prefix_distances(matrix)
    anneal_prefixes(matrix, 0, 2, goals, -2, 2, sizes, 3, 1.0, 0.1, 1, 0.5, 0, matrix.copy())
