import math

import pytest

from ecoc._limits import Budget, check_deadline, deadline, seconds_left
from ecoc.errors import TimeLimitError


def test_without_a_deadline_nothing_is_late():
    check_deadline()
    assert seconds_left(7.0) == 7.0
    with deadline(None):
        check_deadline()
        assert seconds_left(7.0) == 7.0


def test_what_is_late_is_told_with_its_limit():
    with deadline(-1.0), pytest.raises(TimeLimitError, match="not done within -1 seconds"):
        check_deadline()


def test_deadlines_nest_and_the_outer_one_comes_back():
    with deadline(1000.0):
        with deadline(-1.0):
            assert seconds_left(5.0) == 0.0
        assert 0 < seconds_left(math.inf) <= 1000
        assert seconds_left(5.0) == 5.0
    assert seconds_left(math.inf) == math.inf


def test_a_deadline_goes_even_when_the_work_fails():
    with pytest.raises(ZeroDivisionError), deadline(-1.0):
        raise ZeroDivisionError
    check_deadline()


def test_work_is_spent_by_whoever_does_it():
    budget = Budget(work=3)
    assert budget.is_limited
    budget.spend(2)
    assert not budget.is_spent
    budget.spend(1)
    assert budget.is_spent
    assert not budget.is_late


def test_time_ends_a_budget_too():
    budget = Budget(deadline=0.0)
    assert budget.is_limited
    assert budget.is_late
    assert budget.is_spent
    assert not Budget().is_limited
    assert not Budget().is_spent
