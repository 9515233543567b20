from math import exp, log

import numpy as np
import pytest
from hypothesis import given
from tests.multiclass.cases import decodings

from ecoc.errors import InvalidInputError
from ecoc.multiclass.decoders import LOSSES, LossBased, LossWeighted

BY_HAND = {
    "hinge": lambda z: max(0, 1 - z) / 2,
    "exponential": lambda z: exp(-z) / 2,
    "logistic": lambda z: log(1 + exp(-z)) / (2 * log(2)),
    "binary-deviance": lambda z: log(1 + exp(-2 * z)) / (2 * log(2)),
    "squared": lambda z: (1 - z) ** 2 / 2,
    "linear": lambda z: (1 - z) / 2,
}


def test_every_loss_is_one_half_at_the_boundary():
    assert set(BY_HAND) == set(LOSSES)
    for loss in LOSSES.values():
        assert float(loss(np.zeros(1))[0]) == pytest.approx(0.5)


@pytest.mark.parametrize("loss", LOSSES)
@given(case=decodings())
def test_losses_against_a_loop(loss, case):
    code, scores = case
    plain, mean = LossBased(loss), LossBased(loss, normalise=True)
    sums = [
        [sum(BY_HAND[loss](m * f) for m, f in zip(row, sample, strict=True)) for row in code.matrix]
        for sample in scores.tolist()
    ]
    means = [
        [
            np.mean([BY_HAND[loss](m * f) for m, f in zip(row, sample, strict=True) if m])
            for row in code.matrix
        ]
        for sample in scores.tolist()
    ]
    assert plain(scores, code.matrix) == pytest.approx(-np.array(sums), rel=1e-9)
    assert mean(scores, code.matrix) == pytest.approx(-np.array(means), rel=1e-9)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_score_is_too_large(loss):
    matrix = [[1, 1], [1, -1], [-1, 1]]
    found = LossBased(loss)([[1e6, -1e6]], matrix)
    assert np.isfinite(found).all()
    assert found.argmax() == 1


def test_a_class_that_lost_all_its_columns_counts_one_half():
    found = LossBased("linear", normalise=True)([[0.5, np.nan]], [[1, 1], [-1, 1], [0, -1]])
    assert found == pytest.approx(np.array([[-0.25, -0.75, -0.5]]))


@given(case=decodings())
def test_weights_are_shares_of_right_answers(case):
    code, scores = case
    targets = np.arange(len(scores)) % code.n_classes
    decoder = LossWeighted("hinge").fit(scores, targets, code.matrix)
    for i in range(code.n_classes):
        for j in range(code.n_columns):
            right = [code.matrix[i, j] * f > 0 for f in scores[targets == i, j]]
            expected = np.mean(right) if right else 0
            assert decoder.weights[i, j] == pytest.approx(expected)
    found = decoder(scores, code.matrix)
    for i, row in enumerate(code.matrix):
        weights = decoder.weights[i] * np.abs(row)
        weights = weights if weights.sum() else np.abs(row)
        loss = [BY_HAND["hinge"](z) for z in row * scores[0]]
        assert found[0, i] == pytest.approx(-np.dot(weights / weights.sum(), loss))


def test_weights_follow_sample_weights_and_erasures():
    matrix = np.array([[1, 1], [-1, 1], [1, -1]])
    scores = np.array([[1.0, -1.0], [1.0, 1.0], [-1.0, 1.0], [1.0, -1.0]])
    decoder = LossWeighted().fit(
        scores, [0, 0, 1, 2], matrix, sample_weight=np.array([1.0, 3.0, 1.0, 1.0])
    )
    assert decoder.weights[0] == pytest.approx([1, 0.75])
    assert decoder.restricted(np.array([1])).weights[:, 0] == pytest.approx([0.75, 1, 1])


def test_what_cannot_be_is_refused():
    with pytest.raises(InvalidInputError, match="Did you mean 'hinge'"):
        LossBased("hing")
    with pytest.raises(InvalidInputError, match="must be fitted"):
        LossWeighted()([[1.0]], [[1], [-1]])
