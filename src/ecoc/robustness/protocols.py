"""Which attacks an evaluation runs, and the signs that gradients are masked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from ecoc._checks import listing
from ecoc.robustness.attacks import (
    APGD,
    PGD,
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
    "Evidence",
    "Protocol",
    "black_box_stages",
    "masking_signs",
    "paper_stage",
    "strong_stages",
]


ZERO_SHARE = 0.05
"""From this share of zero gradients on, an attack is called stalled."""

BEATEN_SHARE = 0.01
"""From this share of all samples on, another kind of attack is said to beat gradients."""

GAP = 0.1
"""From this difference in accuracy on, the paper's attack is said to have missed much."""

LEFT_AT_LARGE = 0.05
"""An accuracy above this, with half of the box in reach, is not believed."""


@dataclass(frozen=True)
class Evidence:
    """Counts and accuracies of an evaluation that tell whether gradients are masked.

    Attributes
    ----------
    n_samples : int
        The number of samples.
    zero_gradients : mapping of str to float
        For each attack with gradients the share that was exactly zero.
    beaten_by : mapping of str to int
        For each attack without gradients how many samples it broke at a radius at which
        gradients had not.
    epsilons, attacked : sequence of float
        Radii and accuracies.
    paper : sequence of float, optional
        Accuracies under the paper's attack alone.
    large : float
        The radius from which on nothing should stand.
    """

    n_samples: int
    zero_gradients: Mapping[str, float]
    beaten_by: Mapping[str, int]
    epsilons: Sequence[float]
    attacked: Sequence[float]
    paper: Sequence[float] | None
    large: float


def masking_signs(evidence: Evidence) -> list[str]:
    """Say what speaks against believing the accuracies, a sentence or two each.

    Examples
    --------
    >>> signs = masking_signs(Evidence(100, {"pgd": 0.88}, {"noise": 0}, [0.1], [0.9], None, 0.5))
    >>> print(*signs)
    Gradients are masked: 88 % of those of pgd were exactly zero.
    """
    return [
        *_stalled(evidence),
        *_beaten(evidence),
        *_missed(evidence),
        *_standing_at_large(evidence),
    ]


def _stalled(evidence: Evidence) -> list[str]:
    stalled = [
        f"{100 * share:.0f} % of those of {name}"
        for name, share in evidence.zero_gradients.items()
        if share >= ZERO_SHARE
    ]
    if not stalled:
        return []
    return [f"Gradients are masked: {listing(stalled)} were exactly zero."]


def _beaten(evidence: Evidence) -> list[str]:
    return [
        f"Gradients may be masked: {name} broke {count} of {evidence.n_samples} samples that no "
        "attack with gradients broke at the same radius."
        for name, count in evidence.beaten_by.items()
        if count > BEATEN_SHARE * evidence.n_samples
    ]


def _missed(evidence: Evidence) -> list[str]:
    if evidence.paper is None:
        return []
    gaps = [
        (paper - attacked, epsilon, paper, attacked)
        for epsilon, paper, attacked in zip(
            evidence.epsilons, evidence.paper, evidence.attacked, strict=True
        )
    ]
    gap, epsilon, paper, attacked = max(gaps)
    if gap <= GAP:
        return []
    text = (
        f"Cross-entropy alone misses much: at {epsilon:g} it leaves {100 * paper:.0f} % where the "
        f"battery leaves {100 * attacked:.0f} %."
    )
    return [text]


def _standing_at_large(evidence: Evidence) -> list[str]:
    return [
        f"The attack is too weak: at {epsilon:g}, with half of the box in reach, it leaves "
        f"{100 * accuracy:.0f} %."
        for epsilon, accuracy in zip(evidence.epsilons, evidence.attacked, strict=True)
        if epsilon >= evidence.large and accuracy > LEFT_AT_LARGE
    ][:1]


Protocol = Literal["paper", "strong"]
PROTOCOLS: tuple[Protocol, ...] = ("paper", "strong")
"""The names that an evaluation knows."""

_LOSS_NAMES = {"cross-entropy": "ce", "margin": "cw", "dlr": "dlr"}


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
    whatever it still finds says that gradients were of no use.
    """
    if model.is_black_box:
        return black_box_stages()
    coded = "soft" in model.heads
    stages = [
        _stage(PGD(steps=20, loss="margin", random_start=False), "logits"),
        _stage(APGD(steps=50), "logits"),
    ]
    if coded:
        stages += [
            _stage(APGD(steps=50), "sharp"),
            _stage(APGD(steps=30), "tempered"),
            _stage(APGD(steps=30, loss="cross-entropy"), "tempered-log"),
            _stage(APGD(steps=30, loss="cross-entropy"), "log"),
            _stage(APGD(steps=30, loss="cross-entropy"), "soft"),
            _stage(APGD(steps=30), "soft"),
        ]
    else:
        stages.append(_stage(APGD(steps=50, loss="cross-entropy"), "logits"))
        if n_classes > 2:
            stages.append(_stage(APGD(steps=50, loss="dlr"), "logits"))
    if model.matrix is not None and not model.matrix.all():
        # Without zeros it would be the margin of the logits once more.
        stages.append(_stage(APGD(steps=50), "log-likelihood"))
    best = "sharp" if coded else "logits"
    if n_classes > 2:
        every = EveryTarget(APGD(steps=20, random_start=False))
        stages.append(AttackStage(f"every-target-cw-{best}", every, best))
    return [
        *stages,
        AttackStage(f"apgd-restarts-cw-{best}", APGD(steps=50, restarts=2), best),
        AttackStage("noise", Noise(), None, "noise"),
        AttackStage(f"square-{best}", Square(queries=500), best, "black-box"),
    ]


def black_box_stages() -> list[AttackStage]:
    """What can be run without gradients: from scores, and from predicted classes alone."""
    walk = HopSkipJump(steps=10, samples=30)
    return [
        AttackStage("noise", Noise(), None, "noise"),
        AttackStage("square", Square(queries=1000), None, "black-box"),
        AttackStage("hop-skip-jump", walk, None, "black-box"),
    ]


def _stage(attack: PGD | APGD, head: str) -> AttackStage:
    return AttackStage(
        f"{type(attack).__name__.lower()}-{_LOSS_NAMES[attack.loss]}-{head}", attack, head
    )
