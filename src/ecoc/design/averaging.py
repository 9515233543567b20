"""Limits on the smallest distance that follow from the sum of all distances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecoc.bounds import BoundProblem, averaging_bound, parity_bound

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
    """Return the largest sum of distances over all pairs of classes."""
    return _problem(counts, n_classes, n_columns).largest_sum(n_columns)


def averaging_limit(counts: Sequence[int], n_classes: int, n_columns: int) -> int:
    """Return an upper bound on the smallest distance: the average, and parity.

    Examples
    --------
    >>> averaging_limit([0, 9, 36, 84, 126, 126, 84, 36, 9, 1], n_classes=10, n_columns=20)
    10
    """
    return parity_bound(_problem(counts, n_classes, n_columns)).value if n_columns else 0


def parity_matters(counts: Sequence[int], n_classes: int, n_columns: int) -> bool:
    """Tell whether parity makes the limit smaller than the average alone."""
    average = averaging_bound(_problem(counts, n_classes, n_columns)).value
    return averaging_limit(counts, n_classes, n_columns) < average


def _problem(counts: Sequence[int], n_classes: int, n_columns: int) -> BoundProblem:
    sides = [
        counts[s] + (counts[n_classes - s] if 2 * s < n_classes else 0)
        for s in range(1, n_classes // 2 + 1)
    ]
    return BoundProblem(n_classes, max(1, n_columns), tuple(sides))
