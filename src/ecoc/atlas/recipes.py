"""Recipes: codes written down in a few words, and how they expand to matrices.

A recipe is a JSON array: the name of an operation and what it takes, other recipes among that.
It stands for a matrix of symbols 0 to q - 1, where of two symbols 0 is ``+`` and 1 is ``-``.
Rows and columns are counted from 0. Everything is done in whole numbers and nothing is drawn
at random, so that any program in any language expands a recipe to the same matrix.

Leaves:

=============================  ===================================================================
``["words", k, L, TEXT]``      The k x L matrix itself, row by row in one stream of bits, each
                               symbol in the fewest bits that hold q - 1, the highest bit first;
                               filled up with bits 0 to whole bytes and written in base64.
``["fill", k, L, s]``          A k x L matrix of the one symbol s.
``["differences", [m], TEXT]`` Developed over a group: the text has the symbol t(g) of each element
                               g of Z_m as a digit, and entry (x, y) is t(y - x). With several
                               moduli ``[m1, m2, ...]`` elements are tuples, the last place counts
                               fastest: (0, 0), (0, 1), ..., and y - x is taken in each place.
``["sums", [m], TEXT]``        The same with t(x + y).
``["span", [TEXT, ...]]``      All 2^r sums of r words of 0 and 1; row i is the sum (exclusive or)
                               of the words j whose bit 2^j is set in i.
``["use", NAME]``              The matrix of that name in ``matrices.json``.
=============================  ===================================================================

Operations on recipes A, B:

=============================  ===================================================================
``["rows", [i, ...], A]``      Those rows, in that order.
``["without", [j, ...], A]``   All columns but those.
``["beside", A, B, ...]``      Side by side; as many rows each.
``["below", A, B, ...]``       One below the other; as many columns each.
``["negate", A]``              0 and 1 exchanged.
``["transpose", A]``           Rows as columns.
``["normalise", j, A]``        0 and 1 exchanged in every row that has 1 in column j.
``["kron", A, B]``             Entry (i p + u, j q + v) is A(i, j) xor B(u, v), where B is p x q.
=============================  ===================================================================

The codebook of a cell with k classes has the first k rows of its code's matrix.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Mapping
from math import prod
from typing import Any, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from ecoc._checks import printable
from ecoc.errors import FileFormatError

__all__ = ["Recipe", "Symbols", "expand_recipe", "pack_words"]

Recipe: TypeAlias = "list[Any]"
"""A recipe as JSON has it."""

Symbols: TypeAlias = npt.NDArray[np.uint8]

_MAX_ENTRIES = 1 << 24
"""The largest matrix that a recipe may stand for; the largest in the atlas has 2^20 entries."""

_MAX_DEPTH = 24
_MAX_SPANNED = 20


def pack_words(matrix: npt.ArrayLike, n_symbols: int = 2) -> Recipe:
    """The recipe that holds a matrix of symbols as it is.

    Examples
    --------
    >>> pack_words([[0, 0, 1], [1, 0, 1]])
    ['words', 2, 3, 'NA==']
    """
    symbols = np.asarray(matrix, dtype=np.uint8)
    width = (n_symbols - 1).bit_length()
    bits = symbols[:, :, None] >> np.arange(width - 1, -1, -1) & 1
    text = base64.b64encode(np.packbits(bits.ravel()).tobytes()).decode("ascii")
    return ["words", *map(int, symbols.shape), text]


def expand_recipe(
    recipe: Recipe, n_symbols: int = 2, matrices: Mapping[str, Recipe] | None = None
) -> Symbols:
    """The matrix of symbols that a recipe stands for.

    Parameters
    ----------
    recipe : list
        The recipe.
    n_symbols : int, default=2
        How many symbols there are, q.
    matrices : mapping, optional
        The recipes of matrices that it uses by name.

    Raises
    ------
    FileFormatError
        If it is no recipe, or stands for more than 2^24 entries.

    Examples
    --------
    >>> expand_recipe(["beside", ["differences", [3], "011"], ["fill", 3, 1, 0]])
    array([[0, 1, 1, 0],
           [1, 0, 1, 0],
           [1, 1, 0, 0]], dtype=uint8)
    """
    return _Kitchen(n_symbols, matrices or {}).matrix(recipe, 0)


def _refuse(reason: str) -> NoReturn:
    raise FileFormatError(f"A recipe of the atlas is wrong: {reason}.")


class _Kitchen:
    """What recipes are expanded with: the symbols, and matrices by name."""

    def __init__(self, n_symbols: int, matrices: Mapping[str, Recipe]) -> None:
        self.n_symbols = n_symbols
        self.matrices = matrices

    def matrix(self, recipe: object, depth: int) -> Symbols:
        if not isinstance(recipe, list) or not recipe or not isinstance(recipe[0], str):
            _refuse("it must be a list that begins with the name of an operation")
        if depth > _MAX_DEPTH:
            _refuse(f"it is nested more than {_MAX_DEPTH} deep")
        name, *arguments = recipe
        if name not in _OPERATIONS:
            _refuse(f"there is no operation {printable(name)[:40]!r}")
        kinds, make = _OPERATIONS[name]
        several = kinds[-1:] == "*"
        if several:
            kinds = kinds[0] * max(1, len(arguments))
        if len(kinds) != len(arguments):
            _refuse(f"{name!r} takes {len(kinds)} arguments, not {len(arguments)}")
        if name == "rows" and isinstance(arguments[1], list) and arguments[1][:1] == ["span"]:
            # Of the many words of a span only those that are asked for are made.
            _check(name, "t", arguments[1][-1])
            return _spanned(arguments[1][-1], _check(name, "i", arguments[0]))
        values = [
            self.matrix(value, depth + 1) if kind == "m" else _check(name, kind, value)
            for kind, value in zip(kinds, arguments, strict=True)
        ]
        made = make(self, *([values] if several else values))
        if made.ndim != 2 or not made.size:
            _refuse(f"{name!r} gives no matrix")
        return made

    def words(self, n_rows: int, n_columns: int, text: str) -> Symbols:
        _check_size(n_rows, n_columns)
        width = (self.n_symbols - 1).bit_length()
        n_bits = n_rows * n_columns * width
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            _refuse("the words are not written in base64")
        if len(data) != -(-n_bits // 8):
            _refuse(f"{n_rows} words of {n_columns} symbols do not have {len(data)} bytes")
        bits = np.unpackbits(np.frombuffer(data, dtype=np.uint8), count=n_bits)
        if width == 1:
            return bits.reshape(n_rows, n_columns)
        weights = 1 << np.arange(width - 1, -1, -1)
        symbols = (bits.reshape(n_rows, n_columns, width) * weights).sum(axis=2, dtype=np.uint8)
        return self.checked(symbols)

    def checked(self, symbols: Symbols) -> Symbols:
        if symbols.size and symbols.max() >= self.n_symbols:
            _refuse(f"the symbol {symbols.max()} is none of {self.n_symbols}")
        return symbols

    def fill(self, n_rows: int, n_columns: int, symbol: int) -> Symbols:
        _check_size(n_rows, n_columns)
        if symbol >= self.n_symbols:
            _refuse(f"the symbol {symbol} is none of {self.n_symbols}")
        return np.full((n_rows, n_columns), symbol, dtype=np.uint8)

    def developed(self, moduli: list[int], text: str, sign: int) -> Symbols:
        size = prod(moduli) if moduli and min(moduli) > 0 else 0
        if size != len(text) or not size:
            _refuse(f"a group of {size} elements has no {len(text)} symbols")
        _check_size(size, size)
        try:
            digits = [int(digit, 36) for digit in text]
        except ValueError:
            _refuse("symbols must be digits")
        symbols = self.checked(np.array(digits, dtype=np.uint8))
        places = np.zeros((size, size), dtype=np.int64)
        left = np.arange(size)
        weight = 1
        for modulus in reversed(moduli):
            place = left % modulus
            places += weight * ((place[None, :] + sign * place[:, None]) % modulus)
            left, weight = left // modulus, weight * modulus
        return symbols[places]

    def use(self, name: str) -> Symbols:
        if name not in self.matrices:
            _refuse(f"there is no matrix {printable(name)[:40]!r}")
        # A matrix may use others, but only those that stand before it.
        before = {}
        for other, recipe in self.matrices.items():
            if other == name:
                break
            before[other] = recipe
        return _Kitchen(self.n_symbols, before).matrix(self.matrices[name], 1)


def _check(name: str, kind: str, value: object) -> Any:
    """An argument of an operation, which is of the kind that it takes."""
    if kind == "n":
        right = type(value) is int and 0 <= value < _MAX_ENTRIES
    elif kind == "s":
        right = isinstance(value, str)
    else:
        of = str if kind == "t" else int
        right = isinstance(value, list) and all(type(item) is of for item in value)
    if not right:
        _refuse(f"{name!r} takes {_KINDS[kind]}")
    return value


_KINDS = {
    "n": "a whole number",
    "s": "a text",
    "t": "a list of texts",
    "i": "a list of whole numbers",
}


def _check_size(n_rows: int, n_columns: int) -> None:
    if not 0 < n_rows * n_columns <= _MAX_ENTRIES:
        _refuse(f"a matrix has no {n_rows} rows and {n_columns} columns")


def _check_indices(indices: list[int], size: int) -> npt.NDArray[np.int64]:
    if not indices or min(indices) < 0 or max(indices) >= size:
        _refuse(f"rows and columns of {size} are counted from 0 to {size - 1}")
    return np.array(indices, dtype=np.int64)


def _spanned(words: list[str], indices: list[int] | None = None) -> Symbols:
    if not 0 < len(words) <= _MAX_SPANNED or any(
        len(word) != len(words[0]) or set(word) - set("01") for word in words
    ):
        _refuse(f"a span has 1 to {_MAX_SPANNED} words of 0 and 1, of one length")
    generators = np.array([list(map(int, word)) for word in words], dtype=np.uint8)
    size = 1 << len(words)
    chosen = np.arange(size) if indices is None else _check_indices(indices, size)
    _check_size(len(chosen), generators.shape[1])
    made = np.zeros((len(chosen), generators.shape[1]), dtype=np.uint8)
    for j, word in enumerate(generators):
        made[(chosen >> j & 1).astype(bool)] ^= word
    return made


def _rows(_: _Kitchen, indices: list[int], matrix: Symbols) -> Symbols:
    chosen = _check_indices(indices, len(matrix))
    _check_size(len(chosen), matrix.shape[1])
    return matrix[chosen]


def _without(_: _Kitchen, indices: list[int], matrix: Symbols) -> Symbols:
    return np.delete(matrix, _check_indices(indices, matrix.shape[1]), axis=1)


def _joined(matrices: list[Symbols], axis: int) -> Symbols:
    if len({matrix.shape[1 - axis] for matrix in matrices}) != 1:
        _refuse(f"matrices {'beside' if axis else 'below'} each other differ in size")
    shared = matrices[0].shape[1 - axis]
    _check_size(shared, sum(matrix.shape[axis] for matrix in matrices))
    return np.concatenate(matrices, axis=axis)


def _two(matrix: Symbols) -> Symbols:
    if matrix.max() > 1:
        _refuse("only matrices of two symbols are negated, normalised and multiplied")
    return matrix


def _normalise(_: _Kitchen, column: int, matrix: Symbols) -> Symbols:
    _check_indices([column], matrix.shape[1])
    return _two(matrix) ^ matrix[:, [column]]


def _kron(_: _Kitchen, first: Symbols, second: Symbols) -> Symbols:
    (a, b), (p, q) = first.shape, second.shape
    _check_size(a * p, b * q)
    both = _two(first)[:, None, :, None] ^ _two(second)[None, :, None, :]
    return both.reshape(a * p, b * q)


_OPERATIONS: dict[str, tuple[str, Callable[..., Symbols]]] = {
    "words": ("nns", _Kitchen.words),
    "fill": ("nnn", _Kitchen.fill),
    "differences": ("is", lambda kitchen, group, text: kitchen.developed(group, text, -1)),
    "sums": ("is", lambda kitchen, group, text: kitchen.developed(group, text, 1)),
    "span": ("t", lambda _, words: _spanned(words)),
    "use": ("s", _Kitchen.use),
    "rows": ("im", _rows),
    "without": ("im", _without),
    "beside": ("m*", lambda _, matrices: _joined(matrices, 1)),
    "below": ("m*", lambda _, matrices: _joined(matrices, 0)),
    "negate": ("m", lambda _, matrix: _two(matrix) ^ np.uint8(1)),
    "transpose": ("m", lambda _, matrix: np.ascontiguousarray(matrix.T)),
    "normalise": ("nm", _normalise),
    "kron": ("mm", _kron),
}
"""What each operation takes (m a recipe, n a number, s a text, t texts, i numbers), and gives."""
