import numpy as np
from sklearn.datasets import load_iris
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.data import open_pipeline, transformed
from ecoc.multiclass.diagnostics import column_errors

X, Y = load_iris(return_X_y=True)


def test_pipelines_of_pipelines_are_opened():
    last = ECOCClassifier(LogisticRegression(), codebook="one-vs-rest")
    inner = make_pipeline(StandardScaler(), "passthrough", PCA(2))
    model = Pipeline(
        [("first", inner), ("nothing", None), ("rest", make_pipeline(MinMaxScaler(), last))]
    )
    model.fit(X, Y)
    transformers, found = open_pipeline(model)
    assert [type(step).__name__ for step in transformers] == [
        "StandardScaler",
        "PCA",
        "MinMaxScaler",
    ]
    features = model["rest"][0].transform(inner.transform(X))
    assert np.array_equal(transformed(transformers, X), features)
    assert np.array_equal(found.predict(features), model.predict(X))
    # Diagnostics look through all of it.
    alone = column_errors(found, features, Y)
    assert np.array_equal(column_errors(model, X, Y).rates, alone.rates)


def test_other_models_stand_at_their_own_end():
    model = LogisticRegression()
    assert open_pipeline(model) == ([], model)
    assert open_pipeline(make_pipeline(model)) == ([], model)
