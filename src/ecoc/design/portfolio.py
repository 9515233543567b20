"""The stages behind ``design_codebook``: theory, constructions, search, integer program.

Each stage offers codebooks and bounds to one run, which keeps the best of both. A run ends
as soon as the best codebook meets the bound, at its time limit, or on Ctrl-C.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import ceil, floor

from ecoc._exact import Exact, exact
from ecoc.bounds import best_bound, column_limit, separation_bound, target_bound
from ecoc.codes import Codebook, Provenance, columns_to_matrix, dense_random, matrix_to_columns
from ecoc.design.balance import balance_columns
from ecoc.design.certificate import Certificate
from ecoc.design.formulations import Formulation
from ecoc.design.problem import DesignProblem
from ecoc.design.programs import build_program, solve_program
from ecoc.design.result import Design, Stage
from ecoc.design.search import search_codebook
from ecoc.design.solution import codebook_of
from ecoc.design.solvers import ProgressPoint, SolverResult, Status
from ecoc.errors import InfeasibleError, SolverError

__all__ = ["Run"]

CONSTRUCTION_SECONDS = {6: 0.5, 10: 1.5, 64: 15.0}
SEARCH_SECONDS = {6: 0.2, 10: 2.0, 20: 10.0}
"""How long "auto" may take, by the number of classes: the integer program is fast for few."""

LONGEST_STAGE_SECONDS = 20.0
PROGRAM_SECONDS = 60.0
"""What "auto" may take otherwise, where no time limit is given."""

MAX_SEARCHED_CLASSES = 1000
"""The search holds all row distances; past this "auto" leaves it out."""

SOLVER_SLACK = 1e-6
"""The share of an objective, or of 1, by which a solver's floating point may be wrong."""

_QUICK_CLASSES = 300
_MAX_ALL_COLUMNS = 16
_SEARCHED_CLASSES = 20


@dataclass
class Run:
    """One design in the making."""

    problem: DesignProblem
    seed: int
    time_limit: float | None = None
    progress: Callable[[ProgressPoint], object] | None = None
    codebook: Codebook | None = None
    objective: Exact | None = None
    certificate: Certificate | None = None
    separation_certificate: Certificate | None = None
    notes: list[str] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    history: list[ProgressPoint] = field(default_factory=list)
    interrupted: bool = False
    began: float = field(default_factory=time.perf_counter)

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

    def left(self, at_most: float | None = None) -> float | None:
        """The seconds that are left, and no more than a stage may take."""
        if self.time_limit is None:
            return at_most
        rest = max(0.0, self.time_limit - (time.perf_counter() - self.began))
        return rest if at_most is None else min(rest, at_most)

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
        if codebook is None or self.problem.violations(codebook):
            return False
        value = self.problem.objective_of(codebook)
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
        seconds = time.perf_counter() - self.began
        point = ProgressPoint(seconds, _as_float(self.objective), _as_float(self.bound))
        self.history.append(point)
        if self.progress is not None:
            self.progress(point)

    @contextmanager
    def _stage(self, name: str) -> Iterator[list[str]]:
        """Time a stage, and let Ctrl-C end it together with the run."""
        start = time.perf_counter()
        said: list[str] = []
        try:
            yield said
        except KeyboardInterrupt:
            self.interrupted = True
            said.append("interrupted")
        self.stages.append(
            Stage(
                name,
                time.perf_counter() - start,
                self.objective,
                self.bound,
                "; ".join(said),
            )
        )

    def result(self) -> Design:
        """What is known at the end."""
        if self.codebook is None:
            status = Status.UNKNOWN
        else:
            status = Status.OPTIMAL if self.proved else Status.FEASIBLE
            if self.codebook.n_columns < self.problem.n_columns and not self.notes:
                used, allowed = self.codebook.n_columns, self.problem.n_columns
                self.notes.append(f"{used} columns are used where {allowed} are allowed.")
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
        if problem.n_classes > _QUICK_CLASSES:
            return
        with self._stage("random"):
            try:
                self.offer(
                    dense_random(
                        problem.n_classes,
                        problem.n_columns,
                        n_candidates=20,
                        random_state=self.seed,
                    )
                )
            except InfeasibleError:
                return

    def construct(self) -> None:
        """Take the best codebook that algebra offers."""
        problem = self.problem
        if not problem.maximises:
            return
        with self._stage("construction") as said:
            from ecoc.codes.constructions import construct

            # Without a target it goes on to raise the column distance, which is the second goal.
            target = None if problem.min_column_distance is None else self.bound
            found = construct(
                problem.n_classes,
                self._columns_that_fit(),
                min_column_distance=problem.rho,
                separation="one-sided" if problem.separation == "one-sided" else "two-sided",
                random_state=self.seed,
                time_limit=self.left(_by_classes(CONSTRUCTION_SECONDS, problem.n_classes)),
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
        seconds = _by_classes(SEARCH_SECONDS, self.problem.n_classes)
        left = self.left()
        self.search(seconds if left is None else min(seconds, 0.4 * left))

    def search(self, seconds: float | None = None) -> None:
        """Search by annealing."""
        with self._stage("search") as said:
            found = search_codebook(
                self.problem,
                bound=self.bound,
                time_limit=self.left(seconds),
                n_starts=4,
                random_state=self.seed,
                start=self.codebook,
                progress=lambda codebook, _: self.offer(codebook),
            )
            self.offer(found.codebook)
            said.append(f"{found.n_runs} runs")

    def _columns_that_fit(self) -> int:
        """As many columns as allowed, but no more than exist or fit by theory."""
        problem = self.problem.bound_problem
        exist = problem.n_admissible(problem.n_columns)
        packing = column_limit(problem)
        return max(1, exist if packing is None else min(exist, int(packing["size"])))

    def integer_program(
        self,
        formulation: str,
        solver: str,
        *,
        seconds: float | None = None,
        memory_limit: int | None = None,
        helped: bool = True,
    ) -> None:
        """Solve the integer program, with what is known so far as cut-off and start."""
        problem = self.problem
        names = ("highs", "scip") if solver == "both" else (solver,)
        with self._stage(formulation) as said:
            cutoff = _as_float(self.bound) if helped else None
            program = build_program(problem, formulation, cutoff=cutoff)
            first: Certificate | None = None
            for name in names:
                start = None
                if self.codebook is not None:
                    start = program.start_vector(matrix_to_columns(self.codebook.matrix))
                began = time.perf_counter() - self.began
                result = solve_program(
                    problem,
                    program,
                    solver=name,
                    time_limit=self.left(seconds),
                    memory_limit=memory_limit,
                    start=start,
                    progress=self._shifted(began),
                    seed=self.seed,
                )
                said.append(f"{result.solver} {result.version}: {result.termination}")
                certificate = self._take(program, result, formulation, first)
                first = first or certificate
                if result.termination == "interrupted":
                    self.interrupted = True
                if self.interrupted:
                    break

    def _take(
        self,
        program: Formulation,
        result: SolverResult,
        formulation: str,
        first: Certificate | None,
    ) -> Certificate | None:
        """Keep what a solver found, and its bound as its word."""
        if result.status is Status.INFEASIBLE:
            raise InfeasibleError(
                f"No codebook satisfies the request, says {result.solver} {result.version}. "
                "Ask for more columns, a smaller min_column_distance, or a larger max_imbalance."
            )
        name = formulation.upper()
        if result.x is not None:
            made = {"formulation": formulation, "solver": result.solver, "version": result.version}
            provenance = Provenance("integer-program", made, seed=self.seed)
            codebook = codebook_of(self.problem, program, result.x, provenance)
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
                f"{result.solver} claims {result.objective} where the codebook has {value}."
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
                if reached >= bound.value:
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
            balanced = balance_columns(codebook, random_state=self.seed)
            if not self.problem.violations(balanced):
                codebook = self.codebook = balanced
            said.append(f"largest imbalance {codebook.column_balance().max_imbalance:.2f}")


def _as_float(value: Exact | None) -> float | None:
    return None if value is None else float(value)


def _by_classes(seconds: dict[int, float], n_classes: int) -> float:
    fitting = [value for classes, value in seconds.items() if n_classes <= classes]
    return fitting[0] if fitting else LONGEST_STAGE_SECONDS
