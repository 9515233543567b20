"""Where results go is checked before the work, and a result is shown before it is saved."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from ecoc.cli import main
from ecoc.codes import one_vs_one, write_codebook
from ecoc.design import design_codebook
from ecoc.errors import EcocError
from ecoc.paper import Record
from ecoc.paper.reproduction import RecordWriter

ECOC = Path(sys.executable).with_name("ecoc")
DOCS = Path(__file__).parents[2] / "docs"
TABLE = "legs,wings,kind\n" + 6 * "4,0,dog\n2,2,bird\n6,4,bee\n"
FULL = Path("/dev/full")
pytestmark = pytest.mark.usefixtures("few_trees")
full_device = pytest.mark.skipif(not FULL.exists(), reason="no full device here")


def ecoc(*arguments, cwd, expect):
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(cwd)
        result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == expect, result.stderr
    return result.stdout, result.stderr


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("work")
    write_codebook(one_vs_one(4), folder / "code.json")
    (folder / "pets.csv").write_text(TABLE)
    for name in ("a.json", "a.skops", "a.html", "a.csv", "a.mps", "a.npz"):
        (folder / "folders" / name).mkdir(parents=True)
    ecoc(
        *("fit", "pets.csv", "-t", "kind", "--learner", "tree", "--folds", 2, "-o", "pets.skops"),
        cwd=folder,
        expect=0,
    )
    return folder


VERBS = {
    # A design of this size would take hours: the check comes first.
    "design": (["design", "-k", "40", "-l", "63", "-o"], "json"),
    "export": (["design", "-k", "5", "--export"], "mps"),
    "make": (["make", "one-vs-rest", "-k", "4", "-o"], "json"),
    "show": (["show", "code.json", "--format", "csv", "-o"], "csv"),
    "convert": (["convert", "code.json"], "csv"),
    "data": (["data", "toy", "-o"], "csv"),
    "fit": (["fit", "missing.csv", "-t", "kind", "-o"], "skops"),
    "page": (["fit", "missing.csv", "-t", "kind", "--report"], "html"),
    "predict": (["predict", "missing.skops", "missing.csv", "-o"], "csv"),
    "attack": (["attack", "missing.skops", "--data", "x", "--eps", "1", "--report"], "html"),
    "examples": (["attack", "missing.skops", "--data", "x", "--eps", "1", "--examples"], "npz"),
    "certify": (["certify", "missing.skops", "--data", "x", "--eps", "1", "--report"], "html"),
    "report": (["report", "missing", "-o"], "html"),
}


@pytest.mark.parametrize("name", VERBS)
@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("folders/a.{}", "is a folder"),
        ("missing/a.{}", "does not exist"),
        ("code.json/a.{}", "does not exist"),
        ("/proc/a.{}", "cannot be written"),
    ],
)
def test_places_that_cannot_be_written_are_told_before_any_work(name, place, told, folder):
    arguments, suffix = VERBS[name]
    if place.startswith("/proc") and not Path("/proc/self").exists():
        pytest.skip("no such folder here")
    _, errors = ecoc(*arguments, place.format(suffix), cwd=folder, expect=2)
    assert told in errors


@pytest.mark.parametrize("name", sorted(set(VERBS) - {"show", "data", "predict", "report"}))
def test_names_that_end_in_something_else(name, folder):
    _, errors = ecoc(*VERBS[name][0], "a.xyz", cwd=folder, expect=2)
    assert "must end in ." in errors


@pytest.mark.parametrize("place", ["code.json", "code.json/results", "/proc/results"])
def test_records_need_a_folder(place, folder):
    if place.startswith("/proc") and not Path("/proc/self").exists():
        pytest.skip("no such folder here")
    _, errors = ecoc("reproduce", "table2", "--smoke", "-o", place, cwd=folder, expect=1)
    assert "records.jsonl: cannot be written" in errors


@pytest.fixture
def full(folder):
    """Names of files that take nothing, as on a disk without room."""
    for suffix in ("json", "skops", "html", "csv"):
        path = folder / f"full.{suffix}"
        if not path.is_symlink():
            path.symlink_to(FULL)
    return folder


@full_device
def test_a_design_is_shown_though_it_cannot_be_saved(full):
    shown, errors = ecoc("design", "-k", 4, "-l", 5, "-o", "full.json", cwd=full, expect=1)
    assert "OPTIMAL: minimum row distance" in shown
    assert "full.json: cannot be written: No space left on device" in errors
    shown, _ = ecoc("design", "-k", 4, "-l", 5, "-o", "full.json", "--json", cwd=full, expect=1)
    assert len(json.loads(shown)["rows"]) == 4


@full_device
@pytest.mark.parametrize("option", [("-o", "full.skops"), ("--report", "full.html")])
def test_a_fit_is_shown_though_it_cannot_be_saved(option, full):
    shown, errors = ecoc(
        *("fit", "pets.csv", "-t", "kind", "--learner", "tree", "--folds", 2, *option),
        cwd=full,
        expect=1,
    )
    assert "one-vs-rest" in shown
    assert "cannot be written: No space left on device" in errors


@full_device
def test_predictions_are_shown_though_they_cannot_be_saved(full):
    shown, errors = ecoc("predict", "pets.skops", "pets.csv", "-o", "full.csv", cwd=full, expect=1)
    assert shown.splitlines()[:2] == ["prediction", "dog"]
    assert "No space left" in errors


@full_device
def test_what_cannot_be_shown_is_saved(full):
    line = f"{ECOC} design -k 4 -l 5 -o kept.json > /dev/full"
    result = subprocess.run(["/bin/sh", "-c", line], cwd=full, check=False, capture_output=True)
    assert result.returncode == 1
    ecoc("verify", "kept.json", cwd=full, expect=0)


@full_device
def test_a_record_without_room_is_told_whole(tmp_path):
    (tmp_path / "records.jsonl").symlink_to(FULL)
    _, errors = ecoc("reproduce", "table2", "--smoke", "-o", tmp_path, cwd=tmp_path, expect=1)
    assert "records.jsonl: cannot be written: it is no file" in errors
    record = Record("table2", {"k": 10}, "quick", "ok", measured={"best": 10})
    with FULL.open("wb", buffering=0) as stream, pytest.raises(EcocError) as error:
        RecordWriter(stream).append(record)
    assert "No space left on device. What was measured last: {" in str(error.value)
    assert '"measured": {"best": 10}' in str(error.value)


def test_a_design_on_standard_output_is_a_file(folder):
    shown, told = ecoc("design", "-k", 4, "-l", 5, "-o", "-", cwd=folder, expect=0)
    assert json.loads(shown)["format"] == "ecoc-codebook"
    assert "OPTIMAL" in told


def test_saving_leaves_the_object_and_a_clean_error(folder):
    design = design_codebook(4, 5)
    for place in (folder / "folders" / "a.json", folder / "missing" / "a.json", "a\0b.json"):
        with pytest.raises(EcocError, match="cannot be written"):
            design.save(place)
    design.save(folder / "design.json")
    assert not list(folder.glob(".*.tmp"))
