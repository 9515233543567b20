from dataclasses import replace

import pytest

from ecoc.design import Status, design_codebook, jobs, portfolio
from ecoc.errors import SolverError


def test_an_interrupt_keeps_what_is_known(monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("ecoc.constructions.construct", interrupt)
    found = design_codebook(10, 20)
    assert found.status is Status.FEASIBLE
    assert found.bound == 10
    assert found.stages[-1].note == "interrupted"


def test_stages_tell_what_they_gave():
    found = design_codebook(9, 18, min_column_distance=3, random_state=0)
    names = [stage.name for stage in found.stages]
    assert names[0] == "theory"
    assert found.objective == 8
    assert found.timings.keys() == set(names)


def test_a_solver_that_lies_is_caught(monkeypatch):
    honest = jobs.solve_program

    def liar(problem, program, **settings):
        result = honest(problem, program, **settings)
        return replace(result, objective=result.objective + 1, bound=result.bound + 1)

    monkeypatch.setattr(jobs, "solve_program", liar)
    with pytest.raises(SolverError, match=r"claims 6(\.0)? where the codebook has 5"):
        design_codebook(6, 9, min_column_distance=2, method="integer-program")


def test_ctrl_c_between_two_stages_keeps_what_is_known(monkeypatch):
    def interrupt(run):
        raise KeyboardInterrupt

    monkeypatch.setattr(portfolio.Portfolio, "construct", interrupt)
    found = design_codebook(10, 20)
    assert found.status is Status.FEASIBLE
    assert found.notes[-1] == "The stage 'design' was cut short by Ctrl-C."


def test_a_program_that_is_cut_short_leaves_its_incumbents_and_its_bound(monkeypatch):
    def cut(job, *, incumbents, **_):
        whole = jobs.perform
        messages = []
        whole(job, None, messages.append, lambda: False)
        for message in messages:
            if message[0] == "columns":
                incumbents(message[1], "highs", "1")
        done = messages[-1][1]
        result = replace(
            done, status=Status.FEASIBLE, objective=None, bound=9.0, termination="time limit"
        )
        return jobs.Answer(result, None)

    monkeypatch.setattr(portfolio, "solve_job", cut)
    found = design_codebook(6, 10, min_column_distance=2, method="integer-program")
    assert (found.status, found.objective, found.bound) == (Status.FEASIBLE, 6, 9)
    assert found.notes[-1] == "The stage 'ip3' was cut short by the time limit."
    assert not found.problem.violations(found.codebook)
