"""Multiclass classifiers from a codebook and any learner; rooms for decoders and diagnostics."""

from ecoc.multiclass.adaptive import decoc, ecoc_one, forest_ecoc, minimal_code
from ecoc.multiclass.choosing import CODEBOOKS, Choice, choose_codebook
from ecoc.multiclass.classifier import ECOCClassifier
from ecoc.multiclass.columns import ColumnError
from ecoc.multiclass.files import load_model, save_model
from ecoc.multiclass.joint import KernelRidgeColumns
from ecoc.multiclass.subclasses import SubclassECOCClassifier

__all__ = [
    "CODEBOOKS",
    "Choice",
    "ColumnError",
    "ECOCClassifier",
    "KernelRidgeColumns",
    "SubclassECOCClassifier",
    "choose_codebook",
    "decoc",
    "ecoc_one",
    "forest_ecoc",
    "load_model",
    "minimal_code",
    "save_model",
]
