"""From a design problem to its integer program."""

from __future__ import annotations

from ecoc.design.problem import DesignProblem
from ecoc.design.programs.formulations import Formulation, build_ip1, build_ip2, build_ip3
from ecoc.design.programs.rows import ProgramOptions
from ecoc.design.programs.sizes import check_size, parity_pays
from ecoc.errors import TooLargeError
from ecoc.graphs import CliqueCover

__all__ = ["build_program"]


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
        parity_cuts=parity_pays(problem),
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


def _cover_that_fits(problem: DesignProblem) -> CliqueCover | None:
    """The clique cover of a problem, or None if the program would be too large with it."""
    from ecoc.graphs import clique_cover

    try:
        cover = clique_cover(problem.graph)
        check_size(problem, "ip3", n_cliques=cover.n_cliques, clique_nonzeros=cover.members.size)
    except TooLargeError:
        return None
    return cover
