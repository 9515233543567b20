"""Tables of texts from CSV files."""

from __future__ import annotations

import csv
import difflib
import io
import os
from collections.abc import Sequence
from dataclasses import dataclass

from ecoc._checks import listing
from ecoc._files import decode_text, read_bytes, source_name
from ecoc.errors import FileFormatError, InvalidInputError

__all__ = ["Table", "check_table", "read_table"]

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
