import json

from click.testing import CliRunner

from ecoc.cli import main


def run(*arguments):
    return CliRunner().invoke(main, ["atlas", *map(str, arguments)])


def test_a_cell_is_shown_and_its_design_verified(tmp_path):
    result = run("show", "-k", 12, "-l", 11, "--matrix", "-o", tmp_path / "cell.json")
    assert result.exit_code == 0, result.output
    assert "6, at most 6 possible, proved" in result.output
    assert "\n11  " in result.output
    verified = CliRunner().invoke(main, ["verify", str(tmp_path / "cell.json")])
    assert verified.exit_code == 0
    shown = json.loads(run("show", "-k", 9, "--symbols", 3, "--json", "--matrix").stdout)
    assert (shown["n_columns"], len(shown["matrix"])) == (18, 9)
    result = run("show", "-k", 300)
    assert result.exit_code == 1
    assert "powers of two" in result.output


def test_an_atlas_is_built_in_a_folder(tmp_path):
    arguments = ("build", "-o", tmp_path, "--symbols", 2, "--classes", "8..8")
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "22 cells" in result.output
    assert json.loads(run(*arguments, "--json").stdout)["n_new"] == 0
    for wrong in ("2..5", "6..5", "many"):
        assert run("build", "-o", tmp_path, "--classes", wrong).exit_code == 2
