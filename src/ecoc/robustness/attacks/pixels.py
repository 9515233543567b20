"""Attacks on a few pixels, on a patch, and by corruptions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor

from ecoc._checks import check_choice, check_int
from ecoc.robustness.attacks.base import ATTACK_LOSSES, Attack, Search
from ecoc.robustness.corruptions import SEVERITIES
from ecoc.robustness.threat import (
    CORRUPTION_NORMS,
    PIXEL_NORMS,
    Ball,
    Norm,
    corruptions_of,
    image_shape,
    random_windows,
    window_sums,
    windows,
)

__all__ = ["Corruptions", "PatchPGD", "PixelGradient", "PixelSearch"]


def _gains(ball: Ball, points: Tensor, gradient: Tensor) -> Tensor:
    """What the gradient promises for the best colour of each pixel."""
    gains = torch.maximum(gradient * (ball.upper - points), gradient * (ball.lower - points))
    n, (channels, height, width) = len(ball), image_shape(points)
    return gains.reshape(n, channels, height, width).sum(1).double()


def _best_colours(ball: Ball, points: Tensor, gradient: Tensor) -> Tensor:
    colours = torch.where(gradient > 0, ball.upper, ball.lower)
    return torch.where(gradient == 0, points, colours)


def _painted(ball: Ball, pixels: Tensor, colours: Tensor) -> Tensor:
    """The samples with other colours at some pixels."""
    n, image = len(ball), image_shape(ball.centre)
    shape = (n, *image)
    mask = pixels.reshape(n, 1, *image[1:])
    painted = torch.where(mask, colours.reshape(shape), ball.centre.reshape(shape))
    return painted.reshape(ball.centre.shape)


@dataclass(frozen=True)
class PixelGradient(Attack):
    """Give the pixels of the largest gradients their worst colours, and look again from there.

    For a linear model the first step is the best there is, for pixels and for patches. Each
    later one follows the mean of the gradients so far, whose newest count the most.

    Parameters
    ----------
    steps : int, default=20
        How often gradients are taken.
    loss : {"margin", "cross-entropy", "dlr"}, default="margin"
        What is raised, see :data:`ecoc.robustness.attacks.ATTACK_LOSSES`.

    Examples
    --------
    >>> model = lambda x: torch.cat([x @ torch.tensor([[1.0], [3.0]]), x[:, :1] * 0 + 1.0], 1)
    >>> PixelGradient()(model, torch.tensor([[0.5, 0.5]]), [0], epsilon=1, norm="l0").points
    tensor([[0.5000, 0.0000]])
    """

    steps: int = 20
    loss: str = "margin"
    norms: ClassVar[tuple[Norm, ...]] = PIXEL_NORMS

    def __post_init__(self) -> None:
        check_int("steps", self.steps, minimum=1)
        check_choice("loss", self.loss, ATTACK_LOSSES)

    def _run(self, search: Search) -> None:
        if not search.ball.epsilon:
            return
        rows = search.standing
        points = search.ball.centre[rows]
        mean = torch.zeros_like(points)
        for _ in range(self.steps):
            _, gradient = search.gradient(rows, points, self.loss)
            going = ~search.broken[rows]
            rows, mean, gradient = rows[going], mean[going], gradient[going]
            if not len(rows):
                return
            ball = search.ball.take(rows)
            mean = (mean + gradient) / 2
            # From the sample: a pixel that was painted before has no room left.
            pixels = ball.best_pixels(_gains(ball, ball.centre, mean))
            points = _painted(ball, pixels, _best_colours(ball, ball.centre, mean))
            search.look(rows, points, self.loss)


@dataclass(frozen=True)
class PatchPGD(Attack):
    """Sign steps inside a window, for several places of it.

    Places are taken in the order of what the gradient at the sample promises for their window,
    and every second one at random.

    Parameters
    ----------
    places : int, default=10
        How many windows are tried for each sample.
    steps : int, default=20
        The number of steps inside each; they get shorter.
    loss : {"margin", "cross-entropy", "dlr"}, default="margin"
        What is raised, see :data:`ecoc.robustness.attacks.ATTACK_LOSSES`.

    Examples
    --------
    >>> model = lambda x: torch.stack([x.sum((1, 2)), 8 - x.sum((1, 2))], 1)
    >>> PatchPGD()(model, torch.full((1, 4, 4), 0.3), [0], epsilon=2, norm="patch")
    <AttackResult: 1 of 1 broken>
    """

    places: int = 10
    steps: int = 20
    loss: str = "margin"
    norms: ClassVar[tuple[Norm, ...]] = ("patch",)

    def __post_init__(self) -> None:
        check_int("places", self.places, minimum=1)
        check_int("steps", self.steps, minimum=1)
        check_choice("loss", self.loss, ATTACK_LOSSES)

    def _run(self, search: Search) -> None:
        side = int(search.ball.epsilon)
        if not side:
            return
        rows = search.standing
        ball = search.ball.take(rows)
        _, gradient = search.gradient(rows, ball.centre, self.loss)
        sums = window_sums(_gains(ball, ball.centre, gradient), side)
        # Windows that overlap little: each rules out those within half a side.
        down, across = sums.shape[1:]
        for place in range(self.places):
            best = sums.flatten(1).argmax(1)
            corners = torch.stack([best // across, best % across], dim=1)
            if place % 2:
                corners = random_windows(ball, search.generator)
            near = windows(corners - side // 2, 2 * (side // 2) + 1, (down, across))
            sums = sums.masked_fill(near, -torch.inf)
            going = ~search.broken[rows]
            if not going.any():
                return
            self._climb(search, rows[going], corners[going])

    def _climb(self, search: Search, rows: Tensor, corners: Tensor) -> None:
        points = search.ball.centre[rows]
        for step in range(self.steps):
            _, gradient = search.gradient(rows, points, self.loss)
            going = ~search.broken[rows]
            rows, points, gradient = rows[going], points[going], gradient[going]
            corners = corners[going]
            if not len(rows):
                return
            ball = search.ball.take(rows)
            # The first step goes as far as the box, so that a linear model is done with it.
            length = (ball.upper - ball.lower) * (1.0 if step == 0 else 0.5 / step)
            moved = (points + length * gradient.sign()).clamp(ball.lower, ball.upper)
            inside = windows(corners, int(ball.epsilon), image_shape(points)[1:])
            points = _painted(ball, inside, moved)
        search.look(rows, points, self.loss)


@dataclass(frozen=True)
class PixelSearch(Attack):
    """Random search over pixels or a patch and their colours, after Sparse-RS.

    Pixels start at random places with colours from the corners of the box. Each query moves some
    of them, or a part of the patch, and what raises the loss stays (Croce et al. 2022).

    Parameters
    ----------
    queries : int, default=1000
        The most points that the model is asked about.
    share : float, default=0.3
        The share of the pixels that the first queries move; it shrinks.
    loss : {"margin", "cross-entropy", "dlr"}, default="margin"
        What is raised, see :data:`ecoc.robustness.attacks.ATTACK_LOSSES`.

    Examples
    --------
    >>> model = lambda x: torch.cat([x @ torch.tensor([[1.0], [3.0]]), x[:, :1] * 0 + 1.0], 1)
    >>> PixelSearch()(model, torch.tensor([[0.5, 0.5]]), [0], epsilon=1, norm="l0")
    <AttackResult: 1 of 1 broken>
    """

    queries: int = 1000
    share: float = 0.3
    loss: str = "margin"
    norms: ClassVar[tuple[Norm, ...]] = PIXEL_NORMS

    def __post_init__(self) -> None:
        check_int("queries", self.queries, minimum=1)
        check_choice("loss", self.loss, ATTACK_LOSSES)

    def _run(self, search: Search) -> None:
        if not search.ball.epsilon:
            return
        moved = self._moved_patch if search.ball.norm == "patch" else self._moved_pixels
        rows = search.standing
        ball = search.ball.take(rows)
        if ball.norm == "patch":
            place = random_windows(ball, search.generator)
        else:
            place = ball.best_pixels(self._drawn(ball, search.generator)).flatten(1)
        colours = self._colours(ball, search.generator)
        values = search.look(rows, self._points(ball, place, colours), self.loss)
        for query in range(1, self.queries):
            going = ~search.broken[rows]
            if not going.any():
                return
            if not going.all():
                rows, values, place = rows[going], values[going], place[going]
                colours, ball = colours[going], search.ball.take(rows)
            new_place, new_colours = moved(ball, place, colours, query, search.generator)
            seen = search.look(rows, self._points(ball, new_place, new_colours), self.loss)
            better = seen >= values
            values = torch.where(better, seen, values)
            place = torch.where(better[:, None], new_place, place)
            wide = better.reshape(-1, *[1] * (colours.ndim - 1))
            colours = torch.where(wide, new_colours, colours)

    @staticmethod
    def _points(ball: Ball, place: Tensor, colours: Tensor) -> Tensor:
        _, height, width = image_shape(ball.centre)
        if ball.norm == "patch":
            pixels = windows(place, int(ball.epsilon), (height, width))
        else:
            pixels = place
        return _painted(ball, pixels, colours)

    @staticmethod
    def _drawn(ball: Ball, generator: torch.Generator) -> Tensor:
        _, height, width = image_shape(ball.centre)
        drawn = torch.rand((len(ball), height, width), generator=generator)
        return drawn.double().to(ball.centre.device)

    @staticmethod
    def _colours(ball: Ball, generator: torch.Generator) -> Tensor:
        """A corner of the box for every feature."""
        drawn = torch.randint(2, ball.centre.shape, generator=generator).to(ball.centre.device)
        return torch.where(drawn.bool(), ball.upper, ball.lower)

    def _left(self, query: int) -> float:
        """The share that is still moved: it falls to nearly nothing."""
        return self.share * (1 - query / self.queries) ** 2

    def _moved_pixels(
        self, ball: Ball, place: Tensor, colours: Tensor, query: int, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """Some of the chosen pixels leave, and as many others come with new colours."""
        count = min(int(ball.epsilon), place.shape[1])
        spare = place.shape[1] - count
        leaving = max(1, min(round(self._left(query) * count), spare))
        order = torch.rand(place.shape, generator=generator).to(place.device)
        out = torch.where(place, order, -1.0).topk(leaving, dim=1).indices
        # With every pixel chosen there is none to come: these get other colours.
        coming = torch.where(place, -1.0, order).topk(leaving, dim=1).indices if spare else out
        fresh = torch.zeros_like(place).scatter(1, coming, True)
        new = place.scatter(1, out, False) | fresh
        return new, torch.where(_wide(fresh, ball), self._colours(ball, generator), colours)

    def _moved_patch(
        self, ball: Ball, place: Tensor, colours: Tensor, query: int, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        """The patch moves with its colours, or is another one, or a square of it is."""
        n, image = len(ball), image_shape(ball.centre)
        side = int(ball.epsilon)
        left = self._left(query)
        if query % 5 == 1:
            return random_windows(ball, generator), self._colours(ball, generator)
        if query % 5 == 0:
            reach = max(1, round(left * max(image[1:])))
            step = torch.randint(-reach, reach + 1, (n, 2), generator=generator).to(place)
            most = torch.tensor([length - side for length in image[1:]]).to(place)
            new = torch.minimum((place + step).clamp(min=0), most)
            return new, _rolled(colours.reshape(n, *image), new - place).reshape(colours.shape)
        part = max(1, round((left / self.share) ** 0.5 * side))
        start = [torch.randint(side - part + 1, (n,), generator=generator) for _ in range(2)]
        corner = place + torch.stack(start, dim=1).to(place)
        inside = windows(corner, part, image[1:])
        signs = torch.randint(2, (n, image[0], 1, 1), generator=generator).to(place.device)
        shape = (n, *image)
        upper, lower = ball.upper.reshape(shape), ball.lower.reshape(shape)
        drawn = torch.where(signs.bool(), upper, lower)
        changed = torch.where(inside[:, None], drawn, colours.reshape(shape))
        return place, changed.reshape(colours.shape)


def _wide(pixels: Tensor, ball: Ball) -> Tensor:
    """A flat mask of pixels as one of features."""
    n, image = len(ball), image_shape(ball.centre)
    return pixels.reshape(n, 1, *image[1:]).expand(n, *image).reshape(ball.centre.shape)


def _rolled(images: Tensor, shifts: Tensor) -> Tensor:
    """Every image moved by its own shift, around its edges."""
    _, _, height, width = images.shape
    down = (torch.arange(height, device=images.device) - shifts[:, :1]) % height
    across = (torch.arange(width, device=images.device) - shifts[:, 1:]) % width
    sample = torch.arange(len(images), device=images.device)[:, None, None]
    moved: Tensor = images.permute(0, 2, 3, 1)[sample, down[:, :, None], across[:, None, :]]
    return moved.permute(0, 3, 1, 2)


@dataclass(frozen=True)
class Corruptions(Attack):
    """Try the corruptions of a kind, or all kinds, up to a severity.

    Examples
    --------
    >>> model = lambda x: torch.stack([1 - x.mean((1, 2)), x.mean((1, 2))], 1)
    >>> x = torch.full((1, 4, 4), 0.3)
    >>> Corruptions()(model, x, [0], epsilon=3, norm="brightness").points[0, 0]
    tensor([0.6000, 0.6000, 0.6000, 0.6000])
    """

    norms: ClassVar[tuple[Norm, ...]] = CORRUPTION_NORMS

    def _run(self, search: Search) -> None:
        for severity in SEVERITIES[: int(search.ball.epsilon)]:
            for kind in corruptions_of(search.ball.norm):
                rows = search.standing
                if len(rows):
                    search.look(rows, search.ball.take(rows).corrupted(kind, severity))
