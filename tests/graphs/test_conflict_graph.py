import networkx as nx
import numpy as np
import pytest

from ecoc.errors import InvalidInputError, TooLargeError
from ecoc.graphs import Graph


def test_a_graph_from_edges_lists_each_from_both_ends():
    graph = Graph.from_edges(5, [(3, 1), (1, 3), (0, 4)])
    assert graph.n_vertices == 5
    assert graph.n_edges == 2
    assert graph.degrees().tolist() == [1, 1, 0, 1, 1]
    assert graph.edges().tolist() == [[0, 4], [1, 3]]


def test_there_and_back_through_networkx():
    original = nx.gnp_random_graph(30, 0.3, seed=1)
    graph = Graph.from_networkx(original)
    assert nx.utils.graphs_equal(graph.to_networkx(), original)
    named = nx.relabel_nodes(original, lambda v: f"node {v}")
    assert Graph.from_networkx(named).edges().tolist() == graph.edges().tolist()


def test_a_graph_without_edges_or_vertices():
    assert Graph.from_edges(0, []).n_edges == 0
    assert Graph.from_edges(3, []).edges().shape == (0, 2)


def test_a_subgraph_is_induced():
    original = nx.gnp_random_graph(30, 0.3, seed=2)
    vertices = np.arange(0, 30, 3)
    found = Graph.from_networkx(original).subgraph(vertices)
    expected = original.subgraph(vertices.tolist())
    assert {tuple(e) for e in vertices[found.edges()].tolist()} == {
        tuple(sorted(e)) for e in expected.edges()
    }


@pytest.mark.parametrize(
    ("indptr", "indices", "message"),
    [
        ([0, 1], [0], "both of its two ends"),
        ([0, 1, 1], [1], "both of its two ends"),
        ([0, 1, 2], [1, 5], "from 0 to 1"),
        ([1, 2], [0], "increase from 0"),
        ([0, 2, 3, 4], [2, 1, 0, 0], "increasing order"),
        ([0, 1, 2], [1], "entries"),
    ],
)
def test_wrong_arrays_are_refused(indptr, indices, message):
    with pytest.raises(InvalidInputError, match=message):
        Graph(np.array(indptr), np.array(indices))


@pytest.mark.parametrize(
    ("edges", "message"), [([(0, 3)], "from 0 to 2"), ([(1, 1)], "two different")]
)
def test_wrong_edges_are_refused(edges, message):
    with pytest.raises(InvalidInputError, match=message):
        Graph.from_edges(3, edges)


def test_directed_graphs_are_refused():
    with pytest.raises(InvalidInputError, match="undirected"):
        Graph.from_networkx(nx.DiGraph([(0, 1)]))


def test_a_large_list_of_edges_is_refused():
    with pytest.raises(TooLargeError):
        Graph.from_edges(3, [(0, 1)]).edges(max_bytes=1)
