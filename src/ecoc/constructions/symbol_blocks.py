"""Difference matrices side by side, as codes of several symbols."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ecoc._typing import Ints
from ecoc.constructions.differences import addition_table
from ecoc.constructions.symmetric_symbols import subtraction_table

__all__ = ["DifferenceBlocks"]


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
