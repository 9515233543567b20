"""The networks that a column can have, by name or by a factory of your own, and their layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor, nn

from ecoc._checks import check_choice
from ecoc.errors import InvalidInputError

__all__ = [
    "ARCHITECTURES",
    "ColumnEnsemble",
    "Factory",
    "InputFormat",
    "InputScaling",
    "LogitDifference",
    "ResidualBlock",
    "make_network",
    "mlp",
    "resnet18",
]


_WIDTHS = (64, 128, 256, 512)


class ResidualBlock(nn.Module):
    """Two 3x3 convolutions around a shortcut.

    Examples
    --------
    >>> import torch
    >>> ResidualBlock(4, 8, stride=2)(torch.zeros(1, 4, 6, 6)).shape
    torch.Size([1, 8, 3, 3])
    """

    def __init__(self, n_inputs: int, n_outputs: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(n_inputs, n_outputs, 3, stride=stride, padding=1, bias=False),
            nn.BatchNorm2d(n_outputs),
            nn.ReLU(),
            nn.Conv2d(n_outputs, n_outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(n_outputs),
        )
        self.shortcut: nn.Module = nn.Identity()
        if stride != 1 or n_inputs != n_outputs:
            self.shortcut = nn.Sequential(
                nn.Conv2d(n_inputs, n_outputs, 1, stride=stride, bias=False),
                nn.BatchNorm2d(n_outputs),
            )
        self.activation = nn.ReLU()

    def forward(self, inputs: Tensor) -> Tensor:
        """Body plus shortcut."""
        result: Tensor = self.activation(self.body(inputs) + self.shortcut(inputs))
        return result


def resnet18(
    input_shape: tuple[int, ...], n_outputs: int, widths: tuple[int, ...] = _WIDTHS
) -> nn.Sequential:
    """ResNet-18 for images such as those of CIFAR-10.

    Parameters
    ----------
    input_shape : tuple of int
        Channels, height and width.
    n_outputs : int
        Units of the last layer.
    widths : tuple of int, default=(64, 128, 256, 512)
        Channels of the stages, of two blocks each.

    Examples
    --------
    >>> sum(p.numel() for p in resnet18((3, 32, 32), 2).parameters())
    11169858
    """
    layers: list[nn.Module] = [
        nn.Conv2d(input_shape[0], widths[0], 3, padding=1, bias=False),
        nn.BatchNorm2d(widths[0]),
        nn.ReLU(),
    ]
    before = widths[0]
    for stage, width in enumerate(widths):
        layers.append(ResidualBlock(before, width, stride=1 if stage == 0 else 2))
        layers.append(ResidualBlock(width, width, stride=1))
        before = width
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(before, n_outputs)]
    return nn.Sequential(*layers)


class InputScaling(nn.Module):
    """Map the range of the inputs to [0, 1].

    Examples
    --------
    >>> InputScaling(0, 16)(torch.tensor([[0.0, 4.0, 16.0]]))
    tensor([[0.0000, 0.2500, 1.0000]])
    """

    def __init__(self, low: float, high: float) -> None:
        super().__init__()
        self.low, self.high = float(low), float(high)

    def forward(self, inputs: Tensor) -> Tensor:
        """Scale inputs of any shape."""
        return (inputs - self.low) / (self.high - self.low)

    def extra_repr(self) -> str:
        """The range, for printing."""
        return f"{self.low:g}, {self.high:g}"


class LogitDifference(nn.Module):
    """Two outputs of a column, for -1 and +1, as the one logit that their softmax means.

    Examples
    --------
    >>> LogitDifference()(torch.tensor([[1.0, 3.5]]))
    tensor([[2.5000]])
    """

    def forward(self, outputs: Tensor) -> Tensor:
        """Second output minus first; with several columns side by side, pair by pair."""
        return outputs[:, 1::2] - outputs[:, ::2]


class ColumnEnsemble(nn.Module):
    """Networks with one logit each, side by side: the logits of all columns.

    Examples
    --------
    >>> ColumnEnsemble([nn.Linear(3, 1), nn.Linear(3, 1)])(torch.zeros(5, 3)).shape
    torch.Size([5, 2])
    """

    def __init__(self, networks: Iterable[nn.Module]) -> None:
        super().__init__()
        self.networks = nn.ModuleList(networks)

    def forward(self, inputs: Tensor) -> Tensor:
        """Logits of shape (n_samples, n_columns)."""
        return torch.cat([network(inputs) for network in self.networks], dim=1)


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
        factory = _BY_NAME[name]
        if factory.images_only:
            _check_image(name, inputs)
        architecture = factory.factory
        per_column = factory.outputs_per_column if column else 1
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
