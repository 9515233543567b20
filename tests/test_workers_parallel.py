import sys
import threading
from itertools import pairwise

import joblib
import pytest
import scipy.linalg  # noqa: F401  # has a library of its own beside NumPy's
from joblib.parallel import SequentialBackend
from threadpoolctl import threadpool_info, threadpool_limits

from ecoc._workers import ProgressLines, in_parallel, one_thread


class Terminal:
    """A standard error that claims to be a terminal."""

    encoding = "utf-8"

    def __init__(self):
        self.text = ""

    def write(self, text):
        self.text += text

    def flush(self):
        pass

    def isatty(self):
        return True


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("verbose", [0, 1])
def test_results_keep_their_order_with_and_without_a_bar(monkeypatch, n_jobs, verbose):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    calls = [(2, power) for power in range(9)]
    found = in_parallel(pow, calls, n_jobs=n_jobs, verbose=verbose, require="sharedmem")
    assert found == [1, 2, 4, 8, 16, 32, 64, 128, 256]
    assert ("columns" in terminal.text) == bool(verbose)


def test_logs_and_notebooks_get_a_line_now_and_then(capsys, monkeypatch):
    assert in_parallel(pow, [(2, 3)], verbose=1) == [8]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(ProgressLines, "_FIRST", 0.0)
    monkeypatch.setattr(ProgressLines, "_SHARE", 0.0)
    assert in_parallel(pow, [(2, 3), (3, 2)], verbose=1) == [8, 9]
    assert capsys.readouterr().err == "columns: 1 of 2 (0 s)\ncolumns: 2 of 2 (0 s)\n"
    assert in_parallel(pow, [(2, 3)]) == [8]
    assert capsys.readouterr().err == ""


def test_lines_come_rarer_the_longer_the_work_takes():
    seconds, said = [0], []
    lines = ProgressLines(said.append, clock=lambda: seconds[0])
    for seconds[0] in range(1, 1801):
        lines("at work")
    times = [int(line.removeprefix("at work (").removesuffix(" s)")) for line in said]
    gaps = [b - a for a, b in pairwise(times)]
    assert times[0] == 2
    assert gaps == sorted(gaps)
    assert gaps[-1] == 60
    assert len(times) < 50


def test_linear_algebra_has_one_thread_inside_and_as_many_as_before_outside():
    def threads():
        libraries = threadpool_info()
        return {library["num_threads"] for library in libraries if library["user_api"] == "blas"}

    with threadpool_limits(2, user_api="blas"):
        with one_thread():
            assert threads() == {1}
        assert threads() == {2}


def test_one_job_is_done_here_and_a_cluster_of_one_worker_is_asked():
    class Cluster(SequentialBackend):
        """A cluster that has one worker."""

        asked = 0

        def configure(self, *args, **options):
            Cluster.asked += 1
            return super().configure(*args, **options)

    calls = [(2, 3), (3, 2)]
    with joblib.parallel_config(Cluster()):
        assert in_parallel(pow, calls) == [8, 9]
    assert Cluster.asked == 1
    here = [threading.get_ident()] * 2
    assert in_parallel(threading.get_ident, [(), ()]) == here
    with joblib.parallel_config("threading", n_jobs=2):
        assert in_parallel(threading.get_ident, [(), ()], n_jobs=1) == here
        assert not set(in_parallel(threading.get_ident, [(), ()])) & set(here)
