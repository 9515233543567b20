"""Hadamard matrices: which orders are reached, by which method, and the matrices.

A Hadamard matrix of order n has entries +1 and -1 and orthogonal rows: H H^T = n I.
Every matrix is checked to be one, in integers, before it is returned.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache, lru_cache
from importlib import resources
from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice, check_int
from ecoc._typing import Signs
from ecoc.constructions.fields import MAX_FIELD, GaloisField, galois_field, prime_power
from ecoc.errors import InfeasibleError, InvalidInputError, SolverError, TooLargeError

__all__ = [
    "MAX_ORDER",
    "conference_matrix",
    "cooper_wallis",
    "goethals_seidel",
    "hadamard_matrix",
    "hadamard_methods",
    "hadamard_orders",
    "is_hadamard",
    "jacobsthal_matrix",
    "load_table",
    "missing_orders",
    "periodic_autocorrelation",
    "t_sequences",
    "tabulated_quadruple",
    "tabulated_quadruples",
    "turyn_type_sequences",
    "williamson_quadruple",
]


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


MAX_ORDER = 1 << 13
"""The largest order whose matrix is made."""

_MAX_KEPT = 1 << 10
"""The largest order whose matrix is kept in memory."""


def hadamard_matrix(order: int, *, method: str | None = None) -> Signs:
    """A Hadamard matrix of the given order.

    Parameters
    ----------
    order : int
        1, 2 or a multiple of 4.
    method : str, optional
        One of :func:`hadamard_methods`; the first of them by default.

    Raises
    ------
    InfeasibleError
        If no method here reaches the order. The message has the nearest orders.

    Examples
    --------
    >>> hadamard_matrix(4)
    array([[ 1,  1,  1,  1],
           [ 1, -1,  1, -1],
           [ 1,  1, -1, -1],
           [ 1, -1, -1,  1]], dtype=int8)
    """
    n = check_int("order", order, minimum=1)
    if n > MAX_ORDER:
        raise TooLargeError(f"Hadamard matrices are made up to order {MAX_ORDER}, not {n}.")
    methods = hadamard_methods(n)
    if not methods:
        raise InfeasibleError(
            f"No Hadamard matrix of order {n} is reached here. {_nearest_orders(n)}"
        )
    chosen = methods[0] if method is None else check_choice("method", method, methods)
    return _kept_matrix(n, chosen).copy() if n <= _MAX_KEPT else _matrix(n, chosen)


def hadamard_methods(order: int) -> tuple[str, ...]:
    """The methods that reach an order, the preferred one first.

    Examples
    --------
    >>> hadamard_methods(12)
    ('paley-1', 'paley-2', 'williamson')
    >>> hadamard_methods(668)
    ()
    """
    return _methods(check_int("order", order, minimum=1))


def hadamard_orders(limit: int = 1000) -> tuple[int, ...]:
    """The orders up to a limit that are reached.

    Examples
    --------
    >>> hadamard_orders(20)
    (1, 2, 4, 8, 12, 16, 20)
    """
    limit = check_int("limit", limit, minimum=1, maximum=MAX_ORDER)
    return tuple(n for n in (1, 2, *range(4, limit + 1, 4)) if n <= limit and _methods(n))


def missing_orders(limit: int = 1000) -> tuple[int, ...]:
    """The multiples of 4 up to a limit that are not reached.

    Up to 1,000 these are the orders of which no Hadamard matrix is known to anybody.

    Examples
    --------
    >>> missing_orders(1000)
    (668, 716, 892)
    """
    limit = check_int("limit", limit, minimum=1, maximum=MAX_ORDER)
    return tuple(n for n in range(4, limit + 1, 4) if not _methods(n))


def is_hadamard(matrix: npt.ArrayLike) -> bool:
    """Whether a matrix has entries +1 and -1 and orthogonal rows.

    Examples
    --------
    >>> is_hadamard([[1, 1], [1, -1]])
    True
    """
    values = np.asarray(matrix)
    if values.ndim != 2 or values.shape[0] != values.shape[1] or not (np.abs(values) == 1).all():
        return False
    # Single precision holds the integers up to 2^24 exactly, and no sum here exceeds the order.
    single = values.astype(np.float32)
    gram = single @ single.T
    return np.array_equal(gram, len(values) * np.eye(len(values), dtype=np.float32))


def _nearest_orders(n: int) -> str:
    below = next(m for m in range(n - 1, 0, -1) if _methods(m))
    above = next((m for m in range(n + 1, MAX_ORDER + 1) if _methods(m)), None)
    if above is None:
        return f"The nearest order below is {below}."
    return f"The nearest orders are {below} and {above}."


# ------------------------------------------------------------------- methods


def _power_of_two(n: int) -> bool:
    return n & (n - 1) == 0


def _paley_field(q: int, remainder: int) -> bool:
    return q % 4 == remainder and q <= MAX_FIELD and prime_power(q) is not None


@cache
def _methods(n: int) -> tuple[str, ...]:
    if n > 2 and n % 4:
        return ()
    return tuple(name for name, (applies, _) in _METHODS.items() if applies(n))


def _matrix(n: int, method: str) -> Signs:
    matrix = _METHODS[method][1](n).astype(np.int8)
    if len(matrix) != n or not is_hadamard(matrix):
        raise SolverError(f"The {method} matrix of order {n} is not a Hadamard matrix.")
    return matrix


_kept_matrix = lru_cache(maxsize=64)(_matrix)


def _sylvester(n: int) -> Signs:
    matrix: Signs = np.ones((1, 1), dtype=np.int8)
    step = np.array([[1, 1], [1, -1]], dtype=np.int8)
    while len(matrix) < n:
        matrix = np.kron(step, matrix).astype(np.int8)
    return matrix


def jacobsthal_matrix(q: int) -> Signs:
    """The quadratic character of the differences of the elements of GF(q), q odd.

    Examples
    --------
    >>> jacobsthal_matrix(3)
    array([[ 0, -1,  1],
           [ 1,  0, -1],
           [-1,  1,  0]], dtype=int8)
    """
    field = galois_field(q)
    elements = np.arange(q)
    return field.character(field.subtract(elements[:, None], elements[None, :]))


def conference_matrix(q: int) -> Signs:
    """Paley's conference matrix of order q + 1, symmetric for q = 1 mod 4, skew for 3.

    Examples
    --------
    >>> conference = conference_matrix(5).astype(int)
    >>> bool((conference @ conference.T == 5 * np.eye(6)).all())
    True
    """
    matrix = np.zeros((q + 1, q + 1), dtype=np.int8)
    matrix[0, 1:] = 1
    matrix[1:, 0] = 1 if q % 4 == 1 else -1
    matrix[1:, 1:] = jacobsthal_matrix(q)
    return matrix


def _paley_1(n: int) -> Signs:
    return conference_matrix(n - 1) + np.eye(n, dtype=np.int8)


def _paley_2(n: int) -> Signs:
    conference = conference_matrix(n // 2 - 1)
    one = np.eye(n // 2, dtype=np.int8)
    return np.block([[conference + one, conference - one], [conference - one, -conference - one]])


@cache
def _t_and_williamson(v: int) -> tuple[int, int] | None:
    """Write v = t w with T-sequences of length t and Williamson sequences of length w."""
    for t in range(1, v + 1):
        w, remainder = divmod(v, t)
        q = 2 * w - 1
        if remainder or not (w == 1 or (_paley_field(q, 1) and q * q <= MAX_FIELD)):
            continue
        if t_sequences(t) is not None:
            return t, w
    return None


def _williamson(n: int) -> Signs:
    parts = _t_and_williamson(n // 4)
    assert parts is not None  # noqa: S101  # the method was found to apply
    t, w = parts
    sequences = t_sequences(t)
    assert sequences is not None  # noqa: S101
    return goethals_seidel(cooper_wallis(sequences, williamson_quadruple(w)))


def _miyamoto(n: int) -> Signs:
    """Order 4q from a symmetric conference matrix and a Hadamard matrix (Miyamoto 1991)."""
    q = n // 4
    m = (q - 1) // 2
    core = jacobsthal_matrix(q)
    order = np.argsort(-core[0], kind="stable")
    plus, minus = order[:m], order[m + 1 :]
    c1, c2, c4 = -core[np.ix_(plus, plus)], core[np.ix_(plus, minus)], core[np.ix_(minus, minus)]
    k = hadamard_matrix(q - 1)
    k1, k2, k3, k4 = k[:m, :m], k[:m, m:], -k[m:, :m], k[m:, m:]
    none, one = np.zeros((m, m), dtype=np.int8), np.eye(m, dtype=np.int8)
    u = [[c1, c2, none, none], [c2.T, c4, none, none], [none, none, c1, c2], [none, none, c2.T, c4]]
    v = [[one, none, k1, k2], [none, one, k3, k4], [k1.T, k3.T, one, none], [k2.T, k4.T, none, one]]
    signs = ((1, 1, 1, 1), (-1, 1, 1, -1), (-1, -1, 1, 1), (-1, 1, -1, 1))
    return np.block(
        [
            [signs[i][j] * _bordered(u[i][j], v[i][j], -1 if i == j else 1) for j in range(4)]
            for i in range(4)
        ]
    )


def _bordered(u: Signs, v: Signs, border: int) -> Signs:
    inner = np.block([[u + v, u - v], [u - v, u + v]])
    block = np.full((len(inner) + 1, len(inner) + 1), border, dtype=np.int8)
    block[0, 0] = 1
    block[1:, 1:] = inner
    return block


@cache
def _factors(n: int) -> tuple[int, int] | None:
    """Two reached orders whose product is n, the first as small as possible."""
    for a in (2, *range(4, int(n**0.5) + 1, 4)):
        if n % a == 0 and 1 < n // a < n and _methods(a) and _methods(n // a):
            return a, n // a
    return None


def _kronecker(n: int) -> Signs:
    factors = _factors(n)
    assert factors is not None  # noqa: S101  # the method was found to apply
    return np.kron(hadamard_matrix(factors[0]), hadamard_matrix(factors[1]))


_METHODS: dict[str, tuple[Callable[[int], bool], Callable[[int], Signs]]] = {
    "sylvester": (_power_of_two, _sylvester),
    "paley-1": (lambda n: n > 2 and _paley_field(n - 1, 3), _paley_1),
    "paley-2": (lambda n: n % 8 == 4 and _paley_field(n // 2 - 1, 1), _paley_2),
    "williamson": (
        lambda n: n % 8 == 4 and n > 4 and _t_and_williamson(n // 4) is not None,
        _williamson,
    ),
    "goethals-seidel": (
        lambda n: n % 4 == 0 and n // 4 in tabulated_quadruples(),
        lambda n: goethals_seidel(tabulated_quadruple(n // 4)),
    ),
    "miyamoto": (
        lambda n: n % 16 == 4 and _paley_field(n // 4, 1) and bool(_methods(n // 4 - 1)),
        _miyamoto,
    ),
    "kronecker": (
        lambda n: n > 2 and not _power_of_two(n) and _factors(n) is not None,
        _kronecker,
    ),
}
"""For each method, whether it reaches an order, and how."""
