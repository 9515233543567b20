import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ecoc.datasets import DatasetNotFoundError
from ecoc.errors import InvalidInputError
from ecoc.paper import PAPER_TABLES, PaperCell, PaperTable, read_records, reproduce
from ecoc.paper.measuring import Measurement
from ecoc.paper.reproduction import RECORDS_FILE

ECOC = Path(sys.executable).with_name("ecoc")


@pytest.fixture
def counted(monkeypatch):
    """A table of five cells that notes what it measures; the third raises."""
    seen = []

    def measure(cell, workspace):
        seen.append(cell.keys["i"])
        if cell.keys["i"] == 2 and workspace.seed == 0:
            raise InvalidInputError("the third is bad.")
        return Measurement({"square": cell.keys["i"] ** 2})

    cells = tuple(PaperCell({"i": i}, {"square": 100 + i}) for i in range(5))
    table = PaperTable("table1", "Squares", "Squares of numbers", cells, measure)
    monkeypatch.setitem(PAPER_TABLES, "table1", table)
    return seen


def test_records_hold_paper_and_measured_apart(counted, tmp_path):
    outcome = reproduce(["table1"], tmp_path, scale="smoke")
    assert (outcome.measured, outcome.failed, outcome.kept) == (4, 1, 0)
    records = read_records(tmp_path)
    assert [record.keys["i"] for record in records] == list(range(5))
    assert records[3].paper == {"square": 103}
    assert records[3].measured == {"square": 9}
    assert records[2].status == "failed"
    assert "the third is bad" in records[2].note
    assert records[0].versions["python"]
    assert records[0].hardware["cores"] >= 1
    assert records[0].finished.endswith("+00:00")


def test_resume_measures_only_what_is_missing(counted, tmp_path):
    reproduce(["table1"], tmp_path, scale="smoke")
    del counted[:]
    outcome = reproduce(["table1"], tmp_path, scale="smoke", resume=True)
    assert counted == [2]
    assert (outcome.measured, outcome.failed, outcome.kept) == (0, 1, 4)


def test_other_seeds_and_scales_are_other_cells(counted, tmp_path):
    reproduce(["table1"], tmp_path, scale="smoke")
    assert reproduce(["table1"], tmp_path, scale="smoke", random_state=1).measured == 5
    assert reproduce(["table1"], tmp_path, scale="quick").measured == 4


def test_records_are_not_overwritten_unasked(counted, tmp_path):
    reproduce(["table1"], tmp_path, scale="smoke")
    before = (tmp_path / RECORDS_FILE).read_bytes()
    with pytest.raises(InvalidInputError, match=r"has 4 of these 5 records\. --resume"):
        reproduce(["table1"], tmp_path, scale="smoke")
    assert (tmp_path / RECORDS_FILE).read_bytes() == before


def test_time_limit_begins_nothing_new(counted, tmp_path):
    outcome = reproduce(["table1"], tmp_path, scale="smoke", time_limit=0, random_state=1)
    assert outcome.left == 5
    assert counted == []
    assert reproduce(["table1"], tmp_path, scale="smoke", random_state=1, resume=True).measured == 5


def test_progress_tells_begin_and_end(counted, tmp_path):
    told = []
    reproduce(["table1"], tmp_path, scale="smoke", progress=told.append)
    assert [(one.done, one.record is None) for one in told[:4]] == [
        (0, True),
        (1, False),
        (1, True),
        (2, False),
    ]


def test_interruption_keeps_what_was_measured(tmp_path, monkeypatch):
    def measure(cell, workspace):
        if cell.keys["i"] == 3:
            raise KeyboardInterrupt
        return Measurement({})

    cells = tuple(PaperCell({"i": i}) for i in range(5))
    table = PaperTable("table1", "Squares", "Squares of numbers", cells, measure)
    monkeypatch.setitem(PAPER_TABLES, "table1", table)
    with pytest.raises(KeyboardInterrupt):
        reproduce(["table1"], tmp_path, scale="smoke")
    assert len(read_records(tmp_path)) == 3


@pytest.fixture
def no_data(monkeypatch, tmp_path):
    """No source has any data set."""
    monkeypatch.delenv("ECOC_DATA", raising=False)
    monkeypatch.setattr("ecoc.datasets.loading.from_package", lambda spec: None)
    monkeypatch.setattr("ecoc.datasets.loading.from_openml", lambda spec: None)


def test_missing_data_is_told_before_any_work(no_data, tmp_path):
    with pytest.raises(DatasetNotFoundError, match="Three ways to get it"):
        reproduce(["table2", "table4"], tmp_path, scale="quick")
    assert read_records(tmp_path) == []


def test_missing_data_can_be_skipped_and_made_up_for(no_data, counted, tmp_path):
    outcome = reproduce(
        ["table1", "table4"], tmp_path, scale="quick", skip_missing=True, random_state=1
    )
    assert (outcome.measured, outcome.skipped) == (5, 15)
    skipped = [record for record in read_records(tmp_path) if record.status == "skipped"]
    assert "was not found" in skipped[0].note
    assert skipped[0].paper == {"single_split": 67.69}
    with pytest.raises(DatasetNotFoundError):
        reproduce(["table4"], tmp_path, scale="quick", random_state=1, resume=True)


def test_unknown_name(tmp_path):
    with pytest.raises(InvalidInputError, match="Did you mean 'table1'"):
        reproduce(["tabel1"], tmp_path)


@pytest.mark.slow
def test_kill_in_the_middle_loses_and_repeats_nothing(tmp_path):
    """SIGKILL while it works; what was recorded stays, byte for byte, and the rest follows."""
    command = [ECOC, "reproduce", "figure-codebooks", "table3", "--smoke", "-q", "-o", tmp_path]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    path = tmp_path / RECORDS_FILE
    with subprocess.Popen(command, env=environment) as process:
        while process.poll() is None and not (path.exists() and path.read_bytes().count(b"\n") > 6):
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
    assert process.returncode == -signal.SIGKILL
    before = path.read_bytes()
    complete = before[: before.rfind(b"\n") + 1]
    # As if the kill had come in the middle of a line.
    path.write_bytes(complete + b'{"schema": 1, "experim')
    reproduce(["figure-codebooks", "table3"], tmp_path, scale="smoke", resume=True)
    assert path.read_bytes().startswith(complete)
    names = [record.identity for record in read_records(tmp_path)]
    expected = [
        cell.keys
        for name in ("figure-codebooks", "table3")
        for cell in PAPER_TABLES[name].cells("smoke")
    ]
    assert len(set(names)) == len(names) == len(expected)
    assert all(record.status == "ok" for record in read_records(tmp_path))
