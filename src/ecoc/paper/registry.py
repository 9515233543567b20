"""All tables and figures, in the order of the paper: one line for each."""

from __future__ import annotations

from collections.abc import Sequence

from ecoc._checks import check_choice
from ecoc.paper.figures import FIGURE_BOUNDARIES, FIGURE_CODEBOOKS, FIGURE_CORRELATION
from ecoc.paper.table import PaperTable
from ecoc.paper.tables1and2 import TABLE1, TABLE2
from ecoc.paper.tables3to5 import TABLE3, TABLE4, TABLE5
from ecoc.paper.tables6and7 import TABLE6, TABLE7
from ecoc.paper.tables8and9 import TABLE8, TABLE9

__all__ = ["PAPER_TABLES", "paper_table", "tables_named"]

PAPER_TABLES: dict[str, PaperTable] = {
    table.name: table
    for table in (
        TABLE1,
        TABLE2,
        TABLE3,
        TABLE4,
        TABLE5,
        TABLE6,
        TABLE7,
        TABLE8,
        TABLE9,
        FIGURE_BOUNDARIES,
        FIGURE_CORRELATION,
        FIGURE_CODEBOOKS,
    )
}
"""The tables and figures of the paper, by name."""


def paper_table(name: str) -> PaperTable:
    """A table or figure of the paper.

    Parameters
    ----------
    name : str
        A name of :data:`PAPER_TABLES`.

    Examples
    --------
    >>> table = paper_table("table1")
    >>> table.title, len(table.printed)
    ('Edge clique covers', 10)
    >>> paper_table("table2").figures(k=13, L=26)["best"]
    13
    """
    check_choice("name", name, PAPER_TABLES)
    return PAPER_TABLES[name]


def tables_named(names: Sequence[str]) -> list[PaperTable]:
    """The tables of these names; ``"all"`` is all of them, those of low cost first.

    Examples
    --------
    >>> [table.name for table in tables_named(["table2", "table1"])]
    ['table2', 'table1']
    >>> [table.name for table in tables_named(["all"])][:3]
    ['table2', 'figure-codebooks', 'table1']
    """
    for name in names:
        check_choice("name", name, (*PAPER_TABLES, "all"))
    if "all" in names:
        return sorted(PAPER_TABLES.values(), key=lambda table: table.cost)
    return [PAPER_TABLES[name] for name in dict.fromkeys(names)]
