"""Clique rows on demand: begin without them and add those that are violated.

For conflict graphs whose clique cover does not fit in memory.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ecoc._typing import Ints
from ecoc.design.problem import DesignProblem
from ecoc.design.programs.formulations import Formulation, clique_rows
from ecoc.design.programs.ternary import TernaryProgram
from ecoc.design.solvers import ProgressPoint, SolverResult, Status, Tolerances, solve
from ecoc.errors import InvalidInputError
from ecoc.graphs import ConflictGraph

__all__ = ["CliqueRows", "clique_finder", "solve_lazily", "solve_program"]


class CliqueRows(NamedTuple):
    """Cliques of candidates: number i is members[indptr[i]:indptr[i + 1]], as positions."""

    indptr: npt.ArrayLike
    members: npt.ArrayLike


def solve_program(
    problem: DesignProblem, program: Formulation | TernaryProgram, **settings: Any
) -> SolverResult:
    """Solve the program of a problem; clique rows that were left out are added as needed."""
    if isinstance(program, TernaryProgram):
        return solve(program.program, **settings)
    lazily = program.name == "IP3" and "clique" not in {
        block.prefix for block in program.program.row_names.blocks if len(block)
    }
    if lazily and problem.graph.weights:
        return solve_lazily(program, clique_finder(problem.graph), **settings)
    return solve(program.program, **settings)


def solve_lazily(
    formulation: Formulation,
    find_violated: Callable[[npt.NDArray[np.int64]], CliqueRows],
    *,
    solver: str = "auto",
    time_limit: float | None = None,
    memory_limit: int | None = None,
    work_limit: int | None = None,
    start: npt.ArrayLike | None = None,
    progress: Callable[[ProgressPoint], object] | None = None,
    incumbents: Callable[[npt.NDArray[np.float64]], object] | None = None,
    interrupt: Callable[[], bool] | None = None,
    introduced: Callable[[str, Tolerances], object] | None = None,
    threads: int = 1,
    seed: int = 0,
) -> SolverResult:
    """Solve a program whose clique rows are too many to be listed.

    The program is solved with the rows it has; the rows that its solution violates are
    added; and so on, until none is violated. Every program on the way allows more than the
    whole one, so its bound is a bound for the whole one, and its optimum, once it violates
    nothing, is the optimum of the whole one.

    Parameters
    ----------
    formulation : Formulation
        The program, with few or no conflict rows.
    find_violated : callable
        Given the chosen columns, returns cliques that they violate, as positions among the
        candidates; an empty list of cliques if they violate none. More cliques than are
        violated may be returned, to save rounds.
    time_limit : float, optional
        Seconds for all rounds together.
    start : array of float, optional
        A solution that violates no clique at all.
    progress : callable, optional
        Called with the bound as it improves. Incumbents are reported in the end only, since
        those of earlier rounds violate cliques; `incumbents` is called with these too.
    solver, memory_limit, work_limit, incumbents, interrupt, introduced, threads, seed
        As for :func:`ecoc.design.solvers.solve`.

    Returns
    -------
    SolverResult
        With status UNKNOWN and a bound if a limit was met before any solution without a
        violated clique was known.

    Examples
    --------
    >>> from ecoc.design.programs.formulations import build_ip3
    >>> ip3 = build_ip3(range(1, 8), 4, 4, indptr=[0], members=[])
    >>> def find_violated(columns):  # columns 1 and 2 conflict, and nothing else does
    ...     both = {1, 2} <= set(columns.tolist())
    ...     return CliqueRows([0, 2], [0, 1]) if both else CliqueRows([0], [])
    >>> solve_lazily(ip3, find_violated).objective
    2.0
    """
    began = time.perf_counter()
    program, n_candidates = formulation.program, formulation.columns.size
    if start is not None and _count(find_violated(formulation.columns_of(start))):
        raise InvalidInputError("start must not violate a clique.")
    history: list[ProgressPoint] = []
    logs: list[str] = []
    best_bound: float | None = None
    n_nodes = 0

    def note(incumbent: float | None, bound: float | None) -> None:
        point = ProgressPoint(time.perf_counter() - began, incumbent, bound, n_nodes)
        history.append(point)
        if progress is not None:
            progress(point)

    def note_bound(point: ProgressPoint) -> None:
        bound = _tighter(formulation.program.sense, best_bound, point.bound)
        if bound is not None and (not history or history[-1].bound != bound):
            note(None, bound)

    while True:
        left = None if time_limit is None else max(0.0, time_limit - (time.perf_counter() - began))
        result = solve(
            program,
            solver=solver,
            time_limit=left,
            memory_limit=memory_limit,
            work_limit=work_limit,
            start=start,
            progress=note_bound,
            incumbents=incumbents,
            interrupt=interrupt,
            introduced=introduced,
            threads=threads,
            seed=seed,
        )
        n_nodes += result.n_nodes
        logs.append(result.log)
        best_bound = _tighter(program.sense, best_bound, result.bound)
        cliques = _violated(formulation, find_violated, result)
        if _count(cliques) == 0:
            note(result.objective, best_bound)
            break
        note(None, best_bound)
        if result.status is not Status.OPTIMAL:
            result = _fall_back(program.objective_value, result, start)
            break
        rows = clique_rows(n_candidates, *cliques, n_variables=program.objective.size)
        if not (rows.matrix @ result.x > 1).any():
            raise InvalidInputError("find_violated must return a clique that the columns violate.")
        program = program.with_rows(rows.matrix, *rows.limits(), "lazy")
    return replace(
        result,
        bound=result.objective if result.status is Status.OPTIMAL else best_bound,
        seconds=time.perf_counter() - began,
        n_nodes=n_nodes,
        history=tuple(history),
        log="".join(logs),
    )


def _violated(
    formulation: Formulation,
    find_violated: Callable[[npt.NDArray[np.int64]], CliqueRows],
    result: SolverResult,
) -> CliqueRows:
    if result.x is None:
        return CliqueRows([0], [])
    return find_violated(formulation.columns_of(result.x))


def _count(cliques: CliqueRows) -> int:
    return len(np.asarray(cliques.indptr)) - 1


def _tighter(sense: str, known: float | None, new: float | None) -> float | None:
    if known is None or new is None:
        return new if known is None else known
    return min(known, new) if sense == "max" else max(known, new)


def _fall_back(
    value: Callable[[npt.ArrayLike], float], result: SolverResult, start: npt.ArrayLike | None
) -> SolverResult:
    """Replace a solution that violates cliques by the start, or by nothing."""
    if start is None:
        return replace(result, status=Status.UNKNOWN, x=None, objective=None)
    x = np.array(start, dtype=np.float64)
    return replace(result, status=Status.FEASIBLE, x=x, objective=value(x))


def clique_finder(graph: ConflictGraph) -> Callable[[Ints], CliqueRows]:
    """Return a function that finds the cliques which a choice of columns violates.

    For every two chosen columns that conflict, it gives a maximal clique that has both.

    Examples
    --------
    >>> find_violated = clique_finder(ConflictGraph(4, 2))
    >>> find_violated(np.array([1, 2, 3]))
    CliqueRows(indptr=array([0, 2, 4]), members=array([0, 2, 1, 2]))
    >>> find_violated(np.array([3, 5, 6]))
    CliqueRows(indptr=array([0]), members=array([], dtype=int64))
    """
    columns = graph.to_columns()

    def find_violated(chosen: Ints) -> CliqueRows:
        cliques = [
            _maximal_clique(graph, columns, a, b)
            for a, b in combinations(np.searchsorted(columns, chosen).tolist(), 2)
            if graph.conflicts(columns[a], columns[b])
        ]
        sizes = [0, *(clique.size for clique in cliques)]
        members = np.concatenate([np.zeros(0, dtype=np.int64), *cliques])
        return CliqueRows(np.cumsum(sizes), members)

    return find_violated


def _maximal_clique(graph: ConflictGraph, columns: Ints, a: int, b: int) -> Ints:
    """Grow a clique from two vertices, those nearest to both first."""
    left = np.intersect1d(graph.neighbours(a), graph.neighbours(b)).astype(np.int64)
    near = np.bitwise_count(columns[left] ^ columns[a]) + np.bitwise_count(
        columns[left] ^ columns[b]
    )
    left = left[np.argsort(near, kind="stable")]
    clique = [a, b]
    while left.size:
        clique.append(int(left[0]))
        left = left[1:][graph.conflicts(columns[left[1:]], columns[left[0]])]
    return np.sort(np.array(clique, dtype=np.int64))
