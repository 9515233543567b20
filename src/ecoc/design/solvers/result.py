"""What a solver returns, the same for every solver."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction

import numpy as np
import numpy.typing as npt

__all__ = ["ProgressPoint", "SolverResult", "Status", "Tolerances"]


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
