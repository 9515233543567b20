"""Attacks along the gradient: FGSM, PGD, Auto-PGD, and any of them on every class in turn."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields, replace
from typing import ClassVar

import torch
from torch import Tensor

from ecoc._checks import check_choice, check_int, check_number
from ecoc.errors import InvalidInputError
from ecoc.robustness.attacks.base import ATTACK_LOSSES, Attack, Search
from ecoc.robustness.threat import NORMS, Ball, Norm, check_box, unit

__all__ = ["APGD", "FGSM", "PGD", "AnnealedPGD", "EveryTarget"]

_MOMENTUM = 0.75
_SUCCESSES = 0.75
"""A step is kept while this share of steps raises the loss."""

_INERTIA = 0.6
"""The share of the last move that annealed steps go on with."""

_FIRST_SHARE = 0.2
"""The share of features that the first steps of l_1 change."""

_SPARSER = 1.5
"""By how much fewer features change after a checkpoint, and by how much shorter steps get."""

_STILL_SPARSER = 0.95
"""Steps are long again if changes have become sparser by this factor."""

_SHORTEST = 10
"""No step of l_1 is shorter than the radius divided by this."""

_EVERY = 0.04
"""The share of steps between checkpoints of l_1."""


@dataclass(frozen=True)
class FGSM(Attack):
    """One step of full length along the gradient (Goodfellow, Shlens & Szegedy 2015).

    Parameters
    ----------
    loss : {"cross-entropy", "margin", "dlr"}, default="cross-entropy"
        What is raised, see :data:`ecoc.robustness.attacks.ATTACK_LOSSES`.

    Examples
    --------
    >>> import torch
    >>> model = torch.nn.Linear(2, 2, bias=False)
    >>> _ = model.weight.data.copy_(torch.tensor([[1.0, 0.0], [0.0, 1.0]]))
    >>> FGSM()(model, torch.tensor([[0.6, 0.5]]), [0], epsilon=0.1).points
    tensor([[0.5000, 0.6000]])
    """

    loss: str = "cross-entropy"

    def __post_init__(self) -> None:
        check_choice("loss", self.loss, ATTACK_LOSSES)

    def _run(self, search: Search) -> None:
        rows = search.standing
        ball = search.ball.take(rows)
        _, gradient = search.gradient(rows, ball.centre, self.loss)
        search.look(rows, ball.project(ball.centre + ball.epsilon * unit(gradient, ball.norm)))


@dataclass(frozen=True)
class PGD(Attack):
    """Projected gradient descent (Madry et al. 2018).

    Steps go along the sign of the gradient (l_inf) or the gradient itself (l_2), and a
    gradient of exactly zero moves nothing. The worst point on the way counts, not the last.

    Parameters
    ----------
    steps : int, default=100
        The number of steps of a run.
    step_size : float, optional
        The length of a step, as a share of epsilon; 2.5 / steps by default.
    restarts : int, default=1
        The number of runs on samples that still stand.
    loss : {"cross-entropy", "margin", "dlr"}, default="cross-entropy"
        What is raised, see :data:`ecoc.robustness.attacks.ATTACK_LOSSES`.
    random_start : bool, default=True
        Whether the first run begins at a random point, as the others do, or at the sample.

    Examples
    --------
    >>> import torch
    >>> _ = torch.manual_seed(0)
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    >>> x = torch.rand(10, 4)
    >>> y = model(x).argmax(1)
    >>> PGD(steps=20)(model, x, y, epsilon=1.0)
    <AttackResult: 10 of 10 broken>
    """

    steps: int = 100
    step_size: float | None = None
    restarts: int = 1
    loss: str = "cross-entropy"
    random_start: bool = True

    def __post_init__(self) -> None:
        check_int("steps", self.steps, minimum=1)
        check_int("restarts", self.restarts, minimum=1)
        check_choice("loss", self.loss, ATTACK_LOSSES)
        if self.step_size is not None:
            check_number("step_size", self.step_size, minimum=0)

    def _run(self, search: Search) -> None:
        share = 2.5 / self.steps if self.step_size is None else self.step_size
        for rows, points in _starts(search, self.restarts, self.random_start):
            self._climb(search, rows, points, share * search.ball.epsilon)

    def _climb(self, search: Search, rows: Tensor, points: Tensor, step: float) -> None:
        ball = search.ball.take(rows)
        for done in range(self.steps):
            _, gradient = self._gradient(search, rows, points)
            zero = ~gradient.flatten(1).any(dim=1)
            # Without a gradient a point stays where it is: the steps left need no computing.
            left = int((zero & ~search.broken[rows]).sum()) * (self.steps - done - 1)
            search.n_gradients += left
            search.n_zero_gradients += left
            going = ~(search.broken[rows] | zero)
            rows, points, gradient = rows[going], points[going], gradient[going]
            if not len(rows):
                return
            ball = search.ball.take(rows)
            points = ball.project(points + step * unit(gradient, ball.norm))
        search.look(rows, points)

    def _gradient(self, search: Search, rows: Tensor, points: Tensor) -> tuple[Tensor, Tensor]:
        return search.gradient(rows, points, self.loss)


@dataclass(frozen=True)
class AnnealedPGD(Attack):
    """Gradient steps with momentum, half a radius at first and shorter and shorter.

    It never goes back to the best point so far, as :class:`APGD` does. Where the loss has many
    kinks, as that of the fewest columns to turn around has, it leaves the places where that ends.

    Parameters
    ----------
    steps : int, default=25
        The number of steps of a run.
    restarts : int, default=1
        The number of runs on samples that still stand; all but the first start at random points.
    loss : {"cross-entropy", "margin", "dlr"}, default="margin"
        What is raised, see :data:`ecoc.robustness.attacks.ATTACK_LOSSES`.
    random_start : bool, default=True
        Whether the first run starts at a random point instead of at the sample.

    Examples
    --------
    >>> _ = torch.manual_seed(0)
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    >>> x = torch.rand(10, 4)
    >>> y = model(x).argmax(1)
    >>> AnnealedPGD()(model, x, y, epsilon=1.0)
    <AttackResult: 10 of 10 broken>
    """

    steps: int = 25
    restarts: int = 1
    loss: str = "margin"
    random_start: bool = True

    def __post_init__(self) -> None:
        check_int("steps", self.steps, minimum=1)
        check_int("restarts", self.restarts, minimum=1)
        check_choice("loss", self.loss, ATTACK_LOSSES)

    def _run(self, search: Search) -> None:
        for rows, points in _starts(search, self.restarts, random_start=self.random_start):
            self._descend(search, rows, points)

    def _descend(self, search: Search, rows: Tensor, points: Tensor) -> None:
        move = torch.zeros_like(points)
        for step in range(self.steps):
            _, gradient = search.gradient(rows, points, self.loss)
            going = ~search.broken[rows]
            rows, points, gradient, move = (t[going] for t in (rows, points, gradient, move))
            if not len(rows):
                return
            ball = search.ball.take(rows)
            move = _INERTIA * move + unit(gradient, ball.norm)
            # From half of the radius down to nothing, along a cosine.
            length = ball.epsilon * (1 + math.cos(math.pi * step / self.steps)) / 4
            points = ball.project(points + length * move)
        search.look(rows, points)


@dataclass(frozen=True)
class APGD(Attack):
    """Auto-PGD (Croce & Hein 2020): no step size to choose.

    Steps start at two radii and are halved, going back to the best point, where too few
    steps raised the loss since the last checkpoint. For l_1 a step changes only the features
    of the largest gradients that the box lets change, fewer of them as the run goes on
    (Croce & Hein 2021).

    Parameters
    ----------
    steps : int, default=100
        The number of steps of a run.
    restarts : int, default=1
        The number of runs on samples that still stand.
    loss : {"cross-entropy", "margin", "dlr"}, default="margin"
        What is raised, see :data:`ecoc.robustness.attacks.ATTACK_LOSSES`.
    random_start : bool, default=True
        Whether the first run begins at a random point, as the others do, or at the sample.

    Examples
    --------
    >>> _ = torch.manual_seed(0)
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    >>> x = torch.rand(10, 4)
    >>> y = model(x).argmax(1)
    >>> APGD(steps=20)(model, x, y, epsilon=1.0)
    <AttackResult: 10 of 10 broken>
    """

    steps: int = 100
    restarts: int = 1
    loss: str = "margin"
    random_start: bool = True
    norms: ClassVar[tuple[Norm, ...]] = ("linf", "l2", "l1")

    def __post_init__(self) -> None:
        check_int("steps", self.steps, minimum=1)
        check_int("restarts", self.restarts, minimum=1)
        check_choice("loss", self.loss, ATTACK_LOSSES)

    def _run(self, search: Search) -> None:
        climb = self._climb_sparsely if search.ball.norm == "l1" else self._climb
        for rows, points in _starts(search, self.restarts, self.random_start):
            climb(search, rows, points)

    def _climb(self, search: Search, rows: Tensor, points: Tensor) -> None:
        value, gradient = search.gradient(rows, points, self.loss)
        state = _start(rows, points, value, gradient, search.ball.epsilon)
        checkpoints = _checkpoints(self.steps)
        last = 0
        for step in range(1, self.steps + 1):
            state = state.take(~search.broken[state.rows])
            if not len(state.rows):
                return
            ball = search.ball.take(state.rows)
            state.move(ball, _MOMENTUM if step > 1 else 1.0)
            if step == self.steps:
                search.look(state.rows, state.points)
                return
            state.judge(*search.gradient(state.rows, state.points, self.loss))
            if step in checkpoints:
                state.check(step - last)
                last = step

    def _climb_sparsely(self, search: Search, rows: Tensor, points: Tensor) -> None:
        value, gradient = search.gradient(rows, points, self.loss)
        size, epsilon = points[0].numel(), search.ball.epsilon
        state = _start(rows, points, value, gradient, epsilon / 2)
        count = torch.full_like(value, max(_FIRST_SHARE * size, 1.0))
        before = torch.full_like(value, float(size))
        every = max(round(_EVERY * self.steps), 1)
        for step in range(1, self.steps + 1):
            keep = ~search.broken[state.rows]
            state, count, before = state.take(keep), count[keep], before[keep]
            if not len(state.rows):
                return
            ball = search.ball.take(state.rows)
            direction = _steepest(ball, state.points, state.gradient, count)
            state.points = ball.project(state.points + state._each(state.step) * direction)
            if step == self.steps:
                search.look(state.rows, state.points)
                return
            state.judge(*search.gradient(state.rows, state.points, self.loss))
            if step % every == 0:
                changed = (state.best != ball.centre).flatten(1).sum(1).to(count)
                sparser = changed < _STILL_SPARSER * before
                count, before = (changed / _SPARSER).clamp(min=1), changed
                shorter = (state.step / _SPARSER).clamp(min=epsilon / _SHORTEST)
                state.step = torch.where(sparser, epsilon, shorter)
                back = state._each(sparser)
                state.points = torch.where(back, state.best, state.points)
                state.gradient = torch.where(back, state.best_gradient, state.gradient)


def _steepest(ball: Ball, points: Tensor, gradient: Tensor, count: Tensor) -> Tensor:
    """A step of length one in l_1 along the largest gradients of features that can follow."""
    low, high = check_box(ball.box)
    blocked = ((points <= low) & (gradient < 0)) | ((points >= high) & (gradient > 0))
    free = torch.where(blocked, 0.0, gradient).flatten(1)
    ranked = free.abs().sort(dim=1, descending=True).values
    last = count.long().clamp(1, free.shape[1])[:, None] - 1
    chosen = torch.where(free.abs() >= ranked.gather(1, last), free.sign(), 0.0)
    chosen = chosen / chosen.abs().sum(1, keepdim=True).clamp(min=1)
    return chosen.reshape(points.shape)


def _starts(search: Search, restarts: int, random_start: bool) -> Iterator[tuple[Tensor, Tensor]]:
    """The samples that still stand before each run, and the points where it begins."""
    for restart in range(restarts):
        rows = search.standing
        if not len(rows):
            return
        ball = search.ball.take(rows)
        at_sample = restart == 0 and not random_start
        yield rows, ball.centre if at_sample else ball.sample(search.generator)


@dataclass
class _State:
    """A run: a row in each tensor for each sample that still stands."""

    rows: Tensor
    points: Tensor
    before: Tensor
    gradient: Tensor
    value: Tensor
    step: Tensor
    best: Tensor
    best_gradient: Tensor
    best_value: Tensor
    raised: Tensor
    checked_value: Tensor
    halved: Tensor

    def take(self, keep: Tensor) -> _State:
        """The run of some of its samples."""
        if bool(keep.all()):
            return self
        return _State(*(getattr(self, field.name)[keep] for field in fields(self)))

    def move(self, ball: Ball, momentum: float) -> None:
        """Take a step along the gradient, with some of the last move."""
        ahead = ball.project(self.points + self._each(self.step) * unit(self.gradient, ball.norm))
        moved = momentum * (ahead - self.points) + (1 - momentum) * (self.points - self.before)
        self.before, self.points = self.points, ball.project(self.points + moved)

    def judge(self, value: Tensor, gradient: Tensor) -> None:
        """Note the loss at the new point, and whether it is the best."""
        self.raised += value > self.value
        better = value > self.best_value
        self.best = torch.where(self._each(better), self.points, self.best)
        self.best_gradient = torch.where(self._each(better), gradient, self.best_gradient)
        self.best_value = torch.where(better, value, self.best_value)
        self.value, self.gradient = value, gradient

    def check(self, steps: int) -> None:
        """Halve the step and go back to the best point where it has stopped paying."""
        few = self.raised < _SUCCESSES * steps
        stuck = ~self.halved & (self.best_value <= self.checked_value)
        self.halved = few | stuck
        back = self._each(self.halved)
        self.step = torch.where(self.halved, self.step / 2, self.step)
        self.points = torch.where(back, self.best, self.points)
        self.gradient = torch.where(back, self.best_gradient, self.gradient)
        self.value = torch.where(self.halved, self.best_value, self.value)
        self.checked_value = self.best_value
        self.raised = torch.zeros_like(self.raised)

    def _each(self, values: Tensor) -> Tensor:
        return values.reshape(-1, *[1] * (self.points.ndim - 1))


@dataclass(frozen=True)
class EveryTarget(Attack):
    """Run an attack against every other class in turn, the best-scored first.

    An untargeted loss follows the class that is next at each step, and can go back and
    forth between two. Any wrong class is a success.

    Parameters
    ----------
    attack : Attack, default=APGD(steps=20)
        What is run for each class.
    n_targets : int, optional
        The most classes; all others by default.
    last : Attack, optional
        What is run at the end, against the class that came nearest.
    last_scores : callable, optional
        The class scores that it pushes on, from what the body of a
        :class:`ecoc.robustness.View` gives; the same as before by default.

    Examples
    --------
    >>> _ = torch.manual_seed(0)
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    >>> x = torch.rand(10, 4)
    >>> y = model(x).argmax(1)
    >>> EveryTarget()(model, x, y, epsilon=1.0)
    <AttackResult: 10 of 10 broken>
    """

    attack: Attack = field(default_factory=lambda: APGD(steps=20))
    n_targets: int | None = None
    last: Attack | None = None
    last_scores: Callable[[Tensor], Tensor] | None = None
    norms: ClassVar[tuple[Norm, ...]] = NORMS

    def __post_init__(self) -> None:
        if self.n_targets is not None:
            check_int("n_targets", self.n_targets, minimum=1)

    def _run(self, search: Search) -> None:
        if search.targets is not None:
            raise InvalidInputError("EveryTarget chooses its targets itself; leave targets out.")
        for attack in (self.attack, self.last or self.attack):
            attack.check_norm(search.ball.norm)
        with torch.no_grad():
            scores, _ = search.view(search.ball.centre)
        order = scores.scatter(1, search.labels[:, None], -torch.inf).argsort(1, descending=True)
        search.any_class = True
        for place in range(min(self.n_targets or order.shape[1], order.shape[1] - 1)):
            if not len(search.standing):
                break
            search.targets = order[:, place]
            self.attack._run(search)
        if self.last is not None and len(search.standing):
            with torch.no_grad():
                _, decision = search.view(search.worst)
            # What rejects has a score more, which is no class.
            others = decision[:, : scores.shape[1]].scatter(1, search.labels[:, None], -torch.inf)
            search.targets = others.argmax(dim=1)
            if self.last_scores is not None:
                search.view = replace(search.view, surrogate=self.last_scores)
            self.last._run(search)
        search.targets = None


def _start(rows: Tensor, points: Tensor, value: Tensor, gradient: Tensor, epsilon: float) -> _State:
    return _State(
        rows=rows,
        points=points,
        before=points,
        gradient=gradient,
        value=value,
        step=torch.full_like(value, 2 * epsilon, dtype=points.dtype),
        best=points,
        best_gradient=gradient,
        best_value=value,
        raised=torch.zeros_like(rows),
        checked_value=value,
        # As in the paper's condition 2, the first checkpoint cannot find that nothing changed.
        halved=torch.ones_like(rows, dtype=torch.bool),
    )


def _checkpoints(steps: int) -> set[int]:
    """The steps after which progress is judged; the gaps between them shrink."""
    percents = [0, 22]
    while percents[-1] < 100:
        percents.append(percents[-1] + max(percents[-1] - percents[-2] - 3, 6))
    return {math.ceil(percent * steps / 100) for percent in percents[1:]}
