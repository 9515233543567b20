"""Plans for codes of blocks side by side (Levenshtein 1961, and beyond Plotkin's range).

Plotkin (1960) bounds the number of words of length N at distance d > N/2, and Levenshtein
meets the bound by putting blocks of two sizes A_n and C_n side by side. His formulas give
how many of which; here they come out of a knapsack over all blocks with enough rows,
which agrees with the formulas where every Hadamard matrix is at hand, makes the best of
what there is where one is missing, and takes in linear codes where classes are many. A
code may also be made a few columns too long and cut (each column costs 1), or too short
and filled up with free columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice, check_int
from ecoc._typing import Signs
from ecoc.constructions.blocks import BlockCode, free_column
from ecoc.constructions.fields import prime_power
from ecoc.constructions.hadamard import (
    MAX_ORDER,
    hadamard_matrix,
    hadamard_methods,
    jacobsthal_matrix,
    load_table,
    read_signs,
)
from ecoc.constructions.linear import ParentCode, parent_codes, parent_words, tabled_codes

__all__ = [
    "FAMILIES",
    "BlockKind",
    "Patchwork",
    "biorthogonal_block",
    "conference_block",
    "hadamard_kinds",
    "legendre_block",
    "legendre_lengths",
    "linear_kinds",
    "normalised_block",
    "pack_blocks",
    "patchworks",
    "replacements",
    "residual_block",
]


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


def linear_kinds(n_classes: int, limit: int, *, tabled: bool = False) -> Iterator[BlockKind]:
    """The best shortened parent code of each number of columns that has enough words.

    Codes of the table are taken where they are better than those that algebra gives.
    """
    best: dict[int, BlockKind] = {}
    for parent in parent_codes(limit) + (tabled_codes(limit) if tabled else ()):
        for shortened in range(parent.max_shortening + 1):
            if parent.n_words >> shortened < n_classes:
                break
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
    residuals = _best_residuals(order)
    return residuals[int(rng.integers(len(residuals)))]


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


FAMILIES = ("any", "hadamard", "linear")

_MAX_CUT = 4
_MAX_FREE = 4
_MAX_TABLED_CUT = 8
_MAX_TABLED_FREE = 8
_PER_BLOCK = 1 << 20


@dataclass(frozen=True)
class Patchwork:
    """A plan for a code of blocks side by side.

    Parameters
    ----------
    n_classes, n_columns : int
        The size of the code, k x L.
    blocks : tuple of BlockKind
        What stands side by side.
    distance : int
        The row distance that the plan is sure to reach.
    n_cut, n_free : int
        How many columns are cut from the blocks, or added to them.

    Examples
    --------
    >>> plan = patchworks(10, 20)[0]
    >>> plan.names, plan.distance
    (('B20',), 10)
    """

    n_classes: int
    n_columns: int
    blocks: tuple[BlockKind, ...]
    distance: int
    n_cut: int = 0
    n_free: int = 0

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the blocks."""
        return tuple(kind.name for kind in self.blocks)

    @property
    def method(self) -> str:
        """A name for the kind of construction."""
        families = {kind.family for kind in self.blocks}
        if families == {"linear"}:
            return "linear"
        if "linear" in families:
            return "patchwork"
        if len(self.blocks) == 1 and families == {"B"}:
            return "hadamard"
        if len(self.blocks) == 1 and families == {"S"}:
            return "conference"
        return "legendre-pair" if families == {"L"} else "levenshtein"

    def make(self, rng: np.random.Generator) -> BlockCode:
        """Make the blocks, with random choices among equally good ones."""
        made = [kind.make(self.n_classes, rng) for kind in self.blocks]
        for _ in range(self.n_cut):
            widest = max(range(len(made)), key=lambda b: (made[b].shape[1], b))
            column = int(rng.integers(made[widest].shape[1]))
            made[widest] = np.delete(made[widest], column, axis=1)
        made.extend(free_column(self.n_classes) for _ in range(self.n_free))
        blocks = tuple(block for block in made if block.shape[1])
        return BlockCode(self.n_classes, self.distance, blocks)


def patchworks(n_classes: int, n_columns: int, *, family: str = "any") -> list[Patchwork]:
    """The plans for k x L codes, the largest distance first.

    Parameters
    ----------
    n_classes, n_columns : int
        The size of the codes, k x L.
    family : {"any", "hadamard", "linear"}, default="any"
        Which blocks to use.

    Examples
    --------
    >>> plan = patchworks(1000, 63, family="linear")[0]
    >>> plan.names, plan.distance, plan.n_cut
    (('kerdock[64,12,28]-1',), 28, 0)
    """
    k = check_int("n_classes", n_classes, minimum=2)
    columns = check_int("n_columns", n_columns, minimum=1)
    check_choice("family", family, FAMILIES)
    plans = _plans(k, columns, family)
    most = plans[0].distance if plans else 0
    # Tabled codes come in only where they reach more.
    more = _plans(k, columns, family, tabled=True) if family != "hadamard" else []
    return [plan for plan in more if plan.distance > most] + plans


def _plans(k: int, columns: int, family: str, *, tabled: bool = False) -> list[Patchwork]:
    most_cut, most_free = _MAX_CUT, _MAX_FREE
    if tabled:
        most_cut, most_free = _MAX_TABLED_CUT, _MAX_TABLED_FREE
    table = _knapsack(k, _rounded(columns + most_cut), family, tabled=tabled)
    plans: list[Patchwork] = []
    for length in range(max(1, columns - most_free), columns + most_cut + 1):
        blocks = table[length]
        n_cut, n_free = max(0, length - columns), max(0, columns - length)
        distance = sum(kind.distance for kind in blocks) - n_cut
        if blocks and distance > 0:
            plan = Patchwork(k, columns, blocks, distance, n_cut, n_free)
            plans.extend(_variants(plan))
    return sorted(plans, key=lambda plan: (-plan.distance, plan.n_cut + 2 * plan.n_free))


def _variants(plan: Patchwork) -> Iterator[Patchwork]:
    """The plan with its residuals replaced by others of their size, each in turn."""
    options = {kind: list(replacements(kind, plan.n_classes)) for kind in set(plan.blocks)}
    for i in range(max(len(choices) for choices in options.values())):
        chosen = (options[kind][min(i, len(options[kind]) - 1)] for kind in plan.blocks)
        yield replace(plan, blocks=tuple(chain.from_iterable(chosen)))


def _rounded(length: int) -> int:
    """The next power of two, so that neighbouring sizes share one table."""
    return 1 << max(6, (length - 1).bit_length())


@lru_cache(maxsize=64)
def _knapsack(
    k: int, limit: int, family: str, *, tabled: bool = False
) -> tuple[tuple[BlockKind, ...], ...]:
    """For each number of columns, blocks of exactly so many with the largest distance."""
    kinds: list[BlockKind] = []
    if family != "linear":
        kinds += hadamard_kinds(k, limit)
    if family != "hadamard":
        kinds += linear_kinds(k, limit, tabled=tabled)
    return pack_blocks(kinds, limit)


def pack_blocks(kinds: Sequence[BlockKind], limit: int) -> tuple[tuple[BlockKind, ...], ...]:
    """For each number of columns up to a limit, blocks of exactly so many, as far as they go.

    Examples
    --------
    >>> blocks = pack_blocks([*hadamard_kinds(4, 15)], 15)
    >>> [kind.name for kind in blocks[7]], [kind.name for kind in blocks[10]]
    (['A8'], ['C12'])
    """
    kinds = [kind for kind in kinds if kind.n_columns <= limit]
    widths = np.array([kind.n_columns for kind in kinds], dtype=np.int64)
    # A little off for each block: of equal distances the one with fewer blocks wins.
    gains = np.array([kind.distance * _PER_BLOCK - 1 for kind in kinds], dtype=np.int64)
    values: npt.NDArray[np.int64] = np.full(limit + 1, -1, dtype=np.int64)
    values[0] = 0
    best: list[tuple[BlockKind, ...]] = [()]
    for length in range(1, limit + 1):
        usable = np.flatnonzero(widths <= length)
        before = values[length - widths[usable]]
        totals = np.where(before >= 0, before + gains[usable], -1)
        if not totals.size or totals.max() < 0:
            best.append(())
            continue
        choice = int(np.argmax(totals))
        kind = kinds[int(usable[choice])]
        values[length] = totals[choice]
        best.append((*best[length - kind.n_columns], kind))
    return tuple(best)
