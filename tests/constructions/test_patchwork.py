"""Blocks and plans against their definitions and Levenshtein's formulas."""

import numpy as np
import pytest

from ecoc.codes.measures import distances, min_doubled_distance
from ecoc.constructions import constructions
from ecoc.constructions.hadamard import load_table, read_signs
from ecoc.constructions.patchwork import (
    conference_block,
    legendre_block,
    legendre_lengths,
    normalised_block,
    patchworks,
    residual_block,
)


def periodic(sequence):
    values = [int(x) for x in sequence]
    n = len(values)
    return [sum(values[i] * values[(i + s) % n] for i in range(n)) for s in range(n)]


@pytest.mark.parametrize("length", sorted(legendre_lengths()))
def test_legendre_pairs(length):
    pair = [read_signs(text) for text in load_table()["legendre"][str(length)]]
    total = np.array([periodic(s) for s in pair]).sum(axis=0)
    assert (total[1:] == -2).all()
    block = legendre_block(length)
    row_distances = distances(block)
    assert (row_distances[~np.eye(length, dtype=bool)] == length + 1).all()
    # The table is kept for what these pairs do for columns.
    column_distances = distances(np.ascontiguousarray(block.T), two_sided=True)
    np.fill_diagonal(column_distances, length)
    assert column_distances.min() >= length // 3


def most_words(n, d):
    """A(n, d) by looking for cliques, for tiny cases."""
    words = [w for w in range(1 << n) if w == 0 or w.bit_count() >= d]
    near = {w: {v for v in words if (w ^ v).bit_count() >= d} for w in words}

    def largest(size, left):
        best = size
        while left:
            if size + len(left) <= best:
                return best
            word = left.pop()
            best = max(best, largest(size + 1, left & near[word]))
        return best

    return largest(1, set(words) - {0})


@pytest.mark.parametrize(("n", "d"), [(4, 2), (5, 3), (6, 3), (6, 4), (7, 4), (8, 5), (9, 6)])
def test_plans_promise_no_more_than_there_is(n, d):
    most = most_words(n, d)
    assert max((plan.distance for plan in patchworks(most + 1, n)), default=0) < d
    assert patchworks(most, n)[0].distance == d


@pytest.mark.parametrize("order", [4, 8, 12, 20, 28, 36, 52])
def test_levenshteins_blocks_are_equidistant(order):
    rng = np.random.default_rng(0)
    for block, n_words, n_columns in (
        (normalised_block(order, rng), order, order - 1),
        (residual_block(order, rng), order // 2, order - 2),
    ):
        assert block.shape == (n_words, n_columns)
        between = distances(block)[~np.eye(n_words, dtype=bool)]
        assert (between == order // 2).all()


@pytest.mark.parametrize("q", [5, 9, 13, 17, 25, 49])
def test_words_of_conference_matrices(q):
    block = conference_block(q)
    assert block.shape == (2 * q + 2, q)
    assert min_doubled_distance(block) // 2 == (q - 1) // 2


def levenshtein_distance(k, length):
    """The largest d with A(L, d) >= k in Plotkin's range, by his formulas."""
    for d in range(length, 0, -1):
        n, even = (length, d) if d % 2 == 0 else (length + 1, d + 1)
        if n < 2 * even and 2 * (even // (2 * even - n)) >= k:
            return d
        if n == 2 * even and 4 * even >= k:
            return d
        if n > 2 * even:
            return None
    return None


@pytest.mark.parametrize("k", range(5, 67, 7))
def test_plans_agree_with_levenshteins_formulas(k):
    for length in range((k + 1) // 2 + 2, 3 * k + 1):
        expected = levenshtein_distance(k, length)
        if expected is not None:
            assert patchworks(k, length, family="hadamard")[0].distance == expected


def test_plans_come_best_first():
    plans = constructions(30, 70)
    promised = [plan.distance for plan in plans]
    assert promised == sorted(promised, reverse=True)
    for plan in plans[:4]:
        blocks = plan.make(np.random.default_rng(0))
        assert blocks.n_columns == 70
        matrix = np.hstack([block[:30] for block in blocks.blocks])
        assert min_doubled_distance(matrix) // 2 >= plan.distance


# A(n, d) beyond Plotkin's range for n up to 16 (Brouwer's table of binary codes).
@pytest.mark.parametrize(
    ("n_words", "n", "d"),
    [
        (20, 9, 4),
        (40, 10, 4),
        (72, 11, 4),
        (144, 12, 4),
        (256, 13, 4),
        (2048, 16, 4),
        (32, 13, 6),
        (64, 14, 6),
        (128, 15, 6),
        (256, 16, 6),
        (36, 17, 8),
    ],
)
def test_plans_reach_the_largest_codes_there_are(n_words, n, d):
    plan = patchworks(n_words, n)[0]
    assert plan.distance == d
    assert patchworks(n_words, n - 1)[0].distance == d - 1
    made = plan.make(np.random.default_rng(0))
    assert len(made.blocks) == 1
    assert min_doubled_distance(made.blocks[0][:n_words]) // 2 == d


def test_tabled_codes_come_in_only_where_they_reach_more():
    plan = patchworks(1000, 63, family="linear")[0]
    assert plan.names == ("kerdock[64,12,28]-1",)
    better = patchworks(8192, 51)
    assert better[0].distance == 18
    assert any(name.startswith("orbit") for name in better[0].names)
    plain = next(plan for plan in better if "orbit" not in " ".join(plan.names))
    assert plain.distance < 18
    distances_ = [plan.distance for plan in better]
    assert distances_ == sorted(distances_, reverse=True)
