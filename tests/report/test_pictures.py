import base64
import io
import re

import numpy as np
from matplotlib.image import imread

from ecoc.codes.picture import MINUS, PLUS, UNUSED
from ecoc.experiments.arrays import pack
from ecoc.report.pictures import (
    codebook_picture,
    column_pictures,
    matrix_picture,
    region_picture,
)


def pixels(html):
    """The images of a fragment, as another program reads them."""
    found = re.findall(r"data:image/png;base64,([A-Za-z0-9+/=]+)", html)
    return [
        np.round(255 * imread(io.BytesIO(base64.b64decode(text)))).astype(int)[..., :3]
        for text in found
    ]


def test_codebook_has_a_pixel_for_each_entry():
    (image,) = pixels(codebook_picture(["+-0", "-++"], "small"))
    assert image.tolist() == [[list(PLUS), list(MINUS), list(UNUSED)],
                              [list(MINUS), list(PLUS), list(PLUS)]]  # fmt: skip


def test_columns_show_their_sides():
    first, second = pixels(column_pictures({"columns": pack([[[1, 0]], [[0, 1]]])}, "code"))
    assert first.tolist() == [[list(PLUS), list(MINUS)]]
    assert second.tolist() == [[list(MINUS), list(PLUS)]]


def test_regions_of_a_class_have_one_colour_and_points_their_place():
    data = {
        "regions": pack([[0, 0], [1, 2]]),
        "points": pack([[0, 0], [255, 255]]),
        "classes": pack([0, 2]),
    }
    picture = region_picture(data, "regions", size=300)
    (image,) = pixels(picture)
    assert image[0, 0].tolist() == image[0, 1].tolist() != image[1, 0].tolist()
    assert "M0 300h0" in picture  # low values are at the bottom left
    assert "M300 0h0" in picture


def test_matrix_goes_from_light_to_dark_and_grey_is_unknown():
    (image,) = pixels(matrix_picture([[0.0, 0.5], [1.0, None]], "P", low=0, high=1))
    brightness = image.sum(axis=2)
    assert brightness[0, 0] > brightness[0, 1] > brightness[1, 0]
    assert image[1, 1].tolist() == list(UNUSED)
