"""The checker accepts no proof of a lower value, and no data whatsoever breaks it."""

import json
from copy import deepcopy
from dataclasses import asdict, replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.strategies import plain_values

from ecoc.bounds import (
    Bound,
    BoundProblem,
    TargetBound,
    all_bounds,
    check_bound,
    check_separation_bound,
    check_target_bound,
    separation_bound,
    target_bound,
)

PROBLEMS = [
    BoundProblem(10, 20),
    BoundProblem(5, 13),
    BoundProblem(7, 14, min_column_distance=2),
    BoundProblem(9, 18, min_column_distance=3),
    BoundProblem(10, 22, min_column_distance=4, separation="one-sided"),
    BoundProblem(12, 40, min_column_distance=5, separation="literal"),
    BoundProblem(4, 9),
    BoundProblem(6, 14),
    BoundProblem(8, 16, min_column_distance=3),
    BoundProblem(6, 12, (6, 0, 4)),
    BoundProblem(38, 17),
    BoundProblem(1100, 25),
    BoundProblem(1000, 63),
]
OPTIMA = {
    PROBLEMS[0]: 10,
    PROBLEMS[1]: 6,
    PROBLEMS[2]: 7,
    PROBLEMS[3]: 8,
    BoundProblem(4, 9): 4,
    BoundProblem(6, 14): 7,
    BoundProblem(8, 16, min_column_distance=3): 4,
}
CASES = [(problem, bound) for problem in PROBLEMS for bound in all_bounds(problem)]
IDS = [f"{p.n_classes}-{p.n_columns}-{p.separation}-{b.name}" for p, b in CASES]
NAMES = sorted({bound.name for _, bound in CASES})
HUGE = 1 << 100_000

hostile = (
    plain_values
    | st.sampled_from([HUGE, -HUGE, float("nan"), b"x", (), [[]], {1: 2}, [HUGE], True, -1, 0])
    | st.lists(st.integers(-5, 1000), max_size=50)
    | st.text("01", max_size=40)
)


@pytest.mark.parametrize(("problem", "bound"), CASES, ids=IDS)
def test_proofs_are_plain_data_and_accepted(problem, bound):
    again = Bound(**json.loads(json.dumps(asdict(bound))))
    assert again == bound
    assert check_bound(problem, again) == []


@pytest.mark.parametrize(("problem", "bound"), CASES, ids=IDS)
def test_a_lower_value_is_rejected(problem, bound):
    if bound.value:
        assert check_bound(problem, replace(bound, value=bound.value - 1))


@pytest.mark.parametrize(("problem", "bound"), CASES, ids=IDS)
def test_a_missing_field_is_rejected(problem, bound):
    for place in _places(bound.proof):
        proof = deepcopy(bound.proof)
        *path, last = place
        inner = proof
        for key in path:
            inner = inner[key]
        del inner[last]
        redundant = last == "size" and inner.get("method") == "count"
        if not redundant and "multipliers" not in path:
            assert check_bound(problem, replace(bound, proof=proof)), place


@pytest.mark.parametrize(("problem", "bound"), CASES, ids=IDS)
def test_citations_must_be_true(problem, bound):
    other = None if bound.cited else "a source"
    assert check_bound(problem, replace(bound, cited=other))


def test_a_proof_is_for_its_problem_only():
    problem = BoundProblem(9, 18, min_column_distance=3)
    bound = all_bounds(problem)[0]
    assert "packing" in bound.proof
    for other in (
        replace(problem, min_column_distance=2),
        replace(problem, separation="one-sided"),
        replace(problem, n_classes=8),
    ):
        assert check_bound(other, bound)
    balanced = BoundProblem(6, 12, (0, 0, 10))
    assert check_bound(replace(balanced, column_counts=None), all_bounds(balanced)[0])


@given(st.sampled_from(CASES), st.data())
def test_changed_proofs_are_judged_without_an_accident(case, data):
    problem, bound = case
    proof = deepcopy(bound.proof)
    *path, last = data.draw(st.sampled_from(list(_places(proof))))
    inner = proof
    for key in path:
        inner = inner[key]
    inner[last] = data.draw(hostile)
    messages = check_bound(problem, replace(bound, value=max(0, bound.value - 1), proof=proof))
    assert all(isinstance(message, str) for message in messages)
    if problem in OPTIMA and bound.value <= OPTIMA[problem]:
        assert messages


@given(st.sampled_from(NAMES) | st.text(max_size=5), hostile, hostile, hostile)
def test_arbitrary_data_are_judged_without_an_accident(name, value, proof, cited):
    for problem in PROBLEMS[:4]:
        assert isinstance(check_bound(problem, Bound(name, value, proof, "", cited)), list)
        bound = Bound("separation", value, proof, "", cited)
        assert isinstance(check_separation_bound(10, 20, "two-sided", bound), list)


@pytest.mark.parametrize(
    "bound",
    [
        None,
        Bound("magic", 3, {}, ""),
        Bound(["averaging"], 3, {}, ""),
        Bound("averaging", 3.0, {}, ""),
        Bound("averaging", True, {}, ""),
        Bound("averaging", np.int64(3), {}, ""),
        Bound("averaging", -1, {}, ""),
        Bound("averaging", 3, [], ""),
        Bound("averaging", 3, {1: 2}, ""),
        Bound("delsarte", 3, {"n_columns": 20, "words": {"method": "hamming", "size": 9}}, ""),
    ],
)
def test_what_is_not_a_bound_is_rejected(bound):
    assert check_bound(BoundProblem(10, 20), bound)


def test_separation_bounds_are_rejected_when_lowered():
    for k, n_columns, separation, wanted in [
        (11, 22, "two-sided", 12),
        (12, 24, "two-sided", None),
        (12, 24, "one-sided", None),
        (12, 14, "literal", None),
        (200, 400, "two-sided", None),
    ]:
        bound = separation_bound(k, n_columns, separation, min_row_distance=wanted)
        for changed in (
            replace(bound, value=bound.value - 1),
            replace(bound, proof={}),
            replace(bound, name="averaging"),
            replace(bound, cited="a source"),
        ):
            assert check_separation_bound(
                k, n_columns, separation, changed, min_row_distance=wanted
            )


def test_separation_bounds_by_the_table():
    assert separation_bound(10, 21, "one-sided").value == 4
    bound = separation_bound(10, 21, "one-sided", cited=True)
    assert bound.value == 3
    assert bound.cited
    assert check_separation_bound(10, 21, "one-sided", bound) == []
    assert check_separation_bound(10, 21, "one-sided", replace(bound, cited=None))


@given(hostile, hostile, st.sampled_from(["cut", "sum", "magic"]))
def test_hostile_target_bounds(groups, denominator, name):
    targets = np.ones((4, 4))
    proof = {"groups": groups, "denominator": denominator}
    for value in (Fraction(3), 3, "3"):
        assert check_target_bound(3, targets, TargetBound(name, value, proof, ""))


def test_target_bounds_are_rejected_when_raised():
    for n_columns, targets in [(20, np.ones((19, 19))), (2, np.full((5, 5), 7.3))]:
        bound = target_bound(n_columns, targets)
        assert check_target_bound(n_columns, targets, bound) == []
        raised = replace(bound, value=bound.value + Fraction(1, 1000))
        assert check_target_bound(n_columns, targets, raised)


def _places(proof, path=()):
    for key, value in proof.items() if isinstance(proof, dict) else enumerate(proof):
        yield (*path, key)
        if isinstance(value, (dict, list)):
            yield from _places(value, (*path, key))
