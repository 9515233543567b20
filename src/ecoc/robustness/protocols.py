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
    PatchPGD,
    PixelGradient,
    PixelSearch,
    Square,
)
from ecoc.robustness.attacks.gradient import AnnealedPGD
from ecoc.robustness.attacks.pixels import Corruptions
from ecoc.robustness.models import AttackedModel
from ecoc.robustness.threat import CORRUPTION_NORMS, PIXEL_NORMS, Norm, corruptions_of

__all__ = [
    "PAPER_NORMS",
    "PROTOCOLS",
    "AttackStage",
    "Protocol",
    "black_box_stages",
    "bumpy_stages",
    "escalation_stages",
    "paper_stage",
    "strong_stages",
]


Protocol = Literal["paper", "strong"]
PROTOCOLS: tuple[Protocol, ...] = ("paper", "strong")
"""The names that an evaluation knows."""

PAPER_NORMS: tuple[Norm, ...] = ("linf", "l2")
"""The threats that the paper's attack is run for."""

_LOSS_NAMES = {"cross-entropy": "ce", "margin": "cw", "dlr": "dlr"}
_ATTACK_NAMES = {"PixelGradient": "pixels", "PatchPGD": "patch"}


_TARGETED = {"logits": "logits", "signs": "sharp", "probabilities": "tempered"}
"""The form of scores that is pushed on class by class, by what decides."""

_DECIDING = {"logits": "logits", "signs": "sharp", "probabilities": "soft"}
"""The form that is nearest to what decides, for the last climb to the class that is nearest."""


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
    kind : {"gradient", "black-box", "noise", "search"}
        What the attack needs. Signs of masked gradients compare gradients with black boxes and
        noise; a search is what is expected to find more where a threat has no gradients.
    norm : str, optional
        The threat that it is run for; that of the evaluation if None.
    """

    name: str
    attack: Attack
    head: str | None = None
    kind: Literal["gradient", "black-box", "noise", "search"] = "gradient"
    norm: Norm | None = None


def paper_stage(model: AttackedModel, steps: int = 100) -> AttackStage:
    """The attack of Gupta & Amin (2021): PGD with cross-entropy on the scores of equation 20.

    It starts at the sample, as their released code does. A model without a codebook is
    attacked on its logits.
    """
    head = "soft" if "soft" in model.heads else "logits"
    return _stage(PGD(steps=steps, loss="cross-entropy", random_start=False), head)


def strong_stages(model: AttackedModel, n_classes: int, norm: Norm = "linf") -> list[AttackStage]:
    """The battery that runs after the paper's attack, on samples that still stand.

    Cheap attacks that break most of what can be broken come first; Square comes last, where
    whatever it still finds says that gradients were of no use. Where signs alone decide, what
    counts is which columns are the cheapest to turn around: one attack begins anew many times to
    find these, and another looks for them class by class.
    """
    if norm in PIXEL_NORMS:
        return _pixel_stages(model, n_classes, norm)
    if norm in CORRUPTION_NORMS:
        return [
            AttackStage(kind, Corruptions(), None, "search", kind) for kind in corruptions_of(norm)
        ]
    if model.is_black_box:
        return black_box_stages(norm)
    if "soft" not in model.heads:
        return [*_class_stages(n_classes), *_checks("logits", norm)]
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
        stages.append(_stage(APGD(steps=60, restarts=4), "fewest"))
    if n_classes > 2:
        head = _TARGETED[model.deciding]
        short, long = (APGD(steps=steps, random_start=False) for steps in (20, 40))
        # Short climbs tell which class is nearest. Tempered scores lead there, but near the end
        # a column counts for as much as it does in what decides.
        every = EveryTarget(short, 9, last=long, last_scores=model.heads[_DECIDING[model.deciding]])
        stages.append(_every_target(head, every))
    if n_classes > 2 and by_signs:
        walk = AnnealedPGD(restarts=6) if norm in AnnealedPGD.norms else APGD(steps=30)
        stages.append(_every_target("fewest", EveryTarget(walk, 9)))
    return [*stages, *_checks("sharp", norm)]


def bumpy_stages(model: AttackedModel, n_classes: int, norm: Norm = "linf") -> list[AttackStage]:
    """What is run besides where inputs or outputs are bent, so that scores have many bumps."""
    if norm not in APGD.norms:
        return []
    head = _TARGETED[model.deciding] if "soft" in model.heads else "logits"
    walk: Attack = APGD(steps=50)
    if norm in AnnealedPGD.norms:
        walk = AnnealedPGD(steps=50, restarts=2, random_start=False)
    if n_classes == 2:
        return [AttackStage(f"annealed-cw-{head}", walk, head)]
    return [AttackStage(f"annealed-every-target-cw-{head}", EveryTarget(walk, 9), head)]


def _pixel_stages(model: AttackedModel, n_classes: int, norm: Norm) -> list[AttackStage]:
    """What changes pixels: along gradients where there are any, then by a long search."""
    if model.is_black_box:
        return [
            AttackStage("noise", Noise(), None, "search"),
            AttackStage("pixel-search", PixelSearch(queries=5000), None, "search"),
        ]
    heads = ("sharp", "logits", "soft") if "soft" in model.heads else ("logits",)
    stages = [_stage(PixelGradient(), head) for head in heads]
    if norm == "patch":
        stages += [_stage(PatchPGD(), head) for head in heads[:2]]
    if n_classes > 2:
        greedy = PixelGradient(steps=5)
        head = _TARGETED[model.deciding] if "soft" in model.heads else "logits"
        stages.append(AttackStage(f"every-target-cw-{head}", EveryTarget(greedy, 9), head))
    search = PixelSearch(queries=2000)
    return [*stages, AttackStage(f"pixel-search-{heads[0]}", search, heads[0], "search")]


def _class_stages(n_classes: int) -> list[AttackStage]:
    """What is pushed on where every class has a score of its own."""
    stages = [
        _stage(APGD(steps=50), "logits"),
        _stage(APGD(steps=30, loss="cross-entropy"), "logits"),
    ]
    if n_classes > 2:
        stages += [
            _stage(APGD(steps=30, loss="dlr"), "logits"),
            _every_target("logits", EveryTarget(APGD(steps=20), 9)),
        ]
    return stages


def _every_target(head: str, every: EveryTarget) -> AttackStage:
    return AttackStage(f"every-target-cw-{head}", every, head)


def _checks(head: str, norm: Norm) -> list[AttackStage]:
    """What needs no gradients: whatever it still finds says that gradients were of no use."""
    noise = AttackStage("noise", Noise(), None, "noise")
    if norm not in Square.norms:
        return [noise]
    return [noise, AttackStage(f"square-{head}", Square(queries=100), head, "black-box")]


def black_box_stages(norm: Norm = "linf") -> list[AttackStage]:
    """What can be run without gradients: from scores, and from predicted classes alone."""
    walk = HopSkipJump(steps=10, samples=30)
    square = AttackStage("square", Square(queries=1000), None, "black-box")
    return [
        AttackStage("noise", Noise(), None, "noise"),
        *[square] * (norm in Square.norms),
        AttackStage("hop-skip-jump", walk, None, "black-box"),
    ]


def escalation_stages(head: str, norm: Norm = "linf") -> list[AttackStage]:
    """What is run where gradients cannot be believed, on what is left: many more queries."""
    if norm in PIXEL_NORMS:
        search = PixelSearch(queries=5000)
        return [AttackStage(f"pixel-search-5000-{head}", search, head, "black-box")]
    if norm not in Square.norms:
        return [AttackStage("hop-skip-jump", HopSkipJump(), None, "black-box")]
    return [
        AttackStage(f"spsa-{head}", SPSA(), head, "black-box"),
        AttackStage(f"square-5000-{head}", Square(queries=5000), head, "black-box"),
    ]


def _stage(attack: PGD | APGD | PixelGradient | PatchPGD, head: str) -> AttackStage:
    name = _ATTACK_NAMES.get(type(attack).__name__, type(attack).__name__.lower())
    return AttackStage(f"{name}-{_LOSS_NAMES[attack.loss]}-{head}", attack, head)
