"""Data sets, and the experiments that run on them."""

from ecoc.experiments.datasets import (
    DATASETS,
    Dataset,
    DatasetNotFoundError,
    load_dataset,
    make_toy,
)
from ecoc.experiments.paper_figures import PAPER_PARTS, PaperCell, PaperTable, paper_table
from ecoc.experiments.records import Record, read_records
from ecoc.experiments.runner import Outcome, Progress, reproduce
from ecoc.experiments.workspace import SCALES

__all__ = [
    "DATASETS",
    "PAPER_PARTS",
    "SCALES",
    "Dataset",
    "DatasetNotFoundError",
    "Outcome",
    "PaperCell",
    "PaperTable",
    "Progress",
    "Record",
    "load_dataset",
    "make_toy",
    "paper_table",
    "read_records",
    "reproduce",
]
