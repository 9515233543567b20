"""Multiclass classifiers from binary learners and a codebook: training, decoding, probabilities."""

from ecoc.multiclass.choosing import CODEBOOKS, Choice, choose_codebook
from ecoc.multiclass.classifier import ECOCClassifier
from ecoc.multiclass.columns import (
    ColumnError,
    ColumnTask,
    column_scores,
    fit_columns,
    score_method,
)
from ecoc.multiclass.decoding import (
    DECODERS,
    LOSSES,
    AttenuatedEuclidean,
    Coupling,
    Decoder,
    Euclidean,
    FunctionDecoder,
    Hamming,
    InverseHamming,
    Learned,
    LossBased,
    LossWeighted,
    SelfHealing,
    Soft,
    Votes,
    automatic_decoder,
    make_decoder,
)
from ecoc.multiclass.margins import hamming_margin
from ecoc.multiclass.probabilities import couple, coupling_loss, normalise_rows

__all__ = [
    "CODEBOOKS",
    "DECODERS",
    "LOSSES",
    "AttenuatedEuclidean",
    "Choice",
    "ColumnError",
    "ColumnTask",
    "Coupling",
    "Decoder",
    "ECOCClassifier",
    "Euclidean",
    "FunctionDecoder",
    "Hamming",
    "InverseHamming",
    "Learned",
    "LossBased",
    "LossWeighted",
    "SelfHealing",
    "Soft",
    "Votes",
    "automatic_decoder",
    "choose_codebook",
    "column_scores",
    "couple",
    "coupling_loss",
    "fit_columns",
    "hamming_margin",
    "make_decoder",
    "normalise_rows",
    "score_method",
]
