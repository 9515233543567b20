"""Distances and balance of +1/0/-1 vectors, in blocks of BLAS products.

Equation 1 of Gupta & Amin (2021) counts (1 - u_i v_i) / 2 at every place, so a
place where either vector is 0 counts one half. Twice the distance is then the
integer n - <u, v>, and all work is done on these *doubled distances*. Single
precision is exact for them as long as the vectors are shorter than 2^24.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc._limits import check_deadline

if TYPE_CHECKING:
    from ecoc.codes.codebook import Codebook

__all__ = [
    "FIGURE_TITLES",
    "MOST_PACKED_COLUMNS",
    "ColumnBalance",
    "column_balance",
    "correctable_errors",
    "differences",
    "distances",
    "key_figures",
    "min_doubled_distance",
    "min_packed_distance",
    "spectrum",
]

Entries = npt.NDArray[np.int8]

_BLOCK = 2048
_MANY = 512
_EXACT_IN_SINGLE = 1 << 24


def _as_float(vectors: Entries) -> npt.NDArray[np.floating]:
    dtype = np.float32 if vectors.shape[1] < _EXACT_IN_SINGLE else np.float64
    return np.ascontiguousarray(vectors, dtype=dtype)


def _doubled_blocks(
    vectors: Entries, *, two_sided: bool = False
) -> Iterator[tuple[int, int, npt.NDArray[np.floating]]]:
    """Produce the doubled distances of blocks on and above the diagonal."""
    values = _as_float(vectors)
    count, length = values.shape
    for top in range(0, count, _BLOCK):
        rows = values[top : top + _BLOCK]
        for left in range(top, count, _BLOCK):
            check_deadline()
            products = rows @ values[left : left + _BLOCK].T
            if two_sided:
                np.abs(products, out=products)
            np.subtract(length, products, out=products)
            yield top, left, products


def _pairs(top: int, left: int, block: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """The entries of a block that belong to pairs i < j."""
    if top != left:
        return block.ravel()
    return block[np.triu_indices(block.shape[0], k=1)]


def distances(vectors: Entries, *, two_sided: bool = False) -> npt.NDArray[np.float64]:
    """Distances of all pairs of rows of `vectors` by equation 1.

    With `two_sided` the distance to a vector or to its complement, whichever is less.
    The diagonal is what the equation gives: half the number of zeros of the vector
    (for the two-sided distance too).
    """
    count = vectors.shape[0]
    result = np.empty((count, count))
    for top, left, block in _doubled_blocks(vectors, two_sided=two_sided):
        height, width = block.shape
        result[top : top + height, left : left + width] = block / 2
        result[left : left + width, top : top + height] = block.T / 2
    return result


def min_doubled_distance(
    vectors: Entries, *, two_sided: bool = False, at_least: int = 0
) -> int | None:
    """Twice the least distance of two different rows of `vectors`; None for a single row.

    The scan stops as soon as it meets `at_least`, a value the least distance is
    known not to go below.
    """
    n_rows, length = vectors.shape
    if n_rows >= _MANY and length <= MOST_PACKED_COLUMNS and not two_sided and vectors.all():
        return 2 * min_packed_distance(vectors, at_least=-(-at_least // 2))
    least: int | None = None
    for top, left, block in _doubled_blocks(vectors, two_sided=two_sided):
        if top == left:
            np.fill_diagonal(block, np.inf)
        lowest = block.min(initial=np.inf)
        if np.isfinite(lowest) and (least is None or lowest < least):
            least = int(lowest)
            if least <= at_least:
                break
    return least


def spectrum(vectors: Entries) -> dict[float, int]:
    """How many pairs of rows of `vectors` stand at each distance, in increasing order."""
    counts = np.zeros(2 * vectors.shape[1] + 1, dtype=np.int64)
    for top, left, block in _doubled_blocks(vectors):
        doubled = _pairs(top, left, block).astype(np.int64)
        counts += np.bincount(doubled, minlength=counts.size)
    return {int(doubled) / 2: int(counts[doubled]) for doubled in np.flatnonzero(counts)}


def correctable_errors(vectors: Entries) -> int:
    """How many wrong columns Hamming decoding (equations 1 and 2) always survives.

    For +1/-1 rows at least d apart this is floor((d - 1) / 2). A column whose entry
    is 0 for the true class has never seen that class, so here it may answer anything,
    at no charge; the columns trained on the true class are the ones counted as wrong.
    The formula for +1/-1 codes would promise 11 errors for one-vs-one on ten
    classes, where a single wrong column can change the decision.
    """
    if vectors.all():
        least = min_doubled_distance(vectors)
        return 0 if least is None else max(0, (least // 2 - 1) // 2)
    values = _as_float(vectors)
    used = np.abs(values)
    n_used = used.sum(axis=1)
    best = np.inf
    for top in range(0, values.shape[0], _BLOCK):
        check_deadline()
        rows = slice(top, top + _BLOCK)
        both = used[rows] @ used.T
        differ = (both - values[rows] @ values.T) / 2
        only_true = n_used[rows, None] - both
        only_other = n_used[None, :] - both
        # Twice the lead of the true class when no column trained on it is wrong. A wrong
        # column takes 4 of it where both classes are used and 2 where only the true one is.
        lead = 2 * differ + only_true - only_other
        needed = np.where(
            lead <= 4 * differ,
            np.ceil(lead / 4),
            differ + np.ceil((lead - 4 * differ) / 2),
        )
        needed[np.arange(both.shape[0]), np.arange(top, top + both.shape[0])] = np.inf
        best = min(best, float(needed.min()))
    return max(0, int(best) - 1) if np.isfinite(best) else 0


@dataclass(frozen=True, eq=False)
class ColumnBalance:
    """What stands on the two sides of each column.

    Attributes
    ----------
    positive, negative : ndarray of int64
        The classes (or data points, where class sizes were given) on each side.
    """

    positive: npt.NDArray[np.int64]
    negative: npt.NDArray[np.int64]

    @property
    def imbalance(self) -> npt.NDArray[np.float64]:
        """The difference of the two sides as a share of what the column uses, 0 to 1."""
        difference = np.abs(self.positive - self.negative)
        share: npt.NDArray[np.float64] = difference / (self.positive + self.negative)
        return share

    @property
    def max_imbalance(self) -> float:
        """The imbalance of the least balanced column."""
        return float(self.imbalance.max())


def column_balance(matrix: Entries, class_sizes: Sequence[int] | None = None) -> ColumnBalance:
    """Count what stands on each side of each column of a k x L matrix."""
    sizes = np.asarray(
        class_sizes if class_sizes is not None else [1] * matrix.shape[0], dtype=np.int64
    )
    return ColumnBalance(positive=sizes @ (matrix == 1), negative=sizes @ (matrix == -1))


MOST_PACKED_COLUMNS = 255
"""Beyond this, products of matrices are as fast; and distances up to it fit in a byte."""

_PACKED_ROWS = 64


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
    for top in range(0, n_rows - 1, _PACKED_ROWS):
        # Each row against those after it: the first of a block against the next one on.
        counts = np.zeros((min(_PACKED_ROWS, n_rows - top), n_rows - top), dtype=np.uint8)
        for word in words:
            counts += np.bitwise_count(word[top : top + _PACKED_ROWS, None] ^ word[None, top:])
        np.fill_diagonal(counts, 255)
        least = min(least, int(counts.min()))
        if least <= at_least:
            break
    return int(least)


# --------------------------------------------------------------- key figures
# What files store, people read, and `verify` recomputes.

FIGURE_TITLES = {
    "n_classes": "Classes",
    "n_columns": "Columns",
    "kind": "Kind",
    "min_row_distance": "Minimum row distance",
    "correctable_errors": "Correctable column errors",
    "row_distance_spectrum": "Row distances (distance: pairs)",
    "min_column_distance_two_sided": "Minimum column distance, two-sided",
    "min_column_distance_one_sided": "Minimum column distance, one-sided",
    "max_imbalance": "Largest imbalance of a column",
}
"""The figures in the order in which they are shown, with a title for people."""


def key_figures(codebook: Codebook) -> dict[str, Any]:
    """Recompute every key figure of a codebook from its matrix.

    Examples
    --------
    >>> from ecoc.codes import one_vs_rest
    >>> figures = key_figures(one_vs_rest(4))
    >>> figures["min_row_distance"], figures["correctable_errors"]
    (2, 0)
    """
    return {
        "n_classes": codebook.n_classes,
        "n_columns": codebook.n_columns,
        "kind": "binary" if codebook.is_binary else "ternary",
        "min_row_distance": codebook.min_row_distance,
        "correctable_errors": codebook.correctable_errors,
        "row_distance_spectrum": {
            f"{distance:g}": count for distance, count in codebook.row_distance_spectrum().items()
        },
        "min_column_distance_two_sided": codebook.min_column_distance("two-sided"),
        "min_column_distance_one_sided": codebook.min_column_distance("one-sided"),
        "max_imbalance": codebook.column_balance().max_imbalance,
    }


def differences(stored: Mapping[str, Any], codebook: Codebook) -> list[str]:
    """Say, figure by figure, where stored figures differ from the matrix.

    A missing figure claims nothing; an unknown one cannot be confirmed.
    """
    found = []
    actual = key_figures(codebook)
    for name, value in stored.items():
        if name not in actual:
            found.append(f"{name} is not a figure this version knows")
        elif type(value) is bool or value != actual[name]:
            found.append(f"{name} is stored as {value!r} but the matrix has {actual[name]!r}")
    return found
