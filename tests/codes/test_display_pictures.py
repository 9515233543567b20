import base64
import io
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from matplotlib.image import imread
from tests.strategies import any_codebooks

from ecoc.codes import (
    Codebook,
    balanced_random,
    dense_random,
    digits,
    display,
    exhaustive,
    one_vs_one,
    one_vs_rest,
)

VOID = {"image", "path", "meta", "br"}


class Balanced(HTMLParser):
    """Checks that tags close in order, and remembers what is referred to."""

    def __init__(self):
        super().__init__()
        self.open, self.links = [], []

    def handle_starttag(self, tag, attrs):
        self.links += [value for key, value in attrs if key in {"href", "src"}]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag


def images(html):
    for data in re.findall(r"data:image/png;base64,([^\"]+)", html):
        yield imread(io.BytesIO(base64.b64decode(data)))


@given(any_codebooks())
def test_the_picture_is_whole_and_self_contained(code):
    parser = Balanced()
    parser.feed(code._repr_html_())
    parser.close()
    assert parser.open == []
    assert all(link.startswith("data:") for link in parser.links)


def test_the_picture_has_a_pixel_for_every_entry():
    code = one_vs_one(5)
    matrix, heat = images(code._repr_html_())
    assert matrix.shape[:2] == code.matrix.shape
    assert heat.shape[:2] == (5, 5)
    for value, colour in ((1, display.PLUS), (0, display.UNUSED), (-1, display.MINUS)):
        shown = matrix[code.matrix == value][:, :3]
        assert np.allclose(shown * 255, colour, atol=0.6)


@pytest.mark.parametrize("q", [3, 8, 9, 36, 37, 127])
def test_symbols_have_colours_that_differ(q):
    colours = display._palette(q)
    assert len({tuple(colour) for colour in colours.tolist()}) == len(colours) == q


def test_symbols_are_written_where_they_fit():
    code = balanced_random(10, 12, n_symbols=4, random_state=0)
    html = code._repr_html_()
    matrix, _ = images(html)
    assert np.allclose(matrix[..., :3] * 255, display._palette(4)[code.matrix], atol=0.6)
    cells = re.findall(r'text-anchor="middle" fill="#...">(\w+)</text>', html.split("</svg>")[0])
    assert cells == [str(entry) for entry in code.matrix.ravel()]
    assert "a colour for each of 4 symbols" in html
    large = balanced_random(10, 100, n_symbols=4, random_state=0)._repr_html_()
    assert 'text-anchor="middle"' not in large.split("</svg>")[0]


def test_labels_and_names_are_escaped():
    code = Codebook([[1], [-1]], labels=["<script>", "b&b"], name="<b>")
    html = code._repr_html_()
    assert "<script>" not in html
    assert "&lt;script&gt;" in html
    assert "&lt;b&gt;" in html


def test_large_codebooks_are_cut_and_say_so():
    rng = np.random.default_rng(0)
    code = Codebook((2 * rng.integers(0, 2, size=(450, 900)) - 1).astype(np.int8))
    html = code._repr_html_()
    assert "first 400 classes, first 800 columns" in html
    assert len(html) < 300_000


def test_figures_of_a_picture_are_not_computed_at_any_cost(monkeypatch):
    monkeypatch.setattr(display, "CHEAP_DRAWING", 10)
    assert "are not computed" in dense_random(5, 6, random_state=0)._repr_html_()


@pytest.mark.parametrize(
    "code", [one_vs_one(4), one_vs_rest(50), exhaustive(3), exhaustive(2), digits(12, n_symbols=10)]
)
def test_plot_draws_matrix_and_distances(code):
    figure = code.relabel(f"class ${i}" for i in range(code.n_classes)).plot()
    assert len(figure.axes) == 3
    stream = io.BytesIO()
    figure.savefig(stream, format="png")
    assert stream.getvalue().startswith(b"\x89PNG")
