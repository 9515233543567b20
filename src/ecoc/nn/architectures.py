"""The networks that a column can have, by name or by a factory of your own."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import nn

from ecoc._checks import check_choice
from ecoc.errors import InvalidInputError
from ecoc.nn.layers import InputScaling, LogitDifference
from ecoc.nn.resnet import resnet18

__all__ = ["ARCHITECTURES", "Factory", "InputFormat", "make_network", "mlp"]

Factory: TypeAlias = Callable[[tuple[int, ...], int], nn.Module]
"""Takes the shape of one input and the number of outputs, returns a network."""


def mlp(
    input_shape: tuple[int, ...], n_outputs: int, hidden: tuple[int, ...] = (128, 64)
) -> nn.Sequential:
    """Fully connected layers with ReLU.

    Parameters
    ----------
    input_shape : tuple of int
        The shape of one input; images are flattened.
    n_outputs : int
        Units of the last layer.
    hidden : tuple of int, default=(128, 64)
        Units of the layers before it.

    Examples
    --------
    >>> mlp((4,), 1, hidden=(8,))
    Sequential(
      (0): Flatten(start_dim=1, end_dim=-1)
      (1): Linear(in_features=4, out_features=8, bias=True)
      (2): ReLU()
      (3): Linear(in_features=8, out_features=1, bias=True)
    )
    """
    layers: list[nn.Module] = [nn.Flatten()]
    before = math.prod(input_shape)
    for width in hidden:
        layers += [nn.Linear(before, width), nn.ReLU()]
        before = width
    return nn.Sequential(*layers, nn.Linear(before, n_outputs))


def small_cnn(input_shape: tuple[int, ...], n_outputs: int, times: int = 1) -> nn.Sequential:
    """Two strided 4x4 convolutions (16, 32) and 64 dense units: quick on a CPU.

    Parameters
    ----------
    input_shape : tuple of int
        Channels, height and width of one input.
    n_outputs : int
        Units of the last layer.
    times : int, default=1
        What all other numbers of units are multiplied by.

    Examples
    --------
    >>> small_cnn((1, 28, 28), 10, times=2)[5]
    Linear(in_features=3136, out_features=128, bias=True)
    """
    channels, height, width = input_shape
    first, second, dense = 16 * times, 32 * times, 64 * times
    return nn.Sequential(
        nn.Conv2d(channels, first, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Conv2d(first, second, 4, stride=2, padding=1),
        nn.ReLU(),
        nn.Flatten(),
        nn.Linear(second * (height // 4) * (width // 4), dense),
        nn.ReLU(),
        nn.Linear(dense, n_outputs),
    )


def paper_mnist_cnn(input_shape: tuple[int, ...], n_outputs: int) -> nn.Sequential:
    """The network of the paper's MNIST experiments: 5x5 convolutions (32, 64), 1024 dense."""
    channels, height, width = input_shape
    return nn.Sequential(
        nn.Conv2d(channels, 32, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(64 * (height // 4) * (width // 4), 1024),
        nn.ReLU(),
        nn.Linear(1024, n_outputs),
    )


@dataclass(frozen=True)
class _Architecture:
    factory: Factory
    outputs_per_column: int = 1
    images_only: bool = True


_BY_NAME = {
    "mlp": _Architecture(mlp, images_only=False),
    "small-cnn": _Architecture(small_cnn),
    "paper-mnist-cnn": _Architecture(paper_mnist_cnn, outputs_per_column=2),
    "resnet18": _Architecture(resnet18, outputs_per_column=2),
}

ARCHITECTURES = tuple(_BY_NAME)
"""The names that a network can be asked for by."""


@dataclass(frozen=True)
class InputFormat:
    """How inputs look, and what a network does first with them.

    Attributes
    ----------
    given : tuple of int
        The shape of one input as it comes: features, height x width, or channels x height
        x width.
    shape : tuple of int
        The shape that the network takes it for.
    low, high : float
        The range of the values.
    """

    given: tuple[int, ...]
    shape: tuple[int, ...]
    low: float = 0.0
    high: float = 1.0

    def layers(self) -> list[nn.Module]:
        """What comes before the network."""
        layers: list[nn.Module] = []
        if self.given != self.shape:
            if len(self.given) > 1:
                layers.append(nn.Flatten())
            layers.append(nn.Unflatten(1, self.shape))
        if (self.low, self.high) != (0.0, 1.0):
            layers.append(InputScaling(self.low, self.high))
        return layers


def make_network(
    architecture: str | Factory,
    inputs: InputFormat,
    n_outputs: int,
    seed: int,
    *,
    column: bool = False,
) -> nn.Sequential:
    """Build a network with weights that depend on the seed alone.

    Parameters
    ----------
    architecture : str or callable
        A name of :data:`ARCHITECTURES`, or a factory: it takes the shape of one input and
        the number of outputs.
    inputs : InputFormat
        What the network gets.
    n_outputs : int
        What it returns for each sample.
    seed : int
        Seeds the weights.
    column : bool, default=False
        Whether it is the network of one column, which some architectures give two outputs.

    Examples
    --------
    >>> make_network("mlp", InputFormat((2,), (2,), 0, 16), 1, seed=0)[0]
    InputScaling(0, 16)
    """
    per_column = 1
    if not callable(architecture):
        name = check_choice("architecture", architecture, ARCHITECTURES)
        found = _BY_NAME[name]
        if found.images_only:
            _check_image(name, inputs)
        architecture = found.factory
        per_column = found.outputs_per_column if column else 1
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = architecture(inputs.shape, n_outputs * per_column)
    if not isinstance(network, nn.Module):
        raise InvalidInputError(
            f"A factory of networks must return a torch.nn.Module, not {network!r}."
        )
    body = list(network) if isinstance(network, nn.Sequential) else [network]
    after = [LogitDifference()] if per_column == 2 else []
    return nn.Sequential(*inputs.layers(), *body, *after)


def _check_image(name: str, inputs: InputFormat) -> None:
    if len(inputs.shape) != 3:
        raise InvalidInputError(
            f"architecture={name!r} takes images; give X as (n_samples, channels, height, width), "
            f"or input_shape=(channels, height, width), not inputs of shape {inputs.shape}. "
            "architecture='mlp' takes vectors."
        )
    if min(inputs.shape[1:]) < 4:
        raise InvalidInputError(
            f"architecture={name!r} needs images of at least 4 x 4 pixels, not "
            f"{inputs.shape[1]} x {inputs.shape[2]}."
        )
