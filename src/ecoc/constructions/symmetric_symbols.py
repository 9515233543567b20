"""Codebooks of several symbols, and difference matrices, found by annealing with a symmetry.

A cyclic group of m elements acts on the rows: t cycles of m rows each, and f rows that stay.
Columns come m at a time, as the images of one column. So there are m times fewer entries to
choose and m times fewer distances to look at, which is often the difference between a near
miss and a code that meets its bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ecoc._limits import Budget
from ecoc._typing import Ints
from ecoc.constructions import _symbol_annealing as kernels
from ecoc.constructions.fields import galois_field, prime_power

__all__ = [
    "Rotation",
    "anneal_code",
    "anneal_differences",
    "compile_kernels",
    "invariant_columns",
    "subtraction_table",
]

_HOT, _COLD = 0.4, 0.12
"""Temperatures for violations of 1; most of the way to a solution is along plateaus."""
_HOT_DIFFERENCES, _COLD_DIFFERENCES = 0.9, 0.25
_CHUNK = 1 << 15
"""Moves between two looks at the clock."""


@dataclass(frozen=True)
class Rotation:
    """A cyclic group of `order` elements on rows, the last `n_fixed` of which stay.

    Examples
    --------
    >>> Rotation(5, 2, 1).images()
    array([[0, 1, 2, 3, 4],
           [1, 0, 3, 2, 4]])
    """

    n_rows: int
    order: int = 1
    n_fixed: int = 0

    def images(self) -> Ints:
        """Return where each element of the group sends each row."""
        rows = np.arange(self.n_rows)
        moved = rows < self.n_rows - self.n_fixed
        turns = np.arange(self.order)[:, None]
        turned = rows - rows % self.order + (rows + turns) % self.order
        images: Ints = np.where(moved, turned, rows)
        return images


@lru_cache(maxsize=64)
def _orbits(rotation: Rotation, ordered: bool) -> tuple[Ints, Ints]:
    """Return the orbit of each pair of rows, and how many pairs each orbit has."""
    k, images = rotation.n_rows, rotation.images()
    keys = np.empty((rotation.order, k, k), dtype=np.int64)
    for g, image in enumerate(images):
        first, second = np.meshgrid(image, image, indexing="ij")
        if not ordered:
            first, second = np.minimum(first, second), np.maximum(first, second)
        keys[g] = first * k + second
    # The least image of a pair stands for its orbit.
    least = keys.min(axis=0)
    if not ordered:
        least = np.minimum(least, least.T)
    off_diagonal = ~np.eye(k, dtype=bool)
    names, inverse = np.unique(least[off_diagonal], return_inverse=True)
    orbits = np.zeros((k, k), dtype=np.int64)
    orbits[off_diagonal] = inverse
    counts = np.bincount(inverse, minlength=names.size)
    return orbits, counts if ordered else counts // 2


def invariant_columns(
    rotation: Rotation, n_symbols: int, count: int, rng: np.random.Generator
) -> Ints | None:
    """Draw different balanced columns that a symmetry only renames; None if there are too few.

    The cycles of the rotation are dealt to c = q / e sets, and each set is split by the
    places in the cycle modulo e, shifted for each cycle.

    Examples
    --------
    >>> invariant_columns(Rotation(6, 3), 3, 1, np.random.default_rng(0)).T.tolist()
    [[1, 2, 0, 1, 2, 0]]
    """
    k, m = rotation.n_rows, rotation.order
    if count == 0:
        return np.empty((k, 0), dtype=np.int64)
    if rotation.n_fixed:
        return None
    t = k // m
    moduli = [
        e
        for e in range(1, n_symbols + 1)
        if n_symbols % e == 0 and m % e == 0 and t >= n_symbols // e
        if m == e or t % (n_symbols // e) == 0
    ]
    if not moduli:
        return None
    cycles, places = np.divmod(np.arange(k), m)
    found: dict[bytes, Ints] = {}
    for _ in range(20 * count):
        e = moduli[rng.integers(len(moduli))]
        sets = rng.permutation(np.arange(t) % (n_symbols // e))
        shifts = rng.integers(e, size=t)
        column = sets[cycles] * e + (places + shifts[cycles]) % e
        _, first, inverse = np.unique(column, return_index=True, return_inverse=True)
        found[first[inverse].tobytes()] = column
        if len(found) == count:
            return np.array(list(found.values())).T
    return None


def anneal_code(
    rotation: Rotation,
    n_columns: int,
    n_symbols: int,
    distance: int,
    *,
    seed: int,
    n_moves: int,
    budget: Budget,
    beside: Ints | None = None,
    start: Ints | None = None,
    changes: float = 0.0,
    hot: float = _HOT,
) -> tuple[Ints, int]:
    """Look for a code of balanced columns with a row distance.

    Parameters
    ----------
    rotation : Rotation
        The symmetry, whose order divides `n_columns`.
    n_columns, n_symbols, distance : int
        The length, the symbols, and the least distance wanted.
    seed : int
        Decides everything, unless the time is over first.
    n_moves : int
        How many exchanges are tried.
    budget : Budget
        Pays two units for each class and move.
    beside : ndarray of shape (k, some), optional
        Columns that the symmetry leaves as they are but for names of symbols. They stand
        beside the others and count for the distance.
    start : ndarray of shape (k, n_columns / order), optional
        One column of each orbit to begin with.
    changes : float, default=0
        The share of moves that change the sizes of groups.
    hot : float
        The temperature at the beginning.

    Returns
    -------
    matrix : ndarray of shape (k, n_columns) and what stands beside
        The best that was seen.
    energy : int
        Its energy: the sum, over orbits of pairs, of the squares of what lacks; 0 for a code
        of the distance.

    Examples
    --------
    Kirkman's schoolgirls: 15 of them walk in five rows of three on seven days.

    >>> code, _ = anneal_code(Rotation(15, 7, 1), 7, 5, 6, seed=0, n_moves=10**5, budget=Budget())
    >>> code.shape
    (15, 7)
    """
    k, q = rotation.n_rows, n_symbols
    rng = np.random.default_rng(seed)
    n_held = n_columns // rotation.order
    if start is None:
        symbols = np.array([rng.permutation(np.arange(k) % q) for _ in range(n_held)])
    else:
        symbols = np.ascontiguousarray(start.T)
    columns = _columns(symbols, q)
    orbits, counts = _orbits(rotation, False)
    steps = rotation.order // counts
    pairs = np.triu_indices(k, 1)
    separated = (symbols[:, pairs[0]] != symbols[:, pairs[1]]).sum(axis=0)
    of_pairs = orbits[pairs]
    values = (
        np.bincount(of_pairs, weights=separated, minlength=counts.size).astype(np.int64) * steps
    )
    if beside is None:
        beside = np.empty((k, 0), dtype=np.int64)
    values[of_pairs] += (beside[pairs[0]] != beside[pairs[1]]).sum(axis=1)
    ones = np.ones_like(counts)
    distances = kernels.Distances(*(x.astype(np.int32) for x in (orbits, values, steps, ones)))
    most = n_columns + beside.shape[1] + 2 * rotation.order
    table = np.maximum(0, distance - np.arange(most + 1)) ** 2
    energy = int(table[values].sum())
    energies = np.array([energy, energy], dtype=np.int64)
    best = columns.symbols.copy()
    stream = np.array([rng.integers(2**63)], dtype=np.uint64)
    done = 0
    while done < n_moves and energies[0] and not budget.is_spent:
        schedule = kernels.Schedule(hot, _COLD, n_moves, done, changes)
        moves = min(_CHUNK, n_moves - done)
        made = kernels.anneal(columns, distances, table, schedule, moves, stream, energies, best)
        done += made
        budget.spend(2 * made * k)
    held = best.astype(np.int64)
    images = [column[rotation.images()] for column in held]
    return np.concatenate([*images, beside.T]).T, int(energies[1])


def _columns(symbols: Ints, q: int) -> kernels.Columns:
    n, k = symbols.shape
    places = np.zeros((n, k), dtype=np.int32)
    members = np.zeros((n, q, k), dtype=np.int32)
    sizes = np.zeros((n, q), dtype=np.int32)
    for c in range(n):
        for u in range(q):
            rows = np.flatnonzero(symbols[c] == u)
            members[c, u, : rows.size] = rows
            places[c, rows] = np.arange(rows.size)
            sizes[c, u] = rows.size
    return kernels.Columns(symbols.astype(np.int32), places, members, sizes)


@lru_cache(maxsize=16)
def subtraction_table(order: int) -> Ints:
    """Return the differences in a group: that of a field where there is one, else a cyclic one.

    Examples
    --------
    >>> subtraction_table(4)[1].tolist(), subtraction_table(6)[1].tolist()
    ([1, 0, 3, 2], [1, 0, 5, 4, 3, 2])
    """
    elements = np.arange(order)
    if prime_power(order):
        return galois_field(order).subtract(elements[:, None], elements)
    table: Ints = (elements[:, None] - elements) % order
    return table


def anneal_differences(
    rotation: Rotation,
    n_columns: int,
    order: int,
    caps: int | Ints,
    *,
    seed: int,
    n_moves: int,
    budget: Budget,
) -> Ints | None:
    """Look for a matrix over a group whose rows have each difference at most so often.

    Parameters
    ----------
    rotation : Rotation
        The symmetry, whose order divides `n_columns`.
    n_columns, order : int
        The number of columns, and of elements of the group.
    caps : int or ndarray of shape (n_rows, n_rows)
        How often the elements of two rows may have any one difference; a matrix of the
        symmetry.
    seed, n_moves, budget
        As for :func:`anneal_code`.

    Returns
    -------
    ndarray of shape (n_rows, n_columns) or None
        With caps of n_columns / order, a difference matrix.

    Examples
    --------
    >>> found = anneal_differences(Rotation(6), 6, 3, 2, seed=0, n_moves=10**5, budget=Budget())
    >>> np.bincount((found[0] - found[1]) % 3)
    array([2, 2, 2])
    """
    rng = np.random.default_rng(seed)
    t, subtract = rotation.n_rows, subtraction_table(order)
    elements = rng.integers(order, size=(n_columns // rotation.order, t))
    orbits, sizes = _orbits(rotation, True)
    steps = rotation.order // sizes
    limits = np.zeros(sizes.size, dtype=np.int64)
    limits[orbits] = np.broadcast_to(caps, (t, t))
    counts = np.zeros((sizes.size, order), dtype=np.int64)
    first, second = np.nonzero(~np.eye(t, dtype=bool))
    which = orbits[first, second]
    for column in elements:
        np.add.at(counts, (which, subtract[column[first], column[second]]), steps[which])
    energy = int((np.maximum(0, counts - limits[:, None]) ** 2).sum())
    energies = np.array([energy], dtype=np.int64)
    differences = kernels.Differences(elements, subtract, orbits, counts, steps, limits)
    stream = np.array([rng.integers(2**63)], dtype=np.uint64)
    done = 0
    while done < n_moves and energies[0] and not budget.is_spent:
        schedule = kernels.Schedule(_HOT_DIFFERENCES, _COLD_DIFFERENCES, n_moves, done, 0.0)
        moves = min(_CHUNK, n_moves - done)
        made = kernels.anneal_differences(differences, schedule, moves, stream, energies)
        done += made
        budget.spend(4 * made * t)
    if energies[0]:
        return None
    return np.concatenate([column[rotation.images()] for column in elements]).T


def compile_kernels() -> None:
    """Have the compiled functions ready."""
    budget = Budget()
    anneal_code(Rotation(4), 2, 2, 1, seed=0, n_moves=1, budget=budget)
    anneal_differences(Rotation(2), 2, 2, 1, seed=0, n_moves=1, budget=budget)
