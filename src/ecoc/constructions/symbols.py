"""The best code of several symbols that constructions and short searches with symmetry give."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from math import comb, gcd

import numpy as np

from ecoc._checks import RandomState, check_int, check_number, check_random_state
from ecoc._limits import Budget
from ecoc._typing import Ints
from ecoc.bounds.problem import SymbolBoundProblem, balanced_separation
from ecoc.bounds.symbols import best_symbol_bound
from ecoc.codes.measures import min_doubled_distance
from ecoc.codes.validation import first_equal, normalised_columns
from ecoc.constructions.differences import DifferenceBlocks, difference_matrix, difference_parts
from ecoc.constructions.linear_symbols import farthest_linear_code, linear_code, tabled_plan
from ecoc.constructions.symmetric_symbols import (
    HOT,
    Kind,
    Rotation,
    anneal_code,
    anneal_differences,
    match_halves,
)

__all__ = [
    "SymbolCode",
    "compile_kernels",
    "construct_symbols",
    "has_different_columns",
    "least_distance",
    "linear_symbols",
    "tabled_symbols",
]

_DEALS = 20
"""How often rows of blocks are dealt anew so that no two columns are the same."""
_LINEAR_WORK = 2e9
"""What a search for linear codes alone may spend: points times moves."""
_LARGE_SIZE = 2.6e5
"""Classes squared, times columns, beyond which it is made."""
_SWEEPS = 50
"""Moves for each entry, in the first try without symmetry."""
_ROUNDS = (
    (20_000, 70, 12),
    (60_000, 16, 8),
    (250_000, 8, 5),
    (1_000_000, 6, 4),
    (3_000_000, 4, 4),
)
"""Moves of each try, how many symmetries are tried, and from which energy on more time does not
help, in each round."""
_SHORTEST_RUN, _LONGEST_RUN, _MOST_RUNS = 20_000, 1000, 30
"""The least moves of a run, the most for each entry that is held, and the most runs of a try."""
_CHANGES = 0.25
"""In every second run: the share of moves that change the sizes of groups."""
_CHOICE = 2
"""From which round on only those go on that come as near as the best, but for one."""
_HOT_SMALL, _SMALL = 0.7, 150
"""The temperature at the beginning for so few entries that are held: it pays to wander there."""
_SHARE = 0.65
"""How much of the time and the work is for one distance, before a smaller one is tried."""
_JOINING = 0.15
"""How much of what is left is for two codes side by side."""
_MAX_SPARE_ROWS, _MAX_SPARE_COLUMNS, _MAX_FIXED = 4, 4, 3
_MAX_IMAGES = 2e7
"""Images of pairs of rows under a symmetry."""
_TIGHT, _MAX_CYCLES, _MAX_FACTORS = 0.1, 1, 12
"""Multipliers are tried where averaging leaves less over, for so few cycles of rows, and if
they have so few powers."""
_MAX_MATCHED, _N_MATCHED, _MATCHED_MOVES = 26, 3, 300_000
"""Halves are matched for so few orbits of pairs, with so many symmetries, for so many moves."""
_WORTH, _LARGE = 0.012, 40
"""What each element of a symmetry is worth, in distances, up to how many."""
_HARDNESS = 12.0
"""How much harder it is if all choices are used up."""
_DOUBTS = (0.0, 0.0005)
"""What columns that a part of a symmetry only renames may be worth less, in distances."""


@dataclass(frozen=True, eq=False)
class SymbolCode:
    """A code of several symbols and how it was made.

    Attributes
    ----------
    matrix : ndarray of int, shape (k, L)
        Ints from 0; no two columns are equal up to renaming symbols.
    distance : int
        Its least row distance.
    method : str
        How it was made.
    """

    matrix: Ints
    distance: int
    method: str


def construct_symbols(
    n_classes: int,
    n_columns: int,
    n_symbols: int,
    *,
    target_distance: int | None = None,
    random_state: RandomState = None,
    work_limit: float | None = None,
    time_limit: float | None = None,
    known: Callable[[int, int], Ints | None] | None = None,
) -> SymbolCode | None:
    """The best code of several symbols that constructions and short searches give.

    Parameters
    ----------
    n_classes, n_columns, n_symbols : int
        The size, k x L, and the number of symbols, q.
    target_distance : int, optional
        The row distance that is tried first; by default the least upper bound.
    random_state : int, Generator or None
        The same seed gives the same code, unless the time limit stops the search.
    work_limit : float, optional
        How many distances of pairs of rows searches may look at.
    time_limit : float, optional
        Seconds.
    known : callable, optional
        Takes rows and columns and returns the best code known of this size, or None. Codes that
        others are made of are then taken from there, and searched for only where it has none.

    Returns
    -------
    SymbolCode or None
        None if there are fewer different columns than asked for, or nothing was found.

    Examples
    --------
    >>> code = construct_symbols(45, 79, 3, random_state=0)
    >>> code.distance, code.method
    (53, 'differences 54 and a code of 15 rows')
    """
    k = check_int("n_classes", n_classes, minimum=2)
    length = check_int("n_columns", n_columns, minimum=1)
    q = check_int("n_symbols", n_symbols, minimum=2)
    budget = Budget()
    if time_limit is not None:
        budget.deadline = time.monotonic() + check_number("time_limit", time_limit, minimum=0)
    if work_limit is not None:
        budget.work = check_number("work_limit", work_limit, minimum=0)
    problem = SymbolBoundProblem(k, length, q)
    if problem.columns_used < length:
        return None
    top = best_symbol_bound(problem).value
    if target_distance is not None:
        top = check_int("target_distance", target_distance, minimum=1)
    workshop = _Workshop(q, check_random_state(random_state), Budget(), known)
    best: SymbolCode | None = None
    # Before all else: it costs little, and with many rows annealing gets nowhere in that time.
    linear = linear_symbols(
        k, length, q, most=top, random_state=random_state, deadline=budget.deadline
    )
    for distance in range(top, 0, -1):
        # Where all is spent, there are still the constructions that search for nothing.
        workshop.budget = share = _share(budget, _SHARE)
        given = share.work
        made = workshop.code(k, length, distance, light=False)
        if made is None:
            made = workshop.nearest_miss(k, length, distance)
        if budget.work < math.inf:
            budget.spend(given - share.work)
        if made is not None:
            best = SymbolCode(made[0], least_distance(made[0]), made[1])
        if (
            linear is not None
            and (0 if best is None else best.distance) < linear.distance >= distance
        ):
            best = linear
        if best is not None:
            break
    if best is not None and best.distance < top and budget.is_limited and not budget.is_spent:
        # A code of one less did not cost everything: look once more for a better one.
        workshop.budget = budget
        made = workshop.search(k, length, best.distance + 1)
        if made is not None:
            best = SymbolCode(made[0], least_distance(made[0]), made[1])
    return best


def linear_symbols(
    n_classes: int,
    n_columns: int,
    n_symbols: int,
    *,
    most: int,
    random_state: RandomState = None,
    deadline: float | None = None,
) -> SymbolCode | None:
    """The best code of several symbols among linear ones, of the table or by a short search.

    The search is for many rows and columns; where they are few, others find as much.

    Parameters
    ----------
    n_classes, n_columns, n_symbols : int
        The size, k x L, and the number of symbols, q.
    most : int
        No larger distance is looked for.
    random_state : int, Generator or None
        The same seed gives the same code.
    deadline : float, optional
        When to stop, by ``time.monotonic()``.

    Examples
    --------
    >>> linear_symbols(343, 57, 7, most=49, random_state=0).distance
    49
    """
    best = tabled_symbols(n_classes, n_columns, n_symbols, random_state=random_state)
    large = n_classes * n_classes * n_columns > _LARGE_SIZE
    if not large or (best is not None and best.distance >= most):
        return best
    rng = check_random_state(random_state)
    budget = Budget(_LINEAR_WORK, deadline)
    for _ in range(_DEALS):
        matrix = farthest_linear_code(
            n_classes,
            n_columns,
            n_symbols,
            most=most,
            seed=int(rng.integers(2**31)),
            budget=budget,
        )
        if matrix is None:
            break
        if has_different_columns(matrix):
            made = SymbolCode(matrix, least_distance(matrix), "linear code")
            return made if best is None or made.distance > best.distance else best
    return best


def tabled_symbols(
    n_classes: int, n_columns: int, n_symbols: int, *, random_state: RandomState = None
) -> SymbolCode | None:
    """The best code of several symbols that the table of linear codes gives, without any search.

    Examples
    --------
    >>> tabled_symbols(600, 56, 3, random_state=0).distance
    36
    """
    plan = tabled_plan(n_classes, n_columns, n_symbols)
    if plan is None:
        return None
    rng = check_random_state(random_state)
    for _ in range(_DEALS):
        matrix = plan.words(rng)
        if has_different_columns(matrix):
            return SymbolCode(matrix, least_distance(matrix), "linear codes of the table")
    return None


def _share(budget: Budget, part: float) -> Budget:
    """A part of all that is left, so that something is left for what comes next."""
    deadline = budget.deadline
    if deadline is not None:
        now = time.monotonic()
        deadline = now + part * (deadline - now)
    return Budget(part * budget.work, deadline)


Made = tuple[Ints, str]


class _Workshop:
    """Makes codes of q symbols, and remembers which it could not make."""

    def __init__(
        self,
        q: int,
        rng: np.random.Generator,
        budget: Budget,
        known: Callable[[int, int], Ints | None] | None,
    ) -> None:
        self.q = q
        self.rng = rng
        self.budget = budget
        self.known = known
        self.made: dict[tuple[int, int, int], Made | None] = {}
        self.misses: dict[tuple[int, int], tuple[int, Made]] = {}
        self.rounds: dict[tuple[int, int, int], tuple[int, list[_Try]]] = {}

    def code(self, k: int, length: int, distance: int, *, light: bool = True) -> Made | None:
        """A code of different columns with a least distance, and how it was made."""
        key = k, length, distance
        if key not in self.made or (not light and self.made[key] is None):
            # What is asked for is made in any case: what is known may have uneven columns.
            part = self.known(k, length) if light and self.known is not None else None
            if part is None:
                self.made[key] = self._make(k, length, distance, light)
            else:
                reaches = least_distance(part) >= distance
                self.made[key] = (part, "known code") if reaches else None
        return self.made[key]

    def nearest_miss(self, k: int, length: int, distance: int) -> Made | None:
        """What a search for more left behind, if its distance is at least one less."""
        reached, made = self.misses.get((k, length), (0, None))
        return made if reached >= distance - 1 else None

    def search(self, k: int, length: int, distance: int) -> Made | None:
        """Anneal with symmetries, as long as there is time and work."""
        return self._symmetric(k, length, distance, len(_ROUNDS))

    def _note(self, matrix: Ints, method: str) -> None:
        """Keep a code of less than the wanted distance if none better is known."""
        k, length = matrix.shape
        reached = least_distance(matrix)
        if reached > self.misses.get((k, length), (0, None))[0] and has_different_columns(matrix):
            self.misses[k, length] = reached, (matrix, method)

    def _bound(self, k: int, length: int) -> int:
        """The averaging bound, whether or not there are so many different columns."""
        return length * balanced_separation(k, self.q) // comb(k, 2) if k > 1 else length

    def _make(self, k: int, length: int, distance: int, light: bool) -> Made | None:
        if k <= self.q:
            return self._merged(k, length, distance)
        if distance > self._bound(k, length):
            return None
        made = self._linear(k, length, distance)
        if made is None:
            made = self._annealed(k, length, distance)
        if made is None:
            made = self._structured(k, length, distance)
        if made is None:
            made = self._symmetric(k, length, distance, 1 if light else 2)
        if made is None:
            made = self._joined(k, length, distance)
        if made is None and not light:
            made = self.search(k, length, distance)
        return made

    def _joined(self, k: int, length: int, distance: int) -> Made | None:
        """Two codes side by side whose distances add up."""
        if self.budget.is_late:
            return None
        whole = self.budget
        self.budget = _share(whole, _JOINING)
        given = self.budget.work
        made = self._join(k, length, distance)
        if given < math.inf:
            whole.spend(given - self.budget.work)
        self.budget = whole
        return made

    def _join(self, k: int, length: int, distance: int) -> Made | None:
        # The more averaging leaves over in either part, the easier; the easiest come first.
        each = balanced_separation(k, self.q) / comb(k, 2)
        splits = []
        for n in range(2, length // 2 + 1):
            first, second = self._bound(k, n), self._bound(k, length - n)
            if first + second >= distance:
                rest = distance - first
                room = min(n * each - first, (length - n) * each - rest)
                splits.append((-room, n, first, rest))
        for _, n, first, rest in sorted(splits):
            left = self.code(k, n, first)
            right = None if left is None else self.code(k, length - n, rest)
            if left is None or right is None:
                continue
            for _ in range(_DEALS):
                rows = self.rng.permutation(k)
                matrix = np.concatenate([left[0], right[0][rows]], axis=1)
                if has_different_columns(matrix):
                    return matrix, f"{left[1]} beside {right[1]}"
        return None

    # ------------------------------------------------------------------- no more rows than symbols

    def _merged(self, k: int, length: int, distance: int) -> Made | None:
        """All rows different in the first column, two of them together in each of the others."""
        if length - 1 > comb(k, 2) or distance > length - (length > 1):
            return None
        matrix = np.repeat(np.arange(k)[:, None], length, axis=1)
        first, second = np.triu_indices(k, 1)
        matrix[second[: length - 1], np.arange(1, length)] = first[: length - 1]
        return (matrix, "one pair together in each column") if k > 2 or length == 1 else None

    # ---------------------------------------------------------------------------- linear codes

    def _linear(self, k: int, length: int, distance: int) -> Made | None:
        """Words of a linear code."""
        seed = int(self.rng.integers(2**31))
        matrix = linear_code(k, length, self.q, distance, seed=seed, budget=self.budget)
        if matrix is None or not has_different_columns(matrix):
            return None
        return matrix, "linear code"

    # ------------------------------------------------------------------------------- annealing

    def _annealed(self, k: int, length: int, distance: int) -> Made | None:
        """Anneal without symmetry."""
        matrix, energy = self._anneal(_plain(k, length), distance, _SWEEPS * k * length)
        if matrix is None or not has_different_columns(matrix):
            return None
        if energy:
            self._note(matrix, "annealing")
            return None
        return matrix, "annealing"

    def _anneal(self, trial: _Try, distance: int, n_moves: int) -> tuple[Ints | None, float]:
        """Anneal for so many moves, from new starts where the problem is small."""
        blocks = sum(trial.rotation.n_rows // kind.order for kind in trial.kinds)
        longest = max(_SHORTEST_RUN, _LONGEST_RUN * blocks)
        n_moves = min(n_moves, _MOST_RUNS * longest)
        best, least, runs = None, math.inf, 0
        while n_moves > 0 and least and not self.budget.is_spent:
            moves = min(n_moves, longest)
            n_moves -= moves
            matrix, energy = anneal_code(
                trial.rotation,
                trial.kinds,
                self.q,
                distance,
                seed=int(self.rng.integers(2**31)),
                n_moves=moves,
                budget=self.budget,
                changes=_CHANGES if runs % 2 else 0.0,
                hot=_HOT_SMALL if blocks <= _SMALL else HOT,
            )
            runs += 1
            if energy < least:
                best, least = matrix, energy
        return best, least

    def _symmetric(self, k: int, length: int, distance: int, n_rounds: int) -> Made | None:
        """Anneal with symmetries, with some rows or columns more, which are then dropped.

        After each round the symmetries that came nearest get more time. Rounds that were made
        before are not made again, but for the last one.
        """
        if self.budget.is_spent:
            return None
        key = k, length, distance
        if key not in self.rounds:
            self.rounds[key] = 0, [_plain(k, length), *self._symmetries(k, length, distance)]
        done, tries = self.rounds[key]
        for number in range(min(done, len(_ROUNDS) - 1), n_rounds):
            n_moves, n_tries, hopeless = _ROUNDS[number]
            results = []
            for trial in tries[:n_tries]:
                spare = trial.n_columns - length
                matrix, energy = self._anneal(trial, distance + spare, n_moves)
                if matrix is None or energy >= hopeless:
                    continue
                cut = self._cut(matrix, k, length)
                method = f"symmetry of order {trial.rotation.size}"
                if cut is not None and not energy:
                    return cut, method
                if cut is not None:
                    self._note(cut, method)
                results.append((energy, trial))
            if self.budget.is_spent:
                return None
            results.sort(key=lambda item: item[0])
            if number >= _CHOICE:
                # What is further off than the nearest gets there far less often.
                results = [item for item in results if item[0] <= results[0][0] + 1]
            tries = [trial for _, trial in results]
            self.rounds[key] = number + 1, tries
            if number == 0 and n_rounds > 1:
                made = self._matched(tries, k, length, distance)
                if made is not None:
                    return made
        return None

    def _matched(self, tries: list[_Try], k: int, length: int, distance: int) -> Made | None:
        """Two halves that make up for each other, with the symmetries that came nearest."""
        tried = 0
        for trial in tries:
            orbits = comb(trial.rotation.n_rows, 2) / trial.rotation.size
            if len(trial.kinds) < 2 or orbits > _MAX_MATCHED or tried == _N_MATCHED:
                continue
            tried += 1
            matrix = match_halves(
                trial.rotation,
                trial.kinds,
                self.q,
                distance + trial.n_columns - length,
                seed=int(self.rng.integers(2**31)),
                n_moves=_MATCHED_MOVES,
                budget=self.budget,
            )
            cut = None if matrix is None else self._cut(matrix, k, length)
            if cut is not None:
                return cut, f"halves with a symmetry of order {trial.rotation.size}"
        return None

    def _symmetries(self, k: int, length: int, distance: int) -> list[_Try]:
        """The symmetries whose averaging bound leaves room, the most promising first."""
        trials = {}
        for rows in self._row_numbers(k, length, distance):
            far = rows > k + _MAX_SPARE_ROWS
            for n in range(length, length + (0 if far else _MAX_SPARE_COLUMNS) + 1):
                wanted = (distance + n - length) * comb(rows, 2)
                room = n * balanced_separation(rows, self.q) - wanted
                if room < 0 or self.budget.is_late:
                    continue
                for rotation in _rotations(rows, tight=room < _TIGHT * comb(rows, 2)):
                    # With many rows more only large symmetries are worth a try, and with
                    # large ones for many rows it takes long to begin.
                    if far and rotation.size < rows - 1:
                        continue
                    if rotation.size * rows**2 > _MAX_IMAGES or self.budget.is_late:
                        continue
                    for doubt in _DOUBTS:
                        kinds, separated = self._kinds(rotation, n, doubt)
                        least = distance + n - length
                        if separated >= wanted and _parts_fixed(rotation, kinds, self.q, least):
                            # What averaging leaves over, per pair: the more, the easier.
                            slack = (separated - wanted) / comb(rows, 2)
                            value = slack + _WORTH * min(rotation.size, _LARGE)
                            hardness = _hardness(rotation, kinds, self.q, slack)
                            trials[rotation, kinds] = _Try(rotation, kinds, value, hardness)
        # Both orders have found codes that the other has not: each has its turn.
        easiest = sorted(trials.values(), key=lambda trial: trial.hardness)
        largest = sorted(trials.values(), key=lambda trial: -trial.value)
        pairs = zip(easiest, largest, strict=True)
        return list(dict.fromkeys(trial for pair in pairs for trial in pair))

    def _row_numbers(self, k: int, length: int, distance: int) -> list[int]:
        """Some rows more, and the most for which averaging allows the distance."""
        most = k
        while most < 2 * k and self._bound(most + 1, length) >= distance:
            most += 1
        return sorted({*range(k, min(k + _MAX_SPARE_ROWS, most) + 1), most})

    def _kinds(self, rotation: Rotation, n: int, doubt: float) -> tuple[tuple[Kind, ...], int]:
        """Kinds of columns, n in all, that separate most pairs, and how many they separate.

        Some doubt about how much columns with a symmetry of their own are worth makes the
        choice random.
        """
        values: dict[int, tuple[float, int, Kind]] = {}
        pairs = comb(rotation.n_rows, 2)
        for kind, separated in _all_kinds(rotation, self.q):
            images = rotation.size // kind.order
            worth = separated - (kind.order > 1) * doubt * pairs * self.rng.random()
            if images not in values or values[images][0] < images * worth:
                values[images] = images * worth, images * separated, kind
        best: list[tuple[float, int]] = [(0.0, 0)]
        for total in range(1, n + 1):
            best.append(
                max(
                    (best[total - images][0] + value[0], images)
                    for images, value in values.items()
                    if images <= total
                )
                if any(images <= total for images in values)
                else (-np.inf, 0)
            )
        if best[n][0] == -np.inf:
            return (), 0
        kinds, sum_separated, left = [], 0, n
        while left:
            images = best[left][1]
            kinds.append(values[images][2])
            sum_separated += values[images][1]
            left -= images
        return tuple(sorted(kinds)), sum_separated

    def _cut(self, matrix: Ints, k: int, length: int) -> Ints | None:
        """Keep some rows and columns such that columns stay different."""
        for _ in range(_DEALS):
            cut = self._cut_once(matrix, k, length)
            if cut is not None:
                return cut
        return None

    # ------------------------------------------------------------------------------ structures

    def _structured(self, k: int, length: int, distance: int) -> Made | None:
        """Difference matrices beside a smaller code, with some columns more, which are dropped."""
        for spare in range(self.q):
            n, d = length + spare, distance + spare
            if self._bound(k, n) < d:
                continue
            for blocks in self._plans(k, n, d):
                made = self._deal(blocks, k, length)
                if made is not None:
                    return made
                if self.budget.is_spent:
                    return None
        return None

    def _plans(self, k: int, n: int, d: int) -> Iterator[DifferenceBlocks]:
        q, t = self.q, -(-k // self.q)
        for long in range(q, n + 1, q):
            # Rows come in groups of q that differ in all of these columns and in no other.
            short, wanted = n - long, d - (long - long // q)
            if long < d or (t <= q and short > 1) or (wanted > 0 and not short):
                continue
            if t > 1 and wanted > self._bound(t, short):
                continue
            parts = difference_parts(t, long, q)
            if parts is None:
                continue
            inner = self.code(t, short, max(wanted, 1)) if short and t > 1 else None
            if short and inner is None:
                continue
            yield DifferenceBlocks(parts, inner=None if inner is None else inner[0])
        for order in range(-(-k // q) * q, n + 2, q):
            # The rows of a normalised matrix less its constant column.
            rest = n - order + 1
            if order - order // q + rest - rest // q < d or rest % q:
                continue
            matrix = difference_matrix(order, q)
            parts = difference_parts(t, rest, q)
            if matrix is not None and len(matrix) >= k and parts is not None:
                yield DifferenceBlocks(parts, normalised=matrix)

    def _deal(self, blocks: DifferenceBlocks, k: int, length: int) -> Made | None:
        """Give the classes rows of the blocks until no two columns are the same."""
        for _ in range(_DEALS):
            matrix = self._cut_once(blocks.deal(k, self.q, self.rng), k, length)
            if matrix is not None:
                return matrix, blocks.name
        return None

    def _cut_once(self, matrix: Ints, k: int, length: int) -> Ints | None:
        rows = self.rng.permutation(len(matrix))[:k]
        columns = self.rng.permutation(matrix.shape[1])[:length]
        cut = matrix[np.ix_(rows, columns)]
        return cut if has_different_columns(cut) else None


@dataclass(frozen=True)
class _Try:
    """A symmetry, the kinds of its orbits of columns, and what it promises."""

    rotation: Rotation
    kinds: tuple[Kind, ...]
    value: float = 0.0
    hardness: float = 0.0

    @property
    def n_columns(self) -> int:
        return sum(self.rotation.size // kind.order for kind in self.kinds)


def _plain(k: int, length: int) -> _Try:
    return _Try(Rotation(k), (Kind(),) * length)


def _parts_fixed(rotation: Rotation, kinds: tuple[Kind, ...], q: int, distance: int) -> bool:
    """Tell whether two rows that stay may be so far apart; they need two symbols that stay."""
    parting = [kind for kind in kinds if q - kind.cycle * kind.n_cycles > 1]
    reach = sum(rotation.size // kind.order for kind in parting)
    return bool(kinds) and (rotation.n_fixed < 2 or reach >= distance)


def _hardness(rotation: Rotation, kinds: tuple[Kind, ...], q: int, slack: float) -> float:
    """About the logarithm of the energy, but for a constant, that a short run ends with.

    Codes are as good as random ones: the distance of a pair of rows has a normal distribution,
    of which all orbits of pairs must hit the narrow part that begins at the wanted distance and
    has the mean that averaging leaves. The energy grows with the number of orbits, and with the
    share of all choices that this costs; the factor of the share was fitted to runs.
    """
    n = sum(rotation.size // kind.order for kind in kinds)
    orbits = comb(rotation.n_rows, 2) / rotation.size
    width = math.sqrt(2 * math.pi * n * (q - 1)) / q
    # The entropy of a geometric distribution with this mean.
    entropy = (1 + slack) * math.log2(1 + slack) - slack * math.log2(slack) if slack else 0.0
    cost = orbits * max(0.0, math.log2(width) - entropy)
    choices = 1.0
    for kind in kinds:
        blocks = len(kind.blocks(rotation))
        balance = (q - 1) / 2 * math.log2(max(1.0, 2 * math.pi * blocks / q))
        names = math.log2(math.factorial(q)) if kind.order == 1 else 0.0
        images = math.log2(rotation.size / kind.order)
        choices += max(0.0, blocks * math.log2(q) - balance - names - images)
    return math.log(orbits) + _HARDNESS * cost / choices


@lru_cache(maxsize=64)
def _rotations(rows: int, *, tight: bool) -> tuple[Rotation, ...]:
    """Symmetries of so many rows; where there is little room, those with a multiplier too."""
    rotations = []
    for order in range(2, rows + 1):
        fixed = rows % order
        if fixed > _MAX_FIXED:
            continue
        rotations.append(Rotation(rows, order, fixed))
        if not tight or rows - fixed > _MAX_CYCLES * order:
            continue
        groups = set()
        for multiplier in range(2, order):
            if gcd(multiplier, order) == 1:
                rotation = Rotation(rows, order, fixed, multiplier)
                factors = frozenset(rotation.factors)
                if len(factors) <= _MAX_FACTORS and factors not in groups:
                    groups.add(factors)
                    rotations.append(rotation)
    return tuple(rotations)


@lru_cache(maxsize=1024)
def _all_kinds(rotation: Rotation, q: int) -> tuple[tuple[Kind, int], ...]:
    """All kinds of columns that a symmetry has, with how many pairs a balanced one separates."""
    kinds = []
    subgroups = [(n, 1) for n in range(1, rotation.order + 1) if rotation.order % n == 0]
    factors = rotation.factors
    subgroups += [
        (len(factors) // i, factors[i]) for i in range(1, len(factors)) if len(factors) % i == 0
    ]
    for order, factor in subgroups:
        for cycle in range(1, min(order, q) + 1):
            if order % cycle:
                continue
            for n_cycles in range(1, q // cycle + 1) if cycle > 1 else (0,):
                kind = Kind(order, cycle, n_cycles, factor)
                dealt = kind.balanced(rotation, q)
                if dealt is not None:
                    kinds.append((kind, dealt[1]))
    return tuple(kinds)


def least_distance(matrix: Ints) -> int:
    """Return the least number of places in which two rows differ.

    Examples
    --------
    >>> least_distance(np.array([[0, 1, 2], [0, 2, 1], [1, 1, 1]]))
    2
    """
    doubled = min_doubled_distance(matrix.astype(np.int8), _n_symbols(matrix))
    return matrix.shape[1] if doubled is None else doubled // 2


def has_different_columns(matrix: Ints) -> bool:
    """Tell whether no column is constant and no two are equal up to renaming symbols.

    Examples
    --------
    >>> has_different_columns(np.array([[0, 1], [1, 0]]))
    False
    """
    columns = normalised_columns(matrix.astype(np.int8), _n_symbols(matrix))
    if (columns.max(axis=0) == 0).any():
        return False
    firsts = first_equal(np.ascontiguousarray(columns.T))
    return bool((firsts == np.arange(matrix.shape[1])).all())


def _n_symbols(matrix: Ints) -> int:
    """How many symbols there are, at least three: two would be read as +1 and -1."""
    return max(3, int(matrix.max(initial=0)) + 1)


def compile_kernels() -> None:
    """Have the compiled functions ready."""
    budget = Budget()
    anneal_code(Rotation(4), (Kind(),) * 2, 2, 2, seed=0, n_moves=1, budget=budget)
    anneal_differences(Rotation(2), 2, 2, 1, seed=0, n_moves=1, budget=budget)
    match_halves(Rotation(3), (Kind(),) * 2, 2, 1, seed=0, n_moves=1, budget=budget)
    linear_code(8, 3, 2, 1, seed=0, budget=budget)
