"""Which worker holds which columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ecoc._typing import Floats, Ints
from ecoc.codes import Codebook

__all__ = ["column_contrasts", "place_columns"]

_MOST_PAIRS = 5000
"""The pairs of classes that are looked at, the nearest ones."""

_MOST_CLASSES = 2000
"""The most classes whose pairs are looked at."""

_MOST_WORK, _HURRIED_WORK = 4e7, 4e6
"""The exchanges of two columns that are tried, times the pairs of classes; and in a hurry."""

_BADNESS = np.power(3.0, np.arange(-50.0, 501.0))
"""How bad it is for two classes to lose half a column more, and half a column more than that."""


def column_contrasts(codebook: Codebook) -> npt.NDArray[np.int16] | None:
    """How far each column sets the pairs of classes apart that are nearest to each other.

    Parameters
    ----------
    codebook : Codebook
        A codebook.

    Returns
    -------
    array of shape (n_pairs, n_columns), or None
        2 where a pair is on different sides, or has different symbols, 1 where the column leaves
        one of the two classes out, else 0; None for thousands of classes.

    Examples
    --------
    >>> column_contrasts(Codebook([[1, 1, 1], [-1, 0, 1], [1, -1, -1]]))
    array([[2, 1, 0],
           [0, 2, 2],
           [2, 1, 2]], dtype=int16)
    """
    if codebook.n_classes > _MOST_CLASSES:
        return None
    first, second = np.triu_indices(codebook.n_classes, 1)
    distances = codebook.row_distances()[first, second]
    nearest = np.sort(np.argsort(distances, kind="stable")[:_MOST_PAIRS])
    one, other = (codebook.matrix[rows[nearest]].astype(np.int16) for rows in (first, second))
    if codebook.n_symbols > 2:
        return np.where(one == other, 0, 2).astype(np.int16)
    contrasts: npt.NDArray[np.int16] = np.abs(one - other)
    return contrasts


def place_columns(
    n_columns: int,
    workers: Sequence[str],
    *,
    replicas: int = 1,
    held: Mapping[str, Collection[int]] | None = None,
    contrasts: npt.NDArray[np.int16] | None = None,
) -> dict[str, frozenset[int]]:
    """Spread columns over workers, so that a lost worker costs as few as possible.

    No worker holds more than one column more than any other, and no column is twice on one.
    What a worker holds already stays there as far as that allows. Where each column is on one
    worker alone, the others are exchanged as long as that leaves classes further apart that are
    nearest to each other once a worker is lost.

    Parameters
    ----------
    n_columns : int
        The number of columns.
    workers : sequence of str
        The workers that there are.
    replicas : int, default=1
        On how many workers each column is held; on all of them if they are fewer.
    held : mapping, optional
        The columns that workers hold already.
    contrasts : array of shape (n_pairs, n_columns), optional
        What :func:`column_contrasts` returns.

    Returns
    -------
    dict
        The columns of each worker.

    Examples
    --------
    >>> for worker, columns in place_columns(5, ["a", "b"]).items():
    ...     print(worker, sorted(columns))
    a [0, 1, 3]
    b [2, 4]
    >>> moved = place_columns(5, ["b", "c"], held={"a": {0, 1, 3}, "b": {2, 4}})
    >>> sorted(moved["b"]), sorted(moved["c"])
    ([1, 2, 4], [0, 3])
    """
    if not workers:
        return {}
    copies = min(replicas, len(workers))
    n_places = copies * n_columns
    most, n_full = divmod(n_places, len(workers))
    # The workers that hold the most already are those that hold one more than the others.
    now = {worker: set((held or {}).get(worker, ())) for worker in workers}
    order = sorted(workers, key=lambda worker: -len(now[worker]))
    room = {worker: most + (place < n_full) for place, worker in enumerate(order)}
    lacking = dict.fromkeys(range(n_columns), copies)
    placed: dict[str, set[int]] = {worker: set() for worker in workers}
    movable = np.ones(n_columns, dtype=bool)
    for worker in workers:
        kept = [column for column in sorted(now[worker]) if lacking.get(column, 0)]
        for column in kept[: room[worker]]:
            placed[worker].add(column)
            lacking[column] -= 1
            movable[column] = False
    for column, count in lacking.items():
        for _ in range(count):
            _place(column, placed, room)
    if copies == 1 and contrasts is not None and most:
        places = {name: place for place, name in enumerate(workers)}
        owners = np.empty(n_columns, dtype=np.intp)
        for worker, columns in placed.items():
            owners[list(columns)] = places[worker]
        limit = _MOST_WORK if movable.all() else _HURRIED_WORK
        _exchange(owners, np.flatnonzero(movable), contrasts.astype(np.int64), limit)
        placed = {name: set(np.flatnonzero(owners == i).tolist()) for name, i in places.items()}
    return {worker: frozenset(columns) for worker, columns in placed.items()}


def _exchange(
    owners: npt.NDArray[np.intp], movable: npt.NDArray[np.intp], costs: Ints, limit: float
) -> None:
    """Exchange columns of different workers as long as that makes losing a worker less bad."""
    distances = costs.sum(axis=1)
    spare = (distances - distances.min())[:, None]
    lost = np.stack(
        [costs[:, owners == place].sum(axis=1) for place in range(owners.max() + 1)], axis=1
    )

    def badness(shares: Ints) -> Floats:
        """How bad it is to lose so much of the distance of each pair."""
        places = np.clip(shares - spare + 50, 0, len(_BADNESS) - 1)
        total: Floats = _BADNESS[places].sum(axis=0)
        return total

    work, improved = 0, True
    while improved:
        improved = False
        for column in movable:
            others = movable[owners[movable] != owners[column]]
            work += len(others) * len(costs)
            if work > limit or not len(others):
                return
            mine, theirs = owners[column], owners[others]
            change = costs[:, others] - costs[:, [column]]
            before = badness(lost)
            gain = before[mine] + before[theirs]
            gain -= badness(lost[:, [mine]] + change)
            gain -= badness(lost[:, theirs] - change)
            best = int(gain.argmax())
            if gain[best] > 1e-9 * before.sum():
                other = others[best]
                lost[:, mine] += change[:, best]
                lost[:, owners[other]] -= change[:, best]
                owners[column], owners[other] = owners[other], mine
                improved = True


def _place(column: int, placed: Mapping[str, set[int]], room: Mapping[str, int]) -> None:
    """Give a column to the worker with the most room that has it not."""
    free = {worker: room[worker] - len(columns) for worker, columns in placed.items()}
    able = [worker for worker, columns in placed.items() if free[worker] and column not in columns]
    if able:
        placed[max(able, key=lambda worker: free[worker])].add(column)
        return
    # Those with room have the column: one of them takes another column of a third worker.
    taker = next(worker for worker in placed if free[worker])
    for columns in placed.values():
        movable = columns - placed[taker]
        if column not in columns and movable:
            other = min(movable)
            columns.remove(other)
            placed[taker].add(other)
            columns.add(column)
            return
