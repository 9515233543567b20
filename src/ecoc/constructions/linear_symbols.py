"""Linear codes over any field: sets of points of a projective space that few hyperplanes meet.

The columns of a linear code of q^m words are points of the projective space of dimension m - 1
over GF(q), and a word has as many zeros as points lie in a hyperplane. The powers of a primitive
element of GF(q^m) go through all points in a cycle (Singer 1938), in which the hyperplanes are
the shifts of one. So a code is a set of places in a cycle, and its distance is the number of
places less the most that a shift of one fixed set meets. Reed-Solomon codes, simplex codes, the
hexacode, ovoids and Golay's ternary code are found among sets that a subgroup of the cycle or a
multiplier leaves as they are, as constacyclic and quasi-cyclic codes are.

For three, four and five symbols there is also a table of such codes (:mod:`.orbit_codes`), from
which others follow by shortening, by leaving out columns and words, and side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from ecoc._limits import Budget
from ecoc._numba import njit
from ecoc._typing import Ints
from ecoc.constructions._annealing import uniform
from ecoc.constructions.fields import MAX_FIELD, galois_field, prime_power
from ecoc.constructions.orbit_codes import OrbitCode, arithmetic, orbit_codes

__all__ = ["TabledPlan", "farthest_linear_code", "linear_code", "linear_words", "tabled_plan"]

_MAX_POINTS = 1_500
_MOVES = 20_000
_HOT, _COLD = 2.0, 0.2
_MAX_SYMMETRIES = 24
_MAX_CUT, _MAX_FREE = 6, 6
"""How many columns too long or too short a code of the table may be."""

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class TabledPlan:
    """Codes of the table side by side, some of their columns left out or some added.

    Parameters
    ----------
    n_rows, n_columns, n_symbols : int
        The size, k x L, and the number of symbols, q.
    codes : tuple of OrbitCode
        What stands side by side.
    shortened : tuple of int
        In how many places each of them is shortened.
    distance : int
        The row distance that the plan is sure to reach.
    """

    n_rows: int
    n_columns: int
    n_symbols: int
    codes: tuple[OrbitCode, ...]
    shortened: tuple[int, ...]
    distance: int

    def words(self, rng: np.random.Generator) -> Ints:
        """Words of these codes, those of each dealt to the rows at random."""
        blocks = [self._block(*part, rng) for part in zip(self.codes, self.shortened, strict=True)]
        words = np.concatenate(blocks, axis=1)
        n_spare = words.shape[1] - self.n_columns
        if n_spare > 0:
            kept = np.sort(rng.permutation(words.shape[1])[: self.n_columns])
            return words[:, kept]
        groups = np.arange(self.n_rows) % self.n_symbols
        free = [rng.permutation(groups)[:, None] for _ in range(-n_spare)]
        return np.concatenate([words, *free], axis=1)

    def _block(self, code: OrbitCode, n_shortened: int, rng: np.random.Generator) -> Ints:
        field, q = arithmetic(self.n_symbols), self.n_symbols
        generator = code.generator(n_shortened)
        chosen = rng.permutation(q ** len(generator))[: self.n_rows]
        words = np.zeros((self.n_rows, generator.shape[1]), dtype=np.int64)
        for place, row in enumerate(generator):
            words = field.sums[words, field.products[(chosen // q**place % q)[:, None], row]]
        return words


def tabled_plan(n_rows: int, n_columns: int, n_symbols: int) -> TabledPlan | None:
    """The best that the table gives for so many rows and columns; None where it has nothing.

    Examples
    --------
    Golay's ternary code, extended:

    >>> plan = tabled_plan(729, 12, 3)
    >>> plan.distance, plan.words(np.random.default_rng(0)).shape
    (6, (729, 12))
    """
    table = _side_by_side(n_rows, n_columns + _MAX_CUT, n_symbols)
    best = None
    for length in range(max(1, n_columns - _MAX_FREE), n_columns + _MAX_CUT + 1):
        distance, parts = table[length]
        distance -= max(0, length - n_columns)
        if parts and distance > (0 if best is None else best.distance):
            codes, shortened = zip(*parts, strict=True)
            best = TabledPlan(n_rows, n_columns, n_symbols, codes, shortened, distance)
    return best


Parts = tuple[tuple[OrbitCode, int], ...]


@lru_cache(maxsize=64)
def _side_by_side(n_rows: int, limit: int, n_symbols: int) -> list[tuple[int, Parts]]:
    """For each number of columns the largest distance, and the codes that add up to it."""
    best: dict[int, tuple[OrbitCode, int]] = {}
    for code in orbit_codes(n_symbols):
        for shortened in range(code.max_shortening + 1):
            width = code.length - shortened
            if width > limit or n_symbols ** (code.dimension - shortened) < n_rows:
                continue
            if width not in best or best[width][0].distance < code.distance:
                best[width] = code, shortened
    table: list[tuple[int, Parts]] = [(0, ())]
    for length in range(1, limit + 1):
        options: list[tuple[int, Parts]] = [(0, ())]
        for width, part in best.items():
            if width == length or (width < length and table[length - width][1]):
                distance, parts = table[length - width]
                options.append((distance + part[0].distance, (*parts, part)))
        # Of equal distances the one of fewer codes.
        table.append(max(options, key=lambda option: (option[0], -len(option[1]))))
    return table


def linear_code(
    n_rows: int, n_columns: int, n_symbols: int, distance: int, *, seed: int, budget: Budget
) -> Ints | None:
    """Look for a linear code of at least so many words and a distance; return so many words.

    With a number of symbols that is no prime power the field is the next smaller one, or the
    next larger one of which only words are kept that avoid some elements in every column.

    Parameters
    ----------
    n_rows, n_columns, n_symbols, distance : int
        What is wanted.
    seed : int
        Decides everything, unless the time is over first.
    budget : Budget
        Pays one unit for each point and move.

    Examples
    --------
    The ternary code of Golay, less a part of its words:

    >>> code = linear_code(243, 11, 3, 6, seed=0, budget=Budget())
    >>> int((code != code[0]).sum(axis=1)[1:].min())
    6
    """
    rng = np.random.default_rng(seed)
    for order in _fields(n_symbols):
        dimension = _dimension(n_rows, n_columns, n_symbols, order)
        if dimension is None:
            continue
        points = _points(order, dimension, n_columns, distance, rng, budget)
        if points is None:
            continue
        words = linear_words(order, dimension, points)
        if order > n_symbols:
            words = _avoiding(words, order, n_symbols)
        if len(words) >= n_rows:
            return words[rng.permutation(len(words))[:n_rows]]
    return None


def farthest_linear_code(
    n_rows: int, n_columns: int, n_symbols: int, *, most: int, seed: int, budget: Budget
) -> Ints | None:
    """Look for the linear code of the largest distance, by halving what is left to try.

    Columns that a code has no points for come from simplex codes beside it, their words dealt to
    the rows at random.

    Parameters
    ----------
    n_rows, n_columns, n_symbols : int
        The size, k x L, and the number of symbols, q; the field is the largest one without more
        elements.
    most : int
        No larger distance is tried.
    seed : int
        Decides everything, unless the time is over first.
    budget : Budget
        Pays one unit for each point and move.

    Returns
    -------
    ndarray of int, shape (k, L), or None
        None if there are too many points, or nothing was found.

    Examples
    --------
    >>> code = farthest_linear_code(49, 12, 7, most=10, seed=0, budget=Budget())
    >>> min(int((row != code[:i]).sum(axis=1).min()) for i, row in enumerate(code) if i)
    10
    """
    order = _fields(n_symbols)[-1]
    dimension = 2
    while order**dimension < n_rows:
        dimension += 1
    n_points = (order**dimension - 1) // (order - 1)
    if order**dimension > MAX_FIELD or n_points > _MAX_POINTS:
        return None
    rng = np.random.default_rng(seed)
    n_simplex, n_left = divmod(n_columns, n_points)
    sure = n_simplex * order ** (dimension - 1)
    # Points of a code without any distance, where all that is left is too short for one.
    chosen = rng.permutation(n_points)[:n_left]
    low, high = 0, min(n_left, most - sure)
    while low < high and not budget.is_spent:
        middle = (low + high + 1) // 2
        points = _points(order, dimension, n_left, middle, rng, budget)
        if points is None:
            high = middle - 1
        else:
            low, chosen = middle, points
    if sure + low == 0:
        return None
    blocks = [linear_words(order, dimension, chosen)]
    if n_simplex:
        blocks += [linear_words(order, dimension, np.arange(n_points))] * n_simplex
    dealt = [block[rng.permutation(len(block))[:n_rows]] for block in blocks]
    return np.concatenate(dealt, axis=1)


def _fields(n_symbols: int) -> list[int]:
    """The orders of fields that codes of so many symbols come from."""
    if prime_power(n_symbols):
        return [n_symbols]
    below = next(n for n in range(n_symbols, 1, -1) if prime_power(n))
    return [next(n for n in range(n_symbols, 2 * n_symbols) if prime_power(n)), below]


def _dimension(n_rows: int, n_columns: int, n_symbols: int, order: int) -> int | None:
    """The least dimension with enough words; None if it has too few points, or too many."""
    kept = min(1.0, n_symbols / order) ** n_columns
    dimension = 2
    while order**dimension * kept < n_rows:
        dimension += 1
        if order**dimension > MAX_FIELD:
            return None
    n_points = (order**dimension - 1) // (order - 1)
    # With a dimension more most words are not needed, and those that are left are no better
    # than others.
    return dimension if n_columns <= n_points <= _MAX_POINTS else None


@lru_cache(maxsize=32)
def _traces(order: int, dimension: int) -> Ints:
    """The traces to GF(q) of the powers of a primitive element of GF(q^m), as symbols."""
    p, degree = _characteristic(order)
    field, size = galois_field(order**dimension), order**dimension - 1
    logs = np.arange(size)
    total = np.zeros(size, dtype=np.int64)
    # The trace is the sum of the powers x^(q^i): sums digit by digit, in base p.
    for i in range(dimension):
        total = _add(total, field.powers[logs * order**i % size], p, degree * dimension)
    # GF(q) in the large field is 0 and the powers of one element.
    names = np.zeros(order**dimension, dtype=np.int64)
    names[field.powers[np.arange(order - 1) * (size // (order - 1))]] = np.arange(1, order)
    traces: Ints = names[total]
    traces.setflags(write=False)
    return traces


def _hyperplane(order: int, dimension: int) -> Bools:
    """Which points, in the cycle, lie in one hyperplane: those whose trace is 0."""
    traces = _traces(order, dimension)
    zero: Bools = traces[: traces.size // (order - 1)] == 0
    return zero


def _characteristic(order: int) -> tuple[int, int]:
    """The prime that a field's order is a power of, and the exponent."""
    parts = prime_power(order)
    if parts is None:
        raise ValueError("fields have prime powers of elements")
    return parts


def _add(left: Ints, right: Ints, p: int, n_digits: int) -> Ints:
    weights = p ** np.arange(n_digits)
    digits = (left[..., None] // weights + right[..., None] // weights) % p
    total: Ints = digits @ weights
    return total


def linear_words(order: int, dimension: int, points: Ints) -> Ints:
    """Return all words of the code whose columns are points of the cycle.

    Examples
    --------
    The simplex code of nine words over three symbols:

    >>> words = linear_words(3, 2, np.arange(4))
    >>> words.shape, int((words[1:] != words[0]).sum(axis=1).min())
    ((9, 4), 3)
    """
    traces = _traces(order, dimension)
    logs = np.arange(traces.size)[:, None] + points
    zero = np.zeros((1, points.size), dtype=np.int64)
    return np.concatenate([zero, traces[logs % traces.size]])


def _avoiding(words: Ints, order: int, n_symbols: int) -> Ints:
    """Keep the words that avoid, in every column, the symbols that cost least."""
    for c in range(words.shape[1]):
        counts = np.bincount(words[:, c], minlength=order)
        kept = np.sort(np.argsort(counts, kind="stable")[order - n_symbols :])
        rows = np.isin(words[:, c], kept)
        words = words[rows]
        words[:, c] = np.searchsorted(kept, words[:, c])
    return words


def _points(  # noqa: PLR0917
    order: int,
    dimension: int,
    n_columns: int,
    distance: int,
    rng: np.random.Generator,
    budget: Budget,
) -> Ints | None:
    """Points of which a hyperplane has few, as unions of orbits of various symmetries."""
    plane = _hyperplane(order, dimension)
    n = plane.size
    most = n_columns - distance
    # Averaging over the hyperplanes.
    if int(plane.sum()) * n_columns > most * n:
        return None
    if n_columns == n:
        return np.arange(n) if int(plane.sum()) <= most else None
    symmetries = _symmetries(n, order)
    # The last one leaves every point alone, and is tried whatever else there is.
    symmetries[_MAX_SYMMETRIES - 1 : -1] = []
    for labels in symmetries:
        sizes = np.bincount(labels)
        # How often each hyperplane meets each orbit.
        members = np.zeros((sizes.size, n), dtype=np.float64)
        members[labels, np.arange(n)] = 1
        transform = np.fft.rfft(plane.astype(np.float64))
        meets = np.rint(np.fft.irfft(np.conj(np.fft.rfft(members, axis=1)) * transform, n, axis=1))
        chosen = _choose(sizes, meets.astype(np.int32), n_columns, most, rng, budget)
        if chosen is not None:
            return np.flatnonzero(chosen[labels])
        if budget.is_spent:
            return None
    return None


def _symmetries(n: int, order: int) -> list[Ints]:
    """Orbits of points under subgroups of the cycle and under multipliers, largest ones first.

    A multiplier is a power of the characteristic; these permute the hyperplanes.
    """
    parts = prime_power(order)
    p = parts[0] if parts else order
    places = np.arange(n)
    orbits: dict[bytes, Ints] = {}
    for step in (s for s in range(1, n + 1) if n % s == 0):
        multiplier = p % n
        seen = {1 % n}
        tried = [1]
        while multiplier not in seen:
            seen.add(multiplier)
            tried.append(multiplier)
            multiplier = multiplier * p % n
        for factor in tried:
            # The least place of an orbit stands for it.
            least = places % step
            image = least
            for _ in range(len(tried)):
                image = image * factor % step
                least = np.minimum(least, image)
            labels = np.unique(least, return_inverse=True)[1]
            if labels.max() > 0:
                orbits.setdefault(labels.tobytes(), labels)
    return sorted(orbits.values(), key=lambda labels: int(labels.max()))


def _choose(  # noqa: PLR0917
    sizes: Ints,
    meets: npt.NDArray[np.int32],
    n_columns: int,
    most: int,
    rng: np.random.Generator,
    budget: Budget,
) -> Bools | None:
    """Orbits that add up to the columns and that no hyperplane meets too often."""
    start = _filling(sizes, n_columns, rng)
    if start is None:
        return None
    chosen = start.astype(np.int8)
    counts = (chosen.astype(np.int32) @ meets).astype(np.int32)
    stream = np.array([rng.integers(2**63)], dtype=np.uint64)
    done = _anneal_points(chosen, counts, sizes.astype(np.int32), meets, most, _MOVES, stream)
    budget.spend(float(done) * meets.shape[1])
    return chosen.astype(bool) if counts.max() <= most else None


def _filling(sizes: Ints, total: int, rng: np.random.Generator) -> Bools | None:
    """Random orbits whose sizes add up; None if no such sizes exist."""
    kinds, counts = np.unique(sizes, return_counts=True)
    # With which sizes, taken in a random order, each total can be reached.
    order = rng.permutation(kinds.size)
    reach: list[dict[int, int]] = [{0: 0}]
    for i in order:
        here: dict[int, int] = {}
        for old in reach[-1]:
            for number in range(int(counts[i]) + 1):
                new = old + number * int(kinds[i])
                if new > total:
                    break
                # Prefer many of the last size: fewest leftovers of the small ones.
                here[new] = max(here.get(new, 0), number)
        reach.append(here)
    if total not in reach[-1]:
        return None
    chosen, left = np.zeros(sizes.size, dtype=bool), total
    for place in range(order.size - 1, -1, -1):
        number = reach[place + 1][left]
        orbits = np.flatnonzero(sizes == kinds[order[place]])
        chosen[rng.permutation(orbits)[:number]] = True
        left -= number * int(kinds[order[place]])
    return chosen


@njit
def _anneal_points(  # noqa: PLR0917  # numba takes arguments by position
    chosen: npt.NDArray[np.int8],
    counts: npt.NDArray[np.int32],
    sizes: npt.NDArray[np.int32],
    meets: npt.NDArray[np.int32],
    most: int,
    n_moves: int,
    stream: npt.NDArray[np.uint64],
) -> int:
    """Exchange orbits of one size; return how many moves were made. Stops where all is well."""
    n_orbits, n = meets.shape
    energy = 0.0
    for s in range(n):
        over = counts[s] - most
        if over > 0:
            energy += over * over
    for move in range(n_moves):
        if energy < 0.5:
            return move
        temperature = _HOT * (_COLD / _HOT) ** (move / n_moves)
        a = int(uniform(stream) * n_orbits)
        b = int(uniform(stream) * n_orbits)
        if chosen[a] == chosen[b] or sizes[a] != sizes[b]:
            continue
        out, into = (a, b) if chosen[a] else (b, a)
        new = 0.0
        for s in range(n):
            over = counts[s] - meets[out, s] + meets[into, s] - most
            if over > 0:
                new += over * over
        if new > energy and uniform(stream) >= np.exp((energy - new) / temperature):
            continue
        for s in range(n):
            counts[s] += meets[into, s] - meets[out, s]
        chosen[out], chosen[into] = 0, 1
        energy = new
    return n_moves
