"""Checking bounds on ternary codebooks from scratch, exactly, apart from their finders.

Each check supposes a codebook that reaches more and looks for the contradiction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import accumulate, combinations, product
from math import comb, floor, lcm
from typing import Any

from ecoc._limits import check_deadline
from ecoc.bounds.checking.reading import (
    RejectedError,
    field,
    fraction,
    integer,
    integers,
    record,
    text,
)
from ecoc.bounds.checking.words import Family, check_words
from ecoc.bounds.problem import TernaryBound, TernaryBoundProblem

__all__ = ["check_ternary_bound"]

_MAX_CLASSES = 200
_MAX_LISTED_CLASSES = 14
_MAX_ENUMERATED_CLASSES = 11
_MAX_PACKED_LENGTH = 256
_MAX_PAIRED_LENGTH = 64
_MOST_SUBSETS = 200_000
_MOST_TAKEN = 20
_MAX_VALUE_BITS = 512
_UNIT = 10**6


def check_ternary_bound(problem: TernaryBoundProblem, bound: TernaryBound) -> list[str]:
    """Check that no codebook of the problem reaches more than a bound says.

    Parameters
    ----------
    problem : TernaryBoundProblem
        The problem.
    bound : TernaryBound
        The bound; nothing in it is trusted.

    Returns
    -------
    list of str
        What is wrong with the proof; empty if it is accepted.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from ecoc.bounds.ternary import best_ternary_bound
    >>> problem = TernaryBoundProblem(9, 4, 6)
    >>> bound = best_ternary_bound(problem)
    >>> bound.name, check_ternary_bound(problem, bound)
    ('inertia', [])
    >>> check_ternary_bound(replace(problem, n_columns=8), bound)
    ['there are as many columns as negative eigenvalues']
    """
    try:
        _check(problem, bound)
    except RejectedError as error:
        return [str(error)]
    return []


def _check(problem: TernaryBoundProblem, bound: object) -> None:
    if not isinstance(bound, TernaryBound):
        raise RejectedError("this is not a bound on ternary codebooks")
    name, value = text(bound.name, "name"), bound.value
    if not isinstance(value, Fraction) or value < 0:
        raise RejectedError("value is not a fraction of at least 0")
    if max(value.numerator.bit_length(), value.denominator.bit_length()) > _MAX_VALUE_BITS:
        raise RejectedError("value is too long a number")
    proof = record(bound.proof, "the proof")
    if not 2 <= problem.max_support <= problem.n_classes <= _MAX_CLASSES:
        raise RejectedError(f"bounds are not checked for more than {_MAX_CLASSES} classes")
    if name not in _NAMES.get(problem.goal, ()):
        raise RejectedError("there is no bound of this name on what is asked for")
    if name == "dual":
        _check_dual(problem, proof, value)
    elif name == "averaging":
        _check_average(problem, proof, max(_excluded(problem.goal, value)))
    else:
        _check_any(problem, name, proof, _excluded(problem.goal, value))


def _excluded(goal: str, value: Fraction) -> list[int]:
    """Return wholes of which any, once excluded, excludes all that is above a value.

    That is a cover, or twice a distance. Hamming decoding surely corrects e errors only where
    2 e < o + (s_p - s_q) / 2 for both orders of the classes p and q, hence 2 e < o: more than
    e errors need a cover of 2 e + 3. A proof that excludes 2 e + 2, or for e = 0 any cover at
    all, excludes that too.
    """
    if goal == "distance":
        return [floor(2 * value) + 1]
    if goal == "errors":
        most = 2 * floor(value) + 3
        return [most, most - 1] if value >= 1 else [3, 2, 1]
    return [floor(value) + 1]


def _check_any(
    problem: TernaryBoundProblem, name: str, proof: dict[str, Any], targets: list[int]
) -> None:
    """Check that a proof excludes one of some covers."""
    reasons = []
    for target in targets:
        reasons.append(_refusal(problem, name, proof, target))
        if reasons[-1] is None:
            return
    raise RejectedError(str(reasons[0]))


def _refusal(
    problem: TernaryBoundProblem, name: str, proof: dict[str, Any], target: int
) -> str | None:
    try:
        _CHECKS[name](problem, proof, target)
    except RejectedError as error:
        return str(error)
    return None


# ------------------------------------------------------------------------- prices


def _worth(
    problem: TernaryBoundProblem,
    proof: dict[str, Any],
    value: Callable[[int, int], Fraction | int],
) -> Fraction:
    """Return what at most L columns within the budget are worth together at most.

    A column is worth its two prices at most, but for what it is worth beyond them; all columns
    that there are count for that. `value` tells what a column is worth by its two sides.
    """
    prices, total = _prices(problem, proof)
    sizes = sorted(problem.class_sizes or (1,) * problem.n_classes)
    beyond: Fraction | int = 0
    for support in range(2, problem.max_support + 1):
        check_deadline()
        price, n_sets = prices(sum(sizes[:support])), comb(problem.n_classes, support)
        for plus in range(1, support):
            gain = value(plus, support - plus) - price
            if gain > 0:
                beyond += n_sets * comb(support, plus) * gain
    # Each column and its negative were counted.
    return total + Fraction(beyond) / 2


def _prices(
    problem: TernaryBoundProblem, proof: dict[str, Any]
) -> tuple[Callable[[int], Fraction], Fraction]:
    """Return both prices of a column by its size, and those of all columns and the budget."""
    column = fraction(field(proof, "column_price"), "column_price")
    cost = fraction(field(proof, "cost_price"), "cost_price")
    if problem.budget is None and cost:
        raise RejectedError("cost has a price where there is no budget")
    total = problem.n_columns * column + (problem.budget or 0) * cost
    return lambda size: column + (cost * problem.cost(size) if cost else 0), total


def _check_average(problem: TernaryBoundProblem, proof: dict[str, Any], target: int) -> None:
    k = problem.n_classes

    def halves(plus: int, minus: int) -> int:
        # Twice the distance is 2 for opposite entries, 0 for equal ones and 1 beside a 0.
        used = plus + minus
        return 2 * plus * minus + used * (k - used) + comb(k - used, 2)

    total = floor(_worth(problem, proof, halves if problem.goal == "distance" else _pairs))
    if integer(field(proof, "total"), "total") != total:
        raise RejectedError("the total is not what the prices prove")
    if comb(k, 2) * target <= total:
        raise RejectedError("the average does not exclude more")


def _pairs(plus: int, minus: int) -> int:
    return plus * minus


# ------------------------------------------------------------- arguments on covers


def _inertia(problem: TernaryBoundProblem, proof: dict[str, Any], target: int) -> None:
    """Check Graham and Pollak's argument (1972), with excess.

    A column adds a symmetric matrix of rank 2 and trace 0 to the covers, so one negative
    eigenvalue at most. The covers are target (J - I) + F. The positive eigenvalues of F, of
    trace 0, add up to half of its nuclear norm, which is no more than all its entries: to the
    excess over all pairs at most. So excess / target of them reach target at most; beside these
    and one for J, all eigenvalues of the covers are negative.
    """
    k = problem.n_classes
    excess = floor(_worth(problem, proof, _pairs)) - target * comb(k, 2)
    if excess >= 0 and problem.n_columns >= k - 1 - excess // target:
        raise RejectedError("there are as many columns as negative eigenvalues")


def _degrees(problem: TernaryBoundProblem, proof: dict[str, Any], target: int) -> None:
    """Check the argument by degrees: what a class gets from all columns, the other side of each.

    A class to which no column gives a remainder by the modulus has a multiple of it as its
    degree. The classes with a remainder are at most all, and at most as many as there are
    remainders: any mean of the two limits them.
    """
    k = problem.n_classes
    modulus = integer(field(proof, "modulus"), "modulus", 2, k)
    share = fraction(field(proof, "share"), "share")
    if share > 1:
        raise RejectedError("share is above 1")
    degree = target * (k - 1)
    lift = -degree % modulus

    def value(plus: int, minus: int) -> Fraction:
        remainders = (plus if minus % modulus else 0) + (minus if plus % modulus else 0)
        return 2 * plus * minus + share * lift * remainders

    if _worth(problem, proof, value) + (1 - share) * lift * k >= k * (degree + lift):
        raise RejectedError("the columns may give all degrees")


def _words(name: str) -> Callable[[TernaryBoundProblem, dict[str, Any], int], None]:
    """Check a bound on words: zeros filled with +1 or -1 leave opposite entries opposite."""

    def check(problem: TernaryBoundProblem, proof: dict[str, Any], target: int) -> None:
        words = record(field(proof, "words"), "the proof about words")
        if words.get("method") != name:
            raise RejectedError("the proof about words is not of the kind that is named")
        size, _ = check_words(words, Family(problem.n_columns, target, problem.n_columns))
        if size >= problem.n_classes:
            raise RejectedError("the proof leaves room for all rows")

    return check


def _packing(problem: TernaryBoundProblem, proof: dict[str, Any], target: int) -> None:
    """Check that the neighbourhoods of rows, which are subcubes, take more than all words.

    A word that differs from two rows in r used places each settles 2 r of their opposite
    entries. A row that is used s times has the share f(s) of all words in its neighbourhood,
    and f lies above a line.
    """
    k, length = problem.n_classes, problem.n_columns
    if length > _MAX_PACKED_LENGTH:
        raise RejectedError(f"packing is not checked beyond {_MAX_PACKED_LENGTH} columns")
    slope = fraction(field(proof, "slope"), "slope")
    offset = fraction(field(proof, "offset"), "offset")
    radius = (target - 1) // 2
    near = 1  # words of length `used` with at most `radius` ones
    for used in range(length + 1):
        if Fraction(near, 1 << used) < offset - slope * used:
            raise RejectedError("the line is not below the shares of neighbourhoods")
        near = 2 * near - comb(used, radius)
    if k * offset - slope * length * problem.max_support <= 1:
        raise RejectedError("the neighbourhoods of all rows fit")


def _delsarte(problem: TernaryBoundProblem, proof: dict[str, Any], target: int) -> None:
    """Check Delsarte's inequalities for pairs of rows with o opposite and n common entries.

    The sum over all ordered pairs of the coefficient j of (1 - x)^o (1 + x)^(n - o) is a sum of
    squares, over sets of j columns; it is k^2 for j = 0. With multipliers it is at most 0 for two
    different rows; for a row that is used s times with itself, at most the chord of 0 and L.
    """
    k, length, support = problem.n_classes, problem.n_columns, problem.max_support
    if length > _MAX_PAIRED_LENGTH:
        raise RejectedError(f"pairs are not checked beyond {_MAX_PAIRED_LENGTH} columns")
    c = integers(field(proof, "multipliers"), "multipliers", 0, length + 1)
    if not c or c[0] == 0:
        raise RejectedError("the first multiplier must be positive")
    for common in range(target, length + 1):
        check_deadline()
        values = [comb(common, j) for j in range(len(c))]
        for opposite in range(1, common + 1):
            values = _turned(values)
            if opposite >= target and sum(a * b for a, b in zip(c, values, strict=True)) > 0:
                raise RejectedError("the multipliers give two rows a positive sum")
    most = sum(factor * comb(length, j) for j, factor in enumerate(c))
    if k * k * c[0] <= support * most + (k - support) * c[0]:
        raise RejectedError("the multipliers leave room for all rows")


def _turned(values: list[int]) -> list[int]:
    """Return the first coefficients of a polynomial times (1 - x) / (1 + x)."""
    quotient: list[int] = []
    for value in values:
        quotient.append(value - (quotient[-1] if quotient else 0))
    return [b - a for a, b in zip([0, *quotient], quotient, strict=False)]


def _enumeration(problem: TernaryBoundProblem, _: dict[str, Any], target: int) -> None:
    """Look for columns that set all pairs apart often enough, the neediest pair first."""
    k, length = problem.n_classes, problem.n_columns
    supports = range(2, problem.max_support + 1)
    n_all = sum(comb(k, used) * (2 ** (used - 1) - 1) for used in supports)
    few = k <= _MAX_ENUMERATED_CLASSES and length <= _MOST_TAKEN
    if not few or comb(n_all, min(length, n_all)) > _MOST_SUBSETS:
        raise RejectedError("there are too many sets of columns to look at all")
    places = {pair: i for i, pair in enumerate(combinations(range(k), 2))}
    columns = [
        tuple(places[min(p, q), max(p, q)] for p in plus for q in minus)
        for plus, minus in _columns(k, problem.max_support)
    ]
    if _reaches([target] * len(places), columns, length):
        raise RejectedError("there are columns that set all pairs apart often enough")


def _reaches(needs: list[int], columns: list[tuple[int, ...]], left: int) -> bool:
    """Tell whether so many of some columns, each the pairs that it sets apart, meet all needs."""
    check_deadline()
    need = max(needs)
    if need <= 0:
        return True
    if need > left:
        return False
    pair = needs.index(need)
    with_pair = [column for column in columns if pair in column]
    others = [column for column in columns if pair not in column]
    # The last column with this pair that is taken comes after enough others.
    for i in range(need - 1, len(with_pair)):
        lower = list(needs)
        for met in with_pair[i]:
            lower[met] -= 1
        if _reaches(lower, [*with_pair[:i], *others], left - 1):
            return True
    return False


def _columns(k: int, support: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Produce the sides of all columns that use so many classes at most."""
    for used in range(2, support + 1):
        for classes in combinations(range(k), used):
            check_deadline()
            first, *others = classes
            for size in range(1, used):
                for minus in combinations(others, size):
                    yield (first, *(c for c in others if c not in minus)), minus


# -------------------------------------------------------------------- weighted goal


def _check_dual(problem: TernaryBoundProblem, proof: dict[str, Any], value: Fraction) -> None:
    """Check prices of pairs: all columns are worth at least the goal times what pairs demand.

    Goals are rounded down to six places.
    """
    k = problem.n_classes
    pairs = list(combinations(range(k), 2))
    prices = integers(field(proof, "pair_prices"), "pair_prices", 0, len(pairs))
    if len(prices) != len(pairs):
        raise RejectedError("not every pair has a price")
    demands = problem.demands
    demand = sum(
        (price * (Fraction(1) if demands is None else demands[p][q]))
        for price, (p, q) in zip(prices, pairs, strict=True)
    )
    if demand <= 0:
        raise RejectedError("the prices demand nothing")
    priced = dict(zip(pairs, prices, strict=True))
    if k > _MAX_LISTED_CLASSES:
        total = _worth_of_classes(problem, proof, priced)
    else:
        total = _listed_worth(problem, proof, priced)
    if total >= demand * Fraction(floor(value * _UNIT) + 1, _UNIT):
        raise RejectedError("the prices do not exclude more")


def _worth_of_classes(
    problem: TernaryBoundProblem, proof: dict[str, Any], prices: dict[tuple[int, int], int]
) -> Fraction:
    """Return what columns are worth together at most, by what they do with the priced classes.

    No pair is dearer than the dearest, and what a column does with classes of no price only makes
    it cost more. Where all classes have prices, a class adds to a column how unlike it is to
    those on the other side, and these are as unlike as any; else no column is easier than its
    easiest pair could be.
    """
    k, similarity = problem.n_classes, problem.similarity
    n = len({p for pair, price in prices.items() if price for p in pair})
    unlike = {(p, q): 1 - (similarity[p][q] if similarity else Fraction(0)) for p, q in prices}
    unit = lcm(*(entry.denominator for entry in unlike.values()))
    whole = {pair: int(unit * entry) for pair, entry in unlike.items()}
    easiest = max(whole.values())
    # For each class, what so many others give it at most.
    given = []
    for p in range(n):
        others = [whole[min(p, q), max(p, q)] for q in range(k) if q != p]
        given.append([0, *accumulate(sorted(others, reverse=True))])
        if n < k:
            given[-1] = [easiest * m for m in range(n)]
    of_size, total = _prices(problem, proof)
    sizes = sorted(problem.class_sizes or (1,) * k)
    dearest = Fraction(max(prices.values()), unit)
    # What so many classes at most get of so many others: got[others][classes].
    got = []
    for m in range(n):
        best = sorted((row[m] for row in given), reverse=True)
        got.append([0, *accumulate(best)])
    for used in range(2, min(n, problem.max_support) + 1):
        check_deadline()
        price = of_size(sum(sizes[:used]))
        for plus in range(1, used):
            minus = used - plus
            gain = dearest * min(got[minus][plus], got[plus][minus]) - price
            if gain > 0:
                total += comb(n, used) * comb(used, plus) * 3 ** (k - n) * gain / 2
    return total


def _listed_worth(
    problem: TernaryBoundProblem, proof: dict[str, Any], prices: dict[tuple[int, int], int]
) -> Fraction:
    """Return what columns are worth together at most, looking at each that there is.

    The classes are cut in two. For each word of the first part, what it adds to a word of the
    second one is a sum over the classes of that one.
    """
    of_size, total = _prices(problem, proof)
    k, similarity = problem.n_classes, problem.similarity
    sizes = problem.class_sizes or (1,) * k
    alike = {(p, q): Fraction(0) if similarity is None else similarity[p][q] for p, q in prices}
    unit = lcm(*(entry.denominator for entry in alike.values()))
    unlike = {pair: int(unit * (1 - entry)) for pair, entry in alike.items()}
    head, tail = range(k // 2), range(k // 2, k)
    words = list(product((0, 1, -1), repeat=len(tail)))
    worths = [_apart(prices, word, tail) for word in words]
    eases = [_apart(unlike, word, tail) for word in words]
    plus = [sum(entry > 0 for entry in word) for word in words]
    minus = [sum(entry < 0 for entry in word) for word in words]
    points = [sum(sizes[p] for p, entry in zip(tail, word, strict=True) if entry) for word in words]
    # By pairs set apart and size: what a column may be worth, in whole parts of a pair.
    limits: dict[tuple[int, int], int] = {}
    beyond: Fraction | int = 0
    for word in product((0, 1, -1), repeat=len(head)):
        check_deadline()
        sign = next((entry for entry in word if entry), 0)
        if sign < 0:
            continue  # the negative of another one
        ups, downs = sum(entry > 0 for entry in word), sum(entry < 0 for entry in word)
        size = sum(sizes[p] for p, entry in zip(head, word, strict=True) if entry)
        worth = _crossed(prices, word, head, tail, _apart(prices, word, head))
        ease = _crossed(unlike, word, head, tail, _apart(unlike, word, head))
        for a, b, c, d, e, f, g in zip(
            worth, worths, ease, eases, plus, minus, points, strict=True
        ):
            n = (ups + e) * (downs + f)
            if not n or ups + e + downs + f > problem.max_support:
                continue
            at = n, size + g
            if at not in limits:
                limits[at] = floor(unit * n * of_size(size + g))
            gain = (a + b) * (c + d)
            if gain > limits[at]:
                more = Fraction(gain, unit * n) - of_size(size + g)
                # Without a class of the first part, a word and its negative are both there.
                beyond += more if sign else more / 2
    return total + beyond


def _apart(values: dict[tuple[int, int], int], word: tuple[int, ...], classes: range) -> int:
    """Return the sum over the pairs of some classes that a word sets apart."""
    entries = zip(combinations(classes, 2), combinations(word, 2), strict=True)
    return sum(values[pair] for pair, (one, other) in entries if one * other < 0)


def _crossed(
    values: dict[tuple[int, int], int], word: tuple[int, ...], head: range, tail: range, first: int
) -> list[int]:
    """Return for each word of the tail the sum over its pairs with a word of the head."""
    sums = [first]
    for q in tail:
        up = sum(values[p, q] for p, entry in zip(head, word, strict=True) if entry < 0)
        down = sum(values[p, q] for p, entry in zip(head, word, strict=True) if entry > 0)
        sums = [old + more for old in sums for more in (0, up, down)]
    return sums


_CHECKS: dict[str, Callable[[TernaryBoundProblem, dict[str, Any], int], None]] = {
    **{name: _words(name) for name in ("plotkin", "singleton", "hamming", "delsarte")},
    "inertia": _inertia,
    "degrees": _degrees,
    "packing": _packing,
    "pairs": _delsarte,
    "enumeration": _enumeration,
}
_NAMES = {
    "cover": ("averaging", *_CHECKS),
    "errors": ("averaging", *_CHECKS),
    "distance": ("averaging",),
    "weighted": ("dual",),
}
"""Which arguments hold for which goal."""
