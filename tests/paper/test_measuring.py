from pathlib import Path

import numpy as np
import pytest

from ecoc.datasets import load_dataset
from ecoc.errors import InvalidInputError
from ecoc.paper.measuring import Workspace, draw, proportion_error, summarise


def test_parts_of_a_draw_come_from_their_own_side():
    toy = load_dataset("toy")
    drawn = draw(toy, 30, 20, seed=3)
    train = {tuple(row) for row in toy.X_train}
    assert len(drawn.y_train) == 30
    assert len(drawn.y_test) == 20
    assert all(tuple(row) in train for row in drawn.X_train)
    assert not any(tuple(row) in train for row in drawn.X_test)


def test_draw_repeats_itself():
    digits = load_dataset("digits")
    first, again, other = (draw(digits, 100, 50, seed) for seed in (0, 0, 1))
    assert np.array_equal(first.X_train, again.X_train)
    assert not np.array_equal(first.X_train, other.X_train)


def test_sets_without_custom_are_cut_without_overlap():
    digits = load_dataset("digits")
    drawn = draw(digits, None, None, seed=0)
    assert drawn.sizes == {"train": 1258, "test": 539}
    assert drawn.X_train.sum() + drawn.X_test.sum() == digits.X.sum()


def test_subset_is_told():
    told = draw(load_dataset("digits"), 10, None, 5, stands_for="mnist").subset
    assert told == (
        "10 of 1,258 training samples (seed 5), all 539 test samples of digits, "
        "standing in for mnist"
    )


def test_smoke_needs_no_files(tmp_path):
    assert Workspace(tmp_path, "smoke").dataset("cifar10").name == "digits"
    assert Workspace(tmp_path, "smoke").dataset("toy").name == "toy"


def test_unknown_scale():
    with pytest.raises(InvalidInputError, match="Did you mean 'quick'"):
        Workspace(Path(), "quik")


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
