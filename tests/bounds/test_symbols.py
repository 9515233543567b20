"""Bounds for several symbols: values, against enumeration, and proofs that are accepted."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from ecoc.bounds.checking.symbols import check_symbol_bound
from ecoc.bounds.problem import SymbolBoundProblem, balanced_separation
from ecoc.bounds.symbols import all_symbol_bounds, best_symbol_bound
from ecoc.errors import InvalidInputError


def partitions(k: int, q: int) -> list[tuple[int, ...]]:
    """All columns of k rows and at most q symbols, renamed, but the constant one."""
    return [
        word
        for word in product(range(q), repeat=k)
        if all(word[i] <= max(word[:i], default=-1) + 1 for i in range(k)) and any(word)
    ]


def optimum(k: int, n_columns: int, q: int) -> int:
    """The largest least distance of any set of different columns, by enumeration."""
    columns = np.array(partitions(k, q))
    pairs = np.triu_indices(k, 1)
    separated = (columns[:, pairs[0]] != columns[:, pairs[1]]).astype(int)
    n = min(n_columns, len(columns))
    best = 0
    # All that the last column can be are tried at once.
    for chosen in combinations(range(len(columns)), n - 1):
        last = separated[chosen[-1] + 1 :] if chosen else separated
        if last.size:
            first = separated[np.array(chosen, dtype=int)].sum(axis=0)
            best = max(best, int((first + last).min(axis=1).max()))
    return best


@pytest.mark.parametrize(
    ("k", "q", "most"), [(3, 3, 4), (3, 4, 4), (4, 3, 13), (4, 4, 14), (5, 3, 3), (5, 4, 3)]
)
def test_no_bound_is_below_the_optimum(k, q, most):
    for n in range(1, most + 2):
        problem = SymbolBoundProblem(k, n, q)
        best = optimum(k, n, q)
        for bound in all_symbol_bounds(problem):
            assert bound.value >= best, bound
            assert check_symbol_bound(problem, bound) == []


@pytest.mark.parametrize("q", [2, 3, 4, 7])
@pytest.mark.parametrize("k", [2, 3, 5, 6])
def test_kinds_count_all_columns(k, q):
    counted: dict[int, int] = {}
    for separated, count in SymbolBoundProblem(k, 1, q).kinds():
        counted[separated] = counted.get(separated, 0) + count
    found: dict[int, int] = {}
    for word in partitions(k, min(q, k)):
        separated = sum(a != b for a, b in combinations(word, 2))
        found[separated] = found.get(separated, 0) + 1
    assert counted == found
    assert list(counted) == sorted(counted, reverse=True)
    assert max(counted) == balanced_separation(k, q)


@pytest.mark.parametrize(
    ("k", "n", "q", "name", "value"),
    [
        (10, 20, 3, "averaging", 14),
        (50, 8, 10, "averaging", 7),
        (100, 12, 10, "averaging", 10),
        (200, 23, 10, "averaging", 20),
        (82, 4, 9, "singleton", 2),
        (730, 6, 3, "singleton", 0),
        (730, 13, 3, "hamming", 6),
        (19, 6, 3, "plotkin", 3),
        (51, 6, 3, "delsarte", 2),
        (244, 10, 3, "delsarte", 4),
    ],
)
def test_values(k, n, q, name, value):
    problem = SymbolBoundProblem(k, n, q)
    bounds = {bound.name: bound for bound in all_symbol_bounds(problem)}
    assert bounds[name].value == value
    for bound in bounds.values():
        assert check_symbol_bound(problem, bound) == []
        if bound.value:
            assert check_symbol_bound(problem, replace(bound, value=bound.value - 1)) != []


def test_every_cell_of_a_row_is_checked():
    for n in range(1, 60):
        problem = SymbolBoundProblem(13, n, 4)
        assert check_symbol_bound(problem, best_symbol_bound(problem)) == []


def test_more_columns_than_there_are_are_not_counted():
    problem = SymbolBoundProblem(4, 100, 3)
    assert problem.columns_used == 13
    assert best_symbol_bound(problem).value == (6 * 5 + 3 * 4 + 4 * 3) // 6


def test_column_counts_limit_the_sum():
    free = SymbolBoundProblem(6, 10, 3)
    held = SymbolBoundProblem(6, 10, 3, column_counts=((12, 4), (9, 3)))
    assert best_symbol_bound(free).value == 8
    bound = best_symbol_bound(held)
    assert bound.proof == {"n_columns": 7, "largest_sum": 75}
    assert check_symbol_bound(held, bound) == []
    assert check_symbol_bound(free, bound) == ["the number of columns is not what the proof says"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"n_symbols": 1},
        {"column_counts": ((3, 1), (4, 1))},
        {"column_counts": ((99, 1),)},
        {"column_counts": ((3, 0),)},
    ],
)
def test_bad_problems_are_refused(arguments):
    with pytest.raises(InvalidInputError):
        SymbolBoundProblem(**({"n_classes": 5, "n_columns": 5, "n_symbols": 3} | arguments))


def test_averaging_is_exact_for_affine_planes():
    # q + 1 columns of q^2 rows: any two rows agree exactly once.
    for q in (3, 4, 5, 7, 8, 9):
        assert best_symbol_bound(SymbolBoundProblem(q * q, q + 1, q)).value == q
        assert balanced_separation(q * q, q) * (q + 1) == q * comb(q * q, 2)
