# ruff: noqa: N806  # X is what scikit-learn calls it
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.multiclass.cases import blobs

from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.multiclass import ECOCClassifier, SubclassECOCClassifier, load_model, save_model


def crossed(per_cluster=12, seed=0):
    """Two classes at the corners of a square, each at two that face each other, and a third."""
    corners = np.array([[0, 0], [8, 8], [0, 8], [8, 0], [20, 4]])
    cluster = np.repeat(np.arange(5), per_cluster)
    X = corners[cluster] + np.random.default_rng(seed).normal(size=(len(cluster), 2))
    return X, np.array(["a", "a", "b", "b", "c"])[cluster], cluster


def test_classes_that_lie_in_parts_are_split_into_them():
    X, y, cluster = crossed()
    model = SubclassECOCClassifier(random_state=0).fit(X, y)
    # Without one diagonal the other is a side of its own.
    split = sorted(model.classes_[model.owners_])
    assert split in (["a", "a", "b", "c"], ["a", "b", "b", "c"])
    parts = model.model_.predict(X)
    diagonal = (cluster < 2) if split[1] == "a" else (cluster == 2) | (cluster == 3)
    assert len(set(zip(cluster[diagonal].tolist(), parts[diagonal].tolist(), strict=True))) == 2
    assert model.score(X, y) > 0.98
    assert ECOCClassifier(LogisticRegression(), codebook="decoc").fit(X, y).score(X, y) < 0.9
    again = SubclassECOCClassifier(random_state=0).fit(X, y)
    assert np.array_equal(again.decision_function(X), model.decision_function(X))


def test_what_classes_get_is_what_their_subclasses_get():
    X, y, _ = crossed()
    model = SubclassECOCClassifier(random_state=0).fit(X, y)
    shares = model.predict_proba(X)
    assert np.array_equal(model.decision_function(X), shares)
    assert np.array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    decoded = model.set_params(decoding="hinge").decision_function(X)
    for c in range(3):
        own = model.owners_ == c
        assert shares[:, c] == pytest.approx(model.model_.predict_proba(X)[:, own].sum(axis=1))
        best = model.model_.decision_function(X)[:, own].max(axis=1)
        assert decoded[:, c] == pytest.approx(best)
    assert np.array_equal(model.predict(X), model.classes_[decoded.argmax(axis=1)])
    with pytest.raises(AttributeError):
        SubclassECOCClassifier(SVC(kernel="linear")).fit(X, y).predict_proba(X)


@pytest.mark.parametrize(
    "settings",
    [
        {"estimator": DecisionTreeClassifier(random_state=0)},
        {"max_error": 1.0},
        {"min_share": 0.3},
        {"min_gain": 1.0},
        {"max_subclasses": 3},
    ],
    ids=lambda settings: next(iter(settings)),
)
def test_classes_stay_whole_where_splitting_is_not_wanted(settings):
    X, y, _ = crossed()
    if settings.get("min_gain"):
        # Clusters that overlap leave some errors whatever is split.
        X = X + np.random.default_rng(1).normal(scale=4, size=X.shape)
    model = SubclassECOCClassifier(random_state=0, **settings).fit(X, y)
    assert model.owners_.tolist() == [0, 1, 2]


def test_settings_are_checked():
    X, y = blobs(3, per_class=5)
    with pytest.raises(InvalidInputError, match="max_error must be"):
        SubclassECOCClassifier(max_error=2).fit(X, y)
    with pytest.raises(InvalidInputError, match="max_subclasses must be at least 2"):
        SubclassECOCClassifier(max_subclasses=1).fit(X, y)


def test_models_are_written_and_read(tmp_path):
    X, y, _ = crossed()
    model = SubclassECOCClassifier(random_state=0).fit(X, y)
    model.save(tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    model.owners_ = np.zeros_like(model.owners_)
    save_model(model, tmp_path / "forged.skops")
    with pytest.raises(FileFormatError, match="owners_ must have one of 3 classes for each of 4"):
        load_model(tmp_path / "forged.skops")


@parametrize_with_checks([SubclassECOCClassifier(RidgeClassifier(), max_error=1.0)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)
