"""Checking a clique cover against its graph.

Nothing here is shared with the code that finds covers. The graph is asked only
for its definition, and each vertex is looked at in turn: mark its neighbours,
tick off those that share a clique with it, and see whether any is left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecoc._checks import RandomState, check_int, check_random_state, counted
from ecoc._numba import njit, read_only
from ecoc._typing import Ints, Ints32
from ecoc.graphs.conflict import MAX_GRAPH_BYTES, AnyGraph, ConflictGraph
from ecoc.graphs.cover import CliqueCover

__all__ = ["Containment", "CoverVerification", "NonClique", "verify_cover"]


_LOOKUP_BITS = 24


class NonClique(NamedTuple):
    """Two members of one clique that no edge joins."""

    clique: int
    v: int
    w: int


class Containment(NamedTuple):
    """A clique all of whose members are in another."""

    inner: int
    outer: int


class _Definition(NamedTuple):
    """How to find neighbours: 0 they are listed, 1 by differences, 2 by trying all columns."""

    kind: int
    indptr: Ints
    indices: Ints32
    columns: Ints
    differences: Ints
    vertex_of: Ints32
    conflicting: npt.NDArray[np.bool_]


class _Cliques(NamedTuple):
    """The members of each clique, and the cliques that each vertex is in."""

    indptr: Ints
    members: Ints32
    owner_start: Ints
    owners: Ints32


@dataclass(frozen=True)
class CoverVerification:
    """Whether a cover is one, as :func:`verify_cover` found, and what is wrong with it.

    Attributes
    ----------
    verified : bool
        Whether nothing wrong was found.
    method : {"every edge", "sampled"}
        Whether all vertices with all their edges were looked at, or some vertices.
    n_edges : int
        The number of edges looked at.
    n_cliques : int
        The number of cliques.
    malformed : str, optional
        What is wrong with the arrays of the cover; nothing else is looked at then.
    uncovered_edge : tuple of int, optional
        An edge that is in no clique.
    non_clique : NonClique, optional
        A clique that is none.
    contained : Containment, optional
        A clique inside another.
    """

    verified: bool
    method: str
    n_edges: int
    n_cliques: int
    malformed: str | None = None
    uncovered_edge: tuple[int, int] | None = None
    non_clique: NonClique | None = None
    contained: Containment | None = None

    def __str__(self) -> str:
        if self.verified:
            edges = counted(self.n_edges, "edge", form=",")
            return (
                f"verified ({self.method}: {edges}, {counted(self.n_cliques, 'clique', form=',')})"
            )
        if self.malformed is not None:
            return f"not a cover: {self.malformed}"
        if self.non_clique is not None:
            clique, v, w = self.non_clique
            return f"not a cover: clique {clique} has {v} and {w}, which no edge joins"
        if self.uncovered_edge is not None:
            return f"not a cover: the edge {self.uncovered_edge} is in no clique"
        inner, outer = self.contained or (None, None)
        return f"not a cover: clique {inner} is inside clique {outer}"


def verify_cover(
    graph: AnyGraph,
    cover: CliqueCover,
    *,
    n_samples: int | None = None,
    random_state: RandomState = None,
) -> CoverVerification:
    """Check that a cover consists of cliques, contains every edge, and has no clique in another.

    The memory needed is that of the cover, twice, and of one vertex's neighbours.
    Sets of bits, which are faster where cliques are large, take up to 2 GiB more.

    Parameters
    ----------
    graph : ConflictGraph or Graph
        The graph that is said to be covered.
    cover : CliqueCover
        The cover, from wherever it came.
    n_samples : int, optional
        Look at the edges of only so many vertices, chosen at random. All by default.
    random_state : int or Generator, optional
        The seed of that choice.

    Examples
    --------
    >>> from ecoc.graphs import CliqueCover, Graph
    >>> graph = Graph.from_edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)])
    >>> cover = CliqueCover.from_cliques([[0, 1, 2], [2, 3]], n_vertices=4, method="by hand")
    >>> print(verify_cover(graph, cover))
    verified (every edge: 4 edges, 2 cliques)
    >>> cover = CliqueCover.from_cliques([[0, 1, 2]], n_vertices=4, method="by hand")
    >>> print(verify_cover(graph, cover))
    not a cover: the edge (2, 3) is in no clique
    """
    every_edge = n_samples is None or n_samples >= graph.n_vertices
    method = "every edge" if every_edge else "sampled"
    malformed = _malformed(cover, graph.n_vertices)
    if malformed is not None:
        return CoverVerification(False, method, 0, cover.n_cliques, malformed=malformed)
    if every_edge:
        vertices: npt.NDArray[np.int64] = np.arange(graph.n_vertices)
    else:
        n_samples = check_int("n_samples", n_samples, minimum=1)
        rng = check_random_state(random_state)
        vertices = np.sort(rng.choice(graph.n_vertices, n_samples, replace=False))
    cliques = _Cliques(cover.indptr, cover.members, *_owners(cover, graph.n_vertices))
    definition = _definition(graph)
    if _prefers_bits(cover):
        v, n_edges = _find_wrong_vertex(definition, cliques, vertices, every_edge)
        w = clique = -1
        if v >= 0:
            v, w, clique, _ = _check_edges(definition, cliques, np.array([v]), False)
    else:
        v, w, clique, n_edges = _check_edges(definition, cliques, vertices, every_edge)
    inner, outer = _find_contained(cliques)
    return CoverVerification(
        verified=v < 0 and inner < 0,
        method=method,
        n_edges=n_edges,
        n_cliques=cover.n_cliques,
        uncovered_edge=(v, w) if v >= 0 and clique < 0 else None,
        non_clique=NonClique(clique, v, w) if clique >= 0 else None,
        contained=Containment(inner, outer) if inner >= 0 else None,
    )


def _prefers_bits(cover: CliqueCover) -> bool:
    """Tell whether cliques are so large that sets of bits are faster, and fit."""
    n_words = cover.n_cliques * _n_words(cover.n_vertices)
    return 2 * cover.members.size > n_words and 8 * n_words <= MAX_GRAPH_BYTES


def _malformed(cover: CliqueCover, n_vertices: int) -> str | None:
    indptr, members = cover.indptr, cover.members
    if cover.n_vertices != n_vertices:
        return f"it is for {cover.n_vertices} vertices, but the graph has {n_vertices}"
    if indptr.ndim != 1 or indptr.size == 0 or indptr[0] != 0 or indptr[-1] != members.size:
        return "indptr does not run from 0 to the number of members"
    sizes = np.diff(indptr)
    if (sizes < 2).any():
        return f"clique {int(np.argmax(sizes < 2))} has fewer than two members"
    if members.size and not 0 <= members.min() <= members.max() < n_vertices:
        return f"a member is no vertex from 0 to {n_vertices - 1}"
    unsorted = members[1:] <= members[:-1]
    unsorted[indptr[1:-1] - 1] = False
    if unsorted.any():
        clique = int(np.searchsorted(indptr, np.argmax(unsorted), side="right")) - 1
        return f"the members of clique {clique} are not in increasing order"
    return None


def _definition(graph: AnyGraph) -> _Definition:
    none, never = read_only(np.zeros(0, np.int64)), np.zeros(0, np.bool_)
    none32, nowhere = read_only(np.zeros(0, np.int32)), np.zeros(0, np.int32)
    if not isinstance(graph, ConflictGraph):
        indptr, indices = read_only(graph.indptr), read_only(graph.indices)
        return _Definition(0, indptr, indices, none, none, nowhere, never)
    columns = read_only(graph.to_columns())
    if graph.n_classes - 1 > _LOOKUP_BITS or graph.n_differences > 4 * columns.size:
        conflicting = np.isin(np.arange(65), graph.weights)
        return _Definition(2, none, none32, columns, none, nowhere, conflicting)
    vertex_of = np.full(1 << (graph.n_classes - 1), -1, dtype=np.int32)
    vertex_of[columns] = np.arange(columns.size)
    differences = read_only(graph.differences())
    return _Definition(1, none, none32, columns, differences, vertex_of, never)


def _owners(cover: CliqueCover, n_vertices: int) -> tuple[Ints, Ints32]:
    start = np.concatenate(([0], np.cumsum(np.bincount(cover.members, minlength=n_vertices))))
    return start, _fill_owners(cover.indptr, cover.members, start[:-1].copy())


@njit
def _fill_owners(indptr: Ints, members: Ints32, free: Ints) -> Ints32:
    owners = np.empty(members.size, dtype=np.int32)
    for clique in range(indptr.size - 1):
        for v in members[indptr[clique] : indptr[clique + 1]]:
            owners[free[v]] = clique
            free[v] += 1
    return owners


@njit
def _mark(graph: _Definition, v: int, lowest: int, state: Ints32, mark: int) -> int:
    """Mark the neighbours of v from `lowest` on, and count them."""
    n_marked = 0
    if graph.kind == 0:
        for w in graph.indices[graph.indptr[v] : graph.indptr[v + 1]]:
            if w >= lowest:
                state[w] = mark
                n_marked += 1
    elif graph.kind == 1:
        column, vertex_of = graph.columns[v], graph.vertex_of
        for difference in graph.differences:
            w = vertex_of[column ^ difference]
            if w >= lowest:
                state[w] = mark
                n_marked += 1
    else:
        for w in range(lowest, graph.columns.size):
            difference = graph.columns[v] ^ graph.columns[w]
            weight = 0
            while difference:
                difference &= difference - 1
                weight += 1
            if graph.conflicting[weight]:
                state[w] = mark
                n_marked += 1
    return n_marked


@njit
def _check_edges(
    graph: _Definition, cliques: _Cliques, vertices: Ints, every_edge: bool
) -> tuple[int, int, int, int]:
    """Return (v, w, clique, edges seen): what is wrong, or -1s."""
    indptr, members = cliques.indptr, cliques.members
    n_edges = 0
    state = np.zeros(cliques.owner_start.size - 1, dtype=np.int32)
    for turn in range(vertices.size):
        v = vertices[turn]
        # Where every vertex has its turn, an edge is looked at from its lower end only.
        lowest = v + 1 if every_edge else 0
        expected = 2 * turn + 1
        left = _mark(graph, v, lowest, state, expected)
        n_edges += left
        for clique in cliques.owners[cliques.owner_start[v] : cliques.owner_start[v + 1]]:
            position = indptr[clique + 1] - 1
            while position >= indptr[clique] and members[position] >= lowest:
                w = members[position]
                if state[w] == expected:
                    state[w] = expected + 1
                    left -= 1
                elif state[w] < expected and w != v:
                    return v, w, clique, n_edges
                position -= 1
        if left:
            for w in range(lowest, state.size):
                if state[w] == expected:
                    return v, w, -1, n_edges
    return -1, -1, -1, n_edges


@njit
def _n_words(n_vertices: int) -> int:
    """Return how many words of 64 bits a set of vertices takes."""
    return (n_vertices + 63) // 64


@njit
def _find_wrong_vertex(
    graph: _Definition, cliques: _Cliques, vertices: Ints, every_edge: bool
) -> tuple[int, int]:
    """Return a vertex whose cliques together are not its neighbours, or -1, and the edges seen.

    The same as :func:`_check_edges`, 64 members of a clique at a time.
    """
    n_vertices, n_cliques = cliques.owner_start.size - 1, cliques.indptr.size - 1
    bits = np.zeros((n_cliques, _n_words(n_vertices)), dtype=np.uint64)
    one = np.uint64(1)
    for clique in range(n_cliques):
        for w in cliques.members[cliques.indptr[clique] : cliques.indptr[clique + 1]]:
            bits[clique, w >> 6] |= one << np.uint64(w & 63)
    n_edges = 0
    state = np.zeros(n_vertices, dtype=np.int32)
    union = np.zeros(bits.shape[1], dtype=np.uint64)
    for turn in range(vertices.size):
        v = vertices[turn]
        lowest = v + 1 if every_edge else 0
        n_edges += _mark(graph, v, lowest, state, turn + 1)
        rest = union[lowest >> 6 :]
        rest[:] = 0
        for clique in cliques.owners[cliques.owner_start[v] : cliques.owner_start[v + 1]]:
            row = bits[clique, lowest >> 6 :]
            for i in range(rest.size):
                rest[i] |= row[i]
        for w in range(lowest, n_vertices):
            together = (union[w >> 6] >> np.uint64(w & 63)) & one == one
            if together != (state[w] == turn + 1) and w != v:
                return v, n_edges
    return -1, n_edges


@njit
def _find_contained(cliques: _Cliques) -> tuple[int, int]:
    """Return (inner, outer) for a clique inside another, or -1s."""
    indptr, members, start = cliques.indptr, cliques.members, cliques.owner_start
    lowest = members[indptr[:-1]]
    for inner in range(indptr.size - 1):
        size = indptr[inner + 1] - indptr[inner]
        rarest = members[indptr[inner]]
        for v in members[indptr[inner] : indptr[inner + 1]]:
            if start[v + 1] - start[v] < start[rarest + 1] - start[rarest]:
                rarest = v
        for outer in cliques.owners[start[rarest] : start[rarest + 1]]:
            surplus = indptr[outer + 1] - indptr[outer] - size
            if outer == inner or surplus < 0 or lowest[outer] > lowest[inner]:
                continue
            here, there = indptr[inner], indptr[outer]
            while here < indptr[inner + 1] and surplus >= 0:
                if members[here] == members[there]:
                    here += 1
                else:
                    surplus -= 1
                there += 1
            if here == indptr[inner + 1] and surplus >= 0:
                return inner, outer
    return -1, -1
