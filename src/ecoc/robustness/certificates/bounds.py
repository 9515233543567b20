"""How far the scores of columns can move around points; networks by interval arithmetic."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ecoc._checks import check_int, check_number, listing
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.nn.networks.intervals import rounded_bounds
from ecoc.robustness.threat import Interval, Region, spread

__all__ = [
    "BoundsMaker",
    "ColumnBounds",
    "IntervalBounds",
    "NetworkBounds",
    "SmoothedBounds",
    "Smoothing",
    "check_formulas",
    "count_votes",
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

    def widened(
        self,
        lower: Floats,
        upper: Floats,
        scale: Floats | float = 1.0,
        error: Floats | float = 0.0,
    ) -> Interval:
        """Bounds moved outwards by the safety share of their size and of `scale`, and an error."""
        return Interval(
            lower - self.safety * (np.abs(lower) + scale) - error,
            upper + self.safety * (np.abs(upper) + scale) + error,
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

    Bounds are computed in float64 from the weights as they are. The networks themselves
    predict in float32: bounds are widened by what rounding can do inside, layer by layer, and
    by 1e-5 of their size and of 1 for what is done with the outputs.

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
        self.unit = max(unit_roundoff(network) for network in networks)
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

    def input_error(self, lower: Tensor, upper: Tensor) -> Tensor:
        """How far inputs move when they are rounded as the networks take them."""
        return self.unit * torch.maximum(lower.abs(), upper.abs())


def unit_roundoff(network: nn.Module) -> float:
    """The largest relative error of rounding in the arithmetic of a network.

    Examples
    --------
    >>> unit_roundoff(nn.Linear(2, 1)) == 2**-24
    True
    """
    dtypes = {values.dtype for values in network.parameters() if values.is_floating_point()}
    return max(torch.finfo(dtype).eps / 2 for dtype in dtypes or {torch.float32})


class IntervalBounds(NetworkBounds):
    """Interval bound propagation (Gowal et al. 2018) for networks of columns.

    An l2 ball is bounded by the l_inf ball of the same radius, which is sound but loose.

    Examples
    --------
    >>> network = nn.Linear(2, 1)
    >>> _ = nn.init.ones_(network.weight), nn.init.zeros_(network.bias)
    >>> bounds = IntervalBounds([network], [[0.5, 0.5]], Region()).bounds(0.1)
    >>> bounds.lower.round(3), bounds.upper.round(3)
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
        error = self.input_error(lower, upper)
        with torch.no_grad():
            parts = [
                rounded_bounds(network, lower, upper, error, self.unit) for network in self.networks
            ]
        low, high, off = (torch.cat(values, 1).numpy() for values in zip(*parts, strict=True))
        return self.widened(low, high, error=off)

    def combined(self, epsilon: npt.ArrayLike, forms: Floats) -> Floats:
        """Combinations are folded into the last linear layer where all columns share it."""
        if not self._foldable:
            return super().combined(epsilon, forms)
        body, last = self.networks[0][:-1], self.networks[0][-1]  # type: ignore[index]
        lower, upper = self.hull(epsilon)
        with torch.no_grad():
            error = self.input_error(lower, upper)
            low, high, off = rounded_bounds(body, lower, upper, error, self.unit)
            error = rounded_bounds(last, low, high, off, self.unit)[2]
        before = Interval(low.numpy(), high.numpy())
        least = before.combined(forms @ last.weight.numpy())
        if last.bias is not None:
            least = least + forms @ last.bias.numpy()
        sizes = np.abs(forms)
        off_by = (sizes @ error.numpy()[..., None])[..., 0]
        return self.widened(least, least, sizes.sum(axis=2), off_by).lower


@dataclass(frozen=True)
class Smoothing:
    """How columns are smoothed.

    Parameters
    ----------
    sigma : float, default=0.25
        The standard deviation of the noise on every feature.
    n_draws : int, default=1000
        Noisy copies of every sample. All columns see the same ones.
    alpha : float, default=0.001
        The chance that what is said about a sample is wrong, all its columns together.
    batch_size : int, default=4096
        Noisy copies that the model is asked about at once.
    """

    sigma: float = 0.25
    n_draws: int = 1000
    alpha: float = 0.001
    batch_size: int = 4096

    def __post_init__(self) -> None:
        if check_number("sigma", self.sigma) <= 0:
            raise InvalidInputError(f"sigma must be positive, not {self.sigma:g}.")
        if not 0 < check_number("alpha", self.alpha) < 1:
            raise InvalidInputError(f"alpha must be between 0 and 1, not {self.alpha:g}.")
        check_int("n_draws", self.n_draws, minimum=1)
        check_int("batch_size", self.batch_size, minimum=1)


class SmoothedBounds(ColumnBounds):
    r"""The columns' shares of +1 answers under noise, and how far a move can change them.

    A smoothed column's score is :math:`2 p - 1`, where p is the probability that the column
    answers +1 when Gaussian noise is added to its input. A move of length r takes p to no
    less than :math:`\Phi(\Phi^{-1}(p) - r / \sigma)`, and to no more than the same with a
    plus (Cohen, Rosenfeld & Kolter 2019). p itself is known from counts: the intervals of
    Clopper & Pearson, each with an error of alpha / L on its two sides together, hold for all
    L columns at once with probability 1 - alpha or more, because errors at most add up.

    Parameters
    ----------
    votes : array of int of shape (n_samples, n_columns)
        How many noisy copies each column put on its +1 side.
    smoothing : Smoothing
        How they were drawn.

    Examples
    --------
    >>> columns = SmoothedBounds([[1000, 700]], Smoothing(sigma=0.5))
    >>> columns.bounds(0.5).lower.round(2)
    array([[ 0.84, -0.47]])
    """

    def __init__(self, votes: npt.ArrayLike, smoothing: Smoothing) -> None:
        from scipy.stats import beta

        counts = np.asarray(votes, dtype=np.float64)
        n = smoothing.n_draws
        if counts.ndim != 2 or counts.min(initial=0) < 0 or counts.max(initial=0) > n:
            raise InvalidInputError(
                f"votes must be an array of shape (n_samples, n_columns) of counts up to {n}."
            )
        tail = smoothing.alpha / (2 * counts.shape[1])
        low = beta.ppf(tail, np.maximum(counts, 1), n - counts + 1)
        high = beta.ppf(1 - tail, counts + 1, np.maximum(n - counts, 1))
        self._low = np.where(counts == 0, 0.0, low)
        self._high = np.where(counts == n, 1.0, high)
        self.sigma = smoothing.sigma
        self.scores = 2 * counts / n - 1

    def bounds(self, epsilon: npt.ArrayLike) -> Interval:
        """Bounds on the smoothed scores within an l2 distance."""
        from scipy.special import ndtr, ndtri

        shift = spread(epsilon, self.scores) / self.sigma
        lower = 2 * ndtr(ndtri(self._low) - shift) - 1
        upper = 2 * ndtr(ndtri(self._high) + shift) - 1
        return self.widened(lower, upper)


def count_votes(
    column_scores: Callable[[Floats], Floats],
    points: Floats,
    smoothing: Smoothing,
    generator: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Ask the columns about noisy copies of every point, and count the positive answers.

    Parameters
    ----------
    column_scores : callable
        From inputs to the scores of the columns (n_inputs x n_columns).
    points : array of shape (n_samples, ...)
        The inputs.
    smoothing : Smoothing
        The noise, and how many copies.
    generator : Generator
        The source of the noise.

    Returns
    -------
    array of shape (n_samples, n_columns)
    """
    votes = []
    for point in points:
        total: npt.NDArray[np.int64] | int = 0
        for start in range(0, smoothing.n_draws, smoothing.batch_size):
            size = min(smoothing.batch_size, smoothing.n_draws - start)
            noise = generator.normal(scale=smoothing.sigma, size=(size, *point.shape))
            total = total + (column_scores(point + noise) > 0).sum(axis=0)
        votes.append(total)
    return np.asarray(votes, dtype=np.int64)
