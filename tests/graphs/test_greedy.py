from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecoc.errors import TooLargeError
from ecoc.graphs import ConflictGraph, Graph, clique_cover, verify_cover
from ecoc.graphs.greedy import find_arc, grow_cliques, index_arcs, reduce_cliques


@st.composite
def graphs(draw):
    n = draw(st.integers(0, 14))
    pairs = list(combinations(range(n), 2))
    return Graph.from_edges(n, draw(st.lists(st.sampled_from(pairs))) if pairs else [])


@given(graphs(), st.booleans())
def test_random_graphs_are_covered(graph, reduce):
    cover = clique_cover(graph, "greedy", reduce=reduce)
    assert verify_cover(graph, cover).verified
    covered = {pair for clique in cover for pair in combinations(clique.tolist(), 2)}
    assert covered == {tuple(edge) for edge in graph.edges().tolist()}


@given(graphs())
def test_reduced_cliques_are_maximal_and_all_needed(graph):
    cover = clique_cover(graph, "greedy")
    maximal = {tuple(sorted(clique)) for clique in nx.find_cliques(graph.to_networkx())}
    cliques = [tuple(clique.tolist()) for clique in cover]
    assert set(cliques) <= maximal
    for i in range(len(cliques)):
        rest = {e for c in cliques[:i] + cliques[i + 1 :] for e in combinations(c, 2)}
        assert not set(combinations(cliques[i], 2)) <= rest


@pytest.mark.parametrize(
    ("k", "rho", "plain", "reduced"),
    [(10, 3, 600, 520), (11, 3, 1300, 1060), (12, 4, 7400, 6600), (13, 4, 16500, 14800)],
)
def test_the_covers_of_conflict_graphs_are_small(k, rho, plain, reduced):
    graph = ConflictGraph(k, rho, "one-sided")
    for reduce, limit in ((False, plain), (True, reduced)):
        cover = clique_cover(graph, "greedy", reduce=reduce)
        assert cover.n_cliques <= limit
        assert verify_cover(graph, cover).verified


def test_a_graph_of_one_clique_has_one_clique():
    graph = Graph.from_networkx(nx.complete_graph(50))
    assert clique_cover(graph, "greedy").sizes.tolist() == [50]


def test_large_sparse_graphs_need_no_matrix():
    graph = Graph.from_networkx(nx.cycle_graph(100_000))
    assert index_arcs(graph.adjacency()).bits is None
    cover = clique_cover(graph, "greedy")
    assert cover.n_cliques == 100_000
    assert verify_cover(graph, cover).verified


def test_both_ways_to_find_arcs_give_the_same_cover():
    graph = ConflictGraph(9, 3)
    covers = []
    for max_matrix_bytes in (0, 1 << 20):
        arcs = index_arcs(graph.adjacency(), max_matrix_bytes)
        grown = grow_cliques(arcs, np.ones(arcs.indices.size, dtype=np.bool_), True)
        covers.append(reduce_cliques(arcs, grown))
    assert np.array_equal(covers[0][0], covers[1][0])
    assert np.array_equal(covers[0][1], covers[1][1])


@pytest.mark.parametrize("max_matrix_bytes", [0, 1 << 20])
def test_arcs_are_where_the_lists_say(max_matrix_bytes):
    graph = Graph.from_networkx(nx.gnp_random_graph(150, 0.4, seed=3))
    arcs = index_arcs(graph.adjacency(), max_matrix_bytes)
    for v in range(0, 150, 7):
        place = {int(w): graph.indptr[v] + i for i, w in enumerate(graph.neighbours(v))}
        assert [find_arc(arcs, v, w) for w in range(150)] == [place.get(w, -1) for w in range(150)]


def test_too_many_edges_are_refused():
    with pytest.raises(TooLargeError, match="structured"):
        clique_cover(ConflictGraph(18, 6), "greedy")


def test_the_same_graph_gives_the_same_cover():
    graph = ConflictGraph(9, 3)
    assert clique_cover(graph, "greedy") == clique_cover(graph, "greedy")
