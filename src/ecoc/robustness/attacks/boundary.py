"""A decision-based attack: HopSkipJump, which needs no scores."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ecoc._checks import check_int
from ecoc.robustness.attacks.base import Attack, Search
from ecoc.robustness.threat import Ball, check_box, unit

__all__ = ["HopSkipJump"]

_BISECTIONS = 12


@dataclass(frozen=True)
class HopSkipJump(Attack):
    """HopSkipJump (Chen, Jordan & Wainwright 2020): from predicted classes alone.

    Walks along the decision boundary from a misclassified point anywhere in the box towards
    the sample. The direction is estimated from the side of the boundary on which random
    points fall.

    Parameters
    ----------
    steps : int, default=20
        How often the point moves along the boundary.
    samples : int, default=50
        How many random points a direction is first estimated from; the number grows with
        the square root of the step.
    starts : int, default=20
        How many points are tried to begin with: the nearest other samples of the batch, and
        random points of the box.

    Examples
    --------
    >>> model = lambda x: torch.cat([x[:, :1], 1 - x[:, 1:]], dim=1).round()
    >>> x = torch.tensor([[0.7, 0.7], [0.3, 0.9]])
    >>> HopSkipJump()(model, x, [0, 0], epsilon=0.45)
    <AttackResult: 2 of 2 broken>
    """

    steps: int = 20
    samples: int = 50
    starts: int = 20

    def __post_init__(self) -> None:
        for name in ("steps", "samples", "starts"):
            check_int(name, getattr(self, name), minimum=1)

    def _run(self, search: Search) -> None:
        rows, points = self._starting_points(search)
        for step in range(1, self.steps + 1):
            going = ~search.broken[rows]
            rows, points = rows[going], points[going]
            if not len(rows):
                return
            points = _to_boundary(search, rows, points)
            ball = search.ball.take(rows)
            search.look(rows, ball.project(points))
            distance = _each(ball.distance(points), points).to(points)
            direction = self._direction(search, rows, points, distance, step)
            points = _jump(search, rows, points, distance / step**0.5 * direction)
        going = ~search.broken[rows]
        if going.any():
            points = _to_boundary(search, rows[going], points[going])
            search.look(rows[going], search.ball.take(rows[going]).project(points))

    def _starting_points(self, search: Search) -> tuple[Tensor, Tensor]:
        """A misclassified point for each sample that has one among those tried."""
        ball = search.ball
        points = ball.centre.clone()
        adversarial = torch.zeros(len(ball), dtype=torch.bool, device=points.device)
        apart = torch.cdist(ball.centre.flatten(1), ball.centre.flatten(1))
        order = apart.argsort(dim=1)[:, 1 : self.starts // 2 + 1]
        tries = [ball.centre[order[:, i]] for i in range(order.shape[1])]
        while len(tries) < self.starts:
            tries.append(_anywhere(ball, search.generator))
        for candidates in tries:
            rows = torch.nonzero(~adversarial & ~search.broken)[:, 0]
            if not len(rows):
                break
            wrong = rows[search.wrong(rows, candidates[rows])]
            points[wrong] = candidates[wrong]
            adversarial[wrong] = True
        rows = torch.nonzero(adversarial)[:, 0]
        return rows, points[rows]

    def _direction(
        self, search: Search, rows: Tensor, points: Tensor, distance: Tensor, step: int
    ) -> Tensor:
        """The side of the boundary that is misclassified, as a unit vector."""
        ball = search.ball.take(rows)
        low, high = check_box(ball.box)
        size = points[0].numel()
        # As in the paper: narrow enough for the boundary to be flat, more so in high dimension.
        width = distance / size**0.5 / (1 if ball.norm == "l2" else size**0.5)
        count = round(self.samples * step**0.5)
        agreeing, moved = torch.zeros_like(points), torch.zeros_like(points)
        balance = torch.zeros(len(rows)).to(points)
        for _ in range(count):
            noise = torch.randn(points.shape, generator=search.generator).to(points)
            probe = (points + width * unit(noise, "l2") * size**0.5).clamp(low, high)
            side = 2.0 * search.wrong(rows, probe).to(points) - 1
            agreeing += _each(side, points) * (probe - points)
            moved += probe - points
            balance += side
        # The mean answer is no news, unless all answers are the same.
        mean = torch.where(balance.abs() == count, 0.0, balance / count)
        return unit(agreeing - _each(mean, points) * moved, ball.norm)


def _to_boundary(search: Search, rows: Tensor, points: Tensor) -> Tensor:
    """Go from misclassified points towards their samples as far as they stay misclassified."""
    ball = search.ball.take(rows)
    low, high = torch.zeros(len(rows)).to(points), torch.ones(len(rows)).to(points)
    reach = ball.distance(points).to(points)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        wrong = search.wrong(rows, _between(ball, points, middle, reach))
        high, low = torch.where(wrong, middle, high), torch.where(wrong, low, middle)
    return _between(ball, points, high, reach)


def _between(ball: Ball, points: Tensor, share: Tensor, reach: Tensor) -> Tensor:
    """The point nearest to `points` within a share of their distance from the samples."""
    if ball.norm == "linf":
        limit = _each(share * reach, points)
        return points.clamp(ball.centre - limit, ball.centre + limit)
    return ball.centre + _each(share, points) * (points - ball.centre)


def _jump(search: Search, rows: Tensor, points: Tensor, move: Tensor) -> Tensor:
    """Take a step, halved until it ends at a misclassified point; stay where none does."""
    low, high = check_box(search.ball.box)
    result, waiting = points.clone(), torch.arange(len(rows), device=rows.device)
    for halving in range(_BISECTIONS):
        if not len(waiting):
            break
        candidates = (points[waiting] + move[waiting] / 2**halving).clamp(low, high)
        wrong = search.wrong(rows[waiting], candidates)
        result[waiting[wrong]] = candidates[wrong]
        waiting = waiting[~wrong]
    return result


def _anywhere(ball: Ball, generator: torch.Generator) -> Tensor:
    """Random points of the box, or around the samples where there is none."""
    low, high = check_box(ball.box)
    if not (abs(low) < torch.inf and abs(high) < torch.inf):
        spread = 10 * max(ball.epsilon, float(ball.centre.std()) if len(ball) > 1 else 1.0)
        noise = torch.randn(ball.centre.shape, generator=generator).to(ball.centre)
        return (ball.centre + spread * noise).clamp(low, high)
    uniform = torch.rand(ball.centre.shape, generator=generator).to(ball.centre)
    return low + (high - low) * uniform


def _each(values: Tensor, like: Tensor) -> Tensor:
    return values.reshape(-1, *[1] * (like.ndim - 1))
