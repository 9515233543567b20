"""All experiments, in the order in which `all` runs them: the quick ones first."""

from __future__ import annotations

from ecoc._checks import check_choice
from ecoc.experiments.attacks import TABLE8, TABLE9
from ecoc.experiments.correlation import FIGURE_CORRELATION
from ecoc.experiments.covers import TABLE1
from ecoc.experiments.designs import TABLE2
from ecoc.experiments.experiment import Experiment
from ecoc.experiments.gallery import FIGURE_CODEBOOKS
from ecoc.experiments.mnist_svm import TABLE5
from ecoc.experiments.networks import TABLE6, TABLE7
from ecoc.experiments.tabular import TABLE4
from ecoc.experiments.toy import FIGURE_BOUNDARIES, TABLE3

__all__ = ["EXPERIMENTS", "experiments_named"]

EXPERIMENTS: dict[str, Experiment] = {
    experiment.name: experiment
    for experiment in (
        TABLE2,
        FIGURE_CODEBOOKS,
        TABLE1,
        TABLE3,
        FIGURE_BOUNDARIES,
        TABLE4,
        TABLE5,
        TABLE6,
        TABLE7,
        FIGURE_CORRELATION,
        TABLE9,
        TABLE8,
    )
}
"""The experiments by name."""


def experiments_named(names: tuple[str, ...]) -> list[Experiment]:
    """The experiments of these names; ``"all"`` is all of them.

    Examples
    --------
    >>> [experiment.name for experiment in experiments_named(("table2", "table1"))]
    ['table2', 'table1']
    >>> len(experiments_named(("all",))) == len(EXPERIMENTS)
    True
    """
    for name in names:
        check_choice("name", name, (*EXPERIMENTS, "all"))
    chosen = EXPERIMENTS if "all" in names else dict.fromkeys(names)
    return [EXPERIMENTS[name] for name in chosen]
