from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecoc.codes import dense_random
from ecoc.codes.columns import columns_to_matrix
from ecoc.design import DesignProblem, _annealing
from ecoc.design.search import search_codebook
from ecoc.errors import InvalidInputError


@pytest.mark.parametrize(
    ("k", "length", "rho", "optimum", "rule"),
    [
        (2, 1, None, 1, "two-sided"),
        (3, 3, None, 2, "two-sided"),
        (5, 10, None, 6, "two-sided"),
        (5, 10, None, 6, "one-sided"),
        (5, 10, None, 6, "literal"),
        (8, 16, 2, 8, "literal"),
        (10, 20, 3, 10, "two-sided"),
    ],
)
def test_known_optima_are_found(k, length, rho, optimum, rule):
    problem = DesignProblem(k, length, min_column_distance=rho, separation=rule)
    found = search_codebook(problem, random_state=0)
    assert found.objective == optimum
    assert found.codebook.min_row_distance == optimum
    assert not problem.violations(found.codebook)


@given(st.integers(3, 7), st.integers(4, 10), st.data())
def test_what_is_found_satisfies_the_problem(k, length, data):
    sizes = data.draw(st.none() | st.lists(st.integers(1, 9), min_size=k, max_size=k))
    problem = DesignProblem(
        k,
        length,
        min_column_distance=data.draw(st.integers(1, k // 2)),
        separation=data.draw(st.sampled_from(["two-sided", "one-sided", "literal"])),
        max_imbalance=data.draw(st.sampled_from([None, 0.2, 0.5])),
        class_sizes=sizes,
    )
    found = search_codebook(problem, n_starts=1, n_moves=20_000, random_state=0)
    if found.codebook is not None:
        assert not problem.violations(found.codebook)
        assert found.objective == problem.objective_of(found.codebook)


def test_targets_are_met_where_they_can_be():
    code = dense_random(6, 9, random_state=0)
    problem = DesignProblem(
        6, 9, objective="target-distances", target_distances=code.row_distances()
    )
    found = search_codebook(problem, bound=0, random_state=0)
    assert found.objective == 0
    np.testing.assert_array_equal(found.codebook.row_distances(), code.row_distances())


def test_one_seed_gives_one_codebook():
    problem = DesignProblem(9, 14)
    first, second = (
        search_codebook(problem, n_starts=2, n_moves=50_000, random_state=4) for _ in "ab"
    )
    assert first.codebook == second.codebook
    assert first.n_moves == second.n_moves


def test_parallel_runs_find_the_same():
    problem = DesignProblem(9, 14)
    alone, together = (
        search_codebook(problem, n_starts=2, n_moves=50_000, random_state=4, n_jobs=n)
        for n in (1, 2)
    )
    assert alone.codebook.min_row_distance == together.codebook.min_row_distance


def test_a_start_is_never_made_worse():
    start = dense_random(10, 20, random_state=0)
    problem = DesignProblem(10, 20)
    found = search_codebook(problem, start=start, n_starts=1, n_moves=1, random_state=0)
    assert found.objective >= start.min_row_distance
    assert search_codebook(problem, start=start, time_limit=0).codebook == start


def test_interrupting_keeps_the_best(monkeypatch):
    start = dense_random(10, 20, random_state=0)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_annealing, "anneal", interrupt)
    assert search_codebook(DesignProblem(10, 20), start=start).codebook == start


def test_progress_tells_each_better_codebook():
    values = []
    search_codebook(
        DesignProblem(8, 16),
        n_starts=1,
        random_state=0,
        start=dense_random(8, 16, random_state=0),
        progress=lambda _, value: values.append(value),
    )
    assert values == sorted(set(values))
    assert values[-1] == 8


def test_nothing_below_what_is_of_use_comes_back():
    problem = DesignProblem(9, 18, min_column_distance=3)
    found = search_codebook(problem, at_least=10, n_moves=50_000, n_starts=1, random_state=0)
    assert found.codebook is None


def test_weighted_distances_against_all_codebooks():
    rng = np.random.default_rng(0)
    for _ in range(4):
        triangle = np.triu(rng.choice([0.5, 1.0, 2.0], size=(4, 4)), 1)
        weights = triangle + triangle.T
        problem = DesignProblem(4, 4)
        best = 0.0
        for columns in combinations(range(1, 8), 4):
            matrix = columns_to_matrix(columns, 4).astype(int)
            distances = (4 - matrix @ matrix.T) // 2
            best = max(best, (weights * distances)[np.triu_indices(4, 1)].min())
        found = search_codebook(problem, pair_weights=weights, random_state=0, n_moves=100_000)
        assert found.objective == best
        achieved = (weights * found.codebook.row_distances())[np.triu_indices(4, 1)].min()
        assert achieved == best


def test_equal_weights_change_nothing_but_the_scale():
    weights = np.full((6, 6), 2.0)
    found = search_codebook(
        DesignProblem(6, 10), pair_weights=weights, n_starts=2, n_moves=200_000, random_state=0
    )
    assert found.objective == 12


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones((3, 3)), "shape"),
        (-np.ones((4, 4)), "positive"),
        (np.triu(np.ones((4, 4))) + 1, "symmetric"),
        ([["a"]], "matrix of numbers"),
    ],
)
def test_weights_are_checked(weights, message):
    with pytest.raises(InvalidInputError, match=message):
        search_codebook(DesignProblem(4, 5), pair_weights=weights)


def test_weights_and_targets_exclude_each_other():
    problem = DesignProblem(4, 5, objective="target-distances", target_distances=np.full((4, 4), 2))
    with pytest.raises(InvalidInputError, match="max-min-distance"):
        search_codebook(problem, pair_weights=np.ones((4, 4)))


def test_settings_are_checked():
    for wrong in ({"n_starts": 0}, {"n_moves": 0}, {"time_limit": -1}):
        with pytest.raises(InvalidInputError):
            search_codebook(DesignProblem(4, 6), **wrong)
