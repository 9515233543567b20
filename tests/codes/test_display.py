import numpy as np
from hypothesis import given
from tests.strategies import any_codebooks

from ecoc.codes import (
    Codebook,
    balanced_random,
    dense_random,
    digits,
    display,
    one_vs_one,
    one_vs_rest,
)


def test_repr_is_one_line_with_what_matters():
    assert repr(one_vs_rest(4)) == (
        "<Codebook 'one-vs-rest': 4 classes x 4 columns, row distance 2, column distance 2>"
    )
    assert "ternary, row distance 3.5" in repr(one_vs_one(4))
    assert "1 column," in repr(one_vs_one(2))
    assert repr(digits(9, n_symbols=3)) == (
        "<Codebook 'digits': 9 classes x 2 columns, 3 symbols, row distance 1, column distance 6>"
    )


def test_repr_of_a_large_codebook_measures_nothing():
    rng = np.random.default_rng(0)
    code = Codebook((2 * rng.integers(0, 2, size=(2000, 100)) - 1).astype(np.int8))
    assert repr(code) == "<Codebook: 2000 classes x 100 columns>"
    assert "min_row_distance" not in code.__dict__


@given(any_codebooks())
def test_text_shows_every_entry(code):
    lines = display.text(code, colour=False).splitlines()
    assert [line[-2 * code.n_columns + 1 :].replace(" ", "") for line in lines] == list(code.rows)


def test_wide_symbols_stand_below_each_other():
    code = Codebook([[0, 9], [38, 1], *([i, i] for i in range(2, 40))], n_symbols=40)
    assert display.text(code, colour=False).splitlines()[:3] == [
        "0    0  9",
        "1   38  1",
        "2    2  2",
    ]


def test_every_symbol_has_a_colour():
    code = balanced_random(9, 4, n_symbols=8, random_state=0)
    for entry in range(8):
        assert f"m{entry}\033[0m" in display.text(code, colour=True)


def test_long_labels_and_large_codes_are_cut_and_say_so():
    code = dense_random(70, 90, n_candidates=1, random_state=0)
    text = display.text(code, colour=False)
    assert text.endswith("(60 of 70 classes, 80 of 90 columns shown)")
    assert "…" in str(Codebook([[1], [-1]], labels=["x" * 50, "y"]))


def test_colour_only_where_a_terminal_can_show_it(monkeypatch):
    assert "\033[" in display.text(one_vs_rest(3), colour=True)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\033[" in str(one_vs_rest(3))
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\033[" not in str(one_vs_rest(3))
