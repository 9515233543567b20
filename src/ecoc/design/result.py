"""A design: a codebook, how good it is, how good any could be, and why."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ecoc._checks import check_number
from ecoc.codes import Codebook, read_file, write_file
from ecoc.design.certificate import Certificate
from ecoc.design.problem import DesignProblem
from ecoc.design.solvers.result import ProgressPoint, Status, relative_gap
from ecoc.errors import FileFormatError, InvalidInputError, VerificationError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Design", "Stage", "read_design", "verify_claim"]


@dataclass(frozen=True)
class Stage:
    """What one stage of a design gave.

    Attributes
    ----------
    name : str
        Which stage.
    seconds : float
        How long it took.
    objective, bound : float or None
        The best objective and bound after it.
    note : str
        What came of it, in a few words.
    """

    name: str
    seconds: float
    objective: float | None
    bound: float | None
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
    objective, bound : float or None
        The objective recomputed from the codebook, and the value that no codebook can beat.
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
    objective: float | None
    bound: float | None
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
            return f"{self.status.name}: {found}, bound {_text(self.bound)}"
        ground = f" ({self.certificate.summary})" if self.certificate else ""
        what = "minimum row distance" if self.problem.maximises else "sum of deviations"
        if self.status is Status.OPTIMAL:
            return f"OPTIMAL: {what} {_text(self.objective)}{ground}{self._separation_text}"
        gap = f", gap {self.gap:.1%}" if self.gap is not None else ""
        return (
            f"FEASIBLE: {what} {_text(self.objective)}, bound {_text(self.bound)}{gap}{ground}"
            f"{self._separation_text}"
        )

    @property
    def _separation_text(self) -> str:
        if self.separation_certificate is None or self.codebook is None:
            return ""
        least, most = self.codebook.min_column_distance(), self.separation_certificate.bound
        return f"; columns {_text(least)} apart, at most {_text(most)} possible"

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
            "objective": self.objective,
            "bound": self.bound,
            "proof": None if proof is None else proof.to_plain(),
            "separation_proof": None if separation is None else separation.to_plain(),
            "notes": list(self.notes),
        }

    def __repr__(self) -> str:
        return f"<Design: {self.codebook!r}, {self.verdict}>"

    def __str__(self) -> str:
        notes = "".join(f"\nnote: {note}" for note in self.notes)
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


def read_design(path: str | os.PathLike[str]) -> Design:
    """Read a design from a file and check everything it claims that can be checked.

    Raises
    ------
    FileFormatError
        If the file is no design, or malformed.
    VerificationError
        If the codebook is not what the file claims.
    """
    found = read_file(path)
    if found.certificate is None:
        raise FileFormatError(f"{path}: holds a codebook without a certificate, so no design.")
    return verify_claim(found.codebook, found.certificate, os.fspath(path))


def verify_claim(codebook: Codebook, claim: Mapping[str, Any], place: str) -> Design:
    """Turn plain data into a design, and check it against the codebook from scratch."""
    try:
        design = _from_plain(codebook, claim)
        wrong = list(design.problem.violations(codebook)) or _wrong_claims(design, codebook)
    except InvalidInputError as error:
        raise FileFormatError(f"{place}: certificate: {error}") from error
    if wrong:
        raise VerificationError(place, wrong)
    return design


def _wrong_claims(design: Design, codebook: Codebook) -> list[str]:
    wrong = []
    actual = design.problem.objective_of(codebook)
    if design.objective != actual:
        wrong.append(f"the objective is stored as {design.objective} but the matrix has {actual:g}")
    certificate = design.certificate
    if design.bound is not None and (certificate is None or certificate.bound != design.bound):
        wrong.append(f"nothing stands behind the bound {design.bound}")
    if certificate is not None:
        wrong += certificate.check(design.problem, codebook)
    if design.bound is not None:
        ahead = actual - design.bound if design.problem.maximises else design.bound - actual
        if ahead > 0:
            wrong.append(f"the codebook does better than the bound {design.bound} allows")
        if design.status is Status.OPTIMAL and ahead != 0:
            wrong.append(f"called optimal, with {actual:g} where the bound is {design.bound}")
    elif design.status is Status.OPTIMAL:
        wrong.append("called optimal without a bound")
    separation = design.separation_certificate
    if separation is not None:
        wrong += separation.check_separation(codebook)
        if (codebook.min_column_distance() or 0) > separation.bound:
            wrong.append(f"columns are further apart than the bound {separation.bound:g} allows")
    return wrong


def _from_plain(codebook: Codebook, claim: Mapping[str, Any]) -> Design:
    unknown = sorted(set(claim) - _CLAIMS)
    if unknown:
        raise InvalidInputError(f"unknown key {unknown[0]!r}.")
    problem = DesignProblem.from_plain(claim.get("problem"))
    values = {"optimal": Status.OPTIMAL, "feasible": Status.FEASIBLE}
    if not isinstance(claim.get("status"), str) or claim["status"] not in values:
        raise InvalidInputError(f"status must be one of {', '.join(values)}.")
    bound = claim.get("bound")
    notes = claim.get("notes") or []
    if not isinstance(notes, list) or not all(isinstance(note, str) for note in notes):
        raise InvalidInputError("notes must be a list of texts.")
    return Design(
        problem=problem,
        codebook=codebook,
        status=values[claim["status"]],
        objective=check_number("objective", claim.get("objective")),
        bound=None if bound is None else check_number("bound", bound),
        certificate=Certificate.from_plain(claim.get("proof")),
        separation_certificate=Certificate.from_plain(claim.get("separation_proof")),
        notes=tuple(notes),
    )


_CLAIMS = {
    "problem",
    "status",
    "objective",
    "bound",
    "proof",
    "separation_proof",
    "notes",
}


def _text(value: float | None) -> str:
    return "unknown" if value is None else f"{value:g}"
