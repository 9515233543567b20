# ruff: noqa: N806  # X and K are what the field calls them
import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel
from tests.multiclass.joint.refits import by_linear_solve, left_out, samples

from ecoc.multiclass.joint.kernel_ridge import KernelRidgeColumns


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.01, 1.0, 30.0])
def test_leave_one_out_values_are_those_of_refits(alpha, weighted):
    X, signs = samples(ternary=True)
    weights = np.random.default_rng(1).uniform(0.1, 3, size=30) if weighted else np.ones(30)
    model = KernelRidgeColumns(gamma=0.3, alphas=alpha)
    columns = model.fit_columns(X, signs, sample_weight=weights if weighted else None)
    K = rbf_kernel(X, gamma=0.3)
    for column, learner in enumerate(columns):
        rows = np.flatnonzero(signs[:, column])
        inner, y, w = K[np.ix_(rows, rows)], signs[rows, column].astype(float), weights[rows]
        expected = left_out(inner, inner, y, w, alpha, centres_are_samples=True)
        assert learner.loo_scores_[rows] == pytest.approx(expected, abs=1e-8)
        assert np.isnan(np.delete(learner.loo_scores_, rows)).all()
        coefficients, intercept = by_linear_solve(inner, inner, y, w, alpha)
        assert learner.decision_function(X) == pytest.approx(
            K[:, rows] @ coefficients + intercept, abs=1e-8
        )


@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_values_on_landmarks_are_those_of_refits(weighted):
    X, signs = samples(40, ternary=True)
    weights = np.random.default_rng(1).uniform(0.1, 3, size=40) if weighted else np.ones(40)
    model = KernelRidgeColumns(
        gamma=0.3, alphas=0.5, max_samples=20, n_components=12, random_state=0
    )
    columns = model.fit_columns(X, signs, sample_weight=weights)
    centres = columns[0].centres_
    assert centres.shape == (12, 4)
    K, inner = rbf_kernel(X, centres, gamma=0.3), rbf_kernel(centres, gamma=0.3)
    for column, learner in enumerate(columns):
        rows = np.flatnonzero(signs[:, column])
        y, w = signs[rows, column].astype(float), weights[rows]
        expected = left_out(K[rows], inner, y, w, 0.5, centres_are_samples=False)
        assert learner.loo_scores_[rows] == pytest.approx(expected, abs=1e-7)
        coefficients, intercept = by_linear_solve(K[rows], inner, y, w, 0.5)
        assert learner.decision_function(X) == pytest.approx(K @ coefficients + intercept, abs=1e-7)


def test_of_equally_good_penalties_the_largest_is_taken():
    model = KernelRidgeColumns("linear", alphas=[1.0, 10.0, 0.1])
    assert model.fit(np.zeros((6, 1)), [0, 1] * 3).alpha_ == 10
