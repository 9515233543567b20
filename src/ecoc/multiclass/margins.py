"""How many more wrong columns a decision survives, sample by sample."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc.multiclass.decoder import Floats, as_scores

__all__ = ["hamming_margin", "with_label"]


def hamming_margin(
    scores: npt.ArrayLike, matrix: npt.ArrayLike, predicted: npt.ArrayLike
) -> npt.NDArray[np.int64]:
    """How many columns may change sides before Hamming decoding can leave the predicted class.

    Parameters
    ----------
    scores : array of shape (n_samples, n_columns)
        Signed scores; only their signs count, and NaN is an erasure.
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
    values, code = as_scores(scores, matrix)
    rows = np.asarray(predicted, dtype=np.intp)
    margins = np.zeros(len(values), dtype=np.int64)
    for row in np.unique(rows):
        members = np.flatnonzero(rows == row)
        margins[members] = _margin_of(values[members], code, int(row))
    return margins


def _margin_of(scores: Floats, code: Floats, row: int) -> npt.NDArray[np.int64]:
    """The margins of samples that were given the same class."""
    gaps = code[row] - np.delete(code, row, axis=0)
    present = ~np.isnan(scores)
    signs = np.sign(np.where(present, scores, 0))
    plus, minus = (signs > 0).astype(float), (signs < 0).astype(float)
    undecided = (present & (signs == 0)).astype(float)
    # Half the lead over each rival, and what a column can take from it if it turns against
    # the predicted class: 2 where the codewords differ, 1 where one of them is 0, and half
    # of that from a column that stands on neither side.
    lead = signs @ gaps.T / 2
    takes_two = plus @ (gaps == 2).T + minus @ (gaps == -2).T
    takes_one = plus @ (gaps == 1).T + minus @ (gaps == -1).T + undecided @ (np.abs(gaps) == 2).T
    after_two = np.maximum(lead - 2 * takes_two, 0)
    after_one = np.maximum(after_two - takes_one, 0)
    needed = (
        np.minimum(np.ceil(lead / 2), takes_two)
        + np.minimum(np.ceil(after_two), takes_one)
        + np.ceil(2 * after_one)
    )
    fewest: npt.NDArray[np.int64] = needed.min(axis=1).astype(np.int64)
    return np.maximum(fewest - 1, 0)


def with_label(
    labels: npt.NDArray[Any], where: npt.NDArray[np.bool_], label: Any
) -> npt.NDArray[Any]:
    """Labels with another one in some places, of a type that can hold both.

    Examples
    --------
    >>> with_label(np.array([3, 4]), np.array([True, False]), -1)
    array([-1,  4])
    >>> with_label(np.array(["ant", "bee"]), np.array([True, False]), None)
    array([None, 'bee'], dtype=object)
    """
    other = np.asarray(label)
    same_kind = other.dtype.kind == labels.dtype.kind or {other.dtype.kind, labels.dtype.kind} <= {
        "i",
        "u",
    }
    result = labels.astype(np.promote_types(labels.dtype, other.dtype) if same_kind else object)
    result[where] = label
    return result
