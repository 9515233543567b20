import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.multiclass.cases import decodings, symbol_decodings
from tests.strategies import binary_codebooks

from ecoc.codes import balanced_random, one_vs_one, one_vs_rest
from ecoc.errors import InvalidInputError
from ecoc.multiclass.decoders import Coupling, LogLikelihood, Soft
from ecoc.multiclass.decoders.probabilities import couple, coupling_loss, sharpened, smoothed


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


def brute_force(r, matrix, prior=0):
    """The least loss that a general-purpose optimiser finds from several starts."""
    k = len(matrix)

    def loss(theta):
        p = np.exp(theta - theta.max())
        return float(coupling_loss([p / p.sum()], [r], matrix, prior=prior)[0])

    starts = [np.zeros(k), *(3 * np.eye(k))]
    return min(minimize(loss, start, method="BFGS", options={"gtol": 1e-7}).fun for start in starts)


@given(case=decodings(max_samples=1, codes=binary_codebooks(4, 6)))
def test_coupling_reaches_the_global_optimum_of_binary_codes(case):
    code, scores = case
    r = sigmoid(scores)
    p = couple(r, code.matrix)
    assert p.sum(axis=1) == pytest.approx(1)
    assert (p >= 0).all()
    found = coupling_loss(p, r, code.matrix)[0]
    assert found <= brute_force(r[0], code.matrix) + 1e-4


@given(case=decodings(max_samples=1, codes=st.integers(3, 5).map(one_vs_one)))
def test_coupling_reaches_the_optimum_of_one_vs_one(case):
    code, scores = case
    r = sigmoid(scores)
    found = coupling_loss(couple(r, code.matrix), r, code.matrix)[0]
    assert found <= brute_force(r[0], code.matrix) + 1e-4


@given(case=decodings())
def test_the_loss_is_the_likelihood_of_the_columns(case):
    code, scores = case
    r = sigmoid(scores)
    generator = np.random.default_rng(0)
    p = generator.dirichlet(np.ones(code.n_classes), size=len(r))
    for i, sample in enumerate(r):
        total = 0.0
        for j, column in enumerate(code.matrix.T):
            plus, minus = p[i, column > 0].sum(), p[i, column < 0].sum()
            q = plus / (plus + minus)
            total -= sample[j] * np.log(q) + (1 - sample[j]) * np.log(1 - q)
        assert coupling_loss(p, r, code.matrix)[i] == pytest.approx(total)


@given(case=decodings(codes=binary_codebooks(5, 8)), seed=st.integers(0, 99))
def test_consistent_columns_give_back_their_probabilities(case, seed):
    code, _ = case
    p = np.random.default_rng(seed).dirichlet(np.full(code.n_classes, 2.0), size=3)
    r = p @ (code.matrix > 0)
    found = couple(r, code.matrix, tolerance=1e-9, max_iter=5000)
    assert found @ (code.matrix > 0) == pytest.approx(r, abs=2e-3)


def test_certain_columns_and_weights():
    matrix = one_vs_rest(3).matrix
    certain = couple([[1.0, 0.0, 0.0]], matrix)
    assert certain[0, 0] > 0.999
    trusted = couple([[0.9, 0.9, 0.1]], matrix, weights=[1, 5, 1])
    assert trusted[0].argmax() == 1


@given(case=decodings())
def test_equation_20_against_a_loop(case):
    code, scores = case
    r = sigmoid(scores)
    sums = np.array(
        [
            [
                sum(q for q, m in zip(sample, row, strict=True) if m == 1)
                + sum(1 - q for q, m in zip(sample, row, strict=True) if m == -1)
                for row in code.matrix
            ]
            for sample in r
        ]
    )
    used = np.abs(code.matrix).sum(axis=1)
    assert Soft(normalise=False)(scores, code.matrix) == pytest.approx(sums)
    assert Soft()(scores, code.matrix) == pytest.approx(sums / used)
    assert Soft(logistic=False)(2 * r - 1, code.matrix) == pytest.approx(sums / used)


def test_coupling_decodes_scores_of_both_kinds():
    matrix = one_vs_one(4).matrix
    scores = np.random.default_rng(0).normal(size=(5, 6))
    expected = couple(sigmoid(scores), matrix)
    assert Coupling()(scores, matrix) == pytest.approx(expected)
    assert Coupling(logistic=False)(2 * sigmoid(scores) - 1, matrix) == pytest.approx(expected)


# ------------------------------------------------------- more than two symbols


@given(case=symbol_decodings(max_samples=1), prior=st.sampled_from([0, 0.5, 2]))
def test_coupling_of_symbols_reaches_the_global_optimum(case, prior):
    code, probabilities = case
    r = smoothed(probabilities)
    p = couple(r, code.matrix, prior=prior)
    assert p.sum(axis=1) == pytest.approx(1)
    assert (p >= 0).all()
    found = coupling_loss(p, r, code.matrix, prior=prior)[0]
    assert found <= brute_force(r[0], code.matrix, prior=prior) + 1e-4


@given(case=decodings(max_samples=3, codes=binary_codebooks(5, 8)))
def test_two_symbols_are_coupled_as_two_sides_are(case):
    code, scores = case
    r = sigmoid(scores)
    symbols = np.where(code.matrix > 0, 0, 1)
    p = couple(np.stack([r, 1 - r], axis=2), symbols, tolerance=1e-9)
    same = couple(r, code.matrix, tolerance=1e-9)
    # Where the optimum is not unique, it is the likelihood that is the same.
    assert coupling_loss(p, r, code.matrix) == pytest.approx(
        coupling_loss(same, r, code.matrix), abs=1e-6
    )
    if code.n_classes == code.n_columns + 1:
        assert p == pytest.approx(same, abs=1e-3)


@pytest.mark.parametrize("prior", [-1, np.nan, "much"])
def test_a_prior_is_a_number_that_is_not_negative(prior):
    with pytest.raises(InvalidInputError, match="prior must be"):
        couple([[[0.5, 0.5, 0]]], [[0], [1]], prior=prior)


def test_a_prior_is_for_symbols():
    with pytest.raises(InvalidInputError, match="prior must be 0 for columns of two sides"):
        couple([[0.5]], [[1], [-1]], prior=1)


def test_zeros_of_single_trees_rule_nothing_out():
    matrix = np.array([[0, 0, 0], [1, 1, 1], [2, 2, 2]])
    votes = np.eye(3)[[[0, 0, 1]]]
    p = Coupling()(votes, matrix)
    assert p.argmax() == 0
    assert (p > 1e-3).all()
    expected = np.log(smoothed(votes))[0][:, [0, 1, 2]].sum(axis=0)
    assert LogLikelihood()(votes, matrix)[0] == pytest.approx(expected)


@given(case=symbol_decodings())
def test_the_likelihood_of_classes_by_hand(case):
    code, probabilities = case
    found = LogLikelihood()(probabilities, code.matrix)
    means = Soft()(probabilities, code.matrix)
    for i, sample in enumerate(probabilities):
        for c, word in enumerate(code.matrix):
            chosen = sample[np.arange(code.n_columns), word]
            assert found[i, c] == pytest.approx(np.log(0.98 * chosen + 0.02 / code.n_symbols).sum())
            assert means[i, c] == pytest.approx(chosen.mean())


@given(case=symbol_decodings())
def test_sharpening_by_hand(case):
    code, probabilities = case
    r = smoothed(probabilities)
    p = couple(r, code.matrix, prior=0.5)
    found = sharpened(p, r, code.matrix)
    for i, sample in enumerate(r):
        contradiction = 0.0
        for said, entries in zip(sample, code.matrix.T, strict=True):
            for symbol in np.unique(entries):
                share = p[i, entries == symbol].sum()
                contradiction += said[symbol] * np.log(said[symbol] / share)
        power = 2 * np.exp(-max(contradiction, 0) / code.n_columns)
        expected = p[i] ** power / (p[i] ** power).sum()
        assert found[i] == pytest.approx(0.95 * expected + 0.05 / code.n_classes)
        # What is decided stays, and the order of all classes too.
        order = np.argsort(p[i])
        assert (np.diff(found[i][order]) >= 0).all()


def test_columns_that_agree_make_probabilities_surer():
    matrix = np.array([[0, 0], [1, 1], [2, 0]])
    truth = np.array([0.6, 0.3, 0.1])
    agreeing = np.array([[[0.6, 0.3, 0.1], [0.7, 0.3, 0]]])
    squares = truth**2 / (truth**2).sum()
    # The second column has no third symbol, which says nothing.
    found = sharpened(truth[None], agreeing, matrix)
    assert found[0] == pytest.approx(0.95 * squares + 0.05 / 3)
    contradicting = np.array([[[0.98, 0.01, 0.01], [0.01, 0.98, 0.01]]])
    p = couple(contradicting, matrix)
    assert sharpened(p, contradicting, matrix).max() < p.max()


def test_coupling_decides_as_its_probabilities_before_they_are_sharpened():
    code = balanced_random(20, 8, n_symbols=4, random_state=0)
    said = np.random.default_rng(0).dirichlet(np.full(4, 0.2), size=(200, 8))
    exact = couple(smoothed(said), code.matrix, prior=0.5)
    found = Coupling()(said, code.matrix)
    assert found.sum(axis=1) == pytest.approx(1)
    best = exact[np.arange(200), found.argmax(axis=1)]
    # Up to what the tolerance of the decoder leaves open.
    assert (best > exact.max(axis=1) - 0.05).all()
    assert np.mean(best == exact.max(axis=1)) > 0.95
