"""The paper's figures beside ours, as rows of a table, whatever shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ecoc.experiments.codebooks import CODEBOOK_TITLES
from ecoc.experiments.paper_figures import paper_table
from ecoc.experiments.records import Record
from ecoc.report.results import Results
from ecoc.report.tables import Value

__all__ = ["Comparison", "absent", "comparison", "title_of"]


@dataclass(frozen=True)
class Comparison:
    """A table of paper, ours and difference.

    Attributes
    ----------
    headings : tuple of str
        The titles of the columns.
    rows : tuple of tuples of Value
        A row for each measured cell.
    """

    headings: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]


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


@dataclass(frozen=True)
class _Column:
    """A measured figure in a table: beside the paper's, or alone."""

    figure: str
    title: str
    digits: int | None = 0
    compare: bool = True
    difference: bool = True


_COLUMNS = {
    "table1": (
        _Column("conflicts", "conflicting pairs"),
        _Column("cliques", "cliques"),
        _Column("factor", "factor", 1, difference=False),
        _Column("seconds", "seconds", 3, difference=False),
        _Column("verified", "Checked", None, compare=False),
    ),
    "table2": (
        _Column("best", "distance"),
        _Column("bound", "bound", difference=False),
        _Column("gap", "gap %", 2, difference=False),
        _Column("column_distance", "Columns apart", 0, compare=False),
        _Column("certificate", "Ground of the bound", None, compare=False),
        _Column("seconds", "Seconds", 2, compare=False),
    ),
    "table3": (
        _Column("accuracy", "one set, %", 1),
        _Column("accuracy_mean", "Mean of many sets, %", 2, compare=False),
        _Column("accuracy_ties_mean", "Same, ties by score, %", 2, compare=False),
        _Column("accuracy_auto_mean", "Same, loss-based, %", 2, compare=False),
    ),
    "table4": (
        _Column("single_split", "one split, %", 2),
        _Column("accuracy", "Mean of many splits, %", 2, compare=False),
        _Column("accuracy_ties", "Same, ties by score, %", 2, compare=False),
        _Column("accuracy_auto", "Same, loss-based, %", 2, compare=False),
    ),
    "table5": (
        _Column("accuracy", "Hamming decoding, %", 2),
        _Column("accuracy_ties", "Ties by score, %", 2, compare=False),
        _Column("accuracy_auto", "Loss-based, %", 2, compare=False),
    ),
    "table6": (
        _Column("accuracy", "class scores, %", 2),
        _Column("accuracy_hamming", "Hamming decoding, %", 2, compare=False),
        _Column("accuracy_log", "Log-likelihood decoding, %", 2, compare=False),
    ),
    "figure-boundaries": (_Column("accuracy", "accuracy, %", 1),),
    "figure-correlation": (
        _Column("accuracy", "accuracy, %", 2),
        _Column("mean_error", "Mean error of a column, %", 1, compare=False),
        _Column("mean_p", "Mean P", 3, compare=False),
        _Column("mean_p_if_independent", "P if errors were independent", 3, compare=False),
        _Column("mean_phi", "Mean phi", 3, compare=False),
    ),
    "figure-codebooks": (
        _Column("columns", "columns"),
        _Column("row_distance", "Row distance", 1, compare=False),
        _Column("column_distance", "Columns apart", 1, compare=False),
        _Column("verdict", "What is proved", None, compare=False),
    ),
}
_COLUMNS["table7"] = _COLUMNS["table6"]
_UNDER_ATTACK = ("table8", "table9")


def title_of(part: str) -> str:
    """The heading of a part, such as ``Table 1: Edge clique covers``.

    Examples
    --------
    >>> title_of("table4")
    'Table 4: Glass, Ecoli, Yeast'
    """
    kind = f"Table {part.removeprefix('table')}" if part.startswith("table") else "Figure"
    return f"{kind}: {paper_table(part).title}"


def comparison(part: str, records: Sequence[Record]) -> Comparison:
    """The measured cells of a part beside what the paper prints.

    Examples
    --------
    >>> record = Record("table2", {"k": 13}, "quick", "ok", {"best": 13}, {"best": 14})
    >>> [value.text for value in comparison("table2", [record]).rows[0][:4]]
    ['13', '13', '14', '+1']
    """
    if part in _UNDER_ATTACK:
        return _under_attack(records)
    keys = list(dict.fromkeys(key for record in records for key in record.keys))
    headings = [_KEY_TITLES.get(key, key) for key in keys]
    for column in _COLUMNS[part]:
        if not column.compare:
            headings.append(column.title)
            continue
        headings += [f"Paper: {column.title}", f"Ours: {column.title}"]
        headings += ["Difference"] if column.difference else []
    rows = []
    for record in records:
        row = [_key(record.keys.get(key)) for key in keys]
        for column in _COLUMNS[part]:
            row += _figures(record, column)
        rows.append([*row, _measured_on(record)])
    return _made([*headings, "Measured on"], rows)


def _made(headings: Sequence[str], rows: Sequence[Sequence[Value]]) -> Comparison:
    return Comparison(tuple(headings), tuple(map(tuple, rows)))


def _under_attack(records: Sequence[Record]) -> Comparison:
    rows = []
    for record in records:
        for name in (name for name in record.measured if name.startswith("pgd ")):
            epsilon = name.removeprefix("pgd ")
            rows.append(
                [
                    _key(record.keys["codebook"]),
                    Value(epsilon, _epsilon(epsilon)),
                    *_figures(record, _Column(name, "", 2)),
                    *_figures(record, _Column(f"strong {epsilon}", "", 2, compare=False)),
                    *_figures(record, _Column(f"certified {epsilon}", "", 2, compare=False)),
                    _measured_on(record),
                ]
            )
    headings = [
        "Codebook",
        "Radius",
        "Paper: PGD, %",
        "Ours: PGD, %",
        "Difference",
        "Ours: strong, %",
        "Ours: certified, %",
        "Measured on",
    ]
    return _made(headings, rows)


def _figures(record: Record, column: _Column) -> list[Value]:
    ours = record.measured.get(column.figure)
    error = record.standard_errors.get(column.figure)
    shown = _shown(ours, column.digits)
    if error is not None and shown:
        shown += f" ± {error:.{column.digits}f}"
    number = float(ours) if isinstance(ours, int | float) else None
    measured = Value(shown, number, _kind(shown, number, column))
    if not column.compare:
        return [measured]
    paper = None if record.paper is None else record.paper.get(column.figure)
    told = [
        Value("", None, "paper")
        if paper is None
        else Value(_shown(paper, _places(paper, column)), paper, "paper"),
        measured,
    ]
    if not column.difference:
        return told
    if paper is None or number is None:
        return [*told, Value("")]
    difference = number - paper
    sign = "0" if abs(difference) < 1e-9 else f"{difference:+,.{_places(difference, column)}f}"
    return [*told, Value(sign, difference)]


def _kind(shown: str, number: float | None, column: _Column) -> str:
    if number is None:
        return "text" if len(shown) <= _SHORT else "small"
    return "ours" if column.compare else "number"


def _places(value: float, column: _Column) -> int:
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


def _key(value: str | int | float | None) -> Value:
    if isinstance(value, int | float):
        return Value(f"{value:g}", float(value))
    return Value(CODEBOOK_TITLES.get(str(value), str(value or "")), None, "text")


def _measured_on(record: Record) -> Value:
    seconds = f"{record.seconds:.1f} s" if record.seconds < 100 else f"{record.seconds:,.0f} s"
    return Value(f"{record.scale}, seed {record.seed}, {seconds}: {record.subset}", None, "small")


def absent(part: str, results: Results) -> list[str]:
    """Sentences about what the paper prints and was not measured, or was tried in vain."""
    told = [
        f"{word}: {_listed(record.keys)}. {record.note}"
        for status, word in (("skipped", "Skipped"), ("failed", "Failed"))
        for record in results.of(part, status=status)
    ]
    tried = [record.paper for record in results.records if record.experiment == part]
    for cell in paper_table(part).cells:
        if cell.figures not in tried:
            figures = {n: v for n, v in cell.figures.items() if isinstance(v, int | float)}
            told.append(
                f"In the paper, and not measured at these scales: {_listed(cell.keys)} "
                f"({_listed(figures)})."
            )
    return told


def _listed(values: Mapping[str, object]) -> str:
    return ", ".join(
        f"{name.replace('_', ' ')} {value:,}"
        if isinstance(value, int | float)
        else f"{name.replace('_', ' ')} {value}"
        for name, value in values.items()
    )


def _epsilon(text: str) -> float:
    number, _, divisor = text.partition("/")
    return float(number) / float(divisor or 1)
