"""What is to be bounded for codebooks of several symbols."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from heapq import heappop, heappush
from math import comb, factorial

from ecoc._checks import check_int
from ecoc.errors import InvalidInputError

__all__ = ["SymbolBoundProblem", "balanced_separation"]


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
            object.__setattr__(self, "column_counts", _check_counts(self.column_counts, k))

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


def _check_counts(
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
