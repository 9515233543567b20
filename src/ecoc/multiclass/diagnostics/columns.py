"""Columns that are wrong, wrong together, or of use, and the classes that they confuse."""

# ruff: noqa: N803  # X is what scikit-learn calls it

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from ecoc._checks import RandomState, check_int, check_random_state, counted, listing
from ecoc._typing import Floats, Ints
from ecoc.codes import Codebook
from ecoc.codes.measures import distances as codeword_distances
from ecoc.errors import InvalidInputError
from ecoc.multiclass.data import open_pipeline, transformed
from ecoc.multiclass.decoders.base import Decoder, as_scores, erasures
from ecoc.multiclass.diagnostics import plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "ColumnErrors",
    "ColumnUsefulness",
    "ConfusionByDistance",
    "ErrorCorrelation",
    "column_errors",
    "column_importances",
    "column_usefulness",
    "confusion_by_distance",
    "error_correlation",
]


class CodeModel(Protocol):
    """A fitted classifier that has a codebook, whatever its columns are."""

    classes_: npt.NDArray[Any]
    codebook_: Codebook

    @property
    def decoder_(self) -> Decoder:
        """What predicts from the scores of the columns."""

    def column_scores(self, X: Any) -> Floats:
        """The scores of the columns, positive on the +1 side, or probabilities of symbols."""


@dataclass(frozen=True)
class ScoredSamples:
    """Labelled samples with the scores that a fitted classifier gives them."""

    model: CodeModel
    scores: Floats
    targets: npt.NDArray[np.intp]

    @property
    def matrix(self) -> npt.NDArray[np.int8]:
        """The codebook."""
        return self.model.codebook_.matrix


def scored(model: Any, X: Any, y: Any) -> ScoredSamples:
    """Score samples by a classifier, or by the one at the end of a pipeline."""
    classifier, features = unwrapped(model, X)
    scores = classifier.column_scores(features)
    return ScoredSamples(classifier, scores, target_rows(classifier, y, len(scores)))


def unwrapped(model: Any, X: Any) -> tuple[CodeModel, Any]:
    """The classifier at the end of a pipeline, and the features as they reach it."""
    transformers, classifier = open_pipeline(model)
    if not hasattr(type(classifier), "column_scores"):
        raise InvalidInputError(
            "model must be an ECOCClassifier, an ECOCNetworkClassifier or a pipeline that ends in "
            f"one of them, not {type(classifier).__name__}."
        )
    check_is_fitted(classifier)
    return classifier, transformed(transformers, X)


def target_rows(model: CodeModel, y: Any, n_samples: int) -> npt.NDArray[np.intp]:
    """The row of the codebook for each label."""
    labels = np.asarray(y).ravel()
    if len(labels) != n_samples:
        raise InvalidInputError(
            f"X and y must have the same number of samples, not {n_samples} and {len(labels)}."
        )
    known = np.isin(labels, model.classes_)
    if not known.all():
        raise InvalidInputError(
            f"y must hold only classes that the model knows; it does not know "
            f"{listing(np.unique(labels[~known]).tolist())}."
        )
    return np.searchsorted(model.classes_, labels)


def outcomes(
    scores: npt.ArrayLike, matrix: npt.ArrayLike, targets: npt.ArrayLike
) -> tuple[Floats, npt.NDArray[np.intp], Floats, Floats]:
    """Codebook, targets, and for each sample and column whether it is wrong and counted."""
    values, code = as_scores(scores, matrix)
    rows = as_targets(targets, len(values), len(code))
    if values.ndim == 3:
        counted = ~erasures(values)
        right = np.nan_to_num(values).argmax(axis=2) == code[rows]
    else:
        counted = (code[rows] != 0) & ~np.isnan(values)
        right = code[rows] * values > 0
    return code, rows, (counted & ~right).astype(np.float64), counted.astype(np.float64)


def as_targets(
    targets: npt.ArrayLike, n_samples: int, n_classes: int, *, name: str = "targets"
) -> npt.NDArray[np.intp]:
    rows = np.asarray(targets)
    if rows.shape != (n_samples,) or rows.dtype.kind not in "iu" or n_samples == 0:
        raise InvalidInputError(
            f"{name} must be whole numbers, one for each of {max(n_samples, 1)} or more samples; "
            f"got shape {rows.shape} of {rows.dtype}."
        )
    if rows.min() < 0 or rows.max() >= n_classes:
        raise InvalidInputError(
            f"{name} must be rows of the codebook, 0 to {n_classes - 1}, not "
            f"{rows.min()} to {rows.max()}."
        )
    return rows.astype(np.intp)


def one_hot(rows: npt.NDArray[np.intp], n_classes: int) -> Floats:
    members = np.zeros((len(rows), n_classes))
    members[np.arange(len(rows)), rows] = 1
    return members


def ratio(part: Floats, whole: Floats) -> Floats:
    """A quotient that is NaN where there is nothing to divide by."""
    result = np.full(np.shape(whole), np.nan)
    np.divide(part, whole, out=result, where=whole != 0)
    return result


# ------------------------------------------------------------- errors of columns


@dataclass(frozen=True, eq=False, repr=False)
class ColumnErrors:
    """How often each column is wrong about the samples of the classes that it uses.

    A column is wrong where its score is not on the side of the codeword, 0 included, or where
    another symbol than that of the codeword is the most probable; an erased score (NaN) is
    neither right nor wrong. Where there is nothing to count, rates are NaN.

    Attributes
    ----------
    rates : array of shape (n_columns,)
        The share of samples that a column is wrong about.
    by_class : array of shape (n_classes, n_columns)
        The same for the samples of each class; NaN where the column does not use it.
    baseline : array of shape (n_columns,)
        The error rate of always taking the side, or the symbol, that has most samples.
    n_samples : array of int of shape (n_columns,)
        The samples that a column was counted on.
    """

    rates: Floats
    by_class: Floats
    baseline: Floats
    n_samples: Ints

    @classmethod
    def from_scores(
        cls, scores: npt.ArrayLike, matrix: npt.ArrayLike, targets: npt.ArrayLike
    ) -> ColumnErrors:
        """Count from column scores.

        Parameters
        ----------
        scores : array of shape (n_samples, n_columns), or (n_samples, n_columns, n_symbols)
            Signed scores of the columns, or probabilities of symbols; NaN is an erasure.
        matrix : array of shape (n_classes, n_columns)
            The codebook.
        targets : array of int of shape (n_samples,)
            The row of the codebook that each sample belongs to.

        Examples
        --------
        >>> scores = [[0.5, 2.0], [-0.1, 1.0], [-3.0, 1.0]]
        >>> errors = ColumnErrors.from_scores(scores, [[1, 1], [-1, 0], [1, -1]], [0, 1, 2])
        >>> errors.rates.round(2), errors.baseline.round(2)
        (array([0.33, 0.5 ]), array([0.33, 0.5 ]))
        >>> errors
        <ColumnErrors: 2 columns, mean 41.7 %, worst 50.0 % (column 1)>
        """
        code, rows, wrong, counted = outcomes(scores, matrix, targets)
        members = one_hot(rows, len(code))
        n_wrong, n_counted = members.T @ wrong, members.T @ counted
        total = n_counted.sum(axis=0)
        of_entries = [np.where(code == e, n_counted, 0).sum(axis=0) for e in np.unique(code)]
        return cls(
            rates=ratio(n_wrong.sum(axis=0), total),
            by_class=ratio(n_wrong, n_counted),
            baseline=ratio(total - np.max(of_entries, axis=0), total),
            n_samples=total.astype(np.int64),
        )

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw a bar for each column, a dot for each class, and the baseline."""
        return plotting.plot_column_errors(self, ax)

    def __repr__(self) -> str:
        if np.isnan(self.rates).all():
            return f"<ColumnErrors: {counted(len(self.rates), 'column')}, no samples>"
        worst = int(np.nanargmax(self.rates))
        return (
            f"<ColumnErrors: {counted(len(self.rates), 'column')}, mean "
            f"{np.nanmean(self.rates):.1%}, worst {self.rates[worst]:.1%} (column {worst})>"
        ).replace("%", " %")


def column_errors(model: Any, X: Any, y: Any) -> ColumnErrors:
    """Count how often each column is wrong.

    Parameters
    ----------
    model : ECOCClassifier, ECOCNetworkClassifier or Pipeline
        A fitted classifier with a codebook, or a pipeline that ends in one.
    X, y
        Samples and their classes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from ecoc.multiclass import ECOCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCClassifier(SVC(), codebook="one-vs-rest").fit(X[::2], y[::2])
    >>> column_errors(model, X[1::2], y[1::2]).rates.round(3)
    array([0.   , 0.067, 0.067])
    """
    samples = scored(model, X, y)
    return ColumnErrors.from_scores(samples.scores, samples.matrix, samples.targets)


# --------------------------------------------------------- usefulness of columns


@dataclass(frozen=True, eq=False, repr=False)
class ColumnUsefulness:
    """The accuracy that each column brings: what is lost when it is left out.

    Attributes
    ----------
    accuracy : float
        With all columns.
    without : array of shape (n_columns,)
        The accuracy when a column is erased for every sample; NaN for the only column.
    """

    accuracy: float
    without: Floats

    @classmethod
    def from_scores(
        cls,
        scores: npt.ArrayLike,
        matrix: npt.ArrayLike,
        targets: npt.ArrayLike,
        decoder: Decoder,
    ) -> ColumnUsefulness:
        """Decode with all columns, and without each in turn.

        Parameters
        ----------
        scores, matrix, targets
            As for :class:`ColumnErrors`.
        decoder : Decoder
            The rule from scores to classes.

        Examples
        --------
        >>> from ecoc.multiclass.decoders import Hamming
        >>> code = [[1, 1, 1], [-1, -1, 1], [1, -1, -1]]
        >>> useful = ColumnUsefulness.from_scores(code, code, [0, 1, 2], Hamming())
        >>> useful.without.round(2)
        array([1., 1., 1.])
        """
        values, code = as_scores(scores, matrix)
        rows = as_targets(targets, len(values), len(code))
        n_columns = code.shape[1]

        def accuracy(missing: list[int]) -> float:
            decoded = decoder(values, code, missing_columns=missing).argmax(axis=1)
            return float(np.mean(decoded == rows))

        without = [accuracy([j]) if n_columns > 1 else np.nan for j in range(n_columns)]
        return cls(accuracy([]), np.array(without))

    @property
    def gains(self) -> Floats:
        """The accuracy with all columns, less that without each; below 0 for harmful ones."""
        return self.accuracy - self.without

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw what each column brings, in points of accuracy."""
        return plotting.plot_column_usefulness(self, ax)

    def __repr__(self) -> str:
        if np.isnan(self.without).all():
            return f"<ColumnUsefulness: accuracy {self.accuracy:.3f} with the only column>"
        return (
            f"<ColumnUsefulness: accuracy {self.accuracy:.3f}, without one column "
            f"{self.without.min():.3f} to {self.without.max():.3f}>"
        )


def column_importances(
    model: Any, X: Any, y: Any, *, n_repeats: int = 5, random_state: RandomState = None
) -> Floats:
    """How much accuracy is lost when the answers of a column are shuffled among the samples.

    Unlike :func:`column_usefulness`, which erases a column, so that the decoder knows: here it
    is believed as before, and is wrong.

    Parameters
    ----------
    model, X, y
        As for :func:`column_errors`. Samples are not rejected here.
    n_repeats : int, default=5
        How often each column is shuffled.
    random_state : int, Generator or None
        Seeds the shuffling.

    Returns
    -------
    array of shape (n_columns,)
        Mean losses of accuracy; below 0 for columns that do harm.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from ecoc.multiclass import ECOCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCClassifier(SVC(), codebook="one-vs-rest").fit(X[::2], y[::2])
    >>> column_importances(model, X[1::2], y[1::2], random_state=0).round(2)
    array([0.25, 0.21, 0.24])
    """
    check_int("n_repeats", n_repeats, minimum=1)
    generator = check_random_state(random_state)
    seen = scored(model, X, y)
    decoder = seen.model.decoder_

    def accuracy(scores: Floats) -> float:
        return float(np.mean(decoder(scores, seen.matrix).argmax(axis=1) == seen.targets))

    whole, losses = accuracy(seen.scores), np.zeros(seen.matrix.shape[1])
    for column in range(len(losses)):
        for _ in range(n_repeats):
            shuffled = seen.scores.copy()
            shuffled[:, column] = generator.permutation(shuffled[:, column])
            losses[column] += (whole - accuracy(shuffled)) / n_repeats
    return losses


def column_usefulness(model: Any, X: Any, y: Any) -> ColumnUsefulness:
    """Measure the accuracy when each column is left out, decoded as an erasure.

    The parameters are those of :func:`column_errors`. Samples are not rejected here.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from ecoc.multiclass import ECOCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCClassifier(SVC(), codebook="one-vs-one").fit(X[::2], y[::2])
    >>> column_usefulness(model, X[1::2], y[1::2])
    <ColumnUsefulness: accuracy 0.933, without one column 0.600 to 0.933>
    """
    samples = scored(model, X, y)
    return ColumnUsefulness.from_scores(
        samples.scores, samples.matrix, samples.targets, samples.model.decoder_
    )


# ------------------------------------------------------------ confusion of classes


@dataclass(frozen=True, eq=False, repr=False)
class ConfusionByDistance:
    """How often a class is taken for another, beside the distance of their codewords.

    Attributes
    ----------
    rates : array of shape (n_classes, n_classes)
        The share of the samples of a class (row) that were given a class (column); NaN in
        the row of a class without samples.
    distances : array of shape (n_classes, n_classes)
        The distances of their codewords.
    levels : array
        The distances there are between different classes, ascending.
    level_rates : array
        For each of them the confusions of the pairs at that distance, divided by the
        samples that could have been confused so.
    level_pairs : array of int
        The number of pairs at that distance.
    """

    rates: Floats
    distances: Floats
    levels: Floats
    level_rates: Floats
    level_pairs: Ints

    @classmethod
    def from_predictions(
        cls,
        predicted: npt.ArrayLike,
        targets: npt.ArrayLike,
        matrix: npt.ArrayLike,
        n_symbols: int = 2,
    ) -> ConfusionByDistance:
        """Count how often each class is taken for each other, from predictions.

        Parameters
        ----------
        predicted, targets : arrays of int of shape (n_samples,)
            The row of the codebook that each sample was given, and the one it belongs to.
        matrix : array of shape (n_classes, n_columns)
            The codebook.
        n_symbols : int, default=2
            Its number of symbols.

        Examples
        --------
        >>> code = [[1, 1, 1], [1, 1, -1], [-1, -1, -1]]
        >>> ConfusionByDistance.from_predictions([0, 1, 1, 2], [0, 0, 1, 2], code)
        <ConfusionByDistance: distance 1: 33.3 %, 2: 0.0 %, 3: 0.0 %>
        """
        code = np.asarray(matrix)
        k = len(code)
        truth = as_targets(targets, np.size(targets), k)
        given = as_targets(predicted, len(truth), k, name="predicted")
        counts = np.zeros((k, k))
        np.add.at(counts, (truth, given), 1)
        sizes = np.broadcast_to(counts.sum(axis=1, keepdims=True), (k, k))
        distances = codeword_distances(code.astype(np.int8), n_symbols)
        different = ~np.eye(k, dtype=bool)
        levels, place = np.unique(distances[different], return_inverse=True)
        confused, possible = (
            np.bincount(place, weights=values[different]).astype(np.float64)
            for values in (counts, sizes)
        )
        return cls(
            rates=ratio(counts, sizes),
            distances=distances,
            levels=levels,
            level_rates=ratio(confused, possible),
            level_pairs=np.bincount(place) // 2,
        )

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the confusion rate of every pair over its distance, and that of each distance."""
        return plotting.plot_confusion_by_distance(self, ax)

    def __repr__(self) -> str:
        shown = [
            f"{level:g}: {rate:.1%}".replace("%", " %")
            for level, rate in zip(self.levels, self.level_rates, strict=True)
        ]
        return f"<ConfusionByDistance: distance {listing(shown, limit=6)}>"


def confusion_by_distance(model: Any, X: Any, y: Any) -> ConfusionByDistance:
    """Count which classes are confused, beside the distance of their codewords.

    The parameters are those of :func:`column_errors`. Samples are not rejected here.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from ecoc.multiclass import ECOCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCClassifier(SVC(), codebook="one-vs-rest").fit(X[::2], y[::2])
    >>> confusion_by_distance(model, X[1::2], y[1::2])
    <ConfusionByDistance: distance 2: 2.7 %>
    """
    samples = scored(model, X, y)
    predicted = samples.model.decoder_(samples.scores, samples.matrix).argmax(axis=1)
    n_symbols = samples.model.codebook_.n_symbols
    return ConfusionByDistance.from_predictions(
        predicted, samples.targets, samples.matrix, n_symbols
    )


@dataclass(frozen=True, eq=False, repr=False)
class ErrorCorrelation:
    r"""Whether columns are wrong about the same samples.

    For each pair of columns, over the samples that both use: with :math:`n_{11}` samples
    that both get wrong, :math:`n_{00}` that both get right, and :math:`n_{10}, n_{01}` that
    one of them gets wrong, the paper's measure [1]_ is
    :math:`P = n_{11} / (n_{11} + n_{00})`, and the phi coefficient, the correlation of the
    two indicators of error, is

    .. math:: \varphi = \frac{n_{11} n_{00} - n_{10} n_{01}}
        {\sqrt{(n_{11}+n_{10}) (n_{01}+n_{00}) (n_{11}+n_{01}) (n_{10}+n_{00})}} .

    P grows with the error rates even if errors are independent: at a rate of 10 % it is then
    1.2 %, at 40 % it is 31 %. `independent` tells what it would be. Phi is 0 for independent
    errors at any rate.

    Attributes
    ----------
    paper : array of shape (n_columns, n_columns)
        P; NaN for pairs that are never right or wrong together, such as columns that share
        no class. Its diagonal is the error rate.
    phi : array of shape (n_columns, n_columns)
        The phi coefficient; NaN where one of the two is always right, or always wrong, on
        the samples that both use.
    independent : array of shape (n_columns, n_columns)
        What P would be for independent errors at the error rates of the pair; NaN as for P.
    n_samples : array of int of shape (n_columns, n_columns)
        The samples that both columns of a pair use.

    References
    ----------
    .. [1] S. Gupta, S. Amin (2021). Integer programming-based error-correcting output code
       design for robust classification, supplement. UAI.
    """

    paper: Floats
    phi: Floats
    independent: Floats
    n_samples: npt.NDArray[np.int64]

    @classmethod
    def from_scores(
        cls, scores: npt.ArrayLike, matrix: npt.ArrayLike, targets: npt.ArrayLike
    ) -> ErrorCorrelation:
        """Count from column scores; parameters as for `ColumnErrors.from_scores`.

        Examples
        --------
        >>> scores = [[-1, -1], [-1, 1], [1, 1], [1, 1]]
        >>> errors = ErrorCorrelation.from_scores(scores, [[1, 1], [-1, 1], [1, -1]], [0, 0, 0, 0])
        >>> errors.paper[0, 1].round(3), errors.independent[0, 1], errors.phi[0, 1].round(3)
        (np.float64(0.333), np.float64(0.25), np.float64(0.577))
        >>> errors
        <ErrorCorrelation: 2 columns, mean phi 0.577, mean P 0.333>
        """
        _, _, wrong, counted = outcomes(scores, matrix, targets)
        right = counted - wrong
        n11, n00 = wrong.T @ wrong, right.T @ right
        n10 = wrong.T @ right
        n01 = n10.T
        ones, zeros = n11 + n10, n01 + n00
        margins = ones * zeros * ones.T * zeros.T
        return cls(
            paper=ratio(n11, n11 + n00),
            phi=ratio(n11 * n00 - n10 * n01, np.sqrt(margins)),
            independent=ratio(ones * ones.T, ones * ones.T + zeros * zeros.T),
            n_samples=(ones + zeros).astype(np.int64),
        )

    @property
    def mean_phi(self) -> float:
        """The mean phi coefficient of the pairs that have one; NaN if none has."""
        return _mean_of_pairs(self.phi)

    @property
    def mean_paper(self) -> float:
        """The mean P of the pairs that have one; NaN if none has."""
        return _mean_of_pairs(self.paper)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Figure:
        """Draw P and phi side by side, or phi alone into one axes; grey is NaN."""
        return plotting.plot_error_correlation(self, ax)

    def __repr__(self) -> str:
        return (
            f"<ErrorCorrelation: {counted(len(self.phi), 'column')}, mean phi {self.mean_phi:.3f}, "
            f"mean P {self.mean_paper:.3f}>"
        )


def error_correlation(model: Any, X: Any, y: Any) -> ErrorCorrelation:
    """Find out whether columns are wrong about the same samples.

    The parameters are those of :func:`ecoc.multiclass.diagnostics.column_errors`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from ecoc.multiclass import ECOCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCClassifier(SVC(), codebook="one-vs-rest").fit(X[::2], y[::2])
    >>> error_correlation(model, X[1::2], y[1::2]).phi[1:, 1:].round(2)
    array([[1.  , 0.79],
           [0.79, 1.  ]])
    """
    samples = scored(model, X, y)
    return ErrorCorrelation.from_scores(samples.scores, samples.matrix, samples.targets)


def _mean_of_pairs(values: Floats) -> float:
    pairs = values[np.triu_indices(len(values), 1)]
    pairs = pairs[~np.isnan(pairs)]
    return float(pairs.mean()) if len(pairs) else float("nan")
