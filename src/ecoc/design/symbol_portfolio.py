"""The stages of a design with more than two symbols: theory, constructions, search, program."""

from __future__ import annotations

import time
from contextlib import suppress
from functools import partial

import numpy as np
import numpy.typing as npt

from ecoc._checks import counted
from ecoc._limits import Budget
from ecoc._typing import Ints
from ecoc.atlas import packaged_atlas
from ecoc.codes import Codebook, Provenance, balanced_random
from ecoc.codes.measures import renaming_distance
from ecoc.design.problem import DesignProblem, balance_limit, group_differences
from ecoc.design.programs.partitions import (
    MAX_PARTITIONS,
    PartitionProgram,
    all_partitions,
    build_partition_program,
)
from ecoc.design.result import Certificate, n_partitions
from ecoc.design.run import StagedRun, as_float
from ecoc.design.symbol_search import search_symbols, separate_columns
from ecoc.errors import InfeasibleError, InvalidCodebookError, TooLargeError

__all__ = ["SymbolPortfolio", "symbol_codebook"]

_CONSTRUCTION_WORK = 2.8e9
_SEARCH_WORK = 3e8
"""What "auto" may spend on a stage without a time limit: distances of pairs that are looked at."""

_PROGRAM_WORK = 20_000
"""Points where the solver can be stopped, without a time limit."""

_MAX_PROGRAM_PARTITIONS = 5_000
"""The largest program that is solved; phases of a solver that cannot be stopped take seconds."""

_MAX_CLASSES = 1_000
"""The most classes: more take longer to judge than short limits leave."""

_MAX_ANNEALED_SIZE = 1e8
"""Classes squared, times columns: a run that begins counts the distances of all pairs."""

_MAX_SEPARATED_SIZE = 1e7
_RANDOM_WORK = 2e9
_SEPARATION_WORK = 2e6
_DRAWS = 30
_MAX_REFUSED = 2_000


class SymbolPortfolio(StagedRun):
    """The stages of a design with more than two symbols."""

    # Classes in uneven groups make worse classifiers.
    balances = False

    def short_search(self) -> None:
        """Search, with no more work than is worth it."""
        self.search(self.effort * _SEARCH_WORK)

    def short_program(self, solver: str) -> None:
        """Solve the integer program with what is known."""
        self.integer_program(solver)

    def search_and_solve(self, solver: str) -> None:
        """Search and solve, and see whether the atlas has more."""
        super().search_and_solve(solver)
        if self.cell is None and not self.proved:
            self.look_up()

    def go_on_from_atlas(self, solver: str) -> None:
        """Do what a cell of the atlas leaves open; columns are moved apart in any case."""
        if self.cell is not None and self.cell.is_settled:
            return
        if not self.over:
            self.construct()
        self.search_and_solve(solver)
        self.polish()

    def polish(self) -> None:
        """Move columns apart where no distance was asked for."""
        if self.problem.min_column_distance is None and not self.over_time:
            self.separate()

    @property
    def n_columns(self) -> int:
        """As many columns as allowed, but no more than there are."""
        k, q = self.problem.n_classes, self.problem.n_symbols
        if k > 20:
            return self.problem.n_columns
        return min(self.problem.n_columns, n_partitions(k, q))

    @property
    def _size(self) -> float:
        k = self.problem.n_classes
        return float(k * k * self.problem.n_columns)

    def check_size(self) -> None:
        """Refuse more classes than limits can be kept for, before any work."""
        if self.problem.n_classes > _MAX_CLASSES:
            raise TooLargeError(
                f"Codebooks of more than two symbols are designed for up to {_MAX_CLASSES:,} "
                f"classes, not {self.problem.n_classes:,}. Take n_symbols=2, or draw one with "
                "balanced_random."
            )

    def everything(self) -> None:
        """Use every column where they are few enough: more never bring rows closer."""
        problem = self.problem
        rules = problem.rho != 1 or problem.max_imbalance is not None
        if rules or self.n_columns == problem.n_columns:
            return
        if self.n_columns > MAX_PARTITIONS:
            return
        with self.stage("all columns"):
            columns = all_partitions(problem.n_classes, problem.n_symbols)
            self._offer_matrix(columns.T, "all-columns")
            if self.objective is not None:
                self.tighten(Certificate("exhaustive", self.objective, {}))
        self.notes.append(
            f"Only {self.n_columns} columns exist where {problem.n_columns} are allowed; all of "
            "them are used."
        )

    def theory(self) -> None:
        """Bound the row distance by coding theory."""
        with self.stage("theory") as said:
            bound = self.problem.theory()
            if bound.value < 1:
                raise InfeasibleError(
                    f"No codebook satisfies the request: {bound.reason} Ask for more columns."
                )
            self.tighten(Certificate.of_bound(bound))
            said.append(bound.reason)

    def quick(self) -> None:
        """Have some codebook as soon as possible, for whoever interrupts."""
        problem, q = self.problem, self.problem.n_symbols
        with self.stage("random"):
            with suppress(InfeasibleError, InvalidCodebookError):
                self.offer(
                    balanced_random(
                        problem.n_classes,
                        self.n_columns,
                        n_symbols=q,
                        n_candidates=int(min(1000, max(1, _RANDOM_WORK / (q * self._size)))),
                        random_state=self.seed,
                    )
                )
            if self.codebook is None:
                self._offer_matrix(_drawn(problem, self.n_columns, self.seed), "sampling")

    def construct(self) -> None:
        """Take the best code that constructions give, its columns separated as asked for."""
        with self.stage("construction") as said:
            from ecoc.constructions.symbols import (
                construct_symbols,
                linear_symbols,
                tabled_symbols,
            )

            size = self.problem.n_classes, self.n_columns, self.problem.n_symbols
            bound = int(self.bound or self.n_columns)
            compiled = self._compiled(said)
            share = self._share_for_looking()
            if not compiled:
                # A table needs neither time nor anything compiled.
                code = tabled_symbols(*size, random_state=self.seed)
            elif self._size > _MAX_ANNEALED_SIZE:
                code = linear_symbols(
                    *size,
                    most=bound,
                    random_state=self.seed,
                    deadline=None if share is None else time.monotonic() + share,
                )
            else:
                code = construct_symbols(
                    *size,
                    target_distance=bound,
                    random_state=self.seed,
                    time_limit=share,
                    work_limit=self.effort * _CONSTRUCTION_WORK,
                    known=partial(_known_code, self.problem.n_symbols),
                )
            if code is None:
                said.append("none applies")
                return
            kept = self._offer_separated(code.matrix, code.method)
            said.append(f"{code.method}, {code.distance}{'' if kept else ', not kept'}")

    def search(self, work: float | None = None) -> None:
        """Search by annealing."""
        with self.stage("search") as said:
            if self._size > _MAX_ANNEALED_SIZE:
                said.append("not tried")
                return
            if not self._compiled(said):
                return
            matrix = None if self.codebook is None else self.codebook.matrix
            result = search_symbols(
                self.problem.n_classes,
                self.n_columns,
                self.problem.n_symbols,
                bound=None if self.bound is None else int(self.bound),
                time_limit=self._share_for_looking(),
                work_limit=work,
                random_state=self.seed,
                start=matrix if matrix is not None and matrix.shape[1] == self.n_columns else None,
            )
            if result.matrix is not None:
                self._offer_separated(result.matrix, "annealing")
            said.append(counted(result.n_runs, "run"))

    def _share_for_looking(self) -> float | None:
        left = self.left_for_looking()
        return None if left is None else 0.7 * left

    def _compiled(self, said: list[str]) -> bool:
        """Wait until searches are compiled; whether that was in time."""
        from ecoc._numba import await_compilation
        from ecoc.constructions.symbols import compile_kernels

        left = self.left()
        ready = await_compilation(compile_kernels, None if left is None else 0.7 * left)
        if not ready:
            said.append("not compiled in time")
        return ready

    def program_fits(self) -> bool:
        """Whether there are few enough partitions for the integer program."""
        k, q = self.problem.n_classes, self.problem.n_symbols
        return k <= 12 and n_partitions(k, q) <= _MAX_PROGRAM_PARTITIONS

    def integer_program(self, solver: str, *, helped: bool = True) -> None:
        """Choose among all partitions by the integer program, with what is known as cut-off."""
        from ecoc.design.solvers import solve

        problem = self.problem
        names = ("highs", "scip") if solver == "both" else (solver,)
        counts = helped and self.time_limit is None
        with self.stage("partitions") as said:
            built = self._program(helped=helped)
            first: Certificate | None = None
            for name in names:
                start = None if self.codebook is None else built.start_vector(self.codebook.matrix)
                began = time.monotonic() - self.began
                result = solve(
                    built.program,
                    solver=name,
                    time_limit=self.left(),
                    memory_limit=self.memory_limit,
                    work_limit=int(self.effort * _PROGRAM_WORK) if counts else None,
                    start=start,
                    seed=self.seed,
                    progress=self.shifted(began),
                    incumbents=partial(self._offer_values, built),
                )
                said.append(f"{result.solver} {result.version}: {result.termination}")
                self.note_cut("partitions", result.termination)
                if result.x is not None:
                    codebook = _codebook(built.matrix_of(result.x), problem, "integer-program")
                    if codebook is not None and not problem.violations(codebook):
                        self.check_claims(codebook, result)
                        self.offer(codebook)
                if result.bound is not None:
                    word = Certificate.of_solver(
                        result, self.exact_bound(result.bound), "PARTITIONS"
                    )
                    if first is not None and first.bound == word.bound:
                        self.certificate = first.confirmed_by(result, "PARTITIONS")
                    else:
                        self.tighten(word)
                    first = first or word
                if self.interrupted:
                    break

    def _program(self, *, helped: bool) -> PartitionProgram:
        problem = self.problem
        k, q = problem.n_classes, problem.n_symbols
        if not self.program_fits():
            raise TooLargeError(
                f"{k} classes have {n_partitions(k, q):,} partitions into at most {q} groups, more "
                f"than the {_MAX_PROGRAM_PARTITIONS:,} that the integer program takes."
            )
        admissible = None
        if problem.max_imbalance is not None:
            admissible = _admitted(problem, all_partitions(k, q))
            if not admissible.any():
                raise InfeasibleError(
                    f"No column is as balanced as max_imbalance={problem.max_imbalance:g} asks."
                )
        bound = as_float(self.bound) if helped else None
        return build_partition_program(
            k,
            problem.n_columns,
            q,
            min_column_distance=problem.rho,
            cutoff=None if bound is None else int(bound),
            admissible=admissible,
        )

    def separate(self) -> None:
        """Among codebooks of the same row distance, look for columns further apart."""
        codebook, problem = self.codebook, self.problem
        if codebook is None or codebook.n_columns < 2:
            return
        with self.stage("separation") as said:
            if self._size > _MAX_SEPARATED_SIZE:
                said.append("not tried")
                return
            if codebook.n_columns <= 200:
                better = _codebook(
                    separate_columns(
                        codebook.matrix.astype(np.int64),
                        problem.n_classes,
                        random_state=self.seed,
                        budget=Budget(work=_SEPARATION_WORK, deadline=self.deadline),
                    ),
                    problem,
                    codebook.provenance.method if codebook.provenance else "annealing",
                )
                if better is not None and not problem.violations(better):
                    self.codebook = codebook = better
            said.append(
                f"columns {codebook.min_column_distance() or 0:g} apart, least eigenvalue "
                f"{codebook.min_eigenvalue:.3g}"
            )

    # ------------------------------------------------------------------ offers

    def _offer_matrix(self, matrix: Ints | None, method: str) -> bool:
        return matrix is not None and self.offer(_codebook(matrix, self.problem, method))

    def _offer_separated(self, matrix: Ints, method: str) -> bool:
        if self._offer_matrix(matrix, method) or self.problem.rho == 1:
            return True
        budget = Budget(work=_SEPARATION_WORK, deadline=self.deadline)
        apart = separate_columns(
            np.asarray(matrix, dtype=np.int64),
            self.problem.rho,
            random_state=self.seed,
            n_moves=20_000,
            budget=budget,
        )
        return self._offer_matrix(apart, method)

    def _offer_values(self, built: PartitionProgram, x: npt.NDArray[np.float64]) -> None:
        self._offer_matrix(built.matrix_of(x), "integer-program")


def symbol_codebook(problem: DesignProblem, distance: int, seconds: float) -> Codebook | None:
    """A codebook of this row distance, if constructions give one soon."""
    from ecoc.constructions.symbols import construct_symbols

    code = construct_symbols(
        problem.n_classes,
        problem.n_columns,
        problem.n_symbols,
        target_distance=distance,
        random_state=0,
        time_limit=seconds,
        work_limit=_CONSTRUCTION_WORK / 10,
    )
    return None if code is None else _codebook(code.matrix, problem, code.method)


def _known_code(n_symbols: int, n_classes: int, n_columns: int) -> Ints | None:
    """The code of the atlas, if it has one of this size with even columns."""
    cell = packaged_atlas().find(n_classes, n_columns, n_symbols)
    if cell is None or cell.imbalance > 1:
        return None
    return cell.codebook.matrix.astype(np.int64)


def _codebook(matrix: Ints, problem: DesignProblem, method: str) -> Codebook | None:
    """A matrix of symbols as a codebook; None if it is not one."""
    with suppress(InvalidCodebookError):
        return Codebook(
            matrix,
            n_symbols=problem.n_symbols,
            name="designed",
            provenance=Provenance(method),
        )
    return None


def _admitted(problem: DesignProblem, columns: Ints) -> npt.NDArray[np.bool_]:
    """Which columns, given as rows, are as balanced as asked for."""
    if problem.max_imbalance is None:
        return np.ones(len(columns), dtype=bool)
    sizes = np.asarray(problem.class_sizes or (1,) * problem.n_classes)
    groups = np.stack([(columns == symbol) @ sizes for symbol in range(problem.n_symbols)])
    limit = balance_limit(problem.max_imbalance, problem.class_sizes, problem.n_classes)
    admitted: npt.NDArray[np.bool_] = group_differences(groups) <= limit
    return admitted


def _drawn(problem: DesignProblem, n_columns: int, seed: int) -> Ints | None:
    """Columns that satisfy the rules, each the best of some for the rows that are nearest.

    A column deals the classes, large ones first but for chance, to the group that is smallest.
    """
    generator = np.random.default_rng(seed)
    k, q = problem.n_classes, problem.n_symbols
    sizes = np.asarray(problem.class_sizes or (1,) * k, dtype=np.float64)
    kept: list[Ints] = []
    distances = np.zeros((k, k), dtype=np.int64)
    refused = 0
    while len(kept) < n_columns and refused < _MAX_REFUSED:
        drawn = [_dealt(sizes, q, generator) for _ in range(_DRAWS)]
        fit = [column for column in drawn if _fits(problem, kept, column)]
        refused += len(drawn) - len(fit)
        if not fit:
            continue
        apart = [distances + (column[:, None] != column) for column in fit]
        best = max(range(len(fit)), key=lambda i: _nearest(apart[i]))
        kept.append(fit[best])
        distances = apart[best]
    return np.stack(kept, axis=1) if kept else None


def _dealt(sizes: npt.NDArray[np.float64], q: int, generator: np.random.Generator) -> Ints:
    order = np.argsort(-sizes * generator.lognormal(0, 0.5, len(sizes)))
    totals, column = np.zeros(q), np.empty(len(sizes), dtype=np.int64)
    for place in order:
        group = int(totals.argmin())
        column[place] = group
        totals[group] += sizes[place]
    return column


def _fits(problem: DesignProblem, kept: list[Ints], column: Ints) -> bool:
    if not _admitted(problem, column[None, :]).all():
        return False
    return all(renaming_distance(column, other) >= problem.rho for other in kept)


def _nearest(distances: Ints) -> tuple[int, int]:
    """The least distance of two rows, and how few pairs have it."""
    pairs = distances[np.triu_indices(len(distances), 1)]
    least = int(pairs.min())
    return least, -int((pairs == least).sum())
