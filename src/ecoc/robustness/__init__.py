"""Robustness: attacks and the accuracy that they leave, and certificates that no attack breaks."""

# ruff: noqa: E402  # torch has to be there first
from ecoc._checks import require

require("torch", extra="nn")

from ecoc.robustness.attacks import (
    APGD,
    FGSM,
    PGD,
    SPSA,
    Attack,
    AttackError,
    AttackResult,
    EveryTarget,
    HopSkipJump,
    Neighbours,
    Noise,
    ParticleSwarm,
    Square,
)
from ecoc.robustness.certify import Certification, Smoothing, certified_radii, certify
from ecoc.robustness.correlation import AttackedCorrelation, adversarial_error_correlation
from ecoc.robustness.evaluation import Progress, evaluate_robustness
from ecoc.robustness.geometry import NORMS, Ball
from ecoc.robustness.losses import LOSSES
from ecoc.robustness.protocols import PROTOCOLS
from ecoc.robustness.result import RobustnessResult
from ecoc.robustness.torch_models import torch_columns
from ecoc.robustness.views import View

__all__ = [
    "APGD",
    "FGSM",
    "LOSSES",
    "NORMS",
    "PGD",
    "PROTOCOLS",
    "SPSA",
    "Attack",
    "AttackError",
    "AttackResult",
    "AttackedCorrelation",
    "Ball",
    "Certification",
    "EveryTarget",
    "HopSkipJump",
    "Neighbours",
    "Noise",
    "ParticleSwarm",
    "Progress",
    "RobustnessResult",
    "Smoothing",
    "Square",
    "View",
    "adversarial_error_correlation",
    "certified_radii",
    "certify",
    "evaluate_robustness",
    "torch_columns",
]
