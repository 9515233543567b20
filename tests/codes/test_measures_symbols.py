"""Measures of codebooks of more than two symbols, against their definitions by loops."""

from itertools import combinations, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.strategies import binary_codebooks, symbol_codebooks

from ecoc.codes import Codebook, balanced_random, digits, measures, one_vs_one
from ecoc.codes.measures import key_figures
from ecoc.errors import UnsupportedError


def distance(u, v):
    return sum(a != b for a, b in zip(u.tolist(), v.tolist(), strict=True))


def renaming_distance(u, v, q):
    """The least distance under any renaming of the symbols."""
    return min(distance(np.array(names)[u], v) for names in permutations(range(q)))


@given(symbol_codebooks())
def test_distances_of_rows(code):
    pairs = [distance(u, v) for u, v in combinations(code.matrix, 2)]
    expected = [[distance(u, v) for v in code.matrix] for u in code.matrix]
    np.testing.assert_array_equal(code.row_distances(), expected)
    assert code.min_row_distance == min(pairs)
    assert code.row_distance_spectrum() == {d: pairs.count(d) for d in sorted(set(pairs))}


def test_blocks_cover_every_pair(monkeypatch):
    monkeypatch.setattr(measures, "_BLOCK", 3)
    monkeypatch.setattr(measures, "_TABLE_ENTRIES", 36)
    code = balanced_random(11, 7, n_symbols=3, random_state=0)
    expected = [[distance(u, v) for v in code.matrix] for u in code.matrix]
    np.testing.assert_array_equal(code.row_distances(), expected)
    assert sum(code.row_distance_spectrum().values()) == 55
    columns = code.matrix.T
    expected = [[renaming_distance(u, v, 3) for v in columns] for u in columns]
    np.testing.assert_array_equal(code.column_distances(), expected)
    assert code.min_column_distance() == min(np.array(expected)[np.triu_indices(7, 1)])


@given(symbol_codebooks(max_classes=6))
def test_distances_of_columns_are_up_to_renaming(code):
    columns = code.matrix.T
    expected = [[renaming_distance(u, v, code.n_symbols) for v in columns] for u in columns]
    np.testing.assert_array_equal(code.column_distances(), expected)
    pairs = np.array(expected)[np.triu_indices(code.n_columns, 1)]
    assert code.min_column_distance() == (min(pairs) if len(pairs) else None)


@given(binary_codebooks())
def test_two_symbols_renamed_are_the_two_sided_rule(code):
    columns = ((1 - code.matrix.T) // 2).astype(np.int8)
    expected = code.column_distances()
    np.testing.assert_array_equal(measures.renaming_distances(columns, 2), expected)
    assert measures.min_renaming_distance(columns, 2) == code.min_column_distance()


@given(hnp.arrays(np.float32, (3, 4, 4), elements=st.integers(0, 9)))
def test_no_matching_is_above_its_bound(tables):
    bounds = measures._matching_bounds(tables)
    for table, bound in zip(tables, bounds, strict=True):
        best = max(sum(table[i, j] for i, j in enumerate(p)) for p in permutations(range(4)))
        assert measures._largest_matching(table) == best <= bound


def test_few_pairs_of_columns_are_matched(monkeypatch):
    matched = []
    original = measures._largest_matching
    monkeypatch.setattr(
        measures, "_largest_matching", lambda table: matched.append(1) or original(table)
    )
    code = balanced_random(200, 60, n_symbols=10, n_candidates=1, random_state=0)
    least = code.min_column_distance()
    few = len(matched)
    matched.clear()
    assert code.column_distances()[np.triu_indices(60, 1)].min() == least
    assert few < len(matched) // 2 == 60 * 59 // 4


def test_the_scan_stops_at_a_known_floor(monkeypatch):
    matched = []
    original = measures._largest_matching
    monkeypatch.setattr(
        measures, "_largest_matching", lambda table: matched.append(1) or original(table)
    )
    matrix = np.array([[0, 0, 0], [1, 1, 0], [2, 2, 1], [2, 1, 2]])
    assert Codebook(matrix, n_symbols=3).min_column_distance() == 1
    assert len(matched) == 1


def decode(matrix, answers):
    distances = [distance(row, answers) for row in matrix]
    return {i for i, d in enumerate(distances) if d == min(distances)}


@given(symbol_codebooks(max_classes=4, max_columns=3))
def test_correctable_errors_are_what_decoding_survives(code):
    survives = code.n_columns
    for true, row in enumerate(code.matrix):
        for answers in product(range(code.n_symbols), repeat=code.n_columns):
            if decode(code.matrix, np.array(answers)) != {true}:
                survives = min(survives, distance(row, np.array(answers)) - 1)
    assert code.correctable_errors == survives == (code.min_row_distance - 1) // 2


@given(symbol_codebooks(), st.data())
def test_balance_counts_data_points_of_the_groups_that_are_there(code, data):
    k = code.n_classes
    sizes = data.draw(st.none() | st.lists(st.integers(1, 50), min_size=k, max_size=k))
    balance = code.column_balance(sizes)
    sizes = sizes or [1] * k
    for j, column in enumerate(code.matrix.T.tolist()):
        groups = [
            sum(n for n, entry in zip(sizes, column, strict=True) if entry == symbol)
            for symbol in range(code.n_symbols)
        ]
        assert balance.groups[:, j].tolist() == groups
        used = [size for size in groups if size]
        assert balance.imbalance[j] == pytest.approx((max(used) - min(used)) / sum(sizes))


def agreements(matrix):
    return np.array([[np.sum(u == v) for v in matrix] for u in matrix], dtype=float)


@given(symbol_codebooks() | binary_codebooks())
def test_the_eigenvalue_is_that_on_vectors_of_sum_zero(code):
    k = code.n_classes
    basis = np.linalg.qr(np.column_stack([np.ones(k), np.eye(k)[:, 1:]]))[0][:, 1:]
    expected = np.linalg.eigvalsh(basis.T @ agreements(code.matrix) @ basis)[0]
    assert code.min_eigenvalue == pytest.approx(expected, abs=1e-6)
    assert code.min_eigenvalue <= code.min_row_distance + 1e-6
    # Positive where the probabilities of columns have but one source.
    incidence = np.hstack([code.matrix == entry for entry in np.unique(code.matrix)]).T
    rank = np.linalg.matrix_rank(incidence.astype(float) @ basis)
    assert (code.min_eigenvalue > 0) == (rank == k - 1)


def test_too_few_columns_identify_nothing():
    assert digits(9, n_symbols=3).min_eigenvalue == 0
    with pytest.raises(UnsupportedError, match="not for ternary codes"):
        _ = one_vs_one(4).min_eigenvalue


def test_key_figures():
    figures = key_figures(digits(9, n_symbols=3))
    assert figures == {
        "n_classes": 9,
        "n_columns": 2,
        "kind": "q-ary",
        "n_symbols": 3,
        "min_row_distance": 1,
        "correctable_errors": 0,
        "row_distance_spectrum": {"1": 18, "2": 18},
        "min_column_distance": 6,
        "max_imbalance": 0.0,
    }
    assert measures.shown_figures(digits(9, n_symbols=3))["min_eigenvalue"] == 0
    assert "min_eigenvalue" not in measures.shown_figures(one_vs_one(4))


def test_the_distance_of_two_columns_is_the_least_over_all_names():
    rng = np.random.default_rng(0)
    for _ in range(30):
        a, b = rng.integers(3, size=(2, 7))
        assert measures.renaming_distance(a, b) == renaming_distance(a, b, 3)
        assert measures.renaming_distance(b, a) == renaming_distance(a, b, 3)
