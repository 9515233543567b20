import numpy as np
import pytest

from ecoc.codes.display import MINUS, PLUS, UNUSED
from ecoc.paper.drawings import (
    Line,
    codebook_drawing,
    line_drawing,
    matrix_drawing,
    region_drawing,
)


def draw(*lines, **options):
    return line_drawing(lines, caption="t", x_label="x", y_label="y", **options)


def axes(drawing):
    return drawing.figure.axes


def pixels(ax):
    """The colours of a picture, as they reach the page."""
    (image,) = ax.images
    return np.round(255 * image.to_rgba(image.get_array())[..., :3]).astype(int).tolist()


def test_lines_go_through_their_points():
    (drawing,) = draw(Line("a", [(0, 0), (1, 10), (4, 20)]), Line("b", [(1, 3)], dashed=True))
    (ax,) = axes(drawing)
    assert [line.get_xydata().tolist() for line in ax.lines] == [
        [[0, 0], [1, 10], [4, 20]],
        [[1, 3]],
    ]
    assert [line.get_linestyle() for line in ax.lines] == ["-", "--"]
    assert [text.get_text() for text in drawing.figure.legends[0].get_texts()] == ["a", "b"]
    assert drawing.description == "a from 0 to 20; b from 3 to 3"


def test_scales():
    (drawing,) = draw(Line("s", [(1, 1), (2, 100), (3, 10_000)]), log_y=True)
    assert axes(drawing)[0].get_yscale() == "log"
    (drawing,) = draw(Line("s", [(1, 40), (2, 60)]), y_range=(0, 100))
    assert axes(drawing)[0].get_ylim() == (0, 100)


def test_nothing_to_draw():
    assert draw(Line("s", [])) == []
    assert draw(Line("s", [(1, 0), (2, -1)]), log_y=True) == []
    assert len(draw(Line("s", [(1, 0), (2, 1)]), log_y=True)) == 1


def test_codebook_has_a_pixel_for_each_entry():
    (ax,) = axes(codebook_drawing(["+-0", "-++"], {"2": 1}, "small"))
    (image,) = ax.images
    assert image.get_array().tolist() == [
        [list(PLUS), list(MINUS), list(UNUSED)],
        [list(MINUS), list(PLUS), list(PLUS)],
    ]


def test_bars_are_as_high_as_their_values():
    drawing = codebook_drawing(["+-0", "-++"], {"9.5": 4, "10": 8}, "small")
    (bars,) = axes(drawing)[1].collections
    assert [segment.tolist() for segment in bars.get_segments()] == [
        [[9.5, 0], [9.5, 4]],
        [[10, 0], [10, 8]],
    ]
    assert "9.5: 4, 10: 8" in drawing.description


def test_regions_of_a_class_have_one_colour_and_points_their_place():
    drawing = region_drawing(
        np.array([[0, 0], [1, 2]]),
        np.array([[[1, 0]], [[0, 1]]]),
        np.array([[0, 0], [255, 200]]),
        np.array([0, 2]),
        "regions",
    )
    plane, sides = axes(drawing)
    image = plane.images[0]
    colours = image.get_array()
    assert colours[0, 0].tolist() == colours[0, 1].tolist() != colours[1, 0].tolist()
    assert image.get_extent() == [0, 255, 0, 255]  # low values are at the bottom left
    assert [line.get_xydata().tolist() for line in plane.lines] == [[[0, 0]], [[255, 200]]]
    mosaic = sides.images[0].get_array()
    assert mosaic[0, :2].tolist() == [[*PLUS, 255], [*MINUS, 255]]
    assert mosaic[0, 3:5].tolist() == [[*MINUS, 255], [*PLUS, 255]]
    assert mosaic[0, 2].tolist() == [0, 0, 0, 0]


def test_matrix_goes_from_light_to_dark_and_grey_is_unknown():
    drawing = matrix_drawing([[0.0, 0.5], [1.0, None]], "P", low=0, high=1)
    found = np.array(pixels(axes(drawing)[0]))
    brightness = found.sum(axis=2)
    assert brightness[0, 0] > brightness[0, 1] > brightness[1, 0]
    assert found[1, 1].tolist() == list(UNUSED)


@pytest.mark.parametrize("value", [-1e15, 1e15, 3])
def test_values_off_the_scale_are_at_its_ends(value):
    drawing = matrix_drawing([[value]], "P", low=0, high=1)
    (image,) = axes(drawing)[0].images
    assert image.get_array().tolist() == [[0.0 if value < 0 else 1.0]]
