"""Checking bounds on the deviation from target distances."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy.typing as npt

from ecoc._checks import check_int
from ecoc._deadline import check_deadline
from ecoc.bounds.checking.reading import RejectedError, field, integer, integers, record
from ecoc.bounds.problem import TargetBound, exact_targets

__all__ = ["check_target_bound"]

_MAX_GROUP = 18


def check_target_bound(n_columns: int, targets: npt.ArrayLike, bound: TargetBound) -> list[str]:
    """Check that no codebook deviates less from the targets; empty if that is accepted.

    Examples
    --------
    >>> from ecoc.bounds import target_bound
    >>> targets = [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    >>> check_target_bound(4, targets, target_bound(4, targets))
    []
    """
    n_columns = check_int("n_columns", n_columns, minimum=1)
    exact = exact_targets(targets)
    try:
        _check(n_columns, exact, bound)
    except RejectedError as error:
        return [str(error)]
    return []


def _check(n_columns: int, targets: list[list[Fraction]], bound: object) -> None:
    if not isinstance(bound, TargetBound) or type(bound.value) is not Fraction:
        raise RejectedError("this is not a bound on deviations from targets")
    proof = record(bound.proof, "the proof")
    if bound.name == "sum":
        proved = _proved_by_sum(n_columns, targets, proof)
    elif bound.name == "cut":
        proved = _proved_by_cuts(n_columns, targets, proof)
    else:
        raise RejectedError("there is no bound of this name")
    if proved < bound.value:
        raise RejectedError("the proof does not reach the value")


def _proved_by_sum(
    n_columns: int, targets: list[list[Fraction]], proof: dict[str, Any]
) -> Fraction:
    k, left, total = len(targets), n_columns, 0
    for side in range(k // 2, 0, -1):
        count = 1
        for i in range(side):
            count = count * (k - i) // (i + 1)
            if count > 2 * left + 1:
                break
        taken = min(left, count // 2 if 2 * side == k else count)
        total += taken * side * (k - side)
        left -= taken
    if integer(field(proof, "largest_sum"), "largest_sum") != total:
        raise RejectedError(f"the largest sum is {total}, not what the proof says")
    return sum((t for q, row in enumerate(targets) for t in row[:q]), Fraction(-total))


def _proved_by_cuts(
    n_columns: int, targets: list[list[Fraction]], proof: dict[str, object]
) -> Fraction:
    k = len(targets)
    unit = integer(field(proof, "denominator"), "denominator", low=1)
    lists = field(proof, "groups")
    if type(lists) is not list or len(lists) > k:
        raise RejectedError("groups is not a list of groups of classes")
    groups = [integers(group, "a group", 0, _MAX_GROUP) for group in lists]
    if sorted(p for group in groups for p in group) != list(range(k)):
        raise RejectedError("groups do not contain every class once")
    group_of = {p: i for i, group in enumerate(groups) for p in group}

    costs = {}
    for q in range(k):
        for p in range(q):
            near = _nearest(targets[p][q], n_columns)
            costs[p, q] = costs[q, p] = (floor(near[0] * unit), floor(near[1] * unit))
    across = sum(min(costs[p, q]) for q in range(k) for p in range(q) if group_of[p] != group_of[q])
    return Fraction(across + sum(_least(group, costs) for group in groups), unit)


def _nearest(target: Fraction, n_columns: int) -> tuple[Fraction, Fraction]:
    """Return the deviation from the nearest even and the nearest odd possible distance."""
    inside = min(max(floor(target), 0), n_columns)
    window = [d for d in range(inside - 2, inside + 4) if 0 <= d <= n_columns]
    even, odd = (min(abs(target - d) for d in window if d % 2 == parity) for parity in range(2))
    return even, odd


def _least(group: list[int], costs: dict[tuple[int, int], tuple[int, int]]) -> int:
    """Return the least cost of a cut, visiting cuts in Gray's order, one class moved a time."""
    side = dict.fromkeys(group, 0)
    total = sum(costs[p, q][0] for i, q in enumerate(group) for p in group[:i])
    least = total
    for step in range(1, 1 << max(0, len(group) - 1)):
        if step % 1024 == 1:
            check_deadline()
        p = group[(step & -step).bit_length() - 1]
        for q in group:
            if q != p:
                pair = costs[p, q]
                now = side[p] ^ side[q]
                total += pair[1 - now] - pair[now]
        side[p] ^= 1
        least = min(least, total)
    return least
