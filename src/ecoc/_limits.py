"""How much work may still be done: counted, and until when."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ecoc.errors import TimeLimitError

__all__ = ["Budget", "check_deadline", "deadline", "seconds_left"]


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


@dataclass
class Budget:
    """Work that may still be done.

    Counted work ends at the same place on every machine, busy or not. Seconds do not, so
    they come from a user's limit alone.

    Attributes
    ----------
    work : float
        How much is left, in units of whoever spends it.
    deadline : float, optional
        When to stop, by ``time.monotonic()``.

    Examples
    --------
    >>> budget = Budget(work=10)
    >>> budget.spend(10)
    >>> budget.is_spent
    True
    """

    work: float = math.inf
    deadline: float | None = None

    def spend(self, amount: float) -> None:
        """Note that work was done."""
        self.work -= amount

    @property
    def is_limited(self) -> bool:
        """Whether there is any limit at all."""
        return self.deadline is not None or math.isfinite(self.work)

    @property
    def is_late(self) -> bool:
        """Whether the time is over."""
        return self.deadline is not None and time.monotonic() >= self.deadline

    @property
    def is_spent(self) -> bool:
        """Whether no work or no time is left."""
        return self.work <= 0 or self.is_late
