import pytest

from ecoc.design import DesignProblem, design_codebook
from ecoc.design.programs import build_program, check_size, formulations, sizes
from ecoc.errors import TooLargeError


@pytest.mark.parametrize("arguments", [{}, {"max_imbalance": 0.5}, {"separation": "one-sided"}])
@pytest.mark.parametrize("formulation", ["ip1", "ip2", "ip3"])
def test_sizes_are_known_before_anything_is_built(formulation, arguments, monkeypatch):
    problem = DesignProblem(6, 12, min_column_distance=2, **arguments)
    built = build_program(problem, formulation).program.sizes
    monkeypatch.setattr(sizes, "MAX_PROGRAM_BYTES", built.n_bytes - 1)
    if formulation != "ip3":
        with pytest.raises(TooLargeError):
            check_size(problem, formulation)
    # What is counted for IP1 is an upper bound; the others are exact.
    room = built.n_bytes if formulation != "ip1" else int(1.2 * built.n_bytes)
    monkeypatch.setattr(sizes, "MAX_PROGRAM_BYTES", room)
    check_size(problem, formulation)


@pytest.mark.parametrize("rule", ["one-sided", "two-sided", "literal"])
def test_rows_added_as_needed_give_the_same_optimum(rule, monkeypatch):
    wanted = {"min_column_distance": 2, "separation": rule}
    whole = design_codebook(6, 8, **wanted)
    monkeypatch.setattr(formulations, "_cover_that_fits", lambda problem: None)
    lazy = design_codebook(6, 8, **wanted)
    assert lazy.objective == whole.objective == lazy.bound
    assert not lazy.problem.violations(lazy.codebook)


def test_a_cover_that_does_not_fit_is_left_out(monkeypatch):
    problem = DesignProblem(8, 16, min_column_distance=3)
    whole = build_program(problem).program.sizes
    monkeypatch.setattr(sizes, "MAX_PROGRAM_BYTES", whole.n_bytes - 1)
    assert build_program(problem).program.sizes.n_rows < whole.n_rows
