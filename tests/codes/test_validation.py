import numpy as np
import pytest
from hypothesis import given
from tests.codes.oracle import is_codebook
from tests.strategies import codebooks, matrices

from ecoc.codes import Codebook
from ecoc.errors import InvalidCodebookError, InvalidInputError


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        ([1, -1], "two dimensions (classes x columns), not 1"),
        ([[1, -1], [1]], "rows of equal length"),
        ([["+"], ["-"]], "the numbers -1, 0 and +1"),
        ([[True], [False]], "the numbers -1, 0 and +1"),
        ([[1, 1, 3]], "3 in row 0, column 2"),
        ([[1.0], [float("nan")]], "nan in row 1, column 0"),
        ([[1, -1, 1]], "at least 2 classes (rows); the matrix has 1"),
        (np.zeros((3, 0)), "at least 1 column"),
        ([[1, 1], [1, -1]], "Column 0 lacks a +1 or a -1"),
        ([[1, 0, 1], [1, 0, -1]], "Columns 0, 1 lack"),
        ([[1, 0], [0, 1]], "pass 2 * m - 1"),
        ([[1, 1], [-1, 1], [-1, -1], [-1, 1]], "Rows 1 and 3 are equal"),
        ([[1, 0], [-1, 1], [0, -1]], "No column puts rows 0 and 2 on different sides"),
        ([[1, 1, 1], [-1, -1, 1], [1, 1, -1]], "Column 1 (equal to 0)"),
        ([[1, -1, 1], [-1, 1, 1], [1, -1, -1]], "Column 1 (complementary to 0)"),
    ],
)
def test_what_is_no_codebook_is_refused_by_name(matrix, message):
    with pytest.raises(InvalidCodebookError) as error:
        Codebook(matrix)
    assert message in str(error.value)


@given(matrices(max_classes=4, max_columns=4))
def test_validity_agrees_with_the_definition(matrix):
    try:
        Codebook(matrix)
        valid = True
    except InvalidCodebookError:
        valid = False
    assert valid == is_codebook(matrix)


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("ab", "sequence"),
        (["a"], "one entry for each of the 2 classes, not 1"),
        (["a", "a"], "distinct; repeated: a"),
        (["a", ""], "labels[1] must have 1 to 256 characters"),
        (["a", "b\n"], "labels[1] must be printable"),
        (["a", "\ud800"], "labels[1] must be printable"),
        (["a", 1.5], "labels[1] must be text or a whole number"),
        (["a", None], "labels[1] must be text or a whole number"),
    ],
)
def test_labels_are_checked(labels, message):
    with pytest.raises(InvalidInputError) as error:
        Codebook([[1], [-1]], labels=labels)
    assert message in str(error.value)


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 257, 3])
def test_names_are_checked(name):
    with pytest.raises(InvalidInputError, match="name must be printable"):
        Codebook([[1], [-1]], name=name)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (["+x", "--"], "Row 0 must hold only '+', '-' and '0'; got 'x'"),
        (["+", "--"], "row 0 has 1 column, row 1 has 2"),
        ([], "got no rows"),
        ([1, 2], "Row 0 must be text"),
        ("+-", "at least 2 classes"),
    ],
)
def test_rows_of_text_are_checked(rows, message):
    with pytest.raises(InvalidCodebookError) as error:
        Codebook.from_rows(rows)
    assert message in str(error.value)


@given(codebooks())
def test_rows_of_text_round_trip(code):
    assert Codebook.from_rows(code.rows, labels=code.labels) == code
