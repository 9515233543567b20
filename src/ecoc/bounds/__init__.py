"""Upper bounds on row distance and column separation, with proofs that can be checked."""

from ecoc.bounds.checking import check_bound, check_separation_bound, check_target_bound
from ecoc.bounds.collection import all_bounds, best_bound
from ecoc.bounds.columns import column_limit, inner_product_bound, separation_bound
from ecoc.bounds.pairs import pair_bound
from ecoc.bounds.problem import Bound, BoundProblem, TargetBound
from ecoc.bounds.rows import averaging_bound, parity_bound, target_bound, words_bound

__all__ = [
    "Bound",
    "BoundProblem",
    "TargetBound",
    "all_bounds",
    "averaging_bound",
    "best_bound",
    "check_bound",
    "check_separation_bound",
    "check_target_bound",
    "column_limit",
    "inner_product_bound",
    "pair_bound",
    "parity_bound",
    "separation_bound",
    "target_bound",
    "words_bound",
]
