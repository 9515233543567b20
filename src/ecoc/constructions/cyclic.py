"""Narrow-sense BCH codes of odd length, and the Z4-linear Kerdock codes.

The binary code of length n with designed distance t has the words, as polynomials, with
the zeros b, b^2, ..., b^(t-1), where b is an n-th root of unity (Bose & Ray-Chaudhuri
1960, Hocquenghem 1959). The simplex and Hamming codes and Golay's are among them, and
they have at least as many words as the punctured Reed-Muller codes of the same distance.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ecoc.constructions.fields import GaloisField, galois_field

__all__ = ["bch_codes", "bch_generator", "kerdock_words", "multiplicative_order"]

Bits = npt.NDArray[np.uint8]


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
    found = []
    zeros: set[int] = set()
    for exponent in range(1, n):
        if exponent in zeros:
            continue
        if zeros:
            found.append((n - len(zeros), exponent, tuple(sorted(zeros))))
        while exponent not in zeros:
            zeros.add(exponent)
            exponent = 2 * exponent % n  # noqa: PLW2901  # walks along the cyclotomic coset
    return tuple(found)


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
    n = (1 << degree) - 1
    recurrence = _lifted(degree)
    generator = np.zeros((degree + 1, n + 1), dtype=np.int64)
    generator[0] = 1
    generator[1:, :degree] = np.eye(degree, dtype=np.int64)
    for t in range(degree, n):
        generator[1:, t] = -(generator[1:, t - degree : t] @ recurrence) % 4
    messages = np.arange(4 ** (degree + 1))[:, None] // 4 ** np.arange(degree + 1) % 4
    symbols = (messages @ generator) % 4
    # Gray's map: 0, 1, 2, 3 become 00, 01, 11, 10.
    words = np.hstack([symbols >= 2, (symbols == 1) | (symbols == 2)])
    return words.astype(np.uint8)


def _lifted(degree: int) -> npt.NDArray[np.int64]:
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
