"""From a table to a trained, cross-validated classifier, with learners by name."""

# ruff: noqa: N803, N806  # X and C are what scikit-learn calls them

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from ecoc._checks import check_choice, check_number, listing
from ecoc._typing import Floats
from ecoc.codes import Codebook, make_code
from ecoc.errors import InvalidInputError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.diagnostics import (
    ColumnErrors,
    ColumnUsefulness,
    Comparison,
    ConfusionByDistance,
    ErrorCorrelation,
    check_folds,
    compare_on_folds,
    unwrapped,
)
from ecoc.tables.features import encode, find_features, read_labels, rows_with_class
from ecoc.tables.model import TableModel
from ecoc.tables.reading import as_table

__all__ = ["LEARNERS", "HeldOut", "Learner", "TableFit", "fit_table", "make_learner"]


@dataclass(frozen=True)
class Learner:
    """A binary learner, not fitted.

    Attributes
    ----------
    estimator : object
        A classifier or a regressor of scikit-learn's kind.
    scaled : bool
        Whether features should be brought to one scale for it.
    """

    estimator: Any
    scaled: bool


@dataclass(frozen=True)
class _Kind:
    make: Callable[..., Any]
    scaled: bool = True
    takes: tuple[str, ...] = ()


def _svm(**settings: Any) -> Any:
    from sklearn.svm import SVC

    return SVC(**settings)


def _linear_svm(**settings: Any) -> Any:
    from sklearn.svm import LinearSVC

    return LinearSVC(max_iter=10_000, **settings)


def _logistic(**settings: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=1000, **settings)


def _kernel_ridge(**settings: Any) -> Any:
    from ecoc.multiclass.joint.kernel_ridge import KernelRidgeColumns

    return KernelRidgeColumns(**settings)


def _tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier()


def _forest() -> Any:
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier()


def _naive_bayes() -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB()


_KINDS = {
    "svm": _Kind(_svm, takes=("C", "gamma")),
    "kernel-ridge": _Kind(_kernel_ridge, takes=("gamma",)),
    "tree": _Kind(_tree, scaled=False),
    "forest": _Kind(_forest, scaled=False),
    "logistic": _Kind(_logistic, takes=("C",)),
    "linear-svm": _Kind(_linear_svm, takes=("C",)),
    "naive-bayes": _Kind(_naive_bayes, scaled=False),
}

LEARNERS = tuple(_KINDS)
"""The names that a learner can be asked for by."""

_MANY_ROWS = 5000
"""Rows from which on a kernel machine takes more time than a first look is worth."""


def make_learner(name: str, *, C: float | None = None, gamma: float | None = None) -> Learner:
    """Make a binary learner.

    Parameters
    ----------
    name : str
        One of :data:`LEARNERS`: a support vector machine with a Gaussian kernel, least
        squares with the same kernel, a decision tree, a forest of 100, logistic regression,
        a linear support vector machine, or naive Bayes with Gaussian features.
    C, gamma : float, optional
        The price of errors, and the kernel's parameter, for the learners that have them.

    Examples
    --------
    >>> make_learner("svm", C=10.0)
    Learner(estimator=SVC(C=10.0), scaled=True)
    """
    kind = _KINDS[check_choice("learner", name, LEARNERS)]
    settings = {
        key: check_number(key, value)
        for key, value in (("C", C), ("gamma", gamma))
        if value is not None
    }
    for key, value in settings.items():
        if key not in kind.takes:
            having = ", ".join(other for other, its in _KINDS.items() if key in its.takes)
            raise InvalidInputError(f"{key} is a setting of {having}, not of {name}.")
        if value <= 0:
            raise InvalidInputError(f"{key} must be above 0, not {value:g}.")
    return Learner(kind.make(**settings), kind.scaled)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Diagnostics of the columns on samples that they were not trained on.

    Attributes
    ----------
    errors, correlation, confusion
        See :mod:`ecoc.multiclass.diagnostics`.
    usefulness : ColumnUsefulness, optional
        Not for decoders that learn from the training data.
    """

    errors: ColumnErrors
    correlation: ErrorCorrelation
    confusion: ConfusionByDistance
    usefulness: ColumnUsefulness | None


@dataclass(frozen=True, eq=False, repr=False)
class TableFit:
    """What training on a table gave.

    Attributes
    ----------
    model : TableModel
        Trained on all rows.
    comparison : Comparison
        The chosen codebook beside one-vs-rest and one-vs-one, on the same folds.
    held_out : HeldOut, optional
        Diagnostics from the first round of folds; None where the codebook depends on the
        training data, so that each fold has another.
    source, target, learner : str
        The file, the column of classes, and the name of the learner.
    class_sizes : mapping
        The rows of each class.
    notes : tuple of str
        What was made of the table.
    """

    model: TableModel
    comparison: Comparison
    held_out: HeldOut | None
    source: str
    target: str
    learner: str
    class_sizes: dict[str, int]
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.class_sizes.values())

    @property
    def accuracy(self) -> float:
        """The mean accuracy of the chosen codebook on the folds."""
        return float(self.comparison.means[0])

    @property
    def facts(self) -> dict[str, object]:
        """What was trained on what, with titles."""
        classifier, comparison = self.model.classifier, self.comparison
        n_classes, n_columns = classifier.codebook_.matrix.shape
        names = [feature.name for feature in self.model.features]
        kinds = Counter(feature.kind for feature in self.model.features)
        of_kinds = [f"{count} {_plural(kind, count)}" for kind, count in kinds.items()]
        notes = {"Notes": "; ".join(self.notes)} if self.notes else {}
        return {
            "Data": f"{self.source}: {self.n_rows} rows, {len(names)} features",
            "Features": f"{listing(of_kinds)}: {listing(names, limit=8)}",
            "Classes": f"{n_classes} in column {self.target!r}, "
            f"{min(self.class_sizes.values())} to {max(self.class_sizes.values())} rows each",
            "Learner": f"{self.learner}: {classifier.estimator!r}",
            "Codebook": f"{n_columns} columns, row distance "
            f"{classifier.codebook_.min_row_distance:g}",
            "Chosen": classifier.codebook_reason_,
            "Decoder": repr(classifier.decoder_),
            "Validation": comparison.splits,
            **notes,
        }

    def to_plain(self) -> dict[str, Any]:
        """The same for machines."""
        classifier = self.model.classifier
        return {
            "data": self.source,
            "target": self.target,
            "n_rows": self.n_rows,
            "features": [feature.name for feature in self.model.features],
            "class_sizes": self.class_sizes,
            "notes": list(self.notes),
            "learner": self.learner,
            "rows": classifier.codebook_.rows,
            "min_row_distance": classifier.codebook_.min_row_distance,
            "reason": classifier.codebook_reason_,
            "decoder": repr(classifier.decoder_),
            "n_folds": self.comparison.n_folds,
            "n_repeats": self.comparison.n_repeats,
            "never_held_out": list(self.comparison.never_held_out),
            "comparison": self.comparison.to_plain(),
        }

    def __repr__(self) -> str:
        return f"<TableFit {self.source!r}: {self.comparison!r}>"


def fit_table(
    table: Any,
    target: str,
    *,
    codebook: Any = "auto",
    n_columns: int | None = None,
    n_symbols: int | str | None = None,
    learner: str = "auto",
    C: float | None = None,
    gamma: float | None = None,
    decoding: str = "auto",
    calibration: str | None = None,
    n_folds: int = 5,
    n_repeats: int = 1,
    random_state: int = 0,
    n_jobs: int | None = None,
    drop: Iterable[str] = (),
    categories: Iterable[str] = (),
    progress: Callable[[int, int], object] | None = None,
) -> TableFit:
    """Train a classifier on a table, and compare its codebook with the usual ones.

    Missing numbers are replaced by the median of their column, and features brought to one
    scale where the learner wants that, on the training part of each fold. One-vs-rest and
    one-vs-one are trained with the same learner on the same folds, unless the codebook is one
    of them, and decoded by ``decoding="auto"``.

    Parameters
    ----------
    table : Table or data frame
        See :func:`ecoc.tables.read_table`; or a data frame of pandas or polars. Rows without
        a class are left out.
    target : str
        The column with the classes.
    codebook, n_columns, n_symbols, decoding, calibration, n_jobs
        As for :class:`ecoc.multiclass.ECOCClassifier`.
    learner, C, gamma
        As for :func:`ecoc.tables.make_learner`; ``"auto"`` is ``"svm"`` for tables of up to 5,000
        rows and ``"tree"`` beyond.
    n_folds, n_repeats : int
        The cross-validation.
    random_state : int, default=0
        Seeds the folds, random codes and random learners.
    drop : iterable of str
        Columns to leave out.
    categories : iterable of str
        Columns whose numbers are names, such as postcodes.
    progress : callable, optional
        Is told how many trainings are done, and how many there are.

    Examples
    --------
    >>> from ecoc.tables import Table
    >>> rows = tuple((str(i % 7), str(i % 5), "abc"[i % 7 // 3]) for i in range(210))
    >>> table = Table(("p", "q", "kind"), rows, tuple(range(2, 212)), "example.csv")
    >>> fit_table(table, "kind", learner="tree")
    <TableFit 'example.csv': <Comparison on 5 splits: one-vs-rest 100.0 %, one-vs-one 100.0 %>>
    """
    given = as_table(table)
    kept, left_out = rows_with_class(given, target)
    labels = read_labels(kept, target)
    check_folds(labels, n_folds)
    features, made = find_features(kept, target, drop=drop, categories=categories)
    encoded = encode(kept, features)
    X = encoded.X
    if learner == "auto":
        learner = "svm" if len(labels) <= _MANY_ROWS else "tree"
    binary = make_learner(learner, C=C, gamma=gamma)

    def pipeline(code: Any, **settings: Any) -> Pipeline:
        classifier = ECOCClassifier(
            binary.estimator,
            codebook=code,
            n_jobs=n_jobs,
            random_state=random_state,
            calibration=calibration,
            **settings,
        )
        return Pipeline([*_preparation(binary), ("ecoc", classifier)])

    # Trained on everything first: what is wrong with the request shows before the long work.
    chosen = pipeline(codebook, n_columns=n_columns, n_symbols=n_symbols, decoding=decoding)
    fitted = clone(chosen).fit(X, labels)
    usual = _usual_codes(len(np.unique(labels)))
    name = _name(codebook, fitted[-1].codebook_, usual)
    contenders = {name: chosen} | {
        other: pipeline(other)
        for other, code in usual.items()
        if _dichotomies(code) != _dichotomies(fitted[-1].codebook_)
    }
    columns = _HeldOutScores(fitted[-1], X, labels, n_folds)
    total, done = 1 + len(contenders) * n_folds * n_repeats, 0

    def advance(_: str) -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done, total)

    advance(name)
    comparison = compare_on_folds(
        contenders,
        X,
        labels,
        n_folds=n_folds,
        n_repeats=n_repeats,
        random_state=random_state,
        progress=advance,
        watch=lambda who, split, model, rows: (
            columns.add(split, model, rows) if who == name else None
        ),
    )
    classes, sizes = np.unique(labels, return_counts=True)
    return TableFit(
        model=TableModel(fitted, features, target, impute=True),
        comparison=comparison,
        held_out=columns.diagnosed(),
        source=kept.source,
        target=target,
        learner=learner,
        notes=(*given.notes, *left_out, *made, *encoded.notes),
        class_sizes={str(label): int(size) for label, size in zip(classes, sizes, strict=True)},
    )


def _preparation(learner: Learner) -> list[tuple[str, Any]]:
    """The steps before the classifier."""
    from sklearn.impute import SimpleImputer
    from sklearn.preprocessing import StandardScaler

    # A column that is empty in some fold must stay, or the others change places.
    imputer = SimpleImputer(strategy="median", keep_empty_features=True)
    steps: list[tuple[str, Any]] = [("impute", imputer)]
    if learner.scaled:
        steps.append(("scale", StandardScaler()))
    return steps


def _plural(kind: str, count: int) -> str:
    several = {"number": "numbers", "category": "categories", "date": "dates"}
    return kind if count == 1 else several[kind]


def _usual_codes(n_classes: int) -> dict[str, Codebook]:
    if n_classes == 2:
        return {"one-vs-rest": make_code("one-vs-rest", 2)}
    return {name: make_code(name, n_classes) for name in ("one-vs-rest", "one-vs-one")}


def _dichotomies(codebook: Codebook) -> set[bytes]:
    """What the columns of a codebook separate, whatever their order and signs."""
    columns = codebook.matrix.T
    return {max(column.tobytes(), (-column).tobytes()) for column in columns}


def _name(asked: Any, codebook: Codebook, usual: Mapping[str, Codebook]) -> str:
    """What to call the chosen codebook beside the usual ones."""
    for name, code in usual.items():
        if _dichotomies(code) == _dichotomies(codebook):
            return name
    if isinstance(asked, str):
        return "optimal" if asked == "auto" else Path(asked).name
    return getattr(asked, "name", None) or "codebook"


class _HeldOutScores:
    """The scores of columns for the samples of each fold, in the first round of folds."""

    def __init__(
        self, final: ECOCClassifier, X: Floats, labels: npt.NDArray[Any], n_folds: int
    ) -> None:
        self._final, self._X, self._n_folds = final, X, n_folds
        self._targets = np.searchsorted(final.classes_, labels)
        code = final.codebook_
        symbols = () if code.n_symbols == 2 else (code.n_symbols,)
        self._scores = np.full((len(labels), code.n_columns, *symbols), np.nan)
        self._predicted = np.zeros(len(labels), dtype=np.intp)
        self._held_out = np.zeros(len(labels), dtype=bool)
        self._same_code = True

    def add(self, split: int, model: Any, rows: npt.NDArray[np.intp]) -> None:
        """Ask a fitted model about the rows that it has not seen."""
        self._same_code &= model[-1].codebook_ == self._final.codebook_
        if split >= self._n_folds or not self._same_code:
            return
        classifier, features = unwrapped(model, self._X[rows])
        scores = classifier.column_scores(features)
        self._scores[rows] = scores
        self._held_out[rows] = True
        self._predicted[rows] = classifier.decoder_(scores, classifier.codebook_.matrix).argmax(
            axis=1
        )

    def diagnosed(self) -> HeldOut | None:
        """What the scores say, if all folds had the same codebook."""
        if not self._same_code:
            return None
        matrix, decoder = self._final.codebook_.matrix, self._final.decoder_
        rows = self._held_out
        targets, predicted = self._targets[rows], self._predicted[rows]
        seen = (self._scores[rows], matrix, targets)
        return HeldOut(
            errors=ColumnErrors.from_scores(*seen),
            correlation=ErrorCorrelation.from_scores(*seen),
            confusion=ConfusionByDistance.from_predictions(
                predicted, targets, matrix, self._final.codebook_.n_symbols
            ),
            usefulness=ColumnUsefulness.from_scores(*seen, decoder)
            if decoder.needs == "nothing"
            else None,
        )
