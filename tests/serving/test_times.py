import numpy as np
import pytest

from ecoc.serving.times import AnswerTimes


def learned(seconds, n_rows=10):
    times = AnswerTimes()
    for each in seconds:
        times.see(n_rows, float(each))
    return times.late_after(n_rows)


@pytest.mark.parametrize("sigma", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("median", [0.01, 3.0])
def test_late_is_after_99_of_100_answers(sigma, median):
    rng = np.random.default_rng(0)
    seconds = median * np.exp(sigma * rng.standard_normal((200, 256)))
    shares = [(seconds > learned(some)).mean() for some in seconds]
    assert 0.003 < np.median(shares) < 0.03


@pytest.mark.parametrize("share", [0.1, 0.2, 0.25, 0.33, 0.4])
def test_answers_that_lag_behind_are_not_what_is_usual(share):
    rng = np.random.default_rng(0)
    for sigma in (0.1, 0.3):
        sound = 0.01 * np.exp(sigma * rng.standard_normal(256))
        late = sound * np.where(rng.random(256) < share, 100.0, 1.0)
        assert learned(late) < 4 * learned(sound)


def test_nothing_is_waited_for_longer_than_anything_took():
    # Half of the answers are a thousand times as late as the others.
    assert learned([0.01] * 127 + [10.0] * 129) == pytest.approx(15.0)
    assert learned([0.01] * 60 + [1.0] * 40) == pytest.approx(0.015)
    assert learned([0.01] * 30 + [0.1] * 73 + [0.3]) == pytest.approx(0.3)


def test_what_was_long_ago_is_forgotten():
    slow, quick = [1.0] * 1000, [0.01] * 256
    assert learned(slow) == pytest.approx(1.5)
    assert learned(slow + quick) == pytest.approx(0.015)
    assert learned(quick + slow[:200]) == pytest.approx(1.5)


def test_few_answers_and_no_time_at_all():
    assert learned([0.01] * 31) == 0.2
    assert learned([0.01] * 32) == pytest.approx(0.015)
    # Nobody gains by answers that are sooner than that.
    assert learned([0.0] * 100) == learned([0.001] * 100) == 0.005


def test_each_size_has_its_own_times():
    times = AnswerTimes()
    for _ in range(100):
        times.see(1, 0.01)
        times.see(1000, 1.0)
    assert times.late_after(1) == pytest.approx(0.015)
    assert times.late_after(1000) == times.late_after(600) == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("known", "late"),
    [
        ({1000: 1.0}, 1.5),
        ({10: 0.01}, 0.015 * 1.5**2),
        ({1: 0.1}, 0.2),
        ({10: 1.0}, 1.5),
        ({}, 0.2),
    ],
    ids=["larger", "smaller", "much smaller", "smaller and slow", "nothing"],
)
def test_a_size_that_is_not_known_has_the_times_of_others(known, late):
    times = AnswerTimes()
    for n_rows, seconds in known.items():
        for _ in range(32):
            times.see(n_rows, seconds)
    for _ in range(31):  # too few
        times.see(40, 0.001)
    assert times.late_after(40) == pytest.approx(late)
