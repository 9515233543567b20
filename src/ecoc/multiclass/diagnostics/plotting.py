"""Diagnostics drawn with matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ecoc.codes.display import FAR, MINUS, NEAR, PLUS, UNUSED
from ecoc.errors import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ecoc.multiclass.diagnostics.boundaries import DecisionBoundaries
    from ecoc.multiclass.diagnostics.columns import (
        ColumnErrors,
        ColumnUsefulness,
        ConfusionByDistance,
        ErrorCorrelation,
    )
    from ecoc.multiclass.diagnostics.comparison import Comparison

__all__ = [
    "figure_of",
    "new_axes",
    "plot_column_errors",
    "plot_column_regions",
    "plot_column_usefulness",
    "plot_comparison",
    "plot_confusion_by_distance",
    "plot_error_correlation",
    "plot_regions",
]

Colour = tuple[float, float, float]


def _colour(rgb: Any) -> Colour:
    red, green, blue = (float(part) / 255 for part in rgb)
    return red, green, blue


BLUE, ORANGE, GREY = _colour(PLUS), _colour(MINUS), _colour(UNUSED)
INK = "#333333"


def new_axes(ax: Axes | None, width: float = 6.4, height: float = 3.6) -> Axes:
    """The axes given, or those of a new figure that belongs to no window."""
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained").subplots()


def figure_of(ax: Axes) -> Figure:
    """The figure that axes belong to, of which they may be a part of a part."""
    figure = ax.get_figure(root=True)
    if figure is None:
        raise InvalidInputError("ax must belong to a figure.")
    return figure


def _width(n_columns: int) -> float:
    return float(np.clip(1.6 + 0.22 * n_columns, 5, 14))


def _whole_columns(ax: Axes, n_columns: int) -> None:
    from matplotlib.ticker import MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(-0.7, n_columns - 0.3)
    ax.set_xlabel("column")


def plot_column_errors(errors: ColumnErrors, ax: Axes | None) -> Figure:
    """A bar for each column, its baseline, and a dot for each class that it uses."""
    n_classes, n_columns = errors.by_class.shape
    ax = new_axes(ax, _width(n_columns))
    columns = np.arange(n_columns)
    ax.bar(columns, 100 * errors.rates, color=BLUE, alpha=0.75, label="error rate")
    ax.hlines(
        *(100 * errors.baseline, columns - 0.4, columns + 0.4),
        color=INK,
        linewidth=1.5,
        label="majority side",
    )
    ax.plot(
        np.tile(columns, n_classes),
        100 * errors.by_class.ravel(),
        ".",
        color=ORANGE,
        markersize=5,
        label="single classes",
    )
    ax.set(title="Errors of the columns", ylabel="wrong (%)")
    ax.set_ylim(bottom=0)
    _whole_columns(ax, n_columns)
    # Bars reach anywhere, so that the legend has no safe place among them.
    ax.legend(frameon=False, fontsize="small", ncols=3, loc="upper left", bbox_to_anchor=(0, -0.15))
    return figure_of(ax)


def plot_error_correlation(
    correlation: ErrorCorrelation, ax: Axes | Sequence[Axes] | None
) -> Figure:
    """P and phi side by side; phi alone if there is one axes to draw into."""
    from matplotlib.ticker import MaxNLocator

    if ax is None:
        from matplotlib.figure import Figure

        axes = list(Figure(figsize=(9, 3.8), layout="constrained").subplots(1, 2))
    elif isinstance(ax, Sequence | np.ndarray):
        axes = list(ax)
    else:
        axes = [ax]
    highest = float(np.nanmax(correlation.paper, initial=0))
    drawings = (
        ("P of the paper", correlation.paper, _sequential(), 0.0, highest or 1.0),
        ("phi coefficient", correlation.phi, _diverging(), -1.0, 1.0),
    )
    for axis, (title, values, scale, low, high) in zip(axes, drawings[-len(axes) :], strict=True):
        image = axis.imshow(values, cmap=scale, vmin=low, vmax=high, interpolation="nearest")
        for side in (axis.xaxis, axis.yaxis):
            side.set_major_locator(MaxNLocator(integer=True))
        axis.set(title=f"Errors in common: {title}", xlabel="column", ylabel="column")
        figure_of(axis).colorbar(image, ax=axis)
    return figure_of(axes[0])


def plot_column_usefulness(usefulness: ColumnUsefulness, ax: Axes | None) -> Figure:
    """What each column brings, orange where it harms."""
    gains = 100 * usefulness.gains
    ax = new_axes(ax, _width(len(gains)))
    ax.bar(np.arange(len(gains)), gains, color=[ORANGE if gain < 0 else BLUE for gain in gains])
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.set(
        title="What is lost without each column",
        ylabel="points of accuracy",
    )
    _whole_columns(ax, len(gains))
    return figure_of(ax)


def plot_confusion_by_distance(confusion: ConfusionByDistance, ax: Axes | None) -> Figure:
    """A dot for each ordered pair of classes, a line through the rate of each distance."""
    from matplotlib.ticker import MaxNLocator

    ax = new_axes(ax)
    different = ~np.eye(len(confusion.rates), dtype=bool)
    ax.plot(
        confusion.distances[different],
        100 * confusion.rates[different],
        "o",
        color=BLUE,
        alpha=0.35,
        markersize=5,
        markeredgewidth=0,
        label="one class taken for another",
    )
    ax.plot(
        confusion.levels,
        100 * confusion.level_rates,
        "o-",
        color=ORANGE,
        label="all pairs at this distance",
    )
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_xlim(confusion.levels[0] - 0.8, confusion.levels[-1] + 0.8)
    ax.set(
        title="Confusion by distance",
        xlabel="distance of the codewords",
        ylabel="confused (%)",
        ylim=(0, None),
    )
    ax.legend(frameon=False, fontsize="small")
    return figure_of(ax)


def plot_comparison(comparison: Comparison, ax: Axes | None) -> Figure:
    """The accuracy of each contender on each split, its mean and standard error."""
    ax = new_axes(ax, 6.4, 1.2 + 0.5 * len(comparison.names))
    places = np.arange(len(comparison.names))
    for place, values in zip(places, comparison.accuracies, strict=True):
        ax.plot(
            100 * values, np.full(len(values), place), "o", color=GREY, markeredgecolor="#888888"
        )
    ax.errorbar(
        100 * comparison.means,
        places,
        xerr=100 * comparison.standard_errors,
        fmt="D",
        color=BLUE,
        capsize=4,
        zorder=3,
    )
    ax.set_yticks(places, comparison.names, parse_math=False)
    ax.set_ylim(len(places) - 0.4, -0.6)
    ax.set(title="Accuracy on the same folds", xlabel="right (%)")
    ax.grid(axis="x", alpha=0.3)
    return figure_of(ax)


def plot_regions(boundaries: DecisionBoundaries, ax: Axes | None) -> Figure:
    """The region of each class and the samples."""
    from matplotlib.colors import ListedColormap

    ax = new_axes(ax, 6, 5)
    colours = _class_colours(len(boundaries.classes))
    ax.pcolormesh(
        boundaries.x,
        boundaries.y,
        boundaries.regions,
        cmap=ListedColormap(colours),
        vmin=-0.5,
        vmax=len(colours) - 0.5,
        alpha=0.35,
        shading="nearest",
        rasterized=True,
    )
    for row, label in enumerate(boundaries.classes):
        members = boundaries.samples[boundaries.targets == row]
        ax.plot(
            members[:, 0],
            members[:, 1],
            "o",
            color=colours[row],
            markersize=4,
            markeredgecolor="white",
            markeredgewidth=0.4,
            label=str(label),
        )
    ax.set(title="Decision regions", xlabel=boundaries.names[0], ylabel=boundaries.names[1])
    if len(colours) <= 20:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize="small")
    return figure_of(ax)


def plot_column_regions(boundaries: DecisionBoundaries) -> Figure:
    """A small picture for each column: its sides or groups, and the samples that it uses."""
    from matplotlib.colors import ListedColormap
    from matplotlib.figure import Figure

    n_columns = boundaries.matrix.shape[1]
    scores = boundaries.column_scores
    # The colours of the entries of a column, and the entry that it gives to each point.
    if scores.ndim == 3:
        colours = dict(zip((-1, 1), (ORANGE, BLUE), strict=True))
        places = (scores > 0).astype(np.intp)
    else:
        colours = dict(enumerate(_class_colours(scores.shape[3])))
        places = scores.argmax(axis=3)
    across = min(5, n_columns)
    down = -(-n_columns // across)
    drawing = Figure(figsize=(2.2 * across, 2 * down), layout="constrained")
    axes = drawing.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
    for column, axis in enumerate(axes):
        if column >= n_columns:
            axis.set_axis_off()
            continue
        axis.pcolormesh(
            boundaries.x,
            boundaries.y,
            places[:, :, column],
            cmap=ListedColormap(list(colours.values())),
            vmin=-0.5,
            vmax=len(colours) - 0.5,
            alpha=0.3,
            shading="nearest",
            rasterized=True,
        )
        sides = boundaries.matrix[boundaries.targets, column]
        for entry, colour in colours.items():
            members = boundaries.samples[sides == entry]
            axis.plot(members[:, 0], members[:, 1], ".", color=colour, markersize=2.5)
        axis.set_title(f"column {column}", fontsize="small")
        axis.tick_params(labelsize="x-small")
    return drawing


def _class_colours(n_classes: int) -> list[Any]:
    import matplotlib as mpl

    if n_classes <= 10:
        return [mpl.colormaps["tab10"](i) for i in range(n_classes)]
    if n_classes <= 20:
        return [mpl.colormaps["tab20"](i) for i in range(n_classes)]
    return [mpl.colormaps["hsv"](i / n_classes) for i in range(n_classes)]


def _sequential() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    scale = LinearSegmentedColormap.from_list("together", [_colour(NEAR), _colour(FAR)])
    return scale.with_extremes(bad=GREY)


def _diverging() -> Any:
    from matplotlib.colors import LinearSegmentedColormap

    scale = LinearSegmentedColormap.from_list("signed", [ORANGE, (1, 1, 1), BLUE])
    return scale.with_extremes(bad=GREY)
