"""Support vector machines on one split: the paper's decoding, and ours beside it."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ecoc.codes import Codebook
from ecoc.paper.measuring import Samples

__all__ = ["accuracies", "fit", "paper_decoding"]

Floats: TypeAlias = "npt.NDArray[np.float64]"


def paper_decoding(scores: Floats, matrix: Floats) -> Floats:
    """Minus the Hamming distances of equations 1 and 2, from the labels of columns alone.

    Codewords at the same distance are not told apart: the first class wins, as in an argmin.

    Examples
    --------
    >>> code = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    >>> paper_decoding(np.array([[-0.9, -0.1, -0.8]]), code)
    array([[-1., -1., -1.]])
    """
    minus_distances: Floats = (np.where(scores > 0, 1, -1) @ matrix.T - matrix.shape[1]) / 2
    return minus_distances


_DECODINGS = {
    "accuracy": paper_decoding,
    "accuracy_ties": "hamming",
    "accuracy_auto": "auto",
}
"""The paper's; the same with ties broken by the scores; and what ECOCClassifier takes."""


def fit(learner: Any, codebook: Codebook, samples: Samples, jobs: int | None = None) -> Any:
    """An ECOCClassifier of the training samples."""
    from ecoc.multiclass import ECOCClassifier

    model = ECOCClassifier(learner, codebook=codebook, n_jobs=jobs)
    return model.fit(samples.X_train, samples.y_train)


def accuracies(model: Any, X: Any, y: Any) -> dict[str, float]:
    """Accuracies in per cent on the same column scores, one for each decoding.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from ecoc.codes import one_vs_rest
    >>> from ecoc.datasets import load_dataset
    >>> from ecoc.paper.measuring import draw
    >>> samples = draw(load_dataset("toy"), 200, 200, 0)
    >>> sorted(accuracies(fit(SVC(), one_vs_rest(10), samples), samples.X_test, samples.y_test))
    ['accuracy', 'accuracy_auto', 'accuracy_ties']
    """
    from ecoc.multiclass import make_decoder, score_method

    scores = model.column_scores(X)
    method = score_method(model.estimator)
    measured = {}
    for name, decoding in _DECODINGS.items():
        decoder = make_decoder(decoding, model.codebook_, method)
        chosen = decoder(scores, model.codebook_.matrix).argmax(axis=1)
        measured[name] = round(100 * float((model.classes_[chosen] == y).mean()), 3)
    return measured
