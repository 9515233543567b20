import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.multiclass.cases import decodings
from tests.strategies import binary_codebooks

from ecoc.codes import one_vs_one, one_vs_rest
from ecoc.multiclass.decoders import Coupling, Soft
from ecoc.multiclass.decoders.probabilities import couple, coupling_loss


def sigmoid(values):
    return 1 / (1 + np.exp(-values))


def brute_force(r, matrix):
    """The least loss that a general-purpose optimiser finds from several starts."""
    k = len(matrix)

    def loss(theta):
        p = np.exp(theta - theta.max())
        return float(coupling_loss([p / p.sum()], [r], matrix)[0])

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
