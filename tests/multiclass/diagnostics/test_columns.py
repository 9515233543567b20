# ruff: noqa: N806  # X is what scikit-learn calls it
import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.multiclass.cases import blobs, seen, share, symbol_decodings, wrongs

from ecoc.errors import InvalidInputError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.decoders import Hamming
from ecoc.multiclass.diagnostics import (
    ColumnErrors,
    ColumnUsefulness,
    ConfusionByDistance,
    column_errors,
    column_usefulness,
    confusion_by_distance,
    error_correlation,
)


@given(seen())
def test_errors_are_those_counted_one_by_one(case):
    _, matrix, targets = case
    errors = ColumnErrors.from_scores(*case)
    for j in range(matrix.shape[1]):
        wrong = wrongs(*case, j)
        counted = [w for w in wrong if w is not None]
        assert errors.rates[j] == pytest.approx(share(counted), nan_ok=True)
        assert errors.n_samples[j] == len(counted)
        sides = [matrix[t, j] > 0 for t, w in zip(targets, wrong, strict=True) if w is not None]
        expected = min(share(sides), 1 - share(sides)) if sides else np.nan
        assert errors.baseline[j] == pytest.approx(expected, nan_ok=True)
        for k in range(len(matrix)):
            of_class = [w for w, t in zip(wrong, targets, strict=True) if t == k and w is not None]
            assert errors.by_class[k, j] == pytest.approx(share(of_class), nan_ok=True)


@given(seen())
def test_confusion_is_what_is_counted_one_by_one(case):
    _, matrix, targets = case
    predicted = np.roll(targets, 1)
    found = ConfusionByDistance.from_predictions(predicted, targets, matrix)
    by_level = {}
    for p, q in itertools.permutations(range(len(matrix)), 2):
        of_class = predicted[targets == p]
        assert found.rates[p, q] == pytest.approx(share(of_class == q), nan_ok=True)
        distance = np.sum((1 - matrix[p].astype(float) * matrix[q]) / 2)
        assert found.distances[p, q] == distance
        counts = by_level.setdefault(distance, [0, 0, 0])
        counts[0] += np.sum(of_class == q)
        counts[1] += len(of_class)
        counts[2] += 0.5
    assert found.levels.tolist() == sorted(by_level)
    for level, rate, pairs in zip(found.levels, found.level_rates, found.level_pairs, strict=True):
        confused, possible, n_pairs = by_level[level]
        assert rate == pytest.approx(confused / possible if possible else np.nan, nan_ok=True)
        assert pairs == n_pairs


@pytest.fixture(scope="module")
def trained():
    X, y = blobs(n_classes=6, n_features=3, spread=2.0)
    names = np.array(["ant", "bee", "cat", "dog", "eel", "fox"])[y]
    model = make_pipeline(
        StandardScaler(), ECOCClassifier(LogisticRegression(), codebook="one-vs-one")
    )
    return model.fit(X[:90], names[:90]), X[90:], names[90:]


def test_usefulness_is_the_accuracy_of_predictions_without_a_column(trained):
    model, X, y = trained
    found = column_usefulness(model, X, y)
    inner, features = model[-1], model[:-1].transform(X)
    assert found.accuracy == pytest.approx(model.score(X, y))
    for j in range(15):
        expected = np.mean(inner.predict(features, missing_columns=[j]) == y)
        assert found.without[j] == pytest.approx(expected)
        assert found.gains[j] == pytest.approx(model.score(X, y) - expected)


def test_the_only_column_cannot_be_left_out():
    found = ColumnUsefulness.from_scores([[1], [-1]], [[1], [-1]], [0, 1], Hamming())
    assert found.accuracy == 1
    assert np.isnan(found.without).all()
    assert "the only column" in repr(found)


def test_a_pipeline_is_diagnosed_by_its_columns(trained):
    model, X, y = trained
    inner, features = model[-1], model[:-1].transform(X)
    scores = inner.column_scores(features)
    targets = np.searchsorted(inner.classes_, y)
    direct = ColumnErrors.from_scores(scores, inner.code_book_, targets)
    assert np.array_equal(column_errors(model, X, y).rates, direct.rates)
    assert np.array_equal(column_errors(inner, features, y).by_class, direct.by_class, True)
    confusion = confusion_by_distance(model, X, y)
    assert np.diag(confusion.rates).mean() < 1
    expected = np.mean(model.predict(X)[y == "ant"] == "bee")
    assert confusion.rates[0, 1] == pytest.approx(expected)


def test_results_say_the_main_thing_in_a_line(trained):
    model, X, y = trained
    for result, start in (
        (column_errors(model, X, y), "<ColumnErrors: 15 columns, mean "),
        (error_correlation(model, X, y), "<ErrorCorrelation: 15 columns, mean phi "),
        (column_usefulness(model, X, y), "<ColumnUsefulness: accuracy 0."),
        (confusion_by_distance(model, X, y), "<ConfusionByDistance: distance 8: "),
    ):
        assert repr(result).startswith(start)
        assert "\n" not in repr(result)
    nothing = ColumnErrors.from_scores([[np.nan]], [[1], [-1]], [0])
    assert "no samples" in repr(nothing)


def test_wrong_input_is_named(trained):
    model, X, y = trained
    with pytest.raises(InvalidInputError, match="does not know gnu"):
        column_errors(model, X[:2], ["ant", "gnu"])
    with pytest.raises(InvalidInputError, match="same number of samples"):
        column_errors(model, X, y[:3])
    with pytest.raises(InvalidInputError, match="not LogisticRegression"):
        column_errors(LogisticRegression(), X, y)
    with pytest.raises(InvalidInputError, match="0 to 1, not 0 to 2"):
        ColumnErrors.from_scores([[1], [1]], [[1], [-1]], [0, 2])
    with pytest.raises(InvalidInputError, match="whole numbers"):
        ColumnErrors.from_scores([[1], [1]], [[1], [-1]], [0.0, 1.0])
    with pytest.raises(InvalidInputError, match="predicted must be"):
        ConfusionByDistance.from_predictions([0], [0, 1], [[1], [-1]])


@given(case=symbol_decodings(max_samples=12), data=st.data())
def test_errors_of_symbols_by_hand(case, data):
    code, scores = case
    k, length = code.n_classes, code.n_columns
    rows = st.integers(0, k - 1)
    targets = np.array(data.draw(st.lists(rows, min_size=len(scores), max_size=len(scores))))
    if data.draw(st.booleans()):
        scores[0, 0, 1] = np.nan
    found = ColumnErrors.from_scores(scores, code.matrix, targets)
    for column in range(length):
        counted = [i for i in range(len(scores)) if not np.isnan(scores[i, column]).any()]
        symbols = [code.matrix[targets[i], column] for i in counted]
        answers = [np.argmax(scores[i, column]) for i in counted]
        wrong = [a != s for a, s in zip(answers, symbols, strict=True)]
        assert found.n_samples[column] == len(counted)
        assert found.rates[column] == pytest.approx(share(wrong), nan_ok=True)
        most = max((symbols.count(s) for s in symbols), default=0)
        expected = 1 - most / len(counted) if counted else np.nan
        assert found.baseline[column] == pytest.approx(expected, nan_ok=True)


def test_every_diagnosis_takes_symbols():
    X, y = blobs(7, per_class=12)
    model = ECOCClassifier(GaussianNB(), n_symbols=3, random_state=0).fit(X, y)
    matrix = model.codebook_.matrix
    answers = model.column_scores(X).argmax(axis=2)
    assert column_errors(model, X, y).rates == pytest.approx((answers != matrix[y]).mean(axis=0))
    assert error_correlation(model, X, y).phi.shape == (14, 14)
    useful = column_usefulness(model, X, y)
    assert useful.accuracy == model.score(X, y)
    assert useful.without[2] == np.mean(model.predict(X, missing_columns=[2]) == y)
    confusion = confusion_by_distance(model, X, y)
    assert np.array_equal(confusion.distances, model.codebook_.row_distances())
