"""A lower bound on the deviation from target distances (equation 19 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int
from ecoc.bounds.problem import BoundProblem, TargetBound, exact_targets

__all__ = ["target_bound"]

_MAX_GROUP = 18
_GROUP = 10


def target_bound(n_columns: int, targets: npt.ArrayLike) -> TargetBound:
    """Bound the sum of abs(d_pq - target_pq) over pairs of rows from below.

    Two arguments, the better of which is returned. *Cut*: the parities of row distances are
    those of a cut of the class set (see :func:`parity_bound`), so the deviation is at least
    the least, over all cuts, of the distances of targets to the nearest numbers of the right
    parity between 0 and L. Up to 18 classes all cuts are tried; beyond, cuts of groups of 10
    classes, and pairs across groups may have any parity. *Sum*: L columns separate only so
    many pairs in all, and targets may ask for more.

    Parameters
    ----------
    n_columns : int
        The most columns allowed, L.
    targets : array of shape (n_classes, n_classes)
        The targets; symmetric, the diagonal is not used.

    Returns
    -------
    TargetBound
        The bound, zero if neither argument gives more.

    Examples
    --------
    >>> target_bound(4, [[0, 1, 1], [1, 0, 1], [1, 1, 0]])
    TargetBound(name='cut', value=Fraction(1, 1), proof={'denominator': 1, 'groups': [[0, 1, 2]]},
                reason='row distances have the parities of a cut of the classes, and no cut fits
                the targets better.')
    """
    n_columns = check_int("n_columns", n_columns, minimum=1)
    exact = exact_targets(targets)
    k = len(exact)
    pairs = [exact[p][q] for q in range(k) for p in range(q)]
    most = BoundProblem(k, n_columns).largest_sum(n_columns)
    excess = sum(pairs, Fraction(0)) - most

    denominator = lcm(*(target.denominator for target in pairs))
    step = k if k <= _MAX_GROUP else _GROUP
    groups = [list(range(start, min(start + step, k))) for start in range(0, k, step)]
    costs = _parity_costs(exact, n_columns, denominator)
    inside = sum(_least_cut(costs[:, group][:, :, group]) for group in groups)
    group_of = np.arange(k) // step
    across = costs.min(axis=0)[group_of[:, None] < group_of].sum()
    cut = Fraction(int(inside) + int(across), denominator)

    if excess > cut:
        return TargetBound(
            "sum",
            excess,
            {"largest_sum": most},
            f"{n_columns} columns separate at most {most} pairs in all, fewer than the targets.",
        )
    return TargetBound(
        "cut",
        cut,
        {"denominator": denominator, "groups": groups},
        "row distances have the parities of a cut of the classes, and no cut fits the targets "
        "better.",
    )


def _parity_costs(
    targets: Sequence[Sequence[Fraction]], n_columns: int, denominator: int
) -> npt.NDArray[Any]:
    """Return, for even and odd distances, the least deviations in units of 1/denominator."""
    k = len(targets)
    farthest = max(n_columns, *(int(entry) + 1 for row in targets for entry in row))
    # Sums over pairs stay exact in either type; the second one is slower.
    fits = farthest * denominator * k * k < 1 << 62
    costs = np.zeros((2, k, k), dtype=np.int64 if fits else object)
    for q in range(k):
        for p in range(q):
            for parity in range(2):
                deviation = _deviation(targets[p][q], parity, n_columns)
                costs[parity, p, q] = costs[parity, q, p] = int(deviation * denominator)
    return costs


def _deviation(target: Fraction, parity: int, n_columns: int) -> Fraction:
    highest = n_columns - (n_columns - parity) % 2
    below = min(highest, max(parity, int((target - parity) // 2) * 2 + parity))
    above = min(highest, below + 2)
    return min(abs(target - below), abs(target - above))


def _least_cut(costs: npt.NDArray[Any]) -> int:
    """Return the least cost over all cuts, the first class on a fixed side."""
    even, odd = costs
    totals = np.zeros(1, dtype=costs.dtype)
    for p in range(1, even.shape[0]):
        # Entry s of `extra`: what class p adds on side 0, the others standing as the bits of s.
        extra = np.array([even[0, p]], dtype=costs.dtype)
        flipped = np.array([odd[0, p]], dtype=costs.dtype)
        for q in range(1, p):
            extra = np.concatenate((extra + even[q, p], extra + odd[q, p]))
            flipped = np.concatenate((flipped + odd[q, p], flipped + even[q, p]))
        totals = np.concatenate((totals + extra, totals + flipped))
    return int(totals.min())
