"""Classifiers for tables: what ``ecoc fit`` and ``ecoc predict`` do.

Reading a table, its columns as features, learners by name, training with held-out scores, and
the model that finds its columns in other tables.
"""

from ecoc.tables.features import Feature
from ecoc.tables.fitting import HeldOut, TableFit, fit_table
from ecoc.tables.learners import LEARNERS, installed_learners, make_learner
from ecoc.tables.model import Predictions, TableModel
from ecoc.tables.reading import Table, parse_table, read_table, record_table

__all__ = [
    "LEARNERS",
    "Feature",
    "HeldOut",
    "Predictions",
    "Table",
    "TableFit",
    "TableModel",
    "fit_table",
    "installed_learners",
    "make_learner",
    "parse_table",
    "read_table",
    "record_table",
]
