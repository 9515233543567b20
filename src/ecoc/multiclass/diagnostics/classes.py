"""Which classes are told apart, which are confused, and whether probabilities can be believed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int, counted, listing
from ecoc._latex import text_table
from ecoc._typing import Floats, Ints
from ecoc.errors import InvalidInputError
from ecoc.multiclass.diagnostics import plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ClassReport", "Reliability"]


@dataclass(frozen=True, eq=False, repr=False)
class ClassReport:
    """How well each class is told from the others.

    Attributes
    ----------
    classes : tuple of str
        The names of the classes.
    counts : array of int of shape (n_classes, n_classes)
        The confusion matrix: samples of a class (row) that were given a class (column).
    """

    classes: tuple[str, ...]
    counts: Ints

    @classmethod
    def from_predictions(
        cls, predicted: npt.ArrayLike, truth: npt.ArrayLike, classes: Iterable[Any] | None = None
    ) -> ClassReport:
        """Count how often each class was predicted for each class.

        Parameters
        ----------
        predicted, truth : array-likes of shape (n_samples,)
            The class that each sample was given, and the one that it has.
        classes : iterable, optional
            The order of the classes, by default sorted; classes besides these come last.

        Examples
        --------
        >>> report = ClassReport.from_predictions(["a", "b", "b", "b"], ["a", "a", "b", "b"])
        >>> report.counts.tolist()
        [[1, 1], [0, 2]]
        >>> report.recall, report.precision.round(2)
        (array([0.5, 1. ]), array([1.  , 0.67]))
        >>> report.balanced_accuracy
        0.75
        """
        given, actual = np.asarray(predicted), np.asarray(truth)
        if given.shape != actual.shape or given.ndim != 1 or not len(given):
            raise InvalidInputError(
                "predicted and truth must be of one length, with one sample or more, not of "
                f"shapes {given.shape} and {actual.shape}."
            )
        known = [] if classes is None else list(classes)
        others = sorted({*given.tolist(), *actual.tolist()}.difference(known))
        places = {label: place for place, label in enumerate([*known, *others])}
        counts = np.zeros((len(places), len(places)), dtype=np.int64)
        rows = [places[label] for label in actual.tolist()]
        columns = [places[label] for label in given.tolist()]
        np.add.at(counts, (rows, columns), 1)
        return cls(tuple(map(str, places)), counts)

    @property
    def support(self) -> Ints:
        """The samples of each class."""
        support: Ints = self.counts.sum(axis=1)
        return support

    @property
    def recall(self) -> Floats:
        """The share of the samples of a class that were given it; NaN if there is none."""
        return _share(np.diag(self.counts), self.support)

    @property
    def precision(self) -> Floats:
        """The share of the samples given a class that have it; NaN if none was given it."""
        return _share(np.diag(self.counts), self.counts.sum(axis=0))

    @property
    def accuracy(self) -> float:
        """The share of the samples that were right."""
        return float(np.trace(self.counts) / self.counts.sum())

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that have samples."""
        return float(self.recall[self.support > 0].mean())

    def confusions(self, limit: int = 10) -> list[tuple[str, str, int]]:
        """The most frequent confusions: a class, what it was taken for, and how often."""
        wrong = self.counts.copy()
        np.fill_diagonal(wrong, 0)
        order = np.argsort(-wrong, axis=None, kind="stable")[:limit]
        pairs = zip(*np.unravel_index(order, wrong.shape), strict=True)
        return [
            (self.classes[row], self.classes[column], int(wrong[row, column]))
            for row, column in pairs
            if wrong[row, column]
        ]

    def table(self) -> list[tuple[str, ...]]:
        """A heading and a line for each class, for people."""
        shares = zip(self.precision, self.recall, strict=True)
        lines = [
            (name, str(count), *(f"{100 * s:.1f} %" if s == s else "none" for s in both))  # noqa: PLR0124
            for name, count, both in zip(self.classes, self.support, shares, strict=True)
        ]
        return [("class", "rows", "precision", "recall"), *lines]

    def to_plain(self) -> dict[str, Any]:
        """The figures for machines; what is not defined is None."""
        return {
            "accuracy": self.accuracy,
            "balanced_accuracy": self.balanced_accuracy,
            "classes": list(self.classes),
            "precision": _plain(self.precision),
            "recall": _plain(self.recall),
            "support": self.support.tolist(),
            "confusion": self.counts.tolist(),
        }

    def to_latex(self) -> str:
        r"""What :meth:`table` shows, for LaTeX with the package booktabs.

        Examples
        --------
        >>> report = ClassReport.from_predictions(["a", "b", "b", "b"], ["a", "a", "b", "b"])
        >>> print(report.to_latex().splitlines()[5])
        a & 2 & 100.0 \% & 50.0 \% \\
        """
        return text_table(self.table())

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the confusion matrix, each row by the share of its class."""
        return plotting.plot_confusion(self, ax)

    def __repr__(self) -> str:
        worst = [f"{a} as {b} {count}" for a, b, count in self.confusions(3)]
        return (
            f"<ClassReport: {len(self.classes)} classes, accuracy {self.accuracy:.1%}, balanced "
            f"{self.balanced_accuracy:.1%}; {listing(worst) or 'nothing confused'}>"
        ).replace("%", " %")


def _plain(shares: Floats) -> list[float | None]:
    return [None if np.isnan(share) else float(share) for share in shares]


def _share(part: Ints, whole: Ints) -> Floats:
    shares = np.full(len(whole), np.nan)
    np.divide(part, whole, out=shares, where=whole > 0)
    return shares


@dataclass(frozen=True, eq=False, repr=False)
class Reliability:
    """Whether predictions are right as often as their probabilities say.

    Attributes
    ----------
    confidence, accuracy : arrays of shape (n_bins,)
        The mean probability of the predicted classes, and the share of them that are right, in
        bins of equal width of that probability; NaN in an empty bin.
    counts : array of int of shape (n_bins,)
        The samples in each bin.
    log_loss : float
        The mean of minus the logarithm of the probability of the right class.
    """

    confidence: Floats
    accuracy: Floats
    counts: Ints
    log_loss: float

    @classmethod
    def from_probabilities(
        cls, probabilities: npt.ArrayLike, targets: npt.ArrayLike, n_bins: int = 10
    ) -> Reliability:
        """Compare probabilities with what was right.

        Parameters
        ----------
        probabilities : array of shape (n_samples, n_classes)
            The probability of each class.
        targets : array of int of shape (n_samples,)
            The place of the right class; -1 for a class that has no probability.
        n_bins : int, default=10
            The number of bins from 0 to 1.

        Examples
        --------
        >>> sure = [[0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]
        >>> Reliability.from_probabilities(sure, [0, 1, 1, 1])
        <Reliability: expected calibration error 35.0 %, log loss 0.785, 4 samples>
        """
        check_int("n_bins", n_bins, minimum=1)
        shares, rows = np.asarray(probabilities, dtype=np.float64), np.asarray(targets)
        if shares.ndim != 2 or rows.shape != (len(shares),) or not len(rows):
            raise InvalidInputError(
                "probabilities must have a row for each of one or more targets; got shapes "
                f"{shares.shape} and {rows.shape}."
            )
        highest = shares.max(axis=1)
        right = shares.argmax(axis=1) == rows
        # A probability on the border of two bins is in the lower one.
        bins = np.clip(np.ceil(highest * n_bins).astype(np.intp) - 1, 0, n_bins - 1)
        counts = np.bincount(bins, minlength=n_bins)
        of_truth = np.where(rows < 0, 0.0, shares[np.arange(len(rows)), rows])
        least = np.finfo(np.float64).eps
        return cls(
            _share(np.bincount(bins, highest, minlength=n_bins), counts),
            _share(np.bincount(bins, right, minlength=n_bins), counts),
            counts,
            float(-np.log(np.clip(of_truth, least, 1)).mean()),
        )

    @property
    def expected_calibration_error(self) -> float:
        """How far probability and share of right ones are apart, in the mean over the samples."""
        apart = np.abs(np.nan_to_num(self.confidence) - np.nan_to_num(self.accuracy))
        return float(apart @ self.counts / self.counts.sum())

    def to_plain(self) -> dict[str, Any]:
        """The figures for machines; what is not defined is None."""
        return {
            "expected_calibration_error": self.expected_calibration_error,
            "log_loss": self.log_loss,
            "confidence": _plain(self.confidence),
            "accuracy": _plain(self.accuracy),
            "counts": self.counts.tolist(),
        }

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the reliability diagram: a bin on the diagonal says what is so."""
        return plotting.plot_reliability(self, ax)

    def __repr__(self) -> str:
        error = f"{self.expected_calibration_error:.1%}".replace("%", " %")
        return (
            f"<Reliability: expected calibration error {error}, log loss {self.log_loss:.3f}, "
            f"{counted(int(self.counts.sum()), 'sample')}>"
        )
