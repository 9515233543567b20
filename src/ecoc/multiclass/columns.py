"""Training the columns of a codebook, and their scores: the two things a speed-up replaces."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it
from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_regressor

from ecoc._checks import counted, listing
from ecoc._typing import Floats, Ints
from ecoc._workers import in_parallel
from ecoc.errors import InvalidInputError
from ecoc.multiclass.data import n_samples, take_params, take_rows
from ecoc.multiclass.decoders.base import erasures, kept_columns
from ecoc.multiclass.joint.base import JointLearner, joint_learner, recorded_warnings

__all__ = [
    "ColumnError",
    "ScoreMethod",
    "column_scores",
    "describe_column",
    "fit_columns",
    "score_column",
    "score_method",
    "score_symbols",
    "scores_with_gaps",
]

ScoreMethod = Literal["decision_function", "predict_proba", "predict"]
"""What the learner of a column can be asked for."""

CALIBRATIONS = ("sigmoid", "isotonic")
_CALIBRATION_FOLDS = 5
_Said: TypeAlias = "tuple[type[Warning], str, str | None]"
"""Category and text of a warning, and the name of the column that it is about."""


class ColumnError(InvalidInputError):
    """A column cannot be trained or gives no usable scores; the message names it."""


class ColumnTypeError(ColumnError, TypeError):
    """A column's learner was given something of a type that it cannot take."""


def describe_column(
    column: int, entries: npt.NDArray[np.int8], classes: npt.ArrayLike, n_symbols: int = 2
) -> str:
    """Name a column by its place and its classes.

    Examples
    --------
    >>> describe_column(3, np.array([1, 0, -1, 1]), ["ant", "bee", "cat", "dog"])
    'column 3 (ant, dog against cat)'
    >>> describe_column(3, np.array([1, 0, 2, 1]), ["ant", "bee", "cat", "dog"], n_symbols=3)
    'column 3 (bee against ant, dog against cat)'
    """
    labels = np.asarray(classes)
    symbols = (1, -1) if n_symbols == 2 else np.unique(entries)
    groups = [listing(labels[entries == symbol].tolist()) for symbol in symbols]
    return f"column {column} ({' against '.join(groups)})"


@dataclass(frozen=True)
class ColumnTask:
    """What the columns are trained with, beside the data.

    Attributes
    ----------
    estimator : object
        The unfitted learner.
    matrix : array of shape (n_classes, n_columns)
        The codebook.
    classes : array of shape (n_classes,)
        The labels of its rows, for messages.
    params : mapping
        Parameters of the learner's `fit`; those with a value for each sample are cut to the
        samples of a column.
    calibration : {"sigmoid", "isotonic"}, optional
        Calibrate each column by cross-validation.
    seed : int, optional
        Seeds every random_state of the learner that is None, differently in each column.
    n_symbols : int
        The number of symbols of the codebook.
    numbers : tuple of int, optional
        The numbers of the columns in the whole codebook, where the matrix has some of them.
    """

    estimator: Any
    matrix: npt.NDArray[np.int8]
    classes: npt.NDArray[Any]
    params: Mapping[str, Any] = field(default_factory=dict)
    calibration: str | None = None
    seed: int | None = None
    n_symbols: int = 2
    numbers: tuple[int, ...] | None = None

    def part(self, columns: Sequence[int]) -> ColumnTask:
        """The same for some of the columns, which keep their names and seeds."""
        chosen = list(columns)
        return replace(self, matrix=self.matrix[:, chosen], numbers=tuple(chosen))

    def number(self, column: int) -> int:
        """The number of a column in the whole codebook."""
        return column if self.numbers is None else self.numbers[column]

    def name(self, column: int) -> str:
        """The name of a column, for messages."""
        entries = self.matrix[:, column]
        return describe_column(self.number(column), entries, self.classes, self.n_symbols)

    @property
    def groups(self) -> list[Ints] | None:
        """The symbols that each column has, in the order of its learner's labels.

        None for codebooks of two symbols, whose columns have sides.
        """
        if self.n_symbols == 2:
            return None
        return [np.unique(entries).astype(np.int64) for entries in self.matrix.T]

    def sides(
        self, column: int, targets: npt.NDArray[np.intp]
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any]]:
        """The samples that a column uses, and on which side of it they are.

        Sides are 1 and 0 for classifiers, which some insist on, and 1.0 and -1.0 for
        regressors, so that 0 is the boundary. With more than two symbols a sample is in one
        of the column's groups, which are 0, 1, 2 and so on without a gap: some learners
        insist on that too.
        """
        if self.n_symbols > 2:
            _, places = np.unique(self.matrix[:, column], return_inverse=True)
            return np.arange(len(targets)), places.astype(np.int64)[targets]
        entries = self.matrix[targets, column]
        rows = np.flatnonzero(entries)
        if is_regressor(self.estimator):
            return rows, entries[rows].astype(np.float64)
        return rows, (entries[rows] > 0).astype(np.int64)

    def learner(self, column: int) -> Any:
        """A learner for a column, not fitted."""
        learner = clone(self.estimator)
        if self.seed is not None:
            _seed_learner(learner, np.random.default_rng([self.seed, self.number(column)]))
        return learner


def fit_columns(
    task: ColumnTask,
    X: Any,
    targets: npt.NDArray[np.intp],
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> list[Any]:
    """Train the learner of every column, each on the samples of the classes it uses.

    A learner that can train all columns together (:func:`ecoc.multiclass.joint.joint_learner`)
    does so; the result is the same.

    Parameters
    ----------
    task : ColumnTask
        Learner, codebook, and what else they are trained with.
    X : array, sparse matrix or data frame
        The features.
    targets : array of int of shape (n_samples,)
        The row of the codebook that each sample belongs to.
    n_jobs : int, optional
        As in joblib.
    verbose : int, default=0
        Show a progress bar if standard error is a terminal, a line now and then if not.

    Returns
    -------
    list
        The fitted learners, in the order of the columns.

    Raises
    ------
    ColumnError
        If a learner raises; names the column and its classes.
    """
    joint = _joint_fitter(task, X, targets, n_jobs=n_jobs, verbose=verbose)
    if joint is not None:
        return _fit_jointly(joint, task, X, targets)
    calls = ((task, X, targets, column) for column in range(task.matrix.shape[1]))
    fits = in_parallel(_fit_column, calls, n_jobs=n_jobs, verbose=verbose)
    _warn_again([said for fit in fits for said in fit.warnings])
    return [fit.learner for fit in fits]


def column_scores(
    estimators: Sequence[Any],
    X: Any,
    method: ScoreMethod,
    *,
    estimator: Any = None,
    name: Callable[[int], str] = "column {}".format,
    groups: Sequence[Ints] | None = None,
    n_symbols: int = 2,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Floats:
    """The scores of all columns: positive on the +1 side, 0 at the boundary.

    Parameters
    ----------
    estimators : sequence
        Fitted learners, one for each column.
    X : array, sparse matrix or data frame
        The features.
    method : {"decision_function", "predict_proba", "predict"}
        What to ask the learners for. A probability r becomes 2 r - 1, a label +1 or -1; what
        a regressor predicts is the score.
    estimator : object, optional
        The learner that they come from, where it can score all of them together.
    name : callable, optional
        What a column is called in messages, by its place; "column 0" and so on by default.
    groups : sequence of arrays of int, optional
        For codebooks of more than two symbols, the symbols of each column that its learner
        calls 0, 1, 2 and so on, see :attr:`ColumnTask.groups`.
    n_symbols : int, default=2
        The number of symbols.
    n_jobs, verbose
        As for :func:`fit_columns`.

    Returns
    -------
    array of shape (n_samples, n_columns), or (n_samples, n_columns, n_symbols)
        The latter are probabilities of symbols, or votes. May hold NaN or infinities, if a
        learner gave them.

    Raises
    ------
    ColumnError
        If a learner raises, or has not one score for each sample; names the column.
    """
    try:
        if groups is not None:
            inputs = _inputs(estimators, X, method)
            asked = enumerate(zip(estimators, inputs, groups, strict=True))
            calls = (
                (column, score_symbols, learner, features, method, symbols, n_symbols)
                for column, (learner, features, symbols) in asked
            )
            of_columns = in_parallel(
                _score, calls, n_jobs=n_jobs, verbose=verbose, prefer="threads"
            )
            return np.stack(of_columns, axis=1)
        scores = _all_scores(estimators, X, method, estimator, n_jobs=n_jobs, verbose=verbose)
    except MemoryError:
        raise
    except Exception as error:
        column = getattr(error, "column", None)
        raise _named_error(error, "all columns" if column is None else name(column)) from error
    return scores


def _all_scores(
    learners: Sequence[Any],
    X: Any,
    method: ScoreMethod,
    estimator: Any,
    *,
    n_jobs: int | None,
    verbose: int,
) -> Floats:
    expected = (n_samples(X), len(learners))
    if learners and (
        method == "decision_function" or (method == "predict" and is_regressor(learners[0]))
    ):
        shared = learners[0] if estimator is None else estimator
        joint = joint_learner(shared, n_jobs=n_jobs, verbose=verbose)
        if joint is not None:
            scores = np.asarray(joint.score_columns(learners, X), dtype=np.float64)
            if scores.shape != expected:
                raise InvalidInputError(
                    f"score_columns must return an array of shape {expected}, not {scores.shape}."
                )
            return scores
    calls = ((column, score_column, learner, X, method) for column, learner in enumerate(learners))
    # Threads: every learner sees the same X, which processes would have to copy.
    of_columns = in_parallel(_score, calls, n_jobs=n_jobs, verbose=verbose, prefer="threads")
    return np.stack(of_columns, axis=1) if of_columns else np.empty(expected)


def score_method(estimator: Any, *, probability: bool = False, n_symbols: int = 2) -> ScoreMethod:
    """What a learner can be asked for: decision values before probabilities before labels.

    Parameters
    ----------
    estimator : object
        The learner.
    probability : bool, default=False
        Prefer probabilities.
    n_symbols : int, default=2
        Of more than two symbols there are probabilities, or labels.
    """
    if is_regressor(estimator):
        return "predict"
    if n_symbols > 2:
        return "predict_proba" if hasattr(estimator, "predict_proba") else "predict"
    methods: tuple[ScoreMethod, ...] = ("decision_function", "predict_proba")
    for method in reversed(methods) if probability else methods:
        if hasattr(estimator, method):
            return method
    return "predict"


@dataclass(frozen=True)
class _Checked:
    """Features that a tree need not check and convert again."""

    features: npt.NDArray[np.float32]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.features.shape


def _inputs(learners: Sequence[Any], X: Any, method: ScoreMethod) -> list[Any]:
    """The features for each learner: of trees the first checks them for all.

    For a small tree the check takes most of the time.
    """
    trees = method == "predict_proba" and all(
        type(learner).__name__ in _TREES and type(learner).__module__.startswith("sklearn.tree.")
        for learner in learners
    )
    if not trees or not isinstance(X, np.ndarray) or X.dtype.kind != "f" or len(learners) < 2:
        return [X] * len(learners)
    with np.errstate(over="ignore"):  # the first tree says so better
        checked = _Checked(np.ascontiguousarray(X, dtype=np.float32))
    return [X, *[checked] * (len(learners) - 1)]


_TREES = {"DecisionTreeClassifier", "ExtraTreeClassifier"}


def _answer(learner: Any, X: Any, method: ScoreMethod) -> Floats:
    if isinstance(X, _Checked):
        asked = learner.predict_proba(X.features, check_input=False)
    else:
        asked = getattr(learner, method)(X)
    return np.asarray(asked, dtype=np.float64)


def _score(column: int, score: Callable[..., Floats], *asked: Any) -> Floats:
    try:
        return score(*asked)
    except Exception as error:
        error.column = column  # type: ignore[attr-defined]
        raise


def _joint_fitter(
    task: ColumnTask, X: Any, targets: npt.NDArray[np.intp], *, n_jobs: int | None, verbose: int
) -> JointLearner | None:
    """What trains all columns together, if it may for this task."""
    if task.calibration is not None or not set(task.params) <= {"sample_weight"}:
        return None
    if task.n_symbols > 2:
        return None
    if np.shape(task.params.get("sample_weight", targets)) != targets.shape:
        return None
    joint = joint_learner(task.learner(0), n_jobs=n_jobs, verbose=verbose)
    declines = getattr(joint, "declines", None)
    reason = declines(X, task.matrix[targets]) if declines is not None else None
    if reason is None:
        return joint
    if verbose:
        sys.stderr.write(f"Columns are trained one by one: {reason}\n")
    return None


def _fit_jointly(
    joint: JointLearner, task: ColumnTask, X: Any, targets: npt.NDArray[np.intp]
) -> list[Any]:
    signs = task.matrix[targets]
    weights = task.params.get("sample_weight")
    if weights is not None:
        weights = np.asarray(weights, dtype=np.float64)
        for column in range(signs.shape[1]):
            rows = np.flatnonzero(signs[:, column])
            _check_weights(weights[rows], signs[rows, column], task.name(column))

    def name(said: object) -> str | None:
        column = getattr(said, "column", None)
        return None if column is None else task.name(column)

    with recorded_warnings() as caught:
        try:
            learners = joint.fit_columns(X, signs, sample_weight=weights)
        except MemoryError:
            raise
        except Exception as error:
            raise _named_error(error, name(error) or "all columns") from error
    _warn_again([(w.category, str(w.message), name(w.message)) for w in caught])
    return learners


@dataclass(frozen=True)
class _Fit:
    learner: Any
    warnings: list[_Said]


def _fit_column(
    task: ColumnTask,
    X: Any,
    targets: npt.NDArray[np.intp],
    column: int,
) -> _Fit:
    rows, sides = task.sides(column, targets)
    name = task.name(column)
    if len(rows) < len(targets):
        params = take_params(task.params, rows, len(targets))
        X = take_rows(X, rows)
    else:
        params = dict(task.params)
    _check_weights(params.get("sample_weight"), sides, name)
    learner = task.learner(column)
    if task.calibration is not None:
        learner = _calibrated(learner, task.calibration, sides, name)
    with recorded_warnings() as caught:
        _call(learner.fit, name, X, sides, **params)
    return _Fit(learner, [(w.category, str(w.message), name) for w in caught])


def update_columns(
    task: ColumnTask,
    learners: Sequence[Any],
    X: Any,
    targets: npt.NDArray[np.intp],
) -> None:
    """Let every learner see one more batch; one that uses no class of the batch is passed by."""
    groups = task.groups
    for column, learner in enumerate(learners):
        rows, sides = task.sides(column, targets)
        if len(rows):
            params = take_params(task.params, rows, len(targets))
            batch = take_rows(X, rows)
            if not is_regressor(learner):
                params["classes"] = np.arange(2 if groups is None else len(groups[column]))
            _call(learner.partial_fit, task.name(column), batch, sides, **params)


def _call(method: Callable[..., Any], name: str, *args: Any, **params: Any) -> None:
    try:
        method(*args, **params)
    except MemoryError:
        raise
    except Exception as error:
        raise _named_error(error, name) from error


def _named_error(error: Exception, name: str) -> ColumnError:
    kind = ColumnTypeError if isinstance(error, TypeError) else ColumnError
    return kind(f"The learner of {name} raised {type(error).__name__}: {error}")


def _check_weights(weights: Any, sides: npt.NDArray[Any], name: str) -> None:
    if weights is None or np.shape(weights) != sides.shape:
        return
    counted = np.asarray(weights, dtype=np.float64) != 0
    if np.ptp(sides[counted]) == 0 if counted.any() else True:
        raise ColumnError(
            f"sample_weight must leave samples on both sides of every column, or in two groups; "
            f"it leaves only one class or none to {name}."
        )


def _calibrated(learner: Any, method: str, sides: npt.NDArray[Any], name: str) -> Any:
    from sklearn.calibration import CalibratedClassifierCV

    fewest = int(np.bincount(sides.astype(np.intp), minlength=2).min())
    if fewest < 2:
        raise ColumnError(
            f"Calibration needs 2 samples or more on each side of a column, or in each of its "
            f"groups; {name} has {fewest}."
        )
    folds = min(_CALIBRATION_FOLDS, fewest)
    # One learner trained on everything, so that a prediction costs what it would without.
    return CalibratedClassifierCV(learner, method=method, cv=folds, ensemble=False)


def _seed_learner(learner: Any, generator: np.random.Generator) -> None:
    params = learner.get_params(deep=True)
    seeds = {
        name: int(generator.integers(2**31 - 1))
        for name in sorted(params)
        if (name == "random_state" or name.endswith("__random_state")) and params[name] is None
    }
    if seeds:
        learner.set_params(**seeds)


def _warn_again(said: Sequence[_Said]) -> None:
    """Give out what the learners warned of, once for all columns that said the same."""
    columns: dict[tuple[type[Warning], str], list[str]] = {}
    for category, text, name in said:
        names = columns.setdefault((category, text), [])
        if name is not None and name not in names:
            names.append(name)
    for (category, text), names in columns.items():
        # The text comes first, so that filters which know its beginning still apply.
        suffix = f" [{listing(names, limit=3)}]" if names else ""
        warnings.warn(f"{text}{suffix}", category, stacklevel=4)


def score_column(learner: Any, X: Any, method: ScoreMethod) -> Floats:
    """Ask a learner for the scores of samples: positive on the +1 side, 0 at the boundary.

    Parameters
    ----------
    learner : object
        A fitted binary learner.
    X : array, sparse matrix or data frame
        The features.
    method : {"decision_function", "predict_proba", "predict"}
        What to ask for. A probability r becomes 2 r - 1, a label +1 or -1; what a regressor
        predicts is the score.

    Raises
    ------
    InvalidInputError
        If the answer has not one value for each sample, or for each sample and side.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> learner = GaussianNB().fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1])
    >>> score_column(learner, np.array([[0.5], [8.5]]), "predict_proba").round(2)
    array([-1.,  1.])
    """
    values = np.asarray(getattr(learner, method)(X), dtype=np.float64)
    n = n_samples(X)
    labels = method == "predict" and not is_regressor(learner)
    # Some decision functions have a value for each of the two sides.
    shapes = {
        "decision_function": ((n,), (n, 1), (n, 2)),
        "predict_proba": ((n, 2),),
        "predict": ((n,), (n, 1)),
    }[method]
    if values.shape not in shapes:
        raise InvalidInputError(
            f"{method} must return an array of shape "
            f"{' or '.join(map(str, shapes))} for {counted(n, 'sample')}, not {values.shape}."
        )
    if labels and not np.isin(values[~np.isnan(values)], (0, 1)).all():
        raise InvalidInputError("predict must return the labels 0 and 1 that it was trained on.")
    if method == "predict_proba":
        return 2 * values[:, 1] - 1
    if values.shape == (n, 2):
        return values[:, 1] - values[:, 0]
    return 2 * values.ravel() - 1 if labels else values.ravel()


def score_symbols(
    learner: Any, X: Any, method: ScoreMethod, groups: Ints, n_symbols: int
) -> Floats:
    """Ask a learner for the probabilities of symbols, or for its vote.

    A symbol that the column does not have, or whose group the learner has not seen, has
    probability 0.

    Parameters
    ----------
    learner : object
        A fitted classifier of the groups 0, 1, 2 and so on.
    X : array, sparse matrix or data frame
        The features.
    method : {"predict_proba", "predict"}
        What to ask for; a label becomes probability 1.
    groups : array of int
        The symbol of each group.
    n_symbols : int
        The number of symbols.

    Returns
    -------
    array of shape (n_samples, n_symbols)
        May hold NaN or infinities, if the learner gave them.

    Raises
    ------
    InvalidInputError
        If the answer has not one value for each sample, or for each sample and group, or is
        a negative probability.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> learner = GaussianNB().fit([[0.0], [1.0], [8.0], [9.0]], [0, 0, 1, 1])
    >>> score_symbols(learner, np.array([[0.5]]), "predict_proba", np.array([0, 2]), 4).round(2)
    array([[1., 0., 0., 0.]])
    """
    n = n_samples(X)
    seen = np.asarray(getattr(learner, "classes_", np.arange(len(groups))))
    result = np.zeros((n, n_symbols))
    values = _answer(learner, X, method)
    if method == "predict_proba":
        if values.shape != (n, len(seen)):
            raise InvalidInputError(
                f"predict_proba must return an array of shape {(n, len(seen))} for "
                f"{counted(n, 'sample')} and {counted(len(seen), 'group')}, not {values.shape}."
            )
        if (values < 0).any():
            raise InvalidInputError("predict_proba must not return negative probabilities.")
        result[:, groups[seen.astype(np.intp)]] = values
        return result
    if values.shape not in {(n,), (n, 1)}:
        raise InvalidInputError(
            f"predict must return an array of shape {(n,)} for {counted(n, 'sample')}, not "
            f"{values.shape}."
        )
    labels = values.ravel()
    known = ~np.isnan(labels)
    if not np.isin(labels[known], np.arange(len(groups))).all():
        raise InvalidInputError(
            f"predict must return the labels 0 to {len(groups) - 1} that it was trained on."
        )
    result[~known] = np.nan
    result[known, groups[labels[known].astype(np.intp)]] = 1
    return result


def scores_with_gaps(
    learners: Sequence[Any],
    X: Any,
    method: ScoreMethod,
    *,
    task: ColumnTask,
    missing_columns: Sequence[int] | None = None,
    erase: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Floats:
    """The scores of all columns, NaN where there are none.

    Parameters
    ----------
    learners : sequence
        The fitted columns; a missing one may be None.
    X : array, sparse matrix or data frame
        The features.
    method : {"decision_function", "predict_proba", "predict"}
        Where the scores come from.
    task : ColumnTask
        What the columns were trained with.
    missing_columns : sequence of int, optional
        Columns that are not asked.
    erase : bool, default=False
        Take scores that are not finite for missing, instead of raising.
    n_jobs, verbose
        As in :func:`ecoc.multiclass.columns.column_scores`.

    Raises
    ------
    ColumnError
        If a learner raises, or a score is not finite; names the column.
    """
    n_columns = task.matrix.shape[1]
    kept = kept_columns(missing_columns, n_columns)
    groups = task.groups
    present = column_scores(
        [learners[column] for column in kept],
        X,
        method,
        estimator=task.estimator,
        name=lambda place: task.name(int(kept[place])),
        groups=None if groups is None else [groups[column] for column in kept],
        n_symbols=task.n_symbols,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    finite = np.isfinite(present)
    if not finite.all():
        present[~finite] = np.nan
        if not erase:
            raise ColumnError(_strange_scores(task, kept, ~erasures(present)))
    if len(kept) == n_columns:
        return present
    scores = np.full((len(present), n_columns, *present.shape[2:]), np.nan)
    scores[:, kept] = present
    return scores


def _strange_scores(
    task: ColumnTask, columns: npt.NDArray[np.intp], finite: npt.NDArray[np.bool_]
) -> str:
    named = [task.name(int(columns[i])) for i in np.flatnonzero(~finite.all(axis=0))]
    return (
        f"Scores must be finite; NaN or infinity came from {listing(named, limit=3)}, for "
        f"{int((~finite).any(axis=1).sum())} of {len(finite)} samples. Leave these columns "
        "out with missing_columns, or set nan_scores='erase'."
    )
