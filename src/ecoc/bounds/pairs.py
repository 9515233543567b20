"""Bounds from counting pairs of columns: what a few columns of each size can still do.

A column with s classes on its smaller side has a sum of entries k - 2s. Two columns with such
sums a, b and inner product h both separate

    m = (C(k, 2) - (a^2 - k)/2 - (b^2 - k)/2 + (h^2 - k)/2) / 4

pairs of rows. Fix how many columns n_s there are of each size, and let all row distances
d_pq be at least d; their sum S and the excess E = S - C(k, 2) d are then known. Let y count
the ordered pairs of different columns by their sizes and by h, where a sum of entries is
made positive, and by |h| if one of the sums is 0. Then

* all pairs are counted: y summed over h is n_s n_t, or n_s (n_s - 1) for t = s;
* y is at most the number of columns at h that there are, for each of the n_s (or n_t);
* the distances of the pairs that columns of size s separate are at least d and exceed it by
  at most E in all: n_s s (k - s) d <= sum of m y + n_s s (k - s) <= the same + n_s E;
* with n columns in all, the sum of b h over the columns beside one of sum a, b being their
  sums, is a (k n - 2 (k - 1) d - k) up to 4 E: it is an entry of X' X X' 1, and the sums of
  the rows of X X' = n - 2 (d_pq) differ from k n - 2 (k - 1) d by at most 4 E in all;
* the sum of d_pq^2 over all pairs is the sum of all of these, and lies between limits that
  follow from E and the parities of distances.

If no numbers of columns leave such y, there is no codebook. The contradictions are found by
linear programs and written down as whole multipliers of the equations and inequalities.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import comb

import numpy as np

from ecoc.bounds.problem import Bound, BoundProblem, Proof
from ecoc.bounds.rows import columns_proof, least_sum

__all__ = ["pair_bound"]

_MAX_CLASSES = 12
_MAX_CASES = 32
_SCALE = 1 << 24


def pair_bound(problem: BoundProblem, packing: Proof | None = None, *, below: int) -> Bound | None:
    """Bound the least row distance by the pairs of columns that there can be.

    Parameters
    ----------
    problem : BoundProblem
        The problem, of at most 12 classes.
    packing : dict, optional
        A proof from :func:`column_limit` that fewer columns than L fit.
    below : int
        Only bounds below this are looked for.

    Returns
    -------
    Bound or None
        None where nothing is found, or too many combinations of columns would be tried.

    Examples
    --------
    >>> pair_bound(BoundProblem(6, 14), below=8).value
    7
    """
    k = problem.n_classes
    proof = columns_proof(problem, packing)
    if k > _MAX_CLASSES:
        return None
    refuted: list[Proof] | None = None
    distance = below
    while distance > 0:
        refutation = _refute(problem, proof["n_columns"], distance)
        if refutation is None:
            break
        refuted, distance = refutation, distance - 1
    if refuted is None:
        return None
    return Bound(
        "pairs",
        distance,
        proof | {"cases": refuted},
        f"no numbers of columns of each size leave enough pairs of columns for row distances "
        f"of at least {distance + 1}.",
    )


def _refute(problem: BoundProblem, n_columns: int, distance: int) -> list[Proof] | None:
    """Return multipliers for every combination of columns, or None if one is possible."""
    cases: list[Proof] = []
    for counts in _combinations(problem, n_columns, distance):
        if len(cases) == _MAX_CASES:
            return None
        multipliers = _contradiction(problem, counts, distance)
        if multipliers is None:
            return None
        if multipliers:
            cases.append({"columns": list(counts), "multipliers": multipliers})
    return cases


def _combinations(
    problem: BoundProblem, n_columns: int, distance: int
) -> Iterator[tuple[int, ...]]:
    """Produce numbers of columns of size 1, 2, ... that give a large enough sum."""
    k = problem.n_classes
    needed = least_sum(k, distance)

    def extend(size: int, left: int, total: int) -> Iterator[tuple[int, ...]]:
        # Sizes fall, so that all that can still be added is below this.
        if total + left * size * (k - size) < needed:
            return
        if size == 0:
            yield ()
            return
        # The most balanced columns first: where there is a codebook, that shows soonest.
        for taken in range(problem.n_of_size(size, left), -1, -1):
            for smaller in extend(size - 1, left - taken, total + taken * size * (k - size)):
                yield (*smaller, taken)

    yield from extend(k // 2, n_columns, 0)


@dataclass(frozen=True)
class _Relation:
    """Pairs of columns of two sizes at one inner product, s <= t."""

    s: int
    t: int
    h: int
    both: int
    most: int


def _contradiction(
    problem: BoundProblem, counts: tuple[int, ...], distance: int
) -> list[int] | None:
    """Return whole multipliers that contradict a combination of columns.

    None where there are none, and an empty list where parity is contradiction enough.
    """
    k = problem.n_classes
    excess = sum(n * s * (k - s) for s, n in enumerate(counts, 1)) - comb(k, 2) * distance
    squares = _square_limits(k, distance, excess)
    if squares is None:
        return []
    relations = _relations(problem, counts)
    sizes = [s for s, n in enumerate(counts, 1) if n]
    rows: list[list[int]] = []
    lows: list[int] = []
    highs: list[int] = []
    for i, s in enumerate(sizes):
        for t in sizes[i:]:
            rows.append([int((r.s, r.t) == (s, t)) for r in relations])
            pairs = counts[s - 1] * (counts[t - 1] - (s == t))
            lows.append(pairs)
            highs.append(pairs)
    for s in sizes:
        rows.append([r.both * (s in {r.s, r.t}) for r in relations])
        own = counts[s - 1] * s * (k - s)
        lows.append(own * (distance - 1))
        highs.append(own * (distance - 1) + counts[s - 1] * excess)
    for s in sizes:
        if 2 * s < k:
            rows.append([_first_moment(r, s, k) for r in relations])
            middle = (k - 2 * s) * (k * sum(counts) - 2 * (k - 1) * distance - k)
            lows.append(counts[s - 1] * (middle - 4 * excess))
            highs.append(counts[s - 1] * (middle + 4 * excess))
    rows.append([r.both * (1 if r.s == r.t else 2) for r in relations])
    own = sum(n * s * (k - s) for s, n in enumerate(counts, 1))
    lows.append(squares[0] - own)
    highs.append(squares[1] - own)
    return _multipliers(rows, lows, highs, [r.most for r in relations])


def _first_moment(relation: _Relation, s: int, k: int) -> int:
    """Return the sum of the other column times the inner product, for columns of size s."""
    if s not in {relation.s, relation.t}:
        return 0
    other = relation.s + relation.t - s
    return (k - 2 * other) * relation.h


def _multipliers(
    rows: list[list[int]], lows: list[int], highs: list[int], most: list[int]
) -> list[int] | None:
    """Return u with sum of u_+ low - u_- high above the largest value of u A y, if any."""
    from scipy.optimize import linprog

    matrix = np.array(rows, dtype=float)
    n_rows, n_columns = matrix.shape
    # Variables: u_+ and u_- of the rows, and w >= A'(u_+ - u_-) with w >= 0.
    gain = np.concatenate((-np.array(lows, dtype=float), np.array(highs, dtype=float), most))
    result = linprog(
        gain / max(1.0, np.abs(gain).max()),
        A_ub=np.hstack((matrix.T, -matrix.T, -np.eye(n_columns))),
        b_ub=np.zeros(n_columns),
        bounds=[(0, 1)] * (2 * n_rows) + [(0, None)] * n_columns,
        method="highs",
    )
    if result.x is None:
        return None
    u = [round(_SCALE * float(x)) for x in result.x[:n_rows] - result.x[n_rows : 2 * n_rows]]
    forced = sum(x * (low if x > 0 else high) for x, low, high in zip(u, lows, highs, strict=True))
    columns = zip(*rows, strict=True)
    room = (max(0, sum(x * a for x, a in zip(u, c, strict=True))) for c in columns)
    possible = sum(r * m for r, m in zip(room, most, strict=True))
    return u if forced > possible else None


def _square_limits(k: int, distance: int, excess: int) -> tuple[int, int] | None:
    """Return limits of the sum of squares of distances, None if parities are contradictory."""
    limits = []
    for a in range(k // 2 + 1):
        across = a * (k - a)
        odd = comb(k, 2) - across if distance % 2 else across
        if odd <= excess and (excess - odd) % 2 == 0:
            # Excesses are odd for so many pairs; the largest may take all that is left.
            largest = odd - 1 + (excess - odd + 1) ** 2 if odd else excess**2
            limits.append((2 * excess - odd, largest))
    if not limits:
        return None
    base = comb(k, 2) * distance**2 + 2 * distance * excess
    return base + min(low for low, _ in limits), base + max(high for _, high in limits)


def _relations(problem: BoundProblem, counts: tuple[int, ...]) -> list[_Relation]:
    k = problem.n_classes
    rho = problem.min_column_distance if problem.separation == "two-sided" else 1
    relations = []
    for s, n_s in enumerate(counts, 1):
        for t, n_t in enumerate(counts[s - 1 :], s):
            if not n_s or not n_t:
                continue
            forth, back = _valencies(k, s, t), _valencies(k, t, s)
            for h in sorted(forth):
                if abs(h) <= k - 2 * rho:
                    both = comb(k, 2) + (h * h - (k - 2 * s) ** 2 - (k - 2 * t) ** 2 + k) // 2
                    most = min(n_s * forth[h], n_t * back[h], n_s * (n_t - (s == t)))
                    relations.append(_Relation(s, t, h, both // 4, most))
    return relations


def _valencies(k: int, s: int, t: int) -> dict[int, int]:
    """Return how many columns of size t have the inner product h with one of size s."""
    valencies: dict[int, int] = {}
    for common in range(max(0, s + t - k), min(s, t) + 1):
        h = k - 2 * (s + t - 2 * common)
        if k in {2 * s, 2 * t}:
            h = abs(h)
        valencies[h] = valencies.get(h, 0) + comb(s, common) * comb(k - s, t - common)
    if 2 * t == k:
        # A column with equal sides was counted once with each of them.
        valencies = {h: count // 2 for h, count in valencies.items()}
    return {h: count for h, count in valencies.items() if h < k}
