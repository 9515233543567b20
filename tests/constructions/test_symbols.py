"""Codes of several symbols: constructions, symmetries and difference matrices."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from ecoc._limits import Budget
from ecoc.bounds.problem import SymbolBoundProblem
from ecoc.bounds.symbols import best_symbol_bound
from ecoc.constructions.differences import (
    SEARCHED,
    addition_table,
    difference_matrix,
    difference_parts,
    is_difference_matrix,
)
from ecoc.constructions.symbol_measures import (
    canonical_columns,
    has_different_columns,
    least_distance,
)
from ecoc.constructions.symbols import construct_symbols
from ecoc.constructions.symmetric_symbols import (
    Rotation,
    anneal_code,
    invariant_columns,
    subtraction_table,
)
from ecoc.errors import InvalidInputError


def check(code, k, n, q):
    """A code is what it says, counted pair by pair and column by column."""
    assert code.matrix.shape == (k, n)
    assert code.matrix.min() >= 0
    assert code.matrix.max() < q
    rows = [(code.matrix[i] != code.matrix[j]).sum() for i, j in combinations(range(k), 2)]
    assert code.distance == min(rows)
    names = set()
    for column in code.matrix.T.tolist():
        order: dict[int, int] = {}
        names.add(tuple(order.setdefault(symbol, len(order)) for symbol in column))
    assert len(names) == n
    assert (0,) * k not in names


@pytest.mark.parametrize("key", sorted(SEARCHED))
def test_every_matrix_of_the_table_is_found_again(key):
    q, n = key
    matrix = difference_matrix(n, q)
    assert matrix is not None
    assert len(matrix) >= max(rows for rows, _, _, _ in SEARCHED[key])
    assert is_difference_matrix(matrix, q)


@pytest.mark.parametrize(("q", "n"), [(3, 27), (4, 16), (5, 25), (7, 49), (8, 8), (9, 9), (3, 18)])
def test_fields_and_products_give_square_matrices(q, n):
    matrix = difference_matrix(n, q)
    assert matrix.shape == (n, n)
    assert is_difference_matrix(matrix, q)


def test_a_matrix_that_is_none_is_recognised():
    assert not is_difference_matrix(np.array([[0, 0, 0], [0, 1, 1]]), 3)
    assert difference_matrix(7, 3) is None
    assert difference_parts(10, 7, 3) is None
    assert difference_parts(10, 0, 3) == ()


@pytest.mark.parametrize("q", [2, 3, 4, 5, 6, 8, 9, 10])
def test_tables_of_groups_belong_together(q):
    add, subtract = addition_table(q), subtraction_table(q)
    elements = np.arange(q)
    assert (add[subtract[elements[:, None], elements], elements] == elements[:, None]).all()
    assert all(sorted(row) == elements.tolist() for row in add.tolist())


@pytest.mark.parametrize("rotation", [Rotation(7, 3, 1), Rotation(12, 4, 0), Rotation(9, 2, 5)])
def test_a_symmetric_code_has_its_symmetry(rotation):
    k, m = rotation.n_rows, rotation.order
    matrix, energy = anneal_code(
        rotation, 2 * m, 3, m, seed=0, n_moves=20_000, budget=Budget(), changes=0.2
    )
    assert energy == 0
    assert least_distance(matrix) >= m
    turned = matrix[rotation.images()[1]]
    assert sorted(map(tuple, turned.T.tolist())) == sorted(map(tuple, matrix.T.tolist()))
    assert matrix.shape == (k, 2 * m)


@pytest.mark.parametrize("rotation", [Rotation(8, 1, 0), Rotation(8, 2, 0), Rotation(9, 4, 1)])
def test_the_energy_is_that_of_the_matrix(rotation):
    distance = 8
    matrix, energy = anneal_code(rotation, 8, 3, distance, seed=1, n_moves=3_000, budget=Budget())
    seen = set()
    expected = 0
    for i, j in combinations(range(rotation.n_rows), 2):
        orbit = min(tuple(sorted((a, b))) for a, b in rotation.images()[:, [i, j]].tolist())
        if orbit not in seen:
            seen.add(orbit)
            expected += max(0, distance - int((matrix[i] != matrix[j]).sum())) ** 2
    assert energy == expected > 0


def test_columns_beside_count_and_are_kept():
    rotation = Rotation(6, 3)
    beside = invariant_columns(rotation, 3, 2, np.random.default_rng(0))
    matrix, energy = anneal_code(
        rotation, 3, 3, 4, seed=0, n_moves=20_000, budget=Budget(), beside=beside
    )
    assert energy == 0
    assert matrix.shape == (6, 5)
    assert (matrix[:, 3:] == beside).all()
    assert least_distance(matrix) == 4


@pytest.mark.parametrize(
    ("rotation", "q", "count"),
    [(Rotation(12, 4), 4, 3), (Rotation(12, 6), 4, 1), (Rotation(12, 2), 6, 3)],
)
def test_invariant_columns_are_balanced_and_only_renamed(rotation, q, count):
    columns = invariant_columns(rotation, q, count, np.random.default_rng(1))
    for column in columns.T:
        assert np.bincount(column, minlength=q).tolist() == [12 // q] * q
        turned = column[rotation.images()[1]]
        assert (canonical_columns(turned[:, None]) == canonical_columns(column[:, None])).all()
    assert has_different_columns(columns)


def test_there_are_not_always_invariant_columns():
    rng = np.random.default_rng(0)
    assert invariant_columns(Rotation(7, 3, 1), 3, 1, rng) is None
    assert invariant_columns(Rotation(14, 7), 3, 1, rng) is None
    assert invariant_columns(Rotation(14, 7), 3, 0, rng).shape == (14, 0)


@pytest.mark.parametrize(
    ("k", "n", "q"),
    [
        (3, 3, 3),
        (4, 6, 8),
        (10, 7, 3),
        (16, 5, 4),
        (25, 12, 5),
        (26, 26, 3),
        (15, 7, 5),
        (42, 58, 3),
        (50, 8, 10),
        (32, 31, 8),
    ],
)
def test_cells_that_meet_their_bound(k, n, q):
    code = construct_symbols(k, n, q, random_state=0)
    check(code, k, n, q)
    assert code.distance == best_symbol_bound(SymbolBoundProblem(k, n, q)).value


def test_the_same_seed_gives_the_same_code():
    first = construct_symbols(22, 19, 5, random_state=3)
    again = construct_symbols(22, 19, 5, random_state=3)
    assert (first.matrix == again.matrix).all()
    assert first.method == again.method


def test_work_is_counted_and_limits_what_is_tried():
    code = construct_symbols(27, 26, 3, random_state=0, work_limit=0)
    check(code, 27, 26, 3)
    assert code.distance == 18


def test_no_code_where_there_are_too_few_columns():
    assert construct_symbols(3, 5, 3, random_state=0) is None


def test_few_classes_have_one_pair_together_in_each_column():
    code = construct_symbols(6, 12, 8, random_state=0)
    check(code, 6, 12, 8)
    assert code.distance == 11
    assert comb(6, 2) >= 11


@pytest.mark.parametrize("arguments", [(1, 5, 3), (5, 0, 3), (5, 5, 1)])
def test_bad_sizes_are_refused(arguments):
    with pytest.raises(InvalidInputError):
        construct_symbols(*arguments)
