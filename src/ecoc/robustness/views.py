"""What an attack sees of a model: scores to push on, and scores that decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from torch import Tensor

from ecoc.errors import InvalidInputError

__all__ = ["Head", "View", "as_view"]

Head: TypeAlias = Callable[[Tensor], Tensor]


def _same(values: Tensor) -> Tensor:
    return values


@dataclass(frozen=True, eq=False)
class View:
    """A model as an attack sees it.

    A loss on the scores that decide can have no gradient, though the model is easily
    fooled: an attack may push on a surrogate instead. Success is always judged by the scores
    that decide.

    Parameters
    ----------
    body : callable
        From inputs to what both heads need, for instance the logits of columns.
    surrogate : callable, optional
        From there to the class scores (n_samples x n_classes) whose loss the attack raises.
    decision : callable, optional
        From there to the class scores whose largest is the prediction.

    Examples
    --------
    >>> view = View(lambda x: x @ torch.eye(2), surrogate=lambda z: 2 * z)
    >>> view(torch.tensor([[1.0, 3.0]]))
    (tensor([[2., 6.]]), tensor([[1., 3.]]))
    """

    body: Head
    surrogate: Head = _same
    decision: Head = _same

    def __call__(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """The scores to push on, and the scores that decide."""
        inner = self.body(points)
        surrogate = self.surrogate(inner)
        if self.decision is self.surrogate:
            return surrogate, surrogate.detach()
        with torch.no_grad():
            return surrogate, self.decision(inner.detach())


def as_view(model: Any) -> View:
    """A view of anything that can be attacked by itself.

    Parameters
    ----------
    model : View, callable or object with ``as_module``
        A torch module or another function from inputs to class scores (n_samples x
        n_classes), or a model that hands out such a module.
    """
    if isinstance(model, View):
        return model
    if hasattr(model, "as_module"):
        return View(model.as_module())
    if callable(model):
        return View(model)
    raise InvalidInputError(
        "model must be a torch module, a function from inputs to class scores, or have a method "
        f"as_module, not {type(model).__name__}."
    )
