"""One design in the making: the best codebook and the best bound so far.

Stages offer codebooks and bounds to a run, which keeps the best of both, watches the clock,
and believes no solver.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor
from typing import ClassVar

from ecoc._checks import Exact, counted, exact
from ecoc.atlas import AtlasCell, packaged_atlas
from ecoc.codes import Codebook
from ecoc.design.problem import DesignProblem
from ecoc.design.result import OUT_OF_WORK, Certificate, Design, Stage
from ecoc.design.solvers import ProgressPoint, SolverResult, Status
from ecoc.errors import SolverError

__all__ = ["DesignRun", "StagedRun", "as_float"]

_TOO_LARGE = (
    "The integer program would be too large and was not tried; --method search with "
    "--time-limit SECONDS searches longer."
)
"""The note of a design that ends with the work of a search."""

SOLVER_SLACK = 1e-6
"""The share of an objective, or of 1, by which a solver's floating point may be wrong."""


@dataclass
class DesignRun:
    """One design in the making."""

    problem: DesignProblem
    seed: int
    time_limit: float | None = None
    memory_limit: int | None = None
    progress: Callable[[ProgressPoint], object] | None = None
    effort: float = 1.0
    codebook: Codebook | None = None
    objective: Exact | None = None
    certificate: Certificate | None = None
    separation_certificate: Certificate | None = None
    notes: list[str] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    history: list[ProgressPoint] = field(default_factory=list)
    interrupted: bool = False
    cut: str | None = None
    out_of_work: bool = False
    judging_seconds: float = 0.0
    cell: AtlasCell | None = None
    began: float = field(default_factory=time.monotonic)
    at: str = "design"

    balances: ClassVar[bool] = True
    """Whether columns are balanced in the end; else uneven ones come last from the atlas."""

    @property
    def bound(self) -> Exact | None:
        """The best bound so far."""
        return None if self.certificate is None else self.certificate.bound

    @property
    def proved(self) -> bool:
        """Whether the best codebook meets the bound."""
        return self.objective is not None and self.objective == self.bound

    @property
    def sign(self) -> int:
        """1 where a larger objective is better, -1 otherwise."""
        return 1 if self.problem.maximises else -1

    @property
    def deadline(self) -> float | None:
        """When the time is over, by ``time.monotonic()``; None without a limit."""
        return None if self.time_limit is None else self.began + self.time_limit

    def left(self) -> float | None:
        """The seconds that are left; None without a limit."""
        return None if self.deadline is None else max(0.0, self.deadline - time.monotonic())

    def left_for_looking(self) -> float | None:
        """The seconds that are left, less those for judging what is found at the end.

        With thousands of classes that takes seconds; how many, the first codebook has shown.
        """
        left = self.left()
        return None if left is None else max(0.0, left - 2 * self.judging_seconds)

    @property
    def over_time(self) -> bool:
        """Whether no time is left, or somebody pressed Ctrl-C."""
        return self.interrupted or self.left() == 0

    @property
    def over(self) -> bool:
        """Whether nothing more is to be done."""
        return self.proved or self.over_time

    def offer(self, codebook: Codebook | None) -> bool:
        """Keep a codebook if it satisfies the problem and is better than the best."""
        if codebook is None:
            return False
        began = time.monotonic()
        wrong = self.problem.violations(codebook)
        value = None if wrong else self.problem.objective_of(codebook)
        self.judging_seconds = max(self.judging_seconds, time.monotonic() - began)
        if value is None:
            return False
        if self.objective is not None and self.sign * (value - self.objective) <= 0:
            return False
        if self.bound is not None and self.sign * (value - self.bound) > 0:
            raise SolverError(
                f"a codebook with {value} contradicts the bound {self.bound} "
                f"({self.certificate.summary if self.certificate else ''})."
            )
        self.codebook, self.objective = codebook, value
        self._note_progress()
        return True

    def look_up(self) -> None:
        """Begin with the codebook and the bound of the atlas, where the problem is plain."""
        problem = self.problem
        k, length, q = problem.n_classes, problem.n_columns, problem.n_symbols
        if problem != DesignProblem(k, length, n_symbols=q):
            return
        cell = packaged_atlas().find(k, length, q)
        if cell is None:
            return
        better = self.objective is not None and self.objective < cell.distance
        if cell.imbalance > 1 and not (self.balances or better):
            return
        with self.stage("atlas") as remarks:
            design = Design.from_cell(cell)
            if design.certificate is not None:
                self.tighten(design.certificate)
            if not self.offer(design.codebook):
                return
            self.separation_certificate = design.separation_certificate
            self.cell = cell
            remarks.append(f"{cell.how}, {cell.distance}, of {cell.made.isoformat()}")

    def tighten(self, certificate: Certificate) -> None:
        """Keep a bound if it is better than the best."""
        if self.bound is None or self.sign * (certificate.bound - self.bound) < 0:
            self.certificate = certificate
            self._note_progress()

    def _note_progress(self) -> None:
        seconds = time.monotonic() - self.began
        point = ProgressPoint(seconds, as_float(self.objective), as_float(self.bound))
        self.history.append(point)
        if self.progress is not None:
            self.progress(point)

    @contextmanager
    def stage(self, name: str) -> Iterator[list[str]]:
        """Time a stage and keep the remarks made in it; Ctrl-C ends it and the run."""
        start = time.monotonic()
        remarks: list[str] = []
        self.at = name
        try:
            yield remarks
        except KeyboardInterrupt:
            remarks.append("interrupted")
            self.note_cut(name, "interrupted")
        if not self.proved and self.left() == 0:
            self.note_cut(name, "time limit")
        self.stages.append(
            Stage(
                name,
                time.monotonic() - start,
                self.objective,
                self.bound,
                "; ".join(remarks),
            )
        )

    def standing(self) -> str:
        """Which stage the run is at, and the best codebook and bound so far, in a few words."""
        point = self.history[-1] if self.history else ProgressPoint(0, None, None)
        best, bound = (
            "none" if value is None else f"{value:g}" for value in (point.incumbent, point.bound)
        )
        gap = f", gap {100 * point.gap:.1f} %" if point.gap else ""
        nodes = f", {counted(point.n_nodes, 'node')}" if point.n_nodes else ""
        return f"{self.at}: best {best}, bound {bound}{gap}{nodes}"

    def note_cut(self, stage: str, reason: str) -> None:
        """Say which stage a limit or Ctrl-C came in, if it is the first one."""
        self.interrupted = self.interrupted or reason == "interrupted"
        self.out_of_work = self.out_of_work or reason == "work limit"
        causes = {
            "time limit": "the time limit",
            "memory limit": "the memory limit",
            "interrupted": "Ctrl-C",
        }
        if reason in causes and self.cut is None:
            self.cut = f"The stage {stage!r} was cut short by {causes[reason]}."

    def result(self) -> Design:
        """The design at the end of the run."""
        if self.codebook is None:
            status = Status.UNKNOWN
        else:
            status = Status.OPTIMAL if self.proved else Status.FEASIBLE
            if self.codebook.n_columns < self.problem.n_columns and not self.notes:
                used, allowed = self.codebook.n_columns, self.problem.n_columns
                columns = counted(used, "column is", "columns are")
                self.notes.append(f"{columns} used where {allowed} are allowed.")
        if self.cut is not None:
            self.notes.append(self.cut)
        if self.out_of_work and status is not Status.OPTIMAL:
            self.notes.append(OUT_OF_WORK)
        return Design(
            self.problem,
            self.codebook,
            status,
            self.objective,
            self.bound,
            self.certificate,
            separation_certificate=self.separation_certificate,
            history=tuple(self.history),
            stages=tuple(self.stages),
            notes=tuple(self.notes),
        )

    def check_claims(self, codebook: Codebook, result: SolverResult) -> None:
        """The objective in whole numbers must be as good as the solver says, within its bound."""
        value = self.problem.objective_of(codebook)
        slack = SOLVER_SLACK * max(1.0, abs(float(value)))
        if result.objective is not None and self.sign * (result.objective - float(value)) > slack:
            raise SolverError(
                f"{result.solver} claims {result.objective:g} where the codebook has {value}."
            )
        if result.bound is not None:
            bound = self.exact_bound(result.bound)
            if self.sign * (value - bound) > 0:
                raise SolverError(
                    f"{result.solver} claims the bound {bound}; the codebook has {value}."
                )

    def exact_bound(self, bound: float) -> Exact:
        """What a solver's bound says for certain, its rounding granted.

        Objectives are multiples of a step, so the bound moves to the last multiple that it
        allows. Where steps are smaller than the solver can tell apart, it only moves by what
        the solver may be wrong.
        """
        slack = SOLVER_SLACK * max(1.0, abs(bound))
        allowed = bound + self.sign * slack
        step = self.problem.objective_step
        if step < 4 * slack:
            self.say_once(
                "The targets have more decimal places than a solver can tell apart, so that its "
                "optimum proves nothing. Round them to four places."
            )
            return exact(round(allowed, 9))
        steps = Fraction(allowed) / step
        return exact(step * (floor(steps) if self.sign > 0 else ceil(steps)))

    def say_once(self, note: str) -> None:
        """Take note of something that may come up again."""
        if note not in self.notes:
            self.notes.append(note)

    def shifted(self, began: float) -> Callable[[ProgressPoint], object]:
        """Report what a solver says in the time of the whole run, beside what was known."""

        def report(point: ProgressPoint) -> None:
            known = [v for v in (point.incumbent, as_float(self.objective)) if v is not None]
            bounds = [v for v in (point.bound, as_float(self.bound)) if v is not None]
            merged = replace(
                point,
                seconds=point.seconds + began,
                incumbent=self.sign * max(self.sign * v for v in known) if known else None,
                bound=self.sign * min(self.sign * v for v in bounds) if bounds else None,
            )
            self.history.append(merged)
            if self.progress is not None:
                self.progress(merged)

        return report


class StagedRun(DesignRun, ABC):
    """A design in the making with its stages in the order of their cost."""

    def run_stages(self, method: str, solver: str) -> None:
        """Run the stages of a method until the best codebook meets the bound."""
        if self.proved:
            return
        # A codebook to start from may be better than what is in the atlas.
        if method == "auto" and self.codebook is None:
            self.look_up()
        if self.cell is not None:
            self.go_on_from_atlas(solver)
            return
        # Both take a moment, whatever the limit: no time at all still gives a codebook.
        self.theory()
        if self.codebook is None:
            self.quick()
        if not self.over and method in {"auto", "construction"}:
            self.construct()
        if not self.over and method == "search":
            self.search()
        if method == "auto":
            self.search_and_solve(solver)
        self.polish()

    def search_and_solve(self, solver: str) -> None:
        """Search, then solve the integer program, until the best codebook meets the bound."""
        if not self.over:
            self.short_search()
        if not self.over:
            if self.program_fits():
                self.short_program(solver)
            else:
                self.notes.append(_TOO_LARGE)

    @abstractmethod
    def go_on_from_atlas(self, solver: str) -> None:
        """Do what a cell of the atlas leaves open."""

    @abstractmethod
    def everything(self) -> None:
        """Use every column where they are few enough."""

    @abstractmethod
    def theory(self) -> None:
        """Bound the objective by coding theory."""

    @abstractmethod
    def quick(self) -> None:
        """Have some codebook as soon as possible, for whoever interrupts."""

    @abstractmethod
    def construct(self) -> None:
        """Take the best codebook that algebra offers."""

    @abstractmethod
    def search(self) -> None:
        """Search by annealing, as long as there is time."""

    @abstractmethod
    def short_search(self) -> None:
        """Search, but leave most of the time to the integer program."""

    @abstractmethod
    def program_fits(self) -> bool:
        """Whether the integer program is small enough to be solved."""

    @abstractmethod
    def short_program(self, solver: str) -> None:
        """Solve the integer program with no more work than is worth it."""

    @abstractmethod
    def polish(self) -> None:
        """Improve on what is second to the objective, where there is time."""


def as_float(value: Exact | None) -> float | None:
    """An exact number as a float."""
    return None if value is None else float(value)
