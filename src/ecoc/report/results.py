"""Records as a page looks at them: the best measurement of every cell."""

from __future__ import annotations

from collections.abc import Sequence

from ecoc.experiments.paper_figures import PAPER_PARTS
from ecoc.experiments.records import Record, latest
from ecoc.experiments.workspace import SCALES

__all__ = ["Results"]


class Results:
    """The records of a run, the largest scale of each cell.

    Parameters
    ----------
    records : sequence of Record
        As they were read.

    Examples
    --------
    >>> small = Record("table2", {"k": 10}, "smoke", "ok", measured={"best": 9})
    >>> large = Record("table2", {"k": 10}, "quick", "ok", measured={"best": 10})
    >>> results = Results([large, small])
    >>> results.value("table2", "best", k=10), results.value("table2", "best", k=11)
    (10, None)
    """

    def __init__(self, records: Sequence[Record]) -> None:
        best: dict[str, Record] = {}
        for record in latest(records).values():
            name = f"{record.experiment} {sorted(record.keys.items())}"
            known = best.get(name)
            if known is None or _rank(record) > _rank(known):
                best[name] = record
        self.records = tuple(best.values())

    def of(self, experiment: str, *, status: str = "ok") -> list[Record]:
        """The cells of a table or figure that have this status."""
        return [r for r in self.records if r.experiment == experiment and r.status == status]

    def one(self, experiment: str, **keys: str | int | float) -> Record | None:
        """The measured cell that has these keys, among others."""
        for record in self.of(experiment):
            if all(record.keys.get(key) == value for key, value in keys.items()):
                return record
        return None

    def value(self, experiment: str, figure: str, **keys: str | int | float) -> float | None:
        """A measured figure of a cell; None if there is none."""
        record = self.one(experiment, **keys)
        return None if record is None else record.measured.get(figure)

    def error(self, experiment: str, figure: str, **keys: str | int | float) -> float:
        """The standard error of a measured figure; 0 where none is known."""
        record = self.one(experiment, **keys)
        return 0.0 if record is None else float(record.standard_errors.get(figure, 0.0))

    def scale(self, experiment: str) -> str:
        """The smallest scale among what was measured; empty if nothing was."""
        found = {record.scale for record in self.of(experiment)}
        return next((scale for scale in SCALES if scale in found), "")

    @property
    def parts(self) -> list[str]:
        """The tables and figures that have records, in the order of the paper."""
        return [part for part in PAPER_PARTS if any(r.experiment == part for r in self.records)]


def _rank(record: Record) -> tuple[bool, int]:
    return record.status == "ok", SCALES.index(record.scale) if record.scale in SCALES else -1
