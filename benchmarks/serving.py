"""Predictions from workers that die, lag behind or lie, and a simulation of more of them.

    python benchmarks/serving.py            # about a quarter of an hour, most of it of kills
    python benchmarks/serving.py --page docs/serving.md  # also writes the tables there
    python benchmarks/serving.py --kills-only --page docs/serving.md  # that part of them alone
    python benchmarks/serving.py --simulation-only
    python benchmarks/serving.py --smoke    # seconds, workers in this process, no kill

RBF SVMs on the digits of scikit-learn (half for training) are the columns of every code, spread
over four worker processes on the loopback interface. Four callers send a stream of 1,000 batches
of 10 rows, one after the other, and one fault is injected:

    killed       a worker gets SIGKILL after 300 batches, and does not come back
    frozen       a worker gets SIGSTOP after 300 batches: it is silent, as a lost machine is, and
                 Dask gives it up after 10 s (its default is 5 minutes)
    stragglers   20 % of the answers come late: after the deadline, and in the mean after ten
                 times the usual time
    wrong        a worker gives the opposite of its answers from batch 100 on

The deadline is "auto". "Waiting for all" is the same server without a deadline, which places the
columns of a lost worker on others. "plain" is the SVM of scikit-learn on every worker: each batch
goes to several of them, the first answer counts; equal work is measured, not counted.

A kill touches a few batches of a thousand: so each worker is killed in turn, and in turns with the
server that waits. Here batches come at a pace, whatever became of those before: every two times as
long as one caller alone waits for one, so that both cores have about as much to do as to rest. What
waiting costs depends on how large the columns are that have to be placed anew, so there are two
kinds: the SVMs, and forests of ten extra trees that were grown on 100,000 rows (of
make_classification; the usual hundred trees would be ten times as large). The SVMs are also asked
with a deadline of 0.2 s, and by four callers without a pace, as above.

Batches of callers that come together travel as one. What that brings is measured with 1 to 64
callers of the SVMs, against the same server with callers that differ in their patience by a
nanosecond, whose batches travel apart.

Machines that are shared with others slow down for some tens of milliseconds now and then, and these
are the slowest batches of a stream then, whatever the server does. So a process of its own measures
all the time how much CPU time the same small work takes; a stream of the kills during which that
rose by half is repeated, twice at the most, and the table tells how often it rose in those
that count.

The simulation draws the latencies of every worker for a million requests from two published
tails, with codes of one column for each worker (two for ten workers) whose answers are wrong in
10 % of the cases; of each size the first 50,000 requests are decoded.
"""

from __future__ import annotations

import argparse
import inspect
import json
import logging
import os
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from ecoc._checks import require
from ecoc.codes import Codebook
from ecoc.design import design_codebook
from ecoc.multiclass import ECOCClassifier
from ecoc.serving import ColumnServer
from ecoc.serving.cluster import ColumnHost, DaskWorkers
from ecoc.serving.placement import column_contrasts, place_columns
from ecoc.serving.processes import LocalProcesses
from ecoc.serving.rounds import Rounds

N_WORKERS, N_CALLERS, BATCH_ROWS = 4, 4, 10
N_PACED_CALLERS = 16
PACE, LEAST_LATE, LATE = 2, 3, 10
"""Times the median: between batches that have a pace; the least of a late answer, and the mean."""
LATE_SHARE = 0.2
N_SEEDS = 5
"""How many times other answers are late."""
CALLERS = (1, 2, 4, 16, 64)
KILL_AT, LIE_AT = 0.3, 0.1
FAULTS = ("none", "killed", "stragglers", "wrong")
BEGIN, END = "<!-- printed by benchmarks/serving.py -->", "<!-- end of what it printed -->"
TOGETHER = "### Batches that travel as one"
LEFT = "### What is left when a worker is lost"
PLACED = ((10, 20), (10, 40), (26, 52), (50, 100), (100, 200))
"""Classes and columns of codes that are placed on workers."""
KILLS, SIMULATION = "### A worker is killed", "### More workers than two cores"
"""Headings on the page."""
SIGNALS = {"killed": signal.SIGKILL, "frozen": signal.SIGSTOP}
MOST_TRIES = 3
SLOW = 1.5
"""The machine is slow when the same work takes so many times the CPU time that it usually does."""


# ------------------------------------------------------------------ the cluster


Deadline: TypeAlias = Literal["auto"] | float | None


@dataclass
class Faults:
    """What goes wrong between workers and server."""

    late: tuple[float, float] | None = None
    """The least and the mean time after which late answers come."""
    liar: str | None = None
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    lock: threading.Lock = field(default_factory=threading.Lock)

    def seconds(self) -> float:
        """How long the next answer is held back."""
        with self.lock:
            if self.late is None or self.rng.random() >= LATE_SHARE:
                return 0.0
            least, mean = self.late
            return least + (mean - least) * self.rng.exponential()


class FaultyWorkers(DaskWorkers):
    """Workers whose answers are held back, or turned round, on their way."""

    faults: Faults

    def ask(self, worker: str, X: Any, columns: Any, seconds: float) -> Future[Any]:  # noqa: N803
        """The scores of columns, when they are let through."""
        began, held = time.monotonic(), self.faults.seconds()
        outer: Future[Any] = Future()

        def deliver(inner: Future[Any]) -> None:
            if outer.done():
                return
            if inner.cancelled():
                outer.cancel()
                outer.set_running_or_notify_cancel()
            elif (error := inner.exception()) is not None:
                outer.set_exception(error)
            else:
                scores = inner.result()
                lies = worker == self.faults.liar and scores is not None
                outer.set_result(-scores if lies else scores)

        def came(inner: Future[Any]) -> None:
            left = held - (time.monotonic() - began)
            if left <= 0 or inner.cancelled():
                deliver(inner)
            else:
                loop = self._client.loop.asyncio_loop
                loop.call_soon_threadsafe(loop.call_later, left, deliver, inner)

        super().ask(worker, X, columns, seconds).add_done_callback(came)
        return outer


class FaultyServer(ColumnServer):
    """A server on such workers."""

    def __init__(self, model: Any, client: Any, faults: Faults) -> None:
        self.faults = faults
        super().__init__(model, client)

    def _connect(self, client: Any, n_workers: int) -> FaultyWorkers:
        workers = FaultyWorkers(client, self._classifier, self._settle, n_workers=n_workers)
        workers.faults = self.faults
        return workers

    def labels(self, X: np.ndarray, deadline: Deadline) -> np.ndarray:  # noqa: N803
        """The predicted classes."""
        return self.predict(X, deadline=deadline).labels


class ApartServer(FaultyServer):
    """A server whose callers have each their own patience, so that no batch travels with others."""

    def labels(self, X: np.ndarray, deadline: Deadline) -> np.ndarray:  # noqa: N803
        """The predicted classes."""
        patience = 1.0 + 1e-9 * (threading.get_ident() % 2**20)
        return self.predict(X, deadline=deadline, patience=patience).labels


class PlainModel:
    """A model that is not cut into columns, as a host of columns takes it."""

    def __init__(self, learner: Any) -> None:
        self.estimators_ = [learner]

    def column_scores(self, X: np.ndarray, missing_columns: Any) -> np.ndarray:  # noqa: N803
        """The classes, as numbers from 1 on."""
        del missing_columns
        return self.estimators_[0].predict(X)[:, None] + 1.0


class ReplicatedServer:
    """A plain model on every worker; some are asked, and the first answer counts."""

    def __init__(self, learner: Any, client: Any, faults: Faults, copies: int) -> None:
        self.faults, self._copies, self._turn = faults, copies, 0
        self._lock = threading.Lock()
        self._workers = FaultyWorkers(client, PlainModel(learner), self._settle, n_workers=0)
        self._workers.faults = faults
        self._names = list(self._workers.names())
        self._owed: Counter[str] = Counter()
        self._rounds = Rounds(self._workers, self._is_ready)
        for name in self._names:
            self._workers.hold(name, {0: learner}).result()

    def _is_ready(self) -> bool:
        # One copy that is free is enough.
        return any(not self._owed[name] for name in self._names)

    def _settle(self, left: str | None = None) -> None:
        present = set(self._workers.names()) - {left}
        with self._lock:
            self._names = [name for name in self._names if name in present]

    def labels(self, X: np.ndarray, deadline: Deadline) -> np.ndarray:  # noqa: N803
        """The predicted classes; there is nothing to decode before the first answer."""
        del deadline
        seat = self._rounds.board(X, "plain", 1.0)
        try:
            if seat.leads:
                seat.answer(self._first(np.vstack(seat.batches)))
            return seat.await_answer()[seat.rows]
        finally:
            self._rounds.leave()

    def _first(self, X: np.ndarray) -> np.ndarray:  # noqa: N803
        answered = threading.Event()
        answers: list[np.ndarray] = []

        def came(future: Future[Any], name: str) -> None:
            with self._lock:
                self._owed[name] -= 1
            self._rounds.look_again()
            if future.cancelled() or future.exception() is not None:
                with self._lock:
                    self._names = [other for other in self._names if other != name]
                if self._names and not answered.is_set():
                    ask(1)
                return
            # What a liar turned round is another class.
            values = future.result()[:, 0]
            answers.append(np.where(values > 0, values - 1, (-values) % 10).astype(int))
            answered.set()

        def ask(count: int) -> None:
            with self._lock:
                self._turn += 1
                names = [self._names[(self._turn + i) % len(self._names)] for i in range(count)]
                self._owed.update(names)
            for name in names:
                self._workers.ask(name, X, [0], np.inf).add_done_callback(partial(came, name=name))

        ask(self._copies)
        answered.wait()
        return answers[0]

    def close(self) -> None:
        """Let go of the workers."""
        self._names = []
        self._workers.close()


class Cluster:
    """A scheduler and workers, which are processes of their own if they are to be killed."""

    def __init__(self, *, processes: bool) -> None:
        distributed = require("distributed", extra="dask")
        require("dask").config.set({"distributed.scheduler.worker-ttl": "10s"})
        self._processes = processes
        self._workers: list[subprocess.Popen[bytes]] = []
        self._cluster: Any
        if processes:
            # The scheduler alone.
            self._cluster = LocalProcesses(0, [])
            self._address = self._cluster.address
        else:
            self._cluster = distributed.LocalCluster(
                n_workers=N_WORKERS, threads_per_worker=1, processes=False, dashboard_address=":0"
            )
            self._address = self._cluster.scheduler_address
        self.client = distributed.Client(self._address, direct_to_workers=True)
        self.renew()

    def pids(self) -> dict[str, int]:
        """The process of each worker."""
        return dict(self.client.run(os.getpid))

    def end(self, pid: int) -> None:
        """Kill a worker for good, frozen or not."""
        for worker in self._workers:
            if worker.pid == pid:
                worker.kill()
                worker.wait()

    def renew(self) -> None:
        """Begin with four workers again."""
        if not self._processes:
            return
        self._workers = [worker for worker in self._workers if worker.poll() is None]
        while len(self.client.nthreads()) > len(self._workers):
            time.sleep(0.05)  # until the scheduler has noticed
        options = ("--no-nanny", "--nthreads", "1", "--host", "127.0.0.1", "--no-dashboard")
        while len(self._workers) < N_WORKERS:
            # Whatever becomes of this process, a worker ends soon after it.
            command = [sys.executable, "-m", "distributed.cli.dask_worker"]
            command += [self._address, *options, "--death-timeout", "20"]
            command += ["--preload", "ecoc.serving.cluster"]
            self._workers.append(subprocess.Popen(command, stderr=subprocess.DEVNULL))
        self.client.wait_for_workers(N_WORKERS, timeout=120)

    def close(self) -> None:
        """End the workers."""
        for worker in self._workers:
            worker.kill()
            worker.wait()
        self.client.close()
        self._cluster.close()


# ------------------------------------------------------------------- the machine


def probe() -> None:
    """Print how much CPU time the same work takes, again and again, until input ends."""
    moments = []
    while not select.select([sys.stdin], [], [], 0.005)[0]:
        began, total = time.thread_time(), 0
        for number in range(3000):
            total += number * number
        moments.append((time.perf_counter(), time.thread_time() - began))
    print(json.dumps(moments))


class SpeedProbe:
    """A process that sees when the machine itself is slow, whoever works on it."""

    def __init__(self) -> None:
        # As a program of its own it is there at once.
        program = f"import json, select, sys, time\n{inspect.getsource(probe)}\nprobe()"
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def slow_times(self, began: float) -> int:
        """End it; how many times the machine was slow since a moment."""
        printed, _ = self._process.communicate()
        moments, costs = np.array(json.loads(printed)).T
        # Of five in a row most are slow: a single one may have found an empty cache.
        windows = np.lib.stride_tricks.sliding_window_view(costs, 5)
        slow = moments[2:-2][np.median(windows, axis=1) > SLOW * np.median(costs)]
        slow = slow[slow >= began]
        return int((np.diff(slow, prepend=-np.inf) > 0.05).sum())


# ------------------------------------------------------------------- the stream


@dataclass(frozen=True)
class Run:
    """What a stream of batches met with."""

    began: float
    accuracy: float
    seconds: np.ndarray
    throughput: float
    lost: int
    reported: int | None = None
    missing: float = 0.0
    """Columns that had not answered, in the mean of the batches."""
    slow_times: int = 0
    """How many times the machine itself was slow."""

    def quantile(self, share: float) -> float:
        """The latency that so many batches do not exceed, in milliseconds."""
        place = int(np.ceil(share * len(self.seconds))) - 1
        return 1000 * float(np.sort(self.seconds)[place])

    @property
    def gap(self) -> float:
        """From the median to the slowest batch of a thousand, in milliseconds."""
        return self.quantile(0.999) - self.quantile(0.5)


def stream(
    server: Any,
    batches: list[np.ndarray],
    data: tuple[np.ndarray, np.ndarray],
    deadline: Deadline,
    events: dict[int, Callable[[], None]],
    *,
    n_callers: int,
    pace: float,
) -> Run:
    """Send batches from several threads, and see what comes back.

    Without a pace, in seconds, every caller sends the next batch when it has its answer. With one
    a batch is due then, whatever became of those before it, and its time counts from then on.
    """
    X, y = data  # noqa: N806
    numbers = iter(range(len(batches)))
    lock = threading.Lock()
    seconds, right, lost, reported = np.zeros(len(batches)), [0] * len(batches), [], []

    def work() -> None:
        while True:
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            due = time.perf_counter()
            if pace:
                due = began + number * pace
                time.sleep(max(0.0, due - time.perf_counter()))
            if number in events:
                threading.Thread(target=events[number]).start()
            try:
                labels = server.labels(X[batches[number]], deadline)
                right[number] = int((labels == y[batches[number]]).sum())
            except Exception as error:  # noqa: BLE001  # whatever a caller would see is counted
                lost.append(repr(error))
            seconds[number] = time.perf_counter() - due
            if not reported and isinstance(server, ColumnServer) and server.status().distrusted:
                reported.append(number)

    # The first answers find cold workers.
    for number in range(min(20, len(batches))):
        server.labels(X[batches[number]], None)
    began = time.perf_counter()
    callers = [threading.Thread(target=work) for _ in range(N_PACED_CALLERS if pace else n_callers)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    total = time.perf_counter() - began
    for text in lost[:3]:
        print("lost:", text, file=sys.stderr)
    return Run(
        began,
        100 * sum(right) / sum(map(len, batches)),
        seconds,
        len(batches) / total,
        len(lost),
        reported[0] if reported else None,
        server.status().missing_columns / len(batches) if isinstance(server, ColumnServer) else 0.0,
    )


@dataclass
class Bench:
    """Models, data, and the runs so far."""

    cluster: Cluster
    batches: list[np.ndarray]
    data: tuple[np.ndarray, np.ndarray]
    usual: float = 0.1
    """The median without faults, in seconds."""
    n_callers: int = N_CALLERS
    pace: float = 0.0
    deadline: Deadline = "auto"
    kills: bool = True

    def undisturbed(self, model: Any, fault: str, **how: Any) -> Run:
        """A stream during which the machine was not slow, if one of three is."""
        for _ in range(MOST_TRIES):
            watched = SpeedProbe()
            run = self.run(model, fault, **how)
            run = replace(run, slow_times=watched.slow_times(run.began))
            if not run.slow_times:
                break
        return run

    def run(
        self,
        model: Any,
        fault: str,
        *,
        wait: bool = False,
        victim: int = 0,
        copies: int = 0,
        apart: bool = False,
        seed: int = 0,
    ) -> Run:
        """One stream with one fault."""
        self.cluster.renew()
        faults = Faults(rng=np.random.default_rng(seed))
        if copies:
            server: Any = ReplicatedServer(model, self.cluster.client, faults, copies)
        else:
            kind = ApartServer if apart else FaultyServer
            server = kind(model, self.cluster.client, faults)
        pids = self.cluster.pids()
        names = sorted(pids)
        events: dict[int, Callable[[], None]] = {}
        if fault == "stragglers":
            faults.late = LEAST_LATE * self.usual, LATE * self.usual
        elif fault in SIGNALS and self.kills:
            strike = partial(os.kill, pids[names[victim]], SIGNALS[fault])
            events[int(KILL_AT * len(self.batches))] = strike
        elif fault == "wrong":
            start = int(LIE_AT * len(self.batches))
            events[start] = lambda: setattr(faults, "liar", names[victim])
        try:
            return stream(
                server,
                self.batches,
                self.data,
                None if wait else self.deadline,
                events,
                n_callers=self.n_callers,
                pace=self.pace,
            )
        finally:
            if fault in SIGNALS and self.kills:
                self.cluster.end(pids[names[victim]])
            server.close()


PAGE: list[str] = []
"""What was printed so far, for the page."""


def say(text: str = "") -> None:
    """Print a line of the page, as soon as it is known."""
    PAGE.append(text)
    print(text, flush=True)


def table(header: list[str], rows: list[list[str]]) -> None:
    """Print a table in Markdown, or the head of one."""
    say()
    say("| " + " | ".join(header) + " |")
    say("|" + "---|" * len(header))
    for row in rows:
        print_row(row)


def print_row(row: list[str]) -> None:
    """Print a row of a table."""
    say("| " + " | ".join(row) + " |")


def load() -> str:
    """How busy the machine is."""
    return f"load of {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"


HEADER = ["served", "fault", "accuracy", "p50", "p99", "p99.9", "gap", "batches/s", "lost"]


def line(name: str, fault: str, run: Run) -> list[str]:
    """A run as a line of the table."""
    times = [f"{run.quantile(share):.0f} ms" for share in (0.5, 0.99, 0.999)]
    return [
        *(name, fault, f"{run.accuracy:.2f} %", *times, f"{run.gap:.0f} ms"),
        *(f"{run.throughput:.0f}", str(run.lost)),
    ]


def measured_work(model: Any, learner: Any, X: np.ndarray) -> int:  # noqa: N803
    """How many predictions of a plain model cost what the columns of a code do."""
    n_columns = model.codebook_.n_columns
    hosts = []
    for worker in range(N_WORKERS):
        columns = list(range(worker, n_columns, N_WORKERS))
        host = ColumnHost(model)
        host.hold({column: model.estimators_[column] for column in columns})
        hosts.append((host, columns))

    def best(work: Callable[[], object]) -> float:
        times = []
        for _ in range(30):
            began = time.perf_counter()
            work()
            times.append(time.perf_counter() - began)
        return min(times)

    coded = best(lambda: [host.scores(X, columns) for host, columns in hosts])
    return round(coded / best(lambda: learner.predict(X)))


def measure(n_batches: int, repetitions: int, *, smoke: bool, kills_only: bool) -> None:
    """Run all streams and print what came of them."""
    X, y = load_digits(return_X_y=True)  # noqa: N806
    train, test, y_train, y_test = train_test_split(
        X / 16, y, test_size=0.5, random_state=0, stratify=y
    )

    def fitted(learner: Any, code: Codebook | str) -> ECOCClassifier:
        return ECOCClassifier(learner, code, random_state=0).fit(train, y_train)

    svm = SVC(C=10, gamma=0.05)
    if smoke:
        models = {"random, 2k columns": fitted(svm, "dense-random")}
    else:
        optimal = design_codebook(10, 20, random_state=0, time_limit=10).codebook
        models = {"optimal, 2k columns": fitted(svm, optimal)}
    if not smoke and not kills_only:
        longer = design_codebook(10, 40, random_state=0, time_limit=10).codebook
        models["optimal, 4k columns"] = fitted(svm, longer)
        models |= {name: fitted(svm, name) for name in ("one-vs-one", "one-vs-rest")}
    rng = np.random.default_rng(0)
    batches = list(rng.integers(len(test), size=(n_batches, BATCH_ROWS)))
    cluster = Cluster(processes=not smoke)
    try:
        bench = Bench(cluster, batches, (test, y_test), kills=not smoke)
        if not kills_only:
            plain = SVC(C=10, gamma=0.05).fit(train, y_train)
            streams(bench, models, plain)
            callers(next(iter(models.values())), bench)
        if not smoke:
            small = models["optimal, 2k columns"]
            large, data = forests(small.codebook_)
            rows = list(rng.integers(len(data[0]), size=(n_batches, BATCH_ROWS)))
            say(f"\n{KILLS}")
            kills("Forests", large, Bench(cluster, rows, data), repetitions)
            kills("SVMs", small, bench, repetitions)
            kills("SVMs", small, replace(bench, deadline=0.2), repetitions)
            kills("SVMs", small, replace(bench), repetitions, paced=False)
    finally:
        cluster.close()


def streams(bench: Bench, models: dict[str, Any], plain: Any) -> None:
    """Every model under every fault, and the first without a deadline."""
    first = next(iter(models))
    bench.usual = bench.run(models[first], "none", wait=True).quantile(0.5) / 1000
    work = measured_work(models[first], plain, bench.data[0][:BATCH_ROWS])
    copies = min(max(work, 2), N_WORKERS)
    say(
        f"{len(bench.batches):,} batches of {BATCH_ROWS} rows from {N_CALLERS} callers, automatic "
        f"deadline. A batch of the {first} is the work of {work} plain models; the plain one is "
        f"asked {copies} times. At the start there was a {load()}."
    )
    runs: dict[tuple[str, str], Run] = {}
    table(HEADER, [])

    def add(name: str, fault: str, model: Any, **how: Any) -> None:
        runs[name, fault] = bench.run(model, fault, **how)
        print_row(line(name, fault, runs[name, fault]))

    for name, model in models.items():
        for fault in FAULTS:
            add(name, fault, model)
    add(first, "frozen", models[first])
    waiting = f"{first}, waiting for all"
    for fault in ("none", "killed", "frozen", "stragglers"):
        add(waiting, fault, models[first], wait=True)
    for fault in FAULTS:
        add(f"plain, {copies} copies", fault, plain, copies=copies)
    say(f"\nThe {first}, against waiting for all, with four callers that keep both cores busy:")
    sound = runs[first, "none"]
    rows = []
    pairs = [
        ("worker 0 frozen", runs[first, "frozen"], runs[waiting, "frozen"]),
        ("20 % late", runs[first, "stragglers"], runs[waiting, "stragglers"]),
    ]
    for seed in range(1, N_SEEDS if bench.kills else 1):
        both = [
            bench.run(models[first], "stragglers", wait=wait, seed=seed) for wait in (False, True)
        ]
        pairs.append(("20 % late, others", *both))
    for text, run, other in pairs:
        rows.append(
            [
                *(text, str(run.lost), f"{run.accuracy - sound.accuracy:+.2f} points"),
                *(f"{run.gap:.0f} ms", f"{other.gap:,.0f} ms"),
                f"{other.gap / max(run.gap, 1e-3):.1f}",
            ]
        )
    table(["fault", "lost", "accuracy", "gap", "gap, waiting for all", "ratio"], rows)
    liars = []
    for name in models:
        run = runs[name, "wrong"]
        begun = int(LIE_AT * len(bench.batches))
        after = "never" if run.reported is None else f"{run.reported - begun} batches"
        difference = run.accuracy - runs[name, "none"].accuracy
        liars.append([name, after, f"{difference:+.2f} points"])
    say("\nA worker that flips its answers, from when it begins:")
    table(["served", "reported after", "accuracy"], liars)


def callers(model: Any, bench: Bench) -> None:
    """Batches that travel together, and apart, with more and more callers."""
    say(f"\n{TOGETHER}")
    say(
        "\nThe optimal, 2k columns, without faults; batches of several callers together, and apart:"
    )
    header = ["callers", "batches/s", "apart", "p50", "apart", "p99.9", "apart", "missing columns"]
    table([*header, "apart"], [])
    for n_callers in CALLERS:
        some = replace(bench, n_callers=n_callers, pace=0.0)
        runs = [some.run(model, "none", apart=apart) for apart in (False, True)]
        print_row(
            [
                f"{n_callers}",
                *(f"{run.throughput:,.0f}" for run in runs),
                *(f"{run.quantile(0.5):.0f} ms" for run in runs),
                *(f"{run.quantile(0.999):.0f} ms" for run in runs),
                *(f"{run.missing:.2f}" for run in runs),
            ]
        )


def forests(code: Codebook) -> tuple[ECOCClassifier, tuple[np.ndarray, np.ndarray]]:
    """A model whose columns take time to send, and data to ask it about."""
    X, y = make_classification(  # noqa: N806
        102_000,
        16,
        n_informative=16,
        n_redundant=0,
        n_classes=10,
        class_sep=2,
        flip_y=0.02,
        random_state=0,
    )
    learner = ExtraTreesClassifier(10, random_state=0)
    model = ECOCClassifier(learner, code, random_state=0).fit(X[2000:], y[2000:])
    return model, (X[:2000], y[:2000])


def kills(name: str, model: Any, bench: Bench, repetitions: int, *, paced: bool = True) -> None:
    """Kill one worker after the other, and compare with a server that waits for all columns."""
    calm = replace(bench, batches=bench.batches[:100], n_callers=1)
    bench.pace = PACE * calm.run(model, "none", wait=True).quantile(0.5) / 1000 if paced else 0.0
    how = f"a batch every {1000 * bench.pace:.0f} ms" if paced else f"{N_CALLERS} callers"
    sound = bench.undisturbed(model, "none", wait=True)
    size = np.mean([len(pickle.dumps(learner)) for learner in model.estimators_]) / 1e6
    say(
        f"\n{name} of {size:.1f} MB, {how}, deadline {bench.deadline}. Without faults and "
        f"waiting for all: accuracy {sound.accuracy:.2f} %, p50 {sound.quantile(0.5):.0f} ms, "
        f"p99.9 {sound.quantile(0.999):.0f} ms, gap {sound.gap:.0f} ms; {load()}."
    )
    table(
        [
            *("killed", "lost", "accuracy", "p50", "p99.9", "gap"),
            *("gap, waiting for all", "ratio", "machine slow", "load"),
        ],
        [],
    )
    pairs = []
    for repetition in range(repetitions):
        victim = repetition % N_WORKERS
        order = (False, True) if repetition % 2 else (True, False)
        pair = {
            wait: bench.undisturbed(model, "killed", wait=wait, victim=victim) for wait in order
        }
        run, other = pair[False], pair[True]
        pairs.append((run.gap, other.gap, other.gap / run.gap))
        print_row(
            [
                *(f"worker {victim}", f"{run.lost + other.lost}"),
                *(f"{run.accuracy - sound.accuracy:+.2f} points", f"{run.quantile(0.5):.0f} ms"),
                *(f"{run.quantile(0.999):.0f} ms", f"{run.gap:.0f} ms", f"{other.gap:,.0f} ms"),
                *(f"{pairs[-1][2]:.1f}", f"{run.slow_times}, {other.slow_times} times"),
                f"{os.getloadavg()[0]:.1f}",
            ]
        )
    ours, theirs, ratio = np.median(pairs, axis=0)
    low, high = np.min(pairs, axis=0)[2], np.max(pairs, axis=0)[2]
    say(
        f"\nIn the median of {repetitions} kills the gap is {ours:.0f} ms, waiting for all "
        f"{theirs:,.0f} ms, and the ratio {ratio:.1f} (from {low:.1f} to {high:.1f})."
    )


# --------------------------------------------------------------- the simulation

TAILS = {
    # J. Dean, L. Barroso (2013): The tail at scale, Communications of the ACM 56(2). Table 1:
    # one leaf of a large service takes 1 ms (median), 5 ms (p95) and 10 ms (p99); and, in the
    # text, servers that take 10 ms as a rule and 1 s in one of 100 cases.
    "1 ms, p99 10 ms": (1.0, np.log(10) / 2.3263),
    "10 ms, p99 1 s": (10.0, np.log(100) / 2.3263),
}
SIZES = (10, 30, 100, 300, 1000)
COLUMN_ERRORS = 0.1
N_DECODED = 50_000
"""The requests of each size whose answers are decoded, which takes most of the time."""
SEEN = ("all", "two copies", "ours", "missing", "right, all", "right")


def simulated(n_workers: int, n_requests: int, rng: np.random.Generator) -> Iterator[list[str]]:
    """Requests to so many workers: when all have answered, and what 95 % of them say."""
    n_classes = max(10, n_workers // 2)
    per_worker = 2 if n_workers == 10 else 1
    n_columns = per_worker * n_workers
    code = design_codebook(n_classes, n_columns, random_state=0, time_limit=5).codebook
    matrix = code.matrix.astype(np.float32)
    limit = np.float32(1.645)  # the deadline is the p95 of one worker
    parts: dict[str, list[np.ndarray]] = {name: [] for name in SEEN}
    for start in range(0, n_requests, 10_000):
        n = min(10_000, n_requests - start)
        normal = rng.standard_normal((n, n_workers), dtype=np.float32)
        second = rng.standard_normal((n, n_workers), dtype=np.float32)
        late = normal > limit
        parts["all"].append(normal.max(axis=1))
        parts["two copies"].append(np.minimum(normal, second).max(axis=1))
        parts["ours"].append(np.minimum(normal.max(axis=1), limit))
        parts["missing"].append(late.sum(axis=1) * per_worker)
        if start >= N_DECODED:
            continue
        truth = rng.integers(n_classes, size=n)
        wrong = rng.random((n, n_columns), dtype=np.float32) < COLUMN_ERRORS
        answers = matrix[truth] * np.where(wrong, np.float32(-1), np.float32(1))
        parts["right, all"].append((answers @ matrix.T).argmax(axis=1) == truth)
        answers *= np.repeat(~late, per_worker, axis=1)
        parts["right"].append((answers @ matrix.T).argmax(axis=1) == truth)
    seen = {name: np.concatenate(part) for name, part in parts.items()}
    accuracy, lost = seen["right, all"].mean(), seen["right, all"].mean() - seen["right"].mean()
    for tail, (median, sigma) in TAILS.items():
        # A latency is a growing function of the normal variable, so are its quantiles.
        times = {
            name: median * np.exp(sigma * np.quantile(seen[name], (0.5, 0.999)))
            for name in ("ours", "all", "two copies")
        }
        yield [
            *(tail, f"{n_workers:,}", f"{n_classes} x {n_columns:,}", f"{code.min_row_distance}"),
            f"{seen['missing'].mean():.1f} ({np.quantile(seen['missing'], 0.999):.0f})",
            *(f"{middle:,.0f}, {high:,.0f} ms" for middle, high in times.values()),
            *(f"{100 * accuracy:.3f} %", f"{100 * lost:.3f}"),
        ]


def simulate(n_requests: int, sizes: tuple[int, ...]) -> None:
    """Print what happens with more workers than this machine has."""
    rng = np.random.default_rng(0)
    each = n_requests // len(sizes)
    lines = [row for size in sizes for row in simulated(size, each, rng)]
    say(f"\n{SIMULATION}")
    say(f"\n{each:,} requests for each number of workers, deadline at a worker's p95:")
    table(
        [
            *("a worker's latency", "workers", "code", "row distance", "missing columns (p99.9)"),
            *("p50, p99.9", "waiting for all", "for all, two copies"),
            *("accuracy, all", "points lost"),
        ],
        sorted(lines, key=lambda row: list(TAILS).index(row[0])),
    )


def placements(sizes: tuple[tuple[int, int], ...]) -> None:
    """Print what row distance is left when a worker is lost."""
    say(f"\n{LEFT}")
    say("\nOptimal codes without any one of the workers:")
    table(["code", "row distance", "workers", "left", "left, columns dealt out in turn"], [])
    for n_classes, n_columns in sizes:
        code = design_codebook(n_classes, n_columns, random_state=0, time_limit=10).codebook
        for n_workers in (4, 10):
            workers = [f"{number:02}" for number in range(n_workers)]
            kinds = (column_contrasts(code), None)
            left = [
                min(
                    code.take_columns(
                        [c for c in range(code.n_columns) if c not in lost]
                    ).min_row_distance
                    for lost in place_columns(code.n_columns, workers, contrasts=kind).values()
                )
                for kind in kinds
            ]
            size = f"{code.n_classes} x {code.n_columns}"
            print_row(
                [
                    size,
                    f"{code.min_row_distance:g}",
                    f"{n_workers}",
                    *(f"{each:g}" for each in left),
                ]
            )


def write_page(path: Path, begin: str = BEGIN, end: str = END) -> None:
    """Put what was printed where a page has its figures, or some of them."""
    before, _, rest = path.read_text("utf-8").partition(begin)
    _, _, after = rest.partition(end)
    figures = "\n".join(PAGE).strip().removeprefix(begin).strip()
    path.write_text(f"{before}{begin}\n\n{figures}\n\n{end}{after}", "utf-8")


def main() -> None:
    """Measure and simulate."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--batches", type=int, default=1000)
    parser.add_argument("--requests", type=int, default=1_000_000)
    parser.add_argument("--repetitions", type=int, default=N_WORKERS, help="of every kill")
    parser.add_argument("--kills-only", action="store_true")
    parser.add_argument("--simulation-only", action="store_true")
    parser.add_argument("--smoke", action="store_true", help="seconds, to see that it runs")
    parser.add_argument("--page", type=Path, help="a page with a place for what is printed")
    options = parser.parse_args()
    if options.page and BEGIN not in options.page.read_text("utf-8"):
        parser.error(f"{options.page} must have a place for the figures: {BEGIN} ... {END}")
    warnings.simplefilter("ignore")
    for name in ("distributed", "ecoc.serving"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    if not options.simulation_only:
        measure(
            8 if options.smoke else options.batches,
            options.repetitions,
            smoke=options.smoke,
            kills_only=options.kills_only,
        )
    if options.smoke:
        simulate(2000, SIZES[1:2])
        placements(PLACED[:1])
    elif not options.kills_only:
        simulate(options.requests, SIZES)
        placements(PLACED)
    if options.page and options.kills_only:
        write_page(options.page, KILLS, SIMULATION)
    elif options.page:
        write_page(options.page)


if __name__ == "__main__":
    main()
