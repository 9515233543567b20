"""Models as an evaluation sees them: what decides, and all forms of scores to push on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ecoc._checks import listing
from ecoc.errors import InvalidInputError
from ecoc.multiclass import SelfHealing
from ecoc.nn.decoder import CodeDecoder
from ecoc.robustness.torch_models import torch_columns
from ecoc.robustness.views import Head, View

__all__ = ["Victim", "as_victim", "code_heads", "tempered"]

_CPU = torch.device("cpu")


@dataclass(frozen=True, eq=False)
class Victim:
    """A model under evaluation.

    Attributes
    ----------
    body : callable
        From inputs to the logits of columns or classes.
    decision : callable
        From there to the class scores whose largest is the prediction.
    heads : mapping of str to callable
        From there to class scores with gradients, by name; empty for a black box.
    classes : array of shape (n_classes,), optional
        The labels; places among the scores if None.
    dtype : torch.dtype
        What inputs are.
    device : torch.device
        Where they are.
    predict : callable, optional
        The model's own prediction from an array, the last word on every point found.
    module : torch.nn.Module, optional
        What has to be in evaluation mode.
    matrix : array of shape (n_classes, n_columns), optional
        The codebook, if the body gives the scores of its columns.
    """

    body: Head
    decision: Head
    heads: Mapping[str, Head]
    classes: npt.NDArray[Any] | None = None
    dtype: torch.dtype = torch.float32
    device: torch.device = _CPU
    predict: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] | None = None
    module: nn.Module | None = None
    matrix: npt.NDArray[np.int8] | None = None

    @property
    def is_black_box(self) -> bool:
        """Whether there are no gradients."""
        return not self.heads

    def view(self, head: str | None = None) -> View:
        """What an attack sees that pushes on a head, or on what decides."""
        return View(self.body, self.heads[head] if head else self.decision, self.decision)

    def wrong(self, points: Tensor, labels: Tensor) -> Tensor:
        """Which points the model itself misclassifies; labels are places among the scores."""
        if self.predict is None or self.classes is None:
            with torch.no_grad():
                return self.decision(self.body(points)).argmax(dim=1) != labels
        predicted = np.asarray(self.predict(points.cpu().numpy()))
        return torch.from_numpy(predicted != self.classes[labels.cpu().numpy()]).to(labels.device)

    def places(self, y: npt.ArrayLike | Tensor, n: int) -> Tensor:
        """The labels of n samples as places among the scores."""
        labels = y.detach().cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
        if labels.shape != (n,):
            raise InvalidInputError(
                f"y must have a label for each of the {n} samples, not shape {labels.shape}."
            )
        if self.classes is not None:
            unknown = np.setdiff1d(labels, self.classes)
            if len(unknown):
                raise InvalidInputError(
                    "y must hold only classes that the model knows; got "
                    f"{listing(unknown.tolist())}."
                )
            order = np.argsort(self.classes)
            labels = order[np.searchsorted(self.classes, labels, sorter=order)]
        if labels.dtype.kind not in "iu" or labels.min() < 0:
            raise InvalidInputError(
                "y must hold whole numbers from 0 on, the places of classes among the logits."
            )
        return torch.from_numpy(labels.astype(np.int64)).to(self.device)

    @contextmanager
    def evaluating(self) -> Iterator[None]:
        """Evaluation mode for a while: no dropout, no statistics of batches."""
        modes = {part: part.training for part in self.module.modules()} if self.module else {}
        for part in modes:
            part.training = False
        try:
            yield
        finally:
            for part, mode in modes.items():
                part.training = mode


def tempered(decoder: Head, sharpness: float = 1.0) -> Head:
    """A decoder whose logits are first divided by their mean size, sample by sample.

    Then it does not saturate, however certain the columns are.

    Parameters
    ----------
    decoder : callable
        From logits of columns to class scores.
    sharpness : float, default=1.0
        What the divided logits are multiplied by. The larger it is, the more a push turns
        around the columns that are nearly undecided, which is what counts where the decision
        is nearly that of Hamming decoding.

    Examples
    --------
    >>> head = tempered(CodeDecoder([[1, 1], [1, -1], [-1, 1]]))
    >>> head(torch.tensor([[500.0, -100.0]]))
    tensor([[0.6293, 0.7119, 0.2881]])
    """

    def head(logits: Tensor) -> Tensor:
        size = logits.detach().abs().mean(dim=1, keepdim=True)
        return decoder(sharpness * logits / size.clamp(min=torch.finfo(logits.dtype).tiny))

    return head


def code_heads(matrix: npt.NDArray[np.int8], device: torch.device | None = None) -> dict[str, Head]:
    """All forms of class scores that come from the logits of columns.

    ``"scores"`` is equation 20 as the paper prints it: sums, and means for ternary codes.
    """
    ternary = bool((matrix == 0).any())
    heads: dict[str, Head] = {
        output: CodeDecoder(matrix, output, normalise=ternary).to(device)
        for output in ("scores", "log", "logits", "log-likelihood")
    }
    return heads | {
        "tempered": tempered(CodeDecoder(matrix).to(device)),
        "sharp": tempered(CodeDecoder(matrix).to(device), sharpness=10.0),
        "tempered-log": tempered(CodeDecoder(matrix, "log-likelihood").to(device)),
    }


def as_victim(model: Any, samples: npt.NDArray[Any]) -> Victim:
    """Look at a model for evaluation.

    Parameters
    ----------
    model : object
        A network of :mod:`ecoc.nn`, an :class:`ecoc.multiclass.ECOCClassifier`, another
        classifier with the interface of scikit-learn (a black box), or any torch module from
        inputs to logits.
    samples : array
        Some inputs, on which a module made from a classifier is compared with it.
    """
    if isinstance(model, Victim):
        return model
    if hasattr(model, "as_module"):
        return _network(model)
    if isinstance(model, nn.Module):
        dtype, device = _placed(model)
        return Victim(model, _same, {"logits": _same}, None, dtype, device, module=model)
    if hasattr(model, "estimators_") and hasattr(model, "codebook_"):
        return _classifier(model, samples)
    if hasattr(model, "predict") and hasattr(model, "classes_"):
        return _black_box(model)
    raise InvalidInputError(
        "model must be a fitted classifier or a torch module from inputs to logits, not "
        f"{type(model).__name__}."
    )


def _network(model: Any) -> Victim:
    if not (hasattr(model, "column_module") and hasattr(model, "codebook_")):
        module = model.as_module(output="logits")
        dtype, device = _placed(module)
        same = {"logits": _same}
        return Victim(module, _same, same, model.classes_, dtype, device, model.predict, module)
    columns = model.column_module()
    dtype, device = _placed(columns)
    matrix = model.codebook_.matrix
    return Victim(
        body=columns,
        decision=CodeDecoder(matrix, model.decoding_).to(device),
        heads=code_heads(matrix, device),
        classes=model.classes_,
        dtype=dtype,
        device=device,
        predict=model.predict,
        module=columns,
        matrix=matrix,
    )


def _classifier(model: Any, samples: npt.NDArray[Any]) -> Victim:
    if isinstance(model.decoder_, SelfHealing):
        raise InvalidInputError(
            "Self-healing decoding decides about samples together, so that no single sample can "
            "be attacked. Use another decoding."
        )
    matrix = model.codebook_.matrix
    scores = _in_numpy(model.column_scores)
    body, heads = scores, {}
    try:
        module = torch_columns(model.estimators_)
    except InvalidInputError:
        module = None
    if module is not None:
        probes = torch.from_numpy(np.asarray(samples[:32], dtype=np.float64))
        with torch.no_grad():
            same = torch.allclose(module(probes), scores(probes), rtol=1e-6, atol=1e-8)
        if same:
            body, heads = module, code_heads(matrix)
    return Victim(
        body=body,
        decision=_in_numpy(lambda logits: model.decoder_(logits, matrix)),
        heads=heads,
        classes=model.classes_,
        dtype=torch.float64,
        predict=model.predict,
        module=module,
        matrix=matrix,
    )


def _black_box(model: Any) -> Victim:
    def body(samples: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
        for method in ("decision_function", "predict_proba"):
            if hasattr(model, method):
                scores = np.asarray(getattr(model, method)(samples), dtype=np.float64)
                break
        else:
            scores = (model.predict(samples)[:, None] == model.classes_).astype(np.float64)
        return np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores

    return Victim(
        _in_numpy(body), _same, {}, np.asarray(model.classes_), torch.float64, predict=model.predict
    )


def _in_numpy(function: Callable[[npt.NDArray[Any]], npt.ArrayLike]) -> Head:
    """A function of arrays as one of tensors, without gradients."""

    def head(values: Tensor) -> Tensor:
        found = np.asarray(function(values.detach().cpu().numpy()), dtype=np.float64)
        return torch.from_numpy(found).to(values.device)

    return head


def _same(values: Tensor) -> Tensor:
    return values


def _placed(module: nn.Module) -> tuple[torch.dtype, torch.device]:
    """The dtype and device of a module's parameters."""
    for tensor in (*module.parameters(), *module.buffers()):
        if tensor.is_floating_point():
            return tensor.dtype, tensor.device
    return torch.float32, _CPU
