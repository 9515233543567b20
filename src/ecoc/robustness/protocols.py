"""Which attacks an evaluation runs, and in which order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from ecoc.robustness.attacks import (
    APGD,
    PGD,
    SPSA,
    Attack,
    EveryTarget,
    HopSkipJump,
    Noise,
    Square,
)
from ecoc.robustness.models import AttackedModel

__all__ = [
    "PROTOCOLS",
    "AttackStage",
    "Protocol",
    "black_box_stages",
    "escalation_stages",
    "paper_stage",
    "strong_stages",
]


Protocol = Literal["paper", "strong"]
PROTOCOLS: tuple[Protocol, ...] = ("paper", "strong")
"""The names that an evaluation knows."""

_LOSS_NAMES = {"cross-entropy": "ce", "margin": "cw", "dlr": "dlr"}


_TARGETED = {"logits": "logits", "signs": "sharp", "probabilities": "tempered"}
"""The form of scores that is pushed on class by class, by what decides."""


@dataclass(frozen=True)
class AttackStage:
    """One attack of an evaluation.

    Attributes
    ----------
    name : str
        What stands in results.
    attack : Attack
        What is run.
    head : str, optional
        The form of scores that it pushes on; what decides if None.
    kind : {"gradient", "black-box", "noise"}
        What the attack needs; signs of masked gradients compare them.
    """

    name: str
    attack: Attack
    head: str | None = None
    kind: Literal["gradient", "black-box", "noise"] = "gradient"


def paper_stage(model: AttackedModel, steps: int = 100) -> AttackStage:
    """The attack of Gupta & Amin (2021): PGD with cross-entropy on the scores of equation 20.

    It starts at the sample, as their released code does. A model without a codebook is
    attacked on its logits.
    """
    head = "soft" if "soft" in model.heads else "logits"
    return _stage(PGD(steps=steps, loss="cross-entropy", random_start=False), head)


def strong_stages(model: AttackedModel, n_classes: int) -> list[AttackStage]:
    """The battery that runs after the paper's attack, on samples that still stand.

    Cheap attacks that break most of what can be broken come first; Square comes last, where
    whatever it still finds says that gradients were of no use. Where signs alone decide, what
    counts is which columns are the cheapest to turn around, and two attacks look for these.
    """
    if model.is_black_box:
        return black_box_stages()
    if "soft" not in model.heads:
        return [*_class_stages(n_classes), *_checks("logits")]
    stages = [
        _stage(APGD(steps=30), "sharp"),
        _stage(APGD(steps=50), "logits"),
        _stage(APGD(steps=40), "soft"),
    ]
    stages.append(_stage(APGD(steps=20, loss="cross-entropy"), "log"))
    if model.matrix is not None and not model.matrix.all():
        # Without zeros it would be the margin of the logits once more.
        stages.append(_stage(APGD(steps=30), "log-likelihood"))
    by_signs = model.deciding == "signs"
    if by_signs:
        stages.append(_stage(APGD(steps=50, restarts=3), "fewest"))
    if n_classes > 2:
        head = _TARGETED[model.deciding]
        stages.append(_every_target(head, APGD(steps=20, random_start=False), 9))
    if n_classes > 2 and by_signs:
        stages.append(_every_target("fewest", APGD(steps=30, random_start=False), 5))
    return [*stages, *_checks("sharp")]


def _class_stages(n_classes: int) -> list[AttackStage]:
    """What is pushed on where every class has a score of its own."""
    stages = [
        _stage(APGD(steps=50), "logits"),
        _stage(APGD(steps=30, loss="cross-entropy"), "logits"),
    ]
    if n_classes > 2:
        stages += [
            _stage(APGD(steps=30, loss="dlr"), "logits"),
            _every_target("logits", APGD(steps=20), 9),
        ]
    return stages


def _every_target(head: str, attack: APGD, n_targets: int) -> AttackStage:
    return AttackStage(f"every-target-cw-{head}", EveryTarget(attack, n_targets), head)


def _checks(head: str) -> list[AttackStage]:
    """What needs no gradients: whatever it still finds says that gradients were of no use."""
    return [
        AttackStage("noise", Noise(), None, "noise"),
        AttackStage(f"square-{head}", Square(queries=100), head, "black-box"),
    ]


def black_box_stages() -> list[AttackStage]:
    """What can be run without gradients: from scores, and from predicted classes alone."""
    walk = HopSkipJump(steps=10, samples=30)
    return [
        AttackStage("noise", Noise(), None, "noise"),
        AttackStage("square", Square(queries=1000), None, "black-box"),
        AttackStage("hop-skip-jump", walk, None, "black-box"),
    ]


def escalation_stages(head: str) -> list[AttackStage]:
    """What is run where gradients cannot be believed, on what is left: many more queries."""
    return [
        AttackStage(f"spsa-{head}", SPSA(), head, "black-box"),
        AttackStage(f"square-5000-{head}", Square(queries=5000), head, "black-box"),
    ]


def _stage(attack: PGD | APGD, head: str) -> AttackStage:
    return AttackStage(
        f"{type(attack).__name__.lower()}-{_LOSS_NAMES[attack.loss]}-{head}", attack, head
    )
