"""Networks bounded by linear functions of the input, carried backward through them (CROWN)."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from ecoc._typing import Floats
from ecoc.errors import UnsupportedError
from ecoc.nn.networks.architectures import InputScaling, LogitDifference
from ecoc.nn.networks.intervals import rounded_bounds
from ecoc.robustness.certificates.bounds import IntervalBounds, NetworkBounds
from ecoc.robustness.threat import Interval, Region

__all__ = ["CrownBounds", "Forms", "affine_blocks", "pull_affine", "pull_relu"]


@dataclass(frozen=True, eq=False)
class Forms:
    """Linear functions of some layer, different for each sample, and a constant each.

    What a neuron of a convolution depends on is a small window of the image before it, so
    that only a window of the coefficients is kept; all others are 0.

    Attributes
    ----------
    window : tensor of shape (n_forms, n_samples, *window)
        The coefficients.
    constants : tensor of shape (n_forms, n_samples)
        The constants.
    shape : tuple of int
        The shape of the layer for one sample.
    corner : tuple of int
        Where the window begins, row and column; (0, 0) for layers that are no images.
    """

    window: Tensor
    constants: Tensor
    shape: tuple[int, ...]
    corner: tuple[int, int] = (0, 0)

    @property
    def coefficients(self) -> Tensor:
        """The coefficients of the whole layer."""
        if self.window.shape[2:] == self.shape:
            return self.window
        (top, left), (height, width) = self.corner, self.window.shape[-2:]
        below, right = self.shape[-2] - top - height, self.shape[-1] - left - width
        return functional.pad(self.window, (left, right, top, below))

    def cut(self, values: Tensor) -> Tensor:
        """The window of values of the layer (n_samples x ...)."""
        if self.window.shape[2:] == self.shape:
            return values
        (top, left), (height, width) = self.corner, self.window.shape[-2:]
        return values[..., top : top + height, left : left + width]

    def plus(self, other: Forms) -> Forms:
        """Sums of functions of the same layer."""
        total = self.coefficients + other.coefficients
        return Forms(total, self.constants + other.constants, self.shape)

    def mixed(self, weights: Tensor) -> Forms:
        """Combinations, with weights (n_mixed x n_samples x n_forms).

        Lower bounds stay so if no weight is negative.
        """
        flat = torch.einsum("msf,fsd->msd", weights, self.coefficients.flatten(2))
        constants = torch.einsum("msf,fs->ms", weights, self.constants)
        return Forms(flat.reshape(*flat.shape[:2], *self.shape), constants, self.shape)


def pull_relu(
    forms: Forms, lower_slope: Tensor, upper_slope: Tensor, upper_constant: Tensor
) -> Forms:
    """Functions of the inputs of ReLUs that lie below functions of their outputs.

    Parameters
    ----------
    forms : Forms
        Functions of the outputs.
    lower_slope : tensor of shape (n_samples, ...)
        Lines through 0 below each ReLU.
    upper_slope, upper_constant : tensor of shape (n_samples, ...)
        Lines above.
    """
    up, down = forms.window.clamp(min=0), forms.window.clamp(max=0)
    constants = forms.constants + (down * forms.cut(upper_constant)).flatten(2).sum(2)
    window = up * forms.cut(lower_slope) + down * forms.cut(upper_slope)
    return Forms(window, constants, forms.shape, forms.corner)


def pull_affine(layer: nn.Module, forms: Forms, shape: tuple[int, ...]) -> Forms:
    """Functions of the inputs of an affine layer that equal functions of its outputs.

    Parameters
    ----------
    layer : nn.Module
        The layer, in evaluation mode.
    forms : Forms
        Functions of its outputs.
    shape : tuple of int
        The shape of its input for one sample.
    """
    if isinstance(layer, nn.Linear) and len(shape) == 1:
        constants = forms.constants
        if layer.bias is not None:
            constants = constants + forms.window @ layer.bias
        return Forms(forms.window @ layer.weight, constants, shape)
    if isinstance(layer, nn.Conv2d) and not isinstance(layer.padding, str):
        return _pull_convolution(layer, forms, shape)
    return _pull_any(layer, forms, shape)


def _pull_convolution(layer: nn.Conv2d, forms: Forms, shape: tuple[int, ...]) -> Forms:
    """The transposed convolution, of the window alone."""
    flat = forms.window.flatten(0, 1)
    wide = functional.conv_transpose2d(
        flat, layer.weight, None, layer.stride, 0, 0, layer.groups, layer.dilation
    )
    constants = forms.constants
    if layer.bias is not None:
        constants = constants + (flat.sum((2, 3)) @ layer.bias).reshape(constants.shape)
    corner = []
    for axis in (0, 1):
        start = forms.corner[axis] * layer.stride[axis] - int(layer.padding[axis])
        end = min(start + wide.shape[2 + axis], shape[1 + axis])
        # What reaches into the padding meets zeros there.
        skipped, start = max(-start, 0), max(start, 0)
        wide = wide.narrow(2 + axis, skipped, end - start)
        corner.append(start)
    window = wide.reshape(*forms.window.shape[:2], *wide.shape[1:])
    return Forms(window, constants, shape, (corner[0], corner[1]))


def _pull_any(layer: nn.Module, forms: Forms, shape: tuple[int, ...]) -> Forms:
    """The transpose of any affine layer is its derivative."""
    whole = forms.coefficients.flatten(0, 1)
    with torch.enable_grad():
        origin = torch.zeros(len(whole), *shape, dtype=whole.dtype, requires_grad=True)
        at_origin: Any = layer(origin)
        (pulled,) = torch.autograd.grad(at_origin, origin, whole)
    offset = (at_origin.detach() * whole).flatten(1).sum(1).reshape(forms.constants.shape)
    window = pulled.reshape(*forms.window.shape[:2], *shape)
    return Forms(window, forms.constants + offset, shape)


_AFFINE = (
    nn.Linear,
    nn.Conv2d,
    nn.AvgPool2d,
    nn.AdaptiveAvgPool2d,
    nn.BatchNorm2d,
    nn.Flatten,
    nn.Unflatten,
    nn.Identity,
    nn.Dropout,
    InputScaling,
    LogitDifference,
)
"""Layers that are affine in evaluation mode."""

_AT_ONCE = 64
"""Neurons of a dense layer that are bounded together."""

_MOST_NEURONS = 16_384
"""A layer with more undecided neurons than this keeps the bounds of interval arithmetic."""


class CrownBounds(NetworkBounds):
    """Backward linear bounds (Zhang et al. 2018) for sequential networks of columns.

    Every ReLU whose input can have both signs is put between two straight lines. Then any
    linear combination of the outputs is bounded below by a linear function of the input,
    whose least value over the region is known. The ranges of the ReLUs' inputs are found in
    the same way, layer by layer, and never taken wider than interval arithmetic says.

    Networks may have linear layers, convolutions, average pooling, batch normalisation,
    flattening, and ReLU.

    Examples
    --------
    >>> network = nn.Sequential(nn.Linear(1, 2), nn.ReLU(), nn.Linear(2, 1))
    >>> for layer, weight in ((network[0], [[1.0], [-1.0]]), (network[2], [[1.0, -1.0]])):
    ...     layer.weight.data, layer.bias.data = torch.tensor(weight), torch.zeros(len(weight))
    >>> bounds = CrownBounds([network], [[0.1]], Region(box=None)).bounds(0.2)  # relu(x) - relu(-x)
    >>> bounds.lower.round(2), bounds.upper.round(2)
    (array([[-0.1]]), array([[0.3]]))
    """

    joint = True

    def __init__(
        self, networks: Sequence[nn.Module], points: npt.ArrayLike, region: Region
    ) -> None:
        super().__init__(networks, points, region)
        self._blocks = [affine_blocks(network) for network in self.networks]
        self._intervals = IntervalBounds(networks, self.points, region)
        self._sizes = [self._n_outputs(network) for network in self.networks]
        self._last: tuple[Floats, list[_Relaxed]] | None = None

    def bounds(self, epsilon: npt.ArrayLike) -> Interval:
        """Bounds of every column by itself; the better of this and own arithmetic."""
        lower, upper, errors = [], [], []
        for relaxed, size in zip(self._relaxed(epsilon), self._sizes, strict=True):
            unit = torch.eye(size, dtype=torch.float64)
            least = relaxed.least_of(relaxed.below(relaxed.for_all(torch.cat([unit, -unit]))))
            lower.append(least[:size].T.numpy())
            upper.append(-least[size:].T.numpy())
            errors.append(relaxed.error.numpy())
        own = self.widened(np.hstack(lower), np.hstack(upper), error=np.hstack(errors))
        crude = self._intervals.bounds(epsilon)
        return Interval(np.maximum(own.lower, crude.lower), np.minimum(own.upper, crude.upper))

    def combined(self, epsilon: npt.ArrayLike, forms: Floats) -> Floats:
        """The linear bounds of all networks are added up before their least value is taken."""
        # Forms first, as the coefficients that go backward have them.
        coefficients = torch.from_numpy(np.ascontiguousarray(forms.transpose(1, 0, 2)))
        networks = self._relaxed(epsilon)
        parts = []
        for relaxed, part in zip(networks, torch.split(coefficients, self._sizes, 2), strict=True):
            if part.shape[2] > 1:
                parts.append(relaxed.below(part))
                continue
            # One bound from below and one from above serve all combinations.
            sides = torch.tensor([[1.0], [-1.0]], dtype=torch.float64)
            weights = torch.cat([part.clamp(min=0), (-part).clamp(min=0)], 2)
            parts.append(relaxed.below(relaxed.for_all(sides)).mixed(weights))
        total = functools.reduce(Forms.plus, parts)
        least = networks[0].least_of(total).T.numpy()
        sizes, errors = np.abs(forms), np.hstack([each.error.numpy() for each in networks])
        off_by = (sizes @ errors[..., None])[..., 0]
        lower_bounds = self.widened(least, least, sizes.sum(axis=2), off_by).lower
        return np.maximum(lower_bounds, self._intervals.combined(epsilon, forms))

    def _relaxed(self, epsilon: npt.ArrayLike) -> list[_Relaxed]:
        """The networks around the points; those of the last radius are kept."""
        radii = np.broadcast_to(epsilon, len(self.points)).astype(np.float64)
        if self._last is None or not np.array_equal(self._last[0], radii):
            points = torch.from_numpy(self.points)
            lower, upper = self.hull(radii)
            radius = torch.from_numpy(radii) if self.region.norm == "l2" else None
            with torch.no_grad():
                relaxed = [
                    _Relaxed(blocks, points, lower, upper, radius, unit=self.unit)
                    for blocks in self._blocks
                ]
            self._last = radii, relaxed
        return self._last[1]

    def _n_outputs(self, network: nn.Module) -> int:
        with torch.no_grad():
            return int(network(torch.from_numpy(self.points[:1])).shape[1])


def affine_blocks(network: nn.Module) -> list[nn.Sequential]:
    """The affine parts of a network, with a ReLU between each and the next.

    Examples
    --------
    >>> [len(block) for block in affine_blocks(nn.Sequential(nn.Flatten(), nn.Linear(4, 3)))]
    [2]
    """
    blocks: list[list[nn.Module]] = [[]]
    for layer in _flat(network):
        if isinstance(layer, nn.ReLU):
            blocks.append([])
        elif type(layer) in _AFFINE:
            blocks[-1].append(layer)
        else:
            known = ", ".join(sorted(kind.__name__ for kind in (*_AFFINE, nn.ReLU)))
            raise UnsupportedError(
                f"Backward linear bounds are known for {known}, not for {type(layer).__name__}. "
                "Use method='ibp' or 'smoothing'."
            )
    return [nn.Sequential(*block) for block in blocks]


def _flat(network: nn.Module) -> list[nn.Module]:
    if type(network) is nn.Sequential:
        return [layer for part in network for layer in _flat(part)]
    return [network]


@dataclass(frozen=True, eq=False)
class _Lines:
    """Between which two lines each ReLU lies: the lower one goes through 0."""

    lower_slope: Tensor
    upper_slope: Tensor
    upper_constant: Tensor

    @classmethod
    def over(cls, low: Tensor, high: Tensor) -> _Lines:
        undecided = (low < 0) & (high > 0)
        width = torch.where(undecided, high - low, 1.0)
        on = (low >= 0).double()
        # Of the lower lines with slopes 0 and 1 the one that leaves the smaller triangle.
        lower = torch.where(undecided, (high > -low).double(), on)
        upper = torch.where(undecided, high / width, on)
        constant = torch.where(undecided, -low * high / width, 0.0)
        return cls(lower, upper, constant)


class _Relaxed:
    """One network around some points, its ReLUs replaced by lines."""

    def __init__(
        self,
        blocks: list[nn.Sequential],
        points: Tensor,
        lower: Tensor,
        upper: Tensor,
        radius: Tensor | None,
        *,
        unit: float,
    ) -> None:
        self.points, self.lower, self.upper, self.radius = points, lower, upper, radius
        # How far rounding can take what the network itself computes, layer by layer.
        self.error = unit * torch.maximum(lower.abs(), upper.abs())
        self.blocks: list[list[tuple[nn.Module, tuple[int, ...]]]] = []
        self.lines: list[_Lines] = []
        low, high = lower, upper
        for depth, block in enumerate(blocks):
            # The layers of the block with the shape of what each of them takes.
            self.blocks.append([])
            below, above = low, high
            for layer in block:
                self.blocks[-1].append((layer, tuple(below.shape[1:])))
                below, above, self.error = rounded_bounds(layer, below, above, self.error, unit)
            if depth == len(blocks) - 1:
                self.outputs = tuple(below.shape[1:])
                break
            below, above = self._tightened(depth, below, above)
            self.lines.append(_Lines.over(below, above))
            low, high = below.clamp(min=0), above.clamp(min=0)

    def _tightened(self, depth: int, low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        """Bounds on the inputs of a layer of ReLUs, better than interval arithmetic's."""
        if depth == 0 and self.radius is None and len(self.blocks[0]) == 1:
            return low, high  # exact already
        low, high = low.clone(), high.clone()
        undecided = ((low < 0) & (high > 0)).any(0)
        if int(undecided.sum()) > _MOST_NEURONS:
            return low, high
        if undecided.ndim == 3:
            # The neurons at one place of an image see the same window of the one before.
            for row, column in undecided.any(0).nonzero().tolist():
                channels = undecided[:, row, column].nonzero()[:, 0]
                unit = torch.eye(len(undecided), dtype=torch.float64)[channels, :, None, None]
                below, above = self._range(unit, tuple(low.shape[1:]), (row, column), depth)
                here = low[:, channels, row, column]
                low[:, channels, row, column] = torch.maximum(here, below)
                here = high[:, channels, row, column]
                high[:, channels, row, column] = torch.minimum(here, above)
            return low, high
        for neurons in torch.split(undecided.nonzero()[:, 0], _AT_ONCE):
            unit = torch.eye(len(undecided), dtype=torch.float64)[neurons]
            below, above = self._range(unit, tuple(low.shape[1:]), (0, 0), depth)
            low[:, neurons] = torch.maximum(low[:, neurons], below)
            high[:, neurons] = torch.minimum(high[:, neurons], above)
        return low, high

    def _range(
        self, unit: Tensor, shape: tuple[int, ...], corner: tuple[int, int], depth: int
    ) -> tuple[Tensor, Tensor]:
        """Bounds on single neurons of a block's output: samples x neurons each."""
        both = self.for_all(torch.cat([unit, -unit]))
        least = self.least_of(self.pulled(both, shape, corner, depth)).T
        return least[:, : len(unit)], -least[:, len(unit) :]

    def for_all(self, forms: Tensor) -> Tensor:
        """The same coefficients (n_forms x ...) for every sample."""
        return forms[:, None].expand(-1, len(self.points), *forms.shape[1:])

    def below(self, forms: Tensor) -> Forms:
        """Linear functions of the input that lie below combinations of the outputs."""
        return self.pulled(forms, self.outputs, (0, 0), len(self.blocks) - 1)

    def pulled(
        self, forms: Tensor, shape: tuple[int, ...], corner: tuple[int, int], depth: int
    ) -> Forms:
        """Linear functions of the input that lie below combinations of a block's outputs.

        Parameters
        ----------
        forms : tensor of shape (n_forms, n_samples, *window)
            The coefficients.
        shape, corner
            What they are a window of, and where.
        depth : int
            Which block.
        """
        constants = torch.zeros(forms.shape[:2], dtype=torch.float64)
        pulled = Forms(forms, constants, shape, corner)
        for place in range(depth, -1, -1):
            for layer, taken in reversed(self.blocks[place]):
                pulled = pull_affine(layer, pulled, taken)
            if place > 0:
                lines = self.lines[place - 1]
                pulled = pull_relu(
                    pulled, lines.lower_slope, lines.upper_slope, lines.upper_constant
                )
        return pulled

    def least_of(self, forms: Forms) -> Tensor:
        """The least values of linear functions over the region: forms x samples."""
        window = forms.window.flatten(2)
        low, high, centre = (
            forms.cut(end).flatten(1) for end in (self.lower, self.upper, self.points)
        )
        least = (window.clamp(min=0) * low + window.clamp(max=0) * high).sum(2)
        if self.radius is not None:
            in_ball = (window * centre).sum(2) - self.radius * window.norm(dim=2)
            least = torch.maximum(least, in_ball)
        return least + forms.constants
