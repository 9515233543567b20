"""Gurobi, for those who have it and a licence."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecoc._checks import require
from ecoc.design.programs.linear_program import LinearProgram
from ecoc.design.solvers.base import Outcome, Session, Status, Tolerances, absolute_gap
from ecoc.errors import SolverError

__all__ = ["solve_gurobi"]

_TOLERANCE = 1e-9
_POINTS_PER_WORK = 300
"""Points of other solvers that take about as long as a unit of Gurobi's own work."""

_MOST_SEED = 2_000_000_000


def solve_gurobi(program: LinearProgram, session: Session) -> Outcome:
    """Solve a program with Gurobi; called by :func:`ecoc.design.solvers.solve`."""
    gurobipy = require("gurobipy", extra="gurobi")
    try:
        with gurobipy.Env(empty=True) as environment:
            # In this order nothing is printed, and the log still reaches the callback.
            environment.setParam("OutputFlag", 0)
            environment.setParam("LogToConsole", 0)
            environment.start()
            with gurobipy.Model(env=environment) as model:
                return _solve(gurobipy, model, program, session)
    except gurobipy.GurobiError as error:
        raise SolverError(
            f"Gurobi cannot solve this program: {error}. Its free licence allows 2,000 variables "
            "and 2,000 rows; the solver 'highs' has no limit."
        ) from error


def _solve(gurobipy: Any, model: Any, program: LinearProgram, session: Session) -> Outcome:
    session.introduce(
        ".".join(str(part) for part in gurobipy.gurobi.version()),
        Tolerances(_TOLERANCE, _TOLERANCE, absolute_gap(program), 0.0),
    )
    _set_options(model, program, session)
    kinds = np.where(program.integrality, gurobipy.GRB.INTEGER, gurobipy.GRB.CONTINUOUS)
    x = model.addMVar(
        program.objective.size,
        lb=program.lower,
        ub=program.upper,
        obj=program.objective,
        vtype=kinds,
    )
    model.ModelSense = gurobipy.GRB.MAXIMIZE if program.sense == "max" else gurobipy.GRB.MINIMIZE
    low, high = program.row_lower, program.row_upper
    equal = low == high
    # A row with two limits becomes two rows, a row without any becomes none.
    for sign, limit, which in (
        ("=", low, equal),
        (">", low, ~equal & np.isfinite(low)),
        ("<", high, ~equal & np.isfinite(high)),
    ):
        if which.any():
            model.addMConstr(program.matrix[which], x, sign, limit[which])
    if session.settings.start is not None:
        x.Start = session.settings.start

    def callback(running: Any, where: int) -> None:
        where_mip = gurobipy.GRB.Callback.MIP
        if where == gurobipy.GRB.Callback.MESSAGE:
            session.write(running.cbGet(gurobipy.GRB.Callback.MSG_STRING))
        elif where == where_mip:
            session.report(
                _finite(running.cbGet(gurobipy.GRB.Callback.MIP_OBJBST)),
                _finite(running.cbGet(gurobipy.GRB.Callback.MIP_OBJBND)),
                int(running.cbGet(gurobipy.GRB.Callback.MIP_NODCNT)),
            )
        elif where == gurobipy.GRB.Callback.MIPSOL:
            session.solution(np.array(running.cbGetSolution(x)))
        if session.stop is not None:
            running.terminate()

    model.optimize(callback)
    return _outcome(gurobipy, model, x, program, session)


def _set_options(model: Any, program: LinearProgram, session: Session) -> None:
    settings = session.settings
    model.setParam("OutputFlag", 1)
    model.setParam("Threads", settings.threads)
    model.setParam("Seed", settings.seed % _MOST_SEED)
    model.setParam("MIPGap", 0.0)
    model.setParam("MIPGapAbs", absolute_gap(program))
    model.setParam("FeasibilityTol", _TOLERANCE)
    model.setParam("IntFeasTol", _TOLERANCE)
    if settings.time_limit is not None:
        model.setParam("TimeLimit", settings.time_limit)
    if settings.work_limit is not None:
        model.setParam("WorkLimit", settings.work_limit / _POINTS_PER_WORK)


def _outcome(
    gurobipy: Any, model: Any, x: Any, program: LinearProgram, session: Session
) -> Outcome:
    codes, state = gurobipy.GRB, model.Status
    point = np.array(x.X) if model.SolCount else None
    if state == codes.OPTIMAL:
        status, termination = Status.OPTIMAL, "proved"
    elif state == codes.INFEASIBLE or (state == codes.INF_OR_UNBD and program.is_bounded):
        status, termination = Status.INFEASIBLE, "proved"
    elif state in (codes.UNBOUNDED, codes.INF_OR_UNBD):
        raise SolverError("Gurobi finds the program unbounded.")
    else:
        status = Status.UNKNOWN if point is None else Status.FEASIBLE
        words = {
            codes.TIME_LIMIT: "time limit",
            codes.WORK_LIMIT: "work limit",
            codes.INTERRUPTED: "interrupted",
        }
        termination = session.stop or words.get(state, f"Gurobi status {state}")
    if point is None and not model.IsMIP:
        bound = None
    else:
        bound = _finite(model.ObjBound if model.IsMIP else model.ObjVal)
    return Outcome(
        status=status,
        x=point,
        bound=bound,
        n_nodes=int(model.NodeCount),
        termination=termination,
    )


def _finite(value: float) -> float | None:
    return float(value) + 0.0 if abs(value) < 1e100 else None
