"""From a design problem to its integer program, refused first where it would not fit."""

from __future__ import annotations

from math import comb
from typing import Any

from ecoc.codes.columns import MAX_CLASSES
from ecoc.codes.side_sums import column_counts_by_weight
from ecoc.design.formulations import Formulation, ProgramOptions, build_ip1, build_ip2, build_ip3
from ecoc.design.linear_program import ProgramSize
from ecoc.design.problem import MAX_SCANNED_CLASSES, DesignProblem, balance_limit
from ecoc.design.program_size import program_size
from ecoc.design.separation import clique_separator
from ecoc.design.solvers import SolverResult, solve, solve_lazily
from ecoc.errors import TooLargeError
from ecoc.graphs import CliqueCover

__all__ = ["MAX_PROGRAM_BYTES", "build_program", "check_size", "job_size", "solve_program"]

MAX_PROGRAM_BYTES = 4 << 30
"""The memory that a program may take; a solver takes several times as much."""

MAX_PARITY_NONZEROS = 20_000_000
"""Past this the parity rows cost the solver more than they give."""


def build_program(
    problem: DesignProblem, formulation: str = "ip3", *, cutoff: float | None = None
) -> Formulation:
    """Build the integer program of a problem.

    Parameters
    ----------
    problem : DesignProblem
        What is wanted.
    formulation : {"ip3", "ip2", "ip1"}
        Which program of the paper.
    cutoff : float, optional
        A bound on the objective that is known from elsewhere.

    Examples
    --------
    >>> build_program(DesignProblem(8, 16, min_column_distance=2)).program
    <LinearProgram: max, 130 variables, 590 rows, 8,446 non-zeros>
    """
    candidates, graph = problem.candidates.to_array(), problem.graph
    options = ProgramOptions(
        targets=problem.target_distances,
        cutoff=cutoff,
        parity_cuts=_parity_pays(problem),
        min_row_distance=1,
    )
    sizes = problem.n_classes, problem.n_columns
    if formulation == "ip1":
        least, most = problem.separation_limits
        return build_ip1(
            candidates,
            *sizes,
            min_column_distance=least,
            max_column_distance=most,
            options=options,
        )
    if formulation == "ip2":
        return build_ip2(candidates, *sizes, edges=graph.edges(), options=options)
    cover = _cover_that_fits(problem)
    if cover is None:
        return build_ip3(candidates, *sizes, indptr=[0], members=[], options=options)
    return build_ip3(
        candidates, *sizes, indptr=cover.indptr, members=cover.members, options=options
    )


def solve_program(problem: DesignProblem, program: Formulation, **settings: Any) -> SolverResult:
    """Solve the program of a problem; clique rows that were left out are added as needed."""
    lazily = program.name == "IP3" and "clique" not in {
        block.prefix for block in program.program.row_names.blocks if len(block)
    }
    if lazily and problem.graph.weights:
        return solve_lazily(program, clique_separator(problem.graph), **settings)
    return solve(program.program, **settings)


def _cover_that_fits(problem: DesignProblem) -> CliqueCover | None:
    """The clique cover of a problem, or None if the program would be too large with it."""
    from ecoc.graphs import clique_cover

    try:
        cover = clique_cover(problem.graph)
        _refuse_if_too_large(
            _size(problem, "IP3", n_cliques=cover.n_cliques, clique_nonzeros=cover.members.size),
            problem,
            "IP3",
        )
    except TooLargeError:
        return None
    return cover


def check_size(problem: DesignProblem, formulation: str) -> None:
    """Refuse a program that would not fit, from closed forms and before anything is built.

    The clique rows of IP3 are not counted: they can be added as they are needed.
    """
    name = formulation.upper()
    if problem.n_classes > MAX_CLASSES:
        raise TooLargeError(
            f"{name} for {problem.n_classes} classes would have 2^{problem.n_classes - 1} "
            f"variables. {_INSTEAD}"
        )
    # Edges take a while to count, so first without them.
    _refuse_if_too_large(_size(problem, name), problem, name)
    if name == "IP2":
        _refuse_if_too_large(job_size(problem, formulation), problem, name)


def job_size(problem: DesignProblem, formulation: str) -> ProgramSize:
    """The size of a program from closed forms, without the clique rows of IP3."""
    name = formulation.upper()
    return _size(problem, name, n_edges=problem.graph.n_edges if name == "IP2" else 0)


def _size(
    problem: DesignProblem,
    name: str,
    *,
    n_edges: int = 0,
    n_cliques: int = 0,
    clique_nonzeros: int = 0,
) -> ProgramSize:
    return program_size(
        name,
        problem.n_classes,
        problem.n_columns,
        columns_by_weight=_columns_by_weight(problem),
        parity_cuts=_parity_pays(problem),
        targets=not problem.maximises,
        min_row_distance=True,
        n_edges=n_edges,
        n_cliques=n_cliques,
        clique_nonzeros=clique_nonzeros,
    )


def _refuse_if_too_large(size: ProgramSize, problem: DesignProblem, name: str) -> None:
    if size.n_bytes <= MAX_PROGRAM_BYTES:
        return
    raise TooLargeError(
        f"{name} for {problem.n_classes} classes would have {size}, about "
        f"{_bytes_text(size.n_bytes)} before the solver's own memory; at most "
        f"{_bytes_text(MAX_PROGRAM_BYTES)} are allowed. {_INSTEAD}"
    )


_INSTEAD = (
    "Use method='auto', whose bounds and constructions need no program, or ask for fewer classes "
    "or a stricter balance that leaves fewer columns."
)


def _columns_by_weight(problem: DesignProblem) -> list[int]:
    """How many admissible columns part w classes from the first, for w = 0, ..., k - 1.

    Where there are too many columns to look at, a balance by class sizes is left out of
    account: the count is then an upper bound.
    """
    k = problem.n_classes
    limit = k if problem.max_imbalance is None else balance_limit(problem.max_imbalance, None, k)
    if problem.class_sizes is None or problem.max_imbalance is None:
        return [comb(k - 1, w) if w > 0 and abs(k - 2 * w) <= limit else 0 for w in range(k)]
    if k > MAX_SCANNED_CLASSES:
        return [0, *(comb(k - 1, w) for w in range(1, k))]
    limit = balance_limit(problem.max_imbalance, problem.class_sizes, k)
    return list(column_counts_by_weight(tuple(problem.class_sizes), limit))


def _parity_pays(problem: DesignProblem) -> bool:
    k = problem.n_classes
    rows = comb(k, 3)
    return rows * sum(_columns_by_weight(problem)) <= MAX_PARITY_NONZEROS


def _bytes_text(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.3g} EiB"
