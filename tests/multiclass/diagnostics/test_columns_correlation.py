import itertools

import numpy as np
import pytest
from hypothesis import given
from sklearn.metrics import matthews_corrcoef
from tests.multiclass.cases import seen, wrongs

from ecoc.codes import dense_random, one_vs_one
from ecoc.multiclass.diagnostics import ErrorCorrelation


@given(seen())
def test_correlations_are_those_counted_one_by_one(case):
    found = ErrorCorrelation.from_scores(*case)
    columns = [wrongs(*case, j) for j in range(case[1].shape[1])]
    for i, j in itertools.product(range(len(columns)), repeat=2):
        pairs = [
            (a, b)
            for a, b in zip(columns[i], columns[j], strict=True)
            if a is not None and b is not None
        ]
        both, neither = pairs.count((True, True)), pairs.count((False, False))
        expected = both / (both + neither) if both + neither else np.nan
        assert found.paper[i, j] == pytest.approx(expected, nan_ok=True)
        assert found.n_samples[i, j] == len(pairs)
        first, second = [a for a, _ in pairs], [b for _, b in pairs]
        if len(set(first)) < 2 or len(set(second)) < 2:
            assert np.isnan(found.phi[i, j])
        else:
            assert found.phi[i, j] == pytest.approx(matthews_corrcoef(first, second))


def test_the_papers_measure_grows_with_the_rate_and_phi_does_not():
    generator = np.random.default_rng(0)
    code = dense_random(6, 8, random_state=0).matrix
    targets = generator.integers(6, size=40_000)
    for rate, expected in ((0.1, 0.1**2 / (0.1**2 + 0.9**2)), (0.4, 0.4**2 / (0.4**2 + 0.6**2))):
        scores = np.where(generator.random((40_000, 8)) < rate, -1, 1) * code[targets]
        found = ErrorCorrelation.from_scores(scores, code, targets)
        assert found.mean_paper == pytest.approx(expected, abs=0.01)
        assert found.mean_paper == pytest.approx(
            found.independent[np.triu_indices(8, 1)].mean(), abs=0.005
        )
        assert found.mean_phi == pytest.approx(0, abs=0.01)


def test_faultless_columns_have_no_correlation():
    code = one_vs_one(4).matrix
    found = ErrorCorrelation.from_scores(code, code, np.arange(4))
    assert np.isnan(found.phi).all()
    disjoint = found.n_samples == 0
    assert disjoint.sum() == 6
    assert np.array_equal(np.isnan(found.paper), disjoint)
    assert np.isnan(found.mean_phi)
