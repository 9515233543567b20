"""Multiclass classifiers from binary learners and a codebook.

Training, decoding and probabilities; diagnostics; classifiers for tables, and their files.
"""

from ecoc.multiclass.boundaries import DecisionBoundaries, decision_boundaries
from ecoc.multiclass.choosing import CODEBOOKS, Choice, choose_codebook
from ecoc.multiclass.classifier import ECOCClassifier
from ecoc.multiclass.columns import (
    ColumnError,
    ColumnTask,
    column_scores,
    fit_columns,
    score_method,
)
from ecoc.multiclass.comparison import Comparison, PairedDifference, compare_on_folds
from ecoc.multiclass.correlation import ErrorCorrelation, error_correlation
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
from ecoc.multiclass.diagnostics import (
    ColumnErrors,
    ColumnUsefulness,
    ConfusionByDistance,
    column_errors,
    column_usefulness,
    confusion_by_distance,
)
from ecoc.multiclass.joint import JointLearner, joint_learner
from ecoc.multiclass.kernel_ridge import KernelRidgeColumns, loo_scores
from ecoc.multiclass.learners import LEARNERS, make_learner
from ecoc.multiclass.margins import hamming_margin
from ecoc.multiclass.model_files import load_model, save_model
from ecoc.multiclass.probabilities import couple, coupling_loss, normalise_rows
from ecoc.multiclass.table_model import Predictions, TableModel
from ecoc.multiclass.tables import Table, read_table
from ecoc.multiclass.training import TableFit, fit_table

__all__ = [
    "CODEBOOKS",
    "DECODERS",
    "LEARNERS",
    "LOSSES",
    "AttenuatedEuclidean",
    "Choice",
    "ColumnError",
    "ColumnErrors",
    "ColumnTask",
    "ColumnUsefulness",
    "Comparison",
    "ConfusionByDistance",
    "Coupling",
    "DecisionBoundaries",
    "Decoder",
    "ECOCClassifier",
    "ErrorCorrelation",
    "Euclidean",
    "FunctionDecoder",
    "Hamming",
    "InverseHamming",
    "JointLearner",
    "KernelRidgeColumns",
    "Learned",
    "LossBased",
    "LossWeighted",
    "PairedDifference",
    "Predictions",
    "SelfHealing",
    "Soft",
    "Table",
    "TableFit",
    "TableModel",
    "Votes",
    "automatic_decoder",
    "choose_codebook",
    "column_errors",
    "column_scores",
    "column_usefulness",
    "compare_on_folds",
    "confusion_by_distance",
    "couple",
    "coupling_loss",
    "decision_boundaries",
    "error_correlation",
    "fit_columns",
    "fit_table",
    "hamming_margin",
    "joint_learner",
    "load_model",
    "loo_scores",
    "make_decoder",
    "make_learner",
    "normalise_rows",
    "read_table",
    "save_model",
    "score_method",
]
