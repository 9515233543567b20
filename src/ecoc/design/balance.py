"""Balanced columns at no price: exchanging the signs of whole codewords."""

from __future__ import annotations

import time

import numpy as np
import numpy.typing as npt

from ecoc.codes import Codebook

__all__ = ["balance_columns"]

_ALL_SIGNS = 16
"""Up to this many classes every choice of signs is tried."""

_STARTS = 12
_WORK = 2_000_000
"""How many entries all starts together may have."""

_BLOCK = 2048
_LOOK = 256


def balance_columns(
    codebook: Codebook, *, random_state: int = 0, deadline: float | None = None
) -> Codebook:
    """Turn round some codewords so that the columns split the classes more evenly.

    Negating a codeword leaves every distance between columns as it is, and turns the
    distance d to another codeword into n_columns - d. Only such choices count as keep the
    minimum row distance. In a code from a Hadamard matrix, whose codewords are all
    n_columns / 2 apart, that is every choice.

    Parameters
    ----------
    codebook : Codebook
        A codebook of +1 and -1.
    random_state : int, default=0
        For more than 16 classes, where signs are found by local search.
    deadline : float, optional
        When to stop by ``time.monotonic()``.

    Returns
    -------
    Codebook
        Its least balanced column is as balanced as could be found, and then the others; or
        the codebook itself, where nothing better was found.

    Examples
    --------
    >>> from ecoc.constructions import hadamard_matrix
    >>> code = Codebook(hadamard_matrix(12)[:10] * np.array(9 * [[1]] + [[-1]]))
    >>> int(abs(code.matrix.sum(axis=0)).max())
    6
    >>> better = balance_columns(code)
    >>> int(abs(better.matrix.sum(axis=0)).max())
    4
    >>> better.min_row_distance == code.min_row_distance
    True
    """
    matrix = codebook.matrix.astype(np.int64)
    # No column of an odd number of classes has equal sides.
    if np.abs(matrix.sum(axis=0)).max() <= codebook.n_classes % 2:
        return codebook
    label = _components(codebook, deadline)
    n_groups = int(label.max()) + 1
    if n_groups == 1:
        return codebook
    order = np.argsort(label, kind="stable")
    sums = np.add.reduceat(matrix[order], np.searchsorted(label[order], range(n_groups)), axis=0)
    if n_groups <= _ALL_SIGNS:
        signs = _all_signs(sums)
    else:
        signs = _local_signs(sums, random_state, deadline)
    if _cost(sums.sum(axis=0)) <= _cost(signs @ sums):
        return codebook
    return Codebook(
        matrix * signs[label][:, None],
        labels=codebook.labels,
        name=codebook.name,
        provenance=codebook.provenance,
    )


def _components(codebook: Codebook, deadline: float | None) -> npt.NDArray[np.intp]:
    """Which codewords can only be turned round together: the number of the group of each.

    Two that are farther apart than n_columns less the minimum distance would come too near
    if one of them were turned round. All are one group where the deadline comes first.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    rows = codebook.matrix.astype(np.float32)
    k, length = rows.shape
    # The product of two codewords is n_columns less twice their distance.
    product = np.float32(2 * codebook.min_row_distance - length)
    label: npt.NDArray[np.intp] = np.arange(k)
    for top in range(0, k, _BLOCK):
        for left in range(top, k, _BLOCK):
            if deadline is not None and time.monotonic() >= deadline:
                return np.zeros(k, dtype=np.intp)
            far = rows[top : top + _BLOCK] @ rows[left : left + _BLOCK].T < product
            first, second = np.nonzero(far)
            if not first.size:
                continue
            ends = label[first + top], label[second + left]
            n_groups = int(label.max()) + 1
            edges = coo_array((np.ones(first.size, dtype=np.int8), ends), (n_groups, n_groups))
            n_groups, merged = connected_components(edges, directed=False)
            label = merged[label].astype(np.intp)
            if n_groups == 1:
                return label
    return label


def _cost(column_sums: npt.NDArray[np.int64]) -> tuple[int, int]:
    """The least balanced column, then the fourth powers: their squares hardly vary."""
    return int(np.abs(column_sums).max()), int((column_sums**4).sum())


def _all_signs(sums: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The best signs of all, with the first one positive."""
    n = len(sums)
    bits = np.arange(1 << (n - 1))[:, None] >> np.arange(n - 1) & 1
    signs = np.column_stack([np.ones(len(bits), dtype=np.int64), 1 - 2 * bits])
    totals = signs @ sums
    order = np.lexsort([(totals**4).sum(axis=1), np.abs(totals).max(axis=1)])
    best: npt.NDArray[np.int64] = signs[order[0]]
    return best


def _local_signs(
    sums: npt.NDArray[np.int64], seed: int, deadline: float | None
) -> npt.NDArray[np.int64]:
    """Good signs: from some starts, change every sign that helps until none does."""
    generator = np.random.default_rng(seed)
    best = np.ones(len(sums), dtype=np.int64)
    values = sums.astype(np.float64)
    for start in range(max(1, min(_STARTS, _WORK // sums.size))):
        signs = np.ones_like(best) if start == 0 else generator.choice([-1, 1], size=len(best))
        total = (signs @ sums).astype(np.float64)
        cost = float((total**4).sum())
        improved = True
        while improved:
            improved = False
            for place in range(len(signs)):
                if deadline is not None and place % _LOOK == 0 and time.monotonic() >= deadline:
                    return best
                moved = total - 2 * signs[place] * values[place]
                squares = moved * moved
                moved_cost = float(squares @ squares)
                if moved_cost < cost:
                    signs[place] *= -1
                    total, cost, improved = moved, moved_cost, True
        if _cost(signs @ sums) < _cost(best @ sums):
            best = signs.copy()
    return best
