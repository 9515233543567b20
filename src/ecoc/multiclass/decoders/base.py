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
from ecoc.errors import InvalidInputError

__all__ = ["Decoder", "FunctionDecoder", "Needs", "kept_columns"]

Needs = Literal["nothing", "training", "cross-fitted"]

CHUNK = 8192
"""Samples that are decoded together, which bounds the memory for what is in between."""


class Decoder(ABC):
    """Base class of decoders: small frozen objects that turn column scores into class scores.

    Call a decoder with the scores of the columns and the codebook matrix. A positive score
    means the +1 side of its column, its size is the confidence, and NaN is an erasure: the
    sample is then decoded by its other columns alone. The largest class score wins, and of
    equal ones the first.

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
        scores : array of shape (n_samples, n_columns)
            Signed scores; NaN is an erasure.
        matrix : array of shape (n_classes, n_columns)
            The codebook, entries -1, 0 and +1.
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
        erased = np.isnan(values)
        if not erased.any():
            return decoder._in_chunks(values, code)
        return decoder._with_erasures(values, code, erased)

    def _in_chunks(self, values: Floats, code: Floats) -> Floats:
        n = len(values)
        if self.whole_batch or n <= CHUNK:
            return self.class_scores(values, code)
        result = np.empty((n, len(code)))
        for start in range(0, n, CHUNK):
            part = slice(start, start + CHUNK)
            result[part] = self.class_scores(values[part], code)
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
        Takes the scores (n_samples x n_columns) and the codebook matrix
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


def as_scores(scores: npt.ArrayLike, matrix: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Column scores and codebook as arrays of floats that fit each other."""
    values = np.asarray(scores, dtype=np.float64)
    code = np.asarray(matrix, dtype=np.float64)
    if values.ndim != 2 or code.ndim != 2 or values.shape[1] != code.shape[1]:
        raise InvalidInputError(
            "scores (n_samples x n_columns) and matrix (n_classes x n_columns) must have the same "
            f"columns, not shapes {values.shape} and {code.shape}."
        )
    if np.isinf(values).any():
        raise InvalidInputError("scores must be finite; NaN stands for an erasure.")
    return values, code


def kept_columns(missing: Sequence[int] | None, n_columns: int) -> npt.NDArray[np.intp]:
    """The columns that are not missing."""
    kept = np.ones(n_columns, dtype=bool)
    for column in () if missing is None else missing:
        kept[check_int("missing_columns", column, minimum=0, maximum=n_columns - 1)] = False
    if not kept.any():
        raise InvalidInputError("missing_columns must leave at least one column.")
    return np.flatnonzero(kept)
