"""The conflict graph: which columns must not stand in one codebook together.

Two columns conflict when their distance is too small, or so large that one is
nearly the complement of the other. Whether they do depends only on the number
of ones in their exclusive or, so the graph is given by a set of weights and
needs no memory.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, fields
from functools import cached_property
from math import comb
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice, check_int, counted, require
from ecoc._typing import Ints, Ints32
from ecoc.codes.columns import MAX_CLASSES, Dichotomies
from ecoc.errors import InvalidInputError, TooLargeError

if TYPE_CHECKING:
    import networkx as nx

__all__ = [
    "SEPARATIONS",
    "Adjacency",
    "AnyGraph",
    "ConflictGraph",
    "Graph",
    "check_memory",
    "conflicting_weights",
]


Adjacency = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]

SEPARATIONS = ("two-sided", "one-sided", "literal")
"""The rules for column separation, by name."""

MAX_GRAPH_BYTES = 2 << 30
"""The memory that an explicit graph or cover may take unless the caller allows more."""

_LOOKUP_BITS = 24
_BLOCK = 1 << 21


def check_memory(what: str, needed: int, max_bytes: int, instead: str) -> None:
    """Refuse what would need more than `max_bytes`, before any of it is allocated."""
    if needed > max_bytes:
        raise TooLargeError(
            f"{what} needs about {needed / 2**30:.1f} GiB, more than the "
            f"{max_bytes / 2**30:.1f} GiB that max_bytes allows. {instead}"
        )


def conflicting_weights(
    n_classes: int,
    min_column_distance: int,
    separation: str = "two-sided",
    n_columns: int | None = None,
) -> tuple[int, ...]:
    """Return the distances d, from 1 to k - 1, at which two columns conflict.

    Parameters
    ----------
    n_classes : int
        The number of classes, k.
    min_column_distance : int
        The column separation, rho.
    separation : {"two-sided", "one-sided", "literal"}
        The rule. Two-sided: d < rho or d > k - rho, because a column and its
        complement are one classifier. One-sided: d < rho. Literal: d < rho or
        d > L - rho, as the column constraint of IP1 is printed in the paper.
    n_columns : int, optional
        The number of columns, L; needed by the literal rule and unused otherwise.

    Examples
    --------
    >>> conflicting_weights(10, 3)
    (1, 2, 8, 9)
    >>> conflicting_weights(10, 3, "one-sided")
    (1, 2)
    >>> conflicting_weights(10, 3, "literal", n_columns=11)
    (1, 2, 9)
    """
    k = check_int("n_classes", n_classes, minimum=2, maximum=MAX_CLASSES)
    rho = check_int("min_column_distance", min_column_distance, minimum=1, maximum=k)
    separation = check_choice("separation", separation, SEPARATIONS)
    largest = k - 1
    if separation == "two-sided":
        largest = k - rho
    elif separation == "literal":
        if n_columns is None:
            raise InvalidInputError("n_columns (L) must be given for the literal separation.")
        largest = check_int("n_columns", n_columns, minimum=1) - rho
    return tuple(d for d in range(1, k) if d < rho or d > largest)


@dataclass(frozen=True, eq=False)
class ConflictGraph:
    """The conflict graph of columns, as a rule instead of a list of edges.

    Vertices are the columns in increasing order: vertex v of the whole graph is
    the column v + 1.

    Parameters
    ----------
    n_classes : int
        The number of classes, k.
    min_column_distance : int
        The column separation, rho.
    separation : {"two-sided", "one-sided", "literal"}
        The rule, see :func:`conflicting_weights`.
    n_columns : int, optional
        The number of columns, L, for the literal rule.
    columns : Dichotomies or array of int, optional
        The columns that are vertices, in increasing order; all by default.

    Examples
    --------
    >>> graph = ConflictGraph(10, 3, "one-sided")
    >>> graph.n_vertices, graph.n_edges
    (511, 11475)
    >>> graph.conflicts(1, [2, 4, 7, 15])
    array([ True,  True,  True, False])
    """

    n_classes: int
    min_column_distance: int
    separation: str = "two-sided"
    n_columns: int | None = field(default=None, kw_only=True)
    columns: Dichotomies | Ints | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        conflicting_weights(
            self.n_classes, self.min_column_distance, self.separation, self.n_columns
        )
        object.__setattr__(self, "columns", _check_columns(self.columns, self.n_classes))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConflictGraph):
            return NotImplemented
        same_rule = (self.n_classes, self.weights) == (other.n_classes, other.weights)
        if not same_rule or self.columns is None or other.columns is None:
            return same_rule and self.columns is other.columns
        return np.array_equal(self.to_columns(), other.to_columns())

    def __hash__(self) -> int:
        return hash((self.n_classes, self.weights))

    def __getstate__(self) -> dict[str, object]:
        # What was cached can be large, and is quickly made again where the graph arrives.
        return {item.name: getattr(self, item.name) for item in fields(self)}

    def __repr__(self) -> str:
        which = "" if self.columns is None else f", {counted(self.n_vertices, 'column')}"
        return (
            f"ConflictGraph(k={self.n_classes}, rho={self.min_column_distance}, "
            f"{self.separation}{which})"
        )

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """The distances at which two columns conflict."""
        return conflicting_weights(
            self.n_classes, self.min_column_distance, self.separation, self.n_columns
        )

    @property
    def n_vertices(self) -> int:
        """The number of columns that are vertices."""
        if self.columns is None:
            return (1 << (self.n_classes - 1)) - 1
        return len(self.columns)

    @cached_property
    def n_edges(self) -> int:
        """The number of conflicting pairs (of the paper's Table 1)."""
        if self.columns is None:
            # Each of the 2^n words has n_differences neighbours; the zero word is no column.
            return self.n_differences * ((1 << (self.n_classes - 1)) // 2 - 1)
        return int(self.degrees().sum()) // 2

    @property
    def n_differences(self) -> int:
        """The number of words that are the difference of two conflicting columns."""
        return sum(comb(self.n_classes - 1, weight) for weight in self.weights)

    def to_columns(self) -> Ints:
        """Return the column of each vertex."""
        return self._columns.copy()

    def differences(self) -> Ints:
        """Return the words whose weight is conflicting, in increasing order."""
        check_memory("The list of differences", 16 * self.n_differences, MAX_GRAPH_BYTES, _SMALLER)
        n = self.n_classes - 1
        light = [np.zeros(1, dtype=np.int64)]
        # Words with more ones than zeros are complements of words with few ones.
        for weight in range(1, max((min(w, n - w) for w in self.weights), default=0) + 1):
            # In increasing order the words below 2^bit come first, C(bit, weight - 1) of them.
            parts = [light[-1][: comb(bit, weight - 1)] | (1 << bit) for bit in range(n)]
            light.append(np.concatenate(parts))
        ones = (1 << n) - 1
        chosen = [light[w] if w < len(light) else ones ^ light[n - w] for w in self.weights]
        return np.sort(np.concatenate([*chosen, np.zeros(0, dtype=np.int64)]))

    def conflicts(self, a: npt.ArrayLike, b: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Tell whether columns, given as integers, conflict; arrays broadcast."""
        distance = np.bitwise_count(np.bitwise_xor(np.asarray(a), np.asarray(b)))
        result: npt.NDArray[np.bool_] = self._is_conflicting[distance]
        return result

    def degrees(self) -> npt.NDArray[np.int64]:
        """Return the number of neighbours of each vertex."""
        columns = self._columns
        if self.columns is None:
            return self.n_differences - self.conflicts(columns, 0).astype(np.int64)
        if self.n_classes - 1 <= _LOOKUP_BITS:
            # Degrees are a convolution over Z_2^n, which a Walsh transform makes a product.
            words = np.arange(1 << (self.n_classes - 1))
            present = _walsh(np.isin(words, columns, assume_unique=True).astype(np.int64))
            spread = _walsh(present * _walsh(self.conflicts(words, 0).astype(np.int64)))
            return spread[columns] >> (self.n_classes - 1)
        counts = [
            self.conflicts(columns[start:stop, None], columns).sum(axis=1, dtype=np.int64)
            for start, stop in self._vertex_blocks()
        ]
        return np.concatenate([*counts, np.zeros(0, dtype=np.int64)])

    def neighbours(self, vertex: int) -> npt.NDArray[np.int32]:
        """Return the vertices in conflict with one vertex, in increasing order."""
        vertex = check_int("vertex", vertex, minimum=0, maximum=self.n_vertices - 1)
        return self._pairs(vertex, vertex + 1)[1]

    def edge_blocks(self) -> Iterator[Ints32]:
        """Produce all edges (v, w), v < w, in increasing order, a bounded number at a time."""
        for start, stop in self._vertex_blocks():
            v, w = self._pairs(start, stop)
            yield np.column_stack((v, w))[v < w]

    def edges(self, *, max_bytes: int = MAX_GRAPH_BYTES) -> Ints32:
        """Return all edges (v, w), v < w, in one array, if that takes at most `max_bytes`."""
        check_memory(f"The list of {self.n_edges:,} edges", 8 * self.n_edges, max_bytes, _BLOCKWISE)
        return np.concatenate([*self.edge_blocks(), np.zeros((0, 2), dtype=np.int32)])

    def adjacency(self, *, max_bytes: int = MAX_GRAPH_BYTES) -> Adjacency:
        """Return (indptr, indices): the neighbours of v are indices[indptr[v]:indptr[v + 1]]."""
        needed = 8 * self.n_edges + 8 * (self.n_vertices + 1)
        check_memory(f"The adjacency of {self.n_edges:,} edges", needed, max_bytes, _BLOCKWISE)
        indptr = np.zeros(self.n_vertices + 1, dtype=np.int64)
        np.cumsum(self.degrees(), out=indptr[1:])
        indices = np.empty(2 * self.n_edges, dtype=np.int32)
        for start, stop in self._vertex_blocks():
            indices[indptr[start] : indptr[stop]] = self._pairs(start, stop)[1]
        return indptr, indices

    def subgraph(self, vertices: npt.ArrayLike) -> ConflictGraph:
        """Return the conflict graph of some of the vertices, given in increasing order."""
        return ConflictGraph(
            self.n_classes,
            self.min_column_distance,
            self.separation,
            n_columns=self.n_columns,
            columns=self._columns[np.asarray(vertices, dtype=np.int64)],
        )

    def to_networkx(self) -> nx.Graph:
        """Return the same graph for networkx, each vertex with its column as an attribute."""
        graph = require("networkx").Graph()
        graph.add_nodes_from((v, {"column": c}) for v, c in enumerate(self._columns.tolist()))
        for block in self.edge_blocks():
            graph.add_edges_from(block.tolist())
        return graph

    @cached_property
    def _columns(self) -> Ints:
        if self.columns is None:
            return Dichotomies(self.n_classes).to_array()
        return self.columns.to_array() if isinstance(self.columns, Dichotomies) else self.columns

    @cached_property
    def _is_conflicting(self) -> npt.NDArray[np.bool_]:
        return np.isin(np.arange(MAX_CLASSES + 1), self.weights)

    @cached_property
    def _vertex_of(self) -> npt.NDArray[np.int32]:
        vertex_of = np.full(1 << (self.n_classes - 1), -1, dtype=np.int32)
        vertex_of[self._columns] = np.arange(self.n_vertices, dtype=np.int32)
        return vertex_of

    @property
    def _by_differences(self) -> bool:
        """Whether to reach neighbours by their differences rather than try all columns."""
        few = 8 * self.n_differences < self.n_vertices
        return few and self.n_classes - 1 <= _LOOKUP_BITS

    def _vertex_blocks(self) -> Iterator[tuple[int, int]]:
        width = self.n_differences if self._by_differences else self.n_vertices
        step = max(1, _BLOCK // max(1, width))
        for start in range(0, self.n_vertices, step):
            yield start, min(start + step, self.n_vertices)

    def _pairs(self, start: int, stop: int) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return the arcs (v, w) with start <= v < stop, sorted."""
        rows = self._columns[start:stop, None]
        if self._by_differences:
            reached = self._vertex_of[rows ^ self._differences]
            reached.sort(axis=1)
            inside = reached >= 0
            v = np.nonzero(inside)[0]
            return (v + start).astype(np.int32), reached[inside]
        v, w = np.nonzero(self.conflicts(rows, self._columns))
        return (v + start).astype(np.int32), w.astype(np.int32)

    @cached_property
    def _differences(self) -> Ints:
        return self.differences()


_SMALLER = "Use fewer classes or a smaller min_column_distance."
_BLOCKWISE = "Use edge_blocks(), or a structured clique cover, which needs no list of edges."


def _check_columns(
    columns: Dichotomies | npt.ArrayLike | None, n_classes: int
) -> Dichotomies | Ints | None:
    if columns is None:
        return None
    if isinstance(columns, Dichotomies):
        if columns.n_classes != n_classes:
            raise InvalidInputError(
                f"columns must be of {n_classes} classes, not of {columns.n_classes}."
            )
        return columns if columns.is_filtered else None
    values = np.array(columns)
    if values.ndim != 1 or (values.size and not np.issubdtype(values.dtype, np.integer)):
        raise InvalidInputError("columns must be a one-dimensional array of integers.")
    values = values.astype(np.int64)
    inside = values.size == 0 or (values[0] >= 1 and values[-1] < 1 << (n_classes - 1))
    if not inside or (np.diff(values) <= 0).any():
        raise InvalidInputError(
            f"columns must be increasing integers from 1 to {(1 << (n_classes - 1)) - 1}."
        )
    values.setflags(write=False)
    return values


def _walsh(values: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the Walsh-Hadamard transform; integers that overflow do so modulo 2^64."""
    values = values.copy()
    half = 1
    while half < values.size:
        pairs = values.reshape(-1, 2, half)
        pairs[:, 0], pairs[:, 1] = pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]
        half *= 2
    return values


_LISTED = "Use adjacency(), which is there already."


@dataclass(frozen=True, eq=False)
class Graph:
    """A simple undirected graph on the vertices 0, ..., n_vertices - 1.

    Parameters
    ----------
    indptr : array of int
        The neighbours of v are indices[indptr[v]:indptr[v + 1]], in increasing order.
    indices : array of int
        All neighbours, each edge once from either end.

    Examples
    --------
    >>> graph = Graph.from_edges(4, [(0, 1), (1, 2), (0, 2)])
    >>> graph.n_vertices, graph.n_edges
    (4, 3)
    >>> graph.neighbours(2)
    array([0, 1], dtype=int32)
    """

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]

    def __post_init__(self) -> None:
        indptr = np.asarray(self.indptr, dtype=np.int64)
        indices = np.asarray(self.indices, dtype=np.int32)
        _check_adjacency(indptr, indices)
        for name, array in (("indptr", indptr), ("indices", indices)):
            view = array.view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    def __repr__(self) -> str:
        return (
            f"Graph({counted(self.n_vertices, 'vertex', 'vertices')}, "
            f"{counted(self.n_edges, 'edge')})"
        )

    @classmethod
    def from_edges(cls, n_vertices: int, edges: npt.ArrayLike) -> Graph:
        """Build a graph from pairs of vertices; repeated pairs count once."""
        n_vertices = check_int("n_vertices", n_vertices, minimum=0, maximum=2**31 - 1)
        pairs = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
        if pairs.size and not 0 <= pairs.min() <= pairs.max() < n_vertices:
            raise InvalidInputError(f"edges must join vertices from 0 to {n_vertices - 1}.")
        if (pairs[:, 0] == pairs[:, 1]).any():
            raise InvalidInputError("edges must join two different vertices.")
        keys = np.unique(np.concatenate((pairs, pairs[:, ::-1])) @ [n_vertices, 1])
        sources, targets = np.divmod(keys, max(1, n_vertices))
        indptr = np.searchsorted(sources, np.arange(n_vertices + 1))
        return cls(indptr.astype(np.int64), targets.astype(np.int32))

    @classmethod
    def from_networkx(cls, graph: nx.Graph) -> Graph:
        """Build a graph from one of networkx; vertex v is the v-th of its nodes."""
        if graph.is_directed() or graph.is_multigraph():
            raise InvalidInputError("graph must be undirected and without parallel edges.")
        number: dict[Hashable, int] = {node: v for v, node in enumerate(graph)}
        return cls.from_edges(len(number), [(number[a], number[b]) for a, b in graph.edges()])

    @property
    def n_vertices(self) -> int:
        """The number of vertices."""
        return self.indptr.size - 1

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return self.indices.size // 2

    def degrees(self) -> npt.NDArray[np.int64]:
        """Return the number of neighbours of each vertex."""
        return np.diff(self.indptr)

    def neighbours(self, vertex: int) -> npt.NDArray[np.int32]:
        """Return the neighbours of one vertex, in increasing order."""
        vertex = check_int("vertex", vertex, minimum=0, maximum=self.n_vertices - 1)
        return self.indices[self.indptr[vertex] : self.indptr[vertex + 1]]

    def edges(self, *, max_bytes: int = MAX_GRAPH_BYTES) -> npt.NDArray[np.int32]:
        """Return all edges (v, w), v < w, in one array."""
        check_memory(f"The list of {self.n_edges:,} edges", 16 * self.n_edges, max_bytes, _LISTED)
        sources = np.repeat(np.arange(self.n_vertices, dtype=np.int32), self.degrees())
        return np.column_stack((sources, self.indices))[sources < self.indices]

    def adjacency(self, *, max_bytes: int = MAX_GRAPH_BYTES) -> Adjacency:  # noqa: ARG002
        """Return (indptr, indices) as they are; `max_bytes` is there for ConflictGraph's sake."""
        return self.indptr, self.indices

    def subgraph(self, vertices: npt.ArrayLike) -> Graph:
        """Return the graph induced by some of the vertices, given in increasing order."""
        chosen = np.asarray(vertices, dtype=np.int64)
        number = np.full(self.n_vertices, -1, dtype=np.int64)
        number[chosen] = np.arange(chosen.size)
        sources = np.repeat(number, self.degrees())
        targets = number[self.indices]
        inside = (sources >= 0) & (targets >= 0)
        indptr = np.searchsorted(sources[inside], np.arange(chosen.size + 1))
        return Graph(indptr, targets[inside].astype(np.int32))

    def to_networkx(self) -> nx.Graph:
        """Return the same graph for networkx."""
        graph = require("networkx").Graph()
        graph.add_nodes_from(range(self.n_vertices))
        graph.add_edges_from(self.edges().tolist())
        return graph


AnyGraph = ConflictGraph | Graph


def _check_adjacency(indptr: npt.NDArray[np.int64], indices: npt.NDArray[np.int32]) -> None:
    degrees = np.diff(indptr)
    if indptr.ndim != 1 or not indptr.size or indptr[0] != 0 or (degrees < 0).any():
        raise InvalidInputError("indptr must be one-dimensional and increase from 0.")
    n_vertices = degrees.size
    if indices.ndim != 1 or indices.size != indptr[-1]:
        raise InvalidInputError(f"indices must have the {indptr[-1]} entries that indptr says.")
    if indices.size and not 0 <= indices.min() <= indices.max() < n_vertices:
        raise InvalidInputError(f"indices must be vertices from 0 to {n_vertices - 1}.")
    keys = np.repeat(np.arange(n_vertices, dtype=np.int64), degrees) * n_vertices
    if (np.diff(keys + indices) <= 0).any():
        raise InvalidInputError("the neighbours of each vertex must be in increasing order.")
    reverse = np.sort(indices.astype(np.int64) * n_vertices + keys // max(1, n_vertices))
    if not np.array_equal(reverse, keys + indices) or (indices == keys // max(1, n_vertices)).any():
        raise InvalidInputError("each edge must be listed from both of its two ends.")
