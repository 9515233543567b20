"""What a certificate needs of columns: how far their scores can move around given points."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ecoc._checks import listing
from ecoc.errors import UnsupportedError
from ecoc.robustness.threat import Floats, Interval

__all__ = ["BoundsMaker", "ColumnBounds", "check_formulas"]


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
