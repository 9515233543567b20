"""The stages of a ternary design: theory, grown columns, constructions, search, program."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ecoc._checks import Exact, counted, exact
from ecoc._limits import Budget, deadline
from ecoc._typing import Signs
from ecoc.bounds.ternary import exact_costs, ternary_columns
from ecoc.codes import Codebook, Provenance
from ecoc.design.programs.ternary import TernaryProgram, build_ternary_program
from ecoc.design.result import Certificate
from ecoc.design.run import StagedRun
from ecoc.design.solvers import Status
from ecoc.design.ternary_problem import TernaryProblem
from ecoc.errors import (
    InfeasibleError,
    InvalidCodebookError,
    InvalidInputError,
    TooLargeError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from ecoc.design.ternary_search import Rotations

__all__ = ["TernaryPortfolio"]

_SEARCH_WORK = 6e8
"""What "auto" may spend on annealing without a time limit: entries that are looked at."""

_EXCHANGE_WORK = 2e7
_PROGRAM_WORK = 20_000
_SHORT_RUN, _LONG_RUN = 300_000, 3_000_000
_SHORT_RUNS = 3
_MOST_COLUMNS = 10_000
"""More columns than these keep the solver busy past its time limit."""

_LISTED, _AUTOMATIC_CLASSES = 10, 8
"""The most classes whose columns are listed, and for which "auto" solves the integer program."""

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
        """Whether there are few enough columns for the integer program, and it has the goal."""
        return self.problem.n_classes <= _AUTOMATIC_CLASSES and self._has_program()

    def _has_program(self) -> bool:
        by_pairs = self.problem.objective in {"max-min-cover", "max-min-distance"}
        few = self.problem.n_classes <= _LISTED and self._n_all <= _MOST_COLUMNS
        return by_pairs and few

    def short_program(self, solver: str) -> None:
        """Solve the integer program with what is known."""
        self.integer_program(solver)

    def integer_program(self, solver: str, *, helped: bool = True) -> None:
        """Choose among all columns by the integer program."""
        from ecoc.design.solvers import solve

        if not self._has_program():
            raise self._misfit()
        counts = helped and self.time_limit is None
        unit = 2 if self.problem.objective == "max-min-distance" else 1
        with self.stage("program") as said:
            built = self._program(helped=helped)
            for name in ("highs", "scip") if solver == "both" else (solver,):
                result = solve(
                    built.program,
                    solver=name,
                    time_limit=self.left(),
                    memory_limit=self.memory_limit,
                    work_limit=int(self.effort * _PROGRAM_WORK) if counts else None,
                    seed=self.seed,
                    progress=None,
                    incumbents=partial(self._offer_values, built),
                )
                said.append(f"{result.solver} {result.version}: {result.termination}")
                self.note_cut("program", result.termination)
                if result.status is Status.INFEASIBLE:
                    raise InfeasibleError(
                        f"No codebook satisfies the request, says {result.solver}. Ask for more "
                        "columns, a larger max_support or a larger budget."
                    )
                if result.x is not None:
                    self._offer_matrix(built.matrix_of(result.x), "integer-program")
                if result.bound is not None:
                    whole = int(result.bound + 1e-6 * max(1.0, abs(result.bound)))
                    word = Certificate.of_solver(result, exact(Fraction(whole, unit)), "TERNARY")
                    first = self.certificate
                    if first is not None and first.kind == "solver" and first.bound == word.bound:
                        self.certificate = first.confirmed_by(result, "TERNARY")
                    else:
                        self.tighten(word)
                if self.interrupted:
                    break

    def _misfit(self) -> Exception:
        if self.problem.objective not in {"max-min-cover", "max-min-distance"}:
            return UnsupportedError(
                f"The integer program has no objective {self.problem.objective!r}. Ask for "
                "method='auto'."
            )
        return TooLargeError(
            f"{self.problem.n_classes} classes have {self._n_all:,} ternary columns, more than the "
            f"integer program takes ({_MOST_COLUMNS:,}). Ask for method='auto'."
        )

    def _program(self, *, helped: bool) -> TernaryProgram:
        problem = self.problem
        columns = ternary_columns(problem.n_classes, problem.support_limit)
        kept = np.ones(len(columns), dtype=bool)
        if problem.max_imbalance is not None:
            points = np.array(problem.class_sizes or (1,) * problem.n_classes)
            used = (columns != 0) @ points
            limits = [int(Fraction(str(problem.max_imbalance)) * int(n)) for n in used]
            kept = np.abs(columns @ points) <= np.array(limits)
            if not kept.any():
                raise InfeasibleError(
                    f"No column is as balanced as max_imbalance={problem.max_imbalance:g} asks."
                )
        unit = 2 if problem.objective == "max-min-distance" else 1
        known = self.bound if helped else None
        costs = [float(cost) for cost in exact_costs(problem.ternary_bounds, columns[kept])]
        return build_ternary_program(
            problem.n_classes,
            self._length,
            max_support=problem.support_limit,
            halves=unit == 2,
            min_cover=problem.min_cover,
            cutoff=None if known is None else int(unit * known),
            costs=costs,
            budget=None if problem.budget is None else float(problem.budget),
            doubled_distance=2 * (problem.min_column_distance or 0),
            admissible=kept,
        )

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

    def _offer_values(self, built: TernaryProgram, x: npt.NDArray[np.float64]) -> None:
        self._offer_matrix(built.matrix_of(x), "integer-program")
