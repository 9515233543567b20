# ruff: noqa: N803, N806  # X is what scikit-learn calls it
import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from ecoc.multiclass.joint.svm import Kernel, distinct_vectors, gram_matrix, kernel_block

KERNELS = [
    Kernel("linear"),
    Kernel("poly", gamma=0.3, coef0=1.0, degree=3),
    Kernel("poly", gamma=0.3, coef0=-0.5, degree=0),
    Kernel("rbf", gamma=0.07),
    Kernel("sigmoid", gamma=0.02, coef0=0.1),
]
KINDS = [np.asarray, sp.csr_matrix, sp.csr_array]


def value(kernel, x, y):
    if kernel.name == "rbf":
        return math.exp(-kernel.gamma * math.fsum((x - y) ** 2))
    dot = math.fsum(x * y)
    if kernel.name == "linear":
        return dot
    inner = kernel.gamma * dot + kernel.coef0
    return math.tanh(inner) if kernel.name == "sigmoid" else inner**kernel.degree


def one_by_one(X, Y, kernel):
    return np.array([[value(kernel, x, y) for y in Y] for x in X])


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: f"{kernel.name}{kernel.degree}")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_features", [1, 25])
def test_values_are_those_of_pairs(monkeypatch, kernel, kind, n_features):
    monkeypatch.setattr("ecoc.multiclass.joint.svm._TILE", 16)
    X = np.random.default_rng(n_features).normal(size=(70, n_features))
    X[X > 1] = 0
    found = gram_matrix(kind(X), kernel)
    np.testing.assert_allclose(found, one_by_one(X, X, kernel), rtol=1e-10, atol=1e-12)


def test_samples_far_from_zero_keep_their_digits():
    kernel = Kernel("rbf", gamma=0.07)
    X = np.random.default_rng(0).normal(3000, 1, size=(70, 25))
    np.testing.assert_allclose(gram_matrix(X, kernel), one_by_one(X, X, kernel), rtol=1e-10)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: f"{kernel.name}{kernel.degree}")
@pytest.mark.parametrize("kind", KINDS)
def test_blocks_hold_the_same_values(kernel, kind):
    X = np.random.default_rng(3).normal(size=(30, 6))
    expected = one_by_one(X[:10], X, kernel)
    found = kernel_block(kind(X[:10]), kind(X), kernel)
    np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


ROWS = hnp.arrays(
    np.float64, st.tuples(st.integers(0, 6), st.just(3)), elements=st.sampled_from([0.0, 1, 2, 4])
)


def rows_of(matrix):
    return [tuple(row) for row in (matrix.toarray() if sp.issparse(matrix) else matrix)]


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("merge", [True, False])
@given(groups=st.lists(ROWS, min_size=1, max_size=4))
def test_every_row_is_found_again(kind, merge, groups):
    vectors, places = distinct_vectors([kind(group) for group in groups], merge=merge)
    found = rows_of(vectors)
    for group, where in zip(groups, places, strict=True):
        assert [found[place] for place in where] == rows_of(group)
    if merge:
        assert len(found) == len({row for group in groups for row in rows_of(group)})
    else:
        assert len(found) == sum(len(group) for group in groups)


def test_rows_with_the_same_key_are_kept_apart(monkeypatch):
    monkeypatch.setattr("ecoc.multiclass.joint.svm._dense_keys", lambda rows: rows[:, 0])
    vectors, places = distinct_vectors([np.array([[1.0, 2.0]]), np.array([[1.0, 3.0]])])
    assert vectors[places[1]].tolist() == [[1.0, 3.0]]
