"""Clique covers of the conflict graph from its symmetry, without listing an edge.

A clique is a set of words that differ in few places. The largest ones are balls
and, for an even separation, pairs of neighbouring balls (Kleitman 1966). Which
centres are enough is written in tables as syndromes of a linear code.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from ecoc._typing import Ints, Ints32
from ecoc.errors import InvalidInputError
from ecoc.graphs.conflict import MAX_GRAPH_BYTES, AnyGraph, ConflictGraph, check_memory
from ecoc.graphs.cover import CliqueCover
from ecoc.graphs.greedy import greedy_cover, without_contained
from ecoc.graphs.tables import CoverTable, closed_form, load_tables

__all__ = ["structured_cover"]

Shapes = list[tuple[Ints32, Ints32]]

_BLOCK = 1 << 22


def structured_cover(graph: AnyGraph, *, max_bytes: int = MAX_GRAPH_BYTES) -> CliqueCover:
    """Cover a conflict graph by balls of columns around well-chosen centres.

    The centres come from the smallest of the tables that fit and the closed form:
    2^(k-1) balls for odd rho, (k + 1 - rho) 2^(k-2) double balls for even rho
    (one 2^(k-2) more under the two-sided rule). Where rho is so close to k that
    there are fewer of them, the cliques are the subcubes of the columns that agree
    in k - rho places, C(k-1, k-rho) 2^(k-rho) under the one-sided rule. If some
    columns are left out of the graph, they are left out of the cliques.

    The literal rule with fewer columns than classes has cliques of another kind;
    the cover is a greedy one then.

    Parameters
    ----------
    graph : ConflictGraph
        The conflict graph.
    max_bytes : int
        The memory that the cover may take.

    Examples
    --------
    >>> structured_cover(ConflictGraph(10, 3, "one-sided"))
    CliqueCover(464 cliques of 511 vertices, structured)
    """
    if not isinstance(graph, ConflictGraph):
        raise InvalidInputError(
            "the structured method is for a ConflictGraph only. Use method='greedy'."
        )
    k, rho = graph.n_classes, graph.min_column_distance
    if len(graph.weights) == k - 1:
        whole = [np.arange(graph.n_vertices, dtype=np.int32)] if graph.n_vertices > 1 else []
        return CliqueCover.from_cliques(whole, n_vertices=graph.n_vertices, method="structured")
    n_upper = sum(weight >= rho for weight in graph.weights)
    if n_upper > rho - 1:
        return greedy_cover(graph, max_bytes=max_bytes)
    check_memory("A structured cover", 64 << (k - 1), max_bytes, "Use method='greedy'.")
    shapes: Shapes = []
    if n_upper < rho - 1:
        shapes += best_shapes(k, rho, "one-sided")
    if n_upper > 0:
        # The conflicts among near-complements are those of a two-sided rule of their own.
        shapes += best_shapes(k, n_upper + 1, "two-sided")
    # The members are written once; finding contained cliques takes as much again.
    needed = 8 * _n_members(shapes)
    check_memory("The structured cover", needed, max_bytes, "Use a smaller min_column_distance.")
    return place_shapes(shapes, graph)


def best_shapes(n_classes: int, min_column_distance: int, separation: str) -> Shapes:
    """Return the cliques of the smallest cover known, as (centres, offsets) pairs."""
    generators = list_generators(n_classes, separation)
    tables = [
        table
        for table in load_tables(separation)
        if table.min_column_distance == min_column_distance
        and table.min_generators <= len(generators) <= len(table.syndromes)
    ]
    all_balls = closed_form(
        len(generators), min_column_distance, sum_to_zero=separation == "two-sided"
    )
    covers = [table_shapes(table, generators) for table in [*tables, all_balls]]
    best = min(covers, key=_n_cliques)
    n_fixed = n_classes - min_column_distance
    n_subcubes = comb(n_classes - 1, n_fixed) << n_fixed
    if separation == "one-sided" and n_subcubes < _n_cliques(best):
        return _subcubes(n_classes - 1, n_fixed)
    return best


def _n_cliques(shapes: Shapes) -> int:
    return sum(centres.size for centres, _ in shapes)


def _subcubes(n_bits: int, n_fixed: int) -> Shapes:
    """Return the sets of words that agree in some `n_fixed` places, whatever they have there."""
    words = np.arange(1 << n_bits, dtype=np.int32)
    masks = (sum(1 << i for i in fixed) for fixed in combinations(range(n_bits), n_fixed))
    return [(words[words & ~mask == 0], words[words & mask == 0]) for mask in masks]


def list_generators(n_classes: int, separation: str) -> list[int]:
    """Return the words of weight 1, under the two-sided rule with that of weight k - 1."""
    units = [1 << i for i in range(n_classes - 1)]
    return [*units, (1 << (n_classes - 1)) - 1] if separation == "two-sided" else units


def table_shapes(table: CoverTable, generators: list[int]) -> Shapes:
    """Return the cliques that a table stands for: shapes and where to put them."""
    n_bits = generators[-1].bit_length()
    syndrome = np.zeros(1, dtype=np.int64)
    for s in table.syndromes[:n_bits]:
        syndrome = np.concatenate((syndrome, syndrome ^ s))
    n_syndromes = 1 << max(s.bit_length() for s in table.syndromes)

    def centres(syndromes: int) -> Ints32:
        chosen = np.array([(syndromes >> t) & 1 for t in range(n_syndromes)], dtype=np.bool_)
        return np.flatnonzero(chosen[syndrome]).astype(np.int32)

    ball = _ball(generators, (table.min_column_distance - 1) // 2)
    shapes = [(centres(table.balls), ball)]
    for g, syndromes in zip(generators, table.double_balls, strict=False):
        shapes.append((centres(syndromes), np.union1d(ball, ball ^ np.int32(g))))
    for t, *corners in table.tetrahedra:
        a, b, c = (generators[i] for i in corners)
        shapes.append((centres(1 << t), np.array([0, a ^ b, a ^ c, b ^ c], dtype=np.int32)))
    return shapes


def _ball(generators: list[int], radius: int) -> Ints32:
    """Return the sums of at most `radius` generators."""
    ball = np.zeros(1, dtype=np.int32)
    for _ in range(radius):
        ball = np.unique(np.concatenate([ball, *(ball ^ np.int32(g) for g in generators)]))
    return ball


def place_shapes(shapes: Shapes, graph: ConflictGraph) -> CliqueCover:
    """Move each shape to its centres and keep the vertices, at least two at a time."""
    vertex_of = np.full(1 << (graph.n_classes - 1), -1, dtype=np.int32)
    vertex_of[graph.to_columns()] = np.arange(graph.n_vertices, dtype=np.int32)
    members = np.empty(_n_members(shapes), dtype=np.int32)
    n_used = 0
    sizes: list[Ints] = [np.zeros(1, dtype=np.int64)]
    for block_sizes, block in _blocks(shapes, vertex_of):
        members[n_used : n_used + block.size] = block
        n_used += block.size
        sizes.append(block_sizes)
    indptr = np.cumsum(np.concatenate(sizes))
    return without_contained(indptr, members[:n_used], graph.n_vertices, "structured")


def _n_members(shapes: Shapes) -> int:
    return sum(centres.size * offsets.size for centres, offsets in shapes)


def _blocks(shapes: Shapes, vertex_of: npt.NDArray[np.int32]) -> Iterator[tuple[Ints, Ints32]]:
    for centres, offsets in shapes:
        step = max(1, _BLOCK // offsets.size)
        for start in range(0, centres.size, step):
            cliques = vertex_of[centres[start : start + step, None] ^ offsets]
            cliques.sort(axis=1)
            present = cliques >= 0
            sizes = present.sum(axis=1, dtype=np.int64)
            present[sizes < 2] = False
            yield sizes[sizes >= 2], cliques[present]
