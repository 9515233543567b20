"""What networks are trained for: the sides of columns, or the classes themselves."""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from ecoc.nn.decoder import CodeDecoder

__all__ = ["ClassObjective", "ColumnObjective", "Objective"]


class Objective(Protocol):
    """A loss of outputs, for networks that are trained together as independent members."""

    def used(self, targets: Tensor) -> Tensor | None:
        """Which samples count at all (None: every one)."""

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The mean loss of each member."""

    def attack_loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The sum over samples of what an attacker wants to be large."""

    def worst(self, lower: Tensor, upper: Tensor, targets: Tensor) -> Tensor:
        """The outputs within bounds that have the largest loss."""

    def to(self, device: torch.device) -> Objective:
        """The same on another device."""


class ColumnObjective:
    """The logistic loss of columns, each over the samples of the classes it uses.

    Parameters
    ----------
    code : tensor of shape (n_classes, n_columns)
        Columns of a codebook.
    independent : bool, default=True
        Whether the columns are networks of their own, with a loss each; otherwise they are
        one network, with the mean.
    decoder : CodeDecoder, optional
        Attack the class through this decoder, instead of every column by itself.

    Examples
    --------
    >>> objective = ColumnObjective(torch.tensor([[1.0, 1.0], [-1.0, 0.0]]))
    >>> objective.losses(torch.tensor([[0.0, 9.0], [0.0, 0.0]]), torch.tensor([1, 1]))
    tensor([0.6931, 0.0000])
    """

    def __init__(
        self, code: Tensor, *, independent: bool = True, decoder: CodeDecoder | None = None
    ) -> None:
        self.code, self.independent, self.decoder = code, independent, decoder

    def used(self, targets: Tensor) -> Tensor | None:
        """Samples that a single column uses; several columns take them all."""
        return self.code[targets, 0] != 0 if self.code.shape[1] == 1 else None

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Means over the samples that count."""
        sides = self.code[targets]
        found = functional.softplus(-sides * outputs) * sides.abs()
        means = found.sum(dim=0) / sides.abs().sum(dim=0).clamp(min=1)
        return means if self.independent else means.mean()[None]

    def attack_loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Losses of the columns, or of the class through the decoder."""
        if self.decoder is not None:
            return functional.cross_entropy(self.decoder(outputs), targets, reduction="sum")
        sides = self.code[targets]
        return (functional.softplus(-sides * outputs) * sides.abs()).sum()

    def worst(self, lower: Tensor, upper: Tensor, targets: Tensor) -> Tensor:
        """The end that is on the wrong side."""
        return torch.where(self.code[targets] > 0, lower, upper)

    def to(self, device: torch.device) -> ColumnObjective:
        """The same on another device."""
        decoder = None if self.decoder is None else self.decoder.to(device)
        return ColumnObjective(self.code.to(device), independent=self.independent, decoder=decoder)


class ClassObjective:
    """Cross-entropy of the classes, from outputs directly or through a decoder.

    Parameters
    ----------
    decoder : nn.Module, optional
        Turns outputs into logits of classes.

    Examples
    --------
    >>> ClassObjective().losses(torch.zeros(2, 4), torch.tensor([0, 3]))
    tensor([1.3863])
    """

    def __init__(self, decoder: nn.Module | None = None) -> None:
        self.decoder = nn.Identity() if decoder is None else decoder

    def used(self, targets: Tensor) -> Tensor | None:
        """Every sample counts."""
        del targets
        return None

    def losses(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The mean over the samples."""
        return functional.cross_entropy(self.decoder(outputs), targets)[None]

    def attack_loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """The sum over the samples."""
        return functional.cross_entropy(self.decoder(outputs), targets, reduction="sum")

    def worst(self, lower: Tensor, upper: Tensor, targets: Tensor) -> Tensor:
        """The lower end of the true class and the upper ends of the others."""
        true = functional.one_hot(targets, lower.shape[1]).bool()
        return torch.where(true, lower, upper)

    def to(self, device: torch.device) -> ClassObjective:
        """The same on another device."""
        return ClassObjective(self.decoder.to(device))
