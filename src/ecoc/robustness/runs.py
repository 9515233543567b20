"""A run of an evaluation: attack after attack, on the samples that still stand."""

from __future__ import annotations

import math
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ecoc._checks import listing
from ecoc.errors import InvalidInputError, VerificationError
from ecoc.robustness.attacks import Neighbours, Noise
from ecoc.robustness.attacks.base import batches
from ecoc.robustness.geometry import Box, Norm, check_box
from ecoc.robustness.masking import Evidence, masking_signs
from ecoc.robustness.protocols import Protocol, Stage, paper_stage, strong_stages
from ecoc.robustness.result import RobustnessResult
from ecoc.robustness.victims import Victim

__all__ = ["Progress", "Run"]

_POOL = 1000
"""The most samples that others are pulled towards."""


@dataclass(frozen=True)
class Progress:
    """Where an evaluation is.

    Attributes
    ----------
    stage : str
        The attack that has just been run.
    epsilon : float
        Its radius.
    n_standing : int
        How many samples stand at this radius.
    n_samples : int
        How many there are.
    seconds : float
        How long it has taken so far.
    """

    stage: str
    epsilon: float
    n_standing: int
    n_samples: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"epsilon {self.epsilon:g}, {self.stage}: {self.n_standing} of {self.n_samples} "
            f"stand ({self.seconds:.0f} s)"
        )


class _LimitReachedError(Exception):
    """The time is over."""


class Run:
    """An evaluation while it runs."""

    def __init__(
        self,
        *,
        victim: Victim,
        samples: Tensor,
        labels: Tensor,
        norm: Norm,
        box: Box,
        batch_size: int,
        deadline: float,
        seed: int,
        report: Callable[[Progress], object],
    ) -> None:
        self.victim = victim
        self.samples = samples
        self.labels = labels
        self.norm = norm
        self.box = box
        self.batch_size = batch_size
        self.deadline = deadline
        self.seed = seed
        self.report = report
        self.began = time.monotonic()
        n = len(samples)
        self.broken_at = torch.full((n,), torch.inf, dtype=torch.float64)
        self.broken_by: list[str | None] = [None] * n
        self.n_gradients: Counter[str] = Counter()
        self.n_zero: Counter[str] = Counter()
        self.beaten_by: dict[str, set[int]] = {}

    def evaluate(
        self,
        epsilons: tuple[float, ...],
        protocol: Protocol,
        steps: int,
        certified_radii: npt.ArrayLike | None,
    ) -> RobustnessResult:
        """Run a protocol; the arguments have been checked."""
        proved = self._radii(certified_radii)
        scores = self._clean(epsilons[0])
        paper: tuple[float, ...] | None = None
        complete, limits = True, []
        try:
            if not self.victim.is_black_box:
                stage = paper_stage(self.victim, steps)
                for epsilon in epsilons:
                    self._run(stage, epsilon, self._not_broken(epsilon))
                paper = self._accuracies(epsilons)
            elif protocol == "paper":
                raise InvalidInputError(
                    "protocol='paper' needs gradients, which are not known for this model; "
                    "use protocol='strong'."
                )
            if protocol == "strong":
                stages = strong_stages(self.victim, scores.shape[1])
                # Just before the search by scores alone, which it makes shorter.
                stages.insert(-1, self._neighbours(scores))
                self._run_battery(stages, epsilons)
            else:
                self._only_look(Stage("noise", Noise(), None, "noise"), epsilons)
        except (_LimitReachedError, KeyboardInterrupt) as error:
            complete = False
            reason = "The time limit" if isinstance(error, _LimitReachedError) else "Ctrl-C"
            limits.append(f"{reason} came before the end: attacks left out could break more.")
            paper = paper if protocol == "strong" else self._accuracies(epsilons)
        attacked = self._accuracies(epsilons)
        zero = {name: self.n_zero[name] / n for name, n in self.n_gradients.items() if n}
        # Where there are no gradients nothing can beat them.
        beaten = {} if self.victim.is_black_box else _counts(self.beaten_by)
        evidence = Evidence(
            n_samples=len(self.samples),
            zero_gradients=zero,
            beaten_by=beaten,
            epsilons=epsilons,
            attacked=attacked,
            paper=paper,
            large=_half_of_the_box(self.box, self.norm, self.samples[0].numel()),
        )
        return RobustnessResult(
            epsilons=epsilons,
            clean=float((self.broken_at > 0).double().mean()),
            attacked=attacked,
            paper=paper,
            certified=None if proved is None else self._certified(epsilons, proved),
            warnings=(*masking_signs(evidence), *limits),
            protocol=protocol,
            norm=self.norm,
            broken_at=tuple(
                None if math.isinf(radius) else radius for radius in self.broken_at.tolist()
            ),
            broken_by=tuple(self.broken_by),
            zero_gradients=zero,
            complete=complete,
            seconds=time.monotonic() - self.began,
        )

    def _clean(self, least: float) -> Tensor:
        """Mark what is misclassified without attack; return the scores.

        Where the model and its module disagree, rounding alone changes the decision: such a
        sample is correct as it is, and broken at the least radius.
        """
        parts = []
        for rows in batches(torch.arange(len(self.samples)), self.batch_size):
            points, labels = self.samples[rows], self.labels[rows]
            with torch.no_grad():
                parts.append(self.victim.decision(self.victim.body(points)))
            wrong = self.victim.wrong(points, labels).cpu()
            undecided = (parts[-1].argmax(dim=1) != labels).cpu() & ~wrong
            self._break(rows[undecided], least, "rounding")
            self._break(rows[wrong], 0.0, "clean")
        scores = torch.cat(parts)
        if scores.ndim != 2 or not bool((self.labels < scores.shape[1]).all()):
            raise InvalidInputError(
                "The model must give a score for each class and sample, and y must hold places "
                f"among them; scores have shape {tuple(scores.shape)}, and the largest label is "
                f"{int(self.labels.max())}."
            )
        return scores

    def _run_battery(self, stages: Sequence[Stage], epsilons: Sequence[float]) -> None:
        """Run all stages from the largest radius down.

        What stands all of them is not attacked again at smaller radii, within which every
        point could have been found already: each sample pays for the whole battery once.
        """
        stood = torch.zeros(len(self.samples), dtype=torch.bool)
        for epsilon in reversed(epsilons):
            for stage in stages:
                self._run(stage, epsilon, self._not_broken(epsilon) & ~stood)
            stood |= self._not_broken(epsilon)

    def _run(self, stage: Stage, epsilon: float, attacked: Tensor) -> None:
        for rows, points in self._attack(stage, epsilon, attacked):
            wrong = self.victim.wrong(points, self.labels[rows]).cpu()
            self._break(rows[wrong], epsilon, stage.name)
            if stage.kind != "gradient":
                self._beat(stage, rows[wrong])
        seconds = time.monotonic() - self.began
        standing = int(self._not_broken(epsilon).sum())
        self.report(Progress(stage.name, epsilon, standing, len(self.samples), seconds))

    def _only_look(self, stage: Stage, epsilons: Sequence[float]) -> None:
        """See what a check would break, without counting it as broken."""
        for epsilon in epsilons:
            for rows, _ in self._attack(stage, epsilon, self._not_broken(epsilon)):
                self._beat(stage, rows)

    def _attack(
        self, stage: Stage, epsilon: float, attacked: Tensor
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Run a stage on some samples; yield the rows and points that it found."""
        view = self.victim.view(stage.head)
        for batch, rows in enumerate(batches(torch.nonzero(attacked)[:, 0], self.batch_size)):
            if time.monotonic() > self.deadline:
                raise _LimitReachedError
            found = stage.attack(
                view,
                self.samples[rows],
                self.labels[rows],
                epsilon=epsilon,
                norm=self.norm,
                box=self.box,
                generator=self._seed_of(stage, epsilon, batch),
                batch_size=self.batch_size,
            )
            if found.n_gradients:
                self.n_gradients[stage.name] += found.n_gradients
                self.n_zero[stage.name] += round(found.n_gradients * found.gradients_zero_share)
            success = found.success.cpu()
            if success.any():
                yield rows[success], found.points[success]

    def _seed_of(self, stage: Stage, epsilon: float, batch: int) -> int:
        key = zlib.crc32(f"{stage.name} {epsilon!r} {batch}".encode())
        return int(np.random.SeedSequence([self.seed, key]).generate_state(1)[0])

    def _not_broken(self, epsilon: float) -> Tensor:
        return self.broken_at > epsilon

    def _break(self, rows: Tensor, epsilon: float, name: str) -> None:
        self.broken_at[rows] = epsilon
        for row in rows.tolist():
            self.broken_by[row] = name

    def _beat(self, stage: Stage, rows: Tensor) -> None:
        self.beaten_by.setdefault(stage.name, set()).update(rows.tolist())

    def _neighbours(self, scores: Tensor) -> Stage:
        pool = Neighbours(self.samples[:_POOL], scores[:_POOL].argmax(dim=1))
        return Stage("neighbours", pool, None, "black-box")

    def _accuracies(self, epsilons: Sequence[float]) -> tuple[float, ...]:
        return tuple(float(self._not_broken(e).double().mean()) for e in epsilons)

    def _radii(self, radii: npt.ArrayLike | None) -> Tensor | None:
        if radii is None:
            return None
        proved = torch.from_numpy(np.array(radii, dtype=np.float64))
        if proved.shape != self.broken_at.shape:
            raise InvalidInputError(
                f"certified_radii must have a radius for each of the {len(self.samples)} samples, "
                f"not shape {tuple(proved.shape)}."
            )
        return proved

    def _certified(self, epsilons: Sequence[float], proved: Tensor) -> tuple[float, ...]:
        correct = self.broken_at > 0
        refuted = torch.nonzero(correct & (proved >= self.broken_at))[:, 0]
        if len(refuted):
            raise VerificationError(
                "certified_radii",
                [f"samples {listing(refuted.tolist())} were broken within their certified radius"],
            )
        return tuple(float((correct & (proved >= e)).double().mean()) for e in epsilons)


def _counts(sets: dict[str, set[int]]) -> dict[str, int]:
    return {name: len(members) for name, members in sets.items()}


def _half_of_the_box(box: Box, norm: Norm, n_features: int) -> float:
    low, high = check_box(box)
    return (high - low) / 2 * (1 if norm == "linf" else math.sqrt(n_features))
