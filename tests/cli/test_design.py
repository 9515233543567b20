import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.cli.shell import ecoc
from tests.latex_reader import read_tables

from ecoc._workers import ProgressLines
from ecoc.cli.design import _announced_interrupt
from ecoc.codes import dense_random, read_codebook, write_codebook
from ecoc.design import portfolio, read_design

ECOC = Path(sys.executable).with_name("ecoc")


def test_design_then_verify(tmp_path):
    path = tmp_path / "design.json"
    shown = ecoc("design", "-k", 7, "-l", 14, "--min-column-distance", 2, "-o", path).stdout
    assert "OPTIMAL: minimum row distance 7 (" in shown
    assert "OPTIMAL" in ecoc("verify", path).stdout
    assert read_design(path).objective == 7
    report = json.loads(ecoc("verify", path, "--json").stdout)
    assert report["design"]["status"] == "optimal"


def test_design_for_machines():
    found = json.loads(ecoc("design", "-k", 6, "-l", 9, "--rho", 2, "--json").stdout)
    assert found["status"] == "optimal"
    assert found["objective"] == found["bound"] == 5
    assert found["gap"] == 0
    assert len(found["rows"]) == 6


def test_not_proved_exits_with_3_and_verify_says_so(tmp_path):
    start = tmp_path / "start.json"
    path = tmp_path / "design.json"
    write_codebook(dense_random(9, 18, random_state=1), start)
    result = ecoc("design", "-k", 9, "--warm-start", start, "--time-limit", 0, "-o", path, expect=3)
    assert "FEASIBLE" in result.stdout
    assert "FEASIBLE" in ecoc("verify", path, expect=3).stdout


def test_a_tampered_design_exits_with_5(tmp_path):
    path = tmp_path / "design.json"
    ecoc("design", "-k", 5, "-l", 6, "-o", path)
    document = json.loads(path.read_text())
    document["certificate"]["objective"] += 1
    path.write_text(json.dumps(document))
    assert "objective is stored as" in ecoc("verify", path, expect=5).stderr


def test_the_program_travels_to_another_solver_and_back(tmp_path):
    ecoc("design", "-k", 6, "-l", 9, "--rho", 2, "--export", "model.mps", cwd=tmp_path)
    ecoc("design", "-k", 6, "-l", 9, "--rho", 2, "--export", "model.lp", cwd=tmp_path)
    code = (
        "import highspy; h = highspy.Highs(); h.setOptionValue('output_flag', False);"
        "h.readModel('model.mps'); h.run(); h.writeSolution('model.sol', 0)"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    shown = ecoc(
        *("design", "-k", 6, "-l", 9, "--rho", 2, "--import-solution", "model.sol"),
        cwd=tmp_path,
        expect=3,
    ).stdout
    assert "FEASIBLE: minimum row distance 5, bound unknown" in shown


def test_targets_from_a_file(tmp_path):
    path = tmp_path / "targets.csv"
    path.write_text("0,2,4\n2,0,2\n4,2,0\n")
    shown = ecoc("design", "-k", 3, "-l", 3, "--targets", path).stdout
    assert "OPTIMAL: sum of deviations" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-k", "40", "-l", "80", "--formulation", "ip3"], 1, "would have 549,755,8"),
        (["-k", "6", "--rho", "4"], 4, "min_column_distance <= 3"),
        (["-k", "6", "--rho", "9"], 1, "at most 6"),
        (["-k", "5", "--balance", "0.1"], 4, "at least 0.2"),
        (["-k", "5", "-l", "2"], 4, "at least 3 columns"),
        (["-k", "5", "--class-sizes", "1,x"], 2, "whole numbers"),
        (["-k", "5", "--class-sizes", "1,2", "--balance", "0.5"], 1, "each of the 5"),
        (["-k", "5", "--targets", "missing.csv"], 1, "cannot be read"),
        (["-k", "5", "--warm-start", "missing.json"], 1, "cannot be read"),
        (["-k", "5", "-o", "a.csv"], 2, ".json or .npz"),
        (["-k", "5", "-o", "missing/a.json"], 2, "does not exist"),
        (["-k", "5", "--export", "a.txt"], 2, ".mps or .lp"),
        (["-k", "5", "--import-solution", "missing.sol"], 1, "missing.sol"),
        (["-k", "5", "--solver", "cplex"], 2, "cplex"),
    ],
)
def test_wrong_requests_get_one_clear_line(tmp_path, arguments, code, message):
    assert message in ecoc("design", *arguments, cwd=tmp_path, expect=code).stderr


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the solver in /proc")
def test_interrupting_keeps_the_best(tmp_path):
    start, path = tmp_path / "start.json", tmp_path / "design.json"
    write_codebook(dense_random(13, 26, random_state=0), start)
    rho = read_codebook(start).min_column_distance()
    process = subprocess.Popen(
        [
            *(ECOC, "design", "-k", "13", "--rho", str(rho), "--warm-start", start),
            *("-o", path, "--formulation", "ip3"),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    # The program is built and solved in a process of its own; it takes minutes.
    children = Path("/proc", str(process.pid), "task", str(process.pid), "children")
    while process.poll() is None and not children.read_text().split():
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 3, err
    assert b"FEASIBLE" in out
    assert err.count(b"Ctrl-C again stops at once") == 1
    assert b"cut short by Ctrl-C" in err
    assert read_design(path).objective >= read_codebook(start).min_row_distance


def test_the_second_ctrl_c_is_left_to_the_system():
    before = signal.getsignal(signal.SIGINT)
    with _announced_interrupt():
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("method", ["structured", "greedy", "partitioned"])
def test_cover_prints_what_it_found(method):
    found = json.loads(
        ecoc(
            *("cover", "-k", 8, "--rho", 3, "--separation", "one-sided"),
            *("--method", method, "--json"),
        ).stdout
    )
    assert found["edges"] == 1764
    assert found["cliques"] < found["edges"]
    assert found["verified"] is True
    assert found["seconds"] >= 0


def test_cover_for_people():
    shown = ecoc("cover", "-k", 10, "--rho", 3, "--separation", "one-sided").stdout
    assert "11,475" in shown
    assert "464" in shown


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["-k", "6", "--rho", "9"], 1, "at most 6"),
        (["-k", "6", "--separation", "literal"], 1, "n_columns (L) must be given"),
        (["-k", "6", "--parts", "2"], 1, "for method='partitioned' only"),
        (["-k", "24", "--method", "greedy"], 1, "GiB"),
    ],
)
def test_wrong_covers_get_one_clear_line(arguments, code, message):
    assert message in ecoc("cover", *arguments, expect=code).stderr


def test_bounds_are_listed_with_their_reasons():
    shown = ecoc("bounds", "-k", 10, "-l", 20, "--rho", 3).stdout
    assert shown.splitlines()[0].split()[:2] == ["10", "parity"]
    listed = json.loads(ecoc("bounds", "-k", 50, "-l", 13, "--json").stdout)
    assert min(bound["value"] for bound in listed) == 5
    assert json.loads(ecoc("bounds", "-k", 50, "-l", 13, "--format", "json").stdout) == listed
    (table,) = read_tables(ecoc("bounds", "-k", 50, "-l", 13, "--format", "latex").stdout)
    assert [(line[0], line[1]) for line in table[1:]] == [
        (str(bound["value"]), bound["name"]) for bound in listed
    ]
    assert ecoc("bounds", "-k", 1, expect=2).stderr
    assert "at most 6" in ecoc("bounds", "-k", 6, "--rho", 9, expect=1).stderr


@pytest.mark.usefixtures("without_atlas")
def test_verbose_tells_the_stages():
    assert "theory: " in ecoc("design", "-k", 8, "-v").stderr


@pytest.mark.usefixtures("without_atlas")
@pytest.mark.parametrize("output", [[], ["-o", "-"], ["--json"]])
def test_a_design_that_ends_at_the_limit_of_its_work_says_so(monkeypatch, output):
    for stage in ("construct", "short_search"):
        monkeypatch.setattr(portfolio.Portfolio, stage, lambda _: None)
    monkeypatch.setattr(portfolio, "PROGRAM_WORK", 1.0)
    result = ecoc("design", "-k", 9, "-l", 11, *output, expect=3)
    text = result.stdout if output == ["--json"] else result.stderr
    assert "The integer program stopped after " in text
    assert "; a time limit (--time-limit SECONDS) lets it go on." in text


@pytest.mark.usefixtures("without_atlas")
def test_a_log_has_a_line_now_and_then(monkeypatch):
    monkeypatch.setattr(ProgressLines, "_FIRST", 0.0)
    monkeypatch.setattr(ProgressLines, "_SHARE", 0.0)
    monkeypatch.setattr("ecoc._workers._SECONDS", 0.001)
    assert re.search(r"bound 8.* \(\d+ s\)", ecoc("design", "-k", 8, "-v").stderr)
    assert " s)" not in ecoc("design", "-k", 8).stderr


def test_a_nested_design_tells_its_prefixes(tmp_path):
    path = tmp_path / "design.json"
    out = ecoc("design", "-k", 6, "-l", 7, "--nested", "-o", path).stdout
    assert "columns  distance  bound" in out
    assert "OPTIMAL: sum of the prefixes' row distances 12" in out
    shown = ecoc("show", path).stdout
    assert "columns  distance  bound" in shown
    assert "OPTIMAL: sum of the prefixes' row distances 12" in ecoc("verify", path).stdout
    told = json.loads(ecoc("design", "-k", 6, "-l", 7, "--nested", "--json").stdout)
    assert told["prefixes"][-1] == {"n_columns": 7, "distance": 4, "bound": 4}
    assert "<pre>" in ecoc("show", path, "--format", "html").stdout
    export = ecoc("design", "-k", 6, "--nested", "--export", tmp_path / "a.mps", expect=1)
    assert "know no order" in export.stderr


def test_ternary_codebooks_are_designed_and_verified(tmp_path):
    path = tmp_path / "design.json"
    asked = ("-k", 10, "-l", 34, "--alphabet", "ternary", "--max-support", 4)
    assert (
        "OPTIMAL: least cover of a pair 2 (degrees bound)"
        in ecoc("design", *asked, "-o", path).stdout
    )
    assert "OPTIMAL" in ecoc("verify", path).stdout
    listed = ecoc("bounds", *asked).stdout
    assert listed.splitlines()[0].split()[:2] == ["2", "degrees"]
    by_budget = json.loads(
        ecoc("design", "-k", 6, "--alphabet", "ternary", "--budget", 18, "--json").stdout
    )
    assert by_budget["objective"] == 1
    document = json.loads(path.read_text())
    document["certificate"]["problem"]["max_support"] = 3
    path.write_text(json.dumps(document))
    assert "uses 4 classes where max_support is 3" in ecoc("verify", path, expect=5).stderr


def test_ternary_codebooks_by_data(tmp_path):
    weights = tmp_path / "weights.csv"
    weights.write_text("0,3,1,1\n3,0,1,1\n1,1,0,1\n1,1,1,0\n")
    asked = ("-k", 4, "-l", 6, "--alphabet", "ternary", "--objective", "weighted-cover")
    shown = ecoc("design", *asked, "--pair-weights", weights).stdout
    assert "OPTIMAL: weighted cover 2 (dual bound)" in shown


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--max-support", 3), "--max-support has a meaning with --alphabet ternary"),
        (("--min-cover", 2), "have a meaning with --alphabet ternary"),
        (("--alphabet", "ternary", "--export", "x.mps"), "are for binary codebooks"),
        (("--alphabet", "ternary", "--targets", "x.csv"), "are for binary codebooks"),
    ],
)
def test_ternary_options_alone_are_refused(options, message):
    assert message in ecoc("design", "-k", 5, *options, expect=2).stderr
