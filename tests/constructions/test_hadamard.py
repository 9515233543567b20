import numpy as np
import pytest

from ecoc.constructions import (
    hadamard_matrix,
    hadamard_methods,
    hadamard_orders,
    is_hadamard,
    missing_orders,
)
from ecoc.errors import InfeasibleError, InvalidInputError, TooLargeError

UNKNOWN_ORDERS = (668, 716, 892)
"""No Hadamard matrix of these orders is known to anybody."""


def is_orthogonal(matrix):
    whole = matrix.astype(np.int64)
    return np.array_equal(whole @ whole.T, len(matrix) * np.eye(len(matrix), dtype=np.int64))


@pytest.mark.parametrize("order", hadamard_orders(200))
def test_every_method_gives_a_hadamard_matrix(order):
    for method in hadamard_methods(order):
        matrix = hadamard_matrix(order, method=method)
        assert matrix.shape == (order, order)
        assert set(np.unique(matrix)) <= {-1, 1}
        assert is_orthogonal(matrix)


def test_larger_orders():
    for order in hadamard_orders(1000):
        # The others are products of 2 with smaller ones, or like those above.
        if order > 200 and order % 8 == 4:
            # is_hadamard works in single precision, exact at these sizes.
            assert is_hadamard(hadamard_matrix(order))


def test_all_orders_to_1000_are_reached_but_those_unknown_to_anybody():
    assert hadamard_orders(200) == (1, 2, *range(4, 201, 4))
    assert missing_orders(1000) == UNKNOWN_ORDERS
    assert set(hadamard_orders(1000)) == {1, 2, *range(4, 1001, 4)} - set(UNKNOWN_ORDERS)


def test_a_missing_order_names_its_neighbours():
    with pytest.raises(InfeasibleError, match=r"order 668 .* 664 and 672"):
        hadamard_matrix(668)
    with pytest.raises(InfeasibleError, match=r"order 6 .* 4 and 8"):
        hadamard_matrix(6)


def test_bad_requests():
    with pytest.raises(InvalidInputError, match="at least 1"):
        hadamard_matrix(0)
    with pytest.raises(InvalidInputError, match="method must be one of"):
        hadamard_matrix(12, method="sylvester")
    with pytest.raises(TooLargeError):
        hadamard_matrix(1 << 20)


def test_the_matrix_returned_may_be_changed():
    hadamard_matrix(8)[0, 0] = -1
    assert is_hadamard(hadamard_matrix(8))


@pytest.mark.parametrize(
    "matrix", [[[1, 1], [1, 1]], [[1, 1]], [[2, 0], [0, 2]], [1, 1], [[1, 0], [0, 1]]]
)
def test_other_matrices_are_no_hadamard_matrices(matrix):
    assert not is_hadamard(matrix)
