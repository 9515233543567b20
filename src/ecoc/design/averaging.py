"""Limits on the smallest distance that follow from the sum of all distances."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

import numpy as np
import numpy.typing as npt

__all__ = ["averaging_limit", "columns_by_weight", "largest_total", "parity_matters"]


def columns_by_weight(columns: npt.NDArray[np.int64], n_classes: int) -> list[int]:
    """Count the columns that part w classes from class 0, for w = 0, ..., k - 1.

    Examples
    --------
    >>> columns_by_weight(np.array([1, 2, 3]), n_classes=3)
    [0, 2, 1]
    """
    counts = np.bincount(np.bitwise_count(columns), minlength=n_classes)
    return [int(count) for count in counts]


def largest_total(counts: Sequence[int], n_classes: int, n_columns: int) -> int:
    """Return the largest sum of distances over all pairs of classes.

    A column that parts w classes from the others adds w (k - w) to it.
    """
    total, left = 0, n_columns
    for w in sorted(range(n_classes), key=lambda w: -w * (n_classes - w)):
        used = min(left, counts[w])
        total += used * w * (n_classes - w)
        left -= used
    return total


def averaging_limit(counts: Sequence[int], n_classes: int, n_columns: int) -> int:
    """Return an upper bound on the smallest distance: the average, and parity.

    The classes fall in two parts by the parity of their distance to class 0. Within a part
    all distances are even, so if the smallest distance is odd, those are larger by at least
    1. This is the bound of Plotkin with A(n, 2t - 1) = A(n + 1, 2t).

    Examples
    --------
    >>> averaging_limit([0, 9, 36, 84, 126, 126, 84, 36, 9, 1], n_classes=10, n_columns=20)
    10
    """
    total = largest_total(counts, n_classes, n_columns)
    limit = total // comb(n_classes, 2)
    even_pairs = comb(n_classes // 2, 2) + comb((n_classes + 1) // 2, 2)
    if limit % 2 and limit * comb(n_classes, 2) + even_pairs > total:
        limit -= 1
    return limit


def parity_matters(counts: Sequence[int], n_classes: int, n_columns: int) -> bool:
    """Tell whether parity makes the limit smaller than the average alone."""
    average = largest_total(counts, n_classes, n_columns) // comb(n_classes, 2)
    return averaging_limit(counts, n_classes, n_columns) < average
