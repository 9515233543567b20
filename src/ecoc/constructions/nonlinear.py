"""Codes with more words than any linear code: Kerdock, Delsarte & Goethals, Best and Julin.

The first three are images of words over the integers modulo 4 under Gray's map, which takes
0, 1, 2, 3 to 00, 01, 11, 10 (Hammons et al. 1994, Conway & Sloane 1994). Julin's code is made of
the blocks of the Steiner system S(5, 6, 12).
"""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt

from ecoc._typing import Ints
from ecoc.constructions.fields import galois_field
from ecoc.constructions.hadamard import jacobsthal_matrix

__all__ = ["best_words", "delsarte_goethals_words", "julin_words", "kerdock_words"]

Bits = npt.NDArray[np.uint8]


def kerdock_words(degree: int) -> Bits:
    """The words of Kerdock's code of length 2^(m+1), m odd, by Hammons et al. (1994).

    It is the Gray image of the Z4-linear code spanned by the all-ones word and the
    sequences of a linear recurrence whose polynomial is a primitive one lifted to Z4.
    There are 4^(m+1) words at distance 2^m - 2^((m-1)/2); m = 3 is Nordstrom &
    Robinson's code.

    Examples
    --------
    >>> kerdock_words(3).shape
    (256, 16)
    """
    messages = np.arange(4 ** (degree + 1))[:, None] // 4 ** np.arange(degree + 1) % 4
    return _gray(messages @ _quaternary_generator(degree) % 4)


def delsarte_goethals_words(degree: int) -> Bits:
    """The words of the second of Delsarte & Goethals' codes of length 2^(m+1), m odd.

    To the words of Kerdock's code over Z4 come twice the sequences T(a x^3), where T is the
    trace to GF(2): 2^(3m+2) words at distance 2^m - 2^((m+1)/2), by Hammons et al. (1994).

    Examples
    --------
    >>> delsarte_goethals_words(3).shape
    (2048, 16)
    """
    field = galois_field(1 << degree)
    n = field.order - 1
    symbols = np.arange(4 ** (degree + 1))[:, None] // 4 ** np.arange(degree + 1) % 4
    kerdock = (symbols @ _quaternary_generator(degree) % 4).astype(np.int8)
    # A digit of an element is a trace of a multiple of it, and the digits span them all.
    cubes = field.powers[3 * np.arange(n) % n]
    digits = np.zeros((degree, n + 1), dtype=np.int8)
    digits[:, :n] = cubes >> np.arange(degree)[:, None] & 1
    chosen = np.arange(1 << degree)[:, None] >> np.arange(degree) & 1
    sequences = (2 * (chosen @ digits) % 4).astype(np.int8)
    return _gray(((kerdock[:, None] + sequences[None]) % 4).reshape(-1, n + 1))


def best_words() -> Bits:
    """Best's 40 words of length 10, 4 apart, by Conway & Sloane (1994).

    Over Z4 they are the cyclic shifts of (c - d, b, c, d, b + c), where b, c and d are 1 or -1.

    Examples
    --------
    >>> best_words().shape
    (40, 10)
    """
    signs = product((1, -1), repeat=3)
    words = [np.roll((c - d, b, c, d, b + c), shift) for b, c, d in signs for shift in range(5)]
    return _gray(np.array(words) % 4)


def julin_words() -> Bits:
    """Julin's 144 words of length 12, 4 apart (1965).

    They are the 132 blocks of the Steiner system S(5, 6, 12), six pairs that have no place in
    common, and the complements of these. The blocks are the supports of the words of weight 6
    of Golay's ternary code.

    Examples
    --------
    >>> julin_words().shape
    (144, 12)
    """
    # Paley's conference matrix of order 6: with the unit matrix before it, it spans the code.
    conference = np.zeros((6, 6), dtype=np.int64)
    conference[0, 1:] = conference[1:, 0] = 1
    conference[1:, 1:] = jacobsthal_matrix(5)
    messages = np.array(list(product(range(3), repeat=6)))
    words = messages @ np.hstack([np.eye(6, dtype=np.int64), conference]) % 3
    supports = (words != 0).astype(np.uint8)
    blocks = np.unique(supports[supports.sum(axis=1) == 6], axis=0)
    pairs = np.kron(np.eye(6, dtype=np.uint8), np.ones(2, dtype=np.uint8))
    return np.vstack([blocks, pairs, 1 - pairs])


def _gray(symbols: npt.NDArray[np.integer]) -> Bits:
    """Gray's map: 0, 1, 2, 3 become 00, 01, 11, 10."""
    words = np.hstack([symbols >= 2, (symbols == 1) | (symbols == 2)])
    return words.astype(np.uint8)


def _quaternary_generator(degree: int) -> Ints:
    n = (1 << degree) - 1
    recurrence = _lifted(degree)
    generator = np.zeros((degree + 1, n + 1), dtype=np.int64)
    generator[0] = 1
    generator[1:, :degree] = np.eye(degree, dtype=np.int64)
    for t in range(degree, n):
        generator[1:, t] = -(generator[1:, t - degree : t] @ recurrence) % 4
    return generator


def _lifted(degree: int) -> Ints:
    """The low coefficients of a primitive polynomial lifted to Z4 (Graeffe's method)."""
    field = galois_field(1 << degree)
    low = int(field.powers[degree]) if degree > 1 else 1
    coefficients = np.array([low >> i & 1 for i in range(degree)] + [1], dtype=np.int64)
    even, odd = coefficients.copy(), coefficients.copy()
    even[1::2] = 0
    odd[::2] = 0
    squares = np.convolve(even, even) - np.convolve(odd, odd)
    lifted = squares[::2] % 4
    if lifted[-1] == 3:
        lifted = -lifted % 4
    return np.asarray(lifted[:-1], dtype=np.int64)
