"""Finding the arc between two vertices fast, which is all that greedy covers do.

An arc is a position in the list of neighbours, so that flags and counts of
edges are plain arrays. Up to some 60,000 vertices a bit matrix says whether two
vertices are adjacent and, with counts per machine word, where the arc is; in
larger graphs a binary search does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecoc._numba import inline, njit
from ecoc.graphs.conflict import Adjacency

Ints = npt.NDArray[np.int64]
Ints32 = npt.NDArray[np.int32]
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
    indptr, indices = adjacency
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
