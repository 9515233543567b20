import time
from dataclasses import replace

import pytest

from ecoc._workers import ProgressLines
from ecoc.codes import one_vs_rest
from ecoc.design import Certificate, DesignProblem, Status, design_codebook, jobs, portfolio
from ecoc.design.result import OUT_OF_WORK
from ecoc.design.run import DesignRun
from ecoc.design.solvers import ProgressPoint
from ecoc.design.symbol_portfolio import SymbolPortfolio
from ecoc.errors import SolverError


@pytest.mark.usefixtures("without_atlas")
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


@pytest.mark.usefixtures("without_atlas")
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


@pytest.mark.parametrize("bound", [2, 3])
def test_a_program_that_stopped_at_the_limit_of_its_work_says_so(bound):
    run = DesignRun(DesignProblem(4, 4), seed=0)
    run.offer(one_vs_rest(4))
    run.tighten(Certificate("exhaustive", bound, {}))
    with run.stage("ip3") as remarks:
        remarks.append("highs 1.15: work limit")
        run.note_cut("ip3", "work limit")
    assert run.objective == 2
    design = run.result()
    assert (OUT_OF_WORK in design.notes) == (bound == 3)
    assert "--time-limit SECONDS" in OUT_OF_WORK
    told = "The integer program stopped after 0 s, at the limit of its work; a time limit"
    assert any(note.startswith(told) for note in design.told_notes) == (bound == 3)
    assert (told in str(design)) == (told in design._repr_html_()) == (bound == 3)


@pytest.mark.usefixtures("without_atlas")
def test_a_log_is_told_where_the_design_stands(monkeypatch, capsys):
    monkeypatch.setattr(ProgressLines, "_FIRST", 0.0)
    monkeypatch.setattr(ProgressLines, "_SHARE", 0.0)
    monkeypatch.setattr("ecoc._workers._SECONDS", 0.001)
    settled = portfolio.Portfolio.theory

    def slow_theory(run):
        settled(run)
        time.sleep(0.05)

    monkeypatch.setattr(portfolio.Portfolio, "theory", slow_theory)
    design_codebook(7, 14, random_state=0)
    assert capsys.readouterr().err == ""
    design_codebook(7, 14, random_state=0, verbose=1)
    lines = capsys.readouterr().err.splitlines()
    assert "theory: best none, bound 8 (0 s)" in lines


def test_a_run_says_where_it_stands():
    run = DesignRun(DesignProblem(4, 4), seed=0)
    assert run.standing() == "design: best none, bound none"
    run.offer(one_vs_rest(4))
    run.tighten(Certificate("solver", 4, {}))
    with run.stage("ip3"):
        run.shifted(1.0)(ProgressPoint(2.0, None, 3.0, n_nodes=1))
        assert run.standing() == "ip3: best 2, bound 3, gap 33.3 %, 1 node"


@pytest.mark.usefixtures("without_atlas")
@pytest.mark.parametrize("symbols", [2, 3])
def test_a_program_that_is_too_large_is_told_of(monkeypatch, symbols):
    kind = portfolio.Portfolio if symbols == 2 else SymbolPortfolio
    monkeypatch.setattr(kind, "program_fits", lambda _: False)
    monkeypatch.setattr(kind, "construct", lambda _: None)
    monkeypatch.setattr(kind, "short_search", lambda _: None)
    design = design_codebook(7, 7, n_symbols=symbols, random_state=0)
    assert design.status is Status.FEASIBLE
    assert "--method search with --time-limit SECONDS searches longer" in design.notes[-1]
