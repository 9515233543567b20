from __future__ import annotations

from itertools import product

import highspy
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from ecoc.design.programs import build_ip3, read_solution
from ecoc.design.programs.linear_program import LinearProgram, NameBlock, Names
from ecoc.design.solvers import Status, solve
from ecoc.errors import FileFormatError, InvalidInputError


def make(sense="max", objective=(1, 1), matrix=((1, 2),), **changes):
    n_rows, n_variables = np.shape(matrix)
    values = {
        "row_lower": np.full(n_rows, -np.inf),
        "row_upper": np.full(n_rows, 3.0),
        "lower": np.zeros(n_variables),
        "upper": np.ones(n_variables),
        "integrality": np.ones(n_variables, dtype=bool),
        "variable_names": Names((NameBlock("x", range(n_variables)),)),
        "row_names": Names((NameBlock("row", range(n_rows)),)),
    } | changes
    return LinearProgram(sense, objective, csr_array(np.array(matrix, dtype=float)), **values)


MIXED = make(
    objective=(2, -1, 0.5, 0),
    matrix=((1, 1, 0, 0), (0, 1, -1.5, 0), (1, 0, 0, 1), (1, 1, 1, 1)),
    row_lower=[1, -np.inf, 2, -np.inf],
    row_upper=[2.5, 4, 2, np.inf],
    lower=[0, -3, -np.inf, 1],
    upper=[2, np.inf, 8, 1],
    integrality=[True, True, False, True],
)


def read_back(path):
    model = highspy.Highs()
    model.silent()
    assert model.readModel(str(path)) == highspy.HighsStatus.kOk
    return model


def optimum_of_file(path):
    model = read_back(path)
    model.run()
    if model.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return None
    return model.getInfo().objective_function_value


def optimum_of_file_by_scip(path):
    pyscipopt = pytest.importorskip("pyscipopt")
    model = pyscipopt.Model()
    model.hideOutput()
    model.readProblem(str(path))
    model.optimize()
    return model.getObjVal()


@st.composite
def programs(draw):
    n_variables, n_rows = draw(st.integers(1, 4)), draw(st.integers(1, 3))
    numbers = st.integers(-3, 3)
    coefficients = draw(
        st.lists(
            st.lists(numbers, min_size=n_variables, max_size=n_variables),
            min_size=n_rows,
            max_size=n_rows,
        )
    )
    low = np.array(draw(st.lists(st.integers(-4, 2), min_size=n_rows, max_size=n_rows)), float)
    width = np.array(draw(st.lists(st.integers(0, 6), min_size=n_rows, max_size=n_rows)), float)
    low_is_open = draw(st.lists(st.booleans(), min_size=n_rows, max_size=n_rows))
    return make(
        sense=draw(st.sampled_from(["max", "min"])),
        objective=draw(st.lists(numbers, min_size=n_variables, max_size=n_variables)),
        matrix=coefficients,
        row_lower=np.where(low_is_open, -np.inf, low),
        row_upper=low + width,
        upper=np.full(n_variables, 2.0),
    )


def brute_force(program):
    points = (np.array(p) for p in product(range(3), repeat=program.objective.size))
    values = [program.objective_value(p) for p in points if program.is_feasible(p)]
    return (max if program.sense == "max" else min)(values, default=None)


@given(program=programs())
def test_solvers_and_files_agree_with_all_points(program, tmp_path_factory):
    expected = brute_force(program)
    folder = tmp_path_factory.mktemp("files")
    program.write_mps(folder / "program.mps")
    program.write_lp(folder / "program.lp")
    for name in ("highs", "scip"):
        result = solve(program, solver=name)
        assert result.objective == expected
        assert result.status is (Status.INFEASIBLE if expected is None else Status.OPTIMAL)
    for file in ("program.mps", "program.lp"):
        found = optimum_of_file(folder / file)
        assert found == (None if expected is None else pytest.approx(expected))


@pytest.mark.parametrize("kind", ["mps", "lp"])
@pytest.mark.parametrize("sense", ["max", "min"])
def test_files_keep_ranges_limits_and_integrality(kind, sense, tmp_path):
    program = make(
        sense=sense,
        **{
            name: getattr(MIXED, name)
            for name in ("objective", "row_lower", "row_upper", "lower", "upper", "integrality")
        },
        matrix=MIXED.matrix.toarray(),
    )
    path = tmp_path / f"program.{kind}"
    getattr(program, f"write_{kind}")(path)
    expected = solve(program).objective
    assert optimum_of_file(path) == pytest.approx(expected)
    assert optimum_of_file_by_scip(path) == pytest.approx(expected)


def test_mps_keeps_names_sense_and_every_number(tmp_path):
    MIXED.write_mps(tmp_path / "mixed.mps")
    lp = read_back(tmp_path / "mixed.mps").getLp()
    assert lp.sense_ == highspy.ObjSense.kMaximize
    assert lp.col_names_ == list(MIXED.variable_names)
    # A row without limits is a row N of the file, which solvers drop.
    assert lp.row_names_ == MIXED.row_names[:3]
    assert [kind == highspy.HighsVarType.kInteger for kind in lp.integrality_] == list(
        MIXED.integrality
    )
    np.testing.assert_array_equal(lp.col_cost_, MIXED.objective)
    np.testing.assert_array_equal(lp.col_lower_, MIXED.lower)
    np.testing.assert_array_equal(lp.col_upper_, MIXED.upper)
    np.testing.assert_array_equal(lp.row_lower_, MIXED.row_lower[:3])
    np.testing.assert_array_equal(lp.row_upper_, MIXED.row_upper[:3])


def test_sizes_and_names():
    assert (MIXED.sizes.n_variables, MIXED.sizes.n_rows, MIXED.sizes.n_nonzeros) == (4, 4, 10)
    assert MIXED.sizes.n_bytes == 12 * 10 + 20 * 4 + 25 * 4
    names = Names((NameBlock("x", np.array([[1, 2], [3, 4]])), NameBlock("t")))
    assert list(names) == [names[i] for i in range(3)] == names[:] == ["x_1_2", "x_3_4", "t"]
    assert names[-1] == "t"
    with pytest.raises(IndexError, match="3 names"):
        names[3]


def test_integral_objective_is_deduced_from_the_data():
    assert make().integral_objective
    assert make().is_integral
    assert not make(objective=(1, 0.5)).integral_objective
    assert not make(integrality=[True, False]).integral_objective
    assert make(objective=(1, 0), integrality=[True, False]).integral_objective
    assert not make(matrix=((1, 0.5),)).is_integral


def test_feasibility_is_exact():
    program = make(matrix=((1, 1),), row_upper=[1])
    assert program.is_feasible([0, 1])
    assert not program.is_feasible([1, 1])
    assert not program.is_feasible([0, 1 + 1e-12])
    assert program.is_feasible([0, 1 + 1e-12], tolerance=1e-9)
    assert not program.is_feasible([0, np.nan])
    assert not program.is_feasible([0, -1])


def test_more_rows():
    program = make().with_rows(csr_array(np.ones((1, 2))), [0], [1], "extra")
    assert program.row_names[-1] == "extra_1"
    assert solve(program).objective == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"sense": "maximum"}, "Did you mean 'max'"),
        ({"objective": (1, 1, 1)}, "objective must have shape"),
        ({"objective": (1, np.nan)}, "must be finite"),
        ({"row_upper": [np.nan]}, "must not cross"),
        ({"lower": [2, 0]}, "variable 0 must not cross"),
        ({"row_names": Names(())}, "row_names must have 1 names"),
    ],
)
def test_wrong_programs_are_refused(changes, message):
    with pytest.raises(InvalidInputError, match=message):
        make(**changes)


def test_vectors_of_the_wrong_length_are_refused():
    with pytest.raises(InvalidInputError, match="2 variables"):
        make().is_feasible([1])


@pytest.fixture
def ip3():
    return build_ip3(range(1, 16), 5, 6, indptr=[0, 3], members=[0, 1, 2])


def test_solutions_of_highs_are_read(ip3, tmp_path):
    ip3.program.write_mps(tmp_path / "program.mps")
    model = read_back(tmp_path / "program.mps")
    model.run()
    model.writeSolution(str(tmp_path / "highs.sol"), 0)
    x = np.round(read_solution(tmp_path / "highs.sol", ip3.program))
    assert ip3.program.is_feasible(x)
    assert ip3.program.objective_value(x) == solve(ip3.program).objective


def test_solutions_of_scip_are_read(ip3, tmp_path):
    pyscipopt = pytest.importorskip("pyscipopt")
    ip3.program.write_mps(tmp_path / "program.mps")
    model = pyscipopt.Model()
    model.hideOutput()
    model.readProblem(str(tmp_path / "program.mps"))
    model.optimize()
    model.writeBestSol(str(tmp_path / "scip.sol"))
    x = np.round(read_solution(tmp_path / "scip.sol", ip3.program))
    assert ip3.program.is_feasible(x)
    assert ip3.program.objective_value(x) == solve(ip3.program).objective


def test_solutions_of_gurobi_and_plain_lines_are_read(ip3, tmp_path):
    x = solve(ip3.program).x
    lines = [f"{name} {value:g}" for name, value in zip(ip3.program.variable_names, x, strict=True)]
    header = "# Solution for model ecoc\n# Objective value = 3\n"
    (tmp_path / "gurobi.sol").write_text(header + "\n".join(lines))
    (tmp_path / "plain.txt").write_text("\n\n".join(lines))
    for file in ("gurobi.sol", "plain.txt"):
        np.testing.assert_array_equal(read_solution(tmp_path / file, ip3.program), x)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no line with the name"),
        ("# Objective value = 3\n", "no line with the name"),
        ("x_1 1\ny_1 1\n", "line 2: 'y_1' is not a variable"),
        ("x_1 one\n", "line 1: 'one' is not a number"),
        ("x_1 nan\n", "must be finite"),
        ("x_1\n", "must be a name and a value"),
        ("x_1 1 2\n", "must be a name and a value"),
        ("x_1 1\nx_1 1\n", "has a value already"),
        ("Model status\nInfeasible\n\n# Primal solution values\nNone\n", "no line with"),
        ("Columns\n    Index Status\n", "'Columns' is not a variable"),
    ],
)
def test_broken_solution_files_are_refused(text, message, ip3, tmp_path):
    (tmp_path / "broken.sol").write_text(text)
    with pytest.raises(FileFormatError, match=message):
        read_solution(tmp_path / "broken.sol", ip3.program)


def test_unreadable_solution_files_are_refused(ip3, tmp_path):
    (tmp_path / "binary.sol").write_bytes(b"\xff\xfe\x00")
    for file in ("binary.sol", "missing.sol"):
        with pytest.raises(FileFormatError, match="cannot be read"):
            read_solution(tmp_path / file, ip3.program)
