"""A design: a codebook, how good it is, how good any could be, and why."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc._exact import Exact, exact_text, exact_to_plain
from ecoc._text import printable
from ecoc.codes import Codebook, Provenance, columns_to_matrix, write_file
from ecoc.design.certificate import Certificate
from ecoc.design.problem import DesignProblem
from ecoc.design.solvers.result import ProgressPoint, Status, relative_gap
from ecoc.errors import InvalidCodebookError, InvalidInputError, SolverError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ecoc.design.programs import Formulation

__all__ = ["Design", "Stage", "codebook_of", "design_from_solution"]


@dataclass(frozen=True)
class Stage:
    """What one stage of a design gave.

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

    @property
    def gap(self) -> float | None:
        """The difference of objective and bound as a share of the larger one; 0 if proved."""
        return relative_gap(self.objective, self.bound)

    @property
    def timings(self) -> dict[str, float]:
        """The seconds that each stage took."""
        return {stage.name: stage.seconds for stage in self.stages}

    @property
    def verdict(self) -> str:
        """One line: how good, how good any could be, and on what ground."""
        if self.codebook is None:
            found = "no codebook found within the limits"
            return f"{self.status.name}: {found}, bound {exact_text(self.bound)}"
        ground = f" ({self.certificate.summary})" if self.certificate else ""
        what = "minimum row distance" if self.problem.maximises else "sum of deviations"
        if self.status is Status.OPTIMAL:
            return f"OPTIMAL: {what} {exact_text(self.objective)}{ground}{self._separation_text}"
        gap = f", gap {self.gap:.1%}" if self.gap is not None else ""
        return (
            f"FEASIBLE: {what} {exact_text(self.objective)}, bound {exact_text(self.bound)}"
            f"{gap}{ground}{self._separation_text}"
        )

    @property
    def _separation_text(self) -> str:
        if self.separation_certificate is None or self.codebook is None:
            return ""
        least, most = self.codebook.min_column_distance(), self.separation_certificate.bound
        return f"; columns {least or 0:g} apart, at most {exact_text(most)} possible"

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the codebook with its certificate to a ``.json`` or ``.npz`` file."""
        if self.codebook is None:
            raise InvalidInputError("A design without a codebook cannot be saved.")
        if str(path).lower().endswith(".csv"):
            raise InvalidInputError(
                "CSV has no room for a certificate. Save to .json or .npz, or write only the "
                "codebook with write_codebook."
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
        notes = "".join(f"\nnote: {printable(note)}" for note in self.notes)
        return f"{self.codebook}\n\n{self.verdict}{notes}"

    def _repr_html_(self) -> str:
        from html import escape

        picture = "" if self.codebook is None else self.codebook._repr_html_()
        notes = "".join(f"<li>{escape(note)}</li>" for note in self.notes)
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
        axes.set(xlabel="seconds", ylabel=self.problem.objective, title=self.verdict.split(" (")[0])
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
