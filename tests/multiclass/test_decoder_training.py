# ruff: noqa: N806  # X is what scikit-learn calls it
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from tests.multiclass.cases import blobs

from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.decoders import Learned


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X / 16, y, train_size=600, test_size=600, stratify=y, random_state=0)


def test_the_learned_decoder_helps_naive_bayes(digits):
    train, test, y_train, y_test = digits
    plain = ECOCClassifier(GaussianNB(var_smoothing=1e-3), codebook="optimal").fit(train, y_train)
    learned = clone(plain).set_params(decoding="learned").fit(train, y_train)
    assert learned.score(test, y_test) > plain.score(test, y_test) + 0.01
    proba = learned.predict_proba(test)
    assert np.array_equal(proba.argmax(axis=1), learned.decision_function(test).argmax(axis=1))


def test_a_class_with_one_sample_can_be_learned_from():
    X, y = blobs(4)
    keep = np.concatenate([np.flatnonzero(y > 0), np.flatnonzero(y == 0)[:1]])
    model = ECOCClassifier(LogisticRegression(), decoding=Learned(n_folds=3))
    assert model.fit(X[keep], y[keep]).score(X[keep], y[keep]) > 0.95


@pytest.mark.parametrize("n_symbols", [2, 4])
def test_where_every_class_has_one_sample_the_codebook_decides(n_symbols):
    X, y = np.eye(12), np.arange(12)
    model = ECOCClassifier(
        DecisionTreeClassifier(), n_symbols=n_symbols, decoding="learned", random_state=0
    ).fit(X, y)
    assert np.array_equal(model.predict(X), y)
