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

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice, check_int
from ecoc.constructions.block_kinds import (
    BlockKind,
    hadamard_kinds,
    linear_kinds,
    replacements,
)
from ecoc.constructions.blocks import BlockCode, free_column

__all__ = ["FAMILIES", "Patchwork", "patchworks"]

FAMILIES = ("any", "hadamard", "linear")

_MAX_CUT = 4
_MAX_FREE = 4
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
    table = _knapsack(k, _rounded(columns + _MAX_CUT), family)
    plans: list[Patchwork] = []
    for length in range(max(1, columns - _MAX_FREE), columns + _MAX_CUT + 1):
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
def _knapsack(k: int, limit: int, family: str) -> tuple[tuple[BlockKind, ...], ...]:
    """For each number of columns, blocks of exactly so many with the largest distance."""
    kinds: list[BlockKind] = []
    if family != "linear":
        kinds += hadamard_kinds(k, limit)
    if family != "hadamard":
        kinds += linear_kinds(k, limit)
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
