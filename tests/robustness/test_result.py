import json
from dataclasses import replace

import numpy as np
import pytest

from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.report import attack_page
from ecoc.robustness import Leaderboard, RobustnessResult

RESULT = RobustnessResult(
    epsilons=(0.1, 0.25),
    clean=0.75,
    attacked=(0.5, 0.25),
    paper=(0.5, 0.5),
    certified=(0.25, 0.0),
    warnings=("Gradients are masked.",),
    broken_at=(0.0, 0.1, 0.25, None),
    broken_by=("clean", "pgd", "pgd", None),
    zero_gradients={"pgd": 0.5},
    seconds=1.5,
)


def test_a_detour_through_json_changes_nothing():
    assert RobustnessResult.from_dict(json.loads(json.dumps(RESULT.to_dict()))) == RESULT


def test_it_shows_itself():
    assert str(RESULT).splitlines() == [
        "strong protocol, linf, clean 75.0 %",
        "epsilon  attacked     paper certified",
        "    0.1    50.0 %    50.0 %    25.0 %",
        "   0.25    25.0 %    50.0 %     0.0 %",
        "warning: Gradients are masked.",
    ]
    assert RESULT.found_by == {"pgd": 2, "clean": 1}
    assert RESULT.n_samples == 4


WITHHELD = replace(RESULT, attacked=(None, 0.0), withheld="Gradients are masked.", warnings=())


def test_what_is_withheld_is_no_number_anywhere():
    assert str(WITHHELD).splitlines()[2].split()[1] == "withheld"
    assert str(WITHHELD).endswith("withheld: Gradients are masked.")
    assert "0.1 & withheld & " in WITHHELD.to_latex()
    again = RobustnessResult.from_dict(json.loads(json.dumps(WITHHELD.to_dict())))
    assert again == WITHHELD
    curve = WITHHELD.plot().axes[0].lines[0].get_ydata()
    assert np.isnan(curve[1])
    assert curve[2] == 0
    page = attack_page(WITHHELD, {})
    assert "<td>withheld</td>" in page
    assert "Withheld: Gradients are masked." in page
    with pytest.raises(InvalidInputError, match="withheld must say why"):
        replace(RESULT, attacked=(None, 0.0))
    table = Leaderboard({"masked": WITHHELD, "plain": RESULT}, 0.1).table()
    assert [row[:2] for row in table[1:]] == [["1", "plain"], ["-", "masked"]]
    with pytest.raises(InvalidInputError, match="radius of every result"):
        Leaderboard({"plain": RESULT}, 0.3)


def test_other_files_are_refused():
    with pytest.raises(FileFormatError, match="version"):
        RobustnessResult.from_dict({})
    with pytest.raises(FileFormatError, match="Not a robustness result"):
        RobustnessResult.from_dict({"version": 1, "clean": 0.5})


def test_curves_begin_at_the_clean_accuracy():
    figure = RESULT.plot()
    (axes,) = figure.axes
    curves = {line.get_label(): line for line in axes.lines}
    assert curves["strong protocol"].get_xydata().tolist() == [[0, 75], [0.1, 50], [0.25, 25]]
    assert curves["certified"].get_ydata().tolist() == [75, 25, 0]
    assert curves["paper's attack alone"].get_ydata().tolist() == [75, 50, 50]
    assert "1 warning" in axes.get_title()
    bare = replace(RESULT, paper=None, certified=None, warnings=())
    other = figure.add_subplot()
    assert bare.plot(other) is figure
    assert len(other.lines) == 2
