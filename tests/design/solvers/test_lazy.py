from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from ecoc.design.formulations import ProgramOptions, build_ip3
from ecoc.design.solvers import CliqueRows, Status, lazy, solve, solve_lazily
from ecoc.errors import InvalidInputError


def bare(n_classes, n_columns, **options):
    return build_ip3(
        range(1, 1 << (n_classes - 1)),
        n_classes,
        n_columns,
        indptr=[0],
        members=[],
        options=ProgramOptions(**options),
    )


def separate(columns):
    """Return the ball of radius 1 around a common neighbour of each pair closer than 3."""
    cliques = []
    for a, b in combinations(columns.tolist(), 2):
        difference = a ^ b
        if difference.bit_count() < 3:
            centre = a ^ (difference & -difference)
            ball = {centre} | {centre ^ (1 << i) for i in range(6)}
            cliques.append(sorted(column - 1 for column in ball if column))
    members = [position for clique in cliques for position in clique]
    return CliqueRows(np.cumsum([0, *map(len, cliques)]), members)


def test_the_same_optimum_as_with_all_rows():
    points = []
    result = solve_lazily(bare(7, 10), separate, progress=points.append)
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 4, 4)
    assert len(points) > 1
    assert points == list(result.history)
    assert [point.bound for point in points] == sorted((p.bound for p in points), reverse=True)
    assert points[-1].incumbent == 4


def test_an_infeasible_relaxation_is_infeasible():
    result = solve_lazily(bare(7, 1, forced=[1, 62]), separate)
    assert result.status is Status.INFEASIBLE


def test_conflicts_that_exclude_everything_are_infeasible():
    assert solve_lazily(bare(7, 9, forced=[1, 3]), separate).status is Status.INFEASIBLE


@pytest.mark.parametrize("with_start", [False, True])
def test_a_limit_gives_the_start_or_nothing(with_start, monkeypatch):
    formulation = bare(7, 20)
    violating = formulation.start_vector(range(1, 13))

    def stopped(program, **settings):
        result = solve(bare(3, 1).program)
        return replace(result, status=Status.FEASIBLE, x=violating, objective=0.0, bound=9.0)

    monkeypatch.setattr(lazy, "solve", stopped)
    start = formulation.start_vector([7, 25, 42, 52]) if with_start else None
    result = solve_lazily(formulation, separate, start=start, time_limit=1)
    assert result.bound == 9
    assert result.status is (Status.FEASIBLE if with_start else Status.UNKNOWN)
    assert (result.x is None) == (not with_start)


def test_a_start_must_not_violate():
    formulation = bare(7, 10)
    with pytest.raises(InvalidInputError, match="start must not violate"):
        solve_lazily(formulation, separate, start=formulation.start_vector([1, 3]))


def test_rows_that_are_not_violated_are_refused():
    with pytest.raises(InvalidInputError, match="separate must return a clique"):
        solve_lazily(bare(4, 3), lambda columns: CliqueRows([0, 1], [0]))
