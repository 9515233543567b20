"""Every bound against every codebook of at most five classes."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bounds.oracle import (
    every_codebook,
    is_separated,
    least_distances,
    optimum_by_integer_program,
    side,
    uses_only,
)

from ecoc.bounds import BoundProblem, all_bounds, best_bound, check_bound, pair_bound

SEPARATIONS = ("two-sided", "one-sided", "literal")

# (k, L, rho, rule): the bound exceeds the optimum by one; nothing else is loose up to k = 5.
LOOSE = {
    *((4, n_columns, 3, "one-sided") for n_columns in range(2, 10)),
    *((4, n_columns, 3, "literal") for n_columns in range(6, 10)),
    (4, 2, 1, "literal"),
}


def optimum(k, n_columns, allowed):
    sizes = every_codebook(k)[1]
    return int(least_distances(k)[allowed & (sizes <= n_columns)].max())


@pytest.mark.parametrize("k", [2, 3, 4, 5])
@pytest.mark.parametrize("separation", SEPARATIONS)
def test_no_codebook_exceeds_a_bound(k, separation):
    loose = set()
    for rho in range(1, k + 1):
        for n_columns in range(1, (1 << (k - 1)) + 2):
            best = optimum(k, n_columns, is_separated(k, rho, separation, n_columns))
            problem = BoundProblem(k, n_columns, None, rho, separation)
            for bound in all_bounds(problem):
                assert bound.value >= best, (problem, bound)
                assert check_bound(problem, bound) == []
            if best_bound(problem).value > best:
                assert best_bound(problem).value == best + 1
                loose.add((k, n_columns, rho, separation))
    assert loose == {cell for cell in LOOSE if cell[0] == k and cell[3] == separation}


@pytest.mark.parametrize("rho", [1, 2, 3])
def test_every_bound_for_six_classes_is_the_optimum(rho):
    for n_columns in range(2, 32, 1 if rho == 1 else 3):
        problem = BoundProblem(6, n_columns, min_column_distance=rho)
        assert best_bound(problem).value == optimum_by_integer_program(6, n_columns, rho)


@pytest.mark.parametrize("rho", [1, 2])
@pytest.mark.parametrize("k", [3, 4, 5])
def test_pairs_of_columns_never_exclude_what_is_reached(k, rho):
    for n_columns in range(1, 1 << (k - 1)):
        best = optimum(k, n_columns, is_separated(k, rho, "two-sided", n_columns))
        problem = BoundProblem(k, n_columns, None, rho)
        assert pair_bound(problem, below=best) is None
        bound = pair_bound(problem, below=best + 1)
        if bound is not None:
            assert bound.value == best
            assert check_bound(problem, bound) == []


@given(st.data())
def test_no_codebook_of_admissible_columns_exceeds_a_bound(data):
    k = data.draw(st.integers(3, 5))
    columns = every_codebook(k)[0].tolist()
    admissible = data.draw(st.sets(st.sampled_from(columns)))
    n_columns = data.draw(st.integers(1, len(columns)))
    rho = data.draw(st.integers(1, 2))
    separation = data.draw(st.sampled_from(SEPARATIONS))
    counts = Counter(side(column, k) for column in admissible)
    problem = BoundProblem(
        k, n_columns, tuple(counts[s] for s in range(1, k // 2 + 1)), rho, separation
    )
    allowed = uses_only(k, admissible) & is_separated(k, rho, separation, n_columns)
    for bound in all_bounds(problem):
        assert bound.value >= optimum(k, n_columns, allowed)
        assert check_bound(problem, bound) == []
