"""Every codebook of a few classes, and exact optima from coding theory."""

from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp


@cache
def every_codebook(k):
    """Return, for every set of columns of k classes, its size and its row distances."""
    columns = np.arange(1, 1 << (k - 1))
    sets = np.arange(1 << columns.size)
    bits = np.concatenate(
        (np.zeros((1, columns.size), int), (columns >> np.arange(k - 1)[:, None]) & 1)
    )
    masks = [
        sum(1 << i for i in range(columns.size) if bits[p, i] != bits[q, i])
        for p, q in combinations(range(k), 2)
    ]
    distances = np.array([np.bitwise_count(sets & mask) for mask in masks], dtype=np.int64)
    return columns, np.bitwise_count(sets).astype(int), distances


@cache
def least_distances(k):
    """Return, for every set of columns of k classes, its least row distance."""
    return every_codebook(k)[2].min(axis=0)


def is_separated(k, rho, separation, n_columns):
    """Tell for every set of columns whether all its pairs are separated."""
    high = {"two-sided": k - rho, "one-sided": k, "literal": n_columns - rho}[separation]
    return _has_distances(k, rho, high)


@cache
def _has_distances(k, rho, high):
    columns = every_codebook(k)[0]
    sets = np.arange(1 << columns.size)
    good = np.ones(sets.size, dtype=bool)
    for (i, a), (j, b) in combinations(enumerate(columns.tolist()), 2):
        if not rho <= (a ^ b).bit_count() <= high:
            good &= (sets >> i & sets >> j & 1) == 0
    return good


def uses_only(k, admissible):
    """Tell for every set of columns whether all are among the admissible ones."""
    columns = every_codebook(k)[0]
    outside = sum(1 << i for i, c in enumerate(columns.tolist()) if c not in admissible)
    return (np.arange(1 << columns.size) & outside) == 0


def side(column, k):
    """Return the number of classes on the smaller side of a column."""
    return min(column.bit_count(), k - column.bit_count())


def levenshtein_size(n, d):
    """Return A(n, d) in Plotkin's range, given the Hadamard matrices (Levenshtein 1961).

    Beyond that range it is at least what it is at its end.
    """
    if d % 2:
        n, d = n + 1, d + 1
    if d > n:
        return 1
    return 4 * d if n >= 2 * d else 2 * (d // (2 * d - n))


def levenshtein_distance(k, n):
    """Return the largest d with A(n, d) >= k."""
    largest = max(d for d in range(1, n + 1) if levenshtein_size(n, d) >= k)
    assert n <= 2 * (largest + 1), "the next distance is beyond Plotkin's range"
    return largest


def optimum_by_integer_program(k, n_columns, rho):
    """Return the largest least row distance under the two-sided rule, as HiGHS finds it."""
    columns = np.arange(1, 1 << (k - 1))
    bits = np.vstack((0 * columns, columns >> np.arange(k - 1)[:, None] & 1))
    unit = np.eye(columns.size + 1)
    conflicts = [
        unit[i] + unit[j]
        for (i, a), (j, b) in combinations(enumerate(columns.tolist()), 2)
        if not rho <= (a ^ b).bit_count() <= k - rho
    ]
    rows = [
        *(np.append(bits[p] != bits[q], -1) for p, q in combinations(range(k), 2)),
        np.append(0 * columns - 1, 0),
        *(-row for row in conflicts),
    ]
    least = [0] * comb(k, 2) + [-n_columns] + [-1] * len(conflicts)
    result = milp(
        -unit[-1],
        constraints=LinearConstraint(np.array(rows), least),
        integrality=1,
        bounds=Bounds(0, np.append(columns > 0, n_columns)),
    )
    assert result.status == 0
    return round(-result.fun)
