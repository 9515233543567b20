"""Records of what was measured, and the best of them for every cell of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ecoc.paper.measuring import SCALES

__all__ = ["Figures", "Keys", "Record", "Results", "identity", "latest", "results_by_table"]

Keys: TypeAlias = "Mapping[str, str | int | float]"
"""What a cell is about, such as ``{"k": 10}``."""

Figures: TypeAlias = "Mapping[str, Any]"
"""Values by name."""


@dataclass(frozen=True)
class Record:
    """One measured cell of a table or figure.

    Attributes
    ----------
    experiment : str
        The table or figure, for example ``"table1"``.
    keys : mapping
        Which cell of it.
    scale : {"smoke", "quick", "full"}
        The sizes that were used.
    status : {"ok", "skipped", "failed"}
        Whether there is a measurement.
    paper : mapping or None
        What the paper prints there; None where it prints nothing.
    measured : mapping
        What was measured, by the same names, and more. Accuracies are percentages.
    standard_errors : mapping
        The standard errors of those values that have one.
    sizes : mapping
        How many samples, splits and the like stand behind the values.
    seed : int
        What makes it again.
    subset : str
        Which part of the data was used, in words.
    note : str
        What else a reader must know; why it was skipped or failed.
    data : mapping
        What pictures are made of: codebooks, grids, matrices.
    seconds : float
        How long it took.
    finished : str
        When, in UTC.
    versions, hardware : mapping
        What it ran on.
    """

    experiment: str
    keys: Keys
    scale: str
    status: str
    paper: Figures | None = None
    measured: Figures = field(default_factory=dict)
    standard_errors: Figures = field(default_factory=dict)
    sizes: Figures = field(default_factory=dict)
    seed: int = 0
    subset: str = ""
    note: str = ""
    data: Figures = field(default_factory=dict)
    seconds: float = 0.0
    finished: str = ""
    versions: Figures = field(default_factory=dict)
    hardware: Figures = field(default_factory=dict)

    @property
    def identity(self) -> str:
        """Text that is equal for records of the same cell, scale and seed.

        Examples
        --------
        >>> Record("table2", {"k": 10, "L": 20}, "quick", "ok").identity
        'table2 L=20 k=10 quick seed 0'
        """
        return identity(self.experiment, self.keys, self.scale, self.seed)


def identity(experiment: str, keys: Keys, scale: str, seed: int) -> str:
    """Text that names a cell at a scale."""
    listed = " ".join(f"{key}={keys[key]}" for key in sorted(keys))
    return f"{experiment} {listed} {scale} seed {seed}"


def latest(records: Sequence[Record]) -> dict[str, Record]:
    """The last record of every cell, by identity; a measurement outlives a later failure.

    Examples
    --------
    >>> first = Record("table2", {"k": 10}, "quick", "failed")
    >>> second = Record("table2", {"k": 10}, "quick", "ok", measured={"best": 10})
    >>> [record.status for record in latest([first, second]).values()]
    ['ok']
    """
    last: dict[str, Record] = {}
    for record in records:
        known = last.get(record.identity)
        if known is None or record.status == "ok" or known.status != "ok":
            last[record.identity] = record
    return last


class Results:
    """The records of one table, of each cell that of the largest scale.

    Parameters
    ----------
    records : sequence of Record
        Of this table, as they were read.

    Attributes
    ----------
    records : tuple of Record
        One for each cell.
    shown : tuple of Record
        What was measured of each cell at the scales full and quick, the larger first; at the
        scale smoke only where nothing else was.

    Examples
    --------
    >>> small = Record("table2", {"k": 10}, "smoke", "ok", measured={"best": 9})
    >>> large = Record("table2", {"k": 10}, "quick", "ok", measured={"best": 10})
    >>> results = Results([large, small])
    >>> results.value("best", k=10), results.value("best", k=11)
    (10, None)
    >>> results.at("smoke").value("best", k=10)
    9
    """

    def __init__(self, records: Sequence[Record] = ()) -> None:
        cells: dict[str, dict[str, Record]] = {}
        for record in latest(records).values():
            at_scale = cells.setdefault(str(sorted(record.keys.items())), {})
            known = at_scale.get(record.scale)
            if known is None or _rank(record) > _rank(known):
                at_scale[record.scale] = record
        ranked = [sorted(cell.values(), key=_rank, reverse=True) for cell in cells.values()]
        self._every = [record for cell in ranked for record in cell]
        self.records = tuple(cell[0] for cell in ranked)
        self.shown = tuple(
            record
            for cell in ranked
            for place, record in enumerate(cell)
            if record.status == "ok" and (place == 0 or record.scale != "smoke")
        )

    def at(self, scale: str) -> Results:
        """The results of one scale alone."""
        return Results([record for record in self._every if record.scale == scale])

    @property
    def measured(self) -> list[Record]:
        """The cells that were measured."""
        return self.of("ok")

    def of(self, status: str) -> list[Record]:
        """The cells that have this status."""
        return [record for record in self.records if record.status == status]

    def one(self, **keys: str | int | float) -> Record | None:
        """The measured cell that has these keys, among others."""
        for record in self.measured:
            if all(record.keys.get(key) == value for key, value in keys.items()):
                return record
        return None

    def value(self, figure: str, **keys: str | int | float) -> float | None:
        """A measured figure of a cell; None if there is none."""
        record = self.one(**keys)
        return None if record is None else record.measured.get(figure)

    def error(self, figure: str, **keys: str | int | float) -> float:
        """The standard error of a measured figure; 0 where none is known."""
        record = self.one(**keys)
        return 0.0 if record is None else float(record.standard_errors.get(figure, 0.0))

    @property
    def scale(self) -> str:
        """The smallest scale among what was measured; empty if nothing was."""
        scales = {record.scale for record in self.measured}
        return next((scale for scale in SCALES if scale in scales), "")


def results_by_table(records: Sequence[Record]) -> dict[str, Results]:
    """The results of each table that has records, by its name.

    Examples
    --------
    >>> list(results_by_table([Record("table2", {"k": 10}, "quick", "ok")]))
    ['table2']
    """
    grouped: dict[str, list[Record]] = {}
    for record in records:
        grouped.setdefault(record.experiment, []).append(record)
    return {name: Results(of_table) for name, of_table in grouped.items()}


def _rank(record: Record) -> tuple[bool, int]:
    return record.status == "ok", SCALES.index(record.scale) if record.scale in SCALES else -1
