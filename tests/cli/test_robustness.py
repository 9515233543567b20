"""Attacking and certifying from the command line, in this process."""

import csv
import json
from typing import get_args

import numpy as np
import pytest
from tests.cli.shell import ecoc
from tests.latex_reader import read_tables
from tests.multiclass.cases import blobs

from ecoc.cli.robustness import certify
from ecoc.nn import ECOCNetworkClassifier
from ecoc.robustness import AdversarialExamples
from ecoc.robustness.certificates.certify import BoundMethod, CertifiedDecoding

X, y = blobs(n_classes=3, n_features=2, per_class=12, spread=1.0)
X = (X - X.min()) / (X.max() - X.min())
LABELS = np.array(["ant", "bee", "cat"])[y]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    with (folder / "data.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["length", "width", "kind"])
        writer.writerows([*values, label] for values, label in zip(X.tolist(), LABELS, strict=True))
    ecoc(
        *("fit", folder / "data.csv", "-t", "kind", "--learner", "logistic", "--folds", 2),
        *("-o", folder / "table.skops"),
    )
    network = ECOCNetworkClassifier(architecture="mlp", epochs=3, random_state=0)
    network.fit(X.astype(np.float32), LABELS).save(folder / "network.safetensors")
    np.savez(folder / "data.npz", X=X, y=LABELS)
    return folder


def test_a_table_model_is_attacked(folder):
    page = folder / "attack.html"
    arguments = ["attack", folder / "table.skops", "--data", folder / "data.csv", "--eps", "3,0.01"]
    result = ecoc(*arguments, "--samples", 8, "--report", page)
    assert "standard deviations" in result.stdout
    assert "Robustness under attack" in page.read_text()
    found = json.loads(ecoc(*arguments, "--samples", 8, "--json").stdout)
    assert found["epsilons"] == [0.01, 3.0]
    assert found["attacked"][1] == 0
    assert all(c <= a for c, a in zip(found["certified"], found["attacked"], strict=True))


def test_the_points_that_broke_samples_are_saved(folder):
    path = folder / "examples.npz"
    arguments = ["attack", folder / "table.skops", "--data", folder / "data.csv", "--eps", "3"]
    result = ecoc(*arguments, "--samples", 8, "--no-certificates", "--examples", path)
    assert "examples.npz: 8 points" in result.stderr
    examples = AdversarialExamples.load(path)
    assert len(examples) == 8
    assert set(examples.labels) <= set(LABELS)


def test_other_threats_have_no_certificates(folder):
    arguments = ["attack", folder / "network.safetensors", "--data", folder / "data.npz"]
    result = ecoc(*arguments, "--eps", "1,2", "--norm", "l0", "--samples", 4)
    assert "strong protocol, l0" in result.stdout
    assert "no certificates for norm='l0'" in result.stderr
    result = ecoc(*arguments, "--eps", "1", "--norm", "patch", expect=1)
    assert "needs images" in result.stderr
    result = ecoc(*arguments, "--eps", "1", "--norm", "rian", expect=1)
    assert "norm must be one of" in result.stderr


def test_a_table_model_is_certified(folder):
    page = folder / "certificate.html"
    result = ecoc(
        *("certify", folder / "table.skops", "--data", folder / "data.csv", "--eps", "0.01,9"),
        *("--samples", 10, "--report", page),
    )
    assert "linear bounds" in result.stdout
    assert "does not change the decision" in page.read_text()


@pytest.mark.parametrize(("verb", "about"), [("attack", "strong"), ("certify", "does not change")])
def test_results_go_into_a_paper(folder, verb, about):
    options = [verb, folder / "table.skops", "--data", folder / "data.csv", "--eps", "0.01,3"]
    shown = ecoc(*options, "--samples", 8, "--format", "latex").stdout
    (table,) = read_tables(shown)
    assert [line[0] for line in table] == ["ε", "0", "0.01", "3"]
    comments = [line for line in shown.splitlines() if line.startswith("% ")]
    assert about in comments[3]
    found = json.loads(ecoc(*options, "--samples", 8, "--format", "json").stdout)
    last = found["attacked"] if verb == "attack" else found["certified_accuracy"]
    assert table[-1][1] == f"{100 * last[-1]:.1f} %"


def test_a_network_is_certified_and_attacked(folder):
    model, data = folder / "network.safetensors", folder / "data.npz"
    certified = json.loads(
        ecoc("certify", model, "--data", data, "--eps", "0.001,0.5", "--json").stdout
    )
    assert certified["method"] in {"crown", "ibp"}
    attacked = json.loads(
        ecoc(
            *("attack", model, "--data", data, "--eps", "0.001,0.5", "--samples", 6),
            *("--protocol", "paper", "--no-certificates", "--json"),
        ).stdout
    )
    assert attacked["certified"] is None
    assert attacked["protocol"] == "paper"


@pytest.mark.parametrize(
    ("model", "data", "message"),
    [
        ("data.csv", "data.csv", "must be a .skops file"),
        ("network.safetensors", "missing.npz", "neither the name of a data set nor an NPZ file"),
        ("network.safetensors", "digits", "must have the 2 values"),
        ("table.skops", "other.csv", "must be a column of"),
    ],
)
def test_errors(folder, model, data, message):
    (folder / "other.csv").write_text("length,width\n1,2\n")
    source = data if data == "digits" else folder / data
    result = ecoc("certify", folder / model, "--data", source, "--eps", "0.1", expect=1)
    assert message in result.stderr


def fitted(folder, *options):
    model = folder / "other.skops"
    options = ("--learner", "tree", "--no-validation", "-o", model, *options)
    ecoc("fit", folder / "data.csv", "-t", "kind", *options)
    return [model, "--data", folder / "data.csv", "--eps", "0.1", "--samples", 6]


def test_what_cannot_be_attacked_is_said_once(folder):
    result = ecoc("attack", *fitted(folder, "--decoding", "self-healing"), expect=1)
    assert result.stderr.count("decides about samples together") == 1


def test_columns_of_several_symbols_are_attacked_by_their_answers(folder):
    arguments = fitted(folder, "--symbols", 3)
    result = ecoc("attack", *arguments)
    assert "no certificates: A certificate takes codebooks of two symbols" in result.stderr
    assert "Columns of 3 symbols are asked for their answers alone" in result.stdout
    result = ecoc("certify", *arguments, expect=1)
    assert "Train the model with n_symbols=2" in result.stderr


def test_bad_samples_are_no_reason_to_go_without_certificates(folder):
    np.savez(folder / "wild.npz", X=np.full((3, 2), 99.0), y=np.array([0, 1, 2]))
    model, data = folder / "network.safetensors", folder / "wild.npz"
    result = ecoc("attack", model, "--data", data, "--eps", "0.1", expect=1)
    assert "must lie in the box" in result.stderr
    assert "no certificates" not in result.stderr


def test_radii_must_be_numbers(folder):
    result = ecoc(
        "certify", folder / "table.skops", "--data", folder / "data.csv", "--eps", "a", expect=2
    )
    assert "numbers with commas" in result.stderr


@pytest.mark.parametrize("radii", ["-1", "0.1,nan", "inf"])
@pytest.mark.parametrize("verb", ["attack", "certify"])
def test_impossible_radii_are_refused_before_any_work(folder, verb, radii):
    result = ecoc(verb, folder / "table.skops", "--data", "none", f"--eps={radii}", expect=2)
    assert "radii are finite and not below 0" in result.stderr


def test_a_report_must_be_a_page(folder):
    result = ecoc(
        *("attack", folder / "table.skops", "--data", folder / "data.csv", "--eps", "0.1"),
        *("--report", "x.pdf"),
        expect=2,
    )
    assert "must end in .html" in result.stderr


@pytest.mark.parametrize(
    ("option", "choices"), [("method", BoundMethod), ("decoding", CertifiedDecoding)]
)
def test_the_choices_of_certify_are_those_of_the_library(option, choices):
    (found,) = [parameter for parameter in certify.params if parameter.name == option]
    assert list(found.type.choices) == list(get_args(choices))
