import subprocess
import sys
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecoc._limits import Budget
from ecoc.codes.measures import distances
from ecoc.constructions import construct
from ecoc.constructions.blocks import Goal
from ecoc.constructions.construct import exchange_columns
from ecoc.errors import InfeasibleError, InvalidInputError


def averaging_bound(k, length):
    bound = length * (k * k // 4) // comb(k, 2)
    if bound % 2 and (length + 1) * (k * k // 4) // comb(k, 2) < bound + 1:
        bound -= 1
    return bound


@pytest.mark.parametrize("k", range(5, 67, 4))
def test_codes_meet_the_bound(k):
    lengths = range((k + 1) // 2 + 2, 3 * k + 1)
    for length in {lengths[0], *lengths[:: max(1, len(lengths) // 4)], 2 * k, lengths[-1]}:
        bound = averaging_bound(k, length)
        code = construct(k, length, random_state=0, target_distance=bound)
        lost = (k, length) in {(5, 13), (5, 14), (6, 14), (6, 16), (6, 17)}
        assert code.min_row_distance == bound - lost
        assert code.min_column_distance() >= 1


@pytest.mark.parametrize("k", range(10, 19))
@pytest.mark.parametrize("separation", ["two-sided", "one-sided"])
def test_twice_as_many_columns_as_classes(k, separation):
    code = construct(k, 2 * k, min_column_distance=k // 3, separation=separation, random_state=0)
    assert code.min_row_distance == k + k % 2
    assert code.min_column_distance(separation) >= k // 3


@pytest.mark.parametrize("k", [19, 25, 31, 37, 45, 52, 61, 66])
def test_larger_codes_keep_columns_apart(k):
    code = construct(k, 2 * k, min_column_distance=k // 3, random_state=0)
    assert code.min_row_distance == k + k % 2
    assert code.min_column_distance() >= k // 3


@pytest.mark.parametrize("k", [93, 117, 128, 200])
def test_orders_that_need_turyn_type_sequences_and_large_ones(k):
    code = construct(k, 2 * k, random_state=0, target_distance=k + k % 2)
    assert code.min_row_distance == k + k % 2


def test_the_one_sided_rule_can_reach_further():
    # By the two-sided rule no more than 4 is possible here (Grey & Rankin's bound).
    code = construct(12, 24, min_column_distance=5, separation="one-sided", random_state=0)
    assert code.min_row_distance == 12
    assert code.min_column_distance("one-sided") == 5
    assert construct(12, 24, min_column_distance=5, random_state=0) is None


def test_the_same_seed_gives_the_same_codebook():
    first, again = (construct(14, 30, random_state=3) for _ in range(2))
    assert first == again
    assert first.provenance.seed == 3
    assert construct(14, 30, random_state=4) != first


def test_provenance_tells_how():
    code = construct(12, 24, random_state=0)
    assert code.name == code.provenance.method == "hadamard"
    assert code.provenance.parameters["blocks"] == ["B24"]
    assert construct(20, 9, random_state=0).provenance.method == "conference"
    assert construct(8, 21, random_state=0).provenance.method == "column-exchange"


@given(st.integers(2, 40), st.integers(1, 60), st.integers(0, 3))
def test_whatever_comes_back_is_a_codebook_that_keeps_its_promise(k, length, seed):
    if length > 2 ** (k - 1) - 1 or 2**length < k:
        with pytest.raises(InfeasibleError):
            construct(k, length)
        return
    code = construct(k, length, random_state=seed, target_distance=1)
    if code is not None:
        assert (code.n_classes, code.n_columns) == (k, length)
        assert code.is_binary
        assert code.min_row_distance <= averaging_bound(k, length)


def test_what_cannot_be_met_gives_nothing():
    assert construct(12, 24, min_column_distance=7, random_state=0) is None


def test_bad_requests():
    with pytest.raises(InfeasibleError, match="only 7 different columns"):
        construct(4, 8)
    with pytest.raises(InfeasibleError, match="at least 4 columns"):
        construct(9, 3)
    with pytest.raises(InvalidInputError, match="separation must be one of"):
        construct(10, 20, separation="both")
    with pytest.raises(InvalidInputError, match="min_column_distance must be at least 1"):
        construct(10, 20, min_column_distance=0)
    with pytest.raises(InvalidInputError, match="time_limit"):
        construct(10, 20, time_limit=-1)


def test_a_time_limit_still_gives_the_first_code_found():
    assert construct(40, 80, time_limit=0, random_state=0).min_row_distance == 40


def test_column_exchange_finds_designs_without_repeats():
    code = exchange_columns(8, 21, 12, Goal(1), np.random.default_rng(0), budget=Budget())
    assert (distances(code)[~np.eye(8, dtype=bool)] == 12).all()
    assert exchange_columns(4, 8, 1, Goal(1), np.random.default_rng(0), budget=Budget()) is None


def test_the_import_is_light():
    code = "import sys, ecoc.constructions as c; print({'numba', 'scipy'} & set(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "set()"
