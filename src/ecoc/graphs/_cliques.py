"""Lists of cliques as arrays: growing them, turning them inside out, dropping contained ones."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecoc._numba import njit
from ecoc.graphs.cover import CliqueCover

Ints = npt.NDArray[np.int64]
Ints32 = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]


def select(indptr: Ints, members: Ints32, keep: Flags) -> tuple[Ints, Ints32]:
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
        larger[:used] = store[:used]
        store = larger
    store[used : used + clique.size] = np.sort(clique)
    return store


@njit
def _contained(indptr: Ints, members: Ints32, n_vertices: int) -> Flags:
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
