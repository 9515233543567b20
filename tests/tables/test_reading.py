import gzip
import io
import sys
from datetime import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.tables.reading import Table, as_table, read_table

PLAIN = "a,b,kind\n1,2,x\n3,4,y\n"


@pytest.fixture
def table(tmp_path):
    def made(content, name="data.csv", **options):
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return read_table(path, **options)

    return made


@pytest.mark.parametrize(
    ("text", "notes"),
    [
        (PLAIN, ()),
        ("a;b;kind\r\n1;2;x\r\n3;4;y", ("cells are separated by semicolons",)),
        ("a\tb\tkind\n 1\t2 \tx\n\n3\t4\ty\n\n", ("cells are separated by tabs",)),
        ("a|b|kind\n1|2|x\n3|4|y\n", ("cells are separated by bars",)),
        ('\ufeffa,b,kind\n"1",2,x\n3,"4",y\n', ()),
        ('"a",b,"kind"\n1,2,x\n3,4,y\n', ()),
    ],
)
def test_reading_in_every_dialect(table, text, notes):
    found = table(text)
    assert found.names == ("a", "b", "kind")
    assert found.rows == (("1", "2", "x"), ("3", "4", "y"))
    assert found.column("b") == ["2", "4"]
    assert found.notes == notes


def test_a_separator_in_quoted_names_is_not_counted(table):
    assert table('"a;b;c",d\n1,2\n').names == ("a;b;c", "d")
    assert table("a b,c\n1 2,3\n", separator=" ").names == ("a", "b,c")


@pytest.mark.parametrize(
    ("encoding", "note"),
    [
        ("utf-8", None),
        ("utf-16", "UTF-16"),
        ("cp1252", "Latin-1 (cp1252)"),
    ],
)
def test_encodings_are_found_out_and_said(table, encoding, note):
    content = "größe,art\n1,Bär\n2,Löwe\n".encode(encoding)
    found = table(content)
    assert found.names == ("größe", "art")
    assert found.column("art") == ["Bär", "Löwe"]
    assert (note is None) == (not found.notes)
    assert note is None or note in found.notes[0]
    assert table(content, encoding=encoding).notes == ()


def test_bytes_that_windows_does_not_know(table):
    assert table(b"a,b\n1,\x81\n").rows == (("1", "\x81"),)


def test_decimal_commas_are_those_of_a_column(table):
    found = table("x;y;z;kind\n1,5;1.234,5;1,234;a\n-2,25;7,0;2,345;b\n;12;?;b\n")
    assert found.column("x") == ["1.5", "-2.25", ""]
    assert found.column("y") == ["1234.5", "7.0", "12"]
    # Three digits after every comma could be thousands.
    assert found.column("z") == ["1,234", "2,345", "?"]
    assert found.notes[-1] == "decimal commas in x, y"
    asked = table("x;y;z;kind\n1,5;1.234,5;1,234;a\n", decimal=",")
    assert asked.rows[0] == ("1.5", "1234.5", "1.234", "a")
    assert table("x;kind\n1,5;a\n", decimal=".").rows == (("1,5", "a"),)
    assert table('x,kind\n"1,5",a\n"2,5",b\n').column("x") == ["1.5", "2.5"]


def test_a_column_without_a_name_that_counts_the_rows_is_left_out(table):
    for numbers in (["0", "1", "2"], ["17", "4", "9"]):
        rows = "".join(f"{number},{cell}\n" for number, cell in zip(numbers, "abc", strict=True))
        found = table(f",kind\n{rows}")
        assert found.names == ("kind",)
        assert found.notes == ("column 1 has no name and counts the rows; it was left out",)
    found = table("x,,kind\n1,5,a\n2,5,b\n")
    assert found.names == ("x", "column 2", "kind")
    assert found.notes == ("column 2 has no name; it is called 'column 2'",)
    assert table("column 2,\n1,a\n").names == ("column 2", "column 2'")


def test_packed_files(table):
    assert table(gzip.compress(PLAIN.encode()), "data.csv.gz").names == ("a", "b", "kind")
    with pytest.raises(FileFormatError, match="not a whole gzip file"):
        table(gzip.compress(PLAIN.encode())[:-5], "data.csv.gz")


@pytest.mark.parametrize("suffix", ["parquet", "xlsx"])
def test_binary_tables(tmp_path, suffix):
    frame = pd.DataFrame(
        {
            "x": [1.5, np.nan, 3.0],
            "n": [1, 2, 3],
            "flag": [True, False, None],
            "day": [datetime(2024, 5, 1), None, datetime(2024, 5, 3)],  # noqa: DTZ001
            "kind": ["a", "b", None],
        }
    )
    path = tmp_path / f"data.{suffix}"
    getattr(frame, {"parquet": "to_parquet", "xlsx": "to_excel"}[suffix])(path, index=False)
    found = read_table(path)
    assert found.names == tuple(frame.columns)
    assert found.column("x") == ["1.5", "", "3"]
    assert found.column("n") == ["1", "2", "3"]
    assert found.column("day") == ["2024-05-01 00:00:00", "", "2024-05-03 00:00:00"]
    assert found.column("kind") == ["a", "b", ""]
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(FileFormatError, match=f"not a whole .{suffix} file"):
        read_table(path)


@pytest.mark.parametrize("library", [pd, pl])
def test_data_frames(library):
    frame = library.DataFrame({"x": [1.5, None, 2.0], "kind": ["a", "b", None]})
    found = as_table(frame)
    assert found.names == ("x", "kind")
    assert found.rows == (("1.5", "a"), ("", "b"), ("2", ""))
    assert as_table(found) is found


@pytest.mark.parametrize("thing", [[[1, 2]], np.zeros((2, 2)), "data.csv", None])
def test_what_is_no_table(thing):
    with pytest.raises(InvalidInputError, match=r"table must be a Table, .* Arrays go to ECOC"):
        as_table(thing)


def test_lines_are_those_of_the_file(table):
    found = table('a,b\n1,"two\nlines"\n\n3,4\n')
    assert found.lines == (3, 5)
    assert found.take([1]) == Table(("a", "b"), (("3", "4"),), (5,), found.source)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n")))
    assert read_table("-").rows == (("1", "2"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cell, and the first line names 2"),
        ("a,a,b\n1,2,3\n", "names a more than once"),
        ("1.5,2,3\n1,2,3\n", "must name the columns"),
        ('a,b\n1,"2\n', "line 2"),
        (b"a,b\n1,\x00\xff\n", "is no text"),
        (b"\xff\xfea", "is not text in UTF-16"),
    ],
)
def test_malformed_files(table, text, message):
    with pytest.raises(FileFormatError, match=message):
        table(text)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"separator": ", "}, InvalidInputError, "one character"),
        ({"encoding": "utf-99"}, InvalidInputError, "a known one, not 'utf-99'"),
        ({"encoding": "ascii"}, FileFormatError, "is not text in ascii"),
        ({"decimal": ";"}, InvalidInputError, "decimal must be one of"),
    ],
)
def test_wrong_options(table, options, error, message):
    with pytest.raises(error, match=message):
        table("a,b\n1,ä\n", **options)


def test_a_file_that_is_not_there(tmp_path):
    for name in ("missing.csv", "missing.parquet"):
        with pytest.raises(FileFormatError, match="cannot be read: No such file"):
            read_table(tmp_path / name)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_letters_without_a_mark(table, encoding):
    found = table(PLAIN.encode(encoding))
    assert found.rows == (("1", "2", "x"), ("3", "4", "y"))
    assert found.notes == ("the text is in UTF-16",)


@pytest.mark.parametrize(
    ("content", "name", "message"),
    [
        ("a,a,kind\n1,2,x\n", "data.csv", "names a more than once; give each column a name"),
        ("# by me\n" + PLAIN, "data.csv", "names 1 column. Cells were taken .* by commas"),
        (PLAIN + "1,2\n", "data.csv", "line 4 has 2 cells, and the first line names 3 columns"),
        (PLAIN.replace("1", "\0"), "data.csv", "is no text"),
        (PLAIN, "data.xls", r"\.xls files are not read; save it as CSV"),
        (PLAIN, "data.JSON", r"\.json files are not read"),
        ('a,b\n1,"2\n', "data.csv", "unexpected end of data"),
    ],
)
def test_files_that_cannot_be_read_say_what_would_help(table, content, name, message):
    with pytest.raises(FileFormatError, match=message):
        table(content, name)


@pytest.mark.parametrize(
    ("content", "hint"),
    [
        ("a:kind\n1:x\n", "say what separates them .--separator."),
        ("1.5,2.5,x\n3,4,y\n", "The first line must name the columns"),
        ("a,kinds\n1,x\n", "Did you mean 'kinds'"),
    ],
)
def test_a_column_that_is_not_there(table, content, hint):
    with pytest.raises(InvalidInputError, match=hint):
        table(content).check_column("target", "kind")
