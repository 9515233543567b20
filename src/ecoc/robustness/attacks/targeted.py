"""An attack aimed at every other class in turn."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch

from ecoc._checks import check_int
from ecoc.errors import InvalidInputError
from ecoc.robustness.attacks.apgd import APGD
from ecoc.robustness.attacks.base import Attack
from ecoc.robustness.attacks.search import Search

__all__ = ["EveryTarget"]


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

    def __post_init__(self) -> None:
        if self.n_targets is not None:
            check_int("n_targets", self.n_targets, minimum=1)

    def _run(self, search: Search) -> None:
        if search.targets is not None:
            raise InvalidInputError("EveryTarget chooses its targets itself; leave targets out.")
        with torch.no_grad():
            scores, _ = search.view(search.ball.centre)
        order = scores.scatter(1, search.labels[:, None], -torch.inf).argsort(1, descending=True)
        search.any_class = True
        for place in range(min(self.n_targets or order.shape[1], order.shape[1] - 1)):
            if not len(search.standing):
                break
            search.targets = order[:, place]
            self.attack._run(search)
        search.targets = None
