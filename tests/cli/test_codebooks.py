import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.shell import ecoc

from ecoc import design_codebook
from ecoc.codes import balanced_random, dense_random, one_vs_one, read_codebook, write_codebook

ECOC = Path(sys.executable).with_name("ecoc")


def test_make_then_verify_prints_the_figures(tmp_path):
    path = tmp_path / "a.json"
    ecoc("make", "dense-random", "-k", 10, "-l", 20, "--seed", 0, "-o", path)
    out = ecoc("verify", path).stdout
    assert "Minimum row distance" in out
    assert "Minimum column distance, two-sided" in out
    assert "Largest imbalance of a column" in out
    again = tmp_path / "b.json"
    ecoc("make", "dense-random", "-k", 10, "-l", 20, "--seed", 0, "-o", again)
    assert again.read_bytes() == path.read_bytes()
    assert read_codebook(path) == dense_random(10, 20, random_state=0)


def test_verify_names_a_flipped_figure_and_exits_with_5(tmp_path):
    path = tmp_path / "a.json"
    write_codebook(one_vs_one(4), path)
    path.write_text(path.read_text().replace('"min_row_distance": 3.5', '"min_row_distance": 4.5'))
    result = ecoc("verify", path, expect=5)
    assert "min_row_distance is stored as 4.5 but the matrix has 3.5" in result.stderr
    report = json.loads(ecoc("verify", path, "--json", expect=5).stdout)
    assert report["verified"] is False
    assert "min_row_distance" in report["differences"][0]


def test_verify_for_machines(tmp_path):
    path = tmp_path / "a.json"
    write_codebook(one_vs_one(4), path)
    report = json.loads(ecoc("verify", path, "--json").stdout)
    assert report["verified"] is True
    assert report["figures"]["min_row_distance"] == 3.5


@pytest.fixture(scope="module")
def by_solver(tmp_path_factory):
    path = tmp_path_factory.mktemp("designs") / "solver.json"
    design_codebook(6, 10, min_column_distance=2, method="integer-program").save(path)
    return path


def test_the_word_of_a_solver_is_not_verified(by_solver):
    result = ecoc("verify", by_solver, expect=3)
    assert "NOT VERIFIED: the codebook is as claimed, but the bound 6 rests on" in result.stdout
    assert "OPTIMAL" not in result.stdout
    report = json.loads(ecoc("verify", by_solver, "--json", expect=3).stdout)
    assert (report["verified"], report["differences"]) == (False, [])
    assert "rests on the word of highs" in report["unverified"]
    assert "NOT VERIFIED" in ecoc("show", by_solver).stdout


def test_a_forged_word_of_a_solver_is_refused(by_solver, tmp_path):
    document = json.loads(by_solver.read_text())
    document["certificate"]["proof"]["facts"] |= {
        "solver": "",
        "termination": "time limit",
        "n_nodes": -5,
    }
    path = tmp_path / "forged.json"
    path.write_text(json.dumps(document))
    result = ecoc("verify", path, expect=5)
    assert "there is no solver ''; the number of nodes is -5" in result.stderr
    assert json.loads(ecoc("verify", path, "--json", expect=5).stdout)["verified"] is False


def test_a_verification_that_takes_too_long_is_none(by_solver):
    result = ecoc("verify", by_solver, "--time-limit", 0, expect=3)
    assert "NOT VERIFIED: it was not done within 0 seconds" in result.stdout
    report = json.loads(ecoc("verify", by_solver, "--time-limit", 0, "--json", expect=3).stdout)
    assert report["verified"] is False


CLEARS_THE_SCREEN = "\x1b[2J\x1b[HOPTIMAL\x9b31m\u202e"


@pytest.mark.parametrize("verb", ["show", "verify", "convert"])
@pytest.mark.parametrize(
    "place",
    [
        ("proof", "facts", "solver"),
        ("proof", "facts", "version"),
        ("proof", "facts", "termination"),
        ("proof", "kind"),
        ("notes", 0),
        ("status",),
        ("problem", CLEARS_THE_SCREEN),
        (CLEARS_THE_SCREEN,),
    ],
)
def test_a_file_does_not_steer_the_terminal(by_solver, tmp_path, verb, place):
    document = json.loads(by_solver.read_text())
    document["certificate"]["notes"] = [""]
    document["certificate"]["status"] = "feasible"
    inside = document["certificate"]
    for key in place[:-1]:
        inside = inside[key]
    inside[place[-1]] = CLEARS_THE_SCREEN
    path = tmp_path / "a.json"
    path.write_text(json.dumps(document))
    for form in ([], ["--json"]):
        target = [str(tmp_path / "b.npz")] if verb == "convert" else []
        done = ecoc(verb, path, *target, *form, expect={0, 1, 3, 5})
        text = done.stdout + done.stderr
        if verb != "show" or not form:  # a file that is shown as JSON is data
            assert not set(text) & set("\x1b\x9b\u202e")


def test_data_goes_to_stdout_and_talk_to_stderr(tmp_path):
    path = tmp_path / "a.json"
    result = ecoc("make", "one-vs-one", "-k", 4, "-o", path)
    assert result.stdout == ""
    assert "written to" in result.stderr
    assert ecoc("make", "one-vs-one", "-k", 4, "-o", path, "-q").stderr == ""
    shown = ecoc("make", "one-vs-one", "-k", 4)
    assert shown.stdout.startswith("0  + + + 0 0 0\n")
    assert shown.stderr == ""


def test_a_pipe_of_verbs():
    made = ecoc("make", "one-vs-rest", "-k", 5, "--json").stdout
    assert ecoc("make", "one-vs-rest", "-k", 5, "-o", "-").stdout == made
    csv = ecoc("show", "-", "--format", "csv", stdin=made).stdout
    assert csv.startswith("f1,f2,f3,f4,f5\n1,-1,")
    ecoc("verify", "-", stdin=csv)
    assert ecoc("show", "-", "--json", stdin=csv).stdout != made  # CSV keeps no provenance


@pytest.mark.parametrize(
    ("form", "start"),
    [
        ("text", b"0  + + + 0 0 0"),
        ("json", b'{\n "format": "ecoc-codebook"'),
        ("csv", b"f1,f2"),
        ("latex", b"% \\usepackage{booktabs}\n\\begin{tabular}{l*{6}{c}}"),
        ("html", b"<!doctype html>"),
        ("png", b"\x89PNG"),
    ],
)
def test_show_in_every_format(tmp_path, form, start):
    path = tmp_path / "a.npz"
    write_codebook(one_vs_one(4), path)
    assert ecoc("show", path, "--format", form).stdout_bytes.startswith(start)
    output = tmp_path / f"out.{form}"
    ecoc("show", path, "--format", form, "-o", output)
    assert output.read_bytes().startswith(start)


def test_convert_says_what_is_lost(tmp_path):
    first, second = tmp_path / "a.json", tmp_path / "a.csv"
    write_codebook(one_vs_one(4), first)
    result = ecoc("convert", first, second)
    assert "CSV has no room for the name, the provenance" in result.stderr
    assert read_codebook(second) == one_vs_one(4)
    report = json.loads(ecoc("convert", second, tmp_path / "b.npz", "--json").stdout)
    assert report["lost"] == []


@pytest.mark.parametrize("q", [2, 3, 10])
def test_codes_of_symbols_through_every_verb(tmp_path, q):
    paths = [tmp_path / f"a{suffix}" for suffix in (".json", ".csv", ".npz")]
    ecoc("make", "balanced-random", "-k", 12, "-l", 6, "--symbols", q, "-o", paths[0])
    code = read_codebook(paths[0])
    assert code == balanced_random(12, 6, n_symbols=q, random_state=0)
    ecoc("convert", paths[0], paths[1])
    ecoc("convert", paths[1], paths[2])
    for path in paths:
        assert read_codebook(path) == code
        assert "Minimum column distance" in ecoc("verify", path).stdout
    shown = ecoc("show", paths[2]).stdout
    assert shown.startswith(f"0   {' '.join(code.rows[0])}\n")
    if q > 2:
        assert f"Symbols                                                 {q}\n" in shown
        assert "Least eigenvalue (0: probabilities are not identified)" in shown
    assert ecoc("show", paths[2], "--format", "html").stdout.startswith("<!doctype html>")


def test_verify_names_a_flipped_figure_of_symbols(tmp_path):
    path = tmp_path / "a.json"
    ecoc("make", "digits", "-k", 12, "--symbols", 4, "-o", path)
    path.write_text(path.read_text().replace('"min_row_distance": 1', '"min_row_distance": 2'))
    result = ecoc("verify", path, expect=5)
    assert "min_row_distance is stored as 2 but the matrix has 1" in result.stderr


def test_info_tells_versions():
    facts = json.loads(ecoc("info", "--json").stdout)
    assert {"ecoc", "python", "numpy", "highspy", "pyscipopt"} <= facts.keys()
    assert "numpy" in ecoc("info").stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["make"], 2, "Missing argument 'NAME'"),
        (["make", "one-vs-on", "-k", "4"], 2, "one-vs-on"),
        (["make", "one-vs-one", "-k", "1"], 2, "x>=2"),
        (["make", "one-vs-one", "-k", "4", "-l", "3"], 1, "leave n_columns out"),
        (["make", "dense-random", "-k", "4", "-l", "8"], 4, "only 7 different columns"),
        (["make", "one-vs-one", "-k", "4", "--symbols", "3"], 1, "has two symbols"),
        (["make", "digits", "-k", "4", "--symbols", "5"], 1, "cannot have more groups than"),
        (["make", "digits", "-k", "4", "--symbols", "1"], 2, "x>=2"),
        (["make", "exhaustive", "-k", "40"], 1, "stops at 22 classes"),
        (["make", "one-vs-one", "-k", "4", "-o", "a.txt"], 2, "must end in"),
        (["make", "one-vs-one", "-k", "4", "-o", "/missing/a.json"], 2, "does not exist"),
        (["show", "missing.json"], 1, "cannot be read"),
        (["verify", "missing.json"], 1, "cannot be read"),
        (["convert", "missing.json", "a.csv"], 1, "cannot be read"),
        (["shwo"], 2, "There is no verb 'shwo'. Did you mean 'show'?"),
    ],
)
def test_wrong_use_gets_one_clear_line(tmp_path, arguments, code, message):
    result = ecoc(*arguments, cwd=tmp_path, expect=code)
    assert message in result.stderr
    assert result.stdout == ""


def test_verbose_shows_the_traceback():
    result = subprocess.run([ECOC, "show", "missing.json", "-v"], capture_output=True, check=False)
    assert result.returncode == 1
    assert b"Traceback" in result.stderr


@pytest.mark.parametrize("verb", [[], ["make"], ["show"], ["verify"], ["convert"], ["info"]])
def test_every_verb_has_help(verb):
    assert ecoc(*verb, "-h").stdout.startswith("Usage: ecoc")


def test_help_loads_nothing_heavy():
    code = (
        "import sys; from ecoc.cli import main; main(['-h'], standalone_mode=False);"
        "print([m for m in ('scipy', 'numba', 'highspy', 'matplotlib') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert result.stdout.endswith(b"[]\n")


def test_extend_keeps_the_rows_and_tells_the_bound(tmp_path):
    source, target = tmp_path / "a.json", tmp_path / "b.json"
    write_codebook(dense_random(5, 8, random_state=0).relabel(list("abcde")), source)
    out = ecoc("extend", source, "-n", 2, "--labels", "f,g", "-o", target).stdout
    assert "OPTIMAL: 2 new classes, 4 from every other (" in out
    extended = read_codebook(target)
    assert extended.labels == tuple("abcdefg")
    assert extended.rows[:5] == read_codebook(source).rows
    told = json.loads(ecoc("extend", source, "-n", 2, "--labels", "f,g", "--json").stdout)
    assert told["distance"] == told["bound"] == 4
    assert tuple(told["rows"]) == extended.rows


def test_an_extension_without_proof_exits_with_3(tmp_path):
    write_codebook(dense_random(12, 40, random_state=0), tmp_path / "a.csv")
    done = ecoc("extend", tmp_path / "a.csv", "-n", 2, "--time-limit", 0, expect=3)
    assert "FEASIBLE: 2 new classes" in done.stdout
    write_codebook(dense_random(4, 3, random_state=0), tmp_path / "a.csv")
    assert "too few" in ecoc("extend", tmp_path / "a.csv", "-n", 5, expect=4).stderr
