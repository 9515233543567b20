from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecoc.codes import Codebook, one_vs_one
from ecoc.design import DesignProblem
from ecoc.design.ternary_problem import TernaryProblem
from ecoc.errors import InfeasibleError, InvalidInputError, TooLargeError, UnsupportedError

HALVES = np.full((4, 4), 0.5)


@st.composite
def ternary_matrices(draw):
    k, n = draw(st.integers(3, 6)), draw(st.integers(2, 7))
    entries = st.lists(st.integers(-1, 1), min_size=k, max_size=k)
    columns = draw(st.lists(entries, min_size=n, max_size=n))
    return np.array(columns, dtype=np.int8).T


def as_codebook(matrix):
    try:
        return Codebook(matrix)
    except InvalidInputError:
        return None


@given(ternary_matrices(), st.integers(0, 50))
def test_objectives_are_what_they_say(matrix, seed):
    codebook = as_codebook(matrix)
    if codebook is None:
        return
    k, n = matrix.shape
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 9, size=(k, k))
    weights = weights + weights.T
    alike = rng.integers(0, 10, size=(k, k)) / 10
    alike = np.triu(alike, 1) + np.triu(alike, 1).T
    covers, shares, distances = [], [], []
    for p, q in combinations(range(k), 2):
        apart = [j for j in range(n) if matrix[p, j] * matrix[q, j] == -1]
        covers.append(len(apart))
        halves = sum(1 for j in range(n) if matrix[p, j] * matrix[q, j] == 0)
        distances.append(len(apart) + Fraction(halves, 2))
        ease = Fraction(0)
        for j in apart:
            plus, minus = np.flatnonzero(matrix[:, j] == 1), np.flatnonzero(matrix[:, j] == -1)
            mean = sum(Fraction(str(alike[a, b])) for a in plus for b in minus)
            ease += 1 - mean / (len(plus) * len(minus))
        shares.append(ease / int(weights[p, q]))
    of = {
        "max-min-cover": min(covers),
        "max-min-distance": min(distances),
        "guaranteed-errors": codebook.correctable_errors,
    }
    for objective, value in of.items():
        assert TernaryProblem(k, n, objective=objective).objective_of(codebook) == value
    weighted = TernaryProblem(
        k, n, objective="weighted-cover", pair_weights=weights, class_similarity=alike
    )
    assert weighted.objective_of(codebook) == min(shares)


@pytest.mark.parametrize(
    ("fields", "lack"),
    [
        ({"n_columns": 9}, "it has 10 columns where 9 are allowed"),
        ({"budget": 19}, "it costs 20, more than 19"),
        ({"budget": 27, "column_cost": 1.5}, "it costs 28.28427, more than 27"),
        ({"min_cover": 2}, "is set apart by 1 column, not by at least 2"),
        ({"min_column_distance": 3}, "two columns are 2 apart, not at least 3"),
        ({"class_sizes": (9, 1, 1, 1, 1), "max_imbalance": 0.7}, "sides of 9 and 1, less even"),
    ],
)
def test_one_vs_one_breaks_rules(fields, lack):
    problem = TernaryProblem(5, **({"n_columns": 10} | fields))
    (said,) = problem.violations(one_vs_one(5))
    assert lack in said


def test_supports_and_shapes_are_looked_at():
    wide = Codebook([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    (said,) = TernaryProblem(4, 2, max_support=3).violations(wide)
    assert said == "column 0 uses 4 classes where max_support is 3"
    assert TernaryProblem(4, 2).violations(wide) == []
    assert "5 classes" in TernaryProblem(4, 2).violations(one_vs_one(5))[0]
    symbols = Codebook([[0, 1], [1, 2], [2, 0], [2, 1]], n_symbols=3)
    assert "3 symbols" in TernaryProblem(4, 2).violations(symbols)[0]


@pytest.mark.parametrize(
    ("fields", "error", "message"),
    [
        ({}, InvalidInputError, "Give n_columns, or a budget"),
        ({"n_columns": 6, "max_support": 1}, InvalidInputError, "max_support must be"),
        ({"n_columns": 6, "max_support": 5}, InvalidInputError, "max_support must be"),
        ({"budget": 1}, InfeasibleError, "pays for no column"),
        ({"n_columns": 6, "objective": "best"}, InvalidInputError, "objective must be"),
        ({"n_columns": 6, "pair_weights": HALVES}, InvalidInputError, "'weighted-cover'"),
        ({"n_columns": 6, "nested": True}, UnsupportedError, "not nested"),
        ({"n_columns": 6, "n_symbols": 3}, UnsupportedError, "of .1, -1 and 0"),
        ({"n_columns": 6, "separation": "one-sided"}, UnsupportedError, "up to their sign"),
        ({"n_columns": 6, "target_distances": HALVES}, UnsupportedError, "binary"),
        ({"n_columns": 6, "column_cost": -1}, InvalidInputError, "column_cost must be"),
    ],
)
def test_bad_problems_are_refused(fields, error, message):
    with pytest.raises(error, match=message):
        TernaryProblem(4, **fields)


@pytest.mark.parametrize(
    ("name", "matrix", "message"),
    [
        ("pair_weights", np.zeros((4, 4)), "above 0"),
        ("pair_weights", np.ones((3, 3)), r"shape \(4, 4\)"),
        ("class_similarity", np.full((4, 4), 1.5), "from 0 to 1"),
        ("class_similarity", np.triu(HALVES), "symmetric"),
        ("class_similarity", np.full((4, 4), np.nan), "finite"),
    ],
)
def test_bad_matrices_are_refused(name, matrix, message):
    with pytest.raises(InvalidInputError, match=message):
        TernaryProblem(4, 6, objective="weighted-cover", **{name: matrix})


def test_too_many_classes_and_too_few_columns():
    with pytest.raises(TooLargeError, match="up to 200 classes"):
        TernaryProblem(201, 300)
    with pytest.raises(InfeasibleError, match="Ask for at least 3"):
        TernaryProblem(5, 2).check_feasible()
    with pytest.raises(InfeasibleError, match="larger max_support"):
        TernaryProblem(5, 9, max_support=2).check_feasible()
    TernaryProblem(5, 10, max_support=2).check_feasible()


@pytest.mark.parametrize(
    "problem",
    [
        TernaryProblem(6, 12, max_support=3, min_column_distance=2, max_imbalance=0.4),
        TernaryProblem(6, budget=17.5, column_cost=1.3, class_sizes=(1, 2, 3, 4, 5, 6)),
        TernaryProblem(4, 6, objective="weighted-cover", class_similarity=HALVES),
    ],
)
def test_problems_survive_files(problem):
    again = DesignProblem.from_plain(problem.to_plain())
    assert again == problem
    assert hash(again) == hash(problem)
    assert again.ternary_bounds == problem.ternary_bounds
    assert problem != TernaryProblem(6, 11)


@pytest.mark.parametrize(
    "change",
    [
        {"n_symbols": 2},
        {"alphabet": "quaternary"},
        {"n_columns": "6"},
        {"class_sizes": 3},
        {"pair_weights": "no"},
        {"support": 3},
    ],
)
def test_malformed_files_are_refused(change):
    with pytest.raises(InvalidInputError):
        DesignProblem.from_plain(TernaryProblem(4, 6).to_plain() | change)
