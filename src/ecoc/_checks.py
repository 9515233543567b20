"""The one wording for every check of input: what was wrong, what was got, what would work."""

from __future__ import annotations

import difflib
import importlib
import numbers
import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from types import ModuleType
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ecoc.errors import InfeasibleError, InvalidInputError, MissingDependencyError

__all__ = ["printable"]


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


def printable(text: str, keep: str = "") -> str:
    r"""Return text in which nothing steers a terminal: the rest is written as escapes.

    Parameters
    ----------
    text : str
        Text from a file, or a message that may quote one.
    keep : str
        Characters to leave alone, such as ``"\n"``.

    Examples
    --------
    >>> print(printable("safe \x1b[2Jscreen"))
    safe \x1b[2Jscreen
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in keep else ascii(c)[1:-1] for c in text)


RandomState: TypeAlias = "int | np.random.Generator | None"


MAX_CLASS_SIZE = 1 << 40
"""The most data points of a class; sums over classes then fit in 64 bits."""


def check_int(
    name: str,
    value: object,
    *,
    minimum: int | None = None,
    maximum: int | None = None,
) -> int:
    """Return `value` as an int within the given limits."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InvalidInputError(f"{name} must be a whole number, not {value!r:.200}.")
    number = int(value)
    if minimum is not None and number < minimum:
        raise InvalidInputError(f"{name} must be at least {minimum}, not {number}.")
    if maximum is not None and number > maximum:
        raise InvalidInputError(f"{name} must be at most {maximum}, not {number}.")
    return number


def check_number(
    name: str,
    value: object,
    *,
    minimum: float | None = None,
    maximum: float | None = None,
) -> float:
    """Return `value` as a finite float within the given limits."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InvalidInputError(f"{name} must be a number, not {value!r:.200}.")
    try:
        number = float(value)
    except OverflowError:
        number = float("inf")
    if not np.isfinite(number):
        raise InvalidInputError(f"{name} must be finite and not too large for a float.")
    if minimum is not None and number < minimum:
        raise InvalidInputError(f"{name} must be at least {minimum:g}, not {number:g}.")
    if maximum is not None and number > maximum:
        raise InvalidInputError(f"{name} must be at most {maximum:g}, not {number:g}.")
    return number


def check_enough_columns(n_classes: int, n_columns: int, n_different: int) -> None:
    """Refuse more columns than there are different ones."""
    if n_columns > n_different:
        raise InfeasibleError(
            f"{n_classes} classes have only {counted(n_different, 'different column')}; n_columns "
            f"is {n_columns}. Ask for at most {n_different}."
        )


def fewest_columns(n_classes: int, n_symbols: int = 2) -> int:
    """How many columns of so many symbols the classes need to have different rows.

    Examples
    --------
    >>> fewest_columns(9), fewest_columns(9, n_symbols=3), fewest_columns(10, n_symbols=3)
    (4, 2, 3)
    """
    fewest, n_rows = 0, 1
    while n_rows < n_classes:
        fewest, n_rows = fewest + 1, n_rows * n_symbols
    return fewest


def check_enough_rows(n_classes: int, n_columns: int, n_symbols: int = 2) -> None:
    """Refuse columns that are too few to tell the classes apart."""
    fewest = fewest_columns(n_classes, n_symbols)
    if n_columns < fewest:
        symbols = "+1 and -1" if n_symbols == 2 else f"{n_symbols} symbols"
        raise InfeasibleError(
            f"{counted(n_columns, 'column')} of {symbols} can give only {n_symbols**n_columns} "
            f"different rows for {n_classes} classes. Ask for at least "
            f"{counted(fewest, 'column')}."
        )


def check_matrix(name: str, values: object) -> npt.NDArray[np.float64]:
    """Return numbers as a matrix of floats; text is not taken for numbers.

    Examples
    --------
    >>> check_matrix("targets", np.array([[0, 1.3]], dtype=np.float32))
    array([[0. , 1.3]])
    """
    wrong = InvalidInputError(f"{name} must be a matrix of numbers.")
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O" and not all(
            isinstance(entry, numbers.Real) and not isinstance(entry, bool) for entry in array.flat
        ):
            raise wrong
        if array.dtype.kind not in "iufO":
            raise wrong
        if array.dtype.kind == "f" and array.dtype.itemsize < 8:
            # A narrow float is the decimal that is written for it, too.
            array = array.astype(str)
        matrix = np.array(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise wrong from error
    if matrix.ndim != 2:
        raise wrong
    return matrix


def check_choice(name: str, value: object, choices: Iterable[str]) -> str:
    """Return `value` if it is one of `choices`; suggest the nearest one otherwise."""
    options = list(choices)
    if isinstance(value, str) and value in options:
        return value
    near = difflib.get_close_matches(str(value), options, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    listed = ", ".join(repr(option) for option in options)
    raise InvalidInputError(f"{name} must be one of {listed}, not {value!r:.200}.{hint}")


def check_random_state(random_state: RandomState) -> np.random.Generator:
    """Return a generator: a new one for None or a seed, the same one for a generator."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    if random_state is None:
        return np.random.default_rng()
    return np.random.default_rng(check_int("random_state", random_state, minimum=0))


def check_seed(random_state: object) -> int | None:
    """Return a seed: the one given, one drawn from a generator, or None for None.

    Examples
    --------
    >>> check_seed(7), check_seed(None)
    (7, None)
    """
    if random_state is None:
        return None
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    return check_int("random_state", random_state, minimum=0)


def check_class_sizes(class_sizes: Sequence[int], n_classes: int) -> tuple[int, ...]:
    """Return the number of data points of each class as positive ints."""
    sizes = tuple(
        check_int(f"class_sizes[{i}]", size, minimum=1, maximum=MAX_CLASS_SIZE)
        for i, size in enumerate(class_sizes)
    )
    if len(sizes) != n_classes:
        raise InvalidInputError(
            f"class_sizes must have one entry for each of the {n_classes} classes, "
            f"not {len(sizes)}."
        )
    return sizes


def counted(count: int, noun: str, plural: str | None = None, *, form: str = "") -> str:
    """A number with its noun, in the plural where it needs it.

    Parameters
    ----------
    count : int
        The number.
    noun : str
        What is counted, in the singular; a verb may follow.
    plural : str, optional
        The same in the plural, for what an "s" at the end does not make one.
    form : str
        How the number is written, as in a format string.

    Examples
    --------
    >>> counted(1, "column"), counted(1200, "class", "classes", form=",")
    ('1 column', '1,200 classes')
    >>> counted(2, "value is", "values are")
    '2 values are'
    """
    return f"{count:{form}} {noun if count == 1 else plural or noun + 's'}"


def listing(items: Sequence[object], limit: int = 5) -> str:
    """Join the first few items for a message, and count the rest."""
    shown = ", ".join(str(item) for item in items[:limit])
    rest = len(items) - limit
    return f"{shown} and {rest} more" if rest > 0 else shown


def require(module: str, *, extra: str | None = None) -> ModuleType:
    """Import an optional library on first use, or say how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        what = f"ecoc[{extra}]" if extra else module
        raise MissingDependencyError(
            f"{module} is needed for this and is not installed. Install it with: "
            f"python -m pip install '{what}'"
        ) from error
