"""Which workers answer wrongly, by what the columns of the others say."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ecoc._typing import Floats
from ecoc.multiclass.decoders import SelfHealing
from ecoc.multiclass.decoders.base import erasures, symbol_answers

__all__ = ["WorkerWatch"]

_ROWS_PER_CLASS, _ROWS = 16, 100
"""How many samples are looked at: twice what the self-healing decoder wants to see."""

_MEMORY = 4
"""How many times as many are remembered, for workers that are wrong about half of them."""

_SOUND_ERRORS = 2 / 3
"""The wrong answers that are put up with, as a share of those of guessing."""

_FEWEST = 10
"""The fewest answers of a column that say something about who gave them."""

_Batch: TypeAlias = "tuple[Floats, Sequence[str | None]]"
"""Scores, and who gave those of each column."""


@dataclass
class WorkerWatch:
    """Find the workers whose answers the other workers' columns contradict.

    Batches may be small, so answers are remembered, with who gave them, until there are enough
    for :class:`ecoc.multiclass.decoders.SelfHealing`. A worker is reported when the decoder
    distrusts most of its columns; a single weak column is the fault of the model.

    Parameters
    ----------
    matrix : array of shape (n_classes, n_columns)
        The codebook.

    Examples
    --------
    >>> from ecoc.codes import exhaustive
    >>> matrix = exhaustive(5).matrix
    >>> watch = WorkerWatch(matrix)
    >>> answers = matrix[np.arange(200) % 5].astype(float)
    >>> answers[:, :3] *= -1
    >>> watch.see(answers, ["liar"] * 3 + ["honest"] * 12)
    ('liar',)
    """

    matrix: npt.NDArray[np.int8]
    _batches: deque[_Batch] = field(default_factory=deque, init=False)
    _fresh: int = field(default=0, init=False)
    _blamed: set[int] = field(default_factory=set, init=False)

    @property
    def _window(self) -> int:
        return max(_ROWS, _ROWS_PER_CLASS * len(self.matrix))

    def see(self, scores: Floats, workers: Sequence[str | None]) -> tuple[str, ...]:
        """Remember a batch, and name the workers that are found to answer wrongly.

        Parameters
        ----------
        scores : array of shape (n_samples, n_columns), or (n_samples, n_columns, n_symbols)
            The answers; NaN is an erasure.
        workers : sequence of str or None
            Who gave the answers of each column.
        """
        whole = ~erasures(scores).all(axis=1)
        # Of a large batch the last samples are as good as all of them.
        part = scores[whole][-self._window :]
        self._batches.appendleft((part, workers))
        self._fresh += len(part)
        while len(self._latest(_MEMORY * self._window)) < len(self._batches):
            self._batches.pop()
        if 4 * self._fresh < self._window:
            return ()
        self._fresh = 0
        # Whoever has begun to lie shows in the latest samples, a little wrong in many.
        latest = self._latest(self._window)
        return self._diagnosis(latest) or self._diagnosis(list(self._batches))

    def _latest(self, n_rows: int) -> list[_Batch]:
        """The latest batches, until there are so many samples."""
        found = []
        for batch in self._batches:
            found.append(batch)
            n_rows -= len(batch[0])
            if n_rows <= 0:
                break
        return found

    def forget(self) -> None:
        """Begin anew, after columns have changed their places."""
        self._batches.clear()
        self._fresh = 0

    def _diagnosis(self, batches: Sequence[_Batch]) -> tuple[str, ...]:
        scores = np.concatenate([batch for batch, _ in batches])
        decoder = SelfHealing()
        # A column that was blamed on one worker and is still wrong on the next is weak.
        suspects = [
            column
            for column in decoder.healed_columns(scores, self.matrix)
            if column not in self._blamed
        ]
        if not suspects:
            return ()
        rows = decoder(scores, self.matrix).argmax(axis=1)
        wrong = _wrong(scores, self.matrix, rows)
        present = ~erasures(scores)
        counts: dict[str, dict[int, list[int]]] = defaultdict(lambda: defaultdict(lambda: [0, 0]))
        start = 0
        for batch, workers in batches:
            rows_of = slice(start, start + len(batch))
            start += len(batch)
            for column, worker in enumerate(workers):
                if worker is not None:
                    count = counts[worker][column]
                    count[0] += int(wrong[rows_of, column].sum())
                    count[1] += int(present[rows_of, column].sum())
        n_symbols = 2 if scores.ndim == 2 else scores.shape[2]
        share = _SOUND_ERRORS * (1 - 1 / n_symbols)
        liars = []
        for worker, columns in counts.items():
            known = {c: count for c, count in columns.items() if count[1] >= _FEWEST}
            bad = [c for c in suspects if c in known and known[c][0] > share * known[c][1]]
            if bad and 2 * len(bad) > len(known):
                liars.append(worker)
                self._blamed.update(bad)
        return tuple(liars)


def _wrong(
    scores: Floats, matrix: npt.NDArray[np.int8], rows: npt.NDArray[np.intp]
) -> npt.NDArray[np.bool_]:
    """Whether each answer contradicts the class that was decided for."""
    expected = matrix[rows]
    if scores.ndim == 2:
        return np.nan_to_num(scores) * expected < 0
    answers = symbol_answers(np.nan_to_num(scores)).argmax(axis=2)
    wrong: npt.NDArray[np.bool_] = ~erasures(scores) & (answers != expected)
    return wrong
