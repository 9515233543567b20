"""``evaluate_robustness``: the accuracy that is left when every sample meets its worst attack."""

from __future__ import annotations

import math
import sys
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ecoc._checks import (
    RandomState,
    check_choice,
    check_int,
    check_number,
    check_random_state,
    listing,
)
from ecoc.errors import InvalidInputError, UnsupportedError, VerificationError
from ecoc.multiclass.diagnostics import ErrorCorrelation
from ecoc.robustness.attacks import APGD, Attack, Neighbours, Noise
from ecoc.robustness.attacks.base import LimitReachedError, as_samples, batches
from ecoc.robustness.examples import AdversarialExamples
from ecoc.robustness.masking import (
    BEATEN_SHARE,
    Evidence,
    Examination,
    examine,
    masking_signs,
)
from ecoc.robustness.models import AttackedModel, attacked_model
from ecoc.robustness.protocols import (
    PAPER_NORMS,
    PROTOCOLS,
    AttackStage,
    Protocol,
    bumpy_stages,
    escalation_stages,
    paper_stage,
    strong_stages,
)
from ecoc.robustness.result import RobustnessResult
from ecoc.robustness.threat import (
    CORRUPTION_NORMS,
    PIXEL_NORMS,
    Ball,
    Box,
    Norm,
    check_epsilons,
    check_norm,
    largest_radius,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "AttackProgress",
    "AttackedCorrelation",
    "adversarial_error_correlation",
    "evaluate_robustness",
]


# ruff: noqa: N803  # X is what scikit-learn calls it


@dataclass(frozen=True, eq=False)
class AttackedCorrelation:
    """Whether columns are wrong about the same samples, before and after an attack.

    Attributes
    ----------
    natural, attacked : ErrorCorrelation
        The paper's P and the phi coefficient of every pair of columns.
    accuracy, attacked_accuracy : float
        The accuracies of the whole model.
    epsilon : float
        The radius of the attack.
    """

    natural: ErrorCorrelation
    attacked: ErrorCorrelation
    accuracy: float
    attacked_accuracy: float
    epsilon: float

    def plot(self) -> Figure:
        """Draw phi on natural and on attacked inputs side by side."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(9, 4), layout="constrained")
        left, right = figure.subplots(1, 2)
        self.natural.plot(left)
        self.attacked.plot(right)
        left.set_title(f"natural (accuracy {100 * self.accuracy:.1f} %)")
        right.set_title(
            f"attacked at {self.epsilon:g} (accuracy {100 * self.attacked_accuracy:.1f} %)"
        )
        return figure


def adversarial_error_correlation(
    model: Any,
    X: npt.ArrayLike | Tensor,
    y: npt.ArrayLike | Tensor,
    *,
    epsilon: float,
    attack: Attack | None = None,
    head: str = "logits",
    norm: Norm = "linf",
    box: Box = (0.0, 1.0),
    random_state: RandomState = 0,
    batch_size: int = 256,
) -> AttackedCorrelation:
    """Measure how the errors of columns go together on natural and on attacked inputs.

    Parameters
    ----------
    model : object
        A model with a codebook and gradients, see
        :func:`ecoc.robustness.evaluate_robustness`.
    X, y : arrays
        Samples and labels.
    epsilon : float
        The radius.
    attack : Attack, optional
        APGD with margin loss by default.
    head : str, default="logits"
        The form of class scores that it pushes on: ``"logits"``, ``"sharp"``, ``"tempered"``,
        ``"tempered-log"``, ``"log-likelihood"``, ``"log"`` or ``"soft"``.
    norm, box, batch_size
        As for :func:`ecoc.robustness.evaluate_robustness`.
    random_state : int, Generator or None, default=0
        The source of randomness.

    Returns
    -------
    AttackedCorrelation
        Attacked inputs are the worst point of each sample, whether it is misclassified or
        not; an attack ends where the model is, so columns are no worse than needed.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from ecoc.multiclass import ECOCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> X = X / 8
    >>> model = ECOCClassifier(SVC(C=10.0), codebook="one-vs-rest").fit(X, y)
    >>> correlation = adversarial_error_correlation(model, X, y, epsilon=0.05)
    >>> correlation.attacked_accuracy < correlation.accuracy
    True
    """
    inputs = X.detach().cpu().numpy() if isinstance(X, Tensor) else np.asarray(X)
    target = attacked_model(model, inputs)
    if target.matrix is None or head not in target.heads:
        raise InvalidInputError(
            "model must have a codebook and gradients for an attack on its columns, and head "
            f"must be one of its forms of scores ({', '.join(target.heads) or 'it has none'})."
        )
    samples = as_samples(inputs).to(target.device, target.dtype)
    labels = target.places(y, len(samples))
    with target.evaluating():
        result = (attack or APGD(steps=50))(
            target.view(head),
            samples,
            labels,
            epsilon=epsilon,
            norm=norm,
            box=box,
            random_state=random_state,
            batch_size=batch_size,
        )
        natural, accuracy = _seen(target, target.matrix, samples, labels, batch_size)
        attacked, attacked_accuracy = _seen(
            target, target.matrix, result.points, labels, batch_size
        )
    return AttackedCorrelation(natural, attacked, accuracy, attacked_accuracy, epsilon)


@torch.no_grad()
def _seen(
    model: AttackedModel,
    matrix: npt.NDArray[np.int8],
    points: Tensor,
    labels: Tensor,
    batch_size: int,
) -> tuple[ErrorCorrelation, float]:
    scores = torch.cat([model.body(part) for part in batches(points, batch_size)])
    right = model.decision(scores).argmax(dim=1) == labels
    correlation = ErrorCorrelation.from_scores(scores.cpu().numpy(), matrix, labels.cpu().numpy())
    return correlation, float(right.double().mean())


_STILL_FOUND = 0.03
"""Accuracies are withheld if many more queries break more than this share of the samples."""

_POOL = 1000
"""The most samples that others are pulled towards."""


@dataclass(frozen=True)
class AttackProgress:
    """How far an evaluation has come.

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


def evaluate_robustness(
    model: Any,
    X: npt.ArrayLike | Tensor,
    y: npt.ArrayLike | Tensor,
    *,
    epsilons: Sequence[float],
    protocol: Protocol = "strong",
    norm: Norm = "linf",
    box: Box = (0.0, 1.0),
    steps: int = 100,
    certified_radii: npt.ArrayLike | None = None,
    keep_examples: bool = False,
    batch_size: int = 256,
    time_limit: float | None = None,
    random_state: RandomState = None,
    progress: Callable[[AttackProgress], object] | None = None,
    verbose: bool = False,
) -> RobustnessResult:
    """Attack every sample in many ways, and count those that stand.

    Parameters
    ----------
    model : object
        A network of :mod:`ecoc.nn`, a fitted :class:`ecoc.multiclass.ECOCClassifier`
        (attacked with gradients where these are known, see
        :func:`ecoc.robustness.torch_columns`), another classifier with the interface of
        scikit-learn (a black box), or a torch module from inputs to logits.
    X : array or tensor of shape (n_samples, ...)
        The samples.
    y : array of shape (n_samples,)
        Their labels; for a torch module the places of their classes among the logits.
    epsilons : sequence of float
        The radii.
    protocol : {"strong", "paper"}, default="strong"
        ``"paper"`` is that of Gupta & Amin (2021): PGD with cross-entropy on the scores of
        equation 20. ``"strong"`` runs the same, and then on the samples that stand a battery
        that gets around saturated scores and columns of uneven sizes: margin loss and
        cross-entropy on several forms of the scores, the classes that are next as targets, and
        attacks without gradients as a check. Gradients that lead nowhere are gone around, and
        where that fails the accuracies are withheld.
    norm : str, default="linf"
        How a change is measured: ``"linf"``, ``"l2"`` or ``"l1"`` by its size, ``"l0"`` by the
        number of pixels, ``"patch"`` by the side of a square that holds all of it, in pixels.
        With ``"corruptions"`` the radius is a severity from 1 to 5, and every kind of
        :data:`ecoc.robustness.corruptions.CORRUPTIONS` is tried up to it; with the name of one,
        this one.
    box : pair of float, default=(0.0, 1.0)
        The least and the largest value of a feature; None for no limits.
    steps : int, default=100
        The steps of the paper's attack: 100 for MNIST, 30 for CIFAR-10.
    certified_radii : array of shape (n_samples,), optional
        Radii within which the prediction of each sample is proved not to change.
    keep_examples : bool, default=False
        Whether ``result.examples`` keeps the points that broke the samples.
    batch_size : int, default=256
        How many samples are attacked together.
    time_limit : float, optional
        Seconds after which what has been found is returned; Ctrl-C does the same.
    random_state : int, Generator or None, default=None
        The source of randomness.
    progress : callable, optional
        Called with a :class:`AttackProgress` after every attack.
    verbose : bool, default=False
        Write the progress to standard error.

    Returns
    -------
    RobustnessResult
        A sample that is broken at a radius counts as broken at every larger one.

    Raises
    ------
    VerificationError
        If an attack broke a sample within its certified radius.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from ecoc.multiclass import ECOCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> X = X / 8
    >>> model = ECOCClassifier(SVC(C=10.0), codebook="one-vs-rest").fit(X[::2], y[::2])
    >>> result = evaluate_robustness(
    ...     model, X[1::2], y[1::2], epsilons=[0.02, 0.5], random_state=0
    ... )
    >>> result.clean > result.attacked[0] > result.attacked[1]
    True
    """
    check_choice("protocol", protocol, PROTOCOLS)
    check_norm(norm)
    check_int("steps", steps, minimum=1)
    check_int("batch_size", batch_size, minimum=1)
    radii = check_epsilons(epsilons)
    limit = math.inf if time_limit is None else check_number("time_limit", time_limit, minimum=0)
    inputs = X.detach().cpu().numpy() if isinstance(X, Tensor) else np.asarray(X)
    attacked = attacked_model(model, inputs)
    samples = as_samples(inputs).to(attacked.device, attacked.dtype)
    # Refuses samples outside the box and radii that this threat does not have before any work.
    Ball(samples, 0.0, norm, box)
    for radius in radii:
        Ball(samples[:1], radius, norm, box)
    evaluation = _Evaluation(
        model=attacked,
        samples=samples,
        labels=attacked.places(y, len(samples)),
        norm=norm,
        box=box,
        batch_size=batch_size,
        deadline=time.monotonic() + limit,
        seed=int(check_random_state(random_state).integers(2**31)),
        report=_reporter(progress, verbose),
    )
    with attacked.evaluating(), torch.random.fork_rng(devices=[]):
        # What a random model draws depends on the seed too.
        torch.manual_seed(evaluation.seed)
        return evaluation.run(radii, protocol, steps, certified_radii, keep_examples)


def _reporter(
    progress: Callable[[AttackProgress], object] | None, verbose: bool
) -> Callable[[AttackProgress], object]:
    def report(point: AttackProgress) -> None:
        if progress is not None:
            progress(point)
        if verbose:
            sys.stderr.write(f"{point}\n")

    return report


class _Evaluation:
    """An evaluation while it runs."""

    def __init__(
        self,
        *,
        model: AttackedModel,
        samples: Tensor,
        labels: Tensor,
        norm: Norm,
        box: Box,
        batch_size: int,
        deadline: float,
        seed: int,
        report: Callable[[AttackProgress], object],
    ) -> None:
        self.model = model
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
        self.wrong_at = self.broken_at.clone()
        self.broken_by: list[str | None] = [None] * n
        self.points = samples.clone()
        self.n_gradients: Counter[str] = Counter()
        self.n_zero: Counter[str] = Counter()
        self.beaten_by: dict[str, set[int]] = {}
        self.seen = Examination(model)

    def run(
        self,
        epsilons: tuple[float, ...],
        protocol: Protocol,
        steps: int,
        certified_radii: npt.ArrayLike | None,
        keep_examples: bool,
    ) -> RobustnessResult:
        """Run a protocol; the arguments have been checked."""
        proved = self._radii(certified_radii)
        if protocol == "strong":
            self.seen = self._examine(epsilons, torch.ones(len(self.samples), dtype=torch.bool))
            if self.seen.model.n_judges > 1:
                self.model = self.seen.model
        scores = self._clean(epsilons[0])
        paper: tuple[float, ...] | None = None
        limits = []
        try:
            if protocol == "paper" and self.norm not in PAPER_NORMS:
                raise UnsupportedError(
                    f"protocol='paper' is for {' and '.join(PAPER_NORMS)}, not for "
                    f"{self.norm!r}; use protocol='strong'."
                )
            if not self.model.is_black_box and self.norm in PAPER_NORMS:
                stage = paper_stage(self.model, steps)
                for epsilon in epsilons:
                    self._run_stage(stage, epsilon, self._not_broken(epsilon))
                paper = self._accuracies(epsilons)
            elif protocol == "paper":
                raise UnsupportedError(
                    "protocol='paper' needs gradients, which are not known for this model "
                    f"({self.model.closed}); use protocol='strong'."
                )
            if protocol == "strong":
                self._run_strong(scores, epsilons)
            else:
                self._only_look(AttackStage("noise", Noise(), None, "noise"), epsilons)
        except (LimitReachedError, KeyboardInterrupt) as error:
            reason = "The time limit" if isinstance(error, LimitReachedError) else "Ctrl-C"
            limits.append(f"{reason} came before the end: attacks left out could break more.")
            paper = paper if protocol == "strong" else self._accuracies(epsilons)
        attacked = self._accuracies(epsilons)
        certified = None if proved is None else self._certified(epsilons, proved)
        # What is none, or no more than is proved, is certain whatever gradients do.
        least = certified or (0.0,) * len(attacked)
        trusted = not self.seen.distrust
        known = [trusted or a <= c for a, c in zip(attacked, least, strict=True)]
        zero = {name: self.n_zero[name] / n for name, n in self.n_gradients.items() if n}
        rejects = self.model.rejection is not None
        return RobustnessResult(
            epsilons=epsilons,
            clean=float((self.broken_at > 0).double().mean()),
            attacked=tuple(a if k else None for a, k in zip(attacked, known, strict=True)),
            paper=paper,
            certified=certified,
            withheld="" if all(known) else self.seen.distrust,
            rejected=self._rejected((0.0, *epsilons)) if rejects else None,
            warnings=(*self._signs(epsilons, attacked, paper, zero), *limits),
            protocol=protocol,
            norm=self.norm,
            broken_at=tuple(
                None if math.isinf(radius) else radius for radius in self.broken_at.tolist()
            ),
            broken_by=tuple(self.broken_by),
            zero_gradients=zero,
            complete=not limits,
            seconds=time.monotonic() - self.began,
            examples=self._examples() if keep_examples else None,
        )

    def _signs(
        self,
        epsilons: tuple[float, ...],
        attacked: tuple[float, ...],
        paper: tuple[float, ...] | None,
        zero: dict[str, float],
    ) -> list[str]:
        """What casts doubt on the accuracies, a sentence or two each."""
        evidence = Evidence(
            n_samples=len(self.samples),
            zero_gradients=zero,
            # Where there are no gradients nothing can beat them.
            beaten_by={} if self.model.is_black_box else _counts(self.beaten_by),
            epsilons=epsilons,
            attacked=attacked,
            paper=paper,
            large=_large(self.norm, self.box, self.samples),
        )
        closed = (
            "Attacked as a black box, without gradients: the accuracies may be far too high. "
            f"{self.model.closed}"
        )
        return [*[closed] * self.model.is_black_box, *self.seen.notes, *masking_signs(evidence)]

    def _run_strong(self, scores: Tensor, epsilons: tuple[float, ...]) -> None:
        """Run the battery, through other gradients or without them where these mislead."""
        given, n_classes = self.model, scores.shape[1]
        self.model = self.seen.model
        stages = strong_stages(self.model, n_classes, self.norm)
        if self.norm in Neighbours.norms:
            # Just before the search by scores alone, which it makes shorter.
            stages.insert(-1, self._neighbours(scores))
        self._run_battery(stages, epsilons)
        self._run_detour(n_classes, epsilons)
        standing = self._not_broken(epsilons[0])
        first_look = self.model is given and given.n_judges == 1
        if first_look and standing.double().mean() > _STILL_FOUND:
            # Most gradients may be honest, and those of what stands the others.
            before, self.seen = self.seen, self._examine(epsilons, standing)
            self.seen = replace(self.seen, notes=(*before.notes, *self.seen.notes))
            self.model = self.seen.model
            if self.model is not given and before.detour is None:
                self._run_battery(strong_stages(self.model, n_classes, self.norm), epsilons)
        if self.seen.distrust:
            self._run_battery(self._without_gradients(), epsilons)
        else:
            self.seen = replace(self.seen, distrust=self._escalated(epsilons))
        if self.model.rejection is not None:
            self._run_past_rejection(stages, epsilons)

    def _run_detour(self, n_classes: int, epsilons: Sequence[float]) -> None:
        """Run the battery once more around what is done before and after the layers."""
        given, detour = self.model, self.seen.detour
        if detour is None:
            return
        before = self.broken_at.clone()
        self._run_battery(bumpy_stages(given, n_classes, self.norm), epsilons)
        self.model = detour
        stages = strong_stages(detour, n_classes, self.norm)
        self._run_battery([*stages, *bumpy_stages(detour, n_classes, self.norm)], epsilons)
        self.model = given
        found = int((self.broken_at < before).sum())
        if found > BEATEN_SHARE * len(self.samples):
            note = (
                "Gradients are masked: around what is done to inputs before the first layer, or to "
                f"outputs after the last one, {found} of {len(self.samples)} samples were broken "
                "at radii at which all other attacks had failed."
            )
            self.seen = replace(self.seen, notes=(*self.seen.notes, note))

    def _examine(self, epsilons: Sequence[float], some: Tensor) -> Examination:
        """Whether gradients can be believed at some samples, those classified correctly."""
        rows = torch.nonzero(some)[:_POOL, 0]
        wrong, rejected = self.model.judge(self.samples[rows], self.labels[rows])
        rows = rows[~(wrong | rejected).cpu()]
        return examine(
            self.model,
            self.samples[rows],
            self.labels[rows],
            epsilon=next((epsilon for epsilon in epsilons if epsilon > 0), 0.0),
            norm=self.norm,
            box=self.box,
            seed=self.seed,
        )

    def _escalated(self, epsilons: Sequence[float]) -> str:
        """Go on without gradients where these were beaten; say if that went on breaking more."""
        if self.model.is_black_box or len(self._beaten_rows()) < max(
            2, BEATEN_SHARE * len(self.samples)
        ):
            return ""
        before = self.broken_at.clone()
        self._run_battery(self._without_gradients(), epsilons)
        found = int((self.broken_at < before).sum())
        if found <= _STILL_FOUND * len(self.samples):
            return ""
        return (
            f"Gradients are masked: attacks without them broke {found} of {len(self.samples)} "
            "samples at radii at which all others had failed."
        )

    def _beaten_rows(self) -> set[int]:
        return set().union(*self.beaten_by.values())

    def _without_gradients(self) -> list[AttackStage]:
        return escalation_stages("sharp" if "sharp" in self.model.heads else "logits", self.norm)

    def _clean(self, least: float) -> Tensor:
        """Mark what is misclassified without attack; return the scores.

        Where the model and its module disagree, rounding alone changes the decision: such a
        sample is correct as it is, and broken at the least radius.
        """
        parts = []
        for rows in batches(torch.arange(len(self.samples)), self.batch_size):
            points, labels = self.samples[rows], self.labels[rows]
            with torch.no_grad():
                parts.append(self.model.decision(self.model.body(points)))
            wrong, rejected = (mask.cpu() for mask in self.model.judge(points, labels))
            undecided = (parts[-1].argmax(dim=1) != labels).cpu() & ~(wrong | rejected)
            if self.model.n_judges == 1:
                self._break(rows[undecided], points[undecided], least, "rounding")
            self._break(rows[wrong], points[wrong], 0.0, "clean")
            self._break(rows[rejected], points[rejected], 0.0, "clean", rejected=True)
        scores = torch.cat(parts)
        if scores.ndim != 2 or not bool((self.labels < scores.shape[1]).all()):
            raise InvalidInputError(
                "The model must give a score for each class and sample, and y must hold places "
                f"among them; scores have shape {tuple(scores.shape)}, and the largest label is "
                f"{int(self.labels.max())}."
            )
        return scores

    def _run_battery(self, stages: Sequence[AttackStage], epsilons: Sequence[float]) -> None:
        """Run all stages from the largest radius down.

        What stands all of them is not attacked again at smaller radii, within which every
        point could have been found already: each sample pays for the whole battery once.
        """
        stood = torch.zeros(len(self.samples), dtype=torch.bool)
        for epsilon in reversed(epsilons):
            for stage in stages:
                self._run_stage(stage, epsilon, self._not_broken(epsilon) & ~stood)
            stood |= self._not_broken(epsilon)

    def _run_past_rejection(self, stages: Sequence[AttackStage], epsilons: Sequence[float]) -> None:
        """Look for wrong answers around samples for which only rejections are known."""
        stood = torch.zeros(len(self.samples), dtype=torch.bool)
        for epsilon in reversed(epsilons):
            for stage in stages:
                waiting = ~self._not_broken(epsilon) & (self.wrong_at > epsilon) & ~stood
                self._run_stage(stage, epsilon, waiting, past_rejection=True)
            stood |= self.wrong_at > epsilon

    def _run_stage(
        self, stage: AttackStage, epsilon: float, attacked: Tensor, *, past_rejection: bool = False
    ) -> None:
        for rows, points in self._attack(stage, epsilon, attacked, past_rejection):
            wrong, rejected = (m.cpu() for m in self.model.judge(points, self.labels[rows]))
            self._break(rows[wrong], points[wrong], epsilon, stage.name)
            if past_rejection:
                continue
            self._break(rows[rejected], points[rejected], epsilon, stage.name, rejected=True)
            if stage.kind in {"black-box", "noise"}:
                self._beat(stage, rows[wrong | rejected])
        seconds = time.monotonic() - self.began
        standing = int(self._not_broken(epsilon).sum())
        self.report(AttackProgress(stage.name, epsilon, standing, len(self.samples), seconds))

    def _only_look(self, stage: AttackStage, epsilons: Sequence[float]) -> None:
        """See what a check would break, without counting it as broken."""
        for epsilon in epsilons:
            for rows, _ in self._attack(stage, epsilon, self._not_broken(epsilon)):
                self._beat(stage, rows)

    def _attack(
        self, stage: AttackStage, epsilon: float, attacked: Tensor, past_rejection: bool = False
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Run a stage on some samples; yield the rows and points that it found."""
        view = self.model.view(stage.head, past_rejection=past_rejection)
        for batch, rows in enumerate(batches(torch.nonzero(attacked)[:, 0], self.batch_size)):
            left = self._time_left()
            outcome = stage.attack(
                view,
                self.samples[rows],
                self.labels[rows],
                epsilon=epsilon,
                norm=stage.norm or self.norm,
                box=self.box,
                random_state=self._seed_of(stage, epsilon, batch),
                batch_size=self.batch_size,
                time_limit=None if math.isinf(left) else left,
            )
            if outcome.n_gradients:
                self.n_gradients[stage.name] += outcome.n_gradients
                self.n_zero[stage.name] += round(outcome.n_gradients * outcome.gradients_zero_share)
            success = outcome.success.cpu()
            if success.any():
                yield rows[success], outcome.points[success]
        # The attack may have been cut short.
        self._time_left()

    def _time_left(self) -> float:
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise LimitReachedError
        return left

    def _seed_of(self, stage: AttackStage, epsilon: float, batch: int) -> int:
        key = zlib.crc32(f"{stage.name} {epsilon!r} {batch}".encode())
        return int(np.random.SeedSequence([self.seed, key]).generate_state(1)[0])

    def _not_broken(self, epsilon: float) -> Tensor:
        return self.broken_at > epsilon

    def _break(
        self, rows: Tensor, points: Tensor, epsilon: float, name: str, *, rejected: bool = False
    ) -> None:
        """Note that samples are wrong or rejected at a radius, the least so far."""
        if not rejected:
            self.wrong_at[rows] = epsilon
        sooner = self.broken_at[rows] > epsilon
        rows, points = rows[sooner], points[sooner.to(points.device)]
        self.broken_at[rows] = epsilon
        self.points[rows] = points
        for row in rows.tolist():
            self.broken_by[row] = name

    def _beat(self, stage: AttackStage, rows: Tensor) -> None:
        self.beaten_by.setdefault(stage.name, set()).update(rows.tolist())

    def _neighbours(self, scores: Tensor) -> AttackStage:
        pool = Neighbours(self.samples[:_POOL], scores[:_POOL].argmax(dim=1))
        searched = self.norm in PIXEL_NORMS
        return AttackStage("neighbours", pool, None, "search" if searched else "black-box")

    def _rejected(self, epsilons: Sequence[float]) -> tuple[float, ...]:
        only = [(self.broken_at <= e) & (self.wrong_at > e) for e in epsilons]
        return tuple(float(rows.double().mean()) for rows in only)

    def _examples(self) -> AdversarialExamples:
        found = self.broken_at.isfinite()
        rows = torch.nonzero(found)[:, 0]
        labels = self.labels[rows].cpu().numpy()
        return AdversarialExamples(
            points=self.points[rows].cpu().numpy(),
            samples=rows.numpy(),
            labels=labels if self.model.classes is None else self.model.classes[labels],
            radii=self.broken_at[rows].numpy(),
            norm=self.norm,
        )

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
        # Of a model that rejects it is proved that it gives no other class.
        refuted = torch.nonzero(correct & (proved >= self.wrong_at))[:, 0]
        if len(refuted):
            raise VerificationError(
                "certified_radii",
                [f"samples {listing(refuted.tolist())} were broken within their certified radius"],
            )
        return tuple(float((correct & (proved >= e)).double().mean()) for e in epsilons)


def _counts(sets: dict[str, set[int]]) -> dict[str, int]:
    return {name: len(members) for name, members in sets.items()}


def _large(norm: Norm, box: Box, samples: Tensor) -> float:
    """The radius from which on nothing should stand."""
    if norm in CORRUPTION_NORMS:
        return math.inf
    # Half of the box is enough to make all samples alike; of pixels it takes all.
    return largest_radius(norm, box, samples) / (1 if norm in PIXEL_NORMS else 2)
