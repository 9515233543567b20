"""One certification: which bounds, which decoding, and whether classes stand at a radius."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice
from ecoc.errors import InvalidInputError
from ecoc.multiclass import Soft
from ecoc.nn.intervals import supports_intervals
from ecoc.robustness.certificates.classes import (
    Mask,
    all_bits_hold,
    flips_absorbed,
    pairs_stand,
)
from ecoc.robustness.certificates.columns import ColumnBounds
from ecoc.robustness.certificates.crown import CrownBounds, affine_blocks
from ecoc.robustness.certificates.ibp import IntervalBounds
from ecoc.robustness.certificates.learners import (
    BoundsMaker,
    check_formulas,
    linear_columns,
    rbf_columns,
)
from ecoc.robustness.certificates.region import Floats, Region
from ecoc.robustness.certificates.rules import DecodingRule, rule_of
from ecoc.robustness.certificates.smoothing import SmoothedBounds, Smoothing, count_votes
from ecoc.robustness.certificates.subjects import Subject, as_subject

__all__ = ["DECODINGS", "METHODS", "Batch", "Decoding", "Method", "Task"]

Method = Literal["auto", "linear", "rbf", "ibp", "crown", "smoothing"]
Decoding = Literal["model", "soft", "logits", "hamming", "hamming-count", "all-bits"]

METHODS: tuple[Method, ...] = ("auto", "linear", "rbf", "ibp", "crown", "smoothing")
DECODINGS: tuple[Decoding, ...] = (
    "model",
    "soft",
    "logits",
    "hamming",
    "hamming-count",
    "all-bits",
)


@dataclass(frozen=True, eq=False)
class Batch:
    """Some samples: their columns around them, and the rows they are decoded as."""

    columns: ColumnBounds
    predicted: npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be certified, and how.

    Attributes
    ----------
    subject : Subject
        The model.
    points : array of shape (n_samples, ...)
        The inputs.
    region : Region
        Where they may be moved to.
    method : str
        The bounds: a name of :data:`METHODS` except ``"auto"``.
    decoding : str
        A name of :data:`DECODINGS`.
    rule : DecodingRule
        What stands behind it.
    maker : callable
        Bounds the columns around some of the points.
    """

    subject: Subject
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
    ) -> Task:
        """Choose bounds and rule, and refuse what does not go together before any work."""
        check_choice("method", method, METHODS)
        check_choice("decoding", decoding, DECODINGS)
        points = region.checked(inputs)
        if not len(points):
            raise InvalidInputError("X must have at least one sample.")
        subject = as_subject(model, points)
        if method == "smoothing":
            maker = _smoothed(subject, region, smoothing, generator)
            if decoding == "model":
                decoding = "hamming"
        else:
            method, maker = _bounds(subject, region, method)
        rule = _rule(subject, decoding, smoothed=method == "smoothing")
        return cls(subject, points, region, method, decoding, rule, maker)

    def batches(self, size: int) -> Iterator[tuple[slice, Batch]]:
        """The samples in parts, each with its columns' bounds."""
        for start in range(0, len(self.points), size):
            part = slice(start, start + size)
            columns = self.maker(self.points[part])
            if self.method in {"linear", "rbf"}:
                check_formulas(columns, self.subject.column_scores(self.points[part]))
            yield part, Batch(columns, self.rule.predict(columns.scores, self.subject.matrix))

    def stand(self, batch: Batch, epsilon: npt.ArrayLike) -> Mask:
        """Which samples of a batch keep their class within the radius."""
        matrix = self.subject.matrix
        if self.decoding == "all-bits":
            return all_bits_hold(batch.columns.bounds(epsilon), matrix, batch.predicted)
        if self.decoding == "hamming-count":
            bounds = batch.columns.bounds(epsilon)
            return flips_absorbed(batch.columns.scores, bounds, matrix, batch.predicted)
        return pairs_stand(batch.columns, epsilon, self.rule, matrix, batch.predicted)


def _rule(subject: Subject, decoding: str, *, smoothed: bool) -> DecodingRule:
    if not subject.is_code:
        if smoothed or decoding not in {"model", "logits"}:
            asked = "method='smoothing'" if smoothed else f"decoding={decoding!r}"
            raise InvalidInputError(
                f"{asked} needs the columns of a codebook, which an ordinary network does not have."
            )
        return rule_of(subject.decoder)
    if decoding in {"hamming", "hamming-count", "all-bits"}:
        return rule_of("hamming")
    if not smoothed:
        return rule_of(subject.decoder if decoding == "model" else decoding)
    if decoding == "soft":
        # Shares of answers are probabilities already.
        return rule_of(Soft(logistic=False))
    raise InvalidInputError(
        f"decoding={decoding!r} cannot be smoothed; use 'soft', 'hamming', 'hamming-count' or "
        "'all-bits'."
    )


def _bounds(subject: Subject, region: Region, method: str) -> tuple[str, BoundsMaker]:
    if subject.networks:
        return _network_bounds(subject, region, method)
    if method in {"auto", "linear"}:
        maker = linear_columns(subject.estimators, region)
        if maker is not None:
            return "linear", maker
    if method in {"auto", "rbf"}:
        maker = rbf_columns(subject.estimators, region)
        if maker is not None:
            return "rbf", maker
    kind = type(subject.estimators[0]).__name__
    raise InvalidInputError(
        f"method={method!r} has no bounds for columns by {kind}. There are bounds for linear "
        "learners, and for support vector machines and kernel ridge with RBF kernel; "
        "method='smoothing' takes any."
    )


def _network_bounds(subject: Subject, region: Region, method: str) -> tuple[str, BoundsMaker]:
    networks = subject.networks
    if method == "auto":
        method = "crown"
        try:
            for network in networks:
                affine_blocks(network)
        except InvalidInputError:
            if not all(supports_intervals(network) for network in networks):
                raise
            method = "ibp"
    if method == "crown":
        return method, lambda points: CrownBounds(networks, points, region)
    if method == "ibp":
        return method, lambda points: IntervalBounds(networks, points, region)
    raise InvalidInputError(
        f"method={method!r} is not for networks; use 'crown', 'ibp' or 'smoothing'."
    )


def _smoothed(
    subject: Subject, region: Region, smoothing: Smoothing, generator: np.random.Generator
) -> BoundsMaker:
    if region.norm != "l2":
        raise InvalidInputError("method='smoothing' certifies l2 balls; use norm='l2'.")

    def bound(points: Floats) -> ColumnBounds:
        votes = count_votes(subject.column_scores, points, smoothing, generator)
        return SmoothedBounds(votes, smoothing)

    return bound
