import pytest

from ecoc.design import DesignProblem, design_codebook
from ecoc.design.programs import build_program, formulations, sizes


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
