"""Randomised smoothing of columns: bounds that hold with a stated confidence, for any model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int, check_number
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError
from ecoc.robustness.certificates.bounds import ColumnBounds
from ecoc.robustness.threat import Interval, spread

__all__ = ["SmoothedBounds", "Smoothing", "count_votes"]


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
