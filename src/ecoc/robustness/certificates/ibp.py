"""Networks bounded by interval arithmetic: cheap, and tight for networks trained for it."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ecoc.nn.intervals import interval_bounds
from ecoc.robustness.certificates.bounds import ColumnBounds
from ecoc.robustness.threat import Floats, Interval, Region

__all__ = ["IntervalBounds", "NetworkBounds", "exact_copy"]


def exact_copy(network: nn.Module) -> nn.Module:
    """A copy in float64 and evaluation mode, without gradients for its weights."""
    return copy.deepcopy(network).cpu().double().eval().requires_grad_(False)


class NetworkBounds(ColumnBounds):
    """Base class for networks whose outputs, side by side, are the columns' scores.

    Bounds are computed in float64 from the weights as they are, and widened by 1e-5 of their
    size and of 1, because the networks themselves predict in float32.

    Parameters
    ----------
    networks : sequence of nn.Module
        One for each column, or one for all of them.
    points : array of shape (n_samples, ...)
        Inputs as the networks take them.
    region : Region
        The norm and the box.
    """

    safety = 1e-5

    def __init__(
        self, networks: Sequence[nn.Module], points: npt.ArrayLike, region: Region
    ) -> None:
        self.networks = [exact_copy(network) for network in networks]
        self.points = region.checked(points)
        self.region = region
        inputs = torch.from_numpy(self.points)
        with torch.no_grad():
            self.scores = torch.cat([network(inputs) for network in self.networks], 1).numpy()

    def hull(self, epsilon: npt.ArrayLike) -> tuple[Tensor, Tensor]:
        """The box of inputs around each point."""
        hull = self.region.hull(self.points, epsilon)
        return torch.from_numpy(hull.lower), torch.from_numpy(hull.upper)


class IntervalBounds(NetworkBounds):
    """Interval bound propagation (Gowal et al. 2018) for networks of columns.

    An l2 ball is bounded by the l_inf ball of the same radius, which is sound but loose.

    Examples
    --------
    >>> network = nn.Linear(2, 1)
    >>> _ = nn.init.ones_(network.weight), nn.init.zeros_(network.bias)
    >>> found = IntervalBounds([network], [[0.5, 0.5]], Region()).bounds(0.1)
    >>> found.lower.round(3), found.upper.round(3)
    (array([[0.8]]), array([[1.2]]))
    """

    def __init__(
        self, networks: Sequence[nn.Module], points: npt.ArrayLike, region: Region
    ) -> None:
        super().__init__(networks, points, region)
        only = self.networks[0]
        self._foldable = (
            len(networks) == 1
            and isinstance(only, nn.Sequential)
            and isinstance(only[-1], nn.Linear)
        )
        self.joint = self._foldable

    def bounds(self, epsilon: npt.ArrayLike) -> Interval:
        """Bounds of every network by itself."""
        lower, upper = self.hull(epsilon)
        with torch.no_grad():
            found = [interval_bounds(network, lower, upper) for network in self.networks]
        return self.widened(
            torch.cat([low for low, _ in found], 1).numpy(),
            torch.cat([high for _, high in found], 1).numpy(),
        )

    def combined(self, epsilon: npt.ArrayLike, forms: Floats) -> Floats:
        """Combinations are folded into the last linear layer where all columns share it."""
        if not self._foldable:
            return super().combined(epsilon, forms)
        body, last = self.networks[0][:-1], self.networks[0][-1]  # type: ignore[index]
        with torch.no_grad():
            low, high = interval_bounds(body, *self.hull(epsilon))
        before = Interval(low.numpy(), high.numpy())
        least = before.combined(forms @ last.weight.numpy())
        if last.bias is not None:
            least = least + forms @ last.bias.numpy()
        return self.widened(least, least, np.abs(forms).sum(axis=2)).lower
