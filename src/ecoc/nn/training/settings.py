"""What training is told: one frozen value, checked once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import cos, pi
from typing import Any, TypeAlias

import torch
from torch import Tensor

from ecoc._checks import check_choice, check_int, check_number
from ecoc.errors import InvalidInputError

__all__ = ["OPTIMIZERS", "SCHEDULES", "TRAININGS", "Augmentation", "TrainingSettings"]

Augmentation: TypeAlias = Callable[[Tensor, torch.Generator], Tensor]
"""Takes a batch of inputs and a seeded generator (of the CPU), returns one of the same shape."""

OPTIMIZERS = ("adamw", "adam", "sgd")
SCHEDULES = ("constant", "cosine", "one-cycle")
TRAININGS = ("standard", "adversarial", "ibp")
ATTACKED = ("column", "decoder")

_RISE = 0.3
"""The share of a one-cycle schedule in which the learning rate rises."""

_MOMENTUM = 0.9


@dataclass(frozen=True)
class TrainingSettings:
    """How networks are trained; the fields are described at the estimators.

    Examples
    --------
    >>> settings = TrainingSettings(epochs=10, learning_rate=0.1, schedule="cosine")
    >>> settings.rate(0.0), round(settings.rate(0.5), 3), settings.rate(1.0)
    (0.1, 0.05, 0.0)
    """

    epochs: int = 10
    batch_size: int = 128
    learning_rate: float = 5e-3
    optimizer: str = "adamw"
    schedule: str = "one-cycle"
    weight_decay: float = 1e-4
    augment: Augmentation | None = None
    device: str = "auto"
    mixed_precision: bool = False
    patience: int | None = None
    training: str = "standard"
    epsilon: float = 0.1
    attack_steps: int = 7
    attack_through: str = "column"
    low: float = 0.0
    high: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        check_int("epochs", self.epochs, minimum=1)
        check_int("batch_size", self.batch_size, minimum=1)
        check_number("learning_rate", self.learning_rate, minimum=0)
        check_number("weight_decay", self.weight_decay, minimum=0)
        check_number("epsilon", self.epsilon, minimum=0)
        check_int("attack_steps", self.attack_steps, minimum=1)
        check_choice("optimizer", self.optimizer, OPTIMIZERS)
        check_choice("schedule", self.schedule, SCHEDULES)
        check_choice("training", self.training, TRAININGS)
        check_choice("attack_through", self.attack_through, ATTACKED)
        if self.patience is not None:
            check_int("patience", self.patience, minimum=1)
        if self.augment is not None and not callable(self.augment):
            raise InvalidInputError(
                "augment must be a function of a batch and a torch.Generator, not "
                f"{self.augment!r}."
            )
        find_device(self.device)

    def rate(self, progress: float) -> float:
        """The learning rate when a share of the steps, 0 to 1, is done."""
        if self.schedule == "constant":
            return self.learning_rate
        if self.schedule == "cosine":
            return self.learning_rate * (1 + cos(pi * progress)) / 2
        if progress < _RISE:
            return self.learning_rate * (0.1 + 0.9 * progress / _RISE)
        return self.learning_rate * (1 + cos(pi * (progress - _RISE) / (1 - _RISE))) / 2

    def make_optimizer(self, module: torch.nn.Module) -> torch.optim.Optimizer:
        """The optimiser of a network's parameters."""
        parameters = list(module.parameters())
        common: dict[str, Any] = {"lr": self.learning_rate, "weight_decay": self.weight_decay}
        if self.optimizer == "sgd":
            return torch.optim.SGD(parameters, momentum=_MOMENTUM, nesterov=True, **common)
        kind = torch.optim.AdamW if self.optimizer == "adamw" else torch.optim.Adam
        return kind(parameters, fused=True, **common)


def find_device(device: str) -> torch.device:
    """The device that is meant: ``"auto"`` is a GPU if there is one.

    Examples
    --------
    >>> find_device("cpu")
    device(type='cpu')
    """
    if device == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise InvalidInputError(
            f"device must be 'auto' or a device of torch such as 'cpu' or 'cuda:0', not {device!r}."
        ) from error
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise InvalidInputError(f"device={device!r} needs a GPU that torch can use; it finds none.")
    return chosen
