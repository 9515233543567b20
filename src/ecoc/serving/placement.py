"""Which worker holds which columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

__all__ = ["place_columns"]


def place_columns(
    n_columns: int,
    workers: Sequence[str],
    *,
    replicas: int = 1,
    held: Mapping[str, Collection[int]] | None = None,
) -> dict[str, frozenset[int]]:
    """Spread columns over workers, so that a lost worker costs as few as possible.

    No worker holds more than one column more than any other, and no column is twice on one.
    What a worker holds already stays there as far as that allows.

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
    for worker in workers:
        kept = [column for column in sorted(now[worker]) if lacking.get(column, 0)]
        for column in kept[: room[worker]]:
            placed[worker].add(column)
            lacking[column] -= 1
    for column, count in lacking.items():
        for _ in range(count):
            _place(column, placed, room)
    return {worker: frozenset(columns) for worker, columns in placed.items()}


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
