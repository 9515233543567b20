import runpy
import sys
from pathlib import Path

import pytest

from ecoc.atlas import expand_recipe
from ecoc.codes import Codebook, read_codebook
from ecoc.survey.symbols import measure_codebook, symbol_codes_of_lengths


def test_codes_serve_all_classes_with_the_figures_that_are_said():
    codes = symbol_codes_of_lengths(3, 7, 8, lambda _: (7, 9))
    served = set()
    for code in codes:
        symbols = expand_recipe(code.recipe, 3)
        for figure in code.figures:
            codebook = Codebook(symbols[: figure.n_classes].astype(int), n_symbols=3)
            assert codebook.n_columns == code.n_columns
            assert codebook.min_row_distance == figure.distance
            assert codebook.min_column_distance() == figure.separation
            served.add((figure.n_classes, code.n_columns))
    assert served == {(k, length) for k in range(7, 10) for length in (7, 8)}


def test_what_is_no_codebook_has_no_figures():
    assert measure_codebook([[0, 0], [1, 1], [2, 2]], 3) is None


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "rows", "distance"),
    [("3 4 6 5", 9, 5), ("5 5 6 5 --invariant 1", 25, 5), ("5 10 20 18 --copies 2", 50, 18)],
)
def test_planes_give_codes_that_meet_the_averaging_bound(
    words, rows, distance, monkeypatch, tmp_path
):
    tool = Path(__file__).parents[2] / "tools" / "find_plane_codes.py"
    path = tmp_path / "code.json"
    monkeypatch.setattr(sys, "argv", [tool.name, *words.split(), "-o", str(path)])
    runpy.run_path(str(tool), run_name="__main__")
    codebook = read_codebook(path)
    assert codebook.n_classes == rows
    assert codebook.min_row_distance == distance
