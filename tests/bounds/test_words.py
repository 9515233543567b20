"""Sizes of codes against the table of A(n, d) and against cliques."""

from math import comb

import networkx as nx
import pytest

from ecoc.bounds.checking.words import Family, check_words
from ecoc.bounds.words import (
    ELEMENTARY,
    Words,
    alone,
    delsarte,
    greedy_size,
    grey_rankin,
    hamming,
    johnson,
    known,
    krawtchouk_table,
    plotkin,
    singleton,
)

ENOUGH = 1 << 40


@pytest.mark.parametrize(
    ("n", "d", "size"),
    [
        (9, 4, 21),
        (13, 4, 256),
        (14, 6, 64),
        (17, 4, 3276),
        (18, 6, 682),
        (24, 8, 4096),
        (28, 8, 32206),
    ],
)
def test_delsartes_values(n, d, size):
    assert delsarte(Words(n, d, n), ENOUGH)["size"] == size


def test_elementary_values():
    assert plotkin(Words(20, 10, 20), ENOUGH)["size"] == 40
    assert plotkin(Words(11, 6, 11), ENOUGH)["size"] == 12
    assert plotkin(Words(10, 9, 10), ENOUGH)["size"] == 2
    assert hamming(Words(23, 7, 23), ENOUGH)["size"] == 4096
    assert hamming(Words(24, 8, 24), ENOUGH)["size"] == 4096
    assert singleton(Words(5, 4, 5), ENOUGH)["size"] == 4
    assert alone(Words(5, 4, 3), ENOUGH)["size"] == 1
    assert grey_rankin(Words(15, 6, 10), ENOUGH) is None
    assert grey_rankin(Words(27, 12, 16), ENOUGH)["size"] == 64
    assert johnson(Words(13, 6, 13), ENOUGH)["size"] == 57


@pytest.mark.parametrize("rule", ["two-sided", "one-sided"])
@pytest.mark.parametrize(("k", "rho"), [(5, 2), (6, 2), (6, 3), (7, 3), (8, 4)])
def test_columns_that_exist_are_never_excluded(k, rho, rule):
    high = k - rho if rule == "two-sided" else k - 1
    graph = nx.Graph()
    words = range(1 << (k - 1))
    graph.add_nodes_from(words)
    graph.add_edges_from(
        (a, b) for a in words for b in range(a) if rho <= (a ^ b).bit_count() <= high
    )
    # Translations make every word equal, so that one word may be taken for granted.
    clique, _ = nx.max_weight_clique(graph.subgraph(graph[0]), weight=None)
    for argument in (*ELEMENTARY, johnson, delsarte, known):
        proof = argument(Words(k - 1, rho, high), ENOUGH)
        if proof is not None:
            assert proof["size"] >= len(clique) + 1
            check_words(proof, Family(k - 1, rho, high))
    assert greedy_size(Words(k - 1, rho, high)) <= len(clique) + 1


@pytest.mark.parametrize("n", [1, 2, 7, 12])
def test_krawtchouk_polynomials_by_their_definition(n):
    table = krawtchouk_table(n)
    for i in range(n + 1):
        for j in range(n + 1):
            direct = sum((-1) ** m * comb(j, m) * comb(n - j, i - m) for m in range(i + 1))
            assert table[i][j] == direct


def test_long_words_are_left_to_simple_arguments():
    words = Words(5000, 2400, 5000)
    assert hamming(words, ENOUGH) is johnson(words, ENOUGH) is delsarte(words, ENOUGH) is None
    assert plotkin(words, ENOUGH) is None
    assert plotkin(Words(5000, 2501, 5000), ENOUGH)["size"] == 1668
