"""Reading proof data that may be anything: every doubt becomes a :class:`RejectedError`."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

__all__ = ["RejectedError", "field", "fraction", "integer", "integers", "record", "text"]

# Numbers in honest proofs have some hundred bits; longer ones only cost time.
_MAX_BITS = 1 << 14
_MAX_DIGITS = 200
_FRACTION = re.compile(
    rf"[0-9]{{1,{_MAX_DIGITS}}}(?:/[1-9][0-9]{{0,{_MAX_DIGITS - 1}}})?", re.ASCII
)


class RejectedError(Exception):
    """A proof is not accepted; the message says why."""


def record(value: object, what: str) -> dict[str, Any]:
    """Return `value` if it is a dict with strings as keys."""
    if type(value) is not dict or any(type(key) is not str for key in value):
        raise RejectedError(f"{what} is not a record with named fields")
    return value


def field(data: dict[str, Any], name: str) -> object:
    """Return a field that must be there."""
    if name not in data:
        raise RejectedError(f"the proof has no field {name!r}")
    value: object = data[name]
    return value


def integer(value: object, what: str, low: int = 0, high: int | None = None) -> int:
    """Return `value` if it is a whole number of reasonable length within limits."""
    if type(value) is not int:
        raise RejectedError(f"{what} is not a whole number")
    if value.bit_length() > _MAX_BITS:
        raise RejectedError(f"{what} is too long a number")
    if value < low or (high is not None and value > high):
        raise RejectedError(f"{what} is out of range")
    return value


def fraction(value: object, what: str) -> Fraction:
    """Return the number of a text such as "3" or "12/5", which is never negative."""
    if type(value) is not str or not _FRACTION.fullmatch(value):
        raise RejectedError(f"{what} is not the text of a fraction such as '12/5'")
    return Fraction(value)


def integers(value: object, what: str, low: int | None, most: int) -> list[int]:
    """Return `value` if it is a list of at most `most` whole numbers of at least `low`."""
    if type(value) is not list or len(value) > most:
        raise RejectedError(f"{what} is not a list of at most {most} whole numbers")
    least = -(1 << _MAX_BITS) if low is None else low
    return [integer(item, f"an entry of {what}", least) for item in value]


def text(value: object, what: str, most: int = 64) -> str:
    """Return `value` if it is a string of reasonable length."""
    if type(value) is not str or len(value) > most:
        raise RejectedError(f"{what} is not a string of at most {most} characters")
    return value
