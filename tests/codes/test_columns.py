from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import binary_codebooks

from ecoc.codes.columns import Dichotomies, columns_to_matrix, matrix_to_columns
from ecoc.errors import InvalidInputError, TooLargeError


@given(binary_codebooks())
def test_matrix_and_integers_round_trip_up_to_complement(code):
    columns = matrix_to_columns(code.matrix)
    np.testing.assert_array_equal(
        columns_to_matrix(columns, code.n_classes), code.normalise().matrix
    )


@given(binary_codebooks())
def test_distance_is_the_weight_of_the_exclusive_or(code):
    columns = matrix_to_columns(code.matrix)
    weights = np.bitwise_count(columns[:, None] ^ columns)
    np.testing.assert_array_equal(weights, code.column_distances("one-sided"))


def admissible(k, max_imbalance, sizes):
    """Every admissible column, from every sign vector with +1 for class 0."""
    found = []
    for signs in product([1, -1], repeat=k - 1):
        column = sum(1 << i for i, sign in enumerate(signs) if sign < 0)
        difference = abs(sizes[0] + sum(s * n for s, n in zip(signs, sizes[1:], strict=True)))
        if column and difference * 1000 <= round(max_imbalance * 1000) * sum(sizes):
            found.append(column)
    return sorted(found)


@given(st.integers(2, 8), st.integers(0, 10), st.data())
def test_balance_keeps_exactly_the_admissible_columns(k, tenths, data):
    sizes = data.draw(
        st.none() | st.lists(st.integers(1, 9), min_size=k, max_size=k), label="sizes"
    )
    columns = Dichotomies(k, max_imbalance=tenths / 10, class_sizes=sizes)
    expected = admissible(k, tenths / 10, sizes or [1] * k)
    assert list(columns) == expected
    assert len(columns) == len(expected)
    blocks = list(columns.blocks(size=5))
    assert np.concatenate(blocks).tolist() == expected


def test_counts_are_in_closed_form_where_listing_is_impossible():
    assert len(Dichotomies(60)) == 2**59 - 1
    assert len(Dichotomies(61, max_imbalance=0)) == 0
    with pytest.raises(TooLargeError, match=r"2\^59"):
        Dichotomies(60).to_array()


def test_shares_are_taken_as_decimals():
    # 0.1 of 30 is exactly 3, whatever binary floating point makes of it.
    sizes = [33, 17, 10]
    assert Dichotomies(3, max_imbalance=0.1, class_sizes=sizes).to_array().tolist() == [3]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_classes": 1}, "n_classes must be at least 2, not 1"),
        ({"n_classes": 64}, "at most 63"),
        ({"n_classes": 2.5}, "whole number"),
        ({"n_classes": 4, "max_imbalance": 1.5}, "at most 1"),
        ({"n_classes": 4, "max_imbalance": float("nan")}, "finite"),
        ({"n_classes": 4, "class_sizes": [1, 2]}, "each of the 4 classes"),
        ({"n_classes": 2, "class_sizes": [0, 2]}, r"class_sizes\[0\] must be at least 1"),
    ],
)
def test_arguments_are_checked(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        Dichotomies(**arguments)


def test_columns_out_of_range_are_refused():
    with pytest.raises(InvalidInputError, match="from 0 to 7"):
        columns_to_matrix([8], 4)
    with pytest.raises(InvalidInputError, match=r"entries \+1 and -1"):
        matrix_to_columns([[1], [0]])
