# ruff: noqa: N806  # X is what scikit-learn calls it
import numpy as np
import pytest
from scipy import stats
from sklearn.dummy import DummyClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier
from tests.multiclass.cases import blobs

from ecoc.errors import InvalidInputError
from ecoc.multiclass.diagnostics.comparison import Comparison, Splits, compare_on_splits


@pytest.fixture(scope="module")
def data():
    return blobs(n_classes=3, spread=3.0)


def test_accuracies_are_those_of_scikit_learn(data):
    X, y = data
    models = {"near": KNeighborsClassifier(1), "far": KNeighborsClassifier(15)}
    found = compare_on_splits(models, X, y, Splits.folds(y, 4, random_state=3))
    folds = StratifiedKFold(4, shuffle=True, random_state=np.random.RandomState(3))
    splits = list(folds.split(X, y))
    for row, model in zip(found.accuracies, models.values(), strict=True):
        assert row == pytest.approx(cross_val_score(model, X, y, cv=splits))
    assert found.means == pytest.approx(found.accuracies.mean(axis=1))
    assert found.standard_errors == pytest.approx(stats.sem(found.accuracies, axis=1))


def test_intervals_allow_for_overlapping_training_sets():
    accuracies = np.array([[0.9, 0.8, 0.85, 0.95], [0.8, 0.8, 0.7, 0.9]])
    splits = Splits((), "", n_folds=2, n_repeats=2)
    measured = (accuracies, accuracies, accuracies, splits, accuracies.mean(axis=1))
    found = Comparison(("a", "b"), *measured).difference("b")
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
    splits = Splits.folds(y, random_state=0)
    found = compare_on_splits({"good": good, "bad": bad, "same": good}, X, y, splits)
    assert found.difference("bad").verdict == "better"
    assert found.difference("same").verdict == "level"
    turned = compare_on_splits({"bad": bad, "good": good}, X, y, splits)
    assert turned.difference("good").verdict == "worse"
    lines = found.table()
    assert [line[0] for line in lines] == ["", "good", "bad", "same"]
    assert lines[1][4:] == ("", "")
    assert lines[3][4:] == ("+0.00 (+0.00 to +0.00)", "level")
    assert found.to_plain()[1]["first_is_ahead_by"]["verdict"] == "better"
    assert found.to_plain()[0]["first_is_ahead_by"] is None
    assert repr(found).startswith("<Comparison on 5 stratified folds: good ")


def test_everyone_who_watches_is_told(data):
    X, y = data
    seen, steps = [], []
    models = {"a": DummyClassifier(), "b": DummyClassifier()}
    found = compare_on_splits(
        models,
        X,
        y,
        Splits.folds(y, 3, n_repeats=2, random_state=0),
        progress=steps.append,
        watch=lambda name, split, model, rows, given: seen.append((name, split, len(given))),
    )
    assert steps == ["a", "b"] * 6
    assert [split for name, split, _ in seen if name == "b"] == list(range(6))
    assert sum(n_rows for name, _, n_rows in seen if name == "a") == 2 * len(y)
    assert found.splits.text == "2 rounds of 3 stratified folds"
    assert not hasattr(models["a"], "classes_")


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([4, 3], r"the largest has 4. Use at most 4 folds \(--folds 4\)"),
        ([1, 1], "No class has two rows.*--no-validation"),
        ([1] * 30, "With 30 classes, 30 of which have fewer than 5 rows, the target looks like"),
        ([9] + [4] * 20, "With 21 classes, 20 of which .*fewer folds .--folds. or none"),
    ],
)
def test_classes_too_small_for_the_folds(sizes, message):
    with pytest.raises(InvalidInputError, match=message):
        Splits.folds(np.repeat(np.arange(len(sizes)), sizes), 5)


def test_classes_with_fewer_samples_than_folds_are_held_out_in_some():
    labels = np.repeat(np.arange(3), [10, 3, 2])
    splits = Splits.folds(labels, 5, random_state=0)
    held_out = np.concatenate([test for _, test in splits.parts])
    assert sorted(held_out) == list(range(15))
    for train, test in splits.parts:
        assert set(labels[train]) == {0, 1, 2}
        assert not set(train) & set(test)
    assert splits.never_held_out == ()


def test_a_share_of_every_class_is_held_out():
    labels = np.repeat(np.arange(4), [100, 50, 7, 1])
    sizes = []
    for seed in range(50):
        splits = Splits.holdout(labels, 0.3, random_state=seed)
        ((train, test),) = splits.parts
        assert sorted([*train, *test]) == list(range(158))
        assert splits.never_held_out == ("3",)
        sizes.append(np.bincount(labels[test], minlength=4))
    assert {tuple(size[:2]) for size in sizes} == {(30, 15)}
    # 2.1 of 7: two or three, by chance.
    assert {size[2] for size in sizes} == {2, 3}
    again = Splits.holdout(labels, 0.3, random_state=7).parts[0][1]
    assert np.array_equal(again, Splits.holdout(labels, 0.3, random_state=7).parts[0][1])


@pytest.mark.parametrize(
    ("labels", "share", "message"),
    [
        ([0, 0, 1, 1], 1.0, "above 0 and below 1, not 1"),
        ([0, 0, 1, 1], float("nan"), "finite"),
        ([0, 1], 0.5, "holds out none of them; hold out more .--holdout., or none"),
    ],
)
def test_shares_that_cannot_be_held_out(labels, share, message):
    with pytest.raises(InvalidInputError, match=message):
        Splits.holdout(labels, share, random_state=0)


def test_a_single_split_is_judged_by_its_samples(data):
    X, y = data
    models = {"near": KNeighborsClassifier(1), "none": DummyClassifier()}
    splits = Splits.holdout(y, 0.4, random_state=0)
    found = compare_on_splits(models, X, y, splits)
    ((train, test),) = splits.parts
    right = {n: m.fit(X[train], y[train]).predict(X[test]) == y[test] for n, m in models.items()}
    assert found.means == pytest.approx([right["near"].mean(), right["none"].mean()])
    share = right["near"].mean()
    assert found.standard_errors[0] == pytest.approx(np.sqrt(share * (1 - share) / len(test)))
    paired = right["near"].astype(float) - right["none"]
    low, high = stats.t.interval(0.95, len(test) - 1, loc=paired.mean(), scale=stats.sem(paired))
    difference = found.difference("none")
    assert (difference.low, difference.high) == pytest.approx((low, high))


def test_one_held_out_sample_decides_nothing():
    X, y = np.arange(5.0)[:, None], np.array([0, 0, 1, 1, 0])
    models = {"tree": DecisionTreeClassifier(), "none": DummyClassifier()}
    found = compare_on_splits(models, X, y, Splits.given(4, 1, "test.csv"))
    assert found.difference("none").verdict == "level"
    assert found.splits.text == "1 row of test.csv"


def test_balanced_accuracy_is_that_of_scikit_learn():
    generator = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [60, 20, 8])
    X = y[:, None] + generator.normal(size=(88, 1))
    splits = Splits.folds(y, 4, random_state=0)
    given = np.empty(88, dtype=int)

    def watch(_, __, ___, rows, predicted):
        given[rows] = predicted

    found = compare_on_splits({"near": KNeighborsClassifier(3)}, X, y, splits, watch=watch)
    assert found.balanced[0] == pytest.approx(balanced_accuracy_score(y, given))
    assert found.balanced[0] < found.means[0]


@pytest.mark.parametrize("sizes", [[10, 10, 1, 1], [10, 1]])
def test_the_only_sample_of_a_class_is_always_trained_on(sizes):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    samples = labels[:, None] + np.linspace(0, 0.1, len(labels))[:, None]
    held_out = []

    def watch(_, __, model, rows, given):
        assert set(model.classes_) == set(labels)
        held_out.extend(rows)

    splits = Splits.folds(labels, random_state=0)
    found = compare_on_splits(
        {"tree": DecisionTreeClassifier()}, samples, labels, splits, watch=watch
    )
    single = [place for place, size in enumerate(sizes) if size == 1]
    assert sorted(held_out) == np.flatnonzero(~np.isin(labels, single)).tolist()
    assert found.splits.never_held_out == tuple(map(str, single))
    assert found.splits.text.startswith("5 stratified folds; trained on but never held out: ")
    assert found.means.tolist() == [1.0]
