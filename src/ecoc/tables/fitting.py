"""From a table to a trained, validated classifier."""

# ruff: noqa: N803, N806  # X and C are what scikit-learn calls them

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

from ecoc._checks import counted, listing
from ecoc._typing import Floats
from ecoc.codes import Codebook, make_code
from ecoc.errors import InvalidInputError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.decoders.names import decoder_name
from ecoc.multiclass.diagnostics import (
    ClassReport,
    ColumnErrors,
    ColumnUsefulness,
    Comparison,
    ConfusionByDistance,
    ErrorCorrelation,
    Reliability,
    Splits,
    compare_on_splits,
)
from ecoc.multiclass.diagnostics.columns import unwrapped
from ecoc.tables.features import Feature, encode, find_features, read_labels, rows_with_class
from ecoc.tables.learners import Learner, make_learner
from ecoc.tables.model import TableModel
from ecoc.tables.reading import Table, as_table

__all__ = ["HeldOut", "TableFit", "fit_table"]

_MANY_ROWS = 5000
"""Rows from which on a kernel machine takes more time than a first look is worth."""

_TUNING_FOLDS = 3
"""Folds of the training part on which settings are compared."""


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What the chosen classifier made of rows that it was not trained on, each of them once.

    Attributes
    ----------
    report : ClassReport
        Which classes are confused.
    reliability : Reliability, optional
        Whether its probabilities can be believed; None for a learner without probabilities.
    errors, correlation, confusion : optional
        Diagnostics of the columns, see :mod:`ecoc.multiclass.diagnostics`; None where the
        codebook depends on the training data, so that each fold has another.
    usefulness : ColumnUsefulness, optional
        Not for decoders that learn from the training data either.
    """

    report: ClassReport
    reliability: Reliability | None = None
    errors: ColumnErrors | None = None
    correlation: ErrorCorrelation | None = None
    confusion: ConfusionByDistance | None = None
    usefulness: ColumnUsefulness | None = None


@dataclass(frozen=True, eq=False, repr=False)
class TableFit:
    """What training on a table gave.

    Attributes
    ----------
    model : TableModel
        Trained on all rows of the table.
    comparison : Comparison, optional
        The chosen codebook beside one-vs-rest, one-vs-one, the learner without a code and a
        forest, on the same held-out rows; None without validation.
    held_out : HeldOut, optional
        What is right and wrong in these rows, each of them once; None without validation.
    source, target, learner : str
        The file, the column of classes, and the name of the learner.
    class_sizes : mapping
        The rows of each class.
    settings : mapping
        The settings that tuning chose.
    notes : tuple of str
        What was made of the table.
    """

    model: TableModel
    comparison: Comparison | None
    held_out: HeldOut | None
    source: str
    target: str
    learner: str
    class_sizes: dict[str, int]
    settings: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """The number of rows."""
        return sum(self.class_sizes.values())

    @property
    def accuracy(self) -> float | None:
        """The mean accuracy of the chosen codebook on held-out rows, if there are any."""
        return None if self.comparison is None else float(self.comparison.means[0])

    @property
    def codebook(self) -> Codebook:
        """The codebook, with the classes as labels of its rows."""
        classifier = self.model.classifier
        return classifier.codebook_.relabel(str(label) for label in classifier.classes_.tolist())

    @property
    def facts(self) -> dict[str, object]:
        """What was trained on what, and what came of it, with titles."""
        classifier, features = self.model.classifier, self.model.features
        n_classes = len(classifier.classes_)
        names = [feature.name for feature in features]
        kinds = Counter(feature.kind for feature in features)
        of_kinds = [counted(count, kind, _SEVERAL[kind]) for kind, count in kinds.items()]
        fewest, most = min(self.class_sizes.values()), max(self.class_sizes.values())
        each = counted(most, "row") if fewest == most else f"{fewest} to {most} rows"
        facts: dict[str, object] = {
            "Data": f"{self.source}: {counted(self.n_rows, 'row')}, "
            f"{counted(len(names), 'feature')}",
            "Features": f"{listing(of_kinds)}: {listing(names, limit=8)}",
            "Classes": f"{n_classes} in column {self.target!r}, {each} each",
            "Learner": f"{self.learner}: {_short(classifier.estimator)}",
        }
        if self.settings:
            shown = listing([f"{key} {_shown(value)}" for key, value in self.settings.items()])
            facts["Tuned"] = f"{shown}, on {_TUNING_FOLDS} folds of the rows that are trained on"
        facts |= {
            "Codebook": f"{counted(classifier.codebook_.n_columns, 'column')}, row distance "
            f"{classifier.codebook_.min_row_distance:g}",
            "Chosen": classifier.codebook_reason_,
            "Decoder": decoder_name(classifier.decoder_),
            "Validation": self._validation,
            **self._figures,
        }
        if self.notes:
            facts["Notes"] = "; ".join(self.notes)
        return facts

    @property
    def _validation(self) -> str:
        if self.comparison is None:
            return "none"
        tuned = "; tuned on what is trained on alone" if self.settings else ""
        return f"{self.comparison.splits.text}{tuned}"

    @property
    def _figures(self) -> dict[str, object]:
        """What the held-out rows say, in a line each."""
        if self.held_out is None:
            return {}
        report, reliability = self.held_out.report, self.held_out.reliability
        order = np.argsort(np.where(report.support > 0, report.recall, np.inf), kind="stable")
        weak = [
            f"{report.classes[i]} ({100 * report.recall[i]:.0f} % of {report.support[i]})"
            for i in order[:3]
            if report.recall[i] < 1
        ]
        confused = [f"{a} as {b} ({count})" for a, b, count in report.confusions(3)]
        facts: dict[str, object] = {
            "Held out": f"{100 * report.accuracy:.2f} % right, "
            f"{100 * report.balanced_accuracy:.2f} % in the mean of the classes"
        }
        if weak:
            facts["Least found"] = listing(weak)
            facts["Confused"] = listing(confused)
        facts["Probabilities"] = (
            "none; calibration (--calibration sigmoid) gives some"
            if reliability is None
            else f"{100 * reliability.expected_calibration_error:.1f} points off in the mean, "
            f"log loss {reliability.log_loss:.3f}"
        )
        return facts

    @property
    def hints(self) -> tuple[str, ...]:
        """What did better on the held-out rows than what was chosen, and how to have it."""
        if self.comparison is None:
            return ()
        first, *others = self.comparison.names
        worse = [name for name in others if self.comparison.difference(name).verdict == "worse"]
        return tuple(
            f"{name} is better than {first} here{_CURES.get(name, ': the code costs accuracy')}"
            for name in worse
        )

    def to_plain(self) -> dict[str, Any]:
        """The facts of the fit as plain data, for machines."""
        classifier, comparison = self.model.classifier, self.comparison
        held_out = self.held_out
        reliability = None if held_out is None else held_out.reliability
        return {
            "data": self.source,
            "target": self.target,
            "n_rows": self.n_rows,
            "features": [feature.name for feature in self.model.features],
            "class_sizes": self.class_sizes,
            "notes": list(self.notes),
            "hints": list(self.hints),
            "learner": self.learner,
            "settings": self.settings,
            "rows": classifier.codebook_.rows,
            "min_row_distance": classifier.codebook_.min_row_distance,
            "reason": classifier.codebook_reason_,
            "decoder": decoder_name(classifier.decoder_),
            "validation": None if comparison is None else comparison.splits.text,
            "n_folds": None if comparison is None else comparison.splits.n_folds,
            "n_repeats": None if comparison is None else comparison.splits.n_repeats,
            "never_held_out": [] if comparison is None else list(comparison.splits.never_held_out),
            "comparison": [] if comparison is None else comparison.to_plain(),
            "held_out": None if held_out is None else held_out.report.to_plain(),
            "reliability": None if reliability is None else reliability.to_plain(),
        }

    def to_latex(self) -> str:
        """The comparison, and the classes on held-out rows, as two tables for LaTeX.

        They need the package booktabs, and rows that were held out to validate.
        """
        if self.comparison is None or self.held_out is None:
            raise InvalidInputError("There is a table for LaTeX of a fit that was validated only.")
        return f"{self.comparison.to_latex()}\n{self.held_out.report.to_latex()}"

    def __repr__(self) -> str:
        return f"<TableFit {self.source!r}: {self.comparison or 'not validated'!s}>"


_SEVERAL = {"number": "numbers", "category": "categories", "date": "dates"}
_CURES = {
    "one-vs-one": " (--codebook one-vs-one)",
    "one-vs-rest": " (--codebook one-vs-rest)",
    "forest": "; try --learner forest or hist-boosting",
}


def _short(estimator: object) -> str:
    """An estimator in a line: some libraries write all of their settings."""
    text = repr(estimator)
    return text if "\n" not in text and len(text) < 100 else type(estimator).__name__


def _shown(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


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
    tune: bool = False,
    decoding: str = "auto",
    calibration: str | None = None,
    n_folds: int = 5,
    n_repeats: int = 1,
    holdout: float | None = None,
    test: Any = None,
    validate: bool = True,
    random_state: int = 0,
    n_jobs: int | None = None,
    drop: Iterable[str] = (),
    categories: Iterable[str] = (),
    progress: Callable[[int, int], object] | None = None,
) -> TableFit:
    """Train a classifier on a table, and compare it with others on rows that are held out.

    Missing numbers are replaced by the median of their column, unless the learner takes them
    as they are, and features brought to one scale where the learner wants that, on what is
    trained on. One-vs-rest and one-vs-one are trained with the same learner on the same rows,
    unless the codebook is one of them, and decoded by ``decoding="auto"``; and so are the
    learner without a code and a forest of 100 trees.

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
    tune : bool, default=False
        Choose the settings of the learner from a few, by cross-validation with three folds of
        the rows that are trained on: held-out rows take no part, so that their accuracy is that
        of training and choosing together.
    n_folds, n_repeats : int
        The cross-validation. The only row of a class is always trained on.
    holdout : float, optional
        Hold out this share of the rows once, instead of cross-validation. The model is trained
        on all rows in the end.
    test : Table or data frame, optional
        Rows to validate on, instead of cross-validation.
    validate : bool, default=True
        Whether to hold out rows at all.
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
    >>> fit = fit_table(table, "kind", learner="tree", holdout=0.2)
    >>> fit.comparison.names, fit.accuracy
    (('one-vs-rest', 'one-vs-one', 'plain tree', 'forest'), 1.0)
    >>> fit.held_out.report
    <ClassReport: 3 classes, accuracy 100.0 %, balanced 100.0 %; nothing confused>
    """
    _check_validation(holdout, test, validate=validate)
    data = _Data.read(table, target, drop=drop, categories=categories, test=test)
    splits = data.splits(n_folds, n_repeats, holdout, random_state) if validate else None
    if learner == "auto":
        learner = "svm" if data.n_rows <= _MANY_ROWS else "tree"
    binary = make_learner(learner, C=C, gamma=gamma, n_features=data.X.shape[1])
    prepare = _Preparation(binary, random_state, tune=tune)

    def coded(code: Any, **settings: Any) -> Any:
        classifier = ECOCClassifier(
            binary.estimator,
            codebook=code,
            n_jobs=n_jobs,
            random_state=random_state,
            calibration=calibration,
            **settings,
        )
        return prepare(classifier)

    # Trained on everything first: what is wrong with the request shows before the long work.
    chosen = coded(codebook, n_columns=n_columns, n_symbols=n_symbols, decoding=decoding)
    X, labels = data.X[: data.n_rows], data.labels[: data.n_rows]
    trained = clone(chosen).fit(X, labels)
    fitted = _best(trained)
    classes, sizes = np.unique(labels, return_counts=True)
    usual = _usual_codes(len(classes))
    name = _name(codebook, fitted[-1].codebook_, usual)
    comparison, held_out = None, None
    if splits is not None:
        contenders = {name: chosen} | {
            other: coded(other)
            for other, code in usual.items()
            if _dichotomies(code) != _dichotomies(fitted[-1].codebook_)
        }
        contenders |= _baselines(learner, binary, prepare, random_state, n_jobs)
        watched = _HeldOutRows(fitted[-1], data, splits)
        total, done = 1 + len(contenders) * len(splits.parts), 0

        def advance(_: str) -> None:
            nonlocal done
            done += 1
            if progress is not None:
                progress(done, total)

        advance(name)
        comparison = compare_on_splits(
            contenders,
            data.X,
            data.labels,
            splits,
            progress=advance,
            watch=lambda who, *seen: watched.add(*seen) if who == name else None,
        )
        held_out = watched.diagnosed()
    elif progress is not None:
        progress(1, 1)
    return TableFit(
        model=TableModel(fitted, data.features, target, impute=True),
        comparison=comparison,
        held_out=held_out,
        source=data.source,
        target=target,
        learner=learner,
        settings=_settings(trained),
        notes=data.notes,
        class_sizes={str(label): int(size) for label, size in zip(classes, sizes, strict=True)},
    )


def _check_validation(holdout: float | None, test: object, *, validate: bool) -> None:
    asked = {
        "holdout (--holdout)": holdout is not None,
        "test (--test)": test is not None,
        "validate=False (--no-validation)": not validate,
    }
    several = [name for name, is_asked in asked.items() if is_asked]
    if len(several) > 1:
        raise InvalidInputError(f"Only one of {' and '.join(several)} can be asked for.")


# ------------------------------------------------------------------------ data


@dataclass(frozen=True, eq=False)
class _Data:
    """The rows of a table as numbers, followed by those of another to validate on."""

    X: Floats
    labels: npt.NDArray[Any]
    n_rows: int
    features: tuple[Feature, ...]
    source: str
    test_source: str | None
    notes: tuple[str, ...]

    @classmethod
    def read(
        cls, table: Any, target: str, *, drop: Iterable[str], categories: Iterable[str], test: Any
    ) -> _Data:
        given = as_table(table)
        kept, left_out = rows_with_class(given, target)
        read_labels(kept, target)
        features, made = find_features(kept, target, drop=drop, categories=categories)
        encoded = encode(kept, features)
        notes = [*given.notes, *left_out, *made, *encoded.notes]
        if test is None:
            labels = read_labels(kept, target)
            return cls(encoded.X, labels, len(labels), features, kept.source, None, tuple(notes))
        beside = as_table(test)
        other, left_out = rows_with_class(beside, target)
        seen = encode(other, features)
        # Together, so that classes of both are of one type.
        cells = [(cell,) for cell in (*kept.column(target), *other.column(target))]
        labels = read_labels(Table((target,), tuple(cells), (0,) * len(cells), ""), target)
        n_rows = len(kept.rows)
        unknown = np.setdiff1d(labels[n_rows:], labels[:n_rows]).tolist()
        if unknown:
            left_out = (*left_out, f"no row to train on has {listing(unknown)}, so it counts wrong")
        notes += [f"{other.source}: {note}" for note in (*beside.notes, *left_out, *seen.notes)]
        X = np.vstack([encoded.X, seen.X])
        return cls(X, labels, n_rows, features, kept.source, other.source, tuple(notes))

    def splits(
        self, n_folds: int, n_repeats: int, holdout: float | None, random_state: int
    ) -> Splits:
        if self.test_source is not None:
            return Splits.given(self.n_rows, len(self.labels) - self.n_rows, self.test_source)
        if holdout is not None:
            return Splits.holdout(self.labels, holdout, random_state=random_state)
        return Splits.folds(self.labels, n_folds, n_repeats=n_repeats, random_state=random_state)


# ------------------------------------------------------------------ contenders


@dataclass(frozen=True)
class _Preparation:
    """Puts a classifier behind what its learner needs, and around it the choice of settings."""

    learner: Learner
    random_state: int
    tune: bool = False

    def __call__(self, classifier: Any) -> Any:
        from sklearn.impute import SimpleImputer
        from sklearn.preprocessing import StandardScaler

        steps: list[tuple[str, Any]] = []
        if not self.learner.takes_gaps:
            # A column that is empty in some fold must stay, or the others change places.
            steps.append(("impute", SimpleImputer(strategy="median", keep_empty_features=True)))
        if self.learner.scaled:
            steps.append(("scale", StandardScaler()))
        pipeline = Pipeline([*steps, ("ecoc", classifier)])
        if not self.tune or not self.learner.grid:
            return pipeline
        inner = "ecoc__estimator__" if hasattr(classifier, "estimator") else "ecoc__"
        grid = {f"{inner}{key}": list(values) for key, values in self.learner.grid.items()}
        folds = _TuningFolds(self.random_state)
        return GridSearchCV(pipeline, grid, cv=folds, error_score="raise")


@dataclass(frozen=True)
class _TuningFolds:
    """Folds that scikit-learn asks for once it knows what is trained on."""

    random_state: int

    def split(self, X: Any, y: Any, groups: Any = None) -> Iterator[tuple[Any, Any]]:  # noqa: ARG002
        """Which rows to train on, and which to compare settings on."""
        n_folds = self.get_n_splits(X, y)
        yield from Splits.folds(y, n_folds, random_state=self.random_state).parts

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:  # noqa: ARG002
        """The number of folds, no more than the largest class has rows."""
        largest = int(np.unique(y, return_counts=True)[1].max())
        if largest < 2:
            raise InvalidInputError(
                "No class has two rows, so that settings cannot be compared; leave out tune "
                "(--tune)."
            )
        return min(_TUNING_FOLDS, largest)


def _best(model: Any) -> Any:
    """The pipeline that was chosen, or the only one."""
    return model.best_estimator_ if isinstance(model, GridSearchCV) else model


def _settings(model: Any) -> dict[str, Any]:
    if not isinstance(model, GridSearchCV):
        return {}
    return {key.rpartition("__")[2]: value for key, value in model.best_params_.items()}


def _baselines(
    name: str, learner: Learner, prepare: _Preparation, random_state: int, n_jobs: int | None
) -> dict[str, Any]:
    """The learner without a code, and a forest."""
    models: dict[str, Any] = {}
    plain = learner.plain()
    if plain is not None and name != "forest":
        models[f"plain {name}"] = prepare(_seeded(plain, random_state))
    forest = make_learner("forest")
    estimator = _seeded(forest.plain(), random_state).set_params(n_jobs=n_jobs)
    return models | {"forest": _Preparation(forest, random_state)(estimator)}


def _seeded(estimator: Any, random_state: int) -> Any:
    names = [name for name in estimator.get_params() if name.rpartition("__")[2] == "random_state"]
    return estimator.set_params(**dict.fromkeys(names, random_state))


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


class _HeldOutRows:
    """What the chosen classifier says of held-out rows, in the first round of folds."""

    def __init__(self, final: ECOCClassifier, data: _Data, splits: Splits) -> None:
        self._final, self._data, self._n_splits = final, data, splits.n_folds
        n_rows, code = len(data.labels), final.codebook_
        symbols = () if code.n_symbols == 2 else (code.n_symbols,)
        self._scores = np.full((n_rows, code.n_columns, *symbols), np.nan)
        self._probabilities = np.full((n_rows, code.n_classes), np.nan)
        self._predicted = np.empty(n_rows, dtype=data.labels.dtype)
        self._held_out = np.zeros(n_rows, dtype=bool)
        self._same_code = True

    def add(
        self, split: int, model: Any, rows: npt.NDArray[np.intp], predicted: npt.NDArray[Any]
    ) -> None:
        """Ask a fitted model about the rows that it has not seen."""
        if split >= self._n_splits:
            return
        classifier, features = unwrapped(_best(model), self._data.X[rows])
        self._held_out[rows] = True
        self._predicted[rows] = predicted
        if hasattr(classifier, "predict_proba"):
            self._probabilities[rows] = classifier.predict_proba(features)
        self._same_code &= classifier.codebook_ == self._final.codebook_
        if self._same_code:
            self._scores[rows] = classifier.column_scores(features)

    def diagnosed(self) -> HeldOut:
        """What the held-out rows say, about the columns too if all folds had one codebook."""
        classes, labels = self._final.classes_, self._data.labels
        rows = self._held_out
        report = ClassReport.from_predictions(self._predicted[rows], labels[rows], classes.tolist())
        known = np.isin(labels, classes)
        targets = np.where(known, np.searchsorted(classes, labels).clip(max=len(classes) - 1), -1)
        shares = self._probabilities[rows]
        reliability = (
            None
            if np.isnan(shares).any()
            else Reliability.from_probabilities(shares, targets[rows])
        )
        rows = rows & known
        if not self._same_code or not rows.any():
            return HeldOut(report, reliability)
        matrix, decoder = self._final.codebook_.matrix, self._final.decoder_
        seen = (self._scores[rows], matrix, targets[rows])
        return HeldOut(
            report,
            reliability,
            errors=ColumnErrors.from_scores(*seen),
            correlation=ErrorCorrelation.from_scores(*seen),
            confusion=ConfusionByDistance.from_predictions(
                np.searchsorted(classes, self._predicted[rows]),
                targets[rows],
                matrix,
                self._final.codebook_.n_symbols,
            ),
            usefulness=ColumnUsefulness.from_scores(*seen, decoder)
            if decoder.needs == "nothing"
            else None,
        )
