# ruff: noqa: N803, N806  # X is what scikit-learn calls it
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_digits
from tests.multiclass.cases import blobs

from ecoc.codes import balanced_random, one_vs_one, write_codebook
from ecoc.errors import InvalidInputError
from ecoc.multiclass.diagnostics import column_errors
from ecoc.tables.fitting import fit_table
from ecoc.tables.reading import Table


def table_of(X, labels, extra=None):
    names = [f"x{i}" for i in range(X.shape[1])] + ([] if extra is None else ["extra"])
    rows = []
    for i, (x, label) in enumerate(zip(X.tolist(), labels, strict=True)):
        cells = [repr(value) for value in x] + ([] if extra is None else [extra[i]])
        rows.append((*cells, str(label)))
    return Table((*names, "kind"), tuple(rows), tuple(range(2, len(rows) + 2)), "data.csv")


@pytest.fixture(scope="module")
def five():
    return table_of(*blobs(n_classes=5, per_class=20, spread=1.5))


def test_the_chosen_code_beside_the_usual_ones(five):
    steps = []
    found = fit_table(five, "kind", learner="tree", n_folds=3, progress=lambda *s: steps.append(s))
    assert found.comparison.names == ("optimal", "one-vs-rest", "one-vs-one")
    assert steps == [(i, 10) for i in range(1, 11)]
    assert found.comparison.accuracies.shape == (3, 3)
    assert found.class_sizes == {str(i): 20 for i in range(5)}
    assert found.n_rows == 100
    assert found.model.predict(five).accuracy == 1
    assert found.accuracy == found.comparison.means[0] < 1
    assert "optimal code, because Dec" in found.facts["Chosen"]
    assert found.to_plain()["comparison"][0]["codebook"] == "optimal"


def test_the_same_seed_gives_the_same_result(five):
    options = {"learner": "tree", "codebook": "dense-random", "n_folds": 2, "random_state": 5}
    first, second = (fit_table(five, "kind", **options) for _ in range(2))
    assert np.array_equal(first.comparison.accuracies, second.comparison.accuracies)
    assert np.array_equal(first.held_out.errors.rates, second.held_out.errors.rates)


def test_diagnostics_are_of_rows_that_were_held_out():
    # Labels without any relation to the features: a tree knows those it was trained on alone.
    generator = np.random.default_rng(0)
    X, y = generator.normal(size=(120, 3)), np.arange(120) % 4
    found = fit_table(table_of(X, y), "kind", learner="tree", codebook="one-vs-rest")
    assert column_errors(found.model.pipeline, X, y).rates.max() == 0
    assert found.held_out.errors.rates.min() > 0.2
    assert found.held_out.errors.n_samples.tolist() == [120] * 4
    right = np.diag(found.held_out.confusion.rates).mean()
    assert right == pytest.approx(found.accuracy)
    assert found.held_out.usefulness.accuracy == pytest.approx(found.accuracy)


def test_one_of_the_usual_codes_is_compared_with_the_other(five, tmp_path):
    found = fit_table(five, "kind", learner="logistic", n_folds=2)
    assert found.comparison.names == ("one-vs-one", "one-vs-rest")
    path = tmp_path / "mine.json"
    write_codebook(one_vs_one(5).take_rows([4, 3, 2, 1, 0]), path)
    found = fit_table(five, "kind", learner="naive-bayes", n_folds=2, codebook=str(path))
    assert found.comparison.names == ("one-vs-one", "one-vs-rest")


def test_codebooks_of_symbols_are_compared_and_diagnosed(five, tmp_path):
    path = tmp_path / "mine.json"
    code = balanced_random(5, 6, n_symbols=3, random_state=0)
    write_codebook(code, path)
    found = fit_table(five, "kind", learner="tree", n_folds=2, codebook=str(path))
    assert found.comparison.names == ("mine.json", "one-vs-rest", "one-vs-one")
    assert found.model.classifier.codebook_.n_symbols == 3
    assert found.held_out.errors.n_samples.tolist() == [100] * 6
    assert np.array_equal(found.held_out.confusion.distances, code.row_distances())
    assert found.held_out.usefulness.accuracy == pytest.approx(found.accuracy)


def test_two_classes_have_one_code():
    found = fit_table(table_of(*blobs(n_classes=2)), "kind", learner="tree", n_folds=2)
    assert found.comparison.names == ("one-vs-rest",)
    assert np.isnan(found.held_out.usefulness.without).all()


def test_a_code_that_depends_on_the_data_is_not_diagnosed():
    table = table_of(*blobs(n_classes=5, per_class=4, spread=4.0))
    found = fit_table(
        table, "kind", learner="naive-bayes", n_folds=2, codebook="similarity", n_columns=6
    )
    assert found.held_out is None
    assert found.comparison.names[0] == "similarity"


def test_learned_decoders_have_no_usefulness(five):
    found = fit_table(five, "kind", learner="naive-bayes", n_folds=2, decoding="learned")
    assert found.held_out.usefulness is None
    assert found.held_out.errors.rates.shape == (10,)


def test_missing_numbers_and_texts():
    X, y = blobs(n_classes=3)
    extra = ["?" if i % 9 == 0 else "uvw"[label] for i, label in enumerate(y)]
    X[::7, 1] = np.nan
    table = table_of(X, y, extra)
    found = fit_table(table, "kind", n_folds=2)
    assert found.model.pipeline.n_features_in_ == 7
    assert found.accuracy > 0.9


def test_scaling_is_learned_from_the_training_part():
    X, y = load_digits(n_class=3, return_X_y=True)
    found = fit_table(table_of(X[:150] * 1e6, y[:150]), "kind", n_folds=2)
    assert [name for name, _ in found.model.pipeline.steps] == ["impute", "scale", "ecoc"]
    assert found.accuracy > 0.95


def test_requests_that_cannot_work_stop_at_once(five):
    steps = []
    for options, message in (
        ({"codebook": "optimum"}, "codebook must be one of"),
        ({"codebook": [[1], [-1]]}, "row for each class"),
        ({"decoding": "none"}, "decoding must be one of"),
        ({"n_folds": 21}, "has 20"),
        ({"learner": "oracle"}, "learner must be one of"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            fit_table(five, "kind", progress=steps.append, **options)
    assert steps == []


@pytest.mark.parametrize("library", [pd, pl])
def test_data_frames_are_tables_too(library):
    X, y = blobs(n_classes=5, per_class=20, spread=1.5)
    frame = library.DataFrame({"p": X[:, 0], "q": X[:, 1], "kind": y})
    model = fit_table(frame, "kind", learner="tree", n_folds=2).model
    assert model.predict(frame).accuracy == 1
    assert model.encode(frame).X.tolist() == X[:, :2].tolist()
    with pytest.raises(InvalidInputError, match="table must be a Table"):
        fit_table(X, "kind")
