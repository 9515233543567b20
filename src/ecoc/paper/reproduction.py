"""Records in files that survive a kill, checked on reading, and as a reader looks at them."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from io import FileIO
from pathlib import Path
from typing import Any

from ecoc._checks import check_choice, check_int, check_number
from ecoc._files import parse_json, read_bytes
from ecoc.errors import EcocError, FileFormatError, InvalidInputError
from ecoc.paper.measuring import CODEBOOK_TITLES, SCALES
from ecoc.paper.records import Record, Results, results_by_table
from ecoc.paper.registry import PAPER_TABLES
from ecoc.paper.table import MAX_NUMBER, Finding, PaperTable, RecordForm

__all__ = [
    "RECORDS_FILE",
    "RecordWriter",
    "Reproduction",
    "check_complete",
    "check_record",
    "findings",
    "read_records",
]


_STATUSES = ("ok", "skipped", "failed")

_WHOLE_KEYS = {"k", "L"}
_TEXT_FIGURES = {"status", "certificate", "verdict"}
_FLAG_FIGURES = {"verified", "same_rows"}
_UNDER_ATTACK = re.compile(r"(?:pgd|strong|certified) (?P<radius>.*)", re.DOTALL)
_RADIUS = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,9})?(?:/[1-9][0-9]{0,5})?")


def check_record(record: Record) -> None:
    """Refuse a record with fields of the wrong kind, or numbers that nothing measures.

    Raises
    ------
    InvalidInputError
        The message names the field.
    """
    check_choice("status", record.status, _STATUSES)
    check_choice("experiment", record.experiment, PAPER_TABLES)
    check_choice("scale", record.scale, SCALES)
    check_int("seed", record.seed, minimum=0, maximum=2**63)
    check_number("seconds", record.seconds, minimum=0, maximum=MAX_NUMBER)
    for name in ("subset", "note", "finished"):
        _check_text(name, getattr(record, name))
    for name in ("keys", "measured", "standard_errors", "sizes", "data", "versions", "hardware"):
        _check_mapping(name, getattr(record, name))
    _check_keys(record.keys)
    _check_figures("measured", record.measured)
    for name, value in record.standard_errors.items():
        check_number(f"standard_errors[{name!r}]", value, minimum=0, maximum=MAX_NUMBER)
    if record.paper is not None:
        _check_mapping("paper", record.paper)
        _check_figures("paper", record.paper)


def _check_text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise InvalidInputError(f"{name} must be a text, not {value!r:.80}.")


def _check_mapping(name: str, value: object) -> None:
    if not isinstance(value, Mapping):
        raise InvalidInputError(f"{name} must be an object, not {value!r:.80}.")


def _check_keys(keys: Mapping[str, Any]) -> None:
    for name, value in keys.items():
        if name in _WHOLE_KEYS:
            check_int(f"keys[{name!r}]", value, minimum=1, maximum=10**6)
        elif name in {"codebook", "code"}:
            check_choice(f"keys[{name!r}]", value, CODEBOOK_TITLES)
        elif not isinstance(value, str):
            check_number(f"keys[{name!r}]", value, minimum=-MAX_NUMBER, maximum=MAX_NUMBER)


def _check_figures(place: str, figures: Mapping[str, Any]) -> None:
    for name, value in figures.items():
        told = f"{place}[{name!r:.80}]"
        attack = _UNDER_ATTACK.fullmatch(name)
        if attack and not _RADIUS.fullmatch(attack["radius"]):
            raise InvalidInputError(f"{told} must have a radius such as 0.1 or 8/255 in its name.")
        if value is None:
            continue
        if name in _TEXT_FIGURES:
            _check_text(told, value)
        elif name in _FLAG_FIGURES:
            if not isinstance(value, bool):
                raise InvalidInputError(f"{told} must be true or false, not {value!r:.80}.")
        elif name != "rows":
            least = 1 if name == "cliques" else -MAX_NUMBER
            check_number(told, value, minimum=least, maximum=MAX_NUMBER)


def check_complete(records: Sequence[Record]) -> None:
    """Refuse records that lack what their table or figure shows.

    Raises
    ------
    FileFormatError
        The message names the record, and what it lacks.
    """
    for record in records:
        if record.experiment in PAPER_TABLES:
            _check_whole(record, PAPER_TABLES[record.experiment].form)


def _check_whole(record: Record, form: RecordForm) -> None:
    try:
        _check_parts(record, form)
    except (InvalidInputError, FileFormatError) as error:
        raise FileFormatError(f"The record {record.identity} is not whole: {error}") from error


def _check_parts(record: Record, form: RecordForm) -> None:
    _check_present("keys", record.keys, form.keys)
    if record.paper is not None:
        _check_present("paper", record.paper, form.paper)
    if record.status == "ok":
        _check_present("measured", record.measured, form.figures)
        _check_attacked(record)
        _check_present("data", record.data, form.data)
        form.check_data(record.data)


def _check_present(name: str, values: Mapping[str, Any], wanted: Sequence[str]) -> None:
    missing = [figure for figure in wanted if values.get(figure) is None]
    if missing:
        raise InvalidInputError(f"{name} must have {missing[0]!r}.")


def _check_attacked(record: Record) -> None:
    """Whatever stands under the paper's attack is shown beside the strong one and the paper."""
    for name in record.measured:
        if name.startswith("pgd "):
            _check_present("measured", record.measured, (name, f"strong {name[4:]}"))
            if record.paper is not None:
                _check_present("paper", record.paper, (name,))


RECORDS_FILE = "records.jsonl"
"""The name of the file of records in a folder of results."""

SCHEMA = 1


class FolderInUseError(EcocError, RuntimeError):
    """Another run writes to the same folder."""


def record_line(record: Record) -> bytes:
    """The record as one line of JSON."""
    plain = {"schema": SCHEMA, **asdict(record)}
    return json.dumps(plain, ensure_ascii=False, allow_nan=False).encode() + b"\n"


def _record(plain: Mapping[str, Any]) -> Record:
    """The record that a line holds."""
    if not isinstance(plain, Mapping):
        raise FileFormatError("a record must be a JSON object.")
    if plain.get("schema") != SCHEMA:
        raise FileFormatError(f"schema must be {SCHEMA}, not {plain.get('schema')!r:.80}.")
    known = {name: value for name, value in plain.items() if name != "schema"}
    try:
        record = Record(**known)
        check_record(record)
    except (TypeError, ValueError) as error:
        raise FileFormatError(f"no record: {error}") from error
    return record


def read_records(path: str | os.PathLike[str]) -> list[Record]:
    """Read a file of records, or the one in a folder of results.

    A last line without its end, as a kill can leave it, is no record and is passed over.

    Raises
    ------
    FileFormatError
        If the file is missing, or any other line is not a record.
    """
    place = Path(path)
    if place.is_dir():
        place /= RECORDS_FILE
    try:
        content = read_bytes(place)
    except FileFormatError as error:
        raise FileFormatError(f"{error} 'ecoc reproduce' writes records.") from error
    lines = content[: content.rfind(b"\n") + 1].split(b"\n")[:-1]
    return [_parsed(line, f"{place}, line {number}") for number, line in enumerate(lines, start=1)]


def _parsed(line: bytes, place: str) -> Record:
    try:
        return _record(parse_json(line))
    except FileFormatError as error:
        raise FileFormatError(f"{place}: {error}") from error


class RecordWriter:
    """Appends records to a file; each is on the disk before `append` returns."""

    def __init__(self, stream: FileIO) -> None:
        self._stream = stream

    def append(self, record: Record) -> None:
        """Write one record and wait for the disk.

        Raises
        ------
        FileFormatError
            If there is no room for it; the message has what was measured.
        """
        line = record_line(record)
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[self._stream.write(rest) :]
            os.fsync(self._stream.fileno())
        except OSError as error:
            told = _not_writable(Path(str(self._stream.name)), error)
            raise FileFormatError(
                f"{told} What was measured last: {line.decode().strip()}"
            ) from error

    @classmethod
    @contextmanager
    def open(cls, folder: Path) -> Iterator[RecordWriter]:
        """Open the file of a folder for one writer at a time; a torn last line is cut off."""
        place = folder / RECORDS_FILE
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # Without a buffer nothing is left to be written when it is closed.
            stream = place.open("a+b", buffering=0)
        except (OSError, ValueError) as error:
            raise _not_writable(place, error) from error
        with stream:
            _lock(stream, folder)
            try:
                if not place.is_file():
                    raise OSError("it is no file")
                stream.seek(0)
                stream.truncate(stream.read().rfind(b"\n") + 1)
                stream.seek(0, os.SEEK_END)
            except OSError as error:
                raise _not_writable(place, error) from error
            yield cls(stream)


def _not_writable(place: Path, error: Exception) -> FileFormatError:
    reason = getattr(error, "strerror", None) or str(error)
    return FileFormatError(f"{place}: cannot be written: {reason}.")


def _lock(stream: FileIO, folder: Path) -> None:
    """Keep a second run out; the lock ends with the process, however it ends."""
    try:
        import fcntl
    except ImportError:  # not on this system
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        raise FolderInUseError(
            f"Another run writes to {folder}; wait for it, or give another folder."
        ) from error


def findings(results: Mapping[str, Results]) -> list[Finding]:
    """Judge every claim of the paper from records alone, that of the headline first.

    Parameters
    ----------
    results : mapping of str to Results
        The results of each table, by its name.

    Examples
    --------
    >>> {finding.verdict for finding in findings({})}
    {'missing'}
    """
    tables = sorted(PAPER_TABLES.values(), key=lambda table: not table.headline)
    return [
        finding
        for table in tables
        for finding in table.findings(results.get(table.name, Results()))
    ]


class Reproduction:
    """What a run measured, complete enough to be shown.

    Parameters
    ----------
    records : sequence of Record
        What :func:`ecoc.paper.read_records` read.

    Attributes
    ----------
    tables : list of pairs of PaperTable and Results
        The tables that have records, in the order of the paper.
    findings : list of Finding
        What became of every claim of the paper, those without records too.
    records : list of Record
        The best record of every cell.

    Raises
    ------
    InvalidInputError
        If there are no records.
    FileFormatError
        If a record lacks what its table shows.

    Examples
    --------
    >>> ours = {"best": 14, "bound": 14, "gap": 0.0, "status": "OPTIMAL"}
    >>> record = Record("table2", {"k": 13, "L": 26}, "quick", "ok", {"best": 13}, ours)
    >>> Reproduction([record]).findings[0].text
    "1 of 1 are proved optimal, gap 0 %, certificates verified. The distance is larger than the
    paper's for k = 13."
    """

    def __init__(self, records: Sequence[Record]) -> None:
        if not records:
            raise InvalidInputError("There are no records to show; 'ecoc reproduce' makes them.")
        check_complete(records)
        results = results_by_table(records)
        self.tables: list[tuple[PaperTable, Results]] = [
            (table, results[name]) for name, table in PAPER_TABLES.items() if name in results
        ]
        self.findings = findings(results)
        self.records = [record for _, one in self.tables for record in one.records]

    @property
    def measured(self) -> list[Record]:
        """The cells that were measured."""
        return [record for record in self.records if record.status == "ok"]

    @property
    def finished(self) -> str:
        """When the last cell was finished."""
        return self._last.finished

    @property
    def machine(self) -> str:
        """What the last cell ran on."""
        facts = self._last.hardware
        return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in facts.items())

    @property
    def versions(self) -> str:
        """The versions of what the last cell ran with."""
        return ", ".join(f"{name} {version}" for name, version in self._last.versions.items())

    @property
    def _last(self) -> Record:
        return max(self.records, key=lambda record: record.finished)
