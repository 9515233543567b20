"""What every attack is, and the losses of class scores that attacks maximise."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from ecoc._checks import RandomState, check_choice, check_int, check_number, check_seed
from ecoc.errors import EcocError, InvalidInputError, UnsupportedError
from ecoc.robustness.models import View, as_view
from ecoc.robustness.threat import Ball, Box, Norm, check_norm

__all__ = [
    "ATTACK_LOSSES",
    "Attack",
    "AttackError",
    "AttackResult",
    "LimitReachedError",
    "LossName",
    "Search",
    "as_samples",
    "batches",
    "best_other",
    "cross_entropy",
    "dlr",
    "gradient_at",
    "margin",
]


LossName = Literal["cross-entropy", "margin", "dlr"]
Loss: TypeAlias = Callable[[Tensor, Tensor, "Tensor | None"], Tensor]


def cross_entropy(scores: Tensor, labels: Tensor, targets: Tensor | None = None) -> Tensor:
    """Cross-entropy of the softmax of scores; minus that of the targets, if there are any.

    Its gradient vanishes where one score is far above the others: the softmax saturates.

    Examples
    --------
    >>> cross_entropy(torch.tensor([[0.0, 0.0]]), torch.tensor([0]))
    tensor([0.6931])
    """
    if targets is not None:
        return -functional.cross_entropy(scores, targets, reduction="none")
    return functional.cross_entropy(scores, labels, reduction="none")


def margin(scores: Tensor, labels: Tensor, targets: Tensor | None = None) -> Tensor:
    """By how much the best other class leads the label (Carlini & Wagner 2017).

    With targets, by how much the target leads the best other class. Scaling the scores
    scales the gradient and changes nothing else.

    Examples
    --------
    >>> margin(torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([0]))
    tensor([-1.])
    >>> margin(torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([0]), torch.tensor([1]))
    tensor([-2.])
    """
    if targets is not None:
        return _of(scores, targets) - best_other(scores, targets)
    return best_other(scores, labels) - _of(scores, labels)


def dlr(scores: Tensor, labels: Tensor, targets: Tensor | None = None) -> Tensor:
    """Difference of logits ratio (Croce & Hein 2020): the margin over the spread of the best.

    Unchanged when the scores are scaled or shifted. Needs three classes, four with targets.

    Examples
    --------
    >>> dlr(torch.tensor([[3.0, 1.0, 2.0]]), torch.tensor([0]))
    tensor([-0.5000])
    """
    least = 3 if targets is None else 4
    if scores.shape[1] < least:
        raise InvalidInputError(
            f"The loss 'dlr' needs {least} classes or more here, not {scores.shape[1]}; "
            "use 'margin'."
        )
    ranked = scores.sort(dim=1, descending=True).values
    if targets is not None:
        spread = ranked[:, 0] - (ranked[:, 2] + ranked[:, 3]) / 2
        return (_of(scores, targets) - _of(scores, labels)) / _not_zero(spread)
    return margin(scores, labels) / _not_zero(ranked[:, 0] - ranked[:, 2])


ATTACK_LOSSES: dict[str, Loss] = {"cross-entropy": cross_entropy, "margin": margin, "dlr": dlr}
"""Losses by name; each takes scores, labels, and targets or None."""


def gradient_at(points: Tensor, values: Tensor) -> Tensor:
    """The gradient of values, one for each point, with respect to the points.

    It is zero where values do not depend on the points as far as torch knows, as behind ``argmax``
    or ``detach``, and where it is not a finite number.

    Examples
    --------
    >>> points = torch.tensor([[1.0, 3.0]], requires_grad=True)
    >>> gradient_at(points, points.square().sum(dim=1))
    tensor([[2., 6.]])
    >>> gradient_at(points, points.round().detach().sum(dim=1))
    tensor([[0., 0.]])
    """
    if not values.requires_grad:
        return torch.zeros_like(points)
    (gradient,) = torch.autograd.grad(
        values.sum(), points, allow_unused=True, materialize_grads=True
    )
    return torch.where(gradient.isfinite(), gradient, 0.0)


def best_other(scores: Tensor, labels: Tensor) -> Tensor:
    """The best score of the classes beside the label."""
    return scores.scatter(1, labels[:, None], -torch.inf).amax(dim=1)


def _of(scores: Tensor, classes: Tensor) -> Tensor:
    return scores.gather(1, classes[:, None])[:, 0]


def _not_zero(spread: Tensor) -> Tensor:
    return spread.clamp(min=torch.finfo(spread.dtype).tiny)


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


class LimitReachedError(Exception):
    """The time of an attack is over."""


class Search:
    """An attack on a batch while it runs.

    Whatever an attack looks at is noted here: a sample is broken as soon as one of its
    points is, and attacks go on with the samples that still stand.

    Parameters
    ----------
    view : View
        The model.
    ball : Ball
        The samples and what may become of them.
    labels : tensor of int of shape (n_samples,)
        The true classes.
    targets : tensor of int of shape (n_samples,), optional
        The classes to go for.
    any_class : bool
        Whether with targets every wrong class is a success.
    generator : torch.Generator
        The source of all randomness.
    """

    def __init__(
        self,
        view: View,
        ball: Ball,
        labels: Tensor,
        targets: Tensor | None,
        *,
        any_class: bool,
        generator: torch.Generator,
    ) -> None:
        n = len(ball)
        self.view = view
        self.ball = ball
        self.labels = labels
        self.targets = targets
        self.any_class = any_class
        self.generator = generator
        self.deadline = math.inf  # of the monotonic clock, when the model is not asked any more
        self.worst = ball.centre.clone()
        device = ball.centre.device
        self.margins = torch.full((n,), torch.inf, dtype=torch.float64, device=device)
        self.broken = torch.zeros(n, dtype=torch.bool, device=device)
        self.queries = torch.zeros(n, dtype=torch.int64, device=device)
        self.n_gradients = 0
        self.n_zero_gradients = 0

    @property
    def standing(self) -> Tensor:
        """The rows of the samples that are not broken yet."""
        return torch.nonzero(~self.broken)[:, 0]

    @torch.no_grad()
    def look(self, rows: Tensor, points: Tensor, loss: str = "margin") -> Tensor:
        """Ask the model about one point for each of some rows; return the losses."""
        scores, decision = self._asked(points)
        self._note(rows, points, decision)
        return self._losses(rows, scores, loss)

    def gradient(self, rows: Tensor, points: Tensor, loss: str) -> tuple[Tensor, Tensor]:
        """The losses at one point for each of some rows, and their gradients."""
        points = points.detach().requires_grad_()
        with torch.enable_grad():
            scores, decision = self._asked(points)
            values = self._losses(rows, scores, loss)
            gradient = gradient_at(points, values)
        self._note(rows, points.detach(), decision)
        self.n_gradients += len(rows)
        self.n_zero_gradients += int((~gradient.flatten(1).any(dim=1)).sum())
        return values.detach(), gradient

    def _losses(self, rows: Tensor, scores: Tensor, loss: str) -> Tensor:
        targets = None if self.targets is None else self.targets[rows]
        if targets is not None and self.any_class and loss == "margin":
            # The target need not lead all classes: any class before the label will do.
            return _of(scores, targets) - _of(scores, self.labels[rows])
        return ATTACK_LOSSES[loss](scores, self.labels[rows], targets)

    @torch.no_grad()
    def wrong(self, rows: Tensor, points: Tensor) -> Tensor:
        """Which points would succeed; they may lie outside the ball and are not noted."""
        self.queries[rows] += 1
        return self._judge(rows, self._asked(points)[1])[1]

    def _asked(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """The scores to push on and those that decide, while there is time."""
        if time.monotonic() > self.deadline:
            raise LimitReachedError
        return self.view(points)

    def _note(self, rows: Tensor, points: Tensor, scores: Tensor) -> None:
        margins, broken = self._judge(rows, scores)
        if self.view.confirm is not None and bool(broken.any()):
            some = torch.nonzero(broken)[:, 0]
            with torch.no_grad():
                sure = self.view.decision(self.view.confirm(points[some]))
            margins[some], broken[some] = self._judge(rows[some], sure)
        standing = ~self.broken[rows]
        worse = standing & (broken | (margins < self.margins[rows]))
        if bool(worse.any()):
            some = rows[worse]
            self.worst[some] = points[worse]
            self.margins[some] = margins[worse]
        self.queries[rows] += standing
        self.broken[rows] |= broken

    def _judge(self, rows: Tensor, scores: Tensor) -> tuple[Tensor, Tensor]:
        """By how much the goal is missed, and whether it is reached."""
        if bool(scores.isnan().any()):
            raise InvalidInputError("The model gave scores that are NaN for points in the box.")
        scores = scores.to(self.margins.dtype)
        # Of equal scores the first class wins.
        predicted = scores.argmax(dim=1)
        if self.targets is None or self.any_class:
            labels = self.labels[rows]
            own = scores.gather(1, labels[:, None])[:, 0]
            broken = predicted != labels
            if self.view.undecided is not None:
                broken &= predicted != self.view.undecided
            return own - best_other(scores, labels), broken
        targets = self.targets[rows]
        goal = scores.gather(1, targets[:, None])[:, 0]
        return best_other(scores, targets) - goal, predicted == targets


class Attack(ABC):
    """Base class of attacks: frozen dataclasses that are called with a model and samples."""

    norms: ClassVar[tuple[Norm, ...]] = ("linf", "l2")
    """The threats that it can be used for."""

    def check_norm(self, norm: Norm) -> None:
        """Refuse a threat that the attack is not fit for."""
        if check_norm(norm) not in self.norms:
            raise UnsupportedError(
                f"{type(self).__name__} is no attack for norm={norm!r}, but for "
                f"{', '.join(self.norms)}."
            )

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
        random_state: RandomState = 0,
        batch_size: int = 512,
        time_limit: float | None = None,
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
        norm : str, default="linf"
            How a change is measured, one of :data:`ecoc.robustness.NORMS` that the attack is
            fit for.
        box : pair of float, default=(0.0, 1.0)
            The least and the largest value of a feature; None for no limits.
        targets : array or tensor of int of shape (n_samples,), optional
            The class that each sample is to be taken for.
        accept : {"target", "any"}, default="target"
            Whether with targets only the target is a success, or every wrong class.
        random_state : int, Generator or None, default=0
            The source of randomness.
        batch_size : int, default=512
            How many samples are attacked together.
        time_limit : float, optional
            Seconds after which what has been found is returned.

        Returns
        -------
        AttackResult
            The worst point found for each sample. Samples that succeed as they are are not
            touched.
        """
        self.check_norm(norm)
        view = as_view(model)
        samples = as_samples(x, model)
        labels = _as_classes("y", y, samples)
        goals = None if targets is None else _as_classes("targets", targets, samples)
        any_class = check_choice("accept", accept, ("target", "any")) == "any"
        check_int("batch_size", batch_size, minimum=1)
        limit = (
            math.inf if time_limit is None else check_number("time_limit", time_limit, minimum=0)
        )
        deadline = time.monotonic() + limit
        generator, seed = torch.Generator(), check_seed(random_state)
        if seed is None:
            generator.seed()
        else:
            generator.manual_seed(seed)
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
            search.deadline = deadline
            if len(search.standing):
                with suppress(LimitReachedError):
                    self._run(search)
            searches.append(search)
        return _result(ball, searches)


def as_samples(x: npt.ArrayLike | Tensor, model: object = None) -> Tensor:
    """Samples as a tensor of floats, of the dtype of the model's parameters."""
    if isinstance(x, Tensor) and x.is_floating_point():
        samples = x.detach()
    else:
        parameters = model.parameters() if isinstance(model, torch.nn.Module) else iter(())
        # Copied, because torch warns of arrays that may not be written to.
        given = x if isinstance(x, Tensor) else torch.tensor(np.asarray(x))
        samples = given.to(next((p.dtype for p in parameters), torch.float32))
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
