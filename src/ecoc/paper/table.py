"""What a table or figure of the paper is: printed, measured, compared, judged and drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from ecoc.errors import InvalidInputError
from ecoc.paper.drawings import Drawing
from ecoc.paper.measuring import (
    ALWAYS_THERE,
    CODEBOOK_TITLES,
    SCALES,
    Measurement,
    Workspace,
)
from ecoc.paper.records import Figures, Keys, Record, Results

__all__ = [
    "MAX_NUMBER",
    "VERDICTS",
    "Claim",
    "ComparisonTable",
    "ComparisonValue",
    "FigureColumn",
    "Finding",
    "PaperCell",
    "PaperTable",
    "RecordForm",
    "Verdict",
    "check_rows",
    "compare_accuracies",
    "figure_values",
    "first_or_not",
    "key_value",
    "listed",
    "measured_on",
    "side_by_side",
]


@dataclass(frozen=True)
class ComparisonValue:
    """A cell of a comparison: its text, how it sorts and how it looks.

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
    """A comparison of records with the paper: their keys, then these figures.

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


VERDICTS = {
    "better": "Better here",
    "holds": "Reproduced",
    "fails": "Not reproduced",
    "open": "Undecided",
    "missing": "Not measured",
}
"""How a claim of the paper can come out, with the words for it."""

MAX_NUMBER = 1e15
"""The largest number of a record; what is drawn from it still has digits after the point."""

Verdict: TypeAlias = "tuple[str, str] | None"
"""A key of :data:`VERDICTS` and what was found; None if it was not measured."""

_KEYS_ALONE = side_by_side()


@dataclass(frozen=True)
class PaperCell:
    """One place of a table or figure.

    Attributes
    ----------
    keys : mapping
        Which place.
    figures : mapping or None
        What the paper prints there, accuracies in per cent; None where it prints nothing.
    """

    keys: Keys
    figures: Figures | None = None


@dataclass(frozen=True)
class Claim:
    """A statement of the paper, and how the records of its table bear it out.

    Attributes
    ----------
    text : str
        What the paper says.
    judge : callable
        From the results of the table to a verdict.
    """

    text: str
    judge: Callable[[Results], Verdict]


@dataclass(frozen=True)
class Finding:
    """One statement of the paper, measured again.

    Attributes
    ----------
    table : str
        Where it comes from.
    claim : str
        What the paper says.
    verdict : str
        A key of :data:`VERDICTS`.
    text : str
        What was found.
    scale : str
        The scale of the measurements.
    """

    table: str
    claim: str
    verdict: str
    text: str
    scale: str = ""


def _nothing_to_check(data: Mapping[str, Any]) -> None:
    """Accept the data of any record."""


def _no_drawings(results: Results) -> Sequence[Drawing]:  # noqa: ARG001  # what tables are given
    return ()


@dataclass(frozen=True)
class RecordForm:
    """What every record of a table must have before it is shown.

    Attributes
    ----------
    keys, figures, paper, data : tuple of str
        Names in these fields of a record; `figures` in what was measured.
    check_data : callable
        Raises if the data of a record cannot be drawn.
    """

    keys: tuple[str, ...] = ()
    figures: tuple[str, ...] = ()
    paper: tuple[str, ...] = ()
    data: tuple[str, ...] = ()
    check_data: Callable[[Mapping[str, Any]], None] = _nothing_to_check


@dataclass(frozen=True)
class PaperTable:
    """A table or figure of the paper: printed, measured, compared, judged and drawn.

    Attributes
    ----------
    name : str
        For example ``"table1"``.
    title, caption : str
        A short title, and what the paper writes above it.
    printed : tuple of PaperCell
        All that the paper prints.
    measure : callable
        From a cell and a workspace to a measurement.
    choose_cells : callable, optional
        From a scale to the cells that are measured at it; by default those printed.
    compare : callable
        From measured records to a table of the paper's figures beside ours.
    claims : tuple of Claim
        What the paper says about it.
    draw : callable
        From results to drawings.
    form : RecordForm
        What its records must have.
    datasets : tuple of str
        The data sets that it needs.
    extra : str, optional
        The optional library that it needs.
    cost : int
        Where it stands when all are run: those of lower cost come first.
    headline : bool
        Whether its claims are the first that a reader is told.
    """

    name: str
    title: str
    caption: str
    printed: tuple[PaperCell, ...]
    measure: Callable[[PaperCell, Workspace], Measurement]
    choose_cells: Callable[[str], Sequence[PaperCell]] | None = None
    compare: Callable[[Sequence[Record]], ComparisonTable] = _KEYS_ALONE
    claims: tuple[Claim, ...] = ()
    draw: Callable[[Results], Sequence[Drawing]] = _no_drawings
    form: RecordForm = field(default_factory=RecordForm)
    datasets: tuple[str, ...] = ()
    extra: str | None = None
    cost: int = 0
    headline: bool = False

    @property
    def heading(self) -> str:
        """Its heading, such as ``Table 1: Edge clique covers``."""
        number = self.name.removeprefix("table")
        kind = f"Table {number}" if number.isdigit() else "Figure"
        return f"{kind}: {self.title}"

    def cells(self, scale: str) -> Sequence[PaperCell]:
        """The cells that are measured at a scale."""
        return self.printed if self.choose_cells is None else self.choose_cells(scale)

    def figures(self, **keys: str | int | float) -> Figures | None:
        """What the paper prints in the cell of exactly these keys; None if there is none."""
        return next((cell.figures for cell in self.printed if dict(cell.keys) == keys), None)

    def findings(self, results: Results) -> list[Finding]:
        """The findings on its claims."""
        return [self._finding(claim, results) for claim in self.claims]

    def not_measured(self, results: Results) -> list[str]:
        """Sentences about what the paper prints and was not measured, or was tried in vain."""
        told = [
            f"{word}: {listed(record.keys)}. {record.note}"
            for status, word in (("skipped", "Skipped"), ("failed", "Failed"))
            for record in results.of(status)
        ]
        tried = [record.paper for record in results.records]
        for cell in self.printed:
            if cell.figures is not None and cell.figures not in tried:
                figures = {n: v for n, v in cell.figures.items() if isinstance(v, int | float)}
                told.append(
                    f"In the paper, and not measured at these scales: {listed(cell.keys)} "
                    f"({listed(figures)})."
                )
        return told

    def _finding(self, claim: Claim, results: Results) -> Finding:
        """Judge at the largest scale that has enough for it: scales do not mix in a verdict."""
        for scale in reversed(SCALES):
            at_scale = results.at(scale)
            judged = claim.judge(at_scale)
            if judged is not None:
                verdict, text = judged
                break
        else:
            text = f"Run: ecoc reproduce {self.name}"
            return Finding(self.name, claim.text, "missing", text, results.scale)
        finding = Finding(self.name, claim.text, verdict, text, scale)
        if scale == "smoke" and not set(self.datasets) <= set(ALWAYS_THERE):
            text = "Only a smoke test on a stand-in for the data was run; it says nothing here."
            return replace(finding, verdict="open", text=text)
        if scale == "quick" and self.extra == "torch":
            return replace(finding, text=f"{text} Measured with small networks on a subset.")
        if scale == "full":
            measured = dict.fromkeys(record.subset for record in at_scale.measured)
            return replace(finding, text=f"{text} Measured on {next(iter(measured))}.")
        return finding


def first_or_not(ours: float, best_other: float, *, noise: float = 0.0) -> str:
    """Whether ours comes first, as far as chance lets one say.

    Examples
    --------
    >>> first_or_not(90.0, 80.0), first_or_not(80.0, 90.0), first_or_not(80.0, 81.0, noise=2.0)
    ('holds', 'fails', 'open')
    """
    if abs(ours - best_other) <= noise:
        return "open"
    return "holds" if ours > best_other else "fails"


def compare_accuracies(
    accuracies: Mapping[str, float], rivals: Sequence[str], *, noise: float
) -> tuple[str, str]:
    """Whether IP3 is more accurate than its rivals, and the sentence that lists everything."""
    listed = ", ".join(f"{CODEBOOK_TITLES[c]} {a:.2f}" for c, a in accuracies.items())
    best = max(accuracies[codebook] for codebook in rivals)
    text = f"Accuracies in per cent: {listed}; differences below {noise:.1f} may be chance."
    return first_or_not(accuracies["ip3"], best, noise=noise), text


def check_rows(name: str, rows: Any, kind: type) -> None:
    """Refuse what is no list of rows of one length, for drawings from the data of records."""
    good = isinstance(rows, list) and rows and all(isinstance(row, kind) for row in rows)
    if not good or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise InvalidInputError(f"{name} must be a list of rows of equal length.")
