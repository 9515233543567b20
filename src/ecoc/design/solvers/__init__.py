"""The solvers, each behind the same small adapter. None is loaded before it is used."""

from ecoc.design.solvers.call import available_solvers, solve
from ecoc.design.solvers.result import ProgressPoint, SolverResult, Status, Tolerances

__all__ = [
    "ProgressPoint",
    "SolverResult",
    "Status",
    "Tolerances",
    "available_solvers",
    "solve",
]
