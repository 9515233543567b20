# ruff: noqa: N806  # X is what scikit-learn calls it
import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.multiclass.cases import blobs

from ecoc.codes import balanced_random, dense_random, exhaustive, one_vs_one, one_vs_rest
from ecoc.errors import InvalidInputError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.decoders import LossBased, SelfHealing, Soft


def failed_columns(n_failed, seed=0, n_samples=600):
    generator = np.random.default_rng(seed)
    matrix = dense_random(8, 24, n_candidates=200, random_state=seed).matrix
    truth = generator.integers(8, size=n_samples)
    scores = matrix[truth] + generator.normal(scale=0.7, size=(n_samples, 24))
    scores[:, :n_failed] *= -1
    return matrix, truth, scores


def accuracy(decoder, scores, matrix, truth):
    return (decoder(scores, matrix).argmax(axis=1) == truth).mean()


def test_flipped_columns_are_turned_round():
    matrix, truth, scores = failed_columns(8)
    assert accuracy(LossBased(), scores, matrix, truth) < 0.7
    assert accuracy(SelfHealing(), scores, matrix, truth) > 0.95
    assert SelfHealing().healed_columns(scores, matrix) == tuple(range(8))


@pytest.mark.parametrize("failure", ["random", "stuck"])
def test_columns_that_say_nothing_are_left_out(failure):
    matrix, truth, scores = failed_columns(0)
    # Stuck on one side of few classes, a column would hardly be wrong.
    lost = np.sort(np.argsort(np.abs(matrix.sum(axis=0)), kind="stable")[:4]).tolist()
    generator = np.random.default_rng(1)
    scores[:, lost] = (
        generator.choice([-2.0, 2.0], size=(600, 4)) if failure == "random" else np.full(4, 2.0)
    )
    assert SelfHealing().healed_columns(scores, matrix) == tuple(lost)
    without = LossBased()(scores, matrix, missing_columns=lost).argmax(axis=1)
    found = SelfHealing()(scores, matrix).argmax(axis=1)
    assert (found == truth).mean() >= (without == truth).mean() - 0.01


def test_sound_columns_are_left_as_they_are():
    matrix, _, scores = failed_columns(0)
    assert np.array_equal(SelfHealing()(scores, matrix), LossBased()(scores, matrix))
    assert SelfHealing().healed_columns(scores, matrix) == ()


def test_a_healed_batch_by_hand():
    # Perfect answers, but column 4 is flipped and column 7 right about half of the samples.
    matrix = exhaustive(5).matrix
    truth = np.arange(60) % 5
    scores = 0.5 * matrix[truth]
    scores[:, 4] *= -1
    scores[::2, 7] *= -1
    assert binom.sf(29, 60, 1 / 3) > 1e-3 / 15 > binom.sf(59, 60, 1 / 3)
    # Half of 60 may be chance, so only column 4 is turned round, and counts 60/61.
    loss = np.maximum(0, 1 - scores[:, None, :] * matrix * np.where(np.arange(15) == 4, -1, 1))
    expected = -(loss * np.where(np.arange(15) == 4, 60 / 61, 1)).sum(axis=2)
    ratio = SelfHealing()(scores, matrix) / expected
    assert ratio == pytest.approx(ratio[0, 0])


@pytest.mark.parametrize(
    ("n_samples", "n_classes", "healed"), [(49, 5, False), (50, 5, True), (55, 7, False)]
)
def test_small_batches_are_no_evidence(n_samples, n_classes, healed):
    matrix = exhaustive(n_classes).matrix
    scores = 1.0 * matrix[np.arange(n_samples) % n_classes]
    scores[:, 3] *= -1
    assert SelfHealing().healed_columns(scores, matrix) == ((3,) if healed else ())


@pytest.mark.parametrize("code", [one_vs_rest(6), one_vs_one(6), exhaustive(3)])
def test_codes_that_cannot_afford_it_are_left_alone(code):
    truth = np.arange(200) % code.n_classes
    scores = code.matrix[truth] + np.random.default_rng(0).normal(scale=0.3, size=(200, 1))
    scores[:, 0] *= -1
    plain = LossBased("hinge", normalise=not code.is_binary)
    assert np.array_equal(SelfHealing()(scores, code.matrix), plain(scores, code.matrix))
    assert SelfHealing().healed_columns(scores, code.matrix) == ()
    scores[::3, 1] = np.nan
    assert SelfHealing()(scores, code.matrix).argmax(axis=1) == pytest.approx(
        plain(scores, code.matrix).argmax(axis=1)
    )


def test_samples_that_lost_scores_count_as_one_batch():
    matrix, truth, scores = failed_columns(8)
    generator = np.random.default_rng(2)
    scores[generator.random(scores.shape) < 0.1] = np.nan
    scores[:, 20] = np.nan
    assert SelfHealing().healed_columns(scores, matrix) == tuple(range(8))
    assert accuracy(SelfHealing(), scores, matrix, truth) > 0.93


def chosen_batches(scores, matrix, truth, size):
    """Batches that plain decoding gets all right, chosen so that columns look bad."""
    right = np.flatnonzero(LossBased()(scores, matrix).argmax(axis=1) == truth)
    wrong = scores[right] * matrix[truth[right]] <= 0
    count = wrong.sum(axis=1)
    yield right[np.argsort(-count, kind="stable")[:size]]
    for column in range(matrix.shape[1]):
        for then in (count, -count):
            yield right[np.lexsort((then, ~wrong[:, column]))[:size]]
    for row in range(len(matrix)):
        yield right[truth[right] == row][:size]


@pytest.mark.parametrize("codebook", ["optimal", "one-vs-rest", "dense-random"])
@pytest.mark.parametrize(
    "learner",
    [LogisticRegression(C=0.1), DecisionTreeClassifier(max_depth=5, random_state=0), SVC()],
)
def test_healthy_models_are_not_harmed(codebook, learner):
    X, y = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X / 16, y, test_size=0.5, random_state=0)
    model = ECOCClassifier(learner, codebook, random_state=0, decoding="self-healing")
    model.fit(train, y_train)
    scores, matrix = model.column_scores(test), model.codebook_.matrix
    plain = LossBased()(scores, matrix).argmax(axis=1)
    assert np.array_equal(model.predict(test), plain)
    assert model.healed_columns_ == ()
    for batch in chosen_batches(scores, matrix, y_test, 20):
        assert accuracy(SelfHealing(), scores[batch], matrix, y_test[batch]) == 1


def test_the_classifier_says_what_it_healed():
    X, y = blobs(5, per_class=40)
    model = ECOCClassifier(SVC(), "exhaustive", decoding="self-healing").fit(X, y)
    right = model.predict(X)
    assert model.healed_columns_ == ()
    for column in (3, 8):
        model.estimators_[column].dual_coef_ *= -1
        model.estimators_[column]._dual_coef_ *= -1
        model.estimators_[column].intercept_ *= -1
        model.estimators_[column]._intercept_ *= -1
    assert np.array_equal(model.predict(X), right)
    assert model.healed_columns_ == (3, 8)
    model.margin(X[:20])
    assert model.healed_columns_ == ()


# ------------------------------------------------------- more than two symbols


def failed_symbols(failure, n_failed, n_samples=600):
    generator = np.random.default_rng(0)
    code = balanced_random(8, 10, n_symbols=4, random_state=0)
    truth = generator.integers(8, size=n_samples)
    answers = code.matrix[truth].astype(np.intp)
    noisy = generator.random(answers.shape) < 0.15
    answers[noisy] = generator.integers(4, size=noisy.sum())
    failed = answers[:, :n_failed]
    if failure == "exchanged":
        failed[:] = (failed + 1) % 4
    elif failure == "random":
        failed[:] = generator.integers(4, size=failed.shape)
    elif failure == "stuck":
        failed[:] = 2
    return code.matrix, truth, 0.9 * np.eye(4)[answers] + 0.025


@pytest.mark.parametrize("failure", ["exchanged", "random", "stuck"])
def test_failed_columns_of_symbols_are_found_and_read_anew(failure):
    matrix, truth, scores = failed_symbols(failure, 5)
    assert SelfHealing().healed_columns(scores, matrix) == tuple(range(5))
    healed = accuracy(SelfHealing(), scores, matrix, truth)
    assert healed > accuracy(Soft(), scores, matrix, truth) + 0.08
    without = (Soft()(scores, matrix, missing_columns=range(5)).argmax(axis=1) == truth).mean()
    sound = failed_symbols("none", 0)
    assert healed >= without - 0.01
    if failure == "exchanged":
        # What was exchanged is known again, and as good as before.
        assert healed > accuracy(Soft(), sound[2], matrix, truth) - 0.02


def test_sound_columns_of_symbols_are_left_as_they_are():
    matrix, _, scores = failed_symbols("none", 0)
    assert SelfHealing().healed_columns(scores, matrix) == ()
    expected = Soft(normalise=False)(scores, matrix)
    assert SelfHealing()(scores, matrix) == pytest.approx(expected)
    # Too few samples are no evidence.
    matrix, _, scores = failed_symbols("stuck", 3, n_samples=60)
    assert SelfHealing().healed_columns(scores, matrix) == ()


def test_erased_answers_of_symbols_are_no_evidence():
    matrix, truth, scores = failed_symbols("exchanged", 3)
    scores[::3, 0, 0] = np.nan
    scores[:, 4] = np.nan
    assert SelfHealing().healed_columns(scores, matrix) == (0, 1, 2)
    assert accuracy(SelfHealing(), scores, matrix, truth) > 0.97
    scores[7] = np.nan
    with pytest.raises(InvalidInputError, match="samples 7 have none"):
        SelfHealing()(scores, matrix)
