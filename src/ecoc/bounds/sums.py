"""Bounds from the sum of all row distances: averaging, and averaging with parity."""

from __future__ import annotations

from math import comb

from ecoc.bounds.problem import Bound, BoundProblem, Proof

__all__ = ["averaging_bound", "columns_proof", "parity_bound"]


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
        f"{proof['n_columns']} columns separate at most {total} pairs of rows in all, "
        f"and {problem.n_pairs} pairs share them.",
    )


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
        f"and {proof['n_columns']} columns give at most {total}.",
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
