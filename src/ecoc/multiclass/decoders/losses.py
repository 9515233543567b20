"""Decoders by loss: of all columns, their mean over those a class uses, or weighted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice
from ecoc.errors import InvalidInputError
from ecoc.multiclass.decoders.base import Decoder, Floats, Needs

__all__ = ["LOSSES", "LossBased", "LossWeighted"]

_LARGEST_EXPONENT = 300.0
"""Beyond this a sum of exponentials has long been decided by its largest term."""


def _exponential(z: Floats) -> Floats:
    return np.exp(np.clip(-z, -_LARGEST_EXPONENT, _LARGEST_EXPONENT)) / 2


def _softplus(z: Floats) -> Floats:
    return np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))


LOSSES: dict[str, Callable[[Floats], Floats]] = {
    "hinge": lambda z: np.maximum(0, 1 - z) / 2,
    "exponential": _exponential,
    "logistic": lambda z: _softplus(-z) / (2 * np.log(2)),
    "binary-deviance": lambda z: _softplus(-2 * z) / (2 * np.log(2)),
    "squared": lambda z: (1 - z) ** 2 / 2,
    "linear": lambda z: (1 - z) / 2,
}
"""Losses of z, the score times the entry of the codeword; each is 1/2 at z = 0."""


@dataclass(frozen=True)
class LossBased(Decoder):
    """The class whose codeword has the least loss (Allwein, Schapire & Singer 2000).

    Parameters
    ----------
    loss : {"hinge", "exponential", "logistic", "binary-deviance", "squared", "linear"}
        The loss of a score times the entry of the codeword, z.
    normalise : bool, default=False
        Take the mean over the columns that use a class, instead of counting a loss of 1/2,
        that of z = 0, for each column that does not. It makes a difference for ternary
        codes only, whose rows differ in their number of zeros.

    Examples
    --------
    >>> ternary = [[1, 1, 1], [-1, 0, 0], [0, -1, 1]]
    >>> LossBased("linear")([[0.5, 0.5, -0.5]], ternary).round(2)
    array([[-1.25, -1.75, -2.  ]])
    >>> LossBased("linear", normalise=True)([[0.5, 0.5, -0.5]], ternary).round(2)
    array([[-0.42, -0.75, -0.75]])
    """

    loss: str = "hinge"
    normalise: bool = False

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, LOSSES)

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Negative losses."""
        used = np.abs(matrix)
        total = total_loss(self.loss, scores, matrix, used)
        n_used = used.sum(axis=1)
        if self.normalise:
            # An erasure can leave a class without any column: it then has no better claim
            # than a loss of 1/2 gives.
            mean = total / np.maximum(n_used, 1)
            return -np.where(n_used > 0, mean, 0.5)
        total += (matrix.shape[1] - n_used) / 2
        return -total


@dataclass(frozen=True, eq=False)
class LossWeighted(Decoder):
    """Loss-weighted decoding (Escalera, Pujol & Radeva 2010).

    The loss of a column counts for a class as much as the column was right about the
    training samples of that class; the weights of a class sum to one, and a column that
    does not use the class has none.

    Parameters
    ----------
    loss : str, default="linear"
        As for :class:`LossBased`.
    weights : array of shape (n_classes, n_columns), optional
        What :meth:`fit` learns: the weights, before each row is divided by its sum.

    Examples
    --------
    >>> matrix = [[1, 1], [1, -1], [-1, 1]]
    >>> decoder = LossWeighted().fit([[1.0, -0.1], [2.0, -1.0], [-1.0, 2.0]], [0, 1, 2], matrix)
    >>> decoder.weights
    array([[1., 0.],
           [1., 1.],
           [1., 1.]])
    >>> decoder([[0.5, 0.1]], matrix).round(2)
    array([[-0.25, -0.4 , -0.6 ]])
    """

    loss: str = "linear"
    weights: Floats | None = None

    needs: ClassVar[Needs] = "training"

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, LOSSES)

    def fit(
        self,
        scores: npt.ArrayLike,
        targets: npt.ArrayLike,
        matrix: npt.ArrayLike,
        *,
        sample_weight: Floats | None = None,
    ) -> LossWeighted:
        """Learn how often each column is right about each class."""
        code = np.asarray(matrix, dtype=np.float64)
        rows = np.asarray(targets, dtype=np.intp)
        member = np.zeros((len(code), len(rows)))
        member[rows, np.arange(len(rows))] = 1.0 if sample_weight is None else sample_weight
        totals = np.maximum(member.sum(axis=1), np.finfo(float).tiny)[:, None]
        right = code[rows] * np.asarray(scores, dtype=np.float64) > 0
        return LossWeighted(self.loss, (member @ right) / totals)

    def restricted(self, columns: npt.NDArray[np.intp]) -> LossWeighted:
        """The same weights for some of the columns."""
        weights = None if self.weights is None else self.weights[:, columns]
        return LossWeighted(self.loss, weights)

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Negative weighted losses."""
        if self.weights is None:
            raise InvalidInputError("LossWeighted must be fitted, or given weights, to decode.")
        weights = self.weights * np.abs(matrix)
        sums = weights.sum(axis=1, keepdims=True)
        # A class about which no column was ever right is judged by all its columns alike.
        weights = np.where(sums > 0, weights, np.abs(matrix))
        weights = weights / np.maximum(weights.sum(axis=1, keepdims=True), np.finfo(float).tiny)
        return -total_loss(self.loss, scores, matrix, weights)


def total_loss(loss: str, scores: Floats, matrix: Floats, weights: Floats) -> Floats:
    """The sum of the weighted losses of each class's side, for each sample and class."""
    function = LOSSES[loss]
    positive = np.where(matrix > 0, weights, 0)
    right, wrong = function(scores), function(-scores)
    if loss != "exponential" and (weights == 1).all():
        # One product does for both sides. Not for exponentials: the small ones would drown.
        total: Floats = (right - wrong) @ positive.T
        total += wrong.sum(axis=1, keepdims=True)
        return total
    total = right @ positive.T
    total += wrong @ np.where(matrix < 0, weights, 0).T
    return total
