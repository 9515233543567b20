"""Annealing of the rows inside blocks of columns, compiled.

The matrix stands in blocks of columns; which of a block's rows a class gets is free.
A move gives a class another row of one block: a spare one, or that of another class in
exchange. Either way the class's entries change sign in some columns D of the block, so
of the inner products of columns only those of a column in D with one outside D change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecoc._numba import njit
from ecoc._typing import Floats, Ints, Signs

__all__ = ["Best", "Deal", "Gram", "Heat", "Penalties", "anneal", "restore", "total_cost"]

Stream = npt.NDArray[np.uint64]


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
def _uniform(stream: Stream) -> float:
    # SplitMix64 (Steele, Lea & Flood 2014): a stream of its own, the same on every platform.
    stream[0] += np.uint64(0x9E3779B97F4A7C15)
    z = stream[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return float(z >> np.uint64(11)) * (1.0 / 9007199254740992.0)


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
def anneal(  # noqa: PLR0917  # numba takes arguments by position
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
        column = int(_uniform(stream) * length)
        block = int(np.searchsorted(deal.starts, column, side="right")) - 1
        i = n_fixed + int(_uniform(stream) * (k - n_fixed))
        j = n_fixed + int(_uniform(stream) * (deal.n_rows[block] - n_fixed))
        done += length
        if i == j:
            continue
        n_in, n_out = _find_flips(deal, flips, block, i, j)
        places = flips.inside[:n_in], flips.outside[:n_out]
        step = 2 if j >= k else 4
        change = _change(gram, penalties, deal.matrix[i], places, step)
        done += n_in * n_out
        if change > 0.0 and _uniform(stream) >= np.exp(-change / temperature):
            continue
        _apply(deal, gram, (block, i, j), places)
        cost += change
        if cost < best.costs[0] - 1e-9:
            best.costs[0] = cost
            best.order[:] = deal.order
    best.costs[1] = cost
    return done


@njit
def restore(deal: Deal, order: Ints) -> None:
    """Bring a deal back to an order it had."""
    deal.order[:] = order
    for block in range(deal.starts.shape[0] - 1):
        for i in range(deal.matrix.shape[0]):
            for c in range(deal.starts[block], deal.starts[block + 1]):
                deal.matrix[i, c] = deal.rows[deal.order[block, i], c]
