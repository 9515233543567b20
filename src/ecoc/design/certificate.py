"""What stands behind a bound, and how far it can be checked again."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ecoc._checks import check_choice, check_number
from ecoc.bounds import (
    Bound,
    TargetBound,
    check_bound,
    check_separation_bound,
    check_target_bound,
)
from ecoc.codes import Codebook, matrix_to_columns
from ecoc.errors import InvalidInputError

if TYPE_CHECKING:
    from ecoc.design.problem import DesignProblem
    from ecoc.design.solvers import SolverResult

__all__ = ["KINDS", "Certificate"]

KINDS = ("theory", "exhaustive", "solver", "two-solvers")

_SOLVER_FACTS = {
    "solver": str,
    "version": str,
    "formulation": str,
    "termination": str,
    "tolerances": dict,
    "log_sha256": str,
    "n_nodes": int,
}
_FACTS: dict[str, dict[str, type]] = {
    "theory": {"name": str, "value": str, "proof": dict, "reason": str},
    "exhaustive": {},
    "solver": _SOLVER_FACTS,
    "two-solvers": {"first": dict, "second": dict},
}


@dataclass(frozen=True)
class Certificate:
    """The ground on which a bound is claimed.

    Attributes
    ----------
    kind : {"theory", "exhaustive", "solver", "two-solvers"}
        ``"theory"``: an argument of coding theory with the data that prove it, checked
        again in whole numbers by :meth:`check`. ``"exhaustive"``: the codebook has every
        admissible column, and more columns never bring rows closer; checked again too.
        ``"solver"``: the word of a branch-and-bound solver that worked in floating point;
        what it says is on record, and only the codebook can be checked again.
        ``"two-solvers"``: two solvers of different origin say the same.
    bound : float
        No codebook does better than this.
    facts : mapping
        The proof, or who said what.
    """

    kind: str
    bound: float
    facts: Mapping[str, Any]

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        check_number("bound", self.bound)
        _check_facts(self.facts, _FACTS[self.kind])
        if self.kind == "two-solvers":
            for name in ("first", "second"):
                _check_facts(self.facts[name], _SOLVER_FACTS)

    @classmethod
    def of_bound(cls, bound: Bound | TargetBound) -> Certificate:
        """Put a bound of coding theory on record with its proof."""
        value = Fraction(bound.value)
        return cls(
            "theory",
            int(value) if value.denominator == 1 else float(value),
            {
                "name": bound.name,
                "value": str(value),
                "proof": bound.proof,
                "reason": bound.reason,
            },
        )

    @classmethod
    def of_solver(cls, result: SolverResult, bound: float, formulation: str) -> Certificate:
        """Put on record what a solver says."""
        return cls("solver", bound, _solver_facts(result, formulation))

    def confirmed_by(self, result: SolverResult, formulation: str) -> Certificate:
        """Add the word of a second solver to that of the first."""
        facts = {"first": dict(self.facts), "second": _solver_facts(result, formulation)}
        return Certificate("two-solvers", self.bound, facts)

    @property
    def summary(self) -> str:
        """What stands behind the bound, in a few words."""
        if self.kind == "theory":
            return f"{self.facts['name']} bound"
        if self.kind == "exhaustive":
            return "every admissible column is used"
        said = [self.facts] if self.kind == "solver" else list(self.facts.values())
        names = " and ".join(
            f"{facts['solver']} {facts['version']} on {facts['formulation']}" for facts in said
        )
        return f"the word of {names}, {said[0]['termination']}"

    @property
    def is_checkable(self) -> bool:
        """Whether :meth:`check` proves the bound, not only the form of the claim."""
        return self.kind in {"theory", "exhaustive"}

    def check(self, problem: DesignProblem, codebook: Codebook) -> list[str]:
        """Check the proof again as far as it can be; say what is wrong with it."""
        if self.kind == "theory":
            return self._check_theory(problem)
        if self.kind == "exhaustive":
            return self._check_exhaustive(problem, codebook)
        return []

    def check_separation(self, codebook: Codebook) -> list[str]:
        """Check a bound on the two-sided column distance of codebooks as good as this one."""
        bound = self._theory_bound()
        if isinstance(bound, str):
            return [bound]
        return check_separation_bound(
            codebook.n_classes,
            codebook.n_columns,
            "two-sided",
            bound,
            min_row_distance=int(codebook.min_row_distance),
        )

    def _check_theory(self, problem: DesignProblem) -> list[str]:
        bound = self._theory_bound()
        if isinstance(bound, str):
            return [bound]
        if problem.maximises:
            return check_bound(problem.bound_problem, bound)
        lower = TargetBound(bound.name, Fraction(self.facts["value"]), bound.proof, bound.reason)
        targets = () if problem.target_distances is None else problem.target_distances
        return check_target_bound(problem.n_columns, targets, lower)

    def _theory_bound(self) -> Bound | str:
        # A number written with an exponent could be too large to hold.
        if not re.fullmatch(r"\d{1,40}(/[1-9]\d{0,39})?", self.facts.get("value", "")):
            return "the value of the bound is not a number"
        value = Fraction(self.facts["value"])
        if float(value) != float(self.bound):
            return f"the proof is about {value}, not about {self.bound:g}"
        return Bound(
            self.facts["name"], int(value), dict(self.facts["proof"]), self.facts["reason"]
        )

    def _check_exhaustive(self, problem: DesignProblem, codebook: Codebook) -> list[str]:
        if not problem.maximises or problem.rho != 1:
            return ["using every column proves nothing for this problem"]
        missing = np.setdiff1d(problem.candidates.to_array(), matrix_to_columns(codebook.matrix))
        if missing.size:
            return [f"{missing.size} admissible columns are not used, so nothing is proved"]
        if self.bound != problem.objective_of(codebook):
            return [f"the bound {self.bound:g} is not the distance of all admissible columns"]
        return []

    def to_plain(self) -> dict[str, Any]:
        """The certificate as plain data, for files."""
        return {"kind": self.kind, "bound": self.bound, "facts": dict(self.facts)}

    @classmethod
    def from_plain(cls, proof: object) -> Certificate | None:
        """Read a certificate from plain data; raises InvalidInputError if it is not one."""
        if proof is None:
            return None
        if not isinstance(proof, dict) or set(proof) != {"kind", "bound", "facts"}:
            raise InvalidInputError("a proof must be an object with kind, bound and facts.")
        return cls(proof["kind"], proof["bound"], proof["facts"])


def _check_facts(facts: object, wanted: Mapping[str, type]) -> None:
    if not isinstance(facts, Mapping):
        raise InvalidInputError("facts must be an object.")
    for name, kind in wanted.items():
        if type(facts.get(name)) is not kind:
            raise InvalidInputError(f"a proof of this kind needs {name}.")
    unknown = sorted(set(facts) - set(wanted))
    if unknown:
        raise InvalidInputError(f"a proof of this kind has no fact {unknown[0]!r}.")


def _solver_facts(result: SolverResult, formulation: str) -> dict[str, Any]:
    return {
        "solver": result.solver,
        "version": result.version,
        "formulation": formulation,
        "termination": result.termination,
        "tolerances": asdict(result.tolerances),
        "log_sha256": result.log_digest,
        "n_nodes": int(result.n_nodes),
    }
