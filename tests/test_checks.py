import pickle

import numpy as np
import pytest

from ecoc import _checks
from ecoc.errors import InvalidInputError, MissingDependencyError, VerificationError


@pytest.mark.parametrize("value", [True, 1.0, "1", None, np.nan])
def test_whole_numbers_are_whole_numbers(value):
    with pytest.raises(InvalidInputError, match="n must be a whole number"):
        _checks.check_int("n", value)


def test_limits_are_named():
    assert _checks.check_int("n", np.int8(3), minimum=3, maximum=3) == 3
    with pytest.raises(InvalidInputError, match="n must be at least 2, not 1"):
        _checks.check_int("n", 1, minimum=2)
    with pytest.raises(InvalidInputError, match=r"x must be at most 1, not 1\.5"):
        _checks.check_number("x", 1.5, maximum=1)
    with pytest.raises(InvalidInputError, match="x must be at least 0, not -1"):
        _checks.check_number("x", -1, minimum=0)
    with pytest.raises(InvalidInputError, match="x must be a number"):
        _checks.check_number("x", "1")


def test_choices_suggest_the_nearest():
    with pytest.raises(InvalidInputError, match=r"not 'tow'\. Did you mean 'two'"):
        _checks.check_choice("c", "tow", ["one", "two"])
    with pytest.raises(InvalidInputError, match=r"not 3\.$"):
        _checks.check_choice("c", 3, ["one", "two"])


def test_random_states():
    rng = np.random.default_rng(0)
    assert _checks.check_random_state(rng) is rng
    assert _checks.check_random_state(5).integers(100) == np.random.default_rng(5).integers(100)
    with pytest.raises(InvalidInputError, match="at least 0"):
        _checks.check_random_state(-1)


def test_long_listings_are_counted():
    assert _checks.listing([1, 2]) == "1, 2"
    assert _checks.listing(range(9)) == "0, 1, 2, 3, 4 and 4 more"


def test_missing_libraries_come_with_the_install_line():
    with pytest.raises(MissingDependencyError, match=r"pip install 'ecoc\[zoo\]'"):
        _checks.require("no_such_module", extra="zoo")
    assert _checks.require("json").__name__ == "json"


def test_verification_errors_survive_pickling():
    error = pickle.loads(pickle.dumps(VerificationError("a.json", ["x differs", "y differs"])))
    assert str(error) == "a.json: x differs; y differs."
    assert error.differences == ("x differs", "y differs")
