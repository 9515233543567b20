"""Delsarte's linear programming bound, with a certificate in whole numbers."""

from __future__ import annotations

from copy import deepcopy
from functools import lru_cache
from math import comb

import numpy as np

from ecoc.bounds.problem import Proof
from ecoc.bounds.words import Words, constant_weight_sizes, greedy_size

__all__ = ["delsarte", "krawtchouk_table"]

_MAX_LENGTH = 100
_MAX_CONSTANT_WEIGHT = 10**6
_SCALE = 1 << 40


def delsarte(words: Words, count: int) -> Proof | None:
    """Bound the number of words by the linear program of Delsarte (1973).

    Let T_i words of weight i fit at the least distance (Johnson 1962), and let c_0 > 0,
    c_j >= 0 and u_i >= 0 with sum of c_j K_i(j) <= u_i C(n, i) for every allowed distance i.
    Then at most (sum of c_j + sum of u_i T_i) / c_0 words fit: F(i) = sum of
    c_j K_j(i) / C(n, j) is at most u_i at distances of different words, each of M words has
    at most T_i others at distance i, and F sums over all pairs to at least c_0 M^2. Here
    K_j(i) / C(n, j) = K_i(j) / C(n, i) was used.

    The program is solved in floating point, the multipliers are rounded to whole numbers,
    and c_0 is then made as large as the inequalities, in whole numbers, allow.

    Examples
    --------
    >>> delsarte(Words(13, 4, 13), 300)["size"]
    256
    """
    if words.largest < words.smallest or words.length > _MAX_LENGTH:
        return None
    upper = words.largest < words.length
    n, d = (words.length, words.smallest) if upper else words.even
    if not upper and 2 * d >= n:
        return None  # Plotkin's bound is exact there wherever Hadamard matrices exist.
    if greedy_size(words) >= count:
        return None
    distances = range(d, words.largest + 1) if upper else range(d, n + 1, 2)
    solved = _solve(n, distances, upper=upper)
    if solved is None or solved["size"] >= count:
        return None
    return deepcopy(solved)


@lru_cache(maxsize=64)
def _solve(n: int, distances: range, *, upper: bool) -> Proof | None:
    """Return the bound with its multipliers c_0, c_1, ... and its weights (i, u_i, path to T_i)."""
    from scipy.optimize import linprog

    # With even distances K_i(j) = K_i(n - j), and half of the polynomials are enough.
    degree = n if upper else n // 2
    table = krawtchouk_table(n)
    limits = _constant_weight_limits(n, distances)
    rows = np.array([[table[i][j] / comb(n, i) for j in range(1, degree + 1)] for i in distances])
    relaxed = np.array([[-float(i == w) for w in limits] for i in distances])
    result = linprog(
        np.concatenate((np.ones(degree), [most for most, _ in limits.values()])),
        A_ub=np.hstack((rows, relaxed)),
        b_ub=-np.ones(len(distances)),
        method="highs",
    )
    if result.x is None:
        return None
    rest = [max(0, round(float(c) * _SCALE)) for c in result.x[:degree]]
    u = {
        w: max(0, round(float(x) * _SCALE)) for w, x in zip(limits, result.x[degree:], strict=True)
    }
    first = min(
        u.get(i, 0) - -(-sum(c * table[i][j] for j, c in enumerate(rest, 1) if c) // comb(n, i))
        for i in distances
    )
    if first <= 0:
        return None
    total = first + sum(rest) + sum(x * limits[w][0] for w, x in u.items())
    weights = [[w, x, limits[w][1]] for w, x in u.items() if x]
    proof: Proof = {"method": "delsarte", "size": total // first, "multipliers": [first, *rest]}
    return proof | {"weights": weights} if weights else proof


def _constant_weight_limits(n: int, distances: range) -> dict[int, tuple[int, str]]:
    """Return Johnson's bounds on words of the weight of each distance, with their paths."""
    sizes = constant_weight_sizes(n, (distances[0] + 1) // 2)
    found = {w: sizes[min(w, n - w)] for w in distances if min(w, n - w) in sizes}
    # Large bounds never matter, and would only spoil the scaling of the program.
    return {w: item for w, item in found.items() if item[0] <= _MAX_CONSTANT_WEIGHT}


@lru_cache(maxsize=8)
def krawtchouk_table(n: int) -> tuple[tuple[int, ...], ...]:
    """Return K_i(j) for 0 <= i, j <= n by the three-term recurrence (Krawtchouk 1929).

    Examples
    --------
    >>> krawtchouk_table(3)
    ((1, 1, 1, 1), (3, 1, -1, -3), (3, -1, -1, 3), (1, -1, 1, -1))
    """
    rows = [[1] * (n + 1), [n - 2 * j for j in range(n + 1)]]
    for i in range(1, n):
        before, last = rows[-2], rows[-1]
        rows.append(
            [((n - 2 * j) * last[j] - (n - i + 1) * before[j]) // (i + 1) for j in range(n + 1)]
        )
    return tuple(tuple(row) for row in rows[: n + 1])
