"""Codebooks beside the atlas."""

import numpy as np
import pytest

from ecoc.atlas import get
from ecoc.atlas.cells import AtlasCell
from ecoc.atlas.submission import Submission, compare_with_atlas
from ecoc.codes import Codebook, balanced_random, dense_random, sparse_random
from ecoc.errors import EcocError, InvalidInputError


def test_a_codebook_of_the_atlas_is_as_good_as_the_atlas():
    for q in (2, 3):
        submission = compare_with_atlas(get(10, 20, q).codebook)
        assert submission.verdict == "equal"


def test_distances_are_counted_and_not_read():
    for seed in range(5):
        codebook = dense_random(9, 14, random_state=seed)
        submission = compare_with_atlas(codebook)
        assert submission.distance == codebook.min_row_distance
        assert submission.verdict == "worse"
    codebook = balanced_random(9, 14, n_symbols=4, random_state=0)
    assert compare_with_atlas(codebook).distance == codebook.min_row_distance


def test_separation_counts_where_distances_are_equal():
    cell = get(10, 20)
    assert Submission(cell, cell.distance + 1, 0).verdict == "better"
    assert Submission(cell, cell.distance, cell.separation + 1).verdict == "better separated"
    assert Submission(cell, cell.distance, cell.separation - 1).verdict == "worse"
    assert Submission(cell, cell.distance - 1, 99).verdict == "worse"
    assert isinstance(cell, AtlasCell)


def test_what_the_atlas_cannot_hold_is_refused():
    with pytest.raises(InvalidInputError, match="zeros"):
        compare_with_atlas(sparse_random(8, 16, random_state=0))
    rows = get(10, 20).codebook.matrix
    twice = Codebook(np.hstack((rows[:, :1], rows[:, :19])), allow_repeated_columns=True)
    with pytest.raises(InvalidInputError, match="repeats columns"):
        compare_with_atlas(twice)
    with pytest.raises(EcocError, match="no cell"):
        compare_with_atlas(dense_random(300, 20, n_candidates=20, random_state=0))
