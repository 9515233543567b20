"""What networks are trained for, and on which inputs: as they are, attacked, or as intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from ecoc.nn.decoder import CodeDecoder
from ecoc.nn.networks.intervals import interval_bounds
from ecoc.nn.networks.stacked import StackedNetworks

if TYPE_CHECKING:
    from ecoc.nn.training.trainer import TrainingSettings

__all__ = [
    "Batch",
    "ClassObjective",
    "ColumnObjective",
    "Objective",
    "attacked_inputs",
    "member_losses",
]


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
        """The objective on another device."""


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
        losses = functional.softplus(-sides * outputs) * sides.abs()
        means = losses.sum(dim=0) / sides.abs().sum(dim=0).clamp(min=1)
        return means if self.independent else means.mean()[None]

    def attack_loss(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """Losses of the columns, or minus the lead of the class through the decoder."""
        if self.decoder is not None:
            # By how much the best other class leads: unlike cross-entropy it never saturates.
            scores: Tensor = self.decoder(outputs)
            own = scores.gather(1, targets[:, None])[:, 0]
            others = scores.scatter(1, targets[:, None], -torch.inf)
            return (others.amax(dim=1) - own).sum()
        sides = self.code[targets]
        return (functional.softplus(-sides * outputs) * sides.abs()).sum()

    def worst(self, lower: Tensor, upper: Tensor, targets: Tensor) -> Tensor:
        """The end that is on the wrong side."""
        return torch.where(self.code[targets] > 0, lower, upper)

    def to(self, device: torch.device) -> ColumnObjective:
        """The objective on another device."""
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
        """The objective on another device."""
        return ClassObjective(self.decoder.to(device))


_STEP = 2.5
"""Steps of an attack cover this many times the radius together (Madry et al. 2018)."""

_RAMP = 0.5
"""The share of IBP training in which the radius grows to its full size, after a short start."""

_START = 0.1
_WORST_SHARE = 0.5
"""How much the worst case weighs in IBP training in the end (Gowal et al. 2018)."""


@dataclass(frozen=True)
class Batch:
    """Samples that are looked at together.

    Attributes
    ----------
    inputs : tensor of shape (n_samples, ...)
        The inputs.
    targets : tensor of int of shape (n_samples,)
        The classes.
    noise : tensor of the shape of the inputs, optional
        Numbers between -1 and 1, where attacks start.
    """

    inputs: Tensor
    targets: Tensor
    noise: Tensor | None = None

    def take(self, rows: Tensor) -> Batch:
        """Some of the samples."""
        noise = None if self.noise is None else self.noise[rows]
        return Batch(self.inputs[rows], self.targets[rows], noise)


def member_losses(
    module: nn.Module,
    objective: Objective,
    batch: Batch,
    settings: TrainingSettings,
    progress: float,
) -> Tensor:
    """The loss of each member on a batch, by the kind of training that is set.

    Parameters
    ----------
    module : nn.Module
        One network, or several that are stacked.
    objective : Objective
        What they are trained for.
    batch : Batch
        The samples.
    settings : TrainingSettings
        The kind of training.
    progress : float
        The share of training that is done.
    """
    inputs, targets = batch.inputs, batch.targets
    if settings.training == "adversarial":
        attacked = attacked_inputs(module, objective, batch, settings)
        return objective.losses(_outputs(module, attacked, inputs.ndim), targets)
    losses = objective.losses(module(inputs), targets)
    if settings.training == "standard":
        return losses
    growth = min(max(progress - _START, 0) / _RAMP, 1)
    radius = settings.epsilon * growth
    bounds = interval_bounds(
        module,
        (inputs - radius).clamp(min=settings.low),
        (inputs + radius).clamp(max=settings.high),
    )
    worst = objective.losses(objective.worst(*bounds, targets), targets)
    share = _WORST_SHARE * growth
    return (1 - share) * losses + share * worst


def attacked_inputs(
    module: nn.Module,
    objective: Objective,
    batch: Batch,
    settings: TrainingSettings,
) -> Tensor:
    """Projected gradient ascent in the l_inf ball and the box, from a random start.

    Stacked networks that are attacked one by one get inputs of their own, of shape
    (n_samples, n_networks, ...).
    """
    inputs, epsilon = batch.inputs, settings.epsilon
    dimensions = inputs.ndim
    start = inputs if batch.noise is None else inputs + epsilon * batch.noise
    if isinstance(module, StackedNetworks) and settings.attack_through == "column":
        inputs, start = module.expand(inputs), module.expand(start)
    lower = (inputs - epsilon).clamp(min=settings.low)
    upper = (inputs + epsilon).clamp(max=settings.high)
    attacked = start.clamp(lower, upper)
    step = _STEP * epsilon / settings.attack_steps
    was_training = module.training
    module.eval()
    for _ in range(settings.attack_steps):
        attacked = attacked.detach().requires_grad_()
        loss = objective.attack_loss(_outputs(module, attacked, dimensions), batch.targets)
        (gradient,) = torch.autograd.grad(loss, attacked)
        attacked = torch.clamp(attacked + step * gradient.sign(), lower, upper)
    module.train(was_training)
    return attacked.detach()


def _outputs(module: nn.Module, inputs: Tensor, dimensions: int) -> Tensor:
    """The outputs for inputs that are shared, or one for each stacked network."""
    if isinstance(module, StackedNetworks) and inputs.ndim > dimensions:
        return module.separate(inputs)
    result: Tensor = module(inputs)
    return result
