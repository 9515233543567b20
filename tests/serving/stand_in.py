# ruff: noqa: N803  # X is what scikit-learn calls it
"""Workers that are not there: a cluster with a clock of its own, and faults on order."""

import heapq
from concurrent.futures import Future
from functools import partial
from itertools import count

from ecoc.serving import ColumnServer
from ecoc.serving.cluster import ColumnHost


class VirtualWorkers:
    """Workers in this thread; time passes only while somebody waits."""

    def __init__(self, classifier, changed, names):
        self._classifier, self._changed = classifier, changed
        self._events, self._order = [], count()
        self._now = 0.0
        self.comeback_seconds = 0.0
        self._hosts = {name: ColumnHost(classifier) for name in names}
        self._calls = {name: set() for name in names}
        self.seconds = {}  # how long the next answers of a worker take
        self.broken = {}  # what becomes of the answers of a worker
        self.busy = set()  # those that answer one question after the other
        self._free = {}
        self.asked = []
        self.given = []  # the columns of each message, in the order in which they were sent
        self.full = set()  # those that take no more columns
        self.scheduler = True  # whether there is one
        self.scores = None  # what columns say about samples, where nobody is to compute it

    # what a server asks of its workers

    def names(self):
        return sorted(self._hosts) if self.scheduler else []

    def hold(self, worker, learners):
        future = Future()
        self.given.append((worker, tuple(learners)))
        if worker in self.full:
            future.set_exception(MemoryError("full"))
        elif worker in self._hosts:
            self._hosts[worker].hold(learners)
            future.set_result(None)
        else:
            self._cancel(future)
        return future

    def drop(self, worker, columns):
        self._hosts[worker].drop(columns)

    def ask(self, worker, X, columns, limit):
        future = Future()
        if worker not in self._hosts:
            self._cancel(future)
            return future
        self.asked.append((worker, tuple(columns)))
        self._calls[worker].add(future)
        # A broken worker says what it says at the time of the question.
        change = self.broken.get(worker, lambda scores: scores)
        seconds = self.seconds.get(worker, 0.01)
        # Whoever is busy does one thing after the other, and what has waited too long not at all.
        start = max(self._now, self._free.get(worker, 0.0))
        if start - self._now > limit:
            self.at(start, lambda: future.done() or future.set_result(None))
            return future
        if worker in self.busy:
            self._free[worker] = start + seconds
        self.at(start + seconds, lambda: self._answer(future, worker, X, columns, change))
        return future

    def later(self, work, seconds=0.0):
        self.at(self._now + 0.05 + seconds, work)

    def watch(self, work):
        self.later(work)

    def clock(self):
        return self._now

    def wait(self, condition, seconds):
        limit = self._now + (1e9 if seconds is None else seconds)
        notes = []
        condition.notify_all = lambda: notes.append(self._now)
        while not notes:
            if not self._events or self._events[0][0] > limit:
                assert seconds is not None, "nobody will ever answer"
                self._now = limit
                return
            self._now, _, event = heapq.heappop(self._events)
            event()

    def close(self):
        self._hosts.clear()

    # what a test does to them

    def at(self, moment, event):
        heapq.heappush(self._events, (moment, next(self._order), event))

    def pass_time(self, seconds):
        end = self._now + seconds
        while self._events and self._events[0][0] <= end:
            self._now, _, event = heapq.heappop(self._events)
            event()
        self._now = end

    def kill(self, worker):
        del self._hosts[worker]
        for future in self._calls.pop(worker):
            self._cancel(future)
        self.later(partial(self._changed, worker))

    def join(self, worker):
        self._hosts[worker] = ColumnHost(self._classifier)
        self._calls[worker] = set()
        self.later(partial(self._changed, None))

    def _answer(self, future, worker, X, columns, change):
        if future.done():
            return
        self._calls[worker].discard(future)
        try:
            host = self._hosts[worker]
            scores = host.scores(X, columns) if self.scores is None else self.scores(X, columns)
            future.set_result(change(scores))
        except (ValueError, OSError) as error:
            future.set_exception(error)

    @staticmethod
    def _cancel(future):
        if future.cancel():
            future.set_running_or_notify_cancel()


class VirtualServer(ColumnServer):
    """A server whose workers are not there."""

    def _connect(self, client, n_workers):
        self.crew = VirtualWorkers(
            self._classifier, self._settle, [f"w{number}" for number in range(n_workers)]
        )
        return self.crew
