"""What an edge clique cover is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["CliqueCover"]


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
            raise IndexError(f"the cover has {len(self)} cliques, none with the index {clique}.")
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
        return f"CliqueCover({self.n_cliques} cliques of {self.n_vertices} vertices, {self.method})"
