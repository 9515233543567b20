"""Greedy edge clique covers of any graph.

After A. Conte, R. Grossi and A. Marino, "Clique covering of large real-world
networks", ACM SAC 2016: take an edge that is not covered yet, let a clique grow
from it by the vertex that covers most new edges, and go on. What is added here
is the reduction: cliques grow until they are maximal, and those all of whose
edges are in other cliques are dropped.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecoc._numba import njit
from ecoc.graphs._arcs import Arcs, find_arc, index_arcs
from ecoc.graphs._cliques import Flags, Ints, Ints32, append, select, without_contained
from ecoc.graphs.conflict import MAX_GRAPH_BYTES
from ecoc.graphs.cover import CliqueCover
from ecoc.graphs.graph import AnyGraph

__all__ = ["greedy_cover"]

Cliques = tuple[Ints, Ints32]


def greedy_cover(
    graph: AnyGraph, *, reduce: bool = True, max_bytes: int = MAX_GRAPH_BYTES
) -> CliqueCover:
    """Cover the edges of any graph by cliques that grow from uncovered edges.

    Parameters
    ----------
    graph : ConflictGraph or Graph
        The graph; its edges are listed in memory.
    reduce : bool
        Whether to make the cliques maximal and drop those that are not needed
        then. This is tried for two ways to break ties, and the smaller cover stays.
    max_bytes : int
        The memory that the list of edges may take.

    Examples
    --------
    >>> from ecoc.graphs import Graph
    >>> graph = Graph.from_edges(4, [(0, 1), (1, 2), (0, 2), (2, 3)])
    >>> [clique.tolist() for clique in greedy_cover(graph)]
    [[0, 1, 2], [2, 3]]
    """
    arcs = index_arcs(graph.adjacency(max_bytes=max_bytes))
    if not reduce:
        cliques = grow_cliques(arcs, np.ones(arcs.indices.size, np.bool_), True)
        return without_contained(*cliques, graph.n_vertices, "greedy")
    tries = [
        reduce_cliques(arcs, grow_cliques(arcs, np.ones(arcs.indices.size, np.bool_), busiest))
        for busiest in (True, False)
    ]
    indptr, members = min(tries, key=lambda cliques: cliques[0].size)
    return CliqueCover(indptr, members, graph.n_vertices, "greedy")


def reduce_cliques(arcs: Arcs, cliques: Cliques) -> Cliques:
    """Make cliques maximal, then drop those that are not needed; none is in another then."""
    indptr, members = _extend(arcs, *cliques)
    # The small ones go first: a clique inside another is found before the other is.
    order = np.argsort(np.diff(indptr), kind="stable")
    return select(indptr, members, _needed(arcs, indptr, members, order))


@njit
def grow_cliques(arcs: Arcs, uncovered: Flags, busiest: bool) -> Cliques:
    """Grow cliques until no arc is flagged; a clique grows while that covers new edges.

    Of the vertices that cover most new edges the first is taken or, if `busiest`,
    the one with most uncovered edges anywhere.
    """
    n_vertices = arcs.indptr.size - 1
    open_edges = np.zeros(n_vertices, dtype=np.int64)
    for v in range(n_vertices):
        open_edges[v] = np.sum(uncovered[arcs.indptr[v] : arcs.indptr[v + 1]])
    scratch = np.empty((3, n_vertices), dtype=np.int32)
    ends = [0]
    members: Ints32 = np.empty(1024, dtype=np.int32)
    for u in range(n_vertices):
        for seed in range(arcs.indptr[u], arcs.indptr[u + 1]):
            if arcs.indices[seed] < u or not uncovered[seed]:
                continue
            scratch[0, 0], scratch[0, 1] = u, arcs.indices[seed]
            size = _grow(arcs, uncovered, open_edges, scratch, busiest)
            clique = scratch[0, :size]
            for a in clique:
                for b in clique:
                    arc = find_arc(arcs, a, b)
                    if arc >= 0 and uncovered[arc]:
                        uncovered[arc] = False
                        open_edges[a] -= 1
            members = append(members, ends[-1], clique)
            ends.append(ends[-1] + size)
    return np.array(ends), members[: ends[-1]].copy()


@njit
def _grow(arcs: Arcs, uncovered: Flags, open_edges: Ints, scratch: Ints32, busiest: bool) -> int:
    """Let the clique of two in the first row of `scratch` grow; return its size."""
    clique, candidates, gains = scratch[0], scratch[1], scratch[2]
    u, v = clique[0], clique[1]
    n_candidates = 0
    for arc in range(arcs.indptr[u], arcs.indptr[u + 1]):
        other = find_arc(arcs, v, arcs.indices[arc])
        if other >= 0:
            candidates[n_candidates] = arcs.indices[arc]
            gains[n_candidates] = np.int32(uncovered[arc]) + np.int32(uncovered[other])
            n_candidates += 1
    size = 2
    while n_candidates:
        best = 0
        for i in range(1, n_candidates):
            better = gains[i] - gains[best]
            if better == 0 and busiest:
                better = open_edges[candidates[i]] - open_edges[candidates[best]]
            if better > 0:
                best = i
        if gains[best] == 0:
            break
        chosen = candidates[best]
        clique[size] = chosen
        size += 1
        kept = 0
        for i in range(n_candidates):
            arc = find_arc(arcs, chosen, candidates[i])
            if arc >= 0:
                candidates[kept] = candidates[i]
                gains[kept] = gains[i] + np.int32(uncovered[arc])
                kept += 1
        n_candidates = kept
    return size


@njit
def _extend(arcs: Arcs, indptr: Ints, members: Ints32) -> Cliques:
    """Make each clique maximal, by the vertex that leaves most others possible."""
    n_vertices = arcs.indptr.size - 1
    candidates = np.empty(n_vertices, dtype=np.int32)
    choices = np.empty(n_vertices, dtype=np.int32)
    lost = np.empty(n_vertices, dtype=np.int32)
    clique = np.empty(n_vertices, dtype=np.int32)
    ends = [0]
    longer: Ints32 = np.empty(max(1, 2 * members.size), dtype=np.int32)
    for c in range(indptr.size - 1):
        size = indptr[c + 1] - indptr[c]
        clique[:size] = members[indptr[c] : indptr[c + 1]]
        n_candidates = _common_neighbours(arcs, clique[:size], candidates)
        for i in range(n_candidates):
            choices[i] = 0
            for other in candidates[:n_candidates]:
                choices[i] += find_arc(arcs, candidates[i], other) >= 0
        while n_candidates:
            best = np.argmax(choices[:n_candidates])
            chosen = candidates[best]
            clique[size] = chosen
            size += 1
            kept = 0
            n_lost = 0
            for i in range(n_candidates):
                candidate, choice = candidates[i], choices[i]
                if find_arc(arcs, chosen, candidate) >= 0:
                    candidates[kept], choices[kept] = candidate, choice
                    kept += 1
                else:
                    lost[n_lost] = candidate
                    n_lost += 1
            n_candidates = kept
            for i in range(n_candidates):
                for other in lost[:n_lost]:
                    choices[i] -= find_arc(arcs, candidates[i], other) >= 0
        longer = append(longer, ends[-1], clique[:size])
        ends.append(ends[-1] + size)
    return np.array(ends), longer[: ends[-1]].copy()


@njit
def _common_neighbours(arcs: Arcs, clique: Ints32, found: Ints32) -> int:
    """Write the vertices adjacent to all members to `found`, and count them."""
    fewest = clique[0]
    for v in clique:
        if arcs.indptr[v + 1] - arcs.indptr[v] < arcs.indptr[fewest + 1] - arcs.indptr[fewest]:
            fewest = v
    n_found = int(arcs.indptr[fewest + 1] - arcs.indptr[fewest])
    found[:n_found] = arcs.indices[arcs.indptr[fewest] : arcs.indptr[fewest + 1]]
    for v in clique:
        if v == fewest:
            continue
        kept = 0
        for w in found[:n_found]:
            if find_arc(arcs, v, w) >= 0:
                found[kept] = w
                kept += 1
        n_found = kept
    return n_found


@njit
def _needed(arcs: Arcs, indptr: Ints, members: Ints32, order: Ints) -> npt.NDArray[np.bool_]:
    """Tell which cliques stay when each in turn is dropped if the others cover its edges."""
    times = np.zeros(arcs.indices.size, dtype=np.int32)
    for c in range(indptr.size - 1):
        _add(arcs, members[indptr[c] : indptr[c + 1]], times, 1)
    needed = np.ones(indptr.size - 1, dtype=np.bool_)
    for c in order:
        clique = members[indptr[c] : indptr[c + 1]]
        if _covered_twice(arcs, clique, times):
            needed[c] = False
            _add(arcs, clique, times, -1)
    return needed


@njit
def _add(arcs: Arcs, clique: Ints32, times: Ints32, amount: int) -> None:
    for i in range(clique.size):
        for j in range(i + 1, clique.size):
            times[find_arc(arcs, clique[i], clique[j])] += amount


@njit
def _covered_twice(arcs: Arcs, clique: Ints32, times: Ints32) -> bool:
    for i in range(clique.size):
        for j in range(i + 1, clique.size):
            if times[find_arc(arcs, clique[i], clique[j])] < 2:
                return False
    return True
