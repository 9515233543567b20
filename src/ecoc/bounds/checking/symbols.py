"""Checking bounds for several symbols from scratch, in whole numbers, apart from their finders."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import comb
from typing import Any

from ecoc._limits import check_deadline
from ecoc.bounds.checking.reading import RejectedError, field, integer, integers, record, text
from ecoc.bounds.problem import Bound, SymbolBoundProblem

__all__ = ["check_symbol_bound"]

_MAX_CLASSES = 1 << 16
_MAX_LENGTH = 1024
_MAX_DELSARTE_LENGTH = 256
_MAX_SYMBOLS = 1 << 10


def check_symbol_bound(problem: SymbolBoundProblem, bound: Bound) -> list[str]:
    """Check that no codebook of the problem has a larger minimum row distance.

    Parameters
    ----------
    problem : SymbolBoundProblem
        The problem.
    bound : Bound
        The bound; nothing in it is trusted.

    Returns
    -------
    list of str
        What is wrong with the proof; empty if it is accepted.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from ecoc.bounds.symbols import best_symbol_bound
    >>> problem = SymbolBoundProblem(10, 20, 3)
    >>> bound = best_symbol_bound(problem)
    >>> check_symbol_bound(problem, bound)
    []
    >>> check_symbol_bound(problem, replace(bound, value=13))
    ['the sum of distances does not exclude a larger least distance']
    """
    try:
        _check(problem, bound)
    except RejectedError as error:
        return [str(error)]
    return []


def _check(problem: SymbolBoundProblem, bound: object) -> None:
    if not isinstance(bound, Bound):
        raise RejectedError("this is not a bound")
    name, value = text(bound.name, "name"), integer(bound.value, "value")
    proof = record(bound.proof, "the proof")
    if bound.cited is not None:
        raise RejectedError("a source is cited that the proof does not use")
    if name != "averaging" and name not in _WORDS:
        raise RejectedError("there is no bound of this name")
    if value >= problem.n_columns:
        return  # A distance is at most the number of columns.
    if problem.n_classes > _MAX_CLASSES:
        raise RejectedError(f"bounds are not checked for more than {_MAX_CLASSES} classes")
    n, total = _columns(problem)
    if integer(field(proof, "n_columns"), "n_columns") != n:
        raise RejectedError("the number of columns is not what the proof says")
    k, q, distance = problem.n_classes, problem.n_symbols, value + 1
    if name == "averaging":
        if integer(field(proof, "largest_sum"), "largest_sum") != total:
            raise RejectedError("the largest sum of distances is not what the proof says")
        if comb(k, 2) * distance <= total:
            raise RejectedError("the sum of distances does not exclude a larger least distance")
        return
    if distance > n:
        return
    words = record(field(proof, "words"), "the proof about words")
    if words.get("method") != name:
        raise RejectedError("the proof about words is not of the kind that is named")
    if not _WORDS[name](words, (k, n, q, distance)):
        raise RejectedError("the proof leaves room for all rows")


def _columns(problem: SymbolBoundProblem) -> tuple[int, int]:
    """Return how many columns there are, up to L, and the most pairs that they separate."""
    k, left, total = problem.n_classes, problem.n_columns, 0
    counts = problem.column_counts
    for separated, count in _kinds(k, problem.n_symbols, left) if counts is None else counts:
        taken = min(left, count)
        total += taken * separated
        left -= taken
        if left == 0:
            break
    return problem.n_columns - left, total


def _kinds(k: int, q: int, enough: int) -> Iterator[tuple[int, int]]:
    """Produce, from the largest, how many pairs a column separates and how many do so.

    Any number of columns beyond enough will do.
    """
    for together in range(_least_together(k, q), comb(k, 2)):
        check_deadline()
        count = 0
        for sizes in _partitions(k, q, k, together):
            count += _count(sizes)
            if count >= enough:
                break
        if count:
            yield comb(k, 2) - together, count


def _least_together(k: int, q: int) -> int:
    """Return how many pairs k rows in q groups leave together at least."""
    half_full = k // q
    return q * comb(half_full, 2) + (k - q * half_full) * half_full


def _partitions(k: int, q: int, largest: int, together: int) -> Iterator[tuple[int, ...]]:
    """Produce the descending sizes of at most q groups of k rows with so many pairs together."""
    if k == 0:
        if together == 0:
            yield ()
        return
    if q == 0 or _least_together(k, q) > together:
        return
    for size in range(min(k, largest), 0, -1):
        rest = together - comb(size, 2)
        if size * q < k:
            return
        if rest >= 0:
            for others in _partitions(k - size, q - 1, size, rest):
                yield (size, *others)


def _count(sizes: tuple[int, ...]) -> int:
    """Count the partitions of rows into groups of these sizes."""
    count, left = 1, sum(sizes)
    for size in sizes:
        count *= comb(left, size)
        left -= size
    # Groups of equal sizes have no order.
    for size in set(sizes):
        for turn in range(2, sizes.count(size) + 1):
            count //= turn
    return count


Words = tuple[int, int, int, int]
"""How many words there are said to be, their length, the symbols, and their least distance."""


def _plotkin(proof: dict[str, Any], words: Words) -> bool:
    k, n, q, d = words
    shortened = integer(field(proof, "shortened"), "shortened", high=min(n, 4096))
    for _ in range(shortened):
        k = (k + q - 1) // q
    return d * comb(k, 2) > (n - shortened) * (comb(k, 2) - _least_together(k, q))


def _singleton(_: dict[str, Any], words: Words) -> bool:
    k, n, q, d = words
    left = k
    for _place in range(n - d + 1):
        # Of these words so many agree in one place more.
        left = (left + q - 1) // q
        if left == 1:
            return False
    return left > 1


def _hamming(_: dict[str, Any], words: Words) -> bool:
    k, n, q, d = words
    if n > _MAX_LENGTH or q > _MAX_SYMBOLS:
        raise RejectedError(f"hamming is not checked beyond length {_MAX_LENGTH}")
    if d % 2 == 0:
        n, d = n - 1, d - 1
    ball, shell = 0, 1
    for i in range((d - 1) // 2 + 1):
        ball += shell
        shell = shell * (n - i) * (q - 1) // (i + 1)
    return bool(k * ball > q**n)


def _delsarte(proof: dict[str, Any], words: Words) -> bool:
    k, n, q, d = words
    if n > _MAX_DELSARTE_LENGTH or q > _MAX_SYMBOLS:
        raise RejectedError(f"delsarte is not checked beyond length {_MAX_DELSARTE_LENGTH}")
    c = integers(field(proof, "multipliers"), "multipliers", 0, n + 1)
    if not c or c[0] == 0:
        raise RejectedError("the first multiplier must be positive")
    sums = [0] * (n + 1)
    for factor, values in zip(c, _characters(n, q), strict=False):
        check_deadline()
        if factor:
            sums = [total + factor * v for total, v in zip(sums, values, strict=True)]
    return all(sums[i] <= 0 for i in range(d, n + 1)) and k * c[0] > sum(c)


def _characters(n: int, q: int) -> Iterator[list[int]]:
    """Produce for j = 0, ..., n the coefficients of (1 - x)^j (1 + (q - 1) x)^(n - j)."""
    values = [comb(n, i) * (q - 1) ** i for i in range(n + 1)]
    while True:
        yield values
        quotient = [values[0]]
        for value in values[1:n]:
            quotient.append(value - (q - 1) * quotient[-1])
        quotient.append(0)
        values = [quotient[0], *(b - a for a, b in pairwise(quotient))]


_WORDS: dict[str, Callable[[dict[str, Any], Words], bool]] = {
    "plotkin": _plotkin,
    "singleton": _singleton,
    "hamming": _hamming,
    "delsarte": _delsarte,
}
