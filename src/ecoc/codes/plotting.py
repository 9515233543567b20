"""Codebooks drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ecoc.codes.display import class_names
from ecoc.codes.picture import FAR, MAX_DRAWN_CLASSES, MINUS, NEAR, PLUS, UNUSED

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ecoc.codes.codebook import Codebook

__all__ = ["figure"]


def figure(codebook: Codebook) -> Figure:
    """Draw the matrix beside a heat map of the row distances."""
    from matplotlib.colors import LinearSegmentedColormap, ListedColormap
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

    colours = ListedColormap([tuple(c / 255 for c in rgb) for rgb in (MINUS, UNUSED, PLUS)])
    axes[0].imshow(
        codebook.matrix, cmap=colours, vmin=-1, vmax=1, aspect="auto", interpolation="nearest"
    )
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
