"""Bounds on ternary codebooks: never below the optimum, and each the best somewhere."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import combinations, product
from math import floor

import numpy as np
import pytest

import ecoc.bounds.checking.ternary
import ecoc.bounds.ternary
from ecoc.bounds.checking.ternary import check_ternary_bound
from ecoc.bounds.problem import TernaryBoundProblem
from ecoc.bounds.ternary import all_ternary_bounds, best_ternary_bound, ternary_columns

DEMANDS = [[0, 1, 2, 1, 1], [1, 0, 3, 1, 2], [2, 3, 0, 1, 1], [1, 1, 1, 0, 4], [1, 2, 1, 4, 0]]
ALIKE = [[0, 0, 5, 1, 2], [0, 0, 9, 4, 0], [5, 9, 0, 3, 8], [1, 4, 3, 0, 7], [2, 0, 8, 7, 0]]
SIZES = (3, 1, 2, 1, 4)


def columns_of(k: int, support: int) -> np.ndarray:
    """All columns, with a plus for the first class that is used."""
    kept = [
        word
        for word in product((0, 1, -1), repeat=k)
        if -1 in word and next(entry for entry in word if entry) == 1
        if sum(entry != 0 for entry in word) <= support
    ]
    return np.array(kept)


@cache
def subsets(k: int, support: int, most: int) -> dict[str, np.ndarray]:
    """What all sets of so many columns at most reach, how many they are and what they cost."""
    columns = columns_of(k, support)
    first, second = np.triu_indices(k, 1)
    products = columns[:, first] * columns[:, second]
    opposite, equal, used = products < 0, products > 0, columns != 0
    similarity = np.array(ALIKE)[first, second] / 10
    ease = 1 - (opposite * similarity).sum(axis=1) / opposite.sum(axis=1)
    costs = {
        "plain": used.sum(axis=1) ** 1.5,
        "sizes": (used * np.array(SIZES[:k])).sum(axis=1),
    }
    parts: dict[str, list[np.ndarray]] = {}
    for n in range(1, min(most, len(columns)) + 1):
        chosen = np.array(list(combinations(range(len(columns)), n)))
        cover = opposite[chosen].sum(axis=1)
        times = used[chosen].sum(axis=1)
        lead = cover - abs(times[:, first] - times[:, second]) / 2
        weighted = (opposite * ease[:, None])[chosen].sum(axis=1)
        for name, values in {
            "n": np.full(len(chosen), n),
            "cover": cover.min(axis=1),
            # More than 2 e is left of the lead over any other class.
            "errors": np.maximum(0, np.ceil(lead.min(axis=1) / 2) - 1),
            "distance": (n - equal[chosen].sum(axis=1) + cover).min(axis=1) / 2,
            "weighted": (weighted / np.array(DEMANDS)[first, second]).min(axis=1),
            **{name: cost[chosen].sum(axis=1) for name, cost in costs.items()},
        }.items():
            parts.setdefault(name, []).append(values)
    return {name: np.concatenate(values) for name, values in parts.items()}


def exact(matrix: list[list[int]], k: int, unit: int) -> tuple[tuple[Fraction, ...], ...]:
    return tuple(tuple(Fraction(entry, unit) for entry in row[:k]) for row in matrix[:k])


CASES = [(3, 2, 3), (3, 3, 6), (4, 2, 6), (4, 3, 5), (4, 4, 4), (5, 2, 10), (5, 3, 3), (5, 5, 2)]


@pytest.mark.parametrize(("k", "support", "most"), CASES)
@pytest.mark.parametrize("goal", ["cover", "errors", "distance", "weighted"])
def test_no_bound_is_below_the_optimum(k, support, most, goal):
    reached = subsets(k, support, most)
    for n, budget in product(range(1, most + 1), (None, "plain", "sizes")):
        allowed = reached["n"] <= n
        limit = None
        if budget is not None:
            limit = Fraction(round(0.7 * float(reached[budget][allowed].max())))
            allowed = allowed & (reached[budget] <= float(limit))
        problem = TernaryBoundProblem(
            k,
            n,
            support,
            goal,
            Fraction(3, 2) if budget == "plain" else Fraction(1),
            limit,
            SIZES[:k] if budget == "sizes" else None,
            exact(DEMANDS, k, 1) if goal == "weighted" else None,
            exact(ALIKE, k, 10) if goal == "weighted" else None,
        )
        best = float(reached[goal][allowed].max(initial=0))
        for bound in all_ternary_bounds(problem):
            # The weighted goal is rounded down, and floating point is good enough for the rest.
            assert bound.value >= best - (1e-6 + 1e-9 if goal == "weighted" else 0), bound
            assert check_ternary_bound(problem, bound) == []


@pytest.mark.parametrize(("k", "support", "most"), CASES)
def test_no_bound_of_many_classes_is_below_the_optimum(k, support, most, monkeypatch):
    # What is done where columns cannot be listed, on few classes.
    monkeypatch.setattr(ecoc.bounds.ternary, "MAX_LISTED_CLASSES", 2)
    monkeypatch.setattr(ecoc.bounds.checking.ternary, "_MAX_LISTED_CLASSES", 2)
    test_no_bound_is_below_the_optimum(k, support, most, "weighted")


def test_many_classes_are_bounded_by_those_in_demand():
    k = 20
    demands = tuple(tuple(Fraction(9 if max(p, q) < 3 else 1) for q in range(k)) for p in range(k))
    problem = TernaryBoundProblem(k, 30, k, "weighted", demands=demands)
    bound = best_ternary_bound(problem)
    # Two of the three pairs of the first classes in each of 30 columns, over 9 each.
    assert bound.value == Fraction(floor(Fraction(60, 27) * 10**6), 10**6)
    assert check_ternary_bound(problem, bound) == []
    plain = best_ternary_bound(TernaryBoundProblem(k, 30, k, "weighted"))
    assert plain.value == Fraction(floor(Fraction(3000, 190) * 10**6), 10**6)


def test_generated_columns_bound_as_well_as_all():
    # Every pair demands the same: nothing is better than the average.
    for k, support in ((6, 4), (9, 4), (10, 10)):
        one = tuple((Fraction(1),) * k for _ in range(k))
        problem = TernaryBoundProblem(k, 2 * k, support, "weighted", demands=one)
        best = (support // 2) * -(-support // 2)
        share = Fraction(2 * k * best, problem.n_pairs)
        assert best_ternary_bound(problem).value == Fraction(floor(share * 10**6), 10**6)


def test_the_optimum_is_often_met():
    met = []
    for k, support, most in CASES:
        reached = subsets(k, support, most)
        for n in range(1, most + 1):
            bound = best_ternary_bound(TernaryBoundProblem(k, n, support))
            met.append(bound.value == int(reached["cover"][reached["n"] <= n].max()))
    assert sum(met) >= 0.9 * len(met)


@pytest.mark.parametrize(
    ("cell", "name", "value", "average"),
    [
        ((10, 45, 2), "averaging", 1, 1),
        ((7, 9, 7), "plotkin", 4, 5),
        ((105, 11, 105), "hamming", 3, 5),
        ((43, 9, 42), "delsarte", 2, 4),
        ((9, 4, 6), "inertia", 0, 1),
        ((12, 8, 10), "inertia", 2, 3),
        ((8, 7, 4), "degrees", 0, 1),
        ((9, 16, 6), "degrees", 3, 4),
        ((10, 34, 4), "degrees", 2, 3),
        ((6, 3, 5), "packing", 0, 1),
        ((12, 5, 8), "packing", 0, 1),
        ((29, 6, 26), "pairs", 1, 2),
        ((4, 5, 4), "enumeration", 2, 3),
    ],
)
def test_each_argument_is_the_best_somewhere(cell, name, value, average):
    bounds = all_ternary_bounds(TernaryBoundProblem(*cell))
    assert (bounds[0].name, bounds[0].value) == (name, value)
    assert (bounds[-1].name, bounds[-1].value) == ("averaging", average)


def test_a_budget_lowers_the_average():
    free = best_ternary_bound(TernaryBoundProblem(10, 45, 10))
    held = best_ternary_bound(TernaryBoundProblem(10, 45, 10, budget=Fraction(90)))
    assert (free.value, held.value) == (24, 5)
    # Above the exponent 2 pairs are cheapest: a budget of one-vs-one pays for no cover of 2.
    dear = TernaryBoundProblem(10, 45, 10, exponent=Fraction(3), budget=Fraction(45 * 8))
    assert best_ternary_bound(dear).value == 1


def test_costs_are_the_same_everywhere():
    problem = TernaryBoundProblem(3, 3, 3, exponent=Fraction(27, 2))
    # The last digits of 10^54 are beyond floating point, and so is its root's last place.
    assert problem.cost(10**4) == 10**54
    assert problem.cost(2) == Fraction("11585.237503")


@pytest.mark.parametrize(("k", "support"), [(3, 3), (4, 2), (5, 4), (6, 3)])
def test_kinds_and_columns_are_all_there_are(k, support):
    columns = columns_of(k, support)
    assert {tuple(c) for c in ternary_columns(k, support).tolist()} == {
        tuple(c) for c in columns.tolist()
    }
    counted: dict[tuple[int, int], int] = {}
    for column in columns.tolist():
        sides = tuple(sorted((column.count(1), column.count(-1))))
        counted[sides] = counted.get(sides, 0) + 1
    assert {(a, b): n for a, b, n in TernaryBoundProblem(k, 1, support).kinds()} == counted
