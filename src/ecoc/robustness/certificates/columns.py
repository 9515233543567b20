"""What a certificate needs of columns: how far their scores can move around given points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ecoc.robustness.certificates.region import Floats, Interval

__all__ = ["ColumnBounds", "SideBySide"]


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


class SideBySide(ColumnBounds):
    """Columns of several kinds, bounded apart.

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
        found = [part.bounds(epsilon) for part in self._parts]
        return Interval(
            np.hstack([part.lower for part in found])[:, self._places],
            np.hstack([part.upper for part in found])[:, self._places],
        )
