"""Clique rows on demand, for conflict graphs whose clique cover does not fit in memory."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ecoc.design.solvers import CliqueRows
from ecoc.graphs import ConflictGraph

__all__ = ["clique_separator"]

Columns = npt.NDArray[np.int64]


def clique_separator(graph: ConflictGraph) -> Callable[[Columns], CliqueRows]:
    """Return a function that finds the cliques which a choice of columns violates.

    For every two chosen columns that conflict, it gives a maximal clique that has both.

    Examples
    --------
    >>> separate = clique_separator(ConflictGraph(4, 2))
    >>> separate(np.array([1, 2, 3]))
    CliqueRows(indptr=array([0, 2, 4]), members=array([0, 2, 1, 2]))
    >>> separate(np.array([3, 5, 6]))
    CliqueRows(indptr=array([0]), members=array([], dtype=int64))
    """
    columns = graph.to_columns()

    def separate(chosen: Columns) -> CliqueRows:
        cliques = [
            _maximal_clique(graph, columns, a, b)
            for a, b in combinations(np.searchsorted(columns, chosen).tolist(), 2)
            if graph.conflicts(columns[a], columns[b])
        ]
        sizes = [0, *(clique.size for clique in cliques)]
        members = np.concatenate([np.zeros(0, dtype=np.int64), *cliques])
        return CliqueRows(np.cumsum(sizes), members)

    return separate


def _maximal_clique(graph: ConflictGraph, columns: Columns, a: int, b: int) -> Columns:
    """Grow a clique from two vertices, those nearest to both first."""
    left = np.intersect1d(graph.neighbours(a), graph.neighbours(b)).astype(np.int64)
    near = np.bitwise_count(columns[left] ^ columns[a]) + np.bitwise_count(
        columns[left] ^ columns[b]
    )
    left = left[np.argsort(near, kind="stable")]
    clique = [a, b]
    while left.size:
        clique.append(int(left[0]))
        left = left[1:][graph.conflicts(columns[left[1:]], columns[left[0]])]
    return np.sort(np.array(clique, dtype=np.int64))
