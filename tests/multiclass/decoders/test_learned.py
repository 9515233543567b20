import numpy as np
import pytest
from scipy.optimize import approx_fprime

from ecoc.codes import balanced_random, one_vs_one, one_vs_rest
from ecoc.errors import InvalidInputError
from ecoc.multiclass.decoders import Learned, LogLikelihood, LossBased
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


def test_corrections_of_symbols_are_learned():
    generator = np.random.default_rng(0)
    code = balanced_random(6, 8, n_symbols=3, random_state=0)
    targets = generator.integers(6, size=900)
    answers = code.matrix[targets].copy()
    # Column 0 has its symbols exchanged, and column 1 says nothing.
    answers[:, 0] = (answers[:, 0] + 1) % 3
    answers[:, 1] = generator.integers(3, size=900)
    noisy = generator.random(answers.shape) < 0.35
    answers[noisy] = generator.integers(3, size=noisy.sum())
    votes = np.eye(3)[answers]
    decoder = Learned().fit(votes[:600], targets[:600], code.matrix)
    assert decoder.coefficients.shape == (6, 8, 3)
    assert decoder.penalty < 10
    held_out = votes[600:], code.matrix
    learned = (decoder(*held_out).argmax(axis=1) == targets[600:]).mean()
    plain = (LogLikelihood()(*held_out).argmax(axis=1) == targets[600:]).mean()
    assert learned > plain + 0.05
    # Without the two columns nothing is left to be corrected.
    rest = decoder(*held_out, missing_columns=[0, 1]).argmax(axis=1)
    assert (rest == targets[600:]).mean() > plain


def test_with_the_largest_penalty_the_likelihood_of_symbols_decides():
    generator = np.random.default_rng(0)
    code = balanced_random(6, 8, n_symbols=3, random_state=0)
    targets = np.arange(600) % 6
    logits = 2 * np.eye(3)[code.matrix[targets]] + generator.normal(size=(600, 8, 3))
    scores = np.exp(logits) / np.exp(logits).sum(axis=2, keepdims=True)
    decoder = Learned(penalty=1e6).fit(scores, targets, code.matrix)
    same = decoder(scores, code.matrix).argmax(axis=1)
    assert (same == LogLikelihood()(scores, code.matrix).argmax(axis=1)).mean() > 0.98
