"""Decoding as a sum over columns, and its worst case when the columns' scores are intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecoc.errors import UnsupportedError
from ecoc.multiclass import (
    LOSSES,
    Decoder,
    Euclidean,
    Hamming,
    LossBased,
    Soft,
    Votes,
)
from ecoc.robustness.threat import Floats, Interval

__all__ = ["DecodingRule", "rule_of"]

_MONOTONE: dict[str, Callable[[Floats], Floats]] = {
    "step": lambda z: (1 - np.sign(z)) / 2,
    # The probability of the other side, without cancellation on either.
    "probability": lambda z: np.exp(-np.logaddexp(0, z)),
    **{name: loss for name, loss in LOSSES.items() if name != "squared"},
}
"""Losses of z, the score times the entry of the codeword; none of them ever increases."""

_STEEPNESS: dict[str, Callable[[Floats], Floats]] = {
    "step": np.zeros_like,
    "probability": lambda z: np.exp(-np.logaddexp(0, z) - np.logaddexp(0, -z)),
    "hinge": lambda z: (z < 1) / 2,
    # Constant beyond the largest exponent.
    "exponential": lambda z: np.where(np.abs(z) < 300, LOSSES["exponential"](z), 0),
    "logistic": lambda z: np.exp(-np.logaddexp(0, z)) / (2 * np.log(2)),
    "binary-deviance": lambda z: np.exp(-np.logaddexp(0, 2 * z)) / np.log(2),
    "linear": lambda z: np.full_like(z, 0.5),
}
"""How fast they fall. Over an interval each is steeper inside than at one of the ends."""


@dataclass(frozen=True)
class DecodingRule:
    r"""A decoder whose class scores are sums of one loss for each column.

    The score of class i is minus the sum of :math:`w_i L(M_{ij} z_j)` over the columns that
    use the class, and of a constant for each column that does not. The lead of a class over
    a rival is then a sum of terms of one column each, and every such term only rises or only
    falls with the score of its column. So its least value over an interval is at one end,
    and the sum of these is the exact worst case over all scores in the intervals. Columns
    that do not tell the two classes apart cancel.

    Attributes
    ----------
    decoder : Decoder
        What predicts.
    loss : str
        The loss: ``"step"`` (Hamming distance), ``"probability"`` (equation 20), or one of
        :data:`ecoc.multiclass.LOSSES` except ``"squared"``, which can rise.
    unused : float
        What a column that does not use a class costs it.
    normalise : bool
        Whether the mean over the columns that use a class is taken instead.
    """

    decoder: Decoder
    loss: str
    unused: float = 0.5
    normalise: bool = False

    @property
    def is_linear(self) -> bool:
        """Whether the lead of one class over another is linear in the columns' scores."""
        return self.loss == "linear"

    def predict(self, scores: Floats, matrix: Floats) -> npt.NDArray[np.intp]:
        """The row of the codebook that each sample is given."""
        return np.asarray(self.decoder(scores, matrix).argmax(axis=1))

    def linear_leads(self, matrix: Floats, row: int) -> tuple[Floats, Floats]:
        """Coefficients and constants of the leads of a class over all, for linear rules."""
        weights, constants = self._weights(matrix)
        signed = matrix * weights
        constants = constants - (np.abs(matrix) * weights).sum(axis=1) / 2
        return (signed[row] - signed) / 2, constants[row] - constants

    def worst_leads(self, scores: Interval, matrix: Floats, row: int) -> Floats:
        """The least lead of a class over each class that scores within the intervals allow.

        Parameters
        ----------
        scores : Interval of arrays of shape (n_samples, n_columns)
            What the columns' scores may be.
        matrix : array of shape (n_classes, n_columns)
            The codebook.
        row : int
            The class.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Exact but for rounding; 0 for the class itself.
        """
        weights, constants = self._weights(matrix)
        right, wrong = weights * (matrix > 0), weights * (matrix < 0)
        # The lead is a sum of gain * loss(z) + cost * loss(-z); the first falls in z, the
        # second rises, and they never pull in different directions.
        gain, cost = right - right[row], wrong - wrong[row]
        rising = cost > gain
        loss = _MONOTONE[self.loss]
        leads: Floats = constants[row] - constants + np.zeros((len(scores.lower), 1))
        for end, where in ((scores.lower, rising), (scores.upper, ~rising)):
            leads += loss(end) @ (gain * where).T + loss(-end) @ (cost * where).T
        return leads

    def least_slopes(self, scores: Interval, matrix: Floats, row: int) -> Floats:
        """How fast leads change with each column's score, at the least, within the intervals.

        If a lead rises with the score of a column, and never slower than s, then it is at
        least its value at the lower end plus s times what the score is above it. So the
        worst lead of :meth:`worst_leads` can be raised by as much as the combination of
        scores with these slopes has as a whole above what it has column by column.

        The parameters are those of :meth:`worst_leads`.

        Returns
        -------
        array of shape (n_samples, n_classes, n_columns)
            Negative where a lead falls with the score.
        """
        weights, _ = self._weights(matrix)
        right, wrong = weights * (matrix > 0), weights * (matrix < 0)
        gain, cost = right - right[row], wrong - wrong[row]
        steepness = _STEEPNESS[self.loss]
        ends = (scores.lower, scores.upper)
        falling, rising = (
            np.minimum(*(steepness(sign * end) for end in ends))[:, None] for sign in (1, -1)
        )
        slopes: Floats = cost * rising - gain * falling
        return slopes

    def doubt(self, scores: Interval, matrix: Floats, safety: float) -> Floats:
        """What rounding may make of a lead, for each sample: it must be larger than this."""
        if self.loss == "step":
            return np.zeros(len(scores.lower))  # halves are exact
        loss = _MONOTONE[self.loss]
        ends = (scores.lower, scores.upper)
        largest = np.maximum.reduce([np.abs(loss(sign * end)) for end in ends for sign in (1, -1)])
        weights, _ = self._weights(matrix)
        doubt: Floats = safety * float(weights.max()) * largest.sum(axis=1)
        return doubt

    def _weights(self, matrix: Floats) -> tuple[Floats, Floats]:
        """The weight of a column in each class, and the constant of each class."""
        used = np.abs(matrix).sum(axis=1)
        if self.normalise:
            return (1 / np.maximum(used, 1))[:, None], np.where(used > 0, 0, -0.5)
        return np.ones((len(matrix), 1)), -self.unused * (matrix.shape[1] - used)


_NAMED = {
    "soft": DecodingRule(Soft(), "probability", normalise=True),
    "logits": DecodingRule(LossBased("linear", normalise=True), "linear", normalise=True),
    "hamming": DecodingRule(Hamming(), "step"),
}


def rule_of(decoding: str | Decoder) -> DecodingRule:
    """The rule behind a name or a decoder.

    Examples
    --------
    >>> rule_of("hamming").loss
    'step'
    >>> rule_of(LossBased("hinge")).loss
    'hinge'
    """
    if isinstance(decoding, str):
        return _NAMED[decoding]
    decoder = decoding
    # The very types: a subclass may score otherwise.
    kind = type(decoder)
    if kind is Hamming:
        return DecodingRule(decoder, "step")
    if kind is Votes:
        return DecodingRule(decoder, "step", normalise=True)
    if kind is Euclidean:
        return DecodingRule(decoder, "linear", unused=0.25)
    if kind is Soft and isinstance(decoder, Soft):
        loss = "probability" if decoder.logistic else "linear"
        return DecodingRule(decoder, loss, unused=1.0, normalise=decoder.normalise)
    if kind is LossBased and isinstance(decoder, LossBased) and decoder.loss in _MONOTONE:
        return DecodingRule(decoder, decoder.loss, normalise=decoder.normalise)
    raise UnsupportedError(
        f"There is no certificate for decoding by {decoder!r}. Use decoding='soft', 'logits', "
        "'hamming' or 'all-bits', or a model that decodes by Hamming, Votes, Soft, Euclidean or "
        "LossBased with any loss but 'squared'."
    )
