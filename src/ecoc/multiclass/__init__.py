"""Multiclass classifiers from a codebook and any learner; rooms for decoders and diagnostics."""

from ecoc.multiclass.choosing import CODEBOOKS, Choice, choose_codebook
from ecoc.multiclass.classifier import ECOCClassifier
from ecoc.multiclass.columns import ColumnError
from ecoc.multiclass.files import load_model, save_model
from ecoc.multiclass.joint import KernelRidgeColumns

__all__ = [
    "CODEBOOKS",
    "Choice",
    "ColumnError",
    "ECOCClassifier",
    "KernelRidgeColumns",
    "choose_codebook",
    "load_model",
    "save_model",
]
