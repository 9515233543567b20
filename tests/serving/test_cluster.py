# ruff: noqa: N803, N806  # X is what scikit-learn calls it
"""A server on a real cluster, whose workers are in this process."""

import asyncio
import gc
import math
import os
import signal
import subprocess
import sys
import threading
from concurrent.futures import CancelledError

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from tests.multiclass.cases import blobs

from ecoc.codes import exhaustive
from ecoc.errors import InvalidInputError, TimeLimitError, UnsupportedError
from ecoc.multiclass import ECOCClassifier
from ecoc.serving import ColumnServer
from ecoc.serving.cluster import ColumnHost, DaskWorkers

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
pytestmark = pytest.mark.filterwarnings("ignore")  # what a cluster says as it starts and stops

PATIENTLY = {"deadline": 600.0}


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=3, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as local:
        yield local


@pytest.fixture(scope="module")
def model():
    X, y = blobs()
    return ECOCClassifier(GaussianNB(), exhaustive(5)).fit(X, y)


def wait_until(settled, server, X):
    """Go on predicting until the cluster has come to rest."""
    for _ in range(2000):
        server.predict(X[:3], **PATIENTLY)
        if settled(server.status()):
            return
    raise AssertionError(server.status())


def test_columns_answer_from_a_cluster_that_changes(cluster, model):
    X, _ = blobs()
    with distributed.Client(cluster) as client, ColumnServer(model, client) as server:
        served = server.predict(X, **PATIENTLY)
        assert np.array_equal(served.labels, model.predict(X))
        assert np.array_equal(served.margins, model.margin(X))
        assert served.missing_columns == ()
        assert sorted(map(len, server.status().workers.values())) == [5, 5, 5]

        results = []
        callers = [
            threading.Thread(target=lambda: results.append(server.predict(X, **PATIENTLY)))
            for _ in range(8)
        ]
        for caller in callers:
            caller.start()
        cluster.scale(2)  # while they are asking
        for caller in callers:
            caller.join()
        assert len(results) == 8
        for result in results:
            expected = model.predict(X, missing_columns=result.missing_columns)
            assert np.array_equal(result.labels, expected)
        wait_until(lambda status: len(status.workers) == 2, server, X)
        wait_until(lambda status: not status.homeless_columns, server, X)
        assert np.array_equal(server.predict(X, deadline=None).labels, model.predict(X))

        cluster.scale(3)
        wait_until(lambda status: len(status.workers) == 3, server, X)
        wait_until(lambda status: sorted(map(len, status.workers.values())) == [5, 5, 5], server, X)
        assert np.array_equal(server.predict(X, deadline=None).labels, model.predict(X))
        assert server.status().failed_answers == 0
        # The client is the caller's, and still works.
        assert client.submit(pow, 2, 3).result() == 8


def test_a_worker_that_has_left_is_given_nothing(model):
    left = threading.Event()
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        workers = DaskWorkers(cluster, model, lambda name: name and left.set(), n_workers=0)
        before = workers.names()
        for name in before:
            workers.hold(name, {0: model.estimators_[0]}).result(60)
        cluster.scale(1)
        assert left.wait(60)
        (gone,) = set(before) - set(workers.names())
        with pytest.raises(CancelledError):
            workers.hold(gone, {0: model.estimators_[0]}).result(60)
        workers.close()


def test_a_question_goes_to_its_worker_and_to_nobody_after_the_end(model):
    X, _ = blobs()
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=1, processes=False, dashboard_address=":0"
    ) as cluster:
        workers = DaskWorkers(cluster, model, lambda name: None, n_workers=0)
        (name,) = workers.names()
        workers.hold(name, {column: model.estimators_[column] for column in (0, 1)}).result(60)
        scores = workers.ask(name, X, [1], math.inf).result(60)
        assert np.array_equal(scores, model.column_scores(X)[:, [1]])
        assert workers.ask(name, X, [1], -1.0).result(60) is None
        with pytest.raises(InvalidInputError, match="NaN"):  # naive Bayes takes none
            workers.ask(name, X * np.nan, [1], math.inf).result(60)
        with pytest.raises(CancelledError):
            workers.ask("another", X, [1], math.inf).result(60)
        workers.close()
        with pytest.raises(CancelledError):
            workers.ask(name, X, [1], math.inf).result(60)


def test_a_worker_leaves_what_has_waited_too_long(model):
    X, _ = blobs()
    host = ColumnHost(model)
    host.hold(dict(enumerate(model.estimators_)))
    scores, first = host.scores, threading.Event()

    def slowly(X, columns):
        first.wait()
        return scores(X, columns)

    host.scores = slowly

    async def ask():
        limits = (math.inf, 0.0, 600.0)
        questions = [asyncio.ensure_future(host.answer(X, [0, 3], limit)) for limit in limits]
        await asyncio.sleep(0.01)
        first.set()
        return await asyncio.gather(*questions)

    one, none, other = asyncio.run(ask())
    assert none is None
    for answer in (one, other):
        assert np.array_equal(answer, model.column_scores(X)[:, [0, 3]])


def test_a_worker_rehearses_when_it_begins(model):
    X, _ = blobs()
    host = ColumnHost(model)
    host.begin(dict(enumerate(model.estimators_)))
    assert np.array_equal(host.scores(X, [2, 5]), model.column_scores(X)[:, [2, 5]])


def test_a_rehearsal_may_fail(model):
    X, _ = blobs()
    host, asked = ColumnHost(model), []

    def picky(X, columns):
        asked.append((X.shape, columns))
        raise ValueError("only of Sundays")

    host.scores = picky
    host.begin(dict(enumerate(model.estimators_[:2])))
    assert asked == [((1, X.shape[1]), [0, 1])]
    assert host.classifier.estimators_[1] is model.estimators_[1]


def test_a_column_that_moves_answers_what_was_asked_before(model):
    X, _ = blobs()
    host = ColumnHost(model)
    host.hold(dict(enumerate(model.estimators_)))

    async def ask():
        busy = threading.Event()
        host._thread.submit(busy.wait)
        question = asyncio.ensure_future(host.answer(X, [0, 3], math.inf))
        await asyncio.sleep(0)
        host.drop([0])
        busy.set()
        return await question

    assert np.array_equal(asyncio.run(ask()), model.column_scores(X)[:, [0, 3]])
    assert host.classifier.estimators_[0] is None


def test_an_address_is_enough_and_a_column_that_fails_is_told_of(cluster, model):
    X, _ = blobs()
    with ColumnServer(model, cluster.scheduler_address, replicas=2) as server:
        assert sum(map(len, server.status().workers.values())) == 30
        assert server.predict(X, **PATIENTLY).missing_columns == ()
        broken = X[:2].copy()
        broken[0, 0] = np.nan  # naive Bayes takes none
        with pytest.raises(InvalidInputError, match=r"answered failed; .* NaN"):
            server.predict(broken, **PATIENTLY)


def test_what_is_no_cluster_is_refused(model, monkeypatch):
    with pytest.raises(InvalidInputError, match="address of a scheduler"):
        ColumnServer(model, 8786)
    with pytest.raises(InvalidInputError, match=r"must have a port, .* not be 'tcp://here'"):
        ColumnServer(model, "tcp://here")
    with (
        dask.config.set({"distributed.comm.timeouts.connect": "10 milliseconds"}),
        pytest.raises(TimeLimitError, match=r"No scheduler answers: .* with: dask scheduler"),
    ):
        ColumnServer(model, "tcp://127.0.0.1:1")
    monkeypatch.setattr("ecoc.serving.cluster._WORKER_SECONDS", 0.01)
    with (
        distributed.LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as empty,
        pytest.raises(TimeLimitError, match="no worker after"),
    ):
        ColumnServer(model, empty)


def test_a_deadline_may_be_longer_than_a_lock_waits(cluster, model):
    X, _ = blobs()
    with ColumnServer(model, cluster.scheduler_address) as server:
        assert server.predict(X, deadline=1e300).missing_columns == ()


READY = """
import os
import sys
from types import SimpleNamespace
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.pop(name, None)
os.environ.update(dict(setting.split("=") for setting in sys.argv[1:]))
from threadpoolctl import threadpool_info
from ecoc.serving.cluster import dask_setup
dask_setup(SimpleNamespace(state=SimpleNamespace(nthreads=1)))
print(*{pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"})
"""


@pytest.mark.parametrize(("settings", "n_threads"), [([], "1"), (["OPENBLAS_NUM_THREADS=2"], "2")])
def test_a_worker_has_its_threads_for_linear_algebra_unless_it_is_told_otherwise(
    settings, n_threads
):
    if (os.cpu_count() or 1) < 2:
        pytest.skip("there is but one core")
    command = [sys.executable, "-c", READY, *settings]
    ready = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ready.stdout.split() == [n_threads]


def test_the_garbage_collector_passes_a_server_by_as_long_as_there_is_one(cluster, model):
    assert gc.get_freeze_count() == 0
    with ColumnServer(model, cluster.scheduler_address):
        with ColumnServer(model, cluster.scheduler_address):
            pass
        assert gc.get_freeze_count() > 0
    assert gc.get_freeze_count() == 0


@pytest.mark.slow
def test_a_scheduler_that_is_lost_is_found_again(model, monkeypatch):
    monkeypatch.setattr("ecoc.serving.cluster._RENEWAL_SECONDS", 2.0)
    monkeypatch.setattr("ecoc.serving.server._RETRY_SECONDS", 0.1)
    how = {"n_workers": 1, "processes": False, "protocol": "tcp", "host": "127.0.0.1"}
    X, _ = blobs()
    with distributed.LocalCluster(dashboard_address=":0", **how) as cluster:
        server = ColumnServer(model, cluster.scheduler_address)
    port = int(cluster.scheduler_address.rpartition(":")[2])
    with pytest.raises(TimeLimitError, match="No column answered"):
        server.predict(X)
    with distributed.LocalCluster(dashboard_address=":0", scheduler_port=port, **how):
        assert np.array_equal(server.predict(X, deadline=None).labels, model.predict(X))
    server.close()  # there is no scheduler again


@pytest.mark.slow
def test_processes_that_are_all_killed_come_back(model):
    # Dask gives them up before they are back, and they are asked for again.
    given_up = {"distributed.deploy.lost-worker-timeout": "10 milliseconds"}
    X, _ = blobs()
    with dask.config.set(given_up):
        with ColumnServer(model, n_workers=2) as server:
            with distributed.Client(server._workers._client.scheduler.address) as client:
                for pid in client.run(os.getpid).values():
                    os.kill(pid, signal.SIGKILL)
            served = server.predict(X, deadline=None)
            assert served.missing_columns == ()
            assert np.array_equal(served.labels, model.predict(X))
        server.close()  # once more does no harm
        with pytest.raises(UnsupportedError, match="closed"):
            server.predict(X, deadline=None)
