"""Look for linear codes with a symmetry, for the table of ecoc.constructions.orbit_codes.

    python tools/find_linear_codes.py Q LENGTH DIMENSION DISTANCE [--seconds 60] [--seed 0]
    python tools/find_linear_codes.py 2 58 11 24 --bch 63 16

Draws matrices of a small order, lists their orbits on the points of the projective space, and
chooses orbits by a tabu search (Gulliver & Ostergard 1997): one is given up for the one with
which the fewest words are too light. A matrix has as many orbits on words as on points, and a
table says how much each orbit of points adds to the weight of each orbit of words. Prints the
entry for the table where a code is found, and ends with the status 1 where none is.

With ``--bch N K`` the code is the extended binary BCH code of length N and dimension K shortened
at a word of weight 6 of its dual (construction Y1 of MacWilliams & Sloane), which costs only five
dimensions. It has no symmetry left: each of its points is an orbit.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from functools import cache
from itertools import combinations
from math import gcd

import numpy as np
import numpy.typing as npt

from ecoc._numba import njit
from ecoc._typing import Ints
from ecoc.constructions.linear import bch_codes, bch_generator
from ecoc.constructions.orbit_codes import Arithmetic, OrbitCode, arithmetic

MOST_ORBITS = 2500
MOST_ORDER = 127
WORK = 200_000
"""How many entries of the table a start may look at, for each orbit."""

Weights = npt.NDArray[np.uint8]


@cache
def polynomials(q: int, degree: int) -> list[tuple[int, int, int]]:
    """Monic polynomials as numbers in base q, with the least r for which x^r is a constant c.

    Only those with a small r are listed, each with r and c.
    """
    field = arithmetic(q)
    numbers = np.arange(q**degree)
    low = numbers[:, None] // q ** np.arange(degree) % q
    kept = np.flatnonzero(low[:, 0])
    low = low[kept]
    power = np.zeros_like(low)
    power[:, 0] = 1
    orders, constants = np.zeros(len(kept), dtype=int), np.zeros(len(kept), dtype=int)
    for r in range(1, MOST_ORDER + 1):
        lead = field.negative[power[:, -1]]
        power = np.column_stack([np.zeros(len(kept), dtype=int), power[:, :-1]])
        power = field.sums[power, field.products[lead[:, None], low]]
        done = (orders == 0) & ~power[:, 1:].any(axis=1)
        orders[done], constants[done] = r, power[done, 0]
    found = np.flatnonzero(orders)
    return [(int(kept[i] + q**degree), int(orders[i]), int(constants[i])) for i in found]


def joint_order(parts: list[tuple[int, int, int]], field: Arithmetic) -> int:
    """The least r for which x^r is the same constant modulo every polynomial."""
    _, order, constant = parts[0]
    for _, r, c in parts[1:]:
        step = order * r // gcd(order, r)
        first = _power(field, constant, step // order)
        second = _power(field, c, step // r)
        times = next(
            t for t in range(1, field.order) if _power(field, first, t) == _power(field, second, t)
        )
        order, constant = step * times, _power(field, first, times)
    return order


def _power(field: Arithmetic, element: int, exponent: int) -> int:
    result = 1
    for _ in range(exponent % (field.order - 1) if field.order > 2 else 0):
        result = int(field.products[result, element])
    return result


def draw_matrix(
    q: int, dimension: int, length: int, rng: np.random.Generator
) -> tuple[tuple[int, ...], int]:
    """Polynomials whose degrees add up to the dimension, and the s of the Frobenius map."""
    field = arithmetic(q)
    while True:
        parts: list[tuple[int, int, int]] = []
        left = dimension
        while left:
            degree = int(rng.integers(1, left + 1)) if rng.random() < 0.7 else left
            choices = polynomials(q, degree)
            parts.append(choices[int(rng.integers(len(choices)))])
            left -= degree
        if sum(part[1] == 1 for part in parts) > 3:
            continue
        order = joint_order(parts, field)
        degrees = [len(field.digits(part[0])) - 1 for part in parts]
        longest = int(np.lcm.reduce(degrees))
        steps = [s for s in range(1, longest) if longest % s == 0]
        frobenius = int(rng.choice(steps)) if steps and rng.random() < 0.4 else 0
        size = order * (longest // frobenius if frobenius else 1)
        n_points = (q**dimension - 1) // (q - 1)
        if 3 <= order <= length and size <= 2 * length and n_points <= MOST_ORBITS * size:
            return tuple(sorted(part[0] for part in parts)), frobenius


class Orbits:
    """The orbits of a matrix on points and on words, and the weights they give each other."""

    def __init__(self, q: int, dimension: int, polynomials: tuple[int, ...], s: int) -> None:
        field = arithmetic(q)
        matrices = OrbitCode(q, dimension, 0, 0, polynomials, s, ()).matrices()
        self.digits = np.arange(q**dimension)[:, None] // q ** np.arange(dimension) % q
        labels = _labels(q, dimension, [_images(field, self.digits, m) for m in matrices])
        words = _labels(q, dimension, [_images(field, self.digits, m.T) for m in matrices])
        # Of the multiples of a point the one whose first digit is 1 stands for all.
        first = self.digits[np.arange(len(self.digits)), (self.digits != 0).argmax(axis=1)]
        points = np.flatnonzero(first == 1)
        _, orbit = np.unique(labels[points], return_inverse=True)
        self.points = points[np.argsort(orbit, kind="stable")]
        self.sizes = np.bincount(orbit)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self.words = np.unique(words[points])
        self.weights = _weights(
            self.digits[self.words].astype(np.int8),
            self.digits[self.points].astype(np.int8),
            self.starts,
            field.products.astype(np.int8),
            field.sums.astype(np.int8),
        )

    def representatives(self, chosen: Ints) -> list[int]:
        """A point of each orbit."""
        return [int(self.points[self.starts[i]]) for i in chosen]


def _images(field: Arithmetic, digits: Ints, matrix: Ints) -> Ints:
    total = np.zeros_like(digits)
    for place, row in enumerate(matrix):
        total = field.sums[total, field.products[digits[:, [place]], row[None, :]]]
    images: Ints = total @ field.order ** np.arange(digits.shape[1])
    return images


def _labels(q: int, dimension: int, images: list[Ints]) -> Ints:
    """The least vector of the orbit of each, multiples of a vector being one with it."""
    field = arithmetic(q)
    digits = np.arange(q**dimension)[:, None] // q ** np.arange(dimension) % q
    weights = q ** np.arange(dimension)
    maps = [*images, *(field.products[digits, c] @ weights for c in range(2, q))]
    labels = np.arange(q**dimension)
    while True:
        before = labels.copy()
        for image in maps:
            least = np.minimum(labels, labels[image])
            np.minimum.at(least, image, labels)
            labels = least[least]
        if (labels == before).all():
            return labels


@njit
def _weights(
    words: npt.NDArray[np.int8],
    points: npt.NDArray[np.int8],
    starts: Ints,
    products: npt.NDArray[np.int8],
    sums: npt.NDArray[np.int8],
) -> Weights:
    """How many points of each orbit a word does not vanish on, a row for each word."""
    table = np.zeros((len(words), len(starts) - 1), dtype=np.uint8)
    for w in range(len(words)):
        for i in range(len(starts) - 1):
            for p in range(starts[i], starts[i + 1]):
                value = 0
                for place in range(words.shape[1]):
                    value = sums[value, products[words[w, place], points[p, place]]]
                if value != 0:
                    table[w, i] += 1
    return table


@njit
def _search(  # noqa: PLR0917  # numba takes arguments by position
    table: Weights, sizes: Ints, chosen: Ints, distance: int, work: float, seed: int
) -> bool:
    """Exchange orbits of one size until every word is heavy enough, or the work is done."""
    np.random.seed(seed)  # noqa: NPY002  # numba has no other
    n_words, n_orbits = table.shape
    weight = np.zeros(n_words, dtype=np.int32)
    inside = np.zeros(n_orbits, dtype=np.bool_)
    for orbit in chosen:
        inside[orbit] = True
        for w in range(n_words):
            weight[w] += table[w, orbit]
    held_until = np.zeros(n_orbits, dtype=np.int64)
    cost = np.zeros(n_orbits, dtype=np.int32)
    step = 0
    while work > 0:
        step += 1
        work -= n_words
        place = np.random.randint(chosen.size)  # noqa: NPY002
        leaving = chosen[place]
        cost[:] = 0
        for w in range(n_words):
            needed = distance - weight[w] + table[w, leaving]
            if needed > 0:
                work -= n_orbits
                row = table[w]
                for orbit in range(n_orbits):
                    missing = max(needed - np.int32(row[orbit]), 0)
                    cost[orbit] += missing * missing
        best, least, n_ties = -1, 1 << 30, 0
        for orbit in range(n_orbits):
            if sizes[orbit] != sizes[leaving] or inside[orbit] or held_until[orbit] > step:
                continue
            n_ties = n_ties + 1 if cost[orbit] == least else 1
            if cost[orbit] < least or (cost[orbit] == least and np.random.random() * n_ties < 1):  # noqa: NPY002
                best, least = orbit, cost[orbit]
        if best < 0:
            continue
        inside[leaving], inside[best] = False, True
        held_until[leaving] = step + chosen.size + np.random.randint(chosen.size + 3)  # noqa: NPY002
        chosen[place] = best
        for w in range(n_words):
            weight[w] += np.int32(table[w, best]) - np.int32(table[w, leaving])
        if least == 0:
            return True
    return False


def draw_orbits(sizes: Ints, length: int, rng: np.random.Generator) -> Ints | None:
    """Random orbits of so many points together, few of them small; None where none were met."""
    for _ in range(50):
        left, chosen = length, []
        for size in np.unique(sizes)[::-1]:
            orbits = np.flatnonzero(sizes == size)
            most = min(left // size, len(orbits))
            largest = size == sizes.max()
            number = most - int(rng.integers(0, 2)) * (most > 1) if largest else most
            if not largest and size > 1:
                number = int(rng.integers(0, min(most, 3) + 1))
            chosen += rng.choice(orbits, size=number, replace=False).tolist()
            left -= number * size
        if left == 0 and chosen:
            return np.array(chosen, dtype=np.int64)
    return None


def find(
    q: int, length: int, dimension: int, distance: int, rng: np.random.Generator
) -> OrbitCode | None:
    """Try one random matrix."""
    # A code of odd distance has one more column with its parities, and the other way round.
    punctured = int(q == 2 and distance % 2 == 0 and rng.random() < 0.4)
    matrix = draw_matrix(q, dimension, length - punctured, rng)
    orbits = Orbits(q, dimension, *matrix)
    chosen = draw_orbits(orbits.sizes, length - punctured, rng)
    if chosen is None:
        return None
    seed = int(rng.integers(2**31))
    work = float(WORK) * len(orbits.sizes)
    least = distance - punctured
    if orbits.weights[:, chosen].sum(axis=1, dtype=np.int64).min() < least and not _search(
        orbits.weights, orbits.sizes, chosen, least, work, seed
    ):
        return None
    points = orbits.representatives(chosen)
    if punctured:
        of_orbits = [orbits.points[orbits.starts[i] : orbits.starts[i + 1]] for i in chosen]
        parity = int(np.bitwise_xor.reduce(np.concatenate(of_orbits)))
        if parity == 0 or any((part == parity).any() for part in of_orbits):
            return None
        points.append(parity)
    return OrbitCode(q, dimension, length, distance, *matrix, tuple(points))


def shortened_bch(length: int, dimension: int, distance: int) -> OrbitCode | None:
    """An extended BCH code shortened at six places whose columns add up to 0, if there are such."""
    zeros = next(z for size, _, z in bch_codes(length) if size == dimension)
    rows = bch_generator(length, zeros).astype(np.int64)
    rows = np.hstack([rows, rows.sum(axis=1, keepdims=True) % 2])
    columns = rows.T @ (1 << np.arange(dimension))
    triples: dict[int, tuple[int, ...]] = {}
    for triple in combinations(range(length + 1), 3):
        total = int(np.bitwise_xor.reduce(columns[list(triple)]))
        other = triples.setdefault(total, triple)
        if not set(other) & set(triple):
            break
    else:
        return None
    places = [*other, *triple]
    for place in places:
        pivots = np.flatnonzero(rows[:, place])
        if pivots.size:
            rows ^= np.outer(rows[:, place], rows[pivots[0]])
            rows = np.delete(rows, pivots[0], axis=0)
    rows = np.delete(rows, places, axis=1)
    points = tuple(int(point) for point in rows.T @ (1 << np.arange(len(rows))))
    return OrbitCode(2, len(rows), len(points), distance, (3,) * len(rows), 0, points)


def entry(code: OrbitCode) -> str:
    """The line of the table, with how often the code can be shortened."""
    rows: Ints | None = code.generator()
    n_shortened = -1
    while rows is not None and len(rows) > 2:
        rows = arithmetic(code.n_symbols).shortened(rows)
        n_shortened += 1
    parts = (code.length, code.distance, code.polynomials, code.frobenius, code.points)
    return f'"{code.dimension}": {json.dumps([*parts, n_shortened], separators=(",", ":"))}'


def main() -> None:
    """Search until a code is found or the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("q", "length", "dimension", "distance"):
        parser.add_argument(name, type=int)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--bch", type=int, nargs=2, metavar=("N", "K"))
    args = parser.parse_args()
    rng = np.random.default_rng(args.seed)
    ends = time.monotonic() + args.seconds
    code = None if args.bch is None else shortened_bch(*args.bch, args.distance)
    while code is None and args.bch is None and time.monotonic() < ends:
        code = find(args.q, args.length, args.dimension, args.distance, rng)
    if code is None:
        sys.exit(1)
    print(entry(code))


if __name__ == "__main__":
    main()
