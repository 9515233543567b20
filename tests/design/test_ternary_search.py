import numpy as np
import pytest

from ecoc._limits import Budget
from ecoc.bounds.ternary import separations
from ecoc.codes import Codebook
from ecoc.design.ternary_problem import TernaryProblem
from ecoc.design.ternary_search import (
    Rotations,
    anneal_columns,
    exchange_columns,
    grow_columns,
    rotations,
    target_of,
)


def covers(matrix):
    return separations(np.ascontiguousarray(matrix.T)).sum(axis=0)


@pytest.mark.parametrize("group", [Rotations(7, 3, 2), Rotations(6, 4, 1), Rotations(5)])
def test_orbits_are_what_steps_lead_to(group):
    orbits, step = group.orbits(), group.step
    k = group.n_classes
    assert sorted(step.tolist()) == list(range(k))
    for p in range(k):
        assert orbits[p, p] == -1
        for q in range(k):
            if p != q:
                assert orbits[p, q] == orbits[q, p] == orbits[step[p], step[q]]
    matrix = np.zeros((k, 1), dtype=np.int8)
    matrix[0], matrix[1] = 1, -1
    images = group.images(matrix)
    assert images.shape == (k, group.order)
    moved = np.empty_like(images)
    moved[step] = images
    assert {tuple(c) for c in moved.T} == {tuple(c) for c in images.T}


@pytest.mark.parametrize(("k", "n", "w", "target"), [(10, 20, 8, 7), (10, 30, 6, 6), (9, 36, 3, 2)])
def test_orbits_reach_what_they_say(k, n, w, target):
    problem = TernaryProblem(k, n, max_support=w)
    reached = 0
    for seed in range(3):
        for group in rotations(k, n):
            start = grow_columns(problem, n // group.order, w, seed=seed)
            matrix = anneal_columns(problem, start, target, group=group, n_moves=40_000, seed=seed)
            if matrix is not None:
                assert matrix.shape == (k, n)
                assert covers(matrix).min() >= target
                assert (matrix != 0).sum(axis=0).max() <= w
                reached += 1
    assert reached


@pytest.mark.parametrize(
    ("objective", "value"),
    [("max-min-cover", 3), ("guaranteed-errors", 1), ("max-min-distance", 9.5)],
)
def test_annealing_reaches_its_target_within_the_rules(objective, value):
    problem = TernaryProblem(
        8,
        18,
        max_support=6,
        objective=objective,
        min_column_distance=2,
        max_imbalance=0.4,
        min_cover=2,
    )
    target = target_of(problem, value)
    start = grow_columns(problem, 18, 6, seed=1)
    matrix = anneal_columns(problem, start, target, n_moves=400_000, seed=1)
    codebook = Codebook(matrix)
    assert problem.violations(codebook) == []
    assert problem.objective_of(codebook) >= value


def test_annealing_keeps_to_budget_and_work():
    problem = TernaryProblem(8, budget=66, column_cost=1.2, class_sizes=(1, 1, 1, 1, 2, 2, 2, 2))
    start = grow_columns(problem, 8, 4, seed=0)
    assert "it costs" in problem.violations(Codebook(start))[0]
    matrix = anneal_columns(problem, start, 1, n_moves=200_000)
    assert matrix is not None
    assert problem.violations(Codebook(matrix)) == []
    spent = Budget(work=1_000)
    assert anneal_columns(problem, start, 9, budget=spent) is None
    assert spent.is_spent


def test_grown_columns_differ_and_go_on_from_others():
    problem = TernaryProblem(6, 20, max_support=4)
    given = grow_columns(problem, 5, 4, seed=0)
    more = grow_columns(problem, 10, 3, seed=0, given=given)
    both = np.hstack([given, more])
    assert both.shape == (6, 15)
    Codebook(both)  # refuses equal columns
    assert (more != 0).sum(axis=0).tolist() == [3] * 10


@pytest.mark.parametrize("k", [6, 12])
def test_exchanges_never_make_it_worse(k):
    rng = np.random.default_rng(0)
    alike = rng.uniform(0, 0.9, size=(k, k)).round(2)
    alike = np.triu(alike, 1) + np.triu(alike, 1).T
    problem = TernaryProblem(
        k,
        budget=k * (k - 1.0),
        max_support=4,
        objective="weighted-cover",
        class_similarity=alike,
        pair_weights=0.5 + alike,
    )
    start = grow_columns(problem, k * (k - 1) // 4, 4, seed=0)
    better = exchange_columns(problem, start, n_rounds=60)
    before, after = (_weighted_cover(problem, matrix) for matrix in (start, better))
    assert after >= before
    assert after > 0
    assert problem.violations(Codebook(better)) == []


def _weighted_cover(problem, matrix):
    return problem._weighted_cover(np.ascontiguousarray(matrix.T))
