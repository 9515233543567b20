"""Decisions in the worst case: how columns become classes, and which classes stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecoc._typing import Bools, Floats
from ecoc.errors import UnsupportedError
from ecoc.multiclass.decoders import (
    LOSSES,
    Decoder,
    Euclidean,
    Hamming,
    LossBased,
    Soft,
    Votes,
    hamming_margin,
)
from ecoc.robustness.certificates.bounds import ColumnBounds
from ecoc.robustness.certificates.linear import LinearBounds, linear_radii
from ecoc.robustness.threat import Interval

__all__ = [
    "DecodingRule",
    "all_bits_hold",
    "flips_absorbed",
    "linear_radii_of_leads",
    "pairs_stand",
    "rule_of",
    "worst_leads",
]


# ---------------------------------------------------- decoding as a sum over columns

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
        :data:`ecoc.multiclass.decoders.LOSSES` except ``"squared"``, which can rise.
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


def rule_of(decoder: Decoder) -> DecodingRule:
    """The rule behind a decoder.

    Examples
    --------
    >>> rule_of(Hamming()).loss
    'step'
    >>> rule_of(LossBased("hinge")).loss
    'hinge'
    """
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
        f"There is no certificate for decoding by {decoder!r}. Use decoding='soft', "
        "'normalised-linear', 'hamming' or 'all-bits', or a model that decodes by Hamming, Votes, "
        "Soft, Euclidean or LossBased with any loss but 'squared'."
    )


# ------------------------------------------------------ which classes stand


def flips_absorbed(
    scores: npt.ArrayLike, bounds: Interval, matrix: npt.ArrayLike, predicted: npt.ArrayLike
) -> Bools:
    """Whether Hamming decoding survives the change of all columns that can change sides.

    A codeword at distance d from all others stands if at most floor((d - 1) / 2) columns
    are wrong. Here a sample's own margin takes the place of that number: how many columns
    may change sides, whichever they are, from where the sample is now.

    Parameters
    ----------
    scores : array of shape (n_samples, n_columns)
        The columns' scores.
    bounds : Interval of arrays of the same shape
        What they may become.
    matrix : array of shape (n_classes, n_columns)
        The codebook.
    predicted : array of int of shape (n_samples,)
        The class (row of the codebook) of each sample.

    Examples
    --------
    >>> code = [[1, 1, 1, 1, 1], [-1, -1, -1, -1, -1]]
    >>> bounds = Interval(np.array([[-1.0, -1, 1, 1, 1]]), np.array([[2.0, 2, 2, 2, 2]]))
    >>> flips_absorbed([[1.0, 1, 1, 1, 1]], bounds, code, [0])
    array([ True])
    """
    flips = ((bounds.lower <= 0) & (bounds.upper >= 0)).sum(axis=1)
    margins = hamming_margin(scores, matrix, predicted)
    code = np.asarray(matrix, dtype=np.float64)
    rows = np.asarray(predicted, dtype=np.intp)
    signs = np.sign(np.asarray(scores, dtype=np.float64))
    # A margin of 0 also stands for "another class is as near already".
    agreement = signs @ code.T
    own = agreement[np.arange(len(rows)), rows]
    agreement[np.arange(len(rows)), rows] = -np.inf
    return np.asarray((own > agreement.max(axis=1)) & (flips <= margins))


def all_bits_hold(bounds: Interval, matrix: npt.ArrayLike, predicted: npt.ArrayLike) -> Bools:
    """Whether every column that uses the class stays on its side.

    A class that no column sets against some other cannot be told from it by its bits, and
    does not hold.

    Parameters
    ----------
    bounds, matrix, predicted
        As for :func:`flips_absorbed`.

    Examples
    --------
    >>> bounds = Interval(np.array([[0.1, -2.0], [-0.1, -2.0]]), np.array([[1.0, -1], [1, -1]]))
    >>> all_bits_hold(bounds, [[1, -1], [1, 1], [-1, 1]], [0, 0])
    array([ True, False])
    """
    code = np.asarray(matrix, dtype=np.float64)
    rows = np.asarray(predicted, dtype=np.intp)
    entries = code[rows]
    worst = np.where(entries > 0, bounds.lower, -bounds.upper)
    holds = ((worst > 0) | (entries == 0)).all(axis=1)
    opposed = np.array([[bool((one * other < 0).any()) for other in code] for one in code])
    np.fill_diagonal(opposed, True)
    distinct: Bools = np.asarray(opposed.all(axis=1))
    return np.asarray(holds & distinct[rows])


def pairs_stand(
    columns: ColumnBounds,
    epsilon: npt.ArrayLike,
    rule: DecodingRule,
    matrix: npt.ArrayLike,
    predicted: npt.ArrayLike,
) -> Bools:
    """Whether the predicted class leads every other wherever the columns may go.

    A lead of 0 is lost: how a decoder settles ties is not relied on.

    Parameters
    ----------
    columns : ColumnBounds
        The columns around the samples.
    epsilon : float or array of shape (n_samples,)
        The radius, for all samples or for each.
    rule : DecodingRule
        How classes are scored.
    matrix : array of shape (n_classes, n_columns)
        The codebook.
    predicted : array of int of shape (n_samples,)
        The class (row of the codebook) of each sample.
    """
    return np.asarray(worst_leads(columns, epsilon, rule, matrix, predicted) > 0)


def worst_leads(
    columns: ColumnBounds,
    epsilon: npt.ArrayLike,
    rule: DecodingRule,
    matrix: npt.ArrayLike,
    predicted: npt.ArrayLike,
) -> Floats:
    """A lower bound on the predicted class's lead over its nearest rival within the radius.

    The parameters are those of :func:`pairs_stand`. First every column by itself does its
    worst. Where the columns can also be bounded together, what they cannot do at the same
    time is added again, see :meth:`DecodingRule.least_slopes`.

    Returns
    -------
    array of shape (n_samples,)
    """
    code = np.asarray(matrix, dtype=np.float64)
    classes = np.asarray(predicted, dtype=np.intp)
    apart = columns.bounds(epsilon)
    leads = np.empty((len(classes), len(code) - 1))
    slopes = np.zeros((*leads.shape, code.shape[1]))
    for row in np.unique(classes):
        members = np.flatnonzero(classes == row)
        rivals = np.arange(len(code)) != row
        part = apart.taken(members)
        leads[members] = rule.worst_leads(part, code, int(row))[:, rivals]
        leads[members] -= rule.doubt(part, code, columns.safety)[:, None]
        slopes[members] = rule.least_slopes(part, code, int(row))[:, rivals]
    if columns.joint and slopes.any():
        together = columns.combined(epsilon, slopes) - apart.combined(slopes)
        leads += np.maximum(together, 0)
    least: Floats = leads.min(axis=1)
    return least


def linear_radii_of_leads(
    columns: LinearBounds,
    rule: DecodingRule,
    matrix: npt.ArrayLike,
    predicted: npt.ArrayLike,
) -> Floats:
    """The exact radius at which some rival catches up, for linear columns and a linear rule.

    The parameters are those of :func:`pairs_stand`.

    Returns
    -------
    array of shape (n_samples,)
        Infinite where no point of the box will do.
    """
    code = np.asarray(matrix, dtype=np.float64)
    classes = np.asarray(predicted, dtype=np.intp)
    radii = np.empty(len(classes))
    for row in np.unique(classes):
        members = np.flatnonzero(classes == row)
        forms, constants = rule.linear_leads(code, int(row))
        weights, bias = forms @ columns.weights, forms @ columns.bias + constants
        rivals = np.arange(len(code)) != row
        leads = linear_radii(weights[rivals], bias[rivals], columns.points[members], columns.region)
        radii[members] = leads.min(axis=1)
    return radii
