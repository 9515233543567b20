"""``ColumnServer``: a classifier whose columns answer from the workers of a cluster."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

import logging
import math
import threading
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int, check_number, counted, listing
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError, TimeLimitError, UnsupportedError
from ecoc.multiclass import ColumnError, ECOCClassifier
from ecoc.multiclass.data import check_features, n_samples, with_label
from ecoc.multiclass.decoders.base import erasures
from ecoc.multiclass.decoders.distances import certain_margin
from ecoc.multiclass.diagnostics.columns import unwrapped
from ecoc.serving.cluster import DaskWorkers, Workers
from ecoc.serving.placement import column_contrasts, place_columns
from ecoc.serving.rounds import Rounds, Seat
from ecoc.serving.times import AnswerTimes
from ecoc.serving.watch import WorkerWatch, sample_keys
from ecoc.tables import TableModel

__all__ = ["ColumnServer", "ServedBatch", "ServerStatus"]

_LOG = logging.getLogger("ecoc.serving")

_MOST_LATE = 32
"""A worker that owes so many answers nobody waits for any more is not asked for others."""

_AGAIN_SHARE, _MOST_AGAIN = 1 / 20, 8.0
"""How many questions may be asked again: of all, and at once."""

_FIRST_SECONDS = 30.0
"""How much longer than deadline and patience the first answer of all is waited for."""

_PLACING_SECONDS = 30.0
"""How long workers may take to receive their columns, since the last of them had its own."""

_RETRY_SECONDS = 30.0
"""When columns are offered again to workers that did not take them."""

_QUICK_SECONDS = 0.02
"""How long columns may be on their way that do not hold up the batches."""

_SILENT_SECONDS = 1.0
"""How long a worker takes columns before others begin to take theirs."""

_READY_SHARE = 3 / 4
"""The share of the columns that have to be free before the batches of several callers are sent."""

_BOARDING_SHARE = 1 / 4
"""The share of a deadline after which they are sent in any case."""

_TAKING_SHARE = 1 / 4
"""The share of the workers that take columns at a time, so that the others answer batches."""


@dataclass(frozen=True, eq=False)
class ServedBatch:
    """What a server says about a batch.

    Attributes
    ----------
    labels : array of shape (n_samples,)
        The predicted classes; the first one where no column has a score for a sample.
    margins : array of int of shape (n_samples,)
        How many of the answers may be wrong, whatever the missing columns would have said,
        before Hamming decoding of all columns can leave the predicted class.
    certain : array of bool of shape (n_samples,)
        Whether the missing columns can change nothing: Hamming decoding of all columns gives
        the predicted class whatever they would have said.
    below : array of bool of shape (n_samples,)
        The samples that are not certain, or whose margin is less than was wanted; none where
        no margin was wanted.
    missing_columns : tuple of int
        The columns that had not answered.
    n_columns : int
        The number of all columns.
    seconds : float
        How long it took.
    """

    labels: npt.NDArray[Any]
    margins: npt.NDArray[np.int64]
    certain: npt.NDArray[np.bool_]
    below: npt.NDArray[np.bool_]
    missing_columns: tuple[int, ...]
    n_columns: int
    seconds: float

    def to_plain(self) -> dict[str, Any]:
        """The same as plain data, for machines."""
        return {
            "predictions": self.labels.tolist(),
            "margins": self.margins.tolist(),
            "certain": self.certain.tolist(),
            "below": self.below.tolist(),
            "missing_columns": list(self.missing_columns),
            "n_columns": self.n_columns,
        }


@dataclass(frozen=True)
class ServerStatus:
    """How a server is doing.

    Attributes
    ----------
    workers : dict
        The columns that each worker holds.
    distrusted : tuple of str
        The workers that answered wrongly; they are not asked any more.
    homeless_columns : tuple of int
        The columns that no worker holds at the moment.
    batches, rows : int
        What was predicted so far.
    late_answers, failed_answers, lost_answers : int
        Answers of workers that came after the deadline, that were errors, and that did not
        come because the worker left.
    missing_columns : int
        Columns that had not answered, summed over all batches.
    """

    workers: dict[str, tuple[int, ...]]
    distrusted: tuple[str, ...]
    homeless_columns: tuple[int, ...]
    batches: int = 0
    rows: int = 0
    late_answers: int = 0
    failed_answers: int = 0
    lost_answers: int = 0
    missing_columns: int = 0


class ColumnServer:
    """Predict with the columns that answer by a deadline, on a cluster that need not be sound.

    Each worker holds a few columns. A batch is sent once to each of them; what came by the
    deadline is decoded, the rest counts as erased. Columns of a worker that leaves are placed
    on others. A worker whose answers the others contradict, see
    :class:`ecoc.multiclass.decoders.SelfHealing`, is reported in the log `ecoc.serving` and in
    :meth:`status`, and its columns are moved away from it.

    It is used by several threads at once, whose batches travel as one where they come together,
    and ends with :meth:`close` or as a context.

    Parameters
    ----------
    model : ECOCClassifier, Pipeline or TableModel
        A fitted classifier, or what ends in one. Pipelines transform the features here.
    client : Client, str or None
        A client of a Dask cluster, the address of a scheduler, or None for worker processes
        on this machine. With a client that has ``direct_to_workers=False`` all goes through
        the scheduler, else workers are asked directly.
    replicas : int, default=1
        On how many workers each column is held; the first answer counts.
    n_workers : int, default=4
        The processes of a cluster on this machine.

    Attributes
    ----------
    model : ECOCClassifier, Pipeline or TableModel
        The model that was given.

    Raises
    ------
    UnsupportedError
        If the classifier decides by probabilities (`cost_matrix`, `priors`).
    ColumnError
        If no worker can take columns, as where a library of the learners is missing.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCClassifier(GaussianNB(), "exhaustive").fit(X, y)
    >>> from dask.distributed import Client, LocalCluster
    >>> cluster = LocalCluster(n_workers=2, processes=False, dashboard_address=":0")
    >>> with cluster, Client(cluster) as client, ColumnServer(model, client) as server:
    ...     served = server.predict(X, deadline=60)
    >>> bool((served.labels == model.predict(X)).all()), served.missing_columns
    (True, ())
    """

    def __init__(
        self, model: Any, client: Any = None, *, replicas: int = 1, n_workers: int = 4
    ) -> None:
        self.model = model
        self._classifier = _classifier(model)
        self._replicas = check_int("replicas", replicas, minimum=1)
        check_int("n_workers", n_workers, minimum=1)
        self._matrix = self._classifier.codebook_.matrix
        self._contrasts = column_contrasts(self._classifier.codebook_)
        self._lock = threading.Lock()
        self._held: dict[str, set[int]] = {}
        self._late: Counter[str] = Counter()
        self._counts: Counter[str] = Counter()
        self._distrusted: list[str] = []
        self._present: set[str] = set()  # workers that there were when that was asked last
        self._comebacks: list[float] = []  # until when workers that left are awaited
        self._unheard: set[str] = set()  # workers whose connection has ended
        self._silent: set[str] = set()  # workers that let a deadline pass, and said nothing since
        self._failing: set[str] = set()  # workers that could not cope with a batch of its own
        self._active: set[_Gathering] = set()
        self._watch = WorkerWatch(self._matrix)
        self._times = AnswerTimes()
        self._apart: dict[bytes, bool] = {}
        self._spare_questions = 0.0
        self._refusal: BaseException | None = None
        self._closed = False
        self._workers: Workers = self._connect(client, n_workers)
        self._rounds = Rounds(self._workers, self._is_ready)
        self._settle()
        if not self._held:
            self.close()
            raise ColumnError(f"No worker took columns; the last one said: {self._refusal!r}")

    def _connect(self, client: Any, n_workers: int) -> Workers:
        return DaskWorkers(client, self._classifier, self._settle, n_workers=n_workers)

    # ------------------------------------------------------------ prediction

    def predict(
        self,
        X: Any,
        *,
        deadline: float | Literal["auto"] | None = 0.2,
        min_margin: int | None = None,
        patience: float = 1.0,
    ) -> ServedBatch:
        """Predict a class for each sample, by the columns that answer in time.

        Parameters
        ----------
        X : array, sparse matrix, data frame or Table
            The features, as the model takes them.
        deadline : float, "auto" or None, default=0.2
            After how many seconds late columns are done without; None waits for all. With "auto"
            that is when 99 of 100 answers to batches of about this size have come, by the latest
            of them, as long as half of the columns are among them; 0.2 until 32 were seen. A
            worker that was late, and has said nothing since, is waited for only where half of the
            columns are missing. The first answer is waited for half a minute longer.
        min_margin : int, optional
            The wanted margin. Samples below it are waited for, and are marked if waiting has
            not helped.
        patience : float, default=1.0
            How many seconds after the deadline are spent on waiting for samples below the
            wanted margin, and for columns without which classes cannot be told apart. With 0
            they are marked at once.

        Returns
        -------
        ServedBatch
            Labels with their margins, and the columns that were missing.

        Raises
        ------
        TimeLimitError
            If no column has answered: no worker is left that could, or all are silent.
        ColumnError
            If all workers that answered could not cope with the samples.
        UnsupportedError
            If the server is closed.
        """
        check_waiting(deadline, min_margin, patience)
        features = self._features(X)
        began = self._workers.clock()
        waiting = _Waiting(deadline, min_margin, patience)
        # Nobody waits for the margins of others.
        if min_margin is None and type(features) is np.ndarray and features.ndim == 2:
            return self._predict_together(features, waiting, began)
        return self._predict_alone(features, waiting, began)

    def _predict_together(self, features: Any, waiting: _Waiting, began: float) -> ServedBatch:
        """Predict a batch with those that come at the same time."""
        seconds = self._seconds(waiting.deadline, len(features))
        limit = seconds * (1 if waiting.deadline == "auto" else _BOARDING_SHARE)
        seat = self._rounds.board(features, (waiting, features.dtype, features.shape[1]), limit)
        try:
            told = self._lead(seat, waiting) if seat.leads else seat.await_answer()
        finally:
            self._rounds.leave()
        if isinstance(told, Exception):
            raise type(told)(str(told)) from told
        if told is None:
            return self._predict_alone(features, waiting, began)
        return _part(told, seat.rows, self._workers.clock() - began)

    def _predict_alone(self, features: Any, waiting: _Waiting, began: float) -> ServedBatch:
        gathering = self._gather([features], waiting, began)
        with self._lock:
            self._failing.update(gathering.errors)
        return self._served(gathering, waiting.min_margin, began)

    def _lead(self, seat: Seat, waiting: _Waiting) -> ServedBatch | None:
        """Ask for all batches of a round; None if each caller has to ask for itself."""
        told: ServedBatch | Exception | None = None
        try:
            gathering = self._gather(seat.batches, waiting, seat.began)
            # Whose samples it was that a worker could not cope with is found one by one.
            if seat.is_alone or self._failing.issuperset(gathering.errors):
                told = served = self._served(gathering, None, seat.began)
                return served
        except ColumnError:
            if seat.is_alone:
                raise
        except (TimeLimitError, UnsupportedError) as error:
            told = error
            raise
        finally:
            seat.answer(told)
        return None

    def _gather(self, batches: Sequence[Any], waiting: _Waiting, began: float) -> _Gathering:
        """The answers to some batches, the first of which came at a moment."""
        deadline, min_margin, patience = waiting.deadline, waiting.min_margin, waiting.patience
        features = batches[0] if len(batches) == 1 else np.vstack(batches)
        sizes = [n_samples(batch) for batch in batches]
        seconds = self._seconds(deadline, sum(sizes))
        # What is usual is learned from when workers are asked, whatever was waited for before.
        soft = seconds + (self._workers.clock() if deadline == "auto" else began)
        # What was learned may be of quieter times: then batches are late, not guessed.
        fewest = self._matrix.shape[1] / 2 if deadline == "auto" else 1
        gathering = _Gathering(
            sizes, self._classifier, self._silent, fewest=fewest, waits=deadline is None
        )
        # Twice as late as late is: what is merely slow need not do it twice.
        gathering.again_at = soft + seconds
        with self._lock:
            self._active.add(gathering)
        try:
            # A worker that begins with it after half of the time may as well not begin.
            self._ask(gathering, features, (seconds + patience) / 2)
            while True:
                self._collect(gathering, features, soft, soft + patience, min_margin)
                if self._found_liars(gathering, features):
                    continue
                if not gathering.missing.all() or not self._await_first(gathering, features):
                    break
                # The others have as much time again.
                soft = self._workers.clock() + seconds
        finally:
            self._finish(gathering)
        if gathering.missing.all():
            raise self._nothing(gathering, began)
        return gathering

    def _seconds(self, deadline: float | Literal["auto"] | None, n_rows: int) -> float:
        """After how many seconds the columns that are late are done without."""
        if deadline is None:
            return math.inf
        if deadline != "auto":
            return deadline
        with self._lock:
            return self._times.late_after(n_rows)

    def _collect(
        self,
        gathering: _Gathering,
        X: Any,
        soft: float,
        hard: float,
        min_margin: int | None,
    ) -> None:
        """Wait for answers until there are enough, or the time is over."""
        while True:
            with gathering.condition:
                seen = gathering.version
                complete, idle = not gathering.missing.any(), not gathering.expected
                quiet = gathering.is_quiet()
            now = self._workers.clock()
            if complete or now >= hard or self._closed:
                return
            if quiet and soft < math.inf and self._enough(gathering, min_margin):
                return
            if idle or now >= soft:
                if soft < math.inf and self._enough(gathering, min_margin):
                    return
                gathering.waits = True
                if now >= gathering.again_at:
                    self._ask_again(gathering)
                self._ask(gathering, X, hard - now)
                limit = min(hard, gathering.again_at)
                if gathering.errors and not self._is_awaited(gathering):
                    # Whoever was asked again said the same; there is nobody else.
                    return
            else:
                limit = soft
            with gathering.condition:
                if gathering.version == seen:
                    left = None if limit == math.inf else limit - now
                    self._workers.wait(gathering.condition, left)

    def _await_first(self, gathering: _Gathering, X: Any) -> bool:
        """Wait for the first answer, for long; False if nobody gives it, or is left to do so."""
        gathering.waits = True
        limit = self._workers.clock() + _FIRST_SECONDS
        while True:
            with gathering.condition:
                seen = gathering.version
            if not gathering.missing.all():
                return True
            # Samples that most workers cannot cope with are not the others' matter.
            if self._closed or 2 * len(gathering.errors) >= len(self._held):
                return False
            left = limit - self._workers.clock()
            self._ask(gathering, X, left)
            if left <= 0 or not self._is_awaited(gathering):
                return False
            with gathering.condition:
                if gathering.version == seen:
                    self._workers.wait(gathering.condition, left)

    def _is_awaited(self, gathering: _Gathering) -> bool:
        """Whether a worker has still to answer, or to be asked once it owes less to others."""
        with self._lock:
            return bool(gathering.expected) or any(
                gathering.wanted(worker, held) for worker, held in self._held.items()
            )

    def _enough(self, gathering: _Gathering, min_margin: int | None) -> bool:
        """Whether the answers are enough, tell all classes apart, and as surely as was wanted."""
        present = ~gathering.missing
        if present.sum() < gathering.fewest or not self._tells_apart(present):
            return False
        if min_margin is None:
            return True
        scores = gathering.answers()
        return not self._below(scores, self._rows(scores, gathering.missing), min_margin).any()

    def _tells_apart(self, present: npt.NDArray[np.bool_]) -> bool:
        key = present.tobytes()
        if key not in self._apart:
            if len(self._apart) > 10_000:
                self._apart.clear()
            rows = self._matrix[:, present]
            self._apart[key] = bool(present.any()) and len(np.unique(rows, axis=0)) == len(rows)
        return self._apart[key]

    def _rows(self, scores: Floats, missing: npt.NDArray[np.bool_]) -> npt.NDArray[np.intp]:
        erased = np.flatnonzero(missing).tolist()
        whole = ~erasures(scores).all(axis=1)
        rows = np.zeros(len(scores), dtype=np.intp)
        decoded = self._classifier.decoder_(scores[whole], self._matrix, missing_columns=erased)
        rows[whole] = decoded.argmax(axis=1)
        return rows

    def _below(
        self, scores: Floats, rows: npt.NDArray[np.intp], min_margin: int
    ) -> npt.NDArray[np.bool_]:
        below: npt.NDArray[np.bool_] = certain_margin(scores, self._matrix, rows) < min_margin
        return below

    def _is_ready(self) -> bool:
        """Whether most of the columns have nothing to do, but for those of silent workers."""
        with self._lock:
            asked = [gathering.expected for gathering in self._active]
            busy = {
                worker: any(expected[worker] for expected in asked)
                for worker in self._held
                if worker not in self._silent
            }
            n_free = sum(len(self._held[worker]) for worker, is_busy in busy.items() if not is_busy)
            n_columns = sum(len(self._held[worker]) for worker in busy)
        return self._closed or n_free >= _READY_SHARE * n_columns

    def _served(self, gathering: _Gathering, min_margin: int | None, began: float) -> ServedBatch:
        scores = gathering.answers()
        # What is decided by a whole batch is not decided by those of others.
        whole = self._classifier.decoder_.whole_batch
        parts = np.split(scores, np.cumsum(gathering.sizes)[:-1]) if whole else [scores]
        rows = np.concatenate([self._rows(part, gathering.missing) for part in parts])
        margins = certain_margin(scores, self._matrix, rows)
        labels = self._classifier.classes_[rows]
        if self._classifier.rejects:
            rejected = self._classifier.rejected(scores, rows)
            labels = with_label(labels, rejected, self._classifier.reject_label)
        below = np.zeros(len(rows), dtype=bool) if min_margin is None else margins < min_margin
        missing = tuple(np.flatnonzero(gathering.missing).tolist())
        with self._lock:
            n_batches = len(gathering.sizes)
            self._counts.update(
                batches=n_batches, rows=len(rows), missing_columns=n_batches * len(missing)
            )
        return ServedBatch(
            labels=labels,
            margins=np.maximum(margins, 0),
            certain=margins >= 0,
            below=below,
            missing_columns=missing,
            n_columns=len(gathering.missing),
            seconds=self._workers.clock() - began,
        )

    def _nothing(self, gathering: _Gathering, began: float) -> Exception:
        """What to raise where no column has answered."""
        if self._closed:
            return UnsupportedError("The server is closed; begin another one.")
        if gathering.errors:
            error = next(iter(gathering.errors.values()))
            return ColumnError(f"All workers that answered failed; the first said: {error}")
        return TimeLimitError(
            f"No column answered within {self._workers.clock() - began:.3g} s, of "
            f"{counted(len(self._held), 'worker')}. Give it more patience, or more workers."
        )

    def _features(self, X: Any) -> Any:
        """The features as they reach the columns, checked before anything is sent."""
        if isinstance(self.model, TableModel):
            _, reached = self.model.reach(X)
        else:
            _, reached = unwrapped(self.model, X)
        return check_features(self._classifier, reached, reset=False)

    # ------------------------------------------------------------ the workers

    def _ask_again(self, gathering: _Gathering) -> None:
        """Let workers that are late be asked once more, since an answer may be lost on its way.

        At most one question in twenty is asked again, so that overload does not feed on itself.
        """
        gathering.again_at = math.inf
        with self._lock:
            for worker in sorted(gathering.expected):
                if self._spare_questions >= 1:
                    self._spare_questions -= 1
                    gathering.retract(worker, range(self._matrix.shape[1]))

    def _ask(self, gathering: _Gathering, X: Any, seconds: float) -> None:
        """Send the batch to whoever holds a column that is missing and was not asked for it.

        A worker that cannot begin with it within so many seconds leaves it.
        """
        with self._lock:
            asked = {
                worker: gathering.wanted(worker, held)
                for worker, held in self._held.items()
                # Whoever cannot be heard is not there, or has to be given its columns anew.
                if self._late[worker] < _MOST_LATE and worker not in self._unheard
            }
            asked = {worker: some for worker, some in asked.items() if some}
            spare = self._spare_questions + _AGAIN_SHARE * len(asked)
            self._spare_questions = min(spare, _MOST_AGAIN)
        for worker, some in asked.items():
            gathering.expect(worker, some)
        for worker, some in asked.items():
            now = self._workers.clock()
            future = self._workers.ask(worker, X, some, seconds)
            future.add_done_callback(partial(self._answered, gathering, worker, some, now))

    def _answered(
        self,
        gathering: _Gathering,
        worker: str,
        columns: Sequence[int],
        asked: float,
        future: Future[Floats | None],
    ) -> None:
        """Take an answer, or what came instead; in the thread of the cluster's client."""
        scores, error = None, None
        if future.cancelled():
            outcome = "lost_answers"
        elif isinstance(error := future.exception(), OSError):
            # The connection ended before the scheduler said that the worker has left, if it has.
            outcome, error = "lost_answers", None
            self._look_after(worker)
        elif error is not None:
            outcome = "failed_answers"
        elif (answer := future.result()) is None:
            # It had no time for the question, and may be asked again.
            outcome = "late_answers"
            gathering.retract(worker, columns)
        else:
            scores = gathering.checked(answer, columns)
            if scores is None:
                outcome, error = "failed_answers", ColumnError("no scores, or none that is finite")
            else:
                outcome = ""
        with self._lock:
            self._silent.discard(worker)
            if scores is not None:
                self._failing.discard(worker)
                self._times.see(len(scores), self._workers.clock() - asked)
            if worker in self._distrusted:
                scores = None
        in_time = gathering.take(worker, columns, scores, error)
        with self._lock:
            if not in_time:
                self._late[worker] -= 1
                able = self._late[worker] == _MOST_LATE - 1
                self._late += Counter()  # those that owe nothing are forgotten
                outcome = outcome or "late_answers"
            if outcome:
                self._counts[outcome] += 1
            waiting = list(self._active) if not in_time and able else []
        for other in waiting:
            other.wake()  # there is one more to ask
        self._rounds.look_again()

    def _finish(self, gathering: _Gathering) -> None:
        """Wait for nothing more; answers that are still to come are dropped."""
        with self._lock:
            self._active.discard(gathering)
            # What comes from now on is subtracted, so not before it is added.
            owed = gathering.close()
            self._late.update(owed)
            silent = set(owed) - self._silent if gathering.missing.any() else set()
            self._silent |= silent
            waiting = list(self._active) if silent else []
        for other in waiting:
            other.wake()  # nobody waits any longer for who is silent
        self._rounds.look_again()

    def _found_liars(self, gathering: _Gathering, X: Any) -> bool:
        """Whether this batch shows that some worker answers wrongly; its answers are dropped."""
        if gathering.missing.all():
            return False
        scores, sources = gathering.answers(), tuple(gathering.sources)
        with self._lock:
            liars = [worker for worker in self._distrusted if worker in sources]
        if not liars:
            is_due = self._watch.remember(scores, sources, sample_keys(X, self._watch.window))
            if is_due and self._watch.is_enough(max(gathering.sizes)):
                liars = self._look_for_liars()
            elif is_due:
                # Small batches do not wait for what many of them show together.
                self._workers.watch(self._look_for_liars)
        found = [worker for worker in liars if worker in sources]
        for worker in found:
            gathering.forget(worker)
        return bool(found)

    def _look_for_liars(self) -> list[str]:
        """Find out which workers answer wrongly, by the latest batches, and move their columns."""
        liars = self._watch.diagnose()
        if not liars:
            return []
        self._watch.forget()
        return self._distrust(liars)

    def _distrust(self, workers: Sequence[str]) -> list[str]:
        """Ask workers no more; returns those of whom that can be said, at most half of all."""
        believed = []
        for worker in workers:
            with self._lock:
                if worker in self._distrusted:
                    continue
                bad = self._present.intersection(self._distrusted)
                too_many = 2 * (len(bad) + 1) > len(self._present)
                columns = sorted(self._held.get(worker, ()))
                if not too_many:
                    self._held.pop(worker, None)
                    self._distrusted.append(worker)
            if too_many:
                _LOG.warning(
                    "worker %s contradicts the others, as half of all workers do: perhaps the "
                    "model was not made for these samples. It is asked on.",
                    worker,
                )
                continue
            believed.append(worker)
            _LOG.warning(
                "worker %s answers wrongly, by the columns of the others; its columns are moved "
                "to other workers: %s",
                *(worker, listing(columns)),
            )
        if believed:
            self._workers.later(self._settle)
        return believed

    def _look_after(self, worker: str) -> None:
        """Give its columns anew to a worker that was lost, or to others if it is not there."""
        with self._lock:
            if worker in self._unheard or worker not in self._held:
                return
            self._unheard.add(worker)
        self._workers.later(partial(self._settle, worker))

    def _settle(self, left: str | None = None) -> None:
        """Place the columns on the workers that there are now, after one of them has left."""
        unable: set[str] = set()
        while not self._closed:
            names = self._workers.names()
            with self._lock:
                self._await_comebacks(set(names) - {left})
                gone = set(self._held) - (set(names) - {left})
                for worker in gone:
                    del self._held[worker]
                    _LOG.warning("worker %s was lost; its columns are placed anew", worker)
                self._unheard.difference_update({*gone, left})
                self._silent.difference_update(gone)
                left, waiting = None, list(self._active)
                hurry = not self._held or any(gathering.waits for gathering in waiting)
                able = [name for name in names if name not in {*self._distrusted, *unable}]
                held = {worker: set(columns) for worker, columns in self._held.items()}
            for worker in gone:
                for gathering in waiting:
                    # Should it come back, it knows of no question.
                    gathering.retract(worker, range(self._matrix.shape[1]))
                    gathering.wake()
            if not hurry and self._comebacks:
                return  # what they held need not go to others first
            target = place_columns(
                self._matrix.shape[1],
                able,
                replicas=self._replicas,
                held=held,
                contrasts=self._contrasts,
            )
            new = {name: sorted(target[name] - held.get(name, set())) for name in able}
            failed = self._place(new)
            if not failed:
                break
            # What they did not take is for the others.
            unable |= failed
        if self._closed:
            return
        self._drop_surplus(target)
        if unable.intersection(names) or not names:
            self._workers.later(self._settle, _RETRY_SECONDS)

    def _await_comebacks(self, present: set[str]) -> None:
        """See who has joined or left, and await those that will be back in a moment."""
        now, seconds = self._workers.clock(), self._workers.comeback_seconds
        n_lost, n_new = len(self._present - present), len(present - self._present)
        self._present = present
        if n_lost and seconds:
            self._comebacks += [now + seconds] * n_lost
            self._workers.later(self._settle, seconds)
        self._comebacks = [until for until in self._comebacks[n_new:] if until > now]

    def _place(self, new: dict[str, list[int]]) -> set[str]:
        """Give columns to workers; returns the workers that did not take them.

        Batches travel on the same lines to the same processes. So that they are not held up, a
        few workers get a column, which answers from then on, and when they have it the next ones:
        twice as many as long as that is quick. All come at once if a batch waits for them.
        """
        most = max(1, int(_TAKING_SHARE * len(new)))
        learners = self._classifier.estimators_
        failed: set[str] = set()
        sizes = dict.fromkeys(new, 1)
        placing: dict[Future[None], tuple[str, list[int], float]] = {}
        latest = self._workers.clock()  # when the last of them had its columns
        while True:
            with self._lock:
                hurry = not self._held or any(gathering.waits for gathering in self._active)
            now = self._workers.clock()
            busy = {worker: now - began for worker, _, began in placing.values()}
            free = [name for name, columns in new.items() if columns and name not in busy]
            # Nobody waits behind a worker that is silent.
            room = most - sum(seconds < _SILENT_SECONDS for seconds in busy.values())
            for worker in free if hurry else free[: max(0, room)]:
                size = len(learners) if hurry else sizes[worker]
                some, new[worker] = new[worker][:size], new[worker][size:]
                future = self._workers.hold(worker, {column: learners[column] for column in some})
                placing[future] = worker, some, now
            if not placing:
                return failed
            done, _ = wait(placing, timeout=_SILENT_SECONDS, return_when=FIRST_COMPLETED)
            if done:
                latest = self._workers.clock()
            ended = [
                future
                for future, (_, _, began) in placing.items()
                if future in done or self._workers.clock() - max(began, latest) > _PLACING_SECONDS
            ]
            for future in ended:
                worker, some, began = placing.pop(future)
                if (error := _failure(future)) is not None:
                    _LOG.warning("worker %s did not take its columns: %r", worker, error)
                    self._refusal = error
                    failed.add(worker)
                    new[worker] = []
                    continue
                quick = self._workers.clock() - began < _QUICK_SECONDS
                sizes[worker] = 2 * len(some) if quick else 1
                with self._lock:
                    if worker not in self._distrusted:
                        self._held.setdefault(worker, set()).update(some)
                    waiting = list(self._active)
                for gathering in waiting:
                    gathering.wake()

    def _drop_surplus(self, target: dict[str, frozenset[int]]) -> None:
        """Let workers forget what others now hold."""
        with self._lock:
            copies = Counter(column for held in self._held.values() for column in held)
            wanted = Counter(column for columns in target.values() for column in columns)
            surplus = {}
            for worker, columns in target.items():
                extra = [
                    column
                    for column in sorted(self._held.get(worker, set()) - columns)
                    if copies[column] > wanted[column]
                ]
                copies.subtract(extra)
                if extra:
                    surplus[worker] = extra
                    self._held[worker].difference_update(extra)
        for worker, extra in surplus.items():
            self._workers.drop(worker, extra)

    # ------------------------------------------------------------ the rest

    def status(self) -> ServerStatus:
        """How the server is doing."""
        with self._lock:
            homes = set().union(*self._held.values())
            return ServerStatus(
                workers={worker: tuple(sorted(held)) for worker, held in self._held.items()},
                distrusted=tuple(self._distrusted),
                homeless_columns=tuple(sorted(set(range(self._matrix.shape[1])) - homes)),
                **self._counts,
            )

    def close(self) -> None:
        """Let go of the workers; a cluster that was begun here ends.

        Batches under way are answered with the columns that have answered.
        """
        self._closed = True
        with self._lock:
            waiting = list(self._active)
        for gathering in waiting:
            gathering.wake()
        self._rounds.look_again()
        self._workers.close()

    def __enter__(self) -> ColumnServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _part(served: ServedBatch, rows: slice, seconds: float) -> ServedBatch:
    """What was said about some of the rows, to a caller that has waited for so long."""
    return replace(
        served,
        labels=served.labels[rows],
        margins=served.margins[rows],
        certain=served.certain[rows],
        below=served.below[rows],
        seconds=seconds,
    )


@dataclass(frozen=True)
class _Waiting:
    """How long a caller waits, and for what."""

    deadline: float | Literal["auto"] | None
    min_margin: int | None
    patience: float


class _Gathering:
    """The answers to one batch, or to several that travel as one, as they come."""

    def __init__(
        self,
        sizes: Sequence[int],
        classifier: ECOCClassifier,
        silent: set[str],
        *,
        fewest: float,
        waits: bool,
    ) -> None:
        n_columns, n_symbols = classifier.codebook_.n_columns, classifier.codebook_.n_symbols
        self._tail = (n_symbols,) if n_symbols > 2 else ()
        self.sizes = sizes  # the rows of each batch
        self._scores = np.full((sum(sizes), n_columns, *self._tail), np.nan)
        self.missing = np.ones(n_columns, dtype=bool)
        self.sources: list[str | None] = [None] * n_columns
        self.expected: Counter[str] = Counter()
        self.errors: dict[str, BaseException] = {}
        self.condition = threading.Condition()
        self._silent = silent
        self.fewest = fewest  # columns without which there is no answer at the deadline
        self.waits = waits  # for columns that nobody holds as well
        self.again_at = math.inf  # when workers that are late are asked again
        self.version = 0
        self._tried: dict[str, set[int]] = {}
        self._closed = False

    def answers(self) -> Floats:
        """The scores so far, NaN for columns that have not answered."""
        with self.condition:
            return self._scores.copy()

    def wanted(self, worker: str, held: Iterable[int]) -> list[int]:
        """The missing ones of the columns that a worker holds and was not asked for."""
        tried = self._tried.get(worker, set())
        return [column for column in sorted(held) if self.missing[column] and column not in tried]

    def expect(self, worker: str, columns: Sequence[int]) -> None:
        """Await an answer."""
        with self.condition:
            self.expected[worker] += 1
            self._tried.setdefault(worker, set()).update(columns)

    def retract(self, worker: str, columns: Iterable[int]) -> None:
        """Have not asked a worker for columns, since it will not answer."""
        with self.condition:
            self._tried.get(worker, set()).difference_update(columns)

    def checked(self, answer: object, columns: Sequence[int]) -> Floats | None:
        """An answer as scores, or None if it is no answer; what is not finite is an erasure."""
        try:
            scores = np.array(answer, dtype=np.float64)
        except (TypeError, ValueError):
            return None
        if scores.shape != (len(self._scores), len(columns), *self._tail):
            return None
        scores[~np.isfinite(scores)] = np.nan
        if self._tail:
            scores[(scores < 0).any(axis=2)] = np.nan
        return None if erasures(scores).all() else scores

    def take(
        self,
        worker: str,
        columns: Sequence[int],
        scores: Floats | None,
        error: BaseException | None,
    ) -> bool:
        """Take what a worker said, or that it says nothing; False if it is too late."""
        with self.condition:
            if self._closed:
                return False
            self.expected[worker] -= 1
            self.expected += Counter()  # those of nobody are forgotten
            if error is not None:
                self.errors.setdefault(worker, error)
            if scores is not None:
                for place, column in enumerate(columns):
                    # Of several answers the first counts.
                    if self.missing[column]:
                        self._scores[:, column] = scores[:, place]
                        self.sources[column] = worker
                        self.missing[column] = False
            self.version += 1
            # Whoever waits has nothing to decide before the last answer, or the deadline.
            if self.waits or not self.expected or not self.missing.any() or self.is_quiet():
                self.condition.notify_all()
        return True

    def is_quiet(self) -> bool:
        """Whether half of the columns are there, and the others are of workers that are silent."""
        few = 2 * int(self.missing.sum()) <= len(self.missing)
        return few and self._silent.issuperset(self.expected)

    def forget(self, worker: str) -> None:
        """Do without the answers of a worker."""
        with self.condition:
            for column, source in enumerate(self.sources):
                if source == worker:
                    self._scores[:, column] = np.nan
                    self.sources[column] = None
                    self.missing[column] = True

    def wake(self) -> None:
        """Let whoever waits look again."""
        with self.condition:
            self.version += 1
            self.condition.notify_all()

    def close(self) -> Counter[str]:
        """Take no more answers; returns how many each worker still owes."""
        with self.condition:
            self._closed = True
            return Counter(self.expected)


def check_waiting(
    deadline: float | Literal["auto"] | None, min_margin: int | None, patience: float
) -> None:
    """Refuse what no server can wait for."""
    if isinstance(deadline, str) and deadline != "auto":
        raise InvalidInputError(
            f'deadline must be a number of seconds, "auto" or None, not {deadline!r:.200}.'
        )
    if deadline is not None and deadline != "auto":
        check_number("deadline", deadline, minimum=0)
    if min_margin is not None:
        check_int("min_margin", min_margin, minimum=0)
    check_number("patience", patience, minimum=0)


def _failure(future: Future[None]) -> BaseException | None:
    """Why a worker did not take its columns, or None if it did."""
    if future.cancel() or future.cancelled():
        return CancelledError("The worker has left, or is silent.")
    return future.exception()


def _classifier(model: Any) -> ECOCClassifier:
    """The classifier at the end of a model, if it can be served."""
    from sklearn.utils.validation import check_is_fitted

    inner = model.pipeline if isinstance(model, TableModel) else model
    classifier = inner[-1] if hasattr(inner, "steps") else inner
    if not isinstance(classifier, ECOCClassifier):
        raise InvalidInputError(
            "model must be an ECOCClassifier, a pipeline that ends in one, or a model of ecoc fit, "
            f"not {type(classifier).__name__}."
        )
    check_is_fitted(classifier)
    if classifier.cost_matrix is not None or classifier.priors is not None:
        raise UnsupportedError(
            "A model with cost_matrix or priors decides by probabilities, and what columns answer "
            "to a server are their scores. Serve a model without them."
        )
    return classifier
