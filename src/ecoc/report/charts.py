"""Small charts as SVG that follow the colours of the page, light or dark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Series", "bar_chart", "figure", "line_chart"]

_WIDTH, _HEIGHT = 460, 290
_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 14, 16, 44


@dataclass(frozen=True)
class Series:
    """A line of a chart.

    Attributes
    ----------
    name : str
        For the legend.
    points : sequence of pairs
        x and y, in the order of x.
    colour : str
        A colour of the page, ``"1"`` to ``"6"``.
    dashed : bool
        Whether the line is broken.
    """

    name: str
    points: Sequence[tuple[float, float]]
    colour: str = "1"
    dashed: bool = False


@dataclass(frozen=True)
class _Scale:
    low: float
    high: float
    start: float
    stop: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high = self.low, self.high
        if self.log:
            low, high, value = math.log10(low), math.log10(high), math.log10(value)
        return self.start + (value - low) / (high - low) * (self.stop - self.start)


def line_chart(
    series: Sequence[Series],
    *,
    title: str,
    x_label: str,
    y_label: str,
    log_y: bool = False,
    y_range: tuple[float, float] | None = None,
    x_ticks: Sequence[float] | None = None,
) -> str:
    """Lines with markers, a legend, and axes.

    Examples
    --------
    >>> chart = line_chart([Series("a", [(1, 2), (2, 3)])], title="t", x_label="x", y_label="y")
    >>> chart.startswith("<figure") and 'role="img"' in chart
    True
    """
    drawn = [one for one in series if one.points]
    xs = [x for one in drawn for x, _ in one.points]
    ys = [y for one in drawn for _, y in one.points if y > 0 or not log_y]
    if not xs or not ys:
        return ""
    low, high = y_range or _range(ys, log=log_y)
    across = _Scale(min(xs), max(*xs, min(xs) + 1e-9), _LEFT + 8, _WIDTH - _RIGHT - 8)
    up = _Scale(low, high, _HEIGHT - _BOTTOM, _TOP, log=log_y)
    parts = _axes(across, up, _ticks(low, high, log=log_y), x_ticks or sorted(set(xs)))
    for one in drawn:
        known = [(x, y) for x, y in one.points if y > 0 or not log_y]
        path = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in known)
        dash = ' stroke-dasharray="5 4"' if one.dashed else ""
        parts.append(
            f'<polyline points="{path}" fill="none" stroke="var(--c{one.colour})" '
            f'stroke-width="2"{dash}/>'
        )
        parts += [
            f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3.2" fill="var(--c{one.colour})">'
            f"<title>{escape(one.name)}: {x:g}, {y:g}</title></circle>"
            for x, y in known
        ]
    parts.append(_labels(x_label, y_label))
    told = "; ".join(
        f"{one.name} from {one.points[0][1]:g} to {one.points[-1][1]:g}" for one in drawn
    )
    return figure(_svg(parts, f"{title}. {told}."), title, _legend(drawn))


def bar_chart(values: Mapping[str, float], *, title: str, x_label: str, y_label: str) -> str:
    """A bar for each name.

    Examples
    --------
    >>> bar_chart({"8": 3, "10": 42}, title="t", x_label="x", y_label="y").count("<rect")
    2
    """
    if not values:
        return ""
    width, height, left, bottom = 240, 150, 44, 38
    step = min((width - left - 10) / len(values), 40)
    up = _Scale(0, max(values.values()) or 1, height - bottom, 22)
    parts = []
    every = math.ceil(8 * max(map(len, values)) / step)
    for i, (name, value) in enumerate(values.items()):
        x, y = left + i * step, up(value)
        parts.append(
            f'<rect x="{x + 0.15 * step:.1f}" y="{y:.1f}" width="{0.7 * step:.1f}" '
            f'height="{height - bottom - y:.1f}" fill="var(--c1)">'
            f"<title>{escape(name)}: {value:g}</title></rect>"
        )
        if i % every == 0:
            parts.append(_text(x + step / 2, height - bottom + 14, name, "middle"))
    parts.append(_text(left - 5, up(up.high) + 4, f"{up.high:g}", "end"))
    parts.append(f'<path d="M{left} {height - bottom}H{width - 8}" stroke="var(--soft)"/>')
    parts.append(_text((left + width) / 2, height - 6, x_label, "middle"))
    parts.append(_text(4, 12, y_label, "start"))
    told = ", ".join(f"{name}: {value:g}" for name, value in values.items())
    return figure(_svg(parts, f"{title}: {told}", width, height), title)


def figure(drawing: str, caption: str, after: str = "") -> str:
    """A drawing with what it shows."""
    return (
        f'<figure class="chart">{drawing}{after}<figcaption>{escape(caption)}</figcaption></figure>'
    )


def _svg(parts: Sequence[str], told: str, width: int = _WIDTH, height: int = _HEIGHT) -> str:
    return (
        f'<svg role="img" aria-label="{escape(told)}" viewBox="0 0 {width} {height}" '
        f'width="{width}" height="{height}">{"".join(parts)}</svg>'
    )


def _axes(
    across: _Scale, up: _Scale, y_ticks: Sequence[float], x_ticks: Sequence[float]
) -> list[str]:
    parts = []
    for value in y_ticks:
        y = up(value)
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" stroke="var(--line)"/>')
        parts.append(_text(_LEFT - 6, y + 4, _number(value), "end"))
    parts.extend(
        _text(across(value), _HEIGHT - _BOTTOM + 16, f"{value:g}", "middle") for value in x_ticks
    )
    base = _HEIGHT - _BOTTOM
    parts.append(f'<path d="M{_LEFT} {base}H{_WIDTH - _RIGHT}" stroke="var(--soft)"/>')
    return parts


def _labels(x_label: str, y_label: str) -> str:
    middle = (_TOP + _HEIGHT - _BOTTOM) / 2
    return _text((_LEFT + _WIDTH) / 2, _HEIGHT - 8, x_label, "middle") + (
        f'<text x="12" y="{middle}" text-anchor="middle" '
        f'transform="rotate(-90 12 {middle})">{escape(y_label)}</text>'
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _legend(series: Sequence[Series]) -> str:
    items = "".join(
        f'<li><span class="key{" dashed" if one.dashed else ""}" '
        f'style="border-color:var(--c{one.colour})"></span>{escape(one.name)}</li>'
        for one in series
    )
    return f'<ul class="legend">{items}</ul>'


def _range(values: Sequence[float], *, log: bool) -> tuple[float, float]:
    low, high = min(values), max(values)
    if log:
        return 10 ** math.floor(math.log10(low)), 10 ** math.ceil(math.log10(high) + 1e-9)
    reach = max(high - low, 1e-9 * max(1.0, abs(high)))
    return low - 0.08 * reach, high + 0.08 * reach


def _ticks(low: float, high: float, *, log: bool) -> list[float]:
    if log:
        first, last = round(math.log10(low)), round(math.log10(high))
        return [10.0**power for power in range(first, last + 1, 1 + (last - first) // 7)]
    rough = (high - low) / 5
    size = 10 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def _number(value: float) -> str:
    if value >= 10_000 or 0 < value < 0.001:
        return "10" + f"{round(math.log10(value))}".translate(_RAISED)
    return f"{value:g}"
