"""Codes of several symbols of some lengths, for all numbers of classes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ecoc._typing import Ints
from ecoc.atlas.cells import codebook_digest
from ecoc.atlas.recipes import Recipe, pack_words
from ecoc.bounds.problem import SymbolBoundProblem
from ecoc.bounds.symbols import elementary_symbol_bounds
from ecoc.codes import Codebook
from ecoc.constructions.symbols import construct_symbols
from ecoc.errors import InvalidCodebookError
from ecoc.survey.lengths import CodeFigures, SurveyedCode

__all__ = ["measure_codebook", "symbol_codes_of_lengths"]

_WORK = 1e6
_STEP = 0.85
"""By which share the classes must be fewer for another code to be made, where one is open."""


@dataclass(frozen=True, eq=False)
class _Words:
    """A code of several symbols, with its recipe."""

    matrix: Ints
    how: str
    recipe: Recipe
    distance: int
    n_cut: int = 0

    @property
    def n_classes(self) -> int:
        return len(self.matrix)

    def cut(self) -> _Words:
        """The code without its last column."""
        n_columns = self.matrix.shape[1]
        return _Words(
            self.matrix[:, :-1],
            self.how,
            ["without", [n_columns - 1], self.recipe],
            self.distance - 1,
            self.n_cut + 1,
        )


def symbol_codes_of_lengths(
    n_symbols: int,
    shortest: int,
    longest: int,
    classes: Callable[[int], tuple[int, int] | None],
) -> list[SurveyedCode]:
    """Codes of several symbols for some lengths, the longest first.

    For each length, classes from the most to the fewest: a code serves as long as it meets the
    bound, else the better of a code of one more column, cut, and of one that is made anew.

    Examples
    --------
    >>> codes = symbol_codes_of_lengths(3, 4, 4, lambda length: (8, 9))
    >>> [(code.how, code.figures[-1].distance) for code in codes]
    [('linear code', 3)]
    """
    surveyed: list[SurveyedCode] = []
    longer: list[_Words] = []
    for length in range(longest, shortest - 1, -1):
        served = classes(length)
        if served is None:
            continue
        made: list[_Words] = []
        uses: dict[int, _Words] = {}
        tried = float("inf")
        for k in range(served[1], served[0] - 1, -1):
            problem = SymbolBoundProblem(k, length, n_symbols)
            bound = elementary_symbol_bounds(problem)[0].value
            best = max(made, key=lambda code: code.distance, default=None)
            cuts = [code for code in longer if code.n_classes >= k]
            cut = max(cuts, key=lambda code: code.distance, default=None)
            if cut is not None and (best is None or cut.distance - 1 > best.distance):
                best = cut.cut()
                made.append(best)
            if (best is None or best.distance < bound) and (k <= _STEP * tried or best is None):
                tried = k
                new = _constructed(k, length, n_symbols)
                if new is not None and (best is None or new.distance > best.distance):
                    best = new
                    made.append(new)
            if best is not None:
                uses[k] = best
        longer = made
        for code in made:
            figures = [
                measure_codebook(code.matrix[:k], n_symbols)
                for k in sorted(uses)
                if uses[k] is code
            ]
            how = code.how + (f", {code.n_cut} cut" if code.n_cut else "")
            kept = tuple(figure for figure in figures if figure is not None)
            if kept:
                surveyed.append(SurveyedCode(length, n_symbols, how, code.recipe, (), kept))
    return surveyed


def _constructed(n_classes: int, n_columns: int, n_symbols: int) -> _Words | None:
    seed = [n_symbols, n_columns, n_classes]
    code = construct_symbols(
        n_classes,
        n_columns,
        n_symbols,
        random_state=np.random.default_rng(seed),
        work_limit=_WORK,
    )
    if code is None:
        return None
    # The first rows of constructions are alike; any rows are better.
    order = np.random.default_rng(seed).permutation(n_classes)
    matrix = np.asarray(code.matrix)[order]
    return _Words(matrix, code.method, pack_words(matrix, n_symbols), code.distance)


def measure_codebook(matrix: Ints, n_symbols: int) -> CodeFigures | None:
    """The figures of a matrix of symbols, of two +1 and -1; None if it is no codebook.

    Examples
    --------
    >>> measure_codebook(np.array([[0, 0], [1, 1], [2, 2], [0, 1]]), 3).distance
    1
    """
    try:
        codebook = Codebook(matrix, n_symbols=n_symbols)
    except InvalidCodebookError:
        return None
    balance = codebook.column_balance()
    return CodeFigures(
        codebook.n_classes,
        int(codebook.min_row_distance),
        int(codebook.min_column_distance() or 0),
        round(balance.max_imbalance * codebook.n_classes),
        int(codebook_digest(codebook), 16),
    )
