"""How many binary words fit: the elementary bounds of coding theory.

The rows of a codebook are words of length L, and its columns, with +1 for the first class,
are words of length k - 1. An argument gets a family of words and a number, and proves that
fewer words than that fit, or returns None.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import lru_cache
from math import comb
from typing import TypeAlias

import numpy as np

from ecoc.bounds.problem import KNOWN_SIZES, Proof

__all__ = [
    "ELEMENTARY",
    "Argument",
    "Words",
    "alone",
    "constant_weight_sizes",
    "delsarte",
    "greedy_size",
    "grey_rankin",
    "hamming",
    "johnson",
    "known",
    "krawtchouk_table",
    "plotkin",
    "singleton",
]


_MAX_HAMMING_LENGTH = 512


@dataclass(frozen=True)
class Words:
    """Sets of binary words of one length whose distances lie between two limits.

    Examples
    --------
    >>> Words(15, 7, 15).even
    (16, 8)
    """

    length: int
    smallest: int
    largest: int

    @property
    def even(self) -> tuple[int, int]:
        """Length and least distance with all distances even.

        A parity bit makes distances even, and for an even least distance it can replace a
        bit of the word: A(n, 2t - 1) = A(n + 1, 2t).
        """
        odd = self.smallest % 2
        return self.length + odd, self.smallest + odd


Argument: TypeAlias = Callable[[Words, int], "Proof | None"]


def _proof(method: str, size: int, count: int, **data: object) -> Proof | None:
    return {"method": method, "size": size, **data} if size < count else None


def alone(words: Words, count: int) -> Proof | None:
    """Only one word fits where no distance is allowed at all.

    Examples
    --------
    >>> alone(Words(7, 5, 3), 2)
    {'method': 'alone', 'size': 1}
    """
    return _proof("alone", 1, count) if words.largest < words.smallest else None


def singleton(words: Words, count: int) -> Proof | None:
    """At most 2^(n - d + 1) words, which differ in any n - d + 1 places (Singleton 1964).

    Examples
    --------
    >>> singleton(Words(7, 6, 7), 5)
    {'method': 'singleton', 'size': 4}
    """
    exponent = max(0, words.length - words.smallest + 1)
    if exponent > count.bit_length():
        return None
    return _proof("singleton", 1 << exponent, count)


def hamming(words: Words, count: int) -> Proof | None:
    """At most 2^n over the volume of the disjoint balls around words (Hamming 1950).

    Examples
    --------
    >>> hamming(Words(7, 3, 7), 17)
    {'method': 'hamming', 'size': 16}
    """
    n, d = words.even
    n, d = n - 1, d - 1
    if not d <= n <= _MAX_HAMMING_LENGTH:
        return None
    volume = sum(comb(n, i) for i in range((d - 1) // 2 + 1))
    return _proof("hamming", (1 << n) // volume, count)


def plotkin(words: Words, count: int) -> Proof | None:
    """At most 2^j 2 floor(d / (2d - n + j)) words for even d (Plotkin 1960, Levenshtein 1961).

    At least one word in 2^j agrees with a given one in j places; those places are dropped.

    Examples
    --------
    >>> plotkin(Words(16, 8, 16), 33)
    {'method': 'plotkin', 'size': 32, 'shortened': 1}
    """
    n, d = words.even
    first = max(0, n - 2 * d + 1)
    if first > count.bit_length():
        return None
    sizes = {j: max(1, 2 * (d // (2 * d - n + j))) << j for j in range(first, first + 3) if j < n}
    best = min(sizes, key=sizes.__getitem__)
    return _proof("plotkin", sizes[best], count, shortened=best)


def grey_rankin(words: Words, count: int) -> Proof | None:
    """At most (k^2 - s^2) / (k - s^2) columns under the two-sided rule (Grey 1962, Rankin 1955).

    Here s = k - 2 rho is the largest inner product. The squares of the inner products of M
    columns add up to at least M^2 k, because their Gram matrix has rank at most k.

    Examples
    --------
    >>> grey_rankin(Words(15, 7, 9), 33)
    {'method': 'grey-rankin', 'size': 21}
    """
    k, rho = words.length + 1, words.smallest
    room = k - (k - 2 * rho) ** 2
    if words.largest != k - rho or room <= 0:
        return None
    return _proof("grey-rankin", 4 * rho * (k - rho) // room, count)


ELEMENTARY: tuple[Argument, ...] = (alone, plotkin, singleton, hamming, grey_rankin)
"""The arguments that cost next to nothing, the simplest first."""


def greedy_size(words: Words) -> int:
    """Return a number of words that certainly fit (Gilbert 1952, Varshamov 1957).

    Examples
    --------
    >>> greedy_size(Words(15, 3, 15))
    270
    """
    n = words.length
    excluded = sum(comb(n, i) for i in range(n + 1) if i < words.smallest or i > words.largest)
    return (1 << n) // excluded


_MAX_JOHNSON_LENGTH = 128


def johnson(words: Words, count: int) -> Proof | None:
    """At most 2^(n-1) T / C(n, w) words, where T words of weight w fit, for any w.

    With all distances even, some translation gives weight w to at least M C(n, w) / 2^(n-1)
    of M words. T comes from Johnson's recursion; ``steps`` is its path: ``1`` keeps the
    words with a one in some place, T(n, w) <= n T(n - 1, w - 1) / w; ``0`` those with a
    zero, T(n, w) <= n T(n - 1, w) / (n - w); and at the end, with d = 2 delta,
    T <= delta n / (w^2 - w n + delta n), or T = 1 where 2 w < d.

    Examples
    --------
    >>> johnson(Words(17, 8, 17), 100)
    {'method': 'johnson', 'size': 84, 'weight': 5, 'steps': ''}
    """
    n, d = words.even
    if n > _MAX_JOHNSON_LENGTH or 2 * d >= n or greedy_size(words) >= count:
        return None
    solved = _solve_johnson(n, d // 2)
    if solved is None or solved[0] >= count:
        return None
    size, weight, steps = solved
    return {"method": "johnson", "size": size, "weight": weight, "steps": steps}


@lru_cache(maxsize=4096)
def _solve_johnson(n: int, delta: int) -> tuple[int, int, str] | None:
    """Return the least size with its weight and steps; ties go to the shortest path."""
    best: tuple[int, int, str] | None = None
    table = constant_weight_sizes(n, delta)
    for weight in range(delta, n // 2 + 1):
        if weight in table:
            most, steps = table[weight]
            size = (most << (n - 1)) // comb(n, weight)
            if best is None or (size, len(steps)) < (best[0], len(best[2])):
                best = (size, weight, steps)
    return best


def constant_weight_sizes(n: int, delta: int) -> dict[int, tuple[int, str]]:
    """Return, by weight, Johnson's bound for words of length n and the path to it.

    Examples
    --------
    >>> constant_weight_sizes(8, 2)[4]
    (14, '0')
    """
    before: dict[int, tuple[int, str]] = {}
    for length in range(1, n + 1):
        table: dict[int, tuple[int, str]] = {}
        for weight in range(min(length, n // 2) + 1):
            options: list[tuple[int, int, str]] = []
            room = weight * weight - weight * length + delta * length
            if weight < delta:
                options.append((1, 0, ""))
            elif room > 0:
                options.append((delta * length // room, 0, ""))
            if weight >= delta:
                if weight - 1 in before:
                    most, steps = before[weight - 1]
                    options.append((length * most // weight, len(steps) + 1, "1" + steps))
                if weight in before and weight < length:
                    most, steps = before[weight]
                    options.append(
                        (length * most // (length - weight), len(steps) + 1, "0" + steps)
                    )
            if options:
                size, _, steps = min(options)
                table[weight] = (size, steps)
        before = table
    return before


def known(words: Words, count: int) -> Proof | None:
    """At most 2^j A(n - j, d) words, with a published bound on A.

    Examples
    --------
    >>> known(Words(17, 8, 17), 40)
    {'method': 'known', 'size': 36, 'shortened': 0}
    """
    n, d = words.even
    sizes = {n - m: size << (n - m) for (m, e), size in KNOWN_SIZES.items() if e == d and m <= n}
    if not sizes:
        return None
    best = min(sizes, key=lambda j: (sizes[j], j))
    if sizes[best] >= count:
        return None
    return {"method": "known", "size": sizes[best], "shortened": best}


_MAX_DELSARTE_LENGTH = 100
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
    if words.largest < words.smallest or words.length > _MAX_DELSARTE_LENGTH:
        return None
    upper = words.largest < words.length
    n, d = (words.length, words.smallest) if upper else words.even
    if not upper and 2 * d >= n:
        return None  # Plotkin's bound is exact there wherever Hadamard matrices exist.
    if greedy_size(words) >= count:
        return None
    distances = range(d, words.largest + 1) if upper else range(d, n + 1, 2)
    solved = _solve_delsarte(n, distances, upper=upper)
    if solved is None or solved["size"] >= count:
        return None
    return deepcopy(solved)


@lru_cache(maxsize=1024)
def _solve_delsarte(n: int, distances: range, *, upper: bool) -> Proof | None:
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
    limits = {w: sizes[min(w, n - w)] for w in distances if min(w, n - w) in sizes}
    # Large bounds never matter, and would only spoil the scaling of the program.
    return {w: item for w, item in limits.items() if item[0] <= _MAX_CONSTANT_WEIGHT}


@lru_cache(maxsize=32)
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
