"""Training from the command line, in the process of the tests."""

import csv
import gzip
import json
import re
import warnings

import click
import pandas as pd
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_wine
from tests.cli.shell import ecoc
from tests.latex_reader import read_tables

from ecoc._workers import ProgressLines
from ecoc.cli.fit import LEARNER_NAMES, told_warnings
from ecoc.multiclass.files import load_model
from ecoc.tables import LEARNERS, installed_learners
from ecoc.tables.learners import TRUSTED_TYPES

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "wine.csv"
    data = load_wine()
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow([*data.feature_names, "cultivar"])
        for row, label in zip(data.data.tolist(), data.target, strict=True):
            writer.writerow([*row, data.target_names[label]])
    return path


def test_the_names_of_learners_are_those_of_the_library():
    assert LEARNERS == LEARNER_NAMES


def test_train_save_and_report(wine, tmp_path):
    result = ecoc(
        *("fit", wine, "-t", "cultivar", "--learner", "tree", "--codebook", "one-vs-one"),
        *("--folds", 3, "-o", tmp_path / "wine.skops", "--report", tmp_path / "wine.html"),
    )
    first = result.stdout.splitlines()
    assert re.search(r"^Data +.*wine.csv: 178 rows, 13 features$", first[0])
    assert re.search(
        r"^one-vs-one +\d\d\.\d\d ± \d\.\d\d % +\d\d\.\d\d % +\d\.\d\d s$",
        result.stdout,
        re.MULTILINE,
    )
    assert re.search(r"^one-vs-rest .* (level|better|worse)$", result.stdout, re.MULTILINE)
    assert result.stderr.splitlines()[-2:] == [
        f"written to {tmp_path / 'wine.skops'}",
        f"written to {tmp_path / 'wine.html'}",
    ]
    model = load_model(tmp_path / "wine.skops")
    assert model.features[0].name == "alcohol"
    assert model.classifier.codebook_.n_columns == 3
    assert (tmp_path / "wine.html").read_text().startswith("<!doctype html>")


def test_training_for_machines(wine):
    result = ecoc(
        *("fit", wine, "-t", "cultivar", "--learner", "naive-bayes", "--folds", 2, "--repeats", 2),
        *("--codebook", "one-vs-rest", "--json", "-q"),
    )
    found = json.loads(result.stdout)
    assert result.stderr == ""
    names = ["one-vs-rest", "one-vs-one", "plain naive-bayes", "forest"]
    assert [entry["name"] for entry in found["comparison"]] == names
    assert sum(map(sum, found["held_out"]["confusion"])) == 178
    assert sum(found["reliability"]["counts"]) == 178
    assert len(found["comparison"][0]["accuracies"]) == 4
    assert found["comparison"][0]["accuracy"] > 0.9
    assert found["class_sizes"] == {"class_0": 59, "class_1": 71, "class_2": 48}
    assert found["file"] is None


def test_warnings_are_notes():
    @click.command()
    def verb():
        with told_warnings():
            for text in ("no\nluck", "no\nluck", "a", "b", "c", "d"):
                warnings.warn(text, UserWarning, stacklevel=1)

    assert CliRunner().invoke(verb).stderr.splitlines() == [
        "note: no luck",
        "note: a",
        "note: b",
        "note: 2 more warnings",
    ]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-t", "cultiver"], 1, "Did you mean 'cultivar'?"),
        (["-t", "alcohol"], 1, "looks like a quantity"),
        (["-t", "cultivar", "--folds", "72"], 1, "Use at most 71 folds (--folds 71)"),
        (["-t", "cultivar", "--holdout", "1"], 2, "0<x<1"),
        (["-t", "cultivar", "--holdout", "0.2", "--no-validation"], 1, "Only one of holdout"),
        (["-t", "cultivar", "--test", "missing.csv"], 1, "cannot be read"),
        (["-t", "cultivar", "--folds", "1"], 2, "x>=2"),
        (["-t", "cultivar", "--drop", "colour_intensity"], 1, "mean 'color_intensity'?"),
        (["-t", "cultivar", "--codebook", "optimum"], 1, "Did you mean 'optimal'?"),
        (["-t", "cultivar", "--codebook", "missing.json"], 1, "cannot be read"),
        (["-t", "cultivar", "--decoding", "voting"], 1, "decoding must be one of"),
        (["-t", "cultivar", "--learner", "svn"], 2, "svn"),
        (["-t", "cultivar", "--learner", "tree", "--c", "1"], 1, "not of tree"),
        (["-t", "cultivar", "-o", "model.pkl"], 2, "must end in .skops"),
        (["-t", "cultivar", "-o", "missing/model.skops"], 2, "does not exist"),
        (["-t", "cultivar", "--report", "report.pdf"], 2, "must end in .html"),
        (["-t", "cultivar", "--report", "missing/a.html"], 2, "does not exist"),
        ([], 2, "Missing option '-t'"),
    ],
)
def test_wrong_requests_get_one_clear_line(wine, arguments, code, message):
    result = ecoc("fit", wine, *arguments, expect=code)
    assert message in result.stderr
    assert result.stdout == ""


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("a,kind\n,x\n,y\n?,x\n,y\n", [], "column 'a' is empty and was left out"),
        ("a,kind\n1,x\n2,x\n", [], "only 'x'"),
        ("a,kind\n1,x\n2,y\n", [], "No class has two rows"),
        ("a,kind\n1,\n2,\n", [], "all of its cells are empty"),
        ("", [], "is empty"),
    ],
)
def test_tables_that_cannot_be_learned(tmp_path, text, arguments, message):
    path = tmp_path / "data.csv"
    path.write_text(text)
    result = ecoc("fit", path, "-t", "kind", "--folds", 2, *arguments, expect=1)
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_texts_and_gaps_need_no_flag(tmp_path):
    path = tmp_path / "data.csv"
    rows = [f"{i % 5 if i % 4 else ''},{'uvw'[i % 3]},{'xyz'[i % 3]}" for i in range(30)]
    path.write_text("\n".join(["a,b,kind", *rows]))
    result = ecoc(
        *("fit", path, "-t", "kind", "--learner", "tree", "--folds", 2),
        "--json",
    )
    assert json.loads(result.stdout)["comparison"][0]["accuracy"] == 1


@pytest.mark.parametrize("learner", installed_learners())
def test_models_that_fill_gaps_can_be_saved(learner, tmp_path):
    path, model = tmp_path / "data.csv", tmp_path / "model.skops"
    rows = [f"{i % 3 if i % 5 else ''},{i % 3 + i % 4 / 9},{'xyz'[i % 3]}" for i in range(30)]
    path.write_text("\n".join(["a,b,kind", *rows]))
    options = ("-t", "kind", "--learner", learner, "--no-validation")
    ecoc("fit", path, *options, "-o", model)
    trust = ("--trust", learner) if learner in TRUSTED_TYPES else ()
    assert "accuracy 1.0000" in ecoc("predict", model, path, *trust).stderr
    assert "x" in ecoc("show", model, *trust).stdout
    if trust:
        for verb in (("predict", model, path), ("show", model)):
            refused = ecoc(*verb, expect=1).stderr
            assert f"It was not loaded. --trust {learner} loads it" in refused


def test_a_class_with_a_single_row(tmp_path):
    path, model = tmp_path / "data.csv", tmp_path / "model.skops"
    rows = [f"{i % 3},{'xyz'[i % 3]}" for i in range(30)]
    path.write_text("\n".join(["a,kind", *rows, "9,rare"]))
    page = tmp_path / "fit.html"
    options = ("-t", "kind", "--learner", "naive-bayes", "--report", page, "-o", model)
    result = ecoc("fit", path, *options)
    validation = "5 stratified folds; trained on but never held out: rare (1 row)"
    assert re.search(f"^Validation +{re.escape(validation)}$", result.stdout, re.MULTILINE)
    assert "never held out: rare" in page.read_text()
    assert ecoc("predict", model, path).stdout.splitlines()[-1] == "rare"
    plain = json.loads(ecoc("fit", path, *options[:4], "--holdout", 0.2, "--json").stdout)
    assert plain["never_held_out"] == ["rare"]
    assert plain["class_sizes"]["rare"] == 1


CITIES = {"a": "Köln", "b": "Zürich", "c": "Wien"}


def messy_rows():
    """Rows with gaps, texts, booleans, dates, decimal commas and a column that counts them."""
    for i in range(90):
        kind = "abc"[i % 3]
        size = "" if i % 10 == 4 else f"{i % 3 + i % 7 / 20:.2f}".replace(".", ",")
        city = CITIES[kind] if i % 5 else ("München" if i % 2 else "")
        day = f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.2023"
        yield [str(i), size, "ja" if i % 2 else "nein", day, city, f"id-{i}", kind]


@pytest.fixture(scope="module")
def messy(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "messy.csv"
    names = ["", "Größe", "aktiv", "Tag", "Stadt", "Name", "Klasse"]
    text = "\n".join(";".join(row) for row in [names, *messy_rows()])
    path.write_bytes(text.encode("cp1252"))
    return path


def test_a_table_as_it_is(messy, tmp_path):
    model = tmp_path / "model.skops"
    result = ecoc("fit", messy, "-t", "Klasse", "-o", model)
    for said in (
        "90 rows, 4 features",
        "1 number, 2 categories, 1 date: Größe, aktiv, Tag, Stadt",
        "read as Latin-1",
        "separated by semicolons",
        "column 1 has no name and counts the rows; it was left out",
        "decimal commas in Größe",
        "column 'Name' has 90 different texts in 90 rows and was left out",
    ):
        assert said in result.stdout
    assert re.search(r"accuracy (0\.9|1\.0)", ecoc("predict", model, messy).stderr)
    shown = ecoc("show", model).stdout.splitlines()
    assert [line[0] for line in shown[:3]] == ["a", "b", "c"]

    later = tmp_path / "later.csv"
    later.write_text("Stadt,Größe,Tag\nKöln,0.1,01.01.2024\nBern,,soon\n")
    result = ecoc("predict", model, later)
    assert result.stdout.splitlines()[:2] == ["prediction", "a"]
    assert "the column aktiv of the model is missing in all rows" in result.stderr
    assert "column 'Tag' has values that the model does not know: soon" in result.stderr


@pytest.mark.parametrize("suffix", ["csv.gz", "parquet", "xlsx"])
def test_the_same_table_in_other_files(messy, suffix, tmp_path):
    options = ("-t", "Klasse", "--learner", "tree", "--holdout", 0.3, "--json")
    plain = json.loads(ecoc("fit", messy, *options).stdout)
    path = tmp_path / f"messy.{suffix}"
    if suffix == "csv.gz":
        path.write_bytes(gzip.compress(messy.read_bytes()))
    else:
        frame = pd.read_csv(messy, sep=";", encoding="cp1252", decimal=",", index_col=0)
        getattr(frame, {"parquet": "to_parquet", "xlsx": "to_excel"}[suffix])(path)
    found = json.loads(ecoc("fit", path, *options).stdout)
    assert found["features"] == plain["features"]
    assert [row["accuracies"] for row in found["comparison"]] == [
        row["accuracies"] for row in plain["comparison"]
    ]


def test_what_is_found_out_can_be_said(messy):
    told = ("--separator", ";", "--encoding", "latin-1", "--decimal", ",", "--category", "Größe")
    options = ("-t", "Klasse", "--learner", "tree", "--folds", 2, "--json")
    notes = json.loads(ecoc("fit", messy, *options, *told).stdout)["notes"]
    assert not any("separated" in note or "Latin" in note for note in notes)
    wrong = ecoc("fit", messy, *options, "--encoding", "latin-99", expect=1)
    assert "encoding must be a known one, not 'latin-99'" in wrong.stderr


def test_large_tables_are_learned_by_trees(tmp_path):
    path = tmp_path / "large.csv"
    path.write_text("x,kind\n" + "".join(f"{i % 3},{'abc'[i % 3]}\n" for i in range(5001)))
    result = ecoc("fit", path, "-t", "kind", "--folds", 2, "--json")
    assert json.loads(result.stdout)["learner"] == "tree"


def test_columns_of_several_groups(tmp_path):
    path = tmp_path / "data.csv"
    rows = [f"{i % 8 + i % 5 / 20},{i % 3},{'abcdefgh'[i % 8]}" for i in range(80)]
    path.write_text("\n".join(["x,y,kind", *rows]))
    model, page = tmp_path / "model.skops", tmp_path / "fit.html"
    options = ("-t", "kind", "--learner", "tree")
    for symbols, expected in (("4", 4), ("auto", 3)):
        asked = (*options, "--symbols", symbols, "-o", model)
        asked += ("--report", page) if symbols == "4" else ("--no-validation",)
        assert f"{expected} symbols" in ecoc("fit", path, *asked).stdout
        assert load_model(model).classifier.codebook_.n_symbols == expected
        assert "accuracy 1.0000" in ecoc("predict", model, path, "--proba").stderr
        assert "<svg" in page.read_text() or "<img" in page.read_text()
    refused = ecoc("fit", path, *options, "--symbols", "few", expect=2)
    assert "must be a whole number from 2 on, or auto" in refused.stderr


def test_ways_to_validate(wine, tmp_path):
    options = ("fit", wine, "-t", "cultivar", "--learner", "naive-bayes")
    held_out = json.loads(ecoc(*options, "--holdout", 0.2, "--json").stdout)
    assert held_out["validation"] == "37 rows held out (21 %)"
    assert len(held_out["comparison"][0]["accuracies"]) == 1
    test = tmp_path / "test.csv"
    lines = wine.read_text().splitlines()
    test.write_text("\n".join([lines[0], *lines[1::4]]))
    result = ecoc(*options, "--test", test)
    assert f"Validation     45 rows of {test}" in result.stdout
    none = ecoc(*options, "--no-validation")
    assert "Validation  none" in none.stdout
    assert "one-vs-rest" not in none.stdout
    assert json.loads(ecoc(*options, "--no-validation", "--json").stdout)["held_out"] is None


def test_the_result_goes_into_a_paper(wine):
    options = ("fit", wine, "-t", "cultivar", "--learner", "naive-bayes", "--folds", 2)
    shown = ecoc(*options, "--format", "latex").stdout
    assert re.search(r"^% Data: .*wine.csv: 178 rows, 13 features$", shown, re.MULTILINE)
    comparison, classes = read_tables(shown)
    assert [line[0] for line in comparison][1:3] == ["one-vs-rest", "one-vs-one"]
    assert [line[:2] for line in classes[1:]] == [
        ["class_0", "59"],
        ["class_1", "71"],
        ["class_2", "48"],
    ]
    assert json.loads(ecoc(*options, "--format", "json").stdout)["n_rows"] == 178
    refused = ecoc(*options, "--format", "latex", "--no-validation", expect=2).stderr
    assert "shows what validation gave" in refused


def test_tuned_settings_are_told(wine):
    options = ("-t", "cultivar", "--learner", "logistic", "--tune", "--no-validation")
    told = ecoc("fit", wine, *options).stdout
    assert re.search(r"^Tuned +C (0.1|1|10|100), on 3 folds", told, re.MULTILINE)


def test_a_log_has_a_line_now_and_then(wine, monkeypatch):
    monkeypatch.setattr(ProgressLines, "_FIRST", 0.0)
    options = ("fit", wine, "-t", "cultivar", "--learner", "naive-bayes", "--no-validation")
    assert "training: 1 of 1 (0 s)" in ecoc(*options, "-v").stderr
    assert ecoc(*options).stderr == ""
    assert ecoc(*options, "-v", "-q").stderr == ""


def rows_of(kinds, n=30):
    return [[f"{i % 3 + i % 7 / 20:.2f}", f"{i % 5}", kinds[i % 3]] for i in range(n)]


def text_of(names, rows, separator=","):
    return "\n".join(separator.join(row) for row in [names, *rows]) + "\n"


HOSTILE = {
    "lines in quotes": 'a,"b, c",kind\n'
    + "".join(f'{a},"one\n""{kind}""",{kind}\n' for a, _, kind in rows_of("xyz")),
    "a mark": "\ufeff" + text_of(("a", "b", "kind"), rows_of("xyz")),
    "wide letters": text_of(("a", "b", "kind"), rows_of("xyz")).encode("utf-16"),
    "Latin letters": text_of(("a", "größe", "kind"), rows_of("äöü")).encode("cp1252"),
    "numbers as labels": text_of(("a", "b", "kind"), rows_of(["10", "9", "-1"])),
    "fractions as labels": text_of(("a", "b", "kind"), rows_of(["0.5", "1.5", "2.5"])),
    "blanks and signs": text_of(("a", "b", "kind"), rows_of(["red fox 🦊", "<b>&", "'x' [y]"])),
    "booleans": text_of(("a", "b", "kind"), rows_of(["True", "False", "True"])),
    "an empty column": text_of(
        ("a", "b", "c", "kind"), [[a, b, "", c] for a, b, c in rows_of("xyz")]
    ),
    "many texts": text_of(
        ("a", "id", "kind"), [[a, f"id {i}", c] for i, (a, _, c) in enumerate(rows_of("xyz", 60))]
    ),
    "huge numbers": text_of(("a", "b", "kind"), [[a, "1e308", c] for a, _, c in rows_of("xyz")]),
    "infinities": text_of(("a", "b", "kind"), [[a, "-inf", c] for a, _, c in rows_of("xyz")]),
    "one value": text_of(("a", "b", "kind"), [[a, "1", c] for a, _, c in rows_of("xyz")]),
    "commas at the end": text_of(("a", "kind", ""), [[a, c, ""] for a, _, c in rows_of("xyz")]),
    "old lines": text_of(("a", "b", "kind"), rows_of("xyz")).replace("\n", "\r"),
    "rare classes": text_of(
        ("a", "b", "kind"),
        [*rows_of("xyz"), ["9", "9", "two"], ["9", "8", "two"], ["7", "5", "one"]],
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_tables_go_all_the_way(name, tmp_path):
    path, model = tmp_path / "data.csv", tmp_path / "model.skops"
    content = HOSTILE[name]
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    few = ("--no-validation",)
    if name == "rare classes":
        few = ("--folds", "2", "--report", tmp_path / "fit.html")
    ecoc("fit", path, "-t", "kind", "--learner", "naive-bayes", *few, "-o", model)
    shown = ecoc("show", model).stdout
    predicted = ecoc("predict", model, path, "--proba")
    assert "accuracy" in predicted.stderr
    assert len(predicted.stdout.splitlines()) == 1 + {"many texts": 60, "rare classes": 33}.get(
        name, 30
    )
    assert name != "Latin letters" or all(letter in shown for letter in "äöü")


def test_unseen_texts_and_missing_columns(tmp_path):
    """As the quick start says: new texts count as rare or as none, missing columns as missing."""
    path, model = tmp_path / "data.csv", tmp_path / "model.skops"
    rows = [
        [f"{i % 3}", "uvw"[i % 3], f"2024-01-{i % 28 + 1:02d}", "xyz"[i % 3]] for i in range(60)
    ]
    path.write_text(text_of(("a", "coat", "day", "kind"), rows))
    ecoc("fit", path, "-t", "kind", "--learner", "tree", "--no-validation", "-o", model)
    later = tmp_path / "later.csv"
    later.write_text("coat,a,more\nu,0,1\nnever seen,1,2\n,2,3\n")
    result = ecoc("predict", model, later, "--json")
    told = json.loads(result.stdout)
    assert told["predictions"][0] == "x"
    assert len(told["predictions"]) == 3
    assert "the column day of the model is missing in all rows" in told["notes"]
    assert "column 'coat' has values that the model does not know: never seen" in told["notes"]
    later.write_text("more\n1\n")
    assert "must have the columns of the model" in ecoc("predict", model, later, expect=1).stderr
    later.write_text("a,coat\n")
    assert "no rows" in ecoc("predict", model, later, expect=1).stderr
