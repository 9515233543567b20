from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecoc.codes import Codebook, dense_random, digits
from ecoc.constructions import construct, hadamard_matrix
from ecoc.design import design_codebook
from ecoc.design.arrangement import balance_columns
from ecoc.errors import UnsupportedError


def cost(matrix):
    sums = matrix.sum(axis=0).astype(int)
    return abs(sums).max(), (sums**4).sum()


@given(st.integers(3, 6), st.integers(3, 9), st.integers(0, 10_000))
def test_no_choice_of_signs_is_better(k, length, seed):
    length = min(length, 2 ** (k - 1) - 1)
    code = dense_random(k, length, random_state=seed)
    found = balance_columns(code)
    choices = [code.matrix * np.array(signs)[:, None] for signs in product([1, -1], repeat=k)]
    allowed = [
        matrix
        for matrix in choices
        if min((a != b).sum() for a, b in combinations(matrix, 2)) >= code.min_row_distance
    ]
    assert cost(found.matrix) == min(cost(matrix) for matrix in allowed)


def test_signs_are_of_two_symbols():
    with pytest.raises(UnsupportedError, match="not one of 3 symbols"):
        balance_columns(digits(9, n_symbols=3))


@given(st.integers(3, 30), st.integers(0, 10_000))
def test_distances_stay(k, seed):
    # Half of the columns that exist at most, since all of them are hardly met by chance.
    length = min(2 * k, 2 ** (k - 2))
    code = dense_random(k, length, n_candidates=1000, random_state=seed)
    found = balance_columns(code)
    assert found.min_row_distance >= code.min_row_distance
    assert np.array_equal(found.column_distances(), code.column_distances())
    assert cost(found.matrix) <= cost(code.matrix)


def test_many_codewords_of_a_hadamard_matrix():
    matrix = hadamard_matrix(64)[:49].copy()
    matrix[1] *= -1
    code = Codebook(matrix)
    found = balance_columns(code)
    assert found.min_row_distance == 32
    assert cost(code.matrix)[0] == 47
    assert cost(found.matrix)[0] < 20


def test_a_balanced_codebook_is_returned_as_it_is():
    code = Codebook([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    assert balance_columns(code) is code


@pytest.mark.parametrize("k", [10, 12, 16])
def test_designs_are_balanced(k):
    design = design_codebook(k, 2 * k)
    assert balance_columns(design.codebook) is design.codebook
    assert design.stages[-1].name == "balance"


def test_thousands_of_codewords_need_no_table_of_all_distances(monkeypatch):
    def forbidden(self):
        raise AssertionError("all distances were listed")

    code = construct(3000, 24, random_state=0)
    monkeypatch.setattr(Codebook, "row_distances", forbidden)
    found = balance_columns(code)
    assert found.min_row_distance >= code.min_row_distance
    assert cost(found.matrix) <= cost(code.matrix)


def test_nothing_is_done_after_the_deadline():
    code = construct(49, 70, random_state=0)
    assert balance_columns(code) is not code
    assert balance_columns(code, deadline=0.0) is code
