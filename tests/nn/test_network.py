# ruff: noqa: N806  # X is what scikit-learn calls it
import pytest
import torch
from tests.nn.cases import LEARNING, digits

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
