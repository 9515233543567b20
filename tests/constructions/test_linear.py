from itertools import product

import numpy as np
import pytest

from ecoc.codes.measures import min_doubled_distance
from ecoc.constructions import best_linear
from ecoc.constructions.linear import (
    ParentCode,
    bch_codes,
    bch_generator,
    parent_codes,
    parent_words,
    tabled_codes,
)


def distance_of(words):
    return min_doubled_distance(words) // 2


def all_words(generator):
    messages = np.array(list(product([0, 1], repeat=len(generator))))
    return (messages @ generator) % 2


# Dimension and distance of the narrow-sense codes as printed by Lin & Costello (2004).
@pytest.mark.parametrize(
    ("n", "expected"),
    [
        (7, [(4, 3)]),
        (15, [(11, 3), (7, 5), (5, 7)]),
        (31, [(26, 3), (21, 5), (16, 7), (11, 11), (6, 15)]),
        (63, [(57, 3), (51, 5), (45, 7), (39, 9), (36, 11), (30, 13), (24, 15), (18, 21)]),
    ],
)
def test_bch_codes(n, expected):
    found = [(dimension, distance) for dimension, distance, _ in bch_codes(n)]
    assert found[: len(expected)] == expected


@pytest.mark.parametrize("n", [7, 9, 15, 17, 21, 23])
def test_bch_generators_have_the_designed_distance(n):
    for dimension, designed, zeros in bch_codes(n):
        if dimension > 12:
            continue
        weights = all_words(bch_generator(n, zeros)).sum(axis=1)
        assert weights[weights > 0].min() >= designed


@pytest.mark.parametrize("code", parent_codes(40), ids=lambda code: code.name)
def test_shortened_codes_keep_their_distance(code):
    rng = np.random.default_rng(0)
    for shortened in sorted({0, 1, min(4, code.max_shortening)}):
        if shortened > code.max_shortening:
            continue
        words = parent_words(code, shortened, 100, rng)
        assert words.shape[1] == code.length - shortened
        assert len(words) == min(100, 1 << (code.dimension - shortened))
        assert len(np.unique(words, axis=0)) == len(words)
        if len(words) > 1:
            assert distance_of(words) >= code.distance


@pytest.mark.parametrize("code", tabled_codes(140), ids=lambda code: code.name)
def test_shortened_tabled_codes_repeat_no_column(code):
    rng = np.random.default_rng(0)
    for shortened in sorted({0, code.max_shortening}):
        n_words = min(300, code.n_words >> shortened)
        words = parent_words(code, shortened, n_words, rng)
        assert words.shape == (n_words, code.length - shortened)
        assert distance_of(words) >= code.distance
        products = np.abs(words.T.astype(int) @ words)
        np.fill_diagonal(products, 0)
        assert products.max() < n_words
        assert np.abs(words.sum(axis=0)).max() < n_words


def test_words_of_codes_with_many():
    code = next(c for c in parent_codes(64) if c.dimension == 45 and c.length == 64)
    words = parent_words(code, 3, 500, np.random.default_rng(0))
    assert words.shape == (500, 61)
    assert distance_of(words) >= code.distance == 8


def test_golay_is_among_the_codes():
    assert ParentCode("bch", 23, 12, 7) in parent_codes(24)
    assert ParentCode("bch", 24, 12, 8, extended=True) in parent_codes(24)


@pytest.mark.parametrize(
    ("k", "length", "distance"),
    [(1000, 63, 27), (3000, 64, 28), (256, 16, 6), (50, 13, 5), (4096, 24, 8), (2000, 23, 7)],
)
def test_best_linear_reaches_known_distances(k, length, distance):
    code = best_linear(k, length, random_state=0)
    assert (code.n_classes, code.n_columns) == (k, length)
    assert code.min_row_distance >= distance
