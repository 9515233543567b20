"""Codes with many words and few columns: BCH, Kerdock and what is derived from them.

A parent code of n columns, M words and distance d gives others: extended by the parity
(where d is odd), shortened (the words that are 0 in s places, without these: M / 2^s
words, still d apart), punctured (a column less, d - 1), and side by side with another.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ecoc.constructions.cyclic import (
    bch_codes,
    bch_generator,
    kerdock_words,
    multiplicative_order,
)

__all__ = ["ParentCode", "parent_codes", "parent_words"]

Bits = npt.NDArray[np.uint8]
Signs = npt.NDArray[np.int8]

_MAX_ROOT_DEGREE = 12
_MAX_COUNTED_DIMENSION = 13
_MAX_LISTED_DIMENSION = 20
_MAX_KERDOCK_DEGREE = 7
_KERDOCK_STRENGTH = 5


@dataclass(frozen=True)
class ParentCode:
    """A binary code that others are derived from.

    Parameters
    ----------
    kind : {"all", "even", "bch", "kerdock"}
        All words, the words of even weight, a BCH code or a Kerdock code.
    length : int
        The number of columns, n.
    dimension : int
        The number of words is 2 to this.
    distance : int
        The minimum distance, or a lower bound of it.
    extended : bool
        Whether a BCH code has a parity added to it.

    Examples
    --------
    >>> max(c.distance for c in parent_codes(24) if c.length == 24 and c.dimension == 12)
    8
    """

    kind: str
    length: int
    dimension: int
    distance: int
    extended: bool = False

    @property
    def max_shortening(self) -> int:
        """In how many places the code can be shortened at the price of a bit each."""
        return _KERDOCK_STRENGTH if self.kind == "kerdock" else self.dimension - 1

    @property
    def name(self) -> str:
        """A short name, as ``bch[63,10,27]``."""
        before = "extended-" if self.extended else ""
        return f"{before}{self.kind}[{self.length},{self.dimension},{self.distance}]"


@lru_cache(maxsize=32)
def parent_codes(limit: int) -> tuple[ParentCode, ...]:
    """The parent codes of at most so many columns.

    Those for which another with the same columns has as many words at as large a
    distance are left out.
    """
    found: dict[tuple[int, int], ParentCode] = {}

    def offer(code: ParentCode) -> None:
        key = code.length, code.dimension
        if code.length <= limit and (key not in found or found[key].distance < code.distance):
            found[key] = code

    for n in range(1, limit + 1):
        offer(ParentCode("all", n, n, 1))
        if n > 1:
            offer(ParentCode("even", n, n - 1, 2))
    for m in range(3, _MAX_KERDOCK_DEGREE + 1, 2):
        offer(ParentCode("kerdock", 2 << m, 2 * m + 2, (1 << m) - (1 << (m - 1) // 2)))
    for n in range(7, limit + 1, 2):
        if multiplicative_order(n) > _MAX_ROOT_DEGREE:
            continue
        for dimension, designed, _ in bch_codes(n):
            distance = _true_distance(n, dimension) or designed
            offer(ParentCode("bch", n, dimension, distance))
            offer(ParentCode("bch", n + 1, dimension, distance + distance % 2, extended=True))
    return tuple(found[key] for key in sorted(found))


@lru_cache(maxsize=4096)
def _true_distance(n: int, dimension: int) -> int | None:
    """The least weight of the words of a BCH code, by looking at all of them if they are few."""
    if dimension > _MAX_COUNTED_DIMENSION or n > 128:
        return None
    words = np.zeros((1, -(-n // 8)), dtype=np.uint8)
    for row in np.packbits(_bch_rows(n, dimension), axis=1):
        words = np.vstack([words, words ^ row])
    return int(np.bitwise_count(words).sum(axis=1, dtype=np.int64)[1:].min())


@lru_cache(maxsize=64)
def _bch_rows(n: int, dimension: int) -> Bits:
    zeros = next(z for size, _, z in bch_codes(n) if size == dimension)
    return bch_generator(n, zeros)


def parent_words(
    code: ParentCode, n_shortened: int, n_words: int, rng: np.random.Generator
) -> Signs:
    """Distinct random words of a shortened parent code, at most so many, as +1 and -1."""
    if code.kind == "kerdock":
        words = _kerdock(code.length)
        words = words[~words[:, :n_shortened].any(axis=1), n_shortened:]
        chosen = rng.choice(len(words), size=min(n_words, len(words)), replace=False)
        return (1 - 2 * words[chosen].astype(np.int8)).astype(np.int8)
    generator = _shortened(_generator(code), n_shortened)
    messages = _messages(len(generator), n_words, rng)
    # Single precision is exact here and its product uses BLAS.
    parities = (messages.astype(np.float32) @ generator.astype(np.float32)) % 2
    return (1 - 2 * parities).astype(np.int8)


@lru_cache(maxsize=4)
def _kerdock(length: int) -> Bits:
    return kerdock_words((length // 2).bit_length() - 1)


def _generator(code: ParentCode) -> Bits:
    if code.kind == "all":
        return np.eye(code.length, dtype=np.uint8)
    if code.kind == "even":
        rows = np.eye(code.length - 1, code.length, dtype=np.uint8)
        rows[:, -1] = 1
        return rows
    rows = _bch_rows(code.length - code.extended, code.dimension)
    if code.extended:
        rows = np.hstack([rows, rows.sum(axis=1, keepdims=True, dtype=np.uint8) % 2])
    return rows


def _shortened(generator: Bits, n_places: int) -> Bits:
    """The subcode that is 0 in some places, without these places."""
    rows = generator.copy()
    kept = np.ones(rows.shape[1], dtype=bool)
    for step in range(n_places):
        ones = rows[step:].any(axis=0) & kept
        place = int(np.argmax(ones))
        pivot = step + int(np.argmax(rows[step:, place]))
        rows[[step, pivot]] = rows[[pivot, step]]
        below = np.flatnonzero(rows[step + 1 :, place]) + step + 1
        rows[below] ^= rows[step]
        kept[place] = False
    return rows[n_places:, kept]


def _messages(dimension: int, n_words: int, rng: np.random.Generator) -> Bits:
    """Distinct random messages, at most so many."""
    if dimension <= _MAX_LISTED_DIMENSION:
        count = min(n_words, 1 << dimension)
        chosen = rng.permutation(1 << dimension)[:count]
        return (chosen[:, None] >> np.arange(dimension) & 1).astype(np.uint8)
    # Among so many messages repeats are rare: draw more than needed and drop them.
    drawn = rng.integers(0, 2, size=(2 * n_words, dimension), dtype=np.uint8)
    packed = np.packbits(drawn, axis=1)
    _, first = np.unique(packed, axis=0, return_index=True)
    return drawn[np.sort(first)[:n_words]]
