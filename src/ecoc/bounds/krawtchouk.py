"""Krawtchouk polynomials in whole numbers."""

from __future__ import annotations

from functools import lru_cache

__all__ = ["krawtchouk_table"]


@lru_cache(maxsize=8)
def krawtchouk_table(n: int) -> tuple[tuple[int, ...], ...]:
    """Return K_i(j) for 0 <= i, j <= n by the three-term recurrence (Krawtchouk 1929).

    Examples
    --------
    >>> krawtchouk_table(3)
    ((1, 1, 1, 1), (3, 1, -1, -3), (3, -1, -1, 3), (1, -1, 1, -1))
    """
    rows = [[1] * (n + 1), [n - 2 * j for j in range(n + 1)]]
    for i in range(1, n):
        before, last = rows[-2], rows[-1]
        rows.append(
            [((n - 2 * j) * last[j] - (n - i + 1) * before[j]) // (i + 1) for j in range(n + 1)]
        )
    return tuple(tuple(row) for row in rows[: n + 1])
