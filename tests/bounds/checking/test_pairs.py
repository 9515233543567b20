"""Forged proofs by pairs of columns: each is told by the step that fails."""

from copy import deepcopy

import pytest

from ecoc.bounds import BoundProblem, pair_bound
from ecoc.bounds.checking.pairs import check_pairs
from ecoc.bounds.checking.reading import RejectedError

PROBLEM = BoundProblem(6, 14)
CASES = pair_bound(PROBLEM, below=8).proof["cases"]


def test_the_proof_is_accepted():
    check_pairs(PROBLEM, 14, CASES, 8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda cases: cases.pop(), "a combination of columns is not among the cases"),
        (lambda cases: cases[0].pop("multipliers"), "no field 'multipliers'"),
        (lambda cases: cases[0]["multipliers"].pop(), "a multiplier for each limit"),
        (lambda cases: cases[0].update(columns="6"), "columns is not a list"),
        (
            lambda cases: cases[0].update(multipliers=[0] * len(cases[0]["multipliers"])),
            "do not show a contradiction",
        ),
    ],
)
def test_a_changed_case_is_rejected(change, message):
    cases = deepcopy(CASES)
    change(cases)
    with pytest.raises(RejectedError, match=message):
        check_pairs(PROBLEM, 14, cases, 8)


def test_a_distance_that_is_reached_is_never_excluded():
    with pytest.raises(RejectedError):
        check_pairs(PROBLEM, 14, CASES, 7)


@pytest.mark.parametrize(
    ("problem", "n_columns", "message"),
    [
        (BoundProblem(13, 26), 26, "more than 12 classes"),
        (BoundProblem(6, 14, (2, 2, 2)), 14, "more columns than there are"),
    ],
)
def test_problems_that_do_not_fit_are_rejected(problem, n_columns, message):
    with pytest.raises(RejectedError, match=message):
        check_pairs(problem, n_columns, CASES, 8)


def test_cases_must_be_listed():
    with pytest.raises(RejectedError, match="cases is not a list"):
        check_pairs(PROBLEM, 14, {}, 8)
