"""``design_codebook``: from what is wanted to a codebook with a bound and its ground."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy.typing as npt

from ecoc._checks import RandomState, check_choice, check_int, check_number, check_seed
from ecoc.codes import Codebook
from ecoc.design.portfolio import MAX_SEARCHED_CLASSES, Run
from ecoc.design.problem import DesignProblem
from ecoc.design.programs import check_size
from ecoc.design.result import Design
from ecoc.design.solvers import ProgressPoint
from ecoc.errors import InvalidInputError, TooLargeError

__all__ = ["FORMULATIONS", "METHODS", "SOLVERS", "design_codebook"]

METHODS = ("auto", "construction", "search", "integer-program")
FORMULATIONS = ("ip1", "ip2", "ip3")
SOLVERS = ("auto", "highs", "scip", "gurobi", "both")


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
    method: str = "auto",
    formulation: str | None = None,
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
    method : {"auto", "construction", "search", "integer-program"}, default="auto"
        ``"auto"`` bounds the objective by theory, then tries constructions, annealing and
        the integer program until a codebook meets the bound. The others do one of these
        alone, the integer program without a bound or a start from outside.
    formulation : {"ip3", "ip2", "ip1"}, optional
        The integer program of the paper, IP3 by default. Naming one asks for the method
        ``"integer-program"``.
    solver : {"auto", "highs", "scip", "gurobi", "both"}, default="auto"
        The solver; ``"auto"`` is HiGHS, ``"both"`` is HiGHS and then SCIP, so that a bound
        rests on the word of two solvers.
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
        A solution to begin with; it must satisfy the problem.
    progress : callable, optional
        Called with a :class:`ProgressPoint` for each new incumbent or bound.

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
    check_choice("method", method, METHODS)
    if formulation is not None:
        check_choice("formulation", formulation, FORMULATIONS)
        if method not in {"auto", "integer-program"}:
            raise InvalidInputError(f"formulation has no meaning for method={method!r}.")
        method = "integer-program"
    check_choice("solver", solver, SOLVERS)
    if time_limit is not None:
        check_number("time_limit", time_limit, minimum=0)
    if memory_limit is not None:
        check_int("memory_limit", memory_limit, minimum=1)
    start = None if warm_start is None else _start(problem, warm_start)

    # The same seed always gives the same bytes, and so does none.
    seed = (check_seed(random_state) or 0) % (2**31 - 1)
    run = Run(problem, seed, time_limit, memory_limit, progress)
    try:
        problem.check_feasible()
        if method == "integer-program":
            check_size(problem, formulation or "ip3")
        run.offer(start)
        run.everything()
        if method != "integer-program":
            _stages(run, method, solver)
        elif not run.over:
            run.integer_program(formulation or "ip3", solver, helped=False)
    except KeyboardInterrupt:
        # Between two stages; within one the stage itself takes note of it.
        run.note_cut("design", "interrupted")
    return run.result()


def _stages(run: Run, method: str, solver: str) -> None:
    """The stages in the order of their cost, until the best codebook meets the bound."""
    if run.proved:
        return
    # Both take a moment, whatever the limit: no time at all still gives a codebook.
    run.theory()
    if run.codebook is None:
        run.quick()
    if not run.over and method in {"auto", "construction"}:
        run.construct()
    if not run.over and method == "search":
        run.search()
    if not run.over and method == "auto" and run.problem.n_classes <= MAX_SEARCHED_CLASSES:
        run.short_search()
    if not run.over and method == "auto" and _program_fits(run):
        run.short_program(solver)
    wants_separation = run.problem.min_column_distance is None and run.problem.maximises
    if wants_separation and not run.over_time:
        run.separate()
    if run.problem.maximises and not run.over_time:
        run.balance()


def _program_fits(run: Run) -> bool:
    try:
        check_size(run.problem, "ip3")
    except TooLargeError:
        run.notes.append("The integer program would be too large and was not tried.")
        return False
    return True


def _start(problem: DesignProblem, warm_start: Codebook | Design) -> Codebook:
    codebook = warm_start.codebook if isinstance(warm_start, Design) else warm_start
    if not isinstance(codebook, Codebook):
        raise InvalidInputError("warm_start must be a Codebook, or a Design that has one.")
    wrong = problem.violations(codebook)
    if wrong:
        raise InvalidInputError(f"warm_start must satisfy the problem, but {'; '.join(wrong)}.")
    return codebook
