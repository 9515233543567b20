import numpy as np
import pytest

from ecoc.bounds.ternary import separations, ternary_columns
from ecoc.design.programs.ternary import build_ternary_program
from ecoc.design.solvers import solve


def covers(matrix):
    return separations(np.ascontiguousarray(matrix.T)).sum(axis=0)


@pytest.mark.parametrize(("k", "n", "w", "best"), [(4, 5, 4, 2), (5, 8, 3, 1), (5, 10, 2, 1)])
def test_the_least_cover_is_as_large_as_can_be(k, n, w, best):
    built = build_ternary_program(k, n, max_support=w)
    result = solve(built.program)
    assert result.objective == best
    matrix = built.matrix_of(result.x)
    assert matrix.shape[1] <= n
    assert covers(matrix).min() == best


def test_halves_count_zeros():
    built = build_ternary_program(4, 4, max_support=4, halves=True)
    result = solve(built.program)
    matrix = built.matrix_of(result.x).astype(int)
    gram = matrix @ matrix.T
    doubled = matrix.shape[1] - gram[np.triu_indices(4, 1)]
    assert result.objective == doubled.min()


def test_budget_separation_and_choice_of_columns():
    columns = ternary_columns(5, 4)
    even = columns.sum(axis=1) == 0
    costs = (columns[even] != 0).sum(axis=1)
    built = build_ternary_program(
        5, 9, max_support=4, costs=costs, budget=24, doubled_distance=4, admissible=even
    )
    assert np.array_equal(built.columns, columns[even])
    result = solve(built.program)
    matrix = built.matrix_of(result.x).astype(int)
    assert (matrix != 0).sum() <= 24
    products = np.abs(matrix.T @ matrix)[np.triu_indices(matrix.shape[1], 1)]
    assert (5 - products).min() >= 4
    assert covers(matrix.astype(np.int8)).min() == result.objective == 2
