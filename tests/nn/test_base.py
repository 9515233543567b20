# ruff: noqa: N806  # X is what scikit-learn calls it
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.nn.cases import TERNARY, digits, tiny_cnn, tiny_mlp, weights

from ecoc.codes import one_vs_one
from ecoc.nn import ECOCNetworkClassifier, MulticlassTwin, NetworkClassifier

QUICK = {"architecture": tiny_mlp, "epochs": 2, "learning_rate": 0.01, "random_state": 0}


@pytest.mark.parametrize("kind", [ECOCNetworkClassifier, MulticlassTwin, NetworkClassifier])
def test_labels_can_be_text_and_images_vectors(kind):
    X, y = digits(3, 90)
    names = np.array(["ant", "bee", "cat"])[y]
    models = [
        kind(**{**QUICK, "architecture": tiny_cnn}, input_shape=shape).fit(images, names)
        for images, shape in [
            (X, None),
            (X[:, 0], None),
            (X.reshape(len(X), -1), (1, 8, 8)),
            (torch.from_numpy(X), None),
        ]
    ]
    assert set(models[0].predict(X)) <= {"ant", "bee", "cat"}
    assert models[0].n_features_in_ == 64
    expected = models[0].decision_function(X)
    assert models[1].decision_function(X[:, 0]) == pytest.approx(expected, abs=1e-6)
    assert models[2].decision_function(X.reshape(len(X), -1)) == pytest.approx(expected, abs=1e-6)
    assert models[3].predict_proba(X).sum(axis=1) == pytest.approx(np.ones(len(X)))


def test_inputs_keep_their_own_scale():
    X, y = digits()
    unit = ECOCNetworkClassifier(TERNARY, **QUICK).fit(X, y)
    wide = ECOCNetworkClassifier(TERNARY, **QUICK, input_range=(-1, 3)).fit(4 * X - 1, y)
    assert unit.input_range_ == (0.0, 1.0)
    assert wide.input_range_ == (-1.0, 3.0)
    assert wide.decision_function(4 * X - 1) == pytest.approx(unit.decision_function(X), abs=1e-4)


def test_parameters_clone_and_change():
    model = ECOCNetworkClassifier(one_vs_one(4), epochs=3)
    assert clone(model).set_params(epochs=5).get_params()["epochs"] == 5
    with pytest.raises(NotFittedError):
        model.predict(digits()[0])


def test_the_seed_decides():
    X, y = digits()
    same = [weights(ECOCNetworkClassifier(TERNARY, **QUICK).fit(X, y)) for _ in range(2)]
    other = ECOCNetworkClassifier(TERNARY, **{**QUICK, "random_state": 1}).fit(X, y)
    generator = ECOCNetworkClassifier(
        TERNARY, **{**QUICK, "random_state": np.random.default_rng(5)}
    ).fit(X, y)
    assert torch.equal(same[0], same[1])
    assert not torch.equal(same[0], weights(other))
    assert not torch.equal(same[0], weights(generator))
