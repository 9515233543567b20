import json

from tests.cli.shell import ecoc

from ecoc.paper import read_records


def test_reproduce_then_report(tmp_path):
    results = tmp_path / "results"
    result = ecoc("reproduce", "table2", "--smoke", "-o", results)
    assert "3 measured" in result.stdout
    assert "[3/3] table2 L=24 k=12 smoke seed 0" in result.stderr
    assert len(read_records(results)) == 3
    page = tmp_path / "report.html"
    assert "written to" in ecoc("report", results, "-o", page).stderr
    assert "3 of 3 are proved optimal" in page.read_text()
    told = json.loads(ecoc("report", results / "records.jsonl", "-o", page, "--json").stdout)
    assert told["records"] == 3
    assert ecoc("report", results, "-o", "-").stdout == page.read_text()
    ecoc("report", results, "-o", tmp_path / "report.tex")
    assert "12 & 24 & 12 & 12 & 0 &" in (tmp_path / "report.tex").read_text()
    assert "OPTIMAL" in ecoc("verify", results / "designs/table2-k12.json").stdout


def test_resume_for_machines(tmp_path):
    first = ecoc("reproduce", "table2", "--smoke", "-o", tmp_path, "--json", "-q")
    assert json.loads(first.stdout)["measured"] == 3
    assert first.stderr == ""
    again = ecoc("reproduce", "table2", "--smoke", "-o", tmp_path, expect=1)
    assert "--resume" in again.stderr
    resumed = ecoc("reproduce", "table2", "--smoke", "-o", tmp_path, "--resume", "--json")
    assert json.loads(resumed.stdout)["kept"] == 3


def test_time_limit_exits_with_3(tmp_path):
    result = ecoc("reproduce", "table2", "--smoke", "-o", tmp_path, "--time-limit", 0, expect=3)
    assert "3 left for --resume" in result.stdout


def test_errors(tmp_path):
    assert "Did you mean 'table2'" in ecoc("reproduce", "tabel2", expect=1).stderr
    assert "ecoc reproduce" in ecoc("report", tmp_path / "none", expect=1).stderr
    missing = ecoc("reproduce", "table4", "--data", tmp_path / "none", "-o", tmp_path, expect=1)
    assert "folder" in missing.stderr
