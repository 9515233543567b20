"""Every benchmark runs, on its smallest setting; what it measures is not asserted."""

import runpy
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

BENCHMARKS = sorted((Path(__file__).parents[1] / "benchmarks").glob("[a-z]*.py"))


@pytest.mark.parametrize("path", BENCHMARKS, ids=lambda path: path.stem)
def test_a_benchmark_runs(path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", [str(path), "--smoke"])
    monkeypatch.syspath_prepend(path.parent)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
