from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import binary_codebooks

from ecoc.codes import Codebook, digits, one_vs_one, one_vs_rest
from ecoc.codes.columns import columns_to_matrix, matrix_to_columns
from ecoc.design import DesignProblem
from ecoc.errors import InfeasibleError, InvalidInputError


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_classes": 1, "n_columns": 2}, "n_classes must be at least 2"),
        ({"n_classes": 4, "n_columns": 0}, "n_columns must be at least 1"),
        ({"n_classes": 4, "n_columns": 4, "min_column_distance": 5}, "at most 4, not 5"),
        ({"n_classes": 4, "n_columns": 4, "separation": "onesided"}, "Did you mean 'one-sided'"),
        ({"n_classes": 4, "n_columns": 4, "max_imbalance": -0.1}, "at least 0"),
        ({"n_classes": 4, "n_columns": 4, "class_sizes": [1]}, "each of the 4 classes"),
        ({"n_classes": 4, "n_columns": 4, "objective": "best"}, "objective must be one of"),
        ({"n_classes": 2, "n_columns": 4, "objective": "target-distances"}, "given together"),
        ({"n_classes": 2, "n_columns": 4, "target_distances": [[0, 1], [1, 0]]}, "together"),
    ],
)
def test_requests_are_checked(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        DesignProblem(**arguments)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ([[0, 1]], r"shape \(2, 2\), not \(1, 2\)"),
        ([[0, 1], [2, 0]], "symmetric; entries 0, 1 and 1, 0 differ"),
        ([[0, -1], [-1, 0]], "from 0 to 1,000,000"),
        ([[0, np.inf], [np.inf, 0]], "from 0 to"),
        ([[0, np.nan], [np.nan, 0]], "from 0 to"),
        ([[0, 10**400], [10**400, 0]], "matrix of numbers"),
        ([["a", "b"], ["c", "d"]], "matrix of numbers"),
    ],
)
def test_targets_are_checked(targets, message):
    with pytest.raises(InvalidInputError, match=message):
        DesignProblem(2, 3, objective="target-distances", target_distances=targets)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_classes": 9, "n_columns": 3}, "at least 4 columns"),
        ({"n_classes": 6, "n_columns": 9, "min_column_distance": 4}, "min_column_distance <= 3"),
        (
            {
                "n_classes": 6,
                "n_columns": 9,
                "min_column_distance": 6,
                "separation": "one-sided",
            },
            "min_column_distance <= 5",
        ),
        (
            {
                "n_classes": 10,
                "n_columns": 20,
                "min_column_distance": 6,
                "separation": "one-sided",
            },
            "10 different rows cannot keep .* min_column_distance <= 5",
        ),
        ({"n_classes": 5, "n_columns": 9, "max_imbalance": 0.1}, "Ask for at least 0.2"),
        (
            {"n_classes": 3, "n_columns": 3, "max_imbalance": 0.1, "class_sizes": [90, 5, 5]},
            "Ask for at least 0.8",
        ),
        (
            {"n_classes": 3, "n_columns": 3, "max_imbalance": 0, "class_sizes": [2, 1, 1]},
            "never tells classes 1 and 2 apart",
        ),
    ],
)
def test_impossible_requests_say_what_would_work(arguments, message):
    with pytest.raises(InfeasibleError, match=message):
        DesignProblem(**arguments).check_feasible()


def has_a_solution(problem):
    """Whether some set of admissible columns is separated and tells all classes apart."""
    k, graph = problem.n_classes, problem.graph
    columns = graph.to_columns().tolist()
    for size in range(1, problem.n_columns + 1):
        for chosen in combinations(columns, size):
            rows = {tuple(0 if i == 0 else c >> (i - 1) & 1 for c in chosen) for i in range(k)}
            if len(rows) == k and not any(graph.conflicts(*p) for p in combinations(chosen, 2)):
                return True
    return False


@given(st.integers(3, 5), st.integers(1, 4), st.data())
def test_what_is_found_impossible_is_impossible(k, length, data):
    rho = data.draw(st.integers(1, k))
    rule = data.draw(st.sampled_from(["two-sided", "one-sided", "literal"]))
    problem = DesignProblem(
        k,
        length,
        min_column_distance=rho,
        separation=rule,
        max_imbalance=data.draw(st.sampled_from([None, 0.3, 0.5])),
    )
    try:
        problem.check_feasible()
    except InfeasibleError:
        assert not has_a_solution(problem)


@given(binary_codebooks(max_classes=6, max_columns=6), st.data())
def test_violations_agree_with_the_conflict_graph(code, data):
    k = code.n_classes
    rho = data.draw(st.integers(1, max(1, k // 2)))
    rule = data.draw(st.sampled_from(["two-sided", "one-sided", "literal"]))
    problem = DesignProblem(k, code.n_columns, min_column_distance=rho, separation=rule)
    columns = matrix_to_columns(code.matrix)
    conflicts = any(problem.graph.conflicts(a, b) for a, b in combinations(columns.tolist(), 2))
    assert bool(problem.violations(code)) == conflicts


def test_violations_name_what_is_wrong():
    problem = DesignProblem(4, 3, min_column_distance=2)
    assert "3 classes where 4" in problem.violations(one_vs_rest(3))[0]
    assert "4 columns where 3" in problem.violations(one_vs_rest(4))[0]
    assert "entries 0" in problem.violations(one_vs_one(4))[-1]
    assert "3 symbols where two" in problem.violations(digits(4, n_symbols=3))[-1]
    close = Codebook(columns_to_matrix([1, 2, 4], 4))
    assert not problem.violations(close)
    near = Codebook(columns_to_matrix([1, 3, 4], 4))
    assert "columns 0 and 1 are 1 apart, not 2 to 2" in problem.violations(near)[0]
    unbalanced = DesignProblem(4, 3, max_imbalance=0).violations(close)
    assert "column 0 has sides that differ by 2" in unbalanced[0]


@pytest.mark.parametrize("q", [2, 3])
def test_columns_that_only_have_to_differ_are_not_measured(monkeypatch, q):
    code = digits(9, n_symbols=q)
    problem = DesignProblem(9, code.n_columns + 1, n_symbols=q)
    again = [*range(code.n_columns), 0]
    matrix = code.matrix[:, again]
    repeated = Codebook(matrix, n_symbols=q, allow_repeated_columns=True)
    assert "0 apart" in problem.violations(repeated)[0]
    monkeypatch.setattr(Codebook, "min_column_distance", None)
    assert problem.violations(code) == []


def test_objectives_are_recomputed_from_the_matrix():
    code = Codebook(columns_to_matrix([3, 5, 6], 4))
    assert DesignProblem(4, 3).objective_of(code) == 2
    targets = np.full((4, 4), 3.0)
    problem = DesignProblem(4, 3, objective="target-distances", target_distances=targets)
    assert problem.objective_of(code) == 6
    assert not problem.maximises


def test_problems_travel_as_plain_data():
    targets = np.arange(9).reshape(3, 3) + np.arange(9).reshape(3, 3).T
    for problem in (
        DesignProblem(10, 20, min_column_distance=3, separation="one-sided"),
        DesignProblem(3, 3, max_imbalance=0.5, class_sizes=[3, 4, 5]),
        DesignProblem(3, 3, objective="target-distances", target_distances=targets),
    ):
        copy = DesignProblem.from_plain(problem.to_plain())
        assert copy == problem
        assert hash(copy) == hash(problem)
    for wrong in ([], {"n_classes": 3}, {"n_classes": 3, "n_columns": 3, "other": 1}):
        with pytest.raises(InvalidInputError):
            DesignProblem.from_plain(wrong)
