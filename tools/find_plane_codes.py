"""Look for codes whose rows are copies of a plane, and whose columns its translations carry along.

    python tools/find_plane_codes.py P Q COLUMNS DISTANCE [--copies 1] [--invariant 0]
        [--seconds 60] [-o code.csv]

The rows are the points of copies of the plane over the integers modulo a prime P. A column is
chosen with a direction: a step in it only renames the symbols of the column, cycle by cycle, so
that the translations make P columns of it; a point off all cycles shares its symbol with its whole
line. Columns that no translation changes but for names can be added. So few pairs of rows are to
be counted that annealing meets bounds by averaging that other searches do not meet: 49 rows, 28
columns and 8 symbols at distance 25 (7 8 28 25), 50 rows and 10 symbols with 36 columns at 33
(5 10 36 33 --copies 2 --invariant 1). The atlas also has such codes with 61 columns at 56 and with
73 at 67, which take many more moves.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np

from ecoc._numba import njit
from ecoc.codes import Codebook, write_codebook
from ecoc.constructions._annealing import uniform
from ecoc.constructions.symbols import has_different_columns, least_distance

HOT, COLD, MOVES = 1.3, 0.15, 4_000_000


def pair_classes(p, copies):
    """For each pair of rows, to which class it belongs: translations keep the class."""
    point = np.arange(copies * p * p)
    copy, x, y = point // (p * p), point // p % p, point % p
    down, across = (x[None, :] - x[:, None]) % p, (y[None, :] - y[:, None]) % p
    there = (copy[:, None] * copies + copy[None, :]) * p * p + down * p + across
    classes = np.minimum(there, there.T)
    return np.unique(classes, return_inverse=True)[1].reshape(there.shape).astype(np.int64)


def lines(p, copies, direction):
    """The points of each line of a direction, one step after the other."""
    step = (1, direction) if direction < p else (0, 1)
    starts = [(0, y) for y in range(p)] if direction < p else [(x, 0) for x in range(p)]
    return np.array(
        [
            [c * p * p + (x + t * step[0]) % p * p + (y + t * step[1]) % p for t in range(p)]
            for c in range(copies)
            for x, y in starts
        ]
    )


@njit
def bump(counts, place, by, most):
    """Count a pair more or less; return by how much the energy grows."""
    over = counts[place] - most
    counts[place] += by
    if by > 0:
        return 2 * over + 1 if over >= 0 else 0
    return 1 - 2 * over if over > 0 else 0


@njit
def put(symbols, line, by, points, classes, counts, n_cyclic, p, most):  # noqa: PLR0917
    """Count the pairs that a line's symbol makes equal; return by how much the energy grows."""
    symbol, first, grown = symbols[line], points[line, 0], 0
    for other in range(symbols.size):
        if other == line or symbols[other] < 0:
            continue
        if symbol < n_cyclic and symbols[other] < n_cyclic:
            if symbols[other] // p == symbol // p:
                t = (symbol - symbols[other]) % p
                grown += bump(counts, classes[first, points[other, t]], by, most)
        elif symbols[other] == symbol:
            for t in range(p):
                grown += bump(counts, classes[first, points[other, t]], by, most)
    if symbol >= n_cyclic:
        for t in range(1, (p + 1) // 2):
            grown += bump(counts, classes[first, points[line, t]], by, most)
    return grown


@njit
def anneal(symbols, points, classes, counts, q, n_cyclic, most, n_moves, stream):  # noqa: PLR0917
    """Change symbols of lines; return what is left of pairs that are equal too often."""
    n_columns, n_lines = symbols.shape
    p = points.shape[2]
    for c in range(n_columns):
        wanted = symbols[c].copy()
        symbols[c] = -1
        for line in range(n_lines):
            symbols[c, line] = wanted[line]
            put(symbols[c], line, 1, points[c], classes, counts, n_cyclic, p, most)
    energy = 0
    for count in counts:
        energy += max(0, count - most) ** 2
    for move in range(n_moves):
        if energy == 0:
            break
        temperature = HOT * (COLD / HOT) ** (move / n_moves)
        c = int(uniform(stream) * n_columns)
        row, at = symbols[c], points[c]
        first, second = int(uniform(stream) * n_lines), int(uniform(stream) * n_lines)
        old, new = row[first], int(uniform(stream) * q)
        exchanged = uniform(stream) < 0.5
        if exchanged:
            new = row[second]
        if new == old:
            continue
        grown = put(row, first, -1, at, classes, counts, n_cyclic, p, most)
        row[first] = -1
        if exchanged:
            grown += put(row, second, -1, at, classes, counts, n_cyclic, p, most)
            row[second] = old
            grown += put(row, second, 1, at, classes, counts, n_cyclic, p, most)
        row[first] = new
        grown += put(row, first, 1, at, classes, counts, n_cyclic, p, most)
        if grown <= 0 or uniform(stream) < np.exp(-grown / temperature):
            energy += grown
            continue
        put(row, first, -1, at, classes, counts, n_cyclic, p, most)
        row[first] = -1
        if exchanged:
            put(row, second, -1, at, classes, counts, n_cyclic, p, most)
            row[second] = new
            put(row, second, 1, at, classes, counts, n_cyclic, p, most)
        row[first] = old
        put(row, first, 1, at, classes, counts, n_cyclic, p, most)
    return energy


def translated(base, points, symbols_of_line, n_cyclic):
    """The P columns that translations make of the symbols of lines."""
    p = points.shape[1]
    for line, symbol in zip(points, symbols_of_line, strict=True):
        base[line] = symbol // p * p + (symbol + np.arange(p)) % p if symbol < n_cyclic else symbol
    planes = base.reshape(-1, p, p)
    # Steps across the direction: down the plane, or along it where lines go down.
    axis = 1 if points[0, 1] - points[0, 0] == 1 else 2
    return [np.roll(planes, t, axis=axis).ravel() for t in range(p)]


def invariant_column(p, q, copies, rng):
    """A column that translations only rename: parallel lines, of each copy or of all."""
    own = q >= copies * p
    x, y = np.divmod(np.arange(p * p), p)
    parts, slope = [], int(rng.integers(p + 1))
    for copy in range(copies):
        slope = int(rng.integers(p + 1)) if own else slope
        line = (x * slope + y) % p if slope < p else x
        shift = 0 if own or not copy else int(rng.integers(p))
        parts.append((line + shift) % p + (copy * p if own else 0))
    return np.concatenate(parts)


def search(p, q, n_columns, distance, *, copies, n_invariant, seed):
    """One run from a seed: the code, or None."""
    rng = np.random.default_rng(seed)
    classes = pair_classes(p, copies)
    n_rows, n_cyclic = copies * p * p, q // p * p
    counts = np.zeros(classes.max() + 1, dtype=np.int64)
    columns = [invariant_column(p, q, copies, rng) for _ in range(n_invariant)]
    for column in columns:
        first, second = np.nonzero(np.triu(column[:, None] == column, 1))
        np.add.at(counts, classes[first, second], 1)
    counts //= p * p
    directions = rng.integers(p + 1, size=(n_columns - n_invariant) // p)
    points = np.array([lines(p, copies, int(d)) for d in directions])
    symbols = rng.integers(q, size=points.shape[:2])
    stream = rng.integers(2**63, size=1).astype(np.uint64)
    most = n_columns - distance
    if anneal(symbols, points, classes, counts, q, n_cyclic, most, MOVES, stream):
        return None
    for at, row in zip(points, symbols, strict=True):
        columns += translated(np.zeros(n_rows, dtype=np.int64), at, row, n_cyclic)
    return np.array(columns).T


def main() -> None:
    """Search until something is found, or the time is over."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("p", "q", "columns", "distance"):
        parser.add_argument(name, type=int)
    parser.add_argument("--copies", type=int, default=1, help="of the plane")
    parser.add_argument("--invariant", type=int, default=0, help="columns that never change")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="the first one")
    parser.add_argument("-o", "--output", help="a .csv, .json or .npz file")
    args = parser.parse_args()
    if args.p < 3 or args.q < args.p or (args.columns - args.invariant) % args.p:
        sys.exit("Q must be at least P, and P must divide COLUMNS less those of --invariant.")
    ends, seed = time.monotonic() + args.seconds, args.seed
    while time.monotonic() < ends:
        code = search(
            args.p,
            args.q,
            args.columns,
            args.distance,
            copies=args.copies,
            n_invariant=args.invariant,
            seed=seed,
        )
        if code is not None and has_different_columns(code):
            print(f"seed {seed}: {code.shape[0]} x {code.shape[1]}, {least_distance(code)}")
            if args.output:
                write_codebook(Codebook(code, n_symbols=args.q, name="planes"), args.output)
            return
        seed += 1
    sys.exit(f"nothing found with seeds {args.seed} to {seed - 1}")


if __name__ == "__main__":
    main()
