"""Codes for 512 to 16,384 classes: all words of linear codes, where classes are powers of two."""

from __future__ import annotations

import hashlib

import numpy as np

from ecoc.atlas.recipes import Recipe, Symbols, expand_recipe, pack_words
from ecoc.constructions.patchwork import BlockKind, pack_blocks
from ecoc.survey.leaves import as_symbols, spanning_words
from ecoc.survey.lengths import (
    MAX_CUT,
    CodeFigures,
    Plan,
    SurveyedCode,
    best_linear_kinds,
    plans_of_length,
)

__all__ = ["power_codes"]

_NONLINEAR = ("kerdock", "delsarte-goethals")
_SAMPLED = 64
_MOST_COMPARED = 1 << 12
"""Up to how many words of a nonlinear code all pairs are compared."""


def power_codes(dimension: int, shortest: int, longest: int) -> list[SurveyedCode]:
    """Codes of 2 to the dimension words, for some lengths.

    The blocks of a plan get the same messages: so they are one linear code, and columns are
    half of the classes apart. A nonlinear code is taken where it has a larger distance.

    Examples
    --------
    >>> [(code.n_columns, code.figures[0].distance) for code in power_codes(11, 23, 24)]
    [(23, 8), (24, 8)]
    """
    n_words = 1 << dimension
    limit = longest + MAX_CUT
    kinds = best_linear_kinds(n_words, limit)
    linear = [kind for kind in kinds if kind.parent and kind.parent.kind not in _NONLINEAR]
    table, wider = pack_blocks(linear, limit), pack_blocks(kinds, limit)
    codes = []
    for length in range(shortest, longest + 1):
        rng = np.random.default_rng([dimension, length])
        made = [
            _linear(plan, dimension, length, rng)
            for plan in plans_of_length(table, n_words, length)[:2]
        ]
        alone = [
            plan
            for plan in plans_of_length(wider, n_words, length)[:1]
            if len(plan.blocks) == 1 and not plan.n_free and n_words <= _MOST_COMPARED
        ]
        reached = max((code.figures[0].distance for code in made if code is not None), default=0)
        made += [_nonlinear(plan, rng) for plan in alone if plan.distance > reached]
        kept = [code for code in made if code is not None]
        if kept:
            codes.append(max(kept, key=lambda code: code.figures[0].rank))
    return codes


def _linear(
    plan: Plan, dimension: int, length: int, rng: np.random.Generator
) -> SurveyedCode | None:
    parts = [_generators(kind, dimension, rng) for kind in plan.blocks]
    if any(part is None for part in parts):
        return None
    generators = np.hstack([part for part in parts if part is not None])
    if plan.n_cut:
        generators = np.delete(
            generators, rng.choice(generators.shape[1], plan.n_cut, replace=False), axis=1
        )
    # A column of the code is a sum of digits of the message: free ones may be any.
    numbers = {int(n) for n in _column_numbers(generators)}
    while generators.shape[1] < length:
        number = int(rng.integers(1, 1 << dimension))
        if number not in numbers:
            numbers.add(number)
            column = (number >> np.arange(dimension) & 1).astype(np.uint8)
            generators = np.hstack([generators, column[:, None]])
    found = _column_numbers(generators)
    if 0 in found or len(set(found)) < length:
        return None
    recipe: Recipe = ["span", ["".join(map(str, word)) for word in generators.tolist()]]
    return _surveyed(plan, length, recipe)


def _column_numbers(generators: Symbols) -> list[int]:
    weights = 1 << np.arange(len(generators), dtype=np.int64)
    return [int(column @ weights) for column in generators.T.astype(np.int64)]


def _generators(kind: BlockKind, dimension: int, rng: np.random.Generator) -> Symbols | None:
    """So many generators of a block, of all that it has."""
    words = spanning_words(as_symbols(kind.make(_SAMPLED, rng)))
    if words is None or len(words) < dimension:
        return None
    return words[rng.choice(len(words), dimension, replace=False)]


def _nonlinear(plan: Plan, rng: np.random.Generator) -> SurveyedCode | None:
    words = as_symbols(plan.blocks[0].make(plan.n_classes, rng))[: plan.n_classes]
    if len(words) < plan.n_classes:
        return None
    words = words[:, plan.n_cut :]
    return _surveyed(plan, words.shape[1], pack_words(words))


def _surveyed(plan: Plan, length: int, recipe: Recipe) -> SurveyedCode | None:
    words = expand_recipe(recipe)
    k = len(words)
    packed = np.packbits(words, axis=1)
    if recipe[0] == "span":
        # The words of a linear code stand to each other as they stand to 0.
        distance = int(np.bitwise_count(packed[1:]).sum(axis=1, dtype=np.int64).min())
    else:
        distance = min(
            int(np.bitwise_count(packed[i + 1 :] ^ packed[i]).sum(axis=1, dtype=np.int64).min())
            for i in range(k - 1)
        )
    signs = 1 - 2 * words.astype(np.float32)
    products = np.abs(signs.T @ signs)
    np.fill_diagonal(products, 0)
    unbalanced = int(np.abs(signs.sum(axis=0)).max())
    if distance < 1 or products.max() == k or unbalanced == k:
        return None
    text = b"\n".join(row.tobytes() for row in np.where(words, ord("-"), ord("+")).astype(np.uint8))
    digest = int(hashlib.sha256(text).hexdigest()[:16], 16)
    how = " + ".join(kind.name for kind in plan.blocks)
    how += f", {plan.n_cut} cut" if plan.n_cut else ""
    how += f", {plan.n_free} added" if plan.n_free else ""
    figures = CodeFigures(k, distance, (k - int(products.max())) // 2, unbalanced, digest)
    return SurveyedCode(length, 2, how, recipe, (), (figures,))
