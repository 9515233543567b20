"""Conflicts and cliques counted one by one, and the three programs made of them."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ecoc.design.programs import build_ip1, build_ip2, build_ip3


def conflicts(columns, low, high):
    n = len(columns)
    table = np.zeros((n, n), dtype=int)
    for i, j in combinations(range(n), 2):
        distance = (int(columns[i]) ^ int(columns[j])).bit_count()
        table[i, j] = not low <= distance <= high
    return table


def greedy_cliques(edges):
    """Cover the edges by cliques, each grown from an edge not yet covered."""
    neighbours = {frozenset(edge) for edge in edges.tolist()}
    left, cliques = set(neighbours), []
    while left:
        clique = sorted(min(left, key=sorted))
        for vertex in sorted({v for edge in neighbours for v in edge}):
            if all(frozenset((vertex, u)) in neighbours for u in clique):
                clique.append(vertex)
        left -= {frozenset(pair) for pair in combinations(clique, 2)}
        cliques.append(clique)
    return {
        "indptr": np.cumsum([0, *(len(clique) for clique in cliques)]),
        "members": [vertex for clique in cliques for vertex in clique],
    }


def build_all(columns, n_classes, n_columns, low, high, *, options=None):
    edges = np.argwhere(conflicts(columns, low, high))
    yield build_ip1(
        columns,
        n_classes,
        n_columns,
        min_column_distance=low,
        max_column_distance=high,
        options=options,
    )
    yield build_ip2(columns, n_classes, n_columns, edges=edges, options=options)
    yield build_ip3(columns, n_classes, n_columns, **greedy_cliques(edges), options=options)
