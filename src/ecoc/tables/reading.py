"""Tables as they are: CSV of any separator and encoding, Parquet, Excel and data frames."""

from __future__ import annotations

import csv
import difflib
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import isnan
from typing import Any

from ecoc._checks import check_choice, counted, listing, require
from ecoc._files import gunzip, read_bytes, source_name
from ecoc.errors import FileFormatError, InvalidInputError

__all__ = ["Table", "as_table", "is_number", "parse_table", "read_table", "record_table"]

MAX_TABLE_BYTES = 1 << 32
"""The largest table that is read, 4 GiB."""

SHOWN_COLUMNS = 20

_SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_MARKS = {b"\xef\xbb\xbf": "utf-8-sig", b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
_BINARY = {".parquet": "tables", ".xlsx": "tables"}
_OTHERS = frozenset({".arrow", ".dta", ".feather", ".json", ".npz", ".ods", ".pkl", ".xls", ".zip"})
# 1234,5 or 1.234,5; a comma in three digits and no more could be either kind of number.
_DECIMAL_COMMA = re.compile(r"[+-]?(\d+|\d{1,3}(\.\d{3})+),\d+([eE][+-]?\d+)?")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+")


@dataclass(frozen=True, repr=False)
class Table:
    """A table of texts with named columns.

    Attributes
    ----------
    names : tuple of str
        The columns.
    rows : tuple of tuples of str
        The cells, without blanks around them; empty where a value is missing.
    lines : tuple of int
        The line of the file that each row ends on.
    source : str
        The file.
    notes : tuple of str
        What was found out about the file.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    lines: tuple[int, ...]
    source: str
    notes: tuple[str, ...] = ()

    def column(self, name: str) -> list[str]:
        """The cells of a column."""
        place = self.names.index(name)
        return [row[place] for row in self.rows]

    def check_column(self, what: str, name: str) -> None:
        """Check that a column is there; name those that are if it is not."""
        if name in self.names:
            return
        near = difflib.get_close_matches(name, self.names, n=1)
        if len(self.names) == 1 and self.source != "data frame":
            hint = " If that is several, say what separates them (--separator)."
        elif any(map(is_number, self.names)):
            hint = " The first line must name the columns."
        else:
            hint = f" Did you mean {near[0]!r}?" if near else ""
        shown = listing([repr(column) for column in self.names], limit=SHOWN_COLUMNS)
        raise InvalidInputError(
            f"{what} must be a column of {self.source}, not {name!r}. It has {shown}.{hint}"
        )

    def place(self, row: int) -> str:
        """Where a row is, for messages."""
        return f"line {self.lines[row]}"

    def take(self, rows: Iterable[int]) -> Table:
        """The table with these rows alone."""
        kept = list(rows)
        return replace(
            self,
            rows=tuple(self.rows[row] for row in kept),
            lines=tuple(self.lines[row] for row in kept),
        )

    def __repr__(self) -> str:
        size = f"{counted(len(self.rows), 'row')} x {counted(len(self.names), 'column')}"
        return f"<Table {self.source!r}: {size}>"


def as_table(table: object) -> Table:
    """A table, or a data frame of pandas or polars as one.

    Raises
    ------
    InvalidInputError
        If it is neither; the message says how else to go on.

    Examples
    --------
    >>> import pandas as pd
    >>> as_table(pd.DataFrame({"legs": [4, None], "kind": ["dog", "snake"]})).rows
    (('4', 'dog'), ('', 'snake'))
    """
    if isinstance(table, Table):
        return table
    library = type(table).__module__.partition(".")[0]
    if library in {"pandas", "polars"} and type(table).__name__ == "DataFrame":
        return _from_frame(table, "data frame")
    raise InvalidInputError(
        "table must be a Table, which read_table reads from a file, or a data frame of pandas or "
        f"polars, not {type(table).__name__}. Arrays go to ECOCClassifier.fit and predict."
    )


def read_table(
    path: str | os.PathLike[str],
    *,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> Table:
    r"""Read a table with the names of its columns in the first line.

    What the arguments do not say is found out, and the notes of the table tell what was.
    A column without a name that counts the rows is left out.

    Parameters
    ----------
    path : str or path
        A CSV file, perhaps compressed by gzip; ``"-"`` is standard input. ``.parquet`` and
        ``.xlsx`` files need the extra ``tables``.
    separator : str, optional
        The character between cells; commas, semicolons, tabs or bars are found out.
    encoding : str, optional
        By default UTF-8 or UTF-16 if the file is in it, and Windows' Latin-1 otherwise.
    decimal : {".", ","}, optional
        What stands before the fraction of a number, by column if it is not given.

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
    ...     _ = path.write_text("legs;weight;kind\n4;7,5;dog\n2;0,1;bird\n")
    ...     table = read_table(path)
    >>> table.names, table.rows
    (('legs', 'weight', 'kind'), (('4', '7.5', 'dog'), ('2', '0.1', 'bird')))
    >>> table.notes
    ('cells are separated by semicolons', 'decimal commas in weight')
    """
    if separator is not None and len(separator) != 1:
        raise InvalidInputError(f"separator must be one character, not {separator!r}.")
    if decimal is not None:
        check_choice("decimal", decimal, (".", ","))
    source = os.fspath(path)
    suffix = os.path.splitext(source)[1].lower()  # noqa: PTH122  # "-" is no path
    if suffix in _BINARY:
        return _from_binary(source, suffix)
    if suffix in _OTHERS:
        raise FileFormatError(
            f"{source_name(source)}: {suffix} files are not read; save it as CSV, .parquet or "
            ".xlsx."
        )
    data = _unpacked(read_bytes(source, max_bytes=MAX_TABLE_BYTES), source)
    return parse_table(
        data, source_name(source), separator=separator, encoding=encoding, decimal=decimal
    )


def parse_table(
    data: bytes,
    source: str,
    *,
    separator: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
) -> Table:
    r"""Read a table from the bytes of a CSV file.

    Parameters
    ----------
    data : bytes
        What the file has.
    source : str
        What it is called in messages.
    separator, encoding, decimal
        As for :func:`read_table`.

    Examples
    --------
    >>> parse_table(b"legs,kind\n4,dog", "the upload").rows
    (('4', 'dog'),)
    """
    text, notes = _decoded(data, source, encoding)
    table = _parse(text, source, separator, notes)
    return table if decimal == "." else _with_points(table, asked=decimal == ",")


def record_table(records: Sequence[Mapping[str, object]], source: str) -> Table:
    """A table of records, which need not all have the same names.

    Parameters
    ----------
    records : sequence of mappings
        The value of each column, by its name; None is missing.
    source : str
        What the table is called in messages.

    Examples
    --------
    >>> record_table([{"legs": 4, "kind": "dog"}, {"kind": "snake"}], "the request").rows
    (('4', 'dog'), ('', 'snake'))
    """
    names = list(dict.fromkeys(name for record in records for name in record))
    columns = [_texts([record.get(name) for record in records]) for name in names]
    rows = list(zip(*columns, strict=True))
    return _checked(names, rows, range(1, len(rows) + 1), source)


# ---------------------------------------------------------------------- bytes


def _unpacked(data: bytes, source: str) -> bytes:
    if not data.startswith(b"\x1f\x8b"):
        return data
    return gunzip(data, source_name(source), MAX_TABLE_BYTES)


def _decoded(data: bytes, source: str, encoding: str | None) -> tuple[str, list[str]]:
    if encoding is not None:
        try:
            return data.decode(encoding), []
        except LookupError as error:
            raise InvalidInputError(f"encoding must be a known one, not {encoding!r}.") from error
        except UnicodeError as error:
            raise FileFormatError(f"{source}: is not text in {encoding} ({error}).") from error
    for mark, name in _MARKS.items():
        if data.startswith(mark):
            try:
                return data.decode(name), [] if name == "utf-8-sig" else ["the text is in UTF-16"]
            except UnicodeError as error:
                raise FileFormatError(f"{source}: is not text in UTF-16 ({error}).") from error
    if b"\0" in data:
        for name, place in (("utf-16-le", 1), ("utf-16-be", 0)):
            # Every other byte of such a text, in letters of the West, is zero.
            half = data[place::2]
            if half.count(0) > 0.7 * len(half):
                with suppress(UnicodeError):
                    return data.decode(name), ["the text is in UTF-16"]
        raise FileFormatError(f"{source}: is no text; a table is a CSV file, .parquet or .xlsx.")
    try:
        return data.decode("utf-8"), []
    except UnicodeDecodeError:
        pass
    # Five bytes mean nothing in Windows' Latin-1; in the older one they do.
    try:
        return data.decode("cp1252"), ["the text is not UTF-8 and was read as Latin-1 (cp1252)"]
    except UnicodeDecodeError:
        return data.decode("latin-1"), ["the text is not UTF-8 and was read as Latin-1"]


# ------------------------------------------------------------------------ CSV


def _parse(text: str, source: str, separator: str | None, notes: list[str]) -> Table:
    used = separator or _separator(text)
    if separator is None and used != ",":
        notes = [*notes, f"cells are separated by {_SEPARATORS[used]}"]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=used, strict=True)
    rows, lines = [], []
    try:
        names = tuple(name.strip() for name in next(reader, []))
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(names):
                raise FileFormatError(
                    f"{source}: line {reader.line_num} has {counted(len(cells), 'cell')}, and the "
                    f"first line names {counted(len(names), 'column')}. Cells were taken to be "
                    f"separated by {_SEPARATORS.get(used, repr(used))} (--separator)."
                )
            rows.append(tuple(cell.strip() for cell in cells))
            lines.append(reader.line_num)
    except csv.Error as error:
        raise FileFormatError(f"{source}: line {reader.line_num}: {error}.") from error
    return _checked(names, rows, lines, source, notes)


def _separator(text: str) -> str:
    """What the first line has most of, where quotes hide nothing."""
    first = re.sub(r'"[^"\n]*"', "", text[: 1 << 16]).split("\n", 1)[0]
    return max(_SEPARATORS, key=first.count)


def _checked(
    names: Sequence[str],
    rows: Sequence[tuple[str, ...]],
    lines: Sequence[int],
    source: str,
    notes: Sequence[str] = (),
) -> Table:
    if not names:
        raise FileFormatError(f"{source}: is empty; the first line must name the columns.")
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        raise FileFormatError(
            f"{source}: the first line names {listing(twice)} more than once; give each column a "
            "name of its own."
        )
    if len(names) > 1 and all(is_number(name) for name in names):
        raise FileFormatError(
            f"{source}: the first line has numbers ({listing(names)}) and must name the columns."
        )
    if not rows:
        raise FileFormatError(f"{source}: has names of columns and no rows.")
    notes = list(notes)
    kept, named = [], []
    for place, name in enumerate(names):
        if not name and _counts_rows([row[place] for row in rows]):
            notes.append(f"column {place + 1} has no name and counts the rows; it was left out")
            continue
        kept.append(place)
        named.append(name or _free_name(place, names))
        if not name:
            notes.append(f"column {place + 1} has no name; it is called {named[-1]!r}")
    if len(kept) < len(names):
        rows = [tuple(row[place] for place in kept) for row in rows]
    return Table(tuple(named), tuple(rows), tuple(lines), source, tuple(notes))


def _counts_rows(cells: Sequence[str]) -> bool:
    """Whether a column is what pandas writes for its index."""
    if not all(cell.isascii() and cell.isdigit() for cell in cells):
        return False
    first = int(cells[0])
    # Rows that were taken from a larger table keep their numbers.
    numbers = [int(cell) for cell in cells]
    return numbers == list(range(first, first + len(cells))) or len(set(numbers)) == len(numbers)


def _free_name(place: int, names: Sequence[str]) -> str:
    name = f"column {place + 1}"
    while name in names:
        name += "'"
    return name


def _with_points(table: Table, *, asked: bool) -> Table:
    """Numbers with decimal commas as Python writes them, column by column."""
    changed: dict[int, list[str]] = {}
    for place, name in enumerate(table.names):
        cells = table.column(name)
        if _has_decimal_commas(cells, asked=asked):
            changed[place] = [_with_point(cell) for cell in cells]
    if not changed:
        return table
    rows = tuple(
        tuple(
            changed[place][number] if place in changed else cell for place, cell in enumerate(row)
        )
        for number, row in enumerate(table.rows)
    )
    names = [table.names[place] for place in changed]
    note = f"decimal commas in {listing(names, limit=5)}"
    return replace(table, rows=rows, notes=(*table.notes, note))


def _has_decimal_commas(cells: Iterable[str], *, asked: bool) -> bool:
    surely = False
    for cell in cells:
        if _DECIMAL_COMMA.fullmatch(cell):
            surely = surely or asked or not _THOUSANDS.fullmatch(cell)
        elif not is_number(cell) and cell.lower() not in {"", "?", "na", "nan", "n/a"}:
            return False
    return surely


def _with_point(cell: str) -> str:
    return cell.replace(".", "").replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell


# --------------------------------------------------------------------- frames


def _from_binary(source: str, suffix: str) -> Table:
    pandas = require("pandas", extra=_BINARY[suffix])
    require("pyarrow" if suffix == ".parquet" else "openpyxl", extra=_BINARY[suffix])
    data = io.BytesIO(read_bytes(source, max_bytes=MAX_TABLE_BYTES))
    reader = pandas.read_parquet if suffix == ".parquet" else pandas.read_excel
    try:
        frame = reader(data)
    except Exception as error:
        what = f"{type(error).__name__}: {error}"
        raise FileFormatError(
            f"{source_name(source)}: not a whole {suffix} file ({what:.200})."
        ) from error
    return _from_frame(frame, source_name(source))


def _from_frame(frame: Any, source: str) -> Table:
    names = ["" if str(name).startswith("Unnamed: ") else str(name) for name in frame.columns]
    columns = [_texts(frame[name]) for name in frame.columns]
    rows = list(zip(*columns, strict=True)) if columns else []
    return _checked(names, rows, range(2, len(rows) + 2), source)


def _texts(values: Iterable[Any]) -> Iterator[str]:
    for value in values:
        # Not a number, and no time, are not themselves; pandas' NA has no truth at all.
        if value is None or type(value).__name__ in {"NAType", "NaTType"}:
            yield ""
        elif isinstance(value, float):
            whole = value.is_integer() and abs(value) < 1 << 53
            yield "" if isnan(value) else f"{value:.0f}" if whole else repr(value)
        else:
            yield str(value).strip()


def is_number(cell: str) -> bool:
    """Whether a text is a number; Python takes signs within one that no table has."""
    if "_" in cell:
        return False
    try:
        float(cell)
    except ValueError:
        return False
    return True
