# ruff: noqa: N806  # X is what scikit-learn calls it
"""Processes of this machine: they begin, are lost, come back, and end."""

import os
import signal
import subprocess
import sys

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from tests.multiclass.cases import blobs

from ecoc.codes import exhaustive
from ecoc.errors import TimeLimitError
from ecoc.multiclass import ECOCClassifier
from ecoc.serving import ColumnServer
from ecoc.serving.processes import LocalProcesses

pytest.importorskip("distributed")
psutil = pytest.importorskip("psutil")
pytestmark = [pytest.mark.filterwarnings("ignore"), pytest.mark.slow]

SCRIPT = """
import os
import sys
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB
from ecoc import ECOCClassifier
from ecoc.serving import ColumnServer

class Own(GaussianNB):
    pass

X, y = load_iris(return_X_y=True)
model = ECOCClassifier(Own(), "exhaustive").fit(X, y)
server = ColumnServer(model, n_workers=2)
served = server.predict(X, deadline=None)
print((served.labels == model.predict(X)).all(), served.missing_columns, flush=True)
print(*server._workers._client.run(os.getpid).values(), flush=True)
sys.stdin.readline()
"""


@pytest.fixture(scope="module")
def model():
    return ECOCClassifier(GaussianNB(), exhaustive(5)).fit(*blobs())


def pids(server):
    """The process of each worker."""
    return server._workers._client.run(os.getpid)


def test_a_worker_that_is_lost_is_back_with_its_columns(model):
    X, _ = blobs()
    with ColumnServer(model, n_workers=3) as server:
        victim, pid = min(pids(server).items())
        os.kill(pid, signal.SIGKILL)
        for _ in range(10_000):
            server.predict(X[:3], deadline=60)
            status = server.status()
            sizes = sorted(map(len, status.workers.values()))
            if victim not in status.workers and sizes == [5, 5, 5]:
                break
        assert sizes == [5, 5, 5]
        served = server.predict(X, deadline=None)
        assert np.array_equal(served.labels, model.predict(X))
        assert len(set(pids(server).values()) - {pid}) == 3


@pytest.mark.parametrize("forks", [True, False])
def test_processes_end_with_their_server(model, monkeypatch, forks):
    monkeypatch.setattr("ecoc.serving.processes._FORKS", forks)
    X, _ = blobs()
    with ColumnServer(model, n_workers=2) as server:
        assert np.array_equal(server.predict(X, deadline=None).labels, model.predict(X))
        begun = psutil.Process(server._workers._processes._process.pid)
        processes = [begun, *begun.children(recursive=True)]
        assert {process.pid for process in processes}.issuperset(pids(server).values())
    assert not psutil.wait_procs(processes, timeout=60)[1]


def test_a_script_needs_no_guard_and_leaves_nothing_behind(tmp_path):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen([sys.executable, path], text=True, **pipes) as script:
        assert script.stdout.readline() == "True ()\n"
        workers = [psutil.Process(int(pid)) for pid in script.stdout.readline().split()]
        assert len(workers) == 2
        everything = psutil.Process(script.pid).children(recursive=True)
        script.kill()  # it cannot tell anybody
        script.communicate()
    assert not psutil.wait_procs([*workers, *everything], timeout=60)[1]


def test_a_scheduler_that_is_lost_is_begun_again(model, monkeypatch):
    monkeypatch.setattr("ecoc.serving.server._RETRY_SECONDS", 0.1)
    X, _ = blobs()
    with ColumnServer(model, n_workers=2) as server:
        before = set(server.status().workers)
        os.kill(server._workers._processes._process.pid, signal.SIGKILL)
        for _ in range(10_000):
            served = server.predict(X, deadline=None)
            assert np.array_equal(served.labels, model.predict(X))
            if not before & set(server.status().workers):
                break
        assert len(pids(server)) == 2


def test_processes_that_cannot_be_begun_are_told_of(monkeypatch):
    monkeypatch.setattr("ecoc.serving.processes._PROGRAM", "raise SystemExit(1)")
    with pytest.raises(TimeLimitError, match="could not be begun"):
        _ = LocalProcesses(1, []).address
