"""Codes with many words and few columns, and what is derived from them.

A parent code of n columns, M words and distance d gives others: extended by the parity
(where d is odd), shortened (the words that are 0 in s places, without these: M / 2^s
words, still d apart), punctured (a column less, d - 1), and side by side with another.

BCH codes are those of odd length, in the narrow sense. The binary code of length n with
designed distance t has the words, as polynomials, with the zeros b, b^2, ..., b^(t-1),
where b is an n-th root of unity (Bose & Ray-Chaudhuri 1960, Hocquenghem 1959). The
simplex and Hamming codes and Golay's are among them, and they have at least as many
words as the punctured Reed-Muller codes of the same distance. Where these and Kerdock's fall
short of the best codes known, codes that a search found (:mod:`.orbit_codes`) and
others with more words than linear codes (:mod:`.nonlinear`) stand in.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ecoc._typing import Signs
from ecoc.constructions.fields import GaloisField, galois_field
from ecoc.constructions.nonlinear import (
    best_words,
    delsarte_goethals_words,
    julin_words,
    kerdock_words,
)
from ecoc.constructions.orbit_codes import orbit_codes

__all__ = [
    "ParentCode",
    "bch_codes",
    "bch_generator",
    "multiplicative_order",
    "parent_codes",
    "parent_words",
    "tabled_codes",
]

Bits = npt.NDArray[np.uint8]

_MAX_ROOT_DEGREE = 12
_MAX_COUNTED_DIMENSION = 13
_MAX_LISTED_DIMENSION = 20
_MAX_KERDOCK_DEGREE = 7
_STRENGTHS = {"kerdock": 5, "delsarte-goethals": 7, "best": 1, "julin": 1}
"""In how many places a nonlinear code has every pattern equally often, or as far as is needed."""


@dataclass(frozen=True)
class ParentCode:
    """A binary code that others are derived from.

    Parameters
    ----------
    kind : {"all", "even", "bch", "kerdock", "orbit", "delsarte-goethals", "best", "julin"}
        All words, the words of even weight, a BCH code, a linear code from the table of orbits,
        or the nonlinear code of that name.
    length : int
        The number of columns, n.
    dimension : int
        The number of words is 2 to this, if `size` does not say otherwise.
    distance : int
        The minimum distance, or a lower bound of it.
    extended : bool
        Whether a BCH code has a parity added to it.
    size : int, optional
        The number of words, where it is no power of two.
    most_shortened : int, optional
        In how many places a code of the table can be shortened before columns repeat.

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
    size: int = 0
    most_shortened: int | None = None

    @property
    def n_words(self) -> int:
        """The number of words."""
        return self.size or 1 << self.dimension

    @property
    def max_shortening(self) -> int:
        """In how many places the code can be shortened at the price of half the words each."""
        if self.most_shortened is not None:
            return self.most_shortened
        return _STRENGTHS.get(self.kind, self.dimension - 1)

    @property
    def name(self) -> str:
        """A short name, as ``bch[63,10,27]`` or ``best(10,40,4)``."""
        if self.size:
            return f"{self.kind}({self.length},{self.size},{self.distance})"
        before = "extended-" if self.extended else ""
        return f"{before}{self.kind}[{self.length},{self.dimension},{self.distance}]"


@lru_cache(maxsize=32)
def parent_codes(limit: int) -> tuple[ParentCode, ...]:
    """The parent codes of at most so many columns.

    Those for which another with the same columns has as many words at as large a
    distance are left out.
    """
    parents: dict[tuple[int, int], ParentCode] = {}

    def offer(code: ParentCode) -> None:
        key = code.length, code.dimension
        if code.length <= limit and (key not in parents or parents[key].distance < code.distance):
            parents[key] = code

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
    return tuple(parents[key] for key in sorted(parents))


@lru_cache(maxsize=32)
def tabled_codes(limit: int) -> tuple[ParentCode, ...]:
    """More codes of at most so many columns: what a search found, and nonlinear codes.

    Examples
    --------
    >>> [code.name for code in tabled_codes(12) if code.size]
    ['best(10,40,4)', 'julin(12,144,4)']
    """
    codes = [ParentCode("best", 10, 5, 4, size=40), ParentCode("julin", 12, 7, 4, size=144)]
    codes.append(ParentCode("delsarte-goethals", 64, 17, 24))
    codes += [
        ParentCode("orbit", c.length, c.dimension, c.distance, most_shortened=c.max_shortening)
        for c in orbit_codes(2)
    ]
    fitting = [code for code in codes if code.length <= limit]
    return tuple(sorted(fitting, key=lambda code: (code.length, code.n_words)))


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
    if code.kind in _STRENGTHS:
        words = _nonlinear_words(code)
        words = words[~words[:, :n_shortened].any(axis=1), n_shortened:]
        chosen = rng.choice(len(words), size=min(n_words, len(words)), replace=False)
        return (1 - 2 * words[chosen].astype(np.int8)).astype(np.int8)
    if code.kind == "orbit":
        generator = _orbit_rows(code, n_shortened)
    else:
        generator = _shortened(_generator(code), n_shortened)
    messages = _messages(len(generator), n_words, rng)
    # Single precision is exact here and its product uses BLAS.
    parities = (messages.astype(np.float32) @ generator.astype(np.float32)) % 2
    return (1 - 2 * parities).astype(np.int8)


@lru_cache(maxsize=4)
def _nonlinear_words(code: ParentCode) -> Bits:
    degree = (code.length // 2).bit_length() - 1
    if code.kind == "kerdock":
        return kerdock_words(degree)
    if code.kind == "delsarte-goethals":
        return delsarte_goethals_words(degree)
    return best_words() if code.kind == "best" else julin_words()


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


@lru_cache(maxsize=64)
def _orbit_rows(code: ParentCode, n_shortened: int) -> Bits:
    wanted = code.length, code.dimension, code.distance
    alike = (c for c in orbit_codes(2) if (c.length, c.dimension, c.distance) == wanted)
    return next(alike).generator(n_shortened).astype(np.uint8)


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


def multiplicative_order(n: int) -> int:
    """The least m with 2^m = 1 modulo an odd n.

    Examples
    --------
    >>> multiplicative_order(23)
    11
    """
    power, m = 2 % n, 1
    while power != 1 % n:
        power = 2 * power % n
        m += 1
    return m


@lru_cache(maxsize=1024)
def bch_codes(n: int) -> tuple[tuple[int, int, tuple[int, ...]], ...]:
    """Dimension, designed distance and exponents of the zeros of each BCH code of length n.

    The designed distance is as large as the zeros allow (the Bose distance).

    Examples
    --------
    >>> [(dimension, distance) for dimension, distance, _ in bch_codes(15)]
    [(11, 3), (7, 5), (5, 7)]
    """
    codes = []
    zeros: set[int] = set()
    for exponent in range(1, n):
        if exponent in zeros:
            continue
        if zeros:
            codes.append((n - len(zeros), exponent, tuple(sorted(zeros))))
        while exponent not in zeros:
            zeros.add(exponent)
            exponent = 2 * exponent % n  # noqa: PLW2901  # walks along the cyclotomic coset
    return tuple(codes)


def bch_generator(n: int, zeros: tuple[int, ...]) -> Bits:
    """A generator matrix of the cyclic code of length n with the given zeros.

    Examples
    --------
    >>> bch_generator(7, (1, 2, 4))[0]
    array([1, 0, 1, 1, 0, 0, 0], dtype=uint8)
    """
    field = galois_field(1 << multiplicative_order(n))
    root = (field.order - 1) // n
    polynomial = np.ones(1, dtype=np.int64)
    for exponent in zeros:
        shifted = np.concatenate([[0], polynomial])
        scaled = _scaled(field, polynomial, root * exponent)
        polynomial = shifted ^ np.concatenate([scaled, [0]])
    dimension = n - len(zeros)
    generator = np.zeros((dimension, n), dtype=np.uint8)
    for shift in range(dimension):
        generator[shift, shift : shift + len(polynomial)] = polynomial
    return generator


def _scaled(
    field: GaloisField, polynomial: npt.NDArray[np.int64], exponent: int
) -> npt.NDArray[np.int64]:
    logs = field.logarithms[polynomial]
    return np.where(polynomial == 0, 0, field.powers[(logs + exponent) % (field.order - 1)])
