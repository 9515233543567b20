# ruff: noqa: N803, N806  # X and K are what the field calls them
"""Least-squares columns by linear solves and by refits, which share nothing with the source."""

import numpy as np


def samples(n=30, n_columns=3, *, ternary=False, seed=0):
    generator = np.random.default_rng(seed)
    X = generator.normal(size=(n, 4))
    targets = np.sign(X[:, :n_columns] + generator.normal(size=(n, n_columns)))
    signs = targets.astype(np.int8)
    if ternary:
        signs[generator.random(signs.shape) < 0.2] = 0
    return X, signs


def by_linear_solve(K, inner, y, weights, alpha):
    """Coefficients and intercept from the normal equations, nothing shared with the source.

    Minimises sum of w (y - K c - b)^2 + alpha c' inner c.
    """
    m = K.shape[1]
    design = np.hstack([K, np.ones((len(K), 1))])
    penalty = np.zeros((m + 1, m + 1))
    penalty[:m, :m] = alpha * inner
    left = design.T @ (weights[:, None] * design) + penalty
    found = np.linalg.lstsq(left, design.T @ (weights * y), rcond=1e-14)[0]
    return found[:m], found[m]


def left_out(K, inner, y, weights, alpha, *, centres_are_samples):
    """Leave-one-out values by a refit for each sample."""
    values = []
    for i in range(len(y)):
        rest = np.delete(np.arange(len(y)), i)
        columns = rest if centres_are_samples else np.arange(K.shape[1])
        coefficients, intercept = by_linear_solve(
            K[np.ix_(rest, columns)],
            inner[np.ix_(columns, columns)],
            y[rest],
            weights[rest],
            alpha,
        )
        values.append(K[i, columns] @ coefficients + intercept)
    return np.array(values)
