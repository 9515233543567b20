"""Interval arithmetic through a network: where its outputs can be if its inputs are in a box."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn import functional

from ecoc.errors import UnsupportedError
from ecoc.nn.networks.architectures import ColumnEnsemble, InputScaling, LogitDifference
from ecoc.nn.networks.stacked import StackedLinear, StackedNetworks, stacked_linear

__all__ = ["interval_bounds", "rounded_bounds", "supports_intervals"]

Bounds: TypeAlias = tuple[Tensor, Tensor]


def interval_bounds(module: nn.Module, lower: Tensor, upper: Tensor) -> Bounds:
    """Bound the outputs of a network over a box of inputs (Gowal et al. 2018).

    Parameters
    ----------
    module : nn.Module
        Nested ``nn.Sequential`` of linear layers, 2d convolutions, ReLU and other monotone
        activations, flattening, average and maximum pooling, batch normalisation and dropout
        in evaluation mode, and what this package puts around them.
    lower, upper : tensor of shape (n_samples, ...)
        The corners of the box of each sample.

    Returns
    -------
    tuple of tensor
        Lower and upper bounds of the outputs, with gradients. They hold in exact arithmetic;
        rounding can move them by a few units in the last place.

    Examples
    --------
    >>> network = nn.Sequential(nn.Linear(1, 2), nn.ReLU())
    >>> _ = nn.init.constant_(network[0].weight, 2.0), nn.init.zeros_(network[0].bias)
    >>> interval_bounds(network, torch.tensor([[-1.0]]), torch.tensor([[0.5]]))
    (tensor([[0., 0.]], grad_fn=<ReluBackward0>), tensor([[1., 1.]], grad_fn=<ReluBackward0>))
    """
    rule = _RULES.get(type(module))
    if rule is None or not _is_fixed(module):
        raise UnsupportedError(
            f"Interval bounds are known for {_KNOWN} (normalisation and dropout in evaluation "
            f"mode), not for {type(module).__name__}"
            f"{' in training mode' if rule is not None else ''}."
        )
    return rule(module, lower, upper)


def rounded_bounds(
    module: nn.Module, lower: Tensor, upper: Tensor, error: Tensor, unit: float
) -> tuple[Tensor, Tensor, Tensor]:
    r"""Interval bounds, and how far rounding can take the outputs from exact arithmetic.

    A sum of n products in any order is wrong by at most :math:`n u / (1 - n u)` of the sum of
    their sizes, where u is the unit roundoff (Higham 2002, section 3.1). What cancels inside a
    network is large there, and so is its error.

    Parameters
    ----------
    module : nn.Module
        As for :func:`interval_bounds`.
    lower, upper : tensor of shape (n_samples, ...)
        The corners of the box of each sample.
    error : tensor of shape (n_samples, ...)
        How far the inputs themselves can be off.
    unit : float
        The unit roundoff of the arithmetic in which the network answers.

    Returns
    -------
    tuple of tensor
        Lower and upper bounds of the outputs, and their largest errors.

    Examples
    --------
    >>> layer = nn.Linear(1, 1).requires_grad_(False)
    >>> _ = nn.init.constant_(layer.weight, 2.0), nn.init.constant_(layer.bias, 1e4)
    >>> one = torch.ones(1, 1)
    >>> rounded_bounds(layer, one, one, 0 * one, 2.0**-24)[2].item() > 1e-3
    True
    """
    if isinstance(module, nn.Sequential):
        for layer in module:
            lower, upper, error = rounded_bounds(layer, lower, upper, error, unit)
        return lower, upper, error
    if isinstance(module, ColumnEnsemble):
        parts = [rounded_bounds(each, lower, upper, error, unit) for each in module.networks]
        low, high, off = (torch.cat(values, 1) for values in zip(*parts, strict=True))
        return low, high, off
    if isinstance(module, StackedNetworks):
        lower, upper, error = (
            module.prepare(module.expand(value)) for value in (lower, upper, error)
        )
        return rounded_bounds(module.body, lower, upper, error, unit)
    bounds = interval_bounds(module, lower, upper)
    sizes = torch.maximum(lower.abs(), upper.abs()) + error
    return (*bounds, _error(module, sizes, error, unit))


def _error(module: Any, sizes: Tensor, error: Tensor, unit: float) -> Tensor:
    """The error of a layer's outputs, from the sizes of its inputs and their errors."""
    if isinstance(module, nn.Linear | StackedLinear | nn.Conv2d):
        # Each output is a sum of products, as many as it has weights, and a bias.
        dense = isinstance(module, nn.Linear | StackedLinear)
        n = module.weight.shape[-1] if dense else module.weight[0].numel()
        absolute = _ABSOLUTE[type(module)]
        bias = None if module.bias is None else module.bias.abs()
        return absolute(module, error, None) + _share(n + 1, unit) * absolute(module, sizes, bias)
    if isinstance(module, nn.BatchNorm2d):
        if module.running_var is None:
            raise UnsupportedError("Normalisation must keep statistics of its training data.")
        spread = (module.running_var + module.eps).sqrt()[:, None, None]
        scale = _channels(module.weight, 1.0) / spread
        mean, shift = _channels(module.running_mean, 0.0), _channels(module.bias, 0.0)
        largest = scale.abs() * (sizes + mean.abs()) + shift.abs()
        return scale.abs() * error + _share(8, unit) * largest
    if isinstance(module, LogitDifference):
        both = error[:, 1::2] + error[:, ::2]
        return both + _share(2, unit) * (sizes[:, 1::2] + sizes[:, ::2])
    if isinstance(module, InputScaling):
        width = module.high - module.low
        return error / width + _share(4, unit) * (sizes + abs(module.low)) / width
    if isinstance(module, nn.AvgPool2d | nn.AdaptiveAvgPool2d):
        # A mean over no more than all places of its input.
        n = sizes[0, 0].numel()
        passed: Tensor = module(error) + _share(n + 1, unit) * module(sizes)
        return passed
    if isinstance(module, nn.Tanh | nn.Sigmoid):
        # Slopes of at most 1, and functions whose last few digits are not promised.
        return error + _share(8, unit)
    # Layers that only choose or rearrange: the largest error of what they choose from.
    chosen: Tensor = module(error)
    return chosen


def _share(n: int, unit: float) -> float:
    """By which share a sum of n rounded terms can be off; infinite for sums too long to tell."""
    return n * unit / (1 - n * unit) if n * unit < 1 else torch.inf


def _channels(values: Tensor | None, default: float) -> Tensor:
    """Values of channels, shaped to combine with images."""
    return torch.tensor(default) if values is None else values[:, None, None]


def supports_intervals(module: nn.Module) -> bool:
    """Whether :func:`interval_bounds` knows every layer of a network.

    Examples
    --------
    >>> supports_intervals(nn.Sequential(nn.Linear(2, 1), nn.ReLU()))
    True
    >>> supports_intervals(nn.Sequential(nn.Linear(2, 1), nn.Softmax(dim=1)))
    False
    """
    known = type(module) in _RULES or isinstance(module, nn.ModuleList)
    return known and all(supports_intervals(child) for child in module.children())


def _is_fixed(module: nn.Module) -> bool:
    return not (module.training and isinstance(module, nn.BatchNorm2d | nn.Dropout))


def _in_turn(module: Any, lower: Tensor, upper: Tensor) -> Bounds:
    for layer in module:
        lower, upper = interval_bounds(layer, lower, upper)
    return lower, upper


def _monotone(module: Any, lower: Tensor, upper: Tensor) -> Bounds:
    """Layers whose outputs never fall when an input rises."""
    return module(lower), module(upper)


def _affine(
    apply: Callable[[Any, Tensor, Tensor | None], Tensor],
    apply_absolute: Callable[[Any, Tensor], Tensor],
) -> Callable[[Any, Tensor, Tensor], Bounds]:
    """The rule of a linear layer: its centre moves with the weights, its radius with their sizes.

    ``apply`` takes the centre with the layer's bias, ``apply_absolute`` the radius without.
    """

    def rule(module: Any, lower: Tensor, upper: Tensor) -> Bounds:
        centre = apply(module, (upper + lower) / 2, module.bias)
        radius = apply_absolute(module, (upper - lower) / 2)
        return centre - radius, centre + radius

    return rule


def _convolve(module: nn.Conv2d, inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    if module.padding_mode != "zeros":
        raise UnsupportedError("Interval bounds need convolutions that are padded with zeros.")
    return functional.conv2d(
        inputs, weight, bias, module.stride, module.padding, module.dilation, module.groups
    )


def _normalise(module: nn.BatchNorm2d, lower: Tensor, upper: Tensor) -> Bounds:
    # Increasing or decreasing, channel by channel: the ends may change places.
    first, second = module(lower), module(upper)
    return torch.minimum(first, second), torch.maximum(first, second)


def _difference(module: LogitDifference, lower: Tensor, upper: Tensor) -> Bounds:
    del module
    return lower[:, 1::2] - upper[:, ::2], upper[:, 1::2] - lower[:, ::2]


def _ensemble(module: ColumnEnsemble, lower: Tensor, upper: Tensor) -> Bounds:
    bounds = [interval_bounds(network, lower, upper) for network in module.networks]
    return torch.cat([pair[0] for pair in bounds], 1), torch.cat([pair[1] for pair in bounds], 1)


def _stacked(module: StackedNetworks, lower: Tensor, upper: Tensor) -> Bounds:
    # What comes before the body is monotone.
    low, high = (module.prepare(module.expand(end)) for end in (lower, upper))
    return interval_bounds(module.body, low, high)


_RULES: dict[type, Callable[[Any, Tensor, Tensor], Bounds]] = {
    nn.Sequential: _in_turn,
    nn.Linear: _affine(
        lambda layer, x, bias: functional.linear(x, layer.weight, bias),
        lambda layer, x: functional.linear(x, layer.weight.abs()),
    ),
    StackedLinear: _affine(
        lambda layer, x, bias: stacked_linear(x, layer.weight, bias),
        lambda layer, x: stacked_linear(x, layer.weight.abs(), None),
    ),
    nn.Conv2d: _affine(
        lambda layer, x, bias: _convolve(layer, x, layer.weight, bias),
        lambda layer, x: _convolve(layer, x, layer.weight.abs(), None),
    ),
    nn.BatchNorm2d: _normalise,
    LogitDifference: _difference,
    ColumnEnsemble: _ensemble,
    StackedNetworks: _stacked,
    **dict.fromkeys(
        (
            nn.ReLU,
            nn.Tanh,
            nn.Sigmoid,
            nn.Flatten,
            nn.Unflatten,
            nn.Identity,
            nn.Dropout,
            nn.AvgPool2d,
            nn.AdaptiveAvgPool2d,
            nn.MaxPool2d,
            InputScaling,
        ),
        _monotone,
    ),
}
_ABSOLUTE: dict[type, Callable[[Any, Tensor, Tensor | None], Tensor]] = {
    nn.Linear: lambda layer, x, bias: functional.linear(x, layer.weight.abs(), bias),
    StackedLinear: lambda layer, x, bias: stacked_linear(x, layer.weight.abs(), bias),
    nn.Conv2d: lambda layer, x, bias: _convolve(layer, x, layer.weight.abs(), bias),
}
"""Layers with the absolute values of their weights."""

_KNOWN = ", ".join(sorted(kind.__name__ for kind in _RULES))
