"""Codebooks shown: one line for a shell, text for a terminal, HTML, figures of matplotlib.

The pictures in HTML are tiny PNG images, one pixel for a cell, enlarged inside an SVG drawing:
a large codebook stays as small a page as a little one, and nothing is loaded from outside.
"""

from __future__ import annotations

import base64
import os
import struct
import sys
import zlib
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc._latex import booktabs, escaped
from ecoc.codes.measures import FIGURE_TITLES, shown_figures
from ecoc.codes.validation import entry_names

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ecoc.codes.codebook import Codebook

__all__ = ["class_names", "figure", "html", "latex", "png_base64", "summary", "text"]

PLUS, MINUS, UNUSED = (31, 95, 166), (230, 159, 0), (222, 226, 230)
NEAR, FAR = np.array((255, 245, 220)), np.array((84, 39, 143))

# Colours that people who are colour-blind tell apart: Okabe and Ito's, and for more symbols
# steps of a scale from dark blue to yellow, on which lightness alone orders them.
_FEW_SYMBOLS = (
    *((0, 114, 178), (230, 159, 0), (0, 158, 115), (204, 121, 167)),
    *((86, 180, 233), (213, 94, 0), (240, 228, 66), (110, 110, 110)),
)
_SCALE = np.array([(0, 34, 78), (53, 69, 108), (102, 105, 112), (148, 142, 119), (254, 232, 56)])

MAX_DRAWN_CLASSES = 400
MAX_DRAWN_COLUMNS = 800
CHEAP_DRAWING = 10_000_000_000
"""Multiplications that the figures of a picture may cost."""

Pixels = npt.NDArray[np.uint8]


# ----------------------------------------------------------------------- text

CHEAP = 100_000_000
"""Multiplications that a one-line summary may cost."""

MAX_ROWS = 60
MAX_COLUMNS = 80

_COLOURS = {1: "\033[34m", -1: "\033[31m", 0: "\033[2m"}
_SYMBOL_COLOURS = tuple(f"\033[{code}m" for code in (34, 33, 32, 35, 36, 31))
_RESET = "\033[0m"


def summary(codebook: Codebook) -> str:
    """One line: the size and, where they are cheap to know, the distances."""
    k, length = codebook.matrix.shape
    parts = [f"{k} classes x {length} column{'s' if length != 1 else ''}"]
    if codebook.n_symbols > 2:
        parts.append(f"{codebook.n_symbols} symbols")
    elif not codebook.is_binary:
        parts.append("ternary")
    if measuring_cost(codebook) <= CHEAP:
        parts.append(f"row distance {codebook.min_row_distance:g}")
        least = codebook.min_column_distance()
        if least is not None:
            parts.append(f"column distance {least:g}")
    name = f" {codebook.name!r}" if codebook.name else ""
    return f"<Codebook{name}: {', '.join(parts)}>"


def measuring_cost(codebook: Codebook) -> int:
    """Multiplications that the distances of rows and of columns cost."""
    k, length = codebook.n_classes, codebook.n_columns
    return k * length * (k + length) * (codebook.n_symbols // 2)


def class_names(codebook: Codebook) -> list[str]:
    """The labels of the classes, or their numbers."""
    return list(codebook.labels or map(str, range(codebook.n_classes)))


def text(codebook: Codebook, *, colour: bool | None = None) -> str:
    """The matrix, a line for each class; large ones are cut, and say so.

    `colour` None colours only where standard output is a terminal that can.
    """
    if colour is None:
        colour = _terminal_has_colour()
    k, length = codebook.matrix.shape
    names = [_fit(name, 24) for name in class_names(codebook)[:MAX_ROWS]]
    width = max(map(len, names))
    written = entry_names(codebook.n_symbols)
    cell_width = max(map(len, written.values()))
    shown = {
        entry: f"{_colour(entry, codebook.n_symbols)}{cell:>{cell_width}}{_RESET}"
        if colour
        else f"{cell:>{cell_width}}"
        for entry, cell in written.items()
    }
    lines = []
    for name, row in zip(names, codebook.matrix[:MAX_ROWS, :MAX_COLUMNS].tolist(), strict=True):
        cells = (shown[entry] for entry in row)
        more = " ..." if length > MAX_COLUMNS else ""
        lines.append(f"{name:<{width}}  {' '.join(cells)}{more}")
    if k > MAX_ROWS or length > MAX_COLUMNS:
        cut = f"{min(k, MAX_ROWS)} of {k} classes, {min(length, MAX_COLUMNS)} of {length} columns"
        lines.append(f"({cut} shown)")
    return "\n".join(lines)


def latex(codebook: Codebook) -> str:
    """The whole matrix as a table for LaTeX."""
    names = entry_names(codebook.n_symbols)
    # A hyphen is shorter than a plus sign; in formulas both are signs.
    shown = {entry: f"${name}$" if name in "+-" else name for entry, name in names.items()}
    lines = [["class", *map(str, range(codebook.n_columns))]]
    for name, row in zip(class_names(codebook), codebook.matrix.tolist(), strict=True):
        lines.append([escaped(name), *(shown[entry] for entry in row)])
    return booktabs(lines, columns=f"l*{{{codebook.n_columns}}}{{c}}")


def _colour(entry: int, n_symbols: int) -> str:
    if n_symbols == 2:
        return _COLOURS[entry]
    return _SYMBOL_COLOURS[entry % len(_SYMBOL_COLOURS)]


def _fit(name: str, limit: int) -> str:
    return name if len(name) <= limit else name[: limit - 1] + "…"


def _terminal_has_colour() -> bool:
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return sys.stdout is not None and sys.stdout.isatty()


# ------------------------------------------------------------------- pictures


def html(codebook: Codebook) -> str:
    """An HTML fragment that shows a codebook; it needs no style sheet and no network."""
    k, length = codebook.matrix.shape
    shown = codebook.matrix[:MAX_DRAWN_CLASSES, :MAX_DRAWN_COLUMNS]
    names = class_names(codebook)[:MAX_DRAWN_CLASSES]
    palette = _palette(codebook.n_symbols)
    drawings = [
        _drawing(
            palette[shown.astype(np.intp)],
            names,
            _matrix_caption(codebook),
            texts=_symbol_texts(shown, codebook.n_symbols),
        )
    ]
    if k <= MAX_DRAWN_CLASSES:
        distances = codebook.row_distances()
        caption = f"Row distances: {codebook.min_row_distance:g} at the least"
        heat = _heat_pixels(distances)
        texts = np.array([[f"{distance:g}" for distance in row] for row in distances.tolist()])
        np.fill_diagonal(texts, "")
        drawings.append(_drawing(heat, names, caption, texts=texts))
    title = escape(codebook.name or "Codebook")
    return (
        '<div class="ecoc-codebook" style="font-family:system-ui,sans-serif;line-height:1.4">'
        f'<p style="margin:0 0 .5em"><strong>{title}</strong>: {k} classes x {length} columns</p>'
        f'<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start">'
        f"{''.join(drawings)}{_figures_table(codebook)}</div></div>"
    )


def _matrix_caption(codebook: Codebook) -> str:
    k, length = codebook.matrix.shape
    if codebook.n_symbols > 2:
        legend = f"a colour for each of {codebook.n_symbols} symbols"
    else:
        legend = "blue +1, orange -1" + ("" if codebook.is_binary else ", grey not used")
    if k <= MAX_DRAWN_CLASSES and length <= MAX_DRAWN_COLUMNS:
        return f"Codebook: {legend}"
    classes, columns = min(k, MAX_DRAWN_CLASSES), min(length, MAX_DRAWN_COLUMNS)
    cut = f"first {classes} classes, first {columns} columns"
    return f"Codebook ({cut}): {legend}"


def _palette(n_symbols: int) -> Pixels:
    """The colour of each entry, at its index; that of -1 is the last one."""
    if n_symbols == 2:
        return np.array([UNUSED, PLUS, MINUS], dtype=np.uint8)
    if n_symbols <= len(_FEW_SYMBOLS):
        return np.array(_FEW_SYMBOLS[:n_symbols], dtype=np.uint8)
    places = np.linspace(0, len(_SCALE) - 1, n_symbols)
    channels = [np.interp(places, range(len(_SCALE)), channel) for channel in _SCALE.T]
    return np.stack(channels, axis=1).astype(np.uint8)


def _symbol_texts(matrix: npt.NDArray[np.int8], n_symbols: int) -> npt.NDArray[np.str_] | None:
    """What is written into the cells: symbols, where colours alone do not name them."""
    if n_symbols == 2:
        return None
    texts: npt.NDArray[np.str_] = np.array(list(entry_names(n_symbols).values()))[
        matrix.astype(np.intp)
    ]
    return texts


def _is_dark(pixels: Pixels) -> npt.NDArray[np.bool_]:
    """Whether white text is easier to read on a colour than black."""
    dark: npt.NDArray[np.bool_] = pixels @ np.array([0.299, 0.587, 0.114]) < 140
    return dark


def _heat_pixels(distances: npt.NDArray[Any]) -> Pixels:
    off_diagonal = ~np.eye(len(distances), dtype=bool)
    low, high = distances[off_diagonal].min(), distances[off_diagonal].max()
    share = np.clip((distances - low) / max(high - low, 1), 0, 1)[..., None]
    pixels: Pixels = (NEAR + share * (FAR - NEAR)).astype(np.uint8)
    pixels[~off_diagonal] = UNUSED
    return pixels


def _drawing(
    pixels: Pixels,
    names: list[str],
    caption: str,
    texts: npt.NDArray[np.str_] | None = None,
) -> str:
    height, width = pixels.shape[:2]
    cell = max(2, min(22, 640 // max(width, height)))
    labelled = cell >= 9
    margin = 8 + 7 * min(16, max(map(len, names))) if labelled else 0
    x_size, y_size = margin + cell * width, cell * height
    parts = [
        (
            f'<svg role="img" aria-label="{escape(caption)}" viewBox="0 0 {x_size} {y_size}" '
            f'width="{x_size}" height="{y_size}" style="max-width:100%;height:auto">'
            f'<image href="data:image/png;base64,{png_base64(pixels)}" x="{margin}" y="0" '
            f'width="{cell * width}" height="{y_size}" preserveAspectRatio="none" '
            'style="image-rendering:pixelated"/>'
        )
    ]
    if labelled:
        parts.append(_grid(margin, cell, width, height))
        parts.extend(
            f'<text x="{margin - 6}" y="{cell * (i + 0.72):.1f}" font-size="{0.62 * cell:.1f}" '
            f'text-anchor="end" fill="currentColor">{escape(_fit(name, 16))}</text>'
            for i, name in enumerate(names)
        )
    if texts is not None and cell >= (12 if texts.dtype == "<U1" else 18):
        parts.extend(_cell_texts(texts, _is_dark(pixels), margin, cell))
    return (
        f'<figure style="margin:0">{"".join(parts)}</svg>'
        f'<figcaption style="font-size:.85em">{escape(caption)}</figcaption></figure>'
    )


def _grid(margin: int, cell: int, width: int, height: int) -> str:
    lines = [f"M{margin + cell * j} 0V{cell * height}" for j in range(1, width)]
    lines += [f"M{margin} {cell * i}H{margin + cell * width}" for i in range(1, height)]
    return f'<path d="{"".join(lines)}" stroke="#fff" stroke-width="1" fill="none"/>'


def _cell_texts(
    texts: npt.NDArray[np.str_], dark: npt.NDArray[np.bool_], margin: int, cell: int
) -> list[str]:
    return [
        f'<text x="{margin + cell * (j + 0.5):.1f}" y="{cell * (i + 0.68):.1f}" '
        f'font-size="{0.5 * cell:.1f}" text-anchor="middle" '
        f'fill="{"#fff" if dark[i, j] else "#222"}">{text}</text>'
        for (i, j), text in np.ndenumerate(texts)
        if text
    ]


def _figures_table(codebook: Codebook) -> str:
    if measuring_cost(codebook) > CHEAP_DRAWING:
        return "<p>The distances of so large a codebook are not computed for a picture.</p>"
    rows = "".join(
        '<tr><th scope="row" style="text-align:left;font-weight:normal;padding:.1em 1em .1em 0">'
        f'{escape(FIGURE_TITLES[name])}</th><td style="text-align:left">{_figure(value)}</td></tr>'
        for name, value in shown_figures(codebook).items()
    )
    return f'<table style="border-collapse:collapse;font-size:.9em"><tbody>{rows}</tbody></table>'


def _figure(value: object) -> str:
    if isinstance(value, dict):
        items = [f"{distance}: {count:,}" for distance, count in value.items()]
        if len(items) > 8:
            items = [*items[:4], "…", *items[-3:]]
        return escape(", ".join(items))
    if isinstance(value, float):
        return f"{value:.3g}"
    return "none" if value is None else escape(str(value))


def png_base64(pixels: Pixels) -> str:
    """Encode an RGB image as PNG in base64."""
    height, width = pixels.shape[:2]
    lines = np.zeros((height, 1 + 3 * width), dtype=np.uint8)
    lines[:, 1:] = pixels.reshape(height, -1)
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    ]
    data = b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
    return base64.b64encode(data).decode("ascii")


def figure(codebook: Codebook) -> Figure:
    """Draw the matrix beside a heat map of the row distances."""
    from matplotlib.colors import LinearSegmentedColormap
    from matplotlib.figure import Figure
    from matplotlib.ticker import MaxNLocator

    k, length = codebook.matrix.shape
    with_distances = k <= MAX_DRAWN_CLASSES
    height = float(np.clip(0.26 * k + 1.4, 2.6, 12))
    width = float(np.clip(0.26 * length + 1.5, 3, 14))
    drawing = Figure(
        figsize=(width + with_distances * (height + 0.6), height), layout="constrained"
    )
    axes = drawing.subplots(
        1, 1 + with_distances, squeeze=False, width_ratios=[width, height][: 1 + with_distances]
    )[0]

    pixels = _palette(codebook.n_symbols)[codebook.matrix.astype(np.intp)]
    axes[0].imshow(pixels, aspect="auto", interpolation="nearest")
    texts = _symbol_texts(codebook.matrix, codebook.n_symbols)
    if texts is not None and k <= 40 and length <= 50:
        for (i, j), dark in np.ndenumerate(_is_dark(pixels)):
            ink = "white" if dark else "black"
            axes[0].text(j, i, texts[i, j], color=ink, ha="center", va="center", fontsize=7)
    axes[0].set(title=codebook.name or "Codebook", xlabel="column", ylabel="class")
    axes[0].xaxis.set_major_locator(MaxNLocator(integer=True))
    if k <= 40:
        axes[0].set_yticks(range(k), class_names(codebook), parse_math=False)
        axes[0].set_yticks(np.arange(k - 1) + 0.5, minor=True)
        axes[0].grid(which="minor", axis="y", color="white")
        axes[0].tick_params(which="minor", length=0)
    if with_distances:
        distances = codebook.row_distances().astype(float)
        np.fill_diagonal(distances, np.nan)
        scale = LinearSegmentedColormap.from_list("distance", [NEAR / 255, FAR / 255])
        image = axes[1].imshow(distances, cmap=scale, interpolation="nearest")
        axes[1].set(
            title=f"Row distances (min {codebook.min_row_distance:g})",
            xlabel="class",
            ylabel="class",
        )
        for axis in (axes[1].xaxis, axes[1].yaxis):
            axis.set_major_locator(MaxNLocator(integer=True))
        drawing.colorbar(image, ax=axes[1])
    return drawing
