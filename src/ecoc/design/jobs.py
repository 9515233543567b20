"""Building and solving one program where both can be ended at any moment.

Covers, programs, presolve and some phases of every solver know no callback and no clock. So
a job is done apart from its caller, who keeps what it reports on the way and need not wait
for it: a small program in a thread, which is soon done whatever it is at, any other in a
process of its own, which is ended where it does not end by itself in time.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import IO, Any, Protocol, cast

import numpy.typing as npt

from ecoc._checks import Exact
from ecoc._typing import Ints, Signs
from ecoc.design.problem import DesignProblem
from ecoc.design.programs import Formulation, ProgramSize, build_program, job_size
from ecoc.design.programs.lazy import solve_program
from ecoc.design.programs.ternary import (
    TernaryProgram,
    build_ternary_program,
    ternary_program_size,
)
from ecoc.design.solvers import ProgressPoint, SolverResult, Status, Tolerances
from ecoc.design.solvers.base import resident_bytes, tidy_bound
from ecoc.design.ternary_problem import TernaryProblem

__all__ = ["Answer", "Job", "perform", "serve_job", "solve_job"]

Message = tuple[Any, ...]

SMALL_NONZEROS = 150_000
"""Programs up to this size are done in a thread: no phase of theirs takes long."""

GRACE_SECONDS = 1.0
"""How long a solver may take to say its last word once it is asked to stop."""

_MEMORY_SHARE = 0.85
"""The share of its memory at which a process is ended: it grows between two looks at it."""

_POLL_SECONDS = 0.02
_PR_SET_PDEATHSIG = 1
_now = time.monotonic


@dataclass(frozen=True, eq=False)
class Job:
    """One program to build and solve.

    Attributes
    ----------
    problem : DesignProblem
        What is wanted.
    formulation, solver : str
        Which program, and by which solver.
    cutoff : float, optional
        A bound on the objective that is known already.
    start : array of int, optional
        The columns of a codebook to begin with.
    work_limit : int, optional
        See :func:`ecoc.design.solvers.solve`.
    seed : int
        The seed of the solver.
    candidates : array of shape (n_candidates, n_classes), optional
        For a ternary problem, the columns to choose among.
    floor : int or Fraction, optional
        Beside these, the least objective that is of interest.
    """

    problem: DesignProblem
    formulation: str
    solver: str
    cutoff: float | None = None
    start: Ints | None = None
    work_limit: int | None = None
    seed: int = 0
    candidates: Signs | None = None
    floor: Exact | None = None

    @property
    def size(self) -> ProgramSize:
        """How large the program is."""
        if self.candidates is not None and isinstance(self.problem, TernaryProblem):
            return ternary_program_size(self.problem, len(self.candidates))
        return job_size(self.problem, self.formulation)

    def build(self) -> Formulation | TernaryProgram:
        """Build the program."""
        if self.candidates is not None and isinstance(self.problem, TernaryProblem):
            return build_ternary_program(
                self.problem, self.candidates, floor=self.floor, cutoff=self.cutoff
            )
        return build_program(self.problem, self.formulation, cutoff=self.cutoff)


@dataclass(frozen=True, eq=False)
class Answer:
    """The result of a solver and the columns it chose; values of variables are not kept.

    Columns are integers, or for a ternary problem the matrix.
    """

    result: SolverResult
    columns: npt.NDArray[Any] | None

    def stopped_by(self, reason: str | None) -> Answer:
        """The answer with the reason for which the solver was asked to stop, if it was."""
        if reason is None or self.result.termination != "interrupted":
            return self
        return replace(self, result=replace(self.result, termination=reason))


def solve_job(
    job: Job,
    *,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    progress: Callable[[ProgressPoint], object] | None = None,
    incumbents: Callable[[Ints, str, str], object] | None = None,
) -> Answer:
    """Build and solve a program, and come back in time with what is known.

    Parameters
    ----------
    job : Job
        What to do.
    time_limit : float, optional
        Seconds for building and solving together.
    memory_limit : int, optional
        Bytes that this process and that of the solver may hold together.
    progress : callable, optional
        Called with a :class:`ProgressPoint` for each new incumbent or bound.
    incumbents : callable, optional
        Called with the columns of each incumbent, the solver and its version; nothing has
        checked them.

    Returns
    -------
    Answer
        The solver's own, or put together from what it reported where it had to be ended.
        The first Ctrl-C is such an end; a second one is raised.
    """
    report = _Report(job, _now(), progress, incumbents)
    needed = job.size
    allowed = None if memory_limit is None else memory_limit - resident_bytes()
    if allowed is not None and needed.n_bytes > allowed:
        return report.answer("memory limit")
    small = needed.n_nonzeros <= SMALL_NONZEROS and allowed is None
    worker: _Worker = _Thread(job) if small or not sys.executable else _Process(job)
    try:
        return _watch(worker, report, time_limit, allowed)
    finally:
        worker.end()


def _watch(
    worker: _Worker, report: _Report, time_limit: float | None, allowed: int | None
) -> Answer:
    deadline = None if time_limit is None else report.began + time_limit
    reason: str | None = None
    patience = float("inf")
    while _now() < patience:
        try:
            message = worker.receive(_POLL_SECONDS)
            if message == ("ready",):
                # Where it is to stop already, its input is closed and it ends by itself.
                if reason is None:
                    worker.begin(None if deadline is None else deadline - _now())
            elif message == ("ended",):
                # Nobody ends it but the system, when memory runs out.
                return report.answer(reason or "memory limit")
            elif message is not None:
                final = report.take(message)
                if final is not None:
                    return final.stopped_by(reason)
            if reason is None and deadline is not None and _now() >= deadline:
                reason = "time limit"
            if allowed is not None and worker.resident_bytes() > _MEMORY_SHARE * allowed:
                return report.answer("memory limit")
        except KeyboardInterrupt:
            if reason == "interrupted":
                raise
            reason = "interrupted"
        if reason is not None and patience == float("inf"):
            patience = _now() + GRACE_SECONDS
            worker.stop()
    return report.answer(reason or "interrupted")


@dataclass(eq=False)
class _Report:
    """What a job has said so far."""

    job: Job
    began: float
    progress: Callable[[ProgressPoint], object] | None
    incumbents: Callable[[Ints, str, str], object] | None
    version: str = ""
    tolerances: Tolerances = field(default_factory=lambda: Tolerances(0.0, 0.0, 0.0, 0.0))
    bound: float | None = None
    columns: Ints | None = None
    history: list[ProgressPoint] = field(default_factory=list)

    @property
    def solver(self) -> str:
        return "highs" if self.job.solver == "auto" else self.job.solver

    def take(self, message: Message) -> Answer | None:
        """Keep a message; the answer, if it is the last one."""
        kind, *values = message
        if kind == "solver":
            self.version, self.tolerances = values
        elif kind == "progress":
            point, self.bound = values
            point = replace(point, seconds=_now() - self.began)
            self.history.append(point)
            if self.progress is not None:
                self.progress(point)
        elif kind == "columns":
            (self.columns,) = values
            if self.incumbents is not None and self.columns is not None:
                self.incumbents(self.columns, self.solver, self.version)
        elif kind == "memory":
            return self.answer("memory limit")
        elif kind == "error":
            raise values[0]
        elif kind == "done":
            result, columns = values
            seconds = _now() - self.began
            return Answer(replace(result, seconds=seconds, history=tuple(self.history)), columns)
        return None

    def answer(self, termination: str) -> Answer:
        """The answer of a job that did not come to its end: its best solution and bound."""
        result = SolverResult(
            status=Status.UNKNOWN if self.columns is None else Status.FEASIBLE,
            x=None,
            objective=None,
            bound=self.bound,
            solver=self.solver,
            version=self.version,
            seconds=_now() - self.began,
            n_nodes=self.history[-1].n_nodes if self.history else 0,
            tolerances=self.tolerances,
            termination=termination,
            history=tuple(self.history),
            log="",
        )
        return Answer(result, None)


def perform(
    job: Job,
    time_limit: float | None,
    send: Callable[[Message], object],
    stopped: Callable[[], bool],
) -> None:
    """Do a job, and send what comes of it as messages; the last one is "done" or an error."""
    try:
        _perform(job, time_limit, send, stopped)
    except MemoryError:
        send(("memory",))
    except Exception as error:  # noqa: BLE001 - raised again by whoever gave the job
        send(("error", error))


def _perform(
    job: Job,
    time_limit: float | None,
    send: Callable[[Message], object],
    stopped: Callable[[], bool],
) -> None:
    began = _now()
    program = job.build()
    start = None
    if job.start is not None and isinstance(program, Formulation):
        start = program.start_vector(job.start)

    def progress(point: ProgressPoint) -> None:
        send(("progress", point, tidy_bound(program.program, point.bound)))

    result = solve_program(
        job.problem,
        program,
        solver=job.solver,
        time_limit=None if time_limit is None else max(0.0, time_limit - (_now() - began)),
        work_limit=job.work_limit,
        start=start,
        progress=progress,
        incumbents=lambda x: send(("columns", program.columns_of(x))),
        introduced=lambda version, tolerances: send(("solver", version, tolerances)),
        interrupt=stopped,
        seed=job.seed,
    )
    columns = None if result.x is None else program.columns_of(result.x)
    send(("done", replace(result, x=None), columns))


# ------------------------------------------------------------------- where it is done


class _Worker(Protocol):
    def begin(self, time_limit: float | None) -> None: ...

    def receive(self, seconds: float) -> Message | None: ...

    def stop(self) -> None: ...

    def end(self) -> None: ...

    def resident_bytes(self) -> int: ...


class _Thread:
    """A job in a thread of this process."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        self._stopped = threading.Event()
        self._messages.put(("ready",))

    def begin(self, time_limit: float | None) -> None:
        arguments = self._job, time_limit, self._messages.put, self._stopped.is_set
        threading.Thread(target=perform, args=arguments, name="ecoc-job", daemon=True).start()

    def receive(self, seconds: float) -> Message | None:
        with suppress(queue.Empty):
            return self._messages.get(timeout=seconds)
        return None

    def stop(self) -> None:
        self._stopped.set()

    def end(self) -> None:
        self._stopped.set()

    def resident_bytes(self) -> int:
        return 0


class _Process:
    """A job in a process of its own, which does not outlive this one."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._messages: queue.SimpleQueue[Message] = queue.SimpleQueue()
        # Not by multiprocessing: it would run the caller's script a second time.
        code = (
            f"import sys; sys.path[:] = {sys.path!r}; "
            "from ecoc.design.jobs import serve_job; serve_job()"
        )
        self._process = subprocess.Popen(  # noqa: S603 - Python itself, with our own code
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            # Ctrl-C in a terminal is for the caller, who tells the solver.
            start_new_session=os.name == "posix",
        )
        self._input = cast("IO[bytes]", self._process.stdin)
        self._output = cast("IO[bytes]", self._process.stdout)
        self._reader = threading.Thread(target=self._read, name="ecoc-job", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        with suppress(EOFError, OSError, ValueError, pickle.UnpicklingError):
            while True:
                message = pickle.load(self._output)  # noqa: S301 - from our own process
                self._messages.put(message)
        self._messages.put(("ended",))

    def begin(self, time_limit: float | None) -> None:
        with suppress(OSError):
            pickle.dump((self._job, time_limit), self._input)
            self._input.flush()

    def receive(self, seconds: float) -> Message | None:
        with suppress(queue.Empty):
            return self._messages.get(timeout=seconds)
        return None

    def stop(self) -> None:
        """Close its input, which is the sign to stop; so is the end of this process."""
        with suppress(OSError):
            self._input.close()

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        self._reader.join()
        self.stop()
        self._output.close()

    def resident_bytes(self) -> int:
        return resident_bytes(self._process.pid)


def serve_job() -> None:
    """Do one job for the process at the other end: read it, and write messages until the end."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    # What a solver prints must not come between the messages.
    messages = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    lock = threading.Lock()
    stopped = threading.Event()

    def send(message: tuple[Any, ...]) -> None:
        with lock, suppress(OSError):
            pickle.dump(message, messages)
            messages.flush()

    send(("ready",))
    try:
        job, time_limit = pickle.load(sys.stdin.buffer)  # noqa: S301 - from the parent process
    except EOFError:
        return
    threading.Thread(target=_await_stop, args=(stopped,), daemon=True).start()
    perform(job, time_limit, send, stopped.is_set)
    messages.close()
    # Threads of a solver that are still at work would keep the process waiting.
    os._exit(0)


def _await_stop(stopped: threading.Event) -> None:
    """Input ends when the other process asks to stop, and when it ends itself."""
    sys.stdin.buffer.read()
    stopped.set()
    time.sleep(2 * GRACE_SECONDS)
    os._exit(1)


def _end_with_parent() -> None:
    """Have Linux end this process with its parent, even in the middle of a long call."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
