"""Attacks with one interface: with gradients, from scores, from classes alone, on pixels."""

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
from ecoc.robustness.attacks.pixels import PatchPGD, PixelGradient, PixelSearch

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
    "PatchPGD",
    "PixelGradient",
    "PixelSearch",
    "Square",
]
