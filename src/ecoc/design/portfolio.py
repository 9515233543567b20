"""``design_codebook``: theory, constructions, search and integer program, in this order.

Each stage offers codebooks and bounds to one run. It ends as soon as the best codebook meets
the bound, at its time limit, or on Ctrl-C.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from math import sqrt
from typing import Any

import numpy.typing as npt

from ecoc._checks import (
    RandomState,
    check_choice,
    check_int,
    check_number,
    check_seed,
    counted,
    listing,
)
from ecoc._typing import Ints
from ecoc._workers import shown_work
from ecoc.bounds import best_bound, column_limit, separation_bound, target_bound
from ecoc.codes import Codebook, Provenance, dense_random
from ecoc.codes.columns import columns_to_matrix, matrix_to_columns
from ecoc.design.arrangement import balance_columns
from ecoc.design.jobs import Answer, Job, solve_job
from ecoc.design.nested import NestedPortfolio
from ecoc.design.problem import DesignProblem
from ecoc.design.programs import check_size, job_size
from ecoc.design.result import Certificate, Design, codebook_of
from ecoc.design.run import StagedRun, as_float
from ecoc.design.search import sample_codebook, search_codebook
from ecoc.design.solvers import ProgressPoint, Status
from ecoc.design.solvers.base import resident_bytes
from ecoc.design.symbol_portfolio import SymbolPortfolio
from ecoc.design.ternary_portfolio import TernaryPortfolio
from ecoc.design.ternary_problem import TernaryProblem
from ecoc.errors import (
    InfeasibleError,
    InvalidInputError,
    SolverError,
    TooLargeError,
    UnsupportedError,
)

__all__ = ["FORMULATIONS", "METHODS", "SOLVERS", "design_codebook"]

METHODS = ("auto", "construction", "search", "integer-program")
FORMULATIONS = ("ip1", "ip2", "ip3")
SOLVERS = ("auto", "highs", "scip", "gurobi", "both")

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

_QUICK_CLASSES = 300
_MOST_QUICK_WORK = 1e11
"""Products beyond which the distances of a codebook take longer than it is worth."""

_MAX_ALL_COLUMNS = 16
_SEARCHED_CLASSES = 20
_MOST_SEARCHED_CLASSES = 3000
_SEARCH_BYTES = 40
"""The memory of a search for each pair of classes."""


def design_codebook(
    n_classes: int | DesignProblem,
    n_columns: int | None = None,
    *,
    min_column_distance: int | None = None,
    separation: str = "two-sided",
    max_imbalance: float | None = None,
    class_sizes: Sequence[int] | None = None,
    objective: str | None = None,
    target_distances: npt.ArrayLike | None = None,
    n_symbols: int = 2,
    nested: bool = False,
    alphabet: str = "binary",
    max_support: int | None = None,
    column_cost: float | None = None,
    budget: float | None = None,
    min_cover: int | None = None,
    pair_weights: npt.ArrayLike | None = None,
    class_similarity: npt.ArrayLike | None = None,
    method: str = "auto",
    formulation: str | None = None,
    solver: str = "auto",
    effort: float = 1.0,
    time_limit: float | None = None,
    memory_limit: int | None = None,
    random_state: RandomState = None,
    warm_start: Codebook | Design | None = None,
    progress: Callable[[ProgressPoint], object] | None = None,
    verbose: int = 0,
) -> Design:
    """Design the best codebook for a problem, with a bound on what any codebook can reach.

    Parameters
    ----------
    n_classes : int or DesignProblem
        The number of classes, k; or all that is wanted in one :class:`DesignProblem`, in place
        of this and the arguments up to `class_similarity`.
    n_columns : int
        The most columns allowed, L.
    min_column_distance, separation, max_imbalance, class_sizes, objective
        What is wanted of the columns and rows, see :class:`DesignProblem`.
    target_distances, n_symbols, nested
        What is wanted of the columns and rows, see :class:`DesignProblem`.
    alphabet : {"binary", "ternary"}, default="binary"
        Whether columns may leave classes out. The objective of a ternary codebook is
        ``"max-min-cover"`` by default.
    max_support, column_cost, budget, min_cover, pair_weights, class_similarity
        What is wanted of a ternary codebook, see :class:`TernaryProblem`.
    method : {"auto", "construction", "search", "integer-program"}, default="auto"
        ``"auto"`` looks into the atlas (:mod:`ecoc.atlas`) where nothing but sizes is asked for.
        It bounds the objective by theory, then tries constructions, annealing and the integer
        program until a codebook meets the bound. The others do one of these alone, the integer
        program without a bound or a start from outside.
    formulation : {"ip3", "ip2", "ip1"}, optional
        The integer program of the paper, IP3 by default. Naming one asks for the method
        ``"integer-program"``.
    solver : {"auto", "highs", "scip", "gurobi", "both"}, default="auto"
        The solver; ``"auto"`` is HiGHS, ``"both"`` is HiGHS and then SCIP, so that a bound
        rests on the word of two solvers.
    effort : float, default=1
        The share of the usual work that the stages of ``"auto"`` may do before they give up on
        the bound. With 0.1, which is what ``codebook="auto"`` of :class:`~ecoc.ECOCClassifier`
        takes for several symbols, a code that would have been found late may be missed by one.
    time_limit : float, optional
        Seconds for the whole call, kept within 2 seconds or 10 %. Without it the stages of
        ``"auto"`` count their work, which is about a minute and a half at most, and
        ``"integer-program"`` runs until it is done.
    memory_limit : int, optional
        Bytes that this process and that of the solver may hold together; the integer program
        ends where it would take more.
    random_state : int, Generator or None
        The seed. One seed gives one codebook on every machine, busy or not, unless a limit
        cuts the work short.
    warm_start : Codebook or Design, optional
        A solution to begin with; it must satisfy the problem. With `nested`, its columns stay
        the first ones, and others are added to them.
    progress : callable, optional
        Called with a :class:`ProgressPoint` for each new incumbent or bound.
    verbose : int, default=0
        Tell on standard error which stage the design is at, with the best distance and bound
        so far: on one line in a terminal, by a line now and then in a log or notebook.

    Returns
    -------
    Design
        A limit or Ctrl-C returns the best so far, with status FEASIBLE and its bound; a
        note says which stage was cut short.

    Raises
    ------
    InfeasibleError
        If no codebook satisfies the problem; the message says what would work.
    TooLargeError
        If the program would not fit in memory; found out before any work.

    Examples
    --------
    >>> design = design_codebook(6, 10, min_column_distance=2, random_state=0)
    >>> design.status.name, design.objective, design.bound
    ('OPTIMAL', 6, 6)
    >>> design.codebook.min_row_distance, design.codebook.min_column_distance()
    (6, 2)
    >>> design.certificate.summary
    'averaging bound'
    >>> problem = DesignProblem(6, 10, min_column_distance=2)
    >>> design_codebook(problem, random_state=0).codebook == design.codebook
    True

    A learner that takes four classes can split ten of them into four groups:

    >>> design = design_codebook(10, 8, n_symbols=4, random_state=0)
    >>> design.status.name, design.objective, design.codebook.n_symbols
    ('OPTIMAL', 6, 4)

    Of a nested codebook the first columns are a good codebook, however many they are:

    >>> design = design_codebook(7, 8, nested=True, random_state=0)
    >>> [(prefix.n_columns, prefix.distance, prefix.bound) for prefix in design.prefixes]
    [(3, 1, 1), (4, 2, 2), (5, 2, 2), (6, 3, 3), (7, 4, 4), (8, 4, 4)]

    Columns that use four of ten classes are easy to learn, and set every pair apart twice:

    >>> design = design_codebook(10, 24, alphabet="ternary", max_support=4, random_state=0)
    >>> design.verdict
    'OPTIMAL: least cover of a pair 2 (averaging bound)'
    """
    problem = _problem(
        n_classes,
        {
            "alphabet": alphabet,
            "max_support": max_support,
            "column_cost": column_cost,
            "budget": budget,
            "min_cover": min_cover,
            "pair_weights": pair_weights,
            "class_similarity": class_similarity,
        },
        n_columns=n_columns,
        min_column_distance=min_column_distance,
        separation=separation,
        max_imbalance=max_imbalance,
        class_sizes=class_sizes,
        objective=objective,
        target_distances=target_distances,
        n_symbols=n_symbols,
        nested=nested,
    )
    check_choice("method", method, METHODS)
    if formulation is not None:
        check_choice("formulation", formulation, FORMULATIONS)
        if problem.n_symbols > 2 or isinstance(problem, TernaryProblem):
            raise UnsupportedError(
                "The formulations of the paper have columns of two symbols, without zeros; for "
                "others leave formulation out and ask for method='integer-program'."
            )
        if method not in {"auto", "integer-program"}:
            raise InvalidInputError(f"formulation has no meaning for method={method!r}.")
        method = "integer-program"
    check_choice("solver", solver, SOLVERS)
    check_number("effort", effort, minimum=0)
    if time_limit is not None:
        check_number("time_limit", time_limit, minimum=0)
    if memory_limit is not None:
        check_int("memory_limit", memory_limit, minimum=1)
    start = None if warm_start is None else _start(problem, warm_start)

    # The same seed always gives the same bytes, and so does none.
    seed = (check_seed(random_state) or 0) % (2**31 - 1)
    run = _kind(problem, method)(problem, seed, time_limit, memory_limit, progress, effort)
    with shown_work(run.standing, verbose=verbose):
        try:
            problem.check_feasible()
            if not isinstance(run, Portfolio):
                run.check_size()
            elif method == "integer-program":
                check_size(problem, formulation or "ip3")
            run.offer(start)
            if isinstance(run, NestedPortfolio):
                run.run_stages(start)
            else:
                _run(run, method, formulation, solver)
        except KeyboardInterrupt:
            # Between two stages; within one the stage itself takes note of it.
            run.note_cut("design", "interrupted")
        return run.result()


def _run(
    run: Portfolio | SymbolPortfolio | TernaryPortfolio,
    method: str,
    formulation: str | None,
    solver: str,
) -> None:
    """Run the stages of a method."""
    run.everything()
    if method != "integer-program":
        run.run_stages(method, solver)
    elif run.over:
        pass
    elif isinstance(run, Portfolio):
        run.integer_program(formulation or "ip3", solver, helped=False)
    else:
        run.integer_program(solver, helped=False)


def _kind(
    problem: DesignProblem, method: str
) -> type[Portfolio] | type[SymbolPortfolio] | type[NestedPortfolio] | type[TernaryPortfolio]:
    """The stages that are for a problem."""
    if isinstance(problem, TernaryProblem):
        return TernaryPortfolio
    if problem.nested:
        if method != "auto":
            raise UnsupportedError(
                "A nested codebook has one method, 'auto'; leave method and formulation out."
            )
        return NestedPortfolio
    return Portfolio if problem.n_symbols == 2 else SymbolPortfolio


def _problem(
    n_classes: int | DesignProblem, ternary: dict[str, Any], **fields: Any
) -> DesignProblem:
    """The problem of some fields; those of ternary codebooks are their own."""
    check_choice("alphabet", ternary["alphabet"], ("binary", "ternary"))
    is_ternary = ternary["alphabet"] == "ternary"
    asked = {name: value for name, value in ternary.items() if value is not None}
    del asked["alphabet"]
    if isinstance(n_classes, DesignProblem):
        defaults = {field.name: field.default for field in dataclasses.fields(DesignProblem)}
        defaults |= {"n_columns": None, "objective": None}
        # Arrays are never equal to a default, and have no single answer when asked.
        given = [
            name
            for name, value in fields.items()
            if not (value is defaults[name] or (isinstance(value, str) and value == defaults[name]))
        ]
        given += [*asked, *(["alphabet"] if is_ternary else [])]
        if given:
            raise InvalidInputError(
                f"design_codebook takes a DesignProblem or its fields, not both; {listing(given)} "
                "must be given in the problem."
            )
        return n_classes
    if fields["objective"] is None:
        fields["objective"] = "max-min-cover" if is_ternary else "max-min-distance"
    if is_ternary:
        if fields["n_columns"] is None:
            fields["n_columns"] = 0
        return TernaryProblem(n_classes, **fields, **asked)
    if asked:
        raise InvalidInputError(f"{listing(list(asked))} must come with alphabet='ternary'.")
    return DesignProblem(n_classes, **fields)


def _start(problem: DesignProblem, warm_start: Codebook | Design) -> Codebook:
    codebook = warm_start.codebook if isinstance(warm_start, Design) else warm_start
    if not isinstance(codebook, Codebook):
        raise InvalidInputError("warm_start must be a Codebook, or a Design that has one.")
    wrong = problem.violations(codebook)
    if wrong:
        raise InvalidInputError(f"warm_start must satisfy the problem, but {'; '.join(wrong)}.")
    return codebook


class Portfolio(StagedRun):
    """The stages of a design with two symbols."""

    def go_on_from_atlas(self, solver: str) -> None:
        """Do what a cell of the atlas leaves open: the distance, or how far columns are apart."""
        if self.cell is not None and self.cell.is_settled:
            self.balance()
            return
        if not self.over_time:
            self.construct()
        self.search_and_solve(solver)
        self.polish()

    def polish(self) -> None:
        """Move columns apart where no distance was asked for, and balance them."""
        wants_separation = self.problem.min_column_distance is None and self.problem.maximises
        if wants_separation and not self.over_time:
            self.separate()
        if self.problem.maximises and not self.over_time:
            self.balance()

    def everything(self) -> None:
        """Use every admissible column where they are few enough: more never bring rows closer."""
        problem = self.problem
        if not problem.maximises or problem.rho != 1 or problem.n_classes > _MAX_ALL_COLUMNS:
            return
        count = len(problem.candidates)
        if count > problem.n_columns:
            return
        with self.stage("all columns"):
            columns = problem.candidates.to_array()
            matrix = columns_to_matrix(columns, problem.n_classes)
            self.offer(Codebook(matrix, name="designed", provenance=Provenance("all-columns")))
            if self.objective is not None:
                self.tighten(Certificate("exhaustive", self.objective, {}))
        if count < problem.n_columns:
            columns_exist = counted(count, "admissible column exists", "admissible columns exist")
            self.notes.append(
                f"Only {columns_exist} where {problem.n_columns} are allowed; all of them are used."
            )

    def theory(self) -> None:
        """Bound the objective by coding theory."""
        problem = self.problem
        with self.stage("theory") as remarks:
            if problem.maximises:
                bound = best_bound(problem.bound_problem)
                if bound.value < 1:
                    raise InfeasibleError(
                        f"No codebook satisfies the request: {bound.reason} Ask for more "
                        "columns or a smaller min_column_distance."
                    )
                self.tighten(Certificate.of_bound(bound))
                remarks.append(bound.reason)
            else:
                targets = () if problem.target_distances is None else problem.target_distances
                lower = target_bound(problem.n_columns, targets)
                self.tighten(Certificate.of_bound(lower))
                remarks.append(lower.reason)

    def quick(self) -> None:
        """Have some codebook as soon as possible, for whoever interrupts."""
        problem = self.problem
        if problem.n_classes**2 * problem.n_columns > _MOST_QUICK_WORK:
            return
        with self.stage("random"):
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
        with self.stage("construction") as remarks:
            from ecoc.constructions import construct
            from ecoc.constructions.blocks import compile_kernels

            # A deal as it comes needs nothing compiled.
            ready = self._compiled(compile_kernels, remarks)
            seconds = self.left_for_looking() if ready else 0.0
            # Without a target it goes on to raise the column distance, which is the second goal.
            target = None if problem.min_column_distance is None else self.bound
            codebook = construct(
                problem.n_classes,
                self._columns_that_fit(),
                min_column_distance=problem.rho,
                separation="one-sided" if problem.separation == "one-sided" else "two-sided",
                random_state=self.seed,
                time_limit=seconds,
                work_limit=self.effort
                * _by_classes(CONSTRUCTION_WORK, MOST_CONSTRUCTION_WORK, problem.n_classes),
                target_distance=None if target is None else int(target),
            )
            if codebook is None:
                remarks.append("none applies")
            else:
                kept = self.offer(codebook) or self._offer_separated(codebook)
                remarks.append(
                    f"{codebook.name}, {codebook.min_row_distance:g}{'' if kept else ', not kept'}"
                )

    def _offer_separated(self, codebook: Codebook) -> bool:
        """Keep a codebook as good as that of the atlas if its columns stand further apart."""
        if self.cell is None or self.codebook is None:
            return False
        if self.problem.violations(codebook) or codebook.n_columns < self.codebook.n_columns:
            return False
        better = (codebook.min_column_distance() or 0) > (self.codebook.min_column_distance() or 0)
        if not better or self.problem.objective_of(codebook) != self.objective:
            return False
        self.codebook = codebook
        return True

    def short_search(self) -> None:
        """Search, but leave most of the time to the integer program."""
        if self.problem.n_classes > MAX_SEARCHED_CLASSES:
            return
        left = self.left()
        self.search(
            None if left is None else 0.4 * left,
            self.effort * _by_classes(SEARCH_WORK, MOST_SEARCH_WORK, self.problem.n_classes),
        )

    def search(self, seconds: float | None = None, work: float | None = None) -> None:
        """Search by annealing."""
        with self.stage("search") as remarks:
            if not self._search_fits():
                remarks.append("not tried")
                return
            if not self._search_compiled(remarks):
                return
            result = search_codebook(
                self.problem,
                bound=self.bound,
                time_limit=self.left() if seconds is None else seconds,
                work_limit=work,
                n_starts=4,
                random_state=self.seed,
                start=self.codebook,
                progress=lambda codebook, _: self.offer(codebook),
            )
            self.offer(result.codebook)
            remarks.append(counted(result.n_runs, "run"))

    def _compiled(self, compile_kernels: Callable[[], object], remarks: list[str]) -> bool:
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
            remarks.append("not compiled in time")
        return ready

    def _search_compiled(self, remarks: list[str]) -> bool:
        from ecoc.design._annealing import compile_kernels

        return self._compiled(compile_kernels, remarks)

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

    def program_fits(self) -> bool:
        """Whether IP3 fits in memory."""
        try:
            check_size(self.problem, "ip3")
        except TooLargeError:
            return False
        return True

    def short_program(self, solver: str) -> None:
        """Solve IP3 with no more work than is worth it, if the time is not limited."""
        size = job_size(self.problem, "ip3").n_nonzeros
        if self.time_limit is not None:
            self.integer_program("ip3", solver)
        elif size <= MOST_PROGRAM_NONZEROS:
            work = self.effort * PROGRAM_WORK / sqrt(size)
            self.integer_program("ip3", solver, work_limit=int(work))
        else:
            self.notes.append(
                "The integer program is large and was not tried; a time limit (--time-limit "
                "SECONDS) lets it run so long."
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
        with self.stage(formulation) as remarks:
            cutoff = as_float(self.bound) if helped else None
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
                    progress=self.shifted(began),
                    incumbents=partial(self._offer_columns, formulation),
                )
                result = answer.result
                remarks.append(f"{result.solver} {result.version}: {result.termination}")
                self.note_cut(formulation, result.termination)
                certificate = self._take(answer, formulation, first)
                first = first or certificate
                if self.interrupted:
                    break

    def _offer_columns(self, formulation: str, columns: Ints, solver: str, version: str) -> None:
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
            self.check_claims(codebook, result)
            self.offer(codebook)
        if result.bound is None:
            return None
        certificate = Certificate.of_solver(result, self.exact_bound(result.bound), name)
        if first is not None and first.bound == certificate.bound:
            self.certificate = first.confirmed_by(result, name)
        else:
            self.tighten(certificate)
        return certificate

    def separate(self) -> None:
        """Among codebooks of the same row distance, look for columns further apart."""
        codebook, problem = self.codebook, self.problem
        if codebook is None or codebook.n_columns < 2:
            return
        with self.stage("separation") as remarks:
            distance = int(codebook.min_row_distance)
            bound = separation_bound(
                problem.n_classes, codebook.n_columns, min_row_distance=distance
            )
            self.separation_certificate = Certificate.of_bound(bound)
            while not self.over_time and problem.n_classes <= _SEARCHED_CLASSES:
                reached = int(codebook.min_column_distance() or 0)
                if reached >= bound.value or not self._search_compiled(remarks):
                    break
                better = search_codebook(
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
                if better is None:
                    break
                codebook = self.codebook = better
                self.objective = problem.objective_of(better)
            reached = int(codebook.min_column_distance() or 0)
            remarks.append(f"columns {reached} apart, at most {bound.value} possible")

    def balance(self) -> None:
        """Among codebooks of the same distances, look for columns that are more balanced."""
        codebook = self.codebook
        if codebook is None or self.over_time:
            return
        with self.stage("balance") as remarks:
            balanced = balance_columns(codebook, random_state=self.seed, deadline=self.deadline)
            if not self.problem.violations(balanced):
                codebook = self.codebook = balanced
            remarks.append(f"largest imbalance {codebook.column_balance().max_imbalance:.2f}")


def _by_classes(work: dict[int, float], most: float, n_classes: int) -> float:
    fitting = [value for classes, value in work.items() if n_classes <= classes]
    return fitting[0] if fitting else most
