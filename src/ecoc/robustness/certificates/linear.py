"""Linear columns: exact bounds within a ball and a box, and exact radii."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import nn

from ecoc._typing import Floats
from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.robustness.certificates.bounds import BoundsMaker, ColumnBounds
from ecoc.robustness.columns import AffineMap, torch_columns
from ecoc.robustness.threat import Interval, Region, spread

__all__ = ["LinearBounds", "largest_drop", "linear_columns", "linear_radii"]

_ENTRIES = 4_000_000
"""How many numbers a working array may have; more samples are taken in parts."""


class LinearBounds(ColumnBounds):
    """Columns whose score is a weighted sum of the features; every bound is exact.

    Parameters
    ----------
    weights : array of shape (n_columns, n_features)
        The weights.
    bias : array of shape (n_columns,)
        The scores at the origin.
    points : array of shape (n_samples, n_features)
        Where the scores are bounded.
    region : Region
        The norm and the box.

    Examples
    --------
    >>> columns = LinearBounds([[1.0, -2.0]], [0.5], [[0.5, 0.5]], Region("linf", None))
    >>> found = columns.bounds(0.1)
    >>> found.lower.round(3), found.upper.round(3)
    (array([[-0.3]]), array([[0.3]]))
    """

    joint = True

    def __init__(
        self,
        weights: npt.ArrayLike,
        bias: npt.ArrayLike,
        points: npt.ArrayLike,
        region: Region,
    ) -> None:
        self.weights = np.atleast_2d(np.asarray(weights, dtype=np.float64))
        self.bias = np.asarray(bias, dtype=np.float64).ravel()
        self.points = region.checked(points)
        self.region = region
        _check_shapes(self.weights, self.bias, self.points)
        self.scores = self.points @ self.weights.T + self.bias

    def bounds(self, epsilon: npt.ArrayLike) -> Interval:
        """Exact bounds, widened against rounding."""
        drop = largest_drop(self.weights, self.points, epsilon, self.region)
        rise = largest_drop(-self.weights, self.points, epsilon, self.region)
        scale = np.abs(self.points) @ np.abs(self.weights).T + np.abs(self.bias)
        return self.widened(self.scores - drop, self.scores + rise, scale)

    def combined(self, epsilon: npt.ArrayLike, forms: Floats) -> Floats:
        """A combination of linear scores is linear, so this is exact too."""
        least: Floats = (forms @ self.scores[..., None])[..., 0]
        least -= largest_drop(forms @ self.weights, self.points, epsilon, self.region)
        # The sizes before anything cancels: that is what rounding errors follow.
        sizes = np.abs(self.points) @ np.abs(self.weights).T + np.abs(self.bias)
        scale = (np.abs(forms) @ sizes[..., None])[..., 0]
        least -= self.safety * (np.abs(least) + scale)
        return least

    def radii(self) -> Floats:
        """How far each column's score is from 0, see :func:`linear_radii`."""
        return linear_radii(self.weights, self.bias, self.points, self.region)


def linear_columns(
    estimators: Sequence[Any], region: Region, before: AffineMap | None = None
) -> BoundsMaker | None:
    """Linear learners, maybe behind scalers or PCA; None if there is another among them.

    Parameters
    ----------
    estimators : sequence
        The fitted learners.
    region : Region
        The norm and the box.
    before : AffineMap, optional
        What is done to the features before they reach the learners. It becomes part of the
        weights, so that bounds stay exact.
    """
    try:
        columns: Any = torch_columns(estimators)
    except UnsupportedError:
        return None
    layer = columns.parts[0]
    if len(columns.parts) > 1 or not isinstance(layer, nn.Linear):
        return None
    scores = AffineMap(layer.weight.detach().numpy(), layer.bias.detach().numpy()).after(before)
    return lambda points: LinearBounds(scores.matrix, scores.shift, points, region)


def linear_radii(
    weights: npt.ArrayLike,
    bias: npt.ArrayLike,
    points: npt.ArrayLike,
    region: Region,
) -> Floats:
    r"""The size of the smallest change that brings a linear score to 0.

    Without a box this is :math:`|w \cdot x + b| / \|w\|_*` with the dual norm: the sum of
    absolute weights for ``"linf"``, the Euclidean norm for ``"l2"``. With a box features
    stop at its sides and the others have to go further.

    Parameters
    ----------
    weights : array of shape (n_columns, n_features)
        The weights.
    bias : array of shape (n_columns,)
        The scores at the origin.
    points : array of shape (n_samples, n_features)
        Where to start.
    region : Region
        The norm and the box.

    Returns
    -------
    array of shape (n_samples, n_columns)
        Infinite where no point of the box will do.

    Examples
    --------
    >>> linear_radii([[1.0, -3.0]], [0.0], [[0.5, 0.0]], Region("linf", None))
    array([[0.125]])
    >>> linear_radii([[1.0, -3.0]], [-0.7], [[0.9, 0.0]], Region("linf"))
    array([[0.05]])
    >>> linear_radii([[1.0, 0.0]], [0.5], [[0.5, 0.0]], Region("linf"))
    array([[inf]])
    """
    forms = np.atleast_2d(np.asarray(weights, dtype=np.float64))
    offsets = np.asarray(bias, dtype=np.float64).ravel()
    values = region.checked(points)
    _check_shapes(forms, offsets, values)
    scores = values @ forms.T + offsets
    result = np.empty_like(scores)
    for part in _parts(len(values), forms.size):
        size, room = np.abs(forms), _rooms(forms, values[part], region, np.sign(scores[part]))
        slope = size if region.norm == "linf" else size**2
        with np.errstate(invalid="ignore", divide="ignore"):
            # What each feature can contribute before it meets the box.
            caps = np.where(size > 0, size * room, 0)
            moves = fill(np.broadcast_to(slope, caps.shape), caps, np.abs(scores[part]))
            if region.norm == "linf":
                result[part] = moves
                continue
            steps = np.minimum(np.where(size > 0, moves[..., None] * size, 0), room)
        lengths = np.sqrt((steps**2).sum(axis=-1))
        result[part] = np.where(np.isfinite(moves), lengths, np.inf)
    return result


def largest_drop(forms: Floats, points: Floats, epsilon: npt.ArrayLike, region: Region) -> Floats:
    """By how much linear forms can fall within the region: exact for both norms and the box.

    Parameters
    ----------
    forms : array of shape (n_forms, n_features) or (n_samples, n_forms, n_features)
        The weights, for all samples or for each.
    points : array of shape (n_samples, n_features)
        Where to start.
    epsilon : float or array of shape (n_samples,)
        The radius, for all samples or for each.
    region : Region
        The norm and the box.

    Returns
    -------
    array of shape (n_samples, n_forms)
    """
    low, high = region.limits
    each = forms if forms.ndim == 3 else forms[None]
    size = np.abs(each)
    if region.norm == "linf":
        reach = spread(epsilon, points)
        below, above = np.minimum(reach, points - low), np.minimum(reach, high - points)
        drop: Floats = np.maximum(each, 0) @ below[..., None]
        drop = drop + np.maximum(-each, 0) @ above[..., None]
        return drop[..., 0]
    if region.box is None:
        norms = np.sqrt((each**2).sum(axis=2))
        return np.asarray(spread(epsilon, points) * norms + np.zeros((len(points), 1)))
    result = np.empty((len(points), each.shape[1]))
    radii = np.broadcast_to(epsilon, len(points)).astype(np.float64)
    for part in _parts(len(points), each[0].size):
        here = part if len(each) > 1 else slice(None)
        room = np.where(size[here] > 0, _rooms(each[here], points[part], region, 1.0), 0)
        # The best change follows the weights, cut off at the box; its length decides how far.
        squares = np.broadcast_to(size[here] ** 2, room.shape)
        target = np.broadcast_to(radii[part, None] ** 2, room.shape[:2])
        moves = np.sqrt(fill(squares, room**2, target))
        with np.errstate(invalid="ignore"):
            steps = np.minimum(moves[..., None] * size[here], room)
        steps = np.where(size[here] > 0, steps, 0)
        result[part] = (steps * size[here]).sum(axis=-1)
    return result


def fill(slopes: Floats, caps: Floats, target: Floats) -> Floats:
    """The t for which the sum of min(t * slope, cap) over the last axis is the target.

    Infinite where even all caps together do not reach it.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        breaks = np.where(slopes > 0, caps / slopes, np.inf)
        order = np.argsort(breaks, axis=-1)
        breaks = np.take_along_axis(breaks, order, axis=-1)
        slopes = np.take_along_axis(slopes, order, axis=-1)
        caps = np.take_along_axis(np.where(np.isfinite(caps), caps, 0), order, axis=-1)
        filled = np.cumsum(caps, axis=-1) - caps
        rising = np.cumsum(slopes[..., ::-1], axis=-1)[..., ::-1]
        moves = np.where(rising > 0, (target[..., None] - filled) / rising, np.inf)
    # The first piece on which the target is met; none has more than the cap of the last.
    met = moves <= breaks
    first = met.argmax(axis=-1)[..., None]
    moved = np.take_along_axis(np.maximum(moves, 0), first, axis=-1)[..., 0]
    return np.where(met.any(axis=-1), moved, np.inf)


def _rooms(forms: Floats, points: Floats, region: Region, sides: Floats | float) -> Floats:
    """How far each feature can go against each form, for each sample: n x forms x features."""
    low, high = region.limits
    falling = np.sign(forms) * np.atleast_2d(sides)[..., None] > 0
    below, above = (points - low)[:, None, :], (high - points)[:, None, :]
    return np.where(falling, below, above)


def _parts(n_samples: int, entries: int) -> Iterator[slice]:
    step = max(1, _ENTRIES // max(entries, 1))
    return (slice(start, start + step) for start in range(0, n_samples, step))


def _check_shapes(weights: Floats, bias: Floats, points: Floats) -> None:
    if weights.shape != (len(bias), points.shape[1]) or points.ndim != 2:
        raise InvalidInputError(
            "weights (n_columns x n_features), bias (n_columns) and points (n_samples x "
            f"n_features) must fit, not shapes {weights.shape}, {bias.shape} and {points.shape}."
        )
