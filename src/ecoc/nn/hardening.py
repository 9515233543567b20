"""The losses that training can minimise: of the data, of attacked data, of interval bounds."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ecoc.nn.intervals import interval_bounds
from ecoc.nn.objectives import Objective
from ecoc.nn.settings import TrainingSettings
from ecoc.nn.stacked import StackedNetworks

__all__ = ["Batch", "attacked_inputs", "member_losses"]

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
    found = start.clamp(lower, upper)
    step = _STEP * epsilon / settings.attack_steps
    was_training = module.training
    module.eval()
    for _ in range(settings.attack_steps):
        found = found.detach().requires_grad_()
        loss = objective.attack_loss(_outputs(module, found, dimensions), batch.targets)
        (gradient,) = torch.autograd.grad(loss, found)
        found = torch.clamp(found + step * gradient.sign(), lower, upper)
    module.train(was_training)
    return found.detach()


def _outputs(module: nn.Module, inputs: Tensor, dimensions: int) -> Tensor:
    """The outputs for inputs that are shared, or one for each stacked network."""
    if isinstance(module, StackedNetworks) and inputs.ndim > dimensions:
        return module.separate(inputs)
    result: Tensor = module(inputs)
    return result
