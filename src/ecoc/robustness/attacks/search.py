"""The bookkeeping of an attack: the worst point of each sample, and what it cost to find."""

from __future__ import annotations

import torch
from torch import Tensor

from ecoc.errors import InvalidInputError
from ecoc.robustness.geometry import Ball
from ecoc.robustness.losses import LOSSES, best_other
from ecoc.robustness.views import View

__all__ = ["Search"]


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
        scores, decision = self.view(points)
        self._note(rows, points, decision)
        return self._losses(rows, scores, loss)

    def gradient(self, rows: Tensor, points: Tensor, loss: str) -> tuple[Tensor, Tensor]:
        """The losses at one point for each of some rows, and their gradients."""
        points = points.detach().requires_grad_()
        with torch.enable_grad():
            scores, decision = self.view(points)
            values = self._losses(rows, scores, loss)
            (gradient,) = torch.autograd.grad(values.sum(), points)
        self._note(rows, points.detach(), decision)
        self.n_gradients += len(rows)
        self.n_zero_gradients += int((~gradient.flatten(1).any(dim=1)).sum())
        return values.detach(), gradient

    def _losses(self, rows: Tensor, scores: Tensor, loss: str) -> Tensor:
        targets = None if self.targets is None else self.targets[rows]
        return LOSSES[loss](scores, self.labels[rows], targets)

    @torch.no_grad()
    def wrong(self, rows: Tensor, points: Tensor) -> Tensor:
        """Which points would succeed; they may lie outside the ball and are not noted."""
        self.queries[rows] += 1
        return self._judge(rows, self.view(points)[1])[1]

    def _note(self, rows: Tensor, points: Tensor, scores: Tensor) -> None:
        margins, broken = self._judge(rows, scores)
        standing = ~self.broken[rows]
        worse = standing & (broken | (margins < self.margins[rows]))
        self.worst[rows[worse]] = points[worse]
        self.margins[rows[worse]] = margins[worse]
        self.queries[rows[standing]] += 1
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
            return own - best_other(scores, labels), predicted != labels
        targets = self.targets[rows]
        goal = scores.gather(1, targets[:, None])[:, 0]
        return best_other(scores, targets) - goal, predicted == targets
