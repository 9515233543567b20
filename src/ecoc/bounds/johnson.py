"""Bounds through words of constant weight (Elias and Bassalygo 1965, Johnson 1962)."""

from __future__ import annotations

from functools import lru_cache
from math import comb

from ecoc.bounds.bound import Proof
from ecoc.bounds.words import Words, greedy_size

__all__ = ["constant_weight_sizes", "johnson"]

_MAX_LENGTH = 128


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
    if n > _MAX_LENGTH or 2 * d >= n or greedy_size(words) >= count:
        return None
    solved = _solve(n, d // 2)
    if solved is None or solved[0] >= count:
        return None
    size, weight, steps = solved
    return {"method": "johnson", "size": size, "weight": weight, "steps": steps}


@lru_cache(maxsize=64)
def _solve(n: int, delta: int) -> tuple[int, int, str] | None:
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
