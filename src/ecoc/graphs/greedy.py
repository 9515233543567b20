"""Greedy edge clique covers of any graph.

After A. Conte, R. Grossi and A. Marino, "Clique covering of large real-world
networks", ACM SAC 2016: take an edge that is not covered yet, let a clique grow
from it by the vertex that covers most new edges, and go on. What is added here
is the reduction: cliques grow until they are maximal, and those all of whose
edges are in other cliques are dropped.
"""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int
from ecoc._numba import copy_to, inline, njit, read_only
from ecoc._typing import Bools, Ints, Ints32
from ecoc._workers import tethered
from ecoc.graphs.conflict import MAX_GRAPH_BYTES, Adjacency, AnyGraph
from ecoc.graphs.cover import CliqueCover

__all__ = ["greedy_cover", "partitioned_cover"]


Words = npt.NDArray[np.uint64]
Counts = npt.NDArray[np.uint16]


class Arcs(NamedTuple):
    """The arcs of a graph; the arc v -> w is a position in `indices`, or -1."""

    indptr: Ints
    indices: Ints32
    bits: Words | None
    rank: Counts | None


def index_arcs(adjacency: Adjacency, max_matrix_bytes: int = 1 << 30) -> Arcs:
    """Prepare the arcs of a graph for :func:`find_arc`."""
    indptr, indices = read_only(adjacency[0]), read_only(adjacency[1])
    n_vertices = indptr.size - 1
    n_words = -(-n_vertices // 64)
    # The counts have 16 bits.
    if n_vertices >= 1 << 16 or 10 * n_vertices * n_words > max_matrix_bytes:
        return Arcs(indptr, indices, None, None)
    bits = np.zeros((n_vertices, n_words), dtype=np.uint64)
    rank = np.zeros((n_vertices, n_words), dtype=np.uint16)
    _fill(indptr, indices, bits, rank)
    return Arcs(indptr, indices, bits, rank)


@njit
def _fill(heads: Ints, tails: Ints32, bits: Words, rank: Counts) -> None:
    for v in range(heads.size - 1):
        for w in tails[heads[v] : heads[v + 1]]:
            bits[v, w >> 6] |= np.uint64(1) << np.uint64(w & 63)
        below = 0
        for word in range(bits.shape[1]):
            rank[v, word] = below
            below += _popcount(bits[v, word])


@inline
def _popcount(x: np.uint64) -> int:
    # Written out because numba has none; the compiler knows the pattern.
    x = x - ((x >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inline
def find_arc(arcs: Arcs, v: int, w: int) -> int:
    """Return the position of the arc v -> w, or -1 if v and w are not adjacent."""
    return _find(arcs.indptr, arcs.indices, arcs.bits, arcs.rank, v, w)


@inline
def _find(  # noqa: PLR0917  # numba passes by position
    heads: Ints, tails: Ints32, bits: Words | None, rank: Counts | None, v: int, w: int
) -> int:
    # For None numba compiles the other branch alone, which a test of a size would not do.
    if bits is not None and rank is not None:
        word = bits[v, w >> 6]
        bit = np.uint64(1) << np.uint64(w & 63)
        if not word & bit:
            return -1
        below = _popcount(word & (bit - np.uint64(1)))
        return int(heads[v]) + int(rank[v, w >> 6]) + below
    low, end = int(heads[v]), int(heads[v + 1])
    high = end
    while low < high:
        middle = (low + high) >> 1
        if tails[middle] < w:
            low = middle + 1
        else:
            high = middle
    return low if low < end and tails[low] == w else -1


def select(indptr: Ints, members: Ints32, keep: Bools) -> tuple[Ints, Ints32]:
    """Keep some of the cliques."""
    sizes = np.diff(indptr)
    chosen = members[np.repeat(keep, sizes)]
    return np.concatenate(([0], np.cumsum(sizes[keep]))), chosen


def without_contained(indptr: Ints, members: Ints32, n_vertices: int, method: str) -> CliqueCover:
    """Make a cover of those cliques that are inside no other; of equal ones the first stays."""
    keep = ~_contained(indptr, members, n_vertices)
    if not keep.all():
        indptr, members = select(indptr, members, keep)
    return CliqueCover(indptr, members, n_vertices, method)


@njit
def append(store: Ints32, used: int, clique: Ints32) -> Ints32:
    """Write a clique, sorted, behind the used part of a store that grows as needed."""
    if used + clique.size > store.size:
        larger = np.empty(2 * store.size + clique.size, dtype=np.int32)
        copy_to(larger, store[:used])
        store = larger
    copy_to(store[used:], np.sort(clique))
    return store


@njit
def _contained(indptr: Ints, members: Ints32, n_vertices: int) -> Bools:
    """Tell which cliques are inside another, or equal to an earlier one."""
    n_cliques = indptr.size - 1
    count = np.zeros(n_vertices + 1, dtype=np.int64)
    for v in members:
        count[v + 1] += 1
    start = np.cumsum(count)
    holders = np.empty(members.size, dtype=np.int32)
    free = start[:-1].copy()
    for c in range(n_cliques):
        for v in members[indptr[c] : indptr[c + 1]]:
            holders[free[v]] = c
            free[v] += 1
    lowest = np.empty(n_cliques, dtype=np.int32)
    for c in range(n_cliques):
        lowest[c] = members[indptr[c]]
    contained = np.zeros(n_cliques, dtype=np.bool_)
    for c in range(n_cliques):
        clique = members[indptr[c] : indptr[c + 1]]
        rarest = clique[0]
        for v in clique:
            if count[v + 1] < count[rarest + 1]:
                rarest = v
        for d in holders[start[rarest] : start[rarest + 1]]:
            size = indptr[d + 1] - indptr[d]
            if size < clique.size or lowest[d] > lowest[c]:
                continue
            if size == clique.size and (d >= c or lowest[d] != lowest[c]):
                continue
            if _is_subset(clique, members[indptr[d] : indptr[d + 1]]):
                contained[c] = True
                break
    return contained


@njit
def _is_subset(inner: Ints32, outer: Ints32) -> bool:
    position = 0
    for v in inner:
        while position < outer.size and outer[position] < v:
            position += 1
        if position == outer.size or outer[position] != v:
            return False
    return True


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
def grow_cliques(arcs: Arcs, uncovered: Bools, busiest: bool) -> Cliques:
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
def _grow(arcs: Arcs, uncovered: Bools, open_edges: Ints, scratch: Ints32, busiest: bool) -> int:
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
        copy_to(clique, members[indptr[c] : indptr[c + 1]])
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
def _common_neighbours(arcs: Arcs, clique: Ints32, common: Ints32) -> int:
    """Write the vertices adjacent to all members to `common`, and count them."""
    fewest = clique[0]
    for v in clique:
        if arcs.indptr[v + 1] - arcs.indptr[v] < arcs.indptr[fewest + 1] - arcs.indptr[fewest]:
            fewest = v
    n_common = int(arcs.indptr[fewest + 1] - arcs.indptr[fewest])
    copy_to(common, arcs.indices[arcs.indptr[fewest] : arcs.indptr[fewest + 1]])
    for v in clique:
        if v == fewest:
            continue
        kept = 0
        for w in common[:n_common]:
            if find_arc(arcs, v, w) >= 0:
                common[kept] = w
                kept += 1
        n_common = kept
    return n_common


@njit
def _needed(arcs: Arcs, indptr: Ints, members: Ints32, order: Ints) -> npt.NDArray[np.bool_]:
    """Tell which cliques stay when each in turn is dropped if the others cover its edges."""
    times = np.zeros(arcs.indices.size, dtype=np.int32)
    for c in range(indptr.size - 1):
        _add(arcs, members[indptr[c] : indptr[c + 1]], times, np.int32(1))
    needed = np.ones(indptr.size - 1, dtype=np.bool_)
    for c in order:
        clique = members[indptr[c] : indptr[c + 1]]
        if _covered_twice(arcs, clique, times):
            needed[c] = False
            _add(arcs, clique, times, np.int32(-1))
    return needed


@njit
def _add(arcs: Arcs, clique: Ints32, times: Ints32, amount: np.int32) -> None:
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


def partitioned_cover(
    graph: AnyGraph,
    *,
    n_parts: int = 2,
    n_jobs: int | None = None,
    reduce: bool = True,
    max_bytes: int = MAX_GRAPH_BYTES,
) -> CliqueCover:
    """Cover edge-disjoint parts of a graph independently, then merge.

    A part has the edges whose smaller vertex is in a range. The union of covers of
    the parts is a cover of the graph (Lemma 1 of the paper). The cliques of a part
    may use other edges between the vertices that the part touches, which makes
    them larger than cliques of the part's edges alone.

    Parameters
    ----------
    graph : ConflictGraph or Graph
        The graph.
    n_parts : int
        The number of parts.
    n_jobs : int, optional
        The number of parts covered at a time, as joblib understands it; the backend
        of :func:`joblib.parallel_config` is used, for example a Dask cluster.
    reduce : bool
        Whether to make the merged cliques maximal and drop those that are not
        needed, which lists all edges at once. Without it only cliques inside
        another are dropped, and no more than a part's edges are listed.
    max_bytes : int
        The memory that a list of edges may take.

    Examples
    --------
    >>> from ecoc.graphs import ConflictGraph
    >>> cover = partitioned_cover(ConflictGraph(7, 3), n_parts=3)
    >>> cover.method
    'partitioned'
    """
    from joblib import Parallel, delayed

    n_parts = check_int("n_parts", n_parts, minimum=1)
    bounds = _even_bounds(graph.degrees(), n_parts)
    parts = Parallel(n_jobs=n_jobs)(
        delayed(tethered(_cover_part))(graph, start, stop, max_bytes)
        for start, stop in pairwise(bounds)
        if start < stop
    )
    sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(part[0]) for part in parts)])
    members = np.concatenate([np.zeros(0, dtype=np.int32), *(part[1] for part in parts)])
    cliques = np.cumsum(sizes), members
    if not reduce:
        return without_contained(*cliques, graph.n_vertices, "partitioned")
    arcs = index_arcs(graph.adjacency(max_bytes=max_bytes))
    return CliqueCover(*reduce_cliques(arcs, cliques), graph.n_vertices, "partitioned")


def _even_bounds(degrees: Ints, n_parts: int) -> list[int]:
    """Split the vertices in ranges with about the same number of edge ends."""
    ends = np.concatenate(([0], np.cumsum(degrees)))
    inner = np.searchsorted(ends, ends[-1] * np.arange(1, n_parts) / n_parts)
    return [0, *inner.tolist(), degrees.size]


def _cover_part(graph: AnyGraph, start: int, stop: int, max_bytes: int) -> tuple[Ints, Ints32]:
    """Cover the edges whose smaller vertex v has start <= v < stop."""
    touched = np.zeros(graph.n_vertices, dtype=np.bool_)
    for v in range(start, stop):
        touched[graph.neighbours(v)] = True
    touched[:start] = False
    touched[start:stop] = True
    vertices = np.flatnonzero(touched).astype(np.int32)
    arcs = index_arcs(graph.subgraph(vertices).adjacency(max_bytes=max_bytes))
    sources = np.repeat(np.arange(vertices.size, dtype=np.int32), np.diff(arcs.indptr))
    # The vertices of the range come first among those touched.
    uncovered = np.minimum(sources, arcs.indices) < stop - start
    indptr, members = grow_cliques(arcs, uncovered, True)
    return indptr, vertices[members]
