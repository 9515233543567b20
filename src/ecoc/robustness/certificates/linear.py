"""Linear and kernel columns: bounds within a ball and a box; for linear ones exact, with radii."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import nn

from ecoc._typing import Floats
from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.robustness.certificates.bounds import BoundsMaker, ColumnBounds
from ecoc.robustness.columns import AffineMap, KernelMachine, torch_columns
from ecoc.robustness.threat import Interval, Region, spread

__all__ = [
    "LinearBounds",
    "RBFBounds",
    "largest_drop",
    "linear_columns",
    "linear_radii",
    "rbf_columns",
]


class RBFBounds(ColumnBounds):
    r"""Columns with the score :math:`b + \sum_i a_i \exp(-\gamma \|x - x_i\|^2)`.

    Two bounds are computed and the better one is taken, column by column, and also for
    combinations of columns whose bumps have one width:

    - *Distances*: each bump by itself, between its values at the least and the largest
      distance from its centre within the region.
    - *Quadratic*: a bump is a convex function of the squared distance, so it lies above its
      tangent and below its chord. Their sum is one quadratic with the same curvature in
      every direction, whose minimum over a box or a ball is known. Bumps of opposite sign
      then cancel as they do in the score.

    Parameters
    ----------
    centres : array of shape (n_centres, n_features)
        The support vectors of all columns.
    coefficients : array of shape (n_columns, n_centres)
        What each column gives to each bump; 0 where it does not use it.
    bias : array of shape (n_columns,)
        The constants b.
    gamma : array of shape (n_columns,)
        The widths of the bumps.
    points : array of shape (n_samples, n_features)
        Where the scores are bounded.
    region : Region
        The norm and the box.
    matrix, shift : array, optional
        What is done to the features before distances are measured: ``matrix @ x + shift``.
        The bounds are as tight as without where it scales feature by feature and the norm
        is ``"linf"``; otherwise the region's image is enclosed in a box and a ball.

    Examples
    --------
    >>> columns = RBFBounds([[0.0], [1.0]], [[1.0, -1.0]], [0.0], [1.0], [[0.2]], Region())
    >>> bounds = columns.bounds(0.1)
    >>> bool(bounds.lower[0, 0] < columns.scores[0, 0] < bounds.upper[0, 0])
    True
    """

    def __init__(  # noqa: PLR0917  # the parts of a formula, in its order
        self,
        centres: npt.ArrayLike,
        coefficients: npt.ArrayLike,
        bias: npt.ArrayLike,
        gamma: npt.ArrayLike,
        points: npt.ArrayLike,
        region: Region,
        *,
        matrix: npt.ArrayLike | None = None,
        shift: npt.ArrayLike | None = None,
    ) -> None:
        self.centres = np.asarray(centres, dtype=np.float64)
        self.coefficients = np.atleast_2d(np.asarray(coefficients, dtype=np.float64))
        self.bias = np.asarray(bias, dtype=np.float64).ravel()
        self.gamma = np.asarray(gamma, dtype=np.float64).ravel()
        self._given = region.checked(points)
        self.region = region
        self._matrix = np.eye(self._given.shape[1]) if matrix is None else np.asarray(matrix)
        self._shift = 0.0 if shift is None else np.asarray(shift)
        self._stretch = 1.0 if matrix is None else float(np.linalg.norm(self._matrix, 2))
        self.points: Floats = self._given @ self._matrix.T + self._shift
        _check_rbf_shapes(self)
        self.joint = bool((self.gamma == self.gamma[0]).all())
        self._squares = _squared_distances(self.points, self.centres)
        self.scores = np.empty((len(self.points), len(self.bias)))
        for width in np.unique(self.gamma):
            same = self.gamma == width
            bumps = np.exp(-width * self._squares)
            self.scores[:, same] = bumps @ self.coefficients[same].T + self.bias[same]

    def bounds(self, epsilon: npt.ArrayLike) -> Interval:
        """Sound bounds, widened against rounding."""
        lower, upper = np.empty_like(self.scores), np.empty_like(self.scores)
        distances = self._distances(epsilon)
        for width in np.unique(self.gamma):
            bumps = _Bumps.within(width, self._squares, *distances)
            for column in np.flatnonzero(self.gamma == width):
                weights = self.coefficients[column]
                lower[:, column] = self._least(bumps, weights, epsilon)
                upper[:, column] = -self._least(bumps, -weights, epsilon)
        scale = np.abs(self.coefficients).sum(axis=1) + np.abs(self.bias)
        return self.widened(lower + self.bias, upper + self.bias, scale)

    def combined(self, epsilon: npt.ArrayLike, forms: Floats) -> Floats:
        """Columns with bumps of one width combine to a sum of such bumps."""
        if not self.joint:
            return super().combined(epsilon, forms)
        bumps = _Bumps.within(float(self.gamma[0]), self._squares, *self._distances(epsilon))
        least = np.stack(
            [
                self._least(bumps, forms[:, form] @ self.coefficients, epsilon)
                for form in range(forms.shape[1])
            ],
            axis=1,
        )
        least += forms @ self.bias
        scale = np.abs(self.coefficients).sum(axis=1) + np.abs(self.bias)
        return self.widened(least, least, np.abs(forms) @ scale).lower

    def _least(self, bumps: _Bumps, weights: Floats, epsilon: npt.ArrayLike) -> Floats:
        """The better of two lower bounds on the weighted sum of bumps, for each point.

        The weights are the same for all points (n_centres) or not (n_samples x n_centres).
        """
        up, down = np.maximum(weights, 0), np.minimum(weights, 0)
        apart: Floats = (bumps.least * up + bumps.largest * down).sum(axis=1)
        # Slopes with respect to the squared distance: tangents below, chords above.
        slopes = bumps.tangent * up + bumps.chord * down
        level = (bumps.centre * up + bumps.on_chord * down).sum(axis=1)
        # A squared distance changes by |delta|^2 + 2 delta . (x - centre).
        curvature = slopes.sum(axis=1)
        gradient = curvature[:, None] * self.points - slopes @ self.centres
        together: Floats = level + self._least_quadratic(curvature, gradient, epsilon)
        return np.maximum(apart, together)

    def _least_quadratic(
        self, curvature: Floats, gradient: Floats, epsilon: npt.ArrayLike
    ) -> Floats:
        """The least of curvature |delta|^2 + 2 delta . gradient over the region."""
        hull = self._hull(epsilon)
        bend = curvature[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            vertex = np.where(bend > 0, -gradient / bend, 0)
        lowest = np.zeros_like(gradient)
        below, above = hull.lower - self.points, hull.upper - self.points
        for move in (below, above, np.clip(vertex, below, above)):
            lowest = np.minimum(lowest, move * (bend * move + 2 * gradient))
        in_box: Floats = lowest.sum(axis=1)
        if self.region.norm == "linf":
            return in_box
        steepness = np.sqrt((gradient**2).sum(axis=1))
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = np.where(curvature > 0, steepness / curvature, np.inf)
        reach = np.minimum(reach, self._stretch * np.asarray(epsilon))
        in_ball: Floats = reach * (curvature * reach - 2 * steepness)
        return np.maximum(in_box, in_ball)

    def _hull(self, epsilon: npt.ArrayLike) -> Interval:
        """A box that holds the region around each point, in transformed features."""
        hull = self.region.hull(self._given, epsilon)
        up, down = np.maximum(self._matrix, 0).T, np.minimum(self._matrix, 0).T
        lower = hull.lower @ up + hull.upper @ down + self._shift
        upper = hull.upper @ up + hull.lower @ down + self._shift
        # Rounding must not put the point itself outside.
        return Interval(np.minimum(lower, self.points), np.maximum(upper, self.points))

    def _distances(self, epsilon: npt.ArrayLike) -> tuple[Floats, Floats]:
        """The least and the largest squared distance to each centre within the region."""
        hull = self._hull(epsilon)
        least, largest = np.zeros_like(self._squares), np.zeros_like(self._squares)
        # One feature after another: all of them at once would not fit into memory.
        for feature in range(self.points.shape[1]):
            centre = self.centres[:, feature]
            under = hull.lower[:, feature, None] - centre
            over = centre - hull.upper[:, feature, None]
            least += np.maximum(np.maximum(under, over), 0) ** 2
            largest += np.minimum(under, over) ** 2
        if self.region.norm == "l2":
            distance = np.sqrt(self._squares)
            reach = self._stretch * spread(epsilon, distance)
            least = np.maximum(least, np.maximum(distance - reach, 0) ** 2)
            largest = np.minimum(largest, (distance + reach) ** 2)
        # Rounding must not put the point itself outside of its own range.
        return np.minimum(least, self._squares), np.maximum(largest, self._squares)


@dataclass(frozen=True, eq=False)
class _Bumps:
    """Bumps of one width, each over a range of squared distances.

    Attributes
    ----------
    centre, least, largest : array
        Their values at the points, and the bounds on them.
    tangent, chord : array
        Slopes with respect to the squared distance: at the point, and over the range.
    on_chord : array
        The chords at the points.
    """

    centre: Floats
    least: Floats
    largest: Floats
    tangent: Floats
    chord: Floats
    on_chord: Floats

    @classmethod
    def within(cls, width: float, at: Floats, nearest: Floats, farthest: Floats) -> _Bumps:
        centre, small, large = (np.exp(-width * squares) for squares in (at, farthest, nearest))
        # (exp(-x) - 1) / x without cancellation, and its limit for a range without length.
        length = width * (farthest - nearest)
        share = np.where(length > 0, np.expm1(-length) / np.where(length > 0, length, 1), -1)
        chord = width * large * share
        return cls(centre, small, large, -width * centre, chord, large + chord * (at - nearest))


def _squared_distances(points: Floats, centres: Floats) -> Floats:
    """Without the cancellation that the usual product formula suffers from."""
    from scipy.spatial.distance import cdist

    return np.asarray(cdist(points, centres, "sqeuclidean"), dtype=np.float64)


def _check_rbf_shapes(columns: RBFBounds) -> None:
    shape = (len(columns.bias), len(columns.centres))
    if (
        columns.coefficients.shape != shape
        or columns.gamma.shape != columns.bias.shape
        or columns.points.shape[1:] != columns.centres.shape[1:]
    ):
        raise InvalidInputError(
            "centres (n_centres x n_features), coefficients (n_columns x n_centres), bias and "
            "gamma (n_columns) and points (n_samples x n_features) must fit, not shapes "
            f"{columns.centres.shape}, {columns.coefficients.shape}, {columns.bias.shape}, "
            f"{columns.gamma.shape} and {columns.points.shape}."
        )
    if (columns.gamma <= 0).any():
        raise InvalidInputError("gamma must be positive.")


class _SideBySide(ColumnBounds):
    """Columns behind different transformations of the features, bounded apart.

    Parameters
    ----------
    parts : sequence of ColumnBounds
        The bounds of some columns each, around the same points.
    order : sequence of int
        Which column each one is, in the order of the parts.
    """

    def __init__(self, parts: Sequence[ColumnBounds], order: Sequence[int]) -> None:
        self._parts = parts
        self._places = np.argsort(order)
        self.safety = max(part.safety for part in parts)
        self.scores = np.hstack([part.scores for part in parts])[:, self._places]

    def bounds(self, epsilon: npt.ArrayLike) -> Interval:
        """The bounds of all parts in the order of the columns."""
        intervals = [part.bounds(epsilon) for part in self._parts]
        return Interval(
            np.hstack([part.lower for part in intervals])[:, self._places],
            np.hstack([part.upper for part in intervals])[:, self._places],
        )


def rbf_columns(
    estimators: Sequence[Any], region: Region, before: AffineMap | None = None
) -> BoundsMaker | None:
    """Kernel machines with RBF kernel, maybe behind scalers; None if there is another.

    Parameters
    ----------
    estimators : sequence
        The fitted learners.
    region : Region
        The norm and the box.
    before : AffineMap, optional
        What is done to the features before they reach the learners.
    """
    try:
        alone: Any = [torch_columns([estimator]) for estimator in estimators]
    except UnsupportedError:
        return None
    parts = [columns.parts[0] for columns in alone]
    # Columns that transform features alike are bounded together: they share distances.
    groups: dict[bytes, list[int]] = {}
    for column, part in enumerate(parts):
        machine = part[1] if isinstance(part, nn.Sequential) else part
        if not isinstance(machine, KernelMachine) or machine.kernel != "rbf":
            return None
        groups.setdefault(_fingerprint(part), []).append(column)

    def bound(points: Floats) -> ColumnBounds:
        bounds = [
            _bumps([parts[column] for column in columns], before, points, region)
            for columns in groups.values()
        ]
        if len(bounds) == 1:
            return bounds[0]
        return _SideBySide(bounds, [column for columns in groups.values() for column in columns])

    return bound


def _fingerprint(part: nn.Module) -> bytes:
    if not isinstance(part, nn.Sequential):
        return b""
    layer: Any = part[0]
    return bytes(layer.weight.numpy().tobytes() + layer.bias.numpy().tobytes())


def _bumps(
    parts: Sequence[nn.Module], before: AffineMap | None, points: Floats, region: Region
) -> RBFBounds:
    """Columns that transform features alike, after what is done to all."""
    if isinstance(parts[0], nn.Sequential):
        layer: Any = parts[0][0]
        before = AffineMap(layer.weight.numpy(), layer.bias.numpy()).after(before)
    machines: list[Any] = [part[1] if isinstance(part, nn.Sequential) else part for part in parts]
    # Columns share most of their support vectors: each is kept once.
    stacked = np.vstack([machine.centres.numpy() for machine in machines])
    centres, place = np.unique(stacked, axis=0, return_inverse=True)
    ends = np.cumsum([len(machine.centres) for machine in machines])
    coefficients = np.zeros((len(machines), len(centres)))
    for row, where in enumerate(np.split(place.ravel(), ends[:-1])):
        np.add.at(coefficients[row], where, machines[row].coefficients.numpy()[:, 0])
    return RBFBounds(
        centres,
        coefficients,
        [machine.intercepts.numpy()[0] for machine in machines],
        [machine.gamma for machine in machines],
        points,
        region,
        matrix=None if before is None else before.matrix,
        shift=None if before is None else before.shift,
    )


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
    >>> bounds = columns.bounds(0.1)
    >>> bounds.lower.round(3), bounds.upper.round(3)
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
