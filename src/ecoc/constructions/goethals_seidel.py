"""Hadamard matrices from four +1/-1 functions on an abelian group.

If the periodic autocorrelations of four functions of +1 and -1 on a group of order v
sum to 0 away from the origin, their group matrices A, B, C, D in the array of
Goethals & Seidel (1967) are a Hadamard matrix of order 4v. Williamson's four symmetric
circulants (1944), supplementary difference sets, and the products of T-sequences with
Williamson matrices (Cooper & Wallis 1972) are all such functions: a quadruple here has
the shape (4, *orders of the cyclic factors).
"""

from __future__ import annotations

import json
from functools import cache
from importlib import resources
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc.constructions.fields import GaloisField, galois_field
from ecoc.errors import InvalidInputError

__all__ = [
    "cooper_wallis",
    "goethals_seidel",
    "load_table",
    "periodic_autocorrelation",
    "t_sequences",
    "tabulated_quadruple",
    "tabulated_quadruples",
    "turyn_type_sequences",
    "williamson_quadruple",
]

Signs = npt.NDArray[np.int8]


@cache
def load_table() -> dict[str, Any]:
    """Read the table of sequences that is shipped with the package."""
    text = (resources.files(__package__) / "tables" / "sequences.json").read_text("ascii")
    table: dict[str, Any] = json.loads(text)
    return table


def periodic_autocorrelation(function: npt.ArrayLike) -> npt.NDArray[np.int64]:
    """The sums over x of f(x) f(x + s), for every s of the group.

    Examples
    --------
    >>> periodic_autocorrelation([1, 1, -1])
    array([ 3, -1, -1])
    """
    values = np.asarray(function, dtype=np.float64)
    spectrum = np.abs(np.fft.fftn(values)) ** 2
    correlation: npt.NDArray[np.int64] = np.rint(np.fft.ifftn(spectrum).real).astype(np.int64)
    return correlation


def goethals_seidel(functions: npt.ArrayLike) -> Signs:
    """The Goethals-Seidel array of four functions on an abelian group.

    Examples
    --------
    >>> h = goethals_seidel([[1, 1, 1], [1, -1, -1], [1, -1, -1], [1, -1, -1]])
    >>> bool((h.astype(int) @ h.T == 12 * np.eye(12)).all())
    True
    """
    quadruple = np.asarray(functions, dtype=np.int8)
    group = quadruple.shape[1:]
    if quadruple.shape[0] != 4 or not np.isin(quadruple, (-1, 1)).all():
        raise InvalidInputError("functions must be four arrays of +1 and -1 of one shape.")
    total = sum(periodic_autocorrelation(f) for f in quadruple)
    if np.count_nonzero(total) != 1:
        raise InvalidInputError(
            "The autocorrelations of the four functions must sum to 0 away from the origin."
        )
    v = int(np.prod(group))
    places = np.array(np.unravel_index(np.arange(v), group)).T
    later = _place(places[None, :, :] - places[:, None, :], group)
    opposite = _place(-places, group)
    a, b, c, d = (f.ravel()[later] for f in quadruple)
    br, cr, dr = (matrix[:, opposite] for matrix in (b, c, d))
    btr, ctr, dtr = (matrix.T[:, opposite] for matrix in (b, c, d))
    return np.block(
        [[a, br, cr, dr], [-br, a, dtr, -ctr], [-cr, -dtr, a, btr], [-dr, ctr, -btr, a]]
    )


def _place(elements: npt.NDArray[np.int64], group: tuple[int, ...]) -> npt.NDArray[np.int64]:
    wrapped = np.moveaxis(elements % np.array(group), -1, 0)
    return np.asarray(np.ravel_multi_index(tuple(wrapped), group), dtype=np.int64)


def williamson_quadruple(order: int) -> Signs:
    """Williamson's four symmetric circulants of order (q + 1) / 2 (Turyn 1972).

    Here q = 2 order - 1 must be a prime power that leaves the remainder 1 by 4. The
    points of the projective line over GF(q) are the powers w^0, ..., w^q of a primitive
    element of GF(q^2), and chi(det(w^i, w^j)) is a conference matrix; its places taken
    in steps of 4 are two symmetric circulants X and Y with X^2 + Y^2 = q I, and the
    quadruple is I + X, I - X, Y, Y.

    Examples
    --------
    >>> williamson_quadruple(3)[:, 1].tolist()
    [1, -1, -1, -1]
    """
    if order == 1:
        return np.ones((4, 1), dtype=np.int8)
    q = 2 * order - 1
    field = galois_field(q * q)
    steps = 4 * np.arange(order)
    x, y = (_determinant_character(field, q, steps + start) for start in (0, order))
    one = np.zeros(order, dtype=np.int8)
    one[0] = 1
    return np.array([one + x, one - x, y, y], dtype=np.int8)


def _determinant_character(field: GaloisField, q: int, exponents: npt.NDArray[np.int64]) -> Signs:
    size = field.order - 1
    power = field.powers[exponents % size]
    # x - x^q is, up to a constant factor, the determinant of 1 and x over GF(q).
    difference = field.subtract(power, field.powers[(q * exponents) % size])
    unit = field.logarithms[field.subtract(field.powers[1], field.powers[q])]
    index = (field.logarithms[difference] - unit) // (q + 1)
    return np.where(difference == 0, 0, 1 - 2 * (index % 2)).astype(np.int8)


def turyn_type_sequences(length: int) -> list[Signs]:
    """Four sequences of lengths n, n, n, n - 1 with aperiodic autocorrelations X + Y + 2Z + 2W = 0.

    The sequences are those printed by Best, Dokovic, Kharaghani & Ramp (2013) and, for
    n = 36, by Kharaghani & Tayfeh-Rezaie (2005): a hexadecimal digit holds the signs of
    one place, the last digit without the fourth sequence.

    Examples
    --------
    >>> [s.tolist() for s in turyn_type_sequences(2)]
    [[1, 1], [1, 1], [1, -1], [1]]
    """
    text = load_table()["turyn_type"].get(str(length))
    if text is None:
        raise InvalidInputError(f"No Turyn-type sequences of length {length} are tabulated.")
    digits = [int(digit, 16) for digit in text]
    digits[-1] <<= 1
    bits = np.array([[digit >> (3 - i) & 1 for digit in digits] for i in range(4)])
    signs = (1 - 2 * bits).astype(np.int8)
    return [signs[0], signs[1], signs[2], signs[3, :-1]]


def t_sequences(length: int) -> Signs | None:
    """Four 0/+1/-1 sequences, exactly one not 0 at each place, of autocorrelation sum 0.

    They come from base sequences, four of lengths m, m, n, n with m + n the length and
    aperiodic autocorrelations that sum to 0 (Turyn 1974): small ones from a table, larger
    ones from Turyn-type sequences. None where neither gives any.

    Examples
    --------
    >>> t_sequences(3).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]
    """
    base = _base_sequences(length)
    if base is None:
        return None
    a, b, c, d = (np.array(s, dtype=np.int8) for s in base)
    m = len(a)
    result = np.zeros((4, length), dtype=np.int8)
    result[0, :m], result[1, :m] = (a + b) // 2, (a - b) // 2
    result[2, m:], result[3, m:] = (c + d) // 2, (c - d) // 2
    return result


def _base_sequences(length: int) -> list[Signs] | None:
    if length == 1:
        one = np.ones(1, dtype=np.int8)
        return [one, one, one[:0], one[:0]]
    texts = load_table()["base"].get(str(length))
    if texts is not None:
        return [read_signs(text) for text in texts]
    n, remainder = divmod(length + 1, 3)
    if remainder or str(n) not in load_table()["turyn_type"]:
        return None
    x, y, z, w = turyn_type_sequences(n)
    return [np.concatenate([z, w]), np.concatenate([z, -w]), x, y]


def read_signs(text: str) -> Signs:
    """Read a sequence written with ``+`` and ``-``."""
    return np.array([1 if character == "+" else -1 for character in text], dtype=np.int8)


def cooper_wallis(t_sequence: Signs, williamson: Signs) -> Signs:
    """The four functions on Z_t x Z_w made of T-sequences and Williamson sequences."""
    t1, t2, t3, t4 = t_sequence
    products = [
        [(t1, 0, 1), (t2, 1, 1), (t3, 2, 1), (t4, 3, 1)],
        [(t1, 1, -1), (t2, 0, 1), (t3, 3, 1), (t4, 2, -1)],
        [(t1, 2, -1), (t2, 3, -1), (t3, 0, 1), (t4, 1, 1)],
        [(t1, 3, -1), (t2, 2, 1), (t3, 1, -1), (t4, 0, 1)],
    ]
    return np.array(
        [sum(sign * np.outer(t, williamson[i]) for t, i, sign in row) for row in products],
        dtype=np.int8,
    )


def tabulated_quadruples() -> tuple[int, ...]:
    """The group orders v for which four functions on Z_v are in the table."""
    return tuple(sorted(int(v) for v in load_table()["goethals_seidel"]))


def tabulated_quadruple(order: int) -> Signs:
    """Four functions on Z_v from the table of unions of orbits.

    A subgroup of the units of Z_v cuts Z_v into orbits, and each function is -1 on some
    of them: the table has a generator of the subgroup and the least members of the orbits.
    Those for v = 103, 151 and 239 are Dokovic's (1994), that for 191 is too (2008).
    """
    entry = load_table()["goethals_seidel"][str(order)]
    subgroup = multiplier_subgroup(order, entry["multiplier"])
    functions = np.ones((4, order), dtype=np.int8)
    for function, starts in zip(functions, entry["orbits"], strict=True):
        for start in starts:
            function[[start * h % order for h in subgroup]] = -1
    return functions


def multiplier_subgroup(order: int, generator: int) -> list[int]:
    """The powers of a unit of Z_v."""
    if gcd(generator, order) != 1:
        raise InvalidInputError(f"{generator} is no unit modulo {order}.")
    subgroup = [1]
    while (following := subgroup[-1] * generator % order) != 1:
        subgroup.append(following)
    return subgroup
