import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    confusion_matrix,
    log_loss,
    precision_recall_fscore_support,
)

from ecoc.errors import InvalidInputError
from ecoc.multiclass.diagnostics import ClassReport, Reliability


def test_figures_are_those_of_scikit_learn():
    generator = np.random.default_rng(0)
    truth = generator.choice(["ant", "bee", "cat", "dog"], size=200, p=[0.5, 0.3, 0.15, 0.05])
    given = np.where(generator.random(200) < 0.6, truth, generator.permutation(truth))
    report = ClassReport.from_predictions(given, truth)
    assert report.classes == ("ant", "bee", "cat", "dog")
    assert np.array_equal(report.counts, confusion_matrix(truth, given))
    precision, recall, _, support = precision_recall_fscore_support(truth, given)
    assert report.precision == pytest.approx(precision)
    assert report.recall == pytest.approx(recall)
    assert np.array_equal(report.support, support)
    assert report.accuracy == pytest.approx(accuracy_score(truth, given))
    assert report.balanced_accuracy == pytest.approx(balanced_accuracy_score(truth, given))
    counts = [count for _, _, count in report.confusions(100)]
    assert counts == sorted(counts, reverse=True)
    assert sum(counts) == np.sum(given != truth)


def test_classes_that_are_not_held_out_or_never_given():
    report = ClassReport.from_predictions([1, 1, 2], [1, 2, 9], classes=[1, 2, 3])
    assert report.classes == ("1", "2", "3", "9")
    assert report.table()[1:] == [
        ("1", "1", "50.0 %", "100.0 %"),
        ("2", "1", "0.0 %", "0.0 %"),
        ("3", "0", "none", "none"),
        ("9", "1", "none", "0.0 %"),
    ]
    assert report.to_plain()["recall"] == [1.0, 0.0, None, 0.0]
    assert report.balanced_accuracy == pytest.approx(1 / 3)
    assert report.confusions() == [("2", "1", 1), ("9", "2", 1)]


@pytest.mark.parametrize(("given", "truth"), [([1], [1, 2]), ([], []), ([[1]], [[1]])])
def test_predictions_that_cannot_be_counted(given, truth):
    with pytest.raises(InvalidInputError, match="of one length"):
        ClassReport.from_predictions(given, truth)


def test_probabilities_that_say_what_is_so_are_hardly_off():
    generator = np.random.default_rng(1)
    shares = generator.dirichlet([0.5, 0.5, 0.5], size=20_000)
    drawn = generator.random(20_000)[:, None]
    targets = (shares.cumsum(axis=1) < drawn).sum(axis=1).clip(max=2)
    found = Reliability.from_probabilities(shares, targets)
    assert found.expected_calibration_error < 0.02
    assert found.log_loss == pytest.approx(log_loss(targets, shares), rel=1e-6)
    assert found.counts.sum() == 20_000
    # The highest of three is never below a third.
    assert found.counts[:3].tolist() == [0, 0, 0]
    assert np.isnan(found.confidence[:3]).all()
    sharpened = shares**4 / (shares**4).sum(axis=1, keepdims=True)
    assert Reliability.from_probabilities(sharpened, targets).expected_calibration_error > 0.1


def test_expected_calibration_error_by_hand():
    shares = np.array([[0.95, 0.05], [0.92, 0.08], [0.4, 0.6], [0.35, 0.65]])
    found = Reliability.from_probabilities(shares, [0, 1, 1, 1])
    # In (0.9, 1]: 0.935 and a half; at 0.6, in (0.5, 0.6], and in (0.6, 0.7] alone: right.
    expected = (2 * abs(0.935 - 0.5) + abs(0.6 - 1) + abs(0.65 - 1)) / 4
    assert found.expected_calibration_error == pytest.approx(expected)
    assert found.to_plain()["counts"] == [0, 0, 0, 0, 0, 1, 1, 0, 0, 2]
    assert found.to_plain()["accuracy"][0] is None


def test_a_class_without_probability_counts_as_wrong():
    found = Reliability.from_probabilities([[0.9, 0.1]], [-1])
    assert found.accuracy[8] == 0
    assert np.isfinite(found.log_loss)


@pytest.mark.parametrize("targets", [[0], [0, 1, 2]])
def test_probabilities_without_their_targets(targets):
    with pytest.raises(InvalidInputError, match="a row for each"):
        Reliability.from_probabilities([[0.5, 0.5], [0.5, 0.5]], targets)


def test_drawings():
    report = ClassReport.from_predictions(["$a", "b", "b"], ["$a", "$a", "b"])
    (axes, _) = report.plot().axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["$a", "b"]
    assert sorted(text.get_text() for text in axes.texts) == ["1", "1", "1"]
    found = Reliability.from_probabilities([[0.9, 0.1], [0.2, 0.8]], [0, 0])
    (axes,) = found.plot().axes
    assert "points off" in axes.get_title()
    assert axes.lines[1].get_xdata().tolist() == pytest.approx([0.8, 0.9])
