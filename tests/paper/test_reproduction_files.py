import json
import os

import pytest

from ecoc.errors import EcocError, FileFormatError
from ecoc.paper.records import Record
from ecoc.paper.reproduction import RECORDS_FILE, RecordWriter, read_records, record_line


def record(k=10, status="ok", **more):
    return Record("table2", {"k": k, "L": 2 * k}, "quick", status, **more)


def write(folder, *records):
    with RecordWriter.open(folder) as writer:
        for one in records:
            writer.append(one)


def test_what_is_written_is_read(tmp_path):
    full = record(
        paper={"best": 10},
        measured={"best": 10, "verified": True, "certificate": "parité"},
        standard_errors={"best": 0.5},
        sizes={"train": 3},
        seed=4,
        subset="all",
        data={"rows": ["+-", "-+"]},
        versions={"ecoc": "0"},
    )
    write(tmp_path, full, record(11))
    assert read_records(tmp_path) == read_records(tmp_path / RECORDS_FILE) == [full, record(11)]


@pytest.mark.parametrize("cut", [1, 20, 100])
def test_torn_last_line_is_passed_over_and_then_cut_off(tmp_path, cut):
    write(tmp_path, record(10), record(11))
    path = tmp_path / RECORDS_FILE
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    assert read_records(tmp_path) == [record(10)]
    write(tmp_path, record(12))
    assert read_records(tmp_path) == [record(10), record(12)]
    assert path.read_bytes().count(b"\n") == 2


def test_torn_first_line(tmp_path):
    (tmp_path / RECORDS_FILE).write_bytes(b'{"schema": 1, "exp')
    assert read_records(tmp_path) == []
    write(tmp_path, record())
    assert read_records(tmp_path) == [record()]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("{", "line 1"),
        ("[]", "JSON object"),
        ('{"schema": 99}', "schema must be 1"),
        ('{"schema": 1, "experiment": "table1"}', "no record"),
        (
            '{"schema": 1, "experiment": "a", "keys": {}, "scale": "full", "status": "done"}',
            "status",
        ),
        (
            '{"schema": 1, "experiment": "a", "keys": {}, "scale": "full", "status": "ok", "x": 1}',
            "no record",
        ),
    ],
)
def test_other_broken_lines_are_refused(tmp_path, line, told):
    (tmp_path / RECORDS_FILE).write_text(line + "\n")
    with pytest.raises(FileFormatError, match=told):
        read_records(tmp_path)


def test_missing_file_says_what_writes_it(tmp_path):
    with pytest.raises(FileFormatError, match="ecoc reproduce"):
        read_records(tmp_path / "nowhere")


def test_values_that_json_cannot_hold_are_not_written(tmp_path):
    with RecordWriter.open(tmp_path) as writer, pytest.raises(ValueError, match="JSON compliant"):
        writer.append(record(measured={"accuracy": float("nan")}))
    assert read_records(tmp_path) == []


def test_one_writer_at_a_time(tmp_path):
    pytest.importorskip("fcntl")
    with (
        RecordWriter.open(tmp_path),
        pytest.raises(EcocError, match="Another run"),
        RecordWriter.open(tmp_path),
    ):
        pass
    write(tmp_path, record())


def test_each_record_reaches_the_disk(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(os.fstat(handle).st_size))
    write(tmp_path, record(10), record(11))
    first = len(record_line(record(10)))
    assert synced == [first, first + len(record_line(record(11)))]


def test_lines_are_json_with_paper_and_measured_apart():
    plain = json.loads(record_line(record(paper={"best": 9}, measured={"best": 10})))
    assert plain["paper"] == {"best": 9}
    assert plain["measured"] == {"best": 10}
