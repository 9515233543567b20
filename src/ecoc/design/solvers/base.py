"""What every adapter shares: one call that can be watched and stopped, and what it returns."""

from __future__ import annotations

import importlib.util
import math
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

from ecoc._checks import check_choice, check_int, check_number
from ecoc._typing import Floats
from ecoc.design.programs.linear_program import LinearProgram
from ecoc.errors import InvalidInputError, SolverError

__all__ = [
    "Outcome",
    "ProgressPoint",
    "Session",
    "Settings",
    "SolverResult",
    "Status",
    "Tolerances",
    "absolute_gap",
    "available_solvers",
    "resident_bytes",
    "solve",
    "tidy_bound",
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


_MODULES = {"highs": "highspy", "scip": "pyscipopt", "gurobi": "gurobipy"}
_ROUNDING = 1e-6


def available_solvers() -> tuple[str, ...]:
    """Return the solvers that are installed, without loading them.

    Examples
    --------
    >>> "highs" in available_solvers()
    True
    """
    return tuple(name for name, module in _MODULES.items() if importlib.util.find_spec(module))


def solve(
    program: LinearProgram,
    *,
    solver: str = "auto",
    time_limit: float | None = None,
    memory_limit: int | None = None,
    work_limit: int | None = None,
    start: npt.ArrayLike | None = None,
    progress: Callable[[ProgressPoint], object] | None = None,
    incumbents: Callable[[Floats], object] | None = None,
    interrupt: Callable[[], bool] | None = None,
    introduced: Callable[[str, Tolerances], object] | None = None,
    threads: int = 1,
    seed: int = 0,
) -> SolverResult:
    """Solve a program, and check the solution in whole numbers where the program has them.

    A time limit, a memory limit, Ctrl-C and `interrupt` stop the solver, which then returns
    the best solution and bound it has, with status FEASIBLE (or UNKNOWN without a solution).

    Parameters
    ----------
    program : LinearProgram
        What to solve.
    solver : {"auto", "highs", "scip", "gurobi"}
        The solver; "auto" is HiGHS.
    time_limit : float, optional
        Seconds.
    memory_limit : int, optional
        Bytes that this process may hold in memory. It is looked at while the solver runs,
        so that it can be exceeded for moments.
    work_limit : int, optional
        How often the solver may come to a point where it can be stopped: a look at its
        limits, a solved relaxation. Points before there is a search tree count 40 times.
        Unlike seconds it means the same on every machine.
    start : array of float, optional
        A feasible solution to begin with.
    progress : callable, optional
        Called with a :class:`ProgressPoint` for each new incumbent or bound, in the thread
        of the caller.
    incumbents : callable, optional
        Called with the values of each better solution as it is found, unchecked, in the
        thread of the caller.
    interrupt : callable, optional
        Called about 20 times a second; the solver stops when it returns true.
    introduced : callable, optional
        Called with the version and the tolerances of the solver before it begins.
    threads, seed : int
        The number of threads and the seed of the solver. One thread is deterministic.

    Returns
    -------
    SolverResult

    Raises
    ------
    SolverError
        If the solver fails, or if its solution does not hold.
    MissingDependencyError
        If the solver is not installed.

    Examples
    --------
    >>> from ecoc.design.programs.formulations import build_ip3
    >>> ip3 = build_ip3(range(1, 8), 4, 3, indptr=[0], members=[])
    >>> result = solve(ip3.program)
    >>> result.status, result.objective, result.bound
    (<Status.OPTIMAL: 'optimal'>, 2.0, 2.0)
    """
    name = check_choice("solver", solver, ("auto", *_MODULES))
    settings = Settings(
        time_limit=None
        if time_limit is None
        else check_number("time_limit", time_limit, minimum=0),
        memory_limit=None
        if memory_limit is None
        else check_int("memory_limit", memory_limit, minimum=1),
        work_limit=None if work_limit is None else check_int("work_limit", work_limit, minimum=0),
        start=None if start is None else _checked_start(program, start),
        threads=check_int("threads", threads, minimum=1),
        seed=check_int("seed", seed, minimum=0, maximum=2**31 - 1),
    )
    if name == "auto":
        name = "highs"
    session = Session(
        settings,
        progress=progress,
        incumbents=incumbents,
        interrupt=interrupt,
        introduced=introduced,
    )
    outcome = session.run(lambda: _adapter(name)(program, session))
    return _checked_result(program, name, outcome, session)


def _adapter(name: str) -> Callable[[LinearProgram, Session], Outcome]:
    if name == "scip":
        from ecoc.design.solvers.scip import solve_scip

        return solve_scip
    if name == "gurobi":
        from ecoc.design.solvers.gurobi import solve_gurobi

        return solve_gurobi
    from ecoc.design.solvers.highs import solve_highs

    return solve_highs


def _checked_start(program: LinearProgram, start: npt.ArrayLike) -> Floats:
    values = np.array(start, dtype=np.float64)
    if not program.is_feasible(values, _tolerance(program)):
        raise InvalidInputError("start must be a feasible solution of the program.")
    return values


def _tolerance(program: LinearProgram) -> float:
    return 0.0 if program.is_integral else _ROUNDING


def _checked_result(
    program: LinearProgram, solver: str, outcome: Outcome, session: Session
) -> SolverResult:
    who, start = f"{solver} {session.version}", session.settings.start
    status, x = outcome.status, _checked_point(program, who, outcome.x)
    if start is not None:
        if status is Status.INFEASIBLE:
            raise SolverError(f"{who} finds no solution where the start is one.")
        if x is None or _better(program, start, x):
            x = start
            status = Status.FEASIBLE if status is Status.UNKNOWN else status
    objective = None if x is None else program.objective_value(x)
    bound = None if status is Status.INFEASIBLE else tidy_bound(program, outcome.bound)
    if status is Status.OPTIMAL:
        _check_optimal(program, who, objective, bound)
        bound = objective
    return SolverResult(
        status=status,
        x=x,
        objective=objective,
        bound=bound,
        solver=solver,
        version=session.version,
        seconds=session.seconds,
        n_nodes=outcome.n_nodes,
        tolerances=session.tolerances,
        termination=outcome.termination,
        history=tuple(session.history),
        log="".join(session.log),
    )


def _checked_point(program: LinearProgram, who: str, x: Floats | None) -> Floats | None:
    if x is None:
        return None
    # Adding 0 makes 0 of a negative zero.
    whole = np.where(program.integrality, np.round(x), x) + 0.0
    if not program.is_feasible(whole, _tolerance(program)):
        raise SolverError(
            f"the solution of {who} does not hold once rounded to whole numbers; "
            "try another solver or seed."
        )
    return whole


def _check_optimal(
    program: LinearProgram, who: str, objective: float | None, bound: float | None
) -> None:
    if objective is None or bound is None:
        raise SolverError(f"{who} claims an optimum without a solution or a bound.")
    slack = 0.0 if program.integral_objective else _ROUNDING * max(1.0, abs(objective))
    gap = bound - objective if program.sense == "max" else objective - bound
    if gap > slack:
        raise SolverError(f"{who} calls {objective:g} optimal with a bound of {bound:g}.")


def _better(program: LinearProgram, x: Floats, than: Floats) -> bool:
    gain = program.objective_value(x) - program.objective_value(than)
    return gain > 0 if program.sense == "max" else gain < 0


def tidy_bound(program: LinearProgram, bound: float | None) -> float | None:
    """Round the bound of a whole objective to the last whole number that it allows."""
    if bound is None or not program.integral_objective:
        return bound
    if program.sense == "max":
        return float(math.floor(bound + _ROUNDING))
    return float(math.ceil(bound - _ROUNDING))
