"""Exact numbers: whole ones and fractions, where a float is the decimal it is written as."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TypeAlias

from ecoc.errors import InvalidInputError

Exact: TypeAlias = "int | Fraction"
"""A whole number where the value is whole, else a fraction."""

MOST_DIGITS = 60
"""The longest numerator and denominator that are read; honest ones are much shorter."""

_FRACTION = re.compile(rf"[0-9]{{1,{MOST_DIGITS}}}/[1-9][0-9]{{0,{MOST_DIGITS - 1}}}", re.ASCII)


def exact(value: float | Fraction) -> Exact:
    """Return a number exactly, a float as the decimal that Python writes for it.

    Examples
    --------
    >>> exact(1.3), exact(2.0), exact(Fraction(6, 4))
    (Fraction(13, 10), 2, Fraction(3, 2))
    """
    number = Fraction(str(value)) if isinstance(value, float) else Fraction(value)
    return int(number) if number.denominator == 1 else number


def exact_to_plain(value: Exact | None) -> int | str | None:
    """Return a number for files: a whole number, or the text of a fraction such as "12/5"."""
    return str(value) if isinstance(value, Fraction) else value


def exact_from_plain(name: str, value: object) -> Exact:
    """Read a number from plain data: whole, a fraction in lowest terms, or a decimal.

    Examples
    --------
    >>> exact_from_plain("bound", "12/5") == exact_from_plain("bound", 2.4)
    True
    """
    if isinstance(value, str) and _FRACTION.fullmatch(value):
        number = Fraction(value)
        if number.denominator > 1 and str(number) == value:
            return number
    elif type(value) is int and abs(value) < 10**MOST_DIGITS:
        return value
    elif type(value) is float and 1e-30 < abs(value) < 1e30:
        return exact(value)
    elif value == 0.0 and type(value) is float:
        return 0
    raise InvalidInputError(
        f'{name} must be a number, or a fraction in lowest terms such as "12/5", not {value!r:.80}.'
    )


def exact_text(value: Exact | None) -> str:
    """Return a number for people, rounded where it is long."""
    return "unknown" if value is None else f"{float(value):.12g}"
