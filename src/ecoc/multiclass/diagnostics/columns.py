"""Columns that are wrong, columns that are of use, and the classes that they confuse."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import listing
from ecoc.codes.measures import distances as codeword_distances
from ecoc.multiclass.decoders.base import Decoder, Floats, as_scores
from ecoc.multiclass.diagnostics import plotting
from ecoc.multiclass.diagnostics._outcomes import as_targets, look, one_hot, outcomes, ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = [
    "ColumnErrors",
    "ColumnUsefulness",
    "ConfusionByDistance",
    "column_errors",
    "column_usefulness",
    "confusion_by_distance",
]

Counts = npt.NDArray[np.int64]


# ------------------------------------------------------------- errors of columns


@dataclass(frozen=True, eq=False, repr=False)
class ColumnErrors:
    """How often each column is wrong about the samples of the classes that it uses.

    A column is wrong where its score is not on the side of the codeword, 0 included; an
    erased score (NaN) is neither right nor wrong. Where there is nothing to count, rates
    are NaN.

    Attributes
    ----------
    rates : array of shape (n_columns,)
        The share of samples that a column is wrong about.
    by_class : array of shape (n_classes, n_columns)
        The same for the samples of each class; NaN where the column does not use it.
    baseline : array of shape (n_columns,)
        The error rate of always taking the side that has more samples.
    n_samples : array of int of shape (n_columns,)
        The samples that a column was counted on.
    """

    rates: Floats
    by_class: Floats
    baseline: Floats
    n_samples: Counts

    @classmethod
    def from_scores(
        cls, scores: npt.ArrayLike, matrix: npt.ArrayLike, targets: npt.ArrayLike
    ) -> ColumnErrors:
        """Count from column scores.

        Parameters
        ----------
        scores : array of shape (n_samples, n_columns)
            Signed scores of the columns; NaN is an erasure.
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
        n_plus = np.where(code > 0, n_counted, 0).sum(axis=0)
        n_minus = np.where(code < 0, n_counted, 0).sum(axis=0)
        total = n_counted.sum(axis=0)
        return cls(
            rates=ratio(n_wrong.sum(axis=0), total),
            by_class=ratio(n_wrong, n_counted),
            baseline=ratio(np.minimum(n_plus, n_minus), total),
            n_samples=total.astype(np.int64),
        )

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw a bar for each column, a dot for each class, and the baseline."""
        return plotting.plot_column_errors(self, ax)

    def __repr__(self) -> str:
        if np.isnan(self.rates).all():
            return f"<ColumnErrors: {len(self.rates)} columns, no samples>"
        worst = int(np.nanargmax(self.rates))
        return (
            f"<ColumnErrors: {len(self.rates)} columns, mean {np.nanmean(self.rates):.1%}, "
            f"worst {self.rates[worst]:.1%} (column {worst})>"
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
    seen = look(model, X, y)
    return ColumnErrors.from_scores(seen.scores, seen.matrix, seen.targets)


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
        >>> from ecoc.multiclass import Hamming
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
    seen = look(model, X, y)
    return ColumnUsefulness.from_scores(seen.scores, seen.matrix, seen.targets, seen.model.decoder_)


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
    level_pairs: Counts

    @classmethod
    def from_predictions(
        cls, predicted: npt.ArrayLike, targets: npt.ArrayLike, matrix: npt.ArrayLike
    ) -> ConfusionByDistance:
        """Count from predictions.

        Parameters
        ----------
        predicted, targets : arrays of int of shape (n_samples,)
            The row of the codebook that each sample was given, and the one it belongs to.
        matrix : array of shape (n_classes, n_columns)
            The codebook.

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
        distances = codeword_distances(code.astype(np.int8))
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
    seen = look(model, X, y)
    predicted = seen.model.decoder_(seen.scores, seen.matrix).argmax(axis=1)
    return ConfusionByDistance.from_predictions(predicted, seen.targets, seen.matrix)
