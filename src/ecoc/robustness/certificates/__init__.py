"""Certificates: sound bounds on columns, and what follows from them for classes."""

from ecoc.robustness.certificates.bounds import (
    ColumnBounds,
    IntervalBounds,
    SmoothedBounds,
    Smoothing,
)
from ecoc.robustness.certificates.certify import certified_radii, certify
from ecoc.robustness.certificates.crown import CrownBounds
from ecoc.robustness.certificates.linear import LinearBounds, RBFBounds
from ecoc.robustness.result import Certification

__all__ = [
    "Certification",
    "ColumnBounds",
    "CrownBounds",
    "IntervalBounds",
    "LinearBounds",
    "RBFBounds",
    "SmoothedBounds",
    "Smoothing",
    "certified_radii",
    "certify",
]
