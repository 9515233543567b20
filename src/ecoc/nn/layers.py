"""The few layers that torch does not have: scaling of inputs, two outputs as one, ensembles."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import Tensor, nn

__all__ = ["ColumnEnsemble", "InputScaling", "LogitDifference"]


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
