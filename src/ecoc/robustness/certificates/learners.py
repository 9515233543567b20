"""The columns that scikit-learn trained as formulas that can be bounded: linear, and RBF."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from torch import nn

from ecoc._checks import listing
from ecoc.errors import InvalidInputError
from ecoc.robustness.certificates.columns import ColumnBounds, SideBySide
from ecoc.robustness.certificates.linear import LinearBounds
from ecoc.robustness.certificates.rbf import RBFBounds
from ecoc.robustness.certificates.region import Floats, Region
from ecoc.robustness.torch_models import KernelMachine, torch_columns

__all__ = ["BoundsMaker", "check_formulas", "linear_columns", "rbf_columns"]

BoundsMaker: TypeAlias = Callable[[Floats], ColumnBounds]
"""Bounds the columns around some points."""


def linear_columns(estimators: Sequence[Any], region: Region) -> BoundsMaker | None:
    """Linear learners, maybe behind scalers or PCA; None if there is another among them.

    Parameters
    ----------
    estimators : sequence
        The fitted learners.
    region : Region
        The norm and the box.
    """
    parts = _formulas(estimators)
    layers = [part for part in parts or [] if isinstance(part, nn.Linear)]
    if parts is None or len(layers) < len(parts):
        return None
    weights = np.vstack([layer.weight.detach().numpy() for layer in layers])
    bias = np.concatenate([layer.bias.detach().numpy() for layer in layers])
    return lambda points: LinearBounds(weights, bias, points, region)


def rbf_columns(estimators: Sequence[Any], region: Region) -> BoundsMaker | None:
    """Kernel machines with RBF kernel, maybe behind scalers; None if there is another.

    Parameters
    ----------
    estimators : sequence
        The fitted learners.
    region : Region
        The norm and the box.
    """
    parts = _formulas(estimators)
    if parts is None:
        return None
    # Columns that transform features alike are bounded together: they share distances.
    groups: dict[bytes, list[int]] = {}
    for column, part in enumerate(parts):
        machine = part[1] if isinstance(part, nn.Sequential) else part
        if not isinstance(machine, KernelMachine) or machine.kernel != "rbf":
            return None
        groups.setdefault(_fingerprint(part), []).append(column)

    def bound(points: Floats) -> ColumnBounds:
        found = [
            _bumps([parts[column] for column in columns], points, region)
            for columns in groups.values()
        ]
        if len(found) == 1:
            return found[0]
        return SideBySide(found, [column for columns in groups.values() for column in columns])

    return bound


def _formulas(estimators: Sequence[Any]) -> list[nn.Module] | None:
    """A module for each column, or None if one is not known."""
    try:
        columns: Any = [torch_columns([estimator]) for estimator in estimators]
    except InvalidInputError:
        return None
    return [column.parts[0] for column in columns]


def _fingerprint(part: nn.Module) -> bytes:
    if not isinstance(part, nn.Sequential):
        return b""
    layer: Any = part[0]
    return bytes(layer.weight.numpy().tobytes() + layer.bias.numpy().tobytes())


def _bumps(parts: Sequence[nn.Module], points: Floats, region: Region) -> RBFBounds:
    before: Any = parts[0][0] if isinstance(parts[0], nn.Sequential) else None
    machines: list[Any] = [part[1] if isinstance(part, nn.Sequential) else part for part in parts]
    # Columns share most of their support vectors: each is kept once.
    stacked = np.vstack([machine.centres.numpy() for machine in machines])
    centres, place = np.unique(stacked, axis=0, return_inverse=True)
    ends = np.cumsum([len(machine.centres) for machine in machines])
    coefficients = np.zeros((len(machines), len(centres)))
    for row, where in enumerate(np.split(place.ravel(), ends[:-1])):
        np.add.at(coefficients[row], where, machines[row].coefficients.numpy()[:, 0])
    return RBFBounds(
        centres,
        coefficients,
        [machine.intercepts.numpy()[0] for machine in machines],
        [machine.gamma for machine in machines],
        points,
        region,
        matrix=None if before is None else before.weight.detach().numpy(),
        shift=None if before is None else before.bias.detach().numpy(),
    )


def check_formulas(columns: ColumnBounds, scores: npt.ArrayLike) -> None:
    """Refuse formulas that do not give the scores of the model: a certificate would be void."""
    given = np.asarray(scores, dtype=np.float64)
    near = 1e-6 * (1 + np.abs(given).max(initial=0))
    differs = ~np.isclose(columns.scores, given, rtol=1e-6, atol=near)
    if differs.any():
        places = np.flatnonzero(differs.any(axis=0)).tolist()
        raise InvalidInputError(
            f"The scores of columns {listing(places)} are not what their coefficients say, so "
            "they cannot be certified. Use method='smoothing'."
        )
