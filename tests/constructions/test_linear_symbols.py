"""Linear codes over fields of any order."""

import numpy as np
import pytest

from ecoc._limits import Budget
from ecoc.bounds.problem import SymbolBoundProblem
from ecoc.bounds.symbols import best_symbol_bound
from ecoc.constructions.linear_symbols import (
    farthest_linear_code,
    linear_code,
    linear_words,
    tabled_plan,
)
from ecoc.constructions.symbols import (
    construct_symbols,
    has_different_columns,
    least_distance,
    linear_symbols,
    tabled_symbols,
)


def code(k, n, q, distance, seed=0):
    return linear_code(k, n, q, distance, seed=seed, budget=Budget())


@pytest.mark.parametrize(("q", "m"), [(2, 4), (3, 3), (4, 2), (5, 3), (8, 2), (9, 2)])
def test_all_points_are_the_simplex_code(q, m):
    n = (q**m - 1) // (q - 1)
    words = linear_words(q, m, np.arange(n))
    assert words.shape == (q**m, n)
    assert set(np.unique(words)) == set(range(q))
    apart = (words[:, None] != words).sum(axis=2)
    assert (apart[~np.eye(len(words), dtype=bool)] == q ** (m - 1)).all()


@pytest.mark.parametrize(("q", "m", "n"), [(3, 3, 5), (4, 2, 4), (5, 2, 3), (7, 2, 5), (9, 2, 6)])
def test_every_word_sees_the_others_at_the_same_distances(q, m, n):
    """As in a linear space, where the distances of any word are the weights of all."""
    words = linear_words(q, m, np.random.default_rng(0).permutation((q**m - 1) // (q - 1))[:n])
    apart = np.sort((words[:, None] != words).sum(axis=2), axis=1)
    weights = np.sort((words != 0).sum(axis=1))
    assert (apart == weights).all()


@pytest.mark.parametrize(
    ("k", "n", "q", "distance"),
    [
        (64, 6, 4, 4),  # the hexacode
        (81, 10, 3, 6),  # an elliptic quadric
        (256, 17, 4, 12),  # an ovoid
        (243, 11, 3, 6),  # Golay's, half of it
        (125, 6, 5, 4),  # Reed-Solomon codes
        (343, 8, 7, 6),
        (512, 9, 8, 7),
        (500, 9, 10, 7),  # from the field of nine elements
    ],
)
def test_known_codes_meet_their_bounds(k, n, q, distance):
    assert best_symbol_bound(SymbolBoundProblem(k, n, q)).value == distance
    matrix = code(k, n, q, distance)
    assert matrix.shape == (k, n)
    assert least_distance(matrix) == distance
    assert matrix.min() >= 0
    assert matrix.max() < q


@pytest.mark.parametrize(("k", "n", "q"), [(30, 6, 3), (20, 8, 6), (60, 9, 10), (40, 12, 4)])
def test_what_is_found_has_the_distance(k, n, q):
    top = best_symbol_bound(SymbolBoundProblem(k, n, q)).value
    found = [(d, code(k, n, q, d, seed=1)) for d in range(top, 0, -1)]
    assert any(matrix is not None for _, matrix in found)
    for distance, matrix in found:
        if matrix is not None:
            assert least_distance(matrix) >= distance
            assert 0 <= matrix.min() <= matrix.max() < q


def test_symbols_of_a_larger_field_are_avoided():
    """100 rows of six symbols from 343 words over seven."""
    matrix = code(100, 5, 6, 3)
    assert least_distance(matrix) >= 3
    assert matrix.max() == 5


def test_nothing_is_found_beyond_the_bounds_or_the_points():
    assert code(81, 10, 3, 7) is None
    assert code(9, 5, 3, 3) is None  # there are four points only


def test_a_seed_decides_everything():
    assert (code(300, 60, 5, 46) == code(300, 60, 5, 46)).all()


def test_constructions_take_linear_codes():
    made = construct_symbols(256, 17, 4, random_state=0, work_limit=1e7)
    assert (made.distance, made.method) == (12, "linear code")


def test_a_near_miss_is_kept():
    """A search for the bound that ends one short leaves its codebook behind."""
    made = construct_symbols(90, 40, 6, random_state=0, work_limit=3e6)
    assert (made.distance, made.method) == (31, "annealing")


# A code as it is, shortened, some words of it, cut, filled up, and codes side by side.
@pytest.mark.parametrize(
    ("k", "n", "q"),
    [(729, 12, 3), (243, 11, 3), (500, 40, 3), (700, 58, 3), (250, 90, 3), (729, 128, 3)],
)
def test_plans_of_the_table_keep_their_promise(k, n, q):
    plan = tabled_plan(k, n, q)
    words = plan.words(np.random.default_rng(0))
    assert words.shape == (k, n)
    assert set(np.unique(words)) == set(range(q))
    assert least_distance(words) >= plan.distance
    assert plan.distance <= best_symbol_bound(SymbolBoundProblem(k, n, q)).value
    assert has_different_columns(words)


def test_the_table_has_nothing_for_other_symbols():
    assert tabled_plan(20, 10, 7) is None
    assert tabled_symbols(20, 10, 7) is None


def test_words_of_the_table_where_a_search_has_no_time():
    code = construct_symbols(600, 56, 3, random_state=0, work_limit=0)
    assert code.distance == least_distance(code.matrix) >= 36
    assert code.method == "linear codes of the table"


@pytest.mark.parametrize(
    ("k", "n", "q", "distance"),
    [
        (49, 8, 7, 7),  # Reed-Solomon
        (343, 57, 7, 49),  # simplex
        (343, 114, 7, 98),  # twice simplex
        (64, 6, 4, 4),  # hexacode
        (90, 10, 9, 8),
        (100, 13, 10, 10),  # from the field of nine
        (20, 1, 5, 0),
    ],
)
def test_the_farthest_linear_code_is_as_far_as_known(k, n, q, distance):
    code = farthest_linear_code(k, n, q, most=n, seed=0, budget=Budget())
    if distance == 0:
        assert code is None
        return
    assert code.shape == (k, n)
    assert code.min() >= 0
    assert code.max() < q
    assert distance <= least_distance(code) <= best_symbol_bound(SymbolBoundProblem(k, n, q)).value


def test_one_seed_gives_one_linear_code():
    codes = [farthest_linear_code(120, 70, 5, most=55, seed=3, budget=Budget()) for _ in range(2)]
    assert np.array_equal(*codes)


@pytest.mark.parametrize(("k", "n", "q", "least"), [(600, 300, 7, 250), (1000, 60, 9, 48)])
def test_many_rows_come_from_linear_codes_without_any_annealing(k, n, q, least):
    code = linear_symbols(k, n, q, most=n, random_state=0)
    assert code.matrix.shape == (k, n)
    assert code.distance == least_distance(code.matrix) >= least
    assert has_different_columns(code.matrix)
