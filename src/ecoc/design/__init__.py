"""Design of codebooks: problems, the ways to solve them, and results with proof."""

from ecoc.design.arrangement import assign_codewords
from ecoc.design.extension import extend_codebook
from ecoc.design.portfolio import METHODS, SOLVERS, design_codebook
from ecoc.design.problem import DesignProblem
from ecoc.design.result import Certificate, Design, design_from_solution
from ecoc.design.search import search_codebook
from ecoc.design.similarity import ClassSimilarity, class_similarity, target_distances
from ecoc.design.solvers import Status
from ecoc.design.ternary_problem import TernaryProblem
from ecoc.design.verification import read_design, verify_claim

__all__ = [
    "METHODS",
    "SOLVERS",
    "Certificate",
    "ClassSimilarity",
    "Design",
    "DesignProblem",
    "Status",
    "TernaryProblem",
    "assign_codewords",
    "class_similarity",
    "design_codebook",
    "design_from_solution",
    "extend_codebook",
    "read_design",
    "search_codebook",
    "target_distances",
    "verify_claim",
]
