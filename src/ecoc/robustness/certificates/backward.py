"""Linear functions of a layer's outputs carried backward to its inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

__all__ = ["Forms", "pull_affine", "pull_relu"]


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
