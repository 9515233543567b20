"""Pipelines opened: the steps that change features, and the model at their end."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.pipeline import Pipeline

__all__ = ["open_pipeline", "transformed"]


def open_pipeline(model: Any) -> tuple[list[Any], Any]:
    """Tell the transformers of a pipeline from the model at its end.

    This is where diagnostics, attacks and certificates learn what stands behind a pipeline.

    Parameters
    ----------
    model : object
        A pipeline, maybe of pipelines, or anything else.

    Returns
    -------
    transformers : list
        What features pass before they reach the model, in order; none for other models.
    last : object
        The model.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> open_pipeline(Pipeline([("scale", StandardScaler()), ("svm", SVC())]))
    ([StandardScaler()], SVC())
    >>> open_pipeline(SVC())
    ([], SVC())
    """
    if not isinstance(model, Pipeline):
        return [], model
    steps = [step for _, step in model.steps]
    transformers: list[Any] = []
    for step in steps[:-1]:
        before, last = open_pipeline(step)
        transformers += [each for each in (*before, last) if each not in (None, "passthrough")]
    before, last = open_pipeline(steps[-1])
    return [*transformers, *before], last


def transformed(transformers: Sequence[Any], X: Any) -> Any:
    """The features after all transformers."""
    for transformer in transformers:
        X = transformer.transform(X)
    return X
