# ruff: noqa: N803, N806  # X is what scikit-learn calls it
"""Columns are trained on the workers of a cluster, where joblib is told so."""

import os
import signal
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.multiclass.cases import blobs

from ecoc.codes import one_vs_rest
from ecoc.multiclass import ECOCClassifier

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.filterwarnings("ignore")  # what a cluster says as it starts and stops


@pytest.fixture(scope="module")
def cluster():
    with (
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            protocol="tcp",
            host="127.0.0.1",
            dashboard_address=":0",
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.mark.slow
def test_a_cluster_trains_the_same_columns(cluster):
    X, y = blobs(spread=3.0)
    learner = DecisionTreeClassifier(max_features=2)
    alone = ECOCClassifier(learner, one_vs_rest(5), random_state=0).fit(X, y)
    with distributed.get_task_stream(cluster) as stream, joblib.parallel_config(backend="dask"):
        spread = ECOCClassifier(learner, one_vs_rest(5), random_state=0, n_jobs=-1).fit(X, y)
    assert np.array_equal(spread.predict(X), alone.predict(X))
    assert np.allclose(spread.column_scores(X), alone.column_scores(X), rtol=0, atol=1e-9)
    tasks = [task for task in stream.data if "_fit_column" in str(task["key"])]
    assert tasks
    assert {task["worker"] for task in tasks} <= set(cluster.scheduler_info()["workers"])


class DyingTree(DecisionTreeClassifier):
    """A tree that kills its process once, when it is trained."""

    def __init__(self, note=None, max_features=None, random_state=None):
        super().__init__(max_features=max_features, random_state=random_state)
        self.note = note

    def fit(self, X, y, sample_weight=None):
        note = Path(self.note)
        if note.exists() and not note.read_text():
            note.write_text("dead")
            os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y, sample_weight)


@pytest.mark.slow
def test_a_worker_killed_during_fit_costs_nothing_but_time(cluster, tmp_path):
    X, y = blobs(spread=3.0)
    note = tmp_path / "note"
    learner = DyingTree(str(note), max_features=2)
    alone = ECOCClassifier(learner, one_vs_rest(5), random_state=0).fit(X, y)
    note.write_text("")
    with joblib.parallel_config(backend="dask"):
        spread = ECOCClassifier(learner, one_vs_rest(5), random_state=0, n_jobs=-1).fit(X, y)
    cluster.wait_for_workers(2)  # for whoever uses the cluster next
    assert note.read_text() == "dead"
    assert np.array_equal(spread.column_scores(X), alone.column_scores(X))
