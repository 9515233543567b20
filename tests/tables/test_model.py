import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from tests.multiclass.cases import blobs

from ecoc.errors import InvalidInputError
from ecoc.multiclass import ECOCClassifier
from ecoc.tables.features import Feature
from ecoc.tables.model import TableModel
from ecoc.tables.reading import Table

X, y = blobs(n_classes=3, n_features=2, per_class=10)
LABELS = np.array(["ant", "bee", "cat"])[y]


def table(names, columns):
    rows = tuple(zip(*(map(str, column) for column in columns), strict=True))
    return Table(tuple(names), rows, tuple(range(2, len(rows) + 2)), "data.csv")


@pytest.fixture(scope="module")
def model():
    classifier = ECOCClassifier(LogisticRegression(), codebook="one-vs-rest")
    pipeline = make_pipeline(StandardScaler(), classifier).fit(X, LABELS)
    return TableModel(pipeline, (Feature("a"), Feature("b")), "kind")


def test_predictions_are_those_of_the_pipeline(model):
    found = model.predict(table("xba", [LABELS, X[:, 1], X[:, 0]]), proba=True, margin=True)
    assert np.array_equal(found.labels, model.pipeline.predict(X))
    assert found.probabilities == pytest.approx(model.pipeline.predict_proba(X))
    scaled = model.pipeline[:-1].transform(X)
    assert np.array_equal(found.margins, model.classifier.margin(scaled))
    assert found.accuracy is None
    assert found.header == ["prediction", "margin", "p(ant)", "p(bee)", "p(cat)"]
    assert next(found.rows())[:2] == [found.labels[0], found.margins[0]]
    assert found.to_plain()["predictions"] == found.labels.tolist()


def test_accuracy_where_the_classes_are_known(model):
    found = model.predict(table(["a", "b", "kind"], [*X.T, LABELS]))
    assert found.accuracy == pytest.approx(model.pipeline.score(X, LABELS))
    assert found.header == ["prediction"]
    assert model.predict(table(["a", "b", "kind"], [*X.T, [""] * 30])).accuracy is None


def test_a_model_trained_on_a_frame_knows_its_columns():
    frame = pd.DataFrame(X, columns=["a", "b"])
    plain = ECOCClassifier(LogisticRegression(), codebook="one-vs-rest").fit(frame, LABELS)
    model = TableModel.of(plain)
    found = model.predict(table("ba", [X[:, 1], X[:, 0]]))
    assert np.array_equal(found.labels, plain.predict(frame))
    assert TableModel.of(model) is model
    assert repr(model) == "<TableModel: class from a, b>"


def test_what_a_model_cannot_say(model):
    with pytest.raises(InvalidInputError, match="does not know the names"):
        TableModel.of(ECOCClassifier(SVC()).fit(X, LABELS))
    with pytest.raises(InvalidInputError, match="the 2 numbers that the classifier takes, not 3"):
        TableModel(model.pipeline, (Feature("a"), Feature("b", ("u", "v"))))
    silent = TableModel(ECOCClassifier(SVC()).fit(X, LABELS), model.features)
    with pytest.raises(InvalidInputError, match="no probabilities"):
        silent.predict(table("ab", X.T), proba=True)
