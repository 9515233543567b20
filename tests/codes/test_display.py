import numpy as np
from hypothesis import given
from tests.strategies import codebooks

from ecoc.codes import Codebook, dense_random, display, one_vs_one, one_vs_rest


def test_repr_is_one_line_with_what_matters():
    assert repr(one_vs_rest(4)) == (
        "<Codebook 'one-vs-rest': 4 classes x 4 columns, row distance 2, column distance 2>"
    )
    assert "ternary, row distance 3.5" in repr(one_vs_one(4))
    assert "1 column," in repr(one_vs_one(2))


def test_repr_of_a_large_codebook_measures_nothing():
    rng = np.random.default_rng(0)
    code = Codebook((2 * rng.integers(0, 2, size=(2000, 100)) - 1).astype(np.int8))
    assert repr(code) == "<Codebook: 2000 classes x 100 columns>"
    assert "min_row_distance" not in code.__dict__


@given(codebooks())
def test_text_shows_every_entry(code):
    lines = display.text(code, colour=False).splitlines()
    assert [line[-2 * code.n_columns + 1 :].replace(" ", "") for line in lines] == list(code.rows)


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
