"""Columns that are sums of Gaussian bumps (SVMs with RBF kernel): sound bounds around points."""

from __future__ import annotations

from collections.abc import Sequence
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

__all__ = ["RBFBounds", "rbf_columns"]


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
    >>> found = columns.bounds(0.1)
    >>> bool(found.lower[0, 0] < columns.scores[0, 0] < found.upper[0, 0])
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
        _check_shapes(self)
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


def _check_shapes(columns: RBFBounds) -> None:
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
