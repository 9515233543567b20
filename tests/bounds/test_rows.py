from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bounds.oracle import side

from ecoc.bounds import BoundProblem, averaging_bound, parity_bound
from ecoc.bounds.rows import least_sum
from ecoc.codes.columns import Dichotomies


@given(st.integers(2, 60), st.integers(0, 100))
def test_least_sum_is_that_of_the_best_parts(k, distance):
    even, odd = (distance + (distance - parity) % 2 for parity in (0, 1))
    assert least_sum(k, distance) == min(
        even * (comb(a, 2) + comb(k - a, 2)) + odd * a * (k - a) for a in range(k + 1)
    )


@pytest.mark.parametrize("k", range(3, 9))
def test_leaving_out_columns_gives_the_same_bound(k):
    lacking = sorted(s * (k - s) for s in (side(column, k) for column in Dichotomies(k)))
    for n_columns in range(1, len(lacking) + 1):
        least = sum(lacking[: len(lacking) - n_columns])
        largest = 0
        while _largest_sum_up_to(k, largest) < least:
            largest += 1
        expected = (1 << (k - 2)) - largest
        assert parity_bound(BoundProblem(k, n_columns)).value == max(0, expected)


def _largest_sum_up_to(k, distance):
    """Return the largest sum of distances with the parities of a cut, none above a limit."""
    even, odd = (distance - (distance - parity) % 2 for parity in (0, 1))
    return max(
        even * (comb(a, 2) + comb(k - a, 2)) + odd * a * (k - a)
        for a in range(k + 1)
        if odd > 0 or a in {0, k}
    )


@given(st.integers(2, 200), st.integers(1, 400))
def test_parity_never_weakens_the_average(k, n_columns):
    problem = BoundProblem(k, n_columns)
    average, parity = averaging_bound(problem).value, parity_bound(problem).value
    assert average - 1 <= parity <= average
    assert parity <= n_columns
