"""SCIP, a second opinion from a solver that shares nothing with HiGHS."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import require
from ecoc.design.programs.linear_program import LinearProgram
from ecoc.design.solvers.base import Outcome, Session, Status, Tolerances
from ecoc.errors import SolverError

__all__ = ["solve_scip"]

_TOLERANCE = 1e-9
_LIMITS = {
    "timelimit": "time limit",
    "memlimit": "memory limit",
    "userinterrupt": "interrupted",
}


def solve_scip(program: LinearProgram, session: Session) -> Outcome:
    """Solve a program with SCIP; called by :func:`ecoc.design.solvers.solve`."""
    pyscipopt = require("pyscipopt", extra="scip")
    model = pyscipopt.Model()
    version = f"{model.version()} (pyscipopt {metadata.version('pyscipopt')})"
    session.introduce(version, Tolerances(_TOLERANCE, _TOLERANCE, 0.0, 0.0))
    with tempfile.TemporaryDirectory(prefix="ecoc-scip-") as folder:
        log = Path(folder, "scip.log")
        model.hideOutput()
        model.setLogfile(str(log))
        _set_options(model, session)
        # Reading a file takes seconds where its Python interface takes minutes.
        file = Path(folder, "program.mps")
        program.write_mps(file)
        model.readProblem(str(file))
        variables = {variable.name: variable for variable in model.getVars()}
        ordered = [variables[name] for name in program.variable_names]
        if session.settings.start is not None:
            solution = model.createSol()
            for variable, value in zip(ordered, session.settings.start.tolist(), strict=True):
                if value:
                    model.setSolVal(solution, variable, value)
            model.addSol(solution)
        if session.settings.time_limit is not None:
            left = max(0.0, session.settings.time_limit - session.seconds)
            model.setParam("limits/time", left)
        handler = _watcher(pyscipopt, ordered, session)
        model.includeEventhdlr(handler, "ecoc", "reports progress and stops on request")
        session.on_stop = partial(_interrupt, model)
        model.optimizeNogil()
        session.on_stop = None
        outcome = _outcome(model, program, ordered, session)
        model.freeProb()
        model.setLogfile(None)
        session.write(log.read_text(encoding="utf-8", errors="replace"))
    return outcome


def _interrupt(model: Any) -> None:
    # SCIP refuses outside its solving stages; the session asks again a moment later.
    with suppress(Exception):
        model.interruptSolve()


def _set_options(model: Any, session: Session) -> None:
    settings = session.settings
    model.setParam("misc/catchctrlc", False)
    model.setParam("randomization/randomseedshift", settings.seed)
    model.setParam("numerics/feastol", _TOLERANCE)
    model.setParam("limits/gap", 0.0)
    # SCIP itself makes use of an objective that can only be whole.
    model.setParam("limits/absgap", 0.0)
    model.setParam("lp/threads", settings.threads)


def _watcher(pyscipopt: Any, ordered: list[Any], session: Session) -> Any:
    kinds = pyscipopt.SCIP_EVENTTYPE
    events = (kinds.PRESOLVEROUND, kinds.BESTSOLFOUND, kinds.NODESOLVED, kinds.LPSOLVED)

    class Watcher(pyscipopt.Eventhdlr):  # type: ignore[misc] # the base class has no types
        def eventinit(self) -> None:
            for kind in events:
                self.model.catchEvent(kind, self)

        def eventexit(self) -> None:
            for kind in events:
                self.model.dropEvent(kind, self)

        def eventexec(self, event: Any) -> None:
            if event.getType() == kinds.BESTSOLFOUND:
                session.solution(_values(self.model, ordered))
            else:
                session.count_work(self.model.getNNodes())
                if session.stop is not None:
                    self.model.interruptSolve()
            incumbent = self.model.getPrimalbound()
            bound = self.model.getDualbound()
            session.report(
                _finite(self.model, incumbent), _finite(self.model, bound), self.model.getNNodes()
            )

    return Watcher()


def _outcome(model: Any, program: LinearProgram, ordered: list[Any], session: Session) -> Outcome:
    state = model.getStatus()
    x = None
    if model.getNSols():
        x = _values(model, ordered)
    if state in ("optimal", "gaplimit") and x is not None:
        status, termination = Status.OPTIMAL, "proved"
    elif state == "infeasible" or (state == "inforunbd" and program.is_bounded):
        status, termination = Status.INFEASIBLE, "proved"
    elif state in ("unbounded", "inforunbd"):
        raise SolverError("SCIP finds the program unbounded.")
    else:
        status = Status.UNKNOWN if x is None else Status.FEASIBLE
        termination = session.stop or _LIMITS.get(state, state)
    return Outcome(
        status=status,
        x=x,
        bound=_finite(model, model.getDualbound()),
        n_nodes=model.getNTotalNodes(),
        termination=termination,
    )


def _values(model: Any, ordered: list[Any]) -> npt.NDArray[np.float64]:
    best = model.getBestSol()
    return np.array([model.getSolVal(best, variable) for variable in ordered])


def _finite(model: Any, value: float) -> float | None:
    return None if abs(value) >= model.infinity() else float(value) + 0.0
