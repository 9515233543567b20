from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import codebooks

from ecoc.codes import Codebook, dense_random, exhaustive, one_vs_one
from ecoc.design import design_codebook
from ecoc.serving.placement import column_contrasts, place_columns

WORKERS = [f"w{number}" for number in range(6)]


@given(
    n_columns=st.integers(1, 12),
    workers=st.lists(st.sampled_from(WORKERS), min_size=1, unique=True),
    replicas=st.integers(1, 4),
    held=st.dictionaries(st.sampled_from(WORKERS), st.sets(st.integers(0, 11))),
    seed=st.none() | st.integers(0, 9),
)
def test_columns_are_spread_evenly_whatever_was_held(n_columns, workers, replicas, held, seed):
    rng = np.random.default_rng(seed)
    contrasts = None if seed is None else rng.integers(0, 3, (7, n_columns), dtype=np.int16)
    how = {"replicas": replicas, "contrasts": contrasts}
    placed = place_columns(n_columns, workers, held=held, **how)
    assert set(placed) == set(workers)
    sizes = [len(columns) for columns in placed.values()]
    assert max(sizes) - min(sizes) <= 1
    copies = [sum(column in columns for columns in placed.values()) for column in range(n_columns)]
    assert set(copies) == {min(replicas, len(workers))}
    # What is placed well stays where it is.
    assert place_columns(n_columns, workers, held=placed, **how) == placed


def test_a_lost_worker_moves_its_own_columns_alone():
    before = place_columns(20, WORKERS[:4])
    after = place_columns(20, WORKERS[1:4], held=before)
    assert all(before[worker] <= after[worker] for worker in WORKERS[1:4])


def least_left(code, placed):
    """The row distance that is left whichever worker is lost, by the definition."""
    least = np.inf
    for columns in placed.values():
        left = code.matrix[:, sorted(set(range(code.n_columns)) - set(columns))].astype(float)
        for one, other in combinations(left, 2):
            symbols = (one != other).sum() if code.n_symbols > 2 else np.abs(one - other).sum() / 2
            least = min(least, symbols)
    return least


@given(codebooks())
def test_contrasts_are_those_of_the_definition(code):
    expected = []
    for one, other in combinations(code.matrix.astype(int), 2):
        if code.n_symbols > 2:
            expected.append([2 * int(a != b) for a, b in zip(one, other, strict=True)])
        else:
            expected.append([abs(a - b) for a, b in zip(one, other, strict=True)])
    assert column_contrasts(code).tolist() == expected


def test_the_nearest_of_many_pairs_are_looked_at():
    code = Codebook(np.random.default_rng(0).choice([-1, 1], size=(110, 60)))
    contrasts = column_contrasts(code)
    assert contrasts.shape == (5000, 60)
    distances = np.sort([np.abs(a - b).sum() for a, b in combinations(code.matrix.astype(int), 2)])
    assert np.sort(contrasts.sum(axis=1)).tolist() == distances[:5000].tolist()


@pytest.mark.parametrize("n_workers", [3, 4, 5])
@pytest.mark.parametrize(
    "code",
    [
        design_codebook(10, 20, random_state=0).codebook,
        exhaustive(6),
        design_codebook(9, 15, n_symbols=3, random_state=0).codebook,
        one_vs_one(7),
        dense_random(12, 31, random_state=0),
    ],
    ids=["optimal", "exhaustive", "three symbols", "one-vs-one", "random"],
)
def test_exchanged_columns_leave_more_whichever_worker_is_lost(code, n_workers):
    workers = WORKERS[:n_workers]
    dealt = place_columns(code.n_columns, workers)
    exchanged = place_columns(code.n_columns, workers, contrasts=column_contrasts(code))
    assert least_left(code, exchanged) >= least_left(code, dealt)


def test_what_is_left_is_as_much_as_any_placement_leaves():
    code = design_codebook(6, 9, random_state=0).codebook
    placed = place_columns(9, WORKERS[:3], contrasts=column_contrasts(code))
    best = 0
    for first in combinations(range(1, 9), 2):
        rest = [column for column in range(1, 9) if column not in first]
        for second in combinations(rest, 3):
            third = set(rest) - set(second)
            best = max(best, least_left(code, {"a": {0, *first}, "b": second, "c": third}))
    assert least_left(code, placed) == best


def test_an_optimal_code_of_ten_classes_has_six_of_ten_columns_left():
    code = design_codebook(10, 20, random_state=0).codebook
    assert least_left(code, place_columns(20, WORKERS[:4])) == 5
    placed = place_columns(20, WORKERS[:4], contrasts=column_contrasts(code))
    assert least_left(code, placed) == 6


def test_what_is_held_stays_where_it_is():
    code = design_codebook(10, 20, random_state=0).codebook
    contrasts = column_contrasts(code)
    before = place_columns(20, WORKERS[:4], contrasts=contrasts)
    after = place_columns(20, WORKERS[1:4], held=before, contrasts=contrasts)
    assert all(before[worker] <= after[worker] for worker in WORKERS[1:4])


def test_nobody_holds_nothing():
    assert place_columns(3, []) == {}
