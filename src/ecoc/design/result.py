"""A design: a codebook, how good it is, how good any could be, and the certificate of that."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import (
    Exact,
    check_choice,
    counted,
    exact,
    exact_from_plain,
    exact_text,
    exact_to_plain,
    printable,
)
from ecoc.bounds import (
    Bound,
    TargetBound,
    check_bound,
    check_separation_bound,
    check_target_bound,
    separation_bound,
)
from ecoc.bounds.checking.nested import check_nested_bound
from ecoc.bounds.checking.symbols import check_symbol_bound
from ecoc.bounds.checking.ternary import check_ternary_bound
from ecoc.bounds.problem import TernaryBound
from ecoc.codes import Codebook, Provenance
from ecoc.codes.columns import columns_to_matrix
from ecoc.codes.files import write_file
from ecoc.design.problem import MAX_SCANNED_CLASSES, DesignProblem
from ecoc.design.solvers.base import ProgressPoint, Status, relative_gap
from ecoc.design.ternary_problem import TernaryProblem
from ecoc.errors import InvalidCodebookError, InvalidInputError, SolverError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ecoc.atlas import AtlasCell
    from ecoc.design.programs import Formulation
    from ecoc.design.solvers import SolverResult

__all__ = [
    "KINDS",
    "OUT_OF_WORK",
    "Certificate",
    "Design",
    "Stage",
    "codebook_of",
    "design_from_solution",
]


KINDS = ("theory", "exhaustive", "solver", "two-solvers")

PROVED = "proved"
"""The termination of a solver that calls its solution optimal."""

OUT_OF_WORK = (
    "The integer program stopped at the limit of its work; a time limit (--time-limit SECONDS) "
    "lets it go on."
)
"""The note of a design that no limit of the user's ended; in files without seconds, so that a
seed always gives the same bytes."""

_SOLVER_FACTS = {
    "solver": str,
    "version": str,
    "formulation": str,
    "termination": str,
    "tolerances": dict,
    "n_nodes": int,
}
_FACTS: dict[str, dict[str, type]] = {
    "theory": {"name": str, "value": str, "proof": dict, "reason": str},
    "exhaustive": {},
    "solver": _SOLVER_FACTS,
    "two-solvers": {"first": dict, "second": dict},
}
_KNOWN_SOLVERS = ("highs", "scip", "gurobi")
_KNOWN_PROGRAMS = ("IP1", "IP2", "IP3", "PARTITIONS", "TERNARY")
_TOLERANCES = ("feasibility", "integrality", "absolute_gap", "relative_gap")
_OBJECTIVE_NAMES = {
    "max-min-distance": "minimum row distance",
    "target-distances": "sum of deviations",
    "max-min-cover": "least cover of a pair",
    "guaranteed-errors": "errors surely corrected",
    "weighted-cover": "weighted cover",
}
_VERSION = re.compile(r"[0-9][0-9A-Za-z .()+-]{0,59}", re.ASCII)


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
    bound : int or Fraction
        No codebook does better than this.
    facts : mapping
        The proof, or who said what.
    """

    kind: str
    bound: Exact
    facts: Mapping[str, Any]

    def __post_init__(self) -> None:
        check_choice("kind", self.kind, KINDS)
        if isinstance(self.bound, bool) or not isinstance(self.bound, (int, Fraction)):
            raise InvalidInputError(f"bound must be an int or a Fraction, not {self.bound!r}.")
        if not isinstance(self.facts, Mapping):
            raise InvalidInputError("facts must be an object.")

    @classmethod
    def of_bound(cls, bound: Bound | TargetBound | TernaryBound) -> Certificate:
        """Put a bound of coding theory on record with its proof."""
        value = exact(bound.value)
        return cls(
            "theory",
            value,
            {
                "name": bound.name,
                "value": str(value),
                "proof": bound.proof,
                "reason": bound.reason,
            },
        )

    @classmethod
    def of_solver(cls, result: SolverResult, bound: Exact, formulation: str) -> Certificate:
        """Put on record the bound that a solver states."""
        return cls("solver", bound, _solver_facts(result, formulation))

    def confirmed_by(self, result: SolverResult, formulation: str) -> Certificate:
        """Put the same bound of a second solver beside that of the first."""
        facts = {"first": dict(self.facts), "second": _solver_facts(result, formulation)}
        return Certificate("two-solvers", self.bound, facts)

    @property
    def summary(self) -> str:
        """What stands behind the bound, in a few words."""
        if self.kind == "theory" and self.facts["name"] == "nested":
            return "bounds on the prefixes"
        if self.kind == "theory":
            return printable(f"{self.facts['name']} bound")
        if self.kind == "exhaustive":
            return "every admissible column is used"
        names = " and ".join(
            f"{facts['solver']} {facts['version']} on {facts['formulation']}"
            for facts in self._words
        )
        return printable(f"the word of {names}, {self._words[0]['termination']}")

    @property
    def _words(self) -> list[Mapping[str, Any]]:
        """What each solver said."""
        return [self.facts] if self.kind == "solver" else list(self.facts.values())

    @property
    def is_checkable(self) -> bool:
        """Whether :meth:`check` proves the bound, not only the form of the claim."""
        return self.kind in {"theory", "exhaustive"}

    def check(self, problem: DesignProblem, codebook: Codebook) -> list[str]:
        """Check the proof again as far as it can be; say what is wrong with it."""
        wrong = self._wrong_facts()
        if wrong:
            return wrong
        if self.kind == "theory":
            return self._check_theory(problem)
        if problem.nested:
            return ["a bound on the prefixes of a codebook must be proved by theory"]
        if self.kind == "exhaustive":
            return self._check_exhaustive(problem, codebook)
        return []

    def check_optimum(self) -> list[str]:
        """Check that the words of solvers, as the proof has them, call their solution optimal."""
        if self.is_checkable:
            return []
        return [
            f"called optimal, where {facts['solver']} ended with {facts['termination']!r}"
            for facts in self._words
            if facts["termination"] != PROVED
        ]

    def _wrong_facts(self) -> list[str]:
        wrong = _wrong_fields(self.facts, _FACTS[self.kind])
        if wrong or self.is_checkable:
            return wrong
        for words in self._words:
            wrong += _wrong_words(words)
        if not wrong and self.kind == "two-solvers":
            first, second = (words["solver"] for words in self._words)
            if first == second:
                wrong.append(f"two solvers are claimed, and both are {first}")
        return wrong

    def check_separation(self, codebook: Codebook) -> list[str]:
        """Check a bound on the two-sided column distance of codebooks as good as this one."""
        if self.kind != "theory":
            return ["a bound on the column distance must be proved by theory"]
        wrong = self._wrong_facts()
        if wrong:
            return wrong
        bound = self._theory_bound()
        if isinstance(bound, str):
            return [bound]
        if codebook.n_symbols > 2:
            return ["no bound on the column distance is known for several symbols"]
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
        if isinstance(problem, TernaryProblem):
            ternary = TernaryBound(bound.name, Fraction(self.bound), bound.proof, bound.reason)
            return check_ternary_bound(problem.ternary_bounds, ternary)
        if problem.nested:
            symbols = problem.n_symbols > 2
            return check_nested_bound(
                problem.symbol_bound_problem if symbols else problem.bound_problem, bound
            )
        if problem.n_symbols > 2:
            return check_symbol_bound(problem.symbol_bound_problem, bound)
        if problem.maximises:
            return check_bound(problem.bound_problem, bound)
        lower = TargetBound(bound.name, Fraction(self.bound), bound.proof, bound.reason)
        targets = () if problem.target_distances is None else problem.target_distances
        return check_target_bound(problem.n_columns, targets, lower)

    def _theory_bound(self) -> Bound | str:
        if self.facts["value"] != str(self.bound):
            return f"the proof is about {self.facts['value']:.80}, not about {self.bound}"
        return Bound(
            self.facts["name"], int(self.bound), dict(self.facts["proof"]), self.facts["reason"]
        )

    def _check_exhaustive(self, problem: DesignProblem, codebook: Codebook) -> list[str]:
        plain = problem.maximises and not isinstance(problem, TernaryProblem)
        if not plain or problem.rho != 1:
            return ["using every column proves nothing for this problem"]
        # The columns are distinct and admissible, so they are all if there are as many.
        if problem.n_classes > MAX_SCANNED_CLASSES:
            return ["there are too many columns for all of them to be used"]
        if problem.n_symbols > 2:
            if problem.max_imbalance is not None:
                return ["columns of several symbols are not counted by their balance"]
            missing = n_partitions(problem.n_classes, problem.n_symbols) - codebook.n_columns
        else:
            missing = len(problem.candidates) - codebook.n_columns
        if missing:
            columns = counted(missing, "admissible column is", "admissible columns are")
            return [f"{columns} not used, so nothing is proved"]
        if self.bound != problem.objective_of(codebook):
            return [f"the bound {exact_text(self.bound)} is not the distance of all columns"]
        return []

    def to_plain(self) -> dict[str, Any]:
        """The certificate as plain data, for files."""
        bound = exact_to_plain(self.bound)
        return {"kind": self.kind, "bound": bound, "facts": dict(self.facts)}

    @classmethod
    def from_plain(cls, proof: object) -> Certificate | None:
        """Read a certificate from plain data; raises InvalidInputError if it is not one."""
        if proof is None:
            return None
        if not isinstance(proof, dict) or set(proof) != {"kind", "bound", "facts"}:
            raise InvalidInputError("a proof must be an object with kind, bound and facts.")
        return cls(proof["kind"], exact_from_plain("bound", proof["bound"]), proof["facts"])


def n_partitions(n_classes: int, n_symbols: int) -> int:
    """How many columns of at most q symbols there are: partitions into 2 to q groups.

    Examples
    --------
    >>> n_partitions(4, 3)
    13
    """
    # Stirling's numbers: a class more joins one of the groups or makes its own.
    counts = [1] + [0] * (n_symbols - 1)
    for _ in range(n_classes - 1):
        counts = [
            size * count + before
            for size, count, before in zip(
                range(1, n_symbols + 1), counts, [0, *counts], strict=False
            )
        ]
    return sum(counts[1:])


def _wrong_fields(facts: Mapping[str, Any], wanted: Mapping[str, type]) -> list[str]:
    wrong = [
        f"a proof of this kind needs {name}"
        for name, kind in wanted.items()
        if type(facts.get(name)) is not kind
    ]
    return wrong + [
        f"a proof of this kind has no fact {name!r:.80}"
        for name in sorted(set(facts) - set(wanted))
    ]


def _wrong_words(words: Mapping[str, Any]) -> list[str]:
    """What no solver can have said."""
    wrong = _wrong_fields(words, _SOLVER_FACTS)
    if wrong:
        return wrong
    if words["solver"] not in _KNOWN_SOLVERS:
        wrong.append(f"there is no solver {words['solver']!r:.80}")
    if not _VERSION.fullmatch(words["version"]):
        wrong.append(f"no solver has the version {words['version']!r:.80}")
    if words["formulation"] not in _KNOWN_PROGRAMS:
        wrong.append(f"there is no program {words['formulation']!r:.80}")
    if not 0 < len(words["termination"]) <= 200:
        wrong.append("a solver says in a few words why it ended")
    if words["n_nodes"] < 0:
        wrong.append(f"the number of nodes is {words['n_nodes']}")
    tolerances = words["tolerances"]
    if set(tolerances) != set(_TOLERANCES) or not all(
        type(value) in {int, float} and 0 <= value <= 1 for value in tolerances.values()
    ):
        wrong.append(f"the tolerances must be {', '.join(_TOLERANCES)}, each from 0 to 1")
    return wrong


def _solver_facts(result: SolverResult, formulation: str) -> dict[str, Any]:
    return {
        "solver": result.solver,
        "version": result.version,
        "formulation": formulation,
        "termination": result.termination,
        "tolerances": asdict(result.tolerances),
        "n_nodes": int(result.n_nodes),
    }


@dataclass(frozen=True)
class Stage:
    """A stage of a design: its seconds, and the best codebook and bound after it.

    Attributes
    ----------
    name : str
        Which stage.
    seconds : float
        How long it took.
    objective, bound : int, Fraction or None
        The best objective and bound after it.
    note : str
        What came of it, in a few words.
    """

    name: str
    seconds: float
    objective: Exact | None
    bound: Exact | None
    note: str = ""


@dataclass(frozen=True)
class Prefix:
    """The first columns of a nested codebook: their least row distance beside its bound.

    Attributes
    ----------
    n_columns : int
        How many columns there are.
    distance : int
        The least row distance of these columns.
    bound : int or None
        No codebook of so many columns has a larger one.
    """

    n_columns: int
    distance: int
    bound: int | None


@dataclass(frozen=True, eq=False)
class Design:
    """A codebook with what is known about it.

    Attributes
    ----------
    problem : DesignProblem
        What was wanted.
    codebook : Codebook or None
        The best codebook found; None if a limit was met before any was.
    status : Status
        OPTIMAL (proved, see `certificate`), FEASIBLE (a codebook, and a gap), or UNKNOWN
        (no codebook within the limits). A limit is never OPTIMAL.
    objective, bound : int, Fraction or None
        The objective recomputed from the codebook, and the value that no codebook can beat;
        exact, fractions only where targets are.
    certificate : Certificate or None
        What stands behind the bound.
    separation_certificate : Certificate or None
        Where no column separation was asked for, what bounds the two-sided column distance
        of a codebook with this row distance and as many columns.
    history : tuple of ProgressPoint
        Incumbent and bound over time.
    stages : tuple of Stage
        What each stage gave, and the seconds it took.
    notes : tuple of str
        What a reader should know.
    """

    problem: DesignProblem
    codebook: Codebook | None
    status: Status
    objective: Exact | None
    bound: Exact | None
    certificate: Certificate | None
    separation_certificate: Certificate | None = None
    history: tuple[ProgressPoint, ...] = field(default=(), repr=False)
    stages: tuple[Stage, ...] = field(default=(), repr=False)
    notes: tuple[str, ...] = ()

    @classmethod
    def from_cell(cls, cell: AtlasCell) -> Design:
        """The design of a cell of the atlas: its codebook, and why no other is better.

        Examples
        --------
        >>> from ecoc.atlas import get
        >>> Design.from_cell(get(12, 11)).verdict
        'OPTIMAL: minimum row distance 6 (averaging bound); columns 6 apart, at most 6 possible'
        """
        problem = DesignProblem(cell.n_classes, cell.n_columns, n_symbols=cell.n_symbols)
        codebook, bound = cell.codebook, cell.bound_proof
        proof = (
            Certificate("exhaustive", cell.bound, {})
            if bound is None
            else Certificate.of_bound(bound)
        )
        separation = None
        if cell.separation_bound is not None:
            separation = Certificate.of_bound(
                separation_bound(cell.n_classes, cell.n_columns, min_row_distance=cell.distance)
            )
        return cls(
            problem,
            codebook,
            Status.OPTIMAL if cell.is_proved else Status.FEASIBLE,
            problem.objective_of(codebook),
            cell.bound,
            proof,
            separation_certificate=separation,
        )

    @property
    def gap(self) -> float | None:
        """The difference of objective and bound as a share of the larger one; 0 if proved."""
        return relative_gap(self.objective, self.bound)

    @property
    def prefixes(self) -> tuple[Prefix, ...]:
        """Each prefix of a nested codebook that counts, with its bound; else empty.

        Examples
        --------
        >>> from ecoc.design import design_codebook
        >>> design_codebook(4, 4, nested=True, random_state=0).prefixes
        (Prefix(n_columns=2, distance=1, bound=1), Prefix(n_columns=3, distance=2, bound=2),
         Prefix(n_columns=4, distance=2, bound=2))
        """
        if not self.problem.nested or self.codebook is None:
            return ()
        reached, first = self.codebook.prefix_distances(), self.problem.first_prefix
        proofs = self.certificate.facts["proof"]["prefixes"] if self.certificate else []
        bounds = {int(proof["n_columns"]): int(proof["value"]) for proof in proofs}
        return tuple(
            Prefix(length, int(reached[length - 1]), bounds.get(length))
            for length in range(first, self.codebook.n_columns + 1)
        )

    @property
    def prefix_table(self) -> str:
        """The prefixes of a nested codebook as lines of text: columns, distance, bound.

        Neighbouring prefixes with the same distance and bound share a line.
        """
        lines = [("columns", "distance", "bound")]
        groups: list[list[Prefix]] = []
        for prefix in self.prefixes:
            if groups and (groups[-1][0].distance, groups[-1][0].bound) == (
                prefix.distance,
                prefix.bound,
            ):
                groups[-1].append(prefix)
            else:
                groups.append([prefix])
        for group in groups:
            first, last = group[0].n_columns, group[-1].n_columns
            columns = str(first) if first == last else f"{first}-{last}"
            lines.append((columns, str(group[0].distance), str(group[0].bound)))
        return "\n".join(f"{a:>9}  {b:>8}  {c:>5}" for a, b, c in lines)

    @property
    def timings(self) -> dict[str, float]:
        """The seconds that each stage took."""
        return {stage.name: stage.seconds for stage in self.stages}

    @property
    def verdict(self) -> str:
        """One line: how good, how good any could be, and on what ground."""
        if self.codebook is None:
            sentence = "no codebook found within the limits"
            return f"{self.status.name}: {sentence}, bound {exact_text(self.bound)}"
        ground = f" ({self.certificate.summary})" if self.certificate else ""
        what = self._objective_name
        if self.status is Status.OPTIMAL:
            return f"OPTIMAL: {what} {exact_text(self.objective)}{ground}{self._separation_text}"
        gap = f", gap {self.gap:.1%}" if self.gap is not None else ""
        short = [prefix.bound - prefix.distance for prefix in self.prefixes if prefix.bound]
        if short:
            gap += f", no prefix more than {max(short)} below its bound"
        return (
            f"FEASIBLE: {what} {exact_text(self.objective)}, bound {exact_text(self.bound)}"
            f"{gap}{ground}{self._separation_text}"
        )

    @property
    def _objective_name(self) -> str:
        if self.problem.nested:
            return "sum of the prefixes' row distances"
        return _OBJECTIVE_NAMES[self.problem.objective]

    @property
    def _separation_text(self) -> str:
        if self.separation_certificate is None or self.codebook is None:
            return ""
        least, most = self.codebook.min_column_distance(), self.separation_certificate.bound
        return f"; columns {least or 0:g} apart, at most {exact_text(most)} possible"

    @property
    def told_notes(self) -> tuple[str, ...]:
        """The notes as people are told them, with seconds that differ from run to run."""
        worked = [stage.seconds for stage in self.stages if "work limit" in stage.note]
        after = f"after {worked[-1]:.0f} s, at the limit" if worked else "at the limit"
        told = OUT_OF_WORK.replace("at the limit", after)
        return tuple(told if note == OUT_OF_WORK else note for note in self.notes)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the codebook with its certificate to a ``.json`` or ``.npz`` file."""
        if self.codebook is None:
            raise InvalidInputError("A design without a codebook cannot be saved.")
        if str(path).lower().endswith(".csv"):
            raise InvalidInputError(
                "CSV has no room for a certificate. Save to .json or .npz, or write only the "
                "codebook with codebook.save."
            )
        write_file(self.codebook, path, certificate=self.to_plain())

    def to_plain(self) -> dict[str, Any]:
        """The claim and its ground as plain data, for files."""
        proof, separation = self.certificate, self.separation_certificate
        return {
            "problem": self.problem.to_plain(),
            "status": self.status.value,
            "objective": exact_to_plain(self.objective),
            "bound": exact_to_plain(self.bound),
            "proof": None if proof is None else proof.to_plain(),
            "separation_proof": None if separation is None else separation.to_plain(),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"<Design: {self.codebook!r}, {self.verdict}>"

    def __str__(self) -> str:
        notes = "".join(f"\nnote: {printable(note)}" for note in self.told_notes)
        return f"{self.codebook}\n\n{self.verdict}{notes}"

    def _repr_html_(self) -> str:
        from html import escape

        picture = "" if self.codebook is None else self.codebook._repr_html_()
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.told_notes)
        listed = f"<ul>{notes}</ul>" if notes else ""
        return f"<p><strong>{escape(self.verdict)}</strong></p>{listed}{picture}"

    def plot_history(self) -> Figure:
        """Draw incumbent and bound against time."""
        from matplotlib.figure import Figure

        drawing = Figure(figsize=(6, 3.2), layout="constrained")
        axes = drawing.subplots()
        for label, values in (
            ("bound", [(p.seconds, p.bound) for p in self.history]),
            ("incumbent", [(p.seconds, p.incumbent) for p in self.history]),
        ):
            known = [(t, v) for t, v in values if v is not None]
            if known:
                axes.step(*zip(*known, strict=True), where="post", label=label, marker=".")
        axes.set(xlabel="seconds", ylabel=self._objective_name, title=self.verdict.split(" (")[0])
        if self.history:
            axes.legend()
        return drawing


def codebook_of(
    problem: DesignProblem, columns: npt.NDArray[np.int64], provenance: Provenance
) -> Codebook:
    """The chosen columns as a codebook that satisfies the problem, or a SolverError."""
    try:
        codebook = Codebook(
            columns_to_matrix(np.sort(columns), problem.n_classes),
            name="designed",
            provenance=provenance,
        )
    except InvalidCodebookError as error:
        raise SolverError(f"the chosen columns are no codebook: {error}") from error
    wrong = problem.violations(codebook)
    if wrong:
        raise SolverError(f"the chosen columns do not satisfy the problem: {'; '.join(wrong)}.")
    return codebook


def design_from_solution(
    problem: DesignProblem, program: Formulation, x: npt.ArrayLike, source: str
) -> Design:
    """Turn the solution of a program that was solved elsewhere into a design.

    Nothing vouches for a bound, so the design is FEASIBLE at best. The solution is checked
    like any other.
    """
    codebook = codebook_of(
        problem, program.columns_of(x), Provenance("imported", {"source": source})
    )
    return Design(problem, codebook, Status.FEASIBLE, problem.objective_of(codebook), None, None)
