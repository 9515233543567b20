# ruff: noqa: N806  # X is what scikit-learn calls it
"""What is drawn is what was counted."""

import sys

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.linear_model import LogisticRegression
from tests.multiclass.cases import blobs

from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.diagnostics import (
    ErrorCorrelation,
    column_errors,
    column_usefulness,
    confusion_by_distance,
    error_correlation,
)
from ecoc.multiclass.diagnostics.boundaries import decision_boundaries
from ecoc.multiclass.diagnostics.comparison import Comparison, Splits


@pytest.fixture(scope="module")
def data():
    X, y = blobs(n_classes=5, n_features=2, spread=1.5)
    model = ECOCClassifier(LogisticRegression(), codebook="one-vs-one").fit(X[:80], y[:80])
    return model, X[80:], y[80:]


def painted(figure):
    """Draw it for real, as saving would."""
    figure.canvas.draw()
    return figure


def test_errors_are_bars(data):
    errors = column_errors(*data)
    axes = painted(errors.plot()).axes[0]
    heights = [bar.get_height() for bar in axes.patches]
    assert heights == pytest.approx(100 * errors.rates)
    assert len(axes.get_legend().get_texts()) == 3


def test_harmful_columns_have_another_colour(data):
    useful = column_usefulness(*data)
    axes = painted(useful.plot()).axes[0]
    assert [bar.get_height() for bar in axes.patches] == pytest.approx(100 * useful.gains)
    colours = {bar.get_height() < 0: bar.get_facecolor() for bar in axes.patches}
    assert len(set(colours.values())) == len(colours)


def test_both_correlations_or_phi_alone(data):
    found = error_correlation(*data)
    both = painted(found.plot())
    images = [axes.images[0].get_array() for axes in both.axes if axes.images]
    assert np.array_equal(np.ma.filled(images[0], np.nan), found.paper, equal_nan=True)
    assert np.array_equal(np.ma.filled(images[1], np.nan), found.phi, equal_nan=True)
    drawing = Figure()
    axes = drawing.subplots()
    assert found.plot(axes) is drawing
    assert np.array_equal(np.ma.filled(axes.images[0].get_array(), np.nan), found.phi, True)
    assert len(found.plot(Figure().subplots(1, 2)).axes) == 4


def test_columns_without_any_pair_are_drawn_too():
    nothing = ErrorCorrelation.from_scores([[np.nan] * 2], [[1, 1], [-1, 1], [1, -1]], [0])
    assert painted(nothing.plot()).axes


def test_confusion_has_a_dot_for_every_pair(data):
    confusion = confusion_by_distance(*data)
    dots, line = painted(confusion.plot()).axes[0].get_lines()
    assert len(dots.get_xdata()) == 20
    assert line.get_ydata() == pytest.approx(100 * confusion.level_rates)


def test_a_comparison_names_its_classifiers():
    accuracies = np.array([[0.5, 0.7], [0.4, 0.8]])
    comparison = Comparison(
        ("$a$", "b"), accuracies, accuracies, accuracies, Splits((), "", 2), accuracies[:, 0]
    )
    axes = painted(comparison.plot()).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["$a$", "b"]


def test_regions_and_columns(data):
    found = decision_boundaries(*data, resolution=20)
    figure = painted(found.plot())
    assert len(figure.axes[0].get_lines()) == 5
    columns = painted(found.plot_columns())
    assert sum(bool(axes.collections) for axes in columns.axes) == 10


@pytest.mark.parametrize("n_classes", [12, 24])
def test_many_classes_have_colours_of_their_own(n_classes):
    X, y = blobs(n_classes=n_classes, n_features=2, per_class=4)
    model = ECOCClassifier(LogisticRegression(), codebook="one-vs-rest").fit(X, y)
    axes = decision_boundaries(model, X, y, resolution=5).plot().axes[0]
    assert len({tuple(line.get_color()) for line in axes.get_lines()}) == n_classes


def test_no_window_is_opened(data):
    column_errors(*data).plot()
    assert (
        "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()
    )
