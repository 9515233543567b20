"""The coupling of symbols: against plain steps of EM, and where the optimum is known."""

import numpy as np
import pytest

from ecoc.codes import balanced_random
from ecoc.multiclass.decoders.probabilities import couple, coupling_loss, smoothed


def test_probabilities_of_symbols_that_fit_a_distribution_give_it_back():
    code = balanced_random(12, 8, n_symbols=4, random_state=0)
    assert code.min_eigenvalue > 0
    truth = np.random.default_rng(0).dirichlet(np.ones(12), size=40)
    columns = [
        [truth[:, code.matrix[:, column] == symbol].sum(axis=1) for symbol in range(4)]
        for column in range(8)
    ]
    r = np.array(columns).transpose(2, 0, 1)
    assert couple(r, code.matrix, tolerance=1e-9, max_iter=20_000) == pytest.approx(truth, abs=2e-4)


@pytest.mark.parametrize("prior", [0, 0.5])
def test_plain_steps_of_em_lead_to_what_coupling_finds(prior):
    code = balanced_random(10, 6, n_symbols=3, random_state=0)
    r = smoothed(np.random.default_rng(1).dirichlet(np.full(3, 0.3), size=(30, 6)))
    p = np.full((30, 10), 0.1)
    has = (code.matrix[:, :, None] == np.arange(3)).reshape(10, 18).astype(float)
    for _ in range(20_000):
        gains = prior / 10 / p + (r.reshape(30, 18) / (p @ has)) @ has.T
        p = np.maximum(p * gains / (6 + prior), 1e-12)
    found = couple(r, code.matrix, prior=prior, tolerance=1e-8, max_iter=100_000)
    assert found == pytest.approx(p, abs=1e-5)
    losses = [coupling_loss(q, r, code.matrix, prior=prior) for q in (found, p)]
    assert losses[0] == pytest.approx(losses[1], abs=1e-7)


def test_many_samples_are_coupled_as_each_of_them_is():
    code = balanced_random(7, 5, n_symbols=3, random_state=0)
    r = smoothed(np.random.default_rng(0).dirichlet(np.full(3, 0.3), size=(21, 5)))
    alone = np.vstack([couple(row[None], code.matrix, prior=1) for row in r])
    assert couple(r, code.matrix, prior=1).tolist() == alone.tolist()
    assert couple(r[:0], code.matrix).shape == (0, 7)


def test_a_prior_is_one_more_column_that_finds_all_classes_equally_probable():
    code = balanced_random(6, 5, n_symbols=3, random_state=0)
    r = smoothed(np.random.default_rng(2).dirichlet(np.full(3, 0.3), size=(4, 5)))
    more = np.column_stack([code.matrix, np.arange(6)])
    said = np.zeros((4, 6, 6))
    said[:, :5, :3], said[:, 5] = r, 1 / 6
    expected = couple(said, more, weights=[1, 1, 1, 1, 1, 0.7], tolerance=1e-8)
    assert couple(r, code.matrix, prior=0.7, tolerance=1e-8) == pytest.approx(expected, abs=1e-6)


def test_with_a_prior_no_class_is_ruled_out():
    certain = np.zeros((1, 3, 3))
    certain[:, :, 0] = 1
    matrix = [[0, 0, 0], [1, 1, 1], [2, 2, 2], [1, 2, 0]]
    assert couple(certain, matrix)[0, 1] < 1e-5
    p = couple(certain, matrix, prior=1)[0]
    # A class that no column is for keeps its part of the prior.
    assert p[1] == pytest.approx(1 / (4 * (3 + 1)), abs=1e-3)
    assert p.argmax() == 0


def test_weights_of_columns_count_in_the_coupling_of_symbols():
    matrix = np.array([[0, 0], [1, 1], [2, 2]])
    r = np.array([[[0.6, 0.3, 0.1], [0.1, 0.3, 0.6]]])
    assert couple(r, matrix, weights=[1, 0]) == pytest.approx(np.array([[0.6, 0.3, 0.1]]), abs=1e-4)
    assert couple(r, matrix, weights=[3, 1]) == pytest.approx(
        np.array([[0.475, 0.3, 0.225]]), abs=1e-4
    )


def test_symbols_that_no_class_has_say_nothing():
    matrix = np.array([[0, 1], [3, 1], [3, 2]])
    r = np.array([[[0.2, 0.7, 0.0, 0.1], [0.9, 0.05, 0.05, 0.0]]])
    kept = np.array([[[2 / 3, 1 / 3], [0.5, 0.5]]])
    p = couple(r, matrix)
    # Columns then count by what they leave to the symbols of the classes.
    same = couple(kept, [[0, 0], [1, 0], [1, 1]], weights=[0.3, 0.1])
    assert p == pytest.approx(same, abs=1e-4)
