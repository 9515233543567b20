"""``evaluate_robustness``: the accuracy that is left when every sample meets its worst attack."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from ecoc._checks import (
    RandomState,
    check_choice,
    check_int,
    check_number,
    check_random_state,
)
from ecoc.robustness.attacks.base import as_samples
from ecoc.robustness.geometry import Ball, Box, Norm, check_epsilons, check_norm
from ecoc.robustness.protocols import PROTOCOLS, Protocol
from ecoc.robustness.result import RobustnessResult
from ecoc.robustness.runs import Progress, Run
from ecoc.robustness.victims import as_victim

__all__ = ["Progress", "evaluate_robustness"]


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
    batch_size: int = 256,
    time_limit: float | None = None,
    random_state: RandomState = None,
    progress: Callable[[Progress], object] | None = None,
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
        that gets around saturated scores: margin loss and cross-entropy on several forms
        of the scores, every other class as a target, restarts, APGD, and attacks without
        gradients as a check.
    norm : {"linf", "l2"}, default="linf"
        How a change is measured.
    box : pair of float, default=(0.0, 1.0)
        The least and the largest value of a feature; None for no limits.
    steps : int, default=100
        The steps of the paper's attack: 100 for MNIST, 30 for CIFAR-10.
    certified_radii : array of shape (n_samples,), optional
        Radii within which the prediction of each sample is proved not to change.
    batch_size : int, default=256
        How many samples are attacked together.
    time_limit : float, optional
        Seconds after which what has been found is returned; Ctrl-C does the same.
    random_state : int, Generator or None, default=None
        The source of randomness.
    progress : callable, optional
        Called with a :class:`Progress` after every attack.
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
    victim = as_victim(model, inputs)
    samples = as_samples(inputs).to(victim.device, victim.dtype)
    Ball(samples, 0.0, norm, box)  # refuses samples outside the box before any work
    run = Run(
        victim=victim,
        samples=samples,
        labels=victim.places(y, len(samples)),
        norm=norm,
        box=box,
        batch_size=batch_size,
        deadline=time.monotonic() + limit,
        seed=int(check_random_state(random_state).integers(2**31)),
        report=_reporter(progress, verbose),
    )
    with victim.evaluating():
        return run.evaluate(radii, protocol, steps, certified_radii)


def _reporter(
    progress: Callable[[Progress], object] | None, verbose: bool
) -> Callable[[Progress], object]:
    def report(point: Progress) -> None:
        if progress is not None:
            progress(point)
        if verbose:
            sys.stderr.write(f"{point}\n")

    return report
