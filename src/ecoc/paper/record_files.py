"""Files of records: JSON lines that survive a kill at any moment, checked on reading."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from io import FileIO
from pathlib import Path
from typing import Any

from ecoc._files import parse_json, read_bytes
from ecoc.errors import EcocError, FileFormatError
from ecoc.paper._record_checks import check_record
from ecoc.paper.records import Record

__all__ = ["RECORDS_FILE", "RecordWriter", "read_records"]

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
