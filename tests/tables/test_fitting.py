# ruff: noqa: N803, N806  # X is what scikit-learn calls it
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier
from tests.multiclass.cases import blobs

from ecoc.codes import balanced_random, one_vs_one, write_codebook
from ecoc.errors import InvalidInputError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.diagnostics import Splits, column_errors
from ecoc.tables.fitting import fit_table
from ecoc.tables.reading import Table

pytestmark = pytest.mark.usefixtures("few_trees")


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
    baselines = ("plain tree", "forest")
    assert found.comparison.names == ("optimal", "one-vs-rest", "one-vs-one", *baselines)
    assert steps == [(i, 16) for i in range(1, 17)]
    assert found.comparison.accuracies.shape == (5, 3)
    assert found.class_sizes == {str(i): 20 for i in range(5)}
    assert found.n_rows == 100
    assert found.model.predict(five).accuracy == 1
    assert found.accuracy == found.comparison.means[0] < 1
    assert "optimal code, because Dec" in found.facts["Chosen"]
    assert found.to_plain()["comparison"][0]["name"] == "optimal"


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
    found = fit_table(five, "kind", learner="logistic", holdout=0.2)
    assert found.comparison.names == ("one-vs-one", "one-vs-rest", "plain logistic", "forest")
    path = tmp_path / "mine.json"
    write_codebook(one_vs_one(5).take_rows([4, 3, 2, 1, 0]), path)
    found = fit_table(five, "kind", learner="kernel-ridge", holdout=0.2, codebook=str(path))
    assert found.comparison.names == ("one-vs-one", "one-vs-rest", "forest")


def test_codebooks_of_symbols_are_compared_and_diagnosed(five, tmp_path):
    path = tmp_path / "mine.json"
    code = balanced_random(5, 6, n_symbols=3, random_state=0)
    write_codebook(code, path)
    found = fit_table(five, "kind", learner="tree", n_folds=2, codebook=str(path))
    assert found.comparison.names[:3] == ("mine.json", "one-vs-rest", "one-vs-one")
    assert found.model.classifier.codebook_.n_symbols == 3
    assert found.held_out.errors.n_samples.tolist() == [100] * 6
    assert np.array_equal(found.held_out.confusion.distances, code.row_distances())
    assert found.held_out.usefulness.accuracy == pytest.approx(found.accuracy)


def test_two_classes_have_one_code():
    found = fit_table(table_of(*blobs(n_classes=2)), "kind", learner="forest", holdout=0.3)
    assert found.comparison.names == ("one-vs-rest", "forest")
    assert np.isnan(found.held_out.usefulness.without).all()


def test_a_code_that_depends_on_the_data_is_not_diagnosed():
    table = table_of(*blobs(n_classes=5, per_class=4, spread=4.0))
    found = fit_table(
        table, "kind", learner="naive-bayes", n_folds=2, codebook="similarity", n_columns=6
    )
    assert found.held_out.errors is None
    assert found.held_out.report.accuracy == pytest.approx(found.accuracy)
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
        ({"n_folds": 21}, "the largest has 20"),
        ({"holdout": 0.2, "validate": False}, "Only one of holdout"),
        ({"holdout": 1.5}, "above 0 and below 1"),
        ({"learner": "oracle"}, "learner must be one of"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            fit_table(five, "kind", progress=steps.append, **options)
    assert steps == []


@pytest.mark.parametrize("library", [pd, pl])
def test_data_frames_are_tables_too(library):
    X, y = blobs(n_classes=5, per_class=20, spread=1.5)
    frame = library.DataFrame({"p": X[:, 0], "q": X[:, 1], "kind": y})
    model = fit_table(frame, "kind", learner="tree", validate=False).model
    assert model.predict(frame).accuracy == 1
    assert model.encode(frame).X.tolist() == X[:, :2].tolist()
    with pytest.raises(InvalidInputError, match="table must be a Table"):
        fit_table(X, "kind")


def test_without_validation_nothing_is_held_out(five):
    steps = []
    options = {"learner": "tree", "validate": False, "progress": lambda *step: steps.append(step)}
    found = fit_table(five, "kind", **options)
    assert found.comparison is None
    assert found.held_out is None
    assert found.accuracy is None
    assert found.facts["Validation"] == "none"
    assert found.to_plain()["comparison"] == []
    assert repr(found) == "<TableFit 'data.csv': not validated>"
    assert steps == [(1, 1)]
    validated = fit_table(five, "kind", learner="tree", holdout=0.2)
    assert np.array_equal(found.model.predict(five).labels, validated.model.predict(five).labels)


def test_classes_of_one_row_each_are_trained_without_validation():
    table = table_of(np.eye(3), ["a", "b", "c"])
    with pytest.raises(InvalidInputError, match="--no-validation"):
        fit_table(table, "kind", learner="tree")
    fitted = fit_table(table, "kind", learner="tree", validate=False)
    with pytest.raises(InvalidInputError, match="that was validated only"):
        fitted.to_latex()
    model = fitted.model
    assert model.predict(table).accuracy == 1


def test_a_share_of_the_rows_is_held_out_once(five):
    found = fit_table(five, "kind", learner="tree", holdout=0.25, random_state=3)
    assert found.facts["Validation"] == "25 rows held out (25 %)"
    assert found.comparison.accuracies.shape == (5, 1)
    assert found.held_out.report.support.tolist() == [5] * 5
    assert found.held_out.report.accuracy == pytest.approx(found.accuracy)
    # The model itself has seen all rows.
    assert found.model.predict(five).accuracy == 1


def test_another_table_to_validate_on():
    X, y = blobs(n_classes=4, per_class=30, spread=2.0)
    names = np.array(["ant", "bee", "cat", "dog"])[y]
    train, test = table_of(X[:80], names[:80]), table_of(X[80:], names[80:])
    found = fit_table(train, "kind", learner="tree", test=test)
    assert found.n_rows == 80
    assert found.comparison.splits.text == "40 rows of data.csv"
    assert found.accuracy == pytest.approx(found.model.predict(test).accuracy)
    assert found.held_out.report.counts.sum() == 40
    unknown = Table(test.names, (*test.rows[1:], (*test.rows[0][:-1], "eel")), test.lines, "b.csv")
    found = fit_table(train, "kind", learner="tree", test=unknown)
    assert found.held_out.report.classes == ("ant", "bee", "cat", "dog", "eel")
    assert found.held_out.report.recall[-1] == 0
    assert found.accuracy == pytest.approx(found.model.predict(unknown).accuracy)
    assert "b.csv: no row to train on has eel, so it counts wrong" in found.notes
    with pytest.raises(InvalidInputError, match="target must be a column of b"):
        fit_table(train, "kind", test=Table(("x0",), (("1",),), (2,), "b.csv"))


def test_tuning_takes_no_part_of_the_rows_that_are_held_out():
    X, y = blobs(n_classes=3, per_class=12, spread=3.0)
    options = {"learner": "tree", "codebook": "one-vs-rest", "n_folds": 2}
    found = fit_table(table_of(X, y), "kind", tune=True, **options)
    assert set(found.settings) == {"min_samples_leaf"}
    leaves = (1, 2, 5, 10)

    def model(leaf):
        tree = DecisionTreeClassifier(min_samples_leaf=leaf)
        return ECOCClassifier(tree, codebook="one-vs-rest", random_state=0)

    def best(rows):
        parts = [(rows[a], rows[b]) for a, b in Splits.folds(y[rows], 3, random_state=0).parts]
        scores = [
            np.mean([model(leaf).fit(X[a], y[a]).score(X[b], y[b]) for a, b in parts])
            for leaf in leaves
        ]
        return leaves[int(np.argmax(scores))]

    for accuracy, (train, test) in zip(
        found.comparison.accuracies[0], Splits.folds(y, 2, random_state=0).parts, strict=True
    ):
        assert accuracy == model(best(train)).fit(X[train], y[train]).score(X[test], y[test])
    assert found.settings["min_samples_leaf"] == best(np.arange(36))
    assert found.facts["Tuned"].startswith(f"min_samples_leaf {best(np.arange(36))}, on 3 folds")
    assert "tuned on what is trained on alone" in found.facts["Validation"]


def test_what_is_given_is_not_tuned():
    table = table_of(*blobs(n_classes=3, per_class=8))
    found = fit_table(table, "kind", learner="logistic", C=3.0, tune=True, validate=False)
    assert found.settings == {}
    assert found.model.classifier.estimator.C == 3.0


def test_a_class_of_one_row_is_tuned_around():
    X, y = blobs(n_classes=3, per_class=6)
    table = table_of(np.vstack([X, [[9.0] * 4]]), [*y.tolist(), 7])
    found = fit_table(table, "kind", learner="naive-bayes", tune=True, validate=False)
    assert 7 in found.model.classifier.classes_
    with pytest.raises(InvalidInputError, match="leave out tune"):
        fit_table(table_of(np.eye(2), "ab"), "kind", learner="tree", tune=True, validate=False)


def test_what_does_better_is_said():
    # A parity of two features: no line tells the classes apart, a forest does.
    generator = np.random.default_rng(0)
    X = generator.normal(size=(120, 2))
    y = (X[:, 0] > 0) ^ (X[:, 1] > 0)
    found = fit_table(table_of(X, y.astype(int)), "kind", learner="logistic", n_folds=3)
    assert found.hints == (
        "forest is better than one-vs-rest here; try --learner forest or hist-boosting",
    )
    assert found.to_plain()["hints"] == list(found.hints)


@pytest.mark.parametrize("learner", ["hist-boosting", "lightgbm", "xgboost"])
def test_boosting_takes_gaps_as_they_are(learner):
    X, y = blobs(n_classes=3, per_class=30, spread=0.8)
    X[::3, 0] = np.nan
    found = fit_table(table_of(X, y), "kind", learner=learner, codebook="one-vs-one", holdout=0.3)
    assert [name for name, _ in found.model.pipeline.steps] == ["ecoc"]
    assert found.comparison.names == ("one-vs-one", "one-vs-rest", f"plain {learner}", "forest")
    assert found.comparison.means.min() > 0.8
    assert found.held_out.reliability.counts.sum() == 27


def test_page_figures_in_short_form(five):
    found = fit_table(five, "kind", learner="tree", holdout=0.3)
    report, facts = found.held_out.report, found.facts
    assert f"{100 * report.balanced_accuracy:.2f} % in the mean of the classes" in facts["Held out"]
    assert facts["Probabilities"].startswith(
        f"{100 * found.held_out.reliability.expected_calibration_error:.1f} points off"
    )
    a, b, count = report.confusions(1)[0]
    assert facts["Confused"].startswith(f"{a} as {b} ({count})")
    plain = found.to_plain()
    assert plain["held_out"]["confusion"] == report.counts.tolist()
    assert plain["reliability"]["counts"] == found.held_out.reliability.counts.tolist()
    without = fit_table(five, "kind", learner="svm", holdout=0.3)
    assert "--calibration sigmoid" in without.facts["Probabilities"]
    assert without.to_plain()["reliability"] is None
