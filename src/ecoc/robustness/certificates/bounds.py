"""How far the scores of columns can move around points; networks by interval arithmetic."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ecoc._checks import listing
from ecoc._typing import Floats
from ecoc.errors import UnsupportedError
from ecoc.nn.networks.intervals import interval_bounds
from ecoc.robustness.threat import Interval, Region

__all__ = [
    "BoundsMaker",
    "ColumnBounds",
    "IntervalBounds",
    "NetworkBounds",
    "check_formulas",
    "exact_copy",
]


class ColumnBounds(ABC):
    """Base class: the columns' scores at some points, and bounds on them around these points.

    Attributes
    ----------
    scores : array of shape (n_samples, n_columns)
        The scores at the points themselves.
    safety : float
        The share by which bounds are widened against rounding. What is computed in float64
        takes 1e-9, networks that predict in float32 take 1e-5.
    joint : bool
        Whether :meth:`combined` is tighter than bounds column by column.
    """

    scores: Floats
    safety: float = 1e-9
    joint: bool = False

    @abstractmethod
    def bounds(self, epsilon: npt.ArrayLike) -> Interval:
        """Bounds on every column's score within `epsilon` of every point.

        Parameters
        ----------
        epsilon : float or array of shape (n_samples,)
            The radius, for all points or for each.

        Returns
        -------
        Interval of arrays of shape (n_samples, n_columns)
        """

    def combined(self, epsilon: npt.ArrayLike, forms: Floats) -> Floats:
        """Lower bounds on linear combinations of the columns' scores.

        Parameters
        ----------
        epsilon : float or array of shape (n_samples,)
            The radius, for all points or for each.
        forms : array of shape (n_samples, n_forms, n_columns)
            The coefficients.

        Returns
        -------
        array of shape (n_samples, n_forms)
            Here from the bounds of the columns one by one.
        """
        return self.bounds(epsilon).combined(forms)

    def widened(self, lower: Floats, upper: Floats, scale: Floats | float = 1.0) -> Interval:
        """Bounds moved outwards by the safety share of their size and of `scale`."""
        return Interval(
            lower - self.safety * (np.abs(lower) + scale),
            upper + self.safety * (np.abs(upper) + scale),
        )


BoundsMaker: TypeAlias = Callable[[Floats], ColumnBounds]
"""Bounds the columns around some points."""


def check_formulas(columns: ColumnBounds, scores: npt.ArrayLike, tolerance: float = 1e-6) -> None:
    """Refuse formulas that do not give the scores of the model: a certificate would be void.

    Parameters
    ----------
    columns : ColumnBounds
        What was made from the formulas.
    scores : array of shape (n_samples, n_columns)
        What the model says at the same points.
    tolerance : float, default=1e-6
        The share of their size by which they may differ.
    """
    given = np.asarray(scores, dtype=np.float64)
    near = tolerance * (1 + np.abs(given).max(initial=0))
    differs = ~np.isclose(columns.scores, given, rtol=tolerance, atol=near)
    if differs.any():
        places = np.flatnonzero(differs.any(axis=0)).tolist()
        raise UnsupportedError(
            f"The scores of columns {listing(places)} are not what their coefficients say, so "
            "they cannot be certified. Use method='smoothing'."
        )


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
            intervals = [interval_bounds(network, lower, upper) for network in self.networks]
        return self.widened(
            torch.cat([low for low, _ in intervals], 1).numpy(),
            torch.cat([high for _, high in intervals], 1).numpy(),
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
