"""All codes of one length: for each distance one with as many rows as are known.

A code with K rows serves every number of classes up to K, by its first rows. So for each
length few codes are made, and their rows are put in an order such that the columns of the
first k rows stand well apart for every k.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np
import numpy.typing as npt

from ecoc._limits import Budget
from ecoc._typing import Signs
from ecoc.atlas.recipes import Recipe
from ecoc.bounds import separation_bound
from ecoc.constructions.blocks import BlockCode, Goal, free_column, search_deal, separation_of
from ecoc.constructions.patchwork import (
    BlockKind,
    hadamard_kinds,
    linear_kinds,
    pack_blocks,
    replacements,
)
from ecoc.survey.leaves import Block, as_symbols, describe_words, make_block

__all__ = [
    "MAX_CUT",
    "CodeFigures",
    "Plan",
    "SurveyedCode",
    "best_linear_kinds",
    "codes_of_lengths",
    "measure_rows",
    "plans_of_length",
]

MAX_CUT = 8
_MAX_FREE = 4
_STEP = 0.75
"""A code serves down to this share of its rows; fewer have a code of their own."""

_VARIANTS = 2
_MANY_CLASSES = 64
_SPARE_PLANS = 8
_DEALS_WORK = 1.0
_POWER = 6
_SIGNS = ord("+"), ord("-")
_AT_A_TIME = 32


@dataclass(frozen=True)
class CodeFigures:
    """What the first rows of a code reach, for one number of rows."""

    n_classes: int
    distance: int
    separation: int
    imbalance: int
    digest: int

    @property
    def rank(self) -> tuple[int, int, int]:
        """The figures by which one codebook is better than another, larger ones first."""
        return self.distance, self.separation, -self.imbalance


@dataclass(frozen=True, eq=False)
class SurveyedCode:
    """A code with its recipe, and the figures of its first rows.

    Parameters
    ----------
    n_columns, n_symbols : int
        Columns L and symbols q.
    how : str
        How it was made, in a few words.
    recipe : list
        Its recipe.
    uses : tuple
        The matrices that the recipe uses, with their names.
    figures : tuple of CodeFigures
        One for each number of classes that it serves.
    searched : bool
        Whether everything that a design does was done.
    """

    n_columns: int
    n_symbols: int
    how: str
    recipe: Recipe
    uses: tuple[tuple[str, Recipe], ...]
    figures: tuple[CodeFigures, ...]
    searched: bool = False


# ---------------------------------------------------------------------------- plans


@dataclass(frozen=True)
class Plan:
    """Blocks that stand side by side, and how many columns are cut or added."""

    n_classes: int
    blocks: tuple[BlockKind, ...]
    distance: int
    n_cut: int
    n_free: int


@lru_cache(maxsize=2)
def _linear_steps(limit: int, most: int) -> tuple[tuple[int, tuple[BlockKind, ...]], ...]:
    """The kinds of linear blocks, and up to which number of classes they are the best ones."""
    steps = []
    k = 2
    while k <= most:
        kinds = best_linear_kinds(k, limit)
        served = min((_n_words(kind) for kind in kinds), default=most)
        steps.append((served, kinds))
        k = served + 1
    return tuple(steps)


def best_linear_kinds(n_classes: int, limit: int) -> tuple[BlockKind, ...]:
    """For each number of columns the best linear block, from the table only where it is better."""
    kinds = {kind.n_columns: kind for kind in linear_kinds(n_classes, limit)}
    for kind in linear_kinds(n_classes, limit, tabled=True):
        if kind.n_columns not in kinds or kind.distance > kinds[kind.n_columns].distance:
            kinds[kind.n_columns] = kind
    return tuple(kinds.values())


def _n_words(kind: BlockKind) -> int:
    assert kind.parent is not None  # noqa: S101  # blocks of linear codes have one
    return kind.parent.n_words >> (kind.parent.length - kind.n_columns)


@lru_cache(maxsize=512)
def _best_blocks(n_classes: int, limit: int, most: int) -> tuple[tuple[BlockKind, ...], ...]:
    """For each number of columns, blocks of exactly so many with the largest distance."""
    kinds = [*hadamard_kinds(n_classes, limit)]
    kinds += next(step for served, step in _linear_steps(limit, most) if served >= n_classes)
    return pack_blocks(kinds, limit)


def best_plans(n_classes: int, n_columns: int, limit: int, most: int) -> list[Plan]:
    """Plans for so many classes and columns, those of the largest distance first.

    Examples
    --------
    >>> best_plans(12, 11, 16, 12)[0].distance
    6
    """
    # Every block has an even number of words.
    table = _best_blocks(n_classes + n_classes % 2, limit, most + most % 2)
    plans = plans_of_length(table, n_classes, n_columns)
    return [variant for plan in plans for variant in _variants(plan)]


def plans_of_length(
    table: Sequence[tuple[BlockKind, ...]], n_classes: int, n_columns: int
) -> list[Plan]:
    """Plans from blocks of about so many columns, the largest distance first."""
    plans: list[Plan] = []
    for length in range(
        max(1, n_columns - _MAX_FREE), min(n_columns + MAX_CUT, len(table) - 1) + 1
    ):
        blocks = table[length]
        n_cut, n_free = max(0, length - n_columns), max(0, n_columns - length)
        distance = sum(kind.distance for kind in blocks) - n_cut
        if blocks and distance > 0:
            plans.append(Plan(n_classes, blocks, distance, n_cut, n_free))
    return sorted(plans, key=lambda plan: (-plan.distance, plan.n_cut + 2 * plan.n_free))


def _variants(plan: Plan) -> Iterator[Plan]:
    """The plan with its residuals replaced by others of their size, each in turn."""
    options = {kind: list(replacements(kind, plan.n_classes)) for kind in set(plan.blocks)}
    for i in range(max(len(choices) for choices in options.values())):
        chosen = [options[kind][min(i, len(options[kind]) - 1)] for kind in plan.blocks]
        blocks = tuple(kind for group in chosen for kind in group)
        yield Plan(plan.n_classes, blocks, plan.distance, plan.n_cut, plan.n_free)


# ---------------------------------------------------------------------------- codes


@dataclass(frozen=True, eq=False)
class _Matrix:
    """A code with its rows in order, from which codes of fewer columns are cut."""

    signs: Signs
    low: int
    names: str
    n_cut: int
    n_free: int
    recipe: Recipe
    uses: tuple[tuple[str, Recipe], ...]
    distance: int

    @property
    def n_classes(self) -> int:
        return len(self.signs)

    def surveyed(self) -> SurveyedCode:
        figures = measure_rows(self.signs, self.low)
        how = self.names + (f", {self.n_cut} cut" if self.n_cut else "")
        how += f", {self.n_free} added" if self.n_free else ""
        return SurveyedCode(self.signs.shape[1], 2, how, self.recipe, self.uses, figures)

    def first_rows(self, n_classes: int) -> _Matrix:
        """The code with its first rows only; the recipe keeps all."""
        return replace(self, signs=self.signs[:n_classes])

    def cut(self) -> _Matrix:
        """The code without the column that is nearest to the others."""
        values = self.signs.astype(np.float32)
        products = (values.T @ values) / self.n_classes
        np.fill_diagonal(products, 0)
        column = int(np.argmax((products**_POWER).sum(axis=0)))
        return replace(
            self,
            signs=np.delete(self.signs, column, axis=1),
            n_cut=self.n_cut + 1,
            recipe=["without", [column], self.recipe],
            distance=self.distance - 1,
        )


def codes_of_lengths(
    shortest: int, longest: int, classes: Callable[[int], tuple[int, int] | None], limit: int
) -> list[SurveyedCode]:
    """Codes of two symbols for some lengths, the longest first.

    A column less costs a distance of 1 at most, so that a code of one column more is cut
    where nothing better is known.

    Parameters
    ----------
    shortest, longest : int
        The lengths, L.
    classes : callable
        The least and the largest number of classes of a length; None for no cells.
    limit : int
        The most columns of any length in this survey; blocks are looked for once.

    Examples
    --------
    >>> codes = codes_of_lengths(10, 11, lambda length: (9, 12), 24)
    >>> [(code.n_columns, code.how, code.figures[-1].distance) for code in codes]
    [(11, 'A12', 6), (10, 'A12, 1 cut', 5)]
    """
    codes: list[SurveyedCode] = []
    longer: list[_Matrix] = []
    most = max((c[1] for c in map(classes, range(shortest, longest + 1)) if c), default=0)
    for length in range(longest, shortest - 1, -1):
        served = classes(length)
        if served is None:
            continue
        plan = partial(best_plans, n_columns=length, limit=limit + MAX_CUT, most=most)
        made = _codes_of_length(length, served, plan, longer)
        codes += [code.surveyed() for code in made]
        longer = made
    return codes


def _codes_of_length(
    length: int,
    classes: tuple[int, int],
    plans_for: Callable[[int], list[Plan]],
    longer: list[_Matrix],
) -> list[_Matrix]:
    made: list[_Matrix] = []
    first, k = classes
    while k >= first:
        plans = plans_for(k)
        if not plans:
            k -= 1
            continue
        distance = plans[0].distance
        low = max(first, min(k, int(_STEP * k)))
        while low < k and plans_for(low)[0].distance > distance:
            low += 1
        usable = [c for c in longer if c.low <= k <= c.n_classes and c.distance > distance]
        if usable:
            low = max(low, usable[0].low)
            made.append(replace(usable[0].cut(), low=low).first_rows(k))
        else:
            made += _best_deal(plans, length, low, np.random.default_rng([length, k]))
        k = low - 1
    return made


def _best_deal(plans: list[Plan], length: int, low: int, rng: np.random.Generator) -> list[_Matrix]:
    """The best of the first plans; of the others the first whose columns are different."""
    n_first = _VARIANTS if plans[0].n_classes <= _MANY_CLASSES else 1
    alike = [plan for plan in plans if plan.distance == plans[0].distance][:n_first]
    codes = [_dealt(plan, length, low, rng) for plan in alike]
    best = max(codes, key=lambda code: separation_of(code.signs))
    if measure_rows(best.signs, low)[:1] and separation_of(best.signs[:low]) > 0:
        return [best]
    for plan in plans[len(alike) : len(alike) + _SPARE_PLANS]:
        code = _dealt(plan, length, low, rng)
        if separation_of(code.signs[:low]) > 0:
            return [best, code]
    return [best]


def _dealt(plan: Plan, n_columns: int, low: int, rng: np.random.Generator) -> _Matrix:
    """A code of a plan, dealt so that its columns stand apart."""
    k = plan.n_classes
    blocks = [make_block(kind, k, rng) for kind in plan.blocks]
    for _ in range(plan.n_cut):
        widest = max(range(len(blocks)), key=lambda b: (blocks[b].rows.shape[1], b))
        blocks[widest] = blocks[widest].without(int(rng.integers(blocks[widest].rows.shape[1])))
    blocks = [block for block in blocks if block.rows.shape[1]]
    free = free_column(k)
    blocks += [Block(free, None, np.arange(len(free)))] * plan.n_free
    words = BlockCode(k, plan.distance, tuple(block.rows for block in blocks))
    goal = separation_bound(k, n_columns, min_row_distance=plan.distance).value
    matrix, _ = search_deal(lambda _: words, Goal(goal), rng, budget=Budget(work=_DEALS_WORK))
    matrix = matrix[order_rows(matrix, low)]
    names = " + ".join(kind.name for kind in plan.blocks)
    uses = tuple(dict(use for block in blocks for use in block.uses).items())
    recipe = _recipe(blocks, matrix)
    return _Matrix(matrix, low, names, plan.n_cut, plan.n_free, recipe, uses, plan.distance)


def _recipe(blocks: Sequence[Block], matrix: Signs) -> Recipe:
    """The recipe of a matrix that takes its rows from blocks."""
    parts: list[Recipe] = []
    start = 0
    for block in blocks:
        end = start + block.rows.shape[1]
        taken = np.ascontiguousarray(matrix[:, start:end])
        start = end
        if block.recipe is None:
            parts.append(describe_words(as_symbols(taken)))
            continue
        places = {row.tobytes(): place for row, place in zip(block.rows, block.places, strict=True)}
        chosen = [int(places[row.tobytes()]) for row in taken]
        parts.append(["rows", chosen, block.recipe])
    return parts[0] if len(parts) == 1 else ["beside", *parts]


def order_rows(matrix: Signs, low: int) -> npt.NDArray[np.int64]:
    """An order of rows whose first ones leave columns well apart, for all numbers from `low`.

    Rows go one after the other, each time that without which the largest inner products of
    columns become smallest, by their powers' first derivative.

    Examples
    --------
    >>> rows = np.array([[1, 1], [1, -1], [1, 1], [1, 1]], dtype=np.int8)
    >>> 1 in order_rows(rows, 2)[:2]
    True
    """
    values = matrix.astype(np.float32)
    left = list(range(len(matrix)))
    gone: list[int] = []
    products = values.T @ values
    np.fill_diagonal(products, 0)
    sums = values.sum(axis=0)
    while len(left) > low:
        scale = np.abs(products).max() or 1.0
        slopes = (products / scale) ** (_POWER - 1)
        rows = values[left]
        scores = np.einsum("ij,ij->i", rows @ slopes, rows)
        scores += rows @ (sums / len(left)) ** 3
        # Few at a time: what is worst changes little with each.
        size = min(max(1, len(left) // _AT_A_TIME), len(left) - low)
        worst = np.argsort(-scores, kind="stable")[:size]
        removed = values[[left[i] for i in worst]]
        gone += [left[i] for i in worst]
        left = [row for i, row in enumerate(left) if i not in set(worst.tolist())]
        products -= removed.T @ removed
        np.fill_diagonal(products, 0)
        sums -= removed.sum(axis=0)
    return np.array([*left, *reversed(gone)], dtype=np.int64)


def measure_rows(matrix: Signs, low: int) -> tuple[CodeFigures, ...]:
    """The figures of the first k rows for each k from `low` on, where they are a codebook.

    Examples
    --------
    >>> rows = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], dtype=np.int8)
    >>> [(f.n_classes, f.distance, f.separation) for f in measure_rows(rows, 3)]
    [(3, 2, 1), (4, 2, 2)]
    """
    k, length = matrix.shape
    values = matrix.astype(np.float32)
    distances = (length - values @ values.T) / 2
    # Entry i: the least distance of row i to the rows before it.
    nearest = [int(distances[i, :i].min()) for i in range(1, k)]
    least = np.minimum.accumulate([length, *nearest])
    head = values[: low - 1]
    products = head.T @ head
    sums = head.sum(axis=0)
    digest = hashlib.sha256()
    texts = [row.tobytes() for row in np.where(matrix > 0, *_SIGNS).astype(np.uint8)]
    digest.update(b"\n".join(texts[: low - 1]))
    figures = []
    for i in range(low - 1, k):
        products += np.outer(values[i], values[i])
        sums += values[i]
        digest.update(b"\n" + texts[i])
        np.fill_diagonal(products, 0)
        largest = int(np.abs(products).max())
        unbalanced = int(np.abs(sums).max())
        if largest < i + 1 and unbalanced < i + 1 and least[i] > 0:
            short = int(digest.copy().hexdigest()[:16], 16)
            separation = (i + 1 - largest) // 2
            figures.append(CodeFigures(i + 1, int(least[i]), separation, unbalanced, short))
    return tuple(figures)
