"""The stages of a ternary design: theory, grown columns, constructions, search, program."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from math import floor as floor_of
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ecoc._checks import Exact, counted, exact
from ecoc._limits import Budget, deadline
from ecoc._typing import Ints, Signs
from ecoc.bounds.problem import TernaryBound
from ecoc.bounds.ternary import (
    MAX_LISTED_CLASSES,
    ColumnList,
    averaging_bound_of_covers,
    dual_bound,
    ternary_columns,
)
from ecoc.codes import Codebook, Provenance
from ecoc.design.jobs import Job, solve_job
from ecoc.design.result import Certificate
from ecoc.design.run import SOLVER_SLACK, StagedRun, as_float
from ecoc.design.solvers import SolverResult, Status
from ecoc.design.ternary_problem import TernaryProblem
from ecoc.errors import InfeasibleError, InvalidCodebookError, InvalidInputError, TooLargeError

if TYPE_CHECKING:
    from ecoc.design.ternary_search import Rotations

__all__ = ["TernaryPortfolio"]

_SEARCH_WORK = 6e8
"""What "auto" may spend on annealing without a time limit: entries that are looked at."""

_EXCHANGE_WORK = 2e7
_PROGRAM_WORK = 20_000
_SHORT_RUN, _LONG_RUN = 300_000, 3_000_000
_SHORT_RUNS = 3
_PROGRAM_COLUMNS = 1_000, 6_000, 30_000
"""How many columns the integer program takes, time after time: all 28,501 of ten classes."""

_LISTED, _AUTOMATIC_CLASSES, _WEIGHTED_CLASSES = 10, 8, 12
"""The most classes whose columns are all used, and for which "auto" solves the integer program;
by weights a program over the best columns finds more than the search."""

_BINARY_EFFORT = 0.1


class TernaryPortfolio(StagedRun):
    """The stages of a ternary design."""

    problem: TernaryProblem

    def check_size(self) -> None:
        """Sizes are checked with the problem."""

    def go_on_from_atlas(self, solver: str) -> None:
        """The atlas has no ternary codebooks."""

    @property
    def _n_all(self) -> int:
        return sum(count for _, _, count in self.problem.ternary_bounds.kinds())

    @property
    def _length(self) -> int:
        return min(self.problem.n_columns, self._n_all)

    def everything(self) -> None:
        """Use every column where they are few enough: more never lower a cover."""
        problem = self.problem
        plain = problem.min_column_distance is None and problem.max_imbalance is None
        if not plain or problem.budget is not None or problem.n_classes > _LISTED:
            return
        if self._n_all > problem.n_columns:
            return
        with self.stage("all columns"):
            columns = ternary_columns(problem.n_classes, problem.support_limit)
            self._offer_matrix(columns.T, "all-columns")

    def theory(self) -> None:
        """Bound the objective by theory."""
        with self.stage("theory") as said:
            with deadline(self.left()):
                bound = self.problem.ternary_theory()
            self.tighten(Certificate.of_bound(bound))
            said.append(bound.reason)

    def quick(self) -> None:
        """Fill in a binary codebook where columns may use all classes, else grow columns."""
        if self.problem.support_limit == self.problem.n_classes:
            self._binary()
        if self.over and self.codebook is not None:
            return
        with self.stage("growing") as said:
            for start in self._starts(self.seed):
                self._offer_matrix(start, "growing")
                if self.over:
                    break
            said.append("none" if self.objective is None else f"{float(self.objective):g}")

    def construct(self) -> None:
        """Take the codebooks that are known to be good."""
        from ecoc.constructions.ternary import construct_ternary

        problem = self.problem
        with self.stage("construction") as said:
            budget = Budget(deadline=self.deadline)
            for code in construct_ternary(
                problem.n_classes, self._length, problem.support_limit, budget=budget
            ):
                matrix = self._topped_up(code.matrix)
                if self._offer_matrix(matrix, code.method):
                    said.append(code.method)
                if self.over:
                    return

    def _topped_up(self, matrix: Signs) -> Signs:
        """Add columns for the pairs that were set apart least, up to what is allowed."""
        from ecoc.design.ternary_search import grow_columns

        missing = self._length - matrix.shape[1]
        if missing <= 0 or self.problem.budget is not None:
            return matrix
        support = self.problem.support_limit
        grown = grow_columns(self.problem, missing, support, seed=self.seed, given=matrix)
        return np.hstack([matrix, grown])

    def _binary(self) -> None:
        """Design a binary codebook: zeros that are filled never lower a cover."""
        from ecoc.design.portfolio import design_codebook

        problem = self.problem
        length = self._length
        if problem.budget is not None:
            total = sum(problem.class_sizes or (1,) * problem.n_classes)
            cost = problem.ternary_bounds.cost(total)
            length = min(length, int(Fraction(str(problem.budget)) / cost))
        with self.stage("binary") as said, suppress(InfeasibleError, InvalidInputError):
            design = design_codebook(
                problem.n_classes,
                length,
                min_column_distance=problem.min_column_distance,
                max_imbalance=problem.max_imbalance,
                class_sizes=problem.class_sizes,
                effort=_BINARY_EFFORT,
                time_limit=None if self.time_limit is None else 0.5 * self.time_limit,
                random_state=self.seed,
            )
            if design.codebook is not None:
                said.append(design.verdict)
                self._offer_matrix(self._topped_up(design.codebook.matrix), "binary")

    def short_search(self) -> None:
        """Search, with no more work than is worth it."""
        self.search(self.effort * _SEARCH_WORK)

    def search(self, work: float | None = None) -> None:
        """Search by annealing, or by exchanging columns where they have weights."""
        with self.stage("search") as said:
            if self.problem.objective == "weighted-cover":
                self._exchange(work, said)
                return
            if not self._ready():
                said.append("not compiled in time")
                return
            budget = Budget(deadline=self.deadline)
            if work is not None:
                budget.work = work
            runs = 0
            for runs, (target, start, group, n_moves) in enumerate(self._runs()):
                if budget.is_spent or self.over:
                    break
                if self.objective is not None and self._target(self.objective) >= target:
                    continue
                from ecoc.design.ternary_search import anneal_columns

                matrix = anneal_columns(
                    self.problem,
                    start,
                    target,
                    group=group,
                    n_moves=n_moves,
                    seed=self.seed + runs,
                    budget=budget,
                )
                if matrix is not None:
                    self._offer_matrix(matrix, "annealing")
            said.append(counted(runs, "run"))

    def _target(self, objective: Exact) -> int:
        from ecoc.design.ternary_search import target_of

        return target_of(self.problem, float(objective))

    def _goals(self) -> list[int]:
        """What pairs may still reach, from the best."""
        bound = Fraction(self.bound or 0)
        step = self.problem.objective_step
        reached = Fraction(0) if self.objective is None else Fraction(self.objective)
        goals = []
        while bound > reached:
            goals.append(self._target(exact(bound)))
            bound -= step
        return goals

    def _runs(self) -> Iterator[tuple[int, Signs, Rotations | None, int]]:
        """Produce what to try: short runs for every goal, orbits for the best, long runs."""
        from ecoc.design.ternary_search import rotations

        for goal in self._goals():
            for number in range(_SHORT_RUNS):
                for start in self._starts(self.seed + 100 + number):
                    yield goal, start, None, _SHORT_RUN
            if self._goals()[:1] != [goal] and self._goals()[-1:] != [goal]:
                break
        number = 0
        # Where no support is paid for there is nothing to begin with, and no end either.
        while self._goals() and next(self._starts(self.seed), None) is not None:
            number += 1
            top, rest = self._goals()[0], self._goals()[-1]
            if self._has_orbits:
                for group in rotations(self.problem.n_classes, self._length):
                    start = self._orbit_start(group.order, self.seed + 1000 * number)
                    yield top, start, group, _SHORT_RUN
            for start in self._starts(self.seed + 5000 * number):
                yield rest, start, None, _LONG_RUN
                if top != rest:
                    yield top, start, None, _LONG_RUN

    @property
    def _has_orbits(self) -> bool:
        """Whether all that is asked for stays the same when classes rotate."""
        problem = self.problem
        by_pairs = problem.objective in {"max-min-cover", "max-min-distance"}
        return by_pairs and problem.budget is None and problem.class_sizes is None

    def _starts(self, seed: int) -> Iterator[Signs]:
        """Grown columns: as many as allowed, or of each support as many as are paid for."""
        from ecoc.design.ternary_search import grow_columns

        problem = self.problem
        supports = [problem.support_limit]
        if problem.budget is not None:
            supports = list(range(2, problem.support_limit + 1))
        for support in supports:
            length = self._length
            if problem.budget is not None:
                # Of uneven classes a column uses the mean.
                sizes = problem.class_sizes or (1,) * problem.n_classes
                mean = max(1, round(sum(sizes) * support / problem.n_classes))
                cost = problem.ternary_bounds.cost(mean)
                length = min(length, int(Fraction(str(problem.budget)) / cost))
            if length < 1 or 1 << min(length, 30) < problem.n_classes:
                continue
            matrix = grow_columns(problem, length, support, seed=seed)
            smaller = support
            while matrix.shape[1] < length and problem.budget is None and smaller > 2:
                smaller -= 1
                more = grow_columns(problem, length - matrix.shape[1], smaller, seed=seed)
                matrix = np.hstack([matrix, more])
            yield np.ascontiguousarray(matrix)

    def _orbit_start(self, order: int, seed: int) -> Signs:
        from ecoc.design.ternary_search import grow_columns

        support = self.problem.support_limit
        return grow_columns(self.problem, self._length // order, support, seed=seed)

    def _exchange(self, work: float | None, said: list[str]) -> None:
        from ecoc.design.ternary_search import exchange_columns

        budget = Budget(deadline=self.deadline)
        if work is not None:
            budget.work = self.effort * _EXCHANGE_WORK
        runs = 0
        while not (budget.is_spent or self.over):
            before = budget.work
            for start in self._starts(self.seed + runs):
                runs += 1
                matrix = exchange_columns(self.problem, start, seed=self.seed + runs, budget=budget)
                self._offer_matrix(matrix, "exchange")
                if budget.is_spent:
                    break
            if budget.work == before or runs > 10_000:
                break
        said.append(counted(runs, "run"))

    def _ready(self) -> bool:
        from ecoc._numba import await_compilation
        from ecoc.design.ternary_search import compile_kernels

        left = self.left()
        return await_compilation(compile_kernels, None if left is None else 0.7 * left)

    def program_fits(self) -> bool:
        """Whether there are few enough classes for "auto" to solve the integer program."""
        weighted = self.problem.objective == "weighted-cover"
        return self.problem.n_classes <= (_WEIGHTED_CLASSES if weighted else _AUTOMATIC_CLASSES)

    def short_program(self, solver: str) -> None:
        """Solve the integer program with what is known, over the best columns of many."""
        self.integer_program(
            solver, n_looks=3 if self.problem.n_classes <= _AUTOMATIC_CLASSES else 1
        )

    def integer_program(self, solver: str, *, helped: bool = True, n_looks: int = 3) -> None:
        """Choose among all columns by the integer program, with no more of them than it takes.

        Prices leave out columns that no better codebook has. Where others are too many, it takes
        the best of them first, and a better codebook leaves out more; but only a program over
        all that are left proves anything.
        """
        k = self.problem.n_classes
        if k > MAX_LISTED_CLASSES:
            raise TooLargeError(
                f"{k} classes have more ternary columns than the integer program looks at (up to "
                f"{MAX_LISTED_CLASSES} classes). Ask for method='auto'."
            )
        names = ("highs", "scip") if solver == "both" else (solver,)
        with self.stage("program") as said:
            listed = ColumnList(self.problem.ternary_bounds)
            for most in _PROGRAM_COLUMNS[:n_looks]:
                able, floor = self._able(listed), self._floor()
                # Where none is left, prices alone prove that nothing is better.
                whole = len(able) <= most
                if len(able):
                    n_tried = counted(min(most, len(able)), "column", form=",")
                    said.append(f"{n_tried}, of {len(able):,} of {len(listed):,}")
                    candidates = listed.columns(able[:most])
                    self._solve(candidates, floor, names, said, helped=helped, whole=whole)
                if whole or self.over_time:
                    break
            else:
                self.notes.append(
                    f"The integer program took {most:,} of {len(able):,} columns, and proves "
                    "nothing about the others."
                )
            self.tighten(Certificate.of_bound(self._linear_bound(listed)))

    def _floor(self) -> Exact | None:
        """The least objective that is better than the best so far."""
        if self.objective is None:
            return None
        return exact(Fraction(self.objective) + self.problem.objective_step)

    def _able(self, listed: ColumnList) -> Ints:
        """The columns that a better codebook may have, as even as is asked for, the best first."""
        problem = self.problem
        able = listed.able_to_reach(Fraction(self._floor() or 0))
        if problem.max_imbalance is None:
            return able
        columns = listed.columns(able).astype(np.int64)
        points = np.array(problem.class_sizes or (1,) * problem.n_classes)
        used = np.abs(columns) @ points
        limits = [int(Fraction(str(problem.max_imbalance)) * int(n)) for n in used]
        kept: Ints = able[np.abs(columns @ points) <= np.array(limits)]
        if not len(kept) and self.objective is None:
            raise InfeasibleError(
                f"No column is as balanced as max_imbalance={problem.max_imbalance:g} asks."
            )
        return kept

    def _linear_bound(self, listed: ColumnList) -> TernaryBound:
        """The bound of the linear program over all columns."""
        if self.problem.objective == "weighted-cover":
            return dual_bound(listed.problem, listed.prices)
        return averaging_bound_of_covers(listed.problem)

    def _solve(
        self,
        candidates: Signs,
        floor: Exact | None,
        names: Sequence[str],
        said: list[str],
        *,
        helped: bool,
        whole: bool = True,
    ) -> None:
        """Solve the program over some columns; what solvers say of all of them is a bound."""
        counts = self.time_limit is None and (helped or not whole)
        left = self.left()
        if not whole:
            # A first look, which leaves time for the others.
            names, left = names[:1], None if left is None else left / 3
        words: list[tuple[SolverResult, Exact]] = []
        for name in names:
            answer = solve_job(
                Job(
                    self.problem,
                    "ternary",
                    name,
                    as_float(self.bound) if helped else None,
                    work_limit=int(self.effort * _PROGRAM_WORK) if counts else None,
                    seed=self.seed,
                    candidates=candidates,
                    floor=floor,
                ),
                time_limit=left if whole is False else self.left(),
                memory_limit=self.memory_limit,
                incumbents=self._offer_solution,
            )
            result = answer.result
            said.append(f"{result.solver} {result.version}: {result.termination}")
            if whole or result.termination == "interrupted":
                self.note_cut("program", result.termination)
            if answer.columns is not None:
                self._offer_solution(answer.columns)
            bound = self._bound_of(result, floor) if whole else None
            if bound is not None:
                words.append((result, bound))
            if self.interrupted:
                break
        if words:
            result, bound = words[0]
            word = Certificate.of_solver(result, bound, "TERNARY")
            if len(words) > 1 and words[1][1] == bound:
                word = word.confirmed_by(words[1][0], "TERNARY")
            self.tighten(word)

    def _bound_of(self, result: SolverResult, floor: Exact | None) -> Exact | None:
        """What a solver says that no codebook of its columns exceeds, its rounding granted."""
        problem = self.problem
        if result.status is Status.INFEASIBLE:
            if floor is None:
                raise InfeasibleError(
                    f"No codebook satisfies the request, says {result.solver}. Ask for more "
                    "columns, a larger max_support or a larger budget."
                )
            return self.objective
        if result.bound is None:
            return None
        value = Fraction(result.bound + SOLVER_SLACK * max(1.0, result.bound))
        if problem.objective == "weighted-cover":
            bounds = problem.ternary_bounds
            parts = bounds.parts_of_covers
            # Whole parts over the weight of a pair are all that there is.
            value = max(Fraction(floor_of(value * d * parts), parts) / d for d in bounds.weights)
        unit = 2 if problem.objective == "max-min-distance" else 1
        step = problem.objective_step * unit
        bound = Fraction(floor_of(value / step)) * step / unit
        return exact(max(bound, Fraction(self.objective or 0)))

    def polish(self) -> None:
        """Nothing is second to the objective."""

    # ------------------------------------------------------------------ offers

    def _offer_matrix(self, matrix: npt.NDArray[np.integer], method: str) -> bool:
        with suppress(InvalidCodebookError):
            return self.offer(
                Codebook(
                    np.asarray(matrix, dtype=np.int8),
                    name="designed",
                    provenance=Provenance(method, {}),
                )
            )
        return False

    def _offer_solution(self, matrix: npt.NDArray[np.integer], *_: object) -> None:
        self._offer_matrix(matrix, "integer-program")
