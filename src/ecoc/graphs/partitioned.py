"""Covers of edge-disjoint parts of a graph, found independently and merged (Lemma 1)."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ecoc._checks import check_int
from ecoc._workers import tethered
from ecoc.graphs._arcs import index_arcs
from ecoc.graphs._cliques import Ints, Ints32, without_contained
from ecoc.graphs.conflict import MAX_GRAPH_BYTES
from ecoc.graphs.cover import CliqueCover
from ecoc.graphs.graph import AnyGraph
from ecoc.graphs.greedy import grow_cliques, reduce_cliques

__all__ = ["partitioned_cover"]


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
