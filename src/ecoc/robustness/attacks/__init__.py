"""Attacks with one interface: with gradients, from scores, and from predicted classes alone."""

from ecoc.robustness.attacks.base import ATTACK_LOSSES, Attack, AttackError, AttackResult
from ecoc.robustness.attacks.black_box import (
    SPSA,
    HopSkipJump,
    Neighbours,
    Noise,
    ParticleSwarm,
    Square,
)
from ecoc.robustness.attacks.gradient import APGD, FGSM, PGD, EveryTarget

__all__ = [
    "APGD",
    "ATTACK_LOSSES",
    "FGSM",
    "PGD",
    "SPSA",
    "Attack",
    "AttackError",
    "AttackResult",
    "EveryTarget",
    "HopSkipJump",
    "Neighbours",
    "Noise",
    "ParticleSwarm",
    "Square",
]
