"""What every adapter shares: one call that can be watched and stopped, and what it returns."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecoc.design.programs.linear_program import LinearProgram

__all__ = [
    "Outcome",
    "ProgressPoint",
    "Session",
    "Settings",
    "SolverResult",
    "Status",
    "Tolerances",
    "absolute_gap",
    "resident_bytes",
]


class Status(str, Enum):
    """What is known about a program after a solver has looked at it.

    Examples
    --------
    >>> Status.OPTIMAL
    <Status.OPTIMAL: 'optimal'>
    """

    OPTIMAL = "optimal"
    FEASIBLE = "feasible"
    INFEASIBLE = "infeasible"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class ProgressPoint:
    """What a solver knew at one moment.

    Attributes
    ----------
    seconds : float
        Time since the solver was called.
    incumbent, bound : float or None
        The best objective found and the best bound on it, None where there is none yet.
    n_nodes : int
        The nodes of the search tree looked at.

    Examples
    --------
    >>> ProgressPoint(0.5, incumbent=9, bound=10, n_nodes=1).gap
    0.1
    """

    seconds: float
    incumbent: float | None
    bound: float | None
    n_nodes: int = 0

    @property
    def gap(self) -> float | None:
        """The difference of incumbent and bound, as a share of the larger one."""
        return relative_gap(self.incumbent, self.bound)


@dataclass(frozen=True)
class Tolerances:
    """The tolerances a solver worked with; its result was then checked without any."""

    feasibility: float
    integrality: float
    absolute_gap: float
    relative_gap: float


@dataclass(frozen=True, eq=False)
class SolverResult:
    """The outcome of one call of a solver.

    Attributes
    ----------
    status : Status
        OPTIMAL and INFEASIBLE are the solver's word, never the effect of a limit.
    x : numpy.ndarray or None
        The best solution; whole where it must be, and checked against the program.
    objective, bound : float or None
        Its objective, and the solver's bound on every objective. Both whole if the objective
        of the program can only be whole.
    solver, version : str
        Which solver.
    seconds : float
        The time it took.
    n_nodes : int
        The nodes of its search tree.
    tolerances : Tolerances
        What it worked with.
    termination : str
        Why it stopped: "proved", "time limit", "memory limit", "work limit",
        "interrupted", or the
        solver's own words.
    history : tuple of ProgressPoint
        Its incumbents and bounds over time.
    log : str
        Its log.
    """

    status: Status
    x: npt.NDArray[np.float64] | None = field(repr=False)
    objective: float | None
    bound: float | None
    solver: str
    version: str
    seconds: float
    n_nodes: int
    tolerances: Tolerances = field(repr=False)
    termination: str
    history: tuple[ProgressPoint, ...] = field(repr=False)
    log: str = field(repr=False)

    @property
    def gap(self) -> float | None:
        """The difference of objective and bound, as a share of the larger one."""
        return relative_gap(self.objective, self.bound)


def relative_gap(
    incumbent: float | Fraction | None, bound: float | Fraction | None
) -> float | None:
    """Return abs(bound - incumbent) as a share of the larger one, 0 if both are equal."""
    if incumbent is None or bound is None:
        return None
    if incumbent == bound:
        return 0.0
    return abs(float(bound - incumbent)) / max(abs(float(bound)), abs(float(incumbent)))


_POLL_SECONDS = 0.05
_ROOT_WORK = 40
"""How much longer it takes from one point to the next before there is a search tree."""


def absolute_gap(program: LinearProgram) -> float:
    """Return the difference of objective and bound that counts as a proof."""
    # A whole objective that is less than 1 from its bound is at its bound.
    return 0.999 if program.integral_objective else 1e-6


@dataclass(frozen=True, eq=False)
class Settings:
    """How a solver is asked to work; checked before any adapter sees it."""

    time_limit: float | None
    memory_limit: int | None
    work_limit: int | None
    start: npt.NDArray[np.float64] | None
    threads: int
    seed: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """What an adapter hands back, as the solver said it; checked afterwards."""

    status: Status
    x: npt.NDArray[np.float64] | None
    bound: float | None
    n_nodes: int
    termination: str


@dataclass(eq=False)
class Session:
    """One running solve: the solver reports into it and reads from it whether to stop.

    The solver runs in a thread of its own, so that Ctrl-C reaches Python while it works, and
    so that progress is shown from the caller's thread. Adapters call `report` and `write`
    from the solver's callbacks, and stop the solver as soon as `stop` holds a reason; if a
    solver can be stopped from another thread, `on_stop` does it, again and again.
    """

    settings: Settings
    progress: Callable[[ProgressPoint], object] | None = None
    incumbents: Callable[[npt.NDArray[np.float64]], object] | None = None
    interrupt: Callable[[], bool] | None = None
    introduced: Callable[[str, Tolerances], object] | None = None
    stop: str | None = None
    on_stop: Callable[[], object] | None = None
    history: list[ProgressPoint] = field(default_factory=list)
    solutions: list[npt.NDArray[np.float64]] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    work: int = 0
    version: str = ""
    tolerances: Tolerances = field(default_factory=lambda: Tolerances(0.0, 0.0, 0.0, 0.0))
    started: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        """Time since the session began."""
        return time.perf_counter() - self.started

    def report(self, incumbent: float | None, bound: float | None, n_nodes: int) -> None:
        """Note an incumbent and a bound if they are news."""
        known = self.history[-1] if self.history else None
        if known is None or (known.incumbent, known.bound) != (incumbent, bound):
            self.history.append(ProgressPoint(self.seconds, incumbent, bound, n_nodes))

    def solution(self, x: npt.NDArray[np.float64]) -> None:
        """Note the values of a new incumbent."""
        self.solutions.append(x)

    def introduce(self, version: str, tolerances: Tolerances) -> None:
        """Say which solver it is; called before it begins, since it may never come back."""
        self.version, self.tolerances = version, tolerances
        if self.introduced is not None:
            self.introduced(version, tolerances)

    def count_work(self, n_nodes: int) -> None:
        """Note that the solver has come to one more of the points where it can be stopped."""
        self.work += 1 if n_nodes > 1 else _ROOT_WORK
        limit = self.settings.work_limit
        if limit is not None and self.work > limit:
            self.stop = self.stop or "work limit"

    def write(self, text: str) -> None:
        """Keep a piece of the solver's log."""
        self.log.append(text)

    def run(self, work: Callable[[], Outcome]) -> Outcome:
        """Run `work` in a thread; return its outcome, early if anything asks to stop.

        The first Ctrl-C stops the solver, which returns the best it has; a second one, if
        the solver does not react, is raised.
        """
        outcomes: list[Outcome] = []
        errors: list[BaseException] = []
        done = threading.Event()

        def target() -> None:
            try:
                outcomes.append(work())
            except BaseException as error:  # noqa: BLE001 - raised again by the caller's thread
                errors.append(error)
            finally:
                done.set()

        self.stop = self._reason_to_stop()
        thread = threading.Thread(target=target, name="ecoc-solver", daemon=True)
        thread.start()
        try:
            self._watch(done)
        except KeyboardInterrupt:
            self.stop = self.stop or "interrupted"
        except BaseException:
            self.stop = "interrupted"
            self._wait(done)
            raise
        self._wait(done)
        thread.join()
        if errors:
            raise errors[0]
        return outcomes[0]

    def _watch(self, done: threading.Event) -> None:
        shown = passed = 0
        finished = False
        while not finished:
            finished = done.wait(_POLL_SECONDS)
            points = self.history[shown:]
            shown += len(points)
            if self.progress is not None:
                for point in points:
                    self.progress(point)
            solutions = self.solutions[passed:]
            passed += len(solutions)
            if self.incumbents is not None:
                for x in solutions:
                    self.incumbents(x)
            self.stop = self.stop or self._reason_to_stop()
            self._press_stop()

    def _wait(self, done: threading.Event) -> None:
        while not done.wait(_POLL_SECONDS):
            self._press_stop()

    def _press_stop(self) -> None:
        if self.stop is not None and self.on_stop is not None:
            self.on_stop()

    def _reason_to_stop(self) -> str | None:
        if self.interrupt is not None and self.interrupt():
            return "interrupted"
        limit = self.settings.memory_limit
        if limit is not None and resident_bytes() > limit:
            return "memory limit"
        return None


def resident_bytes(process: int | None = None) -> int:
    """Return the memory a process holds, or has held at most where only that is known.

    Without a process id it is this one. 0 where nothing is known: on Windows, and of other
    processes where there is no /proc.
    """
    try:
        import resource
    except ImportError:  # pragma: no cover - not on Windows, which has no such limit
        return 0
    statm = Path("/proc", "self" if process is None else str(process), "statm")
    try:
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    except (OSError, IndexError, ValueError):
        if process is not None or Path("/proc/self/statm").exists():
            return 0
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
