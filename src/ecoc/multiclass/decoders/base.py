"""What every decoder is: a rule from column scores and a codebook to a score for each class."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int, listing
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError, UnsupportedError

__all__ = [
    "Decoder",
    "FunctionDecoder",
    "Needs",
    "as_scores",
    "erasures",
    "kept_columns",
    "symbol_answers",
    "symbol_indicator",
    "symbol_sums",
]

Needs = Literal["nothing", "training", "cross-fitted"]

CHUNK = 8192
"""Samples that are decoded together, which bounds the memory for what is in between."""


class Decoder(ABC):
    """Base class of decoders: small frozen objects that turn column scores into class scores.

    Call a decoder with the scores of the columns and the codebook matrix. A positive score
    means the +1 side of its column, its size is the confidence, and NaN is an erasure: the
    sample is then decoded by its other columns alone. The largest class score wins, and of
    equal ones the first.

    For a codebook of q >= 3 symbols the scores have a third axis, the probabilities of the
    symbols 0 to q - 1, and NaN among them erases the column for the sample.

    Attributes
    ----------
    needs : {"nothing", "training", "cross-fitted"}
        Which scores :meth:`fit` learns from, if it learns at all.
    """

    needs: ClassVar[Needs] = "nothing"
    whole_batch: ClassVar[bool] = False
    """Whether the decision for a sample depends on the samples beside it."""

    @abstractmethod
    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """Score each class for each sample; the scores are finite here."""

    def symbol_scores(self, probabilities: Floats, matrix: Floats) -> Floats:
        """Score each class by the probabilities of symbols, (n_samples, n_columns, n_symbols).

        The codebook has the symbols 0 to n_symbols - 1. Nothing is erased here.
        """
        del probabilities, matrix
        raise UnsupportedError(
            f"{type(self).__name__} decodes codebooks of two symbols, +1 and -1, alone."
        )

    @property
    def takes_symbols(self) -> bool:
        """Whether it decodes codebooks of more than two symbols."""
        return type(self).symbol_scores is not Decoder.symbol_scores

    def fit(
        self,
        scores: Floats,
        targets: npt.NDArray[np.intp],
        matrix: npt.NDArray[np.int8],
        *,
        sample_weight: Floats | None = None,
    ) -> Decoder:
        """Return the decoder that has learned from scores of known classes.

        Parameters
        ----------
        scores : array of shape (n_samples, n_columns)
            What :attr:`needs` says.
        targets : array of int of shape (n_samples,)
            The row of the codebook that each sample belongs to.
        matrix : array of shape (n_classes, n_columns)
            The codebook.
        sample_weight : array of shape (n_samples,), optional
            How much each sample counts.
        """
        del scores, targets, matrix, sample_weight
        return self

    def restricted(self, columns: npt.NDArray[np.intp]) -> Decoder:
        """The same decoder for some of the columns."""
        del columns
        return self

    def __call__(
        self,
        scores: npt.ArrayLike,
        matrix: npt.ArrayLike,
        *,
        missing_columns: Sequence[int] | None = None,
    ) -> Floats:
        """Score each class for each sample.

        Parameters
        ----------
        scores : array of shape (n_samples, n_columns), or (n_samples, n_columns, n_symbols)
            Signed scores, or probabilities of the symbols; NaN is an erasure.
        matrix : array of shape (n_classes, n_columns)
            The codebook, entries -1, 0 and +1, or 0 to n_symbols - 1.
        missing_columns : sequence of int, optional
            Columns to be treated as erased for every sample.

        Returns
        -------
        array of shape (n_samples, n_classes)
            Larger is better.
        """
        values, code = as_scores(scores, matrix)
        kept = kept_columns(missing_columns, code.shape[1])
        decoder = self
        if len(kept) < code.shape[1]:
            values, code, decoder = values[:, kept], code[:, kept], self.restricted(kept)
        erased = erasures(values)
        if not erased.any():
            return decoder._in_chunks(values, code)
        return decoder._with_erasures(values, code, erased)

    def _in_chunks(self, values: Floats, code: Floats) -> Floats:
        n = len(values)
        decode = self.class_scores if values.ndim == 2 else self.symbol_scores
        if self.whole_batch or n <= CHUNK:
            return decode(values, code)
        result = np.empty((n, len(code)))
        for start in range(0, n, CHUNK):
            part = slice(start, start + CHUNK)
            result[part] = decode(values[part], code)
        return result

    def _with_erasures(self, values: Floats, code: Floats, erased: npt.NDArray[np.bool_]) -> Floats:
        """Decode the samples that have lost the same columns together, by what they have."""
        lost = np.flatnonzero(erased.all(axis=1))
        if len(lost):
            raise InvalidInputError(
                f"Samples need the score of at least one column; samples {listing(lost.tolist())} "
                "have none left."
            )
        result = np.empty((len(values), len(code)))
        packed = np.packbits(erased, axis=1)
        _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
        group = group.ravel()
        order = np.argsort(group, kind="stable")
        ends = np.searchsorted(group[order], np.arange(len(first) + 1))
        for i, row in enumerate(first):
            members = order[ends[i] : ends[i + 1]]
            kept = np.flatnonzero(~erased[row])
            result[members] = self.restricted(kept)._in_chunks(
                values[np.ix_(members, kept)], code[:, kept]
            )
        return result


@dataclass(frozen=True)
class FunctionDecoder(Decoder):
    """A decoder from a function of your own.

    Parameters
    ----------
    function : callable
        Takes the scores (n_samples x n_columns, or x n_symbols more) and the codebook matrix
        (n_classes x n_columns), returns class scores (n_samples x n_classes).

    Examples
    --------
    >>> decoder = FunctionDecoder(lambda scores, matrix: scores @ matrix.T)
    >>> decoder([[0.5, -2.0]], [[1, 1], [1, -1], [-1, 1]]).round(1)
    array([[-1.5,  2.5, -2.5]])
    """

    function: Callable[[Floats, Floats], npt.ArrayLike]

    def class_scores(self, scores: Floats, matrix: Floats) -> Floats:
        """What the function returns, once its shape and values are checked."""
        result = np.asarray(self.function(scores, matrix), dtype=np.float64)
        if result.shape != (len(scores), len(matrix)):
            raise InvalidInputError(
                f"A decoding function must return an array of shape (n_samples, n_classes), here "
                f"{(len(scores), len(matrix))}, not {result.shape}."
            )
        if np.isnan(result).any():
            raise InvalidInputError("A decoding function must not return NaN.")
        return result

    def symbol_scores(self, probabilities: Floats, matrix: Floats) -> Floats:
        """What the function returns for probabilities of symbols."""
        return self.class_scores(probabilities, matrix)


def as_scores(scores: npt.ArrayLike, matrix: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Column scores and codebook as arrays of floats that fit each other."""
    values = np.asarray(scores, dtype=np.float64)
    code = np.asarray(matrix, dtype=np.float64)
    if values.ndim not in {2, 3} or code.ndim != 2 or values.shape[1] != code.shape[1]:
        raise InvalidInputError(
            "scores (n_samples x n_columns) and matrix (n_classes x n_columns) must have the same "
            f"columns, not shapes {values.shape} and {code.shape}."
        )
    if np.isinf(values).any():
        raise InvalidInputError("scores must be finite; NaN stands for an erasure.")
    if values.ndim == 3:
        _check_symbol_scores(values, code)
    return values, code


def _check_symbol_scores(values: Floats, code: Floats) -> None:
    n_symbols = values.shape[2]
    if n_symbols < 2 or not np.isin(code, np.arange(n_symbols)).all():
        raise InvalidInputError(
            f"Scores with a third axis are probabilities of the symbols of the codebook, here 0 "
            f"to {n_symbols - 1}; its matrix has entries from {code.min():g} to {code.max():g}."
        )
    if (values < 0).any():
        raise InvalidInputError("Probabilities of symbols must not be negative.")


def erasures(scores: Floats) -> npt.NDArray[np.bool_]:
    """For each sample and column, whether its score is missing."""
    missing = np.isnan(scores)
    return missing if scores.ndim == 2 else np.logical_or.reduce(missing, axis=2)


def symbol_indicator(matrix: Floats, n_symbols: int) -> Floats:
    """The codebook as 0 and 1: a row for each class, a place for each column and symbol.

    Examples
    --------
    >>> symbol_indicator(np.array([[0, 2], [1, 0]]), 3)
    array([[1., 0., 0., 0., 0., 1.],
           [0., 1., 0., 1., 0., 0.]])
    """
    entries = np.asarray(matrix)[:, :, None] == np.arange(n_symbols)
    indicator: Floats = entries.reshape(len(entries), -1).astype(np.float64)
    return indicator


def symbol_sums(values: Floats, matrix: Floats, weights: Floats | None = None) -> Floats:
    """The sum, over columns, of what stands at the symbol of each class.

    Parameters
    ----------
    values : array of shape (n_samples, n_columns, n_symbols)
        What is summed.
    matrix : array of shape (n_classes, n_columns)
        The codebook.
    weights : array of shape (n_classes, n_columns), optional
        How much each column counts for each class.
    """
    n, n_columns, q = values.shape
    indicator = symbol_indicator(matrix, q)
    if weights is not None:
        indicator *= np.repeat(weights, q, axis=1)
    sums: Floats = values.reshape(n, n_columns * q) @ indicator.T
    return sums


def symbol_answers(probabilities: Floats) -> Floats:
    """1 for the symbol that each column answers, the first of equally probable ones, else 0."""
    answers = np.zeros(probabilities.shape)
    np.put_along_axis(answers, probabilities.argmax(axis=2)[:, :, None], 1, axis=2)
    return answers


def kept_columns(missing: Sequence[int] | None, n_columns: int) -> npt.NDArray[np.intp]:
    """The columns that are not missing."""
    kept = np.ones(n_columns, dtype=bool)
    for column in () if missing is None else missing:
        kept[check_int("missing_columns", column, minimum=0, maximum=n_columns - 1)] = False
    if not kept.any():
        raise InvalidInputError("missing_columns must leave at least one column.")
    return np.flatnonzero(kept)
