from itertools import combinations

import numpy as np
import pytest

from ecoc.codes import Codebook
from ecoc.constructions.ternary import block_designs, construct_ternary, tree_columns


def covers(matrix):
    pairs = combinations(range(len(matrix)), 2)
    return [int((matrix[p] * matrix[q] == -1).sum()) for p, q in pairs]


@pytest.mark.parametrize(
    ("k", "size"), [(7, 3), (9, 3), (13, 4), (11, 5), (21, 5), (25, 5), (6, 4)]
)
def test_blocks_have_every_pair_equally_often(k, size):
    designs = [blocks for blocks in block_designs(k, size) if len(blocks[0]) == size]
    assert designs
    for blocks in designs:
        counts = {
            sum(p in block and q in block for block in blocks) for p, q in combinations(range(k), 2)
        }
        assert len(counts) == 1
        assert all(len(set(block)) == size and max(block) < k for block in blocks)


@pytest.mark.parametrize("k", [2, 3, 7, 16])
def test_trees_set_every_pair_apart_once(k):
    assert set(covers(tree_columns(k))) == {1}
    assert tree_columns(k).shape == (k, k - 1)


@pytest.mark.parametrize(
    ("k", "n", "w"), [(6, 15, 3), (10, 10, 9), (7, 21, 3), (9, 40, 5), (5, 4, 5)]
)
def test_what_is_constructed_is_a_codebook_within_the_limits(k, n, w):
    methods = set()
    for code in construct_ternary(k, n, w):
        Codebook(code.matrix)
        assert code.matrix.shape[0] == k
        assert code.matrix.shape[1] <= n
        assert (code.matrix != 0).sum(axis=0).max() <= w
        assert min(covers(code.matrix)) >= 1
        methods.add(code.method)
    assert methods


def test_rows_of_conference_matrices_agree_as_often_as_not():
    (code,) = (c for c in construct_ternary(14, 14, 13) if c.method == "conference")
    assert set(covers(code.matrix)) == {6}
    assert np.array_equal(code.matrix @ code.matrix.T, 13 * np.eye(14))


def test_blocks_multiply_distances():
    lengths = [c.matrix.shape[1] for c in construct_ternary(7, 21, 3) if c.method == "blocks"]
    best = max(min(covers(c.matrix)) for c in construct_ternary(7, 21, 3) if c.method == "blocks")
    assert (lengths, best) == ([14, 21], 2)
