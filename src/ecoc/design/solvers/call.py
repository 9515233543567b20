"""One way to call any solver, and the check of what it returns."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice, check_int, check_number
from ecoc._typing import Floats
from ecoc.design.programs.linear_program import LinearProgram
from ecoc.design.solvers.base import (
    Outcome,
    ProgressPoint,
    Session,
    Settings,
    SolverResult,
    Status,
    Tolerances,
)
from ecoc.errors import InvalidInputError, SolverError

__all__ = ["available_solvers", "solve", "tidy_bound"]

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
