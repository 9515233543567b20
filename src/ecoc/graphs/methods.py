"""The one way in: an edge clique cover by any method."""

from __future__ import annotations

from ecoc._checks import check_choice
from ecoc.errors import InvalidInputError
from ecoc.graphs.conflict import MAX_GRAPH_BYTES
from ecoc.graphs.cover import CliqueCover
from ecoc.graphs.graph import AnyGraph

__all__ = ["COVER_METHODS", "clique_cover"]

COVER_METHODS = ("structured", "greedy", "partitioned")
"""The ways to find an edge clique cover, by name."""


def clique_cover(
    graph: AnyGraph,
    method: str = "structured",
    *,
    reduce: bool = True,
    n_parts: int | None = None,
    n_jobs: int | None = None,
    max_bytes: int = MAX_GRAPH_BYTES,
) -> CliqueCover:
    """Find cliques that together contain every edge of a graph, none inside another.

    Parameters
    ----------
    graph : ConflictGraph or Graph
        The graph to cover.
    method : {"structured", "greedy", "partitioned"}
        Structured: from the symmetry of a conflict graph, in seconds for up to 18
        classes, with the fewest cliques. Greedy: for any graph that fits in memory.
        Partitioned: greedy on edge-disjoint parts, in parallel.
    reduce : bool
        Whether the greedy methods drop cliques that are not needed.
    n_parts : int, optional
        The number of parts of the partitioned method, 2 by default.
    n_jobs : int, optional
        The number of parts covered at a time.
    max_bytes : int
        The memory that a list of edges or a structured cover may take.

    Returns
    -------
    CliqueCover
        The cover. :func:`verify_cover` checks it independently.

    Examples
    --------
    >>> from ecoc.graphs import ConflictGraph
    >>> graph = ConflictGraph(10, 3, "one-sided")
    >>> clique_cover(graph).n_cliques
    464
    >>> clique_cover(graph, "greedy").n_cliques
    503
    """
    method = check_choice("method", method, COVER_METHODS)
    if method != "partitioned" and (n_parts is not None or n_jobs is not None):
        raise InvalidInputError("n_parts and n_jobs are for method='partitioned' only.")
    if method == "structured":
        from ecoc.graphs.structured import structured_cover

        return structured_cover(graph, max_bytes=max_bytes)
    if method == "greedy":
        from ecoc.graphs.greedy import greedy_cover

        return greedy_cover(graph, reduce=reduce, max_bytes=max_bytes)
    from ecoc.graphs.partitioned import partitioned_cover

    return partitioned_cover(
        graph,
        n_parts=2 if n_parts is None else n_parts,
        n_jobs=n_jobs,
        reduce=reduce,
        max_bytes=max_bytes,
    )
