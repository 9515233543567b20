"""Where a sample may be moved to: a ball around it, and the box that all inputs lie in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ecoc._checks import check_choice, check_number, counted
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError

__all__ = [
    "NORMS",
    "Ball",
    "Box",
    "Interval",
    "Norm",
    "Region",
    "check_box",
    "check_epsilons",
    "check_norm",
    "spread",
    "unit",
]

Norm = Literal["linf", "l2"]
Box: TypeAlias = "tuple[float, float] | None"

NORMS: tuple[Norm, ...] = ("linf", "l2")
"""Largest change of a feature, and Euclidean length of the change."""

_SHRINKING = (0.0, 1e-7, 1e-6, 1e-5, 1e-4)
"""By how much a step to the sphere is shortened until rounding leaves it inside."""


@dataclass(frozen=True, eq=False)
class Ball:
    """All points within epsilon of their sample that lie in the box, for a batch of samples.

    Points are inside in the arithmetic of float64, to the last bit: what rounding would put
    outside is moved back in.

    Parameters
    ----------
    centre : tensor of shape (n_samples, ...)
        The samples.
    epsilon : float
        The radius.
    norm : {"linf", "l2"}, default="linf"
        How a change is measured.
    box : pair of float, optional
        The least and the largest value of a feature; None for no limits.

    Examples
    --------
    >>> ball = Ball(torch.tensor([[0.1, 0.5]]), 0.2)
    >>> ball.project(torch.tensor([[-1.0, 0.6]]))
    tensor([[0.0000, 0.6000]])
    """

    centre: Tensor
    epsilon: float
    norm: Norm = "linf"
    box: Box = (0.0, 1.0)
    lower: Tensor = field(init=False, repr=False)
    upper: Tensor = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_norm(self.norm)
        low, high = check_box(self.box)
        epsilon = check_number("epsilon", self.epsilon, minimum=0)
        centre = self.centre
        if not bool(((centre >= low) & (centre <= high)).all()):
            raise InvalidInputError(
                f"Samples must be finite and lie in the box, here {low:g} to {high:g}; they reach "
                f"from {centre.min().item():g} to {centre.max().item():g}. Rescale them or give "
                "another box."
            )
        exact = centre.double()
        # Every coordinate of the l2 ball is within epsilon as well.
        lower = (exact - epsilon).clamp(min=low).to(centre.dtype)
        upper = (exact + epsilon).clamp(max=high).to(centre.dtype)
        object.__setattr__(self, "lower", _pulled_in(lower, centre, epsilon).clamp(min=low))
        object.__setattr__(self, "upper", _pulled_in(upper, centre, epsilon).clamp(max=high))

    def __len__(self) -> int:
        return len(self.centre)

    def take(self, rows: Tensor) -> Ball:
        """The balls of some of the samples."""
        part = object.__new__(Ball)
        for name in ("epsilon", "norm", "box"):
            object.__setattr__(part, name, getattr(self, name))
        for name in ("centre", "lower", "upper"):
            object.__setattr__(part, name, getattr(self, name)[rows])
        return part

    def project(self, points: Tensor) -> Tensor:
        """Move points into the ball and the box.

        For l_inf this is the nearest point; for l_2 the change is shortened to the radius and
        then cut by the box.
        """
        if self.norm == "linf":
            return torch.clamp(points, self.lower, self.upper)
        result = points
        for shrinking in _SHRINKING:
            length = self.distance(result)
            outside = length > self.epsilon
            if not outside.any():
                break
            factor = torch.where(outside, self.epsilon / length * (1 - shrinking), 1.0)
            change = result.double() - self.centre.double()
            moved = self.centre.double() + change * _per_sample(factor, change)
            result = torch.where(_per_sample(outside, moved), moved.to(points.dtype), result)
        result = torch.clamp(result, self.lower, self.upper)
        # A radius below the spacing of floats leaves only the sample itself.
        return torch.where(
            _per_sample(self.distance(result) <= self.epsilon, result), result, self.centre
        )

    def distance(self, points: Tensor) -> Tensor:
        """How far each point is from its sample, in float64."""
        change = (points.double() - self.centre.double()).flatten(1)
        return change.abs().amax(1) if self.norm == "linf" else change.norm(dim=1)

    def contains(self, points: Tensor) -> Tensor:
        """Which points lie in the ball and the box."""
        low, high = check_box(self.box)
        inside = ((points >= low) & (points <= high)).flatten(1).all(1)
        return inside & (self.distance(points) <= self.epsilon)

    def sample(self, generator: torch.Generator, *, corners: bool = False) -> Tensor:
        """A random point for each sample.

        Parameters
        ----------
        generator : torch.Generator
            The source of randomness.
        corners : bool, default=False
            From the surface of the ball (for l_inf its corners) instead of all of it.
        """
        shape = self.centre.shape
        if self.norm == "linf":
            change = 2 * torch.rand(shape, generator=generator, device=generator.device) - 1
            change = change.sign() if corners else change
        else:
            change = torch.randn(shape, generator=generator, device=generator.device)
            change = unit(change, "l2")
            if not corners:
                share = torch.rand(len(change), generator=generator, device=generator.device)
                change = change * _per_sample(share ** (1 / change[0].numel()), change)
        change = change.to(self.centre)
        return self.project(self.centre + self.epsilon * change)


def unit(direction: Tensor, norm: Norm) -> Tensor:
    """The steepest ascent of length one along a gradient: signs, or the scaled gradient.

    A gradient of zero stays zero.

    Examples
    --------
    >>> unit(torch.tensor([[3.0, 0.0, -4.0], [0.0, 0.0, 0.0]]), "linf")
    tensor([[ 1.,  0., -1.],
            [ 0.,  0.,  0.]])
    >>> unit(torch.tensor([[3.0, 0.0, -4.0]]), "l2")
    tensor([[ 0.6000,  0.0000, -0.8000]])
    """
    if norm == "linf":
        return direction.sign()
    # Scaled by the largest entry first: squares of tiny gradients would vanish.
    largest = direction.flatten(1).abs().amax(1)
    scaled = direction / _per_sample(torch.where(largest > 0, largest, 1.0), direction)
    length = scaled.flatten(1).norm(dim=1)
    return scaled / _per_sample(torch.where(length > 0, length, 1.0), scaled)


@dataclass(frozen=True, eq=False)
class Interval:
    """Arrays of lower and upper bounds.

    Attributes
    ----------
    lower, upper : array
        Bounds of the same shape.
    """

    lower: Floats
    upper: Floats

    def taken(self, rows: npt.NDArray[np.intp]) -> Interval:
        """The bounds of some samples."""
        return Interval(self.lower[rows], self.upper[rows])

    def combined(self, forms: Floats) -> Floats:
        """The least values of linear combinations (n_samples x n_forms x n_columns).

        Examples
        --------
        >>> Interval(np.array([[0.0, 1.0]]), np.array([[1.0, 3.0]])).combined(np.array([[[1, -1]]]))
        array([[-3.]])
        """
        least: Floats = np.maximum(forms, 0) @ self.lower[..., None]
        least = least + np.minimum(forms, 0) @ self.upper[..., None]
        return least[..., 0]


@dataclass(frozen=True)
class Region:
    """What an input may be changed into: all that is near it and in the box.

    Parameters
    ----------
    norm : {"linf", "l2"}, default="linf"
        How the size of a change is measured.
    box : (float, float) or None, default=(0, 1)
        The least and the largest value of a feature, or None if it may have any.

    Examples
    --------
    >>> hull = Region().hull(np.array([[0.0, 0.5]]), 0.1)
    >>> hull.lower, hull.upper
    (array([[0. , 0.4]]), array([[0.1, 0.6]]))
    """

    norm: Norm = "linf"
    box: Box = (0.0, 1.0)

    def __post_init__(self) -> None:
        check_norm(self.norm)
        check_box(self.box)

    @property
    def limits(self) -> tuple[float, float]:
        """The sides of the box, infinite if there is none."""
        return check_box(self.box)

    def checked(self, points: npt.ArrayLike) -> Floats:
        """The points as floats, once they are known to be finite and in the box."""
        values = np.asarray(points, dtype=np.float64)
        if values.ndim < 2:
            raise InvalidInputError(
                f"X must have a row for each sample, not {counted(values.ndim, 'dimension')}."
            )
        if not np.isfinite(values).all():
            raise InvalidInputError("X must be finite.")
        low, high = self.limits
        if values.size and (values.min() < low or values.max() > high):
            raise InvalidInputError(
                f"X must lie in the box from {low:g} to {high:g}; it goes from {values.min():g} to "
                f"{values.max():g}. Give the box of your features, or box=None if they have none."
            )
        return values

    def hull(self, points: Floats, epsilon: npt.ArrayLike) -> Interval:
        """The smallest interval of each feature that holds the region around each point.

        Parameters
        ----------
        points : array of shape (n_samples, ...)
            The points.
        epsilon : float or array of shape (n_samples,)
            The radius, for all or for each.
        """
        low, high = self.limits
        reach = spread(epsilon, points)
        return Interval(np.maximum(points - reach, low), np.minimum(points + reach, high))


def spread(epsilon: npt.ArrayLike, like: Floats) -> Floats:
    """Radii shaped to combine with arrays that have the samples first."""
    return np.reshape(np.asarray(epsilon, dtype=np.float64), (-1, *[1] * (like.ndim - 1)))


def check_norm(norm: str) -> Norm:
    """Return the norm if it is one of :data:`NORMS`."""
    return "linf" if check_choice("norm", norm, NORMS) == "linf" else "l2"


def check_box(box: Box) -> tuple[float, float]:
    """The limits of features, infinite where there are none."""
    if box is None:
        return -torch.inf, torch.inf
    try:
        low, high = (float(limit) for limit in box)
    except (TypeError, ValueError):
        raise InvalidInputError(f"box must be a pair of numbers or None, not {box!r}.") from None
    if not low < high:
        raise InvalidInputError(f"box must have its smaller limit first, not {box!r}.")
    return low, high


def _pulled_in(bound: Tensor, centre: Tensor, epsilon: float) -> Tensor:
    """The bound, moved by the few last bits that rounding has put it too far out."""
    while True:
        outside = (bound.double() - centre.double()).abs() > epsilon
        if not outside.any():
            return bound
        bound = torch.where(outside, torch.nextafter(bound, centre), bound)


def _per_sample(values: Tensor, like: Tensor) -> Tensor:
    """One value for each sample, shaped to combine with the samples."""
    return values.reshape(-1, *[1] * (like.ndim - 1))


def check_epsilons(epsilons: Sequence[float]) -> tuple[float, ...]:
    """Check that radii are given in increasing order.

    Examples
    --------
    >>> check_epsilons([0.1, 0.2])
    (0.1, 0.2)
    """
    radii = tuple(check_number("epsilons", epsilon, minimum=0) for epsilon in epsilons)
    if not radii or sorted(set(radii)) != list(radii):
        raise InvalidInputError(
            f"epsilons must be radii in increasing order, at least one, not {list(radii)}."
        )
    return radii
