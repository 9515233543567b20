"""From the probabilities of columns to those of classes: equation 20, and coupling."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int, check_number
from ecoc._typing import Floats, Ints
from ecoc._workers import one_thread_for
from ecoc.errors import InvalidInputError
from ecoc.multiclass.decoders.base import CHUNK, Decoder, symbol_indicator, symbol_sums

__all__ = [
    "Coupling",
    "LogLikelihood",
    "Soft",
    "couple",
    "coupling_loss",
    "normalise_rows",
    "settle_ties",
    "smoothed",
]

_SMALLEST = 1e-6
"""Columns are never believed to be more certain than this."""

_LEAST = 1e-12
"""No class is ever ruled out for good: a step could not bring it back."""

_SMOOTHING = 0.02
"""The share of its answer that a column deals out to all symbols alike.

Without it the zeros that single trees are so fond of would decide everything.
"""

_PRIOR = 0.5
"""How many columns' worth of doubt symbols are coupled with, see `prior` of :func:`couple`.

Columns that are too sure of themselves, such as fully grown trees, rule most classes out. Half a
column of doubt lowers the log loss of trees, naive Bayes and nearest neighbours and leaves the
accuracy as it is; a whole column is a little better for trees and worse for boosting, whose columns
doubt enough.
"""

_TIE = 1e-8
"""Probabilities that differ by less are equal but for rounding, and for where coupling stops."""

_SHARPNESS = 2.0
"""What logarithms of coupled probabilities are multiplied by where all columns agree."""

_FLOOR = 0.05
"""The share that classes have alike in the end: all columns may be wrong together.

Chosen with `_SHARPNESS` for the least mean log loss of trees, boosting, forests, naive Bayes,
logistic regression and nearest neighbours on segment, yeast, pendigits, ecoli, King-Rook against
King and two made sets, none of which `benchmarks/many_class.py` reports on. Nearest neighbours
alone lose a little, whose columns have one opinion indeed.
"""

_SYMBOL_TOLERANCE = 2e-2
"""With many columns of many symbols the last digits take most of the time.

On 70 classes probabilities are then within 0.04 of the optimum, on ten classes mostly within 0.01;
the log loss of trees, boosting and nearest neighbours is the same or lower by up to 0.03, and the
accuracy is the same within 0.5 points either way. Single precision is enough for it.
"""


def smoothed(probabilities: Floats) -> Floats:
    """Probabilities on the last axis, moved by 2 % towards equal ones.

    Examples
    --------
    >>> smoothed(np.array([1.0, 0.0, 0.0, 0.0]))
    array([0.985, 0.005, 0.005, 0.005])
    """
    moved: Floats = (1 - _SMOOTHING) * probabilities + _SMOOTHING / probabilities.shape[-1]
    return moved


@dataclass(frozen=True)
class Soft(Decoder):
    """The class scores of equation 20 of Gupta & Amin (2021).

    For each class these are the probabilities of its side, summed over the columns that use
    it. They are scores and no probabilities: their sum depends on the sample.

    Parameters
    ----------
    logistic : bool, default=True
        Whether scores are decision values, which the logistic function turns into
        probabilities r. Otherwise they are 2 r - 1 already.
    normalise : bool, default=True
        Divide by the number of columns that use the class, as the paper does for ternary
        codes. For +1/-1 codes this changes no decision.

    Examples
    --------
    >>> Soft(logistic=False)([[0.8, -0.2]], [[1, 1], [1, -1], [-1, 0]]).round(2)
    array([[0.65, 0.75, 0.1 ]])
    """

    logistic: bool = True
    normalise: bool = True

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Equation 20, normalised or not."""
        # r - 1/2, so that both sides of a column are one product with the codebook.
        centred = np.tanh(scores / 2) / 2 if self.logistic else scores / 2
        used = np.abs(matrix).sum(axis=1)
        sums: Floats = centred @ matrix.T
        sums += used / 2
        return np.where(used > 0, sums / np.maximum(used, 1), 0.5) if self.normalise else sums

    def symbol_scores(self, probabilities: Floats, matrix: Floats) -> Floats:
        """The probabilities of each class's symbols, their mean or their sum."""
        sums = symbol_sums(probabilities, matrix)
        return sums / matrix.shape[1] if self.normalise else sums


@dataclass(frozen=True)
class LogLikelihood(Decoder):
    """How likely each class makes the columns' answers, if they err independently.

    The sum, over the columns, of the logarithm of the probability of the class's side or
    symbol, once it was moved by 2 % towards equal ones. A column that does not use a class
    says as little about it as equal probabilities do.

    Parameters
    ----------
    logistic : bool, default=True
        As for :class:`Soft`.

    Examples
    --------
    >>> LogLikelihood(logistic=False)([[0.8, -0.2]], [[1, 1], [1, -1], [-1, 0]]).round(2)
    array([[-1.03, -0.63, -2.92]])
    """

    logistic: bool = True

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Log-likelihoods."""
        centred = np.tanh(scores / 2) / 2 if self.logistic else scores / 2
        logs = np.log(smoothed(np.stack([centred + 0.5, 0.5 - centred], axis=2)))
        sums: Floats = logs[:, :, 0] @ (matrix > 0).T + logs[:, :, 1] @ (matrix < 0).T
        sums += (matrix == 0).sum(axis=1) * np.log(0.5)
        return sums

    def symbol_scores(self, probabilities: Floats, matrix: Floats) -> Floats:
        """Log-likelihoods."""
        return symbol_sums(np.log(smoothed(probabilities)), matrix)


@dataclass(frozen=True)
class Coupling(Decoder):
    """Class probabilities by the generalised Bradley-Terry model, see :func:`couple`.

    Those of symbols are :func:`sharpened`, which changes no decision.

    Parameters
    ----------
    logistic : bool, default=True
        As for :class:`Soft`.

    Examples
    --------
    >>> one_vs_rest = [[1, -1, -1], [-1, 1, -1], [-1, -1, 1]]
    >>> Coupling(logistic=False)([[0.8, -0.2, -0.8]], one_vs_rest).round(2)
    array([[0.71, 0.23, 0.05]])
    """

    logistic: bool = True

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Probabilities."""
        centred = np.tanh(scores / 2) / 2 if self.logistic else scores / 2
        return couple(centred + 0.5, matrix)

    def symbol_scores(self, probabilities: Floats, matrix: Floats) -> Floats:
        """Probabilities, from those of symbols moved by 2 % towards equal ones, with a prior."""
        r = smoothed(probabilities)
        p = couple(r, matrix, prior=_PRIOR, tolerance=_SYMBOL_TOLERANCE)
        return sharpened(p, r, matrix)


def sharpened(p: Floats, probabilities: Floats, matrix: npt.ArrayLike) -> Floats:
    """Coupled probabilities made surer where the columns agree.

    Coupling finds the shares of classes that explain what the columns say, as if all were one
    opinion. They are several: a class that eight columns find 80 % probable each, for reasons of
    their own, is more probable than that. So probabilities are taken to the power of
    2 exp(-R), where R is the mean Kullback-Leibler divergence of a column from what the coupled
    probabilities say of it: columns that contradict each other get no more than they had, and
    less if they do so a lot. Then all classes share 5 % alike. The order of the classes stays.

    Parameters
    ----------
    p : array of shape (n_samples, n_classes)
        What :func:`couple` made of the columns.
    probabilities : array of shape (n_samples, n_columns, n_symbols)
        What the columns said, without zeros.
    matrix : array of shape (n_classes, n_columns)
        The codebook, of symbols.

    Examples
    --------
    >>> matrix = [[0, 0, 1], [1, 1, 1], [2, 0, 0]]
    >>> agreeing = np.array([[[0.8, 0.1, 0.1], [0.9, 0.05, 0.05], [0.1, 0.85, 0.05]]])
    >>> p = couple(agreeing, matrix)
    >>> p.round(2), sharpened(p, agreeing, matrix).round(2)
    (array([[0.82, 0.08, 0.1 ]]), array([[0.94, 0.02, 0.03]]))
    """
    n_classes, n_columns = np.shape(matrix)
    groups = symbol_indicator(np.asarray(matrix), probabilities.shape[2])
    shares = p @ groups
    # A symbol that no class has says nothing about classes.
    shares[:, ~groups.any(axis=0)] = np.inf
    r = probabilities.reshape(shares.shape)
    ratios = np.log(r / shares, where=shares < np.inf, out=np.zeros_like(shares))
    contradiction = np.maximum((r * ratios).sum(axis=1), 0) / n_columns
    power = _SHARPNESS * np.exp(-contradiction)
    surer = np.exp(power[:, None] * np.log(p / p.max(axis=1, keepdims=True)))
    result: Floats = (1 - _FLOOR) * normalise_rows(surer) + _FLOOR / n_classes
    return result


def couple(
    probabilities: npt.ArrayLike,
    matrix: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    prior: float = 0.0,
    max_iter: int = 1000,
    tolerance: float = 1e-9,
) -> Floats:
    """Couple the probabilities of columns into probabilities of classes.

    Finds class probabilities p under which the columns' probabilities r are most likely:
    the least Kullback-Leibler divergence of r from q, where q is the share of a column's
    +1 classes in all classes that it uses (Zadrozny 2002; Huang, Weng & Lin 2006). For
    one-vs-one this is the pairwise coupling of Hastie & Tibshirani (1998).

    Parameters
    ----------
    probabilities : array of shape (n_samples, n_columns), or (n_samples, n_columns, n_symbols)
        The probability that each column gives to its +1 side, or to each of its symbols.
    matrix : array of shape (n_classes, n_columns)
        The codebook; its entries are the symbols 0 to n_symbols - 1 if those are given.
    weights : array of shape (n_columns,), optional
        How much each column counts; all alike by default.
    prior : float, default=0
        The weight of one further column that has a symbol for each class and finds them all
        equally probable; for probabilities of symbols. With it no class is ruled out.
    max_iter : int, default=1000
        The most steps.
    tolerance : float, default=1e-9
        A sample is done when a step would raise no probability by more than this share of
        it. For codes without zeros its log-likelihood is then below the optimum by at most
        this, times the sum of the weights.

    Returns
    -------
    array of shape (n_samples, n_classes)
        Rows sum to one.

    Notes
    -----
    The steps are those of a minorise-maximise algorithm, for all samples at once, sped up
    by the extrapolation of Varadhan & Roland (2008) wherever that raises the likelihood. For
    +1/-1 codes, and for codes of more symbols, where the steps are those of the EM algorithm,
    the likelihood is concave, so the optimum is the global one. Probabilities of columns are
    cut off at 1e-6 and 1 - 1e-6.

    Examples
    --------
    >>> one_vs_one = [[1, 1, 0], [-1, 0, 1], [0, -1, -1]]
    >>> p = [0.6, 0.3, 0.1]
    >>> couple([[6 / 9, 6 / 7, 3 / 4]], one_vs_one).round(3)
    array([[0.6, 0.3, 0.1]])
    >>> couple([[[0.6, 0.3, 0.1], [0.7, 0.3, 0]]], [[0, 0], [1, 1], [2, 0]]).round(3)
    array([[0.6, 0.3, 0.1]])
    """
    check_int("max_iter", max_iter, minimum=1)
    check_number("tolerance", tolerance, minimum=0)
    check_number("prior", prior, minimum=0)
    code = np.asarray(matrix, dtype=np.float64)
    r = np.clip(np.asarray(probabilities, dtype=np.float64), _SMALLEST, 1 - _SMALLEST)
    share = np.ones(code.shape[1]) if weights is None else np.asarray(weights, dtype=np.float64)
    result = np.empty((len(r), len(code)))
    model, r = _model(code, r, share, prior)
    for start in range(0, len(r), CHUNK):
        part = slice(start, start + CHUNK)
        result[part] = model.solve(r[part], max_iter, tolerance)
    return result


def coupling_loss(
    p: npt.ArrayLike, probabilities: npt.ArrayLike, matrix: npt.ArrayLike, *, prior: float = 0.0
) -> Floats:
    """What :func:`couple` minimises: the negative log-likelihood of each sample.

    Examples
    --------
    >>> coupling_loss([[0.5, 0.5]], [[0.5]], [[1], [-1]]).round(3)
    array([0.693])
    """
    code = np.asarray(matrix, dtype=np.float64)
    r = np.clip(np.asarray(probabilities, dtype=np.float64), _SMALLEST, 1 - _SMALLEST)
    model, r = _model(code, r, np.ones(code.shape[1]), prior)
    return model.loss(np.asarray(p, dtype=np.float64), r)


def normalise_rows(values: npt.ArrayLike) -> Floats:
    """Divide nonnegative rows by their sums; a row of zeros becomes uniform.

    Examples
    --------
    >>> normalise_rows([[1, 3], [0, 0]])
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    rows = np.asarray(values, dtype=np.float64)
    sums = rows.sum(axis=1, keepdims=True)
    return np.where(sums > 0, rows / np.where(sums > 0, sums, 1), 1 / rows.shape[1])


def settle_ties(p: Floats, rows: npt.NDArray[np.intp]) -> None:
    """Let the class that was decided for be the most probable where only rounding says otherwise.

    Parameters
    ----------
    p : array of shape (n_samples, n_classes)
        Probabilities, changed in place.
    rows : array of int of shape (n_samples,)
        The class that was decided for.

    Examples
    --------
    >>> p = np.array([[0.4 + 1e-12, 0.4 - 1e-12, 0.2], [0.5, 0.3, 0.2]])
    >>> settle_ties(p, np.array([1, 1]))
    >>> p.argmax(axis=1)
    array([1, 0])
    """
    samples = np.arange(len(p))
    most = p.argmax(axis=1)
    gaps = p[samples, most] - p[samples, rows]
    tied = np.flatnonzero((gaps < _TIE) & (most != rows))
    largest = p[tied, most[tied]]
    p[tied, most[tied]] = p[tied, rows[tied]]
    # Below it by the last digit, so that no other is as large.
    p[tied] = np.minimum(p[tied], np.nextafter(largest, 0)[:, None])
    p[tied, rows[tied]] = largest


class _Model(ABC):
    """A model of columns by class probabilities, for a batch of samples; r is what they say."""

    n_classes: int

    @abstractmethod
    def loss(self, p: Floats, r: Floats) -> Floats:
        """The negative log-likelihood of each sample."""

    @abstractmethod
    def solve(self, r: Floats, max_iter: int, tolerance: float) -> Floats:
        """The probabilities of the classes."""


class _Sides(_Model):
    """The generalised Bradley-Terry model of a codebook, for a batch of samples."""

    def __init__(self, code: Floats, weights: Floats) -> None:
        self.positive = (code > 0).astype(np.float64)
        self.negative = (code < 0).astype(np.float64)
        self.used = self.positive + self.negative
        self.weights = weights
        self.n_classes = len(code)
        self.ternary = not self.used.all()

    def sides(self, p: Floats) -> tuple[Floats, Floats]:
        tiny = np.finfo(float).tiny
        return (
            np.maximum(p @ self.positive, tiny),
            np.maximum(p @ self.negative, tiny),
        )

    def loss(self, p: Floats, r: Floats) -> Floats:
        plus, minus = self.sides(p)
        terms = r * np.log(plus) + (1 - r) * np.log(minus)
        if self.ternary:
            terms -= np.log(plus + minus)
        return -(terms @ self.weights)

    def gains(self, p: Floats, r: Floats) -> Floats:
        """What a step multiplies each probability by; at most 1 for all at an optimum."""
        plus, minus = self.sides(p)
        gain: Floats = (self.weights * r / plus) @ self.positive.T
        gain += (self.weights * (1 - r) / minus) @ self.negative.T
        if self.ternary:
            uses = (self.weights / (plus + minus)) @ self.used.T
            gain /= np.maximum(uses, np.finfo(float).tiny)
        else:
            gain /= self.weights.sum()
        return gain

    def step(self, p: Floats, r: Floats) -> Floats:
        return np.maximum(normalise_rows(p * self.gains(p, r)), _LEAST)

    def solve(self, r: Floats, max_iter: int, tolerance: float) -> Floats:
        with one_thread_for(len(r), self.n_classes, r.shape[1]):
            return self._solve(r, max_iter, tolerance)

    def _solve(self, r: Floats, max_iter: int, tolerance: float) -> Floats:
        result = np.full((len(r), self.n_classes), 1 / self.n_classes)
        # Samples leave as they converge: most do early, and the last few are cheap.
        active = np.arange(len(r))
        for _ in range(0, max_iter, 4):
            p, mine = result[active], r[active]
            gain = self.gains(p, mine)
            first = np.maximum(normalise_rows(p * gain), _LEAST)
            result[active] = self._extrapolate(p, first, mine)
            # No probability wants to grow, and none that counts wants to shrink.
            moved = np.maximum(gain.max(axis=1) - 1, (p * np.abs(gain - 1)).max(axis=1))
            active = active[moved > tolerance]
            if not len(active):
                break
        return normalise_rows(result)

    def _extrapolate(self, p: Floats, first: Floats, r: Floats) -> Floats:
        """Leap far along the path of two steps (SQUAREM), where that is an improvement.

        Once on the probabilities, which settles the large ones soon, and once on their
        logarithms, where those that rise from next to nothing do so at a steady pace.
        """
        second = self.step(first, r)
        best, least = second, self.loss(second, r)
        logs = np.log(p), np.log(first), np.log(second)
        far = _leap(*logs)
        leaps = [
            np.maximum(_leap(p, first, second), second / 10),
            np.exp(far - far.max(axis=1, keepdims=True)),
        ]
        for leap in leaps:
            # A step afterwards smooths what the leap did to small probabilities.
            tried = self.step(np.maximum(normalise_rows(leap), _LEAST), r)
            loss = self.loss(tried, r)
            better = loss < least
            best = np.where(better[:, None], tried, best)
            least = np.where(better, loss, least)
        return best


class _Symbols(_Model):
    """Columns of several symbols: the probability of a symbol is that of its classes."""

    def __init__(self, groups: Floats, weights: Floats, prior: float) -> None:
        self.groups = groups
        self.weights = weights
        self.n_classes = len(groups)
        self.doubt = prior / len(groups)

    def loss(self, p: Floats, r: Floats) -> Floats:
        terms: Floats = np.log(np.maximum(p @ self.groups, np.finfo(float).tiny))
        terms *= r
        loss = -(terms @ self.weights)
        return loss - self.doubt * np.log(p).sum(axis=1) if self.doubt else loss

    @property
    def places(self) -> Ints:
        """Where the symbol of each class and column stands."""
        places = np.nonzero(self.groups)[1].reshape(self.n_classes, -1)
        return np.ascontiguousarray(places)

    def solve(self, r: Floats, max_iter: int, tolerance: float) -> Floats:
        from ecoc.multiclass.decoders._coupling import couple_symbols

        # Half the bits take half the time.
        precision = np.float32 if tolerance >= _SYMBOL_TOLERANCE else np.float64
        said = np.ascontiguousarray((self.weights * r).astype(precision))
        return normalise_rows(couple_symbols(self.places, said, self.doubt, max_iter, tolerance))


def _model(code: Floats, r: Floats, weights: Floats, prior: float) -> tuple[_Model, Floats]:
    """The model of a codebook, and what its columns say in the form that it takes."""
    if r.ndim == 2:
        if prior:
            raise InvalidInputError(
                f"prior must be 0 for columns of two sides, not {prior:g}; it is for "
                "probabilities of symbols."
            )
        return _Sides(code, weights), r
    groups = symbol_indicator(code, r.shape[2])
    # A symbol that no class has says nothing about classes.
    used = np.flatnonzero(groups.any(axis=0))
    said = r.reshape(len(r), r.shape[1] * r.shape[2])
    if len(used) < said.shape[1]:
        said = said[:, used]
    return _Symbols(groups[:, used], np.repeat(weights, r.shape[2])[used], prior), said


def _leap(start: Floats, first: Floats, second: Floats) -> Floats:
    change = first - start
    bend = second - first - change
    sizes = np.linalg.norm(change, axis=1), np.linalg.norm(bend, axis=1)
    length = np.clip(sizes[0] / np.maximum(sizes[1], np.finfo(float).tiny), 1, 1e3)[:, None]
    leap: Floats = start + 2 * length * change + length**2 * bend
    return leap
