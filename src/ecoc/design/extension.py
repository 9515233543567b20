"""Codewords for classes that come later: what is trained keeps its classes.

The rows that are there stay as they are, and each new class gets a codeword of the symbols that
the columns already tell apart.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

import numpy as np
import numpy.typing as npt

from ecoc._checks import RandomState, check_int, check_number, check_random_state, counted
from ecoc._limits import Budget
from ecoc._typing import Floats, Ints, Signs
from ecoc.bounds import BoundProblem, best_bound
from ecoc.bounds.problem import SymbolBoundProblem
from ecoc.bounds.symbols import best_symbol_bound
from ecoc.codes import Codebook, Provenance
from ecoc.design.solvers.base import Status
from ecoc.errors import InfeasibleError, InvalidInputError, TooLargeError

__all__ = ["Extension", "extend_codebook"]

_ALL_BITS = 1 << 22
_ALL_WORDS = 1 << 16
"""So many words are all tried, of two symbols and of more."""

_POOL = 6_000
_CLIQUE_WORDS = 1_500
_CLIQUE_NODES = 100_000
_WORK = 5e7
_STEPS = 1_500
_STEP_PRICE = 10_000
_MOST_COMPARED = 3_000
_MOST_ENTRIES = 20_000_000
"""Rows times columns of the extended codebook."""


@dataclass(frozen=True, eq=False)
class Extension:
    """A codebook with rows for new classes, and how far apart any such rows could be.

    Attributes
    ----------
    codebook : Codebook
        The rows that were there, and those of the new classes below them.
    n_new_classes : int
        How many classes are new.
    status : Status
        OPTIMAL if no rows for the new classes are further from all others, else FEASIBLE.
    distance, bound : int or Fraction
        The least distance of a new row to any other, and what no extension exceeds.
    ground : str
        What stands behind the bound, in a sentence.
    """

    codebook: Codebook
    n_new_classes: int
    status: Status
    distance: int | Fraction
    bound: int | Fraction
    ground: str

    @property
    def verdict(self) -> str:
        """One line: how far the new rows are from all others, and how far any could be."""
        rows = counted(self.n_new_classes, "new class", "new classes")
        if self.status is Status.OPTIMAL:
            return f"OPTIMAL: {rows}, {self.distance} from every other ({self.ground})"
        return (
            f"FEASIBLE: {rows}, {self.distance} from every other, at most {self.bound} possible "
            f"({self.ground})"
        )

    def __repr__(self) -> str:
        return f"<Extension: {self.codebook!r}, {self.verdict}>"


def extend_codebook(
    codebook: Codebook,
    n_new_classes: int,
    *,
    labels: Sequence[object] | None = None,
    wishes: npt.ArrayLike | None = None,
    min_distance: float | None = None,
    time_limit: float | None = None,
    random_state: RandomState = None,
) -> Extension:
    """Give new classes codewords as far as possible from all others, and keep all rows.

    Parameters
    ----------
    codebook : Codebook
        The codebook of the classes that are there, of any symbols. Zeros of ternary codes stay;
        new rows have none.
    n_new_classes : int
        How many classes are new.
    labels : sequence, optional
        The names of the new classes; needed if the codebook has labels.
    wishes : array of shape (n_new_classes, n_columns), optional
        For two symbols: how much each entry of a new row is wanted to be +1 (positive) or -1
        (negative), such as what trained columns answer on the samples of a class. Among rows at
        least `min_distance` from all others, those that agree most are looked for, in place of
        those that are furthest; entries with the wish 0 are free.
    min_distance : float, optional
        The least distance of new rows where there are wishes; 1 by default.
    time_limit : float, optional
        Seconds. Without it the work is counted, and takes some seconds.
    random_state : int, Generator or None
        The seed.

    Returns
    -------
    Extension
        The codebook, and what no extension exceeds.

    Raises
    ------
    InfeasibleError
        If there are not so many different words.

    Notes
    -----
    Rows are bounded by sums of distances: a column adds only so much to the distances between
    new rows and all others, whatever it does. Where the whole codebook could not keep its distance
    with so many rows, that bounds it too. If all words can be tried, all are.

    Examples
    --------
    >>> from ecoc.design import design_codebook
    >>> code = design_codebook(8, 16, random_state=0).codebook
    >>> extended = extend_codebook(code, 2, random_state=0)
    >>> extended.distance, extended.bound, extended.status.name
    (9, 9, 'OPTIMAL')
    >>> bool((extended.codebook.matrix[:8] == code.matrix).all())
    True
    """
    if not isinstance(codebook, Codebook):
        raise InvalidInputError(f"codebook must be a Codebook, not {codebook!r}.")
    new = check_int("n_new_classes", n_new_classes, minimum=1)
    if time_limit is not None:
        check_number("time_limit", time_limit, minimum=0)
    wanted = None if wishes is None else _as_wishes(wishes, codebook, new)
    if min_distance is not None:
        check_number("min_distance", min_distance, minimum=0)
        if wanted is None:
            raise InvalidInputError(
                "min_distance is for wishes; without them distances are largest."
            )
    names = _labels(codebook, labels, new)
    rows = _NewRows(
        codebook,
        new,
        check_random_state(0 if random_state is None else random_state),
        None if time_limit is None else time.monotonic() + time_limit,
    )
    rows.check_room()
    bound, ground = rows.bound()
    if wanted is None:
        found, bound, ground = rows.furthest(bound, ground)
    else:
        found = rows.wished(wanted, int(2 * (1 if min_distance is None else min_distance)))
    matrix = rows.with_entries(found)
    provenance = Provenance(
        "extension",
        {
            "n_new_classes": new,
            "source": None if codebook.provenance is None else codebook.provenance.method,
        },
    )
    extended = replace(codebook, matrix=matrix, labels=names, provenance=provenance)
    distance = rows.least(found)
    status = Status.OPTIMAL if distance == bound else Status.FEASIBLE
    return Extension(extended, new, status, _halved(distance), _halved(bound), ground)


def _halved(doubled: int) -> int | Fraction:
    half = Fraction(doubled, 2)
    return int(half) if half.denominator == 1 else half


def _as_wishes(values: npt.ArrayLike, codebook: Codebook, new: int) -> Floats:
    if codebook.n_symbols > 2:
        raise InvalidInputError("wishes are for codebooks of two symbols.")
    wanted = np.asarray(values, dtype=np.float64)
    shape = (new, codebook.n_columns)
    if wanted.shape != shape or not np.isfinite(wanted).all():
        raise InvalidInputError(
            f"wishes must be finite numbers of shape {shape}, not of shape {wanted.shape}."
        )
    return wanted


def _labels(
    codebook: Codebook, labels: Sequence[object] | None, new: int
) -> tuple[str, ...] | None:
    if (labels is None) != (codebook.labels is None):
        raise InvalidInputError(
            "labels must be given for the new classes because the codebook has labels."
            if labels is None
            else "labels are given for the new classes, and the codebook has none. Give it labels "
            "with codebook.relabel."
        )
    if labels is None or codebook.labels is None:
        return None
    if len(labels) != new:
        raise InvalidInputError(f"labels must have an entry for each of {new} new classes.")
    return (*codebook.labels, *map(str, labels))


class _NewRows:
    """New rows in the making, as symbols; distances are doubled, so that zeros count one half."""

    def __init__(
        self, codebook: Codebook, new: int, generator: np.random.Generator, ends: float | None
    ) -> None:
        self.codebook, self.new, self.generator = codebook, new, generator
        self.k, self.length = codebook.matrix.shape
        self.budget = Budget(work=_WORK if ends is None else np.inf, deadline=ends)
        if (self.k + new) * self.length > _MOST_ENTRIES:
            raise TooLargeError(
                f"{self.k + new:,} rows of {self.length:,} columns are more than the "
                f"{_MOST_ENTRIES:,} entries that extensions are made for."
            )
        # +1 and -1 are 0 and 1, and what is left out is -1.
        q = codebook.n_symbols
        matrix = codebook.matrix.astype(np.int64)
        self.old = np.where(matrix == 0, -1, (1 - matrix) // 2) if q == 2 else matrix
        self.symbols = [np.unique(column[column >= 0]) for column in self.old.T]

    @property
    def n_words(self) -> int:
        """How many words the columns can write."""
        count = 1
        for symbols in self.symbols:
            count *= len(symbols)
        return count

    def check_room(self) -> None:
        """Refuse more classes than there are words."""
        taken = self.k if (self.old >= 0).all() else 0
        if self.n_words - taken < self.new:
            raise InfeasibleError(
                f"{counted(self.length, 'column')} can write {self.n_words} words, too few for "
                f"{counted(self.new, 'more class', 'more classes')}. Add columns first."
            )

    def distances(self, words: Ints, others: Ints) -> Ints:
        """Doubled distances of new rows to rows that may have zeros."""
        zeros = (others < 0).sum(axis=1)
        agree = np.zeros((len(words), len(others)), dtype=np.float32)
        for symbol in range(self.codebook.n_symbols):
            # Single precision is exact for so few places, and fast.
            agree += (words == symbol).astype(np.float32) @ (others == symbol).astype(np.float32).T
        doubled: Ints = 2 * self.length - zeros - 2 * agree.astype(np.int64)
        return doubled

    def least(self, found: Ints) -> int:
        """The least doubled distance of a new row to any other."""
        return int(self._all_distances(found).min())

    def _all_distances(self, found: Ints) -> Ints:
        doubled = self.distances(found, np.vstack([self.old, found]))
        doubled[np.arange(len(found)), self.k + np.arange(len(found))] = 4 * self.length
        return doubled

    def with_entries(self, found: Ints) -> Signs:
        """The whole matrix with the entries of a codebook."""
        entries = 1 - 2 * found if self.codebook.n_symbols == 2 else found
        matrix: Signs = np.vstack([self.codebook.matrix, entries.astype(np.int8)])
        return matrix

    # ------------------------------------------------------------------ bounds

    def bound(self) -> tuple[int, str]:
        """The least of the doubled bounds by counting, and its ground."""
        best = 2 * self.length, "no distance is larger than the number of columns"
        for most, ground in self._bounds():
            value = most // self._step * self._step
            if value < best[0]:
                best = value, ground
        return best

    def _bounds(self) -> Iterator[tuple[int, str]]:
        k, m = self.k, self.new
        pairs = m * (m - 1) // 2
        # Pairs of new rows may count more or less than those of a new and an old row.
        for weight in [0] + [n for n in (1, 2, 4, 8, 16) if pairs]:
            scale = 4 if weight else 1
            total = sum(self._column_share(column, scale, weight) for column in range(self.length))
            yield (
                total // (scale * k * m + weight * pairs),
                "columns add only so much to the distances of new rows",
            )
        if (self.old >= 0).all():
            # d(x, p) + d(x, q) is at most 2 L - d(p, q) for two symbols.
            if self.codebook.n_symbols == 2 and k <= _MOST_COMPARED:
                far = int(self.distances(self.old, self.old).max())
                yield (
                    (4 * self.length - far) // 4 * 2,
                    "two of the rows are so far apart that none is far from both",
                )
            yield from self._whole_bound()

    def _column_share(self, column: int, scale: int, weight: int) -> int:
        """The most that a column adds to the weighted sum of doubled distances of new rows."""
        entries = self.old[:, column]
        zeros = int((entries < 0).sum())
        counts = [int((entries == symbol).sum()) for symbol in self.symbols[column]]
        used, m = self.k - zeros, self.new
        # Classes go one by one to the symbol where they part most pairs; gains never grow.
        sizes = [0] * len(counts)
        total = scale * zeros * m
        for placed in range(m):
            gains = [
                2 * scale * (used - count) + 2 * weight * (placed - size)
                for count, size in zip(counts, sizes, strict=True)
            ]
            best = max(range(len(gains)), key=gains.__getitem__)
            sizes[best] += 1
            total += gains[best]
        return total

    def _whole_bound(self) -> Iterator[tuple[int, str]]:
        """If so many rows cannot be as far apart as the old ones are, the new ones are not."""
        if self.codebook.allow_repeated_columns:
            return
        q = self.codebook.n_symbols
        if q == 2:
            whole = best_bound(BoundProblem(self.k + self.new, self.length))
        else:
            whole = best_symbol_bound(SymbolBoundProblem(self.k + self.new, self.length, q))
        if whole.value < self.codebook.min_row_distance:
            yield 2 * whole.value, f"{whole.name} bound on {self.k + self.new} rows"

    # ------------------------------------------------------------------ search

    def furthest(self, bound: int, ground: str) -> tuple[Ints, int, str]:
        """New rows as far from all others as could be found, and the bound, maybe lower now."""
        everything = self.n_words <= (_ALL_BITS if self._of_bits else _ALL_WORDS)
        if everything:
            near = self._all_near()
            if near.max() < bound:
                bound, ground = int(near.max()), "all words were tried"
            places = np.flatnonzero(near >= near.max() - 2 * self._step)[:_POOL]
            pool = self._words(places)
        else:
            near, pool = np.empty(0, dtype=np.int64), self._pool()
        if not everything or self.new > 1:
            pool = np.vstack([pool, self._pool()])
        found = self._farthest_first(pool)
        while self.least(found) < bound and not self.budget.is_late:
            goal = self.least(found) + self._step
            if everything:
                places = np.flatnonzero(near >= goal)
                chosen, complete = None, False
                if len(places) <= _CLIQUE_WORDS or self.new == 1:
                    chosen, complete = self._clique(self._words(places), goal)
                if chosen is not None:
                    found = chosen
                    continue
                if complete:
                    return found, self.least(found), "all words were tried"
            better = self._searched(found, goal)
            if better is None:
                break
            found = better
        return found, bound, ground

    @property
    def _step(self) -> int:
        return 2 if (self.old >= 0).all() else 1

    @property
    def _of_bits(self) -> bool:
        """Whether words are whole numbers of as many bits as there are columns."""
        return self.codebook.n_symbols == 2 and bool((self.old >= 0).all())

    def _words(self, places: Ints) -> Ints:
        """Some of all words, by their places in the order of counting."""
        words = np.empty((len(places), self.length), dtype=np.int64)
        left = places.copy()
        for column in range(self.length - 1, -1, -1):
            symbols = self.symbols[column]
            left, place = np.divmod(left, len(symbols))
            words[:, column] = symbols[place]
        return words

    def _all_near(self) -> Ints:
        """The least doubled distance of every word to the rows that are there."""
        if not self._of_bits:
            every = self.distances(self._words(np.arange(self.n_words)), self.old)
            nearest: Ints = every.min(axis=1)
            return nearest
        words = np.arange(self.n_words, dtype=np.uint32)
        near = np.full(self.n_words, 255, dtype=np.uint8)
        bits = 1 << np.arange(self.length - 1, -1, -1)
        for row in self.old:
            np.minimum(near, np.bitwise_count(words ^ np.uint32(row @ bits)), out=near)
        return 2 * near.astype(np.int64)

    def _pool(self) -> Ints:
        """Words that are likely to be far from all: complements, sums of three rows, any."""
        size = min(_POOL, max(200, int(2e8 // (self.length * (self.k + self.new)))))
        words = [self._random(size)]
        if self.codebook.n_symbols == 2 and (self.old >= 0).all():
            three = self.generator.integers(self.k, size=(size, 3))
            sums = self.old[three].sum(axis=1) % 2
            words += [1 - self.old, sums, 1 - sums]
            words += [(self.old + self.old[p]) % 2 for p in range(min(self.k, 20))]
        return np.vstack(words)

    def _random(self, size: int) -> Ints:
        words = np.empty((size, self.length), dtype=np.int64)
        for column, symbols in enumerate(self.symbols):
            words[:, column] = self.generator.choice(symbols, size=size)
        return words

    def _farthest_first(self, pool: Ints) -> Ints:
        """Take the word that is furthest from all taken so far, one after the other."""
        near = self.distances(pool, self.old).min(axis=1)
        chosen: list[Ints] = []
        for _ in range(self.new):
            best = pool[int(near.argmax())]
            if near.max() <= 0:
                best = self._unused(chosen)
            chosen.append(best)
            near = np.minimum(near, self.distances(pool, best[None, :])[:, 0])
        return np.stack(chosen)

    def _unused(self, chosen: list[Ints]) -> Ints:
        """The first word that is no row yet; there is one."""
        taken = {tuple(row) for row in np.vstack([self.old, *chosen]).tolist()}
        words = (word for word in product(*self.symbols) if tuple(map(int, word)) not in taken)
        return np.array(next(words), dtype=np.int64)

    def _clique(self, words: Ints, goal: int) -> tuple[Ints | None, bool]:
        """So many words at least so far apart, and whether all of them were tried."""
        if len(words) < self.new:
            return None, True
        if self.new == 1:
            return words[:1], True
        apart = self.distances(words, words) >= goal
        np.fill_diagonal(apart, val=False)
        neighbours = [sum(1 << int(j) for j in np.flatnonzero(row)) for row in apart]
        search = _CliqueSearch(neighbours, self.new)
        found = search.run()
        return (None if found is None else words[found]), search.complete

    def _searched(self, start: Ints, goal: int) -> Ints | None:
        """New rows at least so far from all others, by local search; None if none were found."""
        # A step costs something, however few entries it looks at.
        price = self.length * (self.k + self.new) + _STEP_PRICE
        starts = [start, *(self._random(self.new) for _ in range(6))]
        for words in starts:
            found = self._tabu(words.copy(), goal, price)
            if found is not None:
                return found
            if self.budget.is_spent:
                return None
        return None

    def _tabu(self, words: Ints, goal: int, price: int) -> Ints | None:
        """Change the entry that brings the worst row closest to the goal, none again too soon."""
        doubled = self._all_distances(words)
        blocked = np.zeros(words.shape, dtype=np.int64)
        for step in range(_STEPS):
            missing = np.maximum(goal - doubled, 0)
            costs = (missing**2).sum(axis=1)
            if not costs.any():
                return words
            self.budget.spend(price)
            if self.budget.is_spent:
                return None
            wrong = np.flatnonzero(costs)
            row = int(wrong[self.generator.integers(len(wrong))])
            column, symbol = self._best_change(words, doubled[row], row, goal, blocked[row] > step)
            words[row, column] = symbol
            blocked[row, column] = step + 3 + int(self.generator.integers(5))
            again = self.distances(words[row : row + 1], np.vstack([self.old, words]))[0]
            again[self.k + row] = 4 * self.length
            doubled[row] = again
            doubled[:, self.k + row] = again[self.k :]
        return None

    def _best_change(
        self, words: Ints, doubled: Ints, row: int, goal: int, blocked: npt.NDArray[np.bool_]
    ) -> tuple[int, int]:
        others = np.vstack([self.old, words])
        used = others >= 0
        best = np.inf, 0, int(words[row, 0])
        same = 2 * ((others == words[row]) & used)
        for offset in range(1, self.codebook.n_symbols):
            after = self._shifted(words[row], offset)
            moved = doubled[:, None] + same - 2 * ((others == after) & used)
            moved[self.k + row] = 4 * self.length
            cost = (np.maximum(goal - moved, 0) ** 2).sum(axis=0).astype(np.float64)
            cost[blocked | (after == words[row])] = np.inf
            cost += self.generator.random(self.length) * 0.5
            column = int(cost.argmin())
            if cost[column] < best[0]:
                best = float(cost[column]), column, int(after[column])
        return best[1], best[2]

    def _shifted(self, word: Ints, offset: int) -> Ints:
        """Each entry replaced by the symbol of its column that comes so many places later."""
        return np.array(
            [
                symbols[(int(np.searchsorted(symbols, entry)) + offset) % len(symbols)]
                for symbols, entry in zip(self.symbols, word, strict=True)
            ]
        )

    # ------------------------------------------------------------------ wishes

    def wished(self, wanted: Floats, goal: int) -> Ints:
        """Rows that agree with the wishes, at least so far from all others where that is found."""
        chosen = np.empty((0, self.length), dtype=np.int64)
        for wish in wanted:
            word = self._repaired(np.where(wish >= 0, 0, 1), np.abs(wish), chosen, max(goal, 1))
            # Entries of which nothing is wished take the row further from all others.
            free = np.where(wish == 0, 0.0, np.inf)
            others = np.vstack([self.old, chosen])
            for further in range(goal + 1, 2 * self.length + 1 if (wish == 0).any() else 0):
                moved = self._repaired(word, free, chosen, further)
                if self.distances(moved[None, :], others).min() >= further:
                    word = moved
            chosen = np.vstack([chosen, word])
        return chosen

    def _repaired(self, word: Ints, price: Floats, chosen: Ints, goal: int) -> Ints:
        """Change the entries that are wished least until a word is far enough from all others."""
        others = np.vstack([self.old, chosen])
        changed = np.zeros(self.length, dtype=bool)
        best, furthest = word.copy(), -1
        for _ in range(self.length + 1):
            near = self.distances(word[None, :], others)[0]
            if near.min() > furthest:
                best, furthest = word.copy(), int(near.min())
            missing = np.maximum(goal - near, 0)
            if not missing.any() or changed.all():
                break
            # What a change brings to all rows that are too near, for what it is wished.
            same = (others == word) & (others >= 0)
            differ = (others != word) & (others >= 0)
            gain = missing @ (same.astype(np.float64) - differ)
            worth = np.where(changed | np.isinf(price), -np.inf, gain / (price + 1e-9))
            column = int(worth.argmax())
            if worth[column] <= 0:
                break
            word = word.copy()
            word[column] = 1 - word[column]
            changed[column] = True
        if furthest > 0:
            return best
        return self._unused(list(chosen))


class _CliqueSearch:
    """So many vertices of a graph that are all adjacent, by branch and bound."""

    def __init__(self, neighbours: list[int], size: int) -> None:
        self.neighbours, self.size = neighbours, size
        self.nodes, self.complete = 0, True

    def run(self) -> list[int] | None:
        return self._extend([], (1 << len(self.neighbours)) - 1)

    def _extend(self, chosen: list[int], candidates: int) -> list[int] | None:
        missing = self.size - len(chosen)
        if missing == 0:
            return chosen
        self.nodes += 1
        if self.nodes > _CLIQUE_NODES:
            self.complete = False
            return None
        # Vertices of one colour are not adjacent: fewer colours than vertices missing are no help.
        order, colours = self._coloured(candidates)
        for vertex, colour in zip(reversed(order), reversed(colours), strict=True):
            if colour < missing:
                return None
            found = self._extend([*chosen, vertex], candidates & self.neighbours[vertex])
            if found is not None or not self.complete:
                return found
            candidates &= ~(1 << vertex)
        return None

    def _coloured(self, candidates: int) -> tuple[list[int], list[int]]:
        order: list[int] = []
        colours: list[int] = []
        colour = 0
        while candidates:
            colour += 1
            free = candidates
            while free:
                vertex = (free & -free).bit_length() - 1
                free &= ~self.neighbours[vertex] & ~(1 << vertex)
                # Of the same colour are those that are not adjacent.
                candidates &= ~(1 << vertex)
                free &= candidates
                order.append(vertex)
                colours.append(colour)
        return order, colours
