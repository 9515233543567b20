"""Whether the columns of a classifier are wrong about the same samples."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from ecoc.multiclass.decoders.base import Floats
from ecoc.multiclass.diagnostics import plotting
from ecoc.multiclass.diagnostics._outcomes import look, outcomes, ratio

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["ErrorCorrelation", "error_correlation"]


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
        >>> found = ErrorCorrelation.from_scores(scores, [[1, 1], [-1, 1], [1, -1]], [0, 0, 0, 0])
        >>> found.paper[0, 1].round(3), found.independent[0, 1], found.phi[0, 1].round(3)
        (np.float64(0.333), np.float64(0.25), np.float64(0.577))
        >>> found
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
            f"<ErrorCorrelation: {len(self.phi)} columns, mean phi {self.mean_phi:.3f}, "
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
    seen = look(model, X, y)
    return ErrorCorrelation.from_scores(seen.scores, seen.matrix, seen.targets)


def _mean_of_pairs(values: Floats) -> float:
    pairs = values[np.triu_indices(len(values), 1)]
    pairs = pairs[~np.isnan(pairs)]
    return float(pairs.mean()) if len(pairs) else float("nan")
