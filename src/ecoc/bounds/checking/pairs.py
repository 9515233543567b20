"""Checking bounds that count pairs of columns, with columns counted one by one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations, combinations_with_replacement
from math import comb

from ecoc.bounds.checking.reading import RejectedError, field, integers, record
from ecoc.bounds.problem import BoundProblem

__all__ = ["check_pairs"]

_MAX_CLASSES = 12
_MAX_COMBINATIONS = 200_000
"""How many numbers of columns are tried; honest proofs stay far below."""

Relation = tuple[int, int, int]
"""Two sizes of columns and their inner product, absolute if one has equal sides."""


def check_pairs(problem: BoundProblem, n_columns: int, value: object, distance: int) -> None:
    """Check that no combination of columns allows the distance."""
    if problem.n_classes > _MAX_CLASSES:
        raise RejectedError(f"pairs are not checked for more than {_MAX_CLASSES} classes")
    if type(value) is not list:
        raise RejectedError("cases is not a list")
    listed = {}
    for item in value:
        case = record(item, "a case")
        columns = integers(field(case, "columns"), "columns", 0, _MAX_CLASSES)
        most = comb(_MAX_CLASSES, 2)
        listed[tuple(columns)] = integers(field(case, "multipliers"), "multipliers", None, most)
    for counts in _all_counts(problem, n_columns, distance):
        total = sum(n * s * (problem.n_classes - s) for s, n in enumerate(counts, 1))
        squares = _squares(problem.n_classes, distance, total)
        if not squares:
            continue  # The parities of distances exclude this sum.
        if counts not in listed:
            raise RejectedError("a combination of columns is not among the cases")
        _check_case(problem, counts, distance, squares, listed[counts])


def _all_counts(problem: BoundProblem, n_columns: int, distance: int) -> Iterator[tuple[int, ...]]:
    """Produce all numbers of columns by size whose distances have a large enough sum."""
    k = problem.n_classes
    available = [0] * (k // 2)
    for column in range(1, 1 << (k - 1)):
        available[_size(column, k) - 1] += 1
    if problem.column_counts is not None:
        available = list(problem.column_counts)
    needed = comb(k, 2) * distance
    if n_columns > sum(available):
        raise RejectedError("the proof counts more columns than there are")
    stack: list[tuple[tuple[int, ...], int, int]] = [((), n_columns, 0)]
    n_tried = 0
    while stack:
        taken, left, total = stack.pop()
        n_tried += 1
        if n_tried > _MAX_COMBINATIONS:
            raise RejectedError("there are too many combinations of columns to be checked")
        size = k // 2 - len(taken)
        if total + left * size * (k - size) < needed:
            continue
        if size == 0:
            yield taken[::-1]
            continue
        stack += [
            ((*taken, n), left - n, total + n * size * (k - size))
            for n in range(min(left, available[size - 1]) + 1)
        ]


def _check_case(
    problem: BoundProblem,
    counts: tuple[int, ...],
    distance: int,
    squares: list[int],
    multipliers: list[int],
) -> None:
    k = problem.n_classes
    n = dict(enumerate(counts, 1))
    total = sum(n[s] * s * (k - s) for s in n)
    excess = total - comb(k, 2) * distance
    rho = problem.min_column_distance if problem.separation == "two-sided" else 1
    pairs = {
        relation: (both, most)
        for relation, (both, most) in _pairs(k, n).items()
        if abs(relation[2]) <= k - 2 * rho
    }
    sizes = [s for s in n if n[s]]
    limits: list[tuple[dict[Relation, int], int, int]] = []
    for i, s in enumerate(sizes):
        for t in sizes[i:]:
            every = n[s] * n[t] - (n[s] if s == t else 0)
            limits.append(({r: 1 for r in pairs if r[:2] == (s, t)}, every, every))
    for s in sizes:
        # Each column separates s (k - s) pairs; it is itself one of the columns that do.
        least = n[s] * s * (k - s) * (distance - 1)
        weights = {r: both for r, (both, _) in pairs.items() if s in r[:2]}
        limits.append((weights, least, least + n[s] * excess))
    for s in (s for s in sizes if 2 * s < k):
        # The inner product with the sum of all columns, each times the sum of its entries.
        weights = {r: (k - 2 * (r[0] + r[1] - s)) * r[2] for r in pairs if s in r[:2]}
        exact = n[s] * (k - 2 * s) * (k * (sum(counts) - 1) - 2 * (k - 1) * distance)
        limits.append((weights, exact - 4 * n[s] * excess, exact + 4 * n[s] * excess))
    weights = {r: both if r[0] == r[1] else 2 * both for r, (both, _) in pairs.items()}
    limits.append((weights, min(squares) - total, max(squares) - total))
    if len(multipliers) != len(limits):
        raise RejectedError("a case does not have a multiplier for each limit")

    forced = 0
    combined = dict.fromkeys(pairs, 0)
    for u, (weights, low, high) in zip(multipliers, limits, strict=True):
        forced += u * (low if u > 0 else high)
        for relation, weight in weights.items():
            combined[relation] += u * weight
    possible = sum(max(0, combined[r]) * most for r, (_, most) in pairs.items())
    if forced <= possible:
        raise RejectedError("the multipliers of a case do not show a contradiction")


def _squares(k: int, distance: int, total: int) -> list[int]:
    """Return limits of the sum of squared distances for each possible cut of the rows."""
    squares = []
    excess = total - comb(k, 2) * distance
    for part in range(k // 2 + 1):
        within = comb(part, 2) + comb(k - part, 2)
        odd = within if distance % 2 else comb(k, 2) - within
        rest = excess - odd
        if rest < 0 or rest % 2:
            continue
        base = comb(k, 2) * distance**2 + 2 * distance * excess
        # An excess is 1 or at least 2, in steps of 2, so that e^2 >= 2 e - (1 if e is odd).
        squares += [base + 2 * excess - odd, base + max(0, odd - 1) + (rest + min(1, odd)) ** 2]
    return squares


def _pairs(k: int, n: dict[int, int]) -> dict[Relation, tuple[int, int]]:
    """Return for each relation how many pairs of rows both columns separate, and its limit."""
    pairs = {}
    for s, t in combinations_with_replacement([s for s in n if n[s]], 2):
        every = n[s] * n[t] - (n[s] if s == t else 0)
        for h, (count, both) in _neighbours(k, s, t).items():
            back = _neighbours(k, t, s)[h][0]
            pairs[s, t, h] = (both, min(every, n[s] * count, n[t] * back))
    return pairs


@lru_cache(maxsize=256)
def _neighbours(k: int, s: int, t: int) -> dict[int, tuple[int, int]]:
    """Return by h how many columns of size t a column of size s has, and what both separate."""
    own, ones = (1 << s) - 1, (1 << k) - 1
    neighbours: dict[int, tuple[int, int]] = {}
    for column in range(1, 1 << (k - 1)):
        if _size(column, k) != t:
            continue
        smaller = column if column.bit_count() == t else ones ^ column
        h = k - 2 * (smaller ^ own).bit_count()
        if k in {2 * s, 2 * t}:
            h = abs(h)
        if h == k:
            continue
        if h in neighbours:
            neighbours[h] = (neighbours[h][0] + 1, neighbours[h][1])
        else:
            both = sum(
                (own >> p ^ own >> q) & (column >> p ^ column >> q) & 1
                for p, q in combinations(range(k), 2)
            )
            neighbours[h] = (1, both)
    return neighbours


def _size(column: int, k: int) -> int:
    return min(column.bit_count(), k - column.bit_count())
