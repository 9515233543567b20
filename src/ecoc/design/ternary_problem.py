"""What is wanted of a ternary codebook, whose columns leave classes out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import compress
from math import comb, floor
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import (
    Exact,
    check_choice,
    check_int,
    check_matrix,
    check_number,
    counted,
    exact,
    exact_text,
)
from ecoc.bounds.problem import TernaryBound, TernaryBoundProblem, exact_targets
from ecoc.bounds.ternary import (
    averaging_bound_of_covers,
    best_ternary_bound,
    exact_costs,
    exact_ease,
    separations,
)
from ecoc.codes import Codebook
from ecoc.design.problem import DesignProblem
from ecoc.errors import InfeasibleError, InvalidInputError, TooLargeError, UnsupportedError

__all__ = ["TERNARY_OBJECTIVES", "TernaryProblem"]

TERNARY_OBJECTIVES = {
    "max-min-cover": "cover",
    "guaranteed-errors": "errors",
    "max-min-distance": "distance",
    "weighted-cover": "weighted",
}
"""The objectives, and the goals of the bounds on them."""

_MAX_CLASSES = 200
_FEW_CLASSES = 40
_MATRICES = ("pair_weights", "class_similarity")
_PLACES = 12


@dataclass(frozen=True, eq=False)
class TernaryProblem(DesignProblem):
    """What is wanted of a codebook whose columns may leave classes out (entries 0).

    The cover of a pair of classes is the number of columns that set it apart: in which one
    class has +1 and the other -1. Zeros never raise a cover, so that something must limit how
    many classes a column uses, or what columns cost.

    Parameters
    ----------
    n_classes : int
        The number of classes, k; at most 200.
    n_columns : int, optional
        The most columns allowed, L; as many as the budget pays for where there is one.
    max_support : int, optional
        The most classes that a column uses; all of them by default.
    column_cost : float, default=1
        The exponent, theta: a column that trains on n data points costs n^theta. Points are
        classes, unless `class_sizes` are given.
    budget : float, optional
        What all columns may cost together.
    min_cover : int, default=1
        The least cover that every pair of classes must have.
    objective : str, default="max-min-cover"
        What is maximised: the least cover of a pair (``"max-min-cover"``); the errors that
        Hamming decoding surely corrects, columns that leave the true class out answering
        anything (``"guaranteed-errors"``); the least row distance, in which an entry 0 counts
        1/2 (``"max-min-distance"``); or, by data, the least cover of a pair over its weight,
        where easy columns count more, rounded down to six places (``"weighted-cover"``).
    pair_weights : array of shape (n_classes, n_classes), optional
        The cover that each pair needs, relative to others: how often its classes are confused.
        Positive and symmetric; 1 for all by default.
    class_similarity : array of shape (n_classes, n_classes), optional
        How alike classes are, from 0 to 1. A column counts as 1 less the mean similarity of
        the pairs that it sets apart. Decimals as written, with up to 12 places.
    min_column_distance, max_imbalance, class_sizes
        As in :class:`DesignProblem`. Columns are alike up to their sign, an entry 0 is half
        different from any other; the imbalance is a share of what a column uses.

    Examples
    --------
    >>> problem = TernaryProblem(10, 30, max_support=4)
    >>> problem.ternary_theory().value
    Fraction(2, 1)
    >>> TernaryProblem(10, budget=45).n_columns
    22
    """

    n_columns: int = 0
    objective: str = "max-min-cover"
    max_support: int | None = None
    column_cost: float = 1.0
    budget: float | None = None
    min_cover: int = 1
    pair_weights: npt.ArrayLike | None = None
    class_similarity: npt.ArrayLike | None = None

    def __post_init__(self) -> None:
        k = check_int("n_classes", self.n_classes, minimum=2)
        if k > _MAX_CLASSES:
            raise TooLargeError(
                f"Ternary codebooks are designed for up to {_MAX_CLASSES} classes, not {k:,}. "
                "Leave the alphabet out for a binary one."
            )
        check_choice("objective", self.objective, TERNARY_OBJECTIVES)
        self._check_costs()
        for name in _MATRICES:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _matrix(name, getattr(self, name), k))
        weighted = self.objective == "weighted-cover"
        if not weighted and (self.pair_weights is not None or self.class_similarity is not None):
            raise InvalidInputError(
                "pair_weights and class_similarity have a meaning for objective='weighted-cover'."
            )
        if self.separation != "two-sided" or self.n_symbols != 2 or self.nested:
            raise UnsupportedError(
                "Ternary codebooks are designed with columns separated up to their sign "
                "(separation='two-sided'), of +1, -1 and 0, and not nested."
            )
        if self.target_distances is not None:
            raise UnsupportedError("Target distances are for binary codebooks.")
        goal = self.objective
        object.__setattr__(self, "objective", "max-min-distance")
        super().__post_init__()
        object.__setattr__(self, "objective", goal)

    def _check_costs(self) -> None:
        k = self.n_classes
        support = k if self.max_support is None else self.max_support
        check_int("max_support", support, minimum=2, maximum=k)
        check_number("column_cost", self.column_cost, minimum=0, maximum=10)
        check_int("min_cover", self.min_cover, minimum=1)
        if self.budget is not None:
            check_number("budget", self.budget, minimum=0, maximum=1e12)
        if self.n_columns == 0:
            if self.budget is None:
                raise InvalidInputError("Give n_columns, or a budget that says what columns cost.")
            object.__setattr__(self, "n_columns", self._affordable())

    def _affordable(self) -> int:
        """As many columns of two classes as the budget pays for, but no more than there are."""
        sizes = sorted(self.class_sizes or (1,) * self.n_classes)
        least = self._plain_bounds(1).cost(sum(sizes[:2]))
        n = int(Fraction(str(self.budget)) / least) if least else 0
        if n < 1:
            raise InfeasibleError(
                f"The budget {self.budget:g} pays for no column: the cheapest costs "
                f"{exact_text(exact(least))}."
            )
        k = self.n_classes
        n_all: int = (3**k - 2 ** (k + 1) + 1) // 2
        return min(n, 10_000, n_all)

    def _plain_bounds(self, n_columns: int) -> TernaryBoundProblem:
        sizes = self.class_sizes
        return TernaryBoundProblem(
            self.n_classes,
            n_columns,
            self.support_limit,
            TERNARY_OBJECTIVES[self.objective],
            Fraction(str(self.column_cost)),
            None if self.budget is None else Fraction(str(self.budget)),
            None if sizes is None else tuple(sizes),
        )

    # ------------------------------------------------------------------ bounds

    @property
    def support_limit(self) -> int:
        """The most classes that a column uses."""
        return self.n_classes if self.max_support is None else self.max_support

    @property
    def maximises(self) -> bool:
        """Whether a larger objective is better, as it always is."""
        return True

    @property
    def objective_step(self) -> Fraction:
        """A unit of which every objective is a multiple."""
        steps = {"max-min-distance": Fraction(1, 2), "weighted-cover": Fraction(1, 10**6)}
        return steps.get(self.objective, Fraction(1))

    @cached_property
    def ternary_bounds(self) -> TernaryBoundProblem:
        """The problem as the room of bounds sees it; balance and separation are left out."""
        plain = self._plain_bounds(self.n_columns)
        if self.objective != "weighted-cover":
            return plain
        matrices = (
            None if value is None else tuple(tuple(row) for row in exact_targets(value))
            for value in (self.pair_weights, self.class_similarity)
        )
        demands, similarity = matrices
        return TernaryBoundProblem(
            **{name: getattr(plain, name) for name in plain.__dataclass_fields__}
            | {"demands": demands, "similarity": similarity}
        )

    def ternary_theory(self) -> TernaryBound:
        """The best bound on the objective, with its proof."""
        return best_ternary_bound(self.ternary_bounds)

    # --------------------------------------------------------------- judgement

    def objective_of(self, codebook: Codebook) -> Exact:
        """The objective of a codebook, recomputed from its matrix; exact."""
        if self.objective == "guaranteed-errors":
            return codebook.correctable_errors
        if self.objective == "max-min-distance":
            return exact(Fraction(str(codebook.min_row_distance)))
        columns = np.ascontiguousarray(codebook.matrix.T)
        covers = separations(columns).sum(axis=0)
        if self.objective == "max-min-cover":
            return int(covers.min())
        return self._weighted_cover(columns)

    def _weighted_cover(self, columns: npt.NDArray[np.int8]) -> Exact:
        problem = self.ternary_bounds
        ease = exact_ease(problem, columns)
        apart = separations(columns)
        pairs = np.transpose(np.triu_indices(self.n_classes, 1))
        demands = np.ones(len(pairs))
        if self.pair_weights is not None:
            demands = np.asarray(self.pair_weights)[tuple(pairs.T)]
        rough = np.array([float(value) for value in ease]) @ apart / demands
        shares = []
        # Fractions take long, and only pairs near the least can be it.
        for i in np.flatnonzero(rough <= rough.min() * (1 + 1e-9)):
            p, q = pairs[i].tolist()
            demand = Fraction(1) if problem.demands is None else problem.demands[p][q]
            shares.append(sum(compress(ease, apart[:, i].tolist()), Fraction(0)) / demand)
        # Rounded down, so that a bound can be met and files hold short numbers.
        return exact(Fraction(floor(min(shares) * 10**6), 10**6))

    def violations(self, codebook: Codebook) -> list[str]:
        """Say what a codebook lacks to be a solution, in integers and from its matrix alone."""
        if codebook.n_classes != self.n_classes:
            return [f"it has {codebook.n_classes} classes where {self.n_classes} are asked for"]
        if codebook.n_symbols != 2:
            return [f"it has {codebook.n_symbols} symbols where +1, -1 and 0 are asked for"]
        wrong = []
        if codebook.n_columns > self.n_columns:
            wrong.append(
                f"it has {counted(codebook.n_columns, 'column')} where "
                f"{counted(self.n_columns, 'is', 'are')} allowed"
            )
        if codebook.allow_repeated_columns:
            wrong.append("it may repeat columns")
        columns = np.ascontiguousarray(codebook.matrix.T)
        support = (columns != 0).sum(axis=1)
        if support.max() > self.support_limit:
            wrong.append(
                f"column {int(support.argmax())} uses {int(support.max())} classes where "
                f"max_support is {self.support_limit}"
            )
        cover = int(separations(columns).sum(axis=0).min())
        if cover < self.min_cover:
            wrong.append(
                f"a pair of classes is set apart by {counted(cover, 'column')}, not by at least "
                f"{self.min_cover}"
            )
        if self.budget is not None:
            cost = sum(exact_costs(self.ternary_bounds, columns), Fraction(0))
            if cost > Fraction(str(self.budget)):
                wrong.append(f"it costs {exact_text(exact(cost))}, more than {self.budget:g}")
        if self.max_imbalance is not None:
            wrong += self._uneven(codebook)
        if self.min_column_distance is not None and codebook.n_columns > 1:
            apart = codebook.min_column_distance() or 0
            if apart < self.min_column_distance:
                wrong.append(
                    f"two columns are {apart:g} apart, not at least {self.min_column_distance}"
                )
        return wrong

    def _uneven(self, codebook: Codebook) -> list[str]:
        positive, negative = codebook.column_balance(self.class_sizes).groups.tolist()
        share = Fraction(str(self.max_imbalance))
        for i, (one, other) in enumerate(zip(positive, negative, strict=True)):
            if abs(one - other) > share * (one + other):
                allowed = f"max_imbalance={self.max_imbalance:g} allows"
                return [f"column {i} has sides of {one} and {other}, less even than {allowed}"]
        return []

    def check_feasible(self) -> None:
        """Raise an :class:`InfeasibleError` where theory shows that no codebook exists."""
        k, length = self.n_classes, self.n_columns
        if 1 << min(length, k) < k:
            raise InfeasibleError(
                f"{counted(length, 'column')} cannot set all pairs of {k} classes apart. Ask for "
                f"at least {(k - 1).bit_length()}."
            )
        cover = TernaryBoundProblem(
            **{
                name: getattr(self._plain_bounds(length), name)
                for name in TernaryBoundProblem.__dataclass_fields__
            }
            | {"goal": "cover"}
        )
        # With many classes the first and quickest of all bounds must do.
        few = k <= _FEW_CLASSES
        bound = best_ternary_bound(cover) if few else averaging_bound_of_covers(cover)
        if bound.value < self.min_cover:
            times = "" if self.min_cover == 1 else f" {self.min_cover} times"
            pairs = f"every one of the {comb(k, 2)} pairs of classes apart{times}"
            raise InfeasibleError(
                f"No codebook sets {pairs}: {bound.reason} Ask for more columns, a larger "
                "max_support or a larger budget."
            )

    # ------------------------------------------------------------------- plain

    def to_plain(self) -> dict[str, Any]:
        """The problem as plain data, for files."""
        plain = super().to_plain()
        del plain["target_distances"]
        matrices = {
            name: value.tolist() if isinstance(value := getattr(self, name), np.ndarray) else None
            for name in _MATRICES
        }
        return {
            "alphabet": "ternary",
            **plain,
            "max_support": self.max_support,
            "column_cost": self.column_cost,
            "budget": self.budget,
            "min_cover": self.min_cover,
            **matrices,
        }

    @classmethod
    def from_plain(cls, value: object) -> TernaryProblem:
        """Read a problem from plain data; raises InvalidInputError if it is not one."""
        if not isinstance(value, dict) or value.get("alphabet") != "ternary":
            raise InvalidInputError("alphabet must be 'ternary'.")
        fields = {name: entry for name, entry in value.items() if name != "alphabet"}
        for name in _MATRICES:
            matrix = fields.get(name)
            if matrix is not None and not (
                isinstance(matrix, list)
                and all(isinstance(row, list) for row in matrix)
                and all(type(entry) in {int, float} for row in matrix for entry in row)
            ):
                raise InvalidInputError(f"{name} must be a matrix of numbers.")
        known = set(cls.__dataclass_fields__) - {"n_symbols", "nested", "target_distances"}
        unknown = sorted(set(fields) - known)
        if unknown:
            raise InvalidInputError(f"problem has the unknown key {unknown[0]!r}.")
        for required in ("n_classes", "n_columns"):
            check_int(required, fields.get(required), minimum=1)
        sizes = fields.get("class_sizes")
        if sizes is not None and not isinstance(sizes, list):
            raise InvalidInputError("class_sizes must be a list.")
        return cls(**fields)

    @cached_property
    def _key(self) -> tuple[Any, ...]:
        return tuple((name, str(value)) for name, value in self.to_plain().items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TernaryProblem) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)


def _matrix(name: str, values: npt.ArrayLike, n_classes: int) -> npt.NDArray[np.float64]:
    """Pair weights or similarities as a symmetric matrix of decimals."""
    matrix = check_matrix(name, values).copy()
    if matrix.shape != (n_classes, n_classes):
        raise InvalidInputError(
            f"{name} must have shape ({n_classes}, {n_classes}), not {matrix.shape}."
        )
    np.fill_diagonal(matrix, 0)
    matrix = matrix.round(_PLACES)
    if not np.isfinite(matrix).all() or not np.array_equal(matrix, matrix.T):
        raise InvalidInputError(f"{name} must be finite and symmetric.")
    entries = matrix[~np.eye(n_classes, dtype=bool)]
    if name == "pair_weights":
        if not ((entries > 0) & (entries <= 1e6)).all():
            raise InvalidInputError("pair_weights must be above 0, up to 1,000,000.")
    elif not ((entries >= 0) & (entries <= 1)).all():
        raise InvalidInputError("class_similarity must be from 0 to 1.")
    matrix.setflags(write=False)
    return matrix
