import pickle
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecoc.codes.columns import Dichotomies
from ecoc.errors import InvalidInputError, TooLargeError
from ecoc.graphs import SEPARATIONS, ConflictGraph, conflicting_weights

TABLE_1 = [
    (10, 3, 11_475),
    (11, 3, 28_105),
    (12, 4, 236_313),
    (13, 4, 610_006),
    (14, 4, 1_543_815),
    (15, 5, 12_040_770),
    (16, 5, 31_783_020),
    (17, 5, 82_441_772),
    (18, 6, 616_094_535),
]


@st.composite
def conflict_graphs(draw):
    k = draw(st.integers(2, 8))
    rho = draw(st.integers(1, k))
    separation = draw(st.sampled_from(SEPARATIONS))
    n_columns = draw(st.integers(1, 2 * k)) if separation == "literal" else None
    columns = draw(
        st.one_of(
            st.none(),
            st.builds(Dichotomies, st.just(k), st.sampled_from([0.0, 0.2, 0.5, 1.0])),
            st.lists(st.integers(1, 2 ** (k - 1) - 1), unique=True).map(sorted),
        )
    )
    return ConflictGraph(k, rho, separation, n_columns=n_columns, columns=columns)


def edges_one_by_one(graph):
    upper = {
        "two-sided": graph.n_classes - graph.min_column_distance,
        "one-sided": graph.n_classes,
        "literal": (graph.n_columns or 0) - graph.min_column_distance,
    }[graph.separation]
    pairs = combinations(enumerate(graph.to_columns().tolist()), 2)
    return [
        [v, w]
        for (v, a), (w, b) in pairs
        if (a ^ b).bit_count() < graph.min_column_distance or (a ^ b).bit_count() > upper
    ]


@pytest.mark.parametrize(("k", "rho", "n_edges"), TABLE_1)
def test_the_edges_of_table_1_are_those_of_the_one_sided_rule(k, rho, n_edges):
    assert ConflictGraph(k, rho, "one-sided").n_edges == n_edges


def test_the_two_sided_rule_has_more_edges():
    assert ConflictGraph(10, 3).n_edges == 14_025


@given(conflict_graphs())
def test_every_view_of_the_graph_agrees_with_pairs_tried_one_by_one(graph):
    expected = edges_one_by_one(graph)
    assert graph.edges().tolist() == expected
    assert graph.n_edges == len(expected)
    indptr, indices = graph.adjacency()
    assert np.array_equal(np.diff(indptr), graph.degrees())
    listed = {(v, int(w)) for v in range(graph.n_vertices) for w in graph.neighbours(v)}
    assert listed == {(v, w) for v, w in expected} | {(w, v) for v, w in expected}
    assert indices.tolist() == [w for _, w in sorted(listed)]
    columns = graph.to_columns()
    assert np.count_nonzero(graph.conflicts(columns[:, None], columns)) == 2 * len(expected)
    assert graph.differences().tolist() == [
        d for d in range(1, 2 ** (graph.n_classes - 1)) if d.bit_count() in graph.weights
    ]


def test_reaching_neighbours_by_differences_gives_what_trying_all_gives():
    whole = ConflictGraph(11, 3, "one-sided")
    assert whole._by_differences
    columns = whole.to_columns()
    tried = np.argwhere(np.triu(whole.conflicts(columns[:, None], columns)))
    assert np.array_equal(whole.edges(), tried)


def test_columns_of_many_classes_need_no_list_of_all_columns():
    columns = np.array([1, 3, 2**40, 2**40 + 1, 2**41 - 1])
    graph = ConflictGraph(42, 3, columns=columns)
    assert graph.edges().tolist() == edges_one_by_one(graph)
    assert graph.n_edges == len(edges_one_by_one(graph))


def test_counting_edges_takes_no_memory():
    assert ConflictGraph(63, 20).n_edges > 2**62
    assert ConflictGraph(63, 3).differences().size == 62 + 62 * 61 // 2 + 62 + 1


def test_small_and_extreme_cases():
    assert ConflictGraph(2, 1).n_edges == 0
    assert ConflictGraph(2, 2).n_vertices == 1
    assert ConflictGraph(2, 2).n_edges == 0
    assert ConflictGraph(3, 1).n_edges == 0
    assert ConflictGraph(3, 2).n_edges == 3
    assert ConflictGraph(9, 1, "one-sided").weights == ()
    assert ConflictGraph(9, 9, "one-sided").n_edges == 255 * 254 // 2
    assert ConflictGraph(9, 5).n_edges == 255 * 254 // 2


def test_too_many_edges_are_refused_with_their_size():
    with pytest.raises(TooLargeError, match=r"616,094,535 edges needs about 4\.6 GiB"):
        ConflictGraph(18, 6, "one-sided").edges()
    with pytest.raises(TooLargeError, match="edge_blocks"):
        ConflictGraph(18, 6, "one-sided").adjacency()
    with pytest.raises(TooLargeError, match="max_bytes"):
        ConflictGraph(10, 3).edges(max_bytes=1000)
    with pytest.raises(TooLargeError):
        ConflictGraph(50, 3).neighbours(0)


def test_edge_blocks_are_bounded():
    blocks = list(ConflictGraph(14, 4, "one-sided").edge_blocks())
    assert len(blocks) > 1
    assert sum(len(block) for block in blocks) == 1_543_815


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_classes": 1, "min_column_distance": 1}, "n_classes"),
        ({"n_classes": 5, "min_column_distance": 0}, "min_column_distance"),
        ({"n_classes": 5, "min_column_distance": 6}, "at most 5"),
        ({"n_classes": 5, "min_column_distance": 2, "separation": "one-side"}, "Did you mean"),
        ({"n_classes": 5, "min_column_distance": 2, "separation": "literal"}, "n_columns"),
        ({"n_classes": 5, "min_column_distance": 2, "columns": [2, 1]}, "increasing"),
        ({"n_classes": 5, "min_column_distance": 2, "columns": [1, 16]}, "from 1 to 15"),
        ({"n_classes": 5, "min_column_distance": 2, "columns": [1.5]}, "integers"),
        ({"n_classes": 5, "min_column_distance": 2, "columns": Dichotomies(6)}, "5 classes"),
    ],
)
def test_wrong_input_is_refused(arguments, message):
    with pytest.raises(InvalidInputError, match=message):
        ConflictGraph(**arguments)


def test_the_literal_rule_is_one_of_the_others_at_its_ends():
    assert conflicting_weights(10, 3, "literal", 20) == conflicting_weights(10, 3, "one-sided")
    assert conflicting_weights(10, 3, "literal", 10) == conflicting_weights(10, 3, "two-sided")


def test_a_graph_is_a_value():
    graph = ConflictGraph(8, 3, columns=Dichotomies(8, 0.25))
    graph.edges()
    same = pickle.loads(pickle.dumps(graph))
    assert same == graph
    assert hash(same) == hash(graph)
    assert len(pickle.dumps(graph)) < 500
    assert graph != ConflictGraph(8, 3)
    assert graph != ConflictGraph(8, 2, columns=Dichotomies(8, 0.25))
    assert ConflictGraph(8, 3, columns=Dichotomies(8)) == ConflictGraph(8, 3)
    assert graph == ConflictGraph(8, 3, columns=graph.to_columns())
    assert repr(graph) == f"ConflictGraph(k=8, rho=3, two-sided, {graph.n_vertices} columns)"


def test_a_subgraph_is_the_graph_of_its_columns():
    graph = ConflictGraph(7, 3)
    vertices = np.arange(3, 60, 4)
    inside = {(v, w) for v, w in graph.edges().tolist() if v in vertices and w in vertices}
    found = vertices[graph.subgraph(vertices).edges()]
    assert {(v, w) for v, w in found.tolist()} == inside


def test_networkx_gets_the_same_graph():
    graph = ConflictGraph(6, 3)
    other = graph.to_networkx()
    assert sorted(map(sorted, other.edges())) == graph.edges().tolist()
    assert other.nodes[4]["column"] == 5
