"""Candidate columns of a binary codebook, as integers.

A column splits the k classes in two. It is written as an integer whose bit i
tells whether class i + 1 stands on the other side than class 0, so that

* the columns are 1, ..., 2^(k-1) - 1: class 0 always has +1, a column and its
  complement are the same integer, and the constant column (0) is left out;
* the distance of two columns is the number of ones in their exclusive or.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import comb

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_class_sizes, check_int, check_number
from ecoc._limits import check_deadline
from ecoc._typing import Ints
from ecoc.errors import InvalidInputError, TooLargeError

__all__ = [
    "MAX_CLASSES",
    "Dichotomies",
    "column_counts_by_weight",
    "columns_to_matrix",
    "least_difference",
    "matrix_to_columns",
    "separable_pairs",
]


MAX_CLASSES = 63
"""The most classes whose columns fit in a 64-bit integer."""

_BLOCK = 1 << 16


def columns_to_matrix(columns: npt.ArrayLike, n_classes: int) -> npt.NDArray[np.int8]:
    """Write integer columns as a k x L matrix of +1 and -1 with +1 in the first row.

    Examples
    --------
    >>> columns_to_matrix([1, 6], n_classes=4)
    array([[ 1,  1],
           [-1,  1],
           [ 1, -1],
           [ 1, -1]], dtype=int8)
    """
    n_classes = check_int("n_classes", n_classes, minimum=2, maximum=MAX_CLASSES)
    values = np.asarray(columns, dtype=np.int64)
    last = (1 << (n_classes - 1)) - 1
    if values.size and not 0 <= values.min() <= values.max() <= last:
        raise InvalidInputError(
            f"columns of {n_classes} classes must be integers from 0 to {last}."
        )
    matrix = np.ones((n_classes, values.size), dtype=np.int8)
    for i in range(n_classes - 1):
        matrix[i + 1] -= 2 * ((values >> i) & 1).astype(np.int8)
    return matrix


def matrix_to_columns(matrix: npt.ArrayLike) -> Ints:
    """Write the columns of a +1/-1 matrix as integers; complements become equal.

    Examples
    --------
    >>> matrix_to_columns([[1, -1], [-1, -1], [1, 1], [1, 1]])
    array([1, 6])
    """
    entries = np.asarray(matrix, dtype=np.int8)
    if entries.ndim != 2 or not np.isin(entries, (-1, 1)).all():
        raise InvalidInputError("matrix must be two-dimensional with entries +1 and -1.")
    check_int("the number of rows", entries.shape[0], minimum=2, maximum=MAX_CLASSES)
    differs = entries[1:] != entries[0]
    weights = np.int64(1) << np.arange(entries.shape[0] - 1, dtype=np.int64)
    columns: Ints = weights @ differs.astype(np.int64)
    return columns


@dataclass(frozen=True)
class Dichotomies:
    """All columns of k classes, or those balanced enough, in increasing order.

    Nothing is stored: columns are counted in closed form and produced in blocks.

    Parameters
    ----------
    n_classes : int
        The number of classes, k.
    max_imbalance : float, optional
        Keep a column only if the two sides differ by at most this share of the
        whole: abs(sum of n_p m_p) <= max_imbalance * sum of n_p, where n_p is the
        size of class p. 0 asks for equal halves, 1 (or None) keeps every column.
    class_sizes : sequence of int, optional
        The number of data points of each class. Every class counts 1 by default.

    Examples
    --------
    >>> len(Dichotomies(10))
    511
    >>> Dichotomies(4, max_imbalance=0).to_array()
    array([3, 5, 6])
    """

    n_classes: int
    max_imbalance: float | None = None
    class_sizes: Sequence[int] | None = None

    def __post_init__(self) -> None:
        check_int("n_classes", self.n_classes, minimum=2, maximum=MAX_CLASSES)
        if self.max_imbalance is not None:
            check_number("max_imbalance", self.max_imbalance, minimum=0, maximum=1)
        if self.class_sizes is not None:
            sizes = check_class_sizes(self.class_sizes, self.n_classes)
            object.__setattr__(self, "class_sizes", sizes)

    @property
    def is_filtered(self) -> bool:
        """Whether the balance rule excludes anything."""
        return self.max_imbalance is not None and self._limit < self._total

    def __len__(self) -> int:
        if not self.is_filtered:
            return (1 << (self.n_classes - 1)) - 1
        if self.class_sizes is None:
            n = self.n_classes - 1
            return sum(
                comb(n, ones)
                for ones in range(1, n + 1)
                if abs(self.n_classes - 2 * ones) <= self._limit
            )
        return sum(block.size for block in self.blocks())

    def __iter__(self) -> Iterator[int]:
        for block in self.blocks():
            yield from block.tolist()

    def blocks(self, size: int = _BLOCK) -> Iterator[Ints]:
        """Produce the columns in increasing order, at most `size` tried at a time."""
        size = check_int("size", size, minimum=1)
        end = 1 << (self.n_classes - 1)
        for start in range(1, end, size):
            check_deadline()
            block: Ints = np.arange(start, min(start + size, end), dtype=np.int64)
            yield block[self.admits(block)] if self.is_filtered else block

    def to_array(self, max_columns: int = 1 << 26) -> Ints:
        """All columns in one array; refused before any work if all of them are too many."""
        if self.n_classes - 1 > 40 or (1 << (self.n_classes - 1)) > max_columns:
            raise TooLargeError(
                f"{self.n_classes} classes have 2^{self.n_classes - 1} - 1 columns, more than "
                f"the {max_columns} allowed here. Use blocks(), or fewer classes."
            )
        blocks = list(self.blocks())
        return np.concatenate(blocks)

    def admits(self, columns: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Tell for each column whether the balance rule admits it."""
        values = np.asarray(columns, dtype=np.int64)
        if not self.is_filtered:
            return (values > 0) & (values < 1 << (self.n_classes - 1))
        sizes = self.class_sizes or (1,) * self.n_classes
        other_side = np.zeros(values.shape, dtype=np.int64)
        for i, size in enumerate(sizes[1:]):
            other_side += ((values >> i) & 1) * size
        admitted: npt.NDArray[np.bool_] = np.abs(self._total - 2 * other_side) <= self._limit
        return admitted & (values > 0) & (values < 1 << (self.n_classes - 1))

    @property
    def _total(self) -> int:
        return sum(self.class_sizes) if self.class_sizes is not None else self.n_classes

    @property
    def _limit(self) -> int:
        # The share is taken as the decimal the user wrote, so that 0.1 of 30 is exactly 3.
        share = Fraction(str(1 if self.max_imbalance is None else self.max_imbalance))
        return int(share * self._total)


@lru_cache(maxsize=16)
def column_counts_by_weight(sizes: tuple[int, ...], limit: int) -> tuple[int, ...]:
    """Count the columns whose sides differ by at most `limit`, by what they part from class 0.

    Parameters
    ----------
    sizes : tuple of int
        The size of each class.
    limit : int
        The largest difference of the two sides.

    Returns
    -------
    tuple of int
        Entry w counts the columns with w classes on the other side than class 0, for w from
        0 to k - 1; there is none for w = 0.

    Examples
    --------
    >>> column_counts_by_weight((1, 1, 1, 1), 0)
    (0, 0, 3, 0)
    """
    total, others = sum(sizes), sizes[1:]
    first, second = (_by_weight(half) for half in (others[::2], others[1::2]))
    least, most = -((limit - total) // 2), (total + limit) // 2
    counts = [0] * len(sizes)
    for i, left in enumerate(first):
        for j, right in enumerate(second):
            below = np.searchsorted(left, most - right, side="right")
            counts[i + j] += int((below - np.searchsorted(left, least - right)).sum())
    counts[0] = 0
    return tuple(counts)


def least_difference(sizes: Sequence[int]) -> int:
    """The smallest difference that the two sides of a column can have.

    Examples
    --------
    >>> least_difference([5, 2, 2])
    1
    """
    return _nearest(tuple(sizes[1:]), sizes[0])


def separable_pairs(sizes: Sequence[int], limit: int) -> npt.NDArray[np.bool_]:
    """For each pair of classes, whether some column within the limit has them on two sides.

    Examples
    --------
    >>> separable_pairs([2, 1, 1], 0)
    array([[False,  True,  True],
           [ True, False, False],
           [ True, False, False]])
    """
    k = len(sizes)
    apart = np.zeros((k, k), dtype=np.bool_)
    known: dict[tuple[int, int], bool] = {}
    for p in range(k):
        for q in range(p):
            pair = (min(sizes[p], sizes[q]), max(sizes[p], sizes[q]))
            if pair not in known:
                rest = tuple(size for i, size in enumerate(sizes) if i not in (p, q))
                known[pair] = _nearest(rest, pair[1] - pair[0]) <= limit
            apart[p, q] = apart[q, p] = known[pair]
    return apart


def _nearest(sizes: tuple[int, ...], offset: int) -> int:
    """The smallest absolute value of `offset` plus or minus each size."""
    first, second = (np.sort(_signed(half)) for half in (sizes[::2], sizes[1::2]))
    wanted = -offset - second
    place = np.searchsorted(first, wanted)
    above = first[np.minimum(place, first.size - 1)]
    below = first[np.maximum(place - 1, 0)]
    return int(min(np.abs(above - wanted).min(), np.abs(below - wanted).min()))


def _signed(sizes: Sequence[int]) -> Ints:
    sums = np.zeros(1, dtype=np.int64)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _by_weight(sizes: Sequence[int]) -> list[Ints]:
    """The sums of subsets, sorted, by how many classes are in them."""
    sums: Ints = np.zeros(1, dtype=np.int64)
    weights: Ints = np.zeros(1, dtype=np.int64)
    for size in sizes:
        sums = np.concatenate([sums, sums + size])
        weights = np.concatenate([weights, weights + 1])
    return [np.sort(sums[weights == weight]) for weight in range(len(sizes) + 1)]
