"""Some codebook that satisfies a problem, at once and however poor.

It is there for whoever is interrupted, or has set a limit that ends before anything better
is found. Columns are drawn at random among those that the balance rule admits, and kept if
they stand far enough from those kept before.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecoc.codes import Codebook, Provenance
from ecoc.design.problem import DesignProblem, balance_limit
from ecoc.errors import InvalidCodebookError

__all__ = ["sample_codebook"]

Signs = npt.NDArray[np.int8]

_ROUNDS = 4
_DRAWS = 200
_TRIES = 20
_FREE_CLASSES = 12
_MOST_ENTRIES = 4_000_000
"""Codebooks beyond this are tried once: a draw that is not admissible takes too long."""


def sample_codebook(problem: DesignProblem, *, random_state: int = 0) -> Codebook | None:
    """Draw a codebook that satisfies a problem; None if none was found.

    Examples
    --------
    >>> problem = DesignProblem(26, 40, max_imbalance=0.01, class_sizes=range(100, 126))
    >>> code = sample_codebook(problem)
    >>> problem.violations(code)
    []
    """
    generator = np.random.default_rng(random_state)
    large = problem.n_classes * problem.n_columns > _MOST_ENTRIES
    for _ in range(1 if large else _ROUNDS):
        matrix = _random_rows(problem, generator)
        if matrix is None or not _is_solution(problem, matrix):
            matrix = None if large else _random_columns(problem, generator)
        if matrix is not None and _is_solution(problem, matrix):
            return _codebook(matrix)
    return None


def _codebook(matrix: Signs) -> Codebook:
    return Codebook(matrix, name="designed", provenance=Provenance("sampling"))


def _is_solution(problem: DesignProblem, matrix: Signs) -> bool:
    try:
        return not problem.violations(_codebook(matrix))
    except InvalidCodebookError:
        return False


def _random_rows(problem: DesignProblem, generator: np.random.Generator) -> Signs | None:
    """Different rows: with few columns, random columns would hardly give any."""
    k, length = problem.n_classes, problem.n_columns
    if length > 30:
        bits = generator.integers(0, 2, size=(k, length))
    elif k > 1 << length:
        return None
    else:
        words = generator.choice(1 << length, size=k, replace=False)
        bits = (words[:, None] >> np.arange(length)) & 1
    return (2 * bits - 1).astype(np.int8)


def _random_columns(problem: DesignProblem, generator: np.random.Generator) -> Signs | None:
    """Columns that are balanced and separated as asked, as many as are soon found."""
    k = problem.n_classes
    least, most = problem.separation_limits
    columns = _BalancedColumns(problem, generator)
    kept = np.empty((k, 0), dtype=np.int8)
    for _ in range(_DRAWS):
        column = columns.draw()
        if column is None or kept.shape[1] == problem.n_columns:
            break
        column = column * column[0]
        apart = (k - column.astype(np.int64) @ kept) // 2
        if ((apart >= least) & (apart <= most) & (apart > 0) & (apart < k)).all():
            kept = np.column_stack([kept, column])
    return kept if kept.shape[1] else None


class _BalancedColumns:
    """Draws columns at random: all classes but a few, and then the few so that it fits."""

    def __init__(self, problem: DesignProblem, generator: np.random.Generator) -> None:
        self._generator = generator
        k = problem.n_classes
        self._sizes = np.array(problem.class_sizes or (1,) * k, dtype=np.int64)
        self._limit = int(self._sizes.sum()) - 1
        if problem.max_imbalance is not None:
            allowed = balance_limit(problem.max_imbalance, problem.class_sizes, k)
            self._limit = min(self._limit, allowed)
        n_free = 0 if self._limit == self._sizes.sum() - 1 else min(k, _FREE_CLASSES)
        bits = (np.arange(1 << n_free)[:, None] >> np.arange(n_free)) & 1
        self._choices = (2 * bits - 1).astype(np.int64)

    def draw(self) -> Signs | None:
        """One column; None where the limit is hardly ever met."""
        k = self._sizes.size
        n_free = self._choices.shape[1]
        for _ in range(_TRIES):
            column = (2 * self._generator.integers(0, 2, size=k) - 1).astype(np.int8)
            if n_free == 0:
                return column
            order = self._generator.permutation(k)
            free, fixed = order[:n_free], order[n_free:]
            sides = self._choices @ self._sizes[free] + int(column[fixed] @ self._sizes[fixed])
            fitting = np.flatnonzero(np.abs(sides) <= self._limit)
            if fitting.size:
                column[free] = self._choices[self._generator.choice(fitting)]
                return column
        return None
