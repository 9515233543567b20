"""Ternary codebooks that are known to be good: pairs, trees, weighing matrices, blocks.

A block design carries a dense code on each of its blocks, columns leaving all other classes
out: if every pair of classes lies in r blocks, and the code has the row distance d, every pair
is set apart by at least r d columns.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb

import numpy as np

from ecoc._checks import fewest_columns
from ecoc._limits import Budget
from ecoc._typing import Signs
from ecoc.constructions.construct import construct
from ecoc.constructions.fields import prime_power
from ecoc.constructions.weighing import weighing_matrix
from ecoc.errors import InfeasibleError

__all__ = ["TernaryCode", "block_designs", "construct_ternary", "tree_columns"]

_MAX_BLOCKS = 2_000
_MAX_DENSE_COLUMNS = 12
_DENSE_WORK = 1e6
_MORE_ORDERS, _MAX_WEIGHING_ORDER = 3, 128
_MAX_STEPS = 1_000_000
"""The steps of a search for a difference set, for each residue."""


@dataclass(frozen=True, eq=False)
class TernaryCode:
    """A ternary matrix and how it was made."""

    matrix: Signs
    method: str


def construct_ternary(
    n_classes: int, n_columns: int, max_support: int, *, budget: Budget | None = None
) -> Iterator[TernaryCode]:
    """Produce the codebooks that fit into so many columns of so many classes at most.

    Parameters
    ----------
    n_classes, n_columns : int
        The number of classes, and the most columns.
    max_support : int
        The most classes that a column uses.
    budget : Budget, optional
        When to stop.

    Examples
    --------
    >>> [code.method for code in construct_ternary(6, 15, 3)]
    ['one-vs-one']
    >>> [code.matrix.shape for code in construct_ternary(7, 21, 3) if code.method == "blocks"]
    [(7, 14), (7, 21)]
    """
    budget = Budget() if budget is None else budget
    if comb(n_classes, 2) <= n_columns:
        yield TernaryCode(_pairs(n_classes), "one-vs-one")
    if max_support >= n_classes and n_classes - 1 <= n_columns:
        yield TernaryCode(tree_columns(n_classes), "tree")
    for matrix, method in _weighing_matrices(n_classes, n_columns, max_support):
        if budget.is_spent:
            break
        yield TernaryCode(matrix, method)
    for blocks in block_designs(n_classes, max_support, budget=budget):
        size = len(blocks[0])
        for length in range(fewest_columns(size), _MAX_DENSE_COLUMNS + 1):
            if budget.is_spent or length * len(blocks) > n_columns:
                break
            dense = _dense(size, length)
            if dense is not None:
                yield TernaryCode(_carried(n_classes, blocks, dense), "blocks")


def tree_columns(n_classes: int) -> Signs:
    """The columns of a balanced tree of dichotomies, which set every pair apart just once.

    Examples
    --------
    >>> tree_columns(3).tolist()
    [[1, 0], [-1, 1], [-1, -1]]
    """
    columns, parts = [], [list(range(n_classes))]
    while parts:
        part = parts.pop(0)
        if len(part) > 1:
            half = len(part) // 2
            column = np.zeros(n_classes, dtype=np.int8)
            column[part[:half]], column[part[half:]] = 1, -1
            columns.append(column)
            parts += [part[:half], part[half:]]
    return np.array(columns, dtype=np.int8).T


def _pairs(n_classes: int) -> Signs:
    columns = np.zeros((comb(n_classes, 2), n_classes), dtype=np.int8)
    for column, (p, q) in zip(columns, combinations(range(n_classes), 2), strict=True):
        column[p], column[q] = 1, -1
    return columns.T


def _weighing_matrices(
    n_classes: int, n_columns: int, max_support: int
) -> Iterator[tuple[Signs, str]]:
    """Produce the first rows of weighing matrices, which are orthogonal, the heaviest first."""
    last = min(n_columns, n_classes + _MORE_ORDERS, _MAX_WEIGHING_ORDER)
    for order in range(n_classes, last + 1):
        # Hadamard matrices are among the binary codes.
        for weight in range(order - 1, 3, -1):
            # Of more rows than classes a column may keep fewer than its weight.
            if weight > max_support + order - n_classes:
                continue
            matrix = weighing_matrix(order, weight)
            if matrix is None:
                continue
            rows = matrix[:n_classes].copy()
            # Orthogonal rows stay so, and columns of one sign get both.
            rows[1::2] *= -1
            rows = rows[:, (rows > 0).any(axis=0) & (rows < 0).any(axis=0)]
            used = np.abs(rows.astype(np.int64))
            apart = (used @ used.T - rows.astype(np.int64) @ rows.T) // 2 + np.eye(n_classes)
            if used.sum(axis=0).max() <= max_support and apart.min() > 0:
                yield rows, "conference" if weight == order - 1 else "weighing"


def block_designs(
    n_classes: int, max_size: int, *, budget: Budget | None = None
) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Produce designs whose blocks, of one size, have every pair of classes equally often.

    Lines of affine planes of prime order, difference sets and their shifts, and all sets of a
    size.

    Examples
    --------
    >>> next(block_designs(7, 3))
    ((0, 1, 3), (1, 2, 4), (2, 3, 5), (3, 4, 6), (0, 4, 5), (1, 5, 6), (0, 2, 6))
    """
    for size in range(max_size, 2, -1):
        if budget is not None and budget.is_spent:
            return
        if size * size == n_classes and prime_power(size) == (size, 1):
            yield _affine_lines(size)
        repeats, rest = divmod(size * (size - 1), n_classes - 1)
        base = None if rest or size >= n_classes - 1 else _difference_set(n_classes, size, repeats)
        if base is not None:
            shifts = range(n_classes)
            yield tuple(tuple(sorted((p + s) % n_classes for p in base)) for s in shifts)
        if comb(n_classes, size) <= _MAX_BLOCKS and size < n_classes:
            yield tuple(combinations(range(n_classes), size))


def _affine_lines(p: int) -> tuple[tuple[int, ...], ...]:
    lines = [tuple(p * x + (m * x + b) % p for x in range(p)) for m in range(p) for b in range(p)]
    return (*lines, *(tuple(p * x + y for y in range(p)) for x in range(p)))


@lru_cache(maxsize=256)
def _difference_set(order: int, size: int, repeats: int) -> tuple[int, ...] | None:
    """Residues whose differences are each other residue so many times, found by backtracking."""
    steps = 0

    def extend(chosen: tuple[int, ...], counts: tuple[int, ...]) -> tuple[int, ...] | None:
        nonlocal steps
        steps += 1
        if len(chosen) == size or steps > _MAX_STEPS // order:
            return chosen if len(chosen) == size else None
        for residue in range(chosen[-1] + 1, order):
            more = list(counts)
            for other in chosen:
                more[(residue - other) % order] += 1
                more[(other - residue) % order] += 1
            if max(more) <= repeats:
                longer = extend((*chosen, residue), tuple(more))
                if longer is not None:
                    return longer
        return None

    return extend((0,), (0,) * order)


@lru_cache(maxsize=128)
def _dense(size: int, length: int) -> Signs | None:
    """The best binary code of a size, or none where so many columns do not exist."""
    try:
        codebook = construct(size, length, random_state=0, work_limit=_DENSE_WORK)
    except InfeasibleError:
        return None
    return None if codebook is None else codebook.matrix


def _carried(n_classes: int, blocks: tuple[tuple[int, ...], ...], dense: Signs) -> Signs:
    """A dense code on each of some blocks, side by side; equal columns once."""
    columns = []
    for block in blocks:
        for column in dense.T:
            wide = np.zeros(n_classes, dtype=np.int8)
            wide[list(block)] = column * column[0]
            columns.append(wide)
    return np.unique(np.array(columns), axis=0).T
