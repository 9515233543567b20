"""What is wanted of a codebook, as a value that can check any codebook against itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import comb, lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import (
    Exact,
    check_choice,
    check_class_sizes,
    check_enough_rows,
    check_int,
    check_matrix,
    check_number,
    counted,
    exact,
    listing,
)
from ecoc.bounds import Bound, BoundProblem, best_bound
from ecoc.bounds.nested import nested_bound
from ecoc.bounds.problem import SymbolBoundProblem, exact_targets, first_prefix
from ecoc.bounds.symbols import best_symbol_bound
from ecoc.codes import Codebook
from ecoc.codes.codebook import Separation
from ecoc.codes.columns import (
    Dichotomies,
    column_counts_by_weight,
    least_difference,
    separable_pairs,
)
from ecoc.codes.validation import check_symbols
from ecoc.errors import InfeasibleError, InvalidInputError, UnsupportedError
from ecoc.graphs import SEPARATIONS, ConflictGraph

__all__ = ["DesignProblem"]

_OBJECTIVES = ("max-min-distance", "target-distances")


@dataclass(frozen=True)
class DesignProblem:
    """What is wanted of a codebook.

    Parameters
    ----------
    n_classes, n_columns : int
        The number of classes, k, and the most columns allowed, L.
    min_column_distance : int, optional
        The column separation, rho. None asks only for distinct columns that are not
        complementary.
    separation : {"two-sided", "one-sided", "literal"}, default="two-sided"
        Which distances d of two columns are enough: rho <= d <= k - rho (a column and its
        complement are one classifier), rho <= d between columns with +1 for the first
        class, or rho <= d <= L - rho as the paper prints it.
    max_imbalance : float, optional
        The largest difference of the two sides of a column, as a share of the whole.
    class_sizes : sequence of int, optional
        The number of data points of each class, for the balance; 1 each by default.
    objective : {"max-min-distance", "target-distances"}, default="max-min-distance"
        Maximise the least row distance, or minimise the sum of the deviations of row
        distances from targets (equation 19).
    target_distances : array of shape (n_classes, n_classes), optional
        The targets; symmetric, the diagonal is not used. They are decimals as written: 1.3
        is thirteen tenths, and sums of deviations are exact.
    n_symbols : int, default=2
        The most groups that a column splits the classes into, q. With more than two, columns
        are alike up to renaming their symbols, the imbalance of a column is the difference of
        its largest and its smallest group, and there are no targets.
    nested : bool, default=False
        Maximise the sum of the least row distances of all prefixes of columns, from the
        `first_prefix` on, so that columns can be added later or dropped.

    Examples
    --------
    >>> problem = DesignProblem(10, 20, min_column_distance=3)
    >>> problem.graph.n_edges
    14025
    """

    n_classes: int
    n_columns: int
    min_column_distance: int | None = None
    separation: str = "two-sided"
    max_imbalance: float | None = None
    class_sizes: Sequence[int] | None = None
    objective: str = "max-min-distance"
    target_distances: npt.ArrayLike | None = None
    n_symbols: int = 2
    nested: bool = False

    def __post_init__(self) -> None:
        k = check_int("n_classes", self.n_classes, minimum=2)
        check_int("n_columns", self.n_columns, minimum=1)
        if self.min_column_distance is not None:
            check_int("min_column_distance", self.min_column_distance, minimum=1, maximum=k)
        check_choice("separation", self.separation, SEPARATIONS)
        check_choice("objective", self.objective, _OBJECTIVES)
        if self.max_imbalance is not None:
            check_number("max_imbalance", self.max_imbalance, minimum=0, maximum=1)
        if self.class_sizes is not None:
            sizes = check_class_sizes(self.class_sizes, k)
            object.__setattr__(self, "class_sizes", sizes)
        if (self.target_distances is not None) != (self.objective == "target-distances"):
            raise InvalidInputError(
                "target_distances and objective='target-distances' must be given together."
            )
        if self.target_distances is not None:
            targets = _as_targets(self.target_distances, k)
            object.__setattr__(self, "target_distances", targets)
        check_symbols(self.n_symbols, k)
        if self.n_symbols > 2 and (self.separation != "two-sided" or not self.maximises):
            raise UnsupportedError(
                "Codebooks of more than two symbols are designed for the least row distance and "
                "with columns separated up to renaming symbols (separation='two-sided')."
            )
        self._check_nested()

    def _check_nested(self) -> None:
        if not isinstance(self.nested, bool | np.bool_):
            raise InvalidInputError(f"nested must be True or False, not {self.nested!r}.")
        object.__setattr__(self, "nested", bool(self.nested))
        if not self.nested:
            return
        if not self.maximises:
            raise UnsupportedError(
                "Nested codebooks are designed for the least row distances of their prefixes, not "
                "for target distances."
            )
        if self.separation == "literal":
            raise UnsupportedError(
                "The literal separation depends on the number of columns, which is another one for "
                "each prefix of a nested codebook. Ask for 'two-sided' or 'one-sided'."
            )
        if self.n_symbols > 2 and (self.rho > 1 or self.max_imbalance is not None):
            raise UnsupportedError(
                "Nested codebooks of more than two symbols are designed without "
                "min_column_distance and max_imbalance."
            )

    @property
    def first_prefix(self) -> int:
        """The fewest columns whose words are as many as the classes, ceil(log2 k) for two symbols.

        The prefixes of a nested codebook count from here on.
        """
        return first_prefix(self.n_classes, self.n_symbols)

    @property
    def maximises(self) -> bool:
        """Whether a larger objective is better."""
        return self.objective == "max-min-distance"

    @property
    def rho(self) -> int:
        """The column separation as a number: 1 where none is asked for."""
        return self.min_column_distance or 1

    @property
    def candidates(self) -> Dichotomies:
        """The columns of two symbols that the balance rule admits."""
        if self.n_symbols > 2:
            raise UnsupportedError("Columns of more than two symbols are not dichotomies.")
        return Dichotomies(self.n_classes, self.max_imbalance, self.class_sizes)

    @property
    def column_counts(self) -> tuple[int, ...] | None:
        """How many columns the balance rule admits with 1, 2, ... classes on the smaller side.

        None where it admits all of them, and where there are too many to be looked at: then
        all of them stand for those that are admitted.
        """
        k = self.n_classes
        if self.max_imbalance is None:
            return None
        if self.class_sizes is None:
            limit = balance_limit(self.max_imbalance, None, k)
            return tuple(
                comb(k, side) // (2 if 2 * side == k else 1) if k - 2 * side <= limit else 0
                for side in range(1, k // 2 + 1)
            )
        if k > MAX_SCANNED_CLASSES:
            return None
        limit = balance_limit(self.max_imbalance, self.class_sizes, k)
        counts = column_counts_by_weight(tuple(self.class_sizes), limit)
        return tuple(
            counts[side] + (counts[k - side] if 2 * side < k else 0)
            for side in range(1, k // 2 + 1)
        )

    @property
    def symbol_bound_problem(self) -> SymbolBoundProblem:
        """The problem of several symbols as the room of bounds sees it.

        All columns stand for those that the balance rule admits.
        """
        return SymbolBoundProblem(self.n_classes, self.n_columns, self.n_symbols)

    def theory(self) -> Bound:
        """The best bound of coding theory on the objective, with its proof."""
        if self.nested:
            return nested_bound(
                self.bound_problem if self.n_symbols == 2 else self.symbol_bound_problem
            )
        if self.n_symbols > 2:
            return best_symbol_bound(self.symbol_bound_problem)
        return best_bound(self.bound_problem)

    @property
    def bound_problem(self) -> BoundProblem:
        """The problem of two symbols as the room of bounds sees it."""
        return BoundProblem(
            self.n_classes, self.n_columns, self.column_counts, self.rho, self.separation
        )

    @property
    def graph(self) -> ConflictGraph:
        """The conflict graph of the admissible columns."""
        return ConflictGraph(
            self.n_classes,
            self.rho,
            self.separation,
            n_columns=self.n_columns,
            columns=self.candidates if self.candidates.is_filtered else None,
        )

    # ------------------------------------------------------------- judgement

    @cached_property
    def _exact_targets(self) -> list[list[Fraction]]:
        return exact_targets(() if self.target_distances is None else self.target_distances)

    @property
    def objective_step(self) -> Fraction:
        """A unit of which every objective is a multiple."""
        if self.maximises:
            return Fraction(1)
        return Fraction(1, lcm(*(t.denominator for row in self._exact_targets for t in row)))

    def objective_of(self, codebook: Codebook) -> Exact:
        """The objective of a codebook, recomputed from its matrix; exact."""
        if self.nested:
            reached = codebook.prefix_distances()
            beyond = (self.n_columns - codebook.n_columns) * reached[-1]
            return exact(reached[self.first_prefix - 1 :].sum() + beyond)
        if self.maximises:
            return exact(codebook.min_row_distance)
        distances = codebook.row_distances().tolist()
        # In units of a step all deviations are whole.
        unit = 1 / self.objective_step
        total = sum(
            abs(distances[p][q] * unit - int(self._exact_targets[p][q] * unit))
            for q in range(self.n_classes)
            for p in range(q)
        )
        return exact(total / unit)

    def violations(self, codebook: Codebook) -> list[str]:
        """Say what a codebook lacks to be a solution, in integers and from its matrix alone."""
        if codebook.n_classes != self.n_classes:
            return [f"it has {codebook.n_classes} classes where {self.n_classes} are asked for"]
        wrong = []
        if codebook.n_columns > self.n_columns:
            wrong.append(
                f"it has {counted(codebook.n_columns, 'column')} where "
                f"{counted(self.n_columns, 'is', 'are')} allowed"
            )
        if codebook.n_symbols != self.n_symbols:
            wanted = "two" if self.n_symbols == 2 else self.n_symbols
            return [*wrong, f"it has {codebook.n_symbols} symbols where {wanted} are asked for"]
        if self.n_symbols == 2 and not codebook.is_binary:
            wrong.append("it leaves classes out of columns (entries 0)")
            return wrong
        if not self._separated(codebook):
            wrong.append(self._example_of_conflict(codebook))
        if self.max_imbalance is not None:
            balance = codebook.column_balance(self.class_sizes)
            admitted = balance_limit(self.max_imbalance, self.class_sizes, self.n_classes)
            worst = group_differences(balance.groups)
            if worst.max() > admitted:
                wrong.append(
                    f"column {int(worst.argmax())} has sides that differ by {int(worst.max())}, "
                    f"more than the {admitted} that max_imbalance={self.max_imbalance:g} allows"
                )
        return wrong

    def _separated(self, codebook: Codebook) -> bool:
        if codebook.n_columns == 1:
            return True
        if self.separation == "literal":
            distances = codebook.column_distances("one-sided")
            pairs = distances[np.triu_indices(codebook.n_columns, 1)]
            least, most = self.separation_limits
            return bool(least <= pairs.min() and pairs.max() <= most)
        rule: Separation = "two-sided" if self.separation == "two-sided" else "one-sided"
        if rule == "two-sided" and self.rho <= 1 and not codebook.allow_repeated_columns:
            return True  # Such codebooks have different columns; distances take long.
        return (codebook.min_column_distance(rule) or 0) >= self.rho

    def _example_of_conflict(self, codebook: Codebook) -> str:
        least, most = self.separation_limits
        if self.n_symbols > 2:
            return (
                f"two columns are {codebook.min_column_distance():g} apart up to renaming symbols, "
                f"not at least {least}"
            )
        distances = codebook.column_distances("one-sided")
        wrong = np.triu((distances < least) | (distances > most), k=1)
        i, j = np.argwhere(wrong)[0].tolist()
        return (
            f"columns {i} and {j} are {distances[i, j]} apart, not {least} to {most} "
            f"({self.separation} separation)"
        )

    @property
    def separation_limits(self) -> tuple[int, int]:
        """The least and the largest distance that two columns may have."""
        rho, k = self.rho, self.n_classes
        most = {"two-sided": k - rho, "one-sided": k, "literal": self.n_columns - rho}
        return rho, most[self.separation]

    # --------------------------------------------------------- infeasibility

    def check_feasible(self) -> None:
        """Raise an :class:`InfeasibleError` where theory shows that no codebook exists.

        The message says what would work. Passing is no proof that there is one.
        """
        k, length = self.n_classes, self.n_columns
        check_enough_rows(k, length, self.n_symbols)
        if self.n_symbols > 2:
            self._check_symbols()
            return
        least, most = self.separation_limits
        if k > 2 and (least > most or least > k - 1):
            largest = {"two-sided": k // 2, "one-sided": k - 1, "literal": length // 2}
            raise InfeasibleError(
                f"No two columns of {k} classes can be at least {least} apart by the "
                f"{self.separation} rule, and one column does not tell {k} classes apart. "
                f"Ask for min_column_distance <= {min(largest[self.separation], k - 1)}."
            )
        self._check_rows()
        if k <= MAX_SCANNED_CLASSES and self.candidates.is_filtered:
            self._check_balance()

    def _check_symbols(self) -> None:
        """Refuse a separation that no two partitions have.

        The groups of two partitions can be matched in q ways that share no pair of groups; one
        of them has at least k / q classes in matching groups.
        """
        k, q = self.n_classes, self.n_symbols
        most = k - -(-k // q)
        if self.rho > most and k > q:
            raise InfeasibleError(
                f"No two columns of {k} classes and {q} symbols can be at least {self.rho} apart. "
                f"Ask for min_column_distance <= {most}."
            )

    def _check_rows(self) -> None:
        """Refuse a separation that so many different rows cannot give.

        A row with w entries -1 among m columns adds w (m - w) to the sum of all column
        distances, and at most C(m, w) different rows have w of them.
        """
        k, rho = self.n_classes, self.rho
        if k > MAX_SCANNED_CLASSES or self._rows_allow(rho):
            return
        most = next(r for r in range(rho - 1, 0, -1) if self._rows_allow(r))
        raise InfeasibleError(
            f"{k} different rows cannot keep all columns at least {rho} apart, however many "
            f"columns are used. Ask for min_column_distance <= {most}."
        )

    def _rows_allow(self, rho: int) -> bool:
        k = self.n_classes
        for m in range((k - 1).bit_length(), self.n_columns + 1):
            left, total = k - 1, 0
            balanced_first = sorted((abs(m - 2 * w), w) for w in range(1, m + 1))
            for _, w in balanced_first:
                taken = min(left, comb(m, w))
                total += taken * w * (m - w)
                left -= taken
            if total >= rho * comb(m, 2):
                return True
        return False

    def _check_balance(self) -> None:
        sizes = tuple(self.class_sizes or (1,) * self.n_classes)
        limit = balance_limit(self.max_imbalance or 0, sizes, self.n_classes)
        if least_difference(sizes) > limit:
            raise InfeasibleError(
                f"No column is as balanced as max_imbalance={self.max_imbalance:g} asks. "
                f"Ask for at least {least_difference(sizes) / sum(sizes):.4g}."
            )
        apart = separable_pairs(sizes, limit)
        pairs = [
            f"{p} and {q}" for p, q in combinations(range(self.n_classes), 2) if not apart[p, q]
        ]
        if pairs:
            count = sum(column_counts_by_weight(sizes, limit))
            share = f"max_imbalance={self.max_imbalance:g}"
            columns = counted(
                count,
                f"column that {share} admits never tells",
                f"columns that {share} admits never tell",
            )
            raise InfeasibleError(
                f"The {columns} classes {listing(pairs)} apart. Ask for a larger max_imbalance."
            )

    # ----------------------------------------------------------------- plain

    def to_plain(self) -> dict[str, Any]:
        """The problem as plain data, for files."""
        targets = self.target_distances
        symbols = {"n_symbols": self.n_symbols} if self.n_symbols > 2 else {}
        nested = {"nested": True} if self.nested else {}
        return {
            **symbols,
            **nested,
            "n_classes": self.n_classes,
            "n_columns": self.n_columns,
            "min_column_distance": self.min_column_distance,
            "separation": self.separation,
            "max_imbalance": self.max_imbalance,
            "class_sizes": None if self.class_sizes is None else list(self.class_sizes),
            "objective": self.objective,
            "target_distances": targets.tolist() if isinstance(targets, np.ndarray) else None,
        }

    @classmethod
    def from_plain(cls, value: object) -> DesignProblem:
        """Read a problem from plain data; raises InvalidInputError if it is not one."""
        if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
            raise InvalidInputError("problem must be an object.")
        if "alphabet" in value:
            from ecoc.design.ternary_problem import TernaryProblem

            return TernaryProblem.from_plain(value)
        unknown = sorted(set(value) - set(cls.__dataclass_fields__))
        if unknown:
            raise InvalidInputError(f"problem has the unknown key {unknown[0]!r}.")
        for required in ("n_classes", "n_columns"):
            if required not in value:
                raise InvalidInputError(f"problem lacks {required}.")
        sizes = value.get("class_sizes")
        if sizes is not None and not isinstance(sizes, list):
            raise InvalidInputError("class_sizes must be a list.")
        if not isinstance(value.get("nested", False), bool):
            raise InvalidInputError("nested must be true or false.")
        targets = value.get("target_distances")
        if targets is not None and not (
            isinstance(targets, list)
            and all(isinstance(row, list) for row in targets)
            and all(type(entry) in {int, float} for row in targets for entry in row)
        ):
            raise InvalidInputError("target_distances must be a matrix of numbers.")
        return cls(**value)

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        targets = self.target_distances
        plain = self.to_plain() | {
            "target_distances": targets.tobytes() if isinstance(targets, np.ndarray) else None,
            "class_sizes": self.class_sizes,
        }
        return tuple(plain.items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DesignProblem) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


MAX_TARGET = 1_000_000
MAX_SCANNED_CLASSES = 26
"""The most classes whose columns are all looked at to find out what the balance rule leaves."""


def group_differences(groups: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """How much the largest and the smallest group of each column differ that have classes.

    Examples
    --------
    >>> group_differences(np.array([[3, 1], [0, 4], [2, 1]]))
    array([1, 3])
    """
    sizes = np.asarray(groups, dtype=np.int64)
    smallest = np.where(sizes > 0, sizes, np.iinfo(np.int64).max).min(axis=0)
    differences: npt.NDArray[np.int64] = sizes.max(axis=0) - smallest
    return differences


def balance_limit(max_imbalance: float, class_sizes: Sequence[int] | None, n_classes: int) -> int:
    """The largest difference of two sides, from the decimal as it was written."""
    total = n_classes if class_sizes is None else sum(class_sizes)
    return int(Fraction(str(max_imbalance)) * total)


def _as_targets(values: npt.ArrayLike, n_classes: int) -> npt.NDArray[np.float64]:
    targets = check_matrix("target_distances", values)
    if targets.shape != (n_classes, n_classes):
        raise InvalidInputError(
            f"target_distances must have shape ({n_classes}, {n_classes}), not {targets.shape}."
        )
    np.fill_diagonal(targets, 0)
    if not ((targets >= 0) & (targets <= MAX_TARGET)).all():
        raise InvalidInputError(f"target_distances must be from 0 to {MAX_TARGET:,}.")
    if not np.array_equal(targets, targets.T):
        p, q = np.argwhere(targets != targets.T)[0].tolist()
        raise InvalidInputError(
            f"target_distances must be symmetric; entries {p}, {q} and {q}, {p} differ."
        )
    exact_targets(targets)
    targets.setflags(write=False)
    return targets
