"""The records of a run as a reader looks at them: by table, with what became of the claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ecoc.errors import InvalidInputError
from ecoc.paper._record_checks import check_complete
from ecoc.paper.records import Record, Results, results_by_table
from ecoc.paper.registry import PAPER_TABLES
from ecoc.paper.table import Finding, PaperTable

__all__ = ["Reproduction", "findings"]


def findings(results: Mapping[str, Results]) -> list[Finding]:
    """Judge every claim of the paper from records alone, that of the headline first.

    Parameters
    ----------
    results : mapping of str to Results
        The results of each table, by its name.

    Examples
    --------
    >>> {finding.verdict for finding in findings({})}
    {'missing'}
    """
    tables = sorted(PAPER_TABLES.values(), key=lambda table: not table.headline)
    return [
        finding
        for table in tables
        for finding in table.findings(results.get(table.name, Results()))
    ]


class Reproduction:
    """What a run measured, complete enough to be shown.

    Parameters
    ----------
    records : sequence of Record
        What :func:`ecoc.paper.read_records` read.

    Attributes
    ----------
    tables : list of pairs of PaperTable and Results
        The tables that have records, in the order of the paper.
    findings : list of Finding
        What became of every claim of the paper, those without records too.
    records : list of Record
        The best record of every cell.

    Raises
    ------
    InvalidInputError
        If there are no records.
    FileFormatError
        If a record lacks what its table shows.

    Examples
    --------
    >>> ours = {"best": 14, "bound": 14, "gap": 0.0, "status": "OPTIMAL"}
    >>> record = Record("table2", {"k": 13, "L": 26}, "quick", "ok", {"best": 13}, ours)
    >>> Reproduction([record]).findings[0].text
    "1 of 1 are proved optimal, gap 0 %, certificates verified. The distance is larger than the
    paper's for k = 13."
    """

    def __init__(self, records: Sequence[Record]) -> None:
        if not records:
            raise InvalidInputError("There are no records to show; 'ecoc reproduce' makes them.")
        check_complete(records)
        results = results_by_table(records)
        self.tables: list[tuple[PaperTable, Results]] = [
            (table, results[name]) for name, table in PAPER_TABLES.items() if name in results
        ]
        self.findings = findings(results)
        self.records = [record for _, one in self.tables for record in one.records]

    @property
    def measured(self) -> list[Record]:
        """The cells that were measured."""
        return [record for record in self.records if record.status == "ok"]

    @property
    def finished(self) -> str:
        """When the last cell was finished."""
        return self._last.finished

    @property
    def machine(self) -> str:
        """What the last cell ran on."""
        facts = self._last.hardware
        return ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in facts.items())

    @property
    def versions(self) -> str:
        """The versions of what the last cell ran with."""
        return ", ".join(f"{name} {version}" for name, version in self._last.versions.items())

    @property
    def _last(self) -> Record:
        return max(self.records, key=lambda record: record.finished)
