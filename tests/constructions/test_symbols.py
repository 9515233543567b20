"""Codes of several symbols, counted pair by pair and column by column."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest

from ecoc.bounds.problem import SymbolBoundProblem
from ecoc.bounds.symbols import best_symbol_bound
from ecoc.constructions.symbols import (
    construct_symbols,
    has_different_columns,
    least_distance,
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
        (44, 70, 5),
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
    code = construct_symbols(33, 22, 4, random_state=0, time_limit=0)
    check(code, 33, 22, 4)
    assert code.distance == 16  # 17 is the bound


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


def test_codes_that_are_known_are_parts_of_others():
    """Where the parts are known a code beside another needs no search."""
    first = construct_symbols(17, 7, 6, random_state=0)
    second = construct_symbols(17, 8, 6, random_state=1)
    parts = {(17, 7): first.matrix, (17, 8): second.matrix}
    asked = []

    def known(n_classes, n_columns):
        asked.append((n_classes, n_columns))
        return parts.get((n_classes, n_columns))

    distance = first.distance + second.distance
    code = construct_symbols(
        17, 15, 6, target_distance=distance, random_state=0, work_limit=0, known=known
    )
    assert code.distance >= distance
    assert {(17, 7), (17, 8)} <= set(asked)
    assert code.method == "known code beside known code"


@pytest.mark.parametrize("q", [1, 2, 3, 5])
def test_distances_and_columns_are_those_of_the_definition(q):
    rng = np.random.default_rng(0)
    for _ in range(100):
        k, n = rng.integers(1, 7), rng.integers(1, 6)
        matrix = rng.integers(0, q, (k, n))
        rows = [int((one != other).sum()) for one, other in combinations(matrix, 2)]
        assert least_distance(matrix) == min(rows, default=n)
        partitions = {(column == column[:, None]).tobytes() for column in matrix.T}
        constant = (matrix == matrix[0]).all(axis=0).any()
        assert has_different_columns(matrix) == (len(partitions) == n and not constant)
