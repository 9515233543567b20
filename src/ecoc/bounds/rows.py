"""Bounds from the number of rows: too many words for their length and distance."""

from __future__ import annotations

from ecoc._checks import check_choice
from ecoc.bounds.delsarte import delsarte
from ecoc.bounds.known import SOURCE
from ecoc.bounds.problem import Bound, BoundProblem, Proof
from ecoc.bounds.sums import columns_proof, parity_bound
from ecoc.bounds.words import Argument, Words, hamming, johnson, known, plotkin, singleton

__all__ = ["ROW_ARGUMENTS", "words_bound"]

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
        f"at most {words['size']} rows of length {n} have pairwise distances of at least "
        f"{distance} ({name}).",
        SOURCE if name == "known" else None,
    )


def _elementary_value(problem: BoundProblem, packing: Proof | None) -> int:
    bounds = [words_bound(problem, name, packing) for name in _ELEMENTARY]
    values = [bound.value for bound in bounds if bound is not None]
    return min(parity_bound(problem, packing).value, *values, problem.n_columns)
