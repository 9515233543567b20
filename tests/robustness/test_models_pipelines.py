"""Diagnostics, attacks and certificates agree about what stands behind a pipeline."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it
import functools
import itertools

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from torch import nn

from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.diagnostics import column_errors, error_correlation
from ecoc.nn import ECOCNetworkClassifier, NetworkClassifier
from ecoc.nn.networks import mlp
from ecoc.robustness import (
    Smoothing,
    adversarial_error_correlation,
    certified_radii,
    certify,
    evaluate_robustness,
)

TINY = functools.partial(mlp, hidden=(8, 6))
CODE = [[1, 1, 1, 1], [1, -1, -1, 1], [-1, 1, -1, -1], [-1, -1, 1, 1]]


@functools.cache
def digits():
    X, y = load_digits(n_class=4, return_X_y=True)
    return X / 16, y


def held_out(n=30):
    X, y = digits()
    return X[500 : 500 + n], y[500 : 500 + n]


def piped(*steps):
    X, y = digits()
    return make_pipeline(*steps).fit(X[:500], y[:500])


@functools.cache
def linear():
    columns = ECOCClassifier(LogisticRegression(), CODE, decoding="normalised-linear")
    return piped(StandardScaler(), PCA(12), columns)


@functools.cache
def by_hand():
    """The same model on the features themselves: what the steps do is told by axes."""
    model, (X, y) = linear(), digits()
    features = model[:-1].transform(np.vstack([np.zeros(64), np.eye(64)]))
    matrix, shift = (features[1:] - features[0]).T, features[0]
    folded = ECOCClassifier(LogisticRegression(), CODE, decoding="normalised-linear")
    folded.fit(X[:500], y[:500])
    for learner, inner in zip(folded.estimators_, model[-1].estimators_, strict=True):
        learner.intercept_ = inner.intercept_ + inner.coef_ @ shift
        learner.coef_ = inner.coef_ @ matrix
    assert folded.column_scores(X) == pytest.approx(
        model[-1].column_scores(model[:-1].transform(X))
    )
    return folded


@functools.cache
def network(kind=ECOCNetworkClassifier):
    settings = {"architecture": TINY, "epochs": 8, "batch_size": 32, "random_state": 0}
    if kind is ECOCNetworkClassifier:
        settings["codebook"] = CODE
    return piped(MinMaxScaler(), PCA(6), kind(**settings))


# ------------------------------------------------------------------ linear steps


@pytest.mark.parametrize(
    ("norm", "protocol", "radii"), [("linf", "strong", [0.05]), ("l2", "paper", [0.2, 0.5])]
)
def test_an_attack_does_what_it_does_to_the_model_by_hand(norm, protocol, radii):
    X, y = held_out(8 if protocol == "strong" else 20)
    options = {"epsilons": radii, "norm": norm, "protocol": protocol, "random_state": 0}
    found, expected = (
        evaluate_robustness(model, X, y, **options) for model in (linear(), by_hand())
    )
    assert found.warnings == expected.warnings
    assert found.clean > found.attacked[-1]
    for name in ("clean", "attacked", "paper", "broken_at"):
        assert getattr(found, name) == getattr(expected, name)


@pytest.mark.parametrize(("norm", "dual"), [("linf", 1), ("l2", 2)])
def test_radii_are_those_of_the_weights_by_hand(norm, dual):
    X, _ = held_out()
    folded = by_hand()
    weights = np.vstack([learner.coef_ for learner in folded.estimators_])
    scores = folded.column_scores(X)
    code = np.array(CODE)
    rows = (scores @ code.T).argmax(axis=1)
    assert np.array_equal(rows, linear().predict(X))
    expected = np.full(len(X), np.inf)
    for own, other in itertools.permutations(range(4), 2):
        difference = code[own] - code[other]
        distance = scores @ difference / np.linalg.norm(difference @ weights, dual)
        expected = np.where(rows == own, np.minimum(expected, distance), expected)
    options = {"norm": norm, "max_radius": 10.0, "box": None}
    found = certified_radii(linear(), X, **options)
    assert found == pytest.approx(expected, rel=2e-6)
    boxed = {"norm": norm, "max_radius": 10.0}
    same = certified_radii(by_hand(), X, **boxed)
    assert certified_radii(linear(), X, **boxed) == pytest.approx(same, rel=2e-6)


@pytest.mark.parametrize(
    ("make", "method", "radii"),
    [
        (linear, "linear", [0.01, 0.04]),
        (
            lambda: piped(StandardScaler(), ECOCClassifier(SVC(gamma=0.01), CODE)),
            "rbf",
            [0.002, 0.01],
        ),
        (network, "crown", [0.005, 0.02]),
        (lambda: network(NetworkClassifier), "crown", [0.005, 0.02]),
    ],
    ids=["linear", "rbf", "columns", "network"],
)
def test_no_attack_breaks_what_is_certified(make, method, radii):
    model, (X, y) = make(), held_out(10)
    proved = certify(model, X, y, epsilons=radii)
    assert proved.method == method
    assert 0 < proved.certified_accuracy[0] > proved.certified_accuracy[1] - 1e-9
    assert np.array_equal(proved.predictions, model.predict(X))
    found = evaluate_robustness(
        model,
        X,
        y,
        epsilons=radii,
        protocol="strong" if method == "linear" else "paper",
        steps=30,
        certified_radii=proved.radii,
        random_state=0,
    )
    assert found.paper is not None
    assert not any("black box" in warning for warning in found.warnings)
    assert all(low <= high for low, high in zip(found.certified, found.attacked, strict=True))
    generator = np.random.default_rng(0)
    for _ in range(10):
        corner = generator.choice([-1, 1], X.shape) * proved.radii[:, None]
        near = np.clip(X + corner, 0, 1)
        assert np.array_equal(model.predict(near), proved.predictions)


def test_a_network_behind_steps_is_one_with_another_first_layer():
    model, (X, _) = network(NetworkClassifier), held_out(10)
    features = model[:-1].transform(np.vstack([np.zeros(64), np.eye(64)]))
    first = nn.Linear(64, 6).double()
    first.weight.data = torch.tensor((features[1:] - features[0]).T)
    first.bias.data = torch.tensor(features[0])
    module = nn.Sequential(first, model[-1].as_module("logits").double())
    for method in ("crown", "ibp"):
        found, expected = (
            certified_radii(each, X, method=method, max_radius=0.1) for each in (model, module)
        )
        assert found.any()
        # The module by hand is float64; what rounds to float32 inside keeps a margin for it.
        assert found == pytest.approx(expected, abs=5e-5)
        assert (found <= expected + 1e-6).all()


def test_columns_behind_steps_fail_together():
    model, (X, y) = linear(), held_out()
    found = adversarial_error_correlation(model, X, y, epsilon=0.05)
    expected = adversarial_error_correlation(by_hand(), X, y, epsilon=0.05)
    assert found.attacked_accuracy == expected.attacked_accuracy < found.accuracy
    # Diagnostics see the same columns.
    natural = error_correlation(model, X, y)
    assert found.natural.paper == pytest.approx(natural.paper, nan_ok=True)


# ------------------------------------------------------------------- other steps


@pytest.mark.parametrize("last", ["classifier", "network"])
def test_other_steps_make_a_black_box_that_is_called_one(last):
    X, y = held_out(10)
    end = (
        ECOCClassifier(LogisticRegression(), CODE)
        if last == "classifier"
        else ECOCNetworkClassifier(CODE, architecture=TINY, epochs=2, random_state=0)
    )
    model = piped(StandardScaler(), QuantileTransformer(n_quantiles=50), end)
    found = evaluate_robustness(model, X, y, epsilons=[0.3], time_limit=0)
    assert found.paper is None
    assert found.warnings[0].startswith(
        "Attacked as a black box, without gradients: the accuracies may be far too high. "
        "QuantileTransformer is not known to only "
    )
    with pytest.raises(UnsupportedError, match=r"needs gradients.*QuantileTransformer"):
        evaluate_robustness(model, X, y, epsilons=[0.3], protocol="paper")
    with pytest.raises(UnsupportedError, match=r"no bounds for this model\. QuantileTransformer"):
        certify(model, X, epsilons=[0.1])
    # What needs scores alone goes on.
    smoothed = certify(
        model,
        X[:2],
        epsilons=[0.001],
        norm="l2",
        method="smoothing",
        smoothing=Smoothing(sigma=0.05, n_draws=100),
        random_state=0,
    )
    assert smoothed.is_probabilistic
    scores = model[-1].column_scores(model[:-1].transform(X))
    errors = column_errors(model, X, y)
    code = np.array(CODE)[y]
    assert errors.rates == pytest.approx((scores * code <= 0).mean(axis=0))


def test_steps_that_do_not_what_they_learnt_are_not_believed():
    X, y = held_out(10)
    model = piped(StandardScaler(), ECOCClassifier(LogisticRegression(), CODE))
    scaler = model[0]
    scaler.transform = lambda X: np.tanh(X - scaler.mean_)
    found = evaluate_robustness(model, X, y, epsilons=[0.1], time_limit=0)
    assert "not what their coefficients say" in found.warnings[0]
    with pytest.raises(UnsupportedError, match="not what their coefficients say"):
        certify(model, X, epsilons=[0.1])


def test_black_boxes_have_no_certificate_and_say_why():
    X, y = held_out(10)
    tree = piped(StandardScaler(), DecisionTreeClassifier(random_state=0))
    with pytest.raises(UnsupportedError, match=r"not for this model\. What DecisionTreeClassifier"):
        certify(tree, X, epsilons=[0.1])
    found = evaluate_robustness(tree, X, y, epsilons=[0.1], time_limit=0)
    assert "What DecisionTreeClassifier computes" in found.warnings[0]
    columns = piped(StandardScaler(), ECOCClassifier(DecisionTreeClassifier(random_state=0), CODE))
    with pytest.raises(UnsupportedError, match="no bounds for columns by DecisionTreeClassifier"):
        certify(columns, X, epsilons=[0.1])
    found = evaluate_robustness(columns, X, y, epsilons=[0.1], time_limit=0)
    assert "Gradients of DecisionTreeClassifier are not known" in found.warnings[0]


def test_inputs_that_are_no_model_of_anything_are_no_question_of_support():
    X, _ = held_out(3)
    for model, samples in (("model", X), (linear(), X + 5)):
        with pytest.raises(InvalidInputError) as caught:
            certify(model, samples, epsilons=[0.1])
        assert not isinstance(caught.value, UnsupportedError)
    with pytest.raises(InvalidInputError, match=r"shape \(64,\), as in training"):
        certify(network(), X[:, :5], epsilons=[0.1])
