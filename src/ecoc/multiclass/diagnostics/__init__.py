"""What goes wrong in a fitted classifier: in its columns, between them, and between classes.

Each function takes a fitted classifier and labelled samples, best those it was not trained
on. The result classes make themselves from plain arrays too (`from_scores`,
`from_predictions`), whatever trained the columns.
"""

from ecoc.multiclass.diagnostics.boundaries import DecisionBoundaries, decision_boundaries
from ecoc.multiclass.diagnostics.classes import ClassReport, Reliability
from ecoc.multiclass.diagnostics.columns import (
    ColumnErrors,
    ColumnUsefulness,
    ConfusionByDistance,
    ErrorCorrelation,
    column_errors,
    column_importances,
    column_usefulness,
    confusion_by_distance,
    error_correlation,
    unwrapped,
)
from ecoc.multiclass.diagnostics.comparison import (
    Comparison,
    PairedDifference,
    Splits,
    compare_on_splits,
)

__all__ = [
    "ClassReport",
    "ColumnErrors",
    "ColumnUsefulness",
    "Comparison",
    "ConfusionByDistance",
    "DecisionBoundaries",
    "ErrorCorrelation",
    "PairedDifference",
    "Reliability",
    "Splits",
    "column_errors",
    "column_importances",
    "column_usefulness",
    "compare_on_splits",
    "confusion_by_distance",
    "decision_boundaries",
    "error_correlation",
    "unwrapped",
]
