"""Checking bounds from scratch, in whole numbers, apart from the code that found them."""

from __future__ import annotations

from collections.abc import Callable
from math import comb
from typing import Any

from ecoc.bounds.checking.pairs import check_pairs
from ecoc.bounds.checking.reading import RejectedError, field, integer, integers, record, text
from ecoc.bounds.checking.words import Family, check_words
from ecoc.bounds.known import SOURCE
from ecoc.bounds.problem import Bound, BoundProblem

__all__ = ["check_bound", "check_separation_bound"]


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
