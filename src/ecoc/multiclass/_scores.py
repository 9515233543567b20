"""The scores of one column, in the one form that decoders take."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

from typing import Any, Literal

import numpy as np
from sklearn.base import is_regressor

from ecoc.errors import InvalidInputError
from ecoc.multiclass.data import n_samples
from ecoc.multiclass.decoder import Floats

__all__ = ["ScoreMethod", "score_column"]

ScoreMethod = Literal["decision_function", "predict_proba", "predict"]


def score_column(learner: Any, X: Any, method: ScoreMethod) -> Floats:
    """Ask a learner for the scores of samples: positive on the +1 side, 0 at the boundary.

    Parameters
    ----------
    learner : object
        A fitted binary learner.
    X : array, sparse matrix or data frame
        The features.
    method : {"decision_function", "predict_proba", "predict"}
        What to ask for. A probability r becomes 2 r - 1, a label +1 or -1; what a regressor
        predicts is the score.

    Raises
    ------
    InvalidInputError
        If the answer has not one value for each sample, or for each sample and side.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> learner = GaussianNB().fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1])
    >>> score_column(learner, np.array([[0.5], [8.5]]), "predict_proba").round(2)
    array([-1.,  1.])
    """
    values = np.asarray(getattr(learner, method)(X), dtype=np.float64)
    n = n_samples(X)
    labels = method == "predict" and not is_regressor(learner)
    # Some decision functions have a value for each of the two sides.
    shapes = {
        "decision_function": ((n,), (n, 1), (n, 2)),
        "predict_proba": ((n, 2),),
        "predict": ((n,), (n, 1)),
    }[method]
    if values.shape not in shapes:
        raise InvalidInputError(
            f"{method} must return an array of shape "
            f"{' or '.join(map(str, shapes))} for {n} samples, not {values.shape}."
        )
    if labels and not np.isin(values[~np.isnan(values)], (0, 1)).all():
        raise InvalidInputError("predict must return the labels 0 and 1 that it was trained on.")
    if method == "predict_proba":
        return 2 * values[:, 1] - 1
    if values.shape == (n, 2):
        return values[:, 1] - values[:, 0]
    return 2 * values.ravel() - 1 if labels else values.ravel()
