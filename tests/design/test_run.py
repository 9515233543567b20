import pytest

from ecoc.cli.design import _seconds_of
from ecoc.codes import one_vs_rest
from ecoc.design import Certificate, DesignProblem
from ecoc.design.run import OUT_OF_WORK, DesignRun


@pytest.mark.parametrize("bound", [2, 3])
def test_a_program_that_stopped_at_the_limit_of_its_work_says_so(bound):
    run = DesignRun(DesignProblem(4, 4), seed=0)
    run.offer(one_vs_rest(4))
    run.tighten(Certificate("solver", bound, {}))
    with run.stage("ip3") as said:
        said.append("highs 1.15: work limit")
        run.note_cut("ip3", "work limit")
    assert run.objective == 2
    design = run.result()
    assert (OUT_OF_WORK in design.notes) == (bound == 3)
    assert "--time-limit SECONDS" in OUT_OF_WORK
    assert _seconds_of(OUT_OF_WORK, design) == " It stopped after 0 s."
    assert _seconds_of("another note", design) == ""
