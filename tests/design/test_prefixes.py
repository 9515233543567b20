import numpy as np
import pytest

from ecoc import Codebook
from ecoc.codes import balanced_random, dense_random
from ecoc.design import _prefixes

SIZES = np.ones(9, dtype=np.int64)


def symbols(codebook):
    matrix = codebook.matrix
    return matrix.copy() if codebook.n_symbols > 2 else (1 - matrix * matrix[0]) // 2


@pytest.mark.parametrize(
    "codebook",
    [dense_random(9, 14, random_state=0), balanced_random(9, 6, n_symbols=3, random_state=0)],
)
def test_prefix_distances_are_those_of_the_prefixes(codebook):
    reached = _prefixes.prefix_distances(symbols(codebook))
    assert reached.tolist() == codebook.prefix_distances().tolist()
    for length in range(4, codebook.n_columns + 1):
        prefix = codebook.matrix[:, :length]
        apart = (prefix[:, None] != prefix).sum(axis=2)
        assert reached[length - 1] == apart[np.triu_indices(9, 1)].min()


def test_grown_columns_obey_the_rules():
    matrix = np.zeros((9, 8), dtype=np.int8)
    # Columns 3 to 6 apart, sides that differ by 3 at most.
    assert _prefixes.grow(matrix, 0, 8, 2, 3.0, 10, -3, 3, SIZES, 3, 0) == 8
    codebook = Codebook(1 - 2 * matrix)
    assert codebook.min_column_distance() >= 3
    assert abs(codebook.matrix.sum(axis=0)).max() <= 3


def test_growth_ends_where_no_column_is_left():
    matrix = np.zeros((3, 9), dtype=np.int8)
    assert _prefixes.grow(matrix, 0, 9, 2, 3.0, 5, -1, 1, SIZES[:3], 2, 0) == 3


def test_ordering_keeps_the_columns_and_those_in_front():
    start = symbols(dense_random(9, 14, random_state=0))
    ordered = _prefixes.order_columns(start, 2, 4.0)
    assert (ordered[:, :2] == start[:, :2]).all()
    assert sorted(map(tuple, ordered.T)) == sorted(map(tuple, start.T))


@pytest.mark.parametrize(("q", "limit"), [(2, 3), (3, 9)])
def test_annealing_keeps_rules_and_the_columns_in_front(q, limit):
    start = symbols(
        dense_random(9, 10, random_state=0)
        if q == 2
        else balanced_random(9, 10, n_symbols=3, random_state=0)
    )
    matrix, best = start.copy(), np.full_like(start, -1)
    goals = np.arange(10) // 2
    energy = _prefixes.anneal_prefixes(
        matrix, 3, q, goals, -5, 5, SIZES, limit, 1.0, 0.1, 3000, 0.3, 1, best
    )
    reached = _prefixes.prefix_distances(best)
    assert (best[:, :3] == start[:, :3]).all()
    assert (best[0] == start[0]).all()
    # The energy is counted again from the matrix.
    apart = np.cumsum(best[:, None] != best, axis=2)[np.triu_indices(9, 1)]
    missing = np.maximum(goals - apart, 0)
    assert energy == pytest.approx(np.sqrt((missing**2).sum(axis=0)).sum())
    assert reached[-1] >= _prefixes.prefix_distances(start)[-1]
    if q == 2:
        signs = 1 - 2 * best.astype(int)
        products = signs.T @ signs
        assert abs(products[~np.eye(10, dtype=bool)]).max() <= 5
        assert abs(signs.sum(axis=0)).max() <= limit
