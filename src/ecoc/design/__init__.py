"""Design of codebooks: problems, integer programs, solvers, results."""

from ecoc.design.arrangement import assign_codewords
from ecoc.design.portfolio import FORMULATIONS, METHODS, SOLVERS, design_codebook
from ecoc.design.problem import OBJECTIVES, DesignProblem
from ecoc.design.programs import build_program
from ecoc.design.result import Certificate, Design, Stage, design_from_solution
from ecoc.design.search import SearchResult, search_codebook
from ecoc.design.similarity import ClassSimilarity, class_similarity, target_distances
from ecoc.design.solvers import ProgressPoint, Status, available_solvers
from ecoc.design.verification import VERIFICATION_SECONDS, read_design, unverified, verify_claim

__all__ = [
    "FORMULATIONS",
    "METHODS",
    "OBJECTIVES",
    "SOLVERS",
    "VERIFICATION_SECONDS",
    "Certificate",
    "ClassSimilarity",
    "Design",
    "DesignProblem",
    "ProgressPoint",
    "SearchResult",
    "Stage",
    "Status",
    "assign_codewords",
    "available_solvers",
    "build_program",
    "class_similarity",
    "design_codebook",
    "design_from_solution",
    "read_design",
    "search_codebook",
    "target_distances",
    "unverified",
    "verify_claim",
]
