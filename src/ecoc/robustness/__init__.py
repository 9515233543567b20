"""Robustness: attacks and the accuracy that they leave, and certificates that no attack breaks."""

# ruff: noqa: E402  # torch has to be there first
from ecoc._checks import require

require("torch", extra="nn")

from ecoc.robustness.certificates import Certification, Smoothing, certified_radii, certify
from ecoc.robustness.columns import torch_columns
from ecoc.robustness.corruptions import corrupt
from ecoc.robustness.evaluation import (
    AttackedCorrelation,
    AttackProgress,
    adversarial_error_correlation,
    evaluate_robustness,
)
from ecoc.robustness.examples import AdversarialExamples
from ecoc.robustness.models import View
from ecoc.robustness.protocols import PROTOCOLS
from ecoc.robustness.result import Leaderboard, RobustnessResult
from ecoc.robustness.threat import NORMS, Ball

__all__ = [
    "NORMS",
    "PROTOCOLS",
    "AdversarialExamples",
    "AttackProgress",
    "AttackedCorrelation",
    "Ball",
    "Certification",
    "Leaderboard",
    "RobustnessResult",
    "Smoothing",
    "View",
    "adversarial_error_correlation",
    "certified_radii",
    "certify",
    "corrupt",
    "evaluate_robustness",
    "torch_columns",
]
