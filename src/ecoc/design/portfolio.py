"""The stages behind ``design_codebook``: theory, constructions, search, integer program.

Each stage offers codebooks and bounds to one run, which keeps the best of both. A run ends
as soon as the best codebook meets the bound, at its time limit, or on Ctrl-C.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from math import ceil, floor, sqrt

from ecoc._exact import Exact, exact
from ecoc.bounds import best_bound, column_limit, separation_bound, target_bound
from ecoc.codes import Codebook, Provenance, columns_to_matrix, dense_random, matrix_to_columns
from ecoc.design.balance import balance_columns
from ecoc.design.certificate import Certificate
from ecoc.design.jobs import Answer, Columns, Job, solve_job
from ecoc.design.problem import DesignProblem
from ecoc.design.programs import job_size
from ecoc.design.result import Design, Stage, codebook_of
from ecoc.design.sampling import sample_codebook
from ecoc.design.search import search_codebook
from ecoc.design.solvers import ProgressPoint, SolverResult, Status
from ecoc.design.solvers.session import resident_bytes
from ecoc.errors import InfeasibleError, SolverError

__all__ = ["Run"]

CONSTRUCTION_WORK = {6: 5e7, 10: 1.5e8, 64: 1.2e9}
SEARCH_WORK = {6: 3e7, 10: 3e8, 20: 1.5e9}
"""What "auto" may spend on a stage, by the number of classes: with few the program is fast."""

MOST_CONSTRUCTION_WORK = 2e9
MOST_SEARCH_WORK = 3e9
"""What it may spend with more classes."""

PROGRAM_WORK = 3.6e6
MOST_PROGRAM_NONZEROS = 1_000_000
"""What "auto" may spend on the integer program where no time limit is given: points where the
solver can be stopped, times the root of the size, and only up to a size. About a minute."""

MAX_SEARCHED_CLASSES = 1000
"""The search holds all row distances; past this "auto" leaves it out."""

SOLVER_SLACK = 1e-6
"""The share of an objective, or of 1, by which a solver's floating point may be wrong."""

_QUICK_CLASSES = 300
_MOST_QUICK_WORK = 1e11
"""Products beyond which the distances of a codebook take longer than it is worth."""

_MAX_ALL_COLUMNS = 16
_SEARCHED_CLASSES = 20
_MOST_SEARCHED_CLASSES = 5000
_SEARCH_BYTES = 40
"""The memory of a search for each pair of classes."""


@dataclass
class Run:
    """One design in the making."""

    problem: DesignProblem
    seed: int
    time_limit: float | None = None
    memory_limit: int | None = None
    progress: Callable[[ProgressPoint], object] | None = None
    codebook: Codebook | None = None
    objective: Exact | None = None
    certificate: Certificate | None = None
    separation_certificate: Certificate | None = None
    notes: list[str] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    history: list[ProgressPoint] = field(default_factory=list)
    interrupted: bool = False
    cut: str | None = None
    judging_seconds: float = 0.0
    began: float = field(default_factory=time.monotonic)

    # ----------------------------------------------------------------- state

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

    def _left_for_looking(self) -> float | None:
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

    def tighten(self, certificate: Certificate) -> None:
        """Keep a bound if it is better than the best."""
        if self.bound is None or self.sign * (certificate.bound - self.bound) < 0:
            self.certificate = certificate
            self._note_progress()

    def _note_progress(self) -> None:
        seconds = time.monotonic() - self.began
        point = ProgressPoint(seconds, _as_float(self.objective), _as_float(self.bound))
        self.history.append(point)
        if self.progress is not None:
            self.progress(point)

    @contextmanager
    def _stage(self, name: str) -> Iterator[list[str]]:
        """Time a stage, and let Ctrl-C end it together with the run."""
        start = time.monotonic()
        said: list[str] = []
        try:
            yield said
        except KeyboardInterrupt:
            said.append("interrupted")
            self.note_cut(name, "interrupted")
        if not self.proved and self.left() == 0:
            self.note_cut(name, "time limit")
        self.stages.append(
            Stage(
                name,
                time.monotonic() - start,
                self.objective,
                self.bound,
                "; ".join(said),
            )
        )

    def note_cut(self, stage: str, reason: str) -> None:
        """Say which stage a limit or Ctrl-C came in, if it is the first one."""
        self.interrupted = self.interrupted or reason == "interrupted"
        causes = {
            "time limit": "the time limit",
            "memory limit": "the memory limit",
            "interrupted": "Ctrl-C",
        }
        if reason in causes and self.cut is None:
            self.cut = f"The stage {stage!r} was cut short by {causes[reason]}."

    def result(self) -> Design:
        """What is known at the end."""
        if self.codebook is None:
            status = Status.UNKNOWN
        else:
            status = Status.OPTIMAL if self.proved else Status.FEASIBLE
            if self.codebook.n_columns < self.problem.n_columns and not self.notes:
                used, allowed = self.codebook.n_columns, self.problem.n_columns
                self.notes.append(f"{used} columns are used where {allowed} are allowed.")
        if self.cut is not None:
            self.notes.append(self.cut)
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

    # ---------------------------------------------------------------- stages

    def everything(self) -> None:
        """Use every admissible column where they are few enough: more never bring rows closer."""
        problem = self.problem
        if not problem.maximises or problem.rho != 1 or problem.n_classes > _MAX_ALL_COLUMNS:
            return
        count = len(problem.candidates)
        if count > problem.n_columns:
            return
        with self._stage("all columns"):
            columns = problem.candidates.to_array()
            matrix = columns_to_matrix(columns, problem.n_classes)
            self.offer(Codebook(matrix, name="designed", provenance=Provenance("all-columns")))
            if self.objective is not None:
                self.tighten(Certificate("exhaustive", self.objective, {}))
        if count < problem.n_columns:
            self.notes.append(
                f"Only {count} admissible columns exist where {problem.n_columns} are allowed; "
                "all of them are used."
            )

    def theory(self) -> None:
        """Bound the objective by coding theory."""
        problem = self.problem
        with self._stage("theory") as said:
            if problem.maximises:
                bound = best_bound(problem.bound_problem)
                if bound.value < 1:
                    raise InfeasibleError(
                        f"No codebook satisfies the request: {bound.reason} Ask for more "
                        "columns or a smaller min_column_distance."
                    )
                self.tighten(Certificate.of_bound(bound))
                said.append(bound.reason)
            else:
                targets = () if problem.target_distances is None else problem.target_distances
                lower = target_bound(problem.n_columns, targets)
                self.tighten(Certificate.of_bound(lower))
                said.append(lower.reason)

    def quick(self) -> None:
        """Have some codebook as soon as possible, for whoever interrupts."""
        problem = self.problem
        if problem.n_classes**2 * problem.n_columns > _MOST_QUICK_WORK:
            return
        with self._stage("random"):
            if problem.n_classes <= _QUICK_CLASSES:
                with suppress(InfeasibleError):
                    self.offer(
                        dense_random(
                            problem.n_classes,
                            problem.n_columns,
                            n_candidates=20,
                            random_state=self.seed,
                        )
                    )
            if self.codebook is None:
                self.offer(sample_codebook(problem, random_state=self.seed))

    def construct(self) -> None:
        """Take the best codebook that algebra offers."""
        problem = self.problem
        if not problem.maximises:
            return
        with self._stage("construction") as said:
            from ecoc.constructions import construct
            from ecoc.constructions.blocks import compile_kernels

            # A deal as it comes needs nothing compiled.
            ready = self._compiled(compile_kernels, said)
            seconds = self._left_for_looking() if ready else 0.0
            # Without a target it goes on to raise the column distance, which is the second goal.
            target = None if problem.min_column_distance is None else self.bound
            found = construct(
                problem.n_classes,
                self._columns_that_fit(),
                min_column_distance=problem.rho,
                separation="one-sided" if problem.separation == "one-sided" else "two-sided",
                random_state=self.seed,
                time_limit=seconds,
                work_limit=_by_classes(
                    CONSTRUCTION_WORK, MOST_CONSTRUCTION_WORK, problem.n_classes
                ),
                target_distance=None if target is None else int(target),
            )
            if found is None:
                said.append("none applies")
            else:
                kept = self.offer(found)
                said.append(
                    f"{found.name}, {found.min_row_distance:g}{'' if kept else ', not kept'}"
                )

    def short_search(self) -> None:
        """Search, but leave most of the time to the integer program."""
        left = self.left()
        self.search(
            None if left is None else 0.4 * left,
            _by_classes(SEARCH_WORK, MOST_SEARCH_WORK, self.problem.n_classes),
        )

    def search(self, seconds: float | None = None, work: float | None = None) -> None:
        """Search by annealing."""
        with self._stage("search") as said:
            if not self._search_fits():
                said.append("not tried")
                return
            if not self._search_compiled(said):
                return
            found = search_codebook(
                self.problem,
                bound=self.bound,
                time_limit=self.left() if seconds is None else seconds,
                work_limit=work,
                n_starts=4,
                random_state=self.seed,
                start=self.codebook,
                progress=lambda codebook, _: self.offer(codebook),
            )
            self.offer(found.codebook)
            said.append(f"{found.n_runs} runs")

    def _compiled(self, compile_kernels: Callable[[], object], said: list[str]) -> bool:
        """Wait for functions to be compiled, no longer than there is time."""
        from ecoc._numba import await_compilation

        left = self.left()
        if left is not None:
            # With few classes the integer program does without, and needs time as well. What is
            # judged while the compiler still works takes several times as long.
            share = 0.4 if self.problem.n_classes <= _SEARCHED_CLASSES else 0.7
            left = max(0.0, min(share * left, left - 6 * self.judging_seconds))
        ready = await_compilation(compile_kernels, left)
        if not ready:
            said.append("not compiled in time")
        return ready

    def _search_compiled(self, said: list[str]) -> bool:
        from ecoc.design._annealing import compile_kernels

        return self._compiled(compile_kernels, said)

    def _search_fits(self) -> bool:
        """Whether the tables of all row distances that a search holds are not too large."""
        k = self.problem.n_classes
        if k > _MOST_SEARCHED_CLASSES:
            self.notes.append(
                f"The search holds the distances of all pairs of classes and was not tried for {k}."
            )
            return False
        needed = _SEARCH_BYTES * k * k
        if self.memory_limit is not None and resident_bytes() + needed > self.memory_limit:
            self.note_cut("search", "memory limit")
            return False
        return True

    def _columns_that_fit(self) -> int:
        """As many columns as allowed, but no more than exist or fit by theory."""
        problem = self.problem.bound_problem
        exist = problem.n_admissible(problem.n_columns)
        packing = column_limit(problem)
        return max(1, exist if packing is None else min(exist, int(packing["size"])))

    def short_program(self, solver: str) -> None:
        """Solve IP3 with no more work than is worth it, if the time is not limited."""
        size = job_size(self.problem, "ip3").n_nonzeros
        if self.time_limit is not None:
            self.integer_program("ip3", solver)
        elif size <= MOST_PROGRAM_NONZEROS:
            self.integer_program("ip3", solver, work_limit=int(PROGRAM_WORK / sqrt(size)))
        else:
            self.notes.append(
                "The integer program is large and was not tried; a time limit lets it run so long."
            )

    def integer_program(
        self,
        formulation: str,
        solver: str,
        *,
        work_limit: int | None = None,
        helped: bool = True,
    ) -> None:
        """Solve the integer program, with what is known so far as cut-off and start."""
        problem = self.problem
        names = ("highs", "scip") if solver == "both" else (solver,)
        with self._stage(formulation) as said:
            cutoff = _as_float(self.bound) if helped else None
            first: Certificate | None = None
            for name in names:
                start = None
                if self.codebook is not None:
                    start = matrix_to_columns(self.codebook.matrix)
                began = time.monotonic() - self.began
                answer = solve_job(
                    Job(problem, formulation, name, cutoff, start, work_limit, self.seed),
                    time_limit=self.left(),
                    memory_limit=self.memory_limit,
                    progress=self._shifted(began),
                    incumbents=partial(self._offer_columns, formulation),
                )
                result = answer.result
                said.append(f"{result.solver} {result.version}: {result.termination}")
                self.note_cut(formulation, result.termination)
                certificate = self._take(answer, formulation, first)
                first = first or certificate
                if self.interrupted:
                    break

    def _offer_columns(self, formulation: str, columns: Columns, solver: str, version: str) -> None:
        """Keep an incumbent that holds; with lazy rows it need not."""
        with suppress(SolverError):
            self.offer(codebook_of(self.problem, columns, self._made(formulation, solver, version)))

    def _made(self, formulation: str, solver: str, version: str) -> Provenance:
        how = {"formulation": formulation, "solver": solver, "version": version}
        return Provenance("integer-program", how, seed=self.seed)

    def _take(
        self, answer: Answer, formulation: str, first: Certificate | None
    ) -> Certificate | None:
        """Keep what a solver found, and its bound as its word."""
        result = answer.result
        if result.status is Status.INFEASIBLE:
            raise InfeasibleError(
                f"No codebook satisfies the request, says {result.solver} {result.version}. "
                "Ask for more columns, a smaller min_column_distance, or a larger max_imbalance."
            )
        name = formulation.upper()
        if answer.columns is not None:
            made = self._made(formulation, result.solver, result.version)
            codebook = codebook_of(self.problem, answer.columns, made)
            self._check_claims(codebook, result)
            self.offer(codebook)
        if result.bound is None:
            return None
        said = Certificate.of_solver(result, self._exact_bound(result.bound), name)
        if first is not None and first.bound == said.bound:
            self.certificate = first.confirmed_by(result, name)
        else:
            self.tighten(said)
        return said

    def _check_claims(self, codebook: Codebook, result: SolverResult) -> None:
        """The objective in whole numbers must be as good as the solver says, within its bound."""
        value = self.problem.objective_of(codebook)
        slack = SOLVER_SLACK * max(1.0, abs(float(value)))
        if result.objective is not None and self.sign * (result.objective - float(value)) > slack:
            raise SolverError(
                f"{result.solver} claims {result.objective:g} where the codebook has {value}."
            )
        if result.bound is not None:
            bound = self._exact_bound(result.bound)
            if self.sign * (value - bound) > 0:
                raise SolverError(
                    f"{result.solver} claims the bound {bound}; the codebook has {value}."
                )

    def _exact_bound(self, bound: float) -> Exact:
        """What a solver's bound says for certain, its rounding granted.

        Objectives are multiples of a step, so the bound moves to the last multiple that it
        allows. Where steps are smaller than the solver can tell apart, it only moves by what
        the solver may be wrong.
        """
        slack = SOLVER_SLACK * max(1.0, abs(bound))
        allowed = bound + self.sign * slack
        step = self.problem.objective_step
        if step < 4 * slack:
            self._say_once(
                "The targets have more decimal places than a solver can tell apart, so that its "
                "optimum proves nothing. Round them to four places."
            )
            return exact(round(allowed, 9))
        steps = Fraction(allowed) / step
        return exact(step * (floor(steps) if self.sign > 0 else ceil(steps)))

    def _say_once(self, note: str) -> None:
        if note not in self.notes:
            self.notes.append(note)

    def _shifted(self, began: float) -> Callable[[ProgressPoint], object]:
        """Report what a solver says in the time of the whole run, beside what was known."""

        def report(point: ProgressPoint) -> None:
            known = [v for v in (point.incumbent, _as_float(self.objective)) if v is not None]
            bounds = [v for v in (point.bound, _as_float(self.bound)) if v is not None]
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

    def separate(self) -> None:
        """Among codebooks of the same row distance, look for columns further apart."""
        codebook, problem = self.codebook, self.problem
        if codebook is None or codebook.n_columns < 2:
            return
        with self._stage("separation") as said:
            distance = int(codebook.min_row_distance)
            bound = separation_bound(
                problem.n_classes, codebook.n_columns, min_row_distance=distance
            )
            self.separation_certificate = Certificate.of_bound(bound)
            while not self.over_time and problem.n_classes <= _SEARCHED_CLASSES:
                reached = int(codebook.min_column_distance() or 0)
                if reached >= bound.value or not self._search_compiled(said):
                    break
                found = search_codebook(
                    replace(
                        problem,
                        n_columns=codebook.n_columns,
                        min_column_distance=reached + 1,
                        separation="two-sided",
                    ),
                    bound=distance,
                    time_limit=self.left(),
                    n_starts=2,
                    random_state=self.seed,
                    at_least=distance,
                ).codebook
                if found is None:
                    break
                codebook = self.codebook = found
                self.objective = problem.objective_of(found)
            reached = int(codebook.min_column_distance() or 0)
            said.append(f"columns {reached} apart, at most {bound.value} possible")

    def balance(self) -> None:
        """Among codebooks of the same distances, look for columns that are more balanced."""
        codebook = self.codebook
        if codebook is None or self.over_time:
            return
        with self._stage("balance") as said:
            balanced = balance_columns(codebook, random_state=self.seed, deadline=self.deadline)
            if not self.problem.violations(balanced):
                codebook = self.codebook = balanced
            said.append(f"largest imbalance {codebook.column_balance().max_imbalance:.2f}")


def _as_float(value: Exact | None) -> float | None:
    return None if value is None else float(value)


def _by_classes(work: dict[int, float], most: float, n_classes: int) -> float:
    fitting = [value for classes, value in work.items() if n_classes <= classes]
    return fitting[0] if fitting else most
