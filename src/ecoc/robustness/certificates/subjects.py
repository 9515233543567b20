"""Models as a certificate sees them: classes, codebook, decoder, and what the columns are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ecoc.errors import InvalidInputError
from ecoc.multiclass import Decoder, LossBased
from ecoc.nn.layers import ColumnEnsemble
from ecoc.robustness.certificates.region import Floats

__all__ = ["Subject", "as_subject"]

_CHUNK = 1024
"""Samples that a network is asked about at once."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A model to be certified.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        The labels.
    matrix : array of shape (n_classes, n_columns)
        The codebook. An ordinary network is one-vs-rest: it decides by the largest output.
    decoder : Decoder
        What the model itself decides by.
    column_scores : callable
        From inputs to the scores of the columns.
    estimators : sequence
        The learners of the columns, if scikit-learn trained them.
    networks : sequence of nn.Module
        The networks of the columns, side by side, if they are networks.
    is_code : bool
        Whether it has a codebook of its own.
    """

    classes: npt.NDArray[Any]
    matrix: Floats
    decoder: Decoder
    column_scores: Callable[[Floats], Floats]
    estimators: Sequence[Any] = ()
    networks: Sequence[nn.Module] = ()
    is_code: bool = True


def as_subject(model: Any, points: Floats) -> Subject:
    """Look at a model for certification.

    Parameters
    ----------
    model : object
        An :class:`ecoc.multiclass.ECOCClassifier`, an estimator of :mod:`ecoc.nn`, or a torch
        module from inputs to the logits of classes.
    points : array of shape (n_samples, ...)
        Some inputs.
    """
    given = getattr(getattr(model, "inputs_", None), "given", points.shape[1:])
    if points.shape[1:] != given:
        raise InvalidInputError(
            f"X must have samples of shape {given}, as in training, not {points.shape[1:]}."
        )
    if hasattr(model, "column_module") and hasattr(model, "codebook_"):
        columns = model.column_module()
        return Subject(
            classes=model.classes_,
            matrix=model.codebook_.matrix.astype(np.float64),
            decoder=model.decoder_,
            column_scores=_asked(columns),
            networks=_side_by_side(columns),
        )
    if hasattr(model, "estimators_") and hasattr(model, "codebook_"):
        if model.reject_below is not None:
            raise InvalidInputError(
                "A certificate is for models that always decide; set reject_below=None."
            )
        return Subject(
            classes=model.classes_,
            matrix=model.codebook_.matrix.astype(np.float64),
            decoder=model.decoder_,
            column_scores=model.column_scores,
            estimators=model.estimators_,
        )
    if hasattr(model, "as_module") and hasattr(model, "classes_"):
        return _ordinary(model.as_module(output="logits"), points, model.classes_)
    if isinstance(model, nn.Module):
        return _ordinary(model, points, None)
    raise InvalidInputError(
        "model must be a fitted ECOCClassifier, a fitted estimator of ecoc.nn or a torch module "
        f"from inputs to logits, not {type(model).__name__}."
    )


def _ordinary(module: nn.Module, points: Floats, classes: npt.NDArray[Any] | None) -> Subject:
    scores = _asked(module)
    n_outputs = scores(points[:1]).shape[1]
    return Subject(
        classes=np.arange(n_outputs) if classes is None else classes,
        matrix=2 * np.eye(n_outputs) - 1,
        decoder=LossBased("linear"),
        column_scores=scores,
        networks=[module],
        is_code=False,
    )


def _side_by_side(columns: nn.Module) -> list[nn.Module]:
    return list(columns.networks) if isinstance(columns, ColumnEnsemble) else [columns]


def _asked(module: nn.Module) -> Callable[[Floats], Floats]:
    """A module as a function of arrays, in evaluation mode and its own precision."""
    like = next(module.parameters(), torch.empty(0))

    def scores(points: Floats) -> Floats:
        was_training = module.training
        module.eval()
        try:
            with torch.no_grad():
                inputs = [
                    torch.from_numpy(points[start : start + _CHUNK])
                    for start in range(0, len(points), _CHUNK)
                ]
                parts = [module(part.to(like)).double().cpu() for part in inputs]
        finally:
            module.train(was_training)
        found: Floats = torch.cat(parts).numpy()
        return found

    return scores
