"""HiGHS, the default solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from ecoc._checks import require
from ecoc.design.programs.linear_program import LinearProgram
from ecoc.design.solvers.base import Outcome, Session, Status, Tolerances, absolute_gap
from ecoc.errors import SolverError, TooLargeError

__all__ = ["solve_highs"]

_MOST_NONZEROS = 2**31 - 1
_TOLERANCE = 1e-9


def solve_highs(program: LinearProgram, session: Session) -> Outcome:
    """Solve a program with HiGHS; called by :func:`ecoc.design.solvers.solve`."""
    highspy = require("highspy")
    if program.matrix.nnz > _MOST_NONZEROS:
        raise TooLargeError(
            f"HiGHS takes at most {_MOST_NONZEROS:,} non-zeros, not {program.matrix.nnz:,}."
        )
    model = highspy.Highs()
    tolerances = Tolerances(_TOLERANCE, _TOLERANCE, absolute_gap(program), 0.0)
    session.introduce(model.version(), tolerances)
    _set_options(model, program, session)
    _pass(highspy, model, program)
    if session.settings.start is not None:
        solution = highspy.HighsSolution()
        solution.col_value = session.settings.start
        model.setSolution(solution)
    _attach_callbacks(model, session)
    failed = model.run() == highspy.HighsStatus.kError
    # Its threads would otherwise outlive this one, and fix their number for the next call.
    highspy.Highs.resetGlobalScheduler(False)
    if failed and session.stop is None:
        raise SolverError(
            f"HiGHS failed: {model.modelStatusToString(model.getModelStatus())}. "
            f"Its last words: {''.join(session.log[-3:]).strip()}"
        )
    return _outcome(highspy, model, session)


def _set_options(model: Any, program: LinearProgram, session: Session) -> None:
    settings = session.settings
    options: dict[str, bool | int | float | str] = {
        "output_flag": True,
        "log_to_console": False,
        "threads": settings.threads,
        "parallel": "off" if settings.threads == 1 else "on",
        "random_seed": settings.seed,
        "mip_abs_gap": absolute_gap(program),
        "mip_rel_gap": 0.0,
        "mip_feasibility_tolerance": _TOLERANCE,
        "primal_feasibility_tolerance": _TOLERANCE,
        "dual_feasibility_tolerance": _TOLERANCE,
    }
    if settings.time_limit is not None:
        options["time_limit"] = float(settings.time_limit)
    for name, value in options.items():
        model.setOptionValue(name, value)


def _pass(highspy: Any, model: Any, program: LinearProgram) -> None:
    matrix = program.matrix
    status = model.passModel(
        matrix.shape[1],
        matrix.shape[0],
        matrix.nnz,
        int(highspy.MatrixFormat.kRowwise),
        int(highspy.ObjSense.kMaximize if program.sense == "max" else highspy.ObjSense.kMinimize),
        0.0,
        program.objective,
        program.lower,
        program.upper,
        program.row_lower,
        program.row_upper,
        matrix.indptr.astype(np.int32),
        matrix.indices.astype(np.int32),
        matrix.data.astype(np.float64),
        program.integrality.astype(np.int32),
    )
    if status == highspy.HighsStatus.kError:
        raise SolverError("HiGHS does not accept the program.")


def _attach_callbacks(model: Any, session: Session) -> None:
    def report(event: Any) -> None:
        data = event.data_out
        session.report(
            _finite(data.mip_primal_bound), _finite(data.mip_dual_bound), data.mip_node_count
        )

    def improve(event: Any) -> None:
        report(event)
        session.solution(np.array(event.data_out.mip_solution))

    def write(event: Any) -> None:
        session.write(event.message)

    def stop(event: Any) -> None:
        session.count_work(event.data_out.mip_node_count)
        if session.stop is not None:
            event.interrupt()

    model.cbLogging += write
    model.cbMipImprovingSolution += improve
    model.cbMipLogging += report
    model.cbMipInterrupt += stop
    model.cbSimplexInterrupt += stop
    model.cbIpmInterrupt += stop


def _outcome(highspy: Any, model: Any, session: Session) -> Outcome:
    info, state = model.getInfo(), model.getModelStatus()
    names = highspy.HighsModelStatus
    has_point = info.primal_solution_status == int(highspy.SolutionStatus.kSolutionStatusFeasible)
    x = np.array(model.getSolution().col_value) if has_point else None
    if state == names.kOptimal:
        status, termination = Status.OPTIMAL, "proved"
    elif state == names.kInfeasible:
        status, termination = Status.INFEASIBLE, "proved"
    elif state in (names.kUnbounded, names.kUnboundedOrInfeasible):
        raise SolverError("HiGHS finds the program unbounded.")
    else:
        status = Status.UNKNOWN if x is None else Status.FEASIBLE
        words = {names.kTimeLimit: "time limit", names.kInterrupt: session.stop or "interrupted"}
        termination = words.get(state) or session.stop or model.modelStatusToString(state)
    is_mip = info.mip_node_count >= 0
    bound = info.mip_dual_bound if is_mip else info.objective_function_value
    return Outcome(
        status=status,
        x=x,
        bound=_finite(bound) if is_mip or status is Status.OPTIMAL else None,
        n_nodes=max(info.mip_node_count, 0),
        termination=termination,
    )


def _finite(value: float) -> float | None:
    return float(value) + 0.0 if np.isfinite(value) else None
