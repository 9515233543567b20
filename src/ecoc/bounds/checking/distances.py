"""Checking bounds from scratch, in whole numbers, apart from the code that found them."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import comb, floor
from typing import Any

import numpy.typing as npt

from ecoc._checks import check_int
from ecoc._limits import check_deadline
from ecoc.bounds.checking.pairs import check_pairs
from ecoc.bounds.checking.reading import RejectedError, field, integer, integers, record, text
from ecoc.bounds.checking.words import Family, check_words
from ecoc.bounds.problem import SOURCE, Bound, BoundProblem, TargetBound, exact_targets

__all__ = ["check_bound", "check_separation_bound", "check_target_bound"]


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
        _check_target(n_columns, exact, bound)
    except RejectedError as error:
        return [str(error)]
    return []


def _check_target(n_columns: int, targets: list[list[Fraction]], bound: object) -> None:
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


def check_bound(problem: BoundProblem, bound: Bound) -> list[str]:
    """Check that no codebook of the problem has a larger minimum row distance.

    Parameters
    ----------
    problem : BoundProblem
        The problem.
    bound : Bound
        The bound; nothing in it is trusted.

    Returns
    -------
    list of str
        What is wrong with the proof; empty if it is accepted. A bound with ``cited`` set is
        accepted if it follows from the published value that it names.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from ecoc.bounds import best_bound
    >>> problem = BoundProblem(10, 20)
    >>> bound = best_bound(problem)
    >>> check_bound(problem, bound)
    []
    >>> check_bound(problem, replace(bound, value=9))
    ['the sum needed for the distance 10 is 450, not what the proof says']
    """
    return _messages(lambda: _check(problem, bound))


def check_separation_bound(
    n_classes: int,
    n_columns: int,
    separation: str,
    bound: Bound,
    *,
    min_row_distance: int | None = None,
) -> list[str]:
    """Check a bound from :func:`separation_bound`; empty if it is accepted.

    Examples
    --------
    >>> from ecoc.bounds import separation_bound
    >>> bound = separation_bound(11, 22, min_row_distance=12)
    >>> check_separation_bound(11, 22, "two-sided", bound, min_row_distance=12)
    []
    >>> check_separation_bound(11, 22, "two-sided", bound)
    ['the least row distance is not the average of all distances']
    """
    shape = BoundProblem(n_classes, n_columns, separation=separation)
    return _messages(lambda: _check_separation(shape, bound, min_row_distance))


def _messages(check: Callable[[], None]) -> list[str]:
    try:
        check()
    except RejectedError as error:
        return [str(error)]
    return []


def _check(problem: BoundProblem, bound: Bound) -> None:
    name, value, proof = _parts(bound)
    if name not in _CHECKS:
        raise RejectedError("there is no bound of this name")
    if value >= problem.n_columns:
        return  # A distance is at most the number of columns.
    _check_citation(bound, _CHECKS[name](problem, proof, value + 1))


def _check_separation(shape: BoundProblem, bound: Bound, min_row_distance: int | None) -> None:
    name, value, proof = _parts(bound)
    if name != "separation":
        raise RejectedError("this is not a bound on the separation")
    k, rho = shape.n_classes, value + 1
    if rho >= k:
        return  # Columns with +1 for the first class have at most k - 1 different places.
    uses_table = False
    if "polynomial" in proof:
        if shape.separation != "two-sided":
            raise RejectedError("inner products are limited by the two-sided rule only")
        _check_polynomial(shape, proof, rho, min_row_distance)
    else:
        family = _columns_as_words(BoundProblem(k, shape.n_columns, None, rho, shape.separation))
        size, uses_table = check_words(field(proof, "packing"), family)
        if size >= shape.n_columns:
            raise RejectedError("the proof leaves room for all columns")
    _check_citation(bound, uses_table)


def _parts(bound: object) -> tuple[str, int, dict[str, Any]]:
    if not isinstance(bound, Bound):
        raise RejectedError("this is not a bound")
    name = text(bound.name, "name")
    return name, integer(bound.value, "value"), record(bound.proof, "the proof")


def _check_citation(bound: Bound, uses_table: bool) -> None:
    if uses_table and bound.cited != SOURCE:
        raise RejectedError("a published value is used and its source is not cited")
    if not uses_table and bound.cited is not None:
        raise RejectedError("a source is cited that the proof does not use")


def _check_averaging(problem: BoundProblem, proof: dict[str, Any], distance: int) -> bool:
    total, uses_table = _check_sum(problem, proof)
    if comb(problem.n_classes, 2) * distance <= total:
        raise RejectedError("the sum of distances does not exclude a larger least distance")
    return uses_table


def _check_parity(problem: BoundProblem, proof: dict[str, Any], distance: int) -> bool:
    total, uses_table = _check_sum(problem, proof)
    k = problem.n_classes
    odd = distance % 2
    # Rows of even weight, a of them, and of odd weight: distances within are even.
    needed = min(
        (distance + odd) * (comb(a, 2) + comb(k - a, 2)) + (distance + 1 - odd) * a * (k - a)
        for a in range(k // 2 + 1)
    )
    if integer(field(proof, "needed_sum"), "needed_sum") != needed:
        raise RejectedError(
            f"the sum needed for the distance {distance} is {needed}, not what the proof says"
        )
    if needed <= total:
        raise RejectedError("the sum of distances does not exclude a larger least distance")
    return uses_table


def _check_row_words(name: str) -> Callable[[BoundProblem, dict[str, Any], int], bool]:
    def check(problem: BoundProblem, proof: dict[str, Any], distance: int) -> bool:
        n, packed_by_table = _check_columns(problem, proof)
        if distance > n:
            return packed_by_table
        words = record(field(proof, "words"), "the proof about words")
        if words.get("method") != name:
            raise RejectedError("the proof about words is not of the kind that is named")
        size, uses_table = check_words(words, Family(n, distance, n))
        if size >= problem.n_classes:
            raise RejectedError("the proof leaves room for all rows")
        return uses_table or packed_by_table

    return check


def _check_column_pairs(problem: BoundProblem, proof: dict[str, Any], distance: int) -> bool:
    n, uses_table = _check_columns(problem, proof)
    check_pairs(problem, n, field(proof, "cases"), distance)
    return uses_table


def _check_inner_products(problem: BoundProblem, proof: dict[str, Any], distance: int) -> bool:
    if problem.separation != "two-sided":
        raise RejectedError("inner products are limited by the two-sided rule only")
    _check_polynomial(problem, proof, problem.min_column_distance, distance)
    return False


def _check_polynomial(
    problem: BoundProblem, proof: dict[str, Any], rho: int, distance: int | None
) -> None:
    coefficients = integers(field(proof, "polynomial"), "polynomial", None, 3)
    if len(coefficients) != 3:
        raise RejectedError("polynomial must have three coefficients")
    a, b, c = coefficients
    k, n, s = problem.n_classes, problem.n_columns, problem.n_classes % 2
    if distance is None or distance * comb(k, 2) != n * (k // 2) * (k - k // 2):
        raise RejectedError("the least row distance is not the average of all distances")
    if not s and b:
        raise RejectedError("the signs of inner products are free for an even number of classes")
    # Distances of columns of one parity are even, and inner products are k - 2 distance.
    for columns_apart in range(0, k + 1, 2):
        h = k - 2 * columns_apart
        if rho <= columns_apart <= k - rho and a + b * h + c * h * h < 0:
            raise RejectedError("the polynomial is negative at an allowed inner product")
    sum_of_products = s * (2 * distance - n) - k
    sum_of_squares = 2 * distance * k + s * (n - 2 * distance) - k * k
    if a * (n - 1) + b * sum_of_products + c * sum_of_squares >= 0:
        raise RejectedError("the polynomial does not show a contradiction")


def _check_sum(problem: BoundProblem, proof: dict[str, Any]) -> tuple[int, bool]:
    """Check and return the largest sum of distances."""
    n, uses_table = _check_columns(problem, proof)
    k, left, total = problem.n_classes, n, 0
    for side in range(k // 2, 0, -1):
        taken = min(left, _count(problem, side, left))
        total += taken * side * (k - side)
        left -= taken
        if left == 0:
            break
    if integer(field(proof, "largest_sum"), "largest_sum") != total:
        raise RejectedError("the largest sum of distances is not what the proof says")
    return total, uses_table


def _count(problem: BoundProblem, side: int, enough: int) -> int:
    """Count columns with a smaller side of so many classes; any number beyond enough will do."""
    if problem.column_counts is not None:
        return problem.column_counts[side - 1]
    k, count = problem.n_classes, 1
    for i in range(side):
        count = count * (k - i) // (i + 1)
        if count > 2 * enough + 1:
            break
    return count // 2 if 2 * side == k else count


def _check_columns(problem: BoundProblem, proof: dict[str, Any]) -> tuple[int, bool]:
    """Check and return how many columns a codebook can have."""
    n = integer(field(proof, "n_columns"), "n_columns", high=problem.n_columns)
    if n == problem.n_columns:
        return n, False
    packing = record(field(proof, "packing"), "packing")
    if packing.get("method") == "count":
        if sum(_count(problem, side, n) for side in range(1, problem.n_classes // 2 + 1)) > n:
            raise RejectedError("there are more admissible columns than the proof says")
        return n, False
    size, uses_table = check_words(packing, _columns_as_words(problem))
    if size > n:
        raise RejectedError("more columns fit than the proof says")
    return n, uses_table


def _columns_as_words(problem: BoundProblem) -> Family:
    k, rho = problem.n_classes, problem.min_column_distance
    most = {"two-sided": k - rho, "one-sided": k - 1, "literal": problem.n_columns - rho}
    return Family(k - 1, rho, min(k - 1, most[problem.separation]))


_CHECKS: dict[str, Callable[[BoundProblem, dict[str, Any], int], bool]] = {
    "averaging": _check_averaging,
    "parity": _check_parity,
    "inner-products": _check_inner_products,
    "pairs": _check_column_pairs,
    **{
        name: _check_row_words(name)
        for name in ("plotkin", "singleton", "hamming", "johnson", "delsarte", "known")
    },
}
