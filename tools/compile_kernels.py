"""Compile what numba compiles, and keep it, before several processes would do so at once.

Arguments name parts, which can be compiled side by side; without any, all are compiled.
"""

# ruff: noqa: PLC0415  # a part loads what it compiles, and nothing else

import sys

import numpy as np


def design() -> None:
    """Search for codebooks, and for orders of columns."""
    from ecoc.design import _annealing, _prefixes, ternary_search

    for part in (_annealing, _prefixes, ternary_search):
        part.compile_kernels()


def constructions() -> None:
    """Blocks, and codes of several symbols."""
    from ecoc.constructions import blocks, symbols

    blocks.compile_kernels()
    symbols.compile_kernels()


def graphs() -> None:
    """Covers of conflict graphs, with and without a matrix, and their verifier."""
    from ecoc.graphs import CliqueCover, ConflictGraph, verify_cover
    from ecoc.graphs.greedy import greedy_cover, grow_cliques, index_arcs, reduce_cliques

    graph = ConflictGraph(6, 3)
    for max_matrix_bytes in (0, 1 << 20):
        arcs = index_arcs(graph.adjacency(), max_matrix_bytes)
        reduce_cliques(arcs, grow_cliques(arcs, np.ones(arcs.indices.size, dtype=np.bool_), True))
    verify_cover(graph, greedy_cover(graph, reduce=False))
    pair = CliqueCover.from_cliques([[0, 1]], n_vertices=graph.n_vertices, method="by hand")
    verify_cover(graph, pair)


def others() -> None:
    """Coupled probabilities, and hitting sets."""
    from ecoc.multiclass.decoders.probabilities import couple
    from hitting_set import small_hitting_set

    for tolerance in (0.1, 1e-9):
        couple(np.full((1, 2, 3), 1 / 3), [[0, 1], [1, 2], [2, 0]], tolerance=tolerance)
    small_hitting_set((np.array([0, 2]), np.array([0, 1])), np.ones(2), n_rounds=1, seed=0)


PARTS = {part.__name__: part for part in (design, constructions, graphs, others)}

if __name__ == "__main__":
    for name in sys.argv[1:] or PARTS:
        PARTS[name]()
