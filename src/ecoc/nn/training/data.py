"""Training data as batches whose order depends on the seed and the epoch alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.utils.data import DataLoader

from ecoc.errors import InvalidInputError
from ecoc.nn.training.objectives import Batch
from ecoc.nn.training.settings import Augmentation, TrainingSettings

__all__ = ["Batches", "TrainingData", "as_inputs", "find_range", "read_loader", "split_rows"]

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


def read_loader(
    loader: DataLoader[Any], labels: object = None
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """All inputs and labels of a loader of batches.

    Examples
    --------
    >>> from torch.utils.data import TensorDataset
    >>> data = TensorDataset(torch.arange(6.0).reshape(3, 2), torch.tensor([1, 0, 1]))
    >>> read_loader(DataLoader(data, batch_size=2))[1]
    array([1, 0, 1])
    """
    if labels is not None:
        raise InvalidInputError("y must not be given with a DataLoader, whose batches have labels.")
    inputs, targets = [], []
    for batch in loader:
        if not isinstance(batch, list | tuple) or len(batch) != 2:
            raise InvalidInputError(
                f"A DataLoader must give pairs of inputs and labels, not {type(batch).__name__}."
            )
        inputs.append(as_inputs(batch[0]))
        targets.append(np.asarray(batch[1]))
    if not inputs:
        raise InvalidInputError("A DataLoader must give at least one batch.")
    return np.concatenate(inputs), np.concatenate(targets)


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
