"""The kinds of blocks that can stand side by side, with their words, columns and distance."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ecoc.constructions.fields import prime_power
from ecoc.constructions.hadamard import MAX_ORDER, hadamard_methods
from ecoc.constructions.hadamard_blocks import (
    biorthogonal_block,
    conference_block,
    legendre_block,
    legendre_lengths,
    normalised_block,
    residual_block,
)
from ecoc.constructions.linear import ParentCode, parent_codes, parent_words

__all__ = ["BlockKind", "hadamard_kinds", "linear_kinds", "replacements"]

Signs = npt.NDArray[np.int8]


@dataclass(frozen=True)
class BlockKind:
    """A kind of block.

    Parameters
    ----------
    family : {"B", "A", "C", "L", "S", "linear"}
        Rows of a Hadamard matrix and their complements, Levenshtein's two blocks, a
        Legendre pair, Sloane and Seidel's words of a conference matrix, or words of a
        linear (or Kerdock) code.
    n_columns, distance : int
        What the block adds to a code.
    order : int
        The order of the Hadamard matrix, or the length of the sequences or words.
    parent : ParentCode, optional
        Where the words come from.
    """

    family: str
    n_columns: int
    distance: int
    order: int = 0
    parent: ParentCode | None = None

    @property
    def name(self) -> str:
        """A short name, as ``A12`` or ``bch[63,10,27]``, with what it is shortened by."""
        if self.parent is None:
            return f"{self.family}{self.order}"
        shortened = self.parent.length - self.n_columns
        return f"{self.parent.name}{f'-{shortened}' if shortened else ''}"

    def make(self, n_classes: int, rng: np.random.Generator) -> Signs:
        """Make a block with at least `n_classes` rows."""
        if self.parent is not None:
            # As many spare words again leave the search enough choice.
            shortened = self.parent.length - self.n_columns
            return parent_words(self.parent, shortened, 2 * n_classes, rng)
        if self.family == "B":
            return biorthogonal_block(self.order, n_classes, rng)
        if self.family == "A":
            return normalised_block(self.order, rng)
        if self.family == "L":
            return legendre_block(self.order)
        if self.family == "S":
            return conference_block(self.order)
        return residual_block(self.order, rng)


def hadamard_kinds(n_classes: int, limit: int) -> Iterator[BlockKind]:
    """Blocks from Hadamard and conference matrices with enough rows and few enough columns."""
    for n in range(2, min(limit + 2, MAX_ORDER) + 1, 2):
        if not hadamard_methods(n):
            continue
        if 2 * n >= n_classes and n <= limit:
            yield BlockKind("B", n, n // 2, n)
        if n >= n_classes and n - 1 <= limit:
            yield BlockKind("A", n - 1, n // 2, n)
        if n // 2 >= n_classes and 0 < n - 2 <= limit:
            yield BlockKind("C", n - 2, n // 2, n)
    # Only here do conference matrices have words that Hadamard matrices lack.
    for q in range(5, limit + 1, 4):
        if 2 * q + 2 >= n_classes > q and prime_power(q):
            yield BlockKind("S", q, (q - 1) // 2, q)


def linear_kinds(n_classes: int, limit: int) -> Iterator[BlockKind]:
    """The best shortened parent code of each number of columns that has enough words."""
    needed = (n_classes - 1).bit_length()
    best: dict[int, BlockKind] = {}
    for parent in parent_codes(limit):
        for shortened in range(min(parent.max_shortening, parent.dimension - needed) + 1):
            width = parent.length - shortened
            if width not in best or best[width].distance < parent.distance:
                best[width] = BlockKind("linear", width, parent.distance, parent=parent)
    yield from best.values()


def replacements(kind: BlockKind, n_classes: int) -> Iterator[tuple[BlockKind, ...]]:
    """What can stand in place of a block, of the same columns and distance, itself last."""
    if kind.family == "C":
        half = kind.order // 2
        if half - 1 in legendre_lengths() and half - 1 >= n_classes:
            yield (BlockKind("L", kind.n_columns, kind.distance, half - 1),)
        if hadamard_methods(half):
            yield (BlockKind("A", half - 1, half // 2, half),) * 2
    yield (kind,)
