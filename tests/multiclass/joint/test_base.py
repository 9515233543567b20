# ruff: noqa: N803, N806  # X is what scikit-learn calls it
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.svm import SVC, LinearSVC
from tests.multiclass.cases import blobs

from ecoc.codes import one_vs_one, one_vs_rest
from ecoc.multiclass import ColumnError, ECOCClassifier
from ecoc.multiclass.joint import JointLearner, about_column, joint_learner
from ecoc.multiclass.joint.base import recorded_warnings


class Centroids(ClassifierMixin, BaseEstimator):
    """A learner of its own that trains all columns at once, and counts how often."""

    fits = 0

    def __init__(self, trouble=None):
        self.trouble = trouble

    def fit(self, X, y, sample_weight=None):
        weight = np.ones(len(y)) if sample_weight is None else sample_weight
        self.classes_ = np.array([0, 1])
        self.centres_ = [np.average(X[y == side], 0, weight[y == side]) for side in (0, 1)]
        return self

    def decision_function(self, X):
        near, far = (((X - centre) ** 2).sum(axis=1) for centre in self.centres_[::-1])
        return far - near

    def predict(self, X):
        return (self.decision_function(X) > 0).astype(int)

    def fit_columns(self, X, signs, *, sample_weight=None):
        type(self).fits += 1
        if self.trouble == "whole":
            raise ValueError("nothing works")
        fitted = []
        for column, sides in enumerate(signs.T):
            with about_column(column):
                if self.trouble == "raise" and column == 1:
                    raise TypeError("not this one")
                if self.trouble == "warn" and column != 1:
                    warnings.warn("slow", ConvergenceWarning, stacklevel=1)
            used = sides != 0
            weight = None if sample_weight is None else sample_weight[used]
            fitted.append(Centroids().fit(X[used], sides[used] > 0, weight))
        return fitted

    def score_columns(self, estimators, X):
        self.asked_ = len(estimators)
        return np.column_stack([learner.decision_function(X) for learner in estimators])


class OneByOne(ClassifierMixin, BaseEstimator):
    """Centroids without its joint form."""

    fit = Centroids.fit
    decision_function = Centroids.decision_function
    predict = Centroids.predict


@pytest.fixture(autouse=True)
def start_to_count(monkeypatch):
    monkeypatch.setattr(Centroids, "fits", 0)


def test_learners_that_have_a_joint_form():
    centroids = Centroids()
    assert isinstance(centroids, JointLearner)
    assert joint_learner(centroids) is centroids
    for learner in (SVC(), Ridge(), RidgeClassifier()):
        assert isinstance(joint_learner(learner), JointLearner)
    for learner in (LinearSVC(), LogisticRegression(), SVC(probability=True), Ridge(solver="sag")):
        assert joint_learner(learner) is None


def test_a_class_derived_from_one_of_them_has_none():
    for kind in (SVC, Ridge, RidgeClassifier):
        derived = type("Derived", (kind,), {})
        assert joint_learner(derived()) is None


@pytest.mark.parametrize("code", [one_vs_one(5), one_vs_rest(5)])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_classifier_trains_and_asks_all_columns_at_once(code, weighted):
    X, y = blobs(spread=3.0)
    params = {"sample_weight": np.random.default_rng(0).random(len(y))} if weighted else {}
    together = ECOCClassifier(Centroids(), code).fit(X, y, **params)
    alone = ECOCClassifier(OneByOne(), code).fit(X, y, **params)
    assert Centroids.fits == 1
    assert np.array_equal(together.column_scores(X), alone.column_scores(X))
    assert np.array_equal(together.predict(X), alone.predict(X))
    together.predict(X, missing_columns=[0, 2])
    assert together.estimator.asked_ == code.n_columns - 2


def test_other_work_than_plain_training_is_done_column_by_column():
    X, y = blobs(spread=3.0)
    ECOCClassifier(Centroids(), "one-vs-rest", calibration="sigmoid").fit(X, y)
    assert Centroids.fits == 0


def test_errors_name_the_column_if_they_know_it():
    X, y = blobs()
    with pytest.raises(ColumnError, match=r"column 1 \(1 against .*\) raised TypeError: not this"):
        ECOCClassifier(Centroids("raise"), "one-vs-rest").fit(X, y)
    with pytest.raises(ColumnError, match=r"of all columns raised ValueError: nothing works"):
        ECOCClassifier(Centroids("whole"), "one-vs-rest").fit(X, y)


def test_warnings_name_their_columns():
    X, y = blobs()
    with pytest.warns(
        ConvergenceWarning, match=r"^slow \[column 0 .*, column 2 .*1 more\]$"
    ) as all_:
        ECOCClassifier(Centroids("warn"), "one-vs-rest").fit(X, y)
    assert len(all_) == 1


def test_weights_must_leave_both_sides_of_every_column():
    X, y = blobs()
    with pytest.raises(ColumnError, match=r"one class or none to column 2 \(2 against"):
        ECOCClassifier(Centroids(), "one-vs-rest").fit(X, y, sample_weight=(y != 2) * 1.0)


def test_threads_leave_the_filters_of_warnings_alone():
    def inside():
        before = list(warnings.filters)
        with recorded_warnings() as caught:
            same = warnings.filters == before
        return same, caught

    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(inside).result() == (True, [])
    with recorded_warnings() as caught:
        warnings.warn("heard", UserWarning, stacklevel=1)
    assert [str(warning.message) for warning in caught] == ["heard"]
