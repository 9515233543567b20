"""Drawings of tables and figures, by matplotlib, from plain values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc.codes.display import MINUS, PLUS, UNUSED

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "COLOURS",
    "Drawing",
    "Line",
    "codebook_drawing",
    "line_drawing",
    "matrix_drawing",
    "region_drawing",
]

COLOURS = {
    "blue": "#1f5fa6",
    "orange": "#b35c00",
    "green": "#1b7f4b",
    "red": "#b3261e",
    "purple": "#6b4fa0",
    "grey": "#5b6675",
}
"""The colours of lines."""

_CLASS_COLOURS = (
    (78, 121, 167), (242, 142, 43), (89, 161, 79), (225, 87, 89), (176, 122, 161),
    (237, 201, 72), (118, 183, 178), (255, 157, 167), (156, 117, 95), (140, 140, 140),
)  # fmt: skip
_SIGNS = {"+": PLUS, "-": MINUS, "0": UNUSED}
_HEAT = ((255, 250, 240), (253, 170, 80), (130, 20, 40))
_MANY_TICKS = 12
_TILES = 5


@dataclass(frozen=True, eq=False)
class Drawing:
    """A figure of matplotlib with the words that go with it.

    Attributes
    ----------
    figure : matplotlib.figure.Figure
        What is seen.
    caption : str
        What it shows.
    description : str
        More for those who cannot see it.
    """

    figure: Figure
    caption: str
    description: str = ""


@dataclass(frozen=True)
class Line:
    """A line of a drawing.

    Attributes
    ----------
    name : str
        For the legend.
    points : sequence of pairs
        x and y, in the order of x.
    colour : str
        A key of :data:`COLOURS`.
    dashed : bool
        Whether the line is broken.
    """

    name: str
    points: Sequence[tuple[float, float]]
    colour: str = "blue"
    dashed: bool = False


def line_drawing(
    lines: Sequence[Line],
    *,
    caption: str,
    x_label: str,
    y_label: str,
    log_y: bool = False,
    y_range: tuple[float, float] | None = None,
) -> list[Drawing]:
    """Lines with markers and a legend; no drawing where there is nothing to draw.

    Examples
    --------
    >>> line = Line("a", [(1, 2), (2, 3)])
    >>> (drawn,) = line_drawing([line], caption="t", x_label="x", y_label="y")
    >>> drawn.description
    'a from 2 to 3'
    """
    from matplotlib.figure import Figure

    shown = [line for line in lines if line.points]
    if not any(y > 0 or not log_y for line in shown for _, y in line.points):
        return []
    figure = Figure(figsize=(5.2, 3.7), layout="constrained")
    ax = figure.subplots()
    if log_y:
        ax.set_yscale("log", nonpositive="mask")
    for line in shown:
        across, up = zip(*line.points, strict=True)
        style = "--" if line.dashed else "-"
        colour = COLOURS[line.colour]
        ax.plot(across, up, style, marker="o", markersize=4, color=colour, label=line.name)
    _bare(ax)
    ax.grid(axis="y", color="#d5dae1")
    ax.set(xlabel=x_label, ylabel=y_label)
    if y_range is not None:
        ax.set_ylim(*y_range)
    ticks = sorted({x for line in shown for x, _ in line.points})
    if len(ticks) <= _MANY_TICKS:
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    figure.legend(loc="outside lower center", ncols=2, frameon=False, fontsize="small")
    told = "; ".join(
        f"{line.name} from {line.points[0][1]:g} to {line.points[-1][1]:g}" for line in shown
    )
    return [Drawing(figure, caption, told)]


def codebook_drawing(rows: Sequence[str], spectrum: Mapping[str, int], caption: str) -> Drawing:
    """A codebook, blue +1, orange -1, grey 0, above its row distances if they differ.

    Examples
    --------
    >>> codebook_drawing(["+-0", "-+-"], {"2": 1}, "2 x 3").caption
    '2 x 3'
    """
    from matplotlib.figure import Figure

    height, width = len(rows), len(rows[0])
    pixels = np.array([[_SIGNS[sign] for sign in row] for row in rows], dtype=np.uint8)
    several = len(spectrum) > 1
    size = (float(np.clip(0.14 * width, 2.6, 8)), float(np.clip(0.14 * height, 0.7, 8)))
    figure = Figure(figsize=(size[0], size[1] + 1.7 * several), layout="constrained")
    ratios = [size[1], 1.7][: 1 + several]
    axes = figure.subplots(1 + several, 1, squeeze=False, height_ratios=ratios)[:, 0]
    _pixels(axes[0], pixels)
    if not several:
        return Drawing(figure, caption)
    distances = sorted((float(distance), count) for distance, count in spectrum.items())
    places, counts = np.array(distances).T
    # Lines, since thousands of bars would take minutes.
    axes[1].vlines(places, 0, counts, color=COLOURS["blue"], linewidth=max(1, 60 / len(places)))
    axes[1].set(xlabel="row distance", ylabel="pairs", ylim=(0, None))
    axes[1].margins(x=0.15)
    if len(places) <= _MANY_TICKS:
        axes[1].set_xticks(places, [f"{place:g}" for place in places])
    _bare(axes[1])
    told = ", ".join(f"{place:g}: {count:g}" for place, count in distances)
    return Drawing(figure, caption, f"Its row distances: {told}")


def region_drawing(
    regions: npt.NDArray[np.uint8],
    columns: npt.NDArray[np.uint8],
    points: npt.NDArray[np.uint8],
    classes: npt.NDArray[np.uint8],
    caption: str,
) -> Drawing:
    """The region of each class on a plane with the points, above the two sides of each column.

    Parameters
    ----------
    regions : array of shape (height, width)
        The class of each place, the top row first.
    columns : array of shape (n_columns, height, width)
        The sides, 0 and 1.
    points : array of shape (n_points, 2)
        x and y from 0 to 255, the left and the bottom to the right and the top.
    classes : array of shape (n_points,)
        The classes of the points.
    caption : str
        What it shows.
    """
    from matplotlib.figure import Figure

    colours = np.array(_CLASS_COLOURS)
    washed = ((colours + 2 * 255) // 3).astype(np.uint8)
    mosaic = _mosaic(np.array([MINUS, PLUS], dtype=np.uint8)[columns])
    below = float(np.clip(4 * mosaic.shape[0] / mosaic.shape[1], 0.4, 8))
    figure = Figure(figsize=(4, 4 + below), layout="constrained")
    plane, sides = figure.subplots(2, 1, height_ratios=[4, below])
    plane.imshow(
        washed[regions % len(colours)],
        extent=(0, 255, 0, 255),
        aspect="auto",
        interpolation="none",
    )
    for number in np.unique(classes):
        places = points[classes == number]
        colour = colours[int(number) % len(colours)] / 255
        plane.plot(places[:, 0], places[:, 1], ".", markersize=3, color=colour)
    plane.set_axis_off()
    _pixels(sides, mosaic)
    return Drawing(figure, caption)


def matrix_drawing(
    values: Sequence[Sequence[float | None]], caption: str, *, low: float, high: float
) -> Drawing:
    """A heat map from white over orange to dark red; grey where there is no value.

    Examples
    --------
    >>> matrix_drawing([[0.1, None], [None, 0.3]], "P", low=0, high=1).caption
    'P (scale 0 to 1)'
    """
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure

    colours = LinearSegmentedColormap.from_list("heat", [_share(rgb) for rgb in _HEAT])
    matrix = np.array([[np.nan if v is None else v for v in row] for row in values], dtype=float)
    figure = Figure(figsize=(3.6, 3), layout="constrained")
    ax = figure.subplots()
    image = ax.imshow(
        np.clip(matrix, low, high),
        cmap=colours.with_extremes(bad=_share(UNUSED)),
        vmin=low,
        vmax=high,
        aspect="auto",
        interpolation="none",
    )
    ax.set_axis_off()
    figure.colorbar(image, ax=ax)
    return Drawing(figure, f"{caption} (scale {low:g} to {high:g})")


def _mosaic(tiles: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """All tiles in one picture, some side by side, with nothing between."""
    n, height, width, _ = tiles.shape
    gap_down, gap_across = 1 + height // 20, 1 + width // 20
    across = min(n, _TILES)
    down = -(-n // across)
    canvas = np.zeros(
        (down * (height + gap_down), across * (width + gap_across), 4), dtype=np.uint8
    )
    for number, tile in enumerate(tiles):
        y = number // across * (height + gap_down)
        x = number % across * (width + gap_across)
        canvas[y : y + height, x : x + width, :3] = tile
        canvas[y : y + height, x : x + width, 3] = 255
    return canvas


def _pixels(ax: Axes, pixels: npt.NDArray[np.uint8]) -> None:
    ax.imshow(pixels, aspect="auto", interpolation="none")
    ax.set_axis_off()


def _bare(ax: Axes) -> None:
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def _share(rgb: Any) -> tuple[float, float, float]:
    red, green, blue = (part / 255 for part in rgb)
    return red, green, blue
