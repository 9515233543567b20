from itertools import combinations

import joblib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecoc.codes.columns import Dichotomies
from ecoc.errors import InvalidInputError
from ecoc.graphs import ConflictGraph, Graph, clique_cover, verify_cover


@st.composite
def graphs(draw):
    n = draw(st.integers(0, 14))
    pairs = list(combinations(range(n), 2))
    return Graph.from_edges(n, draw(st.lists(st.sampled_from(pairs))) if pairs else [])


@given(graphs(), st.integers(1, 5), st.booleans())
def test_the_merged_cover_is_a_cover(graph, n_parts, reduce):
    cover = clique_cover(graph, "partitioned", n_parts=n_parts, reduce=reduce)
    assert verify_cover(graph, cover).verified


@pytest.mark.parametrize("n_parts", [2, 4, 8])
def test_parts_do_not_multiply_the_cliques(n_parts):
    graph = ConflictGraph(12, 4, "one-sided")
    cover = clique_cover(graph, "partitioned", n_parts=n_parts)
    assert cover.n_cliques <= 6600
    assert verify_cover(graph, cover).verified


def test_processes_give_the_same_cover():
    graph = ConflictGraph(9, 3, columns=Dichotomies(9, 0.4))
    alone = clique_cover(graph, "partitioned", n_parts=3)
    assert clique_cover(graph, "partitioned", n_parts=3, n_jobs=2) == alone


@pytest.mark.filterwarnings("ignore")  # what a cluster says while it starts and stops
def test_a_dask_cluster_gives_the_same_cover():
    distributed = pytest.importorskip("distributed")
    graph = ConflictGraph(9, 3)
    with (
        distributed.LocalCluster(
            n_workers=1,
            threads_per_worker=1,
            processes=False,
            protocol="tcp",
            host="127.0.0.1",
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster),
        joblib.parallel_config(backend="dask"),
    ):
        cover = clique_cover(graph, "partitioned", n_parts=3, n_jobs=-1)
    assert cover == clique_cover(graph, "partitioned", n_parts=3)


def test_parts_are_for_this_method_only():
    with pytest.raises(InvalidInputError, match="partitioned"):
        clique_cover(ConflictGraph(5, 2), "greedy", n_parts=2)
    with pytest.raises(InvalidInputError, match="n_parts"):
        clique_cover(ConflictGraph(5, 2), "partitioned", n_parts=0)
