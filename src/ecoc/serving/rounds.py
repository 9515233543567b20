"""Batches of several callers that workers are asked about as one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

from ecoc.serving.cluster import Workers

__all__ = ["Rounds", "Seat"]

_MOST_ROWS = 256
"""The most rows of a round."""

_GATHERING_SECONDS = 0.002
"""How long callers that were answered together may take to come back."""

_FIRST_SKIPS, _MOST_SKIPS = 1, 256
"""How many rounds nobody is waited for after that was in vain."""


@dataclass(eq=False)
class _Round:
    """Batches that workers are asked about together."""

    began: float
    batches: list[Any] = field(default_factory=list)
    answer: Any = None
    answered: threading.Event = field(default_factory=threading.Event)

    @property
    def n_rows(self) -> int:
        return sum(map(len, self.batches))

    def add(self, features: Any) -> Seat:
        first = self.n_rows
        self.batches.append(features)
        return Seat(self, slice(first, first + len(features)))


@dataclass(frozen=True, eq=False)
class Seat:
    """The place of a batch in a round.

    Parameters
    ----------
    round : object
        The round.
    rows : slice
        The rows of the batch among those of the round.
    """

    round: _Round
    rows: slice

    @property
    def leads(self) -> bool:
        """Whether the batch came first, so that its caller asks for all of them."""
        return bool(self.rows.start == 0)  # no batch is empty

    @property
    def batches(self) -> list[Any]:
        """The batches of the round."""
        return self.round.batches

    @property
    def is_alone(self) -> bool:
        """Whether the round has no other batch."""
        return len(self.round.batches) == 1

    @property
    def began(self) -> float:
        """When the first batch came."""
        return self.round.began

    def answer(self, answer: Any) -> None:
        """Let the other callers have the answer; None if each has to ask for itself."""
        self.round.answer = answer
        self.round.answered.set()

    def await_answer(self) -> Any:
        """What the caller that leads was told."""
        self.round.answered.wait()
        return self.round.answer


class Rounds:
    """Let batches that come while workers are busy wait, and travel as one.

    Under load most of the time would else go into messages. The caller whose batch comes first
    leads: it waits until most columns have nothing to do, and asks for all batches that
    have come by then. Callers that are answered together come back together: they are waited
    for, for a moment, as long as that is not in vain. Who is alone waits for nobody.

    Parameters
    ----------
    workers : Workers
        Whose clock it is that they wait by.
    is_ready : callable
        Whether most columns have nothing to do.
    """

    def __init__(self, workers: Workers, is_ready: Callable[[], bool]) -> None:
        self._workers, self._is_ready = workers, is_ready
        self._condition = threading.Condition()
        self._boarding: dict[Hashable, _Round] = {}
        self._n_inside = 0
        self._usual = 1  # how many callers are expected to come together
        self._skips, self._next_skips = 0, _FIRST_SKIPS

    def board(self, features: Any, kind: Hashable, seconds: float) -> Seat:
        """Take a seat in the next round of a kind, and wait for its departure as its leader.

        Parameters
        ----------
        features : array of shape (n_samples, n_features)
            The batch.
        kind : hashable
            What batches have in common that can travel as one.
        seconds : float
            How long a leader waits at the most.
        """
        with self._condition:
            self._n_inside += 1
            known = self._boarding.get(kind)
            if known is not None and known.n_rows + len(features) <= _MOST_ROWS:
                seat = known.add(features)
                if len(known.batches) >= self._usual:
                    self._condition.notify_all()
                return seat
            begun = self._boarding[kind] = _Round(self._workers.clock())
            seat = begun.add(features)
            try:
                self._await_others(begun, kind, seconds)
            except BaseException:
                seat.answer(None)
                self._n_inside -= 1
                raise
            finally:
                if self._boarding.get(kind) is begun:
                    del self._boarding[kind]
            # Callers that came together may do so again; one after the other they need not.
            self._usual = 1 if seat.is_alone else self._n_inside
            return seat

    def leave(self) -> None:
        """Have been answered."""
        with self._condition:
            self._n_inside -= 1

    def look_again(self) -> None:
        """Let whoever leads see whether workers are ready."""
        if self._boarding:
            with self._condition:
                self._condition.notify_all()

    def _await_others(self, begun: _Round, kind: Hashable, seconds: float) -> None:
        limit = begun.began + seconds
        n_ready = 0  # batches that there were when workers were ready
        while self._boarding.get(kind) is begun:
            n_batches, now = len(begun.batches), self._workers.clock()
            if not n_ready and (n_batches == self._n_inside or self._is_ready()):
                if n_batches >= self._usual:
                    return
                if self._skips:
                    self._skips -= 1
                    return
                n_ready, limit = n_batches, min(limit, now + _GATHERING_SECONDS)
            if now >= limit or (n_ready and n_batches >= self._usual):
                break
            self._workers.wait(self._condition, limit - now)
        if not n_ready:
            return
        if len(begun.batches) > n_ready:
            self._next_skips = _FIRST_SKIPS
        else:
            self._skips = self._next_skips
            self._next_skips = min(2 * self._next_skips, _MOST_SKIPS)
