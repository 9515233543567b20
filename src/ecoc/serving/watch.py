"""Which workers answer wrongly, by what the columns of the others say."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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

_FEW_ERRORS = 1 / 5
"""The share of the row distance by which sound columns are wrong, at most, in the mean."""

_FEWEST = 10
"""The fewest answers of a column that say something about who gave them."""

_OPPOSED_ROWS = 400
"""The most samples by which workers are looked for that answer the opposite."""

_SIGNIFICANT = -5.0
"""The standard errors below zero that no honest worker gets to by chance."""

_AS_OPPOSED = 0.5
"""How much of the others' agreement a worker that answers the opposite has, turned round."""

_CLASSES, _CLASS_ROWS = 4, 3
"""The fewest classes, of so many samples or more, by which anybody is said to answer wrongly."""

_MOST_CLASSES = 0.75
"""The share of these classes for which a worker has to say the opposite."""

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
    the fault of the model. And where columns are too weak, or have too many zeros, for the decoder
    to say anything, a worker is reported whose columns say, taken together, the opposite of what
    the other workers decide, for nearly every class, as clearly as these agree with each other.

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
    _looks: int = field(default=0, init=False)
    _blamed: set[int] = field(default_factory=set, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    @property
    def window(self) -> int:
        """How many samples are looked at."""
        return max(_ROWS, _ROWS_PER_CLASS * len(self.matrix))

    @cached_property
    def _code(self) -> Floats:
        return self.matrix.astype(np.float64)

    @cached_property
    def _row_distance(self) -> int:
        products = self._code @ self._code.T
        np.fill_diagonal(products, -np.inf)
        return int(self.matrix.shape[1] - products.max()) // 2

    @property
    def _fewest_classes(self) -> int:
        return min(_CLASSES, len(self.matrix))

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
        self._looks += 1
        if self._are_sound(every[-self.window :]):
            return ()
        # Whoever has begun to lie shows in the latest samples, a little wrong in many. In turns,
        # since this takes as long as some batches.
        if self._looks % 2:
            return self._diagnosis(every[-self.window :])
        found = self._diagnosis(every)
        if found or len(every) < min(self.window, _OPPOSED_ROWS):
            return found
        return self._opposed(every[-_OPPOSED_ROWS:])

    def forget(self) -> None:
        """Begin anew, after columns have changed their places."""
        with self._lock:
            self._answers.clear()
            self._fresh = 0

    def _diagnosis(self, answers: Sequence[_Answer]) -> tuple[str, ...]:
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
        # Of inputs like no others, all of one class, a few honest columns may all be wrong.
        if _n_classes(rows) < self._fewest_classes:
            return ()
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

    def _are_sound(self, answers: Sequence[_Answer]) -> bool:
        """Whether no column is wrong often enough for its worker to be suspected.

        This is most of what is ever seen, and takes a fraction of the time of a diagnosis.
        """
        if not answers or not self.matrix.all():
            return not answers
        scores = np.stack([row for row, _ in answers])
        if scores.ndim == 3:
            return False
        rows = (np.clip(np.nan_to_num(scores), -1, 1) @ self._code.T).argmax(axis=1)
        n_answers = (~np.isnan(scores)).sum(axis=0)
        shares = _wrong(scores, self.matrix, rows).sum(axis=0) / np.maximum(n_answers, 1)
        few = _FEW_ERRORS * self._row_distance / len(shares)
        # Half of what is put up with: a worker may have given every second answer of a column.
        return bool(shares.mean() <= few and shares.max() <= _SOUND_ERRORS / 4)

    def _opposed(self, answers: Sequence[_Answer]) -> tuple[str, ...]:
        """The worker that answers the opposite, by what the others decide without it."""
        held = _held([workers for _, workers in answers], self._blamed)
        if len(held) < 3:  # of two nobody can say who it is
            return ()
        votes = _Votes(np.stack([row for row, _ in answers]), self.matrix)
        agreements = {worker: votes.agreement(mine) for worker, mine in held.items()}
        for n_rows in (self.window // 2, self.window, len(answers)):
            latest = {worker: found.latest(n_rows) for worker, found in agreements.items()}
            worker = min(latest, key=lambda name: latest[name].mean)
            if not latest[worker].is_opposed(self._fewest_classes):
                continue
            others = [
                votes.agreement(mine, held[worker]).latest(n_rows).mean
                for name, mine in held.items()
                if name != worker
            ]
            usual = float(np.median(others))
            if usual > 0 and -latest[worker].mean >= _AS_OPPOSED * usual:
                self._blamed.update(held[worker].columns.tolist())
                return (worker,)
        return ()


@dataclass(frozen=True, eq=False)
class _Held:
    """Some columns, and for which samples it was one worker that answered for them."""

    columns: npt.NDArray[np.intp]
    answered: npt.NDArray[np.bool_]


def _held(sources: Sequence[Sequence[str | None]], left_out: set[int]) -> dict[str, _Held]:
    """What each worker answered for, but for some columns."""
    # Batches that the same workers answered have the same tuple.
    kinds: dict[tuple[str | None, ...], list[int]] = defaultdict(list)
    for row, workers in enumerate(sources):
        kinds[tuple(workers)].append(row)
    columns: dict[str, set[int]] = defaultdict(set)
    for workers in kinds:
        for column, worker in enumerate(workers):
            if worker is not None and column not in left_out:
                columns[worker].add(column)
    held = {}
    for worker, some in sorted(columns.items()):
        answered = np.zeros((len(sources), len(some)), dtype=bool)
        for workers, rows in kinds.items():
            answered[rows] = [workers[column] == worker for column in sorted(some)]
        held[worker] = _Held(np.array(sorted(some)), answered)
    return held


@dataclass(frozen=True, eq=False)
class _Agreement:
    """How far the columns of a worker agree with what the others decide, sample by sample.

    Whatever they say of every sample alike is left out: 0 is no relation, 1 is full agreement, and
    NaN stands where they say nothing.
    """

    shares: Floats
    classes: npt.NDArray[np.intp]

    def latest(self, n_rows: int) -> _Agreement:
        """The same of the latest samples, those about which they say something."""
        shares, classes = self.shares[-n_rows:], self.classes[-n_rows:]
        known = ~np.isnan(shares)
        return _Agreement(shares[known], classes[known])

    @property
    def mean(self) -> float:
        return float(self.shares.mean()) if len(self.shares) else 0.0

    def is_opposed(self, fewest_classes: int) -> bool:
        """Whether they say the opposite, for nearly all of enough classes, beyond chance."""
        if _n_classes(self.classes) < fewest_classes:
            return False
        error = float(self.shares.std()) / len(self.shares) ** 0.5
        if self.mean >= _SIGNIFICANT * error:
            return False
        counts = np.bincount(self.classes)
        sums = np.bincount(self.classes, self.shares)[counts >= _CLASS_ROWS]
        return float((sums < 0).mean()) > _MOST_CLASSES


def _n_classes(rows: npt.NDArray[np.intp]) -> int:
    """How many classes have more than a few samples."""
    return int((np.bincount(rows) >= _CLASS_ROWS).sum())


class _Votes:
    """What the columns say about samples, and what they decide together."""

    def __init__(self, scores: Floats, matrix: npt.NDArray[np.int8]) -> None:
        self._present = ~erasures(scores)
        values = np.nan_to_num(scores)
        if scores.ndim == 2:
            sizes = _medians(np.abs(scores))
            votes = np.tanh(values / np.where(sizes > 0, sizes, 1.0))
            self._planes = [(votes, matrix.astype(np.float64))]
            self._used = (matrix != 0).astype(np.float64)
        else:
            answers = symbol_answers(values).argmax(axis=2)
            self._planes = [
                (self._present * (answers == symbol), (matrix == symbol).astype(np.float64))
                for symbol in range(scores.shape[2])
            ]
            self._used = np.ones(matrix.shape)
        every = np.arange(matrix.shape[1])
        self._sums = self._class_sums(_Held(every, self._present))

    def _class_sums(self, some: _Held) -> tuple[Floats, Floats]:
        """What some of the answers say for each class, and how many of them say anything."""
        columns, answered = some.columns, some.answered & self._present[:, some.columns]
        total = np.zeros((len(answered), len(self._used)))
        for votes, code in self._planes:
            total += (votes[:, columns] * answered) @ code[:, columns].T
        return total, answered @ self._used[:, columns].T

    def agreement(self, mine: _Held, without: _Held | None = None) -> _Agreement:
        """How far some answers agree with what the others decide, and perhaps without some more."""
        totals, counts = self._sums
        for some in (mine, *([] if without is None else [without])):
            total, count = self._class_sums(some)
            totals, counts = totals - total, counts - count
        rows = (totals / np.maximum(counts, 1)).argmax(axis=1)
        columns, answered = mine.columns, mine.answered & self._present[:, mine.columns]
        n_answers = np.maximum(answered.sum(axis=0), 1)
        most = (answered * self._used[np.ix_(rows, columns)]).sum(axis=1)
        said = np.zeros(len(rows))
        for votes, code in self._planes:
            values = votes[:, columns] * answered
            centred = (values - values.sum(axis=0) / n_answers) * answered
            said += (centred * code[np.ix_(rows, columns)]).sum(axis=1)
        return _Agreement(np.where(most > 0, said / np.maximum(most, 1), np.nan), rows)


def _medians(values: Floats) -> Floats:
    """The medians of columns without what is NaN, and NaN where nothing is left."""
    # As numpy.nanmedian, which is five times as slow.
    ordered = np.sort(values, axis=0)  # NaN comes last
    counts = len(values) - np.isnan(values).sum(axis=0)
    middle = np.stack([np.maximum(counts - 1, 0) // 2, counts // 2])
    medians: Floats = np.take_along_axis(ordered, middle, axis=0).mean(axis=0)
    return medians


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
