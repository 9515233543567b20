from __future__ import annotations

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy.sparse import csr_array

from ecoc.design.programs import ProgramOptions, build_ip3
from ecoc.design.programs.linear_program import LinearProgram, NameBlock, Names
from ecoc.design.solvers import ProgressPoint, Status, Tolerances, available_solvers, base, solve
from ecoc.design.solvers.base import Outcome, Session, Settings
from ecoc.errors import InvalidInputError, MissingDependencyError, SolverError

SOLVERS = [
    pytest.param(name, marks=[] if name in available_solvers() else pytest.mark.skip("missing"))
    for name in ("highs", "scip", "gurobi")
]
BOTH = SOLVERS[:2]


def balls(n_classes, separation, two_sided=False):
    """The largest cliques: edges, balls, or double balls, for a separation of 2, 3 or 4."""
    n = n_classes - 1
    steps = [1 << i for i in range(n)] + ([(1 << n) - 1] if two_sided else [])
    cliques = set()
    for centre in range(1 << n):
        ball = {centre} | {centre ^ step for step in steps}
        grown = {
            2: [{centre, centre ^ step} for step in steps],
            3: [ball],
            4: [ball | {column ^ step for column in ball} for step in steps],
        }[separation]
        cliques |= {tuple(sorted(clique - {0})) for clique in grown}
    members = [np.array(clique) - 1 for clique in sorted(cliques) if len(clique) > 1]
    return {
        "indptr": np.cumsum([0, *(len(clique) for clique in members)]),
        "members": np.concatenate(members),
    }


def ip3(n_classes, n_columns, separation, two_sided=False, **options):
    return build_ip3(
        range(1, 1 << (n_classes - 1)),
        n_classes,
        n_columns,
        **balls(n_classes, separation, two_sided),
        options=ProgramOptions(**options),
    )


@pytest.fixture(scope="module")
def small():
    return ip3(7, 10, 3)


@pytest.fixture(scope="module")
def long():
    """A program that takes minutes, and a start for it."""
    program = build_ip3(
        range(1, 4096),
        13,
        26,
        indptr=[0],
        members=[],
        options=ProgramOptions(parity_cuts=False),
    )
    return program.program, program.start_vector([1, 2])


class Endless:
    """A solver that finds the start and goes on for ever, looking now and then at `stop`."""

    def __init__(self):
        self.n_looks = 0

    def __call__(self, program, session):
        session.introduce("0", Tolerances(0.0, 0.0, 0.0, 0.0))
        session.solution(session.settings.start)
        session.report(program.objective_value(session.settings.start), 99.0, 1)
        while session.stop is None:
            self.n_looks += 1
            session.count_work(2)
            time.sleep(0.001)
        return Outcome(Status.FEASIBLE, session.settings.start, 99.0, 1, session.stop)


def check_stopped(result, termination):
    assert result.status is Status.FEASIBLE
    assert result.termination == termination
    assert result.objective is not None
    # 14 is possible for 13 classes and 26 columns, so any bound below it would be wrong.
    assert result.bound is None or result.bound >= 14
    assert result.objective <= 14


@pytest.mark.parametrize("solver", BOTH)
@pytest.mark.parametrize(
    ("request_", "expected"),
    [((8, 16, 3), 8), ((9, 18, 3), 10), ((7, 14, 2), 7), ((7, 14, 4), 2)],
)
def test_known_optima(request_, expected, solver):
    program = ip3(*request_).program
    result = solve(program, solver=solver)
    assert result.status is Status.OPTIMAL
    assert result.objective == result.bound == expected
    assert result.gap == 0
    assert result.termination == "proved"
    assert program.is_feasible(result.x)
    assert result.solver == solver
    assert result.version


def test_the_papers_first_case_is_proved():
    """k = 10, L = 20, rho = 3 has optimum 10 in Table 2, found and proved without help."""
    result = solve(ip3(10, 20, 3, two_sided=True).program)
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 10, 10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_start_is_the_first_incumbent(solver, small):
    columns = [7, 25, 42, 52]
    start = small.start_vector(columns)
    value = small.program.objective_value(start)
    assert value > 0
    points = []
    result = solve(small.program, solver=solver, start=start, progress=points.append)
    assert points == list(result.history)
    assert points[0].incumbent == value
    assert points[0].n_nodes <= 1
    assert all(isinstance(point, ProgressPoint) for point in points)
    assert result.status is Status.OPTIMAL
    assert points[-1].seconds <= result.seconds


@pytest.mark.parametrize("solver", BOTH)
def test_progress_moves_in_one_direction(solver, small):
    history = solve(small.program, solver=solver).history
    incumbents = [point.incumbent for point in history if point.incumbent is not None]
    bounds = [point.bound for point in history if point.bound is not None]
    assert incumbents == sorted(incumbents)
    assert np.all(np.diff(bounds) <= 1e-6)
    seconds = [point.seconds for point in history]
    assert seconds == sorted(seconds)


@pytest.mark.parametrize("solver", BOTH)
def test_a_time_limit_is_never_optimal(solver, long):
    program, start = long
    result = solve(program, solver=solver, time_limit=0.2, start=start)
    check_stopped(result, "time limit")


@pytest.mark.parametrize("solver", BOTH)
def test_a_time_limit_without_a_solution_is_unknown_or_feasible(solver, long):
    result = solve(long[0], solver=solver, time_limit=0)
    assert result.status in {Status.UNKNOWN, Status.FEASIBLE}
    assert result.termination == "time limit"


@pytest.mark.parametrize("solver", BOTH)
def test_an_interrupt_returns_the_best_so_far(solver, long):
    program, start = long
    seen = []
    result = solve(
        program, solver=solver, start=start, progress=seen.append, interrupt=lambda: bool(seen)
    )
    check_stopped(result, "interrupted")


def press(point):
    signal.raise_signal(signal.SIGINT)


def test_ctrl_c_returns_the_best_so_far(monkeypatch, small):
    monkeypatch.setattr(base, "_adapter", lambda name: Endless())
    start = small.start_vector([7, 25, 42, 52])
    result = solve(small.program, start=start, progress=press)
    assert (result.status, result.termination) == (Status.FEASIBLE, "interrupted")
    np.testing.assert_array_equal(result.x, start)


@pytest.mark.parametrize("solver", BOTH)
def test_a_solver_stops_at_the_first_point_where_it_can(solver, small):
    """What Ctrl-C sets is looked at by the solver itself, before it does anything."""
    session = Session(Settings(None, None, None, None, 1, 0), stop="interrupted")
    outcome = base._adapter(solver)(small.program, session)
    assert outcome.termination == "interrupted"
    assert outcome.status in {Status.UNKNOWN, Status.FEASIBLE}


@pytest.mark.parametrize("solver", BOTH)
def test_a_work_limit_ends_a_solver_at_the_same_place(solver, small):
    whole = solve(small.program, solver=solver)
    cut = [solve(small.program, solver=solver, work_limit=80) for _ in "ab"]
    assert [result.termination for result in cut] == ["work limit", "work limit"]
    assert [(p.incumbent, p.bound, p.n_nodes) for p in cut[0].history] == [
        (p.incumbent, p.bound, p.n_nodes) for p in cut[1].history
    ]
    assert cut[0].bound is None or cut[0].bound >= whole.objective
    assert solve(small.program, solver=solver, work_limit=10**9).status is Status.OPTIMAL


def test_work_is_counted_without_a_clock(monkeypatch, small):
    endless = Endless()
    monkeypatch.setattr(base, "_adapter", lambda name: endless)
    start = small.start_vector([7])
    assert solve(small.program, start=start, work_limit=123).termination == "work limit"
    assert endless.n_looks == 124


@pytest.mark.parametrize("solver", BOTH)
def test_every_incumbent_is_handed_over(solver, small):
    found = []
    result = solve(small.program, solver=solver, incumbents=found.append)
    values = [small.program.objective_value(np.round(x)) for x in found]
    assert values == sorted(values)
    assert values[-1] == result.objective
    assert all(small.program.is_feasible(np.round(x)) for x in found)


@pytest.mark.parametrize("solver", BOTH)
def test_a_memory_limit_returns_the_best_so_far(solver, long):
    program, start = long
    check_stopped(solve(program, solver=solver, start=start, memory_limit=1), "memory limit")


def test_an_error_of_the_progress_callback_is_raised(long):
    def fail(point):
        raise ZeroDivisionError

    program, start = long
    with pytest.raises(ZeroDivisionError):
        solve(program, start=start, progress=fail)


@pytest.mark.parametrize("solver", SOLVERS)
def test_infeasible(solver):
    program = build_ip3(
        range(1, 8), 4, 1, indptr=[0], members=[], options=ProgramOptions(min_row_distance=1)
    ).program
    result = solve(program, solver=solver)
    assert result.status is Status.INFEASIBLE
    assert (result.x, result.objective, result.bound, result.gap) == (None, None, None, None)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_program_without_whole_variables(solver):
    program = LinearProgram(
        "min",
        [1, 1.5],
        csr_array([[1.0, 2.0]]),
        [3],
        [np.inf],
        [0, 0],
        [np.inf, 1],
        [False, False],
        Names((NameBlock("x", range(2)),)),
        Names((NameBlock("row"),)),
    )
    result = solve(program, solver=solver)
    assert result.status is Status.OPTIMAL
    assert result.objective == pytest.approx(2.5)
    assert result.bound == pytest.approx(2.5)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("whole", [True, False])
def test_an_unbounded_program_is_an_error(solver, whole):
    program = LinearProgram(
        "max",
        [1.0],
        csr_array([[1.0]]),
        [0],
        [np.inf],
        [0],
        [np.inf],
        [whole],
        Names((NameBlock("x"),)),
        Names((NameBlock("row"),)),
    )
    assert not program.is_bounded
    with pytest.raises(SolverError, match="unbounded"):
        solve(program, solver=solver)


def test_the_same_seed_gives_the_same_solution(small):
    first, second = (solve(small.program, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first.x, second.x)
    assert first.n_nodes == second.n_nodes


def test_more_threads_and_one_again(small):
    assert [solve(small.program, threads=n).objective for n in (1, 2, 1)] == [4, 4, 4]


def returns(monkeypatch, **changes):
    def adapter(program, session):
        values = {
            "status": Status.OPTIMAL,
            "x": None,
            "bound": None,
            "n_nodes": 0,
            "termination": "proved",
        }
        return Outcome(**(values | changes))

    monkeypatch.setattr(base, "_adapter", lambda name: adapter)


def test_a_solution_that_does_not_hold_is_an_error(monkeypatch, small):
    x = np.zeros(small.program.objective.size)
    x[small.columns.size] = 1
    returns(monkeypatch, x=x, bound=1.0)
    with pytest.raises(SolverError, match="does not hold"):
        solve(small.program)


def test_an_optimum_below_its_bound_is_an_error(monkeypatch, small):
    returns(monkeypatch, x=small.start_vector([7]), bound=1.0)
    with pytest.raises(SolverError, match="calls 0 optimal with a bound of 1"):
        solve(small.program)


def test_an_optimum_without_a_solution_is_an_error(monkeypatch, small):
    returns(monkeypatch, bound=1.0)
    with pytest.raises(SolverError, match="without a solution"):
        solve(small.program)


def test_infeasible_against_a_start_is_an_error(monkeypatch, small):
    returns(monkeypatch, status=Status.INFEASIBLE)
    with pytest.raises(SolverError, match="finds no solution where the start is one"):
        solve(small.program, start=small.start_vector([7]))


def test_the_start_is_kept_if_the_solver_finds_nothing(monkeypatch, small):
    returns(monkeypatch, status=Status.UNKNOWN, bound=4.3, termination="time limit")
    start = small.start_vector([7])
    result = solve(small.program, start=start)
    assert (result.status, result.objective, result.bound) == (Status.FEASIBLE, 0, 4)
    np.testing.assert_array_equal(result.x, start)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"solver": "high"}, "Did you mean 'highs'"),
        ({"time_limit": -1}, "time_limit must be at least 0"),
        ({"threads": 0}, "threads must be at least 1"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"memory_limit": 0}, "memory_limit must be at least 1"),
        ({"start": np.ones(64)}, "start must be a feasible solution"),
        ({"start": [1]}, "one value for each of the 64 variables"),
    ],
)
def test_wrong_settings_are_refused(arguments, message, small):
    with pytest.raises(InvalidInputError, match=message):
        solve(small.program, **arguments)


@pytest.mark.skipif("gurobi" in available_solvers(), reason="Gurobi is installed")
def test_a_missing_solver_says_how_to_install_it(small):
    with pytest.raises(MissingDependencyError, match=r"pip install 'ecoc\[gurobi\]'"):
        solve(small.program, solver="gurobi")


def test_nothing_heavy_is_loaded_before_it_is_used():
    code = (
        "import sys, ecoc.design.solvers as s; s.available_solvers(); "
        "print([m for m in ('scipy', 'highspy', 'pyscipopt', 'gurobipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
