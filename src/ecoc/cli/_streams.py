"""Standard streams as they come: closed, full, or without a sign for every character."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import Any

__all__ = ["abandon_output", "prepare_streams"]


class _Forgiving(io.FileIO):
    """A stream that loses what it cannot write: talk is never a reason to stop the work."""

    def write(self, data: object) -> int:
        """Write bytes, or not."""
        try:
            return super().write(data)  # type: ignore[arg-type]
        except OSError:
            return memoryview(data).nbytes  # type: ignore[arg-type]


def prepare_streams() -> None:
    """Make standard output and error fit for anything that is printed to them.

    A closed stream leaves its number to the next file that is opened, which then gets what
    libraries print; so closed streams become the null device. A character that the
    encoding of a terminal lacks is written as its escape.
    """
    # A new file takes the lowest number that is free.
    while (null := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(null)
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False))
    talk: Any = sys.stderr
    if talk is None or (talk is sys.__stderr__ and not os.isatty(2)):
        sys.stderr = io.TextIOWrapper(
            io.BufferedWriter(_Forgiving(2, "w", closefd=False)),
            encoding=getattr(talk, "encoding", None),
            line_buffering=True,
        )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def abandon_output() -> None:
    """Let what standard output cannot take be lost, so that Python does not try again."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
