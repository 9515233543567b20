from __future__ import annotations

import numpy as np
import pytest

from ecoc.constructions.differences import (
    SEARCHED,
    difference_matrix,
    difference_parts,
    is_difference_matrix,
)


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
