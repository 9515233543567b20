"""Many networks of one form as a single one: grouped convolutions, stacked matrices."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from ecoc.errors import InvalidInputError
from ecoc.nn.networks.architectures import InputScaling, LogitDifference

__all__ = ["StackedLinear", "StackedNetworks", "can_stack"]

_AS_IT_IS = (
    nn.ReLU,
    nn.LeakyReLU,
    nn.Tanh,
    nn.Flatten,
    nn.Identity,
    nn.AvgPool2d,
    nn.MaxPool2d,
    nn.AdaptiveAvgPool2d,
    LogitDifference,
)
"""Layers that treat the channels of all networks, side by side, as they would one's own."""

_BEFORE = (nn.Flatten, nn.Unflatten, InputScaling)


class StackedLinear(nn.Module):
    """Linear layers side by side: features (n, L * inputs) become (n, L * outputs).

    Examples
    --------
    >>> layers = [nn.Linear(3, 2), nn.Linear(3, 2)]
    >>> StackedLinear(layers)(torch.ones(5, 6)).shape
    torch.Size([5, 4])
    """

    def __init__(self, layers: Sequence[nn.Linear]) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.stack([layer.weight.detach() for layer in layers]))
        self.bias = (
            None
            if layers[0].bias is None
            else nn.Parameter(torch.stack([layer.bias.detach() for layer in layers]))
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """Every network's features by its own matrix."""
        return stacked_linear(inputs, self.weight, self.bias)


def stacked_linear(inputs: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Products of the parts of the features with a matrix each."""
    n_networks = weight.shape[0]
    parts = inputs.view(len(inputs), n_networks, -1).transpose(0, 1)
    if bias is None:
        outputs = torch.bmm(parts, weight.transpose(1, 2))
    else:
        outputs = torch.baddbmm(bias[:, None, :], parts, weight.transpose(1, 2))
    return outputs.transpose(0, 1).reshape(len(inputs), -1)


class StackedNetworks(nn.Module):
    """Networks of one form as one network, whose logits are those of all of them.

    Parameters
    ----------
    networks : sequence of nn.Sequential
        Networks that differ in their weights alone.

    Examples
    --------
    >>> from ecoc.nn.networks.architectures import ColumnEnsemble
    >>> networks = [nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1)) for _ in range(5)]
    >>> inputs = torch.rand(6, 3)
    >>> stacked = StackedNetworks(networks)
    >>> torch.allclose(stacked(inputs), ColumnEnsemble(networks)(inputs), atol=1e-6)
    True
    """

    def __init__(self, networks: Sequence[nn.Sequential]) -> None:
        super().__init__()
        reason = why_not_stacked(networks[0])
        if reason is not None:
            raise InvalidInputError(f"The networks cannot be stacked: {reason}.")
        self.n_networks = len(networks)
        n_before = _n_before(networks[0])
        # Reshaping and scaling are the same in all networks, and know only one's own shape.
        self.before = networks[0][:n_before]
        body = _stack([network[n_before:] for network in networks])
        assert isinstance(body, nn.Sequential)  # noqa: S101  # as the networks are
        self.body = body

    def forward(self, inputs: Tensor) -> Tensor:
        """Logits (n_samples, n_networks) of inputs (n_samples, ...) that all networks share."""
        first, rest = self.body[0], self.body[1:]
        prepared: Tensor = self.before(inputs)
        if isinstance(first, StackedLinear):
            bias = None if first.bias is None else first.bias.flatten()
            values = functional.linear(prepared, first.weight.flatten(0, 1), bias)
        elif isinstance(first, nn.Conv2d) and _is_plain(first, self.n_networks):
            values = functional.conv2d(
                prepared, first.weight, first.bias, first.stride, first.padding, first.dilation
            )
        else:
            return self.separate(self.expand(inputs))
        result: Tensor = rest(values)
        return result

    def separate(self, inputs: Tensor) -> Tensor:
        """Logits where every network has inputs of its own: (n_samples, n_networks, ...)."""
        result: Tensor = self.body(self.prepare(inputs))
        return result

    def expand(self, inputs: Tensor) -> Tensor:
        """The same inputs for every network."""
        return inputs[:, None].expand(-1, self.n_networks, *inputs.shape[1:])

    def prepare(self, inputs: Tensor) -> Tensor:
        """Inputs of all networks as channels side by side, which is what the body takes."""
        prepared: Tensor = self.before(inputs.flatten(0, 1))
        return prepared.reshape(
            len(inputs), self.n_networks * prepared.shape[1], *prepared.shape[2:]
        )

    def write_to(self, networks: Sequence[nn.Sequential]) -> None:
        """Copy the weights back into the networks they came from."""
        state = self.body.state_dict()
        n_before = _n_before(networks[0])
        for place, network in enumerate(networks):
            part = network[n_before:]
            part.load_state_dict(
                {
                    name: _part(state[name], own, place, self.n_networks)
                    for name, own in part.state_dict().items()
                }
            )


def can_stack(network: nn.Sequential) -> bool:
    """Whether networks of this form can be stacked.

    Examples
    --------
    >>> can_stack(nn.Sequential(nn.Linear(3, 1))), can_stack(nn.Sequential(nn.Dropout()))
    (True, False)
    """
    return why_not_stacked(network) is None


def why_not_stacked(network: nn.Module) -> str | None:
    """The layer that stands in the way of stacking, if any."""
    known = (nn.Linear, nn.Conv2d, nn.BatchNorm2d, *_AS_IT_IS)
    first = _n_before(network) if isinstance(network, nn.Sequential) else 0
    layers = list(network.children())[first:]
    if not layers:
        return None if type(network) in known else f"{type(network).__name__} is not supported"
    return next((why for layer in layers if (why := why_not_stacked(layer)) is not None), None)


def _n_before(network: nn.Sequential) -> int:
    """How many layers only reshape or scale the input, up to the first that does not."""
    count = 0
    for layer in network:
        if not isinstance(layer, _BEFORE):
            break
        count += 1
    return count


def _stack(modules: Sequence[nn.Module]) -> nn.Module:
    first = modules[0]
    if isinstance(first, nn.Linear):
        return StackedLinear([module for module in modules if isinstance(module, nn.Linear)])
    if isinstance(first, nn.Conv2d | nn.BatchNorm2d):
        return _side_by_side(first, modules)
    if not list(first.children()):
        return copy.deepcopy(first)
    stacked = copy.deepcopy(first)
    for name, _ in first.named_children():
        setattr(stacked, name, _stack([module.get_submodule(name) for module in modules]))
    return stacked


def _side_by_side(first: nn.Conv2d | nn.BatchNorm2d, modules: Sequence[nn.Module]) -> nn.Module:
    """A grouped convolution, or a normalisation of all channels, with the weights of all."""
    n = len(modules)
    stacked = copy.deepcopy(first)
    if isinstance(stacked, nn.Conv2d):
        stacked.in_channels *= n
        stacked.out_channels *= n
        stacked.groups *= n
    else:
        stacked.num_features *= n
    states = [module.state_dict() for module in modules]
    for name, value in first.state_dict().items():
        if value.ndim:
            joined = torch.cat([state[name] for state in states])
            is_parameter = isinstance(getattr(first, name), nn.Parameter)
            setattr(stacked, name, nn.Parameter(joined) if is_parameter else joined)
    return stacked


def _is_plain(stacked: nn.Conv2d, n: int) -> bool:
    """Whether each network's convolution takes all channels and pads with zeros."""
    return stacked.groups == n and stacked.padding_mode == "zeros"


def _part(value: Tensor, own: Tensor, place: int, n: int) -> Tensor:
    """One network's share of a stacked tensor; counters are common to all."""
    return value.view(n, *own.shape)[place] if value.ndim else value
