"""Support vectors that several columns have in common, found once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

__all__ = ["distinct_vectors"]


def distinct_vectors(
    groups: Sequence[Any],
    *,
    merge: bool = True,
    likely: Sequence[npt.NDArray[np.int_]] | None = None,
) -> tuple[Any, list[npt.NDArray[np.intp]]]:
    """The different rows of some matrices.

    Parameters
    ----------
    groups : sequence of arrays or CSR matrices
        All with the same number of columns, and all dense or all sparse.
    merge : bool, default=True
        Look for rows that occur more than once; otherwise all are kept.
    likely : sequence of arrays of int, optional
        Numbers of the rows of each matrix: where rows of one number turn out to be equal, as
        they are if columns were trained on the same samples, nothing else is looked at.

    Returns
    -------
    array or CSR matrix
        The different rows.
    list of arrays of int
        For each matrix the places of its rows among them.

    Examples
    --------
    >>> rows, places = distinct_vectors([np.array([[1.0], [2.0]]), np.array([[2.0], [0.5]])])
    >>> rows[places[1]].ravel().tolist(), len(rows)
    ([2.0, 0.5], 3)
    """
    sparse = sp.issparse(groups[0])
    stacked = sp.vstack(groups, format="csr") if sparse else np.concatenate(groups)
    places = np.arange(stacked.shape[0])
    makers: list[Callable[[Any], npt.NDArray[Any]]] = [_sparse_keys if sparse else _dense_keys]
    if likely is not None:
        makers.insert(0, lambda _: np.concatenate(likely))
    for make_keys in makers if merge and len(places) else ():
        _, first, found = np.unique(make_keys(stacked), return_index=True, return_inverse=True)
        # Different rows with the same key would be wrong.
        if _same(stacked, stacked[first[found]]):
            stacked, places = stacked[first], found
            break
    ends = np.cumsum([group.shape[0] for group in groups])
    return stacked, np.split(places, ends[:-1])


def _same(left: Any, right: Any) -> bool:
    if sp.issparse(left):
        return bool((left != right).nnz == 0)
    return bool(np.array_equal(left, right))


def _sparse_keys(rows: Any) -> npt.NDArray[Any]:
    return np.asarray(rows @ np.random.default_rng(0).normal(size=rows.shape[1]))


def _dense_keys(rows: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
    """Keys from the bits of the rows, because a product may depend on where a row stands."""
    bits = np.ascontiguousarray(rows).view(np.uint64)
    # Round numbers end in many zero bits, which a product alone would keep.
    bits = bits * np.uint64(0x9E3779B97F4A7C15)
    bits ^= bits >> np.uint64(32)
    factors = np.random.default_rng(0).integers(1 << 63, size=rows.shape[1], dtype=np.uint64)
    return np.asarray((bits * (2 * factors + 1)).sum(axis=1))
