"""Jobs end in time, whatever the solver is at, and leave no process behind."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ecoc.design import DesignProblem, Status, jobs
from ecoc.design.jobs import Job, solve_job
from ecoc.design.solvers import ProgressPoint, SolverResult, Tolerances

PROBLEM = DesignProblem(6, 10, min_column_distance=2)
COLUMNS = np.array([7, 11, 13, 14, 19, 21])


@pytest.fixture
def in_a_process(monkeypatch):
    """No program is small, so that each has a process of its own."""
    monkeypatch.setattr(jobs, "SMALL_NONZEROS", 0)


def processes_of(parent):
    """The processes of a process's jobs that are still there; it may have other children."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = Path(folder, "stat").read_text().rpartition(")")[2].split()
            command = Path(folder, "cmdline").read_bytes()
        except OSError:
            continue
        if int(fields[1]) == parent and fields[0] != "Z" and b"serve_job" in command:
            found.append(int(folder.name))
    return found


def is_at_work(process):
    """Whether a process is there and not merely waiting to be forgotten."""
    try:
        state = Path("/proc", str(process), "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in {"X", "Z"}


def stuck(say=()):
    """A worker that says something and never comes to an end."""

    class Stuck(jobs._Thread):
        def begin(self, time_limit):
            for message in say:
                self._messages.put(message)

        def resident_bytes(self):
            return 10**9

    return Stuck


@pytest.mark.parametrize("small", [True, False])
def test_both_ways_give_the_same_answer(small, monkeypatch):
    monkeypatch.setattr(jobs, "SMALL_NONZEROS", 10**9 if small else 0)
    points, seen = [], []
    answer = solve_job(
        Job(PROBLEM, "ip3", "highs", seed=3),
        progress=points.append,
        incumbents=lambda columns, solver, version: seen.append((len(columns), solver, version)),
    )
    result = answer.result
    assert (result.status, result.objective, result.bound) == (Status.OPTIMAL, 6, 6)
    assert result.termination == "proved"
    assert points == list(result.history)
    assert seen[-1] == (len(answer.columns), "highs", result.version)
    assert result.version
    assert not processes_of(os.getpid())


def test_a_start_and_a_cutoff_are_used(in_a_process):
    columns = solve_job(Job(PROBLEM, "ip3", "highs")).columns
    points = []
    again = solve_job(Job(PROBLEM, "ip3", "highs", cutoff=6, start=columns), progress=points.append)
    assert points[0].incumbent == 6
    assert again.result.status is Status.OPTIMAL


def test_an_error_of_the_solver_comes_back_as_it_was(in_a_process):
    with pytest.raises(Exception, match="start"):
        solve_job(Job(PROBLEM, "ip3", "highs", start=np.array([1, 2, 3])))


def test_a_worker_that_never_answers_is_ended_at_the_deadline(monkeypatch):
    now = [0.0]

    def monotonic():
        now[0] += 0.25
        return now[0]

    tolerances = Tolerances(1e-9, 1e-9, 0.0, 0.0)
    said = [
        ("solver", "1.0", tolerances),
        ("columns", COLUMNS),
        ("progress", ProgressPoint(1.0, 4, 6.3, 17), 6.0),
    ]
    monkeypatch.setattr(jobs, "_Thread", stuck(said))
    monkeypatch.setattr(jobs, "_now", monotonic)
    seen = []
    answer = solve_job(
        Job(PROBLEM, "ip3", "auto"), time_limit=20, incumbents=lambda *values: seen.append(values)
    )
    result = answer.result
    assert result.termination == "time limit"
    assert (result.status, result.bound, result.n_nodes) == (Status.FEASIBLE, 6.0, 17)
    assert (result.solver, result.version) == ("highs", "1.0")
    assert seen == [(COLUMNS, "highs", "1.0")]
    assert 20 < now[0] < 24


def test_no_time_at_all_begins_nothing_long(in_a_process):
    answer = solve_job(Job(DesignProblem(15, 25), "ip3", "highs"), time_limit=0)
    assert answer.result.termination == "time limit"
    assert answer.result.status is Status.UNKNOWN
    assert not processes_of(os.getpid())


def test_the_first_ctrl_c_ends_a_job_and_the_second_is_raised(monkeypatch):
    class Pressed(stuck()):
        n_pressed = 0
        most = 1

        def receive(self, seconds):
            message = super().receive(seconds)
            if message is None and type(self).n_pressed < self.most:
                type(self).n_pressed += 1
                raise KeyboardInterrupt
            return message

    monkeypatch.setattr(jobs, "GRACE_SECONDS", 0.1)
    monkeypatch.setattr(jobs, "_Thread", Pressed)
    assert solve_job(Job(PROBLEM, "ip3", "auto")).result.termination == "interrupted"
    Pressed.n_pressed, Pressed.most = 0, 2
    monkeypatch.setattr(jobs, "GRACE_SECONDS", 1e9)
    with pytest.raises(KeyboardInterrupt):
        solve_job(Job(PROBLEM, "ip3", "auto"))


def test_a_program_that_cannot_fit_is_not_begun(monkeypatch):
    def forbidden(job):
        raise AssertionError("it was begun")

    monkeypatch.setattr(jobs, "_Process", forbidden)
    monkeypatch.setattr(jobs, "resident_bytes", lambda *_: 1000)
    answer = solve_job(Job(PROBLEM, "ip3", "highs"), memory_limit=2000)
    assert (answer.result.status, answer.result.termination) == (Status.UNKNOWN, "memory limit")


def test_a_process_that_takes_too_much_memory_is_ended(monkeypatch):
    monkeypatch.setattr(jobs, "resident_bytes", lambda *_: 0)
    monkeypatch.setattr(jobs, "_Process", stuck())
    answer = solve_job(Job(PROBLEM, "ip3", "highs"), memory_limit=10**8)
    assert answer.result.termination == "memory limit"


def test_a_process_that_the_system_ended_is_a_memory_limit(in_a_process, monkeypatch):
    class Ended(jobs._Process):
        def begin(self, time_limit):
            self._process.kill()

    monkeypatch.setattr(jobs, "_Process", Ended)
    assert solve_job(Job(PROBLEM, "ip3", "highs")).result.termination == "memory limit"


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_the_process_does_not_outlive_its_parent():
    code = (
        "from ecoc.design import DesignProblem\n"
        "from ecoc.design.jobs import Job, solve_job\n"
        "solve_job(Job(DesignProblem(15, 25), 'ip3', 'highs'))\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    children = []
    while not children and parent.poll() is None:
        children = processes_of(parent.pid)
        time.sleep(0.05)
    assert len(children) == 1
    # Its input was read, so that it is not merely at its beginning.
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    while is_at_work(children[0]):
        time.sleep(0.05)


def test_a_result_without_a_last_word_keeps_the_history(monkeypatch):
    points = [ProgressPoint(0.0, None, 9.0, 0), ProgressPoint(0.0, 4, 8.0, 2)]
    last = SolverResult(
        status=Status.FEASIBLE,
        x=None,
        objective=4,
        bound=8.0,
        solver="highs",
        version="1",
        seconds=0.0,
        n_nodes=2,
        tolerances=Tolerances(0.0, 0.0, 0.0, 0.0),
        termination="work limit",
        history=(),
        log="",
    )
    said = [*(("progress", point, point.bound) for point in points), ("done", last, COLUMNS)]
    monkeypatch.setattr(jobs, "_Thread", stuck(said))
    answer = solve_job(Job(PROBLEM, "ip3", "auto"))
    assert [replace(point, seconds=0.0) for point in answer.result.history] == points
    assert answer.columns is COLUMNS


def test_a_solver_that_stops_when_told_is_not_called_interrupted(monkeypatch):
    class Obedient(stuck()):
        def stop(self):
            super().stop()
            jobs.perform(self._job, None, self._messages.put, lambda: True)

    now = [0.0]

    def monotonic():
        now[0] += 0.01
        return now[0]

    monkeypatch.setattr(jobs, "_now", monotonic)
    monkeypatch.setattr(jobs, "GRACE_SECONDS", 1e9)
    monkeypatch.setattr(jobs, "_Thread", Obedient)
    problem = DesignProblem(9, 12, min_column_distance=2)
    answer = solve_job(Job(problem, "ip3", "highs"), time_limit=1)
    assert answer.result.termination == "time limit"
