import numpy as np
import pytest

from ecoc.atlas import expand_recipe
from ecoc.atlas.recipes import pack_words
from ecoc.errors import FileFormatError

A = ["words", 2, 3, pack_words([[0, 1, 1], [1, 0, 1]])[3]]


@pytest.mark.parametrize(
    ("recipe", "rows"),
    [
        (A, ["011", "101"]),
        (["fill", 1, 2, 1], ["11"]),
        (["differences", [4], "0111"], ["0111", "1011", "1101", "1110"]),
        (["sums", [3], "011"], ["011", "110", "101"]),
        (["differences", [2, 2], "0011"], ["0011", "0011", "1100", "1100"]),
        (["span", ["011", "110"]], ["000", "011", "110", "101"]),
        (["rows", [3, 0], ["span", ["011", "110"]]], ["101", "000"]),
        (["rows", [1, 1], A], ["101", "101"]),
        (["without", [1], A], ["01", "11"]),
        (["beside", A, A], ["011011", "101101"]),
        (["below", A, ["negate", A]], ["011", "101", "100", "010"]),
        (["transpose", A], ["01", "10", "11"]),
        (["normalise", 2, A], ["100", "010"]),
        (["kron", ["fill", 1, 1, 1], A], ["100", "010"]),
        (["kron", ["words", 1, 2, "QA=="], ["fill", 1, 1, 0]], ["01"]),
        (["use", "a"], ["011", "101"]),
    ],
)
def test_operations_give_what_the_document_says(recipe, rows):
    matrix = expand_recipe(recipe, matrices={"a": A})
    assert ["".join(map(str, row)) for row in matrix.tolist()] == rows


@pytest.mark.parametrize("n_symbols", [2, 3, 5, 10])
def test_words_come_back_as_they_were(n_symbols):
    matrix = np.random.default_rng(0).integers(0, n_symbols, (7, 5))
    assert (expand_recipe(pack_words(matrix, n_symbols), n_symbols) == matrix).all()


def nested(depth):
    recipe = A
    for _ in range(depth):
        recipe = ["negate", recipe]
    return recipe


@pytest.mark.parametrize(
    ("recipe", "reason"),
    [
        ({}, "must be a list"),
        (["surprise"], "no operation"),
        (["fill", 1, 2], "takes 3 arguments"),
        (["fill", 1, 2, True], "a whole number"),
        (["fill", 1 << 20, 1 << 20, 0], "whole number|no 1048576 rows"),
        (["fill", 1, 1, 2], "none of 2"),
        (["words", 2, 3, "????"], "base64"),
        (["words", 2, 30, "NA=="], "do not have"),
        (["differences", [4], "011"], "has no 3 symbols"),
        (["differences", [3], "0_1"], "digits"),
        (["differences", [3], "021"], "none of 2"),
        (["span", ["01", "0"]], "of one length"),
        (["span", ["0"] * 21], "1 to 20"),
        (["rows", [2], A], "counted from 0 to 1"),
        (["rows", [-1], A], "counted from 0 to 1"),
        (["rows", [4], ["span", ["011", "110"]]], "counted from 0 to 3"),
        (["rows", [], A], "counted"),
        (["beside", A, ["fill", 1, 1, 0]], "differ in size"),
        (["beside"], "takes 1 arguments"),
        (["without", [0, 1, 2], A], "no matrix"),
        (["use", "b"], "no matrix 'b'"),
        (["use", "c"], "no matrix 'c'"),
        (nested(30), "deep"),
    ],
)
def test_what_is_no_recipe_is_refused(recipe, reason):
    with pytest.raises(FileFormatError, match=reason):
        # A matrix that uses itself uses one that does not stand before it.
        expand_recipe(recipe, matrices={"a": A, "c": ["use", "c"]})


def test_two_symbols_only_are_negated():
    with pytest.raises(FileFormatError, match="two symbols"):
        expand_recipe(["negate", ["fill", 2, 2, 2]], 3)
