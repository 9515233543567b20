"""What finders and checkers share: problems, bounds, and published values of A(n, d)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from heapq import heappop, heappush
from itertools import combinations
from math import ceil, comb, factorial, lcm
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice, check_int, check_matrix
from ecoc.errors import InvalidInputError

__all__ = [
    "KNOWN_SIZES",
    "SOURCE",
    "Bound",
    "BoundProblem",
    "Proof",
    "SymbolBoundProblem",
    "TargetBound",
    "TernaryBound",
    "TernaryBoundProblem",
    "balanced_separation",
    "exact_targets",
    "first_prefix",
]


def first_prefix(n_classes: int, n_symbols: int = 2) -> int:
    """Return the fewest columns whose words are as many as the classes.

    Examples
    --------
    >>> first_prefix(10), first_prefix(10, 3)
    (4, 3)
    """
    length, words = 1, n_symbols
    while words < n_classes:
        length, words = length + 1, words * n_symbols
    return length


def balanced_separation(n_classes: int, n_symbols: int) -> int:
    """Return how many pairs of classes a column of groups as equal as possible separates.

    No column of so many symbols separates more.

    Examples
    --------
    >>> balanced_separation(10, 3)  # groups of 3, 3 and 4: 9 + 12 + 12
    33
    """
    size, larger = divmod(n_classes, n_symbols)
    together = (n_symbols - larger) * comb(size, 2) + larger * comb(size + 1, 2)
    return comb(n_classes, 2) - together


@dataclass(frozen=True)
class SymbolBoundProblem:
    """Codebooks of k rows and at most L distinct columns of q symbols.

    A column is a partition of the rows into at most q groups, not all in one: two columns that
    are equal up to renaming symbols are one column.

    Parameters
    ----------
    n_classes : int
        The number of rows, k.
    n_columns : int
        The most columns allowed, L.
    n_symbols : int
        The most symbols in a column, q.
    column_counts : tuple of (int, int), optional
        For some numbers of pairs of rows, the largest first, how many admissible columns
        separate so many pairs. None admits every column.
    min_column_distance : int, default=1
        The column separation up to renaming symbols, rho.

    Examples
    --------
    >>> problem = SymbolBoundProblem(4, 8, 3)
    >>> list(problem.kinds())  # 2 + 1 + 1, 2 + 2 and 3 + 1
    [(5, 6), (4, 3), (3, 4)]
    >>> problem.largest_sum  # six columns separate five pairs each, two separate four
    38
    """

    n_classes: int
    n_columns: int
    n_symbols: int
    column_counts: tuple[tuple[int, int], ...] | None = None
    min_column_distance: int = 1

    def __post_init__(self) -> None:
        k = check_int("n_classes", self.n_classes, minimum=2)
        check_int("n_columns", self.n_columns, minimum=1)
        check_int("n_symbols", self.n_symbols, minimum=2)
        check_int("min_column_distance", self.min_column_distance, minimum=1, maximum=k)
        if self.column_counts is not None:
            object.__setattr__(self, "column_counts", _check_kinds(self.column_counts, k))

    @property
    def n_pairs(self) -> int:
        """The number of pairs of rows."""
        return comb(self.n_classes, 2)

    def kinds(self) -> Iterator[tuple[int, int]]:
        """Produce how many pairs columns separate and how many such columns there are.

        The kinds with most pairs come first; several kinds may separate the same number.
        """
        if self.column_counts is not None:
            yield from self.column_counts
            return
        for sizes in _sizes_by_separation(self.n_classes, self.n_symbols):
            together = sum(comb(size, 2) for size in sizes)
            yield self.n_pairs - together, _count_partitions(sizes)

    @cached_property
    def columns_used(self) -> int:
        """How many columns a codebook has at most: L, or all there are."""
        return sum(taken for _, taken in self._best_columns())

    @cached_property
    def largest_sum(self) -> int:
        """The largest sum of all row distances that the columns can give."""
        return sum(separated * taken for separated, taken in self._best_columns())

    def _best_columns(self) -> Iterator[tuple[int, int]]:
        left = self.n_columns
        for separated, count in self.kinds():
            taken = min(left, count)
            yield separated, taken
            left -= taken
            if not left:
                return


def _sizes_by_separation(n_classes: int, n_symbols: int) -> Iterator[tuple[int, ...]]:
    """Produce the sizes of groups of all partitions but the trivial one, the most even first.

    Moving a row from a group to one that is not smaller leaves fewer pairs separated, and
    all partitions come from the most even one in this way.
    """
    size, larger = divmod(n_classes, n_symbols)
    first = (size + 1,) * larger + (size,) * (n_symbols - larger if size else 0)
    queue, seen = [(0, first)], {first}
    while queue:
        worse, sizes = heappop(queue)
        if len(sizes) < 2:
            return
        yield sizes
        for i in range(len(sizes)):
            for j in range(i + 1, len(sizes)):
                moved = list(sizes)
                moved[i] += 1
                moved[j] -= 1
                next_sizes = tuple(sorted((s for s in moved if s), reverse=True))
                if next_sizes not in seen:
                    seen.add(next_sizes)
                    heappush(queue, (worse + sizes[i] - sizes[j] + 1, next_sizes))


def _count_partitions(sizes: tuple[int, ...]) -> int:
    """Count the partitions into groups of given sizes."""
    count = factorial(sum(sizes))
    for size in set(sizes):
        times = sizes.count(size)
        count //= factorial(size) ** times * factorial(times)
    return count


def _check_kinds(
    counts: tuple[tuple[int, int], ...], n_classes: int
) -> tuple[tuple[int, int], ...]:
    checked: list[tuple[int, int]] = []
    for i, (separated, count) in enumerate(counts):
        most = checked[-1][0] - 1 if checked else comb(n_classes, 2)
        checked.append(
            (
                check_int(f"column_counts[{i}][0]", separated, minimum=1, maximum=most),
                check_int(f"column_counts[{i}][1]", count, minimum=0),
            )
        )
    if not any(count for _, count in checked):
        raise InvalidInputError("column_counts must admit at least one column.")
    return tuple(checked)


SOURCE = (
    "A. E. Brouwer, Bounds for binary codes of length less than 25 (updated table of Best, "
    "Brouwer, MacWilliams, Odlyzko and Sloane, IEEE Trans. Inf. Theory 24, 1978, 81-93)"
)
"""Among the later entries are those of Best 1980 for A(10, 4); Östergård, Baicheva and Kolev
1999 for A(11, 4) and A(12, 4); Östergård 2011 for A(17, 8); and the semidefinite bounds of
Schrijver 2005 and of Gijswijt, Mittelmann and Schrijver 2012.
"""

KNOWN_SIZES: dict[tuple[int, int], int] = {
    (9, 4): 20,
    (10, 4): 40,
    (11, 4): 72,
    (12, 4): 144,
    (20, 4): 26168,
    (21, 4): 43688,
    (22, 4): 87333,
    (23, 4): 172361,
    (24, 4): 344308,
    (13, 6): 32,
    (17, 6): 340,
    (18, 6): 673,
    (19, 6): 1237,
    (20, 6): 2279,
    (21, 6): 4096,
    (22, 6): 6941,
    (23, 6): 13674,
    (24, 6): 24106,
    (17, 8): 36,
    (18, 8): 64,
    (19, 8): 128,
    (20, 8): 256,
    (21, 8): 512,
    (25, 8): 5421,
    (26, 8): 9275,
    (21, 10): 47,
    (22, 10): 84,
    (23, 10): 150,
    (24, 10): 268,
    (25, 10): 466,
    (26, 10): 836,
    (27, 10): 1585,
    (25, 12): 55,
    (26, 12): 96,
    (27, 12): 169,
}
"""Upper bounds on A(n, d) for even d."""


_MAX_PLACES = 40
_SEPARATIONS = ("two-sided", "one-sided", "literal")


@dataclass(frozen=True)
class BoundProblem:
    """Codebooks of k rows and at most L distinct columns, whose row distance is bounded.

    Columns are dichotomies: constant ones are excluded, and so are two columns that are
    equal or complementary.

    Parameters
    ----------
    n_classes : int
        The number of rows, k.
    n_columns : int
        The most columns allowed, L.
    column_counts : tuple of int, optional
        How many columns are admissible whose smaller side has 1, 2, ..., k // 2 classes.
        None admits every column.
    min_column_distance : int, default=1
        The column separation, rho.
    separation : {"two-sided", "one-sided", "literal"}, default="two-sided"
        Which distances d of two columns with +1 for the first class are enough:
        rho <= d <= k - rho, rho <= d, or rho <= d <= L - rho.

    Examples
    --------
    >>> problem = BoundProblem(10, 20, min_column_distance=3)
    >>> problem.column_distances
    (3, 7)
    >>> problem.n_admissible(1000)
    511
    """

    n_classes: int
    n_columns: int
    column_counts: tuple[int, ...] | None = None
    min_column_distance: int = 1
    separation: str = "two-sided"

    def __post_init__(self) -> None:
        k = check_int("n_classes", self.n_classes, minimum=2)
        check_int("n_columns", self.n_columns, minimum=1)
        check_int("min_column_distance", self.min_column_distance, minimum=1, maximum=k)
        check_choice("separation", self.separation, _SEPARATIONS)
        if self.column_counts is not None:
            object.__setattr__(self, "column_counts", _check_counts(self.column_counts, k))

    @property
    def n_pairs(self) -> int:
        """The number of pairs of rows."""
        return comb(self.n_classes, 2)

    @property
    def column_distances(self) -> tuple[int, int]:
        """The least and largest distance of two columns that have +1 for the first class."""
        k, rho = self.n_classes, self.min_column_distance
        if self.separation == "two-sided":
            return rho, k - rho
        if self.separation == "literal":
            return rho, min(k - 1, self.n_columns - rho)
        return rho, k - 1

    def n_of_size(self, size: int, limit: int) -> int:
        """Count admissible columns whose smaller side has `size` classes, up to `limit`."""
        if self.column_counts is not None:
            return min(limit, self.column_counts[size - 1])
        return _count_of_size(self.n_classes, size, limit)

    def n_admissible(self, limit: int) -> int:
        """Count admissible columns, up to `limit`."""
        total = 0
        for size in range(self.n_classes // 2, 0, -1):
            total += self.n_of_size(size, limit - total)
            if total == limit:
                break
        return total

    def largest_sum(self, n_columns: int) -> int:
        """Return the largest sum of all row distances that `n_columns` columns can give.

        A column with w classes on one side separates w (k - w) pairs, so the most balanced
        columns are taken first, as many as there are.

        Examples
        --------
        >>> BoundProblem(5, 13).largest_sum(13)  # ten columns 2|3 and three columns 1|4
        72
        """
        k, total, left = self.n_classes, 0, n_columns
        for size in range(k // 2, 0, -1):
            taken = self.n_of_size(size, left)
            total += taken * size * (k - size)
            left -= taken
            if not left:
                break
        return total


def _count_of_size(n_classes: int, size: int, limit: int) -> int:
    # C(k, s) >= 2^s for s <= k / 2: where that is enough, a huge number need not be made.
    if size - 1 > limit.bit_length():
        return limit
    count = comb(n_classes, size)
    return min(limit, count // 2 if 2 * size == n_classes else count)


def _check_counts(counts: tuple[int, ...], n_classes: int) -> tuple[int, ...]:
    checked = tuple(check_int(f"column_counts[{i}]", n, minimum=0) for i, n in enumerate(counts))
    if len(checked) != n_classes // 2:
        raise InvalidInputError(
            f"column_counts must have {n_classes // 2} entries for {n_classes} classes (smaller "
            f"sides of 1 to {n_classes // 2} classes), not {len(checked)}."
        )
    for size, count in enumerate(checked, start=1):
        most = _count_of_size(n_classes, size, count + 1)
        if count > most:
            raise InvalidInputError(
                f"column_counts[{size - 1}] must be at most {most}, the number of columns of "
                f"{n_classes} classes with a side of {size}, not {count}."
            )
    return checked


Proof: TypeAlias = "dict[str, Any]"
"""Plain JSON data: whole numbers, strings, lists and dicts."""


@dataclass(frozen=True)
class Bound:
    """An upper bound with its proof, which :func:`check_bound` checks from scratch.

    Attributes
    ----------
    name : str
        Which argument it is.
    value : int
        No codebook of the problem has a larger minimum row distance (or, from
        :func:`separation_bound`, a larger column separation).
    proof : dict
        Plain JSON data from which the bound can be checked in whole numbers.
    reason : str
        The argument in a line.
    cited : str or None
        The source, where the value rests on a published result that is not proved again.

    Examples
    --------
    >>> from ecoc.bounds import BoundProblem, averaging_bound
    >>> averaging_bound(BoundProblem(10, 20)).reason
    '20 columns separate at most 500 pairs of rows in all, and 45 pairs share them.'
    """

    name: str
    value: int
    proof: Proof
    reason: str
    cited: str | None = None


@dataclass(frozen=True)
class TargetBound:
    """A lower bound on the sum of deviations of row distances from their targets.

    Attributes
    ----------
    name : {"cut", "sum"}
        Which argument it is.
    value : Fraction
        No codebook deviates less in all.
    proof : dict
        Plain JSON data for :func:`check_target_bound`.
    reason : str
        The argument in a line.
    """

    name: str
    value: Fraction
    proof: Proof
    reason: str


@dataclass(frozen=True)
class TernaryBound:
    """An upper bound on what a ternary codebook reaches, with its proof.

    Attributes
    ----------
    name : str
        Which argument it is.
    value : Fraction
        No codebook of the problem reaches more.
    proof : dict
        Plain JSON data from which the bound can be checked in whole numbers.
    reason : str
        The argument in a line.
    """

    name: str
    value: Fraction
    proof: Proof
    reason: str


@dataclass(frozen=True)
class TernaryBoundProblem:
    """Codebooks of k rows and at most L distinct columns of +1, -1 and 0.

    A column that uses w classes costs (the sum of their sizes)^theta, rounded to six places.

    Parameters
    ----------
    n_classes, n_columns : int
        The number of rows, k, and the most columns allowed, L.
    max_support : int
        The most classes that a column uses.
    goal : {"cover", "errors", "distance", "weighted"}, default="cover"
        What is bounded: the least number of columns that set a pair of classes apart; the
        errors that are surely corrected; the least row distance, in which 0 counts 1/2; or the
        least sum of the ease of the columns that set a pair apart, over the pair's demand,
        rounded down to six places.
    exponent : Fraction, default=1
        theta.
    budget : Fraction, optional
        What all columns may cost together.
    class_sizes : tuple of int, optional
        The size of each class; 1 each by default.
    demands, similarity : tuple of tuples of Fraction, optional
        For the weighted goal: the demand of each pair, and how alike its classes are. The ease
        of a column is 1 less the mean similarity of the pairs that it sets apart.

    Examples
    --------
    >>> problem = TernaryBoundProblem(4, 6, 3)
    >>> list(problem.kinds())  # classes on the two sides, and how many columns have them
    [(1, 1, 6), (1, 2, 12)]
    >>> problem.least_cost(3)
    Fraction(3, 1)
    """

    n_classes: int
    n_columns: int
    max_support: int
    goal: str = "cover"
    exponent: Fraction = Fraction(1)
    budget: Fraction | None = None
    class_sizes: tuple[int, ...] | None = None
    demands: tuple[tuple[Fraction, ...], ...] | None = None
    similarity: tuple[tuple[Fraction, ...], ...] | None = None

    @property
    def n_pairs(self) -> int:
        """The number of pairs of rows."""
        return comb(self.n_classes, 2)

    def kinds(self) -> Iterator[tuple[int, int, int]]:
        """Produce the sizes of the smaller and the larger side, and how many columns have them."""
        k = self.n_classes
        for small in range(1, self.max_support // 2 + 1):
            for large in range(small, self.max_support - small + 1):
                count = comb(k, small) * comb(k - small, large)
                yield small, large, count // 2 if small == large else count

    @property
    def weights(self) -> set[Fraction]:
        """The demands of pairs."""
        if self.demands is None:
            return {Fraction(1)}
        return {self.demands[p][q] for p, q in combinations(range(self.n_classes), 2)}

    @property
    def parts_of_covers(self) -> int:
        """A number of parts of 1, of which every sum of the ease of columns has a whole number."""
        if self.similarity is None:
            return 1
        alike = (self.similarity[p][q] for p, q in combinations(range(self.n_classes), 2))
        sides = (small * large for small, large, _ in self.kinds())
        return lcm(*(entry.denominator for entry in alike)) * lcm(*sides)

    def cost(self, size: int) -> Fraction:
        """Return what a column costs whose classes have so many data points together."""
        return _power(size, self.exponent)

    def least_cost(self, support: int) -> Fraction:
        """Return what a column that uses so many classes costs at least."""
        if self.class_sizes is None:
            return self.cost(support)
        return self.cost(sum(sorted(self.class_sizes)[:support]))

    def excluded(self, value: Fraction) -> int:
        """Return the least whole goal that a bound of this value excludes.

        Goals are counted in columns; distances in halves. A codebook that surely corrects e
        errors sets every pair apart in more than 2 e columns.
        """
        if self.goal == "errors":
            return 2 * int(value) + 3
        return int(2 * value if self.goal == "distance" else value) + 1

    def reached(self, target: int) -> Fraction:
        """Return the largest value of a codebook that does not reach a target."""
        if self.goal == "errors":
            return Fraction(max(0, (target - 2) // 2))
        return Fraction(target - 1, 2 if self.goal == "distance" else 1)


@lru_cache(maxsize=1 << 14)
def _power(size: int, exponent: Fraction) -> Fraction:
    """Return size^exponent rounded to six places, the same on every machine.

    The powers of floating point differ in their last bits, which large costs show.
    """
    context = Context(prec=30 + len(str(size)) * ceil(exponent))
    theta = context.divide(Decimal(exponent.numerator), Decimal(exponent.denominator))
    power = context.power(Decimal(size), theta)
    return Fraction(power.quantize(Decimal("1e-6"), context=context))


def exact_targets(targets: npt.ArrayLike) -> list[list[Fraction]]:
    """Return targets as exact numbers, after checking that they are a symmetric matrix.

    A float is the decimal that is written for it.

    Examples
    --------
    >>> exact_targets([[0, 1.3], [1.3, 0]])[0][1]
    Fraction(13, 10)
    """
    matrix = check_matrix("targets", targets)
    if matrix.shape[0] != matrix.shape[1] or matrix.shape[0] < 2:
        raise InvalidInputError(
            "targets must be a square matrix with a row and a column for each of at least 2 "
            f"classes, not of shape {matrix.shape}."
        )
    off_diagonal = matrix[~np.eye(len(matrix), dtype=bool)]
    if not (np.isfinite(off_diagonal).all() and (np.abs(off_diagonal) <= 1e6).all()):
        raise InvalidInputError("targets must be finite and of reasonable size (up to 1e6).")
    matrix = np.where(np.eye(len(matrix), dtype=bool), 0.0, matrix)
    if not np.array_equal(matrix, matrix.T):
        raise InvalidInputError("targets must be symmetric.")
    exact = [[Fraction(str(entry)) for entry in row] for row in matrix.tolist()]
    if any(entry.denominator > 10**_MAX_PLACES for row in exact for entry in row):
        raise InvalidInputError(
            f"targets must have at most {_MAX_PLACES} decimal places. Round them first."
        )
    return exact
