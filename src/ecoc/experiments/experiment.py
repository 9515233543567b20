"""What an experiment is: cells to measure, what they need, and a function that measures one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ecoc.experiments.paper_figures import Figures, Keys
from ecoc.experiments.workspace import Workspace

__all__ = ["Cell", "Experiment", "Measurement"]


@dataclass(frozen=True)
class Cell:
    """One place of a table or figure.

    Attributes
    ----------
    keys : mapping
        Which place.
    paper : mapping or None
        What the paper prints there.
    """

    keys: Keys
    paper: Figures | None = None


@dataclass(frozen=True)
class Measurement:
    """What was measured for a cell; the fields are those of a record.

    Examples
    --------
    >>> Measurement({"best": 10}).subset
    'complete'
    """

    measured: Figures
    standard_errors: Figures = field(default_factory=dict)
    sizes: Figures = field(default_factory=dict)
    subset: str = "complete"
    note: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Experiment:
    """A table or figure that can be measured.

    Attributes
    ----------
    name : str
        For example ``"table1"``.
    cells : callable
        From a scale to the cells that are measured at it.
    measure : callable
        From a cell and a workspace to its measurement.
    datasets : tuple of str
        The data sets that it needs.
    extra : str, optional
        The optional library that it needs.
    """

    name: str
    cells: Callable[[str], Sequence[Cell]]
    measure: Callable[[Cell, Workspace], Measurement]
    datasets: tuple[str, ...] = ()
    extra: str | None = None
