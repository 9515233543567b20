"""The kinds of blocks that can stand side by side, with their words, columns and distance.

From a Hadamard matrix of order n come three sets of words (Levenshtein 1961):

* its rows and their complements, n columns, pairwise distance at least n/2;
* A_n: made constant in one column, which is then left out: n words of n - 1 columns,
  pairwise distance n/2;
* C_n: of those, the words that agree in a second column, which is left out too:
  n/2 words of n - 2 columns, pairwise distance n/2 (the residual).

A Legendre pair of length n, two +1/-1 sequences whose periodic autocorrelations sum to
-2, gives n words of 2n columns at distance n + 1 (Fletcher, Gysin & Seberry 2001): as
good as C_(2n+2) less a word, and often with better columns. Paley's symmetric conference
matrix of order q + 1 gives 2q + 2 words of q columns at distance (q - 1)/2 (Sloane &
Seidel 1970).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ecoc.constructions.fields import prime_power
from ecoc.constructions.goethals_seidel import load_table, read_signs
from ecoc.constructions.hadamard import (
    MAX_ORDER,
    hadamard_matrix,
    hadamard_methods,
    jacobsthal_matrix,
)
from ecoc.constructions.linear import ParentCode, parent_codes, parent_words

__all__ = [
    "BlockKind",
    "biorthogonal_block",
    "conference_block",
    "hadamard_kinds",
    "legendre_block",
    "legendre_lengths",
    "linear_kinds",
    "normalised_block",
    "replacements",
    "residual_block",
]

Signs = npt.NDArray[np.int8]

_RESIDUALS_KEPT = 6


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


def biorthogonal_block(order: int, n_classes: int, rng: np.random.Generator) -> Signs:
    """The rows of a Hadamard matrix with random signs, and their complements where needed.

    Signs do not change the inner products of columns, but keep columns from being constant.
    """
    matrix = _some_matrix(order, rng)
    signs = (1 - 2 * rng.integers(0, 2, size=order)).astype(np.int8)
    rows: Signs = matrix * signs[:, None]
    return rows if n_classes <= order else np.vstack([rows, -rows])


def normalised_block(order: int, rng: np.random.Generator) -> Signs:
    """A_n: n words of n - 1 columns, n/2 apart.

    Examples
    --------
    >>> normalised_block(12, np.random.default_rng(0)).shape
    (12, 11)
    """
    matrix = _some_matrix(order, rng)
    column = int(rng.integers(order))
    return np.delete(matrix * matrix[:, [column]], column, axis=1)


def residual_block(order: int, rng: np.random.Generator) -> Signs:
    """C_n: n/2 words of n - 2 columns, n/2 apart, one of the best few residuals.

    Examples
    --------
    >>> residual_block(12, np.random.default_rng(0)).shape
    (6, 10)
    """
    found = _best_residuals(order)
    return found[int(rng.integers(len(found)))]


def legendre_lengths() -> frozenset[int]:
    """The lengths of the Legendre pairs in the table."""
    return frozenset(int(length) for length in load_table()["legendre"])


def legendre_block(length: int) -> Signs:
    """Two circulants side by side: n words of 2n columns, n + 1 apart.

    Examples
    --------
    >>> legendre_block(11).shape
    (11, 22)
    """
    shifts = (np.arange(length)[None, :] - np.arange(length)[:, None]) % length
    pair = load_table()["legendre"][str(length)]
    return np.hstack([read_signs(text)[shifts] for text in pair])


def conference_block(q: int) -> Signs:
    """2q + 2 words of q columns, at least (q - 1)/2 apart, for a prime power q = 1 mod 4.

    Examples
    --------
    >>> conference_block(9).shape
    (20, 9)
    """
    core, one = jacobsthal_matrix(q), np.eye(q, dtype=np.int8)
    constant = np.ones((1, q), dtype=np.int8)
    return np.vstack([one + core, one - core, constant, -constant])


def _some_matrix(order: int, rng: np.random.Generator) -> Signs:
    methods = hadamard_methods(order)
    matrix = hadamard_matrix(order, method=methods[int(rng.integers(len(methods)))])
    return matrix if rng.integers(2) else np.ascontiguousarray(matrix.T)


@lru_cache(maxsize=128)
def _best_residuals(order: int) -> tuple[Signs, ...]:
    """The residuals with the best column separation among some of each matrix.

    The quality differs much: those of Kronecker products repeat columns, and those of
    Paley's second kind have columns at distance 2.
    """
    rng = np.random.default_rng(order)
    n_pairs = min(order, max(4, 2_000_000 // order**2))
    scored: list[tuple[int, int, Signs]] = []
    for method in hadamard_methods(order):
        matrix = hadamard_matrix(order, method=method)
        for source in (matrix, matrix.T):
            for _ in range(n_pairs):
                block = _residual(source, *rng.choice(order, size=2, replace=False).tolist())
                single = block.astype(np.float32)
                products = np.abs(single.T @ single)
                np.fill_diagonal(products, 0)
                scored.append((int(products.max()), len(scored), block))
    scored.sort(key=lambda item: item[:2])
    return tuple(block for _, _, block in scored[:_RESIDUALS_KEPT])


def _residual(matrix: Signs, first: int, second: int) -> Signs:
    kept = matrix[matrix[:, first] == matrix[:, second]]
    return np.delete(kept * kept[:, [first]], [first, second], axis=1)
