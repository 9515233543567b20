"""A time limit for work that is made of many short steps, each of which looks at the clock."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ecoc.errors import TimeLimitError

__all__ = ["check_deadline", "deadline", "seconds_left"]


@dataclass(frozen=True)
class _Limit:
    seconds: float
    ends: float


_LIMIT: ContextVar[_Limit | None] = ContextVar("ecoc-deadline", default=None)


@contextmanager
def deadline(seconds: float | None) -> Iterator[None]:
    """Let :func:`check_deadline` fail after so many seconds; None sets no limit."""
    limit = None if seconds is None else _Limit(seconds, time.monotonic() + seconds)
    token = _LIMIT.set(limit)
    try:
        yield
    finally:
        _LIMIT.reset(token)


def check_deadline() -> None:
    """Raise a :class:`TimeLimitError` if the time of the surrounding work is over."""
    limit = _LIMIT.get()
    if limit is not None and time.monotonic() > limit.ends:
        raise TimeLimitError(f"it was not done within {limit.seconds:g} seconds.")


def seconds_left(at_most: float) -> float:
    """The seconds that the surrounding work still has, up to a limit."""
    limit = _LIMIT.get()
    return at_most if limit is None else min(at_most, max(0.0, limit.ends - time.monotonic()))
