"""Any other simple graph, so that covers work beyond columns."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int, require
from ecoc.errors import InvalidInputError
from ecoc.graphs.conflict import MAX_GRAPH_BYTES, Adjacency, ConflictGraph, check_memory

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["AnyGraph", "Graph"]

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
        return f"Graph({self.n_vertices} vertices, {self.n_edges} edges)"

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
