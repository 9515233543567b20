"""Balanced columns at no price: exchanging the signs of whole codewords."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecoc.codes import Codebook

__all__ = ["balance_columns"]

_ALL_SIGNS = 16
"""Up to this many classes every choice of signs is tried."""

_STARTS = 8


def balance_columns(codebook: Codebook, *, random_state: int = 0) -> Codebook:
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

    Returns
    -------
    Codebook
        Its least balanced column is as balanced as could be found, and then the others; or
        the codebook itself, where nothing better was found.

    Examples
    --------
    >>> from ecoc.codes.constructions import hadamard_matrix
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
    distances = codebook.row_distances()
    # Pairs that would come too near if one of the two were turned round.
    together = codebook.n_columns - distances < codebook.min_row_distance
    np.fill_diagonal(together, val=False)
    groups = _components(together)
    if len(groups) == 1:
        return codebook
    sums = np.array([matrix[group].sum(axis=0) for group in groups])
    signs = _all_signs(sums) if len(groups) <= _ALL_SIGNS else _local_signs(sums, random_state)
    if _cost(sums.sum(axis=0)) <= _cost(signs @ sums):
        return codebook
    flips = np.ones(codebook.n_classes, dtype=np.int64)
    for group, sign in zip(groups, signs, strict=True):
        flips[group] = sign
    return Codebook(
        matrix * flips[:, None],
        labels=codebook.labels,
        name=codebook.name,
        provenance=codebook.provenance,
    )


def _components(together: npt.NDArray[np.bool_]) -> list[npt.NDArray[np.intp]]:
    """Codewords that can only be turned round together."""
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components(together, directed=False)
    return [np.flatnonzero(label == part) for part in range(count)]


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


def _local_signs(sums: npt.NDArray[np.int64], seed: int) -> npt.NDArray[np.int64]:
    """Good signs: from several starts, change the sign that helps most until none does."""
    generator = np.random.default_rng(seed)
    best = np.ones(len(sums), dtype=np.int64)
    for start in range(_STARTS):
        signs = np.ones_like(best) if start == 0 else generator.choice([-1, 1], size=len(best))
        total = signs @ sums
        while True:
            moved = total - 2 * signs[:, None] * sums
            costs = (moved**4).sum(axis=1)
            place = int(costs.argmin())
            if costs[place] >= (total**4).sum():
                break
            signs[place] *= -1
            total = moved[place]
        if _cost(signs @ sums) < _cost(best @ sums):
            best = signs.copy()
    return best
