from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import binary_codebooks, codebooks, matrices

from ecoc.codes import Codebook, measures, one_vs_one
from ecoc.codes.measures import min_packed_distance


def distance(u, v):
    """Equation 1 of the paper, term by term."""
    return sum((1 - a * b) / 2 for a, b in zip(u.tolist(), v.tolist(), strict=True))


def decode(matrix, answers):
    """All classes at the least distance (equation 2)."""
    distances = [distance(row, answers) for row in matrix]
    return {i for i, d in enumerate(distances) if d == min(distances)}


def guaranteed_errors(matrix):
    """By trying every answer of every column, how many wrong ones decoding survives."""
    survives = matrix.shape[1]
    for true, row in enumerate(matrix):
        for answers in product([-1, 1], repeat=len(row)):
            if decode(matrix, np.array(answers)) != {true}:
                wrong = sum(a == -m for a, m in zip(answers, row.tolist(), strict=True))
                survives = min(survives, wrong - 1)
    return max(0, survives)


@given(matrices())
def test_distances_are_those_of_equation_1(matrix):
    expected = [[distance(u, v) for v in matrix] for u in matrix]
    np.testing.assert_array_equal(measures.distances(matrix), expected)


@given(matrices())
def test_two_sided_distance_is_the_lesser_of_column_and_complement(matrix):
    found = measures.distances(matrix, two_sided=True)
    for i, j in combinations(range(len(matrix)), 2):
        assert found[i, j] == min(distance(matrix[i], matrix[j]), distance(matrix[i], -matrix[j]))


@given(matrices())
def test_minimum_and_spectrum_agree_with_all_pairs(matrix):
    pairs = [distance(u, v) for u, v in combinations(matrix, 2)]
    assert measures.min_doubled_distance(matrix) == 2 * min(pairs)
    spectrum = measures.spectrum(matrix)
    assert spectrum == {d: pairs.count(d) for d in sorted(set(pairs))}
    assert list(spectrum) == sorted(spectrum)


def test_a_single_vector_has_no_distance():
    assert measures.min_doubled_distance(np.ones((1, 5), dtype=np.int8)) is None


def test_blocks_cover_every_pair(monkeypatch):
    monkeypatch.setattr(measures, "_BLOCK", 3)
    rng = np.random.default_rng(0)
    matrix = rng.integers(-1, 2, size=(11, 7)).astype(np.int8)
    expected = np.array([[distance(u, v) for v in matrix] for u in matrix])
    np.testing.assert_array_equal(measures.distances(matrix), expected)
    off_diagonal = expected[np.triu_indices(11, 1)]
    assert measures.min_doubled_distance(matrix) == 2 * off_diagonal.min()
    assert sum(measures.spectrum(matrix).values()) == 55
    assert measures.correctable_errors(matrix) >= 0


def test_the_scan_stops_at_a_known_floor(monkeypatch):
    monkeypatch.setattr(measures, "_BLOCK", 2)
    matrix = np.array([[1, 1, 1], [1, 1, -1], [1, -1, -1], [-1, -1, -1]], dtype=np.int8)
    blocks = []
    original = measures._doubled_blocks

    def counted(*args, **kwargs):
        for block in original(*args, **kwargs):
            blocks.append(block)
            yield block

    monkeypatch.setattr(measures, "_doubled_blocks", counted)
    assert measures.min_doubled_distance(matrix, at_least=2) == 2
    assert len(blocks) == 1


@given(binary_codebooks(max_classes=4, max_columns=4))
def test_correctable_errors_of_binary_codes(code):
    d = code.min_row_distance
    assert code.correctable_errors == max(0, (d - 1) // 2)
    assert code.correctable_errors == guaranteed_errors(code.matrix)


@given(codebooks(max_classes=4, max_columns=4))
def test_correctable_errors_are_what_decoding_survives(code):
    assert code.correctable_errors == guaranteed_errors(code.matrix)


def test_one_wrong_column_of_one_vs_one_can_change_the_decision():
    assert one_vs_one(10).min_row_distance == 23
    assert one_vs_one(10).correctable_errors == 0


@given(codebooks(), st.data())
def test_balance_counts_data_points(code, data):
    sizes = data.draw(
        st.lists(st.integers(1, 50), min_size=code.n_classes, max_size=code.n_classes)
    )
    balance = code.column_balance(sizes)
    for j, column in enumerate(code.matrix.T.tolist()):
        positive = sum(n for n, m in zip(sizes, column, strict=True) if m == 1)
        negative = sum(n for n, m in zip(sizes, column, strict=True) if m == -1)
        assert (balance.positive[j], balance.negative[j]) == (positive, negative)
        assert balance.imbalance[j] == pytest.approx(
            abs(positive - negative) / (positive + negative)
        )


def test_large_codebooks_are_measured_in_blocks():
    rng = np.random.default_rng(0)
    matrix = (2 * rng.integers(0, 2, size=(5000, 300)) - 1).astype(np.int8)
    matrix[4321] = matrix[17]
    matrix[4321, :9] *= -1
    assert Codebook(matrix).min_row_distance == 9


@pytest.mark.parametrize("length", [10, 64, 65, 200])
def test_bits_give_the_distance_that_products_give(length):
    rng = np.random.default_rng(length)
    matrix = (2 * rng.integers(0, 2, size=(300, length)) - 1).astype(np.int8)
    expected = measures.min_doubled_distance(matrix)
    assert 2 * min_packed_distance(matrix) == expected
    assert 2 * min_packed_distance(matrix, at_least=expected // 2) == expected
