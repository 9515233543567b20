from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bounds.oracle import every_codebook, side

from ecoc.bounds import (
    BoundProblem,
    averaging_bound,
    check_target_bound,
    parity_bound,
    target_bound,
)
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


@given(
    st.integers(2, 5),
    st.integers(1, 15),
    st.lists(st.integers(0, 40), min_size=10, max_size=10),
    st.sampled_from([1, 2, 3, 4]),
)
def test_no_codebook_comes_nearer_to_targets(k, n_columns, numerators, denominator):
    targets = np.zeros((k, k))
    targets[np.triu_indices(k, 1)] = numerators[: k * (k - 1) // 2]
    targets = (targets + targets.T) / denominator
    _, sizes, distances = every_codebook(k)
    wanted = targets[np.triu_indices(k, 1)]
    deviations = np.abs(distances - wanted[:, None]).sum(axis=0)[sizes <= n_columns]
    bound = target_bound(n_columns, targets)
    assert bound.value <= deviations.min() + 1e-9
    assert check_target_bound(n_columns, targets, bound) == []
