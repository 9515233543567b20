import numpy as np
import pytest
from scipy.optimize import approx_fprime

from ecoc.codes import one_vs_one, one_vs_rest
from ecoc.errors import InvalidInputError
from ecoc.multiclass.decoders import Learned, LossBased
from ecoc.multiclass.decoders.learned import _Regression, softmax, stratified_folds


def noisy(n=400, seed=0):
    """Scores of which the first column is noise and the second has its sides exchanged."""
    generator = np.random.default_rng(seed)
    matrix = one_vs_rest(5).matrix
    targets = generator.integers(5, size=n)
    scores = 2 * matrix[targets] + generator.normal(size=(n, 5))
    scores[:, 0] = generator.normal(scale=5, size=n)
    scores[:, 1] *= -1
    return matrix, targets, scores


def test_bad_columns_are_found_out():
    matrix, targets, scores = noisy()
    _, truth, fresh = noisy(seed=1)
    decoder = Learned().fit(scores, targets, matrix)
    plain = (LossBased("linear")(fresh, matrix).argmax(axis=1) == truth).mean()
    learned = (decoder(fresh, matrix).argmax(axis=1) == truth).mean()
    assert learned > plain + 0.2


def test_a_large_penalty_leaves_the_codebook():
    matrix, targets, scores = noisy()
    decoder = Learned(penalty=1e9).fit(scores, targets, matrix)
    scale = np.sqrt((np.tanh(scores / 2) ** 2).mean(axis=0))
    ratio = decoder.coefficients * scale / matrix
    assert ratio == pytest.approx(np.full(matrix.shape, ratio[0, 0]), abs=1e-6)


def test_the_gradient_is_that_of_the_loss():
    generator = np.random.default_rng(0)
    matrix = one_vs_one(4).matrix.astype(float)
    regression = _Regression(
        generator.normal(size=(20, 6)),
        generator.integers(4, size=20),
        matrix,
        generator.uniform(size=20),
    )
    point = generator.normal(size=1 + 4 + 24)
    numeric = approx_fprime(point, lambda x: regression.loss(x, 0.3)[0])
    assert regression.loss(point, 0.3)[1] == pytest.approx(numeric, abs=1e-5)


def test_weights_count_samples_several_times():
    matrix, targets, scores = noisy(60)
    weights = np.random.default_rng(0).integers(1, 4, size=60)
    weighted = Learned(penalty=0.1).fit(
        scores, targets, matrix, sample_weight=weights.astype(float)
    )
    repeated = Learned(penalty=0.1).fit(
        scores.repeat(weights, axis=0), targets.repeat(weights), matrix
    )
    first, second = weighted(scores, matrix), repeated(scores, matrix)
    assert softmax(first) == pytest.approx(softmax(second), abs=0.02)


def test_erased_columns_say_nothing():
    matrix, targets, scores = noisy(100)
    decoder = Learned(penalty=0.1).fit(scores, targets, matrix)
    expected = decoder.class_scores(np.where(np.arange(5) == 2, 0, scores), matrix)
    assert decoder(scores, matrix, missing_columns=[2]) == pytest.approx(expected)


def test_every_class_stays_in_the_training_part_of_every_fold():
    targets = np.array([0] * 7 + [1] * 2 + [2])
    folds = stratified_folds(targets, 5, seed=0)
    assert folds[-1] == -1
    for fold in range(5):
        assert set(targets[folds != fold]) == {0, 1, 2}


@pytest.mark.parametrize(
    ("parameters", "message"), [({"penalty": 0}, "penalty"), ({"n_folds": 1}, "n_folds")]
)
def test_parameters_are_checked(parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        Learned(**parameters)


def test_it_must_be_fitted():
    with pytest.raises(InvalidInputError, match="fitted"):
        Learned()([[1.0]], [[1], [-1]])
