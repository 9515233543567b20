"""Decision regions of classifiers of two features."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int, check_number, counted
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError
from ecoc.multiclass.diagnostics import plotting
from ecoc.multiclass.diagnostics.columns import target_rows, unwrapped

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["DecisionBoundaries", "decision_boundaries"]


@dataclass(frozen=True, eq=False, repr=False)
class DecisionBoundaries:
    """What a classifier of two features decides on a grid.

    Attributes
    ----------
    x, y : array of shape (resolution,)
        The grid: values of the first and of the second feature.
    regions : array of int of shape (resolution, resolution)
        The class, as a row of the codebook, at ``y[i]`` and ``x[j]``.
    column_scores : array of shape (resolution, resolution, n_columns), or with n_symbols more
        The scores of the columns there, or the probabilities of their symbols.
    samples, targets : arrays of shape (n_samples, 2) and (n_samples,)
        The samples and their rows of the codebook.
    classes : array of shape (n_classes,)
        The labels.
    matrix : array of shape (n_classes, n_columns)
        The codebook.
    names : tuple of two str
        The names of the features.
    """

    x: Floats
    y: Floats
    regions: npt.NDArray[np.intp]
    column_scores: Floats
    samples: Floats
    targets: npt.NDArray[np.intp]
    classes: npt.NDArray[Any]
    matrix: npt.NDArray[np.int8]
    names: tuple[str, str]

    def plot(self, ax: Axes | None = None) -> Figure:
        """Draw the region of each class and the samples."""
        return plotting.plot_regions(self, ax)

    def plot_columns(self) -> Figure:
        """Draw a small picture for each column: its sides, and the samples that it uses."""
        return plotting.plot_column_regions(self)

    def __repr__(self) -> str:
        k, n_columns = self.matrix.shape
        return (
            f"<DecisionBoundaries: {k} classes, {counted(n_columns, 'column')}, "
            f"{len(self.x)} x {len(self.y)} points>"
        )


def decision_boundaries(
    model: Any, X: Any, y: Any, *, resolution: int = 200, margin: float = 0.1
) -> DecisionBoundaries:
    """Ask a classifier of two features on a grid around some samples.

    Parameters
    ----------
    model : ECOCClassifier or Pipeline
        A fitted classifier of two features, or a pipeline that ends in one.
    X, y
        Samples and their classes.
    resolution : int, default=200
        Points of the grid along each feature.
    margin : float, default=0.1
        How far the grid goes beyond the samples, as a share of their range.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from ecoc.multiclass import ECOCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = ECOCClassifier(SVC(), codebook="one-vs-rest").fit(X[:, 2:], y)
    >>> decision_boundaries(model, X[:, 2:], y, resolution=50)
    <DecisionBoundaries: 3 classes, 3 columns, 50 x 50 points>
    """
    check_int("resolution", resolution, minimum=2)
    check_number("margin", margin, minimum=0)
    names = tuple(map(str, getattr(X, "columns", ("feature 0", "feature 1"))))
    samples = np.asarray(X, dtype=np.float64)
    if samples.ndim != 2 or samples.shape[1] != 2 or len(samples) == 0:
        raise InvalidInputError(
            f"X must have two features to be drawn, not shape {samples.shape}. Reduce it first, "
            "for example with PCA(n_components=2), and train on that."
        )
    low, high = samples.min(axis=0), samples.max(axis=0)
    reach = margin * np.where(high > low, high - low, 1)
    axes = [np.linspace(low[i] - reach[i], high[i] + reach[i], resolution) for i in (0, 1)]
    grid = np.column_stack([part.ravel() for part in np.meshgrid(*axes)])
    classifier, features = unwrapped(model, _like(X, grid))
    scores = classifier.column_scores(features)
    matrix = classifier.codebook_.matrix
    regions = classifier.decoder_(scores, matrix).argmax(axis=1)
    return DecisionBoundaries(
        x=axes[0],
        y=axes[1],
        regions=regions.reshape(resolution, resolution),
        column_scores=scores.reshape(resolution, resolution, *scores.shape[1:]),
        samples=samples,
        targets=target_rows(classifier, y, len(samples)),
        classes=classifier.classes_,
        matrix=matrix,
        names=(names[0], names[1]),
    )


def _like(X: Any, values: Floats) -> Any:
    """The values as a data frame, if that is what X is: a model then knows its names."""
    return type(X)(values, columns=X.columns) if hasattr(X, "iloc") else values
