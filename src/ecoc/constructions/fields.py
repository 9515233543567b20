"""Small finite fields, as tables of powers and logarithms of a primitive element."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int
from ecoc._typing import Ints
from ecoc.errors import InvalidInputError

__all__ = ["MAX_FIELD", "GaloisField", "galois_field", "prime_power"]


MAX_FIELD = 1 << 17
"""The largest field that is tabulated."""


def prime_power(number: int) -> tuple[int, int] | None:
    """Write a number as p^m with p prime, or return None.

    Examples
    --------
    >>> prime_power(243), prime_power(45)
    ((3, 5), None)
    """
    if number < 2:
        return None
    p = next((d for d in range(2, int(number**0.5) + 1) if number % d == 0), number)
    m = 0
    while number % p == 0:
        number //= p
        m += 1
    return (p, m) if number == 1 else None


class GaloisField:
    """The field of q = p^m elements.

    An element is an integer whose digits in base p are the coefficients of a
    polynomial in a primitive element, the constant term first. Made by
    :func:`galois_field`, which keeps the tables.

    Attributes
    ----------
    order, characteristic, degree : int
        q, p and m.
    powers : ndarray of shape (q - 1,)
        The powers of the primitive element, from its zeroth.
    logarithms : ndarray of shape (q,)
        The exponent of each element; -1 for zero.
    """

    def __init__(self, order: int) -> None:
        order = check_int("order", order, minimum=2, maximum=MAX_FIELD)
        parts = prime_power(order)
        if parts is None:
            raise InvalidInputError(f"A field has a prime power of elements, not {order}.")
        self.order = order
        self.characteristic, self.degree = parts
        self.powers = _powers_of_primitive_element(*parts)
        self.logarithms: Ints = np.full(order, -1, dtype=np.int64)
        self.logarithms[self.powers] = np.arange(order - 1)

    def subtract(self, left: npt.ArrayLike, right: npt.ArrayLike) -> Ints:
        """The differences of elements."""
        p = self.characteristic
        a, b = np.broadcast_arrays(np.asarray(left, np.int64), np.asarray(right, np.int64))
        result = np.zeros(a.shape, dtype=np.int64)
        for place in range(self.degree):
            weight = p**place
            result += weight * ((a // weight - b // weight) % p)
        return result

    def character(self, elements: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """The quadratic character: 0 for zero, +1 for squares, -1 for the rest (q odd)."""
        logs = self.logarithms[np.asarray(elements, np.int64)]
        return np.where(logs < 0, 0, 1 - 2 * (logs % 2)).astype(np.int8)


@lru_cache(maxsize=32)
def galois_field(order: int) -> GaloisField:
    """The field of the given order, made once.

    Examples
    --------
    >>> field = galois_field(9)
    >>> sorted(field.powers.tolist())
    [1, 2, 3, 4, 5, 6, 7, 8]
    >>> int(field.character(field.powers).sum())
    0
    """
    return GaloisField(order)


def _powers_of_primitive_element(p: int, m: int) -> Ints:
    """Powers of x modulo the first monic polynomial of degree m for which x is primitive."""
    order = p**m
    for low in product(range(p), repeat=m):
        # The norm of a primitive element is a primitive root: most polynomials fail this.
        if not _is_primitive_root((low[0] * (-1) ** (m + 1)) % p, p):
            continue
        powers = _cycle_of_x(p, low, order)
        if len(powers) == order - 1:
            return np.array(powers, dtype=np.int64)
    raise AssertionError(f"no primitive polynomial of degree {m} over GF({p})")


def _is_primitive_root(number: int, p: int) -> bool:
    power, count = number, 1
    while power > 1:
        power = power * number % p
        count += 1
    return power == 1 and count == p - 1


def _cycle_of_x(p: int, low: tuple[int, ...], order: int) -> list[int]:
    """The powers of x until they repeat, where x^m = low[0] + low[1] x + ..."""
    top = order // p
    powers = [1]
    # low is both the reduction of x^m and, for m = 1, the value of x itself.
    element = 1
    while True:
        lead, rest = divmod(element, top)
        element = rest * p
        if lead:
            element = _add_multiple(element, lead, low, p)
        if element == 1 or len(powers) >= order:
            return powers
        powers.append(element)


def _add_multiple(element: int, factor: int, low: tuple[int, ...], p: int) -> int:
    result, weight = 0, 1
    for coefficient in low:
        element, digit = divmod(element, p)
        result += weight * ((digit + factor * coefficient) % p)
        weight *= p
    return result
