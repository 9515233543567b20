"""The search for ternary codebooks: columns grown one by one, then annealed, also by orbits.

Annealing asks for a goal of every pair of classes and changes an entry, or exchanges two, of a
column at a time. With a group of rotations of the classes only one column of each orbit is
kept, so that all pairs of an orbit have one cover: where every cover must be the same, such
codebooks are found that plain annealing misses.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ecoc._limits import Budget
from ecoc._numba import njit, read_only
from ecoc._typing import Floats, Ints, Signs
from ecoc.bounds.ternary import separations, ternary_columns
from ecoc.design.ternary_problem import TernaryProblem

__all__ = [
    "Rotations",
    "anneal_columns",
    "compile_kernels",
    "exchange_columns",
    "grow_columns",
    "rotations",
    "target_of",
]

_CHUNK = 50_000
_HOT, _COLD = 1.0, 0.1
_ROUND_WORK = 10_000
_MOVE_WORK = 50
_MAX_POOLED_CLASSES = 11
"""The most classes whose columns are all looked at in an exchange: 86,526 of them."""


@dataclass(frozen=True)
class Rotations:
    """A cyclic group on the classes: so many cycles of one length; the others stay fixed.

    Examples
    --------
    >>> Rotations(5, 3, 1).step.tolist()
    [1, 2, 0, 3, 4]
    """

    n_classes: int
    order: int = 1
    n_cycles: int = 0

    @property
    def step(self) -> Ints:
        """Where each class goes."""
        places = np.arange(self.n_classes)
        moved = places < self.order * self.n_cycles
        start = places - places % self.order
        return np.where(moved, start + (places + 1) % self.order, places)

    def orbits(self) -> Ints:
        """The number of the orbit of each pair of classes, -1 on the diagonal."""
        k, step = self.n_classes, self.step
        orbit = np.full((k, k), -1, dtype=np.int64)
        number = 0
        for p in range(k):
            for q in range(p):
                a, b = p, q
                if orbit[a, b] < 0:
                    while orbit[a, b] < 0:
                        orbit[a, b] = orbit[b, a] = number
                        a, b = int(step[a]), int(step[b])
                    number += 1
        return orbit

    def images(self, matrix: Signs) -> Signs:
        """All images of some columns."""
        images, step = [matrix], self.step
        for _ in range(self.order - 1):
            moved = np.empty_like(matrix)
            moved[step] = images[-1]
            images.append(moved)
        return np.hstack(images)


def rotations(n_classes: int, n_columns: int) -> Iterator[Rotations]:
    """Produce the groups whose orbits of full length make up so many columns."""
    for order in range(2, n_classes + 1):
        if n_columns % order:
            continue
        for n_cycles in range(n_classes // order, 0, -1):
            # Pairs of fixed classes are in no orbit that is worth it.
            if n_classes - order * n_cycles <= 2:
                yield Rotations(n_classes, order, n_cycles)


class _Rules(NamedTuple):
    """What columns and pairs must be like."""

    opposite: int
    absent: int
    by_support: int
    target: int
    min_cover: int
    max_support: int
    doubled_distance: int
    imbalance: float
    exponent: float
    budget: float


def _rules(problem: TernaryProblem, target: int) -> _Rules:
    gains = {
        "max-min-cover": (1, 0, 0),
        "weighted-cover": (1, 0, 0),
        "guaranteed-errors": (2, 0, 1),
        "max-min-distance": (2, 1, 0),
    }
    return _Rules(
        *gains[problem.objective],
        target,
        problem.min_cover,
        problem.support_limit,
        2 * (problem.min_column_distance or 0),
        2.0 if problem.max_imbalance is None else problem.max_imbalance + 1e-9,
        float(problem.column_cost),
        np.inf if problem.budget is None else float(problem.budget) * (1 - 1e-12),
    )


def target_of(problem: TernaryProblem, objective: float) -> int:
    """The least whole goal of a pair for an objective, as annealing counts it."""
    if problem.objective == "guaranteed-errors":
        return 4 * int(objective) + 1
    return int(2 * objective if problem.objective == "max-min-distance" else objective)


def anneal_columns(
    problem: TernaryProblem,
    start: Signs,
    target: int,
    *,
    group: Rotations | None = None,
    n_moves: int = 300_000,
    seed: int = 0,
    budget: Budget | None = None,
) -> Signs | None:
    """One run of annealing from a matrix; a matrix whose pairs all reach the target, or None.

    Parameters
    ----------
    problem : TernaryProblem
        What is wanted.
    start : ndarray of shape (n_classes, n_columns)
        Where it begins; of each orbit of a group it holds one column.
    target : int
        What every pair must reach, see :func:`target_of`.
    group : Rotations, optional
        The rotations under which the codebook stays the same.
    n_moves : int, default=300_000
        How many changes are tried.
    seed : int
        The seed.
    budget : Budget, optional
        Pays for each change, by how many classes and columns there are.
    """
    group = Rotations(problem.n_classes) if group is None else group
    budget = Budget() if budget is None else budget
    matrix = np.array(start, dtype=np.int8, order="C")
    orbits = group.orbits()
    sizes = np.bincount(orbits[np.tril_indices(problem.n_classes, -1)])
    factors = group.order // sizes
    points = np.array(problem.class_sizes or (1,) * problem.n_classes, dtype=np.int64)
    rules = _rules(problem, target)
    if group.order > 1:
        # Whole orbits are paid for, and may not hold columns twice; that is looked at later.
        rules = rules._replace(budget=rules.budget / group.order)
    price = _MOVE_WORK + problem.n_classes + matrix.shape[1]
    at_most = int(min(n_moves, -(-budget.work // price)))
    rng = np.random.default_rng(seed)
    done, penalty = 0, 1
    while done < at_most and penalty and not budget.is_late:
        chunk = min(_CHUNK, at_most - done)
        warm, cool = (_HOT * (_COLD / _HOT) ** (at / n_moves) for at in (done, done + chunk))
        penalty = _moves(
            matrix,
            read_only(orbits),
            read_only(factors),
            read_only(points),
            rules,
            warm,
            cool,
            chunk,
            int(rng.integers(2**31 - 1)),
        )
        done += chunk
    budget.spend(done * price)
    return group.images(matrix) if penalty == 0 else None


def compile_kernels() -> None:
    """Compile what a run needs, or load it, by a run of next to no size."""
    problem = TernaryProblem(3, 3)
    matrix = np.array([[1, 1, 0], [-1, 0, 1], [0, -1, -1]], dtype=np.int8)
    anneal_columns(problem, matrix, 2, n_moves=1)


@njit
def _column_cost(column: Signs, points: Ints, exponent: float) -> float:
    total = 0
    for p in range(column.size):
        if column[p]:
            total += points[p]
    cost: float = float(total) ** exponent
    return cost


@njit
def _gain(a: int, b: int, opposite: int, absent: int) -> int:
    if a * b < 0:
        return opposite
    return absent if a == 0 or b == 0 else 0


@njit
def _missing(value: int, cover: int, target: int, min_cover: int) -> int:
    far = max(target - value, 0)
    bare = max(min_cover - cover, 0)
    return far * far + 4 * bare * bare


@njit
def _n_close(matrix: Signs, column: Signs, place: int, doubled: int) -> int:
    """How many other columns are the same up to sign as one in a place, or too close to it."""
    k, length = matrix.shape
    count = 0
    for i in range(length):
        if i == place:
            continue
        product, mine, theirs = 0, 0, 0
        for p in range(k):
            product += column[p] * matrix[p, i]
            mine += abs(column[p])
            theirs += abs(matrix[p, i])
        product = abs(product)
        if k - product < doubled or (product == mine and mine == theirs):
            count += 1
    return count


@njit
def _moves(  # noqa: PLR0912, PLR0915, PLR0917  # one compiled loop
    matrix: Signs,
    orbits: Ints,
    factors: Ints,
    points: Ints,
    rules: _Rules,
    warm: float,
    cool: float,
    n_moves: int,
    seed: int,
) -> int:
    opposite, absent, by_support, target, min_cover, max_support = rules[:6]
    doubled, imbalance, exponent, budget = rules[6:]
    np.random.seed(seed)  # noqa: NPY002  # numba knows only this one
    k, length = matrix.shape
    n_orbits = factors.size
    values = np.zeros(n_orbits, dtype=np.int64)
    covers = np.zeros(n_orbits, dtype=np.int64)
    used = np.zeros(k, dtype=np.int64)
    costs = np.zeros(length)
    for j in range(length):
        costs[j] = _column_cost(matrix[:, j], points, exponent)
        for p in range(k):
            if matrix[p, j]:
                used[p] += 1
            for q in range(p):
                c = orbits[p, q]
                values[c] += factors[c] * _gain(matrix[p, j], matrix[q, j], opposite, absent)
                covers[c] += factors[c] * (matrix[p, j] * matrix[q, j] < 0)
    total_cost = costs.sum()
    penalty = 0
    if by_support:
        for p in range(k):
            for q in range(p):
                value = values[orbits[p, q]] - abs(used[p] - used[q])
                penalty += _missing(value, covers[orbits[p, q]], target, min_cover)
    else:
        for c in range(n_orbits):
            penalty += _missing(values[c], covers[c], target, min_cover)
    n_close = 0
    for j in range(length):
        n_close += _n_close(matrix, matrix[:, j], j, doubled)
    n_close //= 2
    column = np.zeros(k, dtype=np.int8)
    value_change = np.zeros(n_orbits, dtype=np.int64)
    cover_change = np.zeros(n_orbits, dtype=np.int64)
    touched = np.zeros(2 * k, dtype=np.int64)
    last = np.full(n_orbits, -1, dtype=np.int64)
    moved = np.zeros(2, dtype=np.int64)
    for move in range(n_moves):
        if penalty == 0 and n_close == 0 and total_cost <= budget:
            break
        heat = warm * (cool / warm) ** (move / n_moves)
        j = np.random.randint(length)  # noqa: NPY002
        for p in range(k):
            column[p] = matrix[p, j]
        moved[0] = np.random.randint(k)  # noqa: NPY002
        n_moved = 1
        if np.random.random() < 0.35:  # noqa: NPY002
            entry = np.random.randint(3) - 1  # noqa: NPY002
            if entry == column[moved[0]]:
                continue
            column[moved[0]] = entry
        else:
            moved[1] = np.random.randint(k)  # noqa: NPY002
            n_moved = 2
            if column[moved[0]] == column[moved[1]]:
                continue
            entry = column[moved[0]]
            column[moved[0]] = column[moved[1]]
            column[moved[1]] = entry
        plus, minus, n_used = 0, 0, 0
        for p in range(k):
            if column[p] > 0:
                plus += points[p]
                n_used += 1
            elif column[p] < 0:
                minus += points[p]
                n_used += 1
        if plus == 0 or minus == 0 or n_used > max_support:
            continue
        if abs(plus - minus) > imbalance * (plus + minus):
            continue
        cost = 0.0
        if budget < np.inf:
            cost = _column_cost(column, points, exponent)
            if total_cost - costs[j] + cost > budget and cost >= costs[j]:
                continue
        n_touched = 0
        for i in range(n_moved):
            p = moved[i]
            for q in range(k):
                if q == p or (i == 1 and q == moved[0]):
                    continue
                c = orbits[p, q]
                more = _gain(column[p], column[q], opposite, absent) - _gain(
                    matrix[p, j], matrix[q, j], opposite, absent
                )
                apart = int(column[p] * column[q] < 0) - int(matrix[p, j] * matrix[q, j] < 0)
                if more == 0 and apart == 0:
                    continue
                if last[c] != move:
                    last[c] = move
                    touched[n_touched] = c
                    n_touched += 1
                value_change[c] += factors[c] * more
                cover_change[c] += factors[c] * apart
        change = 0
        if by_support:
            # Every pair is its own orbit here; a class that is used more changes all of its pairs.
            for i in range(n_moved):
                p = moved[i]
                mine = used[p] + int(column[p] != 0) - int(matrix[p, j] != 0)
                for q in range(k):
                    if q == p or (i == 1 and q == moved[0]):
                        continue
                    other = used[q]
                    if n_moved == 2 and i == 0 and q == moved[1]:
                        other += int(column[q] != 0) - int(matrix[q, j] != 0)
                    c = orbits[p, q]
                    before = values[c] - abs(used[p] - used[q])
                    after = values[c] + value_change[c] - abs(mine - other)
                    change += _missing(after, covers[c] + cover_change[c], target, min_cover)
                    change -= _missing(before, covers[c], target, min_cover)
        else:
            for i in range(n_touched):
                c = touched[i]
                change += _missing(
                    values[c] + value_change[c], covers[c] + cover_change[c], target, min_cover
                )
                change -= _missing(values[c], covers[c], target, min_cover)
        accepted = change <= 0 or np.random.random() < np.exp(-change / heat)  # noqa: NPY002
        close = 0
        if accepted:
            close = _n_close(matrix, column, j, doubled) - _n_close(
                matrix, matrix[:, j], j, doubled
            )
            accepted = close <= 0
        if accepted:
            for p in range(k):
                used[p] += int(column[p] != 0) - int(matrix[p, j] != 0)
                matrix[p, j] = column[p]
            if budget < np.inf:
                total_cost += cost - costs[j]
                costs[j] = cost
            penalty += change
            n_close += close
        for i in range(n_touched):
            c = touched[i]
            if accepted:
                values[c] += value_change[c]
                covers[c] += cover_change[c]
            value_change[c] = 0
            cover_change[c] = 0
    return penalty + n_close + int(total_cost > budget)


# ---------------------------------------------------------------- growing columns


def grow_columns(
    problem: TernaryProblem,
    n_columns: int,
    support: int,
    *,
    seed: int = 0,
    given: Signs | None = None,
) -> Signs:
    """Columns grown one by one from the pairs of classes that were set apart least.

    Parameters
    ----------
    problem : TernaryProblem
        Its balance rule is kept; its other rules may not be.
    n_columns : int
        How many columns to grow; fewer come back where no others are found.
    support : int
        How many classes a column shall use.
    seed : int
        The seed.
    given : ndarray of shape (n_classes, n_given), optional
        Columns that are there already.
    """
    k = problem.n_classes
    rng = np.random.default_rng(seed)
    covers = np.zeros((k, k))
    weights = _weights(problem)
    seen: set[bytes] = set()
    for column in () if given is None else np.asarray(given, dtype=np.int8).T:
        seen |= {column.tobytes(), (-column).tobytes()}
        covers += np.outer(column, column) < 0
    columns: list[Signs] = []
    for _ in range(8 * n_columns):
        if len(columns) == n_columns:
            break
        urgency = np.exp(covers.min() - covers / weights - 10 * np.eye(k))
        urgency *= rng.uniform(0.7, 1, size=(k, k))
        column = _grown(problem, urgency + urgency.T, support, rng)
        if column is None or column.tobytes() in seen:
            continue
        seen |= {column.tobytes(), (-column).tobytes()}
        columns.append(column)
        covers += np.outer(column, column) < 0
    return np.array(columns, dtype=np.int8).reshape(-1, k).T


def _weights(problem: TernaryProblem) -> Floats:
    weights = problem.pair_weights
    if weights is None:
        return np.ones((problem.n_classes, problem.n_classes))
    positive = np.array(weights, dtype=np.float64)
    np.fill_diagonal(positive, 1)
    return positive


def _grown(
    problem: TernaryProblem, urgency: Floats, support: int, rng: np.random.Generator
) -> Signs | None:
    """A column that begins with an urgent pair; classes join the side where they do most."""
    k = len(urgency)
    points = np.array(problem.class_sizes or (1,) * k, dtype=np.float64)
    share = 1.0 if problem.max_imbalance is None else problem.max_imbalance
    column = np.zeros(k, dtype=np.int8)
    off_diagonal = np.where(np.eye(k, dtype=bool), -1.0, urgency)
    p, q = np.unravel_index(int(off_diagonal.argmax()), (k, k))
    column[p], column[q] = 1, -1
    # What a class does for pairs if it joins the side of plus, or of minus.
    gains = np.stack([urgency[q], urgency[p]])
    gains[:, [p, q]] = -np.inf
    sides = [points[p], points[q]]
    for _ in range(support - 2):
        # The smaller side takes the next class, as even sides set most pairs apart.
        larger = int(sides[1] > sides[0])
        uneven = abs(sides[0] - sides[1]) > share * sum(sides) / 2
        weights = np.ones(2)
        if uneven or rng.random() < 0.7:
            weights[larger] = 0.5
        side, joins = np.unravel_index(int((gains * weights[:, None]).argmax()), gains.shape)
        column[joins] = 1 if side == 0 else -1
        sides[side] += points[joins]
        gains[1 - side] += urgency[joins]
        gains[:, joins] = -np.inf
    one, other = points @ (column == 1), points @ (column == -1)
    return column if abs(one - other) <= share * (one + other) + 1e-9 else None


# -------------------------------------------------------------- exchanging columns


def exchange_columns(
    problem: TernaryProblem,
    matrix: Signs,
    *,
    n_rounds: int = 400,
    seed: int = 0,
    budget: Budget | None = None,
) -> Signs:
    """Exchange columns for those that do most for the pairs that have least of their weight.

    Parameters
    ----------
    problem : TernaryProblem
        A problem whose objective is ``"weighted-cover"``.
    matrix : ndarray of shape (n_classes, n_columns)
        The codebook to begin with.
    n_rounds : int, default=400
        How many exchanges are tried.
    seed : int
        The seed.
    budget : Budget, optional
        Pays for each exchange, and for each column that is looked at.

    Returns
    -------
    ndarray of shape (n_classes, n_columns)
        The best codebook of all.
    """
    rng = np.random.default_rng(seed)
    budget = Budget() if budget is None else budget
    k = problem.n_classes
    listed = None
    if k <= _MAX_POOLED_CLASSES:
        listed = _Candidates.of(problem, ternary_columns(k, problem.support_limit))
    first, second = np.triu_indices(k, 1)
    demand = _weights(problem)[first, second]
    chosen = _Candidates.of(problem, np.ascontiguousarray(matrix.T))
    best, best_value = chosen.columns, (chosen.covers.sum(axis=0) / demand).min()
    for _ in range(n_rounds):
        if budget.is_spent:
            break
        budget.spend(_ROUND_WORK + (0 if listed is None else len(listed.columns)))
        shares = chosen.covers.sum(axis=0) / demand
        # One leaves that the pairs in need would miss least.
        urgency = np.exp(-4 * (shares - shares.min()) / max(float(shares.std()), 1e-9)) / demand
        worth = chosen.covers @ urgency * rng.uniform(0.8, 1.2, size=len(chosen.columns))
        chosen = chosen.without(int(worth.argmin()))
        shares = chosen.covers.sum(axis=0) / demand
        urgency = np.exp(-4 * (shares - shares.min()) / max(float(shares.std()), 1e-9)) / demand
        pool = listed if listed is not None else _pool(problem, urgency, rng)
        room = np.inf if problem.budget is None else problem.budget - chosen.costs.sum()
        gains = (pool.covers @ urgency) * rng.uniform(0.95, 1, size=len(pool.columns))
        gains[(pool.costs > room * (1 - 1e-12)) | pool.among(chosen)] = -1
        if gains.max() <= 0:
            break
        chosen = chosen.joined_by(pool, int(gains.argmax()))
        value = (chosen.covers.sum(axis=0) / demand).min()
        if value > best_value:
            best, best_value = chosen.columns, value
    return np.ascontiguousarray(best.T)


@dataclass(frozen=True)
class _Candidates:
    """Columns, what each adds to the cover of each pair, and what it costs."""

    columns: Signs
    covers: Floats
    costs: Floats

    @classmethod
    def of(cls, problem: TernaryProblem, columns: Signs) -> _Candidates:
        apart = separations(columns).astype(np.float64)
        if problem.class_similarity is not None:
            pairs = np.triu_indices(problem.n_classes, 1)
            alike = np.asarray(problem.class_similarity, dtype=np.float64)[pairs]
            apart *= (1 - apart @ alike / apart.sum(axis=1))[:, None]
        points = np.array(problem.class_sizes or (1,) * problem.n_classes, dtype=np.float64)
        costs = ((columns != 0) @ points) ** float(problem.column_cost)
        kept = np.ones(len(columns), dtype=bool)
        if problem.max_imbalance is not None:
            sides = columns @ points
            kept = np.abs(sides) <= problem.max_imbalance * ((columns != 0) @ points) + 1e-9
        return cls(columns[kept], apart[kept], costs[kept])

    def without(self, place: int) -> _Candidates:
        kept = np.arange(len(self.columns)) != place
        return _Candidates(self.columns[kept], self.covers[kept], self.costs[kept])

    def joined_by(self, pool: _Candidates, place: int) -> _Candidates:
        return _Candidates(
            np.vstack([self.columns, pool.columns[place]]),
            np.vstack([self.covers, pool.covers[place]]),
            np.append(self.costs, pool.costs[place]),
        )

    def among(self, others: _Candidates) -> npt.NDArray[np.bool_]:
        """Which columns are the same as one of others, up to sign."""
        products = np.abs(self.columns.astype(np.float32) @ others.columns.T.astype(np.float32))
        mine, theirs = (self.columns != 0).sum(axis=1), (others.columns != 0).sum(axis=1)
        same = (products == mine[:, None]) & (products == theirs[None, :])
        alike: npt.NDArray[np.bool_] = same.any(axis=1)
        return alike


def _pool(problem: TernaryProblem, urgency: Floats, rng: np.random.Generator) -> _Candidates:
    """Some columns grown from the pairs in need, where all columns are too many to be listed."""
    k = problem.n_classes
    square = np.zeros((k, k))
    square[np.triu_indices(k, 1)] = urgency
    square += square.T
    supports = rng.integers(2, problem.support_limit + 1, size=8)
    grown = (
        _grown(problem, square * _symmetric_noise(k, rng), int(support), rng)
        for support in supports
    )
    columns = [column for column in grown if column is not None]
    return _Candidates.of(problem, np.array(columns, dtype=np.int8).reshape(-1, k))


def _symmetric_noise(k: int, rng: np.random.Generator) -> Floats:
    noise = rng.uniform(0.6, 1, size=(k, k))
    return noise + noise.T
