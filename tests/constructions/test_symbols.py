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
from ecoc.constructions.symbols import (
    canonical_columns,
    construct_symbols,
    least_distance,
)
from ecoc.constructions.symmetric_symbols import (
    Kind,
    Rotation,
    anneal_code,
    match_halves,
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


SYMMETRIES = [
    (Rotation(7, 3, 1), (Kind(), Kind()), 3),
    (Rotation(12, 4), (Kind(), Kind(2, 2, 1), Kind(4, 2, 1)), 4),
    (Rotation(9, 2, 5), (Kind(), Kind(2), Kind(2, 2, 1)), 4),
    (Rotation(13, 6, 1), (Kind(), Kind(3, 3, 1), Kind(6, 3, 1), Kind(6)), 4),
    (Rotation(8), (Kind(),) * 8, 3),
    (Rotation(8, 7, 1, 2), (Kind(), Kind(3, 3, 1, 2), Kind(3, factor=2), Kind(7)), 4),
    (Rotation(10, 5, 0, 4), (Kind(2, 2, 1, 4), Kind(2, 2, 2, 4), Kind(5, 5, 1)), 5),
]


def pair_orbits(rotation):
    """One pair of rows for each orbit."""
    pairs = combinations(range(rotation.n_rows), 2)
    images = rotation.images()
    return {min(tuple(sorted(pair)) for pair in images[:, [i, j]].tolist()) for i, j in pairs}


@pytest.mark.parametrize(("rotation", "kinds", "q"), SYMMETRIES)
def test_a_symmetric_code_has_its_symmetry(rotation, kinds, q):
    n = sum(rotation.size // kind.order for kind in kinds)
    matrix, energy = anneal_code(
        rotation, kinds, q, n // 3, seed=0, n_moves=20_000, budget=Budget(), changes=0.2
    )
    assert energy == 0
    assert least_distance(matrix) >= n // 3
    assert matrix.shape == (rotation.n_rows, n)
    assert matrix.max() < q
    expected = sorted(map(tuple, canonical_columns(matrix).T.tolist()))
    for image in rotation.images():
        turned = canonical_columns(matrix[image])
        assert sorted(map(tuple, turned.T.tolist())) == expected


@pytest.mark.parametrize("changes", [0.0, 0.5])
@pytest.mark.parametrize(("rotation", "kinds", "q"), SYMMETRIES)
def test_the_energy_is_that_of_the_matrix(rotation, kinds, q, changes):
    distance = sum(rotation.size // kind.order for kind in kinds)
    matrix, energy = anneal_code(
        rotation, kinds, q, distance, seed=1, n_moves=3_000, budget=Budget(), changes=changes
    )
    expected = [
        max(0, distance - int((matrix[i] != matrix[j]).sum())) ** 2
        for i, j in pair_orbits(rotation)
    ]
    assert energy == sum(expected) > 0


@pytest.mark.parametrize(("rotation", "kinds", "q"), SYMMETRIES)
def test_balanced_columns_separate_as_many_pairs_as_they_say(rotation, kinds, q):
    for kind in set(kinds):
        symbols, separated = kind.balanced(rotation, q)
        column = np.empty(rotation.n_rows, dtype=np.int64)
        for block, symbol in zip(kind.blocks(rotation), symbols, strict=True):
            column[block] = kind.turns(q)[: block.size, symbol]
            # Back at its first row, a block has the symbol that it began with.
            assert kind.turns(q)[block.size, symbol] == symbol
        pairs = combinations(column.tolist(), 2)
        assert separated == sum(first != second for first, second in pairs)


def test_rows_that_stay_need_a_symbol_that_stays():
    assert Kind(2, 2, 2).balanced(Rotation(9, 2, 1), 4) is None
    assert Kind(2, 2, 1).balanced(Rotation(9, 2, 1), 4) is not None


def test_the_elements_of_a_group_are_different_permutations():
    rotation = Rotation(15, 7, 1, 2)
    images = rotation.images()
    assert rotation.size == 21
    assert np.unique(images, axis=0).shape == (21, 15)
    assert all(sorted(image) == list(range(15)) for image in images.tolist())
    # Closed: one after another is one of them.
    known = set(map(tuple, images.tolist()))
    assert {tuple(first[second].tolist()) for first in images for second in images} == known


def test_two_halves_make_up_for_what_either_lacks():
    # Averaging leaves nothing over: all rows differ in exactly 32 places.
    rotation, kinds = Rotation(24, 23, 1), (Kind(), Kind())
    budget = Budget(work=1e9)
    code = match_halves(rotation, kinds, 3, 32, seed=1, n_moves=10**6, budget=budget)
    distances = (code[:, None] != code).sum(axis=2)
    assert (distances[np.triu_indices(24, 1)] == 32).all()
    assert budget.work < 1e9


@pytest.mark.parametrize(
    ("rotation", "kinds", "distance"),
    [
        (Rotation(24, 23, 1), (Kind(),), 16),  # one orbit has no halves
        (Rotation(24, 23, 1), (Kind(), Kind()), 33),  # above averaging
        (Rotation(24), (Kind(),) * 46, 31),  # too many ways to have more than is needed
    ],
)
def test_where_no_halves_are_matched(rotation, kinds, distance):
    code = match_halves(rotation, kinds, 3, distance, seed=0, n_moves=1, budget=Budget())
    assert code is None


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
        (32, 39, 5),  # of 40 rows that a multiplier permutes
        (38, 65, 10),
        (24, 46, 3),
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


def test_where_no_time_is_left_there_are_codes_without_search():
    code = construct_symbols(34, 25, 4, random_state=0, time_limit=0)
    check(code, 34, 25, 4)
    assert code.distance == 18  # 19 is the bound


@pytest.mark.parametrize(("k", "n", "q", "distance"), [(26, 18, 4, 13), (33, 22, 4, 16)])
def test_a_distance_that_is_not_found_leaves_work_for_the_next(k, n, q, distance):
    # One more is the bound, and not found with so little work.
    code = construct_symbols(k, n, q, random_state=0, work_limit=2e7)
    check(code, k, n, q)
    assert code.distance == distance


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
