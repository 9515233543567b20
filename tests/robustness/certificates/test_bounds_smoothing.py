import numpy as np
import pytest
from scipy.stats import binom, norm

from ecoc.errors import InvalidInputError
from ecoc.robustness.certificates.bounds import SmoothedBounds, Smoothing, count_votes

WEIGHTS = np.array([[1.0, -2.0, 0.5], [0.3, 0.3, 0.0]])


def column_scores(points):
    return points.reshape(len(points), -1) @ WEIGHTS.T - 0.1


def test_counts_are_those_of_the_columns():
    points = np.random.default_rng(0).random((4, 3))
    setting = Smoothing(sigma=0.5, n_draws=4000, batch_size=1500)
    votes = count_votes(column_scores, points, setting, np.random.default_rng(1))
    # A linear score under noise is normal.
    expected = norm.cdf(column_scores(points) / (0.5 * np.linalg.norm(WEIGHTS, axis=1)))
    assert votes / 4000 == pytest.approx(expected, abs=0.04)
    again = count_votes(column_scores, points, setting, np.random.default_rng(1))
    assert np.array_equal(votes, again)


@pytest.mark.parametrize("n_columns", [1, 20])
def test_intervals_hold_as_often_as_they_say(n_columns):
    """The chance that any of all columns is outside, counted exactly."""
    setting = Smoothing(n_draws=50, alpha=0.1)
    counts = np.arange(51)
    found = SmoothedBounds(np.repeat(counts[:, None], n_columns, axis=1), setting).bounds(0.0)
    for p in (0.02, 0.3, 0.5, 0.85, 0.999):
        outside = (found.lower[:, 0] > 2 * p - 1) | (found.upper[:, 0] < 2 * p - 1)
        error = binom.pmf(counts, 50, p)[outside].sum()
        assert error * n_columns <= 0.1


def test_bounds_hold_for_a_column_whose_answer_is_known():
    """For a linear column the smoothed share moves exactly as the bound for its share says."""
    setting = Smoothing(sigma=0.4, n_draws=100_000, alpha=0.01)
    for share in (0.55, 0.8, 0.99):
        votes = [[round(share * 100_000)]]
        found = SmoothedBounds(votes, setting).bounds(0.3)
        exact = 2 * norm.cdf(norm.ppf(share) - 0.3 / 0.4) - 1
        assert found.lower[0, 0] <= exact
        assert found.lower[0, 0] == pytest.approx(exact, abs=0.03)


def test_a_column_that_is_sure_still_has_a_finite_radius():
    setting = Smoothing(sigma=0.25, n_draws=100, alpha=0.001)
    columns = SmoothedBounds([[100, 0]], setting)
    assert columns.scores.tolist() == [[1.0, -1.0]]
    least = 0.25 * norm.ppf((0.001 / 4) ** (1 / 100))
    assert columns.bounds(least * 0.999).lower[0, 0] > 0
    assert columns.bounds(least * 1.001).lower[0, 0] < 0
    assert columns.bounds(least * 0.999).upper[0, 1] < 0
    assert columns.bounds(least * 1.001).upper[0, 1] > 0


def test_what_cannot_be_is_refused():
    for wrong, text in (
        ({"sigma": 0.0}, "sigma must be positive"),
        ({"alpha": 1.0}, "alpha must be between 0 and 1"),
        ({"n_draws": 0}, "n_draws must be at least 1"),
    ):
        with pytest.raises(InvalidInputError, match=text):
            Smoothing(**wrong)
    with pytest.raises(InvalidInputError, match="counts up to 10"):
        SmoothedBounds([[11]], Smoothing(n_draws=10))
