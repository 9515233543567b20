"""Where an input may be moved to: a ball around it, and the box that all inputs lie in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ecoc.errors import InvalidInputError
from ecoc.robustness.geometry import Box, Norm, check_box, check_norm

__all__ = ["Floats", "Interval", "Region", "spread"]

Floats: TypeAlias = npt.NDArray[np.float64]


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
                f"X must have a row for each sample, not {values.ndim} dimension(s)."
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
