"""Where a sample may be moved to: a ball around it, and the box that all inputs lie in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ecoc._checks import check_choice, check_number, counted
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.robustness.corruptions import CORRUPTIONS, SEVERITIES, corrupt

__all__ = [
    "CERTIFIED_NORMS",
    "CORRUPTION_NORMS",
    "NORMS",
    "PIXEL_NORMS",
    "Ball",
    "Box",
    "Interval",
    "Norm",
    "Region",
    "check_box",
    "check_epsilons",
    "check_norm",
    "corruptions_of",
    "image_shape",
    "largest_radius",
    "random_windows",
    "spread",
    "unit",
    "window_sums",
    "windows",
]

Norm: TypeAlias = str
Box: TypeAlias = "tuple[float, float] | None"

NORMS: tuple[Norm, ...] = ("linf", "l2", "l1", "l0", "patch", "corruptions", *CORRUPTIONS)
"""Largest change of a feature, Euclidean length, sum of changes, number of pixels that change,
side of a square window that they all lie in, severity of any corruption, or of a certain one."""

CERTIFIED_NORMS: tuple[Norm, ...] = NORMS[:2]
"""Those that certificates are known for."""

PIXEL_NORMS: tuple[Norm, ...] = ("l0", "patch")
"""Those that count pixels, whatever becomes of them."""

CORRUPTION_NORMS: tuple[Norm, ...] = ("corruptions", *CORRUPTIONS)
"""Those of a few points, the corruptions of a sample."""

_IN_STEPS = (*PIXEL_NORMS, *CORRUPTION_NORMS)
"""Those whose radii are whole numbers."""

_ON_IMAGES = ("patch", *CORRUPTION_NORMS)
"""Those that need images."""

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
        The radius; a whole number for pixels, patches and corruptions.
    norm : str, default="linf"
        How a change is measured, one of :data:`NORMS`. A pixel of several channels counts
        once. A ball of corruptions has the sample and its corruptions up to a severity.
    box : pair of float, optional
        The least and the largest value of a feature; None for no limits, which only l_inf, l_2
        and l_1 can do without.

    Examples
    --------
    >>> ball = Ball(torch.tensor([[0.1, 0.5]]), 0.2)
    >>> ball.project(torch.tensor([[-1.0, 0.6]]))
    tensor([[0.0000, 0.6000]])
    >>> Ball(torch.tensor([[0.1, 0.5]]), 0.5, "l1").project(torch.tensor([[-1.0, 1.1]]))
    tensor([[0.0000, 0.9000]])
    >>> Ball(torch.tensor([[0.1, 0.5]]), 1, "l0").project(torch.tensor([[0.2, 0.2]]))
    tensor([[0.1000, 0.2000]])
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
        if self.norm in _IN_STEPS:
            _check_steps(self.norm, epsilon, centre, self.box)
            object.__setattr__(self, "lower", torch.full_like(centre, low))
            object.__setattr__(self, "upper", torch.full_like(centre, high))
            return
        exact = centre.double()
        # Every coordinate of the l2 and l1 balls is within epsilon as well.
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

        This is the nearest point of both, but for l_2, where the change is shortened to the
        radius and then cut by the box.
        """
        if self.norm == "linf":
            return torch.clamp(points, self.lower, self.upper)
        if self.norm in {"l2", "l1"}:
            return self._shortened(points)
        if self.norm not in PIXEL_NORMS:
            raise UnsupportedError(f"Points are not projected to {self.norm}; use corrupt.")
        inside = torch.clamp(points, self.lower, self.upper)
        away, left = (points.double() - other.double() for other in (self.centre, inside))
        kept = self.best_pixels(_by_pixel(away.square() - left.square()))
        return torch.where(kept.reshape(len(points), *_spatial(points)), inside, self.centre)

    def best_pixels(self, gains: Tensor) -> Tensor:
        """The pixels of the best sum of gains that may change together, for l_0 and patches.

        Parameters
        ----------
        gains : tensor of shape (n_samples, height, width)
            What changing a pixel is worth, not below 0.

        Returns
        -------
        tensor of bool of shape (n_samples, height, width)
            At most epsilon pixels, or a window with sides of epsilon.
        """
        side = int(self.epsilon)
        if self.norm == "patch":
            return windows(_best_window(gains, side), side, gains.shape[1:])
        flat = gains.flatten(1)
        kept = torch.zeros_like(flat, dtype=torch.bool)
        count = min(side, flat.shape[1])
        return kept.scatter(1, flat.topk(count, dim=1).indices, True).reshape(gains.shape)

    def _shortened(self, points: Tensor) -> Tensor:
        """Points with their changes shortened to the radius, by l_2 or l_1."""
        result = points
        for shrinking in _SHRINKING:
            length = self.distance(result)
            outside = length > self.epsilon
            if not outside.any():
                break
            radius = self.epsilon * (1 - shrinking)
            change = result.double() - self.centre.double()
            if self.norm == "l1":
                change = _to_l1(change, *self._room(change), radius)
            else:
                factor = torch.where(outside, radius / length, 1.0)
                change = change * _per_sample(factor, change)
            moved = self.centre.double() + change
            result = torch.where(_per_sample(outside, moved), moved.to(points.dtype), result)
        result = torch.clamp(result, self.lower, self.upper)
        # A radius below the spacing of floats leaves only the sample itself.
        return torch.where(
            _per_sample(self.distance(result) <= self.epsilon, result), result, self.centre
        )

    def _room(self, change: Tensor) -> tuple[Tensor, Tensor]:
        """How far features may go, down and up."""
        low, high = check_box(self.box)
        centre = self.centre.double()
        return centre - low + torch.zeros_like(change), high - centre + torch.zeros_like(change)

    def distance(self, points: Tensor) -> Tensor:
        """How far each point is from its sample, in float64."""
        if self.norm in _ON_IMAGES or self.norm == "l0":
            changed = _by_pixel((points != self.centre).double()) > 0
            if self.norm == "l0":
                return changed.flatten(1).sum(1).double()
            return _extent(changed) if self.norm == "patch" else self._severity(points, changed)
        change = (points.double() - self.centre.double()).flatten(1)
        if self.norm == "l1":
            return change.abs().sum(1)
        return change.abs().amax(1) if self.norm == "linf" else change.norm(dim=1)

    def _severity(self, points: Tensor, changed: Tensor) -> Tensor:
        """The least severity at which a corruption makes the point; infinite if none does."""
        result = torch.where(changed.flatten(1).any(1), torch.inf, 0.0).double()
        for severity in SEVERITIES[: int(self.epsilon)]:
            for kind in corruptions_of(self.norm):
                rows = torch.nonzero(result.isinf())[:, 0]
                if len(rows):
                    made = self.take(rows).corrupted(kind, severity)
                    same = (made == points[rows]).flatten(1).all(1)
                    result[rows[same]] = float(severity)
        return result

    def corrupted(self, kind: str, severity: int) -> Tensor:
        """The samples, corrupted."""
        values = self.centre.detach().cpu().numpy()
        made = corrupt(values, kind, severity, box=check_box(self.box))
        return torch.from_numpy(made).to(self.centre)

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
            From the surface of the ball (for l_inf its corners, for pixels and patches those of
            the box) instead of all of it.
        """
        if self.norm in _IN_STEPS:
            return self._sample_pixels(generator, corners=corners)
        shape = self.centre.shape
        if self.norm == "linf":
            change = 2 * torch.rand(shape, generator=generator, device=generator.device) - 1
            change = change.sign() if corners else change
        else:
            change = torch.randn(shape, generator=generator, device=generator.device)
            if self.norm == "l1":
                # Of this density, directions of length one are uniform on the sphere.
                chance = torch.rand(shape, generator=generator, device=generator.device)
                change = -change.sign() * chance.clamp(min=1e-30).log()
                change = change / _per_sample(change.abs().flatten(1).sum(1), change)
            else:
                change = unit(change, "l2")
            if not corners:
                share = torch.rand(len(change), generator=generator, device=generator.device)
                change = change * _per_sample(share ** (1 / change[0].numel()), change)
        change = change.to(self.centre)
        return self.project(self.centre + self.epsilon * change)

    def _sample_pixels(self, generator: torch.Generator, *, corners: bool) -> Tensor:
        if self.norm in PIXEL_NORMS:
            _, height, width = image_shape(self.centre)
            gains = torch.rand((len(self), height, width), generator=generator)
            if self.norm == "patch":
                # A window drawn at random, not the one of the largest sum.
                gains = windows(random_windows(self, generator), int(self.epsilon), gains.shape[1:])
            kept = self.best_pixels(gains.double().to(self.centre.device))
            colours = torch.rand(self.centre.shape, generator=generator).to(self.centre)
            colours = colours.round() if corners else colours
            drawn = torch.lerp(self.lower, self.upper, colours)
            return torch.where(kept.reshape(len(self), *_spatial(drawn)), drawn, self.centre)
        kinds, largest = corruptions_of(self.norm), int(self.epsilon)
        if not largest:
            return self.centre.clone()
        place = int(torch.randint(len(kinds), (), generator=generator))
        severity = int(torch.randint(largest, (), generator=generator)) + 1
        return self.corrupted(kinds[place], largest if corners else severity)


def _check_steps(norm: Norm, epsilon: float, centre: Tensor, box: Box) -> None:
    """Refuse radii and samples that pixels, patches and corruptions cannot be counted for."""
    if norm in _ON_IMAGES and centre.ndim not in {3, 4}:
        raise InvalidInputError(
            f"norm={norm!r} needs images, X of shape (n_samples, height, width) or (n_samples, "
            f"channels, height, width), not {tuple(centre.shape)}."
        )
    if box is None:
        raise InvalidInputError(f"norm={norm!r} needs a box: a pixel could become anything.")
    largest = largest_radius(norm, box, centre)
    if epsilon != int(epsilon) or epsilon > largest:
        raise InvalidInputError(
            f"epsilon must be a whole number from 0 to {largest:g} for norm={norm!r}, not "
            f"{epsilon:g}."
        )


def largest_radius(norm: Norm, box: Box, samples: Tensor) -> float:
    """The radius within which every sample can become every other one, or the largest at all.

    Examples
    --------
    >>> largest_radius("l1", (0.0, 1.0), torch.zeros(1, 8, 8))
    64.0
    >>> largest_radius("patch", (0.0, 1.0), torch.zeros(1, 8, 8))
    8.0
    """
    low, high = check_box(box)
    _, height, width = image_shape(samples)
    n_features = samples[0].numel()
    if norm == "l0":
        return float(height * width)
    if norm == "patch":
        return float(min(height, width))
    if norm in _IN_STEPS:
        return float(SEVERITIES[-1])
    factor = {"linf": 1.0, "l2": math.sqrt(n_features), "l1": float(n_features)}[norm]
    return (high - low) * factor


def corruptions_of(norm: Norm) -> tuple[str, ...]:
    """The kinds of corruptions that a name stands for.

    Examples
    --------
    >>> corruptions_of("fog")
    ('fog',)
    """
    return CORRUPTIONS if norm == "corruptions" else (norm,)


def image_shape(samples: Tensor) -> tuple[int, int, int]:
    """Channels, height and width; flat features are an image of one row.

    Examples
    --------
    >>> image_shape(torch.zeros(5, 64))
    (1, 1, 64)
    """
    shape = samples.shape[1:]
    if len(shape) == 3:
        return shape[0], shape[1], shape[2]
    return (1, shape[0], shape[1]) if len(shape) == 2 else (1, 1, samples[0].numel())


def _spatial(samples: Tensor) -> tuple[int, ...]:
    """The shape in which a mask of pixels combines with samples."""
    _, height, width = image_shape(samples)
    return {4: (1, height, width), 3: (height, width)}.get(samples.ndim, tuple(samples.shape[1:]))


def _by_pixel(values: Tensor) -> Tensor:
    """The sums over the channels of each pixel."""
    channels, height, width = image_shape(values)
    return values.reshape(len(values), channels, height, width).sum(1)


def windows(corners: Tensor, side: int, image: Sequence[int]) -> Tensor:
    """Which pixels lie in the window of each sample, from its upper left corner."""
    places = [
        torch.arange(length, device=corners.device) - corners[:, axis, None]
        for axis, length in enumerate(image)
    ]
    inside = [(place >= 0) & (place < side) for place in places]
    return inside[0][:, :, None] & inside[1][:, None, :]


def random_windows(ball: Ball, generator: torch.Generator) -> Tensor:
    """The upper left corner of a window for each sample."""
    side = int(ball.epsilon)
    drawn = [
        torch.randint(length - side + 1, (len(ball),), generator=generator)
        for length in image_shape(ball.centre)[1:]
    ]
    return torch.stack(drawn, dim=1).to(ball.centre.device)


def window_sums(gains: Tensor, side: int) -> Tensor:
    """The sum of each window, by its upper left corner."""
    padded = torch.nn.functional.pad(gains.cumsum(1).cumsum(2), (1, 0, 1, 0))
    whole = padded[:, side:, side:] - padded[:, :-side, side:]
    return whole - padded[:, side:, :-side] + padded[:, :-side, :-side]


def _best_window(gains: Tensor, side: int) -> Tensor:
    if side == 0:
        return torch.zeros(len(gains), 2, dtype=torch.int64, device=gains.device)
    sums = window_sums(gains, side)
    best = sums.flatten(1).argmax(1)
    return torch.stack([best // sums.shape[2], best % sums.shape[2]], dim=1)


def _extent(changed: Tensor) -> Tensor:
    """The side of the smallest square window that holds all changes of each sample."""
    sides = []
    for axis in (1, 2):
        lines = changed.any(dim=3 - axis)
        places = torch.arange(lines.shape[1], device=lines.device).expand_as(lines)
        last = torch.where(lines, places, -1).amax(1)
        first = torch.where(lines, places, lines.shape[1]).amin(1)
        sides.append((last - first + 1).clamp(min=0))
    return torch.maximum(*sides).double()


def _to_l1(change: Tensor, down: Tensor, up: Tensor, radius: float) -> Tensor:
    """The nearest changes whose sum is at most the radius and that stay in the box.

    All entries are pulled towards zero by the same amount, the least that is enough, and those
    that are still outside end at the box (Croce & Hein 2021). The sum is linear in that amount
    between places where an entry reaches zero or leaves the box, so that sorting these finds it.
    """
    size = change.flatten(1).abs()
    room = torch.where(change >= 0, up, down).flatten(1)
    excess = (size - room).clamp(min=0)
    places = torch.cat([size, excess], dim=1)
    signs = torch.cat([torch.ones_like(size), -torch.ones_like(size)], dim=1)
    places, order = places.sort(dim=1, descending=True)
    signs = signs.gather(1, order)
    slopes = signs.cumsum(1)
    sums = (signs * places).cumsum(1)
    # What is left of the sum if all are pulled as far as the next place.
    following = torch.nn.functional.pad(places[:, 1:], (0, 1))
    left = sums - slopes * following
    reached = (left >= radius).to(torch.int64).argmax(1, keepdim=True)
    slope = slopes.gather(1, reached).clamp(min=1)
    pull = (sums.gather(1, reached) - radius) / slope
    # Where the box alone keeps the sum below the radius nothing is pulled.
    pull = torch.where((left[:, -1:] >= radius), pull, 0.0).clamp(min=0)
    kept = torch.minimum((size - pull).clamp(min=0), room).reshape(change.shape)
    return change.sign() * kept


def unit(direction: Tensor, norm: Norm) -> Tensor:
    """The steepest ascent of length one along a gradient.

    For l_inf these are its signs, for l_2 the scaled gradient, for l_1 its largest entry alone.

    A gradient of zero stays zero.

    Examples
    --------
    >>> unit(torch.tensor([[3.0, 0.0, -4.0], [0.0, 0.0, 0.0]]), "linf")
    tensor([[ 1.,  0., -1.],
            [ 0.,  0.,  0.]])
    >>> unit(torch.tensor([[3.0, 0.0, -4.0]]), "l2")
    tensor([[ 0.6000,  0.0000, -0.8000]])
    >>> unit(torch.tensor([[3.0, 0.0, -4.0]]), "l1")
    tensor([[ 0.,  0., -1.]])
    """
    if norm == "linf":
        return direction.sign()
    if norm == "l1":
        flat = direction.flatten(1)
        steepest = flat.abs().argmax(1, keepdim=True)
        one = torch.zeros_like(flat).scatter(1, steepest, flat.gather(1, steepest).sign())
        return one.reshape(direction.shape)
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
        How the size of a change is measured; no certificates are known for others.
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
        if self.norm not in CERTIFIED_NORMS:
            raise UnsupportedError(
                f"There are no certificates for norm={self.norm!r}, only for "
                f"{' and '.join(CERTIFIED_NORMS)}."
            )
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
    return check_choice("norm", norm, NORMS)


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
