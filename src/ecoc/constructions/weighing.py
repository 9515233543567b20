"""Weighing matrices W(n, w): entries +1, -1 and 0, and orthogonal rows with w entries used each.

Hadamard matrices are those with w = n, conference matrices those with w = n - 1. Every matrix is
checked, in integers, before it is returned.
"""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import product
from math import isqrt

import numpy as np

from ecoc._checks import check_int
from ecoc._typing import Signs
from ecoc.constructions.fields import MAX_FIELD, galois_field, prime_power
from ecoc.constructions.hadamard import conference_matrix, hadamard_matrix
from ecoc.errors import InfeasibleError, SolverError, TooLargeError

__all__ = ["weighing_matrix"]

_MAX_ORDER = 512
_MAX_CIRCULANT = 8
"""The longest circulants of which all are looked at: 3^8 words."""


@lru_cache(maxsize=4096)
def weighing_matrix(order: int, weight: int) -> Signs | None:
    """Return a weighing matrix, or None where no method here gives one.

    Hadamard and conference matrices; circulants of planes, which have the order q^2 + q + 1 and
    the weight q^2 for a prime power q; one circulant or two of at most eight places, found by
    looking at all; and products of smaller ones.

    Parameters
    ----------
    order : int
        The number of rows and columns, n; at most 512.
    weight : int
        How many entries of a row are used, w.

    Examples
    --------
    >>> matrix = weighing_matrix(7, 4).astype(int)
    >>> bool((matrix @ matrix.T == 4 * np.eye(7)).all())
    True
    >>> weighing_matrix(7, 5) is None  # weights of odd orders are squares
    True
    """
    n = check_int("order", order, minimum=1, maximum=_MAX_ORDER)
    w = check_int("weight", weight, minimum=1, maximum=n)
    if n % 2 and isqrt(w) ** 2 != w:
        return None
    for method in (_known, _plane, _circulants, _product):
        matrix = method(n, w)
        if matrix is not None:
            if not np.array_equal(matrix.astype(np.int64) @ matrix.T, w * np.eye(n)):
                raise SolverError(f"a matrix of order {n} is no weighing matrix of weight {w}.")
            matrix.setflags(write=False)
            return matrix
    return None


def _known(n: int, w: int) -> Signs | None:
    """The identity, a Hadamard matrix, or Paley's conference matrix."""
    if w == 1:
        return np.eye(n, dtype=np.int8)
    if w == n:
        try:
            return hadamard_matrix(n)
        except (InfeasibleError, TooLargeError):
            return None
    odd_power = n % 2 == 0 and prime_power(n - 1) is not None
    return conference_matrix(n - 1) if w == n - 1 and odd_power else None


def _plane(n: int, w: int) -> Signs | None:
    """A circulant of a projective plane: D^2 - J, D being a line as a polynomial.

    Singer's lines (1938) are difference sets: D(x) D(1/x) = q + J, so that D^2 - J times itself in
    1/x is q^2. A sum of two points of the line in two orders gives 2, and D^2 has entries 0 to 2.
    """
    q = isqrt(w)
    if q * q != w or n != q * q + q + 1 or prime_power(q) is None or q**3 > MAX_FIELD:
        return None
    field = galois_field(q**3)
    size = field.order - 1
    x, y, z = (field.powers[np.arange(n) * q**i % size] for i in range(3))
    # The trace of x over GF(q), of which a line is the zeros.
    trace = field.subtract(x, field.subtract(np.zeros_like(y), y))
    trace = field.subtract(trace, field.subtract(np.zeros_like(z), z))
    line = np.flatnonzero(trace == 0)
    sums = np.bincount((line[:, None] + line).ravel() % n, minlength=n) - 1
    return _circulant(sums.astype(np.int8))


def _circulant(first: Signs) -> Signs:
    """The matrix whose rows are the shifts of a first one."""
    places = np.arange(len(first))
    shifted: Signs = first[(places[None, :] - places[:, None]) % len(first)]
    return shifted


@cache
def _words(length: int) -> dict[tuple[int, ...], Signs]:
    """All words of +1, -1 and 0, one for each autocorrelation, its weight first."""
    words = np.array(list(product((0, 1, -1), repeat=length)), dtype=np.int8)
    shifts = np.stack([np.roll(words, s, axis=1) for s in range(length // 2 + 1)])
    correlations = (shifts.astype(np.int64) * words).sum(axis=2).T
    return {tuple(c): word for c, word in zip(correlations.tolist(), words, strict=True)}


def _circulants(n: int, w: int) -> Signs | None:
    """One circulant, or two whose autocorrelations cancel out, of words of few places."""
    if n <= _MAX_CIRCULANT:
        single = _words(n).get((w, *(0,) * (n // 2)))
        if single is not None:
            return _circulant(single)
    if n % 2 or n // 2 > _MAX_CIRCULANT:
        return None
    words = _words(n // 2)
    for (weight, *rest), word in words.items():
        other = words.get((w - weight, *(-value for value in rest)))
        if other is not None:
            a, b = _circulant(word), _circulant(other)
            return np.block([[a, b], [-b.T, a.T]])
    return None


def _product(n: int, w: int) -> Signs | None:
    """The Kronecker product of two smaller ones."""
    for small in range(2, isqrt(n) + 1):
        if n % small:
            continue
        for weight in range(1, small + 1):
            if w % weight or w // weight > n // small:
                continue
            one, other = weighing_matrix(small, weight), weighing_matrix(n // small, w // weight)
            if one is not None and other is not None:
                return np.kron(one, other)
    return None
