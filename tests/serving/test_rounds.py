import threading
import time

import numpy as np
import pytest

from ecoc.serving.rounds import Rounds


class Clock:
    """A clock that goes on only while somebody waits, and what happens meanwhile."""

    def __init__(self):
        self.now = 0.0
        self.waits = []
        self.meanwhile = None

    def clock(self):
        return self.now

    def wait(self, condition, seconds):
        self.waits.append(seconds)
        if self.meanwhile is not None:
            happens, self.meanwhile = self.meanwhile, None
            happens()
            return
        self.now += seconds


class RealClock:
    """The usual one."""

    clock = staticmethod(time.monotonic)

    @staticmethod
    def wait(condition, seconds):
        condition.wait(seconds)


def batch(n_rows=2):
    return np.zeros((n_rows, 3))


def test_who_is_alone_waits_for_nobody():
    clock = Clock()
    rounds = Rounds(clock, lambda: False)
    for _ in range(3):
        seat = rounds.board(batch(), "kind", 60.0)
        assert seat.leads
        assert seat.is_alone
        rounds.leave()
    assert clock.waits == []


def test_batches_that_come_while_workers_are_busy_travel_as_one():
    busy = threading.Event()
    busy.set()
    rounds = Rounds(RealClock(), lambda: not busy.is_set())
    rounds.board(batch(), "kind", 60.0)  # under way
    seats = []
    leader = threading.Thread(target=lambda: seats.append(rounds.board(batch(5), "kind", 600.0)))
    leader.start()
    for _ in range(100_000):
        if rounds._boarding:
            break
        time.sleep(0.001)
    second, third = rounds.board(batch(3), "kind", 0.0), rounds.board(batch(1), "kind", 0.0)
    assert not second.leads
    assert (second.rows, third.rows) == (slice(5, 8), slice(8, 9))
    assert seats == []
    busy.clear()
    rounds.look_again()
    leader.join(600)
    (first,) = seats
    assert first.leads
    assert not first.is_alone
    assert [len(each) for each in first.batches] == [5, 3, 1]
    assert first.rows == slice(0, 5)
    first.answer("answer")
    assert second.await_answer() == third.await_answer() == "answer"


def test_others_and_larger_ones_travel_apart():
    clock = Clock()
    rounds = Rounds(clock, lambda: False)
    rounds.board(batch(), "kind", 60.0)
    seats = {}

    def come():
        seats["other"] = rounds.board(batch(), "another kind", 0.0)
        seats["full"] = rounds.board(batch(255), "kind", 0.0)

    clock.meanwhile = come
    first = rounds.board(batch(), "kind", 60.0)
    assert first.is_alone  # nothing could join it any more
    assert clock.now == 0.0
    assert seats["other"].is_alone
    assert seats["full"].leads


def test_workers_that_stay_busy_are_not_waited_for_without_end():
    clock = Clock()
    rounds = Rounds(clock, lambda: False)
    rounds.board(batch(), "kind", 60.0)
    assert rounds.board(batch(), "kind", 0.25).leads
    assert clock.now == 0.25


def board_together(rounds, clock):
    """A round of two, the second of which comes while the first waits for it."""
    clock.meanwhile = lambda: rounds.board(batch(), "kind", 60.0)
    seat = rounds.board(batch(), "kind", 60.0)
    assert len(seat.batches) == 2


def test_callers_that_come_back_together_are_waited_for():
    clock, ready = Clock(), []
    rounds = Rounds(clock, lambda: bool(ready))
    rounds.board(batch(), "kind", 60.0)  # under way
    clock.meanwhile = lambda: (rounds.board(batch(), "kind", 60.0), ready.append(True))
    assert len(rounds.board(batch(), "kind", 60.0).batches) == 2
    for _ in range(3):
        rounds.leave()
    waited = []
    for _ in range(100):
        began = clock.now
        board_together(rounds, clock)
        waited.append(clock.now - began)
        for _ in range(2):
            rounds.leave()
    # Three were inside before; from then on the second comes before the time is over.
    assert waited[0] > 0
    assert not any(waited[1:])


def test_who_does_not_come_back_is_waited_for_ever_more_seldom():
    clock, busy = Clock(), []
    rounds = Rounds(clock, lambda: not busy)
    n_vain = 0
    for _ in range(1000):
        # Two come while a third is under way, and then one alone.
        rounds.board(batch(), "kind", 60.0)
        busy.append(True)
        clock.meanwhile = lambda: (rounds.board(batch(), "kind", 60.0), busy.clear())
        rounds.board(batch(), "kind", 60.0)
        for _ in range(3):
            rounds.leave()
        before = clock.now
        rounds.board(batch(), "kind", 60.0)
        rounds.leave()
        n_vain += clock.now > before
        assert clock.now - before < 0.01
    assert 5 < n_vain < 15


def test_callers_that_come_one_after_the_other_do_not_wait():
    clock = Clock()
    rounds = Rounds(clock, lambda: True)
    for _ in range(10):
        # The second comes before the first has its answer.
        rounds.board(batch(), "kind", 60.0)
        rounds.board(batch(), "kind", 60.0)
        rounds.leave()
        rounds.leave()
    assert clock.waits == []


def test_a_leader_that_is_interrupted_lets_the_others_go():
    clock = Clock()
    rounds = Rounds(clock, lambda: False)
    rounds.board(batch(), "kind", 60.0)
    seats = []

    def interrupt():
        seats.append(rounds.board(batch(), "kind", 60.0))
        raise KeyboardInterrupt

    clock.meanwhile = interrupt
    with pytest.raises(KeyboardInterrupt):
        rounds.board(batch(), "kind", 60.0)
    assert seats[0].await_answer() is None
    rounds.leave()
    assert rounds._n_inside == 1
    assert not rounds._boarding
