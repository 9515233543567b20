"""Bounds against optima that are known from theory or from other programs."""

from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bounds.oracle import levenshtein_distance
from tests.strategies import binary_codebooks

from ecoc.bounds import (
    BoundProblem,
    all_bounds,
    averaging_bound,
    best_bound,
    check_bound,
    parity_bound,
)

# Optima with distinct columns where theory for any columns says one more.
DISTINCT = {(5, 13): 6, (5, 14): 7, (6, 14): 7, (6, 16): 8, (6, 17): 9}


@pytest.mark.parametrize("k", range(5, 67))
def test_best_bound_is_the_optimum_in_plotkins_range(k):
    for n_columns in range(ceil(k / 2) + 2, 3 * k + 1):
        bound = best_bound(BoundProblem(k, n_columns))
        expected = DISTINCT.get((k, n_columns), levenshtein_distance(k, n_columns))
        assert bound.value == expected, n_columns
        assert check_bound(BoundProblem(k, n_columns), bound) == []


def test_bounds_at_two_columns_per_class():
    values = [best_bound(BoundProblem(k, 2 * k)).value for k in range(10, 19)]
    assert values == [10, 12, 12, 14, 14, 16, 16, 18, 18]
    assert all(best_bound(BoundProblem(k, 2 * k)).value == k for k in range(6, 60, 2))
    assert all(best_bound(BoundProblem(k, 2 * k)).value == k + 1 for k in range(5, 60, 2))


def test_the_papers_bounds_are_averages():
    values = [averaging_bound(BoundProblem(k, 2 * k)).value for k in range(10, 19)]
    assert values == [11, 12, 13, 14, 15, 16, 17, 18, 19]


@pytest.mark.parametrize(
    ("k", "n_columns", "value", "cited"),
    [
        (50, 13, 5, 5),
        (16, 7, 3, 3),
        (17, 7, 2, 2),
        (4096, 24, 8, 8),
        (4097, 24, 7, 7),
        (1000, 2000, 1000, 1000),
        (1000, 63, 28, 28),
        (20000, 64, 26, 26),
        (38, 17, 8, 7),
        (21, 9, 4, 3),
    ],
)
def test_many_classes(k, n_columns, value, cited):
    problem = BoundProblem(k, n_columns)
    assert best_bound(problem).value == value
    assert best_bound(problem, cited=True).value == cited
    for bound in all_bounds(problem):
        assert check_bound(problem, bound) == []


@pytest.mark.parametrize(
    ("k", "rho", "separation", "optimum", "value"),
    [
        (7, 2, "two-sided", 7, 7),
        (8, 3, "two-sided", 4, 4),
        (9, 3, "two-sided", 8, 8),
        (8, 3, "one-sided", 8, 8),
        (9, 3, "one-sided", 10, 10),
        (10, 3, "two-sided", 10, 10),
    ],
)
def test_separation_lowers_the_row_distance(k, rho, separation, optimum, value):
    problem = BoundProblem(k, 2 * k, min_column_distance=rho, separation=separation)
    bounds = all_bounds(problem)
    assert bounds[0].value == value >= optimum
    assert all(check_bound(problem, bound) == [] for bound in bounds)


def test_balance_lowers_the_row_distance():
    # Only columns of one class against the rest: two rows differ in two of them.
    assert best_bound(BoundProblem(6, 12, (6, 0, 0))).value == 2
    assert best_bound(BoundProblem(6, 12, (0, 0, 0))).value == 0
    assert best_bound(BoundProblem(6, 12, (0, 0, 10))).value == 6


@given(binary_codebooks())
def test_no_codebook_exceeds_its_bound(codebook):
    k, n_columns = codebook.matrix.shape
    distance = codebook.min_row_distance
    assert parity_bound(BoundProblem(k, n_columns)).value >= distance
    assert best_bound(BoundProblem(k, n_columns), cited=True).value >= distance


@given(st.integers(2, 40), st.integers(1, 60))
def test_more_columns_never_lower_a_bound(k, n_columns):
    fewer, more = (best_bound(BoundProblem(k, n)).value for n in (n_columns, n_columns + 1))
    assert fewer <= more
