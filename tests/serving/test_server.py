# ruff: noqa: N806  # X is what scikit-learn calls it
import threading
import time
from concurrent.futures import Future
from functools import partial

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from tests.multiclass.cases import blobs
from tests.serving.stand_in import VirtualServer, VirtualWorkers

from ecoc.codes import Codebook, exhaustive
from ecoc.errors import InvalidInputError, TimeLimitError, UnsupportedError
from ecoc.multiclass import ColumnError, ECOCClassifier
from ecoc.multiclass.decoders import Hamming


@pytest.fixture(scope="module")
def data():
    return blobs(n_classes=5, per_class=60, spread=1.8)


@pytest.fixture(scope="module")
def model(data):
    X, y = data
    tree = DecisionTreeClassifier(max_depth=4, random_state=0)
    return ECOCClassifier(tree, exhaustive(5), random_state=0).fit(X[::2], y[::2])


@pytest.fixture(scope="module")
def answers(model, data):
    """What all columns say about samples, computed once."""
    scores = model.column_scores(data[0])
    number = {row.tobytes(): place for place, row in enumerate(data[0])}
    return lambda batch: scores[[number[row.tobytes()] for row in batch]]


def winners(model, scores):
    """The class that Hamming decoding of all columns prefers, and None where none leads."""
    matrix = model.codebook_.matrix
    if scores.ndim == 3:
        agreement = (scores.argmax(axis=2)[:, None, :] == matrix).sum(axis=2)
    else:
        agreement = np.sign(scores) @ matrix.T
    found = []
    for row in agreement:
        best = np.flatnonzero(row == row.max())
        found.append(model.classes_[best[0]] if len(best) == 1 else None)
    return found


def check_truth(served, model, scores, n_wrong=0):
    """A decision with a margin for the answers that are wrong is that of all columns."""
    honest = winners(model, scores)
    for label, margin, certain, truth in zip(
        served.labels, served.margins, served.certain, honest, strict=True
    ):
        if certain and margin >= n_wrong:
            assert label == truth
    assert (served.margins[~served.certain] == 0).all()


def test_all_columns_in_time_are_the_model(model, data):
    X, _ = data
    server = VirtualServer(model)
    served = server.predict(X)
    assert np.array_equal(served.labels, model.predict(X))
    assert np.array_equal(served.margins, model.margin(X))
    assert served.missing_columns == ()
    assert served.n_columns == 15
    assert not served.below.any()
    assert served.seconds == 0.01
    # The batch goes once to each worker.
    assert sorted(worker for worker, _ in server.crew.asked) == ["w0", "w1", "w2", "w3"]


def test_late_columns_are_erased_and_their_answers_dropped(model, data):
    X, _ = data
    server = VirtualServer(model)
    server.crew.seconds["w1"] = 0.7
    late = server.status().workers["w1"]
    served = server.predict(X, deadline=0.2)
    assert served.seconds == pytest.approx(0.2)
    assert served.missing_columns == late
    assert np.array_equal(served.labels, model.predict(X, missing_columns=late))
    check_truth(served, model, model.column_scores(X))
    assert server.status().late_answers == 0
    server.crew.pass_time(1.0)
    assert server.status().late_answers == 1
    assert server.predict(X, deadline=None).missing_columns == ()


def test_a_wanted_margin_is_waited_for_or_marked(model, data):
    X, _ = data
    server = VirtualServer(model)
    server.crew.seconds["w1"] = 0.7
    marked = server.predict(X, deadline=0.2, min_margin=2, patience=0)
    assert marked.seconds == pytest.approx(0.2)
    assert marked.below.any()
    assert np.array_equal(marked.below, ~marked.certain | (marked.margins < 2))
    waited = server.predict(X, deadline=0.2, min_margin=2, patience=5)
    assert waited.seconds == pytest.approx(0.7)
    assert waited.missing_columns == ()
    assert waited.below.sum() < marked.below.sum()
    # Samples that the late columns cannot change are not worth the wait.
    soon = server.predict(X[marked.certain], deadline=0.2, min_margin=0, patience=5)
    assert soon.seconds == pytest.approx(0.2)
    assert soon.certain.all()


def test_an_automatic_deadline_is_that_of_what_is_usual(model, data, answers):
    X, _ = data
    server = VirtualServer(model)
    server.crew.scores = lambda batch, columns: answers(batch)[:, columns]
    late = server.status().workers["w1"]
    server.crew.seconds["w1"] = 0.3
    # Nobody knows yet.
    assert server.predict(X[:9], deadline="auto").seconds == pytest.approx(0.2)
    server.crew.pass_time(1.0)
    server.crew.seconds["w1"] = 0.01
    for _ in range(8):
        assert server.predict(X[:9], deadline="auto").missing_columns == ()
    server.crew.seconds["w1"] = 0.3
    served = server.predict(X[:9], deadline="auto")
    assert served.seconds == pytest.approx(0.015)
    assert served.missing_columns == late
    # Batches that are larger may take as much longer.
    server.crew.pass_time(1.0)
    assert server.predict(X[:40], deadline="auto").seconds == pytest.approx(0.015 * 1.5**2)
    # What is uncertain without them can be waited for, and nothing else is.
    waited = server.predict(X[:9], deadline="auto", min_margin=15)
    assert waited.missing_columns == ()
    assert waited.seconds == pytest.approx(0.3)


def test_a_worker_that_is_silent_is_not_waited_for(model, data, answers):
    X, _ = data
    server = VirtualServer(model)
    server.crew.scores = lambda batch, columns: answers(batch)[:, columns]
    silent = server.status().workers["w1"]
    server.crew.seconds["w1"] = 0.7
    assert server.predict(X[:9], deadline=0.2).seconds == pytest.approx(0.2)
    server.crew.seconds["w1"] = 0.02
    served = server.predict(X[:9], deadline=0.2)
    assert served.seconds == pytest.approx(0.01)
    assert served.missing_columns == silent
    # But it was asked, and what it said to that shows that it is there again.
    server.crew.pass_time(0.1)
    served = server.predict(X[:9], deadline=0.2)
    assert served.seconds == pytest.approx(0.02)
    assert served.missing_columns == ()
    # Without half of the columns the deadline holds.
    for worker in ("w1", "w2", "w3"):
        server.crew.seconds[worker] = 0.7
    for _ in range(2):
        assert server.predict(X[:9], deadline=0.2, patience=0).seconds == pytest.approx(0.2)


def test_an_automatic_deadline_takes_what_is_late_into_account(model, data, answers):
    X, _ = data
    server = VirtualServer(model)
    server.crew.scores = lambda batch, columns: answers(batch)[:, columns]
    for _ in range(70):
        server.predict(X[:9], deadline="auto")
    # Everybody takes longer from now on: a batch is late, and has half of the columns.
    for number, worker in enumerate(server.crew.names()):
        server.crew.seconds[worker] = 0.1 + 0.01 * number
    served = server.predict(X[:9], deadline="auto")
    assert served.seconds == pytest.approx(0.11)
    assert len(served.missing_columns) == 7
    for _ in range(70):
        served = server.predict(X[:9], deadline="auto")
    assert served.missing_columns == ()


class HeldWorkers(VirtualWorkers):
    """Workers that answer callers of several threads, when they are let to."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.sizes, self.held, self.free = [], [], threading.Event()
        self.clock = time.monotonic
        self.later = self.watch = lambda work, seconds=0.0: None

    def wait(self, condition, seconds):
        condition.wait(None if seconds is None else min(seconds, 600.0))

    def ask(self, worker, X, columns, limit):  # noqa: N803
        future = Future()
        self.sizes.append(len(X))
        change = self.broken.get(worker, lambda scores: scores)
        self._calls[worker].add(future)
        self.held.append(partial(self._answer, future, worker, X, columns, change))
        if self.free.is_set():
            self.let_go()
        return future

    def let_go(self):
        while self.held:
            self.held.pop(0)()


class HeldServer(VirtualServer):
    def _connect(self, client, n_workers):
        names = [f"w{number}" for number in range(n_workers)]
        self.crew = HeldWorkers(self._classifier, self._settle, names)
        return self.crew


def wait_until(happened):
    for _ in range(100_000):
        if happened():
            return
        time.sleep(0.001)
    raise AssertionError("it does not happen")


def served_together(server, batches, **options):
    """What callers are told of whose batches all but the first come while workers are busy."""
    found = [None] * len(batches)

    def call(number):
        try:
            found[number] = server.predict(batches[number], deadline=None, **options)
        except Exception as error:  # noqa: BLE001  # whatever it was
            found[number] = error

    callers = [
        threading.Thread(target=call, args=[number], daemon=True) for number in range(len(batches))
    ]
    callers[0].start()
    wait_until(lambda: len(server.crew.held) == 4)
    for caller in callers[1:]:
        caller.start()
    wait_until(lambda: server._rounds._n_inside == len(batches))
    server.crew.free.set()
    server.crew.let_go()
    for caller in callers:
        caller.join(600)
    assert server._rounds._n_inside == 0
    return found


@pytest.mark.parametrize("decoding", ["hamming", "self-healing"])
def test_batches_of_callers_that_come_together_travel_as_one(data, decoding):
    X, y = data
    model = ECOCClassifier(GaussianNB(), exhaustive(5), decoding=decoding).fit(X, y)
    batches = [X[:7], X[7:8], X[8:80], X[80:93]]
    server = HeldServer(model)
    for batch, served in zip(batches, served_together(server, batches), strict=True):
        assert np.array_equal(served.labels, model.predict(batch))
        assert np.array_equal(served.margins, model.margin(batch))
        assert served.missing_columns == ()
    assert server.crew.sizes == [7] * 4 + [86] * 4
    assert server.status().batches == 4
    assert server.status().rows == 93


def test_callers_do_not_answer_for_the_samples_of_others(data):
    X, y = data
    model = ECOCClassifier(GaussianNB(), exhaustive(5)).fit(X, y)
    unknown = X[8:9] * np.nan  # naive Bayes takes none
    server = HeldServer(model)
    found = served_together(server, [X[:7], X[7:8], unknown, X[9:12]])
    assert isinstance(found[2], ColumnError)
    for number, batch in ((0, X[:7]), (1, X[7:8]), (3, X[9:12])):
        assert np.array_equal(found[number].labels, model.predict(batch))
        assert found[number].missing_columns == ()
    assert sorted(server.crew.sizes[8:]) == [1] * 8 + [3] * 4


def test_a_worker_that_always_fails_costs_its_columns_alone(model, data):
    X, _ = data
    server = HeldServer(model)

    def fail(scores):
        raise ValueError("broken")

    server.crew.broken["w2"] = fail
    columns = server.status().workers["w2"]
    for _ in range(2):
        server.crew.sizes.clear()
        server.crew.free.clear()
        for served in served_together(server, [X[:7], X[7:9], X[9:12]], patience=0.0):
            assert served.missing_columns == columns
    # The second time it is known that samples are not to blame.
    assert server.crew.sizes == [7] * 4 + [5] * 4


def test_callers_of_a_server_that_is_closed_are_all_told(model, data):
    X, _ = data
    server = HeldServer(model)
    server.crew.let_go = server.close
    found = served_together(server, [X[:7], X[7:9], X[9:12]])
    assert all("server is closed" in str(error) for error in found)


def test_an_answer_that_was_lost_is_asked_for_again(model, data, answers):
    X, _ = data
    server = VirtualServer(model, n_workers=8)
    server.crew.scores = lambda batch, columns: answers(batch)[:, columns]
    for _ in range(60):
        server.predict(X[:9])
    # All but one are late, this time: they are asked again, and answer as usual.
    late = [f"w{number}" for number in range(1, 8)]
    server.crew.seconds.update(dict.fromkeys(late, 50.0))
    server.crew.at(server.crew.clock() + 0.1, server.crew.seconds.clear)
    served = server.predict(X[:9], deadline=0.2)
    assert served.seconds == pytest.approx(0.41)
    # Two columns do not tell five classes apart; it takes three, of two workers, or more.
    assert 0 < len(served.missing_columns) <= 12
    assert sorted(worker for worker, _ in server.crew.asked[-7:]) == late


def test_overload_is_not_asked_again_and_again(model, data, answers):
    X, _ = data
    server = VirtualServer(model)
    server.crew.scores = lambda batch, columns: answers(batch)[:, columns]
    server.crew.seconds = dict.fromkeys(server.crew.names(), 0.5)
    for _ in range(50):
        server.predict(X[:9], deadline=0.2)
        server.crew.pass_time(1.0)
    assert len(server.crew.asked) <= 1.05 * 4 * 50


def test_a_worker_that_leaves_costs_its_columns_for_the_batches_under_way(model, data):
    X, _ = data
    server = VirtualServer(model)
    server.crew.at(0.005, lambda: server.crew.kill("w2"))
    lost = server.status().workers["w2"]
    served = server.predict(X, deadline=0.5)
    # Nobody waits for a worker that is gone.
    assert served.seconds == 0.01
    assert served.missing_columns == lost
    server.crew.pass_time(1.0)
    status = server.status()
    assert status.homeless_columns == ()
    assert sorted(map(len, status.workers.values())) == [5, 5, 5]
    assert status.lost_answers == 1
    assert server.predict(X).missing_columns == ()
    server.crew.join("w9")
    server.crew.pass_time(1.0)
    assert sorted(map(len, server.status().workers.values())) == [3, 4, 4, 4]
    assert np.array_equal(server.predict(X).labels, model.predict(X))


def test_a_worker_that_dies_is_not_waited_for(model, data):
    X, _ = data
    server = VirtualServer(model)
    server.crew.seconds["w2"] = 1e6
    server.crew.at(0.3, lambda: server.crew.kill("w2"))
    lost = server.status().workers["w2"]
    served = server.predict(X, deadline=3600.0)
    # Neither the deadline nor the columns' new places.
    assert served.seconds == 0.3
    assert served.missing_columns == lost
    assert np.array_equal(served.labels, model.predict(X, missing_columns=lost))


def test_two_workers_that_die_are_waited_for_where_the_margin_wants_them(model, data):
    X, _ = data
    server = VirtualServer(model)
    for worker in ("w1", "w2"):
        server.crew.at(0.005, lambda gone=worker: server.crew.kill(gone))
    served = server.predict(X, deadline=3600.0, min_margin=2, patience=1.0)
    assert served.missing_columns == ()
    assert served.seconds < 1.0


def test_columns_are_placed_a_few_at_a_time_unless_a_batch_waits(model, data):
    X, _ = data
    server = VirtualServer(model, n_workers=2)
    assert [len(columns) for _, columns in server.crew.given] == [8, 7]
    for deadline, sizes in ((0.2, [1, 2, 4, 1]), (None, [7])):
        server.crew.given.clear()
        server.crew.kill("w0")
        server.predict(X, deadline=deadline)
        server.crew.pass_time(1.0)
        assert [len(columns) for _, columns in server.crew.given] == sizes
        server.crew.join("w0")
        server.crew.pass_time(1.0)
    assert server.status().homeless_columns == ()


@pytest.fixture
def slowly(monkeypatch):
    """Let workers of a server take their columns aside; how many do so at each moment."""

    def make(server, last=None):
        hold, under_way, counts = server.crew.hold, {}, []

        def slow_hold(worker, learners):
            future = under_way[worker] = Future()
            counts.append(len(under_way))

            def done():
                if worker == last and len(server.crew.given) < 4 + 2:
                    threading.Timer(0.01, done).start()
                    return
                del under_way[worker]
                future.set_result(hold(worker, learners).result())

            threading.Timer(0.01, done).start()
            return future

        monkeypatch.setattr(server.crew, "hold", slow_hold)
        return counts

    return make


@pytest.mark.parametrize(("deadline", "most"), [(0.2, 1), (None, 3)])
def test_few_workers_take_columns_at_a_time_unless_a_batch_waits(
    model, data, slowly, deadline, most
):
    X, _ = data
    server = VirtualServer(model)
    counts = slowly(server)
    server.crew.kill("w0")
    server.predict(X, deadline=deadline)
    server.crew.pass_time(1.0)
    assert max(counts) == most
    assert server.status().homeless_columns == ()


def test_nobody_waits_behind_a_worker_that_is_slow_to_take_columns(
    model, slowly, logged, monkeypatch
):
    monkeypatch.setattr("ecoc.serving.server._SILENT_SECONDS", 0.05)
    server = VirtualServer(model)
    server.crew.clock = time.monotonic  # of the threads that take columns
    # The first of three has its columns when the others have theirs, two messages.
    slowly(server, last="w1")
    server.crew.kill("w0")
    server._settle("w0")
    assert server.status().homeless_columns == ()
    assert logged == ["worker w0 was lost; its columns are placed anew"]


@pytest.fixture
def logged(monkeypatch):
    """What the server warns of, however other libraries have set up logging."""
    lines = []
    monkeypatch.setattr(
        "ecoc.serving.server._LOG.warning", lambda text, *values: lines.append(text % values)
    )
    return lines


def test_columns_that_a_worker_does_not_take_are_for_the_others(model, data, logged):
    X, _ = data
    server = VirtualServer(model, n_workers=3)
    server.crew.full.add("w1")
    server.crew.kill("w0")
    server.crew.pass_time(1.0)
    assert "worker w1 did not take its columns: MemoryError('full')" in logged
    assert server.status().homeless_columns == ()
    assert server.predict(X).missing_columns == ()


def test_columns_that_nobody_took_are_offered_again(model, data):
    X, _ = data
    server = VirtualServer(model, n_workers=2)
    server.crew.full.add("w1")
    server.crew.kill("w0")
    server.crew.pass_time(20.0)
    assert len(server.status().homeless_columns) == 8
    server.crew.full.clear()
    assert server.predict(X, deadline=None).missing_columns == ()
    assert server.status().homeless_columns == ()


def test_a_worker_that_is_back_at_once_has_its_columns_again(model, data):
    X, _ = data
    server = VirtualServer(model)
    server.crew.kill("w1")
    server.crew.join("w1")
    server.crew.pass_time(1.0)
    assert np.array_equal(server.predict(X).labels, model.predict(X))
    assert server.status().failed_answers == 0


def test_columns_wait_for_a_worker_that_will_be_back_in_a_moment(model, data):
    X, _ = data
    server = VirtualServer(model, n_workers=3)
    columns = server.status().workers["w1"]
    server.crew.comeback_seconds = 0.25
    server.crew.given.clear()
    server.crew.kill("w1")
    server.crew.pass_time(0.1)
    assert server.predict(X).missing_columns == columns
    server.crew.join("w3")
    server.crew.pass_time(0.1)
    assert server.status().workers["w3"] == columns
    assert {worker for worker, _ in server.crew.given} == {"w3"}
    server.crew.pass_time(1.0)
    assert server.predict(X).missing_columns == ()


def test_columns_do_not_wait_for_a_worker_that_is_not_back(model, data):
    X, _ = data
    server = VirtualServer(model)
    columns = server.status().workers["w1"]
    server.crew.comeback_seconds = 0.25
    server.crew.kill("w1")
    server.crew.pass_time(0.2)
    assert server.status().homeless_columns == columns
    server.crew.pass_time(0.2)
    assert server.status().homeless_columns == ()
    assert np.array_equal(server.predict(X).labels, model.predict(X))


def test_whoever_waits_for_all_columns_does_not_wait_for_a_comeback(model, data):
    X, _ = data
    server = VirtualServer(model)
    server.crew.comeback_seconds = 10.0
    server.crew.at(0.005, lambda: server.crew.kill("w1"))
    served = server.predict(X, deadline=None)
    assert served.missing_columns == ()
    assert served.seconds < 1


def test_a_worker_that_is_back_is_asked_again_by_whoever_waits(model, data):
    X, _ = data
    server = VirtualServer(model, n_workers=1)
    server.crew.at(0.005, lambda: (server.crew.kill("w0"), server.crew.join("w0")))
    served = server.predict(X, deadline=None)
    assert np.array_equal(served.labels, model.predict(X))


def cut(scores):
    raise ConnectionError("cut")


def test_a_worker_whose_connection_ended_is_given_its_columns_anew(model, data):
    X, _ = data
    server = VirtualServer(model)
    server.crew.broken["w1"] = cut
    server.crew.at(0.02, server.crew.broken.clear)
    served = server.predict(X, deadline=None)
    assert served.missing_columns == ()
    assert "w1" in [worker for worker, _ in server.crew.asked[4:]]
    assert server.status().lost_answers == 1


def test_a_worker_whose_connection_ended_is_not_asked_meanwhile(model, data):
    X, _ = data
    server = VirtualServer(model)
    server.crew.broken["w1"] = cut
    server.predict(X[:5], deadline=1)
    server.crew.asked.clear()
    server.crew.seconds["w1"] = 0.9
    # Its columns are placed anew after 50 ms; this batch comes sooner, and does not wait for it.
    served = server.predict(X[:5], deadline=1)
    assert "w1" not in [worker for worker, _ in server.crew.asked]
    assert served.missing_columns == server.status().workers["w1"]
    assert served.seconds < 0.05


def test_without_a_scheduler_there_are_no_workers_until_it_is_back(model, data):
    X, _ = data
    server = VirtualServer(model)
    server.crew.scheduler = False
    server.crew.broken = dict.fromkeys(server.status().workers, cut)
    with pytest.raises(TimeLimitError, match="No column answered"):
        server.predict(X)
    assert len(server.status().homeless_columns) == 15
    server.crew.at(100.0, lambda: setattr(server.crew, "scheduler", True))
    server.crew.broken = {}
    served = server.predict(X, deadline=None)
    assert served.missing_columns == ()
    assert 100.0 < 1.2 + served.seconds < 140.0


def test_waiting_for_all_columns_outlives_a_worker(model, data):
    X, _ = data
    server = VirtualServer(model, n_workers=2)
    server.crew.at(0.005, lambda: server.crew.kill("w0"))
    served = server.predict(X, deadline=None)
    assert served.missing_columns == ()
    assert served.seconds > 0.05  # the columns had to be placed anew
    assert np.array_equal(served.labels, model.predict(X))


def test_columns_that_cannot_tell_the_classes_apart_are_no_answer(data):
    X, y = data
    model = ECOCClassifier(GaussianNB(), "one-vs-rest").fit(X, y)
    server = VirtualServer(model, n_workers=2)
    server.crew.seconds["w0"] = 0.9  # three of five classes
    assert server.predict(X, deadline=0.2, patience=2).seconds == pytest.approx(0.9)
    assert server.predict(X, deadline=0.2, patience=0).seconds == pytest.approx(0.2)


def test_replicas_stand_in_for_each_other(model, data):
    X, _ = data
    server = VirtualServer(model, replicas=2)
    assert sorted(map(len, server.status().workers.values())) == [7, 7, 8, 8]
    server.crew.seconds["w0"] = 9.0
    server.crew.at(0.005, lambda: server.crew.kill("w3"))
    held = server.status().workers
    served = server.predict(X)
    assert set(served.missing_columns) == set(held["w0"]) & set(held["w3"])


def test_a_worker_that_owes_too_much_is_not_asked(model, data, answers):
    X, _ = data
    server = VirtualServer(model)
    server.crew.scores = lambda batch, columns: answers(batch)[:, columns]
    server.crew.seconds["w1"] = 1000.0
    seconds = [server.predict(X[:2], deadline=0.2).seconds for _ in range(40)]
    assert seconds[0] == pytest.approx(0.2)
    assert seconds[-1] == pytest.approx(0.01)
    server.crew.seconds["w1"] = 0.01
    server.crew.pass_time(2000.0)
    assert server.predict(X[:2]).missing_columns == ()


def test_a_question_that_has_waited_too_long_is_left_and_asked_again(model, data, answers):
    X, _ = data
    server = VirtualServer(model)
    server.crew.scores = lambda batch, columns: answers(batch)[:, columns]
    server.crew.busy.add("w1")
    server.crew.seconds["w1"] = 2.0
    late = server.status().workers["w1"]
    assert server.predict(X[:9], deadline=0.1).missing_columns == late
    server.crew.seconds["w1"] = 0.01
    # It is busy until 2.0 with what nobody waits for; this is not begun at all.
    assert server.predict(X[:9], deadline=0.1).missing_columns == late
    # This neither, but there is time to ask again.
    waited = server.predict(X[:9], deadline=0.1, min_margin=15, patience=3.0)
    assert waited.missing_columns == ()
    assert 0.11 + waited.seconds == pytest.approx(2.01)
    assert server.status().late_answers == 3
    assert server.predict(X[:9], deadline=0.1).missing_columns == ()


@pytest.mark.parametrize(
    "rubbish",
    [
        lambda scores: scores[:, :1],
        lambda scores: "no scores",
        lambda scores: np.full(scores.shape, np.inf),
    ],
    ids=["shape", "text", "infinite"],
)
def test_rubbish_is_erased(model, data, rubbish):
    X, _ = data
    server = VirtualServer(model)
    server.crew.broken["w3"] = rubbish
    columns = server.status().workers["w3"]
    served = server.predict(X)
    assert np.array_equal(served.labels, model.predict(X, missing_columns=columns))
    check_truth(served, model, model.column_scores(X))


def test_a_worker_that_flips_its_answers_is_reported_and_relieved(model, data, answers, logged):
    X, _ = data
    server = VirtualServer(model)
    server.crew.scores = lambda batch, columns: answers(batch)[:, columns]
    server.crew.broken["w2"] = np.negative
    reports = []
    for number in range(50):
        batch = X[6 * number % 240 :][:20]
        server.predict(batch)
        server.crew.pass_time(0.2)
        if server.status().distrusted:
            reports.append(number)
    assert server.status().distrusted == ("w2",)
    assert reports[0] < 10
    assert any("w2 answers wrongly" in line for line in logged)
    assert server.status().homeless_columns == ()
    assert "w2" not in server.status().workers
    assert np.array_equal(server.predict(X).labels, model.predict(X))


def test_at_most_half_of_the_workers_are_distrusted(model, data, logged):
    X, _ = data
    server = VirtualServer(model)
    accused = iter(["w0", "w1", "w2", "w3"])
    server._watch.diagnose = lambda: (name,) if (name := next(accused, None)) else ()
    for _ in range(6):
        server.predict(X)
        server.crew.pass_time(1.0)
    assert server.status().distrusted == ("w0", "w1")
    assert "perhaps the model was not made for these samples" in " ".join(logged)
    assert np.array_equal(server.predict(X).labels, model.predict(X))
    # Who has left does not count any more.
    server.crew.kill("w0")
    server.crew.join("w5")
    server.crew.join("w6")
    server.crew.pass_time(1.0)
    server._watch.diagnose = lambda: ("w2",)
    server.predict(X)
    assert server.status().distrusted == ("w0", "w1", "w2")


def test_one_large_batch_is_rid_of_a_liar_before_it_is_decoded(model, data):
    X, _ = data
    server = VirtualServer(model)
    server.crew.broken["w2"] = np.negative
    columns = server.status().workers["w2"]
    served = server.predict(X)
    assert served.missing_columns == columns
    assert np.array_equal(served.labels, model.predict(X, missing_columns=columns))


@pytest.mark.parametrize("seed", range(100))
def test_margins_are_true_whatever_happens(model, data, answers, seed):
    X, _ = data
    rng = np.random.default_rng(seed)
    n_workers, replicas = int(rng.integers(3, 7)), int(rng.integers(1, 3))
    server = VirtualServer(model, n_workers=n_workers, replicas=replicas)
    crew = server.crew
    crew.comeback_seconds = float(rng.choice([0.0, 0.25]))
    crew.scores = lambda batch, columns: answers(batch)[:, columns]
    joined = 0
    for _ in range(12):
        workers = list(crew.names())
        worker = str(rng.choice(workers))
        moment = crew.clock() + float(rng.uniform(0, 0.3))
        match rng.choice(["kill", "delay", "flip", "rejoin", "nothing"]):
            case "kill" if len(workers) > 2:
                crew.at(moment, lambda gone=worker: gone in crew.names() and crew.kill(gone))
            case "delay":
                crew.seconds[worker] = float(rng.uniform(0.01, 0.6))
            case "flip":
                crew.broken[worker] = np.negative
            case "rejoin":
                joined += 1
                crew.at(moment, lambda name=f"new{joined}": crew.join(name))
        batch = X[rng.permutation(len(X))[: int(rng.integers(1, 25))]]
        begun = len(crew.asked)
        margin = rng.choice([None, 0, 1])
        liars = set(crew.broken)
        deadline = "auto" if seed % 2 else 0.2
        served = server.predict(batch, deadline=deadline, min_margin=margin, patience=0.6)
        flipped = {
            column for worker, some in crew.asked[begun:] if worker in liars for column in some
        }
        used = flipped - set(served.missing_columns)
        honest = answers(batch)
        check_truth(served, model, honest, len(used))
        if not used:
            decoded = model.decoder_(
                honest, model.codebook_.matrix, missing_columns=served.missing_columns
            )
            assert np.array_equal(served.labels, decoded.argmax(axis=1))
        assert seed % 2 or served.seconds <= 0.2 + 0.6 + 1e-9
        assert not served.below.any() or margin is not None
    server.crew.pass_time(5.0)
    assert server.status().homeless_columns == ()


def test_symbols_and_pipelines(data):
    X, y = data
    code = Codebook.from_rows(["000010", "110101", "201222", "022112", "121021"], n_symbols=3)
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    classifier = ECOCClassifier(tree, code, decoding="hamming")
    model = make_pipeline(StandardScaler(), classifier).fit(X, y)
    server = VirtualServer(model, n_workers=3)
    assert np.array_equal(server.predict(X).labels, model.predict(X))
    server.crew.seconds["w1"] = 0.6
    served = server.predict(X, patience=0)
    check_truth(served, model[-1], model[-1].column_scores(model[:-1].transform(X)))
    assert len(served.missing_columns) == 2


def test_reject_labels_are_given_out(data):
    X, y = data
    classifier = ECOCClassifier(
        GaussianNB(), exhaustive(5), decoding=Hamming(), reject_below=2, reject_label=-1
    )
    model = classifier.fit(X, y)
    assert -1 in model.predict(X)
    assert np.array_equal(VirtualServer(model).predict(X).labels, model.predict(X))


@pytest.mark.parametrize("seconds", [0.0, 0.2])
def test_the_first_answer_is_waited_for_and_others_have_the_deadline_again(model, data, seconds):
    X, _ = data
    server = VirtualServer(model)
    for number, worker in enumerate(server.crew.names()):
        server.crew.seconds[worker] = 10.0 + 0.15 * number
    served = server.predict(X, deadline=seconds, patience=0)
    assert served.seconds == pytest.approx(10.0 + seconds)
    assert len(served.missing_columns) == (7 if seconds else 11)
    expected = model.predict(X, missing_columns=served.missing_columns)
    assert np.array_equal(served.labels, expected)
    check_truth(served, model, model.column_scores(X))


def test_workers_that_are_busy_for_long_lose_no_batch(model, data, answers):
    X, _ = data
    server = VirtualServer(model)
    crew = server.crew
    crew.scores = lambda batch, columns: answers(batch)[:, columns]
    crew.busy.update(crew.names())
    for backlog in (0.2, 0.5, 0.7, 1.0, 3.0, 25.0):
        for worker in crew.names():
            crew.seconds[worker] = backlog
            crew.ask(worker, X[:1], [0], np.inf)
            crew.seconds[worker] = 0.01
        # They leave what has waited for half a second, and what is then asked once more. One
        # that was asked twice may have the first answer of all a question later.
        served = server.predict(X[:9], deadline=0.2, patience=0.8)
        assert backlog < served.seconds < backlog + 0.03
        expected = model.predict(X[:9], missing_columns=served.missing_columns)
        assert np.array_equal(served.labels, expected)


def test_workers_that_all_owe_too_much_lose_no_batch(model, data, answers):
    X, _ = data
    server = VirtualServer(model)
    server.crew.scores = lambda batch, columns: answers(batch)[:, columns]
    server.crew.seconds.update(w0=20.0, w1=20.0, w2=20.0)
    for _ in range(40):
        server.predict(X[:2], deadline=0.1, patience=0)
    server.crew.seconds["w3"] = 2000.0
    server.crew.at(10.0, lambda: server.crew.kill("w3"))
    server.crew.seconds.update(w0=0.01, w1=0.01, w2=0.01)
    began = server.crew.clock()
    served = server.predict(X[:2], deadline=0.1, patience=0)
    # Nobody could be asked before it had given one of its answers.
    assert 20.0 < began + served.seconds < 21.0


def test_workers_that_are_all_silent_are_not_waited_for_without_end(model, data):
    X, _ = data
    server = VirtualServer(model)
    server.crew.seconds.update(dict.fromkeys(server.crew.names(), 1e6))
    with pytest.raises(TimeLimitError, match=r"answered within 30\.7 s, of 4 workers"):
        server.predict(X, deadline=0.2, patience=0.5)


def test_nobody_is_left_to_answer(model, data):
    X, _ = data
    server = VirtualServer(model)
    for worker in server.crew.names():
        server.crew.seconds[worker] = 10.0
        server.crew.at(7.0, lambda gone=worker: server.crew.kill(gone))
    with pytest.raises(TimeLimitError, match=r"answered within 7 s"):
        server.predict(X, deadline=0.2, patience=0.5)
    server.crew.pass_time(1.0)
    with pytest.raises(TimeLimitError, match=r"answered within 0\.7 s, of 0 workers"):
        server.predict(X, deadline=0.2, patience=0.5)


def test_samples_that_no_worker_can_cope_with_are_the_callers_error(model, data):
    X, _ = data

    def fail(scores):
        raise ValueError("no such sample")

    server = VirtualServer(model)
    server.crew.broken = dict.fromkeys(server.crew.names(), fail)
    with pytest.raises(ColumnError, match="no such sample"):
        server.predict(X)
    assert server.status().failed_answers == 4


@pytest.mark.parametrize("n_failing", [1, 3])
def test_what_most_workers_cannot_cope_with_is_not_waited_for(model, data, n_failing):
    X, _ = data
    server = VirtualServer(model)
    for number, worker in enumerate(server.crew.names()):
        if number < n_failing:
            server.crew.broken[worker] = lambda scores: np.full(scores.shape, np.nan)
        else:
            server.crew.seconds[worker] = 20.0
    if n_failing == 1:
        assert server.predict(X).seconds == 20.0
    else:
        with pytest.raises(ColumnError, match="the first said: no scores"):
            server.predict(X)
        assert server.crew.clock() == pytest.approx(1.2)


def test_workers_that_take_no_columns_are_no_server(model):
    class FullServer(VirtualServer):
        def _connect(self, client, n_workers):
            crew = super()._connect(client, n_workers)
            crew.full.update(crew.names())
            return crew

    with pytest.raises(ColumnError, match=r"No worker took columns; .* MemoryError\('full'\)"):
        FullServer(model)


def test_bad_arguments_are_refused_before_work(model, data):
    X, y = data
    server = VirtualServer(model)
    with pytest.raises(ValueError, match="features"):
        server.predict(X[:, :2])
    for bad in ({"deadline": -1}, {"deadline": "soon"}, {"min_margin": -1}, {"patience": "long"}):
        with pytest.raises(InvalidInputError, match=next(iter(bad))):
            server.predict(X, **bad)
    assert server.crew.asked == []
    with pytest.raises(InvalidInputError, match="replicas"):
        VirtualServer(model, replicas=0)
    with pytest.raises(InvalidInputError, match="not GaussianNB"):
        VirtualServer(GaussianNB().fit(X, y))
    costly = ECOCClassifier(GaussianNB(), exhaustive(5), cost_matrix=1 - np.eye(5)).fit(X, y)
    with pytest.raises(UnsupportedError, match="probabilities"):
        VirtualServer(costly)


def test_a_closed_server_says_so_and_lets_go_of_whoever_waits(model, data):
    X, _ = data
    server = VirtualServer(model)
    for worker in ("w0", "w1", "w2", "w3"):
        server.crew.seconds[worker] = 1e6 if worker == "w0" else 0.01
    server.crew.at(5.0, server.close)
    served = server.predict(X, deadline=None)
    assert served.seconds == 5.0
    assert len(served.missing_columns) == 4
    for deadline in (0.2, None):
        with pytest.raises(UnsupportedError, match="server is closed"):
            server.predict(X, deadline=deadline)
    server.close()


@pytest.mark.parametrize(
    ("n_columns", "n_workers", "replicas"),
    [(200, 4, 1), (200, 7, 3), (6, 9, 1), (6, 9, 2), (15, 1, 1), (15, 1, 2)],
)
def test_many_columns_few_columns_and_a_single_worker(data, n_columns, n_workers, replicas):
    X, y = data
    columns = np.resize(np.arange(15), n_columns)
    code = Codebook(exhaustive(5).matrix[:, columns], allow_repeated_columns=n_columns > 15)
    model = ECOCClassifier(GaussianNB(), code).fit(X, y)
    server = VirtualServer(model, n_workers=n_workers, replicas=replicas)
    served = server.predict(X)
    assert np.array_equal(served.labels, model.predict(X))
    assert np.array_equal(served.margins, model.margin(X))
    held = server.status().workers
    most, n_copies = max(map(len, held.values())), min(replicas, n_workers)
    assert sum(map(len, held.values())) == n_copies * n_columns
    assert most == -(-n_copies * n_columns // n_workers)
    for worker in server.crew.names():
        server.crew.kill(worker)
    server.crew.pass_time(1.0)
    assert len(server.status().homeless_columns) == n_columns
    with pytest.raises(TimeLimitError, match="of 0 workers"):
        server.predict(X[:3])
    server.crew.join("back")
    server.crew.pass_time(1.0)
    assert np.array_equal(server.predict(X).labels, model.predict(X))


def test_ternary_codes_have_a_true_margin(data):
    X, y = data
    model = ECOCClassifier(GaussianNB(), "one-vs-one", decoding="hamming").fit(X, y)
    server = VirtualServer(model, n_workers=5)
    assert np.array_equal(server.predict(X).margins, model.margin(X))
    server.crew.seconds["w1"] = 0.6
    served = server.predict(X, patience=0)
    assert len(served.missing_columns) == 2
    # Whatever the missing columns say, what is certain stays.
    scores = model.column_scores(X)
    for signs in ((-1, -1), (-1, 1), (1, -1), (1, 1)):
        scores[:, served.missing_columns] = signs
        labels = model.classes_[model.decoder_(scores, model.codebook_.matrix).argmax(axis=1)]
        assert np.array_equal(labels[served.certain], served.labels[served.certain])
    assert served.certain.any()


def test_no_rows_and_rows_that_learners_cannot_take(model, data):
    X, _ = data
    server = VirtualServer(model)
    with pytest.raises(ValueError, match="0 sample"):
        server.predict(X[:0])
    broken = X[:3].copy()
    broken[1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        server.predict(broken)
    assert server.predict(X).missing_columns == ()


def test_late_answers_leave_nothing_behind(model, data, answers):
    X, _ = data
    server = VirtualServer(model)
    server.crew.scores = lambda batch, columns: answers(batch)[:, columns]
    rng = np.random.default_rng(0)
    for _ in range(300):
        server.crew.seconds[f"w{rng.integers(4)}"] = float(rng.uniform(0.01, 0.6))
        server.predict(X[:2], deadline=0.2)
    server.crew.pass_time(1.0)
    assert server.status().late_answers > 50
    assert not server._late
    assert not server._active
