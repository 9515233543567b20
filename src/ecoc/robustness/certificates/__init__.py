"""Certificates: sound bounds on columns, and what follows from them for classes."""

from ecoc.robustness.certificates.classes import (
    all_bits_hold,
    flips_absorbed,
    linear_radii_of_leads,
    pairs_stand,
    worst_leads,
)
from ecoc.robustness.certificates.columns import ColumnBounds
from ecoc.robustness.certificates.crown import CrownBounds
from ecoc.robustness.certificates.ibp import IntervalBounds
from ecoc.robustness.certificates.linear import LinearBounds, largest_drop, linear_radii
from ecoc.robustness.certificates.rbf import RBFBounds
from ecoc.robustness.certificates.region import Interval, Region
from ecoc.robustness.certificates.result import Certification
from ecoc.robustness.certificates.rules import DecodingRule, rule_of
from ecoc.robustness.certificates.smoothing import SmoothedBounds, Smoothing, count_votes
from ecoc.robustness.certificates.task import DECODINGS, METHODS

__all__ = [
    "DECODINGS",
    "METHODS",
    "Certification",
    "ColumnBounds",
    "CrownBounds",
    "DecodingRule",
    "Interval",
    "IntervalBounds",
    "LinearBounds",
    "RBFBounds",
    "Region",
    "SmoothedBounds",
    "Smoothing",
    "all_bits_hold",
    "count_votes",
    "flips_absorbed",
    "largest_drop",
    "linear_radii",
    "linear_radii_of_leads",
    "pairs_stand",
    "rule_of",
    "worst_leads",
]
