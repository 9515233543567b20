"""``certify``: radii within which no change of the input can change the decision, with proof."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import RandomState, check_int, check_number, check_random_state
from ecoc.errors import InvalidInputError
from ecoc.robustness.certificates.classes import linear_radii_of_leads
from ecoc.robustness.certificates.linear import LinearBounds
from ecoc.robustness.certificates.region import Floats, Region
from ecoc.robustness.certificates.result import Certification
from ecoc.robustness.certificates.smoothing import Smoothing
from ecoc.robustness.certificates.task import Batch, Decoding, Method, Task
from ecoc.robustness.geometry import Box, Norm, check_epsilons

__all__ = ["Certification", "Smoothing", "certified_radii", "certify"]

_BATCH = 64
"""Samples whose columns are bounded together."""

_HALVINGS = 20
"""Steps of bisection: radii are found up to a millionth of the largest."""


def certify(
    model: Any,
    X: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    epsilons: Sequence[float],
    norm: Norm = "linf",
    method: Method = "auto",
    decoding: Decoding = "model",
    box: Box = (0.0, 1.0),
    smoothing: Smoothing | None = None,
    batch_size: int = _BATCH,
    random_state: RandomState = None,
    verbose: bool = False,
) -> Certification:
    """Prove for as many samples as possible that nothing near them is decided otherwise.

    Parameters
    ----------
    model : object
        A fitted :class:`ecoc.multiclass.ECOCClassifier`, a fitted estimator of
        :mod:`ecoc.nn`, or a torch module from inputs to the logits of classes.
    X : array of shape (n_samples, ...)
        The samples, as the model takes them.
    y : array of shape (n_samples,), optional
        Their labels, for the certified accuracy.
    epsilons : sequence of float
        The radii.
    norm : {"linf", "l2"}, default="linf"
        How a change is measured.
    method : {"auto", "linear", "rbf", "ibp", "crown", "smoothing"}, default="auto"
        What bounds the columns:

        - ``"linear"``: exact, for linear learners, also behind scalers and PCA.
        - ``"rbf"``: for support vector machines and kernel ridge with RBF kernel.
        - ``"ibp"``: interval arithmetic through networks.
        - ``"crown"``: backward linear bounds through networks; tighter and slower.
        - ``"smoothing"``: randomised smoothing of the columns of any model. It certifies
          another classifier, the smoothed one, for ``norm="l2"``, with a probability.

        ``"auto"`` takes the tightest that knows the columns, and never smoothing.
    decoding : str, default="model"
        How columns become a class:

        - ``"model"``: as the model decides (``"hamming"`` for smoothing).
        - ``"soft"``: the scores of equation 20.
        - ``"logits"``: codeword times logits. Leads are bounded as a whole, not column by
          column, where the bounds can do it.
        - ``"hamming"``: the nearest codeword, bounded pair by pair of classes: only columns
          that tell the two apart count.
        - ``"hamming-count"``: the same by counting how many columns can change sides, the
          classical argument; never better.
        - ``"all-bits"``: the class whose codeword agrees with all columns; abstains if there
          is none.
    box : pair of float or None, default=(0.0, 1.0)
        The least and the largest value of a feature; None for no limits.
    smoothing : Smoothing, optional
        Noise, draws and probability of error for ``method="smoothing"``.
    batch_size : int, default=64
        How many samples are bounded together.
    random_state : int, Generator or None, default=None
        The source of noise for smoothing.
    verbose : bool, default=False
        Write the progress to standard error.

    Returns
    -------
    Certification

    Notes
    -----
    All bounds are computed in float64 and widened against rounding: by 1e-9 of their size
    for columns that are float64 themselves, by 1e-5 for networks, which predict in float32.
    This is a margin and not a formal proof about floating-point arithmetic.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from ecoc.multiclass import ECOCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> X = X / 8
    >>> model = ECOCClassifier(RidgeClassifier(0.01), codebook="one-vs-one").fit(X, y)
    >>> print(certify(model, X, y, epsilons=[0.01, 0.05]))
    linear bounds, model decoding, linf, clean 98.0 %
    epsilon  certified accuracy
       0.01              92.7 %
       0.05              43.3 %
    """
    radii = check_epsilons(epsilons)
    check_int("batch_size", batch_size, minimum=1)
    noise = Smoothing() if smoothing is None else smoothing
    task = Task.of(
        model,
        X,
        Region(norm, box),
        method=method,
        decoding=decoding,
        smoothing=noise,
        generator=check_random_state(random_state),
    )
    labels = _checked_labels(y, task)
    n = len(task.points)
    certified = np.zeros((len(radii), n), dtype=bool)
    stands = np.zeros(n, dtype=bool)
    rows = np.empty(n, dtype=np.intp)
    for part, batch in task.batches(batch_size):
        rows[part] = batch.predicted
        stands[part] = task.stand(batch, 0.0)
        for i, radius in enumerate(radii):
            certified[i, part] = task.stand(batch, radius)
        if verbose:
            sys.stderr.write(f"certified {min(part.stop, n)} of {n} samples\n")
    # What stands within a radius stands within every smaller one, also where the bounds for
    # the smaller one happen to be worse.
    certified = np.logical_or.accumulate(certified[::-1], axis=0)[::-1]
    predictions = task.subject.classes[rows]
    return Certification(
        epsilons=radii,
        certified=certified,
        predictions=predictions,
        correct=None if labels is None else predictions == labels,
        abstained=~(stands | certified[0]),
        norm=norm,
        box=box,
        method=task.method,
        decoding=task.decoding,
        guarantee=_guarantee(task, noise),
        smoothing=noise if task.method == "smoothing" else None,
    )


def certified_radii(
    model: Any,
    X: npt.ArrayLike,
    *,
    max_radius: float = 1.0,
    norm: Norm = "linf",
    method: Method = "auto",
    decoding: Decoding = "model",
    box: Box = (0.0, 1.0),
    smoothing: Smoothing | None = None,
    batch_size: int = _BATCH,
    random_state: RandomState = None,
) -> Floats:
    """The radius within which the decision for each sample is proved not to change.

    By bisection, which for linear columns under a linear decoding such as ``"logits"`` starts
    from the exact radius in closed form and mostly ends there.

    Parameters
    ----------
    max_radius : float, default=1.0
        No sample gets more than this.
    model, X, norm, method, decoding, box, smoothing, batch_size, random_state
        As for :func:`certify`.

    Returns
    -------
    array of shape (n_samples,)
        0 where nothing was proved.

    Examples
    --------
    >>> import torch
    >>> layer = torch.nn.Linear(1, 2, bias=False)
    >>> layer.weight.data = torch.tensor([[1.0], [-1.0]])
    >>> certified_radii(layer, [[0.25], [-0.5]], box=None).round(3)
    array([0.25, 0.5 ])
    """
    largest = check_number("max_radius", max_radius, minimum=0)
    check_int("batch_size", batch_size, minimum=1)
    task = Task.of(
        model,
        X,
        Region(norm, box),
        method=method,
        decoding=decoding,
        smoothing=Smoothing() if smoothing is None else smoothing,
        generator=check_random_state(random_state),
    )
    result = np.zeros(len(task.points))
    for part, batch in task.batches(batch_size):
        result[part] = _radii(task, batch, largest)
    return result


def _radii(task: Task, batch: Batch, largest: float) -> Floats:
    high = np.full(len(batch.predicted), largest)
    if isinstance(batch.columns, LinearBounds) and task.rule.is_linear:
        exact = linear_radii_of_leads(
            batch.columns, task.rule, task.subject.matrix, batch.predicted
        )
        # Just inside of what is exact the margin for rounding is mostly small enough.
        high = np.minimum(high, exact * (1 - 1e-6))
    low = np.where(task.stand(batch, high), high, 0.0)
    for _ in range(_HALVINGS):
        if (low == high).all():
            break
        middle = (low + high) / 2
        stands = task.stand(batch, middle)
        low, high = np.where(stands, middle, low), np.where(stands, high, middle)
    return low


def _guarantee(task: Task, smoothing: Smoothing) -> str:
    low, high = task.region.limits
    within = ""
    if task.region.box is not None:
        within = f", and that keeps features within {low:g} and {high:g},"
    change = f"a change of the input whose {task.region.norm} norm is at most epsilon{within}"
    if task.method == "smoothing":
        return (
            f"About the smoothed classifier, whose columns answer by majority under Gaussian noise "
            f"of standard deviation {smoothing.sigma:g} and are combined by {task.decoding} "
            f"decoding: {change} does not change its decision for a certified sample. This holds "
            f"for each sample with probability at least {1 - smoothing.alpha:g} over "
            f"{smoothing.n_draws} draws of noise, corrected for {task.subject.matrix.shape[1]} "
            "columns; it is no guarantee about the columns without noise."
        )
    return (
        f"{change[0].upper()}{change[1:]} does not change the decision by {task.decoding} "
        f"decoding for a certified sample ({task.method} bounds). Computed in float64 from the "
        "model's parameters, with bounds widened against rounding; it is no formal proof about "
        "floating-point arithmetic."
    )


def _checked_labels(y: npt.ArrayLike | None, task: Task) -> npt.NDArray[Any] | None:
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.shape != (len(task.points),):
        raise InvalidInputError(
            f"y must have a label for each of the {len(task.points)} samples, not shape "
            f"{labels.shape}."
        )
    return labels
