"""Honest bounds on ternary codebooks are accepted, forged ones are not."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from ecoc._limits import deadline
from ecoc.bounds.checking.ternary import check_ternary_bound
from ecoc.bounds.problem import Bound, TernaryBound, TernaryBoundProblem
from ecoc.bounds.ternary import _ARGUMENTS, all_ternary_bounds
from ecoc.errors import TimeLimitError

MATRIX = tuple(tuple(Fraction(abs(p - q), 4) for q in range(5)) for p in range(5))
WEIGHTED = TernaryBoundProblem(
    5, 6, 3, "weighted", Fraction(3, 2), Fraction(25), (1, 2, 1, 3, 1), MATRIX, MATRIX
)
CELLS = {
    "averaging": (10, 30, 4),
    "plotkin": (33, 6, 33),
    "singleton": (17, 4, 17),
    "hamming": (20, 8, 20),
    "delsarte": (33, 6, 33),
    "inertia": (12, 8, 10),
    "degrees": (9, 16, 6),
    "packing": (12, 5, 8),
    "pairs": (20, 8, 20),
    "enumeration": (4, 5, 4),
}
NAMES = [*CELLS, "averaging, budget", "averaging, distance", "degrees, budget", "dual"]
STEPS = {"averaging, distance": Fraction(1, 2), "dual": Fraction(1, 10**6)}


def lowest(problem: TernaryBoundProblem, name: str) -> TernaryBound:
    """The bound of an argument, whether or not a simpler one is as good."""
    if name in {"averaging", "dual"}:
        return all_ternary_bounds(problem)[-1]
    for target in range(1, problem.n_columns + 1):
        if (proof := _ARGUMENTS[name](problem, target)) is not None:
            return TernaryBound(name, problem.reached(target), proof, "")
    raise AssertionError(name)


@pytest.fixture(scope="module")
def bounds():
    """A problem and a bound for each argument."""
    problems = {name: TernaryBoundProblem(*cell) for name, cell in CELLS.items()}
    problems["averaging, budget"] = TernaryBoundProblem(
        7, 12, 5, exponent=Fraction(13, 10), budget=Fraction(50), class_sizes=(2, 1, 1, 3, 1, 1, 2)
    )
    problems["averaging, distance"] = TernaryBoundProblem(10, 20, 10, "distance")
    problems["degrees, budget"] = TernaryBoundProblem(9, 17, 6, budget=Fraction(96))
    problems["dual"] = WEIGHTED
    return {
        name: (problem, lowest(problem, name.split(",", maxsplit=1)[0]))
        for name, problem in problems.items()
    }


@pytest.mark.parametrize("name", NAMES)
def test_a_proof_is_accepted_for_its_value_and_not_for_less(bounds, name):
    problem, bound = bounds[name]
    assert bound.value > 0 or name in {"singleton", "packing"}
    assert check_ternary_bound(problem, bound) == []
    lower = replace(bound, value=bound.value - STEPS.get(name, 1))
    assert len(check_ternary_bound(problem, lower)) == 1


@pytest.mark.parametrize("name", NAMES)
def test_a_proof_is_not_accepted_for_another_problem(bounds, name):
    problem, bound = bounds[name]
    longer = replace(problem, n_columns=2 * problem.n_columns)
    if name not in {"averaging, budget", "degrees, budget", "dual"}:
        assert check_ternary_bound(longer, bound) != []
    else:
        assert check_ternary_bound(replace(longer, budget=2 * problem.budget), bound) != []
        assert check_ternary_bound(replace(problem, budget=None), bound) != []
    others = [other for other in bounds if bounds[other][0] is not problem]
    accepted = [other for other in others if not check_ternary_bound(bounds[other][0], bound)]
    # A proof holds for problems that allow less, and for no other.
    for other in accepted:
        smaller = bounds[other][0]
        assert lowest(smaller, bounds[other][1].name).value <= bound.value
    assert len(accepted) <= 4


@pytest.mark.parametrize("name", NAMES)
def test_a_proof_is_not_accepted_for_another_goal(bounds, name):
    problem, bound = bounds[name]
    for goal in ("cover", "errors", "distance", "weighted", "beauty"):
        known = {"weighted": {"dual"}, "distance": {"averaging"}, "beauty": set()}
        names = known.get(goal, {*CELLS} - {"dual"})
        if bound.name not in names:
            found = check_ternary_bound(replace(problem, goal=goal), bound)
            assert found == ["there is no bound of this name on what is asked for"]
    if name == "averaging":
        assert check_ternary_bound(replace(problem, goal="distance"), bound) != []


STRANGE = [None, True, -1, 0.5, 10**5000, "", "-1", "1/0", "٣", "9" * 500, "1e5", [], [None], {}]


@pytest.mark.parametrize("name", NAMES)
def test_strange_fields_are_refused(bounds, name):
    problem, bound = bounds[name]
    for field in bound.proof:
        missing = {key: value for key, value in bound.proof.items() if key != field}
        for proof in (missing, *(bound.proof | {field: strange} for strange in STRANGE)):
            assert len(check_ternary_bound(problem, replace(bound, proof=proof))) == 1, proof


def scaled(factor):
    return lambda text: str(Fraction(text) * factor)


CHANGES = [
    ("averaging", "total", lambda n: n + 1, "total is not"),
    ("averaging", "column_price", scaled(2), "total is not"),
    ("averaging", "cost_price", lambda _: "1", "no budget"),
    ("averaging, budget", "cost_price", lambda _: "0", "total is not"),
    ("plotkin", "words", lambda w: w | {"shortened": 0}, "does not show"),
    ("plotkin", "words", lambda w: w | {"size": 33}, "room for all rows"),
    ("plotkin", "words", lambda w: w | {"method": "known"}, "kind that is named"),
    ("singleton", "words", lambda w: w | {"size": 15}, "does not show"),
    ("hamming", "words", lambda w: w | {"size": 1}, "does not show"),
    ("delsarte", "words", lambda w: w | {"multipliers": [9, 1]}, "does not show"),
    ("inertia", "column_price", lambda _: "0", "as many columns"),
    ("degrees", "modulus", lambda m: m + 1, "all degrees"),
    ("degrees", "modulus", lambda _: 1, "out of range"),
    ("degrees", "share", lambda _: "0", "all degrees"),
    ("degrees", "share", lambda _: "3/2", "above 1"),
    ("degrees, budget", "cost_price", scaled(3), "all degrees"),
    ("packing", "slope", lambda _: "0", "not below"),
    ("packing", "slope", scaled(2), "fit"),
    ("packing", "offset", scaled(2), "not below"),
    ("pairs", "multipliers", lambda c: [2 * c[0], *c[1:]], "positive sum"),
    ("pairs", "multipliers", lambda c: [c[0], *(2 * x for x in c[1:])], "room for all"),
    ("pairs", "multipliers", lambda c: [0, *c[1:]], "must be positive"),
    ("dual", "pair_prices", lambda y: y[:-1], "not every pair"),
    ("dual", "pair_prices", lambda y: [0] * len(y), "demand nothing"),
    ("dual", "pair_prices", lambda y: y[::-1], "do not exclude"),
    ("dual", "cost_price", scaled(Fraction(1, 2)), "do not exclude"),
]


@pytest.mark.parametrize(("name", "field", "change", "message"), CHANGES)
def test_changed_numbers_are_refused(bounds, name, field, change, message):
    problem, bound = bounds[name]
    proof = bound.proof | {field: change(bound.proof[field])}
    (found,) = check_ternary_bound(problem, replace(bound, proof=proof))
    assert message in found


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "nobody"}, "no bound of this name"),
        ({"name": 3}, "not a string"),
        ({"value": 2}, "not a fraction"),
        ({"value": Fraction(-1, 2)}, "of at least 0"),
        ({"value": Fraction(10**1000)}, "too long"),
        ({"proof": []}, "not a record"),
    ],
)
def test_what_is_no_bound_is_refused(bounds, change, message):
    problem, bound = bounds["averaging"]
    (found,) = check_ternary_bound(problem, replace(bound, **change))
    assert message in found
    assert check_ternary_bound(problem, Bound("averaging", 2, bound.proof, "")) != []


def test_halves_between_values_are_understood(bounds):
    # A cover of at most 2.5 is one of at most 2; a distance of at most 10.7 is one of 10.5.
    for name, more in (("averaging", Fraction(1, 2)), ("averaging, distance", Fraction(1, 5))):
        problem, bound = bounds[name]
        assert check_ternary_bound(problem, replace(bound, value=bound.value + more)) == []
        less = STEPS.get(name, 1) - more
        assert check_ternary_bound(problem, replace(bound, value=bound.value - less)) != []


def test_errors_need_a_cover_of_twice_as_many_and_one():
    for cell in [(6, 12, 6), (7, 9, 7), (9, 20, 6), (12, 8, 10), (4, 5, 4), (9, 4, 6), (6, 3, 5)]:
        covers = TernaryBoundProblem(*cell)
        for bound in all_ternary_bounds(covers):
            errors = replace(bound, value=Fraction(max(0, (int(bound.value) - 1) // 2)))
            assert check_ternary_bound(replace(covers, goal="errors"), errors) == [], bound
            if errors.value:
                less = replace(errors, value=errors.value - 1)
                assert check_ternary_bound(replace(covers, goal="errors"), less) != []


def test_many_classes_are_priced_by_the_sides_of_columns():
    cell = TernaryBoundProblem(15, 20, 4, "weighted")
    (bound,) = all_ternary_bounds(cell)
    assert check_ternary_bound(cell, bound) == []
    prices = [2 * bound.proof["pair_prices"][0], *bound.proof["pair_prices"][1:]]
    forged = replace(bound, proof=bound.proof | {"pair_prices": prices})
    assert check_ternary_bound(cell, forged) != []


@pytest.mark.parametrize(
    ("name", "cell"),
    [
        ("averaging", (201, 30, 4)),
        ("packing", (12, 10**9, 8)),
        ("pairs", (20, 65, 20)),
        ("enumeration", (12, 1, 2)),
        ("enumeration", (11, 10**9, 11)),
        ("enumeration", (8, 5, 4)),
    ],
)
def test_what_takes_too_long_is_not_begun(bounds, name, cell):
    (found,) = check_ternary_bound(TernaryBoundProblem(*cell), bounds[name][1])
    assert "not checked" in found or "too many" in found


@pytest.mark.parametrize("name", ["averaging", "enumeration", "pairs", "dual"])
def test_a_checker_stops_in_time(bounds, name):
    problem, bound = bounds[name]
    with pytest.raises(TimeLimitError), deadline(0.0):
        check_ternary_bound(problem, bound)
