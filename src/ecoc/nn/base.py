"""What the estimators of this room share: data, settings, prediction, files."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

import copy
import hashlib
import json
import os
from abc import abstractmethod
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import torch
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from torch import nn
from torch.utils.data import DataLoader

from ecoc._checks import check_int, check_number, check_seed
from ecoc._typing import Floats
from ecoc.errors import InvalidInputError
from ecoc.multiclass.data import (
    check_rejection,
    check_targets,
    outlier_threshold,
    with_label,
)
from ecoc.nn.networks.architectures import Factory, InputFormat
from ecoc.nn.training.checkpoints import CheckpointFolder, stored_seed
from ecoc.nn.training.strategies import Training
from ecoc.nn.training.trainer import (
    TrainingData,
    TrainingRecord,
    TrainingSettings,
    as_inputs,
    find_range,
    read_loader,
    split_rows,
)

__all__ = ["NetworkEstimator"]

_Estimator = TypeVar("_Estimator", bound="NetworkEstimator")

_CHUNK = 1024
"""Samples that are predicted together."""


class NetworkEstimator(ClassifierMixin, BaseEstimator):
    """Base class of estimators over torch: a subclass says what is trained, and for what."""

    architecture: str | Factory
    epochs: int
    batch_size: int
    learning_rate: float
    optimizer: str
    schedule: str
    weight_decay: float
    augment: Any
    device: str
    mixed_precision: bool
    validation_fraction: float
    patience: int | None
    training: str
    epsilon: float
    attack_steps: int
    input_shape: tuple[int, ...] | None
    input_range: tuple[float, float] | None
    checkpoint: str | os.PathLike[str] | None
    random_state: Any
    verbose: int
    reject_outliers: float | None
    reject_label: Any

    classes_: npt.NDArray[Any]
    outlier_threshold_: float
    inputs_: InputFormat
    records_: tuple[TrainingRecord, ...]

    # -------------------------------------------------------------- training

    def fit(self: _Estimator, X: Any, y: Any = None) -> _Estimator:
        """Train the networks.

        Parameters
        ----------
        X : array of shape (n_samples, channels, height, width) or (n_samples, n_features)
            Images or vectors; images of one channel may lack that dimension. Or a
            ``DataLoader`` of torch with batches of inputs and labels, without `y`: it is read
            once, into memory, so that random changes of inputs belong into `augment`.
        y : array-like of shape (n_samples,)
            The class labels, numbers or text.
        """
        if isinstance(X, DataLoader):
            X, y = read_loader(X, y)  # noqa: N806
        data, settings = self._checked(X, y)
        self._prepare(data, settings.seed)
        folder = None
        if self.checkpoint is not None:
            folder = CheckpointFolder(Path(self.checkpoint), self._fingerprint(data, settings))
            folder.open(settings.seed)
        with torch.enable_grad():  # whatever the caller is in
            records = self._train(Training(data, settings, folder, self.verbose))
        for network in self._networks():
            network.eval().requires_grad_(False)
        self.records_ = records
        if self.reject_outliers is not None:
            held_out = self.outlier_score(data.inputs[data.validation])
            self.outlier_threshold_ = outlier_threshold(held_out, self.reject_outliers)
        return self

    def _checked(self, X: Any, y: Any) -> tuple[TrainingData, TrainingSettings]:
        """Data and settings, with everything checked that is common to all estimators."""
        inputs = as_inputs(X)
        labels = check_targets(inputs, y)
        classes, targets = np.unique(labels, return_inverse=True)
        if len(classes) < 2:
            raise InvalidInputError(
                f"y must have at least 2 classes; it has only one class, {classes[0]!r}."
            )
        fraction = check_number(
            "validation_fraction", self.validation_fraction, minimum=0, maximum=0.9
        )
        if self.patience is not None and fraction == 0:
            raise InvalidInputError(
                "patience needs validation samples; set validation_fraction, such as 0.1."
            )
        if self.reject_outliers is not None:
            check_rejection(classes, self.reject_label, self.reject_outliers)
            if fraction == 0:
                raise InvalidInputError(
                    "reject_outliers needs samples that are not trained on; set "
                    "validation_fraction, such as 0.1."
                )
        low, high = find_range(inputs, self.input_range)
        shape = self._network_shape(inputs.shape[1:])
        seed = self._find_seed()
        settings = self._settings(seed, low, high)
        self.classes_ = classes
        self.inputs_ = InputFormat(inputs.shape[1:], shape, low, high)
        return TrainingData(inputs, targets, *split_rows(targets, fraction, seed)), settings

    @abstractmethod
    def _prepare(self, data: TrainingData, seed: int) -> None:
        """Check what is particular to the estimator, before any work."""

    @abstractmethod
    def _train(self, training: Training) -> tuple[TrainingRecord, ...]:
        """Train and keep the networks."""

    @abstractmethod
    def _networks(self) -> list[nn.Sequential]:
        """The networks, in the order that they have in files."""

    @abstractmethod
    def outlier_score(self, X: Any) -> Floats:
        """How foreign samples are: large for those unlike what was trained on."""

    @abstractmethod
    def _least_losses(self, scores: Floats) -> Floats:
        """The same from the outputs of the columns, or of the network."""

    @abstractmethod
    def _assembled(self, networks: list[nn.Sequential], output: str | None) -> nn.Module:
        """The whole model from its networks or copies of them."""

    def _identity(self) -> dict[str, Any]:
        """What else tells runs apart."""
        return {}

    def _find_seed(self) -> int:
        seed = check_seed(self.random_state)
        if seed is None and self.checkpoint is not None:
            # A run that is taken up again has to have the seed it had.
            seed = stored_seed(Path(self.checkpoint))
        return int(np.random.default_rng().integers(2**31 - 1)) if seed is None else seed

    def _settings(self, seed: int, low: float, high: float) -> TrainingSettings:
        return TrainingSettings(
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            optimizer=self.optimizer,
            schedule=self.schedule,
            weight_decay=self.weight_decay,
            augment=self.augment,
            device=self.device,
            mixed_precision=self.mixed_precision,
            patience=self.patience,
            training=self.training,
            epsilon=self.epsilon,
            attack_steps=self.attack_steps,
            attack_through=getattr(self, "attack_through", "column"),
            low=low,
            high=high,
            seed=seed,
        )

    def _network_shape(self, given: tuple[int, ...]) -> tuple[int, ...]:
        """The shape that networks take an input for."""
        if self.input_shape is None:
            return (1, *given) if len(given) == 2 else given
        shape = tuple(check_int("input_shape", size, minimum=1) for size in self.input_shape)
        if int(np.prod(shape)) != int(np.prod(given)):
            raise InvalidInputError(
                f"input_shape must have as many values as a sample of X: {shape} has "
                f"{int(np.prod(shape))}, and X has {int(np.prod(given))}."
            )
        return shape

    def _fingerprint(self, data: TrainingData, settings: TrainingSettings) -> str:
        described = {
            **asdict(settings),
            "device": None,
            "augment": _name_of(settings.augment),
            "architecture": _name_of(self.architecture),
            "inputs": asdict(self.inputs_),
            "classes": [str(label) for label in self.classes_],
            "estimator": type(self).__name__,
            **self._identity(),
        }
        fingerprint = hashlib.sha256(json.dumps(described, sort_keys=True).encode())
        for array in (data.inputs, data.targets, data.validation):
            fingerprint.update(np.ascontiguousarray(array).data)
        return fingerprint.hexdigest()

    # ------------------------------------------------------------ prediction

    @property
    def input_range_(self) -> tuple[float, float]:
        """The range of the inputs: the box that an attack may not leave."""
        check_is_fitted(self, "records_")
        return self.inputs_.low, self.inputs_.high

    @property
    def n_features_in_(self) -> int:
        """The number of values of an input."""
        check_is_fitted(self, "records_")
        return int(np.prod(self.inputs_.given))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class with the largest score, for each sample; the reject label for outliers."""
        rows = self.decision_function(X).argmax(axis=1)
        labels: npt.NDArray[Any] = self.classes_[rows]
        if not self.rejects:
            return labels
        outlying = self.outlier_score(X) > self.outlier_threshold_
        return with_label(labels, outlying, self.reject_label)

    @property
    def rejects(self) -> bool:
        """Whether the model may leave a sample undecided."""
        return self.reject_outliers is not None

    def rejected(self, scores: Floats, rows: npt.NDArray[np.intp]) -> npt.NDArray[np.bool_]:
        """Which samples are rejected, from the outputs of the columns, or of the network.

        Parameters
        ----------
        scores : array of shape (n_samples, n_outputs)
            The logits.
        rows : array of int of shape (n_samples,)
            The places of the classes that they were decoded to; they make no difference.
        """
        if not self.rejects:
            return np.zeros(len(rows), dtype=bool)
        outlying: npt.NDArray[np.bool_] = self._least_losses(scores) > self.outlier_threshold_
        return outlying

    def decision_function(self, X: Any) -> Floats:
        """A score for each class, of shape (n_samples, n_classes); the largest wins."""
        check_is_fitted(self, "records_")
        return self._evaluate(self._assembled(self._networks(), None), X)

    def _evaluate(self, module: nn.Module, X: Any) -> Floats:
        """The outputs of a module for samples like those that were trained on."""
        inputs = as_inputs(X)
        if inputs.shape[1:] != self.inputs_.given:
            raise InvalidInputError(
                f"X must have samples of shape {self.inputs_.given}, as in training, not "
                f"{inputs.shape[1:]}."
            )
        device = next(self._networks()[0].parameters()).device
        module.to(device)
        with torch.no_grad():
            parts = [
                module(torch.tensor(inputs[start : start + _CHUNK], device=device)).double().cpu()
                for start in range(0, len(inputs), _CHUNK)
            ]
        outputs: Floats = torch.cat(parts).numpy()
        return outputs

    def _copies(self) -> list[nn.Sequential]:
        """Copies of the networks: what is done to them leaves the estimator as it is."""
        check_is_fitted(self, "records_")
        return [copy.deepcopy(network) for network in self._networks()]

    # ----------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a ``.safetensors`` file: weights and a description, no pickle.

        ``ecoc.load`` reads it. Networks from a factory of your own are built by it again then.
        """
        from ecoc.nn.files import write_model

        check_is_fitted(self, "records_")
        write_model(self, path)


def _name_of(thing: Any) -> str | None:
    if thing is None or isinstance(thing, str):
        return thing
    name = getattr(thing, "__qualname__", None) or type(thing).__qualname__
    return f"{getattr(thing, '__module__', '')}.{name}"
