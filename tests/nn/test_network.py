# ruff: noqa: N806  # X is what scikit-learn calls it
import numpy as np
import pytest
import torch
from tests.nn.cases import LEARNING, digits, tiny_mlp

from ecoc.errors import InvalidInputError
from ecoc.nn import NetworkClassifier


def test_the_ordinary_network_offers_its_forms():
    X, y = digits()
    model = NetworkClassifier(**LEARNING).fit(X, y)
    assert model.score(X, y) > 0.8
    inputs = torch.from_numpy(X[:4])
    logits = model.as_module()(inputs)
    assert torch.allclose(model.as_module("probabilities")(inputs), logits.softmax(dim=1))
    assert torch.allclose(model.as_module("log-probabilities")(inputs), logits.log_softmax(dim=1))
    with pytest.raises(InvalidInputError, match="output must be one of"):
        model.as_module("hamming")


def test_the_outlier_score_is_large_where_no_class_is_likely():
    X, y = digits()
    model = NetworkClassifier(architecture=tiny_mlp, epochs=1, random_state=0).fit(X, y)
    largest = model.predict_proba(X).max(axis=1)
    assert model.outlier_score(X) == pytest.approx(-np.log(largest), rel=1e-4, abs=1e-6)
