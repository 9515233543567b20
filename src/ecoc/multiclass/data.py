"""Features, targets and weights, checked and taken by rows; pipelines opened."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import sklearn
from sklearn.base import is_regressor
from sklearn.pipeline import Pipeline
from sklearn.utils import check_consistent_length, get_tags
from sklearn.utils.metadata_routing import process_routing
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, column_or_1d, validate_data

from ecoc._checks import check_number, listing
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError, UnsupportedError

if TYPE_CHECKING:
    from ecoc.codes import Codebook
    from ecoc.multiclass.decoders.base import Decoder

__all__ = [
    "check_class_weight",
    "check_costs",
    "check_features",
    "check_pairwise",
    "check_priors",
    "check_rejection",
    "check_symbol_learner",
    "check_targets",
    "check_weights",
    "class_weights",
    "n_samples",
    "open_pipeline",
    "outlier_threshold",
    "routed_params",
    "take_params",
    "take_rows",
    "transformed",
    "with_label",
]


def open_pipeline(model: Any) -> tuple[list[Any], Any]:
    """Tell the transformers of a pipeline from the model at its end.

    This is where diagnostics, attacks and certificates learn what stands behind a pipeline.

    Parameters
    ----------
    model : object
        A pipeline, maybe of pipelines, or anything else.

    Returns
    -------
    transformers : list
        What features pass before they reach the model, in order; none for other models.
    last : object
        The model.

    Examples
    --------
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.svm import SVC
    >>> open_pipeline(Pipeline([("scale", StandardScaler()), ("svm", SVC())]))
    ([StandardScaler()], SVC())
    >>> open_pipeline(SVC())
    ([], SVC())
    """
    if not isinstance(model, Pipeline):
        return [], model
    steps = [step for _, step in model.steps]
    transformers: list[Any] = []
    for step in steps[:-1]:
        before, last = open_pipeline(step)
        transformers += [each for each in (*before, last) if each not in (None, "passthrough")]
    before, last = open_pipeline(steps[-1])
    return [*transformers, *before], last


def transformed(transformers: Sequence[Any], X: Any) -> Any:
    """The features after all transformers."""
    for transformer in transformers:
        X = transformer.transform(X)
    return X


def check_features(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Check X as far as the columns' learner leaves it to us.

    Data frames and sequences of texts stay what they are, because a learner that is a
    pipeline may want them so; everything else becomes an array or a CSR matrix.
    """
    if is_frame(X):
        return validate_data(estimator, X, reset=reset, skip_check_array=True)
    if is_text(X):
        return np.asarray(X, dtype=object)
    return validate_data(
        estimator, X, reset=reset, accept_sparse="csr", dtype=None, ensure_all_finite=False
    )


def check_targets(X: Any, y: Any) -> npt.NDArray[Any]:
    """Return y as one label for each sample of X."""
    if y is None:
        raise InvalidInputError("ECOCClassifier requires y to be passed, but the target y is None.")
    labels = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    check_consistent_length(X, labels)
    return np.asarray(labels)


def check_weights(weights: Any, n_rows: int) -> None:
    """Check that there is a finite weight for each sample, if there are weights."""
    if weights is None:
        return
    array = np.asarray(weights)
    if array.shape != (n_rows,):
        raise InvalidInputError(
            f"sample_weight must have one number for each of the {n_rows} samples; got shape "
            f"{array.shape}."
        )
    if array.dtype.kind not in "biuf" or not np.isfinite(array.astype(np.float64)).all():
        raise InvalidInputError("sample_weight must hold finite numbers.")


def check_class_weight(estimator: Any) -> None:
    """Refuse weights of classes that a learner would give to the two sides of every column."""
    for name, value in estimator.get_params(deep=True).items():
        if _weighs_classes(name, value):
            raise InvalidInputError(
                f"{name} of the learner must not hold a dict: every column has its own two "
                "sides, 1 and 0, or groups, in place of your classes. Give it to ECOCClassifier "
                "instead, whose class_weight is by class, or use class_weight='balanced'."
            )


def _weighs_classes(name: str, value: Any) -> bool:
    """Whether a parameter has a dict of class weights, itself or among values to be tried."""
    if name.rpartition("__")[2] == "class_weight":
        tried = value if isinstance(value, list | tuple | np.ndarray) else [value]
        return any(isinstance(one, Mapping) for one in tried)
    grids = value if isinstance(value, list | tuple) else [value]
    return any(
        isinstance(key, str) and _weighs_classes(key, values)
        for grid in grids
        if isinstance(grid, Mapping)
        for key, values in grid.items()
    )


def class_weights(
    class_weight: Any, classes: npt.NDArray[Any], targets: npt.NDArray[np.intp]
) -> Floats:
    """The weight of a sample of each class.

    Examples
    --------
    >>> names, targets = np.array(["ant", "bee"]), np.array([0, 0, 0, 1])
    >>> class_weights("balanced", names, targets).round(2)
    array([0.67, 2.  ])
    >>> class_weights({"bee": 3}, names, targets)
    array([1., 3.])
    """
    if isinstance(class_weight, str) and class_weight == "balanced":
        sizes = np.bincount(targets, minlength=len(classes))
        return len(targets) / (np.maximum(sizes, 1) * np.count_nonzero(sizes))
    if not isinstance(class_weight, Mapping):
        raise InvalidInputError(
            f"class_weight must be 'balanced' or a dict of weights by class, not {class_weight!r}."
        )
    values = _by_class("class_weight", class_weight, classes)
    weights = np.array(
        [check_number("class_weight", values.get(i, 1), minimum=0) for i in range(len(classes))]
    )
    if not (weights > 0).any():
        raise InvalidInputError("class_weight must leave a class with a weight above 0.")
    return weights


def check_priors(priors: Any, classes: npt.NDArray[Any]) -> Floats:
    """The probability of each class where a model is used; all above 0, their sum is 1.

    Examples
    --------
    >>> check_priors({"ant": 0.9, "bee": 0.1}, np.array(["ant", "bee"]))
    array([0.9, 0.1])
    """
    if isinstance(priors, Mapping):
        values = _by_class("priors", priors, classes)
        given: Any = [values.get(i, 0.0) for i in range(len(classes))]
    else:
        given = priors
    try:
        shares = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"priors must be numbers: {error}") from error
    good = shares.shape == (len(classes),) and (shares > 0).all() and abs(shares.sum() - 1) < 1e-6
    if not good:
        raise InvalidInputError(
            f"priors must have a probability above 0 for each of the {len(classes)} classes, and "
            f"their sum must be 1; got {given!r:.200}."
        )
    return shares


def check_costs(cost_matrix: Any, n_classes: int) -> Floats:
    """What each prediction (column) costs for each class (row).

    Examples
    --------
    >>> check_costs([[0, 1], [5, 0]], 2)
    array([[0., 1.],
           [5., 0.]])
    """
    try:
        costs = np.asarray(cost_matrix, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"cost_matrix must hold numbers: {error}") from error
    wrong = n_classes and costs.shape != (n_classes, n_classes)
    if wrong or costs.ndim != 2 or not np.isfinite(costs).all():
        raise InvalidInputError(
            f"cost_matrix must hold finite numbers and have a row and a column for each of the "
            f"{n_classes} classes; got shape {costs.shape}."
        )
    return costs


def _by_class(name: str, values: Mapping[Any, Any], classes: npt.NDArray[Any]) -> dict[int, Any]:
    """Values by the place of their class."""
    places = {label: place for place, label in enumerate(classes.tolist())}
    unknown = [label for label in values if label not in places]
    if unknown:
        raise InvalidInputError(
            f"{name} must name classes of y, {listing(classes.tolist())}; got {listing(unknown)}."
        )
    return {places[label]: value for label, value in values.items()}


def check_pairwise(estimator: Any, codebook: Codebook, decoder: Decoder) -> None:
    """Refuse what would need parts of a precomputed kernel, if the learner takes one."""
    if not get_tags(estimator).input_tags.pairwise:
        return
    if codebook.n_symbols == 2 and not codebook.is_binary:
        raise InvalidInputError(
            "A precomputed kernel needs a codebook of +1 and -1 only, such as 'optimal': with "
            "zeros each column has samples of its own."
        )
    if decoder.needs == "cross-fitted":
        raise InvalidInputError("A precomputed kernel cannot be cross-fitted by the decoder.")


def check_symbol_learner(estimator: Any, codebook: Codebook) -> None:
    """Refuse a regressor for columns of more than two groups."""
    if codebook.n_symbols > 2 and is_regressor(estimator):
        raise UnsupportedError(
            f"A codebook of {codebook.n_symbols} symbols needs a classifier; a regressor such as "
            f"{type(estimator).__name__} takes codebooks of two symbols, +1 and -1."
        )


def is_frame(X: Any) -> bool:
    """Whether X is a data frame: pandas, polars and whatever looks like them."""
    return hasattr(X, "columns") and hasattr(X, "shape") and not hasattr(X, "indptr")


def is_text(X: Any) -> bool:
    """Whether X is a sequence of texts, for learners that begin with a vectoriser."""
    if not isinstance(X, list | tuple | np.ndarray) or len(X) == 0:
        return False
    return np.ndim(X[0]) == 0 and isinstance(X[0], str)


def n_samples(X: Any) -> int:
    """The number of rows of anything :func:`check_features` returns."""
    return int(X.shape[0])


def take_rows(X: Any, rows: npt.NDArray[np.intp]) -> Any:
    """Some rows of an array, a sparse matrix or a data frame."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def routed_params(estimator: Any, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of a method that go on to the learner of a meta-estimator.

    All that the learner asked for if metadata routing is on, and else the weights of samples.
    """
    given = {name: value for name, value in params.items() if value is not None}
    if sklearn.get_config()["enable_metadata_routing"]:
        return dict(process_routing(estimator, method, **given).estimator[method])
    unknown = sorted(set(given) - {"sample_weight"})
    if unknown:
        raise InvalidInputError(
            f"{method} takes only sample_weight without metadata routing, not "
            f"{listing(unknown)}. Enable it with "
            "sklearn.set_config(enable_metadata_routing=True)."
        )
    return given


def take_params(
    params: Mapping[str, Any], rows: npt.NDArray[np.intp], n_rows: int
) -> dict[str, Any]:
    """The parameters of `fit` for some rows: those with a value for each sample are cut."""
    return {name: _take_value(value, rows, n_rows) for name, value in params.items()}


def _take_value(value: Any, rows: npt.NDArray[np.intp], n_rows: int) -> Any:
    if isinstance(value, str) or not hasattr(value, "__len__") or isinstance(value, Mapping):
        return value
    array = value if hasattr(value, "shape") else np.asarray(value)
    return take_rows(array, rows) if array.shape[:1] == (n_rows,) else value


def outlier_threshold(scores: Floats, share: float) -> float:
    """The least score that at most a share of the scores is above.

    Examples
    --------
    >>> outlier_threshold(np.arange(100.0), 0.05)
    94.0
    """
    known = scores[np.isfinite(scores)]
    if not len(known):
        raise InvalidInputError(
            "reject_outliers needs samples that are not trained on, two of some class."
        )
    return float(np.quantile(known, 1 - share, method="inverted_cdf"))


def check_rejection(classes: npt.NDArray[Any], label: Any, share: float | None) -> None:
    """Refuse a share of outliers that is none, and a label of rejection that is a class."""
    if share is not None:
        check_number("reject_outliers", share, minimum=0, maximum=1)
    if label is None:
        raise InvalidInputError("reject_label must be given with reject_below or reject_outliers.")
    if label in classes.tolist():
        raise InvalidInputError(f"reject_label must not be a class; {label!r} is one.")


def with_label(
    labels: npt.NDArray[Any], where: npt.NDArray[np.bool_], label: Any
) -> npt.NDArray[Any]:
    """Labels with another one in some places, of a type that can hold both.

    Examples
    --------
    >>> with_label(np.array([3, 4]), np.array([True, False]), -1)
    array([-1,  4])
    >>> with_label(np.array(["ant", "bee"]), np.array([True, False]), None)
    array([None, 'bee'], dtype=object)
    """
    other = np.asarray(label)
    same_kind = other.dtype.kind == labels.dtype.kind or {other.dtype.kind, labels.dtype.kind} <= {
        "i",
        "u",
    }
    result = labels.astype(np.promote_types(labels.dtype, other.dtype) if same_kind else object)
    result[where] = label
    return result
