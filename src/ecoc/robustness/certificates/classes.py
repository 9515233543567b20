"""From bounds on columns to classes that stand: pair by pair, by counting flips, or all bits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ecoc.multiclass import hamming_margin
from ecoc.robustness.certificates.bounds import ColumnBounds
from ecoc.robustness.certificates.linear import LinearBounds, linear_radii
from ecoc.robustness.certificates.rules import DecodingRule
from ecoc.robustness.threat import Floats, Interval

__all__ = [
    "Mask",
    "all_bits_hold",
    "flips_absorbed",
    "linear_radii_of_leads",
    "pairs_stand",
    "worst_leads",
]

Mask = npt.NDArray[np.bool_]


def flips_absorbed(
    scores: npt.ArrayLike, bounds: Interval, matrix: npt.ArrayLike, predicted: npt.ArrayLike
) -> Mask:
    """Whether Hamming decoding survives the change of all columns that can change sides.

    A codeword at distance d from all others stands if at most floor((d - 1) / 2) columns
    are wrong. Here a sample's own margin takes the place of that number: how many columns
    may change sides, whichever they are, from where the sample is now.

    Parameters
    ----------
    scores : array of shape (n_samples, n_columns)
        The columns' scores.
    bounds : Interval of arrays of the same shape
        What they may become.
    matrix : array of shape (n_classes, n_columns)
        The codebook.
    predicted : array of int of shape (n_samples,)
        The class (row of the codebook) of each sample.

    Examples
    --------
    >>> code = [[1, 1, 1, 1, 1], [-1, -1, -1, -1, -1]]
    >>> bounds = Interval(np.array([[-1.0, -1, 1, 1, 1]]), np.array([[2.0, 2, 2, 2, 2]]))
    >>> flips_absorbed([[1.0, 1, 1, 1, 1]], bounds, code, [0])
    array([ True])
    """
    flips = ((bounds.lower <= 0) & (bounds.upper >= 0)).sum(axis=1)
    margins = hamming_margin(scores, matrix, predicted)
    code = np.asarray(matrix, dtype=np.float64)
    rows = np.asarray(predicted, dtype=np.intp)
    signs = np.sign(np.asarray(scores, dtype=np.float64))
    # A margin of 0 also stands for "another class is as near already".
    agreement = signs @ code.T
    own = agreement[np.arange(len(rows)), rows]
    agreement[np.arange(len(rows)), rows] = -np.inf
    return np.asarray((own > agreement.max(axis=1)) & (flips <= margins))


def all_bits_hold(bounds: Interval, matrix: npt.ArrayLike, predicted: npt.ArrayLike) -> Mask:
    """Whether every column that uses the class stays on its side.

    A class that no column sets against some other cannot be told from it by its bits, and
    does not hold.

    Parameters
    ----------
    bounds, matrix, predicted
        As for :func:`flips_absorbed`.

    Examples
    --------
    >>> bounds = Interval(np.array([[0.1, -2.0], [-0.1, -2.0]]), np.array([[1.0, -1], [1, -1]]))
    >>> all_bits_hold(bounds, [[1, -1], [1, 1], [-1, 1]], [0, 0])
    array([ True, False])
    """
    code = np.asarray(matrix, dtype=np.float64)
    rows = np.asarray(predicted, dtype=np.intp)
    entries = code[rows]
    worst = np.where(entries > 0, bounds.lower, -bounds.upper)
    holds = ((worst > 0) | (entries == 0)).all(axis=1)
    opposed = np.array([[bool((one * other < 0).any()) for other in code] for one in code])
    np.fill_diagonal(opposed, True)
    distinct: Mask = np.asarray(opposed.all(axis=1))
    return np.asarray(holds & distinct[rows])


def pairs_stand(
    columns: ColumnBounds,
    epsilon: npt.ArrayLike,
    rule: DecodingRule,
    matrix: npt.ArrayLike,
    predicted: npt.ArrayLike,
) -> Mask:
    """Whether the predicted class leads every other wherever the columns may go.

    A lead of 0 is lost: how a decoder settles ties is not relied on.

    Parameters
    ----------
    columns : ColumnBounds
        The columns around the samples.
    epsilon : float or array of shape (n_samples,)
        The radius, for all samples or for each.
    rule : DecodingRule
        How classes are scored.
    matrix : array of shape (n_classes, n_columns)
        The codebook.
    predicted : array of int of shape (n_samples,)
        The class (row of the codebook) of each sample.
    """
    return np.asarray(worst_leads(columns, epsilon, rule, matrix, predicted) > 0)


def worst_leads(
    columns: ColumnBounds,
    epsilon: npt.ArrayLike,
    rule: DecodingRule,
    matrix: npt.ArrayLike,
    predicted: npt.ArrayLike,
) -> Floats:
    """A lower bound on the predicted class's lead over its nearest rival within the radius.

    The parameters are those of :func:`pairs_stand`. First every column by itself does its
    worst. Where the columns can also be bounded together, what they cannot do at the same
    time is added again, see :meth:`DecodingRule.least_slopes`.

    Returns
    -------
    array of shape (n_samples,)
    """
    code = np.asarray(matrix, dtype=np.float64)
    classes = np.asarray(predicted, dtype=np.intp)
    apart = columns.bounds(epsilon)
    leads = np.empty((len(classes), len(code) - 1))
    slopes = np.zeros((*leads.shape, code.shape[1]))
    for row in np.unique(classes):
        members = np.flatnonzero(classes == row)
        rivals = np.arange(len(code)) != row
        part = apart.taken(members)
        leads[members] = rule.worst_leads(part, code, int(row))[:, rivals]
        leads[members] -= rule.doubt(part, code, columns.safety)[:, None]
        slopes[members] = rule.least_slopes(part, code, int(row))[:, rivals]
    if columns.joint and slopes.any():
        together = columns.combined(epsilon, slopes) - apart.combined(slopes)
        leads += np.maximum(together, 0)
    least: Floats = leads.min(axis=1)
    return least


def linear_radii_of_leads(
    columns: LinearBounds,
    rule: DecodingRule,
    matrix: npt.ArrayLike,
    predicted: npt.ArrayLike,
) -> Floats:
    """The exact radius at which some rival catches up, for linear columns and a linear rule.

    The parameters are those of :func:`pairs_stand`.

    Returns
    -------
    array of shape (n_samples,)
        Infinite where no point of the box will do.
    """
    code = np.asarray(matrix, dtype=np.float64)
    classes = np.asarray(predicted, dtype=np.intp)
    radii = np.empty(len(classes))
    for row in np.unique(classes):
        members = np.flatnonzero(classes == row)
        forms, constants = rule.linear_leads(code, int(row))
        weights, bias = forms @ columns.weights, forms @ columns.bias + constants
        rivals = np.arange(len(code)) != row
        found = linear_radii(weights[rivals], bias[rivals], columns.points[members], columns.region)
        radii[members] = found.min(axis=1)
    return radii
