import json

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
