"""Bounds on the row distance: by the sum of all distances, and by how many words fit."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb, lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice, check_int, counted
from ecoc.bounds.problem import SOURCE, Bound, BoundProblem, Proof, TargetBound, exact_targets
from ecoc.bounds.words import Argument, Words, delsarte, hamming, johnson, known, plotkin, singleton

__all__ = [
    "ROW_ARGUMENTS",
    "averaging_bound",
    "averaging_reason",
    "columns_proof",
    "parity_bound",
    "target_bound",
    "words_bound",
]


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
            f"{_separate(n_columns, most)} in all, fewer than the targets.",
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


ROW_ARGUMENTS: dict[str, Argument] = {
    "plotkin": plotkin,
    "singleton": singleton,
    "hamming": hamming,
    "johnson": johnson,
    "delsarte": delsarte,
    "known": known,
}
"""The arguments by name, the simplest first."""

_ELEMENTARY = ("plotkin", "singleton", "hamming")


def words_bound(
    problem: BoundProblem,
    name: str,
    packing: Proof | None = None,
    *,
    below: int | None = None,
) -> Bound | None:
    """Bound the least row distance by the number of words of length L at a distance.

    Parameters
    ----------
    problem : BoundProblem
        The problem.
    name : {"plotkin", "singleton", "hamming", "johnson", "delsarte", "known"}
        The argument. The last is a published value, not a proof.
    packing : dict, optional
        A proof from :func:`column_limit` that fewer columns than L fit.
    below : int, optional
        For the last three arguments: only bounds below this are looked for. By default,
        below those of :func:`parity_bound` and of the first three arguments.

    Returns
    -------
    Bound or None
        None where the argument proves nothing (or nothing below).

    Examples
    --------
    >>> words_bound(BoundProblem(16, 7), "hamming").value
    3
    >>> words_bound(BoundProblem(1000, 63), "delsarte").value
    28
    """
    argument = ROW_ARGUMENTS[check_choice("name", name, ROW_ARGUMENTS)]
    proof = columns_proof(problem, packing)
    n, k = proof["n_columns"], problem.n_classes

    def refute(distance: int) -> Proof | None:
        return argument(Words(n, distance, n), k)

    if name in _ELEMENTARY:
        # What these refute at a distance they refute at every larger one.
        low, high = 1, n + 1
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if refute(middle) else (middle + 1, high)
        distance = low
    else:
        top = _elementary_value(problem, packing) if below is None else below
        distance = min(n, top) + 1
        while distance > 1 and refute(distance - 1):
            distance -= 1
        if distance > top:
            return None
    words = refute(distance) if distance <= n else None
    if words is None:
        return None
    return Bound(
        name,
        distance - 1,
        proof | {"words": words},
        f"at most {counted(words['size'], 'row')} of length {n} have pairwise distances of at "
        f"least {distance} ({name}).",
        SOURCE if name == "known" else None,
    )


def _elementary_value(problem: BoundProblem, packing: Proof | None) -> int:
    bounds = [words_bound(problem, name, packing) for name in _ELEMENTARY]
    values = [bound.value for bound in bounds if bound is not None]
    return min(parity_bound(problem, packing).value, *values, problem.n_columns)


def columns_proof(problem: BoundProblem, packing: Proof | None) -> Proof:
    """Return how many columns a codebook can have, and why not the L that are allowed."""
    if packing is None:
        return {"n_columns": problem.n_columns}
    return {"n_columns": packing["size"], "packing": packing}


def averaging_bound(problem: BoundProblem, packing: Proof | None = None) -> Bound:
    """Bound the least row distance by the average (Plotkin 1960).

    The bound is the value of the linear relaxation of the paper's integer programs without
    column separation: they are symmetric under permutations of the rows, so an optimal
    fractional choice depends on the sizes of columns alone and makes all distances equal.

    Parameters
    ----------
    problem : BoundProblem
        The problem.
    packing : dict, optional
        A proof from :func:`column_limit` that fewer columns than L fit.

    Returns
    -------
    Bound
        The largest sum of distances over the number of pairs, rounded down.

    Examples
    --------
    >>> averaging_bound(BoundProblem(17, 34)).value
    18
    >>> averaging_bound(BoundProblem(14, 28)).value
    15
    """
    proof = columns_proof(problem, packing)
    total = problem.largest_sum(proof["n_columns"])
    return Bound(
        "averaging",
        total // problem.n_pairs,
        proof | {"largest_sum": total},
        averaging_reason(proof["n_columns"], total, problem.n_pairs),
    )


def averaging_reason(n_columns: int, total: int, n_pairs: int) -> str:
    """Say why the average distance of rows is bounded.

    Examples
    --------
    >>> averaging_reason(1, 1, 1)
    '1 column separates at most 1 pair of rows in all, and 1 pair shares them.'
    """
    sharing = counted(n_pairs, "pair shares", "pairs share")
    return f"{_separate(n_columns, total)} of rows in all, and {sharing} them."


def _separate(n_columns: int, most: int) -> str:
    columns = counted(n_columns, "column separates", "columns separate")
    return f"{columns} at most {counted(most, 'pair')}"


def parity_bound(problem: BoundProblem, packing: Proof | None = None) -> Bound:
    """Bound the least row distance by the average, given that distances have a parity.

    Rows with an even and with an odd number of -1 form two parts; distances within a part
    are even and distances across are odd. If all are at least d, those of the other parity
    than d are at least d + 1. For even d one part can be empty; for odd d the parts are best
    equal, which is the extension by a parity column, A(N, 2t - 1) = A(N + 1, 2t).

    Leaving out few of all 2^(k-1) - 1 columns, which have equal row distances, gives nothing
    more: the columns left out have the same parities, and their least sum of distances is
    what the largest sum lacks.

    Examples
    --------
    >>> [parity_bound(BoundProblem(k, 2 * k)).value for k in range(10, 19)]
    [10, 12, 12, 14, 14, 16, 16, 18, 18]
    """
    proof = columns_proof(problem, packing)
    total = problem.largest_sum(proof["n_columns"])
    value = total // problem.n_pairs
    while least_sum(problem.n_classes, value) > total:
        value -= 1
    needed = least_sum(problem.n_classes, value + 1)
    return Bound(
        "parity",
        value,
        proof | {"largest_sum": total, "needed_sum": needed},
        f"distances of at least {value + 1} with their parities add up to at least {needed}, "
        f"and {counted(proof['n_columns'], 'column gives', 'columns give')} at most {total}.",
    )


def least_sum(n_classes: int, distance: int) -> int:
    """Return the least sum of row distances that are all at least `distance`.

    Examples
    --------
    >>> least_sum(5, 6), least_sum(5, 7)
    (60, 74)
    """
    half = n_classes // 2
    of_other_parity = comb(half, 2) + comb(n_classes - half, 2) if distance % 2 else 0
    return comb(n_classes, 2) * distance + of_other_parity
