import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix

from ecoc.codes import Codebook, exhaustive, one_vs_one
from ecoc.serving.watch import WorkerWatch, sample_keys

MATRIX = exhaustive(5).matrix  # 15 columns, row distance 8
HOMES = [f"w{column % 5}" for column in range(15)]


def batches(rng, size=10, error=0.05):
    """Batches of honest answers, some of them wrong."""
    while True:
        truth = MATRIX[rng.integers(5, size=size)].astype(float)
        yield truth * np.where(rng.random(truth.shape) < error, -1, 1)


@pytest.mark.parametrize(
    "lie",
    [
        lambda scores, rng: -scores,
        lambda scores, rng: np.abs(scores) * rng.choice([-1, 1], size=scores.shape),
    ],
    ids=["flipped", "random"],
)
def test_a_liar_is_named_within_fifty_batches_and_nobody_else(lie):
    rng = np.random.default_rng(0)
    watch = WorkerWatch(MATRIX)
    mine = [column for column, home in enumerate(HOMES) if home == "w3"]
    for number, scores in enumerate(batches(rng)):
        scores[:, mine] = lie(scores[:, mine], rng)
        found = watch.see(scores, HOMES)
        if found:
            break
        assert number < 50
    assert found == ("w3",)


def test_sound_workers_are_left_in_peace():
    rng = np.random.default_rng(1)
    watch = WorkerWatch(MATRIX)
    stream = batches(rng, error=0.1)
    assert not any(watch.see(next(stream), HOMES) for _ in range(300))


def hard_samples():
    """One of each class, about which most columns of a worker are wrong, and all others right."""
    answers = MATRIX.astype(float)
    answers[:, 3::5] *= -1
    return answers


def test_a_sample_that_comes_again_and_again_is_one_sample():
    watch = WorkerWatch(MATRIX)
    scores, keys = np.tile(hard_samples(), (4, 1)), list(range(5)) * 4
    assert not any(watch.see(scores, HOMES, keys) for _ in range(100))
    assert any(watch.see(scores, HOMES) for _ in range(100))


def test_samples_of_few_classes_accuse_nobody():
    watch = WorkerWatch(MATRIX)
    scores = np.tile(hard_samples()[:3], (4, 1))
    assert not any(watch.see(scores, HOMES) for _ in range(100))


def test_a_liar_is_named_by_few_samples_that_come_again():
    rng = np.random.default_rng(7)
    watch, truth = WorkerWatch(MATRIX), MATRIX[np.arange(60) % 5].astype(float)
    for number in range(100):
        rows = rng.integers(60, size=10)
        scores = truth[rows]
        if number >= 50:
            scores[:, 3::5] *= -1
        found = watch.see(scores, HOMES, rows.tolist())
        assert not found or number >= 50
        if found:
            break
    assert found == ("w3",)


@pytest.mark.parametrize(
    "samples",
    [
        np.array([[1.0, np.nan], [1.0, 2.0], [1.0, np.nan]]),
        np.array([["a", 1], ["a", 2], ["a", 1]], dtype=object),
        np.array(["one", "two", "one"], dtype=object),
        csr_matrix(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]])),
        pd.DataFrame({"a": [1, 2, 1], "b": ["x", "x", "x"]}),
        pd.DataFrame({"a": [1.5, np.nan, 1.5], "b": [0, 0, 0]}, index=[7.0, 8.0, 9.0]),
    ],
    ids=["numbers", "objects", "texts", "sparse", "frame", "numbers in a frame"],
)
def test_samples_are_told_apart_by_their_features(samples):
    first, second, third = sample_keys(samples, 3)
    assert first == third != second
    assert sample_keys(samples, 2) == [second, third]


def test_one_weak_column_is_not_the_fault_of_its_worker():
    rng = np.random.default_rng(2)
    watch, stream = WorkerWatch(MATRIX), batches(rng)
    for _ in range(50):
        scores = next(stream)
        scores[:, 7] = rng.choice([-1.0, 1.0], size=len(scores))
        assert watch.see(scores, HOMES) == ()


def test_a_column_is_blamed_on_one_worker_alone():
    rng = np.random.default_rng(3)
    watch, stream = WorkerWatch(MATRIX), batches(rng)
    homes = [f"w{column}" for column in range(15)]
    reports = []
    for _ in range(100):
        scores = next(stream)
        scores[:, 7] *= -1
        found = watch.see(scores, homes)
        if found:
            reports.extend(found)
            homes[7] = "another"
            watch.forget()
    assert reports == ["w7"]


def test_of_replicas_the_liar_is_named():
    rng = np.random.default_rng(4)
    watch, stream, found = WorkerWatch(MATRIX), batches(rng), ()
    for number in range(50):
        scores, homes = next(stream), list(HOMES)
        if number % 2:  # the liar was quicker than the worker that holds the same columns
            for column in range(3, 15, 5):
                homes[column] = "liar"
                scores[:, column] *= -1
        found = found or watch.see(scores, homes)
    assert found == ("liar",)


def test_erasures_and_symbols():
    rng = np.random.default_rng(5)
    code = Codebook.from_rows(["000010", "110101", "201222", "022112", "121021"], n_symbols=3)
    symbols = np.hstack([code.matrix] * 2)
    homes = [f"w{column % 4}" for column in range(12)]
    watch, found = WorkerWatch(symbols), ()
    for _ in range(40):
        answers = symbols[rng.integers(5, size=10)]
        answers[:, ::4] = (answers[:, ::4] + 1) % 3
        scores = np.eye(3)[answers]
        scores[:, 5] = np.nan
        found = found or watch.see(scores, [*homes[:5], None, *homes[6:]])
    assert found == ("w0",)


@pytest.mark.parametrize("code", ["weak", "one-vs-one"])
@pytest.mark.parametrize("lies", [True, False])
def test_who_says_the_opposite_is_found_where_columns_say_little(code, lies):
    rng = np.random.default_rng(6)
    matrix = MATRIX if code == "weak" else one_vs_one(6).matrix
    error = 0.3 if code == "weak" else 0.1
    watch, found = WorkerWatch(matrix), ()
    for _ in range(60):
        truth = matrix[rng.integers(len(matrix), size=10)].astype(float)
        # Columns that were not trained on a class say anything about it.
        truth[truth == 0] = rng.choice([-1.0, 1.0], size=int((truth == 0).sum()))
        scores = truth * np.where(rng.random(truth.shape) < error, -1, 1)
        if lies:
            scores[:, 3::5] *= -1
        found = found or watch.see(scores, HOMES)
    assert found == (("w3",) if lies else ())


def test_of_two_workers_nobody_can_say_who_it_is():
    rng = np.random.default_rng(7)
    watch = WorkerWatch(one_vs_one(6).matrix)
    for _ in range(60):
        scores = one_vs_one(6).matrix[rng.integers(6, size=10)].astype(float)
        scores[:, :7] *= -1
        assert watch.see(scores, ["a"] * 7 + ["b"] * 8) == ()
