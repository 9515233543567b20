from hypothesis import given
from hypothesis import strategies as st

from ecoc.serving.placement import place_columns

WORKERS = [f"w{number}" for number in range(6)]


@given(
    n_columns=st.integers(1, 12),
    workers=st.lists(st.sampled_from(WORKERS), min_size=1, unique=True),
    replicas=st.integers(1, 4),
    held=st.dictionaries(st.sampled_from(WORKERS), st.sets(st.integers(0, 11))),
)
def test_columns_are_spread_evenly_whatever_was_held(n_columns, workers, replicas, held):
    placed = place_columns(n_columns, workers, replicas=replicas, held=held)
    assert set(placed) == set(workers)
    sizes = [len(columns) for columns in placed.values()]
    assert max(sizes) - min(sizes) <= 1
    copies = [sum(column in columns for columns in placed.values()) for column in range(n_columns)]
    assert set(copies) == {min(replicas, len(workers))}
    # What is placed well stays where it is.
    assert place_columns(n_columns, workers, replicas=replicas, held=placed) == placed


def test_a_lost_worker_moves_its_own_columns_alone():
    before = place_columns(20, WORKERS[:4])
    after = place_columns(20, WORKERS[1:4], held=before)
    assert all(before[worker] <= after[worker] for worker in WORKERS[1:4])


def test_nobody_holds_nothing():
    assert place_columns(3, []) == {}
