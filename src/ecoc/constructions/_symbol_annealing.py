"""Annealing of columns of symbols and of difference matrices, compiled.

A group may act on the rows. Then only one column of each orbit of columns is held, pairs of
rows come in orbits, and one distance stands for all pairs of an orbit. Without a group every
pair is an orbit of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecoc._numba import njit
from ecoc._typing import Ints, Ints32

__all__ = ["Columns", "Differences", "Distances", "Schedule", "anneal", "anneal_differences"]

Stream = npt.NDArray[np.uint64]


class Columns(NamedTuple):
    """The columns: the symbol of each row, the rows of each symbol, and where each stands there.

    `symbols` and `places` have shape (columns, k), `members` (columns, q, k) and `sizes`
    (columns, q).
    """

    symbols: Ints32
    places: Ints32
    members: Ints32
    sizes: Ints32


class Distances(NamedTuple):
    """The distance of the pairs of each orbit, and what a separation adds to it.

    `orbits` has shape (k, k); `values`, `steps` and `counts` have an entry for each orbit: the
    distance, how much a column that separates one pair more adds, and how many pairs it has.
    """

    orbits: Ints32
    values: Ints32
    steps: Ints32
    counts: Ints32


class Differences(NamedTuple):
    """A difference matrix, and how often each difference of two rows occurs.

    `elements` has shape (columns, rows), `subtract` is the table of the group; `orbits`
    of shape (rows, rows) are for ordered pairs; `counts` has a row for each orbit and a column
    for each difference, `steps` what one occurrence adds, and `caps` how often each may occur.
    """

    elements: Ints
    subtract: Ints
    orbits: Ints
    counts: Ints
    steps: Ints
    caps: Ints


class Schedule(NamedTuple):
    """How the temperature falls: from `hot` to `cold`, over `total` moves of which `done` are.

    `changes` is the share of moves that give a row another symbol, and so change the sizes of
    groups.
    """

    hot: float
    cold: float
    total: int
    done: int
    changes: float


@njit
def _uniform(stream: Stream) -> float:
    # SplitMix64 (Steele, Lea & Flood 2014): a stream of its own, the same on every platform.
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    z = stream[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return float(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit
def _shift(distances: Distances, penalties: Ints, orbit: int, sign: int) -> int:
    """Let a pair be separated once more or once less; return what the energy changes by."""
    old = distances.values[orbit]
    new = old + sign * distances.steps[orbit]
    distances.values[orbit] = new
    change: int = distances.counts[orbit] * (penalties[new] - penalties[old])
    return change


@njit
def _exchange(
    columns: Columns, distances: Distances, penalties: Ints, move: tuple[int, int, int]
) -> int:
    """Exchange the symbols of rows p and r in a column; return the change of the energy.

    The sizes of the groups stay. Only pairs with a row of these two groups change.
    """
    c, p, r = move
    u, v = columns.symbols[c, p], columns.symbols[c, r]
    change = 0
    for i in range(columns.sizes[c, u]):
        x = columns.members[c, u, i]
        if x != p:
            change += _shift(distances, penalties, distances.orbits[p, x], 1)
            change += _shift(distances, penalties, distances.orbits[r, x], -1)
    for i in range(columns.sizes[c, v]):
        x = columns.members[c, v, i]
        if x != r:
            change += _shift(distances, penalties, distances.orbits[r, x], 1)
            change += _shift(distances, penalties, distances.orbits[p, x], -1)
    i, j = columns.places[c, p], columns.places[c, r]
    columns.members[c, u, i] = r
    columns.members[c, v, j] = p
    columns.places[c, p] = j
    columns.places[c, r] = i
    columns.symbols[c, p] = v
    columns.symbols[c, r] = u
    return change


@njit
def _move(
    columns: Columns, distances: Distances, penalties: Ints, move: tuple[int, int, int]
) -> int:
    """Give row p another symbol in a column; return the change of the energy."""
    c, p, v = move
    u = columns.symbols[c, p]
    change = 0
    # The last of its group takes the place of the row, which comes to the end of the other.
    n, i = columns.sizes[c, u] - 1, columns.places[c, p]
    last = columns.members[c, u, n]
    columns.members[c, u, i] = last
    columns.places[c, last] = i
    columns.sizes[c, u] = n
    for j in range(n):
        change += _shift(distances, penalties, distances.orbits[p, columns.members[c, u, j]], 1)
    n = columns.sizes[c, v]
    for j in range(n):
        change += _shift(distances, penalties, distances.orbits[p, columns.members[c, v, j]], -1)
    columns.members[c, v, n] = p
    columns.places[c, p] = n
    columns.sizes[c, v] = n + 1
    columns.symbols[c, p] = v
    return change


@njit
def anneal(  # noqa: PLR0917  # numba takes arguments by position
    columns: Columns,
    distances: Distances,
    penalties: Ints,
    schedule: Schedule,
    n_moves: int,
    stream: Stream,
    energies: Ints,
    best: Ints32,
) -> int:
    """Exchange symbols, and change some, for some moves; return how many were made.

    `penalties` is what a distance costs, `energies` the present one and the least so far, and
    `best` the symbols at that. Stops at energy 0.
    """
    n_columns, k = columns.symbols.shape
    n_symbols = columns.sizes.shape[1]
    change_share = schedule.changes
    energy = energies[0]
    ratio = schedule.cold / schedule.hot
    temperature = schedule.hot
    for step in range(n_moves):
        if energy == 0:
            energies[0] = 0
            return step
        if step % 256 == 0:
            temperature = schedule.hot * ratio ** ((schedule.done + step) / schedule.total)
        c = int(_uniform(stream) * n_columns)
        p = int(_uniform(stream) * k)
        if _uniform(stream) < change_share:
            old, new = columns.symbols[c, p], int(_uniform(stream) * n_symbols)
            if new == old:
                continue
            change = _move(columns, distances, penalties, (c, p, new))
            if change > 0 and _uniform(stream) >= np.exp(-change / temperature):
                _move(columns, distances, penalties, (c, p, old))
                continue
            energy += change
            if energy < energies[1]:
                energies[1] = energy
                best[:] = columns.symbols
            continue
        r = int(_uniform(stream) * k)
        if columns.symbols[c, p] == columns.symbols[c, r]:
            continue
        change = _exchange(columns, distances, penalties, (c, p, r))
        if change > 0 and _uniform(stream) >= np.exp(-change / temperature):
            _exchange(columns, distances, penalties, (c, p, r))
            continue
        energy += change
        if energy < energies[1]:
            energies[1] = energy
            best[:] = columns.symbols
    energies[0] = energy
    return n_moves


@njit
def _count(differences: Differences, orbit: int, element: int, sign: int) -> int:
    """Let a difference occur once more or once less; return what the energy changes by."""
    old = differences.counts[orbit, element] - differences.caps[orbit]
    new = old + sign * differences.steps[orbit]
    differences.counts[orbit, element] += sign * differences.steps[orbit]
    change = 0
    if new > 0:
        change += new * new
    if old > 0:
        change -= old * old
    return change


@njit
def _replace(differences: Differences, c: int, i: int, new: int) -> int:
    """Put an element in the place of another; return the change of the energy."""
    elements, subtract, orbits = differences.elements, differences.subtract, differences.orbits
    old = elements[c, i]
    change = 0
    for j in range(elements.shape[1]):
        if j != i:
            other = elements[c, j]
            there, here = orbits[i, j], orbits[j, i]
            change += _count(differences, there, subtract[old, other], -1)
            change += _count(differences, there, subtract[new, other], 1)
            change += _count(differences, here, subtract[other, old], -1)
            change += _count(differences, here, subtract[other, new], 1)
    elements[c, i] = new
    return change


@njit
def anneal_differences(
    differences: Differences, schedule: Schedule, n_moves: int, stream: Stream, energies: Ints
) -> int:
    """Replace elements for some moves; return how many were made. Stops at energy 0."""
    n_columns, n_rows = differences.elements.shape
    q = differences.subtract.shape[0]
    energy = energies[0]
    ratio = schedule.cold / schedule.hot
    temperature = schedule.hot
    for step in range(n_moves):
        if energy == 0:
            energies[0] = 0
            return step
        if step % 256 == 0:
            temperature = schedule.hot * ratio ** ((schedule.done + step) / schedule.total)
        c = int(_uniform(stream) * n_columns)
        i = int(_uniform(stream) * n_rows)
        old = differences.elements[c, i]
        new = int(_uniform(stream) * (q - 1))
        if new >= old:
            new += 1
        change = _replace(differences, c, i, new)
        if change > 0 and _uniform(stream) >= np.exp(-change / temperature):
            _replace(differences, c, i, old)
            continue
        energy += change
    energies[0] = energy
    return n_moves
