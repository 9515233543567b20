from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from ecoc._limits import Budget
from ecoc.codes.validation import normalised_columns
from ecoc.constructions import _annealing as kernels
from ecoc.constructions._annealing import anneal_columns
from ecoc.constructions.differences import addition_table
from ecoc.constructions.symbols import least_distance
from ecoc.constructions.symmetric_symbols import (
    Kind,
    Rotation,
    anneal_code,
    match_halves,
    subtraction_table,
)


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
    expected = sorted(map(tuple, normalised_columns(matrix, max(q, 3)).T.tolist()))
    for image in rotation.images():
        turned = normalised_columns(matrix[image], max(q, 3))
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
def test_moves_begin_with_the_pairs_that_are_too_close(monkeypatch, rotation, kinds, q):
    seen = []

    def keep(columns, tables, of_columns, distances, *rest):
        outcome = anneal_columns(columns, tables, of_columns, distances, *rest)
        seen.append((columns, distances))
        return outcome

    monkeypatch.setattr(kernels, "anneal_columns", keep)
    distance = sum(rotation.size // kind.order for kind in kinds)
    anneal_code(rotation, kinds, q, distance - 1, seed=2, n_moves=500, budget=Budget(), changes=0.3)
    (columns, distances), *_ = seen
    listed = distances.close[: distances.n_close[0]].tolist()
    assert sorted(listed) == np.flatnonzero(distances.lacks > 0).tolist()
    assert [distances.places[orbit] for orbit in listed] == list(range(len(listed)))
    for column, members, sizes in zip(columns.symbols, columns.members, columns.sizes, strict=True):
        groups = [sorted(rows[:size]) for rows, size in zip(members, sizes, strict=True)]
        assert groups == [np.flatnonzero(column == symbol).tolist() for symbol in range(q)]


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
