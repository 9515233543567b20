import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.codes.oracle import is_codebook
from tests.strategies import binary_codebooks, codebooks

from ecoc.codes import Codebook, Provenance, dense_random, one_vs_one, one_vs_rest
from ecoc.errors import InvalidCodebookError, InvalidInputError


@given(codebooks())
def test_generated_codebooks_are_valid(code):
    assert is_codebook(code.matrix)


def test_repeated_columns_are_accepted_when_meant():
    matrix = [[1, 1, -1], [-1, -1, 1]]
    code = Codebook(matrix, allow_repeated_columns=True)
    assert code.min_column_distance() == 0
    with pytest.raises(InvalidInputError, match="True or False"):
        Codebook(matrix, allow_repeated_columns="yes")


def test_labels_are_kept_as_text():
    assert Codebook([[1], [-1]], labels=[7, "b"]).labels == ("7", "b")
    assert Codebook([[1], [-1]], labels=np.array([3, 4])).labels == ("3", "4")


def test_provenance_is_checked():
    with pytest.raises(InvalidInputError, match="must be a Provenance"):
        Codebook([[1], [-1]], provenance={"method": "x"})
    with pytest.raises(InvalidInputError, match="finite"):
        Provenance("x", {"a": float("nan")})
    with pytest.raises(InvalidInputError, match="not object"):
        Provenance("x", {"a": object()})
    with pytest.raises(InvalidInputError, match="seed"):
        Provenance("x", seed=-1)


def test_a_codebook_cannot_be_changed():
    source = np.array([[1], [-1]], dtype=np.int8)
    code = Codebook(source)
    source[0] = -1
    assert code.matrix[0, 0] == 1
    with pytest.raises(ValueError, match="read-only"):
        code.matrix[0, 0] = -1
    with pytest.raises(AttributeError):
        code.name = "other"


@given(codebooks())
def test_pickled_codebooks_come_back_equal_and_frozen(code):
    copy = pickle.loads(pickle.dumps(code))
    assert copy == code
    assert (copy.name, copy.provenance) == (code.name, code.provenance)
    assert not copy.matrix.flags.writeable


@given(codebooks())
def test_equality_and_hash_go_by_matrix_and_labels(code):
    same = Codebook(code.matrix.astype(float), labels=code.labels)
    assert same == code
    assert hash(same) == hash(code)
    assert code != code.relabel([f"x{i}" for i in range(code.n_classes)])
    assert code != 3


@given(codebooks(), st.data())
def test_column_operations_keep_what_they_should(code, data):
    order = data.draw(st.permutations(range(code.n_columns)))
    some = data.draw(st.lists(st.sampled_from(range(code.n_columns)), unique=True))
    other = code.take_columns(order).complement_columns(some)
    assert other.is_equivalent(code)
    assert code.is_equivalent(other)
    assert other.labels == code.labels
    np.testing.assert_array_equal(other.row_distances(), code.row_distances())
    for rule in ("one-sided", "two-sided"):
        assert other.min_column_distance(rule) == code.min_column_distance(rule)
    normal = other.normalise()
    assert normal.is_equivalent(code)
    for column in normal.matrix.T.tolist():
        assert next(entry for entry in column if entry) == 1
    np.testing.assert_array_equal(
        code.complement_columns(some).matrix[:, some], -code.matrix[:, some]
    )


@given(binary_codebooks())
def test_codes_with_different_columns_are_not_equivalent(code):
    first, last = (
        Codebook(np.hstack([code.matrix, code.matrix[:, [j]]]), allow_repeated_columns=True)
        for j in (0, -1)
    )
    assert not first.is_equivalent(code)
    assert first.is_equivalent(last) == (code.n_columns == 1)


def test_class_order_matters_for_equivalence():
    a = Codebook.from_rows(["++", "+-", "-+"])
    assert not a.is_equivalent(a.take_rows([1, 0, 2]))


def test_rows_are_taken_with_their_labels():
    code = one_vs_one(4).relabel(list("abcd"))
    part = code.take_rows([2, 0], drop_useless_columns=True)
    assert part.labels == ("c", "a")
    assert part.rows == ("-", "+")
    with pytest.raises(InvalidCodebookError, match="lack"):
        code.take_rows([2, 0])
    with pytest.raises(InvalidInputError, match="at most 3, not 4"):
        code.take_rows([4, 0])


@given(binary_codebooks(), st.data())
def test_dropping_useless_columns_always_leaves_a_codebook(code, data):
    rows = data.draw(st.lists(st.sampled_from(range(code.n_classes)), min_size=2, unique=True))
    part = code.take_rows(rows, drop_useless_columns=True)
    assert part.n_classes == len(rows)


def test_concatenation_checks_classes_labels_and_repeats():
    a = one_vs_rest(4)
    with pytest.raises(InvalidInputError, match="same classes"):
        a.concatenate(one_vs_rest(3))
    with pytest.raises(InvalidInputError, match="same labels"):
        a.relabel(list("abcd")).concatenate(a.relabel(list("dcba")))
    with pytest.raises(InvalidCodebookError, match="equal to 0"):
        a.concatenate(a)
    assert a.concatenate(one_vs_one(4).relabel(list("abcd"))).labels == ("a", "b", "c", "d")


def test_separation_must_be_a_known_rule():
    with pytest.raises(InvalidInputError, match="Did you mean 'two-sided'"):
        one_vs_rest(4).column_distances("twosided")


def test_one_sided_distances_are_of_normalised_columns():
    code = Codebook.from_rows(["+++", "+-+", "+--", "-++"])
    assert code.column_distances("one-sided")[0, 1] == 3
    assert code.column_distances("two-sided")[0, 1] == 1
    assert code.complement_columns([1]).column_distances("one-sided")[0, 1] == 3


def test_row_distances_are_whole_for_binary_codes():
    assert one_vs_rest(4).row_distances().dtype.kind == "i"
    assert one_vs_one(4).row_distances().dtype.kind == "f"
    assert isinstance(dense_random(5, 6, random_state=0).min_row_distance, int)
    assert one_vs_one(4).min_row_distance == 3.5
