"""What stands behind a claim of optimality, and how far it can be checked again."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ecoc._checks import check_choice, check_number
from ecoc.codes import Codebook, matrix_to_columns
from ecoc.errors import InvalidInputError

if TYPE_CHECKING:
    from ecoc.design.problem import DesignProblem
    from ecoc.design.solvers import SolverResult

__all__ = ["Certificate"]

KINDS = ("solver", "exhaustive")

_SOLVER_FACTS: dict[str, tuple[type, ...]] = {
    "solver": (str,),
    "version": (str,),
    "formulation": (str,),
    "termination": (str,),
    "tolerances": (dict,),
    "log_sha256": (str,),
    "n_nodes": (int,),
}


@dataclass(frozen=True)
class Certificate:
    """The ground on which a bound on the objective is claimed.

    Attributes
    ----------
    kind : {"solver", "exhaustive"}
        ``"exhaustive"``: the codebook has every admissible column, and more columns never
        bring rows closer; :meth:`check` confirms it from scratch. ``"solver"``: the word
        of a branch-and-bound solver that worked in floating point; what it says is on
        record, and only the codebook can be checked again.
    bound : float
        No codebook does better than this.
    facts : mapping
        For a solver: its name, version, tolerances, why it stopped, and a digest of its log.
    """

    kind: str
    bound: float
    facts: dict[str, Any]

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        check_number("bound", self.bound)
        wanted = _SOLVER_FACTS if self.kind == "solver" else {}
        for name, types in wanted.items():
            if type(self.facts.get(name)) not in types:
                raise InvalidInputError(f"a certificate of a solver needs {name}.")
        unknown = sorted(set(self.facts) - set(wanted))
        if unknown:
            raise InvalidInputError(f"a certificate has the unknown fact {unknown[0]!r}.")

    @classmethod
    def of_solver(cls, result: SolverResult, bound: float, formulation: str) -> Certificate:
        """Put on record what a solver says."""
        return cls(
            "solver",
            bound,
            {
                "solver": result.solver,
                "version": result.version,
                "formulation": formulation,
                "termination": result.termination,
                "tolerances": asdict(result.tolerances),
                "log_sha256": result.log_digest,
                "n_nodes": int(result.n_nodes),
            },
        )

    @property
    def summary(self) -> str:
        """What stands behind the bound, in a few words."""
        if self.kind == "exhaustive":
            return "every admissible column is used"
        facts = self.facts
        return (
            f"the word of {facts['solver']} {facts['version']} on {facts['formulation']}, "
            f"{facts['termination']}"
        )

    def check(self, problem: DesignProblem, codebook: Codebook) -> list[str]:
        """Check the proof again as far as it can be; say what is wrong with it."""
        if self.kind == "solver":
            return []
        if not problem.maximises or problem.rho != 1:
            return ["using every column proves nothing for this problem"]
        missing = np.setdiff1d(problem.candidates.to_array(), matrix_to_columns(codebook.matrix))
        if missing.size:
            return [f"{missing.size} admissible columns are not used, so nothing is proved"]
        if self.bound != problem.objective_of(codebook):
            return [f"the bound {self.bound:g} is not the distance of all admissible columns"]
        return []
