"""Weights, costs and priors of classes, and the learner that is there by default."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from tests.multiclass.cases import blobs

import ecoc
from ecoc.errors import InvalidInputError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.diagnostics import column_importances

X, y = blobs(n_classes=4, n_features=2, per_class=20, spread=2.0)
NAMES = np.array(["ant", "bee", "cat", "dog"])[y]


def learner():
    return LogisticRegression(max_iter=500)


def test_there_is_a_learner_by_default():
    samples, labels = load_iris(return_X_y=True)
    model = ECOCClassifier().fit(samples, labels)
    same = ECOCClassifier(LogisticRegression(max_iter=1000)).fit(samples, labels)
    assert model.estimator is None
    assert np.array_equal(model.decision_function(samples), same.decision_function(samples))
    assert np.array_equal(model.predict_proba(samples), same.predict_proba(samples))
    assert model.score(samples, labels) > 0.95


def test_weights_of_classes_are_weights_of_their_samples():
    weights = {"bee": 5.0, "dog": 0.5}
    of_samples = np.array([weights.get(name, 1.0) for name in NAMES])
    model = ECOCClassifier(learner(), class_weight=weights).fit(X, NAMES)
    same = ECOCClassifier(learner()).fit(X, NAMES, sample_weight=of_samples)
    assert np.array_equal(model.decision_function(X), same.decision_function(X))
    # Both weights count together.
    twice = ECOCClassifier(learner(), class_weight=weights).fit(X, NAMES, sample_weight=of_samples)
    same.fit(X, NAMES, sample_weight=of_samples**2)
    assert np.array_equal(twice.decision_function(X), same.decision_function(X))


def test_balanced_classes_have_the_same_sum_of_weights():
    kept = np.concatenate([np.flatnonzero(y != 2), np.flatnonzero(y == 2)[:5]])
    sizes = np.bincount(y[kept])
    model = ECOCClassifier(learner(), class_weight="balanced").fit(X[kept], y[kept])
    weights = (len(kept) / (4 * sizes))[y[kept]]
    same = ECOCClassifier(learner()).fit(X[kept], y[kept], sample_weight=weights)
    assert np.array_equal(model.decision_function(X), same.decision_function(X))


def test_weights_of_classes_in_parts():
    sgd = SGDClassifier(random_state=0)
    model = ECOCClassifier(sgd, class_weight={2: 3.0}).partial_fit(X, y, classes=range(4))
    weights = np.where(y == 2, 3.0, 1.0)
    same = ECOCClassifier(sgd).partial_fit(X, y, classes=range(4), sample_weight=weights)
    assert np.array_equal(model.decision_function(X), same.decision_function(X))
    with pytest.raises(InvalidInputError, match="partial_fit does not know"):
        ECOCClassifier(sgd, class_weight="balanced").partial_fit(X, y, classes=range(4))


def test_the_least_expected_cost_decides(tmp_path):
    costs = np.array([[0, 1, 1, 1], [9, 0, 9, 9], [1, 1, 0, 1], [2, 1, 1, 0.5]])
    model = ECOCClassifier(learner(), cost_matrix=costs.tolist()).fit(X, NAMES)
    chances = ECOCClassifier(learner()).fit(X, NAMES).predict_proba(X)
    expected = [
        min(range(4), key=lambda j, row=row: sum(row[i] * costs[i, j] for i in range(4)))
        for row in chances
    ]
    assert np.array_equal(model.predict(X), model.classes_[expected])
    assert model.decision_function(X) == pytest.approx(-chances @ costs)
    assert (model.predict(X) == "bee").sum() > (NAMES == "bee").sum()
    model.save(tmp_path / "costs.skops")
    loaded = ecoc.load(tmp_path / "costs.skops")
    assert np.array_equal(loaded.predict(X), model.predict(X))


def test_zero_one_costs_decide_for_the_most_probable():
    model = ECOCClassifier(learner(), cost_matrix=1 - np.eye(4)).fit(X, y)
    assert np.array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))


def test_priors_correct_probabilities():
    kept = np.concatenate([np.flatnonzero(y != 2), np.flatnonzero(y == 2)[:5]])
    plain = ECOCClassifier(GaussianNB()).fit(X[kept], NAMES[kept])
    seen = np.bincount(y[kept]) / len(kept)
    priors = {"ant": 0.1, "bee": 0.2, "cat": 0.6, "dog": 0.1}
    for given in (priors, list(priors.values())):
        model = ECOCClassifier(GaussianNB(), priors=given).fit(X[kept], NAMES[kept])
        raw = plain.predict_proba(X) * np.array(list(priors.values())) / seen
        chances = raw / raw.sum(axis=1, keepdims=True)
        assert model.predict_proba(X) == pytest.approx(chances)
        assert np.array_equal(model.predict(X), model.classes_[chances.argmax(axis=1)])
    # Those of training change nothing.
    same = ECOCClassifier(GaussianNB(), priors=seen).fit(X[kept], NAMES[kept])
    assert same.predict_proba(X) == pytest.approx(plain.predict_proba(X))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"class_weight": {"eel": 2}}, "must name classes of y.*eel"),
        ({"class_weight": {"ant": -1}}, "class_weight"),
        ({"class_weight": dict.fromkeys(["ant", "bee", "cat", "dog"], 0)}, "above 0"),
        ({"class_weight": "even"}, "must be 'balanced' or a dict"),
        ({"cost_matrix": np.eye(3)}, r"each of the 4 classes; got shape \(3, 3\)"),
        ({"cost_matrix": [["a"]]}, "must hold numbers"),
        ({"cost_matrix": np.full((4, 4), np.nan)}, "finite"),
        ({"priors": [0.5, 0.5]}, "each of the 4 classes"),
        ({"priors": [0.5, 0.5, 0.5, 0.5]}, "sum must be 1"),
        ({"priors": {"ant": 1.0}}, "above 0"),
        ({"priors": ["a", "b", "c", "d"]}, "must be numbers"),
    ],
)
def test_what_does_not_fit_is_refused(settings, message):
    with pytest.raises(InvalidInputError, match=message):
        ECOCClassifier(learner(), **settings).fit(X, NAMES)


def test_learners_that_cannot_are_told_apart():
    with pytest.raises(InvalidInputError, match="KNeighborsClassifier does not take"):
        ECOCClassifier(KNeighborsClassifier(), class_weight="balanced").fit(X, y)
    with pytest.raises(InvalidInputError, match="calibration='sigmoid'"):
        ECOCClassifier(LinearSVC(), cost_matrix=1 - np.eye(4)).fit(X, y)
    with pytest.raises(InvalidInputError, match="Give it to ECOCClassifier"):
        ECOCClassifier(LogisticRegression(class_weight={0: 2})).fit(X, y)


def test_exported_costs_and_priors_decide_alike():
    ort = pytest.importorskip("onnxruntime")
    for settings in ({"cost_matrix": 1 - np.eye(4)}, {"priors": [0.1, 0.2, 0.6, 0.1]}):
        model = ECOCClassifier(GaussianNB(), **settings).fit(X, y)
        session = ort.InferenceSession(ecoc.to_onnx(model).SerializeToString())
        label, scores, chances = session.run(None, {"X": X})
        assert np.array_equal(label, model.predict(X))
        assert scores == pytest.approx(model.decision_function(X), abs=1e-4)
        assert chances == pytest.approx(model.predict_proba(X), abs=1e-4)


def test_costs_are_not_attacked():
    pytest.importorskip("torch")
    model = ECOCClassifier(learner(), cost_matrix=1 - np.eye(4)).fit(X, y)
    with pytest.raises(InvalidInputError, match="cost_matrix or priors"):
        ecoc.robustness.certify(model, X, y, epsilons=[0.1], box=None)


def test_importances_of_columns_by_hand():
    model = ECOCClassifier(learner(), codebook="one-vs-rest").fit(X, y)
    found = column_importances(model, X, y, n_repeats=2, random_state=7)
    generator, scores = np.random.default_rng(7), model.column_scores(X)
    for column in range(4):
        losses = []
        for _ in range(2):
            shuffled = scores.copy()
            shuffled[:, column] = scores[generator.permutation(len(X)), column]
            rows = model.decoder_(shuffled, model.codebook_.matrix).argmax(axis=1)
            losses.append(model.score(X, y) - np.mean(rows == y))
        assert found[column] == pytest.approx(np.mean(losses))
    assert found.max() > 0.05
    with pytest.raises(InvalidInputError, match="n_repeats"):
        column_importances(model, X, y, n_repeats=0)
