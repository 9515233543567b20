from itertools import combinations
from unittest import mock

import networkx as nx
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ecoc.codes.columns import Dichotomies
from ecoc.graphs import CliqueCover, ConflictGraph, Graph, clique_cover, verify_cover
from ecoc.graphs.verify import Containment, NonClique


@pytest.fixture(scope="module", autouse=True, params=["members", "bits"])
def both_ways(request):
    """Members one by one or sets of bits: the size of the cliques decides, but not here."""
    answer = request.param == "bits"
    with mock.patch("ecoc.graphs.verify._prefers_bits", return_value=answer):
        yield


def by_hand(cliques, n_vertices):
    return CliqueCover.from_cliques(cliques, n_vertices=n_vertices, method="by hand")


def is_cover_one_by_one(graph, cliques):
    edges = {tuple(edge) for edge in graph.edges().tolist()}
    inside = [set(combinations(clique, 2)) for clique in cliques]
    covers = set().union(*inside) == edges
    return covers and not any(
        set(a) <= set(b) for i, a in enumerate(cliques) for j, b in enumerate(cliques) if i != j
    )


@st.composite
def graphs_and_cliques(draw):
    n = draw(st.integers(2, 6))
    pairs = st.sampled_from(list(combinations(range(n), 2)))
    sets = st.sets(st.integers(0, n - 1), min_size=2).map(sorted)
    cliques = draw(st.lists(sets, max_size=5))
    edges = {pair for clique in cliques for pair in combinations(clique, 2)}
    # Often all is well; sometimes an edge is missing or too many.
    edges ^= draw(st.sets(pairs, max_size=1))
    return Graph.from_edges(n, sorted(edges)), cliques


@given(graphs_and_cliques())
def test_the_verdict_is_that_of_the_definition(case):
    graph, cliques = case
    report = verify_cover(graph, by_hand(cliques, graph.n_vertices))
    assert report.verified == is_cover_one_by_one(graph, cliques)


@pytest.fixture(
    scope="module",
    params=[
        ConflictGraph(8, 3, "one-sided"),
        ConflictGraph(8, 4),
        ConflictGraph(7, 4, "literal", n_columns=10),
        ConflictGraph(9, 3, columns=Dichotomies(9, 0.4)),
        ConflictGraph(
            40, 3, columns=np.unique([1 << i | 1 << j for i in range(9) for j in range(9)])
        ),
        Graph.from_networkx(nx.gnp_random_graph(40, 0.5, seed=5)),
    ],
    ids=repr,
)
def covered(request):
    graph = request.param
    cover = clique_cover(graph, "greedy")
    assert verify_cover(graph, cover).verified
    return graph, [clique.tolist() for clique in cover]


@given(data=st.data())
def test_a_dropped_clique_is_noticed(covered, data):
    graph, cliques = covered
    # In a reduced cover every clique is needed.
    c = data.draw(st.integers(0, len(cliques) - 1))
    report = verify_cover(graph, by_hand(cliques[:c] + cliques[c + 1 :], graph.n_vertices))
    assert not report.verified
    assert set(report.uncovered_edge) <= set(cliques[c])
    assert "is in no clique" in str(report)


@given(data=st.data())
def test_a_wrong_member_is_noticed(covered, data):
    graph, cliques = covered
    c = data.draw(st.integers(0, len(cliques) - 1))
    v = data.draw(st.integers(0, graph.n_vertices - 1))
    # The cliques are maximal, so no vertex can be added to one.
    assume(v not in cliques[c])
    wrong = [*cliques[:c], sorted([*cliques[c], v]), *cliques[c + 1 :]]
    report = verify_cover(graph, by_hand(wrong, graph.n_vertices))
    assert not report.verified
    assert isinstance(report.non_clique, NonClique)
    assert report.non_clique.clique == c
    assert v in report.non_clique[1:]
    assert "which no edge joins" in str(report)


@given(data=st.data())
def test_a_contained_clique_is_noticed(covered, data):
    graph, cliques = covered
    outer = data.draw(st.integers(0, len(cliques) - 1))
    members = st.sampled_from(cliques[outer])
    inner = sorted(data.draw(st.sets(members, min_size=2)))
    place = data.draw(st.integers(0, len(cliques)))
    report = verify_cover(
        graph, by_hand([*cliques[:place], inner, *cliques[place:]], graph.n_vertices)
    )
    assert not report.verified
    assert isinstance(report.contained, Containment)
    assert "is inside" in str(report)


@pytest.mark.parametrize(
    ("indptr", "members", "n_vertices", "message"),
    [
        ([0, 2], [0, 1], 4, "for 4 vertices"),
        ([0, 1], [0], 3, "fewer than two"),
        ([0, 2], [0, 3], 3, "no vertex"),
        ([0, 2], [-1, 0], 3, "no vertex"),
        ([0, 2, 4], [0, 1, 2, 0], 3, "clique 1 are not in increasing"),
        ([0, 2], [1, 1], 3, "not in increasing"),
        ([0, 3], [0, 1], 3, "indptr"),
        ([1, 2], [0, 1], 3, "indptr"),
    ],
)
def test_malformed_covers_are_noticed(indptr, members, n_vertices, message):
    graph = Graph.from_edges(3, [(0, 1)])
    cover = CliqueCover(np.array(indptr), np.array(members), n_vertices, "by hand")
    report = verify_cover(graph, cover)
    assert not report.verified
    assert message in str(report)


def test_a_sample_of_vertices_sees_all_their_edges():
    graph = ConflictGraph(12, 4)
    cover = clique_cover(graph)
    report = verify_cover(graph, cover, n_samples=100, random_state=1)
    assert report.verified
    assert report.method == "sampled"
    assert report.n_edges < graph.n_edges
    assert verify_cover(graph, cover, n_samples=10**9).method == "every edge"


def test_a_sample_can_notice_a_missing_clique():
    graph = Graph.from_networkx(nx.cycle_graph(20))
    cover = by_hand([(v, v + 1) for v in range(19)], 20)
    report = verify_cover(graph, cover, n_samples=19, random_state=0)
    assert sorted(report.uncovered_edge) == [0, 19]


def test_an_empty_cover_is_right_for_a_graph_without_edges():
    graph = Graph.from_edges(3, [])
    assert verify_cover(graph, by_hand([], 3)).verified
    assert verify_cover(ConflictGraph(5, 1), by_hand([], 15)).verified
    assert not verify_cover(ConflictGraph(5, 2), by_hand([], 15)).verified
