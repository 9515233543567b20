"""The paper's figures beside ours, as rows of a table, whatever shows them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ecoc.paper.codebooks import CODEBOOK_TITLES
from ecoc.paper.records import Record

__all__ = [
    "ComparisonTable",
    "ComparisonValue",
    "FigureColumn",
    "figure_values",
    "key_value",
    "listed",
    "measured_on",
    "side_by_side",
]


@dataclass(frozen=True)
class ComparisonValue:
    """A place of a comparison.

    Attributes
    ----------
    text : str
        What is read.
    key : float or None
        What it sorts by; the text if None.
    kind : str
        ``"number"``, ``"paper"``, ``"ours"``, ``"text"`` or ``"small"``: how it looks.
    """

    text: str
    key: float | None = None
    kind: str = "number"


@dataclass(frozen=True)
class ComparisonTable:
    """A table of paper, ours and difference.

    Attributes
    ----------
    headings : tuple of str
        The titles of the columns.
    rows : tuple of tuples of ComparisonValue
        A row for each measured cell.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[ComparisonValue, ...], ...]


@dataclass(frozen=True)
class FigureColumn:
    """A measured figure in a comparison: beside the paper's, or alone.

    Attributes
    ----------
    figure : str
        Its name in records.
    title : str
        What readers are shown.
    digits : int or None
        Digits after the point; None for text.
    compare : bool
        Whether the paper's figure stands beside it.
    difference : bool
        Whether the difference does, too.
    """

    figure: str
    title: str
    digits: int | None = 0
    compare: bool = True
    difference: bool = True


_KEY_TITLES = {
    "k": "Classes k",
    "L": "Columns L",
    "cover": "Cover",
    "codebook": "Codebook",
    "dataset": "Data set",
    "kernel": "Kernel",
    "decoding": "Decoding",
    "inputs": "Images",
    "code": "Code",
}


_SHORT = 24
"""Letters of a text that is kept on one line."""


def side_by_side(*columns: FigureColumn) -> Callable[[Sequence[Record]], ComparisonTable]:
    """What compares records by their keys and these figures.

    Examples
    --------
    >>> record = Record("table2", {"k": 13}, "quick", "ok", {"best": 13}, {"best": 14})
    >>> compare = side_by_side(FigureColumn("best", "distance"))
    >>> [value.text for value in compare([record]).rows[0][:4]]
    ['13', '13', '14', '+1']
    """

    def compare(records: Sequence[Record]) -> ComparisonTable:
        keys = list(dict.fromkeys(key for record in records for key in record.keys))
        headings = [_KEY_TITLES.get(key, key) for key in keys]
        for column in columns:
            if not column.compare:
                headings.append(column.title)
                continue
            headings += [f"Paper: {column.title}", f"Ours: {column.title}"]
            headings += ["Difference"] if column.difference else []
        rows = []
        for record in records:
            row = [key_value(record.keys.get(key)) for key in keys]
            for column in columns:
                row += figure_values(record, column)
            rows.append((*row, measured_on(record)))
        return ComparisonTable((*headings, "Measured on"), tuple(rows))

    return compare


def figure_values(record: Record, column: FigureColumn) -> list[ComparisonValue]:
    """The figure of a record, with the paper's and the difference if these are wanted."""
    ours = record.measured.get(column.figure)
    error = record.standard_errors.get(column.figure)
    shown = _shown(ours, column.digits)
    if error is not None and shown:
        shown += f" ± {error:.{column.digits}f}"
    number = float(ours) if isinstance(ours, int | float) else None
    measured = ComparisonValue(shown, number, _kind(shown, number, column))
    if not column.compare:
        return [measured]
    paper = None if record.paper is None else record.paper.get(column.figure)
    told = [
        ComparisonValue("", None, "paper")
        if paper is None
        else ComparisonValue(_shown(paper, _places(paper, column)), paper, "paper"),
        measured,
    ]
    if not column.difference:
        return told
    if paper is None or number is None:
        return [*told, ComparisonValue("")]
    difference = number - paper
    sign = "0" if abs(difference) < 1e-9 else f"{difference:+,.{_places(difference, column)}f}"
    return [*told, ComparisonValue(sign, difference)]


def _kind(shown: str, number: float | None, column: FigureColumn) -> str:
    if number is None:
        return "text" if len(shown) <= _SHORT else "small"
    return "ours" if column.compare else "number"


def _places(value: float, column: FigureColumn) -> int:
    """Whole numbers need no digits after the point."""
    return 0 if float(value).is_integer() and abs(value) >= 1 else column.digits or 0


def _shown(value: object, digits: int | None) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return f"{value:,.{0 if isinstance(value, int) else digits}f}"
    return str(value)


def key_value(value: str | int | float | None) -> ComparisonValue:
    """A key of a cell; codebooks by their titles."""
    if isinstance(value, int | float):
        return ComparisonValue(f"{value:g}", float(value))
    return ComparisonValue(CODEBOOK_TITLES.get(str(value), str(value or "")), None, "text")


def measured_on(record: Record) -> ComparisonValue:
    """The scale, seed, time and data behind a record."""
    seconds = f"{record.seconds:.1f} s" if record.seconds < 100 else f"{record.seconds:,.0f} s"
    return ComparisonValue(
        f"{record.scale}, seed {record.seed}, {seconds}: {record.subset}", None, "small"
    )


def listed(values: Mapping[str, object]) -> str:
    """Names and values in one line.

    Examples
    --------
    >>> listed({"row_distance": 10_000, "cover": "whole"})
    'row distance 10,000, cover whole'
    """
    return ", ".join(
        f"{name.replace('_', ' ')} {value:,}"
        if isinstance(value, int | float)
        else f"{name.replace('_', ' ')} {value}"
        for name, value in values.items()
    )
