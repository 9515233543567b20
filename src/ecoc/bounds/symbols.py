"""Bounds on the row distance of codebooks of several symbols, each with proof data."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import comb

import numpy as np

from ecoc._limits import check_deadline
from ecoc.bounds.problem import Bound, Proof, SymbolBoundProblem, balanced_separation
from ecoc.bounds.rows import averaging_reason

__all__ = ["all_symbol_bounds", "best_symbol_bound", "elementary_symbol_bounds"]

_MAX_LENGTH = 100
_SCALE = 1 << 40


def all_symbol_bounds(problem: SymbolBoundProblem) -> list[Bound]:
    """Return the bound of each kind that proves something, the lowest first.

    Delsarte's is listed only where it is below the others. Kinds that are equal stand in the
    order averaging, plotkin, singleton, hamming, delsarte.

    Examples
    --------
    >>> [(bound.name, bound.value) for bound in all_symbol_bounds(SymbolBoundProblem(50, 8, 10))]
    [('averaging', 7), ('plotkin', 7), ('singleton', 7)]
    """
    bounds = elementary_symbol_bounds(problem)
    bound = _delsarte_bound(problem, bounds[0].value)
    bounds += [] if bound is None else [bound]
    return sorted(bounds, key=lambda bound: bound.value)


def elementary_symbol_bounds(problem: SymbolBoundProblem) -> list[Bound]:
    """Return the bounds that are arithmetic alone, the lowest first.

    Examples
    --------
    >>> problem = SymbolBoundProblem(10, 20, 3)
    >>> [(bound.name, bound.value) for bound in elementary_symbol_bounds(problem)]
    [('averaging', 14), ('plotkin', 14), ('singleton', 18)]
    """
    bounds = [_averaging(problem)]
    for name, refute in _ELEMENTARY.items():
        bound = _words_bound(problem, name, refute)
        bounds += [] if bound is None else [bound]
    return sorted(bounds, key=lambda bound: bound.value)


def best_symbol_bound(problem: SymbolBoundProblem) -> Bound:
    """Return the lowest bound, the simplest of equals.

    Examples
    --------
    >>> best_symbol_bound(SymbolBoundProblem(10, 20, 3)).reason
    '20 columns separate at most 660 pairs of rows in all, and 45 pairs share them.'
    """
    return all_symbol_bounds(problem)[0]


def _averaging(problem: SymbolBoundProblem) -> Bound:
    """Bound the least distance by the average: the most even columns separate most pairs."""
    total, n = problem.largest_sum, problem.columns_used
    return Bound(
        "averaging",
        total // problem.n_pairs,
        {"n_columns": n, "largest_sum": total},
        averaging_reason(n, total, problem.n_pairs),
    )


Refutation = Callable[[int, int, int, int], "Proof | None"]
"""Shows that k words of length n over q symbols do not all have a distance of at least d."""


def _words_bound(problem: SymbolBoundProblem, name: str, refute: Refutation) -> Bound | None:
    n, k, q = problem.columns_used, problem.n_classes, problem.n_symbols
    # What these refute at a distance they refute at every larger one.
    low, high = 1, n + 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if refute(k, n, q, middle) else (middle + 1, high)
    words = refute(k, n, q, low) if low <= n else None
    return None if words is None else _bound(problem, name, low, words)


def _bound(problem: SymbolBoundProblem, name: str, distance: int, words: Proof) -> Bound:
    n = problem.columns_used
    return Bound(
        name,
        distance - 1,
        {"n_columns": n, "words": words},
        f"fewer than {problem.n_classes} rows of length {n} over {problem.n_symbols} symbols "
        f"have pairwise distances of at least {distance} ({name}).",
    )


def _plotkin(k: int, n: int, q: int, d: int) -> Proof | None:
    """Average over the rows that agree in some columns: ceil(k / q^s) do so in s of them."""
    shortened, alike = 0, k
    while alike >= 2 and shortened < n:
        if d * comb(alike, 2) > (n - shortened) * balanced_separation(alike, q):
            return {"method": "plotkin", "shortened": shortened}
        shortened, alike = shortened + 1, -(-alike // q)
    return None


def _singleton(k: int, n: int, q: int, d: int) -> Proof | None:
    """Words that agree in n - d + 1 places are too close."""
    words = 1
    for _ in range(n - d + 1):
        words *= q
        if words >= k:
            return None
    return {"method": "singleton"}


def _hamming(k: int, n: int, q: int, d: int) -> Proof | None:
    """Balls of radius (d - 1) / 2 are disjoint; for even d one place is left out first."""
    length = n - 1 + d % 2
    if length > 10 * _MAX_LENGTH:
        return None
    radius = (d - 1) // 2
    ball = sum(comb(length, i) * (q - 1) ** i for i in range(radius + 1))
    return {"method": "hamming"} if k * ball > q**length else None


_ELEMENTARY: dict[str, Refutation] = {
    "plotkin": _plotkin,
    "singleton": _singleton,
    "hamming": _hamming,
}


def _delsarte_bound(problem: SymbolBoundProblem, below: int) -> Bound | None:
    n, k, q = problem.columns_used, problem.n_classes, problem.n_symbols
    distance, words = below + 1, None
    while distance > 1:
        check_deadline()
        proof = _delsarte(n, q, distance - 1)
        if proof is None or proof["size"] >= k:
            break
        distance, words = distance - 1, proof
    return None if words is None else _bound(problem, "delsarte", distance, dict(words))


@lru_cache(maxsize=1024)
def _delsarte(n: int, q: int, d: int) -> Proof | None:
    """Bound the number of words by the linear program of Delsarte (1973).

    Let c_0 > 0 and c_j >= 0 with sum of c_j K_i(j) <= 0 for all distances i >= d, where
    K_i(j) is the coefficient of x^i in (1 + (q-1) x)^(n-j) (1 - x)^j. Then at most
    sum of c_j / c_0 words fit. The program is solved in floating point, the multipliers are
    rounded to whole numbers, and c_0 is made as large as the inequalities then allow.
    """
    # Beyond d / n = 1 - 1 / q averaging says the same, rounded better.
    if n > _MAX_LENGTH or d * q > (q - 1) * n:
        return None
    from scipy.optimize import linprog

    table = _krawtchouk_table(n, q)
    weights = [comb(n, i) * (q - 1) ** i for i in range(n + 1)]
    distances = range(d, n + 1)
    rows = np.array([[table[i][j] / weights[i] for j in range(1, n + 1)] for i in distances])
    result = linprog(np.ones(n), A_ub=rows, b_ub=-np.ones(len(distances)), method="highs")
    if result.x is None:
        return None
    rest = [max(0, round(float(c) * _SCALE)) for c in result.x]
    first = min(
        -sum(c * table[i][j] for j, c in enumerate(rest, 1) if c) // weights[i] for i in distances
    )
    if first <= 0:
        return None
    size = (first + sum(rest)) // first
    return {"method": "delsarte", "size": size, "multipliers": [first, *rest]}


@lru_cache(maxsize=8)
def _krawtchouk_table(n: int, q: int) -> tuple[tuple[int, ...], ...]:
    """Return K_i(j) for 0 <= i, j <= n by the three-term recurrence."""
    rows = [[1] * (n + 1), [(q - 1) * n - q * j for j in range(n + 1)]]
    for i in range(1, n):
        before, last = rows[-2], rows[-1]
        rows.append(
            [
                ((i + (q - 1) * (n - i) - q * j) * last[j] - (q - 1) * (n - i + 1) * before[j])
                // (i + 1)
                for j in range(n + 1)
            ]
        )
    return tuple(tuple(row) for row in rows[: n + 1])
