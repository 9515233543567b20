"""Tables of texts from CSV files; features and classes from them, with errors that name cells."""

from __future__ import annotations

import csv
import difflib
import io
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import listing
from ecoc._files import decode_text, read_bytes, source_name
from ecoc._typing import Floats
from ecoc.errors import FileFormatError, InvalidInputError

__all__ = [
    "Encoded",
    "Feature",
    "Table",
    "check_table",
    "encode",
    "find_features",
    "read_labels",
    "read_table",
]


MAX_TABLE_BYTES = 1 << 32
"""The largest table that is read, 4 GiB."""

_DELIMITERS = ",;\t"
SHOWN_COLUMNS = 20


@dataclass(frozen=True, repr=False)
class Table:
    """A table of texts with named columns.

    Attributes
    ----------
    names : tuple of str
        The columns, from the first line.
    rows : tuple of tuples of str
        The cells, without blanks around them.
    lines : tuple of int
        The line of the file that each row ends on.
    source : str
        The file.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    source: str

    def column(self, name: str) -> list[str]:
        """The cells of a column."""
        place = self.names.index(name)
        return [row[place] for row in self.rows]

    def check_column(self, what: str, name: str) -> None:
        """Check that a column is there; name those that are if it is not."""
        if name in self.names:
            return
        near = difflib.get_close_matches(name, self.names, n=1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
        shown = listing([repr(column) for column in self.names], limit=SHOWN_COLUMNS)
        raise InvalidInputError(
            f"{what} must be a column of {self.source}, not {name!r}. It has {shown}.{hint}"
        )

    def place(self, row: int) -> str:
        """Where a row is, for messages."""
        return f"line {self.lines[row]}"

    def __repr__(self) -> str:
        return f"<Table {self.source!r}: {len(self.rows)} rows x {len(self.names)} columns>"


def check_table(table: object) -> Table:
    """Return `table` if it is one; say how else to go on if it is not."""
    if isinstance(table, Table):
        return table
    raise InvalidInputError(
        f"table must be a Table, which read_table reads from a CSV file, not "
        f"{type(table).__name__}. Arrays and data frames go to ECOCClassifier.fit and predict."
    )


def read_table(path: str | os.PathLike[str]) -> Table:
    r"""Read a CSV file with the names of its columns in the first line.

    Commas, semicolons or tabs separate cells, whichever the first line has most of.

    Parameters
    ----------
    path : str or path
        The file, in UTF-8; ``"-"`` is standard input.

    Raises
    ------
    FileFormatError
        If it cannot be read, has no rows, names a column twice, or has rows of different
        lengths; the message names the line.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "pets.csv"
    ...     _ = path.write_text("legs,kind\n4,dog\n2,bird\n")
    ...     table = read_table(path)
    >>> table.names, table.rows
    (('legs', 'kind'), (('4', 'dog'), ('2', 'bird')))
    """
    source = os.fspath(path)
    return _parse(_read_text(source), source_name(source))


def _read_text(source: str) -> str:
    data = read_bytes(source, max_bytes=MAX_TABLE_BYTES)
    try:
        return decode_text(data)
    except FileFormatError as error:
        raise FileFormatError(f"{source_name(source)}: {error}") from error


def _parse(text: str, source: str) -> Table:
    first = text.split("\n", 1)[0]
    delimiter = max(_DELIMITERS, key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows, lines = [], []
    try:
        names = tuple(name.strip() for name in next(reader, []))
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(names):
                raise FileFormatError(
                    f"{source}: line {reader.line_num} has {len(cells)} cells, and the first "
                    f"line names {len(names)} columns."
                )
            rows.append(tuple(cell.strip() for cell in cells))
            lines.append(reader.line_num)
    except csv.Error as error:
        raise FileFormatError(f"{source}: line {reader.line_num}: {error}.") from error
    _check_names(names, source)
    if not rows:
        raise FileFormatError(f"{source}: has names of columns and no rows.")
    return Table(names, tuple(rows), tuple(lines), source)


def _check_names(names: Sequence[str], source: str) -> None:
    if not names:
        raise FileFormatError(f"{source}: is empty; the first line must name the columns.")
    unnamed = [str(place + 1) for place, name in enumerate(names) if not name]
    if unnamed:
        raise FileFormatError(f"{source}: the first line has no name for column {unnamed[0]}.")
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise FileFormatError(f"{source}: the first line names {listing(twice)} more than once.")
    if len(names) > 1 and all(is_number(name) for name in names):
        raise FileFormatError(
            f"{source}: the first line has numbers ({listing(names)}) and must name the columns."
        )


def is_number(cell: str) -> bool:
    """Whether a text is a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


MAX_CATEGORIES = 100
"""The most values of a column of text; one with more is a name or a number of the row."""

_MISSING_LABELS = frozenset({"", "?"})
_MISSING_NUMBERS = frozenset({"", "?", "na", "n/a", "nan", "null", "none"})


@dataclass(frozen=True)
class Feature:
    """A column of a table as a learner sees it.

    Parameters
    ----------
    name : str
        The name of the column.
    categories : tuple of str, optional
        The values of a column of text, each of which becomes an indicator; None for numbers.
    """

    name: str
    categories: tuple[str, ...] | None = None

    @property
    def width(self) -> int:
        """How many numbers it becomes."""
        return 1 if self.categories is None else len(self.categories)


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


def read_labels(table: Table, target: str) -> npt.NDArray[Any]:
    """The classes of the rows: whole numbers if all of them are, texts otherwise.

    Parameters
    ----------
    table : Table
        The table.
    target : str
        The column with the classes.

    Raises
    ------
    InvalidInputError
        If the column is not there, has empty cells, or one class only.

    Examples
    --------
    >>> read_labels(Table(("kind",), (("10",), ("9",)), (2, 3), "data.csv"), "kind")
    array([10,  9])
    """
    table.check_column("target", target)
    cells = table.column(target)
    missing = [row for row, cell in enumerate(cells) if cell in _MISSING_LABELS]
    if missing:
        raise InvalidInputError(
            f"Every row needs a class; {len(missing)} of {len(cells)} have none in column "
            f"{target!r} ({listing([table.place(row) for row in missing], limit=3)})."
        )
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


def find_features(
    table: Table, target: str, *, drop: Iterable[str] = (), one_hot: bool = False
) -> tuple[Feature, ...]:
    """The features of a table: all columns but the target and those dropped.

    Parameters
    ----------
    table : Table
        The table.
    target : str
        The column with the classes.
    drop : iterable of str
        Columns to leave out.
    one_hot : bool, default=False
        Turn columns of text into an indicator for each of their values, instead of raising.

    Raises
    ------
    InvalidInputError
        If a column to be dropped is not there, no column is left, or one is not numeric; the
        message names the column, the line and the value.

    Examples
    --------
    >>> table = Table(("legs", "coat", "kind"), (("4", "fur", "dog"),), (2,), "data.csv")
    >>> find_features(table, "kind", one_hot=True)
    (Feature(name='legs', categories=None), Feature(name='coat', categories=('fur',)))
    """
    dropped = list(drop)
    for name in dropped:
        table.check_column("drop", name)
    if target in dropped:
        raise InvalidInputError(f"The target, {target!r}, cannot be dropped.")
    names = [name for name in table.names if name != target and name not in dropped]
    if not names:
        raise InvalidInputError(f"{table.source} has no column besides {target!r} to learn from.")
    features = []
    for name in names:
        cells = table.column(name)
        strange = _not_numeric(cells)
        if strange is None:
            features.append(Feature(name))
        elif one_hot:
            features.append(Feature(name, _categories(table, name, cells)))
        else:
            raise InvalidInputError(
                f"Features must be numbers; column {name!r} has {cells[strange]!r} in "
                f"{table.place(strange)}. Drop the column, or turn its values into "
                "indicators (one-hot)."
            )
    return tuple(features)


def _not_numeric(cells: Sequence[str]) -> int | None:
    """The first cell that holds something, and no number."""
    for row, cell in enumerate(cells):
        if not is_number(cell) and cell.lower() not in _MISSING_NUMBERS:
            return row
    return None


def _categories(table: Table, name: str, cells: Sequence[str]) -> tuple[str, ...]:
    values = sorted(set(cells) - _MISSING_LABELS)
    if len(values) > MAX_CATEGORIES:
        raise InvalidInputError(
            f"A column of text may have at most {MAX_CATEGORIES} different values; column "
            f"{name!r} of {table.source} has {len(values)}. Drop it."
        )
    return tuple(values)


def encode(table: Table, features: Sequence[Feature], *, allow_missing: bool = False) -> Encoded:
    """Turn a table into numbers.

    Columns are found by their names, and others are ignored. A value of a column of text
    that its feature does not know has no indicator set, and a note says so.

    Parameters
    ----------
    table : Table
        The table.
    features : sequence of Feature
        The columns to take.
    allow_missing : bool, default=False
        Let missing numbers be NaN and missing texts have no indicator set.

    Raises
    ------
    InvalidInputError
        If a column or a value is missing, or a value is not a finite number; the message
        names column, line and value.

    Examples
    --------
    >>> table = Table(("coat", "legs"), (("fur", "4"), ("none", "2")), (2, 3), "data.csv")
    >>> encode(table, [Feature("legs"), Feature("coat", ("fur", "none"))]).X
    array([[4., 1., 0.],
           [2., 0., 1.]])
    """
    absent = [repr(feature.name) for feature in features if feature.name not in table.names]
    if absent:
        shown = listing([repr(name) for name in table.names], limit=SHOWN_COLUMNS)
        raise InvalidInputError(
            f"{table.source} must have the columns of the model; {listing(absent)} "
            f"{'is' if len(absent) == 1 else 'are'} not among {shown}."
        )
    blocks: list[Floats] = []
    missing: list[tuple[int, str]] = []
    notes: list[str] = []
    for feature in features:
        cells = table.column(feature.name)
        if feature.categories is None:
            values, without = _numbers(table, feature.name, cells)
            blocks.append(values[:, None])
        else:
            values, without, unknown = _indicators(feature.categories, cells)
            blocks.append(values)
            if unknown:
                notes.append(
                    f"column {feature.name!r} has values that the model does not know: "
                    f"{listing(unknown)}"
                )
        missing.extend((row, feature.name) for row in without)
    if missing and not allow_missing:
        places = [f"{name!r} in {table.place(row)}" for row, name in sorted(missing)]
        raise InvalidInputError(
            f"{len(missing)} values are missing: {listing(places, limit=4)}. Fill them in, or let "
            "the model do it (train with impute)."
        )
    return Encoded(np.hstack(blocks), tuple(notes))


def _numbers(table: Table, name: str, cells: Sequence[str]) -> tuple[Floats, list[int]]:
    values = np.empty(len(cells))
    missing = []
    for row, cell in enumerate(cells):
        if cell.lower() in _MISSING_NUMBERS:
            missing.append(row)
            values[row] = np.nan
            continue
        try:
            values[row] = float(cell)
        except ValueError:
            values[row] = np.inf
        if not np.isfinite(values[row]):
            raise InvalidInputError(
                f"Column {name!r} must hold finite numbers; it has {cell!r} in {table.place(row)}."
            )
    return values, missing


def _indicators(
    categories: Sequence[str], cells: Sequence[str]
) -> tuple[Floats, list[int], list[str]]:
    places = {value: place for place, value in enumerate(categories)}
    values = np.zeros((len(cells), len(categories)))
    missing, unknown = [], set()
    for row, cell in enumerate(cells):
        if cell in places:
            values[row, places[cell]] = 1
        elif cell in _MISSING_LABELS:
            missing.append(row)
        else:
            unknown.add(cell)
    return values, missing, sorted(unknown)
