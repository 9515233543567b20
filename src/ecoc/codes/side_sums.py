"""What class sizes allow of columns, counted without looking at every column.

The classes are taken in two halves. Whatever one half has on its side, a sorted list of
what the other half can have tells how often the two together stay within a limit, so that
26 classes take two lists of some thousand sums and not 33 million columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

__all__ = ["column_counts_by_weight", "least_difference", "separable_pairs"]

Sums = npt.NDArray[np.int64]


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


def _signed(sizes: Sequence[int]) -> Sums:
    sums = np.zeros(1, dtype=np.int64)
    for size in sizes:
        sums = np.concatenate([sums - size, sums + size])
    return sums


def _by_weight(sizes: Sequence[int]) -> list[Sums]:
    """The sums of subsets, sorted, by how many classes are in them."""
    sums: Sums = np.zeros(1, dtype=np.int64)
    weights: Sums = np.zeros(1, dtype=np.int64)
    for size in sizes:
        sums = np.concatenate([sums, sums + size])
        weights = np.concatenate([weights, weights + 1])
    return [np.sort(sums[weights == weight]) for weight in range(len(sizes) + 1)]
