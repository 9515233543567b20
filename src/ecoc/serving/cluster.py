"""Columns on the workers of a Dask cluster: held by actors, one for each worker."""

from __future__ import annotations

import asyncio
import gc
import logging
import multiprocessing
import os
import re
import signal
import threading
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from copy import copy
from functools import partial
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from ecoc._checks import require
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError, TimeLimitError
from ecoc.serving.processes import LocalProcesses

__all__ = ["ColumnHost", "DaskWorkers", "Workers", "dask_setup"]

_LOG = logging.getLogger("ecoc.serving")

_WORKER_SECONDS = 60.0
"""How long the first worker is waited for."""

_THREAD_SETTINGS = frozenset({"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"})
"""Where whoever begins a worker says how many threads linear algebra has."""

_RENEWAL_SECONDS = 10.0
"""How long a scheduler that was lost may take to answer."""


class ColumnHost:
    """What a worker holds: the classifier without its learners, and those of some columns.

    Parameters
    ----------
    classifier : ECOCClassifier
        A fitted classifier; its learners are left behind.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from ecoc.multiclass import ECOCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCClassifier(GaussianNB(), "one-vs-rest").fit(X, y)
    >>> host = ColumnHost(model)
    >>> host.hold({2: model.estimators_[2]})
    >>> bool((host.scores(X, [2]) == model.column_scores(X)[:, [2]]).all())
    True
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = copy(classifier)
        self.classifier.estimators_ = [None] * len(classifier.estimators_)
        # A column that is at a loss about a sample is done without.
        self.classifier.nan_scores = "erase"
        self.classifier.n_jobs = None
        self.classifier.verbose = 0
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="ecoc-columns")

    def hold(self, learners: Mapping[int, Any]) -> None:
        """Take the learners of some columns."""
        self.classifier = copy(self.classifier)
        self.classifier.estimators_ = [
            learners.get(column, learner)
            for column, learner in enumerate(self.classifier.estimators_)
        ]

    def begin(self, learners: Mapping[int, Any]) -> None:
        """Take the first learners, and rehearse: the first answer of a process takes long."""
        self.hold(learners)
        sample = np.zeros((1, getattr(self.classifier, "n_features_in_", 1)))
        with suppress(Exception), warnings.catch_warnings():  # they may want other samples
            warnings.simplefilter("ignore")
            self.scores(sample, list(learners))

    def drop(self, columns: Sequence[int]) -> None:
        """Let go of some columns, once what was asked before is answered."""
        self.hold(dict.fromkeys(columns))

    async def answer(self, X: Any, columns: Sequence[int], seconds: float) -> Floats | None:  # noqa: N803
        """The scores of some of the columns, or None if others kept it busy for so long.

        A worker that is asked more than it can do would else be busy with what nobody waits
        for any more, and late with all the rest.
        """
        came, host = time.monotonic(), copy(self)  # with the columns of now

        def work() -> Floats | None:
            return host.scores(X, columns) if time.monotonic() - came <= seconds else None

        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    async def answer_message(self, message: bytes) -> Floats | None:
        """The answer to a question that was packed by :class:`DaskWorkers`."""
        unpacked = require("distributed").protocol.pickle.loads(message)
        return await self.answer(*unpacked)

    def scores(self, X: Any, columns: Sequence[int]) -> Floats:  # noqa: N803
        """The scores of some of the columns."""
        asked = set(columns)
        others = [c for c in range(len(self.classifier.estimators_)) if c not in asked]
        scores: Floats = self.classifier.column_scores(X, missing_columns=others)
        return scores[:, columns]


class Workers(Protocol):
    """What a server asks of its workers; a stand-in for a cluster has the same methods."""

    def names(self) -> Sequence[str]:
        """The workers that are there."""

    def hold(self, worker: str, learners: Mapping[int, Any]) -> Future[None]:
        """Give a worker the learners of columns; cancelled if it leaves."""

    def drop(self, worker: str, columns: Sequence[int]) -> None:
        """Let a worker forget columns."""

    def ask(
        self,
        worker: str,
        X: Any,  # noqa: N803
        columns: Sequence[int],
        seconds: float,
    ) -> Future[Floats | None]:
        """The scores of columns that a worker holds; cancelled if it leaves.

        None comes instead from a worker that had no time for it within so many seconds.
        """

    @property
    def comeback_seconds(self) -> float:
        """Within how many seconds a worker that has left is back; 0 if nobody knows."""

    def later(self, work: Callable[[], None], seconds: float = 0.0) -> None:
        """Do something aside, after a while, one thing after the other."""

    def watch(self, work: Callable[[], object]) -> None:
        """Do something that takes milliseconds, aside, whatever else is done later."""

    def clock(self) -> float:
        """Seconds since some moment."""

    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        """Wait for a condition to be notified, which is held."""

    def close(self) -> None:
        """Let go of everything."""


class DaskWorkers:
    """The workers of a Dask cluster.

    Dask places the actors, carries what is said to them, and tells who joins and leaves.

    Parameters
    ----------
    client : Client, str or None
        A client of the cluster, the address of its scheduler, or None for a cluster of
        processes on this machine, which listens on the loopback interface alone.
    classifier : ECOCClassifier
        The classifier whose columns they hold.
    changed : callable
        Called, in another thread, when a worker has joined or left, with the name of one that
        has left or None.
    n_workers : int
        The processes of a cluster on this machine.
    """

    def __init__(
        self,
        client: Any,
        classifier: Any,
        changed: Callable[[str | None], None],
        *,
        n_workers: int,
    ) -> None:
        self._distributed = require("distributed", extra="dask")
        self._template = ColumnHost(classifier).classifier
        self._changed = changed
        self._lock = threading.Lock()
        self._actors: dict[str, tuple[Any, Any]] = {}
        self._gone: set[str] = set()  # workers that have left, and have not come back
        self._calls: dict[str, set[Future[Any]]] = defaultdict(set)
        self._aside = ThreadPoolExecutor(1, thread_name_prefix="ecoc-serving")
        self._beside = ThreadPoolExecutor(1, thread_name_prefix="ecoc-watching")
        self._closed = self._freezes = False
        self._processes = None
        if client is None:
            self._processes = LocalProcesses(n_workers, _modules(classifier))
        self._given = client
        try:
            self._client = self._connect()
        except OSError as error:
            raise TimeLimitError(
                f"No scheduler answers: {error}. Start one with: dask scheduler"
            ) from error
        self._scheduler_comm = self._client.scheduler_comm
        try:
            self._client.wait_for_workers(1, timeout=_WORKER_SECONDS)
        except TimeoutError as error:
            self.close()
            raise TimeLimitError(
                f"The cluster has no worker after {_WORKER_SECONDS:g} s. Start one with: "
                "dask worker ADDRESS"
            ) from error
        self._client.subscribe_topic("all", self._heard)
        # What there is now mostly stays as long as the server. The garbage collector would go
        # through it, for 0.1 s, in the middle of a batch.
        self._freezes = not gc.get_freeze_count()
        if self._freezes:
            gc.collect()
            gc.freeze()

    def names(self) -> Sequence[str]:
        """The addresses of the workers that are there; none without a scheduler."""
        try:
            if (
                self._client.status != "running"
                or self._client.scheduler_comm is not self._scheduler_comm
            ):
                self._renew()
            return sorted(self._client.nthreads())
        except OSError as error:
            _LOG.warning("the scheduler does not answer: %s", error)
            return []

    def _connect(self, **options: Any) -> Any:
        """A client of our own, so that settings and subscriptions are not those of others."""
        client = self._given if self._processes is None else self._processes.address
        return _connected(self._distributed, client, **options)

    def _renew(self) -> None:
        """Connect again to a scheduler that was lost, and has forgotten what it was told."""
        with self._lock:
            self._actors.clear()
            self._gone.clear()
            calls = [call for each in self._calls.values() for call in each]
        for call in calls:
            call.cancel()
        client = self._connect(timeout=_RENEWAL_SECONDS)
        self._client, before = client, self._client
        self._scheduler_comm = client.scheduler_comm
        before.close()
        client.subscribe_topic("all", self._heard)

    def hold(self, worker: str, learners: Mapping[int, Any]) -> Future[None]:
        """Give a worker the learners of columns; cancelled if it leaves."""
        verb = "hold"
        if worker not in self._actors and not self._closed:
            verb = "begin"
            future = self._client.submit(
                ColumnHost, self._template, actor=True, workers=[worker], pure=False
            )
            with self._client.as_current():
                actor = self._distributed.Actor(ColumnHost, worker, future.key)
            with self._lock:
                # It may have left since its name was asked for: nobody would say so again.
                if worker not in self._gone:
                    self._actors[worker] = actor, future
        return self._call(worker, verb, dict(learners))

    def drop(self, worker: str, columns: Sequence[int]) -> None:
        """Let a worker forget columns."""
        with suppress(KeyError):
            self._call(worker, "drop", list(columns))

    def ask(
        self,
        worker: str,
        X: Any,  # noqa: N803
        columns: Sequence[int],
        seconds: float,
    ) -> Future[Floats | None]:
        """The scores of columns that a worker holds; cancelled if it leaves.

        None comes instead from a worker that had no time for it within so many seconds.
        """
        # Packed here: Dask would make a message of its own of each argument.
        message = self._distributed.protocol.pickle.dumps((X, tuple(columns), seconds))
        return self._call(worker, "answer_message", message)

    @property
    def comeback_seconds(self) -> float:
        """Within how many seconds a worker that has left is back; 0 if nobody knows."""
        return 0.0 if self._processes is None else self._processes.comeback_seconds

    def later(self, work: Callable[[], None], seconds: float = 0.0) -> None:
        """Do something in a thread of its own, after a while, one thing after the other."""
        if seconds:
            timer = threading.Timer(seconds, self.later, [work])
            timer.daemon = True
            timer.start()
            return
        with suppress(RuntimeError):  # closed meanwhile
            self._aside.submit(_logged, work)

    def watch(self, work: Callable[[], object]) -> None:
        """Do something that takes milliseconds in another thread of its own."""
        with suppress(RuntimeError):  # closed meanwhile
            self._beside.submit(_logged, work)

    def clock(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    def wait(self, condition: threading.Condition, seconds: float | None) -> None:
        """Wait for a condition to be notified, which is held."""
        condition.wait(None if seconds is None else min(seconds, threading.TIMEOUT_MAX))

    def close(self) -> None:
        """Let the workers forget the columns, and end a cluster that was begun here."""
        if self._closed:
            return
        self._closed = True
        if self._client.status == "running":
            with suppress(ValueError):  # not heard of anything yet
                self._client.unsubscribe_topic("all")
        with self._lock:
            actors, self._actors = self._actors, {}
            calls = [call for each in self._calls.values() for call in each]
        for call in calls:
            call.cancel()
        for threads in (self._aside, self._beside):
            threads.shutdown(wait=True, cancel_futures=True)
        if self._client.status == "running":
            self._client.cancel([future for _, future in actors.values()])
        self._client.close()
        if self._processes is not None:
            self._processes.close()
        if self._freezes:
            gc.unfreeze()

    def _call(self, worker: str, method: str, *arguments: Any) -> Future[Any]:
        with self._lock:
            if worker not in self._actors:
                return _cancelled()
            asking = _called(*self._actors[worker], method, arguments)
            try:
                call = asyncio.run_coroutine_threadsafe(asking, self._client.loop.asyncio_loop)
            except RuntimeError:  # the loop of the cluster is closed
                asking.close()
                return _cancelled()
            self._calls[worker].add(call)
        call.add_done_callback(lambda done: self._calls.get(worker, set()).discard(done))
        return call

    def _heard(self, event: tuple[float, Any]) -> None:
        """Hear of a worker that has joined or left; in the thread of the client."""
        _, message = event
        action = message.get("action") if isinstance(message, dict) else None
        if action == "add-worker":
            with self._lock:
                self._gone.discard(message["worker"])
            self.later(partial(self._changed, None))
        elif action == "remove-worker":
            worker = message["worker"]
            with self._lock:
                self._gone.add(worker)
                self._actors.pop(worker, None)
                calls = self._calls.pop(worker, set())
            for call in list(calls):
                call.cancel()
            # It may be back, with nothing in its hands, before anybody has looked.
            self.later(partial(self._changed, worker))


def dask_setup(worker: Any) -> None:
    """Make a process ready to hold columns; Dask calls this where it preloads this module.

    What columns are made of is loaded before it joins the cluster. It stays as long as the
    process, so the garbage collector need not go through it, for 0.1 s, in the middle of a batch.

    Workers that Dask looks after have one thread for linear algebra; so have others. Several of
    them on a machine would else take its cores from each other.

    A terminal and a service manager send their signals to all processes at once. One that Dask
    looks after is ended by Dask, when what was begun is answered, and does not hear them.
    """
    import_module("ecoc.multiclass")
    # Not collected before: that would make copies of what forked processes share.
    gc.freeze()
    if not _THREAD_SETTINGS.intersection(os.environ):
        require("threadpoolctl").threadpool_limits(worker.state.nthreads)
    if multiprocessing.parent_process() is not None:
        with suppress(ValueError):  # a worker in a thread
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)


def _logged(work: Callable[[], object]) -> None:
    """Do something whose errors nobody waits for."""
    try:
        work()
    except Exception:  # noqa: BLE001  # whatever it was, the next change is another chance
        _LOG.exception("the columns could not be placed, or not be looked after")


def _modules(classifier: Any) -> list[str]:
    """The modules that columns need."""
    learners = {type(learner).__module__ for learner in classifier.estimators_}
    return sorted({"ecoc.multiclass", *learners} - {"__main__"})


def _connected(distributed: Any, client: Any, **options: Any) -> Any:
    """A client of the cluster of a client, or of an address."""
    security = getattr(client, "security", None)
    if isinstance(client, str):
        address, direct = client, True
        if not re.search(r".:[0-9]+$|^inproc://", client):
            raise InvalidInputError(
                "The address of a scheduler must have a port, as in tcp://127.0.0.1:8786, not be "
                f"{client!r:.80}."
            )
    elif isinstance(client, distributed.Client):
        if client.asynchronous:
            raise InvalidInputError("client must not be asynchronous; a server waits for answers.")
        address, direct = client.scheduler.address, client.direct_to_workers is not False
    elif hasattr(client, "scheduler_address"):
        address, direct = client.scheduler_address, True
    else:
        raise InvalidInputError(
            "client must be a dask.distributed Client, the address of a scheduler, or None for "
            f"workers on this machine, not {type(client).__name__}."
        )
    return distributed.Client(
        address,
        security=security,
        direct_to_workers=direct,
        set_as_default=False,
        **options,
    )


def _cancelled() -> Future[Any]:
    """A call that nobody answers."""
    call: Future[Any] = Future()
    call.cancel()
    call.set_running_or_notify_cancel()
    return call


async def _called(actor: Any, future: Any, method: str, arguments: Sequence[Any]) -> Any:
    # Before its first call an actor may still be on its way.
    if not future.done():
        await future
    if future.status != "finished":
        raise ConnectionError("The worker has left.")
    return await getattr(actor, method)(*arguments)
