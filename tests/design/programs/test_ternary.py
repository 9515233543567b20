"""The program over ternary columns against all sets of columns, for every objective."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest

from ecoc.bounds.ternary import ColumnList, separations, ternary_columns
from ecoc.codes import Codebook
from ecoc.design.programs.ternary import build_ternary_program, ternary_program_size
from ecoc.design.solvers import solve
from ecoc.design.ternary_problem import TernaryProblem
from ecoc.errors import InvalidCodebookError

WEIGHTS = np.array([[0, 1, 2, 1.5], [1, 0, 1, 3], [2, 1, 0, 1], [1.5, 3, 1, 0]])
ALIKE = np.array([[0, 0.5, 0.1, 0.9], [0.5, 0, 0.3, 0.2], [0.1, 0.3, 0, 0.6], [0.9, 0.2, 0.6, 0]])
PROBLEMS = {
    "cover": TernaryProblem(4, 3),
    "cover of pairs": TernaryProblem(3, 4, max_support=2),
    "halves": TernaryProblem(4, 3, objective="max-min-distance"),
    "errors": TernaryProblem(3, 5, objective="guaranteed-errors"),
    "no errors": TernaryProblem(4, 3, objective="guaranteed-errors"),
    "weights": TernaryProblem(4, 3, objective="weighted-cover", pair_weights=WEIGHTS),
    "similarity": TernaryProblem(
        4, 3, objective="weighted-cover", pair_weights=WEIGHTS, class_similarity=ALIKE
    ),
    "budget": TernaryProblem(3, 5, budget=13, column_cost=1.5),
    "budget and weights": TernaryProblem(
        4, 3, budget=10, objective="weighted-cover", class_similarity=ALIKE
    ),
    "separation": TernaryProblem(3, 4, min_column_distance=2),
    "twice": TernaryProblem(3, 5, min_cover=2, objective="max-min-distance"),
}


@cache
def codebooks(k: int, most: int) -> list[Codebook]:
    """All sets of so many columns that are codebooks."""
    columns = ternary_columns(k, k)
    found = []
    for n in range(1, most + 1):
        for chosen in combinations(range(len(columns)), n):
            apart = separations(columns[list(chosen)])
            if apart.any(axis=0).all():
                found.append(columns[list(chosen)].T)
    return found


@cache
def solutions(problem: TernaryProblem) -> list[tuple[float, np.ndarray]]:
    values = []
    for matrix in codebooks(problem.n_classes, problem.n_columns):
        try:
            codebook = Codebook(matrix)
        except InvalidCodebookError:
            continue
        if not problem.violations(codebook):
            values.append((problem.objective_of(codebook), matrix))
    return values


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_set_of_columns_is_better(name):
    problem = PROBLEMS[name]
    every = solutions(problem)
    best = max((value for value, _ in every), default=None)
    columns = ternary_columns(problem.n_classes, problem.support_limit)
    built = build_ternary_program(problem, columns)
    result = solve(built.program)
    assert built.program.matrix.nnz <= ternary_program_size(problem, len(columns)).n_nonzeros * 2
    if best is None:
        assert result.status.name == "INFEASIBLE"
        return
    assert result.status.name == "OPTIMAL"
    codebook = Codebook(built.columns_of(result.x))
    assert problem.violations(codebook) == []
    assert problem.objective_of(codebook) == best
    unit = 2 if problem.objective == "max-min-distance" else 1
    assert abs(result.objective / unit - float(best)) < 2e-6
    # Nothing is above the best: a floor above it leaves no solution.
    above = build_ternary_program(problem, columns, floor=best + problem.objective_step)
    rounding = 2e-6 if problem.objective == "weighted-cover" else 0
    looked = solve(above.program)
    assert looked.status.name == "INFEASIBLE" or looked.objective <= float(best) + rounding
    held = solve(build_ternary_program(problem, columns, cutoff=float(best)).program)
    assert abs(held.objective / unit - float(best)) < 2e-6


@pytest.mark.parametrize("name", PROBLEMS)
def test_columns_that_prices_leave_out_are_in_no_codebook_of_the_goal(name):
    problem = PROBLEMS[name]
    listed = ColumnList(problem.ternary_bounds)
    every = solutions(problem)
    for goal in sorted({value for value, _ in every}):
        able = {tuple(c) for c in listed.columns(listed.able_to_reach(goal)).tolist()}
        used = {tuple(c) for value, m in every if value >= goal for c in m.T.tolist()}
        assert used <= able


def test_prices_leave_out_most_columns_of_ten_classes():
    listed = ColumnList(TernaryProblem(10, 20).ternary_bounds)
    able = listed.columns(listed.able_to_reach(11))
    # 20 columns set 500 pairs apart at most, and 495 are needed: none sets fewer than 20 apart.
    assert separations(able).sum(axis=1).min() == 20
    assert len(able) == 126 + 210 + 10 * 126 + 120
