"""The integer program over all partitions of few classes into at most q groups.

A variable for each partition says whether it is a column. Where columns must be separated,
the conflicting pairs are covered by cliques, each of which gives a row, as for two symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int
from ecoc._typing import Ints
from ecoc.design.programs.linear_program import LinearProgram, NameBlock, Names
from ecoc.errors import InvalidInputError
from ecoc.graphs import Graph

__all__ = ["MAX_PARTITIONS", "PartitionProgram", "all_partitions", "build_partition_program"]

MAX_PARTITIONS = 25_000
"""The most columns that are listed: all partitions of nine classes."""


def all_partitions(n_classes: int, n_symbols: int) -> Ints:
    """Return every partition into 2 to q groups, one in each row, in lexicographic order.

    Groups are numbered in the order of their first classes.

    Examples
    --------
    >>> all_partitions(3, 3).tolist()
    [[0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]
    """
    check_int("n_classes", n_classes, minimum=2)
    check_int("n_symbols", n_symbols, minimum=2)
    words: list[tuple[int, ...]] = [(0,)]
    for _ in range(1, n_classes):
        words = [
            (*word, symbol) for word in words for symbol in range(min(max(word) + 2, n_symbols))
        ]
        if len(words) > MAX_PARTITIONS:
            raise InvalidInputError(
                f"{n_classes} classes have more than {MAX_PARTITIONS:,} partitions into at most "
                f"{n_symbols} groups. The integer program takes at most nine classes."
            )
    return np.array(words[1:], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class PartitionProgram:
    """An integer program and the way back from its variables to columns.

    Attributes
    ----------
    program : LinearProgram
        One variable for each partition, and the least distance last.
    partitions : ndarray of shape (n_partitions, n_classes)
        The candidates, in the order of the variables.
    """

    program: LinearProgram
    partitions: Ints

    def matrix_of(self, x: npt.ArrayLike) -> Ints:
        """Return the codebook of a solution, one column for each partition that it chooses.

        Examples
        --------
        >>> built = build_partition_program(3, 2, 3)
        >>> built.matrix_of([0, 1, 0, 1, 1]).tolist()
        [[0, 0], [1, 1], [0, 2]]
        """
        values = np.asarray(x, dtype=np.float64)
        chosen: Ints = self.partitions[values[:-1] > 0.5].T
        return chosen

    def start_vector(self, matrix: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the values of all variables that choose the columns of a codebook.

        Examples
        --------
        >>> built = build_partition_program(3, 2, 3)
        >>> built.start_vector([[2, 1], [0, 0], [2, 2]])
        array([0., 1., 0., 1., 1.])
        """
        columns = np.asarray(matrix, dtype=np.int64).T
        place = {tuple(word): i for i, word in enumerate(self.partitions.tolist())}
        x = np.zeros(len(self.partitions) + 1)
        for column in columns.tolist():
            names: dict[int, int] = {}
            word = tuple(names.setdefault(symbol, len(names)) for symbol in column)
            if word not in place:
                raise InvalidInputError("a column of the start is not one of the partitions.")
            x[place[word]] = 1
        chosen = self.partitions[x[:-1] > 0]
        pairs = np.triu_indices(self.partitions.shape[1], 1)
        x[-1] = (chosen[:, pairs[0]] != chosen[:, pairs[1]]).sum(axis=0).min()
        return x


def build_partition_program(
    n_classes: int,
    n_columns: int,
    n_symbols: int,
    *,
    min_column_distance: int = 1,
    cutoff: int | None = None,
    admissible: npt.ArrayLike | None = None,
) -> PartitionProgram:
    """Build the program: maximise the least distance t over sets of at most L partitions.

    Parameters
    ----------
    n_classes, n_columns, n_symbols : int
        The number of classes k, at most nine, of columns L, and of symbols q.
    min_column_distance : int, default=1
        How many classes must change their group to make one chosen column of another.
    cutoff : int, optional
        An upper bound on the least distance that is known from elsewhere.
    admissible : array of bool, shape (n_partitions,), optional
        Which of :func:`all_partitions` may be chosen; by default all of them.

    Examples
    --------
    >>> from ecoc.design.solvers import solve
    >>> built = build_partition_program(5, 6, 3, cutoff=4)
    >>> result = solve(built.program)
    >>> result.objective, built.matrix_of(result.x).shape
    (4.0, (5, 6))
    """
    from scipy.sparse import csr_array, hstack, vstack

    from ecoc.graphs import clique_cover

    check_int("n_columns", n_columns, minimum=1)
    rho = check_int("min_column_distance", min_column_distance, minimum=1, maximum=n_classes)
    everything = all_partitions(n_classes, n_symbols)
    kept = np.ones(len(everything), dtype=bool)
    if admissible is not None:
        kept = np.asarray(admissible, dtype=bool)
        if kept.shape != (len(everything),):
            raise InvalidInputError(
                f"admissible must have shape ({len(everything)},), not {kept.shape}."
            )
    partitions = everything[kept]
    n = len(partitions)
    pairs = np.array(list(combinations(range(n_classes), 2)))
    separated = (partitions[:, pairs[:, 0]] != partitions[:, pairs[:, 1]]).T.astype(np.float64)
    apart = hstack([csr_array(separated), csr_array(-np.ones((len(pairs), 1)))])
    count = csr_array(np.append(np.ones(n), 0.0)[None, :])
    blocks = [apart, count]
    names = [NameBlock("pair", pairs), NameBlock("columns")]
    lower = [np.zeros(len(pairs)), np.array([-np.inf])]
    upper = [np.full(len(pairs), np.inf), np.array([float(n_columns)])]
    if rho > 1:
        conflicts = Graph.from_edges(n, _conflicts(partitions, n_symbols, rho))
        cover = clique_cover(conflicts, "greedy")
        cliques = csr_array(
            (np.ones(cover.members.size), cover.members, cover.indptr), shape=(len(cover), n + 1)
        )
        blocks.append(cliques)
        names.append(NameBlock("clique", range(len(cover))))
        lower.append(np.full(len(cover), -np.inf))
        upper.append(np.ones(len(cover)))
    most = float(min(n_columns, n) if cutoff is None else cutoff)
    program = LinearProgram(
        "max",
        np.append(np.zeros(n), 1.0),
        vstack(blocks, format="csr"),
        np.concatenate(lower),
        np.concatenate(upper),
        np.zeros(n + 1),
        np.append(np.ones(n), most),
        np.ones(n + 1, dtype=bool),
        Names((NameBlock("x", partitions), NameBlock("t"))),
        Names(tuple(names)),
    )
    return PartitionProgram(program, partitions)


def _conflicts(partitions: Ints, n_symbols: int, rho: int) -> Ints:
    """Return the pairs of partitions of which fewer than rho classes change their group.

    Moving one class makes a neighbour, and fewer than rho steps lead to all that conflict.
    Steps may lead over partitions that are not candidates, so all of them are looked at.
    """
    from scipy.sparse import coo_array, csr_array

    k = partitions.shape[1]
    words = [(0,) * k, *map(tuple, all_partitions(k, n_symbols).tolist())]
    place = {word: i for i, word in enumerate(words)}
    sources, targets = [], []
    for i, word in enumerate(words):
        for p in range(k):
            for symbol in range(n_symbols):
                moved = (*word[:p], symbol, *word[p + 1 :])
                names: dict[int, int] = {}
                sources.append(i)
                targets.append(place[tuple(names.setdefault(s, len(names)) for s in moved)])
    size = len(words)
    step = csr_array(coo_array((np.ones(len(sources)), (sources, targets)), shape=(size, size)))
    step.data[:] = 1
    near = step
    for _ in range(rho - 2):
        near = near @ step
        near.data[:] = 1
    wanted = np.array([place[tuple(word)] for word in partitions.tolist()])
    first, second = coo_array(near[wanted][:, wanted]).coords
    conflicts: Ints = np.column_stack([first, second])[first < second]
    return conflicts
