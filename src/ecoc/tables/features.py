"""What columns of a table are (numbers, categories, dates), and the numbers they become."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import counted, listing
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError
from ecoc.tables.reading import SHOWN_COLUMNS, Table, is_number

__all__ = ["Encoded", "Feature", "encode", "find_features", "read_labels", "rows_with_class"]

MAX_CATEGORIES = 40
"""The most values of a column of text that get an indicator each; the others share one."""

_MISSING_TEXTS = frozenset({"", "?"})
_MISSING_NUMBERS = _MISSING_TEXTS | {
    *("na", "n/a", "nan", "null", "none", "nil", "-", "--", "#n/a", "<na>", "nat"),
}
_MOSTLY = 0.9
"""The share of numbers from which on a few words among them are missing values."""

_FEW_WORDS = 3
_LEAST_SHARED = 0.2
"""The share of rows that frequent texts must have for a column of many texts to be of use."""

_DATE_PARTS = ("day", "year", "month", "day of the month", "weekday", "hour")
_DATE_FORMATS = (
    "iso",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%m/%d/%Y",
    "%m/%d/%Y %H:%M",
    "%d/%m/%Y",
    "%d/%m/%Y %H:%M",
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M:%S",
    "%d-%m-%Y",
    "%d %b %Y",
    "%d %B %Y",
    "%b %d, %Y",
    "%B %d, %Y",
)
_LARGEST = float(np.finfo(np.float32).max)
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class Feature:
    """A column of a table as a learner sees it.

    Parameters
    ----------
    name : str
        The name of the column.
    categories : tuple of str, optional
        The values of a column of text, each of which becomes an indicator.
    rare : bool, default=False
        Whether all other values share an indicator of their own.
    dates : str, optional
        How dates are written: ``"iso"``, or a format of ``strptime``. A date becomes the day as
        one number, and year, month, day of the month, weekday and hour.
    """

    name: str
    categories: tuple[str, ...] | None = None
    rare: bool = False
    dates: str | None = None

    @property
    def kind(self) -> str:
        """The kind of the feature: ``"number"``, ``"category"`` or ``"date"``."""
        return "date" if self.dates else "number" if self.categories is None else "category"

    @property
    def width(self) -> int:
        """How many numbers it becomes."""
        if self.categories is not None:
            return len(self.categories) + self.rare
        return len(_DATE_PARTS) if self.dates else 1


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table as numbers.

    Attributes
    ----------
    X : array of shape (n_rows, n_features)
        The numbers; NaN where a number is missing.
    notes : tuple of str
        What a person should know about it.
    """

    X: Floats
    notes: tuple[str, ...] = ()


# -------------------------------------------------------------------- classes


def rows_with_class(table: Table, target: str) -> tuple[Table, tuple[str, ...]]:
    """The rows that have a class, and a note of those that were left out.

    Examples
    --------
    >>> table = Table(("kind",), (("a",), ("",), ("b",)), (2, 3, 4), "data.csv")
    >>> rows_with_class(table, "kind")
    (<Table 'data.csv': 2 rows x 1 column>, ("1 row without a class in 'kind' was left out (line
    3)",))
    """
    table.check_column("target", target)
    cells = table.column(target)
    without = [row for row, cell in enumerate(cells) if cell in _MISSING_TEXTS]
    if not without:
        return table, ()
    if len(without) == len(cells):
        raise InvalidInputError(f"Column {target!r} must have classes; all of its cells are empty.")
    left_out = set(without)
    lines = listing([table.place(row) for row in without], limit=3)
    whose = f"without a class in {target!r}"
    rows = counted(len(without), f"row {whose} was", f"rows {whose} were")
    note = f"{rows} left out ({lines})"
    return table.take(row for row in range(len(cells)) if row not in left_out), (note,)


def read_labels(table: Table, target: str) -> npt.NDArray[Any]:
    """The classes of the rows: whole numbers if all of them are, texts otherwise.

    Parameters
    ----------
    table : Table
        The table, in which every row has a class.
    target : str
        The column with the classes.

    Raises
    ------
    InvalidInputError
        If the column is not there or has one class only.

    Examples
    --------
    >>> read_labels(Table(("kind",), (("10",), ("9",)), (2, 3), "data.csv"), "kind")
    array([10,  9])
    """
    table.check_column("target", target)
    cells = table.column(target)
    different = set(cells)
    if len(different) < 2:
        raise InvalidInputError(
            f"Column {target!r} must have at least two classes; it has only {cells[0]!r}."
        )
    return np.array([int(cell) for cell in cells] if all(map(_is_whole, different)) else cells)


def _is_whole(cell: str) -> bool:
    """Whether a text is what a whole number of 64 bits is printed as."""
    try:
        return str(int(cell)) == cell and abs(int(cell)) < 1 << 62
    except ValueError:
        return False


# ------------------------------------------------------------------- features


def find_features(
    table: Table,
    target: str,
    *,
    drop: Iterable[str] = (),
    categories: Iterable[str] = (),
) -> tuple[tuple[Feature, ...], tuple[str, ...]]:
    """The features of a table, and notes on what was made of its columns.

    A column is numbers if its cells are, a few words among many numbers being missing values;
    dates if all its cells are dates of one form; and categories otherwise. Of a column with
    many texts the most frequent are kept, and one with hardly any text twice is left out.

    Parameters
    ----------
    table : Table
        The table.
    target : str
        The column with the classes.
    drop : iterable of str
        Columns to leave out.
    categories : iterable of str
        Columns whose numbers are names, such as postcodes.

    Raises
    ------
    InvalidInputError
        If a column that is named is not there, or no column is left.

    Examples
    --------
    >>> rows = (("4", "fur", "2024-05-01", "dog"), ("", "none", "2024-06-01", "snake"))
    >>> table = Table(("legs", "coat", "born", "kind"), rows, (2, 3), "data.csv")
    >>> for feature in find_features(table, "kind")[0]:
    ...     print(feature.name, feature.kind, feature.width)
    legs number 1
    coat category 2
    born date 6
    """
    dropped, named = list(drop), list(categories)
    for what, names in (("drop", dropped), ("categories", named)):
        for name in names:
            table.check_column(what, name)
    if target in dropped:
        raise InvalidInputError(f"The target, {target!r}, cannot be dropped.")
    features: list[Feature] = []
    notes: list[str] = []
    for name in table.names:
        if name == target or name in dropped:
            continue
        feature, note = _feature(name, table.column(name), as_category=name in named)
        features += [] if feature is None else [feature]
        notes += [] if note is None else [note]
    if not features:
        why = f" ({'; '.join(notes)})" if notes else ""
        raise InvalidInputError(
            f"{table.source} has no column besides {target!r} to learn from{why}."
        )
    return tuple(features), tuple(notes)


def _feature(
    name: str, cells: Sequence[str], *, as_category: bool
) -> tuple[Feature | None, str | None]:
    held = [cell for cell in cells if cell.lower() not in _MISSING_NUMBERS]
    texts = [cell for cell in cells if cell not in _MISSING_TEXTS]
    if not texts:
        return None, f"column {name!r} is empty and was left out"
    if not as_category:
        words = Counter(cell for cell in held if not is_number(cell))
        numbers = len(held) - words.total()
        if held and not words:
            return Feature(name), _note_on_names(name, held)
        if numbers >= _MOSTLY * len(held) and len(words) <= _FEW_WORDS and numbers >= 20:
            return Feature(name), f"column {name!r} is numbers; {listing(list(words))} is missing"
        form = _date_format(texts)
        if form is not None:
            both = form == "%m/%d/%Y" and _parses("%d/%m/%Y", texts)
            return Feature(name, dates=form), (
                f"column {name!r} was read as month/day/year" if both else None
            )
    return _category(name, texts)


def _note_on_names(name: str, cells: Sequence[str]) -> str | None:
    """What to do where numbers may be names: nobody writes a quantity as 007."""
    padded = next((cell for cell in cells if re.fullmatch("0[0-9]+", cell)), None)
    if padded is None:
        return None
    return (
        f"column {name!r} was read as numbers; if values such as {padded} are names, say so "
        f"(--category {name})"
    )


def _category(name: str, texts: Sequence[str]) -> tuple[Feature | None, str | None]:
    counts = Counter(texts)
    if len(counts) <= MAX_CATEGORIES:
        kept = sorted(value for value, count in counts.items() if count > 1 or len(texts) < 50)
        # What is seen once tells nothing apart from other such values.
        kept = kept or sorted(counts)
        return Feature(name, tuple(kept), rare=len(kept) < len(counts)), None
    frequent = [(value, count) for value, count in counts.most_common(MAX_CATEGORIES) if count > 1]
    if sum(count for _, count in frequent) < _LEAST_SHARED * len(texts):
        return None, (
            f"column {name!r} has {len(counts)} different texts in {len(texts)} rows and was left "
            "out"
        )
    return Feature(name, tuple(sorted(value for value, _ in frequent)), rare=True), (
        f"column {name!r} has {len(counts)} different texts; the {len(frequent)} most frequent are "
        "kept apart"
    )


# ----------------------------------------------------------------------- dates


def _date_format(texts: Sequence[str]) -> str | None:
    """The first format that all texts have; numbers alone are no dates."""
    if not all(any(mark in text for mark in "-./ ") for text in texts):
        return None
    return next((form for form in _DATE_FORMATS if _parses(form, texts)), None)


def _parses(form: str, texts: Iterable[str]) -> bool:
    return all(_date(text, form) is not None for text in texts)


def _date(text: str, form: str) -> datetime | None:
    try:
        if form == "iso":
            # Years and months alone, and digits without signs, are rather numbers.
            if text[4:5] != "-":
                return None
            date = datetime.fromisoformat(text.replace("Z", "+00:00"))
        else:
            date = datetime.strptime(text, form)  # noqa: DTZ007  # files say no zone
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=timezone.utc)


def _date_numbers(text: str, form: str) -> list[float] | None:
    date = _date(text, form)
    if date is None:
        return None
    hour = date.hour + date.minute / 60 + date.second / 3600
    days = (date - _EPOCH).total_seconds() / 86400
    return [days, date.year, date.month, date.day, date.weekday(), hour]


# -------------------------------------------------------------------- numbers


def encode(table: Table, features: Sequence[Feature], *, allow_missing: bool = True) -> Encoded:
    """Turn a table into numbers.

    Columns are found by their names, and others are ignored. What is missing is NaN, and so is
    every cell of a column that is not there; a missing text has no indicator set. A text that a
    feature does not know sets the indicator of rare ones, if it has that. Notes tell of all this.

    Parameters
    ----------
    table : Table
        The table.
    features : sequence of Feature
        The columns to take.
    allow_missing : bool, default=True
        Whether values may be missing.

    Raises
    ------
    InvalidInputError
        If no column is there, or values are missing where they may not be; the message names
        column and line.

    Examples
    --------
    >>> table = Table(("coat", "legs"), (("fur", "4"), ("none", "?")), (2, 3), "data.csv")
    >>> encode(table, [Feature("legs"), Feature("coat", ("fur", "none"))]).X
    array([[ 4.,  1.,  0.],
           [nan,  0.,  1.]])
    """
    absent = [feature.name for feature in features if feature.name not in table.names]
    if len(absent) == len(features) or (absent and not allow_missing):
        shown = listing([repr(name) for name in table.names], limit=SHOWN_COLUMNS)
        raise InvalidInputError(
            f"{table.source} must have the columns of the model; "
            f"{listing([repr(name) for name in absent])} "
            f"{'is' if len(absent) == 1 else 'are'} not among {shown}."
        )
    notes = []
    if absent:
        several = "columns" if len(absent) > 1 else "column"
        verb = "are" if len(absent) > 1 else "is"
        notes.append(f"the {several} {listing(absent)} of the model {verb} missing in all rows")
    blocks: list[Floats] = []
    missing: list[tuple[int, str]] = []
    for feature in features:
        cells = [""] * len(table.rows) if feature.name in absent else table.column(feature.name)
        values, without, strange = _ENCODERS[feature.kind](feature, cells)
        blocks.append(values)
        missing.extend((row, feature.name) for row in without)
        if strange:
            notes.append(
                f"column {feature.name!r} has values that the model does not know: "
                f"{listing(strange)}"
            )
    if missing and not allow_missing:
        places = [f"{name!r} in {table.place(row)}" for row, name in sorted(missing)]
        gaps = counted(len(missing), "value is", "values are")
        raise InvalidInputError(
            f"{gaps} missing: {listing(places, limit=4)}. Fill in what is missing, or train the "
            "model again, with ecoc fit, which lets it do that."
        )
    return Encoded(np.hstack(blocks), tuple(notes))


_Columns = tuple[Floats, list[int], list[str]]


def _rows(
    parse: Callable[[str], Sequence[float] | None],
    width: int,
    cells: Sequence[str],
    is_missing: Callable[[str], bool],
) -> _Columns:
    values = np.full((len(cells), width), np.nan)
    missing, strange = [], set()
    for row, cell in enumerate(cells):
        numbers = None if is_missing(cell) else parse(cell)
        if numbers is None:
            missing.append(row)
            strange |= set() if is_missing(cell) else {cell}
        else:
            values[row] = numbers
    return values, missing, sorted(strange)


def _number(cell: str) -> list[float] | None:
    # Trees count in single precision.
    if not is_number(cell) or not abs(float(cell)) <= _LARGEST:
        return None
    return [float(cell)]


def _is_missing_number(cell: str) -> bool:
    return cell.lower() in _MISSING_NUMBERS


def _numbers(_: Feature, cells: Sequence[str]) -> _Columns:
    return _rows(_number, 1, cells, _is_missing_number)


def _dates(feature: Feature, cells: Sequence[str]) -> _Columns:
    parse = partial(_date_numbers, form=feature.dates or "iso")
    return _rows(parse, len(_DATE_PARTS), cells, _is_missing_number)


def _indicators(feature: Feature, cells: Sequence[str]) -> _Columns:
    known = feature.categories or ()
    places = {value: place for place, value in enumerate(known)}
    values = np.zeros((len(cells), feature.width))
    missing, strange = [], set()
    for row, cell in enumerate(cells):
        if cell in places:
            values[row, places[cell]] = 1
        elif cell in _MISSING_TEXTS:
            missing.append(row)
        elif feature.rare:
            values[row, -1] = 1
        else:
            strange.add(cell)
    return values, missing, sorted(strange)


_ENCODERS = {"number": _numbers, "category": _indicators, "date": _dates}
