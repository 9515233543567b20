"""Gradient steps of fixed size: FGSM and projected gradient descent."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor

from ecoc._checks import check_choice, check_int, check_number
from ecoc.robustness.attacks.base import Attack, Search
from ecoc.robustness.attacks.losses import ATTACK_LOSSES
from ecoc.robustness.threat import unit

__all__ = ["FGSM", "PGD"]


@dataclass(frozen=True)
class FGSM(Attack):
    """One step of full length along the gradient (Goodfellow, Shlens & Szegedy 2015).

    Parameters
    ----------
    loss : {"cross-entropy", "margin", "dlr"}, default="cross-entropy"
        What is raised, see :data:`ecoc.robustness.ATTACK_LOSSES`.

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
        What is raised, see :data:`ecoc.robustness.ATTACK_LOSSES`.
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
        for restart in range(self.restarts):
            rows = search.standing
            if not len(rows):
                return
            ball = search.ball.take(rows)
            at_sample = restart == 0 and not self.random_start
            points = ball.centre if at_sample else ball.sample(search.generator)
            self._climb(search, rows, points, share * ball.epsilon)

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
