"""The rows that every formulation shares: what is asked of columns, and the two objectives."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._typing import Floats, Ints
from ecoc.bounds import BoundProblem, averaging_bound, parity_bound
from ecoc.design.programs.linear_program import NameBlock
from ecoc.errors import InvalidInputError

__all__ = [
    "ObjectiveTerms",
    "Parts",
    "ProgramOptions",
    "RowBlock",
    "averaging_limit",
    "columns_by_weight",
    "derived_values",
    "deviation",
    "largest_total",
    "max_min",
    "parity_matters",
    "target_vector",
]


@dataclass(frozen=True, eq=False)
class ProgramOptions:
    """What is asked of the chosen columns, beside their conflicts.

    Parameters
    ----------
    targets : array of float, optional
        Wanted distances of the class pairs, as a symmetric k x k matrix or one number for
        each pair (0, 1), (0, 2), ...; the objective is then to minimise the sum of
        abs(distance - wanted), eq. 19 of the paper. By default the smallest distance is
        maximised.
    min_row_distance : float
        The distance that every pair of classes must have, whatever the objective.
    cutoff : float, optional
        A bound on the objective that is known from elsewhere: an upper bound on the
        smallest distance, or a lower bound on the sum of deviations.
    parity_cuts : bool
        Add the rows that follow from parity: the pairwise distances of three classes have
        an even sum. For the smallest distance t = 2s + b with b binary, every triple of
        classes has at least 3s + 2b columns that are not constant on it, and the sum of all
        distances limits t; for whole targets, a triple with an odd sum of targets deviates
        by at least 1. Left out where they cannot lower the bound by averaging, since they
        then only slow the solver down.
    """

    targets: npt.ArrayLike | None = None
    min_row_distance: float = 0
    cutoff: float | None = None
    parity_cuts: bool = True


@dataclass(frozen=True, eq=False)
class Parts:
    """A request whose input has been checked; positions are positions among the candidates."""

    columns: Ints
    n_classes: int
    n_columns: int
    options: ProgramOptions
    pair_labels: Ints | None = None

    @property
    def n_choices(self) -> int:
        """The number of variables before those of the objective."""
        return self.columns.size + (0 if self.pair_labels is None else len(self.pair_labels))

    def with_pairs(self, labels: Ints) -> Parts:
        """Return the parts with one more variable for each pair of candidates."""
        return replace(self, pair_labels=labels)

    def rows(
        self,
        names: NameBlock,
        indices: Sequence[Ints],
        values: Sequence[int | Ints],
        lower: float,
        upper: float,
    ) -> RowBlock:
        """Return rows of a few terms each: term i of every row from indices[i] and values[i]."""
        from scipy.sparse import csr_array

        n_rows, n_terms = len(names), len(indices)
        data = np.column_stack([np.broadcast_to(value, n_rows) for value in values])
        matrix = csr_array(
            (
                data.ravel().astype(np.float64),
                np.column_stack(indices).ravel().astype(np.int32),
                np.arange(n_rows + 1) * n_terms,
            ),
            shape=(n_rows, int(max((index.max(initial=0) for index in indices), default=0)) + 1),
        )
        matrix.sort_indices()
        matrix.eliminate_zeros()
        return RowBlock(names, matrix, lower, upper)


@dataclass(frozen=True, eq=False)
class RowBlock:
    """Rows of one kind: lower <= matrix x <= upper."""

    names: NameBlock
    matrix: Any
    lower: float | Floats
    upper: float | Floats

    def limits(self) -> tuple[Floats, Floats]:
        """The limits of every row."""
        n_rows = self.matrix.shape[0]
        return (
            np.broadcast_to(np.asarray(self.lower, dtype=np.float64), n_rows),
            np.broadcast_to(np.asarray(self.upper, dtype=np.float64), n_rows),
        )


def class_tuples(n_classes: int, size: int) -> Ints:
    """All increasing tuples of classes, one in each row."""
    tuples = list(combinations(range(n_classes), size))
    return np.array(tuples, dtype=np.int64).reshape(len(tuples), size)


def side(columns: Ints, class_: int) -> Ints:
    """Tell for each column, by 0 or 1, on which side of it a class stands."""
    if class_ == 0:
        return np.zeros_like(columns)
    bits: Ints = (columns >> (class_ - 1)) & 1
    return bits


def sparse_rows(rows: Iterable[Floats | Ints], n_variables: int) -> Any:
    """Stack dense rows as a sparse matrix, one at a time, to hold only the non-zeros."""
    from scipy.sparse import csr_array

    indices: list[npt.NDArray[np.int32]] = [np.empty(0, np.int32)]
    data: list[Floats] = [np.empty(0)]
    indptr = [0]
    for row in rows:
        where = np.flatnonzero(row)
        indices.append(where.astype(np.int32))
        data.append(row[where].astype(np.float64))
        indptr.append(indptr[-1] + where.size)
    return csr_array(
        (np.concatenate(data), np.concatenate(indices), np.array(indptr)),
        shape=(len(indptr) - 1, n_variables),
    )


def parted(columns: Ints, n_classes: int) -> Iterable[Ints]:
    """Yield, for each pair of classes, which columns part them: 1 where one does."""
    for p, q in class_tuples(n_classes, 2).tolist():
        yield side(columns, p) ^ side(columns, q)


def not_constant(columns: Ints, n_classes: int) -> Iterable[Ints]:
    """Yield, for each triple of classes, which columns are not constant on it."""
    for p, q, r in class_tuples(n_classes, 3).tolist():
        first = side(columns, p)
        yield (first ^ side(columns, q)) | (first ^ side(columns, r))


@dataclass(frozen=True, eq=False)
class ObjectiveTerms:
    """The variables behind the choices that carry the objective, and their rows."""

    names: tuple[NameBlock, ...]
    objective: Floats
    upper: Floats
    lower: Floats
    integral: bool
    rows: list[RowBlock]


def max_min(parts: Parts) -> ObjectiveTerms:
    """Return the objective: the largest smallest distance."""
    options, n_choices = parts.options, parts.n_choices
    parity = uses_parity(parts.columns, parts.n_classes, parts.n_columns, options)
    weights = parted(parts.columns, parts.n_classes)
    pairs = class_tuples(parts.n_classes, 2)
    distances = sparse_rows((_behind(row, n_choices, [-1]) for row in weights), n_choices + 1)
    rows = [RowBlock(NameBlock("distance", pairs), distances, 0.0, np.inf)]
    least, most = _limits(parts)
    names, objective, upper = [NameBlock("t")], [1.0], [most]
    if parity:
        names += [NameBlock("half"), NameBlock("odd")]
        objective += [0.0, 0.0]
        upper += [float(most // 2), 1.0]
        triples = class_tuples(parts.n_classes, 3)
        spread = sparse_rows(
            (
                _behind(row, n_choices, [0, -3, -2])
                for row in not_constant(parts.columns, parts.n_classes)
            ),
            n_choices + 3,
        )
        link = sparse_rows([_behind(np.zeros(0), n_choices, [1, -2, -1])], n_choices + 3)
        rows.append(RowBlock(NameBlock("triple", triples), spread, 0.0, np.inf))
        rows.append(RowBlock(NameBlock("parity"), link, 0.0, 0.0))
    return ObjectiveTerms(
        names=tuple(names),
        objective=np.array(objective),
        lower=np.array([least, 0.0, 0.0])[: len(names)],
        upper=np.array(upper),
        integral=True,
        rows=rows,
    )


def _limits(parts: Parts) -> tuple[float, float]:
    """Return limits of the smallest distance that no solution violates."""
    options = parts.options
    counts = columns_by_weight(parts.columns, parts.n_classes)
    average = largest_total(counts, parts.n_classes, parts.n_columns) / comb(parts.n_classes, 2)
    limit = options.cutoff if options.cutoff is not None else np.inf
    if options.parity_cuts:
        limit = min(limit, averaging_limit(counts, parts.n_classes, parts.n_columns))
    # A limit that the rows imply would take the reduced costs from every column, by which
    # solvers find good ones: eleven classes and 22 columns then take ten times as long.
    most = float(np.floor(limit)) if limit < average else float(parts.n_columns)
    least = float(np.ceil(options.min_row_distance))
    # Where they cross nothing is feasible, and the rows of the distances say so.
    return least, max(least, most)


def deviation(parts: Parts, targets: npt.ArrayLike) -> ObjectiveTerms:
    """Return the objective: the least sum of deviations from wanted distances, eq. 19."""
    from scipy.sparse import csr_array

    options, n_choices = parts.options, parts.n_choices
    wanted = target_vector(targets, parts.n_classes)
    pairs = class_tuples(parts.n_classes, 2)
    weights = parted(parts.columns, parts.n_classes)
    own = np.eye(len(pairs))
    n_variables = n_choices + len(pairs)
    above = sparse_rows(
        (_behind(-row, n_choices, own[i]) for i, row in enumerate(weights)), n_variables
    )
    below = above.copy()
    below.data = np.where(below.indices < n_choices, -below.data, below.data)
    integral = _whole(wanted)
    rows = [
        RowBlock(NameBlock("above", pairs), above, -wanted, np.inf),
        RowBlock(NameBlock("below", pairs), below, wanted, np.inf),
    ]
    if options.min_row_distance > 0:
        apart = csr_array(below[:, : parts.columns.size])
        rows.append(RowBlock(NameBlock("apart", pairs), apart, options.min_row_distance, np.inf))
    if uses_parity(parts.columns, parts.n_classes, parts.n_columns, options):
        odd = odd_triples(wanted, parts.n_classes)
        classes = np.column_stack([pairs[odd[:, 0]], pairs[odd[:, 1], 1]])
        terms = list(n_choices + odd.T)
        rows.append(parts.rows(NameBlock("triple", classes), terms, [1, 1, 1], 1, np.inf))
    if options.cutoff is not None:
        least = float(np.ceil(options.cutoff)) if integral else options.cutoff
        total = sparse_rows([_behind(np.zeros(0), n_choices, np.ones(len(pairs)))], n_variables)
        rows.append(RowBlock(NameBlock("cutoff"), total, least, np.inf))
    return ObjectiveTerms(
        names=(NameBlock("deviation", pairs),),
        objective=np.ones(len(pairs)),
        lower=np.zeros(len(pairs)),
        upper=np.full(len(pairs), np.inf),
        integral=integral,
        rows=rows,
    )


def derived_values(
    columns: Ints,
    n_classes: int,
    n_columns: int,
    options: ProgramOptions,
    positions: Ints,
) -> Floats:
    """Return the best values of the objective's variables once the columns are chosen."""
    weights = parted(columns[positions], n_classes)
    distances = np.array([float(row.sum()) for row in weights])
    if options.targets is not None:
        deviations: Floats = np.abs(distances - target_vector(options.targets, n_classes))
        return deviations
    smallest = distances.min()
    if uses_parity(columns, n_classes, n_columns, options):
        return np.array([smallest, smallest // 2, smallest % 2])
    return np.array([smallest])


def uses_parity(columns: Ints, n_classes: int, n_columns: int, options: ProgramOptions) -> bool:
    """Tell whether rows that follow from parity are asked for, hold, and lower the bound."""
    if not options.parity_cuts or n_classes < 3:
        return False
    if options.targets is not None:
        return True
    return parity_matters(columns_by_weight(columns, n_classes), n_classes, n_columns)


def target_vector(targets: npt.ArrayLike, n_classes: int) -> Floats:
    """Return the wanted distances as one number for each pair of classes."""
    wanted: Floats = np.asarray(targets, dtype=np.float64)
    pairs = class_tuples(n_classes, 2)
    if wanted.shape == (n_classes, n_classes):
        if not np.array_equal(wanted, wanted.T):
            raise InvalidInputError("targets must be a symmetric matrix.")
        wanted = wanted[pairs[:, 0], pairs[:, 1]]
    if wanted.shape != (len(pairs),):
        raise InvalidInputError(
            f"targets must have shape ({n_classes}, {n_classes}) or ({len(pairs)},), "
            f"not {wanted.shape}."
        )
    if not np.isfinite(wanted).all() or wanted.min() < 0:
        raise InvalidInputError("targets must be finite and not negative.")
    return wanted


def odd_triples(targets: Floats, n_classes: int) -> Ints:
    """Return the pairs of each triple of classes whose targets have an odd sum, by pair number.

    The distances within a triple have an even sum, so one of them must miss its target.
    """
    number = {tuple(pair): i for i, pair in enumerate(class_tuples(n_classes, 2).tolist())}
    inside = np.array(
        [
            (number[p, q], number[p, r], number[q, r])
            for p, q, r in class_tuples(n_classes, 3).tolist()
        ],
        dtype=np.int64,
    ).reshape(-1, 3)
    if not _whole(targets):
        return inside[:0]
    odd: Ints = inside[targets[inside].sum(axis=1) % 2 == 1]
    return odd


def _whole(values: Floats) -> bool:
    return bool((values == np.round(values)).all())


def _behind(row: npt.NDArray[np.generic], n_choices: int, tail: npt.ArrayLike) -> Floats:
    """Widen a row over the candidates to all choices, and append the objective's terms."""
    gap = np.zeros(n_choices - row.size)
    wide: Floats = np.concatenate([row, gap, np.asarray(tail)]).astype(np.float64)
    return wide


def columns_by_weight(columns: npt.NDArray[np.int64], n_classes: int) -> list[int]:
    """Count the columns that part w classes from class 0, for w = 0, ..., k - 1.

    Examples
    --------
    >>> columns_by_weight(np.array([1, 2, 3]), n_classes=3)
    [0, 2, 1]
    """
    counts = np.bincount(np.bitwise_count(columns), minlength=n_classes)
    return [int(count) for count in counts]


def largest_total(counts: Sequence[int], n_classes: int, n_columns: int) -> int:
    """Return the largest sum of distances over all pairs of classes."""
    return _problem(counts, n_classes, n_columns).largest_sum(n_columns)


def averaging_limit(counts: Sequence[int], n_classes: int, n_columns: int) -> int:
    """Return an upper bound on the smallest distance: the average, and parity.

    Examples
    --------
    >>> averaging_limit([0, 9, 36, 84, 126, 126, 84, 36, 9, 1], n_classes=10, n_columns=20)
    10
    """
    return parity_bound(_problem(counts, n_classes, n_columns)).value if n_columns else 0


def parity_matters(counts: Sequence[int], n_classes: int, n_columns: int) -> bool:
    """Tell whether parity makes the limit smaller than the average alone."""
    average = averaging_bound(_problem(counts, n_classes, n_columns)).value
    return averaging_limit(counts, n_classes, n_columns) < average


def _problem(counts: Sequence[int], n_classes: int, n_columns: int) -> BoundProblem:
    sides = [
        counts[s] + (counts[n_classes - s] if 2 * s < n_classes else 0)
        for s in range(1, n_classes // 2 + 1)
    ]
    return BoundProblem(n_classes, max(1, n_columns), tuple(sides))
