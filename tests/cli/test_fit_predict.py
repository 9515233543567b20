"""Predicting from the command line, in this process."""

import csv
import io
import json

import numpy as np
import pytest
import skops.io
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from tests.multiclass.cases import blobs

from ecoc.cli import main
from ecoc.multiclass import ECOCClassifier

X, y = blobs(n_classes=3, n_features=2, per_class=10, spread=1.0)
LABELS = ["ant", "bee", "cat"]


def ecoc(*arguments, expect=0, stdin=None):
    result = CliRunner().invoke(main, list(map(str, arguments)), input=stdin)
    assert result.exit_code == expect, result.output
    assert "Traceback" not in result.stderr
    return result


def written(path, names, columns):
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(names)
        writer.writerows(zip(*columns, strict=True))
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    data = written(folder / "data.csv", ["a", "b", "kind"], [*X.T, [LABELS[i] for i in y]])
    ecoc(
        *("fit", data, "-t", "kind", "--learner", "logistic", "--codebook", "one-vs-rest"),
        *("--folds", 2, "-o", folder / "model.skops", "-q"),
    )
    return folder


def test_predictions_go_to_stdout(trained):
    result = ecoc("predict", trained / "model.skops", trained / "data.csv")
    lines = result.stdout.splitlines()
    assert lines[0] == "prediction"
    assert len(lines) == 31
    right = np.mean([LABELS[i] == line for i, line in zip(y, lines[1:], strict=True)])
    assert result.stderr == f"accuracy {right:.4f} on 30 rows\n"


def test_margins_and_probabilities(trained, tmp_path):
    output = tmp_path / "out.csv"
    result = ecoc(
        *("predict", trained / "model.skops", trained / "data.csv", "--proba", "--margin"),
        *("-o", output, "-q"),
    )
    assert result.output == ""
    rows = list(csv.DictReader(io.StringIO(output.read_text())))
    assert list(rows[0]) == ["prediction", "margin", "p(ant)", "p(bee)", "p(cat)"]
    for row in rows:
        assert sum(float(row[f"p({label})"]) for label in LABELS) == pytest.approx(1)
        assert int(row["margin"]) >= 0


def test_columns_may_come_in_any_order_and_from_a_pipe(trained, tmp_path):
    whole = ecoc("predict", trained / "model.skops", trained / "data.csv").stdout
    turned = written(tmp_path / "turned.csv", ["note", "b", "a"], [["n"] * 30, X[:, 1], X[:, 0]])
    result = ecoc("predict", trained / "model.skops", "-", stdin=turned.read_text())
    assert result.stdout == whole
    assert result.stderr == ""


def test_predictions_for_machines(trained):
    found = json.loads(
        ecoc("predict", trained / "model.skops", trained / "data.csv", "--margin", "--json").stdout
    )
    assert found["classes"] == LABELS
    assert len(found["predictions"]) == len(found["margins"]) == 30
    assert found["probabilities"] is None
    right = [LABELS[i] == label for i, label in zip(y, found["predictions"], strict=True)]
    assert found["accuracy"] == pytest.approx(np.mean(right))


def test_what_cannot_be_predicted(trained, tmp_path):
    model, data = trained / "model.skops", trained / "data.csv"
    short = written(tmp_path / "short.csv", ["b", "c"], [X[:, 1], X[:, 1]])
    assert "note: the column a of the model is missing" in ecoc("predict", model, short).stderr
    other = written(tmp_path / "other.csv", ["c"], [X[:, 1]])
    assert "'a', 'b' are not among 'c'" in ecoc("predict", model, other, expect=1).stderr
    assert "cannot be read" in ecoc("predict", tmp_path / "no.skops", data, expect=1).stderr
    assert "not a model file" in ecoc("predict", data, data, expect=1).stderr
    strange = tmp_path / "strange.skops"
    classifier = ECOCClassifier(LogisticRegression(), codebook="one-vs-rest").fit(X, y)
    classifier.surprise = CliRunner
    skops.io.dump(classifier, strange)
    refused = ecoc("predict", strange, data, expect=1).stderr
    assert "not trusted: click.testing.CliRunner. It was not loaded." in refused
    nameless = tmp_path / "nameless.skops"
    skops.io.dump(ECOCClassifier(SVC()).fit(X, y), nameless)
    assert "names of its features" in ecoc("predict", nameless, data, expect=1).stderr
