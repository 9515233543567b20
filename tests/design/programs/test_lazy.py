from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecoc.codes.columns import Dichotomies
from ecoc.design.programs import ProgramOptions, build_ip3, lazy
from ecoc.design.programs.lazy import CliqueRows, clique_finder, solve_lazily
from ecoc.design.solvers import Status, solve
from ecoc.errors import InvalidInputError
from ecoc.graphs import ConflictGraph


def bare(n_classes, n_columns, **options):
    return build_ip3(
        range(1, 1 << (n_classes - 1)),
        n_classes,
        n_columns,
        indptr=[0],
        members=[],
        options=ProgramOptions(**options),
    )


def find_violated(columns):
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
    result = solve_lazily(bare(7, 10), find_violated, progress=points.append)
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 4, 4)
    assert len(points) > 1
    assert points == list(result.history)
    assert [point.bound for point in points] == sorted((p.bound for p in points), reverse=True)
    assert points[-1].incumbent == 4


def test_an_infeasible_relaxation_is_infeasible():
    result = solve_lazily(bare(7, 1, min_row_distance=1), find_violated)
    assert result.status is Status.INFEASIBLE


def test_conflicts_that_exclude_everything_are_infeasible():
    assert solve_lazily(bare(7, 10, min_row_distance=5), find_violated).status is Status.INFEASIBLE


@pytest.mark.parametrize("with_start", [False, True])
def test_a_limit_gives_the_start_or_nothing(with_start, monkeypatch):
    formulation = bare(7, 20)
    violating = formulation.start_vector(range(1, 13))

    def stopped(program, **settings):
        result = solve(bare(3, 1).program)
        return replace(result, status=Status.FEASIBLE, x=violating, objective=0.0, bound=9.0)

    monkeypatch.setattr(lazy, "solve", stopped)
    start = formulation.start_vector([7, 25, 42, 52]) if with_start else None
    result = solve_lazily(formulation, find_violated, start=start, time_limit=1)
    assert result.bound == 9
    assert result.status is (Status.FEASIBLE if with_start else Status.UNKNOWN)
    assert (result.x is None) == (not with_start)


def test_a_start_must_not_violate():
    formulation = bare(7, 10)
    with pytest.raises(InvalidInputError, match="start must not violate"):
        solve_lazily(formulation, find_violated, start=formulation.start_vector([1, 3]))


def test_rows_that_are_not_violated_are_refused():
    with pytest.raises(InvalidInputError, match="find_violated must return a clique"):
        solve_lazily(bare(4, 3), lambda columns: CliqueRows([0, 1], [0]))


@given(st.integers(3, 7), st.data())
def test_every_violated_pair_gets_a_maximal_clique(k, data):
    rule = data.draw(st.sampled_from(["two-sided", "one-sided", "literal"]))
    graph = ConflictGraph(
        k,
        data.draw(st.integers(1, k)),
        rule,
        n_columns=k,
        columns=data.draw(st.sampled_from([None, Dichotomies(k, 0.5)])),
    )
    columns = graph.to_columns()
    chosen = data.draw(st.lists(st.sampled_from(columns.tolist()), max_size=5, unique=True))
    rows = clique_finder(graph)(np.array(chosen, dtype=np.int64))
    violated = {(a, b) for a in chosen for b in chosen if a < b and graph.conflicts(a, b)}
    covered = set()
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        clique = columns[rows.members[start:end]]
        pairs = graph.conflicts(clique[:, None], clique[None, :])
        assert (pairs | np.eye(clique.size, dtype=bool)).all()
        others = np.setdiff1d(columns, clique)
        assert not graph.conflicts(others[:, None], clique[None, :]).all(axis=1).any()
        covered |= {(a, b) for a, b in violated if {a, b} <= set(clique.tolist())}
    assert covered == violated
