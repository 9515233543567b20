"""The drawings of each section, from records alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ecoc.experiments.codebooks import CODEBOOK_TITLES
from ecoc.experiments.paper_figures import PaperCell, paper_table
from ecoc.experiments.records import Record
from ecoc.report.charts import Series, bar_chart, line_chart
from ecoc.report.pictures import (
    codebook_picture,
    column_pictures,
    matrix_picture,
    region_picture,
)
from ecoc.report.results import Results

__all__ = ["DRAWINGS"]

Points = list[tuple[float, float]]


def _cover_sizes(results: Results) -> str:
    paper = [c for c in paper_table("table1").cells if c.keys["cover"] == "whole"]
    methods = {"structured": ("3", False), "greedy": ("4", True), "partitioned": ("5", True)}
    sizes = [
        Series("Conflicting pairs", _printed(paper, "conflicts"), "6"),
        Series("Cliques, paper", _printed(paper, "cliques"), "2"),
    ]
    times = [Series("Paper", _printed(paper, "seconds"), "2")]
    for method, (colour, dashed) in methods.items():
        records = [r for r in results.of("table1") if r.keys["cover"] == method]
        records.sort(key=lambda r: r.keys["k"])
        name = f"ours, {method}"
        sizes.append(Series(f"Cliques, {name}", _points(records, "cliques"), colour, dashed))
        times.append(Series(name.capitalize(), _points(records, "seconds"), colour, dashed))
    return line_chart(
        sizes,
        title="Constraints before and after covering by cliques (logarithmic)",
        x_label="classes, k",
        y_label="number",
        log_y=True,
    ) + line_chart(
        times,
        title="Time to cover (logarithmic)",
        x_label="classes, k",
        y_label="seconds",
        log_y=True,
    )


def _gaps(results: Results) -> str:
    paper = paper_table("table2").cells
    records = sorted(results.of("table2"), key=lambda r: r.keys["k"])
    gaps = line_chart(
        [
            Series("Paper", _printed(paper, "gap"), "2"),
            Series("Ours", _points(records, "gap"), "1"),
        ],
        title="Gap between codebook and bound",
        x_label="classes, k",
        y_label="gap, %",
    )
    distances = line_chart(
        [
            Series("Bound, paper", _printed(paper, "bound"), "2", True),
            Series("Distance, paper", _printed(paper, "best"), "2"),
            Series("Distance = bound, ours", _points(records, "best"), "1"),
        ],
        title="Minimum row distance with L = 2k columns",
        x_label="classes, k",
        y_label="distance",
    )
    return gaps + distances


def _toy(results: Results) -> str:
    parts = []
    for record in results.of("figure-boundaries"):
        title = CODEBOOK_TITLES[str(record.keys["codebook"])]
        caption = (
            f"{title}, {record.keys['L']} columns: {record.measured['accuracy']:.1f} % correct. "
            "Below, the two sides of each column"
        )
        picture = region_picture(record.data, caption)
        columns = column_pictures(record.data, title)
        parts.append(f'<div class="panel">{picture}{columns}</div>')
    return "".join(parts)


def _gallery(results: Results) -> str:
    parts = []
    for record in results.of("figure-codebooks"):
        k, length = record.keys["k"], record.keys["L"]
        distances = list(record.data["spectrum"])
        caption = (
            f"{CODEBOOK_TITLES[str(record.keys['code'])]}, {k} x {length}: "
            + (f"all rows {distances[0]} apart" if len(distances) == 1 else "rows at least ")
            + (f"{record.measured['row_distance']:g} apart" if len(distances) > 1 else "")
        )
        spectrum = (
            bar_chart(
                record.data["spectrum"],
                title="Its row distances",
                x_label="distance",
                y_label="pairs of classes",
            )
            if len(distances) > 1
            else ""
        )
        picture = codebook_picture(record.data["rows"], caption)
        parts.append(f'<div class="panel">{picture}{spectrum}</div>')
    return "".join(parts)


def _robustness(part: str) -> Callable[[Results], str]:
    def draw(results: Results) -> str:
        charts = []
        for record in results.of(part):
            title = CODEBOOK_TITLES.get(str(record.keys["codebook"]), str(record.keys["codebook"]))
            lines = [
                Series("Paper", _curve(record.paper, "pgd "), "2", True),
                Series("Ours, the paper's attack", _curve(record.measured, "pgd "), "1"),
                Series("Ours, strong", _curve(record.measured, "strong "), "4"),
                Series("Ours, certified", _curve(record.measured, "certified "), "3"),
            ]
            charts.append(
                line_chart(
                    lines,
                    title=f"{title}: accuracy under attack",
                    x_label="radius (l_inf)",
                    y_label="accuracy, %",
                    y_range=(0, 100),
                )
            )
        return "".join(charts)

    return draw


def _correlation(results: Results) -> str:
    parts = []
    for record in results.of("figure-correlation"):
        inputs = str(record.keys["inputs"])
        accuracy = f"{record.measured['accuracy']:.1f} % correct"
        parts.append(
            matrix_picture(record.data["p"], f"P, {inputs} images, {accuracy}", low=0, high=1)
        )
        parts.append(matrix_picture(record.data["phi"], f"phi, {inputs} images", low=0, high=1))
    return "".join(parts)


def _points(records: list[Record], figure: str) -> Points:
    return [(float(r.keys["k"]), float(r.measured[figure])) for r in records]


def _printed(cells: Sequence[PaperCell], figure: str) -> Points:
    return [(float(cell.keys["k"]), float(cell.figures[figure])) for cell in cells]


def _curve(figures: object, start: str) -> Points:
    if not isinstance(figures, dict):
        return []
    points = []
    for name, value in figures.items():
        if name.startswith(start):
            number, _, divisor = name.removeprefix(start).partition("/")
            points.append((round(float(number) / float(divisor or 1), 4), float(value)))
    return points


DRAWINGS: dict[str, Callable[[Results], str]] = {
    "table1": _cover_sizes,
    "table2": _gaps,
    "table8": _robustness("table8"),
    "table9": _robustness("table9"),
    "figure-boundaries": _toy,
    "figure-codebooks": _gallery,
    "figure-correlation": _correlation,
}
"""What draws each part that has drawings."""
