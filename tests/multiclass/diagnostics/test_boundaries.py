# ruff: noqa: N806  # X is what scikit-learn calls it
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.multiclass.cases import blobs

from ecoc.errors import InvalidInputError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.diagnostics.boundaries import decision_boundaries


@pytest.fixture(scope="module")
def data():
    return blobs(n_classes=4, n_features=2)


def test_the_grid_has_the_predictions(data):
    X, y = data
    labels = np.array(list("abcd"))[y]
    classifier = ECOCClassifier(LogisticRegression(), codebook="one-vs-rest")
    model = make_pipeline(StandardScaler(), classifier).fit(X, labels)
    found = decision_boundaries(model, X, labels, resolution=7, margin=0.5)
    for i, j in np.ndindex(7, 7):
        point = [[found.x[j], found.y[i]]]
        assert model.predict(point)[0] == found.classes[found.regions[i, j]]
        expected = model[-1].column_scores(model[:-1].transform(point))[0]
        assert found.column_scores[i, j] == pytest.approx(expected)
    low, high = X.min(axis=0), X.max(axis=0)
    assert found.x[[0, -1]] == pytest.approx(
        [1.5 * low[0] - 0.5 * high[0], 1.5 * high[0] - 0.5 * low[0]]
    )
    assert np.array_equal(found.targets, y)


def test_data_frames_keep_their_names(data):
    X, y = data
    frame = pd.DataFrame(X, columns=["length", "width"])
    model = ECOCClassifier(LogisticRegression(), codebook="one-vs-rest").fit(frame, y)
    found = decision_boundaries(model, frame, y, resolution=3)
    assert found.names == ("length", "width")
    assert repr(found) == "<DecisionBoundaries: 4 classes, 4 columns, 3 x 3 points>"


def test_two_features_are_needed(data):
    X, y = data
    model = ECOCClassifier(LogisticRegression(), codebook="one-vs-rest").fit(X, y)
    with pytest.raises(InvalidInputError, match=r"two features to be drawn, not shape \(120, 1\)"):
        decision_boundaries(model, X[:, :1], y)
    with pytest.raises(InvalidInputError, match="resolution"):
        decision_boundaries(model, X, y, resolution=1)


def test_regions_of_symbols():
    X, y = blobs(6, n_features=2, per_class=15)
    model = ECOCClassifier(GaussianNB(), n_symbols=3, n_columns=6, random_state=0).fit(X, y)
    found = decision_boundaries(model, X, y, resolution=12)
    assert found.column_scores.shape == (12, 12, 6, 3)
    figure = found.plot_columns()
    drawn = figure.axes[2].collections[0].get_array()
    assert np.array_equal(np.reshape(drawn, (12, 12)), found.column_scores[:, :, 2].argmax(axis=2))
    assert len(figure.axes[2].lines) == 3
