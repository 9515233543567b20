"""All bounds of a problem together, and the best of them."""

from __future__ import annotations

from dataclasses import replace

from ecoc.bounds.columns import column_limit, inner_product_bound
from ecoc.bounds.pairs import pair_bound
from ecoc.bounds.problem import SOURCE, Bound, BoundProblem, Proof
from ecoc.bounds.rows import averaging_bound, parity_bound, words_bound

__all__ = ["all_bounds", "best_bound"]

_SIMPLEST_FIRST = (
    "averaging",
    "parity",
    "plotkin",
    "singleton",
    "hamming",
    "inner-products",
    "johnson",
    "delsarte",
    "pairs",
    "known",
)


def all_bounds(problem: BoundProblem) -> list[Bound]:
    """Return the best bound of each kind, the lowest first and the simplest of equals.

    Expensive arguments (johnson, delsarte, pairs) and published values (known) are listed only
    where they are below all that is simpler.

    Examples
    --------
    >>> [(bound.name, bound.value) for bound in all_bounds(BoundProblem(50, 13))]
    [('plotkin', 5), ('averaging', 6), ('parity', 6), ('hamming', 6), ('singleton', 8)]
    """
    packing = column_limit(problem)
    bounds = _bounds(problem, None)
    if packing is not None:
        bounds += _bounds(problem, packing)
    if _columns_are_scarce(problem):
        bound = pair_bound(problem, packing, below=min(bound.value for bound in bounds))
        bounds += [] if bound is None else [bound]
    by_table = column_limit(problem, cited=True)
    if by_table is not None and by_table != packing:
        bounds += [replace(bound, cited=SOURCE) for bound in _bounds(problem, by_table)]
    lowest = min(bound.value for bound in bounds)
    for limit in (None, packing):
        bound = words_bound(problem, "known", limit, below=lowest)
        if bound is not None:
            bounds.append(bound)
            lowest = bound.value

    kept: dict[tuple[str, bool], Bound] = {}
    for bound in sorted(bounds, key=_order):
        kept.setdefault((bound.name, bound.cited is None), bound)
    proved = {bound.name: bound.value for bound in kept.values() if bound.cited is None}
    return [
        bound
        for bound in kept.values()
        if bound.cited is None or bound.value < proved.get(bound.name, bound.value + 1)
    ]


def best_bound(problem: BoundProblem, *, cited: bool = False) -> Bound:
    """Return the lowest bound, the simplest of equals.

    Parameters
    ----------
    problem : BoundProblem
        The problem.
    cited : bool, default=False
        Whether the bound may rest on published values of A(n, d) without proof.

    Examples
    --------
    >>> best_bound(BoundProblem(15, 30))
    Bound(name='averaging', value=16, proof={'n_columns': 30, 'largest_sum': 1680},
          reason='30 columns separate at most 1680 pairs of rows in all, and 105 pairs share
          them.', cited=None)
    >>> best_bound(BoundProblem(38, 17)).value, best_bound(BoundProblem(38, 17), cited=True).value
    (8, 7)
    """
    return next(bound for bound in all_bounds(problem) if cited or bound.cited is None)


def _bounds(problem: BoundProblem, packing: Proof | None) -> list[Bound]:
    """Return the bounds that hold with at most as many columns as a packing proof leaves."""
    arguments: list[Bound | None] = [
        averaging_bound(problem, packing),
        parity_bound(problem, packing),
        *(words_bound(problem, name, packing) for name in ("plotkin", "singleton", "hamming")),
    ]
    if packing is None:
        arguments.append(inner_product_bound(problem))
    bounds = [bound for bound in arguments if bound is not None]
    for name in ("johnson", "delsarte"):
        lowest = min(bound.value for bound in bounds)
        bound = words_bound(problem, name, packing, below=lowest)
        if bound is not None:
            bounds.append(bound)
    return bounds


def _columns_are_scarce(problem: BoundProblem) -> bool:
    """Tell whether it can matter which columns there are, not only how many."""
    if problem.separation == "two-sided" and problem.min_column_distance > 1:
        return True
    return problem.n_admissible(4 * problem.n_columns) < 4 * problem.n_columns


def _order(bound: Bound) -> tuple[int, bool, bool, int]:
    return (
        bound.value,
        bound.cited is not None,
        "packing" in bound.proof,
        _SIMPLEST_FIRST.index(bound.name),
    )
