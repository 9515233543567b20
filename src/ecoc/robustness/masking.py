"""Signs that gradients are masked: that an accuracy comes from an attack that got nowhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ecoc._checks import listing

__all__ = ["Evidence", "masking_signs"]

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
    """What an evaluation saw.

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
