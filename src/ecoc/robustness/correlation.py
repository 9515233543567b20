"""Error correlation of columns on natural and on attacked inputs."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ecoc._checks import RandomState
from ecoc.errors import InvalidInputError
from ecoc.multiclass.diagnostics import ErrorCorrelation
from ecoc.robustness.attacks import APGD, Attack
from ecoc.robustness.attacks.base import as_samples, batches
from ecoc.robustness.models import AttackedModel, attacked_model
from ecoc.robustness.threat import Box, Norm

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["AttackedCorrelation", "adversarial_error_correlation"]


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
    >>> found = adversarial_error_correlation(model, X, y, epsilon=0.05)
    >>> found.attacked_accuracy < found.accuracy
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
