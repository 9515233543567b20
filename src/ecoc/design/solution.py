"""From the solution of a program back to a codebook, checked in whole numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecoc.codes import Codebook, Provenance, columns_to_matrix
from ecoc.design.formulations import Formulation
from ecoc.design.problem import DesignProblem
from ecoc.design.result import Design
from ecoc.design.solvers import Status
from ecoc.errors import InvalidCodebookError, SolverError

__all__ = ["codebook_of", "design_from_solution"]


def codebook_of(
    problem: DesignProblem, columns: npt.NDArray[np.int64], provenance: Provenance
) -> Codebook:
    """The chosen columns as a codebook that satisfies the problem, or a SolverError."""
    try:
        codebook = Codebook(
            columns_to_matrix(np.sort(columns), problem.n_classes),
            name="designed",
            provenance=provenance,
        )
    except InvalidCodebookError as error:
        raise SolverError(f"the chosen columns are no codebook: {error}") from error
    wrong = problem.violations(codebook)
    if wrong:
        raise SolverError(f"the chosen columns do not satisfy the problem: {'; '.join(wrong)}.")
    return codebook


def design_from_solution(
    problem: DesignProblem, program: Formulation, x: npt.ArrayLike, source: str
) -> Design:
    """Turn the solution of a program that was solved elsewhere into a design.

    Nothing vouches for a bound, so the design is FEASIBLE at best. The solution is checked
    like any other.
    """
    codebook = codebook_of(
        problem, program.columns_of(x), Provenance("imported", {"source": source})
    )
    return Design(problem, codebook, Status.FEASIBLE, problem.objective_of(codebook), None, None)
