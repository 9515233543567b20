"""What the page of a reproduction needs of each record, checked before it is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ecoc._checks import check_int, check_number
from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.experiments.arrays import unpack
from ecoc.experiments.records import Record

__all__ = ["check_complete"]

_MAX_NUMBER = 1e15
_MAX_DISTANCES = 10_000


@dataclass(frozen=True)
class _Form:
    """What the records of one table or figure have at least."""

    keys: tuple[str, ...]
    figures: tuple[str, ...] = ()
    paper: tuple[str, ...] = ()
    data: tuple[str, ...] = ()


_CORRELATION = ("accuracy", "mean_p", "mean_p_if_independent", "mean_phi")
_FORMS = {
    "table1": _Form(
        ("k", "cover"),
        ("conflicts", "cliques", "factor", "seconds", "verified"),
        ("conflicts", "cliques"),
    ),
    "table2": _Form(("k", "L"), ("best", "bound", "gap", "status"), ("best",)),
    "table3": _Form(("codebook", "L"), ("accuracy",)),
    "table4": _Form(("dataset", "codebook"), ("accuracy",)),
    "table5": _Form(("kernel", "codebook"), ("accuracy",)),
    "table6": _Form(("codebook", "decoding"), ("accuracy",)),
    "table7": _Form(("codebook", "decoding"), ("accuracy",)),
    "table8": _Form(("codebook",)),
    "table9": _Form(("codebook",)),
    "figure-boundaries": _Form(
        ("codebook", "L"), ("accuracy",), data=("regions", "columns", "points", "classes")
    ),
    "figure-correlation": _Form(("inputs",), _CORRELATION, data=("p", "phi")),
    "figure-codebooks": _Form(("code", "k", "L"), ("row_distance",), data=("rows", "spectrum")),
}


def check_complete(records: Sequence[Record]) -> None:
    """Refuse records that lack what their table or figure shows.

    Raises
    ------
    FileFormatError
        The message names the record, and what it lacks.
    """
    for record in records:
        if record.experiment in _FORMS:
            _check(record, _FORMS[record.experiment])


def _check(record: Record, form: _Form) -> None:
    try:
        _check_parts(record, form)
    except (InvalidInputError, FileFormatError) as error:
        raise FileFormatError(f"The record {record.identity} is not whole: {error}") from error


def _check_parts(record: Record, form: _Form) -> None:
    _check_present("keys", record.keys, form.keys)
    if record.paper is not None:
        _check_present("paper", record.paper, form.paper)
    if record.status == "ok":
        _check_present("measured", record.measured, form.figures)
        _check_attacked(record)
        _check_data(record.data, form)


def _check_present(name: str, found: Mapping[str, Any], wanted: Sequence[str]) -> None:
    missing = [figure for figure in wanted if found.get(figure) is None]
    if missing:
        raise InvalidInputError(f"{name} must have {missing[0]!r}.")


def _check_attacked(record: Record) -> None:
    """Whatever stands under the paper's attack is shown beside the strong one and the paper."""
    for name in record.measured:
        if name.startswith("pgd "):
            _check_present("measured", record.measured, (name, f"strong {name[4:]}"))
            if record.paper is not None:
                _check_present("paper", record.paper, (name,))


def _check_data(data: Mapping[str, Any], form: _Form) -> None:
    _check_present("data", data, form.data)
    for name in form.data:
        if name in _DATA_CHECKS:
            _DATA_CHECKS[name](f"data[{name!r}]", data[name])
    if "regions" in form.data:
        _check_regions(data)


def _check_regions(data: Mapping[str, Any]) -> None:
    regions, columns, points, classes = (
        unpack(data[name]) for name in ("regions", "columns", "points", "classes")
    )
    forms = (regions.ndim, columns.ndim, points.ndim, classes.ndim)
    sizes = (regions.size, columns.size, points.size)
    fit = forms == (2, 3, 2, 1) and all(sizes) and points.shape == (len(classes), 2)
    if not fit or columns.max() > 1:
        raise InvalidInputError(
            "data must have arrays that fit together: regions of a plane, columns of 0 and 1, "
            "and points with their classes."
        )


def _check_matrix(name: str, rows: Any) -> None:
    _check_even(name, rows, list)
    for value in (value for row in rows for value in row):
        if value is not None:
            check_number(name, value, minimum=-_MAX_NUMBER, maximum=_MAX_NUMBER)


def _check_codebook(name: str, rows: Any) -> None:
    _check_even(name, rows, str)
    if not all(set(row) <= set("+-0") for row in rows):
        raise InvalidInputError(f"{name} must be rows such as '+-+0'.")


def _check_even(name: str, rows: Any, kind: type) -> None:
    good = isinstance(rows, list) and rows and all(isinstance(row, kind) for row in rows)
    if not good or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise InvalidInputError(f"{name} must be a list of rows of equal length.")


def _check_spectrum(name: str, spectrum: Any) -> None:
    if not isinstance(spectrum, Mapping) or not 1 <= len(spectrum) <= _MAX_DISTANCES:
        raise InvalidInputError(f"{name} must have a count for each distance.")
    for distance, count in spectrum.items():
        check_int(f"{name}[{distance!r:.80}]", count, minimum=0, maximum=int(_MAX_NUMBER))


_DATA_CHECKS: dict[str, Callable[[str, Any], None]] = {
    "p": _check_matrix,
    "phi": _check_matrix,
    "rows": _check_codebook,
    "spectrum": _check_spectrum,
}
