"""Distances and balance of vectors of symbols, in blocks of BLAS products.

Equation 1 of Gupta & Amin (2021) counts (1 - u_i v_i) / 2 at every place, so a
place where either vector is 0 counts one half. Twice the distance is then the
integer n - <u, v>, and all work is done on these *doubled distances*. Single
precision is exact for them as long as the vectors are shorter than 2^24. Vectors of
q >= 3 symbols are as far apart as there are places where they differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc._limits import check_deadline
from ecoc._typing import Entries, Ints

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
    "min_eigenvalue",
    "min_packed_distance",
    "min_renaming_distance",
    "prefix_distances",
    "renaming_distances",
    "shown_figures",
    "spectrum",
]


_BLOCK = 2048
_MANY = 512
_EXACT_IN_SINGLE = 1 << 24


def _as_float(vectors: Entries | npt.NDArray[np.bool_]) -> npt.NDArray[np.floating]:
    dtype = np.float32 if vectors.shape[1] < _EXACT_IN_SINGLE else np.float64
    return np.ascontiguousarray(vectors, dtype=dtype)


def _doubled_blocks(
    vectors: Entries, n_symbols: int = 2, *, two_sided: bool = False
) -> Iterator[tuple[int, int, npt.NDArray[np.floating]]]:
    """Produce the doubled distances of blocks on and above the diagonal."""
    count, length = vectors.shape
    values = _as_float(vectors) if n_symbols == 2 else None
    for top in range(0, count, _BLOCK):
        for left in range(top, count, _BLOCK):
            check_deadline()
            rows, others = slice(top, top + _BLOCK), slice(left, left + _BLOCK)
            if values is None:
                products = _agreements(vectors[rows], vectors[others], n_symbols)
                products *= 2
                np.subtract(2 * length, products, out=products)
            else:
                products = values[rows] @ values[others].T
                if two_sided:
                    np.abs(products, out=products)
                np.subtract(length, products, out=products)
            yield top, left, products


def _agreements(rows: Entries, others: Entries, n_symbols: int) -> npt.NDArray[np.floating]:
    """In how many places each of some rows has the symbol that each of others has there."""
    counts = _as_float(rows == 0) @ _as_float(others == 0).T
    for symbol in range(1, n_symbols):
        counts += _as_float(rows == symbol) @ _as_float(others == symbol).T
    return counts


def _pairs(top: int, left: int, block: npt.NDArray[np.floating]) -> npt.NDArray[np.floating]:
    """The entries of a block that belong to pairs i < j."""
    if top != left:
        return block.ravel()
    return block[np.triu_indices(block.shape[0], k=1)]


def distances(
    vectors: Entries, n_symbols: int = 2, *, two_sided: bool = False
) -> npt.NDArray[np.float64]:
    """Distances of all pairs of rows of `vectors` by equation 1.

    With `two_sided` the distance to a vector or to its complement, whichever is less.
    The diagonal is what the equation gives: half the number of zeros of the vector
    (for the two-sided distance too).
    """
    count = vectors.shape[0]
    result = np.empty((count, count))
    for top, left, block in _doubled_blocks(vectors, n_symbols, two_sided=two_sided):
        height, width = block.shape
        result[top : top + height, left : left + width] = block / 2
        result[left : left + width, top : top + height] = block.T / 2
    return result


def min_doubled_distance(
    vectors: Entries, n_symbols: int = 2, *, two_sided: bool = False, at_least: int = 0
) -> int | None:
    """Twice the least distance of two different rows of `vectors`; None for a single row.

    The scan stops as soon as it meets `at_least`, a value the least distance is
    known not to go below.
    """
    n_rows, length = vectors.shape
    packable = n_symbols == 2 and not two_sided and length <= MOST_PACKED_COLUMNS
    if n_rows >= _MANY and packable and vectors.all():
        return 2 * min_packed_distance(vectors, at_least=-(-at_least // 2))
    least: int | None = None
    for top, left, block in _doubled_blocks(vectors, n_symbols, two_sided=two_sided):
        if top == left:
            np.fill_diagonal(block, np.inf)
        lowest = block.min(initial=np.inf)
        if np.isfinite(lowest) and (least is None or lowest < least):
            least = int(lowest)
            if least <= at_least:
                break
    return least


def prefix_distances(vectors: Entries, n_symbols: int = 2) -> npt.NDArray[np.float64]:
    """The least distance of two vectors by their first place, their first two, and so on.

    Examples
    --------
    >>> prefix_distances(np.array([[1, 1], [-1, 1], [0, -1]], dtype=np.int8))
    array([0.5, 1. ])
    """
    count, length = vectors.shape
    doubled = np.zeros((count, count), dtype=np.int32)
    # Of a vector with itself nothing is asked.
    doubled[np.diag_indices(count)] = 3 * length
    least = np.empty(length)
    for place, entries in enumerate(vectors.T.astype(np.int32)):
        if place % _MANY == 0:
            check_deadline()
        if n_symbols == 2:
            doubled += 1 - entries[:, None] * entries
        else:
            doubled += 2 * (entries[:, None] != entries)
        least[place] = doubled.min() / 2
    return least


def spectrum(vectors: Entries, n_symbols: int = 2) -> dict[float, int]:
    """How many pairs of rows of `vectors` stand at each distance, in increasing order."""
    counts = np.zeros(2 * vectors.shape[1] + 1, dtype=np.int64)
    for top, left, block in _doubled_blocks(vectors, n_symbols):
        doubled = _pairs(top, left, block).astype(np.int64)
        counts += np.bincount(doubled, minlength=counts.size)
    return {int(doubled) / 2: int(counts[doubled]) for doubled in np.flatnonzero(counts)}


def correctable_errors(vectors: Entries, n_symbols: int = 2) -> int:
    """How many wrong columns Hamming decoding (equations 1 and 2) always survives.

    For rows at least d apart this is floor((d - 1) / 2), unless the code is ternary. There a
    column whose entry is 0 for the true class has never seen that class, so here it may answer
    anything, at no charge; the columns trained on the true class are the ones counted as wrong.
    The formula for +1/-1 codes would promise 11 errors for one-vs-one on ten
    classes, where a single wrong column can change the decision.
    """
    if n_symbols > 2 or vectors.all():
        least = min_doubled_distance(vectors, n_symbols)
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


# ------------------------------------------------ columns up to renaming symbols

_TABLE_ENTRIES = 1 << 22
"""Entries of the tables that are looked at together."""


def renaming_distances(columns: Entries, n_symbols: int) -> npt.NDArray[np.int64]:
    """Distances of all pairs of rows of `columns`, however their symbols are renamed.

    Two columns are at least as far apart as there are classes outside the largest matching
    in the table of how many classes have both symbols: an assignment problem.

    Examples
    --------
    >>> renaming_distances(np.array([[0, 1, 2, 2], [2, 0, 1, 0]], dtype=np.int8), 3)
    array([[0, 1],
           [1, 0]])
    """
    count, length = columns.shape
    result = np.zeros((count, count), dtype=np.int64)
    for first, second, tables in _tables(columns, n_symbols):
        apart = [length - _largest_matching(table) for table in tables]
        result[first, second] = result[second, first] = apart
    return result


def renaming_distance(first: Ints, second: Ints) -> int:
    """Return how many classes must change their symbol to make one column of another, renamed.

    Examples
    --------
    >>> renaming_distance(np.array([0, 0, 1, 1, 2]), np.array([2, 2, 0, 1, 1]))
    1
    """
    q = int(max(first.max(), second.max())) + 1
    table = np.bincount(first * q + second, minlength=q * q).reshape(q, q)
    return first.size - _largest_matching(table)


def min_renaming_distance(columns: Entries, n_symbols: int, *, at_least: int = 0) -> int | None:
    """The least distance of two different rows of `columns`, however their symbols are renamed.

    None for a single row. The scan stops as soon as it meets `at_least`, a value that the
    least distance is known not to go below.
    """
    length = columns.shape[1]
    least: int | None = None
    for _, _, tables in _tables(columns, n_symbols):
        lower = length - _matching_bounds(tables)
        for pair in np.argsort(lower, kind="stable"):
            # Few pairs can be nearer than the nearest so far: only they are matched.
            if least is not None and lower[pair] >= least:
                break
            apart = length - _largest_matching(tables[pair])
            least = apart if least is None else min(least, apart)
            if least <= at_least:
                return least
    return least


def _tables(
    columns: Entries, n_symbols: int
) -> Iterator[tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], npt.NDArray[np.floating]]]:
    """Produce pairs i < j of columns with the tables of how many classes have both symbols."""
    count = columns.shape[0]
    indicators = np.stack([_as_float(columns == symbol) for symbol in range(n_symbols)], axis=1)
    width = max(1, int(_TABLE_ENTRIES**0.5) // n_symbols)
    for top in range(0, count, width):
        rows = indicators[top : top + width]
        for left in range(top, count, width):
            check_deadline()
            others = indicators[left : left + width]
            products = rows.reshape(-1, rows.shape[2]) @ others.reshape(-1, rows.shape[2]).T
            tables = products.reshape(len(rows), n_symbols, len(others), n_symbols)
            first, second = np.nonzero(
                np.arange(top, top + len(rows))[:, None] < np.arange(left, left + len(others))
            )
            if first.size:
                yield first + top, second + left, tables[first, :, second, :]


def _matching_bounds(tables: npt.NDArray[np.floating]) -> npt.NDArray[np.int64]:
    """No matching in a table has more than this: the value of a feasible dual solution."""
    bounds = []
    for values in (tables, tables.swapaxes(1, 2)):
        rows = values.max(axis=2)
        columns = (values - rows[:, :, None]).max(axis=1)
        bounds.append(rows.sum(axis=1) + columns.sum(axis=1))
    least: npt.NDArray[np.int64] = np.minimum(*bounds).astype(np.int64)
    return least


def _largest_matching(table: npt.NDArray[np.floating] | Ints) -> int:
    from scipy.optimize import linear_sum_assignment

    return int(table[linear_sum_assignment(table, maximize=True)].sum())


# ------------------------------------------------------ balance and identifiability


@dataclass(frozen=True, eq=False)
class ColumnBalance:
    """What stands in the groups of each column.

    Attributes
    ----------
    groups : ndarray of int64, of shape (n_symbols, n_columns)
        The classes (or data points, where class sizes were given) in each group: those of +1
        and of -1, or those of the symbols 0, 1, and so on.
    """

    groups: npt.NDArray[np.int64]

    @property
    def positive(self) -> npt.NDArray[np.int64]:
        """What stands on the side of +1, in a codebook of two symbols."""
        side: npt.NDArray[np.int64] = self.groups[0]
        return side

    @property
    def negative(self) -> npt.NDArray[np.int64]:
        """What stands on the side of -1, in a codebook of two symbols."""
        side: npt.NDArray[np.int64] = self.groups[1]
        return side

    @property
    def imbalance(self) -> npt.NDArray[np.float64]:
        """The largest less the smallest group as a share of what the column uses, 0 to 1.

        Symbols that a column does not use are no groups of it.
        """
        totals = self.groups.sum(axis=0)
        smallest = np.where(self.groups == 0, totals, self.groups).min(axis=0)
        share: npt.NDArray[np.float64] = (self.groups.max(axis=0) - smallest) / totals
        return share

    @property
    def max_imbalance(self) -> float:
        """The imbalance of the least balanced column."""
        return float(self.imbalance.max())


def column_balance(
    matrix: Entries, n_symbols: int = 2, class_sizes: Sequence[int] | None = None
) -> ColumnBalance:
    """Count what stands in each group of each column of a k x L matrix."""
    sizes = np.asarray(
        class_sizes if class_sizes is not None else [1] * matrix.shape[0], dtype=np.int64
    )
    return ColumnBalance(np.stack([sizes @ (matrix == symbol) for symbol in _symbols(n_symbols)]))


def min_eigenvalue(matrix: Entries, n_symbols: int = 2) -> float:
    """The least eigenvalue of the matrix of agreements of rows, on the vectors of sum 0."""
    k, length = matrix.shape
    if k > length * (n_symbols - 1) + 1:
        return 0.0
    incidence = np.hstack([_as_float(matrix == symbol) for symbol in _symbols(n_symbols)])
    agreements = (incidence @ incidence.T).astype(np.float64)
    means = agreements.mean(axis=0)
    centred = agreements - means[:, None] - means[None, :] + means.mean()
    # The constant vector, whose eigenvalue is now 0, is moved beyond all others.
    least = float(np.linalg.eigvalsh(centred + length)[0])
    return least if least > 1e-9 * k * length else 0.0


def _symbols(n_symbols: int) -> Sequence[int]:
    return (1, -1) if n_symbols == 2 else range(n_symbols)


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
    "n_symbols": "Symbols",
    "min_row_distance": "Minimum row distance",
    "correctable_errors": "Correctable column errors",
    "row_distance_spectrum": "Row distances (distance: pairs)",
    "min_column_distance": "Minimum column distance, up to renaming symbols",
    "min_column_distance_two_sided": "Minimum column distance, two-sided",
    "min_column_distance_one_sided": "Minimum column distance, one-sided",
    "max_imbalance": "Largest imbalance of a column",
    "min_eigenvalue": "Least eigenvalue (0: probabilities are not identified)",
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
    if codebook.n_symbols > 2:
        kind: dict[str, Any] = {"kind": "q-ary", "n_symbols": codebook.n_symbols}
        column_distances = {"min_column_distance": codebook.min_column_distance()}
    else:
        kind = {"kind": "binary" if codebook.is_binary else "ternary"}
        column_distances = {
            "min_column_distance_two_sided": codebook.min_column_distance("two-sided"),
            "min_column_distance_one_sided": codebook.min_column_distance("one-sided"),
        }
    return {
        "n_classes": codebook.n_classes,
        "n_columns": codebook.n_columns,
        **kind,
        "min_row_distance": codebook.min_row_distance,
        "correctable_errors": codebook.correctable_errors,
        "row_distance_spectrum": {
            f"{distance:g}": count for distance, count in codebook.row_distance_spectrum().items()
        },
        **column_distances,
        "max_imbalance": codebook.column_balance().max_imbalance,
    }


MAX_EIGENVALUE_CLASSES = 1000
"""With more classes the eigenvalue takes too long to be shown unasked."""


def shown_figures(codebook: Codebook) -> dict[str, Any]:
    """The key figures, and the one that people read but files do not store: it is not exact."""
    figures = key_figures(codebook)
    if codebook.n_symbols > 2 and codebook.n_classes <= MAX_EIGENVALUE_CLASSES:
        figures["min_eigenvalue"] = codebook.min_eigenvalue
    return figures


def differences(stored: Mapping[str, Any], codebook: Codebook) -> list[str]:
    """Say, figure by figure, where stored figures differ from the matrix.

    A missing figure claims nothing; an unknown one cannot be confirmed.
    """
    wrong = []
    actual = key_figures(codebook)
    for name, value in stored.items():
        if name not in actual:
            wrong.append(f"{name} is not a figure this version knows")
        elif type(value) is bool or value != actual[name]:
            wrong.append(f"{name} is stored as {value!r} but the matrix has {actual[name]!r}")
    return wrong
