"""Classifiers compared on the same held-out samples."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold

from ecoc._checks import check_int, check_number, counted, listing
from ecoc._latex import text_table
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError
from ecoc.multiclass.data import take_rows
from ecoc.multiclass.diagnostics import plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Comparison", "PairedDifference", "Splits", "compare_on_splits"]

Watch = Callable[[str, int, Any, npt.NDArray[np.intp], npt.NDArray[Any]], object]
"""Called with the name, the split, the fitted model, the rows that were held out, and the
classes that it predicts for them."""

Rows = npt.NDArray[np.intp]

_MANY_CLASSES = 20


@dataclass(frozen=True, eq=False)
class Splits:
    """Which samples are trained on, and which are held out.

    Attributes
    ----------
    parts : tuple of pairs of arrays
        The rows to train on and the rows that are held out, for each split.
    text : str
        How the samples were split, for people.
    n_folds, n_repeats : int
        Of a cross-validation; a single split is one fold.
    never_held_out : tuple of str
        Classes with a single sample: it is always trained on, so that no accuracy speaks of
        them.
    """

    parts: tuple[tuple[Rows, Rows], ...]
    text: str
    n_folds: int = 1
    n_repeats: int = 1
    never_held_out: tuple[str, ...] = ()

    @classmethod
    def folds(
        cls,
        y: npt.ArrayLike,
        n_folds: int = 5,
        *,
        n_repeats: int = 1,
        random_state: int | None = None,
    ) -> Splits:
        """Stratified folds; a class with fewer samples than folds is in some of them.

        Parameters
        ----------
        y : array-like
            The classes of the samples.
        n_folds, n_repeats : int
            The number of folds, and how often to make them anew.
        random_state : int, optional
            Seeds the folds.

        Raises
        ------
        InvalidInputError
            If no class has that many samples, or the classes look like a quantity.

        Examples
        --------
        >>> splits = Splits.folds(["a", "a", "a", "b", "b", "c"], 3, random_state=0)
        >>> splits.text
        '3 stratified folds; trained on but never held out: c (1 row)'
        >>> [len(held_out) for _, held_out in splits.parts]
        [2, 2, 1]
        """
        check_int("n_folds", n_folds, minimum=2)
        check_int("n_repeats", n_repeats, minimum=1)
        labels, places, sizes = _classes(y)
        _check_sizes(labels, sizes, n_folds)
        always, split_rows = np.flatnonzero(sizes[places] == 1), np.flatnonzero(sizes[places] > 1)
        folds = RepeatedStratifiedKFold(
            n_splits=n_folds, n_repeats=n_repeats, random_state=random_state
        )
        with warnings.catch_warnings():
            # That a class has fewer samples than there are folds is told by what is held out.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            parts = tuple(
                (np.union1d(split_rows[kept], always), split_rows[held_out])
                for kept, held_out in folds.split(np.zeros(len(split_rows)), places[split_rows])
            )
        rounds = "" if n_repeats == 1 else f"{counted(n_repeats, 'round')} of "
        single = _single(labels, sizes)
        return cls(
            parts,
            f"{rounds}{n_folds} stratified folds{_trained_on_only(single)}",
            n_folds,
            n_repeats,
            single,
        )

    @classmethod
    def holdout(
        cls, y: npt.ArrayLike, share: float = 0.2, *, random_state: int | None = None
    ) -> Splits:
        """One split, in which a share of every class is held out.

        Parameters
        ----------
        y : array-like
            The classes of the samples.
        share : float, default=0.2
            Above 0 and below 1. Of a class whose share is no whole number the next lower or
            higher one is taken, by chance; at least one sample stays to train on.
        random_state : int, optional
            Seeds the choice.

        Examples
        --------
        >>> splits = Splits.holdout([0] * 10 + [1] * 20 + [2], 0.3, random_state=0)
        >>> splits.text
        '9 rows held out (29 %); trained on but never held out: 2 (1 row)'
        """
        share = check_number("share", share)
        if not 0 < share < 1:
            raise InvalidInputError(
                f"The share to hold out must be above 0 and below 1, not {share:g}."
            )
        labels, places, sizes = _classes(y)
        generator = np.random.default_rng(random_state)
        taken: list[Rows] = []
        for place, size in enumerate(sizes.tolist()):
            count = min(size - 1, int(share * size + generator.random()))
            members = np.flatnonzero(places == place)
            taken.append(generator.permutation(members)[:count])
        held_out = np.sort(np.concatenate(taken))
        if not len(held_out):
            raise InvalidInputError(
                f"A share of {share:g} of {counted(len(places), 'row')} holds out none of them; "
                "hold out more (--holdout), or none (--no-validation)."
            )
        kept = np.setdiff1d(np.arange(len(places)), held_out)
        single = _single(labels, sizes)
        rows, percent = counted(len(held_out), "row"), 100 * len(held_out) / len(places)
        text = f"{rows} held out ({percent:.0f} %){_trained_on_only(single)}"
        return cls(((kept, held_out),), text, never_held_out=single)

    @classmethod
    def given(cls, n_train: int, n_test: int, name: str) -> Splits:
        """One split: the last samples come from elsewhere and are held out.

        Parameters
        ----------
        n_train, n_test : int
            How many samples to train on, and how many after them to hold out.
        name : str
            Where those come from.

        Examples
        --------
        >>> Splits.given(2, 3, "test.csv").parts
        ((array([0, 1]), array([2, 3, 4])),)
        """
        parts = (np.arange(n_train), np.arange(n_train, n_train + n_test))
        return cls((parts,), f"{counted(n_test, 'row')} of {name}")


def _classes(y: npt.ArrayLike) -> tuple[npt.NDArray[Any], Rows, Rows]:
    labels, places, sizes = np.unique(np.asarray(y), return_inverse=True, return_counts=True)
    return labels, places, sizes


def _single(labels: npt.NDArray[Any], sizes: Rows) -> tuple[str, ...]:
    return tuple(str(label) for label in labels[sizes == 1])


def _trained_on_only(classes: tuple[str, ...]) -> str:
    if not classes:
        return ""
    each = "1 row" if len(classes) == 1 else "1 row each"
    return f"; trained on but never held out: {listing(classes)} ({each})"


def _check_sizes(labels: npt.NDArray[Any], sizes: Rows, n_folds: int) -> None:
    """Check that there is something to hold out in every fold, before anything is trained."""
    small = int((sizes < n_folds).sum())
    if len(labels) > _MANY_CLASSES and small > len(labels) / 2:
        raise InvalidInputError(
            f"With {len(labels)} classes, {small} of which have fewer than {n_folds} rows, the "
            "target looks like a quantity or a name. If it has classes all the same, use fewer "
            "folds (--folds) or none (--no-validation)."
        )
    most = int(sizes.max())
    if most == 1:
        raise InvalidInputError(
            "No class has two rows, so that none can be held out to validate. Train without that "
            "(--no-validation), or join classes."
        )
    if most < n_folds:
        raise InvalidInputError(
            f"No class has a row for each of {n_folds} folds; the largest has {most}. Use at most "
            f"{most} folds (--folds {most})."
        )


@dataclass(frozen=True)
class PairedDifference:
    """The difference of two accuracies on the same splits.

    Attributes
    ----------
    mean : float
        The mean difference.
    standard_error : float
        Corrected for training sets that overlap (Nadeau & Bengio 2003).
    low, high : float
        A confidence interval of 95 %, by Student's t distribution.
    """

    mean: float
    standard_error: float
    low: float
    high: float

    @property
    def verdict(self) -> str:
        """Whether the interval is on one side of 0: "better", "worse" or "level"."""
        if self.low > 0:
            return "better"
        return "worse" if self.high < 0 else "level"

    def to_plain(self) -> dict[str, Any]:
        """The figures and the verdict, for machines."""
        return {**asdict(self), "verdict": self.verdict}


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """How several classifiers did on the same splits.

    Attributes
    ----------
    names : tuple of str
        The classifiers; the first is the one that the others are compared with.
    accuracies : array of shape (n_classifiers, n_splits)
        On the samples that were held out.
    fit_seconds, predict_seconds : arrays of shape (n_classifiers, n_splits)
        Wall-clock time.
    splits : Splits
        Which samples were held out.
    balanced : array of shape (n_classifiers,)
        The mean over the classes of the share of their held-out samples that were right.
    right : array of shape (n_classifiers, n_samples), optional
        For a single split, which of the samples that were held out were right.
    """

    names: tuple[str, ...]
    accuracies: Floats
    fit_seconds: Floats
    predict_seconds: Floats
    splits: Splits
    balanced: Floats
    right: npt.NDArray[np.bool_] | None = None

    @property
    def means(self) -> Floats:
        """The mean accuracy of each classifier."""
        mean: Floats = self.accuracies.mean(axis=1)
        return mean

    @property
    def standard_errors(self) -> Floats:
        """The standard error of each mean, over the splits, or over the samples of the only one."""
        if self.right is not None:
            variances: Floats = self.means * (1 - self.means) / self.right.shape[1]
        else:
            variances = self.accuracies.var(axis=1, ddof=1) / self.accuracies.shape[1]
        errors: Floats = np.sqrt(variances)
        return errors

    def difference(self, name: str) -> PairedDifference:
        """The accuracy of the first classifier less that of another, on the same samples.

        Parameters
        ----------
        name : str
            The other classifier.
        """
        from scipy.stats import t

        place = self.names.index(name)
        if self.right is not None:
            differences = self.right[0].astype(np.float64) - self.right[place]
            scale = 1 / len(differences)
        else:
            differences = self.accuracies[0] - self.accuracies[place]
            # Training sets share most of their samples, so that splits are not independent.
            scale = 1 / len(differences) + 1 / (self.splits.n_folds - 1)
        mean = float(differences.mean())
        if len(differences) < 2:
            # One sample says nothing about others.
            return PairedDifference(mean, 1.0, -1.0, 1.0)
        error = float(np.sqrt(scale * differences.var(ddof=1)))
        reach = float(t.ppf(0.975, len(differences) - 1)) * error
        return PairedDifference(mean, error, mean - reach, mean + reach)

    def table(self) -> list[tuple[str, ...]]:
        """A heading and a line for each classifier, for people."""
        ahead_by = f"{self.names[0]} is ahead by (95 % interval)"
        lines: list[tuple[str, ...]] = [("", "accuracy", "balanced", "fit", ahead_by, "so it is")]
        for place, name in enumerate(self.names):
            accuracy = f"{100 * self.means[place]:.2f} ± {100 * self.standard_errors[place]:.2f} %"
            balanced = f"{100 * self.balanced[place]:.2f} %"
            seconds = f"{self.fit_seconds[place].mean():.2f} s"
            ahead, verdict = "", ""
            if place:
                difference = self.difference(name)
                low, high = 100 * difference.low, 100 * difference.high
                ahead = f"{100 * difference.mean:+.2f} ({low:+.2f} to {high:+.2f})"
                verdict = difference.verdict
            lines.append((name, accuracy, balanced, seconds, ahead, verdict))
        return lines

    def to_plain(self) -> list[dict[str, Any]]:
        """What :meth:`table` shows, and the accuracy on each split, for machines."""
        return [
            {
                "name": name,
                "accuracy": float(self.means[place]),
                "balanced_accuracy": float(self.balanced[place]),
                "standard_error": float(self.standard_errors[place]),
                "accuracies": self.accuracies[place].tolist(),
                "fit_seconds": float(self.fit_seconds[place].mean()),
                "predict_seconds": float(self.predict_seconds[place].mean()),
                "first_is_ahead_by": self.difference(name).to_plain() if place else None,
            }
            for place, name in enumerate(self.names)
        ]

    def to_latex(self) -> str:
        """What :meth:`table` shows, for LaTeX with the package booktabs."""
        return text_table(self.table())

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the accuracies on the splits, their means and standard errors."""
        return plotting.plot_comparison(self, ax)

    def __repr__(self) -> str:
        shown = [
            f"{name} {mean:.1%}".replace("%", " %")
            for name, mean in zip(self.names, self.means, strict=True)
        ]
        return f"<Comparison on {self.splits.text}: {listing(shown, limit=6)}>"


def compare_on_splits(
    models: Mapping[str, Any],
    X: Any,
    y: npt.ArrayLike,
    splits: Splits,
    *,
    progress: Callable[[str], object] | None = None,
    watch: Watch | None = None,
) -> Comparison:
    """Train several classifiers on the same samples, and compare them on those held out.

    Parameters
    ----------
    models : mapping of str to estimators
        The classifiers, the one of interest first; they are cloned.
    X, y
        Samples and their classes.
    splits : Splits
        Which samples are held out.
    progress : callable, optional
        Called with the name of a classifier when it has done a split.
    watch : callable, optional
        Called with the name, the number of the split, the fitted classifier, the rows that
        were held out, and the classes that were predicted for them.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> trees = {f"depth {d}": DecisionTreeClassifier(max_depth=d, random_state=0) for d in (3, 1)}
    >>> comparison = compare_on_splits(trees, X, y, Splits.folds(y, random_state=0))
    >>> comparison.difference("depth 1").verdict
    'better'
    """
    labels = np.asarray(y)
    classes, places = np.unique(labels, return_inverse=True)
    shape = (len(models), len(splits.parts))
    accuracies, fit_seconds, predict_seconds = np.empty(shape), np.empty(shape), np.empty(shape)
    hits, counts = np.zeros((len(models), len(classes))), np.zeros(len(classes))
    right = np.zeros((0, 0), dtype=bool)
    for split, (train, test) in enumerate(splits.parts):
        counts += np.bincount(places[test], minlength=len(classes))
        right = np.empty((len(models), len(test)), dtype=bool)
        for place, (name, model) in enumerate(models.items()):
            began = time.perf_counter()
            fitted = clone(model).fit(take_rows(X, train), labels[train])
            fit_seconds[place, split] = time.perf_counter() - began
            began = time.perf_counter()
            predicted = fitted.predict(take_rows(X, test))
            predict_seconds[place, split] = time.perf_counter() - began
            right[place] = predicted == labels[test]
            accuracies[place, split] = right[place].mean()
            hits[place] += np.bincount(places[test], right[place], minlength=len(classes))
            if watch is not None:
                watch(name, split, fitted, test, predicted)
            if progress is not None:
                progress(name)
    seen = counts > 0
    return Comparison(
        tuple(models),
        accuracies,
        fit_seconds,
        predict_seconds,
        splits,
        balanced=(hits[:, seen] / counts[seen]).mean(axis=1),
        right=right if len(splits.parts) == 1 else None,
    )
