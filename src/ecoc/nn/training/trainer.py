"""The one loop that trains every network of this package."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import TypeAlias

import torch
from torch import Tensor, nn

from ecoc.errors import EcocError
from ecoc.nn.training.checkpoints import Checkpoint, TrainingState
from ecoc.nn.training.data import Batches, TrainingData
from ecoc.nn.training.objectives import Batch, Objective, member_losses
from ecoc.nn.training.settings import TrainingSettings, find_device

__all__ = ["OnEpoch", "TrainingError", "TrainingRecord", "Unit", "train"]

OnEpoch: TypeAlias = "Callable[[float], None]"
"""Called after every epoch with the mean loss."""


class TrainingError(EcocError, RuntimeError):
    """Training went wrong; the message says where and what may help."""


@dataclass(frozen=True)
class Unit:
    """What is trained by one loop.

    Attributes
    ----------
    name : str
        For files and messages.
    module : nn.Module
        One network, or `n_members` that are stacked.
    objective : Objective
        What it is trained for.
    n_members : int
        Networks that have nothing to do with each other, each with a loss of its own.
    """

    name: str
    module: nn.Module
    objective: Objective
    n_members: int = 1


@dataclass(frozen=True)
class TrainingRecord:
    """How the training of a network went.

    Attributes
    ----------
    losses : tuple of float
        Mean training loss of each epoch.
    validation_losses : tuple of float
        Loss on the validation samples after each epoch; empty without any.
    best_epoch : int
        The epoch, counted from 1, whose weights were kept.
    """

    losses: tuple[float, ...]
    validation_losses: tuple[float, ...] = field(default=())

    @property
    def best_epoch(self) -> int:
        """The epoch of the least validation loss, or the last one."""
        if not self.validation_losses:
            return len(self.losses)
        return min(range(len(self.validation_losses)), key=self.validation_losses.__getitem__) + 1


def train(
    unit: Unit,
    data: TrainingData,
    settings: TrainingSettings,
    *,
    checkpoint: Checkpoint | None = None,
    on_epoch: OnEpoch | None = None,
) -> tuple[TrainingRecord, ...]:
    """Train a unit in place.

    With validation samples, each member ends with the weights of its best epoch, and with
    ``patience`` it is judged no longer once it has not improved for that many epochs.

    Parameters
    ----------
    unit : Unit
        What is trained; its module ends in evaluation mode.
    data : TrainingData
        The samples.
    settings : TrainingSettings
        How.
    checkpoint : Checkpoint, optional
        Where the state is kept after every epoch. What is there already is taken up: the
        result is that of an unbroken run.
    on_epoch : callable, optional
        Is told the mean loss after every epoch.

    Returns
    -------
    tuple of TrainingRecord
        One for each member.
    """
    device = find_device(settings.device)
    unit.module.to(device)
    batches = Batches(data, settings, device)
    loop = _Loop(unit, batches, settings, device)
    state = TrainingState.fresh(unit.n_members)
    if checkpoint is not None:
        state = checkpoint.read(unit.module, loop.optimizer, unit.n_members) or state
    for epoch in state.losses:
        _tell(on_epoch, sum(epoch) / len(epoch))
    while state.epoch < settings.epochs and not state.all_stopped:
        losses = loop.run_epoch(state.epoch)
        state = state.after_epoch(losses.tolist())
        if len(data.validation):
            state = loop.validate(state)
        if checkpoint is not None:
            checkpoint.write(unit.module, loop.optimizer, state)
        _tell(on_epoch, float(losses.mean()))
    if state.best:
        unit.module.load_state_dict(state.best)
    unit.module.eval()
    return tuple(TrainingRecord(*state.history(member)) for member in range(unit.n_members))


def _tell(on_epoch: OnEpoch | None, loss: float) -> None:
    if on_epoch is not None:
        on_epoch(loss)


class _Loop:
    """Epochs over batches, for one unit."""

    def __init__(
        self, unit: Unit, batches: Batches, settings: TrainingSettings, device: torch.device
    ) -> None:
        self.unit, self.batches, self.settings, self.device = unit, batches, settings, device
        self.objective = unit.objective.to(device)
        self.optimizer = settings.make_optimizer(unit.module)

    def run_epoch(self, epoch: int) -> Tensor:
        """Train for an epoch; return the mean loss of each member."""
        self.unit.module.train()
        total = torch.zeros(self.unit.n_members, device=self.device)
        n_steps = self.batches.per_epoch
        for place, batch in enumerate(self.batches.epoch(epoch)):
            progress = (epoch * n_steps + place) / (self.settings.epochs * n_steps)
            total += self._step(batch, progress)
        mean = (total / n_steps).cpu()
        if not torch.isfinite(mean).all():
            raise TrainingError(
                f"The loss of {self.unit.name} is no longer finite after epoch {epoch + 1}. A "
                "smaller learning_rate may help, or inputs of a smaller range."
            )
        return mean

    def _step(self, batch: Batch, progress: float) -> Tensor:
        for group in self.optimizer.param_groups:
            group["lr"] = self.settings.rate(progress)
        self.optimizer.zero_grad()
        used = self.objective.used(batch.targets)
        if used is not None and not bool(used.all()):
            batch = batch.take(used)
        if len(batch.targets):
            losses = self._losses(batch, progress)
            # Members share no weights, so the sum gives each the gradient of its own loss.
            torch.autograd.backward(losses.sum())
            values = losses.detach()
        else:
            # Stacked with others, a member without samples would go on by its momentum alone.
            for parameter in self.unit.module.parameters():
                parameter.grad = torch.zeros_like(parameter)
            values = torch.zeros(self.unit.n_members, device=self.device)
        self.optimizer.step()
        return values

    def _losses(self, batch: Batch, progress: float) -> Tensor:
        with self._precision():
            return member_losses(self.unit.module, self.objective, batch, self.settings, progress)

    def _precision(self) -> AbstractContextManager[object]:
        if not self.settings.mixed_precision:
            return nullcontext()
        # bfloat16 has the range of float32, so gradients need no scaling.
        return torch.autocast(self.device.type, dtype=torch.bfloat16)

    def validate(self, state: TrainingState) -> TrainingState:
        """Judge every member on the validation samples, and keep the weights of the best."""
        self.unit.module.eval()
        total = torch.zeros(self.unit.n_members, device=self.device)
        n_samples = 0
        for batch in self.batches.validation():
            with torch.set_grad_enabled(self.settings.training == "adversarial"):
                losses = self._losses(batch, 1.0).detach()
            total += losses * len(batch.targets)
            n_samples += len(batch.targets)
        weights: Mapping[str, Tensor] = self.unit.module.state_dict()
        return state.judged((total / n_samples).tolist(), weights, self.settings.patience)
