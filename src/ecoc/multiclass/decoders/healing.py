"""A decoder that finds out from a batch which columns have failed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int
from ecoc._typing import Floats
from ecoc.multiclass.decoders.base import (
    Decoder,
    as_scores,
    erasures,
    symbol_indicator,
    symbol_sums,
)
from ecoc.multiclass.decoders.distances import LossBased, total_loss

__all__ = ["SelfHealing"]

_MIN_DISTANCE = 3
"""With a smaller row distance two codewords cannot say which of their columns has failed."""

_MIN_SAMPLES = 50
_MIN_SAMPLES_PER_CLASS = 8
"""Smaller batches may be all of one kind, on which a sound column can be wrong throughout."""

_SOUND_ERRORS = 2 / 3
"""The share of wrong answers that is put up with: weak columns still help to decide.

It is a share of those that guessing would give: 1/3 with two symbols, 1/2 with four.
"""

_CHANCE = 1e-3
"""The chance that some column of a batch, all of them sound, is distrusted."""

_REST = 1 / 5
"""The errors that the columns relied upon may have, as a share of the row distance.

A code corrects half its distance. Beyond a fifth, the decisions of the other columns are no
witness against one of them.
"""


@dataclass(frozen=True)
class SelfHealing(Decoder):
    """Find the columns of a batch that have failed, and decode without them.

    A column that has failed (flipped, stuck, random) disagrees with the classes on which the
    others agree. One that is wrong more often than a sound column could be counts as much as
    its answers still say: one that is flipped is turned round, a random one is left out.

    A column is distrusted only on evidence; otherwise the decision is that of
    ``LossBased("hinge")``, for codes with zeros its mean over the columns of a class:

    - the batch has at least 50 samples, and 8 for each class;
    - the code has row distance 3 or more, and what is left of it tells all classes apart.
      One-vs-rest and codes with zeros, such as one-vs-one, are never healed;
    - by a binomial test, corrected for the number of columns, it is wrong about more than a
      third of the samples (with more than two symbols: two thirds of what guessing is);
    - the columns that are left err, in the mean, in at most a fifth of the row distance.

    With more than two symbols an answer of a distrusted column becomes what the batch says it
    means: how probable it is for samples of each symbol. One whose symbols were exchanged is
    read so, one that is random or stuck says nothing.

    It is transductive: the decision for a sample depends on the samples that are decoded
    with it. A batch chosen to mislead it can still do so, if it is large enough.

    Parameters
    ----------
    max_iter : int, default=20
        The most rounds of the diagnosis; it ends earlier when no decision changes.

    Examples
    --------
    >>> from ecoc.codes import exhaustive
    >>> matrix = exhaustive(5).matrix
    >>> truth = np.arange(50) % 5
    >>> scores = matrix[truth].astype(float)
    >>> scores[:, :4] *= -1  # four of the fifteen columns have failed
    >>> bool((SelfHealing()(scores, matrix).argmax(axis=1) == truth).all())
    True
    >>> SelfHealing().healed_columns(scores, matrix)
    (0, 1, 2, 3)
    """

    max_iter: int = 20

    whole_batch: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_int("max_iter", self.max_iter, minimum=1)

    def healed_columns(self, scores: npt.ArrayLike, matrix: npt.ArrayLike) -> tuple[int, ...]:
        """The columns that are distrusted when these scores are decoded.

        Parameters
        ----------
        scores : array of shape (n_samples, n_columns), or (n_samples, n_columns, n_symbols)
            Signed scores, or probabilities of symbols; NaN is an erasure.
        matrix : array of shape (n_classes, n_columns)
            The codebook.
        """
        values, code = as_scores(scores, matrix)
        if values.ndim == 3:
            suspect = self._diagnosis(values, code)[0]
            return tuple(np.flatnonzero(suspect).tolist())
        weights = self._weights(values, code)
        return tuple(np.flatnonzero(weights != 1).tolist())

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Negative hinge losses, those of distrusted columns turned round or weighed down."""
        weights = self._weights(scores, matrix)
        if (weights == 1).all():
            return LossBased("hinge", normalise=not matrix.all()).class_scores(scores, matrix)
        turned = scores * np.sign(weights)
        shares = np.broadcast_to(np.abs(weights), matrix.shape)
        return -total_loss("hinge", turned, matrix, shares)

    def symbol_scores(self, probabilities: Floats, matrix: Floats) -> Floats:
        """The probabilities of each class's symbols, those of distrusted columns read anew."""
        suspect, decided = self._diagnosis(probabilities, matrix)
        values = np.where(erasures(probabilities)[:, :, None], 0, probabilities)
        for column in np.flatnonzero(suspect):
            values[:, column] = _read_anew(values[:, column], matrix[decided, column])
        return symbol_sums(values, matrix)

    def _with_erasures(self, values: Floats, code: Floats, erased: npt.NDArray[np.bool_]) -> Floats:
        """Decode all samples together, because a few are no evidence."""
        if values.ndim == 3 and not erased.all(axis=1).any():
            # A column that has lost a sample says 0 of every symbol, and so nothing.
            return self.symbol_scores(values, code)
        if not code.all() or erased.all(axis=1).any():
            return super()._with_erasures(values, code, erased)
        weights = self._weights(values, code)
        # A score of 0 has the same loss on both sides, so it says nothing about the class.
        turned = np.nan_to_num(values) * np.sign(weights)
        return -total_loss("hinge", turned, code, np.broadcast_to(np.abs(weights), code.shape))

    def _weights(self, scores: Floats, matrix: Floats) -> Floats:
        """What each column counts: 1 if it is trusted, else from -1 (flipped) to 1."""
        trusted = np.ones(matrix.shape[1])
        present = ~np.isnan(scores)
        asked = present.any(axis=0)
        if (
            not matrix.all()
            or len(scores) < max(_MIN_SAMPLES, _MIN_SAMPLES_PER_CLASS * len(matrix))
            or (distance := _row_distance(matrix[:, asked])) < _MIN_DISTANCE
        ):
            return trusted
        counts = present.sum(axis=0)
        wrong = counts - self._agreements(scores, matrix)
        suspect = _suspects(wrong, counts, distance, 2)
        if not suspect.any() or _row_distance(matrix[:, asked & ~suspect]) < 1:
            return trusted
        # Half a sample on each side: a few samples are never quite certain.
        shares = (wrong + 0.5) / (counts + 1)
        return np.where(suspect, 1 - 2 * shares, trusted)

    def _diagnosis(
        self, probabilities: Floats, matrix: Floats
    ) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.intp]]:
        """The columns of symbols that are distrusted, and the rows that the others decide for."""
        n, n_columns, q = probabilities.shape
        present = ~erasures(probabilities)
        asked = present.any(axis=0)
        values = np.where(present[:, :, None], probabilities, 0)
        decided = symbol_sums(values, matrix).argmax(axis=1)
        trusted = np.zeros(n_columns, dtype=bool)
        if n < max(_MIN_SAMPLES, _MIN_SAMPLES_PER_CLASS * len(matrix)) or (
            (distance := _symbol_distance(matrix[:, asked], q)) < _MIN_DISTANCE
        ):
            return trusted, decided
        counts = present.sum(axis=0)
        answered = np.where(present, values.argmax(axis=2), -1)
        right = (answered == matrix[decided]).sum(axis=0)
        for _ in range(self.max_iter):
            # The log-odds against guessing; half a sample on each side keeps them finite.
            odds = (right + 0.5) / (counts - right + 0.5)
            weights = np.broadcast_to(np.log((q - 1) * odds), matrix.shape)
            previous, decided = decided, symbol_sums(values, matrix, weights).argmax(axis=1)
            if np.array_equal(previous, decided):
                break
            right = (answered == matrix[decided]).sum(axis=0)
        suspect = _suspects(counts - right, counts, distance, q)
        rest = asked & ~suspect
        if not suspect.any() or not rest.any() or _symbol_distance(matrix[:, rest], q) < 1:
            return trusted, decided
        return suspect, decided

    def _agreements(self, scores: Floats, matrix: Floats) -> npt.NDArray[np.int64]:
        """How often each column agrees with decisions in which it counts by its agreement.

        In each round the weight of a column is the log-odds of its agreement with the
        decisions of the round before. These decisions find the failed columns where those
        of equal weights would not; they are not those that are given out.
        """
        # Beyond the margin a column that is wrong must not shout down those that are right.
        bounded = np.clip(np.nan_to_num(scores), -1, 1)
        counts = (~np.isnan(scores)).sum(axis=0)
        sides = np.sign(bounded)
        decided = (bounded @ matrix.T).argmax(axis=1)
        right = (sides * matrix[decided] > 0).sum(axis=0)
        for _ in range(self.max_iter):
            # Half a sample on each side keeps the odds finite.
            weights = np.log((right + 0.5) / (counts - right + 0.5))
            previous, decided = decided, ((bounded * weights) @ matrix.T).argmax(axis=1)
            if np.array_equal(previous, decided):
                break
            right = (sides * matrix[decided] > 0).sum(axis=0)
        return np.asarray(right, dtype=np.int64)


def _suspects(
    wrong: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], distance: int, n_symbols: int
) -> npt.NDArray[np.bool_]:
    """The columns that are wrong too often; none if the others are no witnesses against them."""
    from scipy.stats import binom

    asked = counts > 0
    # The tail of the binomial distribution: this many wrong answers, or more.
    chance = binom.sf(wrong - 1, counts, _SOUND_ERRORS * (1 - 1 / n_symbols))
    suspect: npt.NDArray[np.bool_] = asked & (chance < _CHANCE / asked.sum())
    rest = asked & ~suspect
    if rest.any() and np.mean(wrong[rest] / counts[rest]) > _REST * distance / asked.sum():
        return np.zeros(len(asked), dtype=bool)
    return suspect


def _read_anew(probabilities: Floats, decided: Floats) -> Floats:
    """What the answers of a column mean, by the symbols that the others decided for."""
    q = probabilities.shape[1]
    truth = (decided[:, None] == np.arange(q)).astype(np.float64)
    # How often each symbol (row) is answered (column); half a sample each is never certain.
    answers = truth.T @ probabilities + 0.5
    likely = answers / answers.sum(axis=1, keepdims=True)
    meaning: Floats = probabilities @ (likely / likely.sum(axis=0)).T
    return meaning


def _row_distance(matrix: Floats) -> int:
    """The least number of columns in which two codewords differ; no column has a zero."""
    products = matrix @ matrix.T
    np.fill_diagonal(products, -np.inf)
    return int(matrix.shape[1] - products.max()) // 2 if matrix.shape[1] else 0


def _symbol_distance(matrix: Floats, n_symbols: int) -> int:
    """The least number of columns in which two codewords of symbols differ."""
    indicator = symbol_indicator(matrix, n_symbols)
    agreements = indicator @ indicator.T
    np.fill_diagonal(agreements, -np.inf)
    return int(matrix.shape[1] - agreements.max())
