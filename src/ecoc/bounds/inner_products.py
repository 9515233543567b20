"""What the inner products of columns must be where averaging is met with equality.

If L floor(k^2 / 4) = C(k, 2) d, a codebook of least row distance d has all row distances
equal to d and all columns as balanced as can be. With columns normalised to the sum s = 1
(odd k; s = 0 for even k), the row Gram matrix X X' = 2 d I + (L - 2 d) J fixes for each
column the first two moments of its inner products h with the L - 1 others:

    sum of h   = (2 d - L) s - k          (odd k; for even k signs are free)
    sum of h^2 = 2 d k + (L - 2 d) s^2 - k^2

and columns of one parity have h = k mod 4. Under the two-sided rule |h| <= k - 2 rho. A
quadratic polynomial that is nonnegative at all such h, and has a negative sum, shows that
there is no such codebook.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import comb

from ecoc.bounds.problem import Bound, BoundProblem

__all__ = ["inner_product_bound", "inner_product_refutation", "tight_distance"]


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
