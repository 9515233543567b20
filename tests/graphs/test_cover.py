import numpy as np
import pytest

from ecoc.graphs import CliqueCover


@pytest.fixture
def cover():
    return CliqueCover.from_cliques([[0, 1, 2], [2, 3]], n_vertices=4, method="by hand")


def test_a_cover_is_a_sequence_of_cliques(cover):
    assert len(cover) == 2
    assert cover[-1].tolist() == [2, 3]
    assert [clique.tolist() for clique in cover] == [[0, 1, 2], [2, 3]]
    with pytest.raises(IndexError, match="2 cliques"):
        cover[2]


def test_a_cover_is_a_value(cover):
    same = CliqueCover(np.array([0, 3, 5]), np.array([0, 1, 2, 2, 3]), 4, "elsewhere")
    assert same == cover
    assert hash(same) == hash(cover)
    assert same != CliqueCover.from_cliques([], n_vertices=4, method="by hand")
    assert cover != 3
    with pytest.raises(ValueError, match="read-only"):
        cover.members[0] = 1


def test_types_are_compact(cover):
    assert cover.indptr.dtype == np.int64
    assert cover.members.dtype == np.int32
    assert repr(cover) == "CliqueCover(2 cliques of 4 vertices, by hand)"
