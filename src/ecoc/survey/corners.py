"""Open cells of several symbols: the corners that settle most of them, and what follows.

A code serves every smaller number of rows, without a column it serves at one less distance, and
two codes side by side add up. So where averaging allows one distance for a range of rows, a code
for the most of them settles the whole range, and often cells of other lengths too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from math import comb

import numpy as np

from ecoc._typing import Ints
from ecoc.atlas.recipes import pack_words
from ecoc.bounds.problem import balanced_separation
from ecoc.constructions.symbols import construct_symbols, has_different_columns, least_distance
from ecoc.survey.lengths import SurveyedCode
from ecoc.survey.symbols import measure_codebook

__all__ = ["KnownCodes", "corner_codes"]

_WORK = 4e7
"""Distances of pairs that are looked at for one cell, with an effort of 1."""
_DEALS = 20
"""How often rows are dealt anew so that no two columns are the same."""

Size = tuple[int, int]
"""Rows and columns."""


@dataclass(frozen=True, eq=False)
class _Origin:
    """What a code is made of: the first rows and columns of others side by side, or a matrix."""

    how: str
    parts: tuple[Size, ...] = ()
    matrix: Ints | None = None


class KnownCodes:
    """The best codes of q symbols that are known, and those that follow from them.

    Parameters
    ----------
    n_symbols : int
        The symbols, q.
    cells : mapping
        The distance and the bound of each size.
    stored : callable
        The codes of these cells, as matrices of symbols.

    Examples
    --------
    A plane of nine points and four directions; one row less, and one column less, follow.

    >>> plane = np.array([[x, y, (x + y) % 3, (x + 2 * y) % 3] for x in range(3) for y in range(3)])
    >>> codes = KnownCodes(3, {(9, 4): (1, 3), (8, 4): (1, 3), (9, 3): (1, 2)}, lambda k, n: None)
    >>> codes.learn(plane, "plane")
    >>> codes.distances
    {(9, 4): 3, (8, 4): 3, (9, 3): 2}
    """

    def __init__(
        self,
        n_symbols: int,
        cells: Mapping[Size, tuple[int, int]],
        stored: Callable[[int, int], Ints | None],
    ) -> None:
        self.n_symbols = n_symbols
        self.distances = {size: distance for size, (distance, _) in cells.items()}
        self.bounds = {size: bound for size, (_, bound) in cells.items()}
        self.lengths: dict[int, list[int]] = {}
        for k, n in sorted(cells):
            self.lengths.setdefault(k, []).append(n)
        self.stored = stored
        self.origins: dict[Size, _Origin] = {}
        self.changed: set[Size] = set()

    def close(self) -> None:
        """Take all that follows from what is known."""
        for size in sorted(self.distances, reverse=True):
            self._follow(size)

    def learn(self, matrix: Ints, how: str) -> None:
        """Take a code of different columns where it is better, and all that follows from it."""
        k, n = matrix.shape
        origin = _Origin(how, matrix=matrix)
        while (k, n) not in self.distances and k > 1:
            k -= 1
        self._take((k, n), least_distance(matrix), origin)

    def matrix(self, n_classes: int, n_columns: int) -> Ints | None:
        """The best code known of a size; None where there is none."""
        origin = self.origins.get((n_classes, n_columns))
        if origin is None:
            known = (n_classes, n_columns) in self.distances
            return self.stored(n_classes, n_columns) if known else None
        if origin.matrix is not None:
            return origin.matrix[:n_classes, :n_columns]
        parts = [self.matrix(*size) for size in origin.parts]
        blocks = [part[:n_classes] for part in parts if part is not None]
        if len(blocks) < len(parts):
            return None
        rng = np.random.default_rng(0)
        matrix = np.concatenate(blocks, axis=1)[:, :n_columns]
        for _ in range(_DEALS if len(blocks) > 1 else 0):
            if has_different_columns(matrix):
                break
            dealt = [block[rng.permutation(n_classes)] for block in blocks]
            matrix = np.concatenate(dealt, axis=1)
        return matrix

    def levels(self, low: int, high: int) -> list[tuple[int, int]]:
        """Columns and distances that are open for some rows, where averaging leaves most first."""
        most: dict[tuple[int, int], int] = {}
        for (k, n), bound in self.bounds.items():
            if low <= k <= high and self.distances[k, n] < bound:
                most[n, bound] = max(k, most.get((n, bound), 0))
        return sorted(most, key=lambda level: -self._room(most[level], *level))

    def open_rows(self, n_columns: int, distance: int, low: int, high: int) -> list[int]:
        """The numbers of rows for which this distance is the bound and is not reached."""
        return [
            k
            for k in range(low, high + 1)
            if self.bounds.get((k, n_columns)) == distance > self.distances[k, n_columns]
        ]

    def surveyed(self) -> list[SurveyedCode]:
        """The codes of all cells that became better since the last call."""
        codes = []
        for k, n in sorted(self.changed, key=lambda size: (size[1], -size[0])):
            if (k, n) not in self.changed:
                continue
            rows = [k]
            while (rows[-1] - 1, n) in self.changed:
                origin = self.origins[rows[-1] - 1, n]
                if origin.parts != ((rows[-1], n),):
                    break
                rows.append(rows[-1] - 1)
            self.changed -= {(row, n) for row in rows}
            matrix = self.matrix(k, n)
            if matrix is None:
                continue
            matrix = _evenly_ordered(matrix, rows[-1], self.n_symbols)
            figures = [measure_codebook(matrix[:row], self.n_symbols) for row in rows]
            kept = tuple(figure for figure in figures if figure is not None)
            if kept:
                recipe = pack_words(matrix, self.n_symbols)
                how = self.origins[k, n].how
                codes.append(SurveyedCode(n, self.n_symbols, how, recipe, (), kept))
        return codes

    def _room(self, k: int, n_columns: int, distance: int) -> float:
        return n_columns * balanced_separation(k, self.n_symbols) / comb(k, 2) - distance

    def _take(self, size: Size, distance: int, origin: _Origin) -> None:
        left = [(size, distance, origin)]
        while left:
            size, distance, origin = left.pop()
            if size in self.distances:
                # Codes side by side may have the same columns where there are few others.
                distance = min(distance, self.bounds[size])
                if distance > self.distances[size]:
                    self.distances[size] = distance
                    self.origins[size] = origin
                    self.changed.add(size)
                    left += self._consequences(size)

    def _follow(self, size: Size) -> None:
        for consequence in self._consequences(size):
            self._take(*consequence)

    def _consequences(self, size: Size) -> list[tuple[Size, int, _Origin]]:
        k, n = size
        distance = self.distances[size]
        following = [
            ((k - 1, n), distance, _Origin(f"rows of a code of {k}", (size,))),
            ((k, n - 1), distance - 1, _Origin(f"columns of a code of {n}", (size,))),
        ]
        for other in self.lengths[k]:
            total = distance + self.distances[k, other]
            if total > self.distances.get((k, n + other), total):
                how = f"codes of {n} and {other} columns"
                following.append(((k, n + other), total, _Origin(how, (size, (k, other)))))
        return following


def _evenly_ordered(matrix: Ints, least: int, n_symbols: int) -> Ints:
    """The rows such that without the last ones, down to so many, groups stay as even as can be."""
    left, last = list(range(len(matrix))), []
    sizes = np.array([(matrix == symbol).sum(axis=0) for symbol in range(n_symbols)])
    columns = np.arange(matrix.shape[1])
    while len(left) > least:
        # The row that is in the largest groups, the more so the larger they are.
        weights = (sizes[matrix[left], columns] ** 2).sum(axis=1)
        row = left.pop(int(weights.argmax()))
        sizes[matrix[row], columns] -= 1
        last.append(row)
    ordered: Ints = matrix[left + last[::-1]]
    return ordered


def corner_codes(
    codes: KnownCodes, low: int, high: int, *, effort: float = 1.0
) -> Iterator[list[SurveyedCode]]:
    """Look for codes of the corners among open cells; what became better, level after level.

    A level has the numbers of rows for which averaging allows the same distance. The most of them
    that are open are tried first, then half of them, then the least.

    Parameters
    ----------
    codes : KnownCodes
        What is known; it learns what is found.
    low, high : int
        The least and the largest number of rows.
    effort : float, default=1
        How much work is done for each code.

    Examples
    --------
    >>> cells = {(k, 4): (1, 3) for k in range(5, 10)}
    >>> surveyed = list(corner_codes(KnownCodes(3, cells, lambda k, n: None), 5, 9))
    >>> [figure.n_classes for figure in surveyed[-1][0].figures]
    [9, 8, 7, 6, 5]
    """
    q = codes.n_symbols
    codes.close()
    yield codes.surveyed()
    for n, distance in codes.levels(low, high):
        rows = codes.open_rows(n, distance, low, high)
        for k in dict.fromkeys((rows[-1], rows[len(rows) // 2], rows[0])) if rows else ():
            if codes.distances[k, n] >= distance:
                break
            code = construct_symbols(
                k,
                n,
                q,
                target_distance=distance,
                random_state=np.random.default_rng([q, n, k, round(1000 * effort)]),
                work_limit=effort * _WORK,
                known=codes.matrix,
            )
            if code is not None and code.distance > codes.distances[k, n]:
                codes.learn(code.matrix, code.method)
        yield codes.surveyed()
