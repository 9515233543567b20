"""Proof data of the wrong kind are rejected, whatever they are."""

from fractions import Fraction

import pytest

from ecoc.bounds.checking.reading import (
    RejectedError,
    field,
    fraction,
    integer,
    integers,
    record,
    text,
)


def test_what_is_right_comes_back_as_it_is():
    assert record({"a": 1}, "it") == {"a": 1}
    assert field({"a": None}, "a") is None
    assert integer(-3, "it", low=-3, high=-3) == -3
    assert fraction("12/10", "it") == Fraction(6, 5)
    assert fraction("0", "it") == 0
    assert integers([2, 0], "it", 0, 2) == [2, 0]
    assert integers([-(1 << 99)], "it", None, 1) == [-(1 << 99)]
    assert text("word", "it", most=4) == "word"


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: record([("a", 1)], "it"), "it is not a record"),
        (lambda: record({1: 1}, "it"), "it is not a record"),
        (lambda: field({"a": 1}, "b"), "no field 'b'"),
        (lambda: integer(True, "it"), "it is not a whole number"),
        (lambda: integer(1.0, "it"), "it is not a whole number"),
        (lambda: integer(1 << (1 << 14), "it"), "it is too long a number"),
        (lambda: integer(-1, "it"), "it is out of range"),
        (lambda: integer(5, "it", high=4), "it is out of range"),
        (lambda: fraction(1, "it"), "it is not the text of a fraction"),
        (lambda: fraction("-1", "it"), "it is not the text of a fraction"),
        (lambda: fraction("1/0", "it"), "it is not the text of a fraction"),
        (lambda: fraction("9" * 201, "it"), "it is not the text of a fraction"),
        (lambda: integers((1, 2), "it", 0, 2), "it is not a list of at most 2 whole numbers"),
        (lambda: integers([1, 2, 3], "it", 0, 2), "it is not a list of at most 2 whole numbers"),
        (lambda: integers([1, "2"], "it", 0, 2), "an entry of it is not a whole number"),
        (lambda: integers([-1], "it", 0, 2), "an entry of it is out of range"),
        (lambda: text(b"word", "it"), "it is not a string"),
        (lambda: text("words", "it", most=4), "it is not a string of at most 4 characters"),
    ],
)
def test_what_is_not_right_is_rejected(read, message):
    with pytest.raises(RejectedError, match=message):
        read()
