import io
import sys

import pytest

from ecoc.errors import FileFormatError
from ecoc.tables.features import read_table


@pytest.fixture
def table(tmp_path):
    def made(text):
        path = tmp_path / "data.csv"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return read_table(path)

    return made


@pytest.mark.parametrize(
    "text",
    [
        "a,b,kind\n1,2,x\n3,4,y\n",
        "a;b;kind\r\n1;2;x\r\n3;4;y",
        "a\tb\tkind\n 1\t2 \tx\n\n3\t4\ty\n\n",
        '\ufeffa,b,kind\n"1",2,x\n3,"4",y\n',
    ],
)
def test_reading_in_every_dialect(table, text):
    found = table(text)
    assert found.names == ("a", "b", "kind")
    assert found.rows == (("1", "2", "x"), ("3", "4", "y"))
    assert found.column("b") == ["2", "4"]


def test_lines_are_those_of_the_file(table):
    found = table('a,b\n1,"two\nlines"\n\n3,4\n')
    assert found.lines == (3, 5)


def test_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"a,b\n1,2\n")))
    assert read_table("-").rows == (("1", "2"),)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows"),
        ("a,b\n1,2\n3\n", "line 3 has 1 cells, and the first line names 2"),
        ("a,a,b\n1,2,3\n", "names a more than once"),
        ("a,,b\n1,2,3\n", "no name for column 2"),
        ("1.5,2,3\n1,2,3\n", "must name the columns"),
        ('a,b\n1,"2\n', "line 2"),
        (b"a,b\n1,2\n3,\xff\n", "line 3 is not UTF-8"),
    ],
)
def test_malformed_files(table, text, message):
    with pytest.raises(FileFormatError, match=message):
        table(text)


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileFormatError, match="cannot be read: No such file"):
        read_table(tmp_path / "missing.csv")
