import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ecoc.codes.columns import Dichotomies
from ecoc.errors import InvalidInputError, TooLargeError
from ecoc.graphs import SEPARATIONS, ConflictGraph, Graph, clique_cover, verify_cover
from ecoc.graphs.structured import best_shapes

ONE_SIDED = [
    (10, 3, 464),
    (11, 3, 940),
    (12, 4, 3456),
    (13, 4, 7680),
    (14, 4, 17792),
    (15, 5, 9856),
    (16, 5, 19712),
    (17, 5, 39424),
]
TWO_SIDED = [
    (10, 3, 473),
    (11, 3, 960),
    (12, 4, 3840),
    (13, 4, 10112),
    (14, 4, 21504),
    (15, 5, 10240),
    (16, 5, 23680),
    (17, 5, 39424),
]


@pytest.mark.parametrize(
    ("separation", "k", "rho", "limit"),
    [("one-sided", *row) for row in ONE_SIDED] + [("two-sided", *row) for row in TWO_SIDED],
)
def test_the_covers_of_table_1_are_small_and_cover_every_edge(separation, k, rho, limit):
    graph = ConflictGraph(k, rho, separation)
    cover = clique_cover(graph)
    assert cover.n_cliques <= limit
    # Beyond 15 classes benchmarks/covers.py looks at every edge.
    n_samples = None if k <= 15 else 300
    assert verify_cover(graph, cover, n_samples=n_samples, random_state=k).verified


def test_eighteen_classes_take_few_cliques():
    # benchmarks/covers.py makes the cliques and looks at every edge.
    shapes = best_shapes(18, 6, "one-sided")
    assert sum(centres.size for centres, _ in shapes) <= 195_840


def limit_of(graph):
    k, rho = graph.n_classes, graph.min_column_distance
    if graph.separation == "two-sided" and rho == 2 and k > 3:
        # No three columns conflict with each other, so every edge is a clique of its own.
        return graph.n_edges
    return 2 ** (k - 1) if rho % 2 else max(1, k + 1 - rho) * 2 ** (k - 2)


@pytest.mark.parametrize("separation", ["one-sided", "two-sided"])
@pytest.mark.parametrize("k", range(2, 13))
def test_every_separation_has_a_cover_no_larger_than_the_closed_form(k, separation):
    for rho in range(1, k + 1):
        graph = ConflictGraph(k, rho, separation)
        cover = clique_cover(graph)
        assert verify_cover(graph, cover).verified
        assert cover.n_cliques <= limit_of(graph)


# benchmarks/covers.py --all looks at every edge of these.
@pytest.mark.parametrize("separation", ["one-sided", "two-sided"])
@pytest.mark.parametrize("k", [13, 14])
def test_larger_covers_are_no_larger_than_the_closed_form(k, separation):
    for rho in range(1, k + 1):
        graph = ConflictGraph(k, rho, separation)
        cover = clique_cover(graph)
        assert cover.n_cliques <= limit_of(graph)
        assert verify_cover(graph, cover, n_samples=20, random_state=rho).verified


@pytest.mark.parametrize("separation", ["one-sided", "two-sided"])
@pytest.mark.parametrize("k", [16, 17, 18])
def test_the_largest_covers_are_small_and_fit_in_memory(k, separation):
    for rho in range(3, k if separation == "one-sided" else k // 2 + 1):
        shapes = best_shapes(k, rho, separation)
        limit = limit_of(ConflictGraph(k, rho, separation))
        assert sum(centres.size for centres, _ in shapes) <= limit
        assert 8 * sum(centres.size * offsets.size for centres, offsets in shapes) < 1 << 30


def test_a_large_separation_takes_few_large_cliques():
    graph = ConflictGraph(17, 8, "one-sided")
    cover = clique_cover(graph)
    assert cover.n_cliques <= 30_464
    assert verify_cover(graph, cover, n_samples=20, random_state=0).verified


@given(data=st.data())
def test_any_rule_on_any_columns_is_covered(data):
    k = data.draw(st.integers(2, 8))
    rho = data.draw(st.integers(1, k))
    separation = data.draw(st.sampled_from(SEPARATIONS))
    n_columns = data.draw(st.integers(1, 2 * k)) if separation == "literal" else None
    columns = data.draw(
        st.one_of(
            st.builds(
                Dichotomies,
                st.just(k),
                st.sampled_from([0.0, 0.2, 0.5, 1.0]),
                st.lists(st.integers(1, 20), min_size=k, max_size=k),
            ),
            st.lists(st.integers(1, 2 ** (k - 1) - 1), unique=True).map(sorted),
        )
    )
    graph = ConflictGraph(k, rho, separation, n_columns=n_columns, columns=columns)
    assert verify_cover(graph, clique_cover(graph)).verified


def test_balanced_columns_make_the_cover_smaller():
    graph = ConflictGraph(12, 4, columns=Dichotomies(12, 0.2))
    cover = clique_cover(graph)
    assert cover.n_cliques <= clique_cover(ConflictGraph(12, 4)).n_cliques
    assert verify_cover(graph, cover).verified


def test_all_columns_in_conflict_are_one_clique():
    assert clique_cover(ConflictGraph(9, 9, "one-sided")).sizes.tolist() == [255]
    assert clique_cover(ConflictGraph(9, 5)).sizes.tolist() == [255]
    assert clique_cover(ConflictGraph(2, 2)).n_cliques == 0
    assert clique_cover(ConflictGraph(9, 1)).n_cliques == 0


@pytest.mark.parametrize("n_columns", [9, 10, 11, 12, 20])
def test_the_literal_rule_is_covered_between_its_ends(n_columns):
    graph = ConflictGraph(10, 4, "literal", n_columns=n_columns)
    cover = clique_cover(graph)
    assert cover.method == ("greedy" if n_columns < 10 else "structured")
    assert verify_cover(graph, cover).verified


def test_what_does_not_fit_is_refused():
    with pytest.raises(TooLargeError, match="greedy"):
        clique_cover(ConflictGraph(40, 5, columns=np.array([1, 2, 3])))
    with pytest.raises(TooLargeError, match="max_bytes"):
        clique_cover(ConflictGraph(12, 5), max_bytes=1000)


def test_other_graphs_are_referred_to_the_greedy_method():
    with pytest.raises(InvalidInputError, match="greedy"):
        clique_cover(Graph.from_edges(3, [(0, 1)]))
    with pytest.raises(InvalidInputError, match="Did you mean 'greedy'"):
        clique_cover(ConflictGraph(5, 2), "gredy")
