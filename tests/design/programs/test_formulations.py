from __future__ import annotations

from functools import cache
from itertools import combinations
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.design.programs.cases import build_all, conflicts

from ecoc.codes.columns import Dichotomies
from ecoc.design.programs import ProgramOptions, build_ip2, build_ip3
from ecoc.design.solvers import Status, solve
from ecoc.errors import InvalidInputError

# Every subset of the candidates is listed, so that nothing is shared with the programs.


@cache
def subsets(n):
    return (np.arange(1 << n)[:, None] >> np.arange(n)) & 1


def pair_table(columns, n_classes):
    sides = np.array([[0] + [(c >> i) & 1 for i in range(n_classes - 1)] for c in columns])
    sides = sides.reshape(len(columns), n_classes)
    return np.array(
        [sides[:, p] != sides[:, q] for p, q in combinations(range(n_classes), 2)], dtype=float
    )


def admitted(columns, n_columns, low, high):
    chosen = subsets(len(columns))
    size = chosen.sum(axis=1)
    clash = ((chosen @ conflicts(columns, low, high)) * chosen).sum(axis=1)
    return chosen[(clash == 0) & (size <= n_columns)]


def best_smallest(columns, n_classes, n_columns, low, high):
    distances = admitted(columns, n_columns, low, high) @ pair_table(columns, n_classes).T
    return distances.min(axis=1).max()


def upper_limit(rule, n_classes, n_columns, separation):
    return {
        "one-sided": n_classes,
        "two-sided": n_classes - separation,
        "paper": n_columns - separation,
    }[rule]


@pytest.mark.parametrize("rule", ["one-sided", "two-sided", "paper"])
@pytest.mark.parametrize("n_classes", [2, 3, 4, 5])
def test_all_formulations_agree_with_all_subsets(n_classes, rule):
    columns = Dichotomies(n_classes).to_array()
    for separation in range(1, n_classes):
        for n_columns in range(1, columns.size + 1, 1 if n_classes < 5 else 4):
            high = upper_limit(rule, n_classes, n_columns, separation)
            expected = best_smallest(columns, n_classes, n_columns, separation, high)
            for ip in build_all(columns, n_classes, n_columns, separation, high):
                result = solve(ip.program)
                case = (ip.name, n_classes, n_columns, separation, rule)
                assert result.status is Status.OPTIMAL, case
                assert result.objective == expected, case


@st.composite
def requests(draw):
    n_classes = draw(st.integers(2, 5))
    everything = Dichotomies(n_classes).to_array()
    columns = draw(st.lists(st.sampled_from(everything.tolist()), unique=True, max_size=12))
    n_columns = draw(st.integers(0, 8))
    low = draw(st.integers(0, n_classes))
    high = draw(st.integers(0, n_classes))
    return np.array(columns, dtype=np.int64), n_classes, n_columns, low, high


@given(
    request=requests(),
    parity_cuts=st.booleans(),
    solver=st.sampled_from(["highs", "scip"]),
)
def test_any_candidates_and_limits(request, parity_cuts, solver):
    expected = best_smallest(*request)
    options = ProgramOptions(parity_cuts=parity_cuts)
    for ip in build_all(*request, options=options):
        result = solve(ip.program, solver=solver)
        assert result.objective == expected
        assert result.status is Status.OPTIMAL
        start = ip.start_vector(ip.columns_of(result.x))
        assert ip.program.is_feasible(start)
        assert ip.program.objective_value(start) == expected


@given(request=requests(), data=st.data())
def test_target_distances(request, data):
    columns, n_classes, n_columns, low, high = request
    n_pairs = comb(n_classes, 2)
    number = st.integers(0, 6) | st.sampled_from([0.5, 1.25, 2.5])
    targets = np.array(data.draw(st.lists(number, min_size=n_pairs, max_size=n_pairs)), float)
    chosen = admitted(columns, n_columns, low, high)
    distances = chosen @ pair_table(columns, n_classes).T
    expected = np.abs(distances - targets).sum(axis=1).min()
    cutoff = data.draw(st.sampled_from([None, expected - 0.25, expected]))
    cutoff = None if cutoff is None else max(cutoff, 0)
    options = ProgramOptions(targets=targets, cutoff=cutoff)
    for ip in build_all(*request, options=options):
        result = solve(ip.program)
        assert result.status is Status.OPTIMAL
        assert result.objective == pytest.approx(expected)
        start = ip.start_vector(ip.columns_of(result.x))
        assert ip.program.is_feasible(start, tolerance=1e-9)
        assert ip.program.objective_value(start) == pytest.approx(expected)


def test_targets_may_be_a_matrix():
    targets = np.array([[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]])
    flat = targets[np.triu_indices(4, k=1)]
    values = [
        solve(
            build_ip3(
                range(1, 8), 4, 4, indptr=[0], members=[], options=ProgramOptions(targets=t)
            ).program
        ).objective
        for t in (targets, flat)
    ]
    assert values[0] == values[1]


@given(request=requests(), least=st.integers(1, 3), with_targets=st.booleans())
def test_a_distance_that_every_pair_must_have(request, least, with_targets):
    columns, n_classes, n_columns, low, high = request
    distances = admitted(columns, n_columns, low, high) @ pair_table(columns, n_classes).T
    distances = distances[distances.min(axis=1) >= least]
    targets = np.arange(comb(n_classes, 2)) % 3 if with_targets else None
    if not len(distances):
        expected = None
    elif with_targets:
        expected = np.abs(distances - targets).sum(axis=1).min()
    else:
        expected = distances.min(axis=1).max()
    options = ProgramOptions(targets=targets, min_row_distance=least)
    for ip in build_all(*request, options=options):
        result = solve(ip.program)
        assert result.objective == expected
        assert (result.status is Status.INFEASIBLE) == (expected is None)


def test_cutoff_limits_the_objective():
    for cutoff, expected in ((2, 2), (2.9, 2), (100, 3)):
        options = ProgramOptions(cutoff=cutoff)
        ip = build_ip3(range(1, 16), 5, 6, indptr=[0], members=[], options=options)
        assert solve(ip.program).objective == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": [1, 1]}, "distinct"),
        ({"columns": [1, 16]}, "from 1 to 15, not 16"),
        ({"columns": [0.5]}, "whole numbers"),
        ({"n_columns": -1}, "n_columns must be at least 0"),
        ({"indptr": [1]}, "indptr must start at 0"),
        ({"indptr": [0, 0, 1], "members": [0]}, "indptr must increase"),
        ({"indptr": [0, 1], "members": [15]}, "from 0 to 14"),
        ({"indptr": [0, 2], "members": [3, 3]}, "at most once"),
        ({"options": ProgramOptions(targets=[1, 2])}, "targets must have shape"),
        ({"options": ProgramOptions(targets=np.triu(np.ones((5, 5))))}, "symmetric"),
        ({"options": ProgramOptions(targets=np.full(10, -1))}, "not negative"),
        ({"options": ProgramOptions(cutoff=-1)}, "cutoff must be at least 0"),
    ],
)
def test_wrong_requests_are_refused(arguments, message):
    request = {"columns": range(1, 16), "n_classes": 5, "n_columns": 4, "indptr": [0]}
    request |= {"members": [], "options": None} | arguments
    with pytest.raises(InvalidInputError, match=message):
        build_ip3(**request)


def test_wrong_edges_are_refused():
    with pytest.raises(InvalidInputError, match="from 0 to 2"):
        build_ip2([1, 2, 3], 3, 2, edges=[(0, 3)])
    with pytest.raises(InvalidInputError, match="two different"):
        build_ip2([1, 2, 3], 3, 2, edges=[(1, 1)])


def test_columns_of_needs_all_variables():
    ip = build_ip3([1, 2, 3], 3, 2, indptr=[0], members=[])
    with pytest.raises(InvalidInputError, match="variables"):
        ip.columns_of([1, 0, 0])
    with pytest.raises(InvalidInputError, match="these are not: 7"):
        ip.start_vector([7])
