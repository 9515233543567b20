"""Codebooks of several symbols, and difference matrices, found by annealing with a symmetry.

A cyclic group of n elements acts on the rows: t cycles of n rows each, and f rows that stay.
Columns come n at a time, as the images of one column. So there are n times fewer entries to
choose and n times fewer distances to look at, which is often the difference between a near
miss and a code that meets its bound. Where a subgroup of m elements only renames the symbols
of a column, it has n / m images, so that columns of several kinds add up to any number.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np

from ecoc._limits import Budget
from ecoc._typing import Ints
from ecoc.constructions import _annealing as kernels
from ecoc.constructions.fields import galois_field, prime_power

__all__ = [
    "Kind",
    "Rotation",
    "anneal_code",
    "anneal_differences",
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


@dataclass(frozen=True, order=True)
class Kind:
    """Columns that a subgroup of `order` elements only renames.

    Its generator renames the symbols in `n_cycles` cycles of length `cycle` and leaves the
    others. So in a cycle of rows either all have one symbol that stays, or the symbols of one
    cycle come in turn.
    """

    order: int = 1
    cycle: int = 1
    n_cycles: int = 0

    def turns(self, n_symbols: int) -> Ints:
        """Return what the powers of the generator make of each symbol, from the 0th on.

        Examples
        --------
        >>> Kind(2, 2, 1).turns(3).tolist()
        [[0, 1, 2], [1, 0, 2], [0, 1, 2]]
        """
        symbols = np.arange(n_symbols)
        turned = symbols < self.cycle * self.n_cycles
        powers = np.arange(self.order + 1)[:, None]
        places = (symbols + powers) % self.cycle
        turns: Ints = np.where(turned, symbols - symbols % self.cycle + places, symbols)
        return turns

    def blocks(self, rotation: Rotation) -> list[Ints]:
        """Return the rows that the subgroup exchanges, in the order of its generator.

        Examples
        --------
        >>> [block.tolist() for block in Kind(2, 2, 1).blocks(Rotation(5, 4, 1))]
        [[0, 2], [1, 3], [4]]
        """
        moved = rotation.n_rows - rotation.n_fixed
        step = rotation.order // self.order
        places = np.arange(0, rotation.order, step)
        starts = [x for x in range(moved) if x % rotation.order < step]
        return [x + places for x in starts] + [
            np.array([x]) for x in range(moved, moved + rotation.n_fixed)
        ]

    def balanced(self, rotation: Rotation, n_symbols: int) -> tuple[Ints, int] | None:
        """Return a symbol for each block, as even as can be, and how many pairs are separated.

        None if rows that stay find no symbol that stays.

        Examples
        --------
        >>> symbols, separated = Kind(2, 2, 1).balanced(Rotation(6, 2), 3)
        >>> symbols.tolist(), separated
        ([0, 2, 0], 12)
        """
        turned = self.cycle * self.n_cycles
        if rotation.n_fixed and turned == n_symbols:
            return None
        sizes = np.zeros(n_symbols, dtype=np.int64)
        together, symbols = 0, []
        turns, each = self.turns(n_symbols)[:-1], self.order // self.cycle
        stay = np.arange(turned, n_symbols)
        for _ in range(rotation.n_fixed):
            u = stay[np.argmin(sizes[stay])]
            together += int(sizes[u])
            sizes[u] += 1
            symbols.append(u)
        # What a block adds to the pairs that are together, if it gets each symbol.
        in_cycle = self.cycle * comb(each, 2)
        for _ in range((rotation.n_rows - rotation.n_fixed) // self.order):
            added = self.order * sizes + comb(self.order, 2)
            added[:turned] = self.order * sizes[:turned] + in_cycle
            u = int(np.argmin(added))
            together += int(added[u])
            np.add.at(sizes, turns[:, u], 1)
            symbols.insert(0, u)
        return np.array(symbols), comb(rotation.n_rows, 2) - together


def anneal_code(
    rotation: Rotation,
    kinds: tuple[Kind, ...],
    n_symbols: int,
    distance: int,
    *,
    seed: int,
    n_moves: int,
    budget: Budget,
    start: Ints | None = None,
    changes: float = 0.0,
    hot: float = _HOT,
) -> tuple[Ints, int]:
    """Look for a code of balanced columns with a row distance.

    Parameters
    ----------
    rotation : Rotation
        The symmetry.
    kinds : tuple of Kind
        For each orbit of columns its kind, whose order divides that of the symmetry.
    n_symbols, distance : int
        The symbols, and the least distance wanted.
    seed : int
        Decides everything, unless the time is over first.
    n_moves : int
        How many exchanges are tried.
    budget : Budget
        Pays two units for each class and move.
    start : ndarray of shape (k, number of orbits), optional
        One column of each orbit to begin with.
    changes : float, default=0
        The share of moves that change the sizes of groups.
    hot : float
        The temperature at the beginning.

    Returns
    -------
    matrix : ndarray of shape (k, L)
        The best that was seen.
    energy : int
        Its energy: the sum, over orbits of pairs, of the squares of what lacks; 0 for a code
        of the distance.

    Examples
    --------
    Kirkman's schoolgirls: 15 of them walk in five rows of three on seven days.

    >>> code, _ = anneal_code(
    ...     Rotation(15, 7, 1), (Kind(),), 5, 6, seed=0, n_moves=10**5, budget=Budget()
    ... )
    >>> code.shape
    (15, 7)
    """
    k, q = rotation.n_rows, n_symbols
    rng = np.random.default_rng(seed)
    different = sorted(set(kinds))
    tables = _kinds(rotation, tuple(different), q)
    of_columns = np.array([different.index(kind) for kind in kinds], dtype=np.int32)
    if start is None:
        symbols = np.array([_drawn(rotation, kind, q, rng) for kind in kinds])
    else:
        symbols = np.ascontiguousarray(start.T)
    columns = _columns(symbols, q)
    orbits, counts = _orbits(rotation, False)
    lacks = distance * counts
    pairs = np.triu_indices(k, 1)
    for column, kind in zip(symbols, of_columns, strict=True):
        separated = orbits[pairs][column[pairs[0]] != column[pairs[1]]]
        lacks -= tables.weights[kind] * np.bincount(separated, minlength=counts.size)
    distances = kernels.Distances(orbits.astype(np.int32), lacks.astype(np.int32), 1.0 / counts**2)
    energy = float(((np.maximum(0, lacks) // counts) ** 2).sum())
    energies = np.array([energy, energy])
    best = columns.symbols.copy()
    stream = np.array([rng.integers(2**63)], dtype=np.uint64)
    done = 0
    while done < n_moves and energies[0] and not budget.is_spent:
        schedule = kernels.Schedule(hot, _COLD, n_moves, done, changes)
        made, rows = kernels.anneal_columns(
            columns,
            tables,
            of_columns,
            distances,
            schedule,
            min(_CHUNK, n_moves - done),
            stream,
            energies,
            best,
        )
        done += made
        budget.spend(2 * max(made, rows) * k)
    images = rotation.images()
    matrix = [
        column[images[turn]]
        for column, kind in zip(best.astype(np.int64), kinds, strict=True)
        for turn in range(rotation.order // kind.order)
    ]
    return np.array(matrix).T, int(energies[1])


def _drawn(rotation: Rotation, kind: Kind, q: int, rng: np.random.Generator) -> Ints:
    """A balanced column of a kind."""
    dealt = kind.balanced(rotation, q)
    if dealt is None:
        raise ValueError("rows that stay need a symbol that stays")
    turns, blocks = kind.turns(q), kind.blocks(rotation)
    moved, symbols = len(blocks) - rotation.n_fixed, dealt[0]
    # Rows that stay are exchanged with others only where all rows do.
    mixed = rng.permutation(len(blocks) if kind.order == 1 else moved)
    symbols[: mixed.size] = symbols[mixed]
    shifts = rng.integers(kind.order, size=len(blocks))
    column = np.empty(rotation.n_rows, dtype=np.int64)
    for block, symbol, shift in zip(blocks, symbols, shifts, strict=True):
        column[block] = turns[: block.size, turns[shift, symbol]]
    return column


@lru_cache(maxsize=256)
def _kinds(rotation: Rotation, kinds: tuple[Kind, ...], q: int) -> kernels.Kinds:
    """The blocks and the renaming of each kind, as arrays."""
    lists = [kind.blocks(rotation) for kind in kinds]
    counts = np.array([len(blocks) for blocks in lists])
    most = max(kind.order for kind in kinds)
    lengths = np.zeros((len(kinds), counts.max()), dtype=np.int64)
    rows = np.zeros((*lengths.shape, most), dtype=np.int64)
    turns = np.zeros((len(kinds), most + 1, q), dtype=np.int64)
    for g, (kind, blocks) in enumerate(zip(kinds, lists, strict=True)):
        turns[g, : kind.order + 1] = kind.turns(q)
        for b, block in enumerate(blocks):
            lengths[g, b] = block.size
            rows[g, b, : block.size] = block
    weights = np.array([rotation.order // kind.order for kind in kinds])
    arrays = (rows, lengths, counts, turns, weights)
    return kernels.Kinds(*(array.astype(np.int32) for array in arrays))


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
