"""The kind of every field of a record, checked when it is read from a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from ecoc._checks import check_choice, check_int, check_number
from ecoc.errors import InvalidInputError
from ecoc.experiments.codebooks import CODEBOOK_TITLES
from ecoc.experiments.paper_figures import PAPER_PARTS
from ecoc.experiments.workspace import SCALES

__all__ = ["STATUSES", "check_record"]

STATUSES = ("ok", "skipped", "failed")

MAX_NUMBER = 1e15
"""The largest number of a record; what is drawn from it still has digits after the point."""

_WHOLE_KEYS = {"k", "L"}
_TEXT_FIGURES = {"status", "certificate", "verdict"}
_FLAG_FIGURES = {"verified", "same_rows"}
_UNDER_ATTACK = re.compile(r"(?:pgd|strong|certified) (?P<radius>.*)", re.DOTALL)
_RADIUS = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,9})?(?:/[1-9][0-9]{0,5})?")


def check_record(record: Any) -> None:
    """Refuse a record with fields of the wrong kind, or numbers that nothing measures.

    Raises
    ------
    InvalidInputError
        The message names the field.
    """
    check_choice("status", record.status, STATUSES)
    check_choice("experiment", record.experiment, PAPER_PARTS)
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
