"""What diagnostics are counted from: scores and targets, checked, and who is wrong where."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ecoc._checks import listing
from ecoc.codes import Codebook
from ecoc.errors import InvalidInputError
from ecoc.multiclass.decoders.base import Decoder, Floats, as_scores
from ecoc.multiclass.pipelines import open_pipeline, transformed


class CodeModel(Protocol):
    """A fitted classifier that has a codebook, whatever its columns are."""

    classes_: npt.NDArray[Any]
    codebook_: Codebook

    @property
    def decoder_(self) -> Decoder:
        """What predicts from the scores of the columns."""

    def column_scores(self, X: Any) -> Floats:
        """The scores of the columns, positive on the +1 side."""


@dataclass(frozen=True)
class Look:
    """What a fitted classifier makes of labelled samples."""

    model: CodeModel
    scores: Floats
    targets: npt.NDArray[np.intp]

    @property
    def matrix(self) -> npt.NDArray[np.int8]:
        """The codebook."""
        return self.model.codebook_.matrix


def look(model: Any, X: Any, y: Any) -> Look:
    classifier, features = unwrapped(model, X)
    scores = classifier.column_scores(features)
    return Look(classifier, scores, target_rows(classifier, y, len(scores)))


def unwrapped(model: Any, X: Any) -> tuple[CodeModel, Any]:
    """The classifier at the end of a pipeline, and the features as they reach it."""
    transformers, classifier = open_pipeline(model)
    if not hasattr(type(classifier), "column_scores"):
        raise InvalidInputError(
            "model must be an ECOCClassifier, an ECOCNetworkClassifier or a pipeline that ends in "
            f"one of them, not {type(classifier).__name__}."
        )
    check_is_fitted(classifier)
    return classifier, transformed(transformers, X)


def target_rows(model: CodeModel, y: Any, n_samples: int) -> npt.NDArray[np.intp]:
    """The row of the codebook for each label."""
    labels = np.asarray(y).ravel()
    if len(labels) != n_samples:
        raise InvalidInputError(
            f"X and y must have the same number of samples, not {n_samples} and {len(labels)}."
        )
    known = np.isin(labels, model.classes_)
    if not known.all():
        raise InvalidInputError(
            f"y must hold only classes that the model knows; it does not know "
            f"{listing(np.unique(labels[~known]).tolist())}."
        )
    return np.searchsorted(model.classes_, labels)


def outcomes(
    scores: npt.ArrayLike, matrix: npt.ArrayLike, targets: npt.ArrayLike
) -> tuple[Floats, npt.NDArray[np.intp], Floats, Floats]:
    """Codebook, targets, and for each sample and column whether it is wrong and counted."""
    values, code = as_scores(scores, matrix)
    rows = as_targets(targets, len(values), len(code))
    agreement = code[rows] * values
    counted = (code[rows] != 0) & ~np.isnan(values)
    return code, rows, (counted & ~(agreement > 0)).astype(np.float64), counted.astype(np.float64)


def as_targets(
    targets: npt.ArrayLike, n_samples: int, n_classes: int, *, name: str = "targets"
) -> npt.NDArray[np.intp]:
    rows = np.asarray(targets)
    if rows.shape != (n_samples,) or rows.dtype.kind not in "iu" or n_samples == 0:
        raise InvalidInputError(
            f"{name} must be whole numbers, one for each of {max(n_samples, 1)} or more samples; "
            f"got shape {rows.shape} of {rows.dtype}."
        )
    if rows.min() < 0 or rows.max() >= n_classes:
        raise InvalidInputError(
            f"{name} must be rows of the codebook, 0 to {n_classes - 1}, not "
            f"{rows.min()} to {rows.max()}."
        )
    return rows.astype(np.intp)


def one_hot(rows: npt.NDArray[np.intp], n_classes: int) -> Floats:
    members = np.zeros((len(rows), n_classes))
    members[np.arange(len(rows)), rows] = 1
    return members


def ratio(part: Floats, whole: Floats) -> Floats:
    """A quotient that is NaN where there is nothing to divide by."""
    result = np.full(np.shape(whole), np.nan)
    np.divide(part, whole, out=result, where=whole != 0)
    return result
