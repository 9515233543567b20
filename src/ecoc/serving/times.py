"""How long workers take to answer, and from when on an answer is late."""

from __future__ import annotations

import math
from collections import Counter, defaultdict, deque
from collections.abc import Iterable

__all__ = ["AnswerTimes"]

_MEMORY = 256
"""The answers that are remembered, for batches of each size."""

_FEWEST = 32
"""The answers that have to be seen before they say what is usual."""

_STEP = 8
"""After how many more of them that is looked at again."""

_UNKNOWN_SECONDS = 0.2
"""When an answer is late as long as nobody knows what is usual."""

_LEAST_SECONDS, _LEAST_RATIO = 0.005, 1.5
"""What is never late: an answer so soon, or within so many times the median."""

_GROWTH = 1.5
"""How many times as long twice as many rows may take: every message has its own cost."""

_P99_IN_QUARTILES = 2.3263 / 0.6745
"""How many times as far from the median as a quartile the p99 of a normal variable is."""


class AnswerTimes:
    """Learn from the answers of workers when one is late.

    That is the p99 of an answer, before which 99 of 100 come, if their times are log-normal, as
    those of servers nearly are; but never less than one and a half times the median. It is found
    by the median and the lower quartile: that one worker of three or two answers of five lag
    behind moves these but little. Each size of batches, up to a factor of two, has its own times;
    until they are known, those of the next larger size count, or of a smaller one as much longer.

    Examples
    --------
    >>> times = AnswerTimes()
    >>> times.late_after(10)
    0.2
    >>> for seconds in [0.008, 0.009, 0.012, 0.5] * 20:
    ...     times.see(10, seconds)
    >>> print(f"{times.late_after(10):.3f} {times.late_after(11):.3f} {times.late_after(500)}")
    0.032 0.032 0.2
    """

    def __init__(self) -> None:
        self._seconds: dict[int, deque[float]] = defaultdict(lambda: deque(maxlen=_MEMORY))
        self._late: dict[int, float] = {}  # what they say, of sizes that are known
        self._n_seen: Counter[int] = Counter()

    def see(self, n_rows: int, seconds: float) -> None:
        """Remember how long an answer to a batch took."""
        size = n_rows.bit_length()
        self._seconds[size].append(seconds)
        self._n_seen[size] += 1
        if self._n_seen[size] >= _FEWEST and self._n_seen[size] % _STEP == 0:
            self._late[size] = _late_after(self._seconds[size])

    def late_after(self, n_rows: int) -> float:
        """After how many seconds an answer to a batch of so many rows is late."""
        size = n_rows.bit_length()
        if larger := [each for each in self._late if each >= size]:
            return self._late[min(larger)]
        if not self._late:
            return _UNKNOWN_SECONDS
        smaller = max(self._late)
        longer = self._late[smaller] * math.pow(_GROWTH, size - smaller)
        return max(self._late[smaller], min(longer, _UNKNOWN_SECONDS))


def _late_after(seconds: Iterable[float]) -> float:
    known = sorted(seconds)
    quartile, median = known[len(known) // 4], known[len(known) // 2]
    spread = median / quartile if quartile > 0 else 1.0
    # Where half of the answers lag behind, the quartile is not of their kind.
    p99 = min(median * math.pow(spread, _P99_IN_QUARTILES), known[-1])
    return max(_LEAST_SECONDS, _LEAST_RATIO * median, p99)
