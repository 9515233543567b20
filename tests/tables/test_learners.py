# ruff: noqa: N806  # X is what scikit-learn calls it
import sys

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC
from tests.multiclass.cases import blobs

from ecoc.errors import InvalidInputError, MissingDependencyError
from ecoc.multiclass import ECOCClassifier
from ecoc.tables.learners import LEARNERS, installed_learners, make_learner


@pytest.mark.parametrize("name", installed_learners())
def test_every_learner_learns(name):
    X, y = blobs(n_classes=4, per_class=15)
    model = ECOCClassifier(make_learner(name).estimator, random_state=0).fit(X, y)
    assert model.score(X, y) > 0.9


def test_which_learners_are_there_is_known_without_loading_them(monkeypatch):
    for library in ("lightgbm", "xgboost"):
        monkeypatch.delitem(sys.modules, library, raising=False)
    assert set(installed_learners()) <= set(LEARNERS)
    assert not {"lightgbm", "xgboost"} & set(sys.modules)
    monkeypatch.setattr("ecoc.tables.learners.find_spec", lambda name: None)
    assert set(LEARNERS) - set(installed_learners()) == {"lightgbm", "xgboost"}


def test_a_learner_that_is_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    with pytest.raises(MissingDependencyError, match="ecoc\\[boosting\\]"):
        make_learner("lightgbm")


@pytest.mark.parametrize("name", installed_learners())
def test_what_is_tried_are_settings_of_the_learner(name):
    learner = make_learner(name, n_features=4)
    for key, values in learner.grid.items():
        assert len(values) > 1
        for value in values:
            assert learner.estimator.set_params(**{key: value}).get_params()[key] == value


def test_settings_reach_the_learner():
    svm = make_learner("svm", C=3.0, gamma=0.5).estimator
    assert isinstance(svm, SVC)
    assert (svm.C, svm.gamma) == (3.0, 0.5)
    assert make_learner("kernel-ridge", gamma=0.5).estimator.gamma == 0.5
    for name, kind in (("logistic", LogisticRegression), ("linear-svm", LinearSVC)):
        learner = make_learner(name, C=3.0)
        assert isinstance(learner.estimator, kind)
        assert learner.estimator.C == 3.0
        assert learner.scaled
    assert not make_learner("tree").scaled


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("svn", {}, "Did you mean 'svm'"),
        ("tree", {"C": 1.0}, "C is a setting of svm, logistic, linear-svm, not of tree"),
        ("logistic", {"gamma": 1.0}, "gamma is a setting of svm, kernel-ridge"),
        ("svm", {"C": 0.0}, "C must be above 0"),
        ("svm", {"gamma": float("nan")}, "gamma must be finite"),
    ],
)
def test_wrong_settings(name, settings, message):
    with pytest.raises(InvalidInputError, match=message):
        make_learner(name, **settings)
