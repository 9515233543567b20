import csv
import json

import numpy as np
from click.testing import CliRunner
from sklearn.datasets import load_digits

from ecoc.cli import main
from ecoc.datasets import load_dataset


def test_a_data_set_is_written_as_a_table(tmp_path):
    path = tmp_path / "digits.csv"
    result = CliRunner().invoke(main, ["data", "digits", "-o", str(path)])
    assert result.exit_code == 0
    assert "1797" in result.stdout
    with path.open() as file:
        names, *rows = csv.reader(file)
    assert names[-1] == "class"
    X, y = load_digits(return_X_y=True)  # noqa: N806  # as scikit-learn calls it
    assert np.array_equal(np.array([row[:-1] for row in rows], dtype=float), X)
    assert [row[-1] for row in rows] == [str(label) for label in y]


def test_numbers_read_back_as_they_were():
    shown = CliRunner().invoke(main, ["data", "toy"]).stdout
    rows = list(csv.reader(shown.splitlines()))[1:]
    toy = load_dataset("toy")
    assert np.array_equal(np.array([row[:-1] for row in rows], dtype=float), toy.X)


def test_json_describes_it():
    result = CliRunner().invoke(main, ["data", "toy", "--json"])
    assert json.loads(result.stdout)["classes"] == 10


def test_a_misspelt_name_is_corrected():
    result = CliRunner().invoke(main, ["data", "digit"])
    assert result.exit_code == 1
    assert "Did you mean 'digits'" in result.stderr
