"""Attacks from scores alone, beside Square: noise, SPSA, and a swarm of particles."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from ecoc._checks import check_choice, check_int, check_number
from ecoc.robustness.attacks.base import Attack, Search
from ecoc.robustness.attacks.losses import ATTACK_LOSSES
from ecoc.robustness.threat import unit

__all__ = ["SPSA", "Neighbours", "Noise", "ParticleSwarm"]


@dataclass(frozen=True)
class Noise(Attack):
    """Random points: the least that an attack with gradients has to beat.

    Parameters
    ----------
    samples : int, default=20
        How many points are tried, half of them from all of the ball and half from its
        surface (l_inf: its corners).

    Examples
    --------
    >>> model = lambda x: torch.cat([x, 1 - x], dim=1)
    >>> Noise()(model, torch.tensor([[0.51]]), [0], epsilon=0.5)
    <AttackResult: 1 of 1 broken>
    """

    samples: int = 20

    def __post_init__(self) -> None:
        check_int("samples", self.samples, minimum=1)

    def _run(self, search: Search) -> None:
        for i in range(self.samples):
            rows = search.standing
            if len(rows):
                ball = search.ball.take(rows)
                search.look(rows, ball.sample(search.generator, corners=i % 2 == 0))


@dataclass(frozen=True, eq=False)
class Neighbours(Attack):
    """Go towards given points of other classes, as far as the ball allows.

    With a radius as large as the box every sample can become any other, so an accuracy that
    this does not take to zero says that something is wrong.

    Parameters
    ----------
    points : tensor of shape (n_points, ...)
        Where to go, for instance other samples.
    classes : tensor of int of shape (n_points,)
        What the model takes these points for.
    n_tries : int, default=5
        How many of them are tried for each sample, the nearest first.

    Examples
    --------
    >>> model = lambda x: torch.cat([x, 1 - x], dim=1)
    >>> attack = Neighbours(torch.tensor([[0.2], [0.9]]), torch.tensor([1, 0]))
    >>> attack(model, torch.tensor([[0.7]]), [0], epsilon=0.3).points
    tensor([[0.4000]])
    """

    points: Tensor
    classes: Tensor
    n_tries: int = 5

    def __post_init__(self) -> None:
        check_int("n_tries", self.n_tries, minimum=1)

    def _run(self, search: Search) -> None:
        ball = search.ball
        others = self.points.to(ball.centre)
        lengths = torch.cdist(ball.centre.flatten(1), others.flatten(1))
        if search.targets is None:
            useful = self.classes[None, :] != search.labels[:, None]
        else:
            useful = self.classes[None, :] == search.targets[:, None]
        lengths = lengths.masked_fill(~useful, torch.inf)
        nearest = lengths.topk(min(self.n_tries, len(others)), largest=False)
        for distance, place in zip(nearest.values.T, nearest.indices.T, strict=True):
            rows = search.standing
            rows = rows[distance[rows].isfinite()]
            if len(rows):
                search.look(rows, ball.take(rows).project(others[place[rows]]))


@dataclass(frozen=True)
class SPSA(Attack):
    """Steps along a gradient estimated from random differences (Uesato et al. 2018).

    Parameters
    ----------
    steps : int, default=50
        The number of steps.
    samples : int, default=32
        How many pairs of points a gradient is estimated from.
    width : float, default=0.1
        How far from each other half of a pair is from the middle, as a share of epsilon.
    loss : {"margin", "cross-entropy", "dlr"}, default="margin"
        What is raised, see :data:`ecoc.robustness.ATTACK_LOSSES`.

    Examples
    --------
    >>> model = lambda x: torch.cat([x[:, :1], 1 - x[:, 1:]], dim=1)
    >>> SPSA(steps=10)(model, torch.tensor([[0.5, 0.6]]), [0], epsilon=0.1)
    <AttackResult: 1 of 1 broken>
    """

    steps: int = 50
    samples: int = 32
    width: float = 0.1
    loss: str = "margin"

    def __post_init__(self) -> None:
        check_int("steps", self.steps, minimum=1)
        check_int("samples", self.samples, minimum=1)
        check_number("width", self.width, minimum=0)
        check_choice("loss", self.loss, ATTACK_LOSSES)

    def _run(self, search: Search) -> None:
        points = search.ball.centre.clone()
        for _ in range(self.steps):
            gradient = torch.zeros_like(points)
            for _ in range(self.samples):
                rows = search.standing
                if not len(rows):
                    return
                ball, middle = search.ball.take(rows), points[rows]
                side = 2.0 * torch.randint(2, middle.shape, generator=search.generator) - 1
                step = self.width * ball.epsilon * unit(side.to(middle), ball.norm)
                above = search.look(rows, ball.project(middle + step), self.loss)
                below = search.look(rows, ball.project(middle - step), self.loss)
                gain = (above - below).reshape(-1, *[1] * (middle.ndim - 1))
                gradient[rows] += gain * side.to(middle)
            rows = search.standing
            ball = search.ball.take(rows)
            step = 2.5 / self.steps * ball.epsilon * unit(gradient[rows], ball.norm)
            points[rows] = ball.project(points[rows] + step)
        rows = search.standing
        if len(rows):
            search.look(rows, points[rows], self.loss)


@dataclass(frozen=True)
class ParticleSwarm(Attack):
    """A swarm that is drawn to its best points (Kennedy & Eberhart 1995).

    Parameters
    ----------
    particles : int, default=20
        The size of the swarm of each sample.
    steps : int, default=50
        How often it moves.
    inertia, own, common : float
        How much of its last move a particle keeps, and how strongly it is drawn to the best
        point of its own and to that of its swarm. The defaults are those of Clerc & Kennedy
        (2002).
    loss : {"margin", "cross-entropy", "dlr"}, default="margin"
        What is raised, see :data:`ecoc.robustness.ATTACK_LOSSES`.

    Examples
    --------
    >>> model = lambda x: torch.cat([x[:, :1], 1 - x[:, 1:]], dim=1)
    >>> ParticleSwarm(steps=10)(model, torch.tensor([[0.5, 0.6]]), [0], epsilon=0.1)
    <AttackResult: 1 of 1 broken>
    """

    particles: int = 20
    steps: int = 50
    inertia: float = 0.729
    own: float = 1.494
    common: float = 1.494
    loss: str = "margin"

    def __post_init__(self) -> None:
        check_int("particles", self.particles, minimum=1)
        check_int("steps", self.steps, minimum=0)
        for name in ("inertia", "own", "common"):
            check_number(name, getattr(self, name), minimum=0)
        check_choice("loss", self.loss, ATTACK_LOSSES)

    def _run(self, search: Search) -> None:
        ball, generator = search.ball, search.generator
        shape = (self.particles, *ball.centre.shape)
        places = torch.stack([ball.sample(generator) for _ in range(self.particles)])
        speeds = torch.zeros(shape).to(places)
        best = places.clone()
        values = torch.full(shape[:2], -torch.inf).to(places)
        for step in range(self.steps + 1):
            for i in range(self.particles):
                rows = search.standing
                if not len(rows):
                    return
                found = search.look(rows, places[i, rows], self.loss)
                better = found > values[i, rows]
                values[i, rows[better]] = found[better]
                best[i, rows[better]] = places[i, rows[better]]
            if step == self.steps:
                return
            leader = best[values.argmax(dim=0), torch.arange(len(ball))]
            for i in range(self.particles):
                pulls = torch.rand((2, *ball.centre.shape), generator=generator).to(places)
                speeds[i] = (
                    self.inertia * speeds[i]
                    + self.own * pulls[0] * (best[i] - places[i])
                    + self.common * pulls[1] * (leader - places[i])
                )
                places[i] = ball.project(places[i] + speeds[i])
