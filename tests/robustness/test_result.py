import json
from dataclasses import replace

import pytest

from ecoc.errors import FileFormatError
from ecoc.robustness import RobustnessResult

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
