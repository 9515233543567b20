"""How many columns fit, given their separation, and the largest separation of so many."""

from __future__ import annotations

from collections.abc import Callable

from ecoc._checks import check_int
from ecoc.bounds.delsarte import delsarte
from ecoc.bounds.inner_products import inner_product_refutation, tight_distance
from ecoc.bounds.known import SOURCE
from ecoc.bounds.problem import Bound, BoundProblem, Proof
from ecoc.bounds.words import ELEMENTARY, Words, johnson, known

__all__ = ["column_limit", "fewer_words", "separation_bound"]


def column_limit(problem: BoundProblem, *, cited: bool = False) -> Proof | None:
    """Prove that fewer columns than L fit, or return None.

    Columns with +1 for the first class are words of length k - 1, so that the bounds on the
    number of words apply; the two-sided rule adds Grey and Rankin's.

    Parameters
    ----------
    problem : BoundProblem
        The problem.
    cited : bool, default=False
        Whether published values of A(n, d) may be used without proof.

    Returns
    -------
    dict or None
        The proof; ``"size"`` is the number of columns that are not exceeded.

    Examples
    --------
    >>> column_limit(BoundProblem(8, 16, min_column_distance=3))["size"]
    10
    >>> column_limit(BoundProblem(10, 20, min_column_distance=3)) is None
    True
    """
    best: Proof | None = None
    count = problem.n_columns
    admissible = problem.n_admissible(count)
    if admissible < count:
        best, count = {"method": "count", "size": admissible}, admissible
    smallest, largest = problem.column_distances
    if (smallest, largest) == (1, problem.n_classes - 1):
        return best
    return fewer_words(Words(problem.n_classes - 1, smallest, largest), count, cited=cited) or best


def fewer_words(words: Words, count: int, *, cited: bool = False) -> Proof | None:
    """Return the best proof that fewer than `count` words fit, the simplest of equals.

    Examples
    --------
    >>> fewer_words(Words(16, 8, 16), 34)
    {'method': 'plotkin', 'size': 32, 'shortened': 1}
    """
    best: Proof | None = None
    for argument in (*ELEMENTARY, johnson, delsarte, *((known,) if cited else ())):
        found = argument(words, count)
        if found is not None:
            best, count = found, found["size"]
    return best


def separation_bound(
    n_classes: int,
    n_columns: int,
    separation: str = "two-sided",
    *,
    min_row_distance: int | None = None,
    cited: bool = False,
) -> Bound:
    """Bound the separation rho of exactly L columns of k classes.

    Parameters
    ----------
    n_classes, n_columns : int
        The number of classes, k, and of columns, L, at least 2.
    separation : {"two-sided", "one-sided", "literal"}, default="two-sided"
        The rule, see :class:`BoundProblem`.
    min_row_distance : int, optional
        The least row distance that the codebook must have. It helps under the two-sided
        rule where it is the average of all distances, such as k + 1 for odd k and L = 2k.
    cited : bool, default=False
        Whether published values of A(n, d) may be used without proof.

    Returns
    -------
    Bound
        L columns with a separation above the value do not exist.
        :func:`check_separation_bound` checks the proof.

    Examples
    --------
    >>> [separation_bound(k, 2 * k).value for k in range(10, 19)]
    [3, 4, 4, 4, 5, 6, 6, 6, 7]
    >>> [separation_bound(k, 2 * k, min_row_distance=k + 1).value for k in (11, 13, 15, 17)]
    [3, 4, 5, 6]
    """
    k = check_int("n_classes", n_classes, minimum=2)
    check_int("n_columns", n_columns, minimum=2)
    wanted = None
    if min_row_distance is not None:
        wanted = check_int("min_row_distance", min_row_distance, minimum=0)
    BoundProblem(k, n_columns, separation=separation)

    def words(rho: int) -> Words:
        problem = BoundProblem(k, n_columns, None, rho, separation)
        return Words(k - 1, *problem.column_distances)

    def elementary(rho: int) -> bool:
        return any(argument(words(rho), n_columns) for argument in ELEMENTARY)

    refuted = _first(elementary, 1, k)
    heavy = (johnson, delsarte, *((known,) if cited else ()))
    while refuted > 1 and any(argument(words(refuted - 1), n_columns) for argument in heavy):
        refuted -= 1
    proof: Proof = {"packing": fewer_words(words(refuted), n_columns, cited=cited)}
    reason = f"fewer than {n_columns} columns fit ({proof['packing']['method']})"

    if separation == "two-sided" and wanted == tight_distance(k, n_columns):
        while refuted > 1:
            polynomial = inner_product_refutation(k, n_columns, refuted - 1)
            if polynomial is None:
                break
            refuted -= 1
            proof = {"polynomial": polynomial}
            reason = f"row distances of {wanted} need larger inner products of columns"
    uses_table = proof.get("packing", {}).get("method") == "known"
    return Bound(
        "separation",
        refuted - 1,
        proof,
        f"at a separation of {refuted}, {reason}.",
        SOURCE if uses_table else None,
    )


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first number where a monotone condition holds, which it does at `high`."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low
