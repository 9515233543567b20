"""How many columns fit, given their separation, and the largest separation of so many.

Where averaging is met with equality, the inner products of columns decide whether it can be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import comb

from ecoc._checks import check_int, counted
from ecoc.bounds.problem import SOURCE, Bound, BoundProblem, Proof
from ecoc.bounds.words import ELEMENTARY, Words, delsarte, johnson, known

__all__ = [
    "column_limit",
    "fewer_words",
    "inner_product_bound",
    "inner_product_refutation",
    "separation_bound",
    "tight_distance",
]


def inner_product_bound(problem: BoundProblem) -> Bound | None:
    """Bound the least row distance below the average that columns cannot all attain.

    Returns
    -------
    Bound or None
        None unless averaging is met with equality, the rule is two-sided, and the inner
        products of columns are contradictory.

    Examples
    --------
    >>> inner_product_bound(BoundProblem(7, 14, min_column_distance=2)).value
    7
    """
    distance = tight_distance(problem.n_classes, problem.n_columns)
    if distance is None or problem.separation != "two-sided":
        return None
    polynomial = inner_product_refutation(
        problem.n_classes, problem.n_columns, problem.min_column_distance
    )
    if polynomial is None:
        return None
    return Bound(
        "inner-products",
        distance - 1,
        {"polynomial": polynomial},
        f"row distances of {distance} fix the inner products of columns to sums that a "
        f"separation of {problem.min_column_distance} does not allow.",
    )


def tight_distance(n_classes: int, n_columns: int) -> int | None:
    """Return the distance at which averaging holds with equality, if there is one.

    Examples
    --------
    >>> tight_distance(7, 14), tight_distance(8, 16)
    (8, None)
    """
    distance, rest = divmod(n_columns * (n_classes**2 // 4), comb(n_classes, 2))
    return None if rest else distance


def inner_product_refutation(n_classes: int, n_columns: int, rho: int) -> list[int] | None:
    """Return [a, b, c] with a + b h + c h^2 >= 0 at allowed h and a negative sum.

    Examples
    --------
    >>> inner_product_refutation(7, 14, 2)  # (h + 1) (3 - h) at h = -1 and 3
    [3, 2, -1]
    """
    distance = tight_distance(n_classes, n_columns)
    if distance is None:
        return None
    k, s = n_classes, n_classes % 2
    first = (2 * distance - n_columns) * s - k
    second = 2 * distance * k + (n_columns - 2 * distance) * s - k * k
    allowed = [h for h in range(-k, k + 1) if (h - k) % 4 == 0 and abs(h) <= k - 2 * rho]
    for a, b, c in _polynomials(allowed, signed=k % 2 == 1):
        if a * (n_columns - 1) + b * first + c * second < 0:
            return [a, b, c]
    return None


def _polynomials(allowed: list[int], *, signed: bool) -> Iterator[tuple[int, int, int]]:
    """Produce the polynomials that describe the convex hull of the points (h, h^2)."""
    if not allowed:
        yield -1, 0, 0
    elif signed:
        low, high = allowed[0], allowed[-1]
        yield -low * high, low + high, -1
        for p in range(low - 4, high + 1, 4):
            yield p * (p + 4), -2 * p - 4, 1
    else:
        squares = [h * h for h in allowed]
        yield max(squares), 0, -1
        yield -min(squares), 0, 1


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
        proof = argument(words, count)
        if proof is not None:
            best, count = proof, proof["size"]
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
    fitting = counted(n_columns, "column fits", "columns fit")
    reason = f"fewer than {fitting} ({proof['packing']['method']})"

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
