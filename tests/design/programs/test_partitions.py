"""The integer program over partitions, against enumeration and the assignment problem."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from ecoc.design.programs.partitions import (
    _conflicts,
    all_partitions,
    build_partition_program,
)
from ecoc.design.solvers import solve
from ecoc.errors import InvalidInputError


def distance(a, b):
    """How many classes change their group: an assignment problem."""
    table = np.zeros((len(a), len(a)))
    np.add.at(table, (a, b), 1)
    rows, columns = linear_sum_assignment(-table)
    return len(a) - int(table[rows, columns].sum())


@pytest.mark.parametrize(("k", "q", "count"), [(3, 3, 4), (5, 2, 15), (5, 4, 50), (6, 6, 202)])
def test_all_partitions_are_listed_once(k, q, count):
    words = all_partitions(k, q)
    assert words.shape == (count, k)
    assert len(np.unique(words, axis=0)) == count
    assert words.max() == q - 1


@pytest.mark.parametrize(("k", "q"), [(4, 2), (4, 3), (5, 3), (4, 4)])
@pytest.mark.parametrize("rho", [2, 3])
def test_conflicts_are_those_of_the_assignment_problem(k, q, rho):
    words = all_partitions(k, q)
    expected = {
        (i, j) for i, j in combinations(range(len(words)), 2) if distance(words[i], words[j]) < rho
    }
    assert set(map(tuple, _conflicts(words, q, rho).tolist())) == expected


def optimum(k, n_columns, q, rho):
    """The largest least distance, by enumeration of all sets of columns."""
    words = all_partitions(k, q)
    pairs = np.triu_indices(k, 1)
    separated = (words[:, pairs[0]] != words[:, pairs[1]]).astype(int)
    best = 0
    for size in range(1, n_columns + 1):
        for chosen in combinations(range(len(words)), size):
            value = separated[list(chosen)].sum(axis=0).min()
            if value > best and all(
                distance(words[i], words[j]) >= rho for i, j in combinations(chosen, 2)
            ):
                best = int(value)
    return best


@pytest.mark.parametrize(
    ("k", "n", "q", "rho"),
    [
        (3, 3, 3, 1),
        (4, 3, 3, 1),
        (4, 5, 3, 2),
        (4, 6, 4, 2),
        (5, 3, 3, 2),
        (5, 3, 4, 3),
        (4, 14, 4, 1),
    ],
)
def test_the_optimum_is_that_of_enumeration(k, n, q, rho):
    built = build_partition_program(k, n, q, min_column_distance=rho)
    result = solve(built.program)
    assert result.objective == optimum(k, n, q, rho)
    matrix = built.matrix_of(result.x)
    assert matrix.shape[1] <= n
    rows = [(matrix[i] != matrix[j]).sum() for i, j in combinations(range(k), 2)]
    assert min(rows) == result.objective
    assert all(distance(a, b) >= rho for a, b in combinations(matrix.T, 2))


def test_a_start_is_feasible_and_columns_come_back():
    built = build_partition_program(5, 4, 3)
    matrix = np.array([[0, 1, 2, 0], [1, 1, 0, 2], [1, 0, 2, 1], [2, 2, 1, 1], [0, 2, 0, 0]])
    x = built.start_vector(matrix)
    assert built.program.is_feasible(x)
    assert x[-1] == min((matrix[i] != matrix[j]).sum() for i, j in combinations(range(5), 2))
    assert built.matrix_of(x).shape == (5, 4)
    with pytest.raises(InvalidInputError, match="not one of the partitions"):
        built.start_vector([[0], [0], [0], [0], [0]])


def test_only_admissible_partitions_are_chosen():
    words = all_partitions(4, 3)
    balanced = np.array([np.bincount(word).max() <= 2 for word in words])
    built = build_partition_program(4, 20, 3, admissible=balanced)
    result = solve(built.program)
    assert len(built.partitions) == balanced.sum() == comb(4, 2) + 3
    assert result.objective == (6 * 5 + 3 * 4) // 6
    with pytest.raises(InvalidInputError, match="shape"):
        build_partition_program(4, 20, 3, admissible=[True])


def test_too_many_classes_are_refused():
    with pytest.raises(InvalidInputError, match="at most nine classes"):
        all_partitions(12, 12)
