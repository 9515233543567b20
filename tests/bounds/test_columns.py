"""Bounds on columns: values, and every codebook of few classes."""

import pytest
from tests.bounds.oracle import every_codebook, is_separated, least_distances

from ecoc.bounds import check_separation_bound, separation_bound
from ecoc.bounds.columns import fewer_words
from ecoc.bounds.problem import KNOWN_SIZES
from ecoc.bounds.words import Words

ENOUGH = 1 << 40


def test_known_sizes_improve_on_what_is_proved():
    for (n, d), size in KNOWN_SIZES.items():
        assert fewer_words(Words(n, d, n), ENOUGH)["size"] > size


SEPARATIONS = ("two-sided", "one-sided", "literal")


@pytest.mark.parametrize("separation", SEPARATIONS)
@pytest.mark.parametrize("k", [3, 4, 5])
def test_no_columns_are_separated_more(k, separation):
    _, sizes, _ = every_codebook(k)
    for n_columns in range(2, 1 << (k - 1)):
        for wanted in (None, *range(1, 9)):
            enough = sizes == n_columns
            if wanted is not None:
                enough &= least_distances(k) >= wanted
            reached = [
                rho
                for rho in range(1, k)
                if (enough & is_separated(k, rho, separation, n_columns)).any()
            ]
            bound = separation_bound(k, n_columns, separation, min_row_distance=wanted)
            assert bound.value >= max(reached, default=0)
            found = check_separation_bound(k, n_columns, separation, bound, min_row_distance=wanted)
            assert found == []


@pytest.mark.parametrize(
    ("k", "one_sided", "two_sided"),
    [
        (10, 4, 3),
        (11, 4, 3),
        (12, 5, 4),
        (13, 5, 4),
        (14, 6, 5),
        (15, 6, 5),
        (16, 7, 6),
        (17, 7, 6),
        (18, 8, 7),
    ],
)
def test_largest_separations_at_two_columns_per_class(k, one_sided, two_sided):
    wanted = k + k % 2
    for separation, expected in (("one-sided", one_sided), ("two-sided", two_sided)):
        bound = separation_bound(k, 2 * k, separation, min_row_distance=wanted)
        assert bound.value == expected
        found = check_separation_bound(k, 2 * k, separation, bound, min_row_distance=wanted)
        assert found == []
