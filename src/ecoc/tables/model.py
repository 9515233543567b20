"""A trained classifier that knows the columns of the table it came from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from ecoc._checks import listing, require
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.classifier import SkopsFileMixin
from ecoc.multiclass.diagnostics.columns import unwrapped
from ecoc.tables.features import Encoded, Feature, encode
from ecoc.tables.reading import Table, as_table

__all__ = ["Predictions", "TableModel"]

_EXAMPLES = {"number": "0", "date": "2000-01-01", "category": ""}


@dataclass(frozen=True, eq=False)
class Predictions:
    """What a model says about the rows of a table.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        All classes of the model.
    labels : array of shape (n_rows,)
        The predicted class of each row.
    probabilities : array of shape (n_rows, n_classes), optional
        The probability of each class, if asked for.
    margins : array of int of shape (n_rows,), optional
        How many wrong columns each prediction can still absorb, if asked for.
    accuracy : float, optional
        The share of right predictions, if the table has the classes.
    notes : tuple of str
        What a person should know about the table.
    """

    classes: npt.NDArray[Any]
    labels: npt.NDArray[Any]
    probabilities: Floats | None = None
    margins: npt.NDArray[np.int64] | None = None
    accuracy: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def header(self) -> list[str]:
        """The names of what :meth:`rows` has."""
        margins = [] if self.margins is None else ["margin"]
        shares = [] if self.probabilities is None else [f"p({label})" for label in self.classes]
        return ["prediction", *margins, *shares]

    def rows(self) -> Iterator[list[object]]:
        """Prediction, margin and probabilities of each row, as far as they were asked for."""
        for row, label in enumerate(self.labels.tolist()):
            margins = [] if self.margins is None else [int(self.margins[row])]
            shares = [] if self.probabilities is None else self.probabilities[row].tolist()
            yield [label, *margins, *shares]

    def to_plain(self) -> dict[str, Any]:
        """The predictions as plain data, for machines."""
        return {
            "classes": self.classes.tolist(),
            "predictions": self.labels.tolist(),
            "margins": None if self.margins is None else self.margins.tolist(),
            "probabilities": None if self.probabilities is None else self.probabilities.tolist(),
            "accuracy": self.accuracy,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False, repr=False)
class TableModel(SkopsFileMixin):
    """A trained classifier and the columns that it takes.

    Parameters
    ----------
    pipeline : ECOCClassifier or Pipeline
        A fitted classifier, or a pipeline that ends in one.
    features : tuple of Feature
        The columns, in the order of the classifier's features.
    target : str, optional
        The column with the classes.
    impute : bool, default=False
        Whether the pipeline can deal with missing values.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> numbers, kinds = [[4], [2], [6], [4]], ["dog", "bird", "bee", "cow"]
    >>> classifier = ECOCClassifier(DecisionTreeClassifier(random_state=0)).fit(numbers, kinds)
    >>> model = TableModel(classifier, (Feature("legs"),))
    >>> model.predict(Table(("name", "legs"), (("Maja", "6"),), (2,), "data.csv")).labels.tolist()
    ['bee']
    """

    pipeline: Any
    features: tuple[Feature, ...]
    target: str | None = None
    impute: bool = False

    def __post_init__(self) -> None:
        width = sum(feature.width for feature in self.features)
        expected = getattr(self.pipeline, "n_features_in_", None)
        if width != expected:
            raise InvalidInputError(
                f"features must become the {expected} numbers that the classifier takes, not "
                f"{width}."
            )

    @classmethod
    def of(cls, model: Any) -> TableModel:
        """Any model as a table model: by the names of the features it was trained with."""
        if isinstance(model, cls):
            return model
        names = getattr(model, "feature_names_in_", None)
        if names is None:
            raise InvalidInputError(
                "The model does not know the names of its features, so it cannot find them in a "
                "table. Train it on a data frame, or with ecoc fit."
            )
        return cls(model, tuple(Feature(str(name)) for name in names))

    @property
    def classifier(self) -> ECOCClassifier:
        """The classifier at the end of the pipeline."""
        pipeline = self.pipeline
        return pipeline if isinstance(pipeline, ECOCClassifier) else pipeline[-1]

    def with_pipeline(self, pipeline: Any) -> TableModel:
        """A model of these columns with another classifier that takes them."""
        return replace(self, pipeline=pipeline)

    def renewed(self) -> TableModel:
        """The model made anew from its parts, which are checked, after reading it from a file."""
        features = tuple(
            Feature(
                part.name,
                part.categories,
                # Files of before have no more than these two.
                getattr(part, "rare", False),
                getattr(part, "dates", None),
            )
            for part in self.features
        )
        model = replace(self, features=features)
        # Parts that do not fit together show once a row is predicted.
        names = tuple(feature.name for feature in features)
        cells = tuple((part.categories or (_EXAMPLES[part.kind],))[0] for part in features)
        model.predict(Table(names, (cells,), (1,), "a row"), margin=True)
        return model

    def encode(self, table: Any) -> Encoded:
        """The features of a table or data frame as numbers."""
        return encode(as_table(table), self.features, allow_missing=self.impute)

    def predict(self, table: Any, *, proba: bool = False, margin: bool = False) -> Predictions:
        """Predict the class of each row.

        Parameters
        ----------
        table : Table or data frame
            Columns are found by name; those that the model does not take are ignored, and
            those that are not there count as missing in all rows.
        proba, margin : bool, default=False
            Give probabilities and margins too.
        """
        if proba and not hasattr(self.classifier, "predict_proba"):
            raise InvalidInputError(
                "The model has no probabilities, because its learner has none; train it with "
                "calibration, or with another learner."
            )
        table = as_table(table)
        encoded = self.encode(table)
        inner, reached = self._unwrapped(encoded)
        labels = inner.predict(reached)
        return Predictions(
            classes=inner.classes_,
            labels=labels,
            probabilities=inner.predict_proba(reached) if proba else None,
            margins=inner.margin(reached) if margin else None,
            accuracy=self._accuracy(table, labels),
            notes=(*table.notes, *encoded.notes),
        )

    def reach(self, table: Table) -> tuple[ECOCClassifier, Any]:
        """The classifier at the end of the pipeline, and what of a table comes to it."""
        return self._unwrapped(self.encode(table))

    def _unwrapped(self, encoded: Encoded) -> tuple[ECOCClassifier, Any]:
        return cast(tuple[ECOCClassifier, Any], unwrapped(self.pipeline, self._named(encoded.X)))

    def _named(self, numbers: Floats) -> Any:
        """The numbers as a data frame, if the model was trained on one."""
        names = getattr(self.pipeline, "feature_names_in_", None)
        if names is None:
            return numbers
        return require("pandas").DataFrame(numbers, columns=names)

    def _accuracy(self, table: Table, labels: npt.NDArray[Any]) -> float | None:
        if self.target is None or self.target not in table.names:
            return None
        truth = table.column(self.target)
        if not all(truth):
            return None
        return float(
            np.mean([str(label) == cell for label, cell in zip(labels, truth, strict=True)])
        )

    def __repr__(self) -> str:
        names = listing([feature.name for feature in self.features], limit=4)
        return f"<TableModel: {self.target or 'class'} from {names}>"
