"""``NetworkClassifier``: an ordinary network with an output for each class."""

from __future__ import annotations

import os
from typing import Any

from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted
from torch import nn

from ecoc._checks import check_choice
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError
from ecoc.nn.base import NetworkEstimator
from ecoc.nn.networks.architectures import Factory
from ecoc.nn.networks.intervals import supports_intervals
from ecoc.nn.training.objectives import ClassObjective
from ecoc.nn.training.strategies import NetworkSpec, Training, network_seed
from ecoc.nn.training.trainer import Augmentation, TrainingData, TrainingRecord

__all__ = ["NetworkClassifier"]

_OUTPUTS = ("probabilities", "log-probabilities", "logits")


class NetworkClassifier(NetworkEstimator):
    """A network with k outputs, trained with cross-entropy: what codes are compared with.

    Parameters
    ----------
    architecture : str or callable, default="small-cnn"
        As for :class:`ECOCNetworkClassifier`, like everything else here.
    epochs, batch_size, learning_rate, optimizer, schedule, weight_decay
        The optimisation.
    augment, device, mixed_precision, validation_fraction, patience
        What else happens in training.
    training, epsilon, attack_steps
        Adversarial or interval-bound training.
    input_shape, input_range, checkpoint, random_state, verbose
        The rest.
    reject_outliers, reject_label
        Which samples are rejected.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels, sorted.
    network_ : nn.Sequential
        The network.
    records_ : tuple of TrainingRecord
        How training went.
    input_range_ : tuple of float
        The range of the inputs.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = NetworkClassifier("mlp", epochs=3, batch_size=32, random_state=0)
    >>> model.fit(X[:1000], y[:1000]).score(X[1000:], y[1000:]) > 0.8
    True
    """

    network_: nn.Sequential

    def __init__(  # noqa: PLR0917  # scikit-learn's estimators take theirs by position too
        self,
        architecture: str | Factory = "small-cnn",
        epochs: int = 10,
        batch_size: int = 128,
        learning_rate: float = 5e-3,
        optimizer: str = "adamw",
        schedule: str = "one-cycle",
        weight_decay: float = 1e-4,
        augment: Augmentation | None = None,
        device: str = "auto",
        mixed_precision: bool = False,
        validation_fraction: float = 0.0,
        patience: int | None = None,
        training: str = "standard",
        epsilon: float = 0.1,
        attack_steps: int = 7,
        input_shape: tuple[int, ...] | None = None,
        input_range: tuple[float, float] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        random_state: Any = None,
        verbose: int = 0,
        reject_outliers: float | None = None,
        reject_label: Any = None,
    ) -> None:
        self.architecture = architecture
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.optimizer = optimizer
        self.schedule = schedule
        self.weight_decay = weight_decay
        self.augment = augment
        self.device = device
        self.mixed_precision = mixed_precision
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.training = training
        self.epsilon = epsilon
        self.attack_steps = attack_steps
        self.input_shape = input_shape
        self.input_range = input_range
        self.checkpoint = checkpoint
        self.random_state = random_state
        self.verbose = verbose
        self.reject_outliers = reject_outliers
        self.reject_label = reject_label

    def _spec(self) -> NetworkSpec:
        return NetworkSpec(self.architecture, self.inputs_, len(self.classes_), column=False)

    def _prepare(self, data: TrainingData, seed: int) -> None:
        del data
        self.network_ = self._spec().build(network_seed(seed, 0))
        check_intervals(self.training, self.network_)

    def _train(self, training: Training) -> tuple[TrainingRecord, ...]:
        return training.one("network", self.network_, ClassObjective())

    def _networks(self) -> list[nn.Sequential]:
        return [self.network_]

    def _rebuild(self) -> None:
        """Networks without weights, to be filled from a file."""
        self.network_ = self._spec().build(0)

    def as_module(self, output: str | None = None) -> nn.Module:
        """The model as a torch module, a copy in evaluation mode.

        Parameters
        ----------
        output : {"probabilities", "log-probabilities", "logits"}, default="logits"
            Probabilities by softmax, their logarithms, or the outputs of the network.
        """
        return self._assembled(self._copies(), output)

    def _assembled(self, networks: list[nn.Sequential], output: str | None) -> nn.Module:
        form = check_choice("output", "logits" if output is None else output, _OUTPUTS)
        layers: list[nn.Module] = list(networks)
        if form == "probabilities":
            layers.append(nn.Softmax(dim=1))
        if form == "log-probabilities":
            layers.append(nn.LogSoftmax(dim=1))
        return nn.Sequential(*layers)

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Probabilities of the classes, by softmax."""
        check_is_fitted(self, "records_")
        return self._evaluate(self._assembled(self._networks(), "probabilities"), X)

    def outlier_score(self, X: Any) -> Floats:  # noqa: N803
        """How unsure the network is of its class: minus the logarithm of its probability."""
        check_is_fitted(self, "records_")
        module = self._assembled(self._networks(), "log-probabilities")
        largest: Floats = self._evaluate(module, X).max(axis=1)
        return -largest

    def _least_losses(self, scores: Floats) -> Floats:
        losses: Floats = logsumexp(scores, axis=1) - scores.max(axis=1)
        return losses


def check_intervals(training: str, network: nn.Module) -> None:
    """Refuse interval-bound training of networks that intervals cannot pass."""
    normalised = any(isinstance(layer, nn.BatchNorm2d) for layer in network.modules())
    if training == "ibp" and (normalised or not supports_intervals(network)):
        raise InvalidInputError(
            "training='ibp' needs a network of layers that ecoc.nn.networks.interval_bounds knows, "
            "such as 'mlp', 'small-cnn' or 'paper-mnist-cnn'."
        )
