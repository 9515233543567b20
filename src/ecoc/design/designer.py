"""``design_codebook``: from what is wanted to a codebook with a bound and its ground."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ecoc._checks import RandomState, check_choice, check_number, check_random_state
from ecoc.codes import Codebook, Provenance, columns_to_matrix, matrix_to_columns
from ecoc.design.certificate import Certificate
from ecoc.design.problem import DesignProblem
from ecoc.design.programs import build_program, check_size, solve_program
from ecoc.design.result import Design
from ecoc.design.solvers import ProgressPoint, SolverResult, Status
from ecoc.errors import InfeasibleError, InvalidCodebookError, InvalidInputError, SolverError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ecoc.design.formulations import Formulation

__all__ = ["FORMULATIONS", "SOLVERS", "design_codebook", "design_from_solution"]

FORMULATIONS = ("ip1", "ip2", "ip3")
SOLVERS = ("auto", "highs", "scip", "gurobi")


def design_codebook(
    n_classes: int,
    n_columns: int,
    *,
    min_column_distance: int | None = None,
    separation: str = "two-sided",
    max_imbalance: float | None = None,
    class_sizes: Sequence[int] | None = None,
    objective: str = "max-min-distance",
    target_distances: npt.ArrayLike | None = None,
    formulation: str = "ip3",
    solver: str = "auto",
    time_limit: float | None = None,
    memory_limit: int | None = None,
    random_state: RandomState = None,
    warm_start: Codebook | Design | None = None,
    progress: Callable[[ProgressPoint], object] | None = None,
) -> Design:
    """Design the best codebook for a problem, with a bound on what any codebook can reach.

    Parameters
    ----------
    n_classes, n_columns : int
        The number of classes, k, and the most columns allowed, L.
    min_column_distance, separation, max_imbalance, class_sizes, objective, target_distances
        What is wanted of the columns and rows, see :class:`DesignProblem`.
    formulation : {"ip3", "ip2", "ip1"}, default="ip3"
        The integer program of the paper that is solved.
    solver : {"auto", "highs", "scip", "gurobi"}, default="auto"
        The solver; ``"auto"`` is HiGHS.
    time_limit : float, optional
        Seconds for the whole call.
    memory_limit : int, optional
        Bytes that this process may hold in memory while the solver runs.
    random_state : int, Generator or None
        The seed of the solver.
    warm_start : Codebook or Design, optional
        A solution to begin with; it must satisfy the problem.
    progress : callable, optional
        Called with a :class:`ProgressPoint` for each new incumbent or bound.

    Returns
    -------
    Design
        A limit or Ctrl-C returns the best so far, with status FEASIBLE and its bound.

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
    """
    problem = DesignProblem(
        n_classes,
        n_columns,
        min_column_distance=min_column_distance,
        separation=separation,
        max_imbalance=max_imbalance,
        class_sizes=class_sizes,
        objective=objective,
        target_distances=target_distances,
    )
    check_choice("formulation", formulation, FORMULATIONS)
    check_choice("solver", solver, SOLVERS)
    if time_limit is not None:
        check_number("time_limit", time_limit, minimum=0)
    start = None if warm_start is None else _start_columns(problem, warm_start)
    seed = _solver_seed(random_state)

    clock = _Clock(time_limit)
    problem.check_feasible()
    check_size(problem, formulation)
    if problem.maximises and problem.rho == 1 and len(problem.candidates) <= n_columns:
        return _all_columns(problem)
    with clock.stage("build"):
        program = build_program(problem, formulation)
    with clock.stage("solve"):
        result = solve_program(
            problem,
            program,
            solver=solver,
            time_limit=clock.left(),
            memory_limit=memory_limit,
            start=None if start is None else program.start_vector(start),
            progress=None if progress is None else clock.shifted(progress),
            seed=seed,
        )
    provenance = Provenance(
        "integer-program",
        {"formulation": formulation, "solver": result.solver, "version": result.version},
        seed=seed,
    )
    return replace(
        _design(problem, program, result, formulation, provenance),
        timings=dict(clock.stages),
        history=tuple(clock.shift(point) for point in result.history),
    )


def design_from_solution(
    problem: DesignProblem, program: Formulation, x: npt.ArrayLike, source: str
) -> Design:
    """Turn the solution of a program that was solved elsewhere into a design.

    Nothing vouches for a bound, so the design is FEASIBLE at best. The solution is checked
    like any other.
    """
    codebook = _codebook(problem, program, x, Provenance("imported", {"source": source}))
    return Design(problem, codebook, Status.FEASIBLE, problem.objective_of(codebook), None, None)


def _design(
    problem: DesignProblem,
    program: Formulation,
    result: SolverResult,
    formulation: str,
    provenance: Provenance,
) -> Design:
    if result.status is Status.INFEASIBLE:
        raise InfeasibleError(
            f"No codebook satisfies the request, says {result.solver} {result.version}. "
            "Ask for more columns, a smaller min_column_distance, or a larger max_imbalance."
        )
    bound = _whole_if_it_is(result.bound)
    certificate = None
    if bound is not None:
        certificate = Certificate.of_solver(result, bound, formulation.upper())
    if result.x is None:
        return Design(problem, None, Status.UNKNOWN, None, bound, certificate)
    codebook = _codebook(problem, program, result.x, provenance)
    objective = problem.objective_of(codebook)
    _check_against_solver(problem, objective, result)
    status = result.status
    if bound is not None and objective == bound:
        status = Status.OPTIMAL
    notes = []
    if codebook.n_columns < problem.n_columns:
        notes.append(
            f"{codebook.n_columns} columns are used where {problem.n_columns} are allowed."
        )
    return Design(problem, codebook, status, objective, bound, certificate, notes=tuple(notes))


def _codebook(
    problem: DesignProblem, program: Formulation, x: npt.ArrayLike, provenance: Provenance
) -> Codebook:
    """The chosen columns as a codebook that satisfies the problem, or an error."""
    columns = np.sort(program.columns_of(x))
    try:
        codebook = Codebook(
            columns_to_matrix(columns, problem.n_classes), name="designed", provenance=provenance
        )
    except InvalidCodebookError as error:
        raise SolverError(f"the chosen columns are no codebook: {error}") from error
    wrong = problem.violations(codebook)
    if wrong:
        raise SolverError(f"the chosen columns do not satisfy the problem: {'; '.join(wrong)}.")
    return codebook


def _check_against_solver(problem: DesignProblem, objective: float, result: SolverResult) -> None:
    """The objective in integers must be at least as good as the solver's, and within its bound."""
    sign = 1 if problem.maximises else -1
    slack = 0 if float(objective).is_integer() else 1e-6 * max(1.0, abs(objective))
    claimed = result.objective
    if claimed is not None and sign * (claimed - objective) > slack:
        raise SolverError(
            f"{result.solver} claims {claimed:g} where the codebook has {objective:g}."
        )
    if result.bound is not None and sign * (objective - result.bound) > slack:
        raise SolverError(
            f"{result.solver} claims the bound {result.bound:g}; the codebook has {objective:g}."
        )


def _all_columns(problem: DesignProblem) -> Design:
    """Every admissible column: more columns never bring two rows closer."""
    columns = problem.candidates.to_array()
    codebook = Codebook(
        columns_to_matrix(columns, problem.n_classes),
        name="designed",
        provenance=Provenance("all-columns", {}),
    )
    objective = problem.objective_of(codebook)
    notes: tuple[str, ...] = ()
    if columns.size < problem.n_columns:
        note = f"Only {columns.size} admissible columns exist where {problem.n_columns} are allowed"
        notes = (f"{note}; all of them are used.",)
    certificate = Certificate("exhaustive", objective, {})
    return Design(problem, codebook, Status.OPTIMAL, objective, objective, certificate, notes=notes)


def _start_columns(problem: DesignProblem, warm_start: Codebook | Design) -> npt.NDArray[np.int64]:
    codebook = warm_start.codebook if isinstance(warm_start, Design) else warm_start
    if not isinstance(codebook, Codebook):
        raise InvalidInputError("warm_start must be a Codebook, or a Design that has one.")
    wrong = problem.violations(codebook)
    if wrong:
        raise InvalidInputError(f"warm_start must satisfy the problem, but {'; '.join(wrong)}.")
    return matrix_to_columns(codebook.matrix)


def _solver_seed(random_state: RandomState) -> int:
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    check_random_state(random_state)
    return int(random_state) % (2**31 - 1)


def _whole_if_it_is(value: float | None) -> float | None:
    return int(value) if value is not None and float(value).is_integer() else value


@dataclass
class _Clock:
    """The time since a design began, what is left of its limit, and where it went."""

    limit: float | None
    began: float = field(default_factory=time.perf_counter)
    stages: dict[str, float] = field(default_factory=dict)
    solve_began: float = 0.0

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        self.solve_began = start - self.began
        try:
            yield
        finally:
            self.stages[name] = time.perf_counter() - start

    def left(self) -> float | None:
        if self.limit is None:
            return None
        return max(0.0, self.limit - (time.perf_counter() - self.began))

    def shift(self, point: ProgressPoint) -> ProgressPoint:
        return replace(point, seconds=point.seconds + self.solve_began)

    def shifted(
        self, progress: Callable[[ProgressPoint], object]
    ) -> Callable[[ProgressPoint], object]:
        return lambda point: progress(self.shift(point))
