from copy import deepcopy
from dataclasses import replace

import pytest

from ecoc.bounds import BoundProblem
from ecoc.bounds.checking.nested import check_nested_bound
from ecoc.bounds.nested import nested_bound
from ecoc.bounds.problem import SymbolBoundProblem

PROBLEM = BoundProblem(9, 12)


@pytest.mark.parametrize(
    "problem", [PROBLEM, BoundProblem(6, 9, min_column_distance=2), SymbolBoundProblem(10, 6, 3)]
)
def test_proofs_are_accepted(problem):
    assert check_nested_bound(problem, nested_bound(problem)) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda prefixes: prefixes[3].update(value=2), "the prefix of 7 columns: "),
        (lambda prefixes: prefixes[3].update(value=9), "add up to 39, not to 33"),
        (lambda prefixes: prefixes[3].update(value="3"), "value is not a whole number"),
        (lambda prefixes: prefixes[3].update(n_columns=8), "the prefix of 7 columns is missing"),
        (lambda prefixes: prefixes[3].update(proof=prefixes[4]["proof"]), "the prefix of 7"),
        (lambda prefixes: prefixes[3].update(name="hearsay"), "no bound of this name"),
        (lambda prefixes: prefixes.pop(), "all from 4 to 12 columns"),
        (lambda prefixes: prefixes.insert(0, prefixes[0]), "all from 4 to 12 columns"),
        (lambda prefixes: prefixes[3].pop("proof"), "no field 'proof'"),
    ],
)
def test_forged_prefixes_are_refused(change, message):
    bound = nested_bound(PROBLEM)
    proof = deepcopy(bound.proof)
    change(proof["prefixes"])
    assert message in check_nested_bound(PROBLEM, replace(bound, proof=proof))[0]


def test_a_proof_for_another_problem_is_refused():
    assert check_nested_bound(BoundProblem(8, 12), nested_bound(PROBLEM))
    assert check_nested_bound(replace(PROBLEM, separation="literal"), nested_bound(PROBLEM))
