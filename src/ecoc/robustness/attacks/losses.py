"""What attacks maximise: losses of class scores, one value for each sample."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

from ecoc.errors import InvalidInputError

__all__ = ["ATTACK_LOSSES", "LossName", "best_other", "cross_entropy", "dlr", "margin"]

LossName = Literal["cross-entropy", "margin", "dlr"]
Loss: TypeAlias = Callable[[Tensor, Tensor, "Tensor | None"], Tensor]


def cross_entropy(scores: Tensor, labels: Tensor, targets: Tensor | None = None) -> Tensor:
    """Cross-entropy of the softmax of scores; minus that of the targets, if there are any.

    Its gradient vanishes where one score is far above the others: the softmax saturates.

    Examples
    --------
    >>> cross_entropy(torch.tensor([[0.0, 0.0]]), torch.tensor([0]))
    tensor([0.6931])
    """
    if targets is not None:
        return -functional.cross_entropy(scores, targets, reduction="none")
    return functional.cross_entropy(scores, labels, reduction="none")


def margin(scores: Tensor, labels: Tensor, targets: Tensor | None = None) -> Tensor:
    """By how much the best other class leads the label (Carlini & Wagner 2017).

    With targets, by how much the target leads the best other class. Scaling the scores
    scales the gradient and changes nothing else.

    Examples
    --------
    >>> margin(torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([0]))
    tensor([-1.])
    >>> margin(torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([0]), torch.tensor([1]))
    tensor([-2.])
    """
    if targets is not None:
        return _of(scores, targets) - best_other(scores, targets)
    return best_other(scores, labels) - _of(scores, labels)


def dlr(scores: Tensor, labels: Tensor, targets: Tensor | None = None) -> Tensor:
    """Difference of logits ratio (Croce & Hein 2020): the margin over the spread of the best.

    Unchanged when the scores are scaled or shifted. Needs three classes, four with targets.

    Examples
    --------
    >>> dlr(torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([0]))
    tensor([-0.5000])
    """
    least = 3 if targets is None else 4
    if scores.shape[1] < least:
        raise InvalidInputError(
            f"The loss 'dlr' needs {least} classes or more here, not {scores.shape[1]}; "
            "use 'margin'."
        )
    ranked = scores.sort(dim=1, descending=True).values
    if targets is not None:
        spread = ranked[:, 0] - (ranked[:, 2] + ranked[:, 3]) / 2
        return (_of(scores, targets) - _of(scores, labels)) / _not_zero(spread)
    return margin(scores, labels) / _not_zero(ranked[:, 0] - ranked[:, 2])


ATTACK_LOSSES: dict[str, Loss] = {"cross-entropy": cross_entropy, "margin": margin, "dlr": dlr}
"""Losses by name; each takes scores, labels, and targets or None."""


def best_other(scores: Tensor, labels: Tensor) -> Tensor:
    """The best score of the classes beside the label."""
    own = functional.one_hot(labels, scores.shape[1]).bool()
    return scores.masked_fill(own, -torch.inf).amax(dim=1)


def _of(scores: Tensor, classes: Tensor) -> Tensor:
    return scores.gather(1, classes[:, None])[:, 0]


def _not_zero(spread: Tensor) -> Tensor:
    return spread.clamp(min=torch.finfo(spread.dtype).tiny)
