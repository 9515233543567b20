"""Which workers answer wrongly, by what the columns of the others say."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from ecoc._typing import Floats
from ecoc.multiclass.data import take_rows
from ecoc.multiclass.decoders import SelfHealing
from ecoc.multiclass.decoders.base import erasures, symbol_answers

__all__ = ["WorkerWatch", "sample_keys"]

_ROWS_PER_CLASS, _ROWS = 16, 100
"""How many samples are looked at: twice what the self-healing decoder wants to see."""

_MEMORY = 4
"""How many times as many are remembered, for workers that are wrong about half of them."""

_SOUND_ERRORS = 2 / 3
"""The wrong answers that are put up with, as a share of those of guessing."""

_FEWEST = 10
"""The fewest answers of a column that say something about who gave them."""

_Answer: TypeAlias = "tuple[Floats, Sequence[str | None]]"
"""The scores of a sample, and who gave those of each column."""


def sample_keys(X: Any, last: int) -> list[int]:  # noqa: N803
    """Numbers that tell the last samples of an array, a sparse matrix or a data frame apart.

    Examples
    --------
    >>> first, second, third = sample_keys(np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 2.0]]), 3)
    >>> first == third, first == second
    (True, False)
    """
    n = X.shape[0]
    part = take_rows(X, np.arange(max(0, n - last), n))
    if issparse(part):
        ends = part.indptr
        return [
            hash((part.indices[a:b].tobytes(), part.data[a:b].tobytes()))
            for a, b in pairwise(ends.tolist())
        ]
    values = part.to_numpy() if hasattr(part, "to_numpy") else np.asarray(part)
    if values.dtype.hasobject:
        return [hash(repr(row)) for row in values.tolist()]
    return [hash(row.tobytes()) for row in np.ascontiguousarray(values)]


@dataclass
class WorkerWatch:
    """Find the workers whose answers the other workers' columns contradict.

    Batches may be small, so answers are remembered, with who gave them, until there are enough
    for :class:`ecoc.multiclass.decoders.SelfHealing`. Of a sample that comes again the latest
    answer counts alone: all columns of a worker may be wrong about one, and no lie is in that. A
    worker is reported when the decoder distrusts most of its columns; a single weak column is
    the fault of the model.

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
    _answers: dict[Hashable, _Answer] = field(default_factory=dict, init=False)
    _fresh: int = field(default=0, init=False)
    _blamed: set[int] = field(default_factory=set, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def window(self) -> int:
        """How many samples are looked at."""
        return max(_ROWS, _ROWS_PER_CLASS * len(self.matrix))

    def see(
        self,
        scores: Floats,
        workers: Sequence[str | None],
        keys: Sequence[Hashable] | None = None,
    ) -> tuple[str, ...]:
        """Remember a batch, and name the workers that are found to answer wrongly.

        The parameters are those of :meth:`remember`.
        """
        return self.diagnose() if self.remember(scores, workers, keys) else ()

    def remember(
        self,
        scores: Floats,
        workers: Sequence[str | None],
        keys: Sequence[Hashable] | None = None,
    ) -> bool:
        """Remember a batch; whether there is enough that is new to find out who answers wrongly.

        Parameters
        ----------
        scores : array of shape (n_samples, n_columns), or (n_samples, n_columns, n_symbols)
            The answers; NaN is an erasure.
        workers : sequence of str or None
            Who gave the answers of each column.
        keys : sequence, optional
            What tells the samples apart, as :func:`sample_keys` does; of a large batch those of
            the last ones are enough. All are different by default.
        """
        # Of a large batch the last samples are as good as all of them.
        part = scores[-self.window :].copy()
        names = [object() for _ in part] if keys is None else keys[-len(part) :]
        lost = np.atleast_1d(erasures(part).all(axis=1))
        with self._lock:
            for key, row, is_lost in zip(names, part, lost, strict=True):
                if not is_lost:
                    self._answers.pop(key, None)
                    self._answers[key] = row, workers
                    self._fresh += 1
            surplus = max(0, len(self._answers) - _MEMORY * self.window)
            for key in list(islice(self._answers, surplus)):
                del self._answers[key]
            if not self.is_enough(self._fresh):
                return False
            self._fresh = 0
            return True

    def is_enough(self, n_samples: int) -> bool:
        """Whether so many samples that are new are worth a look."""
        return 4 * n_samples >= self.window

    def diagnose(self) -> tuple[str, ...]:
        """The workers that are found to answer wrongly, by what is remembered."""
        with self._lock:
            every = list(self._answers.values())
        # Whoever has begun to lie shows in the latest samples, a little wrong in many.
        return self._diagnosis(every[-self.window :]) or self._diagnosis(every)

    def forget(self) -> None:
        """Begin anew, after columns have changed their places."""
        with self._lock:
            self._answers.clear()
            self._fresh = 0

    def _diagnosis(self, answers: Sequence[_Answer]) -> tuple[str, ...]:
        if not answers:
            return ()
        scores = np.stack([row for row, _ in answers])
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
        batches: dict[Sequence[str | None], list[int]] = defaultdict(list)
        for place, (_, workers) in enumerate(answers):
            batches[tuple(workers)].append(place)
        for workers, places in batches.items():
            n_wrong, n_present = wrong[places].sum(axis=0), present[places].sum(axis=0)
            for column, worker in enumerate(workers):
                if worker is not None:
                    count = counts[worker][column]
                    count[0] += int(n_wrong[column])
                    count[1] += int(n_present[column])
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
