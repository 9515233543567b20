"""Diagnostics of columns that are networks."""

# ruff: noqa: N806  # X is what scikit-learn calls it
import copy

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from tests.nn.cases import TERNARY, digits, tiny_mlp

from ecoc.multiclass.diagnostics import (
    column_errors,
    column_usefulness,
    confusion_by_distance,
    decision_boundaries,
    error_correlation,
)
from ecoc.nn import OUTPUTS, ECOCNetworkClassifier


@pytest.fixture(scope="module")
def fitted():
    return ECOCNetworkClassifier(
        TERNARY, architecture=tiny_mlp, epochs=6, batch_size=16, random_state=0
    ).fit(*digits())


@pytest.mark.parametrize("decoding", [name for name in OUTPUTS if name != "log-soft"])
def test_the_decoder_decides_as_the_model_does(fitted, decoding):
    X, _ = digits()
    model = copy.deepcopy(fitted).set_params(decoding=decoding)
    scores = model.decoder_(model.column_scores(X), model.codebook_.matrix)
    agree = model.classes_[scores.argmax(axis=1)] == model.predict(X)
    if decoding == "hamming":  # where both may break ties, in their own ways
        best = model.decision_function(X)
        agree |= (best == best.max(axis=1, keepdims=True)).sum(axis=1) > 1
    assert agree.all()


def test_columns_that_are_networks_are_diagnosed(fitted):
    X, y = digits()
    logits, matrix = fitted.column_scores(X), fitted.codebook_.matrix
    wrong = np.where(matrix[y] == 0, np.nan, np.sign(logits) != matrix[y])
    assert column_errors(fitted, X, y).rates == pytest.approx(np.nanmean(wrong, axis=0))
    assert error_correlation(fitted, X, y).phi.shape == (3, 3)
    assert column_usefulness(fitted, X, y).accuracy == pytest.approx(fitted.score(X, y))
    assert np.diag(confusion_by_distance(fitted, X, y).rates).mean() > 0.5


def test_boundaries_of_networks():
    X, y = digits()
    flat = X.reshape(len(X), -1)[:, [20, 30]]
    model = ECOCNetworkClassifier(TERNARY, architecture="mlp", epochs=2, random_state=0)
    found = decision_boundaries(model.fit(flat, y), flat, y, resolution=5)
    assert found.regions.shape == (5, 5)


def test_networks_that_are_not_trained_are_refused():
    with pytest.raises(NotFittedError):
        column_errors(ECOCNetworkClassifier(), *digits())
