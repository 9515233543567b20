import numpy as np
import pytest

from ecoc.experiments.summaries import proportion_error, summarise


def test_plain_standard_error():
    values = np.random.default_rng(0).normal(80, 3, size=40)
    means, errors = summarise([{"a": value} for value in values])
    assert means["a"] == pytest.approx(values.mean(), abs=1e-3)
    assert errors["a"] == pytest.approx(values.std(ddof=1) / np.sqrt(40), abs=1e-3)


def test_overlapping_training_sets_widen_the_error():
    values = [{"a": value} for value in (70.0, 75.0, 80.0)]
    narrow, wide = summarise(values)[1]["a"], summarise(values, test_share=3 / 7)[1]["a"]
    assert wide / narrow == pytest.approx(np.sqrt(1 + 3 * 3 / 7), rel=1e-3)


def test_one_repetition_has_no_error():
    assert summarise([{"a": 70.0}]) == ({"a": 70.0}, {})


@pytest.mark.parametrize("percent", [0, 100])
def test_all_or_none_is_not_certain(percent):
    assert 0 < proportion_error(percent, 1000) < proportion_error(percent, 10)


def test_proportion_error_against_simulation():
    draws = np.random.default_rng(0).binomial(200, 0.3, size=20_000) / 2
    assert proportion_error(30, 200) == pytest.approx(draws.std(), rel=0.03)
