"""Weighing matrices: orthogonal in integers, and there where they are known to exist."""

from itertools import combinations

import numpy as np
import pytest

from ecoc.constructions.ternary import construct_ternary
from ecoc.constructions.weighing import weighing_matrix
from ecoc.errors import InvalidInputError


def is_weighing(matrix, n, w):
    whole = matrix.astype(int)
    right = matrix.shape == (n, n) and set(np.unique(whole)) <= {-1, 0, 1}
    return right and np.array_equal(whole @ whole.T, w * np.eye(n))


@pytest.mark.parametrize("n", range(1, 25))
def test_every_matrix_is_orthogonal(n):
    weights = [w for w in range(1, n + 1) if weighing_matrix(n, w) is not None]
    assert all(is_weighing(weighing_matrix(n, w), n, w) for w in weights)
    if n % 2:
        assert set(weights) <= {1, 4, 9, 16}
    if n % 4 == 2:
        # Weights of such orders are sums of two squares.
        squares = {i * i + j * j for i in range(6) for j in range(6)}
        assert set(weights) <= squares
    if n in {4, 8, 12, 16, 24}:
        # All weights exist of the orders that four divides, and most of them are found here.
        assert len(weights) >= 0.7 * n


@pytest.mark.parametrize(("q", "n"), [(2, 7), (3, 13), (4, 21), (5, 31), (7, 57), (8, 73), (9, 91)])
def test_planes_give_circulants_whose_rows_meet_equally_often(q, n):
    matrix = weighing_matrix(n, q * q)
    assert is_weighing(matrix, n, q * q)
    assert all(np.array_equal(np.roll(matrix[0], i), matrix[i]) for i in range(n))
    opposite = {(matrix[p] * matrix[r] == -1).sum() for p, r in combinations(range(n), 2)}
    assert opposite == {q * (q - 1) // 2}


def test_what_does_not_exist_or_is_not_asked_for():
    assert weighing_matrix(7, 5) is None
    assert weighing_matrix(6, 3) is None
    with pytest.raises(InvalidInputError):
        weighing_matrix(7, 8)


def test_planes_are_codebooks_that_meet_the_average():
    codes = [c.matrix for c in construct_ternary(21, 21, 16) if c.method == "weighing"]
    pairs = list(combinations(range(21), 2))
    covers = [{int((m[p] * m[r] == -1).sum()) for p, r in pairs} for m in codes]
    assert {6} in covers
