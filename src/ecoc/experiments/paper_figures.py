"""The figures that the paper prints, from the data files beside this module.

They are what Gupta & Amin (2021) report, and nothing else: what this package measures is
in records (:mod:`ecoc.experiments.records`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

from ecoc._checks import check_choice

__all__ = ["PAPER_PARTS", "Figures", "Keys", "PaperCell", "PaperTable", "paper_table"]

Keys: TypeAlias = "Mapping[str, str | int | float]"
"""What a cell is about, such as ``{"k": 10}``."""

Figures: TypeAlias = "Mapping[str, Any]"
"""Values by name."""

PAPER_PARTS = (
    *(f"table{number}" for number in range(1, 10)),
    "figure-boundaries",
    "figure-correlation",
    "figure-codebooks",
)
"""The tables and figures of the paper, by name."""


@dataclass(frozen=True)
class PaperCell:
    """What the paper prints in one place.

    Attributes
    ----------
    keys : mapping
        What the place is about.
    figures : mapping
        The printed values; accuracies are percentages.
    """

    keys: Keys
    figures: Figures


@dataclass(frozen=True)
class PaperTable:
    """A table or figure of the paper.

    Attributes
    ----------
    name : str
        For example ``"table1"``.
    title, caption : str
        A short title, and what the paper writes above it.
    cells : tuple of PaperCell
        All that it prints.
    """

    name: str
    title: str
    caption: str
    cells: tuple[PaperCell, ...]

    def figures(self, **keys: str | int | float) -> Figures | None:
        """The figures of the cell that has exactly these keys; None if there is none.

        Examples
        --------
        >>> paper_table("table2").figures(k=13, L=26)["best"]
        13
        >>> paper_table("table2").figures(k=99, L=1) is None
        True
        """
        return next((cell.figures for cell in self.cells if dict(cell.keys) == keys), None)


@cache
def paper_table(name: str) -> PaperTable:
    """Read a table or figure of the paper.

    Parameters
    ----------
    name : str
        A name of :data:`PAPER_PARTS`.

    Examples
    --------
    >>> table = paper_table("table1")
    >>> table.title, len(table.cells)
    ('Edge clique covers', 10)
    """
    check_choice("name", name, PAPER_PARTS)
    plain = json.loads(files("ecoc.experiments").joinpath(f"paper/{name}.json").read_text("utf-8"))
    cells = tuple(PaperCell(cell["keys"], cell["figures"]) for cell in plain["cells"])
    return PaperTable(plain["experiment"], plain["title"], plain["caption"], cells)
