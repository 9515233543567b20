import subprocess
import sys
from math import comb

import numpy as np
import pytest
from tests.bounds.oracle import side

from ecoc.bounds import BoundProblem, separation_bound, target_bound, words_bound
from ecoc.codes.columns import Dichotomies
from ecoc.errors import InvalidInputError


@pytest.mark.parametrize("k", range(2, 12))
def test_columns_are_counted_by_size(k):
    sizes = [side(column, k) for column in Dichotomies(k)]
    problem = BoundProblem(k, 1)
    for size in range(1, k // 2 + 1):
        for limit in (0, 1, 10, 10**9):
            assert problem.n_of_size(size, limit) == min(limit, sizes.count(size))
    assert problem.n_admissible(10**9) == len(sizes)
    for n_columns in (1, k, 4 * k):
        best = sorted((s * (k - s) for s in sizes), reverse=True)[:n_columns]
        assert problem.largest_sum(n_columns) == sum(best)


def test_huge_problems_need_no_huge_numbers():
    problem = BoundProblem(10**6, 100)
    assert problem.largest_sum(100) == 100 * 250_000_000_000
    assert problem.n_pairs == comb(10**6, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_classes": 1}, "n_classes must be at least 2"),
        ({"n_columns": 0}, "n_columns must be at least 1"),
        ({"n_columns": 2.5}, "n_columns must be a whole number"),
        ({"min_column_distance": 11}, "min_column_distance must be at most 10"),
        ({"separation": "twosided"}, "Did you mean 'two-sided'"),
        ({"column_counts": (1, 2)}, "column_counts must have 5 entries"),
        ({"column_counts": (11, 0, 0, 0, 0)}, "at most 10, the number of columns"),
        ({"column_counts": (0, 0, 0, 0, -1)}, "must be at least 0"),
    ],
)
def test_bad_problems_are_refused(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        BoundProblem(**({"n_classes": 10, "n_columns": 20} | arguments))


def test_bad_arguments_are_refused():
    with pytest.raises(InvalidInputError, match="Did you mean 'hamming'"):
        words_bound(BoundProblem(10, 20), "haming")
    with pytest.raises(InvalidInputError, match="n_columns must be at least 2"):
        separation_bound(10, 1)
    with pytest.raises(InvalidInputError, match="separation must be one of"):
        separation_bound(10, 20, "none")


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([[0, 1]], "square matrix"),
        ([[0]], "square matrix"),
        ("targets", "matrix of numbers"),
        ([[0, 1], [2, 0]], "symmetric"),
        ([[0, np.nan], [np.nan, 0]], "finite"),
        ([[0, 1e300], [1e300, 0]], "reasonable size"),
    ],
)
def test_bad_targets_are_refused(targets, message):
    with pytest.raises(InvalidInputError, match=message):
        target_bound(5, targets)


def test_scipy_loads_on_first_use():
    code = (
        "import sys, ecoc.bounds as b; b.best_bound(b.BoundProblem(10, 20)); "
        "sys.exit('scipy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
