"""The solvers, each behind the same small adapter. None is loaded before it is used."""

from ecoc.design.solvers.base import (
    ProgressPoint,
    SolverResult,
    Status,
    Tolerances,
    available_solvers,
    solve,
)

__all__ = [
    "ProgressPoint",
    "SolverResult",
    "Status",
    "Tolerances",
    "available_solvers",
    "solve",
]
