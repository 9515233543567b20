"""Distances of rows of +1 and -1 as bits of machine words: for rows that are many and short."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["MOST_PACKED_COLUMNS", "min_packed_distance"]

MOST_PACKED_COLUMNS = 255
"""Beyond this, products of matrices are as fast; and distances up to it fit in a byte."""

_BLOCK = 64


def min_packed_distance(matrix: npt.NDArray[np.int8], *, at_least: int = 0) -> int:
    """The least distance of two different rows of a matrix of +1 and -1.

    The scan stops as soon as it meets `at_least`, below which it is known not to go.

    Examples
    --------
    >>> min_packed_distance(np.array([[1, 1, 1], [1, -1, -1], [-1, -1, -1]], dtype=np.int8))
    1
    """
    n_rows, length = matrix.shape
    packed = np.packbits(matrix > 0, axis=1)
    padded = np.zeros((n_rows, -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    padded[:, : packed.shape[1]] = packed
    words = np.ascontiguousarray(padded.view(np.uint64).T)
    least = length
    for top in range(0, n_rows - 1, _BLOCK):
        # Each row against those after it: the first of a block against the next one on.
        counts = np.zeros((min(_BLOCK, n_rows - top), n_rows - top), dtype=np.uint8)
        for word in words:
            counts += np.bitwise_count(word[top : top + _BLOCK, None] ^ word[None, top:])
        np.fill_diagonal(counts, 255)
        least = min(least, int(counts.min()))
        if least <= at_least:
            break
    return int(least)
