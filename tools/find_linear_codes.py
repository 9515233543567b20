"""Look for linear codes with a symmetry, for the table of ecoc.constructions.orbit_codes.

    python tools/find_linear_codes.py Q DIMENSION LENGTH:DISTANCE ... [--seconds 60] [--seed 0]
    python tools/find_linear_codes.py 2 8 74:34 96:46       # two codes of 256 words
    python tools/find_linear_codes.py --derived             # what follows from BCH codes

Draws matrices of a small order, lists their orbits on the points of the projective space, and
chooses orbits by simulated annealing: one is given up for another of its size, and what counts is
how much weight all words together lack. A matrix has as many orbits on words as on points, and a
table says how much each orbit of points adds to the weight of each orbit of words. Prints the
entry for the table as soon as a code is found, and ends with the status 1 where one is missing.

With ``--derived`` it prints codes that have no symmetry left, each of whose points is an orbit.
They come from BCH and quadratic residue codes (constructions X, Y1, B and residues, see
MacWilliams & Sloane, chapter 18), from codes over GF(4) and GF(8) whose symbols are words
(Blokh & Zyablov 1974), and from codes of the table. Where columns of a code add up to 0, a word
has an even number of ones there: of six such columns those that are cut after s of them were
shortened cost only 6 - s, less one if that is odd; three such columns, a line, cost 2,
and a line over q symbols has q + 1 columns and costs q.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from math import gcd

import numpy as np
import numpy.typing as npt

from ecoc._numba import njit
from ecoc._typing import Ints
from ecoc.constructions.fields import galois_field
from ecoc.constructions.linear import bch_codes, bch_generator
from ecoc.constructions.orbit_codes import Arithmetic, OrbitCode, arithmetic, orbit_codes

MOST_ORBITS = 700
MOST_ORDER = 127
TARGETS = 4
"""For how many of the lengths wanted a matrix is tried."""

WORK = 2e8
"""How many entries of the table a start may look at."""

HOT, COLD = 3.0, 0.25
"""Temperatures, in units of weight."""

WITH_LINES = (
    (2, 112, 8),
    (2, 96, 10),
    (2, 112, 10),
    (2, 119, 10),
    (2, 100, 11),
    (2, 122, 11),
    (2, 78, 13),
    (3, 74, 5),
    (3, 107, 6),
)
"""Symbols, length and dimension of codes of the table that are good without a line, too."""

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


@cache
def of_order(q: int, degree: int, multiple: int) -> list[tuple[int, int, int]]:
    """The polynomials of a degree whose r divides a number."""
    return [part for part in polynomials(q, degree) if multiple % part[1] == 0]


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
        multiple = int(rng.integers(2, min(length, MOST_ORDER) + 1))
        parts: list[tuple[int, int, int]] = []
        left = dimension
        while left:
            degrees = [n for n in range(1, left + 1) if of_order(q, n, multiple)]
            choices = of_order(q, int(rng.choice(degrees)), multiple)
            parts.append(choices[int(rng.integers(len(choices)))])
            left -= len(field.digits(parts[-1][0])) - 1
        if 2 * sum(part[1] == 1 for part in parts) > dimension:
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
        maps = _maps(field, self.digits, matrices)
        labels = _labels(maps)
        # Where a polynomial has a double zero, the Frobenius map takes several points to one.
        self.are_whole = all(len(np.unique(row)) == row.size for row in maps)
        words = _labels(_maps(field, self.digits, [m.T for m in matrices]))
        # Of the multiples of a point the one whose first digit is 1 stands for all.
        first = self.digits[np.arange(len(self.digits)), (self.digits != 0).argmax(axis=1)]
        points = np.flatnonzero(first == 1)
        _, orbit = np.unique(labels[points], return_inverse=True)
        self.points = points[np.argsort(orbit, kind="stable")]
        self.sizes = np.bincount(orbit)
        self.starts = np.concatenate([[0], np.cumsum(self.sizes)])
        self.words = np.unique(words[points])
        if q == 2:
            self.weights = _binary_weights(self.words, self.points, self.starts)
        else:
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


def _maps(field: Arithmetic, digits: Ints, matrices: list[Ints]) -> Ints:
    """Where each vector goes: a row for each matrix, and one for each constant."""
    weights = field.order ** np.arange(digits.shape[1])
    multiples = [field.products[digits, c] @ weights for c in range(2, field.order)]
    return np.array([*(_images(field, digits, matrix) for matrix in matrices), *multiples])


def _images(field: Arithmetic, digits: Ints, matrix: Ints) -> Ints:
    total = np.zeros_like(digits)
    for place, row in enumerate(matrix):
        total = field.sums[total, field.products[digits[:, [place]], row[None, :]]]
    images: Ints = total @ field.order ** np.arange(digits.shape[1])
    return images


@njit
def _labels(maps: Ints) -> Ints:
    """The least vector of the orbit of each."""
    n_maps, n = maps.shape
    labels = np.full(n, -1, dtype=np.int64)
    stack = np.zeros(n, dtype=np.int64)
    for start in range(n):
        if labels[start] >= 0:
            continue
        labels[start] = start
        stack[0], height = start, 1
        while height:
            height -= 1
            vector = stack[height]
            for i in range(n_maps):
                image = maps[i, vector]
                if labels[image] < 0:
                    labels[image] = start
                    stack[height] = image
                    height += 1
    return labels


@njit
def _binary_weights(words: Ints, points: Ints, starts: Ints) -> Weights:
    """How many points of each orbit a word does not vanish on, a row for each word."""
    parity = np.zeros(1 << 16, dtype=np.uint8)
    for i in range(1, 1 << 16):
        parity[i] = parity[i >> 1] ^ (i & 1)
    table = np.zeros((len(words), len(starts) - 1), dtype=np.uint8)
    for w in range(len(words)):
        for i in range(len(starts) - 1):
            count = 0
            for p in range(starts[i], starts[i + 1]):
                count += parity[words[w] & points[p]]
            table[w, i] = count
    return table


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
    """Exchange orbits of one size until every word is heavy enough, or the work is done.

    The table has a row for each orbit of points here.
    """
    np.random.seed(seed)  # noqa: NPY002  # numba has no other
    n_orbits, n_words = table.shape
    lacking = np.full(n_words, distance, dtype=np.int16)
    inside = np.zeros(n_orbits, dtype=np.bool_)
    for orbit in chosen:
        inside[orbit] = True
        lacking -= table[orbit]
    missing = np.maximum(lacking, 0).sum()
    n_moves = int(work / n_words)
    for move in range(n_moves):
        if missing == 0:
            return True
        place, entering = np.random.randint(chosen.size), np.random.randint(n_orbits)  # noqa: NPY002
        leaving = chosen[place]
        if inside[entering] or sizes[entering] != sizes[leaving]:
            continue
        less, more = table[leaving], table[entering]
        then = 0
        for w in range(n_words):
            # In 16 bits, so that the compiler takes many words at a time.
            then += max(np.int16(lacking[w] + np.int16(less[w]) - np.int16(more[w])), np.int16(0))
        temperature = HOT * (COLD / HOT) ** (move / n_moves)
        if then <= missing or np.random.random() < np.exp((missing - then) / temperature):  # noqa: NPY002
            for w in range(n_words):
                lacking[w] += np.int16(np.int16(less[w]) - np.int16(more[w]))
            inside[leaving], inside[entering], chosen[place] = False, True, entering
            missing = then
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
    q: int, dimension: int, wanted: dict[int, int], rng: np.random.Generator
) -> Iterator[OrbitCode]:
    """Try one random matrix for a few of the lengths wanted."""
    matrix = draw_matrix(q, dimension, max(wanted), rng)
    orbits = Orbits(q, dimension, *matrix)
    if not orbits.are_whole:
        return
    for length in rng.permutation(list(wanted))[:TARGETS].tolist():
        # A code of odd distance has one more column with its parities, and the other way round.
        punctured = int(q == 2 and wanted[length] % 2 == 0 and rng.random() < 0.4)
        chosen = draw_orbits(orbits.sizes, length - punctured, rng)
        least = wanted[length] - punctured
        if chosen is None or not _reach(orbits, chosen, least, rng):
            continue
        points = orbits.representatives(chosen)
        if punctured:
            of_orbits = [orbits.points[orbits.starts[i] : orbits.starts[i + 1]] for i in chosen]
            parity = int(np.bitwise_xor.reduce(np.concatenate(of_orbits)))
            if parity == 0 or any((part == parity).any() for part in of_orbits):
                continue
            points.append(parity)
        yield OrbitCode(q, dimension, length, wanted[length], *matrix, tuple(points))


def _reach(orbits: Orbits, chosen: Ints, distance: int, rng: np.random.Generator) -> bool:
    """Exchange the chosen orbits until the distance is met; False where it was not."""
    if orbits.weights[:, chosen].sum(axis=1, dtype=np.int64).min() >= distance:
        return True
    table, seed = np.ascontiguousarray(orbits.weights.T), int(rng.integers(2**31))
    return bool(_search(table, orbits.sizes, chosen, distance, float(WORK), seed))


def derived() -> Iterator[OrbitCode]:
    """Codes that follow from others by algebra."""
    large, small = _extended(127, 15), _extended(63, 16)
    yield _explicit(_relatives(small, 5), 24, "Y1 of the extended BCH code [64,16,24]")
    for n_shortened, distance in ((1, 52), (3, 54)):
        source = "B of the extended BCH code [128,15,56]"
        yield _explicit(_relatives(large, n_shortened), distance, source)
    word = next(w for w in (large[i] ^ large[j] for i, j in _pairs(15)) if w.sum() == 56)
    residue = _independent(large[:, word == 0])
    yield _explicit(residue, 28, "residue of the extended BCH code [128,15,56]")
    squares = np.isin(np.arange(47), np.arange(1, 47) ** 2 % 47).astype(np.int64)
    shifts = _independent(np.array([np.roll(squares, i) for i in range(47)]))
    shifts = _shortened(_with_parity(shifts), list(range(10)))
    yield _explicit(shifts, 12, "extended quadratic residue code [48,24,12]")
    yield _explicit(_lengthened(), 26, "X of the BCH codes [63,16,23] and [63,10,27]")
    source, blocks = "[10,3,8] over GF(8) and [10,5,4], in words of [8,4,4]", _blocks_of_eight()
    yield _explicit(blocks, 32, source)
    yield _explicit(_without_line(blocks), 30, f"{source}, without a line")
    yield from _quaternary()
    for q, length, dimension in WITH_LINES:
        code = next(c for c in orbit_codes(q) if (c.length, c.dimension) == (length, dimension))
        rows = _without_line(code.generator(), q)
        yield _explicit(rows, code.distance - q, f"{_name(code)} without a line", q)


def _name(code: OrbitCode) -> str:
    return f"[{code.length},{code.dimension},{code.distance}]"


def _without_line(rows: Ints, q: int = 2) -> Ints:
    """The code without the q + 1 points of a line, on one of which at least a word is 0."""
    return np.delete(rows, _line_of(rows, q), axis=1)


def _line_of(rows: Ints, q: int = 2) -> list[int]:
    """The first columns that are all points of a line."""
    field = arithmetic(q)
    columns = field.normal(rows)
    places = {tuple(column): i for i, column in enumerate(columns.T.tolist())}
    for i, j in combinations(range(len(places)), 2):
        multiples = field.products[columns[:, [j]], np.arange(1, q)]
        others = field.normal(field.sums[columns[:, [i]], multiples]).T.tolist()
        line = [i, j, *(places.get(tuple(point), -1) for point in others)]
        if min(line) >= 0:
            return line
    raise AssertionError("the columns contain no line")


def _in_bits(rows: Ints) -> Ints:
    """A code over GF(4), each symbol as one of the words of [3,2,2]: twice the distance."""
    words = np.vstack([arithmetic(4).products[factor, rows] for factor in (1, 2)])
    bits: Ints = np.stack([words & 1, words >> 1, (words ^ words >> 1) & 1], axis=2)
    return bits.reshape(len(words), -1)


def _quaternary() -> Iterator[OrbitCode]:
    """Codes over GF(4) in bits: [43,5,30] of the table, and residues of the BCH code [65,8,44].

    In binary digits it is the cyclic code [195,16,88] whose check polynomial has the factors
    x^12 + x^5 + x^4 + x^2 + 1 and x^4 + x + 1. Where a word of GF(4) has a 0 the residue keeps all
    three columns of the symbol, which are a line.
    """
    wanted = (43, 5)
    rows = next(c for c in orbit_codes(4) if (c.length, c.dimension) == wanted).generator()
    source = "[43,5,30] over GF(4) in words of [3,2,2]"
    yield _explicit(_in_bits(rows), 60, source)
    yield _explicit(_without_line(_in_bits(rows)), 58, f"{source}, without a line")
    cyclic = OrbitCode(2, 16, 195, 88, (0b1000000110101, 0b10011), 0, (0b1000000000001,))
    rows = cyclic.generator()
    shorter = _shortened(rows, _line_of(rows))
    for parent, weight, distance in ((rows, 88, 44), (rows, 96, 40), (shorter, 88, 44)):
        residue = _residue(parent, weight)
        source = f"residue of [{parent.shape[1]},{len(parent)},88], the BCH code [65,8,44] of GF(4)"
        yield _explicit(residue, distance, source)
        if distance == 44:
            yield _explicit(_without_line(residue), 42, f"{source}, without a line")


def _residue(rows: Ints, weight: int) -> Ints:
    """The code in the places where a word of some weight is 0."""
    rng = np.random.default_rng(0)
    while True:
        word = rng.integers(0, 2, size=len(rows)) @ rows % 2
        if word.sum() == weight:
            return _independent(rows[:, word == 0])


def _blocks_of_eight() -> Ints:
    """The words of [10,3,8] over GF(8) and of [10,5,4], added up block by block.

    A symbol of GF(8) becomes a word of [8,3,4], all sums of its three digits, and a bit eight
    equal bits: a block with a symbol that is not 0 has weight 4, one with a bit alone 8.
    """
    field = galois_field(8)
    elements = np.arange(8)
    logs = field.logarithms

    def product(a: int, b: int) -> int:
        return int(field.powers[(logs[a] + logs[b]) % 7]) if a and b else 0

    # The ten points of a hyperoval: a conic and its nucleus, of which a line has two or none.
    points = [*((1, t, product(t, t)) for t in range(8)), (0, 0, 1), (0, 1, 0)]
    digits = elements[:, None] >> np.arange(3) & 1
    rows = []
    for place in range(3):
        for digit in range(3):
            symbols = [product(1 << digit, point[place]) for point in points]
            rows.append(np.concatenate([digits @ digits[symbol] % 2 for symbol in symbols]))
    # The first columns of three blocks add up to 0, as the first three columns of [10,5,4] do.
    outer = np.array([1, 2, 3, 4, 8, 12, 16, 21, 26, 31]) >> np.arange(5)[:, None] & 1
    return np.vstack([np.array(rows), np.repeat(outer, 8, axis=1)])


def _extended(length: int, dimension: int) -> Ints:
    zeros = next(z for size, _, z in bch_codes(length) if size == dimension)
    return _with_parity(bch_generator(length, zeros).astype(np.int64))


def _with_parity(rows: Ints) -> Ints:
    return np.hstack([rows, rows.sum(axis=1, keepdims=True) % 2])


def _pairs(n: int) -> Iterator[tuple[int, int]]:
    return ((i, j) for i in range(n) for j in range(i + 1))


def _relatives(rows: Ints, n_shortened: int) -> Ints:
    """The code shortened at some of six columns that add up to 0, and cut at the others."""
    columns = rows.T @ (1 << np.arange(len(rows)))
    triples: dict[int, tuple[int, ...]] = {}
    places: list[int] = []
    for triple in combinations(range(rows.shape[1]), 3):
        other = triples.setdefault(int(np.bitwise_xor.reduce(columns[list(triple)])), triple)
        if not set(other) & set(triple):
            places = [*other, *triple]
            break
    left = _shortened(rows, places[:n_shortened], keep=True)
    return np.delete(left, places, axis=1)


def _shortened(rows: Ints, places: list[int], *, keep: bool = False) -> Ints:
    """The words that are 0 in some places, without these places or with them."""
    for place in places:
        pivots = np.flatnonzero(rows[:, place])
        if pivots.size:
            rows = rows ^ np.outer(rows[:, place], rows[pivots[0]])
            rows = np.delete(rows, pivots[0], axis=0)
    return rows if keep else np.delete(rows, places, axis=1)


def _independent(rows: Ints) -> Ints:
    """Rows that span the same words, as few as possible."""
    kept: list[Ints] = []
    while rows.any():
        row = rows[rows.any(axis=1)][0]
        kept.append(row)
        rows = rows ^ np.outer(rows[:, int(row.argmax())], row)
    return np.array(kept)


def _lengthened() -> Ints:
    """Words of [63,16,23] with 7 more places that are 0 for those of [63,10,27]."""
    zeros = {size: z for size, _, z in bch_codes(63)}
    inner = bch_generator(63, zeros[10]).astype(np.int64)
    outer = bch_generator(63, zeros[16]).astype(np.int64)
    tail = np.hstack([np.eye(6, dtype=np.int64), np.ones((6, 1), dtype=np.int64)])
    # The first six rows of the larger code are words of no smaller degree than all of the inner.
    rows = np.vstack(
        [
            np.hstack([outer[:6], tail]),
            np.hstack([inner, np.zeros((10, 7), dtype=np.int64)]),
        ]
    )
    return _with_parity(_shortened(rows, [0, 1]))


def _explicit(rows: Ints, distance: int, source: str, q: int = 2) -> OrbitCode:
    """A code without a matrix, if it has the distance."""
    points = tuple((q ** np.arange(len(rows)) @ rows).tolist())
    field, weights = arithmetic(q), np.zeros(q ** len(rows), dtype=np.int64)
    for column in rows.T:
        entries = np.zeros(1, dtype=np.int64)
        for digit in column:
            entries = field.sums[entries, field.products[np.arange(q)[:, None], digit]].ravel()
        weights += entries != 0
    if weights[1:].min() != distance:
        raise AssertionError(f"{source}: {weights[1:].min()} instead of {distance}")
    return OrbitCode(q, len(rows), len(points), distance, (), 0, points, source=source)


def entry(code: OrbitCode) -> str:
    """The line of the table, with how often the code can be shortened."""
    rows: Ints | None = code.generator()
    n_shortened = -1
    while rows is not None and len(rows) > 2:
        rows = arithmetic(code.n_symbols).shortened(rows)
        n_shortened += 1
    parts = [code.length, code.distance, code.polynomials, code.frobenius, code.points, n_shortened]
    if code.source != "search":
        parts.append(code.source)
    return f'"{code.dimension}": {json.dumps(parts, separators=(",", ":"))}'


def main() -> None:
    """Search until all are found or the time is over."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("q", type=int, nargs="?")
    parser.add_argument("dimension", type=int, nargs="?")
    parser.add_argument("wanted", nargs="*", metavar="LENGTH:DISTANCE")
    parser.add_argument("--derived", action="store_true")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    if args.derived:
        print(*(f"q = {code.n_symbols}, {entry(code)}" for code in derived()), sep="\n")
        return
    rng = np.random.default_rng(args.seed)
    ends = time.monotonic() + args.seconds
    wanted = {int(n): int(d) for n, d in (cell.split(":") for cell in args.wanted)}
    while wanted and time.monotonic() < ends:
        code = next(find(args.q, args.dimension, wanted, rng), None)
        if code is None:
            continue
        print(entry(code), flush=True)
        for length, distance in list(wanted.items()):
            if distance <= code.distance - max(0, code.length - length):
                del wanted[length]
    sys.exit(bool(wanted))


if __name__ == "__main__":
    main()
