"""Codebooks of more than two symbols."""

import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tests.strategies import symbol_codebooks

from ecoc.codes import Codebook, balanced_random, digits, one_vs_rest
from ecoc.codes.validation import check_two_symbols
from ecoc.errors import InvalidCodebookError, InvalidInputError, UnsupportedError


@pytest.mark.parametrize(
    ("matrix", "q", "message"),
    [
        ([[0], [1], [3]], 3, "3 symbols must be whole numbers 0 to 2; got 3 in row 2, column 0"),
        ([[0], [1], [-1]], 3, "got -1 in row 2, column 0"),
        ([[0], [1.5], [2]], 3, "got 1.5 in row 1"),
        ([[0], [float("nan")], [2]], 3, "got nan in row 1"),
        ([["0"], ["1"], ["2"]], 3, "the numbers 0 to 2, not <U1"),
        ([[0], [1], [2]], 4, "at most the number of classes, 3, not 4"),
        ([[0], [1]], 9, "pass n_symbols=2"),
        ([[0], [1], [2]], 128, "n_symbols must be at most 127, not 128"),
        ([[1], [-1]], 1, "n_symbols must be at least 2, not 1"),
        ([[1], [-1]], 2.0, "n_symbols must be a whole number"),
        ([[0, 2], [1, 2], [2, 2]], 3, "Column 1 has one symbol for all classes"),
        ([[0, 2, 1], [1, 2, 1], [2, 2, 1]], 3, "Columns 1, 2 have one symbol"),
        ([[0, 2], [1, 1], [0, 2]], 3, "Rows 0 and 2 are equal"),
        ([[0, 2], [1, 0], [2, 1]], 3, "Column 1 (equal to 0 with other symbols)"),
        ([[0, 0], [1, 1], [2, 2]], 3, "Column 1 (equal to 0)"),
        ([[0], [1], [2]], 2, "For the symbols 0 to q - 1 pass n_symbols=q"),
    ],
)
def test_what_is_no_codebook_is_refused_by_name(matrix, q, message):
    with pytest.raises(InvalidInputError) as error:
        Codebook(matrix, n_symbols=q)
    assert message in str(error.value)


def splits(column):
    """The groups of classes that a column makes, whatever their names."""
    return frozenset(
        frozenset(i for i, entry in enumerate(column) if entry == symbol) for symbol in column
    )


def is_codebook(matrix):
    """The definition, by loops."""
    columns = [splits(column) for column in matrix.T.tolist()]
    rows = {tuple(row) for row in matrix.tolist()}
    return (
        all(len(column) > 1 for column in columns)
        and len(rows) == len(matrix)
        and len(set(columns)) == len(columns)
    )


@given(
    hnp.arrays(np.int8, st.tuples(st.integers(3, 4), st.integers(1, 3)), elements=st.integers(0, 2))
)
def test_validity_agrees_with_the_definition(matrix):
    try:
        Codebook(matrix, n_symbols=3)
        valid = True
    except InvalidCodebookError:
        valid = False
    assert valid == is_codebook(matrix)


def test_repeated_columns_are_accepted_when_meant():
    code = Codebook([[0, 2], [1, 0], [2, 1]], n_symbols=3, allow_repeated_columns=True)
    assert code.min_column_distance() == 0


def test_columns_may_use_fewer_symbols():
    assert Codebook([[0, 0], [0, 1], [2, 2]], n_symbols=3).n_symbols == 3


def test_two_symbols_are_signs():
    assert Codebook([[1], [-1]], n_symbols=2) == Codebook([[1], [-1]])
    assert one_vs_rest(4).n_symbols == 2


def test_three_symbols_are_not_a_ternary_code():
    matrix = [[0, 1], [1, 0], [2, 1]]
    code = Codebook(matrix, n_symbols=3)
    assert not code.is_binary
    assert code.min_row_distance == 1
    assert code.row_distances().dtype.kind == "i"


@given(symbol_codebooks())
def test_pickled_codebooks_come_back_equal_and_frozen(code):
    copy = pickle.loads(pickle.dumps(code))
    assert copy == code
    assert hash(copy) == hash(code)
    assert not copy.matrix.flags.writeable


def test_the_number_of_symbols_is_part_of_the_value():
    matrix = [[0, 0], [1, 0], [2, 1], [2, 2]]
    assert Codebook(matrix, n_symbols=3) != Codebook(matrix, n_symbols=4)
    assert not Codebook(matrix, n_symbols=3).is_equivalent(Codebook(matrix, n_symbols=4))


@given(symbol_codebooks(), st.data())
def test_order_of_columns_and_names_of_symbols_do_not_matter(code, data):
    order = data.draw(st.permutations(range(code.n_columns)))
    names = [data.draw(st.permutations(range(code.n_symbols))) for _ in order]
    matrix = np.array(
        [[names[j][entry] for j, entry in enumerate(row)] for row in code.matrix.tolist()]
    )
    other = Codebook(matrix[:, order], n_symbols=code.n_symbols)
    assert other.is_equivalent(code)
    np.testing.assert_array_equal(other.row_distances(), code.row_distances())
    assert other.min_column_distance() == code.min_column_distance()
    assert other.min_eigenvalue == pytest.approx(code.min_eigenvalue, abs=1e-6)
    normal = other.normalise()
    assert normal.is_equivalent(code)
    assert sorted(map(bytes, normal.matrix.T)) == sorted(map(bytes, code.normalise().matrix.T))
    for column in normal.matrix.T.tolist():
        assert list(dict.fromkeys(column)) == list(range(len(set(column))))


@given(symbol_codebooks(), st.data())
def test_dropping_useless_columns_always_leaves_a_codebook(code, data):
    rows = data.draw(st.lists(st.sampled_from(range(code.n_classes)), min_size=2, unique=True))
    part = code.take_rows(rows, drop_useless_columns=True)
    assert part.n_classes == len(rows)
    assert part.n_symbols == min(code.n_symbols, len(rows))
    assert part.is_binary == (part.n_symbols == 2)
    before = code.row_distances()[np.ix_(rows, rows)] > 0
    np.testing.assert_array_equal(part.row_distances() > 0, before)
    assert {splits(column) for column in part.matrix.T.tolist()} == {
        split for split in map(splits, code.matrix[rows].T.tolist()) if len(split) > 1
    }


def test_rows_are_taken_with_their_symbols_where_they_suffice():
    code = digits(9, n_symbols=3)
    np.testing.assert_array_equal(code.take_rows([0, 4, 8, 5]).matrix, code.matrix[[0, 4, 8, 5]])
    with pytest.raises(InvalidCodebookError, match="at least 2 classes"):
        code.take_rows([0])


def test_concatenation_needs_as_many_symbols():
    code = digits(9, n_symbols=3)
    more = balanced_random(9, 4, n_symbols=3, random_state=0)
    assert code.concatenate(more).n_symbols == 3
    with pytest.raises(InvalidInputError, match="this one has 3, another 2"):
        code.concatenate(one_vs_rest(9))


def test_what_only_two_symbols_have_is_refused():
    code = digits(9, n_symbols=3)
    with pytest.raises(UnsupportedError, match="not one of 3 symbols"):
        code.complement_columns([0])
    for measure in (code.column_distances, code.min_column_distance):
        with pytest.raises(InvalidInputError, match="up to renaming symbols"):
            measure("one-sided")
    check_two_symbols(one_vs_rest(4), "This")


@given(symbol_codebooks())
def test_rows_of_text_round_trip(code):
    assert Codebook.from_rows(code.rows, n_symbols=code.n_symbols, labels=code.labels) == code


@pytest.mark.parametrize(
    ("q", "last"), [(3, "2"), (10, "9"), (11, "a"), (36, "z"), (37, "36"), (127, "126")]
)
def test_every_symbol_can_be_written(q, last):
    code = Codebook(np.arange(q)[:, None], n_symbols=q)
    assert Codebook.from_rows(code.rows, n_symbols=q) == code
    assert code.rows[-1] == last


@pytest.mark.parametrize(
    ("rows", "q", "message"),
    [
        (["0", "1", "3"], 3, "Row 2 must hold only the symbols '0' to '2'; got '3'"),
        (["0", "1", "+"], 3, "got '+'"),
        (["00", "1", "2"], 3, "row 0 has 2 columns, row 1 has 1"),
        (["0 1", "1 40"], 40, "Row 1 must hold only the symbols '0' to '39' with a space"),
        (["0  1", "1 3"], 40, "got ''"),
        (["0 01", "1 3"], 40, "got '01'"),
        (["²", "1", "2"], 3, "got '²'"),
        (["0", "1", 2], 3, "Row 2 must be text"),
    ],
)
def test_rows_of_text_are_checked(rows, q, message):
    with pytest.raises(InvalidCodebookError) as error:
        Codebook.from_rows(rows, n_symbols=q)
    assert message in str(error.value)


def test_all_pairs_of_columns_of_one_vs_rest_in_three_symbols():
    """A class of its own, another, and the rest: one-vs-rest as a special case."""
    k = 5
    pairs = list(combinations(range(k), 2))
    matrix = np.zeros((k, len(pairs)), dtype=int)
    for j, (a, b) in enumerate(pairs):
        matrix[a, j], matrix[b, j] = 1, 2
    code = Codebook(matrix, n_symbols=3)
    assert code.min_row_distance == 2 * (k - 1) - 1
    assert code.column_balance().max_imbalance == (k - 3) / k
