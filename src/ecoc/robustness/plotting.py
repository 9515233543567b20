"""Robustness curves drawn with matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ecoc.robustness.result import RobustnessResult

__all__ = ["plot_robustness"]

_CURVES = (("attacked", "o-", "C0"), ("paper", "s:", "C7"), ("certified", "^--", "C2"))


def plot_robustness(result: RobustnessResult, ax: Axes | None = None) -> Figure:
    """Draw the accuracies over the radius, with a note where something casts doubt on them."""
    from matplotlib.figure import Figure

    if ax is None:
        ax = Figure(figsize=(5.5, 3.6), layout="constrained").subplots()
    epsilons = [0.0, *result.epsilons]
    for name, style, colour in _CURVES:
        values = getattr(result, name)
        if values is not None:
            label = f"{result.protocol} protocol" if name == "attacked" else name
            label = "paper's attack alone" if name == "paper" else label
            curve = [result.clean, *values]
            ax.plot(epsilons, [100 * value for value in curve], style, color=colour, label=label)
    ax.axhline(100 * result.clean, color="0.8", zorder=0, label="without attack")
    norm = r"$\ell_\infty$" if result.norm == "linf" else r"$\ell_2$"
    ax.set(xlabel=f"radius ({norm})", ylabel="accuracy (%)", ylim=(-2, 102))
    if result.warnings:
        ax.set_title(f"{len(result.warnings)} warning(s): see result.warnings", fontsize="small")
    ax.legend(fontsize="small")
    figure = ax.get_figure(root=True)
    if figure is None:
        raise ValueError("ax must belong to a figure.")
    return figure
