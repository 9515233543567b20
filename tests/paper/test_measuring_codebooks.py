import pytest

from ecoc.errors import InvalidInputError
from ecoc.paper.measuring import CODEBOOK_TITLES, PAPER_CODEBOOKS, paper_codebook


@pytest.mark.parametrize("name", PAPER_CODEBOOKS)
def test_every_codebook_of_the_tables(name):
    codebook = paper_codebook(name, 6, 12)
    assert codebook.n_classes == 6
    assert codebook.n_columns == {"one-vs-all": 6, "one-vs-one": 15}.get(name, 12)
    assert name in CODEBOOK_TITLES


def test_designed_code_is_optimal_and_separated():
    codebook = paper_codebook("ip3", 10, 20)
    assert codebook.min_row_distance == 10
    assert codebook.min_column_distance() >= 3


def test_sparse_code_of_table_3_needs_more_candidates():
    codebook = paper_codebook("sparse", 10, 10)
    assert codebook.provenance.parameters["n_candidates"] > 10_000


def test_unknown_codebook():
    with pytest.raises(InvalidInputError, match="Did you mean 'dense'"):
        paper_codebook("dens", 6, 12)
