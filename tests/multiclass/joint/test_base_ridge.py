# ruff: noqa: N803, N806  # X is what scikit-learn calls it
import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Ridge, RidgeClassifier
from tests.multiclass.cases import blobs

from ecoc.codes import dense_random, one_vs_one, one_vs_rest
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.columns import ColumnTask, column_scores, fit_columns
from ecoc.multiclass.joint.base import JointRidge

CLASSES = np.arange(5)


class PlainRidge(Ridge):
    """Not known to be solved for all columns together."""


class PlainRidgeClassifier(RidgeClassifier):
    """Not known to be solved for all columns together."""


PLAIN = {Ridge: PlainRidge, RidgeClassifier: PlainRidgeClassifier}
METHODS = {Ridge: "predict", RidgeClassifier: "decision_function"}


@pytest.mark.parametrize("kind", [Ridge, RidgeClassifier])
@pytest.mark.parametrize(
    "options", [{}, {"alpha": 0.01, "solver": "svd"}, {"fit_intercept": False}], ids=str
)
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_are_those_of_solving_each_alone(kind, options, weighted, monkeypatch):
    X, y = blobs(spread=3.0)
    weights = np.random.default_rng(0).random(len(y)) if weighted else None
    params = {"sample_weight": weights} if weighted else {}
    matrix = dense_random(5, 8, random_state=0).matrix
    plain = fit_columns(ColumnTask(PLAIN[kind](**options), matrix, CLASSES, params), X, y)
    solved = []
    fit_alone = kind.fit
    monkeypatch.setattr(kind, "fit", lambda *args: solved.append(1) or fit_alone(*args))
    together = fit_columns(ColumnTask(kind(**options), matrix, CLASSES, params), X, y)
    assert 0 < len(solved) <= 2
    expected = column_scores(plain, X, METHODS[kind])
    found = column_scores(together, X, METHODS[kind])
    assert np.abs(found - expected).max() < 1e-9
    for one, other in zip(together, plain, strict=True):
        assert vars(one).keys() == vars(other).keys()
        assert np.abs(one.coef_ - other.coef_).max() < 1e-9
        assert np.shape(one.coef_) == np.shape(other.coef_)
        assert np.shape(one.intercept_) == np.shape(other.intercept_)
        assert type(one.predict(X)[0]) is type(other.predict(X)[0])
        assert np.allclose(one.predict(X), other.predict(X), rtol=0, atol=1e-9)


def test_what_has_no_common_factorisation_is_left_alone():
    assert JointRidge.takes(RidgeClassifier())
    assert not JointRidge.takes(RidgeClassifier(class_weight="balanced"))
    assert not JointRidge.takes(Ridge(solver="sag"))
    assert not JointRidge.takes(Ridge(positive=True))
    assert not JointRidge.takes(Ridge(alpha=0.0))
    assert not JointRidge.takes(Ridge(alpha=np.array([1.0])))
    X, y = blobs()
    learner, signs = JointRidge(Ridge()), one_vs_rest(5).matrix[y]
    assert learner.declines(X, signs) is None
    assert "only one" in learner.declines(X, signs[:, :1])
    assert "samples of its own" in learner.declines(X, one_vs_one(5).matrix[y])
    assert "iterative" in learner.declines(sp.csr_matrix(X), signs)
    assert "single precision" in learner.declines(X.astype(np.float32), signs)


@pytest.mark.parametrize("make", [np.asarray, sp.csr_matrix, lambda X: X.astype(np.float32)])
@pytest.mark.parametrize("code", ["one-vs-one", "one-vs-rest"])
def test_a_classifier_decides_as_with_columns_alone(make, code):
    X, y = blobs(spread=2.0)
    X = make(X)
    ours, plain = (
        ECOCClassifier(learner, code).fit(X, y)
        for learner in (RidgeClassifier(), PlainRidgeClassifier())
    )
    assert np.allclose(ours.column_scores(X), plain.column_scores(X), rtol=0, atol=1e-4)
    assert np.array_equal(ours.predict(X), plain.predict(X))
