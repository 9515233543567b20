import numpy as np
import pytest

from ecoc.codes import dense_random, one_vs_one
from ecoc.errors import InvalidInputError
from ecoc.multiclass import LossBased, SelfHealing


def failed_columns(n_failed, seed=0):
    generator = np.random.default_rng(seed)
    matrix = dense_random(8, 24, n_candidates=200, random_state=seed).matrix
    truth = generator.integers(8, size=600)
    scores = matrix[truth] + generator.normal(scale=0.7, size=(600, 24))
    scores[:, :n_failed] *= -1
    return matrix, truth, scores


def test_flipped_columns_are_turned_round():
    matrix, truth, scores = failed_columns(8)
    plain = (LossBased()(scores, matrix).argmax(axis=1) == truth).mean()
    healed = (SelfHealing()(scores, matrix).argmax(axis=1) == truth).mean()
    assert plain < 0.7
    assert healed > 0.95


def test_sound_columns_lose_next_to_nothing():
    matrix, truth, scores = failed_columns(0)
    plain = (LossBased("linear")(scores, matrix).argmax(axis=1) == truth).mean()
    healed = (SelfHealing()(scores, matrix).argmax(axis=1) == truth).mean()
    assert healed >= plain - 0.01


def test_one_round_by_hand():
    matrix = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1]])
    scores = np.array([[0.5, 0.4, 0.3], [2.0, -1.0, -0.2], [-0.5, 0.1, 0.9], [0.2, 0.3, -0.1]])
    bounded = np.clip(scores, -1, 1)
    decided = (bounded @ matrix.T).argmax(axis=1)
    right = [sum(matrix[decided[i], j] * scores[i, j] > 0 for i in range(4)) for j in range(3)]
    weights = np.log([(r + 0.5) / (4.5 - r) for r in right])
    assert SelfHealing(max_iter=1)(scores, matrix) == pytest.approx((bounded * weights) @ matrix.T)


def test_codes_with_zeros_are_refused():
    with pytest.raises(InvalidInputError, match="zeros"):
        SelfHealing()([[1.0, 1.0, 1.0]], one_vs_one(3).matrix)
