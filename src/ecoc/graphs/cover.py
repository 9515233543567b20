"""Edge clique covers: what one is, and the one way to get one by any method."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice, counted
from ecoc.errors import InvalidInputError
from ecoc.graphs.conflict import MAX_GRAPH_BYTES, AnyGraph

__all__ = ["COVER_METHODS", "CliqueCover", "clique_cover"]


@dataclass(frozen=True, eq=False)
class CliqueCover:
    """Cliques of a graph that together contain every edge, none inside another.

    Whether a cover is what it says is for :func:`verify_cover` to find out.

    Parameters
    ----------
    indptr : array of int64
        The members of clique c are members[indptr[c]:indptr[c + 1]].
    members : array of int32
        Vertices, in increasing order within each clique. A clique has at least two.
    n_vertices : int
        The number of vertices of the graph.
    method : str
        How the cover was found.

    Examples
    --------
    >>> cover = CliqueCover.from_cliques([[0, 1, 2], [2, 3]], n_vertices=4, method="by hand")
    >>> cover.n_cliques, cover.sizes.tolist()
    (2, [3, 2])
    >>> [clique.tolist() for clique in cover]
    [[0, 1, 2], [2, 3]]
    """

    indptr: npt.NDArray[np.int64]
    members: npt.NDArray[np.int32]
    n_vertices: int
    method: str

    def __post_init__(self) -> None:
        for name, dtype in (("indptr", np.int64), ("members", np.int32)):
            view = np.asarray(getattr(self, name), dtype=dtype).view()
            view.setflags(write=False)
            object.__setattr__(self, name, view)

    @classmethod
    def from_cliques(
        cls, cliques: Iterable[npt.ArrayLike], *, n_vertices: int, method: str
    ) -> CliqueCover:
        """Gather cliques given one by one, as they are."""
        arrays = [np.asarray(clique, dtype=np.int32) for clique in cliques]
        indptr = np.cumsum([0, *(array.size for array in arrays)])
        members = np.concatenate([np.zeros(0, dtype=np.int32), *arrays])
        return cls(indptr, members, n_vertices, method)

    @property
    def n_cliques(self) -> int:
        """The number of cliques."""
        return self.indptr.size - 1

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The number of members of each clique."""
        return np.diff(self.indptr)

    def __len__(self) -> int:
        return self.n_cliques

    def __getitem__(self, clique: int) -> npt.NDArray[np.int32]:
        if not -len(self) <= clique < len(self):
            raise IndexError(
                f"the cover has {counted(len(self), 'clique')}, none with the index {clique}."
            )
        clique %= len(self)
        return self.members[self.indptr[clique] : self.indptr[clique + 1]]

    def __iter__(self) -> Iterator[npt.NDArray[np.int32]]:
        for start, stop in zip(self.indptr[:-1], self.indptr[1:], strict=True):
            yield self.members[start:stop]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, CliqueCover):
            return NotImplemented
        return (
            self.n_vertices == other.n_vertices
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.members, other.members)
        )

    def __hash__(self) -> int:
        return hash((self.n_vertices, self.n_cliques, self.members.size))

    def __repr__(self) -> str:
        cliques = counted(self.n_cliques, "clique")
        vertices = counted(self.n_vertices, "vertex", "vertices")
        return f"CliqueCover({cliques} of {vertices}, {self.method})"


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
    from ecoc.graphs.greedy import partitioned_cover

    return partitioned_cover(
        graph,
        n_parts=2 if n_parts is None else n_parts,
        n_jobs=n_jobs,
        reduce=reduce,
        max_bytes=max_bytes,
    )
