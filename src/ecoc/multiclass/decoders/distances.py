"""Decoders by distance to the codewords, and by loss: Hamming, votes, Euclidean, losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError
from ecoc.multiclass.decoders.base import (
    Decoder,
    Needs,
    as_scores,
    erasures,
    symbol_answers,
    symbol_indicator,
    symbol_sums,
)

__all__ = [
    "LOSSES",
    "AttenuatedEuclidean",
    "Euclidean",
    "Hamming",
    "InverseHamming",
    "LossBased",
    "LossWeighted",
    "Votes",
    "certain_margin",
    "hamming_margin",
]


_LARGEST_EXPONENT = 300.0
"""Beyond this a sum of exponentials has long been decided by its largest term."""

_CHUNK = 1000
"""Samples whose margins are found at once, so that what is computed on the way stays small."""


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
        The loss of a score times the entry of the codeword, z; with more than two symbols of
        z = 2 P - 1, P being the probability of the symbol of the codeword.
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

    def symbol_scores(self, probabilities: Floats, matrix: Floats) -> Floats:
        """Negative losses, or their means over the columns."""
        total = symbol_loss(self.loss, probabilities, matrix)
        return -total / matrix.shape[1] if self.normalise else -total


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
        values = np.asarray(scores, dtype=np.float64)
        right = code[rows] * values > 0 if values.ndim == 2 else code[rows] == values.argmax(axis=2)
        return LossWeighted(self.loss, (member @ right) / totals)

    def restricted(self, columns: npt.NDArray[np.intp]) -> LossWeighted:
        """The same weights for some of the columns."""
        weights = None if self.weights is None else self.weights[:, columns]
        return LossWeighted(self.loss, weights)

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Negative weighted losses."""
        weights = self._shares(np.abs(matrix))
        return -total_loss(self.loss, scores, matrix, weights)

    def symbol_scores(self, probabilities: Floats, matrix: Floats) -> Floats:
        """Negative weighted losses."""
        weights = self._shares(np.ones(matrix.shape))
        return -symbol_loss(self.loss, probabilities, matrix, weights)

    def _shares(self, used: Floats) -> Floats:
        """The weights of each class, of sum one, given the columns that it uses."""
        if self.weights is None:
            raise InvalidInputError("LossWeighted must be fitted, or given weights, to decode.")
        weights = self.weights * used
        sums = weights.sum(axis=1, keepdims=True)
        # A class about which no column was ever right is judged by all its columns alike.
        weights = np.where(sums > 0, weights, used)
        shares: Floats = weights / np.maximum(
            weights.sum(axis=1, keepdims=True), np.finfo(float).tiny
        )
        return shares


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


def symbol_loss(
    loss: str, probabilities: Floats, matrix: Floats, weights: Floats | None = None
) -> Floats:
    """The sum of the losses of 2 P - 1, P the probability of each class's symbol."""
    return symbol_sums(LOSSES[loss](2 * probabilities - 1), matrix, weights)


@dataclass(frozen=True)
class Hamming(Decoder):
    """The class whose codeword differs from the columns' labels in the fewest places.

    These are equations 1 and 2 of Gupta & Amin (2021); a 0 in a codeword counts one half,
    and so does a score of exactly 0, on either side. Codewords at the same distance are told
    apart by the sum of the scores on their side; if that is equal too, the first class wins.
    Of more than two symbols a column answers the most probable, of equal ones the first.

    The class scores are the negative distances, plus a tie-break below 1/4 in size.

    Examples
    --------
    >>> Hamming()([[0.9, 0.2, -0.4]], [[1, 1, 1], [1, -1, -1], [-1, 1, -1]]).round(2)
    array([[-0.92, -0.9 , -1.05]])
    """

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Negative Hamming distances with their tie-break."""
        agreement: Floats = np.sign(scores) @ matrix.T
        agreement -= matrix.shape[1]
        agreement /= 2
        return agreement + _tie_break(scores, matrix)

    def symbol_scores(self, probabilities: Floats, matrix: Floats) -> Floats:
        """Negative Hamming distances with their tie-break."""
        agreement: Floats = symbol_sums(symbol_answers(probabilities), matrix)
        agreement -= matrix.shape[1]
        agreement += _squeezed(symbol_sums(probabilities, matrix))
        return agreement


@dataclass(frozen=True)
class Votes(Decoder):
    """The class with the largest share of its columns on its side; their scores break ties.

    A column that does not use a class (0) casts no vote on it. On one-vs-one codes, where
    every class has as many columns, this is the customary vote, and decides as
    :class:`Hamming` does. Where columns are missing, shares still compare classes fairly.

    Examples
    --------
    >>> one_vs_one = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    >>> Votes()([[2.0, -0.5, 1.0]], one_vs_one).round(2)
    array([[0.51, 0.49, 0.5 ]])
    """

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Shares of votes with their tie-break; one half for a class without columns."""
        used = np.abs(matrix).sum(axis=1)
        columns = np.maximum(used, 1)
        shares: Floats = np.sign(scores) @ matrix.T
        shares /= 2 * columns
        shares += 0.5
        # Different shares are at least 1 / (2 L^2) apart.
        shares += _tie_break(scores, matrix, columns) / matrix.shape[1] ** 2
        return shares

    def symbol_scores(self, probabilities: Floats, matrix: Floats) -> Floats:
        """Shares of votes with their tie-break; every column casts one on every class."""
        n_columns = matrix.shape[1]
        shares: Floats = symbol_sums(symbol_answers(probabilities), matrix) / n_columns
        shares += _squeezed(symbol_sums(probabilities, matrix) / n_columns) / n_columns**2
        return shares


def _tie_break(scores: Floats, matrix: Floats, columns: Floats | float = 1.0) -> Floats:
    """The sums of scores, or their means over columns, squeezed below 1/5.

    Distances come in steps of 1/2, so that this decides between equal ones only.
    """
    sums: Floats = scores @ matrix.T
    sums /= columns
    return _squeezed(sums)


def _squeezed(sums: Floats) -> Floats:
    sums /= 5 * (np.abs(sums) + 1)
    return sums


@dataclass(frozen=True)
class Euclidean(Decoder):
    """The class whose codeword is nearest to the scores in Euclidean distance.

    Examples
    --------
    >>> Euclidean()([[1.0, -1.0]], [[1, 1], [1, -1], [-1, 1]]).round(2)
    array([[-2.  , -0.  , -2.83]])
    """

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Negative distances."""
        squares: Floats = (scores**2).sum(axis=1)[:, None] + (matrix**2).sum(axis=1)
        squares -= 2 * (scores @ matrix.T)
        return -np.sqrt(np.maximum(squares, 0))

    def symbol_scores(self, probabilities: Floats, matrix: Floats) -> Floats:
        """Negative distances to codewords that are certain of their symbols."""
        squares = -2 * symbol_sums(probabilities, matrix)
        squares += (probabilities**2).sum(axis=(1, 2))[:, None] + matrix.shape[1]
        return -np.sqrt(np.maximum(squares, 0))


@dataclass(frozen=True)
class AttenuatedEuclidean(Decoder):
    """Euclidean distance over the columns that use a class (Pujol, Escalera & Radeva 2008).

    Examples
    --------
    >>> AttenuatedEuclidean()([[1.0, -1.0]], [[1, 0], [1, 1], [-1, 1]]).round(2)
    array([[-0.  , -2.  , -2.83]])
    """

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Negative distances."""
        used = np.abs(matrix)
        squares: Floats = scores**2 @ used.T + used.sum(axis=1)
        squares -= 2 * (scores @ matrix.T)
        return -np.sqrt(np.maximum(squares, 0))

    def symbol_scores(self, probabilities: Floats, matrix: Floats) -> Floats:
        """Negative distances as :class:`Euclidean` has them: every column uses every class."""
        return Euclidean().symbol_scores(probabilities, matrix)


@dataclass(frozen=True)
class InverseHamming(Decoder):
    """Hamming distances corrected for those among the codewords (Windeatt & Ghaderi 2003).

    If the distances of a sample were a mixture of the distances that the codewords have to
    each other, the class scores are the weights of that mixture. On codes whose codewords
    are all equally far apart this decides as :class:`Hamming` does.

    Examples
    --------
    >>> one_vs_rest = [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    >>> InverseHamming()([[3.0, 1.0, -2.0]], one_vs_rest).round(2)
    array([[ 0.75,  0.75, -0.25]])
    """

    # The distances among the codewords are inverted once, not for every part of a batch.
    whole_batch: ClassVar[bool] = True

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Weights of the mixture."""
        n_columns = matrix.shape[1]
        distances = (n_columns - np.sign(scores) @ matrix.T) / 2
        among: Floats = (n_columns - matrix @ matrix.T) / 2
        return np.asarray(distances @ np.linalg.pinv(among))

    def symbol_scores(self, probabilities: Floats, matrix: Floats) -> Floats:
        """Weights of the mixture."""
        n_columns = matrix.shape[1]
        indicator = symbol_indicator(matrix, probabilities.shape[2])
        distances = n_columns - symbol_sums(symbol_answers(probabilities), matrix)
        among: Floats = n_columns - indicator @ indicator.T
        return np.asarray(distances @ np.linalg.pinv(among))


def hamming_margin(
    scores: npt.ArrayLike, matrix: npt.ArrayLike, predicted: npt.ArrayLike
) -> npt.NDArray[np.int64]:
    """How many columns may change sides before Hamming decoding can leave the predicted class.

    Parameters
    ----------
    scores : array of shape (n_samples, n_columns), or (n_samples, n_columns, n_symbols)
        Signed scores, of which only the signs count, or probabilities of symbols, of which
        only the most probable counts; NaN is an erasure.
    matrix : array of shape (n_classes, n_columns)
        The codebook.
    predicted : array of int of shape (n_samples,)
        The class (row of the codebook) predicted for each sample.

    Returns
    -------
    array of int of shape (n_samples,)
        The largest number t such that, whichever t columns answer differently, the
        predicted class stays nearer than every other; 0 where a single one is enough, and
        where Hamming decoding does not prefer the predicted class to begin with.

    Examples
    --------
    >>> code = [[1, 1, 1, 1, 1], [-1, -1, -1, -1, -1]]
    >>> hamming_margin([[1, 1, 1, 1, 1], [1, 1, 1, 1, -1], [1, 1, 1, -1, -1]], code, [0, 0, 0])
    array([2, 1, 0])
    """
    return np.maximum(_margins(scores, matrix, predicted, erased_against=False), 0)


def certain_margin(
    scores: npt.ArrayLike, matrix: npt.ArrayLike, predicted: npt.ArrayLike
) -> npt.NDArray[np.int64]:
    """How many wrong answers a decision survives whatever the erased columns would have said.

    Parameters
    ----------
    scores, matrix, predicted
        As for :func:`hamming_margin`.

    Returns
    -------
    array of int of shape (n_samples,)
        The largest number t such that, whichever t of the answers are wrong, Hamming decoding
        of *all* columns gives the predicted class; -1 where the erased columns alone could
        change it, or Hamming decoding does not prefer it to begin with. Without erasures it is
        the margin of Hamming decoding, but for the -1.

    Examples
    --------
    >>> code = [[1, 1, 1, 1, 1], [-1, -1, -1, -1, -1]]
    >>> lost = float("nan")
    >>> certain_margin([[1, 1, 1, 1, lost], [1, 1, 1, -1, lost]], code, [0, 0])
    array([1, 0])
    >>> certain_margin([[1, 1, lost, lost, lost]], code, [0])
    array([-1])
    """
    return _margins(scores, matrix, predicted, erased_against=True)


def _margins(
    scores: npt.ArrayLike, matrix: npt.ArrayLike, predicted: npt.ArrayLike, *, erased_against: bool
) -> npt.NDArray[np.int64]:
    """Margins with -1 for no lead; erased columns say nothing, or are against every decision."""
    values, code = as_scores(scores, matrix)
    rows = np.asarray(predicted, dtype=np.intp)
    if values.ndim == 3:
        return _symbol_margins(values, code, rows, erased_against=erased_against)
    parts = [slice(start, start + _CHUNK) for start in range(0, max(len(rows), 1), _CHUNK)]
    return np.concatenate(
        [_sign_margins(values[part], code, rows[part], erased_against) for part in parts]
    )


def _sign_margins(
    scores: Floats, code: Floats, rows: npt.NDArray[np.intp], erased_against: bool
) -> npt.NDArray[np.int64]:
    """The margins of samples whose columns answer signed scores."""
    present = ~np.isnan(scores)
    signs = np.sign(np.where(present, scores, 0))
    plus, minus, undecided = signs > 0, signs < 0, present & (signs == 0)
    # Where each class, and the predicted class of each sample, is on which side of the columns.
    ahead, behind, unused = ((code == side).astype(np.float64) for side in (1, -1, 0))
    own_ahead, own_behind, own_unused = code[rows] == 1, code[rows] == -1, code[rows] == 0
    # Half the lead over each rival, and what a column can take from it if it turns against
    # the predicted class: 2 where the codewords differ, 1 where one of them is 0, and half
    # of that from a column that stands on neither side.
    agreement = signs @ code.T
    lead = (np.take_along_axis(agreement, rows[:, None], axis=1) - agreement) / 2
    if erased_against and not present.all():
        differs = (~present & own_ahead) @ behind.T + (~present & own_behind) @ ahead.T
        lead -= differs + (~present & ~own_unused) @ unused.T / 2
        lead -= (~present & own_unused) @ (ahead + behind).T / 2
    takes_two = (plus & own_ahead) @ behind.T + (minus & own_behind) @ ahead.T
    takes_one = ((plus & own_ahead) | (minus & own_behind)) @ unused.T
    takes_one += ((plus & own_unused) | (undecided & own_ahead)) @ behind.T
    takes_one += ((minus & own_unused) | (undecided & own_behind)) @ ahead.T
    after_two = np.maximum(lead - 2 * takes_two, 0)
    after_one = np.maximum(after_two - takes_one, 0)
    needed = (
        np.minimum(np.ceil(lead / 2), takes_two)
        + np.minimum(np.ceil(after_two), takes_one)
        + np.ceil(2 * after_one)
    )
    np.put_along_axis(needed, rows[:, None], np.inf, axis=1)
    fewest: npt.NDArray[np.int64] = needed.min(axis=1).astype(np.int64)
    return np.maximum(fewest - 1, -1)


def _symbol_margins(
    probabilities: Floats,
    code: Floats,
    rows: npt.NDArray[np.intp],
    *,
    erased_against: bool,
) -> npt.NDArray[np.int64]:
    """The margins of samples whose columns answer symbols.

    A column that answered the symbol of the predicted class can take 2 from its lead over a
    rival, by answering that of the rival. There are at least as many of them as the lead is
    large, and the fewest that end it are half of it.
    """
    answers = symbol_answers(np.nan_to_num(probabilities))
    erased = erasures(probabilities)
    answers[erased] = 0
    agreement = symbol_sums(answers, code)
    places = np.arange(len(agreement)), rows
    own = agreement[places]
    if erased_against:
        # A rival gains where it has another symbol than the predicted class.
        for column in np.flatnonzero(erased.any(axis=0)):
            differs = code[:, column] != code[rows, column][:, None]
            agreement += erased[:, [column]] & differs
    agreement[places] = -np.inf
    lead = own - agreement.max(axis=1)
    margins: npt.NDArray[np.int64] = np.maximum(np.ceil(lead / 2) - 1, -1).astype(np.int64)
    return margins
