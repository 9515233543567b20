"""Recipes of what codes are made of: Hadamard matrices, blocks, and words of linear codes.

Recipes are found by looking at a matrix, not by following how it was made: whatever makes
better matrices one day, their recipes come by themselves, and the matrix itself is kept where
no shorter way to write it is found.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ecoc._typing import Signs
from ecoc.atlas.recipes import Recipe, Symbols, pack_words
from ecoc.constructions.fields import prime_power
from ecoc.constructions.hadamard import hadamard_matrix, hadamard_methods
from ecoc.constructions.patchwork import BlockKind, conference_block, legendre_block

__all__ = [
    "Block",
    "as_symbols",
    "describe_hadamard",
    "describe_words",
    "make_block",
    "spanning_words",
]

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_MAX_SPANNED = 16
_MOST_RESIDUALS = 24
_RESIDUALS_KEPT = 4
_LEAST_SPLIT = 4


def as_symbols(signs: Signs) -> Symbols:
    """Signs +1 and -1 as symbols 0 and 1."""
    return (signs < 0).astype(np.uint8)


# ------------------------------------------------------------------ square matrices


def hadamard_name(order: int, method: str) -> str:
    """Under which name recipes use a Hadamard matrix."""
    return f"{method}-{order}"


@lru_cache(maxsize=512)
def describe_hadamard(order: int, method: str) -> tuple[tuple[str, Recipe], ...]:
    """The recipe of a Hadamard matrix by its name, after those of the matrices it uses.

    Examples
    --------
    >>> [name for name, _ in describe_hadamard(4, "sylvester")]
    ['sylvester-2', 'sylvester-4']
    """
    matrix = as_symbols(hadamard_matrix(order, method=method))
    name = hadamard_name(order, method)
    for factor in (2, *range(4, order // 2 + 1, 4)):
        rest, remainder = divmod(order, factor)
        if remainder or rest < 2 or not (hadamard_methods(factor) and hadamard_methods(rest)):
            continue
        first, second = (hadamard_matrix(n) for n in (factor, rest))
        if np.array_equal(matrix, as_symbols(np.kron(first, second))):
            parts = [(n, hadamard_methods(n)[0]) for n in (factor, rest)]
            used = dict(item for part in parts for item in describe_hadamard(*part))
            recipe: Recipe = ["kron", *(["use", hadamard_name(*part)] for part in parts)]
            return (*used.items(), (name, recipe))
    return ((name, _describe_square(matrix) or pack_words(matrix)),)


def _describe_square(matrix: Symbols) -> Recipe | None:
    """A short recipe of a square matrix, or None."""
    n = len(matrix)
    if not np.ptp(matrix):
        return ["fill", n, n, int(matrix[0, 0])]
    developed = _describe_developed(matrix)
    if developed is not None:
        return developed
    top, left = matrix[0, 1:], matrix[1:, 0]
    if n > 2 and not np.ptp(top) and not np.ptp(left):
        core = _describe_square(matrix[1:, 1:])
        if core is not None:
            corner: Recipe = ["fill", 1, 1, int(matrix[0, 0])]
            border: Recipe = ["beside", corner, ["fill", 1, n - 1, int(top[0])]]
            return ["below", border, ["beside", ["fill", n - 1, 1, int(left[0])], core]]
    for parts in (2, 4):
        if n % parts == 0 and n // parts >= _LEAST_SPLIT:
            split = _describe_split(matrix, parts)
            if split is not None:
                return split
    return None


def _describe_split(matrix: Symbols, parts: int) -> Recipe | None:
    bands: Recipe = ["below"]
    for band in np.vsplit(matrix, parts):
        squares: Recipe = ["beside"]
        for block in np.hsplit(band, parts):
            square = _describe_square(block)
            if square is None:
                return None
            squares.append(square)
        bands.append(squares)
    return bands


def _describe_developed(matrix: Symbols) -> Recipe | None:
    n = len(matrix)
    text = "".join(_DIGITS[symbol] for symbol in matrix[0])
    for moduli in _groups(n):
        places = np.arange(n).reshape(moduli)
        # Row x is row 0 moved by the element x; looking at few rows refutes most groups.
        for name, sign in (("differences", 1), ("sums", -1)):
            if all(
                np.array_equal(
                    matrix[x],
                    matrix[0][
                        np.roll(
                            places,
                            [sign * int(s) for s in np.unravel_index(x, moduli)],
                            axis=tuple(range(len(moduli))),
                        ).ravel()
                    ],
                )
                for x in (1, n - 1, *range(2, n - 1))
            ):
                return [name, list(moduli), text]
    return None


def _groups(n: int) -> Iterator[tuple[int, ...]]:
    """The groups over which matrices of an order may be developed."""
    yield (n,)
    power = prime_power(n)
    if power is not None and power[1] > 1:
        yield (power[0],) * power[1]
    for factor in range(2, n):
        if n % factor == 0 and n // factor > 1:
            yield (factor, n // factor)


# ---------------------------------------------------------------------------- words


def describe_words(matrix: Symbols, n_symbols: int = 2) -> Recipe:
    """The shorter recipe of a matrix: rows of a span of few words, or the matrix itself.

    Examples
    --------
    >>> describe_words(np.array([[0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 1]], dtype=np.uint8))
    ['span', ['111111']]
    """
    packed = pack_words(matrix, n_symbols)
    if n_symbols > 2:
        return packed
    basis, messages = _messages(matrix, _MAX_SPANNED)
    if basis is None:
        return packed
    if list(messages) == list(range(1 << len(basis))):
        return ["span", _texts(basis)]
    spanned: Recipe = ["rows", messages.tolist(), ["span", _texts(basis)]]
    return min(packed, spanned, key=lambda recipe: len(str(recipe)))


def _texts(words: Symbols) -> list[str]:
    return ["".join(map(str, word)) for word in words.tolist()]


def spanning_words(matrix: Symbols) -> Symbols | None:
    """Words of 0 and 1 of which all rows are sums; None where the rows are too different.

    Examples
    --------
    >>> spanning_words(np.array([[0, 1, 1], [1, 1, 0], [1, 0, 1]], dtype=np.uint8)).tolist()
    [[0, 1, 1], [1, 1, 0]]
    """
    return _messages(matrix, 60)[0]


def _messages(matrix: Symbols, most: int) -> tuple[Symbols | None, npt.NDArray[np.int64]]:
    """A basis of the rows, and each row as a sum of it; None where the basis is too large."""
    basis: list[Symbols] = []
    reduced: list[tuple[int, Symbols, int]] = []
    messages = np.zeros(len(matrix), dtype=np.int64)
    for i, row in enumerate(matrix):
        left, message = row.copy(), 0
        for pivot, word, parts in reduced:
            if left[pivot]:
                left ^= word
                message ^= parts
        if left.any():
            if len(basis) == most:
                return None, messages
            number = 1 << len(basis)
            reduced.append((int(np.argmax(left)), left, message ^ number))
            basis.append(row)
            message = number
        messages[i] = message
    return np.array(basis, dtype=np.uint8), messages


# --------------------------------------------------------------------------- blocks


@dataclass(frozen=True, eq=False)
class Block:
    """Words from which a code takes some of each, and the recipe of all of them.

    Parameters
    ----------
    rows : ndarray
        The words that may be taken, as +1 and -1.
    recipe : list or None
        The recipe of a matrix that has them as rows; None asks to describe what is taken.
    places : ndarray
        Which rows of the recipe's matrix they are.
    uses : tuple
        The matrices that the recipe uses, with their names.
    """

    rows: Signs
    recipe: Recipe | None
    places: npt.NDArray[np.int64]
    uses: tuple[tuple[str, Recipe], ...] = ()

    def without(self, column: int) -> Block:
        """The block with a column less."""
        recipe = None if self.recipe is None else _cut(self.recipe, column)
        return Block(np.delete(self.rows, column, axis=1), recipe, self.places, self.uses)


def _cut(recipe: Recipe, column: int) -> Recipe:
    return ["without", [column], recipe]


def make_block(kind: BlockKind, n_classes: int, rng: np.random.Generator) -> Block:
    """A block of a kind with at least so many words, with random choices among equals."""
    if kind.family in {"A", "B", "C"}:
        return _hadamard_block(kind, n_classes, rng)
    if kind.family in {"L", "S"}:
        rows = legendre_block(kind.order) if kind.family == "L" else conference_block(kind.order)
        return Block(rows, _describe_bands(as_symbols(rows)), np.arange(len(rows)))
    rows = kind.make(n_classes, rng)
    return Block(rows, None, np.arange(len(rows)))


def _describe_bands(matrix: Symbols) -> Recipe | None:
    """Squares side by side or one below the other, and rows of one symbol."""
    n_rows, n_columns = matrix.shape
    if n_columns == 2 * n_rows:
        squares = [_describe_square(half) for half in np.hsplit(matrix, 2)]
        return None if None in squares else ["beside", *squares]
    bands: list[Recipe | None] = []
    for start in range(0, n_rows, n_columns):
        band = matrix[start : start + n_columns]
        if len(band) == n_columns:
            bands.append(_describe_square(band))
        else:
            bands.extend(["fill", 1, n_columns, int(row[0])] for row in band)
    return None if None in bands else ["below", *bands]


def _hadamard_block(kind: BlockKind, n_classes: int, rng: np.random.Generator) -> Block:
    order = kind.order
    if kind.family == "C":
        choices = _best_residuals(order)
        method, transposed, first, second = choices[int(rng.integers(len(choices)))]
    else:
        methods = hadamard_methods(order)
        method = methods[int(rng.integers(len(methods)))]
        transposed, first, second = bool(rng.integers(2)), int(rng.integers(order)), -1
    uses = describe_hadamard(order, method)
    matrix = hadamard_matrix(order, method=method)
    recipe: Recipe = ["use", hadamard_name(order, method)]
    if transposed:
        matrix, recipe = matrix.T, ["transpose", recipe]
    if kind.family == "B":
        both = np.vstack([matrix, -matrix])
        places = np.arange(order) + order * rng.integers(0, 2, size=order)
        if n_classes > order:
            places = np.arange(2 * order)
        return Block(both[places], ["below", recipe, ["negate", recipe]], places, uses)
    rows = matrix * matrix[:, [first]]
    removed = [first] if second < 0 else [first, second]
    places = np.arange(order) if second < 0 else np.flatnonzero(rows[:, second] > 0)
    rows = np.delete(rows, removed, axis=1)[places]
    return Block(rows, ["without", removed, ["normalise", first, recipe]], places, uses)


@lru_cache(maxsize=256)
def _best_residuals(order: int) -> tuple[tuple[str, bool, int, int], ...]:
    """Residuals whose columns stand well apart: matrix, transposed or not, and two columns.

    The quality differs much: those of Kronecker products repeat columns.
    """
    rng = np.random.default_rng(order)
    methods = hadamard_methods(order)
    n_pairs = max(1, _MOST_RESIDUALS // (2 * len(methods)))
    scored: list[tuple[float, int, tuple[str, bool, int, int]]] = []
    for method in methods:
        matrix = hadamard_matrix(order, method=method).astype(np.float32)
        for transposed in (False, True):
            source = matrix.T if transposed else matrix
            for _ in range(n_pairs):
                first, second = rng.choice(order, size=2, replace=False).tolist()
                kept = source[source[:, first] == source[:, second]]
                block = np.delete(kept * kept[:, [first]], [first, second], axis=1)
                products = np.abs(block.T @ block)
                np.fill_diagonal(products, 0)
                choice = method, transposed, first, second
                scored.append((float(products.max()), len(scored), choice))
    scored.sort()
    return tuple(choice for _, _, choice in scored[:_RESIDUALS_KEPT])
