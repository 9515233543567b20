"""Bounds on ternary codebooks, whose columns leave classes out, each with proof data.

A column with a pluses and b minuses sets a b pairs of classes apart. What L columns set apart
in all is bounded by prices: with a price m of a column and n of a unit of cost, each at least
0, columns x of total cost at most B have

    sum of v(x) <= L m + B n + sum over all columns of max(0, v(x) - m - n c(x)),

whatever the value v(x) of a column is. All columns with as many classes on their sides count
together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import accumulate, combinations
from math import comb, floor, lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import counted, exact_text
from ecoc._limits import seconds_left
from ecoc._typing import Floats, Ints
from ecoc.bounds.problem import Proof, TernaryBound, TernaryBoundProblem
from ecoc.bounds.rows import ROW_ARGUMENTS
from ecoc.bounds.words import Words

__all__ = [
    "MAX_LISTED_CLASSES",
    "ColumnList",
    "PairPrices",
    "all_ternary_bounds",
    "averaging_bound_of_covers",
    "best_ternary_bound",
    "dual_bound",
    "exact_costs",
    "exact_ease",
    "separations",
    "ternary_columns",
]

MAX_LISTED_CLASSES = 14
"""The most classes whose columns are all looked at: 2,375,101 of them."""

_LISTED_SECONDS = 1e-6
"""What a word takes in a round of the linear program over all columns, at the least."""

_MOST_ROUNDS, _JOINING = 60, 400
"""How often columns join the linear program, and how many at a time."""

_MAX_PRICED_CLASSES = 40
_MOST_SUBSETS = 200_000
_MAX_PACKED_LENGTH = 200
_MAX_DELSARTE_LENGTH = 40
_MAX_DEGREE = 6
_SCALE = 1 << 30


def all_ternary_bounds(problem: TernaryBoundProblem) -> list[TernaryBound]:
    """Return the bounds that prove something, the lowest first.

    The first is the average; others are listed where they are below all that is simpler.

    Examples
    --------
    >>> [(bound.name, bound.value) for bound in all_ternary_bounds(TernaryBoundProblem(9, 4, 6))]
    [('inertia', Fraction(0, 1)), ('averaging', Fraction(1, 1))]
    """
    if problem.goal == "weighted":
        return [dual_bound(problem, _listed_prices(problem))]
    bounds = [averaging_bound_of_covers(problem)]
    arguments = {} if problem.goal == "distance" else _ARGUMENTS
    for name, argument in arguments.items():
        if seconds_left(1.0) == 0:
            break
        target, proof = problem.excluded(bounds[-1].value), None
        # What an argument excludes, it excludes all that is larger.
        while target > 1 and (better := argument(problem, target - 1)) is not None:
            target, proof = target - 1, better
        if proof is not None and problem.reached(target) < bounds[-1].value:
            reason = f"{_REASONS[name].format(target=target, k=problem.n_classes)}"
            bounds.append(TernaryBound(name, problem.reached(target), proof, reason))
    return bounds[::-1]


def best_ternary_bound(problem: TernaryBoundProblem) -> TernaryBound:
    """Return the lowest bound, the simplest of equals.

    Examples
    --------
    >>> best_ternary_bound(TernaryBoundProblem(10, 34, 4)).reason
    'covers of at least 3 need classes whose degrees no columns give.'
    """
    return all_ternary_bounds(problem)[0]


# ------------------------------------------------------------------------- prices


@dataclass(frozen=True)
class _ColumnKind:
    """Columns of one value and cost, and how many there are."""

    value: Fraction
    cost: Fraction
    count: int


@dataclass(frozen=True)
class _Prices:
    """Prices of a column and of a unit of cost, and the total that they prove."""

    column: Fraction
    cost: Fraction
    total: Fraction

    @property
    def proof(self) -> Proof:
        return {"column_price": str(self.column), "cost_price": str(self.cost)}


def _best_prices(problem: TernaryBoundProblem, kinds: Sequence[_ColumnKind]) -> _Prices:
    """Find the prices that prove the least total, which is convex in the price of cost."""
    least = _prices(problem, kinds, Fraction(0))
    if problem.budget is None:
        return least
    # Between two neighbouring ratios the order of columns by value less cost stays the same.
    best: dict[Fraction, Fraction] = {}
    for kind in kinds:
        best[kind.cost] = max(best.get(kind.cost, Fraction(0)), kind.value)
    ratios = [kind.value / kind.cost for kind in kinds]
    ratios += [(best[a] - best[b]) / (a - b) for a, b in combinations(best, 2)]
    candidates = sorted({ratio for ratio in ratios if ratio > 0}, key=float)
    totals = _Totals(problem, kinds)
    low, high = 0, len(candidates) - 1
    while low < high:
        middle = (low + high) // 2
        one, other = (totals.at(float(candidates[i])) for i in (middle, middle + 1))
        low, high = (low, middle) if one <= other else (middle + 1, high)
    near = (_prices(problem, kinds, cost) for cost in candidates[max(0, low - 1) : low + 2])
    return min((least, *near), key=lambda prices: prices.total)


class _Totals:
    """What prices of cost prove, in floating point, to find the best one by."""

    def __init__(self, problem: TernaryBoundProblem, kinds: Sequence[_ColumnKind]) -> None:
        self.values, self.costs = (
            np.array([float(number) for number in numbers])
            for numbers in ([kind.value for kind in kinds], [kind.cost for kind in kinds])
        )
        self.length = problem.n_columns
        self.counts = np.array([float(min(kind.count, self.length)) for kind in kinds])
        self.budget = float(problem.budget or 0)

    def at(self, price: float) -> float:
        """Return the total that a price of cost proves, with the best price of a column."""
        gains = np.maximum(self.values - price * self.costs, 0)
        order = np.argsort(-gains)
        counts = self.counts[order]
        taken = np.clip(self.length - (counts.cumsum() - counts), 0, counts)
        return float(gains[order] @ taken + self.budget * price)


def _prices(problem: TernaryBoundProblem, kinds: Sequence[_ColumnKind], cost: Fraction) -> _Prices:
    """Return the best price of a column beside a price of cost."""
    gains = [(kind.value - cost * kind.cost, kind.count) for kind in kinds]
    left, price = problem.n_columns, Fraction(0)
    # Any price proves something, so that rounding may decide about the order of equals.
    for gain, count in sorted(gains, key=lambda pair: -float(pair[0])):
        left -= count
        if gain <= 0 or left <= 0:
            price = max(gain, Fraction(0))
            break
    total = problem.n_columns * price + (problem.budget or 0) * cost
    total += sum(((gain - price) * count for gain, count in gains if gain > price), Fraction(0))
    return _Prices(price, cost, total)


def _kinds(
    problem: TernaryBoundProblem, value: Callable[[int, int], Fraction | int]
) -> list[_ColumnKind]:
    return [
        _ColumnKind(Fraction(value(a, b)), problem.least_cost(a + b), count)
        for a, b, count in problem.kinds()
    ]


def _separated(problem: TernaryBoundProblem) -> Callable[[int, int], int]:
    """Return how much a column adds to the sum of all goals, by the sizes of its sides."""
    if problem.goal != "distance":
        return lambda a, b: a * b
    return lambda a, b: problem.n_pairs - comb(a, 2) - comb(b, 2) + a * b


def averaging_bound_of_covers(problem: TernaryBoundProblem) -> TernaryBound:
    """Bound covers, or halves of distances, by their average."""
    prices = _best_prices(problem, _kinds(problem, _separated(problem)))
    total = int(prices.total)
    value = problem.reached(total // problem.n_pairs + 1)
    what = "halves of distances" if problem.goal == "distance" else "separations"
    columns = counted(problem.n_columns, "column gives", "columns give")
    within = "" if problem.budget is None else " within the budget"
    return TernaryBound(
        "averaging",
        value,
        prices.proof | {"total": total},
        f"{columns} at most {total} {what}{within}, and {problem.n_pairs} pairs share them.",
    )


# ---------------------------------------------------------------------- arguments


def _degrees(problem: TernaryBoundProblem, target: int) -> Proof | None:
    """Exclude a cover by the degrees of classes: the sums of their covers.

    A column with sides of a and b classes gives b to each of the a, and a to each of the b. If
    all that a class gets are multiples of m, its degree is one too, and at least
    target (k - 1) + r. T classes get something else, and T is at most share times what all
    columns touch so, plus (1 - share) k.
    """
    k = problem.n_classes
    if problem.budget is not None and k > _MAX_PRICED_CLASSES:
        return None  # prices of costs take seconds to find
    needed = target * (k - 1)
    best = max(a * b for a, b, _ in problem.kinds())
    given = 2 * _best_prices(problem, _kinds(problem, lambda a, b: a * b)).total
    for modulus in range(2, problem.max_support // 2 + 1):
        rest = -needed % modulus
        if not rest or given >= k * (needed + rest):
            continue
        shares = {Fraction(0), Fraction(1)}
        for a, b, _ in problem.kinds():
            if touched := _touched(a, b, modulus):
                shares.add(Fraction(2 * (best - a * b), rest * touched))
        least, prices, share = _best_share(
            problem, modulus, rest, sorted(share for share in shares if share <= 1)
        )
        if least < k * (needed + rest):
            return prices.proof | {"modulus": modulus, "share": str(share)}
    return None


def _best_share(
    problem: TernaryBoundProblem, modulus: int, rest: int, shares: Sequence[Fraction]
) -> tuple[Fraction, _Prices, Fraction]:
    """Find the share that leaves least for the degrees, which is convex in it."""

    def at(share: Fraction) -> tuple[Fraction, _Prices, Fraction]:
        prices = _best_prices(problem, _kinds(problem, partial(_degree, modulus, share * rest)))
        return prices.total + (1 - share) * rest * problem.n_classes, prices, share

    low, high = 0, len(shares) - 1
    while low < high:
        middle = (low + high) // 2
        less = at(shares[middle])[0] <= at(shares[middle + 1])[0]
        low, high = (low, middle) if less else (middle + 1, high)
    return at(shares[low])


def _degree(modulus: int, gain: Fraction, a: int, b: int) -> Fraction:
    """Return what a column adds to all degrees, and a gain for each class that it touches."""
    return 2 * a * b + gain * _touched(a, b, modulus)


def _touched(a: int, b: int, modulus: int) -> int:
    """Return how many classes a column gives no multiple of the modulus."""
    return a * (b % modulus > 0) + b * (a % modulus > 0)


def _inertia(problem: TernaryBoundProblem, target: int) -> Proof | None:
    """Exclude a cover by Graham and Pollak (1972), with some excess.

    The matrix of covers is target (J - I) + F, and the entries of F above the diagonal have the
    sum E, the excess. F has at most E / target eigenvalues of at least target, so that the
    covers have at least k - 1 - E / target negative ones; and each column adds one at most.
    """
    k = problem.n_classes
    prices = _best_prices(problem, _kinds(problem, lambda a, b: a * b))
    excess = int(prices.total) - target * problem.n_pairs
    if problem.n_columns < k - 1 - excess // target:
        return prices.proof
    return None


def _words(name: str) -> Callable[[TernaryBoundProblem, int], Proof | None]:
    """Exclude a cover as a row distance: zeros filled with +1 or -1 never make it smaller."""

    def argument(problem: TernaryBoundProblem, target: int) -> Proof | None:
        k, length = problem.n_classes, problem.n_columns
        if target > length:
            return None
        words = ROW_ARGUMENTS[name](Words(length, target, length), k)
        return None if words is None else {"words": words}

    return argument


def _packing(problem: TernaryBoundProblem, target: int) -> Proof | None:
    """Exclude a cover because rows are subcubes whose neighbourhoods are disjoint.

    With r = (target - 1) / 2 rounded down, the sum over all classes of f(s), s being how many
    columns use the class, is at most 1, where f(s) is the share of words of length s with at
    most r ones. A line below f bounds it, as all s add up to at most L times the support.
    """
    k, length = problem.n_classes, problem.n_columns
    if length > _MAX_PACKED_LENGTH:
        return None
    radius = (target - 1) // 2
    shares = [_share(support, radius) for support in range(length + 1)]
    mean = Fraction(length * problem.max_support, k)
    # The lower hull of f, up to the mean and the first corner beyond it.
    left = 0
    while True:
        slopes = {s: (shares[left] - shares[s]) / (s - left) for s in range(left + 1, length + 1)}
        right = max(slopes, key=lambda s: (slopes[s], s), default=length)
        if right >= mean or right == length:
            break
        left = right
    slope = slopes.get(right, Fraction(0))
    offset = shares[left] + slope * left
    if k * (offset - slope * mean) <= 1:
        return None
    return {"slope": str(slope), "offset": str(offset)}


def _share(support: int, radius: int) -> Fraction:
    """Return the share of words of a length that have at most so many ones."""
    return Fraction(sum(comb(support, i) for i in range(radius + 1)), 1 << support)


def _delsarte(problem: TernaryBoundProblem, target: int) -> Proof | None:
    """Exclude a cover by Delsarte's inequalities for the pairs (equal, opposite) of rows.

    With c_0 > 0, c_j >= 0 and F(a, o) = sum of c_j K_j(o; a + o) <= 0 for all o >= target and
    a + o <= L, the sum of F over all ordered pairs of rows is at least k^2 c_0. Rows with
    themselves give F(s, 0), which is convex in s, and all s add up to at most L times the
    support.
    """
    k, length, support = problem.n_classes, problem.n_columns, problem.max_support
    if length > _MAX_DELSARTE_LENGTH or target > length:
        return None
    from scipy.optimize import linprog

    degree = min(_MAX_DEGREE, length)
    points = [(n, o) for n in range(target, length + 1) for o in range(target, n + 1)]
    tables = np.array([[_krawtchouk(j, o, n) for j in range(1, degree + 1)] for n, o in points])
    largest = np.array([comb(length, j) for j in range(1, degree + 1)], dtype=float)
    scaled = tables / largest
    result = linprog(np.ones(degree), A_ub=scaled, b_ub=-np.ones(len(points)), method="highs")
    if result.x is None:
        return None
    rest = [
        max(0, round(float(c) / float(m) * _SCALE)) for c, m in zip(result.x, largest, strict=True)
    ]
    first = min(-sum(c * int(t) for c, t in zip(rest, row, strict=True)) for row in tables.tolist())
    if first <= 0:
        return None
    whole = first + sum(c * comb(length, j) for j, c in enumerate(rest, 1))
    if k * k * first <= support * whole + (k - support) * first:
        return None
    return {"multipliers": [first, *rest]}


def _krawtchouk(j: int, o: int, n: int) -> int:
    """Return the coefficient of x^j in (1 - x)^o (1 + x)^(n - o)."""
    return sum((-1) ** i * comb(o, i) * comb(n - o, j - i) for i in range(min(j, o) + 1))


def _enumeration(problem: TernaryBoundProblem, target: int) -> Proof | None:
    """Exclude a cover by going through all sets of L columns, where they are few."""
    n_all = sum(count for _, _, count in problem.kinds())
    length = problem.n_columns
    if n_all < length or length > 20 or comb(n_all, length) > _MOST_SUBSETS:
        return None
    columns = ternary_columns(problem.n_classes, problem.max_support)
    apart = separations(columns).astype(np.int64)

    def reaches(covers: Ints, first: int, left: int) -> bool:
        if left == 0 or covers.min() + left < target:
            return bool(covers.min() >= target)
        return any(
            reaches(covers + apart[i], i + 1, left - 1) for i in range(first, n_all - left + 1)
        )

    return None if reaches(np.zeros(problem.n_pairs, dtype=np.int64), 0, length) else {}


_ARGUMENTS: dict[str, Callable[[TernaryBoundProblem, int], Proof | None]] = {
    **{name: _words(name) for name in ("plotkin", "singleton", "hamming", "delsarte")},
    "inertia": _inertia,
    "degrees": _degrees,
    "packing": _packing,
    "pairs": _delsarte,
    "enumeration": _enumeration,
}
_FILLED = "fewer than {k} rows without zeros have distances of at least {target} ({name})."
_REASONS = {
    **{name: _FILLED.replace("{name}", name) for name in ("plotkin", "singleton", "hamming")},
    "delsarte": _FILLED.replace("{name}", "delsarte"),
    "inertia": "covers of at least {target} have more negative eigenvalues than columns give.",
    "degrees": "covers of at least {target} need classes whose degrees no columns give.",
    "packing": "rows set apart by {target} columns have neighbourhoods that do not fit.",
    "pairs": "rows set apart by {target} columns contradict Delsarte's inequalities.",
    "enumeration": "no set of so many columns sets all pairs apart {target} times.",
}


# ------------------------------------------------------------------------ columns


def ternary_columns(n_classes: int, max_support: int) -> npt.NDArray[np.int8]:
    """List all columns that use at most so many classes, each with + for the first of them.

    Examples
    --------
    >>> ternary_columns(3, 2).tolist()
    [[0, 1, -1], [1, -1, 0], [1, 0, -1]]
    """
    entries = np.indices((3,) * n_classes, dtype=np.int8).reshape(n_classes, -1)
    # In the order of all words, those behind the word of zeros begin with +.
    columns = (entries[:, _n_negatives(n_classes) :] - 1).T
    kept = (columns == -1).any(axis=1) & ((columns != 0).sum(axis=1) <= max_support)
    return np.ascontiguousarray(columns[kept])


def _n_negatives(n_classes: int) -> int:
    """Return how many words come before those that begin with +: of zeros, and those with -."""
    return int((3**n_classes + 1) // 2)


def separations(columns: npt.NDArray[np.int8]) -> npt.NDArray[np.bool_]:
    """Tell for each column which pairs of classes it sets apart, pairs (0, 1), (0, 2) and so on.

    Examples
    --------
    >>> separations(np.array([[1, -1, 0]], dtype=np.int8)).tolist()
    [[True, False, False]]
    """
    first, second = np.triu_indices(columns.shape[1], 1)
    apart: npt.NDArray[np.bool_] = columns[:, first] * columns[:, second] < 0
    return apart


def exact_ease(problem: TernaryBoundProblem, columns: npt.NDArray[np.int8]) -> list[Fraction]:
    """Return 1 less the mean similarity of the pairs that each column sets apart."""
    if problem.similarity is None:
        return [Fraction(1)] * len(columns)
    pairs = combinations(range(problem.n_classes), 2)
    alike = [_entry(problem.similarity, p, q, 0) for p, q in pairs]
    unit = lcm(*(value.denominator for value in alike))
    apart = separations(columns).astype(np.int64)
    sums = (apart @ np.array([int(value * unit) for value in alike])).tolist()
    counts = apart.sum(axis=1).tolist()
    return [1 - Fraction(s, unit * n) for s, n in zip(sums, counts, strict=True)]


def exact_costs(problem: TernaryBoundProblem, columns: npt.NDArray[np.int8]) -> list[Fraction]:
    """Return what each column costs."""
    sizes = np.array(problem.class_sizes or (1,) * problem.n_classes, dtype=np.int64)
    totals = ((columns != 0).astype(np.int64) @ sizes).tolist()
    by_size = {size: problem.cost(size) for size in set(totals)}
    return [by_size[size] for size in totals]


def _entry(
    matrix: tuple[tuple[Fraction, ...], ...] | None, p: int, q: int, default: int
) -> Fraction:
    return Fraction(default) if matrix is None else matrix[p][q]


class ColumnList:
    """All columns of a few classes, and what each is worth at prices of pairs, cost and columns.

    Prices exclude columns: those of the best total leave a goal just so much to lose, and a
    column that is worth less than its price by more than that is in no codebook that reaches
    the goal.

    Parameters
    ----------
    problem : TernaryBoundProblem
        The problem, of at most `MAX_LISTED_CLASSES` classes.

    Examples
    --------
    >>> listed = ColumnList(TernaryBoundProblem(10, 20, 10))
    >>> [len(listed.able_to_reach(cover)) for cover in (10, 11, 12)]
    [28501, 1716, 0]
    """

    def __init__(self, problem: TernaryBoundProblem) -> None:
        self.problem = problem
        k = problem.n_classes
        sizes = np.array(problem.class_sizes or (1,) * k, dtype=np.int64)
        apart = _sums_of_pairs(np.ones((k, k), dtype=np.int64))
        used = _sums_of_classes(np.ones(k, dtype=np.int64))
        self._kept = np.flatnonzero((apart > 0) & (used <= problem.max_support))
        apart, totals = apart[self._kept], _sums_of_classes(sizes)[self._kept]
        present, place = np.unique(totals, return_inverse=True)
        self.costs = np.array([float(problem.cost(int(size))) for size in present])[place]
        self.ease: Floats | float = 1.0
        if problem.similarity is not None:
            alike = np.array([[float(entry) for entry in row] for row in problem.similarity])
            self.ease = 1 - self._pair_sums(alike) / apart
        self._halves: Ints | None = None
        if problem.goal == "distance":
            # One half where a class is left out, two where both are used and differ.
            equal = used[self._kept] * (used[self._kept] - 1) // 2 - apart
            self._halves = problem.n_pairs - equal + apart

    def __len__(self) -> int:
        return len(self._kept)

    def _pair_sums(self, matrix: npt.NDArray[np.generic]) -> Floats:
        return np.asarray(_sums_of_pairs(matrix)[self._kept], dtype=np.float64)

    def columns(self, places: npt.ArrayLike) -> npt.NDArray[np.int8]:
        """Return the columns at some places of the list, which is in the order of words."""
        k = self.problem.n_classes
        words = self._kept[np.asarray(places)] + _n_negatives(k)
        return np.stack([words // 3 ** (k - 1 - p) % 3 - 1 for p in range(k)], axis=1).astype(
            np.int8
        )

    def worth(self, prices: npt.ArrayLike) -> Floats:
        """Return what each column is worth at prices of pairs: their sum times its ease.

        Where distances are asked for, all pairs have one price, and halves are counted.
        """
        if self._halves is not None:
            return self._halves.astype(np.float64)
        k = self.problem.n_classes
        matrix = np.zeros((k, k))
        matrix[np.triu_indices(k, 1)] = np.asarray(prices, dtype=np.float64)
        return self.ease * self._pair_sums(matrix + matrix.T)

    @cached_property
    def prices(self) -> PairPrices:
        """The prices that prove the least total: of pairs, of a column and of cost."""
        problem = self.problem
        if problem.goal == "weighted":
            return _pair_prices(self)
        plain = _best_prices(problem, _kinds(problem, _separated(problem)))
        return PairPrices([1] * problem.n_pairs, plain)

    def priced(self, prices: Sequence[int], cost_price: Fraction) -> _Prices:
        """Return the best price of a column beside those of pairs and cost, with its total."""
        problem = self.problem
        gains = self.worth(prices) - float(cost_price) * self.costs
        length = min(problem.n_columns, len(gains))
        # Rounding may decide which columns count as dear; a few more are looked at exactly.
        last = np.partition(gains, len(gains) - length)[len(gains) - length]
        dear = np.flatnonzero(gains > last - 1e-9 * max(1.0, float(gains.max())))
        columns = self.columns(dear)
        worth = (separations(columns).astype(np.int64) @ np.array(prices)).tolist()
        exact_gains = [
            e * w - cost_price * c
            for e, w, c in zip(
                exact_ease(problem, columns), worth, exact_costs(problem, columns), strict=True
            )
        ]
        exact_gains.sort(reverse=True)
        price = max(exact_gains[length - 1], Fraction(0))
        total = problem.n_columns * price + (problem.budget or 0) * cost_price
        total += sum((gain - price for gain in exact_gains if gain > price), Fraction(0))
        return _Prices(price, cost_price, total)

    def able_to_reach(self, goal: Fraction | int) -> Ints:
        """Return the places of the columns that codebooks of a goal may have, the best first."""
        problem, prices = self.problem, self.prices
        reduced = self.worth(prices.pairs) - float(prices.plain.column)
        reduced -= float(prices.plain.cost) * self.costs
        unit = {"distance": 2 * goal, "errors": 2 * goal + 1}.get(problem.goal, goal)
        needed = unit * _demand(problem, prices.pairs)
        spare = float(prices.plain.total - needed)
        # Rounding keeps columns rather than it loses one.
        slack = 1e-9 * max(1.0, float(prices.plain.total))
        order = np.argsort(-reduced, kind="stable")
        able: Ints = order[spare + np.minimum(reduced[order], 0) >= -slack]
        return able


def _sums_of_pairs(matrix: npt.NDArray[np.generic]) -> npt.NDArray[Any]:
    """Return the sum of a symmetric matrix over the pairs that each column sets apart.

    For all words that begin with +, with 0 counted as a beginning, in their order. Class by
    class: the next one adds its pairs with those that have the other sign.
    """
    total = np.zeros(1, dtype=matrix.dtype)
    for p in range(len(matrix)):
        minus = np.zeros(1, dtype=matrix.dtype)
        for q in range(p):
            step = np.array([matrix[p, q], 0, 0], dtype=matrix.dtype)
            minus = np.add.outer(minus, step).ravel()
        # The words in reverse order are the words with their signs changed.
        total = np.stack([total + minus[::-1], total, total + minus], axis=1).ravel()
    return total[_n_negatives(len(matrix)) :]


def _sums_of_classes(sizes: Ints) -> Ints:
    """Return the sum of sizes over the classes that each column uses, in the same order."""
    total = np.zeros(1, dtype=np.int64)
    for size in sizes:
        total = np.add.outer(total, np.array([size, 0, size])).ravel()
    return total[_n_negatives(len(sizes)) :]


# ------------------------------------------------------------------------ weights


@dataclass(frozen=True)
class PairPrices:
    """Whole prices of pairs, and those of a column and of cost beside them."""

    pairs: list[int]
    plain: _Prices


def _listed_prices(problem: TernaryBoundProblem) -> PairPrices:
    """Return the best prices of pairs where all columns can be looked at, else good ones."""
    k = problem.n_classes
    if k > MAX_LISTED_CLASSES or seconds_left(60.0) < _LISTED_SECONDS * 3**k:
        return _prices_of_classes(problem)
    return ColumnList(problem).prices


def dual_bound(problem: TernaryBoundProblem, best: PairPrices) -> TernaryBound:
    """Bound the weighted goal by prices of pairs: a solution of the dual of its linear program."""
    share = best.plain.total / _demand(problem, best.pairs)
    value = Fraction(floor(share * 10**6), 10**6)
    return TernaryBound(
        "dual",
        value,
        best.plain.proof | {"pair_prices": best.pairs},
        f"at the prices of pairs, columns are worth no more than {exact_text(value)} times the "
        "demand.",
    )


def _demand(problem: TernaryBoundProblem, prices: Sequence[int]) -> Fraction:
    """Return what pairs demand at some prices."""
    pairs = combinations(range(problem.n_classes), 2)
    demands = [_entry(problem.demands, p, q, 1) for p, q in pairs]
    # Whole parts, as fractions take long.
    unit = lcm(*(demand.denominator for demand in demands))
    parts = (demand.numerator * (unit // demand.denominator) for demand in demands)
    return Fraction(sum(y * part for y, part in zip(prices, parts, strict=True)), unit)


def _prices_of_classes(problem: TernaryBoundProblem) -> PairPrices:
    """Price the pairs of some classes at 1 and all others at 0, for many classes.

    The averaging bound on these classes alone: they are what is left of all when the class
    with the least demand goes, again and again.
    """
    k = problem.n_classes
    pairs = list(combinations(range(k), 2))
    demands = np.zeros((k, k))
    for p, q in pairs:
        demands[p, q] = demands[q, p] = float(_entry(problem.demands, p, q, 1))
    classes = list(range(k))
    shares: dict[tuple[int, ...], float] = {}
    while len(classes) > 1:
        support = min(problem.max_support, len(classes))
        demand = demands[np.ix_(classes, classes)]
        # As if there were no budget, which is looked at for the best of these only.
        shares[tuple(classes)] = (support // 2) * -(-support // 2) / (demand.sum() / 2)
        classes.pop(int(demand.sum(axis=1).argmin()))
    results = []
    for some in {tuple(range(k)), min(shares, key=lambda some: (shares[some], some))}:
        chosen = set(some)
        prices = [int(p in chosen and q in chosen) for p, q in pairs]
        plain = _best_prices(problem, _kinds_of_classes(problem, len(some)))
        results.append((plain.total / _demand(problem, prices), PairPrices(prices, plain)))
    return min(results, key=lambda result: result[0])[1]


def _kinds_of_classes(problem: TernaryBoundProblem, n_classes: int) -> list[_ColumnKind]:
    """Return the kinds of columns by how they divide some classes, whatever they do with others.

    The worth of a column that has all pairs at one price is how unlike they are: with sides of
    a and b classes no more than what the a classes have that are least like b others each.
    Where other classes make it easier, it is no easier than the least similar pair.
    """
    k = problem.n_classes
    pairs = combinations(range(k), 2)
    unlike = {(p, q): 1 - _entry(problem.similarity, p, q, 0) for p, q in pairs}
    if n_classes < k:
        easiest = max(unlike.values())
        unlike = dict.fromkeys(combinations(range(n_classes), 2), easiest)
    unit = lcm(*(value.denominator for value in unlike.values()))
    parts = {pair: int(unit * value) for pair, value in unlike.items()}
    rows = []
    for p in range(n_classes):
        others = (parts[min(p, q), max(p, q)] for q in range(n_classes) if q != p)
        rows.append([0, *accumulate(sorted(others, reverse=True))])
    # What so many classes have at most of so many others: most[others][classes].
    most = [
        [0, *accumulate(sorted((row[others] for row in rows), reverse=True))]
        for others in range(n_classes)
    ]
    some = replace(problem, n_classes=n_classes, max_support=min(problem.max_support, n_classes))
    rest = 3 ** (k - n_classes)
    return [
        _ColumnKind(
            Fraction(min(most[b][a], most[a][b]), unit), problem.least_cost(a + b), count * rest
        )
        for a, b, count in some.kinds()
    ]


def _pair_prices(listed: ColumnList) -> PairPrices:
    """Solve the linear program over all columns by generating them, and round its dual.

    A program over some columns prices pairs; columns that are worth more than their price join
    it, until none is left. Whatever the prices are, they prove a bound: the best is kept.
    """
    problem = listed.problem
    pairs = combinations(range(problem.n_classes), 2)
    demands = np.array([float(_entry(problem.demands, p, q, 1)) for p, q in pairs])
    length = min(problem.n_columns, len(listed))
    best, best_share, best_cost = np.ones(problem.n_pairs), np.inf, 0.0
    prices, column_price, cost_price = np.ones(problem.n_pairs), 0.0, 0.0
    chosen = np.zeros(0, dtype=np.int64)
    for _ in range(_MOST_ROUNDS):
        gains = listed.worth(prices) - cost_price * listed.costs
        last = max(0.0, float(np.partition(gains, len(gains) - length)[len(gains) - length]))
        total = length * last + cost_price * float(problem.budget or 0)
        total += float(np.maximum(gains - last, 0).sum())
        share = total / float(prices @ demands)
        if share < best_share:
            best, best_share, best_cost = prices, share, cost_price
        # Those in the program are worth no more than their price, but for their own limit.
        gains[chosen] = -np.inf
        joining = np.argsort(-gains, kind="stable")[:_JOINING]
        if len(chosen):
            joining = joining[gains[joining] > column_price + 1e-9 * max(1.0, last)]
        if not len(joining) or seconds_left(1.0) == 0:
            break
        chosen = np.concatenate([chosen, joining])
        solution = _solve_restricted(listed, chosen, demands)
        if solution is None or best_share - solution.objective <= 1e-10 * best_share:
            break
        prices, column_price, cost_price = solution.pairs, solution.column, solution.cost
    scale = 10**9 / float(best.max())
    whole = [max(0, round(float(price) * scale)) for price in best]
    cost = Fraction(f"{best_cost * scale:.12g}") if problem.budget is not None else Fraction(0)
    return PairPrices(whole, listed.priced(whole, cost))


@dataclass(frozen=True)
class _Duals:
    """The objective of a linear program over some columns, and its dual prices."""

    objective: float
    pairs: Floats
    column: float
    cost: float


def _solve_restricted(listed: ColumnList, chosen: Ints, demands: Floats) -> _Duals | None:
    """Solve the linear program over some of the columns."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, vstack

    problem, n = listed.problem, len(chosen)
    ease = np.broadcast_to(listed.ease, len(listed))[chosen]
    worth = separations(listed.columns(chosen)) * ease[:, None]
    rows = [csr_array(np.hstack([-worth.T, demands[:, None]]))]
    limits = [0.0] * problem.n_pairs
    rows.append(csr_array(np.append(np.ones(n), 0.0)[None, :]))
    limits.append(float(problem.n_columns))
    if problem.budget is not None:
        rows.append(csr_array(np.append(listed.costs[chosen], 0.0)[None, :]))
        limits.append(float(problem.budget))
    result = linprog(
        np.append(np.zeros(n), -1.0),
        A_ub=vstack(rows, format="csr"),
        b_ub=limits,
        bounds=[(0, 1)] * n + [(0, None)],
        method="highs",
    )
    if result.x is None:
        return None
    marginals = np.maximum(-np.asarray(result.ineqlin.marginals), 0)
    pairs = marginals[: problem.n_pairs]
    if not pairs.any():
        return None
    cost = float(marginals[-1]) if problem.budget is not None else 0.0
    return _Duals(-float(result.fun), pairs, float(marginals[problem.n_pairs]), cost)
