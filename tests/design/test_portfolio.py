import time
from functools import cache
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecoc.codes import Codebook, dense_random, digits, one_vs_rest
from ecoc.codes.columns import columns_to_matrix, matrix_to_columns
from ecoc.design import (
    METHODS,
    DesignProblem,
    Status,
    design_codebook,
    design_from_solution,
    jobs,
)
from ecoc.design.portfolio import FORMULATIONS
from ecoc.design.programs import build_program
from ecoc.design.solvers import available_solvers
from ecoc.errors import (
    InfeasibleError,
    InvalidCodebookError,
    InvalidInputError,
    SolverError,
    TooLargeError,
)

SOLVERS = available_solvers()


def best_by_trying_everything(problem):
    """The best objective over all sets of admissible columns; None if none is a codebook."""
    candidates = problem.candidates.to_array().tolist()
    pairs = list(combinations(range(problem.n_classes), 2))
    apart = {
        column: [2 * column >> p & 1 != 2 * column >> q & 1 for p, q in pairs]
        for column in candidates
    }
    best = None
    for size in range(1, min(problem.n_columns, len(candidates)) + 1):
        for columns in combinations(candidates, size):
            least = min(map(sum, zip(*(apart[column] for column in columns), strict=True)))
            if least <= (best or 0 if problem.maximises else 0):
                continue  # rows that are equal, or no farther apart than is known
            try:
                code = Codebook(columns_to_matrix(columns, problem.n_classes))
            except InvalidCodebookError:
                continue
            if problem.violations(code):
                continue
            value = problem.objective_of(code)
            better = best is None or (value > best if problem.maximises else value < best)
            best = value if better else best
    return best


def design(problem, **settings):
    return design_codebook(problem, **settings)


@cache
def by_default(k, length, rho, rule):
    """A design that several tests look at."""
    return design_codebook(k, length, min_column_distance=rho, separation=rule)


@st.composite
def problems(draw, max_classes=4):
    k = draw(st.integers(2, max_classes))
    sizes = draw(st.none() | st.lists(st.integers(1, 5), min_size=k, max_size=k))
    wanted = {
        "min_column_distance": draw(st.none() | st.integers(1, k)),
        "separation": draw(st.sampled_from(["two-sided", "one-sided", "literal"])),
        "max_imbalance": draw(st.none() | st.sampled_from([0.0, 0.2, 0.34, 0.5, 1.0])),
        "class_sizes": sizes,
    }
    if draw(st.booleans()):
        upper = draw(st.lists(st.integers(0, 5), min_size=k * k, max_size=k * k))
        triangle = np.triu(np.array(upper).reshape(k, k), 1)
        wanted |= {"objective": "target-distances", "target_distances": triangle + triangle.T}
    return DesignProblem(k, draw(st.integers(1, 7)), **wanted)


@given(problems(), st.sampled_from(FORMULATIONS), st.sampled_from(SOLVERS))
def test_every_formulation_and_solver_finds_the_best_of_all(problem, formulation, solver):
    expected = best_by_trying_everything(problem)
    try:
        found = design(problem, formulation=formulation, solver=solver)
    except InfeasibleError:
        assert expected is None
        return
    assert found.status is Status.OPTIMAL
    assert found.objective == expected == found.bound
    assert not problem.violations(found.codebook)
    assert found.gap == 0


@pytest.mark.parametrize(
    ("length", "rho", "rule"),
    [(5, 2, "two-sided"), (4, 2, "one-sided"), (4, 1, "two-sided"), (3, 1, "one-sided")],
)
def test_five_classes_against_all_subsets(length, rho, rule):
    problem = DesignProblem(5, length, min_column_distance=rho, separation=rule)
    expected = best_by_trying_everything(problem)
    for formulation in FORMULATIONS:
        assert design(problem, formulation=formulation).objective == expected


@pytest.mark.parametrize(
    ("k", "length", "rho", "rule", "optimum"),
    [
        (7, 14, 2, "two-sided", 7),
        (7, 14, 2, "one-sided", 7),
        (8, 16, 3, "two-sided", 4),
        (8, 16, 3, "one-sided", 8),
        (6, 14, None, "two-sided", 7),
        (5, 13, None, "two-sided", 6),
    ],
)
def test_known_optima(k, length, rho, rule, optimum):
    found = by_default(k, length, rho, rule)
    assert (found.status, found.objective) == (Status.OPTIMAL, optimum)
    assert found.codebook.min_row_distance == optimum
    if rho is not None:
        assert found.codebook.min_column_distance(rule) >= rho


@given(problems(), st.sampled_from(["auto", "search", "construction"]))
def test_every_method_is_honest(problem, method):
    expected = best_by_trying_everything(problem)
    try:
        found = design(problem, method=method, time_limit=None if method == "auto" else 0.02)
    except InfeasibleError:
        assert expected is None
        return
    sign = 1 if problem.maximises else -1
    if found.codebook is not None:
        assert not problem.violations(found.codebook)
        assert found.objective == problem.objective_of(found.codebook)
        assert sign * (expected - found.objective) >= 0
    if found.bound is not None and expected is not None:
        assert sign * (found.bound - expected) >= 0
        assert not found.certificate.check(problem, found.codebook)
    if method == "auto" and expected is not None:
        assert found.status is Status.OPTIMAL
        assert found.objective == expected


def test_the_paper_s_table_2_is_proved_by_theory():
    for rule in ("two-sided", "one-sided"):
        for k, optimum in zip(range(10, 19), (10, 12, 12, 14, 14, 16, 16, 18, 18), strict=True):
            found = design_codebook(
                k, 2 * k, min_column_distance=k // 3, separation=rule, random_state=0
            )
            assert (found.status, found.objective) == (Status.OPTIMAL, optimum)
            assert found.certificate.kind == "theory"
            assert found.certificate.check(found.problem, found.codebook) == []
            assert found.codebook.min_column_distance(rule) >= k // 3


def test_without_a_separation_the_columns_are_still_far_apart():
    found = design_codebook(10, 20, random_state=0)
    assert found.objective == 10
    assert found.codebook.min_column_distance() == 3
    assert found.separation_certificate.bound == 3
    assert found.separation_certificate.check_separation(found.codebook) == []
    assert "columns 3 apart, at most 3 possible" in found.verdict


def test_the_second_goal_never_costs_row_distance():
    for k in (*range(3, 13), 15, 18):
        found = design_codebook(k, 2 * k, random_state=0)
        assert found.status is Status.OPTIMAL
        assert found.objective == found.codebook.min_row_distance
        assert found.codebook.min_column_distance() >= k // 3 or k < 10


def test_two_solvers_confirm_each_other():
    found = design_codebook(6, 10, min_column_distance=2, solver="both", method="integer-program")
    assert found.certificate.kind == "two-solvers"
    assert "highs" in found.certificate.summary
    assert "scip" in found.certificate.summary


def test_large_problems_need_no_program():
    found = design_codebook(100, 200, random_state=0)
    assert (found.status, found.objective) == (Status.OPTIMAL, 100)


def test_all_columns_are_the_design_where_fewer_exist():
    found = design_codebook(4, 20)
    assert found.codebook.n_columns == 7
    assert found.certificate.kind == "exhaustive"
    assert found.notes == (
        "Only 7 admissible columns exist where 20 are allowed; all of them are used.",
    )
    assert found.objective == 4


def test_a_note_tells_that_fewer_columns_are_used():
    found = by_default(8, 16, 3, "two-sided")
    assert found.codebook.n_columns < 16
    assert f"{found.codebook.n_columns} columns are used" in found.notes[0]


def test_balance_by_class_sizes_shrinks_the_program():
    sizes = [70, 76, 17, 13, 9, 29]
    found = design_codebook(6, 12, min_column_distance=2, max_imbalance=0.3, class_sizes=sizes)
    assert build_program(found.problem).columns.size == 15
    assert found.objective == 4
    assert found.codebook.column_balance(sizes).max_imbalance <= 0.3


def test_programs_that_do_not_fit_are_refused_at_once():
    for k in (40, 63, 200, 20_000):
        with pytest.raises(
            TooLargeError, match=r"IP3 for \d+ classes would have [\d,^]+ variables"
        ):
            design_codebook(k, 2 * k, formulation="ip3")
    with pytest.raises(TooLargeError, match="method='auto'"):
        design_codebook(16, 32, min_column_distance=5, formulation="ip1")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"formulation": "ip4"}, "formulation must be one of 'ip1', 'ip2', 'ip3'"),
        ({"solver": "cplex"}, "solver must be one of"),
        ({"method": "luck"}, "method must be one of"),
        ({"method": "search", "formulation": "ip3"}, "no meaning for method='search'"),
        ({"memory_limit": 0}, "memory_limit must be at least 1"),
        ({"time_limit": -1}, "time_limit must be at least 0"),
        ({"effort": -1}, "effort must be at least 0"),
        ({"random_state": "x"}, "random_state"),
        ({"warm_start": one_vs_rest(4)}, "it has 4 classes where 6 are asked for"),
        ({"warm_start": digits(6, n_symbols=3)}, "it has 3 symbols where two are asked for"),
        ({"warm_start": "a.json"}, "must be a Codebook"),
    ],
)
def test_settings_are_checked_before_any_work(settings, message):
    with pytest.raises(InvalidInputError, match=message):
        design_codebook(6, 12, min_column_distance=2, **settings)


def test_a_limit_is_never_optimal_and_keeps_the_start():
    start = dense_random(9, 18, random_state=1)
    rho = start.min_column_distance()
    for method in METHODS:
        found = design_codebook(
            9, 18, min_column_distance=rho, warm_start=start, time_limit=0, method=method
        )
        assert found.status is Status.FEASIBLE
        assert found.codebook.is_equivalent(start)
        assert found.objective == start.min_row_distance
        assert found.bound is None or found.bound > found.objective


def test_a_limit_without_a_codebook_is_unknown():
    found = design_codebook(9, 18, min_column_distance=3, time_limit=0, method="integer-program")
    assert found.status is Status.UNKNOWN
    assert found.codebook is None
    assert "no codebook found" in found.verdict
    with pytest.raises(InvalidInputError, match="cannot be saved"):
        found.save("a.json")


def test_a_warm_start_is_the_first_incumbent():
    best = by_default(7, 14, 2, "two-sided")
    points = []
    again = design_codebook(
        7,
        14,
        min_column_distance=2,
        warm_start=best,
        progress=points.append,
        method="integer-program",
    )
    assert again.objective == best.objective
    incumbents = [point.incumbent for point in again.history if point.incumbent is not None]
    assert incumbents[0] == best.objective
    assert points


def test_one_seed_gives_one_codebook():
    first, second = (design_codebook(7, 12, min_column_distance=2, random_state=3) for _ in "ab")
    assert first.codebook == second.codebook
    assert first.codebook.provenance.seed == 3


def test_solutions_from_elsewhere_are_checked_and_not_called_optimal():
    problem = DesignProblem(6, 10, min_column_distance=2)
    program = build_program(problem)
    best = design(problem)
    x = program.start_vector(matrix_to_columns(best.codebook.matrix))
    found = design_from_solution(problem, program, x, "other.sol")
    assert found.status is Status.FEASIBLE
    assert found.objective == best.objective
    assert found.bound is None
    x[:] = 0
    x[:2] = 1
    with pytest.raises(SolverError, match="no codebook"):
        design_from_solution(problem, program, x, "other.sol")


SIZES = [120, 340, 56, 78, 90, 101, 203, 45, 67, 89, *range(150, 200, 10), *range(75, 180, 10)]


@pytest.mark.parametrize(
    ("k", "length", "wanted"),
    [
        (3, 2, {}),
        (16, 4, {}),
        (10, 20, {"min_column_distance": 3}),
        (10, 20, {"min_column_distance": 3, "separation": "literal"}),
        (26, 40, {"max_imbalance": 0.02, "class_sizes": SIZES}),
        (40, 80, {"max_imbalance": 0.0}),
        (12, 20, {"objective": "target-distances", "target_distances": 8 * (1 - np.eye(12))}),
        (400, 30, {}),
    ],
)
def test_no_time_at_all_still_gives_a_codebook(k, length, wanted):
    found = design_codebook(k, length, **wanted, time_limit=0)
    assert found.status is not Status.UNKNOWN
    assert not found.problem.violations(found.codebook)
    if found.status is Status.FEASIBLE:
        assert found.notes[-1] == "The stage 'theory' was cut short by the time limit."


@pytest.fixture
def busy(monkeypatch):
    """A machine on which every second lasts two weeks by the clock."""
    for name in ("monotonic", "perf_counter"):
        clock = getattr(time, name)
        monkeypatch.setattr(time, name, lambda clock=clock: 1e6 * clock())


@pytest.mark.parametrize(
    ("k", "length", "wanted"),
    [
        (7, 12, {"min_column_distance": 2}),
        (9, 14, {}),
        (13, 9, {"min_column_distance": 1}),
        (24, 30, {"min_column_distance": 6}),
        (6, 9, {"objective": "target-distances", "target_distances": 5 * (1 - np.eye(6))}),
    ],
)
def test_one_seed_gives_one_codebook_on_a_busy_machine(k, length, wanted, request):
    calm = design_codebook(k, length, **wanted, random_state=3)
    request.getfixturevalue("busy")
    again = design_codebook(k, length, **wanted, random_state=3)
    assert again.codebook == calm.codebook
    assert (again.objective, again.bound, again.notes) == (calm.objective, calm.bound, calm.notes)


def test_kernels_that_are_not_compiled_in_time_are_not_waited_for(monkeypatch):
    monkeypatch.setattr("ecoc._numba.await_compilation", lambda *_: False)
    found = design_codebook(100, 63, method="construction", time_limit=1000)
    notes = {stage.name: stage.note for stage in found.stages}
    assert notes["construction"].startswith("not compiled in time; ")
    assert found.codebook.min_row_distance > 20
    found = design_codebook(10, 20, min_column_distance=3, method="search", time_limit=1000)
    assert found.stages[2].note == "not compiled in time"
    assert found.status is Status.FEASIBLE


def test_a_memory_limit_is_named():
    found = design_codebook(
        9, 14, min_column_distance=2, method="integer-program", memory_limit=1000
    )
    assert found.status is Status.UNKNOWN
    assert found.notes == ("The stage 'ip3' was cut short by the memory limit.",)


@pytest.mark.parametrize("solver", SOLVERS)
def test_designs_by_a_solver_have_the_same_bytes(solver, tmp_path, monkeypatch):
    files = []
    for place, small in enumerate((10**9, 10**9, 0)):
        # In a thread, again, and in a process of its own.
        monkeypatch.setattr(jobs, "SMALL_NONZEROS", small)
        path = tmp_path / f"{place}.json"
        design_codebook(7, 10, min_column_distance=2, formulation="ip3", solver=solver).save(path)
        files.append(path.read_bytes())
    assert files[0] == files[1] == files[2]


def test_a_problem_stands_for_its_fields():
    problem = DesignProblem(6, 10, min_column_distance=2, separation="one-sided")
    fields = {"min_column_distance": 2, "separation": "one-sided"}
    by_problem = design_codebook(problem, random_state=3)
    assert by_problem.problem is problem
    assert by_problem.codebook == design_codebook(6, 10, **fields, random_state=3).codebook


@pytest.mark.parametrize(
    "fields",
    [
        {"n_columns": 10},
        {"min_column_distance": 2},
        {"separation": "one-sided"},
        {"class_sizes": [1, 2, 3, 4, 5, 6]},
        {"target_distances": np.ones((6, 6))},
    ],
)
def test_a_problem_and_its_fields_exclude_each_other(fields):
    with pytest.raises(InvalidInputError, match=f"not both; {next(iter(fields))} must"):
        design_codebook(DesignProblem(6, 10), **fields)


def test_the_number_of_columns_is_needed():
    with pytest.raises(InvalidInputError, match="n_columns must be a whole number"):
        design_codebook(6)
