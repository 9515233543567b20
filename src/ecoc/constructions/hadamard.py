"""Hadamard matrices: which orders are reached, by which method, and the matrices.

A Hadamard matrix of order n has entries +1 and -1 and orthogonal rows: H H^T = n I.
Every matrix is checked to be one, in integers, before it is returned.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice, check_int
from ecoc.constructions.fields import MAX_FIELD, galois_field, prime_power
from ecoc.constructions.goethals_seidel import (
    cooper_wallis,
    goethals_seidel,
    t_sequences,
    tabulated_quadruple,
    tabulated_quadruples,
    williamson_quadruple,
)
from ecoc.errors import InfeasibleError, SolverError, TooLargeError

__all__ = [
    "MAX_ORDER",
    "hadamard_matrix",
    "hadamard_methods",
    "hadamard_orders",
    "is_hadamard",
    "jacobsthal_matrix",
    "missing_orders",
]

Signs = npt.NDArray[np.int8]

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


def _conference(q: int) -> Signs:
    """Paley's conference matrix of order q + 1, symmetric for q = 1 mod 4, skew for 3."""
    matrix = np.zeros((q + 1, q + 1), dtype=np.int8)
    matrix[0, 1:] = 1
    matrix[1:, 0] = 1 if q % 4 == 1 else -1
    matrix[1:, 1:] = jacobsthal_matrix(q)
    return matrix


def _paley_1(n: int) -> Signs:
    return _conference(n - 1) + np.eye(n, dtype=np.int8)


def _paley_2(n: int) -> Signs:
    conference = _conference(n // 2 - 1)
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
