from collections import Counter
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.bounds.oracle import side
from tests.strategies import binary_codebooks

from ecoc.bounds import BoundProblem, check_bound, pair_bound
from ecoc.bounds.columns import inner_product_refutation, tight_distance
from ecoc.bounds.pairs import _contradiction
from ecoc.codes.columns import columns_to_matrix, matrix_to_columns


@given(binary_codebooks(max_classes=9, max_columns=20))
def test_no_codebook_is_contradictory(codebook):
    k, n_columns = codebook.matrix.shape
    columns = matrix_to_columns(codebook.matrix).tolist()
    numbers = Counter(side(column, k) for column in columns)
    counts = tuple(numbers[s] for s in range(1, k // 2 + 1))
    apart = [(a ^ b).bit_count() for i, a in enumerate(columns) for b in columns[:i]]
    rho = min((min(d, k - d) for d in apart), default=1)
    problem = BoundProblem(k, n_columns, min_column_distance=rho)
    assert _contradiction(problem, counts, codebook.min_row_distance) is None


@given(st.data())
def test_codebooks_with_equal_distances_are_not_contradictory(data):
    # Unions of orbits under permutations of classes have equal row distances.
    k = data.draw(st.integers(3, 7))
    sizes = data.draw(st.sets(st.integers(1, k // 2), min_size=1))
    columns = [c for c in range(1, 1 << (k - 1)) if side(c, k) in sizes]
    matrix = columns_to_matrix(columns, k).astype(int)
    distances = (len(columns) - matrix @ matrix.T)[np.triu_indices(k, 1)] // 2
    assert len(set(distances.tolist())) == 1
    counts = tuple(columns_of(k, s) if s in sizes else 0 for s in range(1, k // 2 + 1))
    problem = BoundProblem(k, len(columns))
    assert _contradiction(problem, counts, int(distances[0])) is None
    if tight_distance(k, len(columns)) == distances[0]:
        assert inner_product_refutation(k, len(columns), 1) is None


def columns_of(k, size):
    return comb(k, size) // (2 if 2 * size == k else 1)


@pytest.mark.parametrize(
    ("problem", "below", "value"),
    [
        (BoundProblem(6, 14), 8, 7),
        (BoundProblem(6, 13, min_column_distance=2), 7, 6),
        (BoundProblem(7, 14, min_column_distance=2), 8, 7),
        (BoundProblem(5, 6, min_column_distance=2), 3, 2),
    ],
)
def test_optima_that_only_pairs_of_columns_prove(problem, below, value):
    bound = pair_bound(problem, below=below)
    assert bound.value == value
    assert check_bound(problem, bound) == []


def test_nothing_is_tried_for_many_classes_or_combinations():
    assert pair_bound(BoundProblem(13, 26), below=14) is None
    assert pair_bound(BoundProblem(12, 24), below=6) is None
