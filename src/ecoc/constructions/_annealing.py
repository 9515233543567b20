"""Annealing, compiled: rows inside blocks of two symbols, columns of symbols, difference matrices.

Blocks: the matrix stands in blocks of columns; which of a block's rows a class gets is free.
A move gives a class another row of one block: a spare one, or that of another class in
exchange. Either way the class's entries change sign in some columns D of the block, so
of the inner products of columns only those of a column in D with one outside D change.

Columns of symbols: a group may act on the rows. Then only one column of each orbit of columns
is held, pairs of rows come in orbits, and one distance stands for all pairs of an orbit. Without
a group every pair is an orbit of its own. A column may be one that a subgroup only renames; then
rows that the subgroup exchanges change their symbols together.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecoc._numba import copy_to, njit
from ecoc._typing import Floats, Ints, Ints32, Signs

__all__ = [
    "Best",
    "Columns",
    "Deal",
    "Differences",
    "Distances",
    "Gram",
    "Heat",
    "Kinds",
    "Penalties",
    "Schedule",
    "anneal_columns",
    "anneal_deal",
    "anneal_differences",
    "restore",
    "total_cost",
    "uniform",
]


Stream = npt.NDArray[np.uint64]
Whole = int | np.int64


class Columns(NamedTuple):
    """The columns: the symbol of each row, the rows of each symbol, and where each stands there.

    `symbols` and `places` have shape (columns, k), `members` (columns, q, k) and `sizes`
    (columns, q).
    """

    symbols: Ints32
    places: Ints32
    members: Ints32
    sizes: Ints32


class Kinds(NamedTuple):
    """What each kind of column may change: the symbols of blocks of rows, all at once.

    A subgroup sends a block around and renames symbols: `blocks` of shape (kinds, blocks, rows)
    has the rows in this order, `lengths` how many they are, and `counts` how many blocks there
    are. `turns` of shape (kinds, rows + 1, q) has what becomes of each symbol on the way.
    `weights` says how many images of a column there are, and `places` of shape (kinds, k) in
    which block each row is.
    """

    blocks: Ints32
    lengths: Ints32
    counts: Ints32
    turns: Ints32
    weights: Ints32
    places: Ints32


class Distances(NamedTuple):
    """For each orbit of pairs of rows, how often it lacks a separation.

    `orbits` has shape (k, k); `lacks` and `factors` have an entry for each orbit: how many
    separations of its pairs, over all columns, are missing (negative if there are more than
    needed), and 1 / n^2, where n pairs share these. `pairs` has the pairs of rows in the order
    of orbits, and `starts` where each orbit begins. The first `n_close[0]` of `close` are the
    orbits that lack something, and `places` says where in this list an orbit is, or -1.
    """

    orbits: Ints32
    lacks: Ints32
    factors: Floats
    pairs: Ints32
    starts: Ints32
    close: Ints32
    places: Ints32
    n_close: Ints32


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

    `changes` is the share of moves that give a block of rows another symbol, and so change the
    sizes of groups.
    """

    hot: float
    cold: float
    total: int
    done: int
    changes: float


@njit
def uniform(stream: Stream) -> float:
    """The next number of a stream, from 0 up to 1."""
    # SplitMix64 (Steele, Lea & Flood 2014): a stream of its own, the same on every platform.
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    z = stream[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return float(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@njit
def deal_blocks(lengths: Ints, order: Ints, turns: Ints, sizes: Ints, symbols: Ints) -> bool:
    """Give the first row of each block a symbol, in an order, such that groups stay even.

    `lengths` are those of blocks, and `turns` says what becomes of each symbol within a block;
    at its end it must be the same again. Fills `symbols` and adds to `sizes`, those of groups;
    False if a block finds no symbol.
    """
    for b in order:
        best, least = -1, 0
        for v in range(turns.shape[1]):
            if turns[lengths[b], v] != v:
                continue
            cost = 0
            for i in range(lengths[b]):
                sizes[turns[i, v]] += 1
                cost += sizes[turns[i, v]]
            for i in range(lengths[b]):
                sizes[turns[i, v]] -= 1
            if best < 0 or cost < least:
                best, least = v, cost
        if best < 0:
            return False
        symbols[b] = best
        for i in range(lengths[b]):
            sizes[turns[i, best]] += 1
    return True


@njit
def _shift(distances: Distances, row: int, group: Ints32, separations: int) -> float:
    """Let a row be separated more often from those of a group; return the energy's change."""
    orbits, lacks, factors = distances.orbits[row], distances.lacks, distances.factors
    change = 0.0
    for other in group:
        # Unsigned, so that numba does not look whether it counts from the end.
        orbit = np.uint32(orbits[np.uint32(other)])
        old = lacks[orbit]
        new = old - separations
        lacks[orbit] = new
        before, after = max(old, 0), max(new, 0)
        change += float((after - before) * (after + before)) * factors[orbit]
    return change


@njit
def _regroup(columns: Columns, c: int, p: int, v: int) -> None:
    """Give row p another symbol in a column."""
    # The last of its group takes the place of the row, which comes to the end of the other.
    u, i = columns.symbols[c, p], columns.places[c, p]
    n = columns.sizes[c, u] - 1
    last = columns.members[c, u, n]
    columns.members[c, u, i] = last
    columns.places[c, last] = i
    columns.sizes[c, u] = n
    n = columns.sizes[c, v]
    columns.members[c, v, n] = p
    columns.places[c, p] = n
    columns.sizes[c, v] = n + 1
    columns.symbols[c, p] = v


@njit
def _move(columns: Columns, distances: Distances, move: tuple[int, int, int], weight: int) -> float:
    """Give row p another symbol in a column; return the change of the energy."""
    c, p, v = move
    u = columns.symbols[c, p]
    if u == v:
        return 0.0
    change = _shift(distances, p, columns.members[c, v, : columns.sizes[c, v]], -weight)
    _regroup(columns, c, p, v)
    return change + _shift(distances, p, columns.members[c, u, : columns.sizes[c, u]], weight)


@njit
def _take_back(
    columns: Columns, kinds: Kinds, distances: Distances, move: tuple[int, Whole, Whole, Whole]
) -> None:
    """Give a block the symbols again that it had before, without looking at the energy."""
    c, g, b, v = move
    lacks, weight = distances.lacks, kinds.weights[g]
    for i in range(kinds.lengths[g, b]):
        p, new = kinds.blocks[g, b, i], kinds.turns[g, i, v]
        old = columns.symbols[c, p]
        if old == new:
            continue
        orbits = distances.orbits[p]
        for other in columns.members[c, new, : columns.sizes[c, new]]:
            lacks[np.uint32(orbits[np.uint32(other)])] += weight
        _regroup(columns, c, p, new)
        for other in columns.members[c, old, : columns.sizes[c, old]]:
            lacks[np.uint32(orbits[np.uint32(other)])] -= weight


@njit
def _list_close(distances: Distances, block: Ints32) -> None:
    """Bring the list of orbits that lack something up to date after rows of a block moved."""
    lacks, close, places = distances.lacks, distances.close, distances.places
    n = distances.n_close[0]
    for p in block:
        orbits = distances.orbits[p]
        for other in range(orbits.shape[0]):
            orbit = orbits[other]
            if (lacks[orbit] > 0) == (places[orbit] >= 0) or other == p:
                continue
            if places[orbit] < 0:
                close[n] = orbit
                places[orbit] = n
                n += 1
            else:
                # The last of the list takes the place of the orbit.
                n -= 1
                last = close[n]
                close[places[orbit]] = last
                places[last] = places[orbit]
                places[orbit] = -1
    distances.n_close[0] = n


@njit
def _move_block(
    columns: Columns, kinds: Kinds, distances: Distances, move: tuple[int, Whole, Whole, Whole]
) -> float:
    """Give the first row of a block a symbol, and the others what follows from it."""
    c, g, b, v = move
    change = 0.0
    for i in range(kinds.lengths[g, b]):
        row, symbol = kinds.blocks[g, b, i], kinds.turns[g, i, v]
        change += _move(columns, distances, (c, row, symbol), kinds.weights[g])
    return change


@njit
def _close_row(columns: Columns, distances: Distances, stream: Stream) -> tuple[int, int]:
    """A column in which two rows agree that are too close, and one of the two."""
    n_columns = columns.symbols.shape[0]
    orbit = distances.close[int(uniform(stream) * distances.n_close[0])]
    start, stop = distances.starts[orbit], distances.starts[orbit + 1]
    pair = distances.pairs[start + int(uniform(stream) * (stop - start))]
    p, r = (pair[0], pair[1]) if uniform(stream) < 0.5 else (pair[1], pair[0])
    c = int(uniform(stream) * n_columns)
    for _ in range(n_columns):
        if columns.symbols[c, p] == columns.symbols[c, r]:
            break
        c = c + 1 if c + 1 < n_columns else 0
    return c, p


@njit
def anneal_columns(  # noqa: PLR0917  # numba takes arguments by position
    columns: Columns,
    kinds: Kinds,
    of_columns: Ints32,
    distances: Distances,
    schedule: Schedule,
    n_moves: int,
    stream: Stream,
    energies: Floats,
    best: Ints32,
) -> tuple[int, int]:
    """Exchange symbols, and change some, for some moves; return how many, and of how many rows.

    Each move begins with two rows that are too close. `of_columns` is the kind of each column,
    `energies` the present one and the least so far, and `best` the symbols at that. Stops at
    energy 0.
    """
    n_symbols = columns.sizes.shape[1]
    change_share = schedule.changes
    energy = energies[0]
    ratio = schedule.cold / schedule.hot
    temperature = schedule.hot
    rows = 0
    for step in range(n_moves):
        if energy < 0.5:
            energies[0] = 0
            return step, rows
        if step % 256 == 0:
            temperature = schedule.hot * ratio ** ((schedule.done + step) / schedule.total)
        c, p = _close_row(columns, distances, stream)
        # All of one type, so that what is called is compiled once.
        g = np.int64(of_columns[c])
        b = np.int64(kinds.places[g, p])
        old = np.int64(columns.symbols[c, kinds.blocks[g, b, 0]])
        other = -1
        if uniform(stream) < change_share:
            new = np.int64(uniform(stream) * n_symbols)
        else:
            other = int(uniform(stream) * kinds.counts[g])
            new = np.int64(columns.symbols[c, kinds.blocks[g, other, 0]])
            if kinds.turns[g, kinds.lengths[g, other], old] != old:
                continue
        if old == new or kinds.turns[g, kinds.lengths[g, b], new] != new:
            continue
        rows += kinds.lengths[g, b]
        change = _move_block(columns, kinds, distances, (c, g, b, new))
        if other >= 0:
            change += _move_block(columns, kinds, distances, (c, g, other, old))
        # Sums of fractions come back to whole numbers but for rounding.
        if change > 1e-6 and uniform(stream) >= np.exp(-change / temperature):
            if other >= 0:
                _take_back(columns, kinds, distances, (c, g, other, new))
            _take_back(columns, kinds, distances, (c, g, b, old))
            continue
        _list_close(distances, kinds.blocks[g, b, : kinds.lengths[g, b]])
        if other >= 0:
            _list_close(distances, kinds.blocks[g, other, : kinds.lengths[g, other]])
        energy = np.rint(energy + change)
        if energy < energies[1]:
            energies[1] = energy
            copy_to(best.ravel(), columns.symbols.ravel())
    energies[0] = energy
    return n_moves, rows


@njit
def _rename_block(
    columns: Columns, kinds: Kinds, distances: Distances, move: tuple[int, Whole, Whole, Whole]
) -> float:
    """Move a block where separations that are not needed cost as much as those that are missing.

    Groups are not kept, only symbols.
    """
    c, g, b, v = move
    symbols, weight, change = columns.symbols[c], kinds.weights[g], 0.0
    for i in range(kinds.lengths[g, b]):
        p, new = kinds.blocks[g, b, i], kinds.turns[g, i, v]
        old = symbols[p]
        if old == new:
            continue
        symbols[p] = new
        for r in range(symbols.shape[0]):
            if r == p or (symbols[r] != old and symbols[r] != new):
                continue
            orbit = distances.orbits[p, r]
            before = distances.lacks[orbit]
            after = before - weight if symbols[r] == old else before + weight
            distances.lacks[orbit] = after
            change += float(after - before) * float(after + before) * distances.factors[orbit]
    return change


@njit
def walk_columns(  # noqa: PLR0917  # numba takes arguments by position
    columns: Columns,
    kinds: Kinds,
    of_columns: Ints32,
    distances: Distances,
    temperature: float,
    n_moves: int,
    stream: Stream,
    factors: Ints,
    keys: Ints,
) -> int:
    """Exchange symbols at one temperature, and note what is lacking after each exchange.

    A key is the sum of what the orbits lack, times `factors`. Returns how many there are; stops
    when there is no room for more.
    """
    n_columns = columns.sizes.shape[0]
    n_keys = 0
    for _ in range(n_moves):
        c = int(uniform(stream) * n_columns)
        g = of_columns[c]
        b, other = int(uniform(stream) * kinds.counts[g]), int(uniform(stream) * kinds.counts[g])
        old = columns.symbols[c, kinds.blocks[g, b, 0]]
        new = columns.symbols[c, kinds.blocks[g, other, 0]]
        # Blocks of one length, so that groups keep their sizes.
        if old == new or kinds.lengths[g, b] != kinds.lengths[g, other]:
            continue
        change = _rename_block(columns, kinds, distances, (c, g, b, new))
        change += _rename_block(columns, kinds, distances, (c, g, other, old))
        if change > 1e-6 and uniform(stream) >= np.exp(-change / temperature):
            _rename_block(columns, kinds, distances, (c, g, other, new))
            _rename_block(columns, kinds, distances, (c, g, b, old))
            continue
        key = 0
        for orbit in range(distances.lacks.shape[0]):
            key += distances.lacks[orbit] * factors[orbit]
        keys[n_keys] = key
        n_keys += 1
        if n_keys == keys.shape[0]:
            break
    return n_keys


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
        c = int(uniform(stream) * n_columns)
        i = int(uniform(stream) * n_rows)
        old = differences.elements[c, i]
        new = int(uniform(stream) * (q - 1))
        if new >= old:
            new += 1
        change = _replace(differences, c, i, new)
        if change > 0 and uniform(stream) >= np.exp(-change / temperature):
            _replace(differences, c, i, old)
            continue
        energy += change
    energies[0] = energy
    return n_moves


class Deal(NamedTuple):
    """Which row of each block each class has.

    `rows` holds every row of every block, `starts` the first column of each block and the
    end, `order` which row of a block each class has, with the spare rows after the
    classes, and `matrix` what the classes have.
    """

    rows: Signs
    starts: Ints
    n_rows: Ints
    order: Ints
    matrix: Signs


class Penalties(NamedTuple):
    """What an inner product of columns, and a column sum, cost: indexed by them plus k."""

    products: Floats
    sums: Floats


class Gram(NamedTuple):
    """The inner products of all pairs of columns, and the sums of columns."""

    products: npt.NDArray[np.int32]
    sums: Ints


class _Flips(NamedTuple):
    """The columns that change sign, and those whose products with them change."""

    inside: Ints
    outside: Ints
    marked: npt.NDArray[np.bool_]


@njit
def _find_flips(deal: Deal, flips: _Flips, block: int, i: int, j: int) -> tuple[int, int]:
    """Fill `flips` for giving class i the row at place j of a block; return their numbers."""
    k, length = deal.matrix.shape
    mine, other = deal.order[block, i], deal.order[block, j]
    n_in = 0
    for c in range(deal.starts[block], deal.starts[block + 1]):
        if deal.rows[mine, c] != deal.rows[other, c]:
            flips.inside[n_in] = c
            n_in += 1
            flips.marked[c] = True
    n_out = 0
    for c in range(length):
        # In an exchange the changes of the two classes cancel where both have the same sign.
        if not flips.marked[c] and (j >= k or deal.matrix[i, c] != deal.matrix[j, c]):
            flips.outside[n_out] = c
            n_out += 1
    for p in range(n_in):
        flips.marked[flips.inside[p]] = False
    return n_in, n_out


@njit
def _change(
    gram: Gram, penalties: Penalties, row: Signs, places: tuple[Ints, Ints], step: int
) -> float:
    """What the cost changes by; a step of 2 is a spare row, one of 4 an exchange."""
    inside, outside = places
    k = (penalties.sums.shape[0] - 1) // 2
    table = penalties.products
    change = 0.0
    for c in inside:
        x = step * row[c]
        for e in outside:
            g = gram.products[c, e] + k
            change += table[g - x * row[e]] - table[g]
        if step == 2:
            change += penalties.sums[gram.sums[c] - x + k] - penalties.sums[gram.sums[c] + k]
    return change


@njit
def _apply(deal: Deal, gram: Gram, move: tuple[int, int, int], places: tuple[Ints, Ints]) -> None:
    inside, outside = places
    block, i, j = move
    spare = j >= deal.matrix.shape[0]
    step = 2 if spare else 4
    row = deal.matrix[i]
    for c in inside:
        x = step * row[c]
        for e in outside:
            g = gram.products[c, e] - x * row[e]
            gram.products[c, e] = g
            gram.products[e, c] = g
        if spare:
            gram.sums[c] -= x
    for c in inside:
        deal.matrix[i, c] = -deal.matrix[i, c]
        if not spare:
            deal.matrix[j, c] = -deal.matrix[j, c]
    held = deal.order[block, i]
    deal.order[block, i] = deal.order[block, j]
    deal.order[block, j] = held


class Heat(NamedTuple):
    """Where an annealing stands.

    The temperature falls evenly from `hot` to 0 as `done` comes near `work`, both counted in
    inner products looked at; `until` is where this call stops.
    """

    hot: float
    work: int
    done: int
    until: int


class Best(NamedTuple):
    """The best deal seen, its cost and that of the present one."""

    order: Ints
    costs: Floats


@njit
def total_cost(gram: Gram, penalties: Penalties, k: int) -> float:
    """What all inner products and column sums cost."""
    cost = 0.0
    for c in range(gram.sums.shape[0]):
        cost += penalties.sums[gram.sums[c] + k]
        for e in range(c):
            cost += penalties.products[gram.products[c, e] + k]
    return cost


@njit
def anneal_deal(  # noqa: PLR0917  # numba takes arguments by position
    deal: Deal,
    gram: Gram,
    penalties: Penalties,
    n_fixed: int,
    heat: Heat,
    stream: Stream,
    best: Best,
) -> int:
    """Anneal a deal in place for a while; return the work done since the beginning.

    `gram` belongs to the deal's matrix. Classes below `n_fixed` keep their rows. All
    randomness comes from `stream`. It stops early at cost 0.
    """
    k, length = deal.matrix.shape
    flips = _Flips(
        np.empty(length, dtype=np.int64),
        np.empty(length, dtype=np.int64),
        np.zeros(length, dtype=np.bool_),
    )
    cost = best.costs[1]
    done = heat.done
    while done < heat.until and cost > 0.0:
        temperature = heat.hot * (1.0 - done / heat.work)
        column = int(uniform(stream) * length)
        block = int(np.searchsorted(deal.starts, column, side="right")) - 1
        i = n_fixed + int(uniform(stream) * (k - n_fixed))
        j = n_fixed + int(uniform(stream) * (deal.n_rows[block] - n_fixed))
        done += length
        if i == j:
            continue
        n_in, n_out = _find_flips(deal, flips, block, i, j)
        places = flips.inside[:n_in], flips.outside[:n_out]
        step = 2 if j >= k else 4
        change = _change(gram, penalties, deal.matrix[i], places, step)
        done += n_in * n_out
        if change > 0.0 and uniform(stream) >= np.exp(-change / temperature):
            continue
        _apply(deal, gram, (block, i, j), places)
        cost += change
        if cost < best.costs[0] - 1e-9:
            best.costs[0] = cost
            copy_to(best.order.ravel(), deal.order.ravel())
    best.costs[1] = cost
    return done


@njit
def restore(deal: Deal, order: Ints) -> None:
    """Bring a deal back to an order it had."""
    copy_to(deal.order.ravel(), order.ravel())
    for block in range(deal.starts.shape[0] - 1):
        for i in range(deal.matrix.shape[0]):
            for c in range(deal.starts[block], deal.starts[block + 1]):
                deal.matrix[i, c] = deal.rows[deal.order[block, i], c]
