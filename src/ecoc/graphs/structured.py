"""Clique covers of the conflict graph from its symmetry, without listing an edge.

A clique is a set of words that differ in few places. The largest ones are balls
and, for an even separation, pairs of neighbouring balls (Kleitman 1966). Which
centres are enough is written in tables, found by ``tools/find_covers.py``.

The words of Z_2^n form a group in which the conflict graph is a Cayley graph. Its
generators are the unit words and, for the two-sided rule, the word of ones,
because a column and its complement are one dichotomy. A table gives each
generator a syndrome, and hence each word; it names the syndromes at which
cliques are centred, so that a few of them stand for very many cliques.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations
from math import comb

import numpy as np
import numpy.typing as npt

from ecoc._typing import Ints, Ints32
from ecoc.errors import InvalidInputError
from ecoc.graphs.conflict import MAX_GRAPH_BYTES, AnyGraph, ConflictGraph, check_memory
from ecoc.graphs.cover import CliqueCover
from ecoc.graphs.greedy import greedy_cover, without_contained

__all__ = ["CoverTable", "closed_form", "load_tables", "structured_cover"]


@dataclass(frozen=True)
class CoverTable:
    """The centres of a cover by cliques of small diameter.

    Attributes
    ----------
    min_column_distance : int
        The column separation, rho; the cliques have diameter rho - 1.
    syndromes : tuple of int
        The syndrome of each generator. For the two-sided rule they sum to 0.
    balls : int
        The set of syndromes, as bits, of the words whose balls of radius
        (rho - 1) // 2 are cliques (odd rho).
    double_balls : tuple of int
        For each generator g, the syndromes of the words u such that the balls
        around u and u + g are together a clique (even rho).
    tetrahedra : tuple of tuple of int
        (t, i, j, l): the words u of syndrome t with u + i + j, u + i + l, u + j + l,
        where i, j, l number generators (rho = 3).
    min_generators : int
        The table also serves graphs with fewer generators, down to this number: the
        last ones are left out. Not so where all are needed for the sum to be 0.
    """

    min_column_distance: int
    syndromes: tuple[int, ...]
    balls: int = 0
    double_balls: tuple[int, ...] = ()
    tetrahedra: tuple[tuple[int, int, int, int], ...] = ()
    min_generators: int = 0

    def to_json(self) -> dict[str, object]:
        """Return what a table file holds, without the parts that are empty."""
        entry: dict[str, object] = {
            "min_column_distance": self.min_column_distance,
            "syndromes": " ".join(f"{s:x}" for s in self.syndromes),
        }
        if self.balls:
            entry["balls"] = f"{self.balls:x}"
        if self.double_balls:
            entry["double_balls"] = " ".join(f"{s:x}" for s in self.double_balls)
        if self.tetrahedra:
            entry["tetrahedra"] = [list(corners) for corners in self.tetrahedra]
        return {**entry, "min_generators": self.min_generators}

    @classmethod
    def from_json(cls, entry: dict[str, object]) -> CoverTable:
        """Read an entry of a table file."""
        return cls(
            min_column_distance=int(str(entry["min_column_distance"])),
            syndromes=_from_hex(entry["syndromes"]),
            balls=int(str(entry.get("balls", "0")), 16),
            double_balls=_from_hex(entry.get("double_balls", "")),
            tetrahedra=tuple(tuple(corners) for corners in entry.get("tetrahedra", ())),  # type: ignore[attr-defined]
            min_generators=int(str(entry["min_generators"])),
        )


def _from_hex(words: object) -> tuple[int, ...]:
    return tuple(int(word, 16) for word in str(words).split())


@cache
def load_tables(separation: str) -> tuple[CoverTable, ...]:
    """Return the tables that the package has for the one-sided or the two-sided rule."""
    text = files("ecoc.graphs").joinpath("tables", f"{separation}.json").read_text("utf-8")
    return tuple(CoverTable.from_json(entry) for entry in json.loads(text)["tables"])


def closed_form(n_generators: int, min_column_distance: int, *, sum_to_zero: bool) -> CoverTable:
    """Return the table of all balls, or of the double balls of just enough directions.

    Two words whose difference has weight at most 2r are in a ball of radius r. If
    it has weight 2r + 1, they are in the double ball of each generator in the
    difference, and any p - 2r of the p generators have one in common with it.

    Examples
    --------
    >>> closed_form(3, 3, sum_to_zero=False)
    CoverTable(min_column_distance=3, syndromes=(0, 0, 0), balls=1, double_balls=(),
               tetrahedra=(), min_generators=0)
    """
    if min_column_distance % 2:
        return CoverTable(min_column_distance, (0,) * n_generators, balls=1)
    syndromes = [1] * n_generators
    if sum_to_zero and n_generators % 2:
        syndromes[:3] = [1, 2, 3]
    n_directions = n_generators - min_column_distance + 2
    # Each edge of the hypercube counts once, from the end with the smaller syndrome.
    smaller = [sum(1 << t for t in range(4) if t < t ^ s < 4) for s in syndromes]
    directions = [bits if i < n_directions else 0 for i, bits in enumerate(smaller)]
    return CoverTable(min_column_distance, tuple(syndromes), double_balls=tuple(directions))


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
