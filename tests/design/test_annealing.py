"""Runs of annealing, whose results are counted again."""

import numpy as np
import pytest

from ecoc._limits import Budget
from ecoc.codes.measures import distances
from ecoc.design._annealing import Rules, anneal


def rules(k, length, distance, *, rho=1, limit=None, targets=None):
    """Rules in which every pair of rows has one goal, or targets of its own."""
    return Rules(
        k=k,
        length=length,
        goals=np.full((k, k), distance, dtype=np.int64),
        product_low=-(k - 2 * rho),
        product_high=k - 2 * rho,
        sizes=np.ones(k, dtype=np.int64),
        limit=k if limit is None else limit,
        targets=np.zeros((0, 0)) if targets is None else targets,
    )


def between(matrix):
    return distances(matrix)[np.triu_indices(len(matrix), 1)]


@pytest.mark.parametrize("seed", range(3))
def test_a_solution_keeps_every_rule(seed):
    matrix, done = anneal(rules(8, 14, 7, rho=2, limit=4), seed, 200_000, Budget())
    assert 0 < done <= 200_000
    assert matrix.shape == (8, 14)
    assert between(matrix).min() >= 7
    products = matrix.T.astype(int) @ matrix
    assert np.abs(products[np.triu_indices(14, 1)]).max() <= 8 - 2 * 2
    assert np.abs(matrix.sum(axis=0, dtype=int)).max() <= 4


def test_targets_are_met_where_they_can_be():
    wanted = distances(anneal(rules(5, 8, 4), 0, 100_000, Budget())[0]).astype(float)
    matrix, _ = anneal(rules(5, 8, 0, targets=wanted), 1, 200_000, Budget())
    assert (distances(matrix) == wanted).all()


def test_one_seed_gives_one_matrix():
    first, second = (anneal(rules(7, 12, 6), 3, 50_000, Budget())[0] for _ in "ab")
    assert np.array_equal(first, second)


def test_moves_are_paid_for():
    budget = Budget(work=1000)
    _, done = anneal(rules(10, 20, 11), 0, 100_000, budget)
    assert done == -(-1000 // 30)


def test_without_work_nothing_is_done():
    matrix, done = anneal(rules(10, 20, 11), 0, 100_000, Budget(work=0))
    assert matrix is None
    assert done == 0
