"""Forged bounds for several symbols are not accepted."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ecoc._limits import deadline
from ecoc.bounds.checking.symbols import check_symbol_bound
from ecoc.bounds.problem import Bound, SymbolBoundProblem
from ecoc.bounds.symbols import all_symbol_bounds, best_symbol_bound
from ecoc.errors import TimeLimitError


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "nobody"}, "no bound of this name"),
        ({"cited": "a book"}, "a source is cited"),
        ({"value": "13"}, "not a whole number"),
        ({"proof": {}}, "has no field 'n_columns'"),
        ({"proof": {"n_columns": 20}}, "has no field 'largest_sum'"),
        ({"proof": {"n_columns": 20, "largest_sum": 600}}, "not what the proof says"),
        ({"proof": {"n_columns": 19, "largest_sum": 660}}, "number of columns"),
        ({"name": "plotkin"}, "has no field 'words'"),
        ({"name": "plotkin", "proof": {"n_columns": 20, "words": {"method": "hamming"}}}, "kind"),
    ],
)
def test_forgeries_are_rejected(change, message):
    problem = SymbolBoundProblem(10, 20, 3)
    forged = replace(best_symbol_bound(problem), **change)
    (found,) = check_symbol_bound(problem, forged)
    assert message in found


def test_a_forged_multiplier_is_rejected():
    problem = SymbolBoundProblem(51, 6, 3)
    bound = next(b for b in all_symbol_bounds(problem) if b.name == "delsarte")
    words = bound.proof["words"]
    for multipliers in ([], [0, 1], [c + (i == 0) * c for i, c in enumerate(words["multipliers"])]):
        proof = bound.proof | {"words": words | {"multipliers": multipliers}}
        assert check_symbol_bound(problem, replace(bound, proof=proof)) != []


def test_a_checker_stops_in_time():
    problem = SymbolBoundProblem(60, 10**40, 5)
    bound = Bound("averaging", 3, {"n_columns": 1, "largest_sum": 1}, "")
    with pytest.raises(TimeLimitError), deadline(0.0):
        check_symbol_bound(problem, bound)
