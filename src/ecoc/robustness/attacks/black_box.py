"""Attacks from scores alone: Square, noise, SPSA, and a swarm of particles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ecoc._checks import check_choice, check_int, check_number
from ecoc.robustness.attacks.base import ATTACK_LOSSES, Attack, Search
from ecoc.robustness.threat import NORMS, Ball, Norm, check_box, image_shape, unit

__all__ = ["SPSA", "HopSkipJump", "Neighbours", "Noise", "ParticleSwarm", "Square"]


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
    norms: ClassVar[tuple[Norm, ...]] = ("linf", "l2", "l1")

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
        return unit(
            agreeing - _each(mean, points) * moved, ball.norm if ball.norm == "linf" else "l2"
        )


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


_HALVINGS = (0.001, 0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8)
"""The shares of all queries after which the windows get half as large."""


@dataclass(frozen=True)
class Square(Attack):
    """Square attack (Andriushchenko et al. 2020): no gradients, so none to be masked.

    Each query changes one window of the image, and the change stays if it raises the loss.
    Flat features are treated as an image of one row.

    Parameters
    ----------
    queries : int, default=1000
        The most points that the model is asked about.
    share : float, default=0.8
        The share of the image that the first windows cover.
    loss : {"margin", "cross-entropy", "dlr"}, default="margin"
        What is raised, see :data:`ecoc.robustness.attacks.ATTACK_LOSSES`.

    Examples
    --------
    >>> _ = torch.manual_seed(0)
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    >>> x = torch.rand(10, 4)
    >>> y = model(x).argmax(1)
    >>> Square(queries=200)(model, x, y, epsilon=1.0)
    <AttackResult: 10 of 10 broken>
    """

    queries: int = 1000
    share: float = 0.8
    loss: str = "margin"

    def __post_init__(self) -> None:
        check_int("queries", self.queries, minimum=1)
        check_number("share", self.share, minimum=0, maximum=1)
        check_choice("loss", self.loss, ATTACK_LOSSES)

    def _run(self, search: Search) -> None:
        rows = search.standing
        generator = search.generator
        ball = search.ball.take(rows)
        image = image_shape(ball.centre)
        points = _first(ball, image, generator)
        values = search.look(rows, points, self.loss)
        for query in range(1, self.queries):
            going = ~search.broken[rows]
            if not going.any():
                return
            if not going.all():
                rows, points, values = rows[going], points[going], values[going]
                ball = search.ball.take(rows)
            halvings = sum(query > self.queries * part for part in _HALVINGS)
            # A bump needs some room.
            least = 1 if ball.norm == "linf" else 3
            window = _window(self.share / 2**halvings, image, least)
            candidates = _changed(ball, points, image, window, generator)
            seen = search.look(rows, candidates, self.loss)
            better = seen > values
            values = torch.where(better, seen, values)
            points[better] = candidates[better]


def _window(share: float, image: tuple[int, int, int], least: int = 1) -> tuple[int, int]:
    """Height and width of a window that covers a share of the image."""
    _, height, width = image
    side = share * width if height == 1 else (share * height * width) ** 0.5
    return min(max(round(side), least), height), min(max(round(side), least), width)


def _first(ball: Ball, image: tuple[int, int, int], generator: torch.Generator) -> Tensor:
    """Stripes for l_inf; for l_2 as many bumps as there is room for."""
    n, (channels, height, width) = len(ball), image
    if ball.norm == "linf":
        change = _signs((n, channels, 1, width), generator).expand(n, *image)
    else:
        down, across = (max(side // 5, 1) for side in image[1:])
        tiles = (n, channels, -(-height // down), -(-width // across))
        signs = _signs(tiles, generator)
        signs = signs.repeat_interleave(down, dim=2).repeat_interleave(across, dim=3)
        bumps = _bump(down, across).repeat(tiles[2], tiles[3])
        change = (signs * bumps)[:, :, :height, :width]
        change = change / change.flatten(1).norm(dim=1)[:, None, None, None]
    change = change.reshape(ball.centre.shape).to(ball.centre)
    return ball.project(ball.centre + ball.epsilon * change)


def _changed(
    ball: Ball,
    points: Tensor,
    image: tuple[int, int, int],
    window: tuple[int, int],
    generator: torch.Generator,
) -> Tensor:
    """The points with another change in one window."""
    n, channels = len(points), image[0]
    change = (points - ball.centre).reshape(n, *image)
    signs = _signs((n, channels, 1, 1), generator).to(change)
    here, offsets = _place(n, image, window, generator, change.device)
    if ball.norm == "linf":
        change = torch.where(here, signs * ball.epsilon, change)
    else:
        # The new bump has what length its window and another one had, and what was unused.
        there, _ = _place(n, image, window, generator, change.device)
        bump = _bump(*window).to(change)
        if window[0] == window[1] and bool(torch.rand((), generator=generator) < 0.5):
            bump = bump.T
        old = change * here
        new = signs * bump[offsets] * here + old / _length(old).clamp(min=1e-12)
        unused = ball.epsilon**2 - change.flatten(1).square().sum(1)[:, None, None, None]
        room = _length(change * (here | there)).square() + unused.clamp(min=0) / channels
        new = new / _length(new).clamp(min=1e-12) * room.sqrt()
        change = torch.where(here, new, torch.where(there, 0.0, change))
    return ball.project(ball.centre + change.reshape(points.shape))


def _place(
    n: int,
    image: tuple[int, int, int],
    window: tuple[int, int],
    generator: torch.Generator,
    device: torch.device,
) -> tuple[Tensor, tuple[Tensor, Tensor]]:
    """A window for each sample: which pixels it has, and where in the window they are."""
    places = []
    for side, length in zip(window, image[1:], strict=True):
        start = torch.randint(length - side + 1, (n, 1), generator=generator).to(device)
        places.append(torch.arange(length, device=device) - start)
    down, across = places[0][:, None, :, None], places[1][:, None, None, :]
    inside = (down >= 0) & (down < window[0]) & (across >= 0) & (across < window[1])
    return inside, (down.clamp(0, window[0] - 1), across.clamp(0, window[1] - 1))


def _bump(height: int, width: int) -> Tensor:
    """A hill beside a valley, each highest in its middle, together of length one."""
    bump = torch.cat([-_hill(height, width // 2), _hill(height, width - width // 2)], dim=1)
    return bump / bump.square().sum().sqrt()


def _hill(height: int, width: int) -> Tensor:
    down = (torch.arange(height) - height // 2).abs()[:, None]
    across = (torch.arange(width) - width // 2).abs()[None, :]
    away = torch.maximum(down, across)
    sizes = torch.arange(max(height, width), 0, -1, dtype=torch.float32)
    heights: Tensor = sizes.pow(-2).cumsum(0).flip(0)
    return heights[away]


def _signs(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return 2.0 * torch.randint(2, shape, generator=generator) - 1


def _length(change: Tensor) -> Tensor:
    """The length of each channel."""
    return change.square().sum(dim=(2, 3), keepdim=True).sqrt()


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
    norms: ClassVar[tuple[Norm, ...]] = NORMS

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
    norms: ClassVar[tuple[Norm, ...]] = ("linf", "l2", "l1", "l0", "patch")

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
        What is raised, see :data:`ecoc.robustness.attacks.ATTACK_LOSSES`.

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
        What is raised, see :data:`ecoc.robustness.attacks.ATTACK_LOSSES`.

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
                seen = search.look(rows, places[i, rows], self.loss)
                better = seen > values[i, rows]
                values[i, rows[better]] = seen[better]
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
