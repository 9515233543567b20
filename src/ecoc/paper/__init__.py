"""The tables and figures of the paper: printed, measured again, judged and drawn."""

from ecoc.paper.measuring import SCALES
from ecoc.paper.records import Record
from ecoc.paper.registry import PAPER_TABLES, paper_table
from ecoc.paper.reproduction import Reproduction, read_records
from ecoc.paper.runner import ReproductionCounts, ReproductionProgress, reproduce
from ecoc.paper.table import VERDICTS, Finding, PaperCell, PaperTable

__all__ = [
    "PAPER_TABLES",
    "SCALES",
    "VERDICTS",
    "Finding",
    "PaperCell",
    "PaperTable",
    "Record",
    "Reproduction",
    "ReproductionCounts",
    "ReproductionProgress",
    "paper_table",
    "read_records",
    "reproduce",
]
