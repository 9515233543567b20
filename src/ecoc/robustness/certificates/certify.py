"""``certify``: radii within which no change of the input can change the decision, with proof."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ecoc._checks import (
    RandomState,
    check_choice,
    check_int,
    check_number,
    check_random_state,
    counted,
)
from ecoc._typing import Bools, Floats
from ecoc.codes.validation import check_two_symbols
from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.multiclass.decoders import make_decoder
from ecoc.nn.networks.intervals import supports_intervals
from ecoc.robustness.certificates.bounds import (
    BoundsMaker,
    ColumnBounds,
    IntervalBounds,
    SmoothedBounds,
    Smoothing,
    check_formulas,
    count_votes,
)
from ecoc.robustness.certificates.crown import CrownBounds, affine_blocks
from ecoc.robustness.certificates.decisions import (
    DecodingRule,
    all_bits_hold,
    flips_absorbed,
    linear_radii_of_leads,
    pairs_stand,
    rule_of,
)
from ecoc.robustness.certificates.linear import LinearBounds, linear_columns, rbf_columns
from ecoc.robustness.models import ModelAdapter, adapt
from ecoc.robustness.result import Certification
from ecoc.robustness.threat import Box, Norm, Region, check_epsilons

__all__ = ["certified_radii", "certify"]

BoundMethod = Literal["auto", "linear", "rbf", "ibp", "crown", "smoothing"]
CertifiedDecoding = Literal[
    "model", "soft", "normalised-linear", "hamming", "hamming-count", "all-bits"
]

BOUND_METHODS: tuple[BoundMethod, ...] = ("auto", "linear", "rbf", "ibp", "crown", "smoothing")
CERTIFIED_DECODINGS: tuple[CertifiedDecoding, ...] = (
    "model",
    "soft",
    "normalised-linear",
    "hamming",
    "hamming-count",
    "all-bits",
)

_BATCH = 64
"""Samples whose columns are bounded together."""

_SMOOTHING = "Use method='smoothing', which takes any columns."

_HALVINGS = 20
"""Steps of bisection: radii are found up to a millionth of the largest."""


def certify(
    model: Any,
    X: npt.ArrayLike,
    y: npt.ArrayLike | None = None,
    *,
    epsilons: Sequence[float],
    norm: Norm = "linf",
    method: BoundMethod = "auto",
    decoding: CertifiedDecoding = "model",
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
        A fitted :class:`ecoc.multiclass.ECOCClassifier` or estimator of :mod:`ecoc.nn`, also at
        the end of a pipeline of scalers and PCA; or a torch module from inputs to the logits
        of classes, such as ``nn.Sequential(net, CodeDecoder(codebook))``.
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
        - ``"smoothing"``: randomised smoothing of the columns of any model, and of the class
          that an ordinary network gives. It certifies another classifier, the smoothed one,
          for ``norm="l2"``, with a probability.

        ``"auto"`` takes the tightest that knows the columns, and never smoothing.
    decoding : str, default="model"
        How columns become a class:

        - ``"model"``: as the model decides (``"hamming"`` for smoothed columns).
        - ``"soft"``: the scores of equation 20.
        - ``"normalised-linear"``: codeword times scores. Leads are bounded as a whole, not
          column by column, where the bounds can do it.
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

    Raises
    ------
    UnsupportedError
        If no bounds, or no certificates at all, are known for the model.

    Notes
    -----
    All bounds are computed in float64 and widened against rounding: by 1e-9 of their size
    for columns that are float64 themselves. Those of networks, which predict in float32, are
    widened by the most that rounding can do inside, layer by layer, and by 1e-5 of their size.
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
    task = CertificationTask.of(
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
            sys.stderr.write(f"certified {min(part.stop, n)} of {counted(n, 'sample')}\n")
    # What stands within a radius stands within every smaller one, also where the bounds for
    # the smaller one happen to be worse.
    certified = np.logical_or.accumulate(certified[::-1], axis=0)[::-1]
    predictions = task.classes[rows]
    return Certification(
        epsilons=radii,
        certified=certified,
        predictions=predictions,
        correct=None if labels is None else predictions == labels,
        abstained=~(stands | certified[0]) | _rejected(task, rows),
        norm=norm,
        box=box,
        method=task.method,
        decoding=task.decoding,
        guarantee=_guarantee(task, noise),
        smoothing=noise if task.method == "smoothing" else None,
    )


def _rejected(task: CertificationTask, rows: npt.NDArray[np.intp]) -> Bools:
    """Which samples the model rejects as they are; the smoothed classifier always decides."""
    if task.model.rejected is None or task.method == "smoothing":
        return np.zeros(len(rows), dtype=bool)
    return task.model.rejected(np.asarray(task.model.column_scores(task.points)), rows)


def certified_radii(
    model: Any,
    X: npt.ArrayLike,
    *,
    max_radius: float = 1.0,
    norm: Norm = "linf",
    method: BoundMethod = "auto",
    decoding: CertifiedDecoding = "model",
    box: Box = (0.0, 1.0),
    smoothing: Smoothing | None = None,
    batch_size: int = _BATCH,
    random_state: RandomState = None,
) -> Floats:
    """The radius within which the decision for each sample is proved not to change.

    By bisection, which for linear columns under a linear decoding such as
    ``"normalised-linear"`` starts from the exact radius in closed form and mostly ends there.

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
    task = CertificationTask.of(
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


def _radii(task: CertificationTask, batch: BoundedSamples, largest: float) -> Floats:
    high = np.full(len(batch.predicted), largest)
    if isinstance(batch.columns, LinearBounds) and task.rule.is_linear:
        exact = linear_radii_of_leads(batch.columns, task.rule, task.matrix, batch.predicted)
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


def _guarantee(task: CertificationTask, smoothing: Smoothing) -> str:
    low, high = task.region.limits
    within = ""
    if task.region.box is not None:
        within = f", and that keeps features within {low:g} and {high:g},"
    change = f"a change of the input whose {task.region.norm} norm is at most epsilon{within}"
    if task.method == "smoothing":
        noise = f"Gaussian noise of standard deviation {smoothing.sigma:g}"
        subject = (
            f"whose columns answer by majority under {noise} and are combined by {task.decoding} "
            "decoding"
        )
        unit = "columns"
        if task.model.codebook is None:
            subject, unit = f"which gives the most frequent class under {noise}", "classes"
        return (
            f"About the smoothed classifier, {subject}: {change} does not change its decision for "
            f"a certified sample. This holds for each sample with probability at least "
            f"{1 - smoothing.alpha:g} over {smoothing.n_draws} draws of noise, corrected for "
            f"{task.matrix.shape[1]} {unit}; it is no guarantee about the {unit} without noise."
        )
    rejection = ""
    if task.model.rejected is not None:
        rejection = (
            "The model may still reject it: its answer is the certified class or the rejection, "
            "never another class. "
        )
    return (
        f"{change[0].upper()}{change[1:]} does not change the decision by {task.decoding} "
        f"decoding for a certified sample ({task.method} bounds). {rejection}Computed in float64 "
        "from the model's parameters, with bounds widened against rounding; it is no formal proof "
        "about floating-point arithmetic."
    )


def _checked_labels(y: npt.ArrayLike | None, task: CertificationTask) -> npt.NDArray[Any] | None:
    if y is None:
        return None
    labels = np.asarray(y)
    if labels.shape != (len(task.points),):
        raise InvalidInputError(
            f"y must have a label for each of the {len(task.points)} samples, not shape "
            f"{labels.shape}."
        )
    return labels


@dataclass(frozen=True, eq=False)
class BoundedSamples:
    """Some samples: their columns around them, and the rows they are decoded as."""

    columns: ColumnBounds
    predicted: npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class CertificationTask:
    """What is to be certified, and how.

    Attributes
    ----------
    model : ModelAdapter
        The model.
    classes : array of shape (n_classes,)
        Its labels.
    matrix : array of shape (n_classes, n_columns)
        Its codebook. An ordinary network is one-vs-rest: it decides by the largest output.
    points : array of shape (n_samples, ...)
        The inputs.
    region : Region
        Where they may be moved to.
    method : str
        The bounds: a name of :data:`BOUND_METHODS` except ``"auto"``.
    decoding : str
        A name of :data:`CERTIFIED_DECODINGS`.
    rule : DecodingRule
        What stands behind it.
    maker : callable
        Bounds the columns around some of the points.
    """

    model: ModelAdapter
    classes: npt.NDArray[Any]
    matrix: Floats
    points: Floats
    region: Region
    method: str
    decoding: str
    rule: DecodingRule
    maker: BoundsMaker

    @classmethod
    def of(
        cls,
        model: Any,
        inputs: npt.ArrayLike,
        region: Region,
        *,
        method: str,
        decoding: str,
        smoothing: Smoothing,
        generator: np.random.Generator,
    ) -> CertificationTask:
        """Choose bounds and rule, and refuse what does not go together before any work."""
        check_choice("method", method, BOUND_METHODS)
        check_choice("decoding", decoding, CERTIFIED_DECODINGS)
        points = region.checked(inputs)
        if not len(points):
            raise InvalidInputError("X must have at least one sample.")
        adapted = _certifiable(model, points)
        if method == "smoothing":
            maker = _smoothed(adapted, region, smoothing, generator)
            if decoding == "model" and adapted.codebook is not None:
                decoding = "hamming"
        else:
            method, maker = _bounds(adapted, region, method)
        rule = _rule(adapted, decoding, smoothed=method == "smoothing")
        classes, matrix = _codewords(adapted, points)
        return cls(adapted, classes, matrix, points, region, method, decoding, rule, maker)

    def batches(self, size: int) -> Iterator[tuple[slice, BoundedSamples]]:
        """The samples in parts, each with its columns' bounds."""
        for start in range(0, len(self.points), size):
            part = slice(start, start + size)
            columns = self.maker(self.points[part])
            if self.model.estimators and self.method != "smoothing":
                check_formulas(columns, self.model.column_scores(self.points[part]))
            elif self.model.before is not None and self.method != "smoothing":
                # Networks answer in float32.
                check_formulas(columns, self.model.column_scores(self.points[part]), 1e-4)
            yield part, BoundedSamples(columns, self.rule.predict(columns.scores, self.matrix))

    def stand(self, batch: BoundedSamples, epsilon: npt.ArrayLike) -> Bools:
        """Which samples of a batch keep their class within the radius."""
        matrix = self.matrix
        if self.decoding == "all-bits":
            return all_bits_hold(batch.columns.bounds(epsilon), matrix, batch.predicted)
        if self.decoding == "hamming-count":
            bounds = batch.columns.bounds(epsilon)
            return flips_absorbed(batch.columns.scores, bounds, matrix, batch.predicted)
        return pairs_stand(batch.columns, epsilon, self.rule, matrix, batch.predicted)


def _certifiable(model: Any, points: Floats) -> ModelAdapter:
    """A model that has columns or outputs of classes to bound."""
    adapter = adapt(model)
    if adapter.codebook is not None:
        remedy = " Train the model with n_symbols=2 (ecoc fit --symbols 2)."
        check_two_symbols(adapter.codebook, "A certificate", remedy)
    if adapter.closed and adapter.matrix is None:
        raise UnsupportedError(
            "There are certificates for ECOCClassifier, for estimators of ecoc.nn, both also "
            "behind scalers and PCA, and for torch modules from inputs to logits, not for this "
            f"model. {adapter.closed}"
        )
    if adapter.input_shape is not None and points.shape[1:] != adapter.input_shape:
        raise InvalidInputError(
            f"X must have samples of shape {adapter.input_shape}, as in training, not "
            f"{points.shape[1:]}."
        )
    return adapter


def _codewords(model: ModelAdapter, points: Floats) -> tuple[npt.NDArray[Any], Floats]:
    """The classes and their codewords, one-vs-rest for outputs of classes."""
    if model.matrix is not None and model.classes is not None:
        return model.classes, model.matrix.astype(np.float64)
    n_outputs = model.column_scores(points[:1]).shape[1]
    classes = np.arange(n_outputs) if model.classes is None else model.classes
    return classes, 2 * np.eye(n_outputs) - 1


def _rule(model: ModelAdapter, decoding: str, *, smoothed: bool) -> DecodingRule:
    if model.codebook is None:
        if decoding != "model":
            raise UnsupportedError(
                f"decoding={decoding!r} needs the columns of a codebook, which an ordinary network "
                "does not have."
            )
        return rule_of(model.decoder)
    if decoding in {"hamming", "hamming-count", "all-bits"}:
        return rule_of(make_decoder("hamming", model.codebook, "decision_function"))
    if not smoothed and decoding == "model":
        return rule_of(model.decoder)
    if not smoothed:
        return rule_of(make_decoder(decoding, model.codebook, "decision_function"))
    if decoding == "soft":
        # Shares of answers are probabilities already.
        return rule_of(make_decoder("soft", model.codebook, "predict_proba"))
    raise InvalidInputError(
        f"decoding={decoding!r} cannot be smoothed; use 'soft', 'hamming', 'hamming-count' or "
        "'all-bits'."
    )


def _bounds(model: ModelAdapter, region: Region, method: str) -> tuple[str, BoundsMaker]:
    if model.closed:
        raise UnsupportedError(f"There are no bounds for this model. {model.closed} {_SMOOTHING}")
    if model.networks:
        return _network_bounds(model, region, method)
    if method in {"auto", "linear"}:
        maker = linear_columns(model.estimators, region, model.before)
        if maker is not None:
            return "linear", maker
    if method in {"auto", "rbf"}:
        maker = rbf_columns(model.estimators, region, model.before)
        if maker is not None:
            return "rbf", maker
    kind = type(model.estimators[0]).__name__
    raise UnsupportedError(
        f"method={method!r} has no bounds for columns by {kind}. There are bounds for linear "
        f"learners, and for support vector machines and kernel ridge with RBF kernel. {_SMOOTHING}"
    )


def _network_bounds(model: ModelAdapter, region: Region, method: str) -> tuple[str, BoundsMaker]:
    networks = model.networks
    if method == "auto":
        method = "crown"
        try:
            for network in networks:
                affine_blocks(network)
        except UnsupportedError:
            if not all(supports_intervals(network) for network in networks):
                raise
            method = "ibp"
    if method == "crown":
        return method, lambda points: CrownBounds(networks, points, region)
    if method == "ibp":
        return method, lambda points: IntervalBounds(networks, points, region)
    raise UnsupportedError(
        f"method={method!r} is not for networks; use 'crown', 'ibp' or 'smoothing'."
    )


def _smoothed(
    model: ModelAdapter, region: Region, smoothing: Smoothing, generator: np.random.Generator
) -> BoundsMaker:
    if region.norm != "l2":
        raise InvalidInputError("method='smoothing' certifies l2 balls; use norm='l2'.")

    def answers(points: Floats) -> Floats:
        """Columns by themselves; of outputs of classes only the largest says yes."""
        scores = model.column_scores(points)
        if model.codebook is not None:
            return scores
        rows = scores.argmax(axis=1)
        return np.where(np.arange(scores.shape[1]) == rows[:, None], 1.0, -1.0)

    def bound(points: Floats) -> ColumnBounds:
        votes = count_votes(answers, points, smoothing, generator)
        return SmoothedBounds(votes, smoothing)

    return bound
