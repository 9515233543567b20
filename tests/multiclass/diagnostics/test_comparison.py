# ruff: noqa: N806  # X is what scikit-learn calls it
import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.multiclass.cases import blobs

from ecoc.errors import InvalidInputError
from ecoc.multiclass.diagnostics.comparison import Comparison, check_folds, compare_on_folds


@pytest.fixture(scope="module")
def data():
    return blobs(n_classes=3, spread=3.0)


def test_accuracies_are_those_of_scikit_learn(data):
    X, y = data
    models = {"near": KNeighborsClassifier(1), "far": KNeighborsClassifier(15)}
    found = compare_on_folds(models, X, y, n_folds=4, random_state=3)
    folds = StratifiedKFold(4, shuffle=True, random_state=np.random.RandomState(3))
    splits = list(folds.split(X, y))
    for row, model in zip(found.accuracies, models.values(), strict=True):
        assert row == pytest.approx(cross_val_score(model, X, y, cv=splits))
    assert found.means == pytest.approx(found.accuracies.mean(axis=1))
    assert found.standard_errors == pytest.approx(stats.sem(found.accuracies, axis=1))


def test_intervals_allow_for_overlapping_training_sets():
    accuracies = np.array([[0.9, 0.8, 0.85, 0.95], [0.8, 0.8, 0.7, 0.9]])
    found = Comparison(("a", "b"), accuracies, accuracies, accuracies, 2, 2).difference("b")
    differences = accuracies[0] - accuracies[1]
    # 2 folds: as many samples to test as to train, so 1/4 + 1 in place of 1/4.
    error = np.sqrt((1 / 4 + 1) * differences.var(ddof=1))
    assert found.mean == pytest.approx(differences.mean())
    assert found.standard_error == pytest.approx(error)
    low, high = stats.t.interval(0.95, 3, loc=differences.mean(), scale=error)
    assert (found.low, found.high) == pytest.approx((low, high))
    assert found.verdict == "level"


def test_verdicts(data):
    X, y = data
    good, bad = KNeighborsClassifier(5), DummyClassifier()
    found = compare_on_folds({"good": good, "bad": bad, "same": good}, X, y, random_state=0)
    assert found.difference("bad").verdict == "better"
    assert found.difference("same").verdict == "level"
    turned = compare_on_folds({"bad": bad, "good": good}, X, y, random_state=0)
    assert turned.difference("good").verdict == "worse"
    lines = found.table()
    assert [line[0] for line in lines] == ["", "good", "bad", "same"]
    assert lines[1][3:] == ("", "")
    assert lines[3][3:] == ("+0.00 (+0.00 to +0.00)", "level")
    assert found.to_plain()[1]["first_is_ahead_by"]["verdict"] == "better"
    assert found.to_plain()[0]["first_is_ahead_by"] is None
    assert repr(found).startswith("<Comparison on 5 splits: good ")


def test_everyone_who_watches_is_told(data):
    X, y = data
    seen, steps = [], []
    models = {"a": DummyClassifier(), "b": DummyClassifier()}
    found = compare_on_folds(
        models,
        X,
        y,
        n_folds=3,
        n_repeats=2,
        random_state=0,
        progress=steps.append,
        watch=lambda name, split, model, rows: seen.append((name, split, len(rows))),
    )
    assert steps == ["a", "b"] * 6
    assert [split for name, split, _ in seen if name == "b"] == list(range(6))
    assert sum(n_rows for name, _, n_rows in seen if name == "a") == 2 * len(y)
    assert found.splits == "2 rounds of 3 stratified folds"
    assert not hasattr(models["a"], "classes_")


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([9, 3], "1 has 3. Use at most 3 folds"),
        ([9, 3, 1], "1 has 3, 2 has 1. Use at most 3 folds"),
        ([1, 1], "1 has 1. Leave these classes out"),
        ([1] * 30, "30 classes the target looks like a quantity"),
    ],
)
def test_classes_too_small_for_the_folds(sizes, message):
    with pytest.raises(InvalidInputError, match=message):
        check_folds(np.repeat(np.arange(len(sizes)), sizes), 5)


@pytest.mark.parametrize("sizes", [[10, 10, 1, 1], [10, 1]])
def test_the_only_sample_of_a_class_is_always_trained_on(sizes):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    samples = labels[:, None] + np.linspace(0, 0.1, len(labels))[:, None]
    held_out = []

    def watch(_, __, model, rows):
        assert set(model.classes_) == set(labels)
        held_out.extend(rows)

    found = compare_on_folds(
        {"tree": DecisionTreeClassifier()}, samples, labels, random_state=0, watch=watch
    )
    single = [place for place, size in enumerate(sizes) if size == 1]
    assert sorted(held_out) == np.flatnonzero(~np.isin(labels, single)).tolist()
    assert found.never_held_out == tuple(map(str, single))
    assert found.splits.startswith("5 stratified folds; trained on but never held out: ")
    assert found.means.tolist() == [1.0]
