import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from ecoc.codes.columns import (
    Dichotomies,
    column_counts_by_weight,
    columns_to_matrix,
    least_difference,
    separable_pairs,
)

sizes_of_classes = st.lists(st.integers(1, 40), min_size=2, max_size=9)


def differences(sizes):
    """Every column as an integer, and the difference of its sides."""
    columns = Dichotomies(len(sizes)).to_array()
    return columns, np.abs(np.array(sizes) @ columns_to_matrix(columns, len(sizes)))


@given(sizes_of_classes, st.integers(0, 60))
def test_counts_are_those_of_all_columns(sizes, limit):
    columns, apart = differences(sizes)
    limit = min(limit, sum(sizes) - 1)
    weights = np.bitwise_count(columns[apart <= limit])
    expected = np.bincount(weights, minlength=len(sizes)).tolist()
    assert list(column_counts_by_weight(tuple(sizes), limit)) == expected


@given(sizes_of_classes)
def test_the_least_difference_is_that_of_all_columns(sizes):
    assert least_difference(sizes) == differences(sizes)[1].min()


@given(sizes_of_classes, st.integers(0, 60))
def test_pairs_are_told_apart_where_some_column_does(sizes, limit):
    columns, apart = differences(sizes)
    matrix = columns_to_matrix(columns[apart <= limit], len(sizes))
    expected = (matrix[:, None] != matrix[None]).any(axis=2)
    assert np.array_equal(separable_pairs(sizes, limit), expected)


def test_the_columns_of_26_classes_are_never_listed(monkeypatch):
    def forbidden(*_):
        raise AssertionError("all columns were looked at")

    monkeypatch.setattr(Dichotomies, "blocks", forbidden)
    sizes = tuple(range(100, 126))
    assert sum(column_counts_by_weight(sizes, sum(sizes))) == 2**25 - 1
    assert least_difference(sizes) == 1
    assert separable_pairs(sizes, 1).sum() == 26 * 25
