"""How much work may still be done: counted, and until when."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

__all__ = ["Budget"]


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
