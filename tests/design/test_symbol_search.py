"""Search for codebooks of several symbols, and the measures of its second goal."""

from __future__ import annotations

import numpy as np

from ecoc._limits import Budget
from ecoc.codes.measures import min_renaming_distance
from ecoc.constructions.symbols import has_different_columns, least_distance
from ecoc.design.symbol_search import search_symbols, separate_columns


def least_column_distance(matrix):
    return min_renaming_distance(matrix.T, int(matrix.max()) + 1)


def test_a_search_meets_the_bound_of_small_cells():
    for k, n, q, distance in [(9, 4, 3, 3), (10, 6, 3, 4), (8, 7, 4, 6)]:
        found = search_symbols(k, n, q, random_state=0, n_moves=200_000)
        assert found.distance == least_distance(found.matrix) == distance
        assert has_different_columns(found.matrix)


def test_the_same_seed_gives_the_same_matrix():
    first, again = (search_symbols(14, 9, 4, random_state=5, n_moves=20_000) for _ in range(2))
    assert (first.matrix == again.matrix).all()
    assert first.n_runs == again.n_runs


def test_a_start_is_never_lost():
    start = np.array([[0, 0, 1], [0, 1, 0], [1, 2, 2], [2, 2, 1], [1, 0, 0]])
    found = search_symbols(5, 3, 3, random_state=0, start=start, n_moves=1, n_starts=1)
    assert found.distance >= least_distance(start)
    kept = search_symbols(5, 3, 3, random_state=0, start=start, work_limit=0)
    assert (kept.matrix == start).all()
    assert kept.n_runs == 0


def test_nothing_is_found_without_work():
    found = search_symbols(12, 8, 3, random_state=0, work_limit=0)
    assert found.matrix is None
    assert found.distance == 0


def test_nothing_below_what_is_of_use_is_looked_for():
    found = search_symbols(30, 16, 3, random_state=0, at_least=11, n_moves=1_000, n_starts=1)
    assert found.matrix is None
    assert found.n_runs == 1


def test_columns_come_apart_and_rows_stay():
    found = search_symbols(16, 10, 4, random_state=0, n_moves=200_000, bound=7)
    assert found.matrix is not None
    better = separate_columns(found.matrix, 16, random_state=0, n_moves=400)
    assert least_distance(better) >= found.distance
    assert least_column_distance(better) >= least_column_distance(found.matrix)
    assert [np.bincount(c).tolist() for c in better.T] == [
        np.bincount(c).tolist() for c in found.matrix.T
    ]


def test_separation_stops_where_it_is_reached_or_work_ends():
    matrix = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 2], [2, 2]])
    least = least_column_distance(matrix)
    assert (separate_columns(matrix, least, random_state=0) == matrix).all()
    budget = Budget(work=0)
    assert (separate_columns(matrix, 6, random_state=0, budget=budget) == matrix).all()
