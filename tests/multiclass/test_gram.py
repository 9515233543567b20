# ruff: noqa: N803, N806  # X is what scikit-learn calls it
import math

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg.blas import ddot
from sklearn.metrics.pairwise import rbf_kernel

from ecoc.multiclass._gram import Kernel, gram_matrix, kernel_block

KERNELS = [
    Kernel("linear"),
    Kernel("poly", gamma=0.3, coef0=1.0, degree=3),
    Kernel("poly", gamma=0.3, coef0=-0.5, degree=0),
    Kernel("rbf", gamma=0.07),
    Kernel("sigmoid", gamma=0.02, coef0=0.1),
]


def value(kernel, dot, squares):
    """A kernel value from an inner product, operation by operation as libsvm has them."""
    if kernel.name == "linear":
        return dot
    if kernel.name == "rbf":
        return math.exp(-kernel.gamma * (squares - 2 * dot))
    inner = kernel.gamma * dot + kernel.coef0
    if kernel.name == "sigmoid":
        return math.tanh(inner)
    return [1.0, inner, inner * inner, inner * (inner * inner)][kernel.degree]


def ordered_sum(x, y):
    total = 0.0
    for a, b in zip(x, y, strict=True):
        total += a * b
    return total


def one_by_one(X, kernel, product):
    squares = [product(x, x) for x in X]
    return np.array(
        [
            [value(kernel, product(x, y), squares[i] + squares[j]) for j, y in enumerate(X)]
            for i, x in enumerate(X)
        ]
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: f"{kernel.name}{kernel.degree}")
@pytest.mark.parametrize("offset", [0.0, 3000.0])
@pytest.mark.parametrize("n_features", [1, 25, 100])
def test_dense_values_are_those_of_libsvm_in_single_precision(kernel, offset, n_features):
    X = np.random.default_rng(n_features).normal(offset, 1, size=(70, n_features))
    expected = one_by_one(X, kernel, ddot)
    found = gram_matrix(X, kernel)
    assert np.array_equal(found.astype(np.float32), expected.astype(np.float32))
    # Diagonals it uses in double precision.
    assert np.array_equal(found.diagonal(), expected.diagonal())
    assert np.array_equal(found, found.T)


def test_a_matrix_product_alone_would_not_do():
    X = np.random.default_rng(0).normal(3000, 1, size=(70, 25))
    exact = one_by_one(X, Kernel("rbf", gamma=0.07), ddot)
    naive = rbf_kernel(X, gamma=0.07)
    assert (naive.astype(np.float32) != exact.astype(np.float32)).any()


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: f"{kernel.name}{kernel.degree}")
def test_sparse_values_are_those_of_libsvm(kernel):
    generator = np.random.default_rng(1)
    dense = generator.normal(size=(60, 40)) * (generator.random((60, 40)) < 0.4)
    found = gram_matrix(sp.csr_matrix(dense), kernel)
    assert np.array_equal(found, one_by_one(dense, kernel, ordered_sum))


def test_parts_make_the_whole(monkeypatch):
    X = np.random.default_rng(2).normal(size=(150, 5))
    whole = gram_matrix(X, KERNELS[3])
    monkeypatch.setattr("ecoc.multiclass._gram._CHUNK_BYTES", 8 * 150 * 7)
    assert np.array_equal(gram_matrix(X, KERNELS[3]), whole)
    assert np.array_equal(gram_matrix(sp.csr_matrix(X), KERNELS[3]).shape, whole.shape)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: f"{kernel.name}{kernel.degree}")
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csr_array])
def test_blocks_hold_the_same_values(kernel, kind):
    X = np.random.default_rng(3).normal(size=(30, 6))
    expected = one_by_one(X, kernel, ordered_sum)[:10]
    assert np.allclose(kernel_block(kind(X[:10]), kind(X), kernel), expected, rtol=0, atol=1e-12)
