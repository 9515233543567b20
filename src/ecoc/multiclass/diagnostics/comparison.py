"""Classifiers compared on the same folds."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold

from ecoc._checks import check_int, listing
from ecoc._latex import booktabs, escaped
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError
from ecoc.multiclass.data import take_rows
from ecoc.multiclass.diagnostics import plotting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Comparison", "PairedDifference", "check_folds", "compare_on_folds"]

Watch = Callable[[str, int, Any, npt.NDArray[np.intp]], object]
"""Called with the name, the split, the fitted model and the rows that it was not trained on."""


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
    n_folds, n_repeats : int
        The splits: `n_repeats` times stratified cross-validation with `n_folds`.
    never_held_out : tuple of str
        Classes with a single sample: it is always trained on, so that no accuracy speaks of
        them.
    """

    names: tuple[str, ...]
    accuracies: Floats
    fit_seconds: Floats
    predict_seconds: Floats
    n_folds: int
    n_repeats: int
    never_held_out: tuple[str, ...] = ()

    @property
    def splits(self) -> str:
        """How the samples were split."""
        rounds = "" if self.n_repeats == 1 else f"{self.n_repeats} rounds of "
        folds = f"{rounds}{self.n_folds} stratified folds"
        if not self.never_held_out:
            return folds
        return f"{folds}; trained on but never held out: {listing(self.never_held_out)} (1 row)"

    @property
    def means(self) -> Floats:
        """The mean accuracy of each classifier."""
        mean: Floats = self.accuracies.mean(axis=1)
        return mean

    @property
    def standard_errors(self) -> Floats:
        """The standard error of each mean, over the splits."""
        n_splits = self.accuracies.shape[1]
        errors: Floats = self.accuracies.std(axis=1, ddof=1) / np.sqrt(n_splits)
        return errors

    def difference(self, name: str) -> PairedDifference:
        """The accuracy of the first classifier less that of another, split by split.

        Parameters
        ----------
        name : str
            The other classifier.
        """
        from scipy.stats import t

        differences = self.accuracies[0] - self.accuracies[self.names.index(name)]
        n_splits = len(differences)
        # Training sets share most of their samples, so that splits are not independent.
        scale = 1 / n_splits + 1 / (self.n_folds - 1)
        error = float(np.sqrt(scale * differences.var(ddof=1)))
        mean = float(differences.mean())
        reach = float(t.ppf(0.975, n_splits - 1)) * error
        return PairedDifference(mean, error, mean - reach, mean + reach)

    def table(self) -> list[tuple[str, ...]]:
        """A heading and a line for each classifier, for people."""
        ahead_by = f"{self.names[0]} is ahead by (95 % interval)"
        lines: list[tuple[str, ...]] = [("", "accuracy", "fit", ahead_by, "so it is")]
        for place, name in enumerate(self.names):
            accuracy = f"{100 * self.means[place]:.2f} ± {100 * self.standard_errors[place]:.2f} %"
            seconds = f"{self.fit_seconds[place].mean():.2f} s"
            ahead, verdict = "", ""
            if place:
                difference = self.difference(name)
                low, high = 100 * difference.low, 100 * difference.high
                ahead = f"{100 * difference.mean:+.2f} ({low:+.2f} to {high:+.2f})"
                verdict = difference.verdict
            lines.append((name, accuracy, seconds, ahead, verdict))
        return lines

    def to_plain(self) -> list[dict[str, Any]]:
        """What :meth:`table` shows, and the accuracy on each split, for machines."""
        return [
            {
                "codebook": name,
                "accuracy": float(self.means[place]),
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
        return booktabs([[escaped(cell) for cell in line] for line in self.table()])

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the accuracies on the splits, their means and standard errors."""
        return plotting.plot_comparison(self, ax)

    def __repr__(self) -> str:
        shown = [
            f"{name} {mean:.1%}".replace("%", " %")
            for name, mean in zip(self.names, self.means, strict=True)
        ]
        return f"<Comparison on {self.accuracies.shape[1]} splits: {listing(shown, limit=6)}>"


def check_folds(y: npt.ArrayLike, n_folds: int) -> None:
    """Check that every class has a sample for every fold, but for classes with only one."""
    check_int("n_folds", n_folds, minimum=2)
    classes, sizes = np.unique(np.asarray(y), return_counts=True)
    small = [
        f"{label!r} has {size}"
        for label, size in zip(classes.tolist(), sizes.tolist(), strict=True)
        if size < n_folds
    ]
    several = sizes > 1
    quantity = len(classes) > 20 and len(small) > len(classes) / 2
    if not quantity and several.any() and (sizes[several] >= n_folds).all():
        return
    fewest = int(sizes[several].min()) if several.any() else 1
    if quantity:
        cure = f"With {len(classes)} classes the target looks like a quantity to be estimated."
    elif several.any():
        cure = f"Use at most {fewest} folds, or leave these classes out."
    else:
        cure = "Leave these classes out, or join them."
    raise InvalidInputError(
        f"Every class needs a sample for each of the {n_folds} folds; "
        f"{listing(small, limit=3)}. {cure}"
    )


def compare_on_folds(
    models: Mapping[str, Any],
    X: Any,
    y: npt.ArrayLike,
    *,
    n_folds: int = 5,
    n_repeats: int = 1,
    random_state: int | None = None,
    progress: Callable[[str], object] | None = None,
    watch: Watch | None = None,
) -> Comparison:
    """Cross-validate several classifiers on the same stratified folds.

    The only sample of a class is in the training part of every fold.

    Parameters
    ----------
    models : mapping of str to estimators
        The classifiers, the one of interest first; they are cloned.
    X, y
        Samples and their classes.
    n_folds, n_repeats : int
        The number of folds, and how often to make them anew.
    random_state : int, optional
        Seeds the folds.
    progress : callable, optional
        Called with the name of a classifier when it has done a split.
    watch : callable, optional
        Called with the name, the number of the split, the fitted classifier and the rows that
        were held out.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_wine(return_X_y=True)
    >>> trees = {f"depth {d}": DecisionTreeClassifier(max_depth=d, random_state=0) for d in (3, 1)}
    >>> found = compare_on_folds(trees, X, y, random_state=0)
    >>> found.difference("depth 1").verdict
    'better'
    """
    labels = np.asarray(y)
    check_folds(labels, n_folds)
    check_int("n_repeats", n_repeats, minimum=1)
    folds = RepeatedStratifiedKFold(
        n_splits=n_folds, n_repeats=n_repeats, random_state=random_state
    )
    shape = (len(models), n_folds * n_repeats)
    accuracies, fit_seconds, predict_seconds = np.empty(shape), np.empty(shape), np.empty(shape)
    classes, places, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    single = sizes[places] == 1
    always, split_rows = np.flatnonzero(single), np.flatnonzero(~single)
    parts = folds.split(np.zeros(len(split_rows)), labels[split_rows])
    for split, (kept, held_out) in enumerate(parts):
        train, test = np.union1d(split_rows[kept], always), split_rows[held_out]
        for place, (name, model) in enumerate(models.items()):
            began = time.perf_counter()
            fitted = clone(model).fit(take_rows(X, train), labels[train])
            fit_seconds[place, split] = time.perf_counter() - began
            began = time.perf_counter()
            predicted = fitted.predict(take_rows(X, test))
            predict_seconds[place, split] = time.perf_counter() - began
            accuracies[place, split] = np.mean(predicted == labels[test])
            if watch is not None:
                watch(name, split, fitted, test)
            if progress is not None:
                progress(name)
    return Comparison(
        tuple(models),
        accuracies,
        fit_seconds,
        predict_seconds,
        n_folds,
        n_repeats,
        never_held_out=tuple(str(label) for label in classes[sizes == 1]),
    )
