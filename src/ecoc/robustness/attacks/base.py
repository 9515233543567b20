"""What every attack is: a frozen set of choices, called with a model, samples and a radius."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy.typing as npt
import torch
from torch import Tensor

from ecoc._checks import check_choice, check_int
from ecoc.errors import EcocError, InvalidInputError
from ecoc.robustness.attacks.search import Search
from ecoc.robustness.geometry import Ball, Box, Norm
from ecoc.robustness.views import as_view

__all__ = ["Attack", "AttackError", "AttackResult"]


class AttackError(EcocError, RuntimeError):
    """An attack returned a point outside the ball or the box; this is a bug in the attack."""


@dataclass(frozen=True, eq=False)
class AttackResult:
    """What an attack found, sample by sample.

    Attributes
    ----------
    points : tensor of shape (n_samples, ...)
        The worst point found for each sample: one that succeeds, or else the one with the
        least margin. Every point lies in the ball and the box.
    success : tensor of bool of shape (n_samples,)
        Whether the point is misclassified, or classified as the target.
    margins : tensor of shape (n_samples,)
        By how much the label leads at the point, in the scores that decide; with targets, by
        how much the target is behind.
    queries : tensor of int of shape (n_samples,)
        How many points the model was asked about.
    n_gradients : int
        How many gradients were computed.
    gradients_zero_share : float
        The share of these that were exactly zero in every entry; NaN if there were none.
    """

    points: Tensor
    success: Tensor
    margins: Tensor
    queries: Tensor
    n_gradients: int
    gradients_zero_share: float

    @property
    def success_rate(self) -> float:
        """The share of samples that were broken."""
        return float(self.success.double().mean()) if len(self.success) else 0.0

    def __repr__(self) -> str:
        return f"<AttackResult: {int(self.success.sum())} of {len(self.success)} broken>"


class Attack(ABC):
    """Base class of attacks: frozen dataclasses that are called with a model and samples."""

    @abstractmethod
    def _run(self, search: Search) -> None:
        """Search for points; whatever is looked at is noted by `search`."""

    def __call__(
        self,
        model: Any,
        x: npt.ArrayLike | Tensor,
        y: npt.ArrayLike | Tensor,
        *,
        epsilon: float,
        norm: Norm = "linf",
        box: Box = (0.0, 1.0),
        targets: npt.ArrayLike | Tensor | None = None,
        accept: Literal["target", "any"] = "target",
        generator: torch.Generator | int = 0,
        batch_size: int = 512,
    ) -> AttackResult:
        """Look for misclassified points near samples.

        Parameters
        ----------
        model : torch.nn.Module, callable, View, or object with ``as_module``
            From inputs to class scores (n_samples x n_classes). A module should be in
            evaluation mode.
        x : array or tensor of shape (n_samples, ...)
            The samples. Tensors keep their dtype; arrays become that of the model.
        y : array or tensor of int of shape (n_samples,)
            Their classes, as places in the model's scores.
        epsilon : float
            The radius.
        norm : {"linf", "l2"}, default="linf"
            How a change is measured.
        box : pair of float, default=(0.0, 1.0)
            The least and the largest value of a feature; None for no limits.
        targets : array or tensor of int of shape (n_samples,), optional
            The class that each sample is to be taken for.
        accept : {"target", "any"}, default="target"
            Whether with targets only the target is a success, or every wrong class.
        generator : torch.Generator or int, default=0
            The source of randomness, or its seed.
        batch_size : int, default=512
            How many samples are attacked together.

        Returns
        -------
        AttackResult
            The worst point found for each sample. Samples that succeed as they are are not
            touched.
        """
        view = as_view(model)
        samples = as_samples(x, model)
        labels = _as_classes("y", y, samples)
        goals = None if targets is None else _as_classes("targets", targets, samples)
        any_class = check_choice("accept", accept, ("target", "any")) == "any"
        check_int("batch_size", batch_size, minimum=1)
        if not isinstance(generator, torch.Generator):
            generator = torch.Generator().manual_seed(check_int("generator", generator))
        ball = Ball(samples, epsilon, norm, box)
        searches = []
        for rows in batches(torch.arange(len(samples), device=samples.device), batch_size):
            search = Search(
                view,
                ball.take(rows),
                labels[rows],
                None if goals is None else goals[rows],
                any_class=any_class,
                generator=generator,
            )
            search.look(search.standing, search.ball.centre)
            if len(search.standing):
                self._run(search)
            searches.append(search)
        return _result(ball, searches)


def as_samples(x: npt.ArrayLike | Tensor, model: object = None) -> Tensor:
    """Samples as a tensor of floats, of the dtype of the model's parameters."""
    if isinstance(x, Tensor) and x.is_floating_point():
        samples = x.detach()
    else:
        parameters = model.parameters() if isinstance(model, torch.nn.Module) else iter(())
        samples = torch.as_tensor(x).to(next((p.dtype for p in parameters), torch.float32))
    if samples.ndim < 2 or not len(samples):
        raise InvalidInputError(
            "x must have a row for each sample, at least one, and features; "
            f"its shape is {tuple(samples.shape)}."
        )
    return samples


def batches(values: Tensor, size: int) -> Iterator[Tensor]:
    """Cut a tensor into parts of at most `size` rows."""
    for start in range(0, len(values), size):
        yield values[start : start + size]


def _as_classes(name: str, classes: npt.ArrayLike | Tensor, samples: Tensor) -> Tensor:
    n = len(samples)
    result = torch.as_tensor(classes, device=samples.device)
    if result.shape != (n,) or result.is_floating_point() or result.is_complex():
        raise InvalidInputError(
            f"{name} must have a whole number for each of the {n} samples, the place of its class "
            f"among the model's scores; got shape {tuple(result.shape)} and {result.dtype}."
        )
    return result.long()


def _result(ball: Ball, searches: list[Search]) -> AttackResult:
    points = torch.cat([search.worst for search in searches])
    if not bool(ball.contains(points).all()):
        raise AttackError("An attack left the ball or the box.")
    n_gradients = sum(search.n_gradients for search in searches)
    n_zero = sum(search.n_zero_gradients for search in searches)
    return AttackResult(
        points=points,
        success=torch.cat([search.broken for search in searches]),
        margins=torch.cat([search.margins for search in searches]),
        queries=torch.cat([search.queries for search in searches]),
        n_gradients=n_gradients,
        gradients_zero_share=n_zero / n_gradients if n_gradients else float("nan"),
    )
