"""Design of codebooks: problems, integer programs, solvers, results."""

from ecoc.design.certificate import Certificate
from ecoc.design.designer import FORMULATIONS, SOLVERS, design_codebook, design_from_solution
from ecoc.design.problem import OBJECTIVES, DesignProblem
from ecoc.design.programs import build_program
from ecoc.design.result import Design, read_design, verify_claim
from ecoc.design.solvers import ProgressPoint, Status, available_solvers

__all__ = [
    "FORMULATIONS",
    "OBJECTIVES",
    "SOLVERS",
    "Certificate",
    "Design",
    "DesignProblem",
    "ProgressPoint",
    "Status",
    "available_solvers",
    "build_program",
    "design_codebook",
    "design_from_solution",
    "read_design",
    "verify_claim",
]
