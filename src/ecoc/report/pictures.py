"""Pictures from the arrays in records: codebooks, decision regions, matrices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc.codes.picture import MINUS, PLUS, UNUSED, Pixels, png_base64
from ecoc.experiments.arrays import unpack
from ecoc.report.charts import figure

__all__ = ["codebook_picture", "column_pictures", "matrix_picture", "region_picture"]

_CLASS_COLOURS = (
    (78, 121, 167), (242, 142, 43), (89, 161, 79), (225, 87, 89), (176, 122, 161),
    (237, 201, 72), (118, 183, 178), (255, 157, 167), (156, 117, 95), (140, 140, 140),
)  # fmt: skip
_SIGNS = {"+": PLUS, "-": MINUS, "0": UNUSED}


def codebook_picture(rows: Sequence[str], caption: str, *, cell: int = 11) -> str:
    """A codebook: blue +1, orange -1, grey 0.

    Examples
    --------
    >>> 'alt="2 x 3' in codebook_picture(["+-0", "-+-"], "2 x 3")
    True
    """
    pixels = np.array([[_SIGNS[sign] for sign in row] for row in rows], dtype=np.uint8)
    return figure(_image(pixels, caption, cell * len(rows[0]), cell * len(rows)), caption)


def region_picture(data: Mapping[str, Any], caption: str, *, size: int = 300) -> str:
    """The region of each class on a plane, and the training points."""
    regions, points, classes = (unpack(data[name]) for name in ("regions", "points", "classes"))
    colours = np.array(_CLASS_COLOURS)
    washed = (colours + 2 * 255) // 3
    pixels = washed[regions % len(colours)].astype(np.uint8)
    dots = []
    for number in np.unique(classes):
        places = points[classes == number] * (size / 255)
        path = "".join(f"M{x:.0f} {size - y:.0f}h0" for x, y in places)
        red, green, blue = _CLASS_COLOURS[int(number) % len(_CLASS_COLOURS)]
        dots.append(f'<path d="{path}" stroke="rgb({red},{green},{blue})"/>')
    drawing = (
        f'<svg role="img" aria-label="{escape(caption)}" viewBox="0 0 {size} {size}" '
        f'width="{size}" height="{size}"><image href="data:image/png;base64,{png_base64(pixels)}" '
        f'width="{size}" height="{size}" preserveAspectRatio="none" '
        'style="image-rendering:pixelated"/><g stroke-width="4" stroke-linecap="round">'
        f"{''.join(dots)}</g></svg>"
    )
    return figure(drawing, caption)


def column_pictures(data: Mapping[str, Any], told: str) -> str:
    """The two sides of every column, as small pictures."""
    palette = np.array([MINUS, PLUS], dtype=np.uint8)
    pictures = [
        _image(palette[grid], f"{told}: decision of column {number}", 84, 84)
        for number, grid in enumerate(unpack(data["columns"]), start=1)
    ]
    return f'<div class="columns">{"".join(pictures)}</div>'


def matrix_picture(
    values: Sequence[Sequence[float | None]], caption: str, *, low: float, high: float
) -> str:
    """A heat map from white over orange to dark red; grey where there is no value.

    Examples
    --------
    >>> matrix_picture([[0.1, None], [None, 0.3]], "P", low=0, high=1).count("<img")
    1
    """
    found = np.array([[np.nan if v is None else v for v in row] for row in values])
    share = np.clip((found - low) / (high - low), 0, 1)
    known = ~np.isnan(share)
    stops: npt.NDArray[np.float64] = np.array([(255, 250, 240), (253, 170, 80), (130, 20, 40)])
    pixels: Pixels = np.full((*found.shape, 3), UNUSED, dtype=np.uint8)
    for channel in range(3):
        pixels[..., channel][known] = np.interp(share[known], [0, 0.5, 1], stops[:, channel])
    scale = f" (scale {low:g} to {high:g})"
    return figure(_image(pixels, caption + scale, 240, 240), caption + scale)


def _image(pixels: Pixels, alt: str, width: int, height: int) -> str:
    return (
        f'<img src="data:image/png;base64,{png_base64(pixels)}" alt="{escape(alt)}" '
        f'width="{width}" height="{height}" class="pixels">'
    )
