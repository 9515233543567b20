"""Difference matrices: rows over a group of q elements, any two with all differences equally often.

A square one of order n is a generalised Hadamard matrix. Its rows, and each row with each
element of the group added, are codes that meet the averaging bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ecoc._limits import Budget
from ecoc._typing import Ints
from ecoc.constructions.fields import galois_field, prime_power
from ecoc.constructions.symmetric_symbols import (
    Rotation,
    anneal_differences,
    subtraction_table,
)

__all__ = [
    "SEARCHED",
    "DifferenceBlocks",
    "addition_table",
    "difference_matrix",
    "difference_parts",
    "is_difference_matrix",
    "searched_moves",
]

SEARCHED: dict[tuple[int, int], tuple[tuple[int, int, int, int], ...]] = {
    (3, 6): ((6, 1, 0, 1),),
    (3, 12): ((12, 6, 0, 2),),
    (3, 21): ((14, 7, 0, 13),),
    (3, 24): ((13, 12, 1, 4),),
    (3, 30): ((15, 15, 0, 224),),
    (3, 33): ((12, 11, 1, 14),),
    (3, 39): ((13, 13, 0, 11), (14, 13, 1, 266)),
    (3, 42): ((15, 14, 1, 682),),
    (3, 48): ((16, 16, 0, 5),),
    (3, 51): ((17, 17, 0, 221),),
    (3, 57): ((19, 19, 0, 3651),),
    (3, 60): ((15, 15, 0, 2008),),
    (4, 8): ((8, 2, 0, 0),),
    (4, 12): ((12, 3, 0, 8),),
    (4, 20): ((10, 5, 0, 134),),
    (5, 10): ((10, 5, 0, 3),),
    (5, 15): ((6, 3, 0, 0),),
    (6, 12): ((6, 3, 0, 4),),
    (10, 20): ((5, 5, 0, 0),),
}
"""What annealing finds: for q and a number of columns, rows, order and fixed rows of the
symmetry, and the seed; found by tools/find_difference_matrices.py."""


def searched_moves(rotation: Rotation, n_columns: int) -> int:
    """Return how many moves a search for the table takes."""
    return max(20_000, 150 * rotation.n_rows * n_columns // rotation.order)


_LONGEST = 128


def is_difference_matrix(matrix: Ints, order: int) -> bool:
    """Tell whether any two rows have every difference equally often.

    Examples
    --------
    >>> is_difference_matrix(np.array([[0, 0, 0], [0, 1, 2], [0, 2, 1]]), 3)
    True
    """
    t, n = matrix.shape
    subtract = subtraction_table(order)
    for i in range(t):
        for j in range(i):
            counts = np.bincount(subtract[matrix[i], matrix[j]], minlength=order)
            if (counts * order != n).any():
                return False
    return True


def addition_table(order: int) -> Ints:
    """Return the sums in the group whose differences :func:`subtraction_table` has."""
    subtract = subtraction_table(order)
    return subtract[:, subtract[0]]


@lru_cache(maxsize=256)
def difference_matrix(n_columns: int, order: int) -> Ints | None:
    """Return a difference matrix of so many columns, with as many rows as is known here.

    Multiplication tables of fields, products of smaller matrices, and what annealing found.

    Examples
    --------
    >>> difference_matrix(9, 3).shape, difference_matrix(18, 3).shape
    ((9, 9), (18, 18))
    >>> difference_matrix(5, 3) is None
    True
    """
    matrices = [
        matrix
        for matrix in (
            _bilinear(n_columns, order),
            _product(n_columns, order),
            _searched(n_columns, order),
        )
        if matrix is not None
    ]
    return max(matrices, key=len) if matrices else None


def _bilinear(n: int, q: int) -> Ints | None:
    """The products x y of all vectors over a field, n = q^j of them."""
    if prime_power(q) is None or n % q:
        return None
    if n == q:
        field = galois_field(q)
        table = np.zeros((q, q), dtype=np.int64)
        logs = field.logarithms[1:]
        table[1:, 1:] = field.powers[(logs[:, None] + logs) % (q - 1)]
        return table
    return None


def _product(n: int, q: int) -> Ints | None:
    """Add up two smaller matrices, every row and column with every other."""
    best = None
    for first in range(q, int(n**0.5) + 1, q):
        if n % first == 0 and n // first % q == 0:
            a, b = difference_matrix(first, q), difference_matrix(n // first, q)
            if a is not None and b is not None and (best is None or len(a) * len(b) > len(best)):
                sums = addition_table(q)[a[:, None, :, None], b[None, :, None, :]]
                best = sums.reshape(len(a) * len(b), n)
    return best


def _searched(n: int, q: int) -> Ints | None:
    recipes = SEARCHED.get((q, n), ())
    best = None
    for rows, turn, fixed, seed in recipes:
        rotation = Rotation(rows, turn, fixed)
        matrix = anneal_differences(
            rotation,
            n,
            q,
            n // q,
            seed=seed,
            n_moves=searched_moves(rotation, n),
            budget=Budget(),
        )
        if matrix is not None and (best is None or len(matrix) > len(best)):
            best = matrix
    return best


def difference_parts(n_rows: int, n_columns: int, order: int) -> tuple[Ints, ...] | None:
    """Return difference matrices of enough rows whose columns add up; None if there are none.

    Examples
    --------
    >>> [part.shape for part in difference_parts(12, 45, 3)]
    [(12, 33), (12, 12)]
    """
    lengths = _part_lengths(n_rows, n_columns, order)
    if lengths is None:
        return None
    matrices = [difference_matrix(n, order) for n in lengths]
    return tuple(matrix for matrix in matrices if matrix is not None)


@lru_cache(maxsize=4096)
def _part_lengths(n_rows: int, n_columns: int, order: int) -> tuple[int, ...] | None:
    if n_columns == 0:
        return ()
    for n in range(min(n_columns, _LONGEST), 0, -1):
        if n % order == 0 and n >= n_rows:
            matrix = difference_matrix(n, order)
            if matrix is None or len(matrix) < n_rows:
                continue
            rest = _part_lengths(n_rows, n_columns - n, order)
            if rest is not None:
                return (n, *rest)
    return None


@dataclass(frozen=True, eq=False)
class DifferenceBlocks:
    """Difference matrices with translates, and beside them a smaller code or a normalised one.

    A row of a difference matrix and its translates, with each of the q elements added, are q
    rows of a code: they differ in all n columns, and rows of others in n - n / q of them.
    A code that has one row for each q of these adds its distance between them. A normalised
    matrix, less its constant column, has rows that all differ in n - n / q of n - 1 columns.

    Attributes
    ----------
    parts : tuple of ndarray
        The difference matrices.
    inner : ndarray of shape (t, some) or None
        A code whose rows stand beside q rows each.
    normalised : ndarray or None
        A difference matrix without translates.
    """

    parts: tuple[Ints, ...]
    inner: Ints | None = None
    normalised: Ints | None = None

    @property
    def name(self) -> str:
        """What stands side by side.

        Examples
        --------
        >>> table = np.array([[0, 0, 0], [0, 1, 2], [0, 2, 1]])
        >>> DifferenceBlocks((table,), inner=np.arange(3)[:, None]).name
        'differences 3 and a code of 3 rows'
        """
        names = []
        if self.parts:
            names.append("differences " + "+".join(str(part.shape[1]) for part in self.parts))
        if self.inner is not None:
            names.append(f"a code of {len(self.inner)} rows")
        if self.normalised is not None:
            names.append(f"normalised differences {self.normalised.shape[1]}")
        return " and ".join(names)

    def deal(self, n_rows: int, n_symbols: int, rng: np.random.Generator) -> Ints:
        """Return at least so many rows; which rows of the matrices they have is random.

        Examples
        --------
        An affine plane: any two of nine rows agree in one of four columns.

        >>> table = np.array([[0, 0, 0], [0, 1, 2], [0, 2, 1]])
        >>> blocks = DifferenceBlocks((table,), inner=np.arange(3)[:, None])
        >>> code = blocks.deal(9, 3, np.random.default_rng(0))
        >>> (code[:, None] == code).sum(axis=2)[0].tolist()
        [4, 1, 1, 1, 1, 1, 1, 1, 1]
        """
        add, t = addition_table(n_symbols), -(-n_rows // n_symbols)
        elements = np.arange(n_symbols)[None, :, None]
        blocks = []
        for part in self.parts:
            rows = part[rng.permutation(len(part))[:t], None, :]
            translates = add[rows, elements].reshape(t * n_symbols, -1)
            if self.inner is None:
                # Nothing depends on which rows belong together.
                translates = translates[rng.permutation(len(translates))]
            blocks.append(translates)
        if self.inner is not None:
            blocks.append(np.repeat(self.inner, n_symbols, axis=0))
        if self.normalised is not None:
            square = self.normalised[rng.permutation(len(self.normalised))]
            subtract = subtraction_table(n_symbols)
            blocks.append(subtract[square[:, 1:], square[:, :1]])
        least = min(len(block) for block in blocks)
        return np.concatenate([block[:least] for block in blocks], axis=1)
