"""What a record must be to be read, and what it must have to be shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ecoc._checks import check_choice, check_int, check_number
from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.paper.codebooks import CODEBOOK_TITLES
from ecoc.paper.measuring import SCALES
from ecoc.paper.records import Record
from ecoc.paper.registry import PAPER_TABLES
from ecoc.paper.table import MAX_NUMBER, RecordForm

__all__ = ["check_complete", "check_record"]

_STATUSES = ("ok", "skipped", "failed")

_WHOLE_KEYS = {"k", "L"}
_TEXT_FIGURES = {"status", "certificate", "verdict"}
_FLAG_FIGURES = {"verified", "same_rows"}
_UNDER_ATTACK = re.compile(r"(?:pgd|strong|certified) (?P<radius>.*)", re.DOTALL)
_RADIUS = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,9})?(?:/[1-9][0-9]{0,5})?")


def check_record(record: Record) -> None:
    """Refuse a record with fields of the wrong kind, or numbers that nothing measures.

    Raises
    ------
    InvalidInputError
        The message names the field.
    """
    check_choice("status", record.status, _STATUSES)
    check_choice("experiment", record.experiment, PAPER_TABLES)
    check_choice("scale", record.scale, SCALES)
    check_int("seed", record.seed, minimum=0, maximum=2**63)
    check_number("seconds", record.seconds, minimum=0, maximum=MAX_NUMBER)
    for name in ("subset", "note", "finished"):
        _check_text(name, getattr(record, name))
    for name in ("keys", "measured", "standard_errors", "sizes", "data", "versions", "hardware"):
        _check_mapping(name, getattr(record, name))
    _check_keys(record.keys)
    _check_figures("measured", record.measured)
    for name, value in record.standard_errors.items():
        check_number(f"standard_errors[{name!r}]", value, minimum=0, maximum=MAX_NUMBER)
    if record.paper is not None:
        _check_mapping("paper", record.paper)
        _check_figures("paper", record.paper)


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} must be a text, not {value!r:.80}.")


def _check_mapping(name: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{name} must be an object, not {value!r:.80}.")


def _check_keys(keys: Mapping[str, Any]) -> None:
    for name, value in keys.items():
        if name in _WHOLE_KEYS:
            check_int(f"keys[{name!r}]", value, minimum=1, maximum=10**6)
        elif name in {"codebook", "code"}:
            check_choice(f"keys[{name!r}]", value, CODEBOOK_TITLES)
        elif not isinstance(value, str):
            check_number(f"keys[{name!r}]", value, minimum=-MAX_NUMBER, maximum=MAX_NUMBER)


def _check_figures(place: str, figures: Mapping[str, Any]) -> None:
    for name, value in figures.items():
        told = f"{place}[{name!r:.80}]"
        attack = _UNDER_ATTACK.fullmatch(name)
        if attack and not _RADIUS.fullmatch(attack["radius"]):
            raise InvalidInputError(f"{told} must have a radius such as 0.1 or 8/255 in its name.")
        if value is None:
            continue
        if name in _TEXT_FIGURES:
            _check_text(told, value)
        elif name in _FLAG_FIGURES:
            if not isinstance(value, bool):
                raise InvalidInputError(f"{told} must be true or false, not {value!r:.80}.")
        elif name != "rows":
            least = 1 if name == "cliques" else -MAX_NUMBER
            check_number(told, value, minimum=least, maximum=MAX_NUMBER)


def check_complete(records: Sequence[Record]) -> None:
    """Refuse records that lack what their table or figure shows.

    Raises
    ------
    FileFormatError
        The message names the record, and what it lacks.
    """
    for record in records:
        if record.experiment in PAPER_TABLES:
            _check_whole(record, PAPER_TABLES[record.experiment].form)


def _check_whole(record: Record, form: RecordForm) -> None:
    try:
        _check_parts(record, form)
    except (InvalidInputError, FileFormatError) as error:
        raise FileFormatError(f"The record {record.identity} is not whole: {error}") from error


def _check_parts(record: Record, form: RecordForm) -> None:
    _check_present("keys", record.keys, form.keys)
    if record.paper is not None:
        _check_present("paper", record.paper, form.paper)
    if record.status == "ok":
        _check_present("measured", record.measured, form.figures)
        _check_attacked(record)
        _check_present("data", record.data, form.data)
        form.check_data(record.data)


def _check_present(name: str, values: Mapping[str, Any], wanted: Sequence[str]) -> None:
    missing = [figure for figure in wanted if values.get(figure) is None]
    if missing:
        raise InvalidInputError(f"{name} must have {missing[0]!r}.")


def _check_attacked(record: Record) -> None:
    """Whatever stands under the paper's attack is shown beside the strong one and the paper."""
    for name in record.measured:
        if name.startswith("pgd "):
            _check_present("measured", record.measured, (name, f"strong {name[4:]}"))
            if record.paper is not None:
                _check_present("paper", record.paper, (name,))
