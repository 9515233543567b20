"""Training of networks: its settings, its batches, and the one loop that all of them go through.

The order of batches depends on the seed and the epoch alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from math import cos, pi
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ecoc._checks import check_choice, check_int, check_number
from ecoc.errors import EcocError, InvalidInputError
from ecoc.nn.training.checkpoints import Checkpoint, TrainingState
from ecoc.nn.training.objectives import Batch, Objective, member_losses

__all__ = [
    "OPTIMIZERS",
    "SCHEDULES",
    "TRAININGS",
    "Augmentation",
    "Batches",
    "OnEpoch",
    "TrainingData",
    "TrainingError",
    "TrainingRecord",
    "TrainingSettings",
    "Unit",
    "as_inputs",
    "find_range",
    "split_rows",
    "train",
]


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


_ORDER, _NOISE, _SPLIT = range(3)
"""What a random stream is for: streams of one seed never meet."""


@dataclass(frozen=True)
class TrainingData:
    """What networks are trained on.

    Attributes
    ----------
    inputs : array of float32 of shape (n_samples, ...)
        The inputs.
    targets : array of int of shape (n_samples,)
        The row of the codebook that each sample belongs to.
    training, validation : array of int
        Which samples are for what.
    """

    inputs: npt.NDArray[np.float32]
    targets: npt.NDArray[np.intp]
    training: npt.NDArray[np.intp]
    validation: npt.NDArray[np.intp]


class Batches:
    """The batches of some data on a device.

    Every network sees the same batches in the same order, whichever way it is trained.
    """

    def __init__(
        self, data: TrainingData, settings: TrainingSettings, device: torch.device
    ) -> None:
        self.data, self.settings, self.device = data, settings, device
        self.targets = torch.from_numpy(np.array(data.targets, dtype=np.int64)).to(device)
        # On a CPU the array stays where it is, which with processes is memory they share.
        self.inputs = None if device.type == "cpu" else torch.tensor(data.inputs, device=device)

    @property
    def per_epoch(self) -> int:
        """The number of batches of an epoch."""
        return _n_parts(self.data.training, self.settings.batch_size)

    def epoch(self, epoch: int) -> Iterator[Batch]:
        """The batches of an epoch: of nearly equal sizes, shuffled, augmented."""
        seed = self.settings.seed
        order = np.random.default_rng([seed, _ORDER, epoch]).permutation(self.data.training)
        for place, rows in enumerate(np.array_split(order, self.per_epoch)):
            generator = _torch_generator([seed, _NOISE, epoch, place])
            batch = self._take(rows, generator)
            if self.settings.augment is not None:
                inputs = _augmented(self.settings.augment, batch.inputs, generator)
                batch = Batch(inputs, batch.targets, batch.noise)
            yield batch

    def validation(self) -> Iterator[Batch]:
        """The batches that networks are judged by."""
        rows = self.data.validation
        parts = np.array_split(rows, _n_parts(rows, 4 * self.settings.batch_size))
        for place, part in enumerate(parts):
            yield self._take(part, _torch_generator([self.settings.seed, _SPLIT, place]))

    def _take(self, rows: npt.NDArray[np.intp], generator: torch.Generator) -> Batch:
        if self.inputs is None:
            inputs = torch.from_numpy(np.asarray(self.data.inputs)[rows])
        else:
            inputs = self.inputs[torch.from_numpy(rows).to(self.device)]
        targets = self.targets[torch.from_numpy(rows).to(self.device)]
        noise = None
        if self.settings.training == "adversarial":
            noise = (2 * torch.rand(inputs.shape, generator=generator) - 1).to(self.device)
        return Batch(inputs, targets, noise)


def as_inputs(X: Any) -> npt.NDArray[np.float32]:  # noqa: N803
    """Inputs as a finite array of float32: vectors, or images with or without channels."""
    if isinstance(X, torch.Tensor):
        X = X.detach().cpu().numpy()  # noqa: N806
    try:
        array = np.ascontiguousarray(X, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"X must be an array of numbers: {error}") from error
    if array.ndim not in {2, 3, 4} or 0 in array.shape:
        raise InvalidInputError(
            "X must have shape (n_samples, n_features), (n_samples, height, width) or "
            f"(n_samples, channels, height, width), not {array.shape}."
        )
    if not np.isfinite(array).all():
        raise InvalidInputError("X must be finite; it has NaN or infinite values.")
    return array


def find_range(
    inputs: npt.NDArray[np.float32], given: tuple[float, float] | None
) -> tuple[float, float]:
    """The range of inputs: as given, [0, 1] if they lie in it, or from least to largest.

    Examples
    --------
    >>> find_range(np.float32([[0.2, 0.7]]), None), find_range(np.float32([[0, 16]]), None)
    ((0.0, 1.0), (0.0, 16.0))
    """
    least, largest = float(inputs.min()), float(inputs.max())
    if given is None:
        if least >= 0 and largest <= 1:
            return 0.0, 1.0
        return least, largest if largest > least else least + 1
    low, high = (float(end) for end in given)
    if not low < high:
        raise InvalidInputError(f"input_range must be (low, high) with low < high, not {given!r}.")
    if least < low or largest > high:
        raise InvalidInputError(
            f"input_range must hold all of X: it is {given!r}, and X goes from {least:g} to "
            f"{largest:g}."
        )
    return low, high


def split_rows(
    targets: npt.NDArray[np.intp], fraction: float, seed: int
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Rows for training and for validation, the same share of every class.

    Every class keeps a sample for training, and gives one for validation if it has two.

    Examples
    --------
    >>> split_rows(np.array([0, 0, 0, 0, 1, 1, 1, 1]), 0.25, seed=0)
    (array([0, 1, 3, 4, 6, 7]), array([2, 5]))
    """
    generator = np.random.default_rng([seed, _SPLIT])
    held_out = []
    for target in np.unique(targets) if fraction > 0 else ():
        rows = generator.permutation(np.flatnonzero(targets == target))
        n_held_out = min(max(round(fraction * len(rows)), 1), len(rows) - 1)
        held_out.append(rows[:n_held_out])
    validation = np.sort(np.concatenate(held_out)) if held_out else np.empty(0, dtype=np.intp)
    return np.setdiff1d(np.arange(len(targets)), validation), validation


def _augmented(
    augment: Augmentation, inputs: torch.Tensor, generator: torch.Generator
) -> torch.Tensor:
    changed = augment(inputs, generator)
    if not isinstance(changed, torch.Tensor) or changed.shape != inputs.shape:
        raise InvalidInputError(
            f"augment must return a batch of the shape it was given, {tuple(inputs.shape)}, "
            f"not {getattr(changed, 'shape', changed)!r}."
        )
    return changed


def _n_parts(rows: npt.NDArray[np.intp], size: int) -> int:
    return max(1, -(-len(rows) // size))


def _torch_generator(entropy: list[int]) -> torch.Generator:
    state = np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0]
    return torch.Generator().manual_seed(int(state) >> 1)


OnEpoch: TypeAlias = "Callable[[float], None]"
"""Called after every epoch with the mean loss."""


class TrainingError(EcocError, RuntimeError):
    """Training went wrong; the message says where and what may help."""


@dataclass(frozen=True)
class Unit:
    """A network, or networks in a stack, that one loop trains.

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
        Called with the mean loss after every epoch.

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
