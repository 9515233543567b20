"""Codes with more words than linear ones, counted word by word."""

import numpy as np
import pytest

from ecoc.codes.measures import min_doubled_distance
from ecoc.constructions.nonlinear import (
    best_words,
    delsarte_goethals_words,
    julin_words,
    kerdock_words,
)


def distance_of(words):
    return min_doubled_distance((1 - 2 * words.astype(np.int8)).astype(np.int8)) // 2


@pytest.mark.parametrize(("degree", "distance"), [(3, 6), (5, 28)])
def test_kerdock_codes(degree, distance):
    words = kerdock_words(degree)
    assert words.shape == (4 ** (degree + 1), 2 << degree)
    assert distance_of(words) == distance


def test_delsarte_and_goethals_have_more_words_than_kerdock():
    words = delsarte_goethals_words(3)
    assert words.shape == (1 << 11, 16)
    assert distance_of(words) == 4
    longer = delsarte_goethals_words(5)
    assert longer.shape == (1 << 17, 64)
    # Every pattern of seven places occurs equally often, in any places.
    places = np.random.default_rng(0).choice(64, size=7, replace=False)
    patterns = longer[:, places] @ (1 << np.arange(7))
    assert set(np.bincount(patterns)) == {1 << 10}
    shortened = longer[~longer[:, places].any(axis=1)]
    assert distance_of(shortened) == 24
    # All words are as far from one as from the others: the code over Z4 is linear.
    weights = longer.sum(axis=1, dtype=int)
    assert weights[weights > 0].min() == 24


@pytest.mark.parametrize(
    ("words", "n_words", "length"), [(best_words(), 40, 10), (julin_words(), 144, 12)]
)
def test_single_error_correcting_codes(words, n_words, length):
    assert words.shape == (n_words, length)
    assert distance_of(words) == 4


def test_julins_blocks_are_a_steiner_system():
    words = julin_words()
    blocks = words[words.sum(axis=1) == 6]
    assert len(blocks) == 132
    # Two blocks have at most four places in common, and C(12,5) = 132 C(6,5) does the rest.
    common = blocks.astype(int) @ blocks.T
    assert common[~np.eye(132, dtype=bool)].max() == 4
