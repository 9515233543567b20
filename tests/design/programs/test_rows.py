from __future__ import annotations

from math import comb

from ecoc.design.programs.rows import averaging_limit


def test_the_limit_by_averaging_is_the_papers_bound_with_parity():
    found = [
        averaging_limit([0] + [comb(k - 1, w) for w in range(1, k)], k, 2 * k)
        for k in range(10, 19)
    ]
    assert found == [10, 12, 12, 14, 14, 16, 16, 18, 18]
