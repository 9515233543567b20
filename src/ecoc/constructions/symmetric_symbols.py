"""Codebooks of several symbols, and difference matrices, found by annealing with a symmetry.

A cyclic group of n elements acts on the rows: t cycles of n rows each, and f rows that stay.
Columns come n at a time, as the images of one column. So there are n times fewer entries to
choose and n times fewer distances to look at, which is often the difference between a near
miss and a code that meets its bound. Where a subgroup of m elements only renames the symbols
of a column, it has n / m images, so that columns of several kinds add up to any number. A
multiplier, which sends the place x in a cycle to m x, makes the group larger still.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
import numpy.typing as npt

from ecoc._limits import Budget
from ecoc._typing import Ints
from ecoc.constructions import _annealing as kernels
from ecoc.constructions.fields import galois_field, prime_power

__all__ = [
    "HOT",
    "Kind",
    "Rotation",
    "anneal_code",
    "anneal_differences",
    "match_halves",
    "subtraction_table",
]

HOT, _COLD = 0.4, 0.12
"""Temperatures for violations of 1; most of the way to a solution is along plateaus."""
_HOT_DIFFERENCES, _COLD_DIFFERENCES = 0.9, 0.25
_CHUNK = 1 << 15
"""Moves between two looks at the clock."""
_WARM = 2.0
"""The temperature at which halves wander."""
_MAX_EXTRAS, _MATCHES = 30, 5
_LOOKUP = 10
"""What it costs to look for a key, in distances of pairs."""


@dataclass(frozen=True)
class Rotation:
    """A group on rows: cycles of `order` rows are turned, and the last `n_fixed` rows stay.

    With a multiplier m, prime to the order, the places x in the cycles may also go to m x.

    Examples
    --------
    >>> Rotation(5, 2, 1).images()
    array([[0, 1, 2, 3, 4],
           [1, 0, 3, 2, 4]])
    >>> Rotation(3, 3, 0, 2).images().tolist()
    [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [1, 0, 2], [2, 1, 0]]
    """

    n_rows: int
    order: int = 1
    n_fixed: int = 0
    multiplier: int = 1

    @property
    def factors(self) -> list[int]:
        """The powers of the multiplier, from the 0th on."""
        powers = [1 % self.order]
        while (power := powers[-1] * self.multiplier % self.order) != powers[0]:
            powers.append(power)
        return powers

    @property
    def size(self) -> int:
        """The number of elements of the group."""
        return self.order * len(self.factors)

    def image(self, factor: int, shift: int) -> Ints:
        """Return where rows go if places x in the cycles go to factor * x + shift."""
        rows = np.arange(self.n_rows)
        moved = rows < self.n_rows - self.n_fixed
        places = rows % self.order
        turned = rows - places + (factor * places + shift) % self.order
        image: Ints = np.where(moved, turned, rows)
        return image

    def images(self) -> Ints:
        """Return where each element of the group sends each row."""
        return np.array(
            [self.image(factor, shift) for factor in self.factors for shift in range(self.order)]
        )


@lru_cache(maxsize=64)
def _orbits(rotation: Rotation, ordered: bool) -> tuple[Ints, Ints]:
    """Return the orbit of each pair of rows, and how many pairs each orbit has."""
    k = rotation.n_rows
    least = np.full((k, k), k * k, dtype=np.int64)
    for image in rotation.images():
        first, second = np.meshgrid(image, image, indexing="ij")
        if not ordered:
            first, second = np.minimum(first, second), np.maximum(first, second)
        # The least image of a pair stands for its orbit.
        least = np.minimum(least, first * k + second)
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
    """Columns that a cyclic subgroup of `order` elements only renames.

    Its generator turns the cycles of rows, or multiplies the places in them by a factor; it
    renames the symbols in `n_cycles` cycles of length `cycle` and leaves the others. So among
    rows that it exchanges either all have one symbol that stays, or the symbols of one cycle
    come in turn.
    """

    order: int = 1
    cycle: int = 1
    n_cycles: int = 0
    factor: int = 1

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
        >>> [block.tolist() for block in Kind(2, factor=4).blocks(Rotation(6, 5, 1, 4))]
        [[0], [1, 4], [2, 3], [5]]
        """
        shift = rotation.order // self.order if self.factor == 1 else 0
        return list(_blocks(rotation, self.factor, shift))

    def lengths(self, rotation: Rotation) -> Ints:
        """Return how many rows each block has."""
        return np.array([block.size for block in self.blocks(rotation)])

    def turns_of(self, rotation: Rotation) -> Ints:
        """Return one element of the group for each image of a column, as where it sends rows.

        Examples
        --------
        >>> Kind(2, 2, 1).turns_of(Rotation(4, 4)).tolist()
        [[0, 1, 2, 3], [1, 2, 3, 0]]
        """
        shift = rotation.order // self.order if self.factor == 1 else 0
        generator, images = rotation.image(self.factor, shift), rotation.images()
        places = {image.tobytes(): i for i, image in enumerate(images)}
        chosen = []
        while places:
            image = images[min(places.values())]
            chosen.append(image)
            while image.tobytes() in places:
                del places[image.tobytes()]
                image = generator[image]
        return np.array(chosen)

    def balanced(self, rotation: Rotation, n_symbols: int) -> tuple[Ints, int] | None:
        """Return a symbol for each block, as even as can be, and how many pairs are separated.

        None if rows that stay find no symbol that stays.

        Examples
        --------
        >>> symbols, separated = Kind(2, 2, 1).balanced(Rotation(6, 2), 3)
        >>> symbols.tolist(), separated
        ([0, 2, 0], 12)
        """
        dealt = _balanced(rotation, self, n_symbols)
        return None if dealt is None else (dealt[0].copy(), dealt[1])


@lru_cache(maxsize=4096)
def _balanced(rotation: Rotation, kind: Kind, n_symbols: int) -> tuple[Ints, int] | None:
    lengths, turns = kind.lengths(rotation), kind.turns(n_symbols)
    best: tuple[Ints, int] | None = None
    for sign in (1, -1):
        sizes = np.zeros(n_symbols, dtype=np.int64)
        symbols = np.zeros(lengths.size, dtype=np.int64)
        order = np.argsort(sign * lengths, kind="stable")
        if not kernels.deal_blocks(lengths, order, turns, sizes, symbols):
            return None
        separated = comb(rotation.n_rows, 2) - int((sizes * (sizes - 1) // 2).sum())
        if best is None or separated > best[1]:
            best = symbols, separated
    return best


@lru_cache(maxsize=256)
def _blocks(rotation: Rotation, factor: int, shift: int) -> tuple[Ints, ...]:
    image, blocks = rotation.image(factor, shift).tolist(), []
    seen = [False] * rotation.n_rows
    for first in range(rotation.n_rows):
        if not seen[first]:
            block = [first]
            while (row := image[block[-1]]) != first:
                block.append(row)
                seen[row] = True
            blocks.append(np.array(block))
    return tuple(blocks)


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
    hot: float = HOT,
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
    tables, of_columns = _tables(rotation, kinds, q)
    if start is None:
        symbols = np.array([_drawn(rotation, kind, q, rng) for kind in kinds])
    else:
        symbols = np.ascontiguousarray(start.T)
    columns = _columns(symbols, q)
    orbits, counts = _orbits(rotation, False)
    lacks = distance * counts - _separations(symbols, tables.weights[of_columns], orbits)
    distances = _distances(orbits, counts, lacks)
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
    return _all_columns(rotation, kinds, best), int(energies[1])


def match_halves(
    rotation: Rotation,
    kinds: tuple[Kind, ...],
    n_symbols: int,
    distance: int,
    *,
    seed: int,
    n_moves: int,
    budget: Budget,
) -> Ints | None:
    """Look for a code in two halves, where averaging leaves next to nothing over.

    In each half the orbits of columns wander among those that are nearly as good as can be, and
    what each orbit of pairs lacks is noted. Two halves that make up for each other's lacks are
    a code; among n of either there are n^2 pairs, and a table finds them all.

    Parameters
    ----------
    rotation, kinds, n_symbols, distance, seed, budget
        As for :func:`anneal_code`.
    n_moves : int
        How many exchanges are tried in each half.

    Returns
    -------
    ndarray of shape (k, L) or None
        None too if there is but one orbit of columns, or too much is left over.

    Examples
    --------
    Two of 46 columns would not do alone: 24 rows that differ in 32 places each.

    >>> code = match_halves(
    ...     Rotation(24, 23, 1), (Kind(), Kind()), 3, 32, seed=0, n_moves=10**6, budget=Budget()
    ... )
    >>> code.shape
    (24, 46)
    """
    counts = _orbits(rotation, False)[1]
    dealt = [kind.balanced(rotation, n_symbols) for kind in kinds]
    separated = [
        rotation.size // kind.order * deal[1] if deal else 0
        for kind, deal in zip(kinds, dealt, strict=True)
    ]
    extras = _extras(counts, sum(separated) - distance * comb(rotation.n_rows, 2))
    if len(kinds) < 2 or not extras:
        return None
    order = np.argsort([-value for value in separated], kind="stable")
    parts: tuple[list[int], list[int]] = [], []
    for i in order:
        part = min(parts, key=lambda part: sum(separated[j] for j in part))
        part.append(int(i))
    share = sum(separated[j] for j in parts[0]) / sum(separated)
    wanted = np.rint(share * distance * counts).astype(np.int64)
    rng = np.random.default_rng(seed)
    factors = rng.integers(-(2**62), 2**62, size=counts.size)
    halves = [
        _Half(rotation, tuple(kinds[j] for j in part), n_symbols, goal, rng)
        for part, goal in zip(parts, (wanted, distance * counts - wanted), strict=True)
    ]
    # Keys add up as lacks do.
    sums = -(np.array(extras) @ factors)
    for chunk in range(-(-n_moves // _CHUNK)):
        if budget.is_spent:
            return None
        for half in halves:
            half.walk(factors)
            budget.spend(2 * _CHUNK * rotation.n_rows)
        # Looking for pairs takes longer and longer: only when there are twice as many.
        if chunk & (chunk + 1) == 0:
            budget.spend(float(_LOOKUP * sums.size * halves[0].keys.size))
            for i, j in _pairs(halves[0].keys, halves[1].keys, sums):
                places = (halves[0].replay(i, factors), halves[1].replay(j, factors))
                matrix = np.concatenate(places, axis=1)
                if all(
                    (matrix[:x] != row).sum(axis=1).min() >= distance
                    for x, row in enumerate(matrix)
                    if x
                ):
                    return matrix
    return None


def _pairs(keys: Ints, others: Ints, sums: Ints) -> list[tuple[int, int]]:
    """Some places of keys that add up to one of the sums."""
    order, pairs = np.argsort(others, kind="stable"), []
    for total in sums if others.size else ():
        at = np.minimum(np.searchsorted(others, total - keys, sorter=order), others.size - 1)
        hits = np.flatnonzero(others[order[at]] == total - keys)
        pairs += [(int(i), int(order[at[i]])) for i in hits[:_MATCHES]]
    return pairs[:_MATCHES]


def _extras(counts: Ints, total: int) -> list[Ints]:
    """All ways to give the pairs of orbits some separations more; none if there are too many."""
    ways = [(np.zeros(counts.size, dtype=np.int64), total)] if total >= 0 else []
    for i, count in enumerate(counts):
        ways = [
            (way + x * count * (np.arange(counts.size) == i), left - x * int(count))
            for way, left in ways
            for x in range(left // int(count) + 1)
        ]
        if len(ways) > _MAX_EXTRAS:
            return []
    return [way for way, left in ways if not left]


class _Half:
    """Some orbits of columns that wander, and what they lacked on the way."""

    def __init__(
        self,
        rotation: Rotation,
        kinds: tuple[Kind, ...],
        q: int,
        wanted: Ints,
        rng: np.random.Generator,
    ) -> None:
        self.rotation, self.kinds, self.q, self.wanted = rotation, kinds, q, wanted
        self.symbols = np.array([_drawn(rotation, kind, q, rng) for kind in kinds])
        self.stream = np.array([rng.integers(2**63)], dtype=np.uint64)
        self.keys: Ints = np.zeros(0, dtype=np.int64)
        self.starts: list[tuple[int, Ints, kernels.Stream]] = []

    def walk(self, factors: Ints) -> None:
        """Go on for some moves, and keep the keys."""
        self.starts.append((self.keys.size, self.symbols, self.stream.copy()))
        keys = self._go(np.empty(_CHUNK, dtype=np.int64), factors)
        self.keys = np.concatenate([self.keys, keys])

    def replay(self, place: int, factors: Ints) -> Ints:
        """Return all columns as they were at a key: go again from where the walk began."""
        first, symbols, stream = next(s for s in reversed(self.starts) if s[0] <= place)
        again = _Half.__new__(_Half)
        again.__dict__.update(self.__dict__)
        again.symbols, again.stream = symbols, stream.copy()
        again._go(np.empty(place - first + 1, dtype=np.int64), factors)
        return _all_columns(self.rotation, self.kinds, again.symbols)

    def _go(self, keys: Ints, factors: Ints) -> Ints:
        tables, of_columns = _tables(self.rotation, self.kinds, self.q)
        orbits, counts = _orbits(self.rotation, False)
        lacks = self.wanted - _separations(self.symbols, tables.weights[of_columns], orbits)
        columns = _columns(self.symbols, self.q)
        n = kernels.walk_columns(
            columns,
            tables,
            of_columns,
            _distances(orbits, counts, lacks),
            _WARM,
            _CHUNK,
            self.stream,
            factors,
            keys,
        )
        self.symbols = columns.symbols.astype(np.int64)
        return keys[:n]


def _tables(
    rotation: Rotation, kinds: tuple[Kind, ...], q: int
) -> tuple[kernels.Kinds, npt.NDArray[np.int32]]:
    """The kinds as arrays, and which of them each column is of."""
    different = sorted(set(kinds))
    of_columns = np.array([different.index(kind) for kind in kinds], dtype=np.int32)
    return _kinds(rotation, tuple(different), q), of_columns


def _separations(symbols: Ints, weights: npt.NDArray[np.int32], orbits: Ints) -> Ints:
    """How often the images of columns, given as rows, separate the pairs of each orbit."""
    pairs = np.triu_indices(len(orbits), 1)
    names = orbits[pairs]
    total = np.zeros(int(names.max()) + 1, dtype=np.int64)
    for column, weight in zip(symbols, weights, strict=True):
        separated = names[column[pairs[0]] != column[pairs[1]]]
        total += int(weight) * np.bincount(separated, minlength=total.size)
    return total


def _all_columns(
    rotation: Rotation, kinds: tuple[Kind, ...], symbols: npt.NDArray[np.integer]
) -> Ints:
    """All images of columns, which are given as rows."""
    images = [
        column[turn]
        for column, kind in zip(symbols.astype(np.int64), kinds, strict=True)
        for turn in _turns(rotation, kind)
    ]
    return np.array(images).T


@lru_cache(maxsize=256)
def _turns(rotation: Rotation, kind: Kind) -> Ints:
    return kind.turns_of(rotation)


def _distances(orbits: Ints, counts: Ints, lacks: Ints) -> kernels.Distances:
    """What each orbit of pairs lacks, and which orbits lack something."""
    pairs = np.stack(np.triu_indices(len(orbits), 1), axis=1)
    order = np.argsort(orbits[pairs[:, 0], pairs[:, 1]], kind="stable")
    close = np.zeros(counts.size, dtype=np.int32)
    places = np.full(counts.size, -1, dtype=np.int32)
    lacking = np.flatnonzero(lacks > 0)
    close[: lacking.size] = lacking
    places[lacking] = np.arange(lacking.size)
    return kernels.Distances(
        orbits.astype(np.int32),
        lacks.astype(np.int32),
        1.0 / counts**2,
        pairs[order].astype(np.int32),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        close,
        places,
        np.array([lacking.size], dtype=np.int32),
    )


def _drawn(rotation: Rotation, kind: Kind, q: int, rng: np.random.Generator) -> Ints:
    """A balanced column of a kind."""
    dealt = kind.balanced(rotation, q)
    if dealt is None:
        raise ValueError("rows that stay need a symbol that stays")
    symbols = dealt[0]
    if kind.order == 1:
        return rng.permutation(symbols)
    turns, blocks = kind.turns(q), kind.blocks(rotation)
    lengths = kind.lengths(rotation)
    # Blocks of one length exchange what they have.
    for length in np.unique(lengths):
        places = np.flatnonzero(lengths == length)
        symbols[places] = symbols[rng.permutation(places)]
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
    places = np.zeros((len(kinds), rotation.n_rows), dtype=np.int64)
    for g, (kind, blocks) in enumerate(zip(kinds, lists, strict=True)):
        turns[g, : kind.order + 1] = kind.turns(q)
        for b, block in enumerate(blocks):
            lengths[g, b] = block.size
            rows[g, b, : block.size] = block
            places[g, block] = b
    weights = np.array([rotation.size // kind.order for kind in kinds])
    arrays = (rows, lengths, counts, turns, weights, places)
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
    >>> rows = anneal_differences(Rotation(6), 6, 3, 2, seed=0, n_moves=10**5, budget=Budget())
    >>> np.bincount((rows[0] - rows[1]) % 3)
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
