"""What a model is, decided once: what attacks push on, and what certificates bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ecoc._checks import listing
from ecoc._typing import Floats
from ecoc.codes import Codebook
from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.multiclass.data import open_pipeline, transformed
from ecoc.multiclass.decoders import (
    Decoder,
    LossBased,
    SelfHealing,
    Soft,
    make_decoder,
)
from ecoc.nn.decoder import CodeDecoder
from ecoc.nn.networks.architectures import ColumnEnsemble
from ecoc.nn.networks.stacked import StackedNetworks, can_stack
from ecoc.robustness.columns import AffineMap, torch_columns

__all__ = [
    "AttackedModel",
    "ModelAdapter",
    "View",
    "adapt",
    "as_view",
    "attacked_model",
    "code_heads",
    "column_sizes",
    "fewest_columns",
    "tempered",
]

Head: TypeAlias = Callable[[Tensor], Tensor]
Deciding: TypeAlias = Literal["logits", "signs", "probabilities"]
Scores: TypeAlias = Callable[[npt.NDArray[Any]], Floats]

_CPU = torch.device("cpu")

_CHUNK = 1024
"""Samples that a network is asked about at once."""

_LARGEST = LossBased("linear")
"""Decides by the largest score where every class has its own."""

_USUAL = 256
"""Samples from which the usual size of a column's logits is taken, and mixtures of them."""

_VOTES = 0.9
"""Signs decide if they give the same class for this share of logits."""

_PROBES = 32
"""Samples on which formulas are compared with the model that they are for."""

_ROUNDING = 1e-4
"""Scores that differ by less than this share of the largest of their column are the same."""

_TOGETHER = 50_000_000
"""Samples times weights up to which it takes longer to begin with a network than to ask it."""


# ------------------------------------------------------------------ what a model is


@dataclass(frozen=True, eq=False)
class ModelAdapter:
    """A model, taken apart as far as it is known.

    Pipelines of transformers that multiply and shift are looked through: `networks` take the
    pipeline's own inputs, and `before` says what is done to them before the `estimators` see
    them. Behind other transformers there are scores and no formulas.

    Attributes
    ----------
    classes : array of shape (n_classes,), optional
        The labels; places among the outputs if None.
    column_scores : callable
        From inputs to the scores of the columns, or of the classes if there is no codebook.
    codebook : Codebook, optional
        The codebook, if there is one.
    decoder : Decoder
        What decides from them; without a codebook by the largest score.
    predict : callable, optional
        The model's own prediction from an array of inputs.
    estimators : sequence
        The learners of the columns, if scikit-learn trained them.
    before : AffineMap, optional
        What a pipeline does to the inputs before.
    module : nn.Module, optional
        The outputs of networks, from inputs in their own precision.
    decision : callable, optional
        From there to the scores of classes.
    networks : sequence of nn.Module
        The same networks side by side, as bounds take them.
    input_shape : tuple of int, optional
        The shape of one sample, if it is known.
    rejected : callable, optional
        From the scores and the rows that they are decoded to, which samples the model leaves
        undecided; None for a model that always answers.
    closed : str
        Why neither gradients nor bounds are known, a sentence; empty if they may be.
    """

    classes: npt.NDArray[Any] | None
    column_scores: Scores
    codebook: Codebook | None = None
    decoder: Decoder = _LARGEST
    predict: Callable[[npt.NDArray[Any]], npt.NDArray[Any]] | None = None
    estimators: Sequence[Any] = ()
    before: AffineMap | None = None
    module: nn.Module | None = None
    decision: Head | None = None
    networks: Sequence[nn.Module] = ()
    input_shape: tuple[int, ...] | None = None
    rejected: Callable[[Floats, npt.NDArray[np.intp]], npt.NDArray[np.bool_]] | None = None
    closed: str = ""

    @property
    def matrix(self) -> npt.NDArray[np.int8] | None:
        """The matrix of the codebook."""
        return None if self.codebook is None else self.codebook.matrix


def adapt(model: Any) -> ModelAdapter:
    """Find out what a model is.

    Parameters
    ----------
    model : object
        An :class:`ecoc.multiclass.ECOCClassifier`, an estimator of :mod:`ecoc.nn`, another
        classifier with the interface of scikit-learn, a pipeline that ends in one of them, or
        a torch module from inputs to logits of classes. One that ends in a
        :class:`ecoc.nn.CodeDecoder`, as ``nn.Sequential(net, CodeDecoder(codebook))`` does, is
        a network of columns and what decides from them.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from ecoc.multiclass import ECOCClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> columns = ECOCClassifier(RidgeClassifier(), codebook="one-vs-one")
    >>> adapter = adapt(make_pipeline(StandardScaler(), columns).fit(X, y))
    >>> len(adapter.estimators), adapter.before.matrix.shape, adapter.closed
    (3, (4, 4), '')
    """
    transformers, last = open_pipeline(model)
    if hasattr(last, "column_module") and hasattr(last, "codebook_"):
        adapter = _code_network(last)
    elif hasattr(last, "as_module") and hasattr(last, "classes_"):
        adapter = _ordinary(last.as_module(output="logits"), last)
    elif isinstance(last, nn.Module):
        adapter = _coded_module(last) or _ordinary(last)
    elif hasattr(last, "estimators_") and hasattr(last, "codebook_"):
        adapter = _code_classifier(last)
    elif hasattr(last, "predict") and hasattr(last, "classes_"):
        return _other_classifier(model)
    else:
        raise InvalidInputError(
            "model must be a fitted classifier, a pipeline that ends in one, or a torch module "
            f"from inputs to logits, not {type(last).__name__}."
        )
    return _behind(transformers, model, adapter) if transformers else adapter


def _behind(transformers: Sequence[Any], pipeline: Any, last: ModelAdapter) -> ModelAdapter:
    """The model at the end of a pipeline in terms of the pipeline's own inputs."""

    def scores(points: npt.NDArray[Any]) -> Floats:
        return last.column_scores(transformed(transformers, points))

    same = replace(last, predict=pipeline.predict, column_scores=scores, input_shape=None)
    try:
        before = AffineMap.of(transformers)
    except UnsupportedError as error:
        return replace(same, estimators=(), module=None, networks=(), closed=str(error))
    if before is None or last.module is None:
        return replace(same, before=before)
    dtype, device = _placed(last.module)
    first = before.layer().to(device)
    return replace(
        same,
        before=before,
        # Features are transformed in float64, as by the pipeline.
        module=nn.Sequential(first, _Rounding(dtype), last.module).eval(),
        networks=[nn.Sequential(before.layer(), network) for network in last.networks],
        input_shape=before.matrix.shape[1:],
    )


class _Rounding(nn.Module):
    """Values in the precision of what comes next."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def forward(self, values: Tensor) -> Tensor:
        return values.to(self.dtype)


def _code_network(model: Any) -> ModelAdapter:
    columns = model.column_module()
    return ModelAdapter(
        classes=model.classes_,
        column_scores=_asked(columns),
        codebook=model.codebook_,
        decoder=model.decoder_,
        predict=model.predict,
        module=columns,
        decision=CodeDecoder(model.codebook_, model.decoding_).to(_placed(columns)[1]),
        networks=list(columns.networks) if isinstance(columns, ColumnEnsemble) else [columns],
        input_shape=_given_shape(model),
        rejected=_rejected(model),
    )


def _rejected(model: Any) -> Any:
    """What tells the samples that a model leaves undecided; None if it always answers."""
    return model.rejected if getattr(model, "rejects", False) else None


def _ordinary(module: nn.Module, model: Any = None) -> ModelAdapter:
    return ModelAdapter(
        classes=None if model is None else model.classes_,
        column_scores=_asked(module),
        predict=None if model is None else model.predict,
        module=module,
        decision=_same,
        networks=[module],
        input_shape=_given_shape(model),
        rejected=_rejected(model),
    )


def _coded_module(module: nn.Module) -> ModelAdapter | None:
    """A module that ends in a decoder, as columns and decoder; None for others.

    None too where no decoder of :mod:`ecoc.multiclass` decides alike.
    """
    columns, decoder = _before_decoder(module)
    if columns is None or decoder is None:
        return None
    matrix = decoder.code.cpu().numpy().astype(np.int8)
    codebook = Codebook(matrix, allow_repeated_columns=True)
    sums = not decoder.normalise and not codebook.is_binary
    if sums and decoder.output == "normalised-logistic":
        return None
    alike = "soft" if decoder.output == "log-soft" else decoder.output
    rule = make_decoder(alike, codebook, "decision_function")
    if sums and isinstance(rule, Soft):
        rule = Soft(normalise=False)
    if sums and isinstance(rule, LossBased):
        rule = LossBased(rule.loss)
    return ModelAdapter(
        classes=np.arange(len(matrix)),
        column_scores=_asked(columns),
        codebook=codebook,
        decoder=rule,
        module=columns,
        decision=decoder,
        networks=list(columns.networks) if isinstance(columns, ColumnEnsemble) else [columns],
    )


def _before_decoder(module: nn.Module) -> tuple[nn.Module | None, CodeDecoder | None]:
    """What stands before the decoder at the end of a module, and the decoder."""
    if not isinstance(module, nn.Sequential) or len(module) < 2:
        return None, None
    last = module[-1]
    if isinstance(last, CodeDecoder):
        return (module[0] if len(module) == 2 else module[:-1]), last
    inner, decoder = _before_decoder(last)
    return (None, None) if inner is None else (nn.Sequential(*list(module)[:-1], inner), decoder)


def _given_shape(model: Any) -> tuple[int, ...] | None:
    return getattr(getattr(model, "inputs_", None), "given", None)


def _code_classifier(model: Any) -> ModelAdapter:
    if getattr(model, "_costs_", None) is not None or getattr(model, "_ratios_", None) is not None:
        raise UnsupportedError(
            "Decisions by cost_matrix or priors are neither attacked nor certified; leave both out."
        )
    adapter = ModelAdapter(
        classes=model.classes_,
        column_scores=model.column_scores,
        codebook=model.codebook_,
        decoder=model.decoder_,
        predict=model.predict,
        estimators=model.estimators_,
        rejected=_rejected(model),
    )
    if model.codebook_.n_symbols == 2:
        return adapter
    reason = f"Columns of {model.codebook_.n_symbols} symbols are asked for their answers alone."
    return replace(adapter, estimators=(), closed=reason)


def _other_classifier(model: Any) -> ModelAdapter:
    classes = np.asarray(model.classes_)

    def scores(samples: npt.NDArray[Any]) -> Floats:
        for method in ("decision_function", "predict_proba"):
            if hasattr(model, method):
                raw = np.asarray(getattr(model, method)(samples), dtype=np.float64)
                return np.stack([-raw, raw], axis=1) if raw.ndim == 1 else raw
        return np.asarray(model.predict(samples)[:, None] == classes, dtype=np.float64)

    name = type(open_pipeline(model)[1]).__name__
    return ModelAdapter(
        classes, scores, predict=model.predict, closed=f"What {name} computes is not known here."
    )


def _asked(module: nn.Module) -> Scores:
    """A module as a function of arrays, in evaluation mode and its own precision."""
    like = next(module.parameters(), torch.empty(0))

    def scores(inputs: npt.NDArray[Any]) -> Floats:
        points = np.asarray(inputs)
        was_training = module.training
        module.eval()
        try:
            with torch.no_grad():
                chunks = [
                    torch.from_numpy(points[start : start + _CHUNK])
                    for start in range(0, len(points), _CHUNK)
                ]
                parts = [module(chunk.to(like)).double().cpu() for chunk in chunks]
        finally:
            module.train(was_training)
        answers: Floats = torch.cat(parts).numpy()
        return answers

    return scores


# -------------------------------------------------------------- what an attack sees


def _same(values: Tensor) -> Tensor:
    return values


@dataclass(frozen=True, eq=False)
class View:
    """A model as an attack sees it.

    A loss on the scores that decide can have no gradient, though the model is easily
    fooled: an attack may push on a surrogate instead. Success is always judged by the scores
    that decide.

    Parameters
    ----------
    body : callable
        From inputs to what both heads need, for instance the logits of columns.
    surrogate : callable, optional
        From there to the class scores (n_samples x n_classes) whose loss the attack raises.
    decision : callable, optional
        From there to the class scores whose largest is the prediction.
    undecided : int, optional
        A place among these scores that stands for no class: to end there is no success.
    confirm : callable, optional
        As `body`, but asked with more care: what an answer of `body` calls a success is one if
        this says so too. For random models, which are lucky now and then.

    Examples
    --------
    >>> view = View(lambda x: x @ torch.eye(2), surrogate=lambda z: 2 * z)
    >>> view(torch.tensor([[1.0, 3.0]]))
    (tensor([[2., 6.]]), tensor([[1., 3.]]))
    """

    body: Head
    surrogate: Head = _same
    decision: Head = _same
    undecided: int | None = None
    confirm: Head | None = None

    def __call__(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """The scores to push on, and the scores that decide."""
        inner = self.body(points)
        surrogate = self.surrogate(inner)
        if self.decision is self.surrogate:
            return surrogate, surrogate.detach()
        with torch.no_grad():
            return surrogate, self.decision(inner.detach())


def as_view(model: Any) -> View:
    """A view of anything that can be attacked by itself.

    Parameters
    ----------
    model : View, callable or object with ``as_module``
        A torch module or another function from inputs to class scores (n_samples x
        n_classes), or a model that hands out such a module.
    """
    if isinstance(model, View):
        return model
    if hasattr(model, "as_module"):
        return View(model.as_module())
    if callable(model):
        return View(model)
    raise InvalidInputError(
        "model must be a torch module, a function from inputs to class scores, or have a method "
        f"as_module, not {type(model).__name__}. evaluate_robustness takes classifiers too."
    )


@dataclass(frozen=True, eq=False)
class AttackedModel:
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
    closed : str
        Why it is a black box, a sentence; empty if it is none.
    rejection : callable, optional
        From the logits to whether the model rejects a sample instead of deciding.
    n_judges : int
        How often a random model is asked whether it misclassifies a point.
    deciding : {"logits", "signs", "probabilities"}
        What the decision is nearest to: sums of logits, votes of signs (Hamming decoding, and
        columns so certain that their probabilities are 0 or 1), or sums of probabilities.
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
    closed: str = ""
    rejection: Head | None = None
    n_judges: int = 1
    deciding: Deciding = "logits"

    @property
    def is_black_box(self) -> bool:
        """Whether there are no gradients."""
        return not self.heads

    def view(self, head: str | None = None, *, past_rejection: bool = False) -> View:
        """The model for an attack on this head, by default on the one that decides.

        A model that rejects has one more class score, the last, for which `past_rejection` says
        that it is no success.
        """
        surrogate = self.heads[head] if head else self.decision
        rejection, decision = self.rejection, self.decision
        confirm = self.careful if self.n_judges > 1 else None
        if rejection is None:
            return View(self.body, surrogate, decision, confirm=confirm)

        def answer(logits: Tensor) -> Tensor:
            scores = decision(logits)
            rejected = torch.where(rejection(logits), torch.inf, -torch.inf).to(scores)
            return torch.cat([scores, rejected[:, None]], dim=1)

        n_classes = 0 if self.matrix is None else len(self.matrix)
        undecided = n_classes if past_rejection else None
        return View(self.body, surrogate, answer, undecided, confirm)

    def careful(self, points: Tensor) -> Tensor:
        """The logits that judge: of a random model the mean of many answers."""
        return torch.stack([self.body(points) for _ in range(self.n_judges)]).mean(dim=0)

    def judge(self, points: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Which points the model itself gets wrong, and which it rejects; two masks.

        Labels are places among the scores.
        """
        with torch.no_grad():
            if self.predict is None or self.classes is None:
                logits = self.careful(points)
                wrong = self.decision(logits).argmax(dim=1) != labels
                rejected = self.rejection(logits) if self.rejection else torch.zeros_like(wrong)
                return wrong & ~rejected, rejected
            predicted = np.asarray(self.predict(points.cpu().numpy()))
            right = torch.from_numpy(predicted == self.classes[labels.cpu().numpy()])
            right = right.to(labels.device)
            if self.rejection is None:
                return ~right, torch.zeros_like(right)
            known = torch.from_numpy(np.isin(predicted, self.classes)).to(labels.device)
            return ~right & known, ~known

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


def attacked_model(model: Any, samples: npt.NDArray[Any]) -> AttackedModel:
    """Prepare a model for an evaluation.

    Parameters
    ----------
    model : object
        What :func:`adapt` knows. Without known gradients it is a black box.
    samples : array
        Some inputs, on which formulas made from a model are compared with it, and from which
        the usual sizes of its columns' scores are taken.
    """
    if isinstance(model, AttackedModel):
        return model
    adapter = adapt(model)
    if isinstance(adapter.decoder, SelfHealing):
        raise UnsupportedError(
            "Self-healing decoding decides about samples together, so that no single sample can "
            "be attacked. Use another decoding."
        )
    module, closed = _with_gradients(adapter, samples)
    if module is None:
        return _black_box(adapter, closed)
    decision = adapter.decision or _decoding(adapter)
    dtype, device = _placed(module)
    heads: Mapping[str, Head] = {"logits": _same}
    deciding: Deciding = "logits"
    if adapter.matrix is not None:
        with torch.no_grad():
            logits = module(torch.tensor(samples[:_USUAL], device=device, dtype=dtype))
        heads = code_heads(adapter.matrix, device, sizes=column_sizes(logits), decision=decision)
        deciding = _deciding(adapter.matrix, decision, logits)
    return AttackedModel(
        body=_together(module, samples),
        decision=decision,
        heads=heads,
        classes=adapter.classes,
        dtype=dtype,
        device=device,
        predict=adapter.predict,
        module=module,
        matrix=adapter.matrix,
        rejection=_rejection(adapter),
        deciding=deciding,
    )


def _together(module: nn.Module, samples: npt.NDArray[Any]) -> Head:
    """A module that asks its networks as one where there are few samples.

    An attack goes on with the samples that stand. Of these there soon are so few that most of
    the time goes into beginning with one small network after the other.
    """
    given_networks = list(module.networks) if type(module) is ColumnEnsemble else []
    networks = [network for network in given_networks if type(network) is nn.Sequential]
    of_one_form = len({str(network) for network in given_networks}) == 1
    n_weights = sum(weights.numel() for weights in module.parameters())
    if not networks or not of_one_form or not can_stack(networks[0]) or n_weights > _TOGETHER:
        return module
    stacked = StackedNetworks(networks).eval().requires_grad_(False)
    dtype, device = _placed(module)
    probes = torch.tensor(samples[:_PROBES], device=device, dtype=dtype)
    with torch.no_grad():
        given = module(probes)
        same = (stacked(probes) - given).abs() <= _ROUNDING * given.abs().amax(dim=0)
    # Layers of one's own may do something else to networks side by side.
    if not bool(same.all()):
        return module

    def body(points: Tensor) -> Tensor:
        few = len(points) * n_weights <= _TOGETHER
        scores: Tensor = stacked(points) if few else module(points)
        return scores

    return body


def _deciding(matrix: npt.NDArray[np.int8], decision: Head, logits: Tensor) -> Deciding:
    """What a decision is nearest to, for logits of the usual sizes."""
    probes = _mixed(logits)
    chosen = decision(probes).argmax(dim=1)

    def agreement(output: str) -> float:
        form = CodeDecoder(matrix, output).to(logits.device)
        return float((form(probes).argmax(dim=1) == chosen).double().mean())

    if agreement("hamming") >= _VOTES:
        return "signs"
    return "logits" if agreement("normalised-linear") > agreement("soft") else "probabilities"


def _mixed(logits: Tensor) -> Tensor:
    """Logits of columns drawn apart from one another, with signs at random; always as many."""
    generator = torch.Generator().manual_seed(0)
    shape = (_USUAL, logits.shape[1])
    rows = torch.randint(len(logits), shape, generator=generator).to(logits.device)
    signs = 2.0 * torch.randint(2, shape, generator=generator) - 1
    return logits.gather(0, rows) * signs.to(logits)


def _with_gradients(model: ModelAdapter, samples: npt.NDArray[Any]) -> tuple[nn.Module | None, str]:
    """The scores as a module, or None and why there is none."""
    module, tolerance = model.module, 1e-3
    if model.estimators:
        tolerance = 1e-6
        try:
            module = torch_columns(model.estimators)
        except UnsupportedError as error:
            return None, str(error)
        if model.before is not None:
            module = nn.Sequential(model.before.layer(), module)
    if module is None or not (model.estimators or model.before):
        return module, model.closed
    probes = np.asarray(samples[:_PROBES], dtype=np.float64)
    given = model.column_scores(probes)
    with torch.no_grad():
        scores = module(torch.from_numpy(probes).to(*_placed(module)[::-1])).double().cpu().numpy()
    if np.allclose(scores, given, rtol=tolerance, atol=1e-2 * tolerance):
        return module, ""
    return None, "The scores of its columns are not what their coefficients say."


def _black_box(model: ModelAdapter, closed: str) -> AttackedModel:
    return AttackedModel(
        body=_in_numpy(model.column_scores),
        decision=_decoding(model),
        heads={},
        classes=model.classes,
        dtype=torch.float64,
        predict=model.predict,
        matrix=model.matrix,
        closed=closed,
        rejection=_rejection(model),
    )


def _rejection(model: ModelAdapter) -> Head | None:
    """Whether a model rejects, from the scores of its columns."""
    matrix, rejected = model.matrix, model.rejected
    if rejected is None:
        return None

    def rejection(logits: Tensor) -> Tensor:
        scores = logits.detach().cpu().numpy().astype(np.float64)
        decoded = scores if matrix is None else np.asarray(model.decoder(scores, matrix))
        return torch.from_numpy(rejected(scores, decoded.argmax(axis=1))).to(logits.device)

    return rejection


def _decoding(model: ModelAdapter) -> Head:
    """What decides from the scores, as a function of tensors without gradients."""
    matrix = model.matrix
    if matrix is None:
        return _same
    return _in_numpy(lambda scores: model.decoder(scores, matrix))


def _in_numpy(function: Callable[[npt.NDArray[Any]], npt.ArrayLike]) -> Head:
    """A function of arrays as one of tensors, without gradients."""

    def head(values: Tensor) -> Tensor:
        result = np.asarray(function(values.detach().cpu().numpy()), dtype=np.float64)
        return torch.from_numpy(result).to(values.device)

    return head


def _placed(module: nn.Module) -> tuple[torch.dtype, torch.device]:
    """The dtype and device of a module's parameters."""
    for tensor in (*module.parameters(), *module.buffers()):
        if tensor.is_floating_point():
            return tensor.dtype, tensor.device
    return torch.float32, _CPU


# ------------------------------------------------------------ forms of class scores


def tempered(decoder: Head, sharpness: float = 1.0, sizes: Tensor | None = None) -> Head:
    """A decoder whose logits are first divided by their sizes, column by column and in the mean.

    Then it does not saturate, however certain the columns are, and a column whose logits are
    small counts as much as one whose logits are large.

    Parameters
    ----------
    decoder : callable
        From logits of columns to class scores.
    sharpness : float, default=1.0
        What the divided logits are multiplied by. The larger it is, the more a push turns
        around the columns that are nearly undecided, which is what counts where the decision
        is nearly that of Hamming decoding.
    sizes : tensor of shape (n_columns,), optional
        How large the logits of each column usually are.

    Examples
    --------
    >>> head = tempered(CodeDecoder([[1, 1], [1, -1], [-1, 1]]))
    >>> head(torch.tensor([[500.0, -100.0]]))
    tensor([[0.6293, 0.7119, 0.2881]])
    >>> even = tempered(head, sizes=torch.tensor([500.0, 100.0]))
    >>> even(torch.tensor([[500.0, -100.0]]))
    tensor([[0.5000, 0.7311, 0.2689]])
    """

    def head(logits: Tensor) -> Tensor:
        even = logits if sizes is None else logits / sizes.to(logits)
        size = even.detach().abs().mean(dim=1, keepdim=True)
        return decoder(sharpness * even / size.clamp(min=torch.finfo(even.dtype).tiny))

    return head


_RIVALS = 9
"""The most classes that a sample is pushed towards one by one."""

_OVER = 0.003
"""How far a column is turned around, in units of its usual size, so that it does not turn back."""


def fewest_columns(matrix: npt.NDArray[np.int8], decision: Head, sizes: Tensor) -> Head:
    """Score each class by what is missing for it to take over from the class that decides now.

    Of the columns that tell the two apart, those that are cheapest to turn around until half
    of them are: minus the sum of their leads, in units of what is usual for each column, and a
    little more. The class that decides has 0. Hamming decoding changes its mind before the sum is
    0, and no other column needs to move.

    Parameters
    ----------
    matrix : array of shape (n_classes, n_columns)
        The codebook.
    decision : callable
        From logits of columns to the class scores whose largest is the prediction.
    sizes : tensor of shape (n_columns,)
        How large the logits of each column usually are.

    Examples
    --------
    >>> matrix = np.array([[1, 1, 1], [-1, -1, 1], [1, -1, -1]], dtype=np.int8)
    >>> head = fewest_columns(matrix, CodeDecoder(matrix, "hamming"), torch.ones(3))
    >>> head(torch.tensor([[4.0, 1.0, 3.0]]))
    tensor([[ 0.0000, -5.0060, -4.0060]])
    """
    code = torch.tensor(matrix.tolist(), dtype=torch.float32, device=sizes.device)

    def head(logits: Tensor) -> Tensor:
        entries, even = code.to(logits), logits / sizes.to(logits)
        with torch.no_grad():
            scores = decision(logits.detach()).to(logits)[:, : len(code)]
            first = scores.argmax(dim=1)
            scores = scores.scatter(1, first[:, None], -torch.inf)
            rivals = scores.topk(min(_RIVALS, len(code) - 1), dim=1).indices
        sides = (entries[first][:, None, :] - entries[rivals]) / 2
        leads = torch.where(sides != 0, sides.sign() * even[:, None, :], torch.inf)
        leads, order = leads.sort(dim=2)
        weights = sides.abs().gather(2, order)
        # One that is a tie is not a win for every class: go on until there is more than half.
        needed = weights.cumsum(2) - weights <= weights.sum(2, keepdim=True) / 2
        costs = (leads + _OVER).clamp(min=0)
        missing = torch.where(needed & (weights > 0), costs, 0.0).sum(dim=2)
        # Classes far behind come last, in their order.
        with torch.no_grad():
            ranks = scores.argsort(dim=1, descending=True).argsort(dim=1)
            far = -missing.amax(dim=1, keepdim=True) - 1 - ranks
            far = far.scatter(1, first[:, None], 0.0)
        return far.scatter(1, rivals, -missing)

    return head


def _means_or_sums(matrix: npt.NDArray[np.int8], decision: Head, sizes: Tensor) -> Head:
    """Equation 20 of a ternary code as means or centred sums, whichever decides alike.

    Hamming decoding counts one half for a column that a class does not use, so that sums are
    compared from the middle.
    """
    means = CodeDecoder(matrix).to(sizes.device)
    linear = CodeDecoder(matrix, "normalised-linear", normalise=False).to(sizes.device)

    def sums(logits: Tensor) -> Tensor:
        scores: Tensor = linear(torch.tanh(logits / 2))
        return scores

    probes = _mixed(sizes[None])
    chosen = decision(probes).argmax(dim=1)
    agree = [int((form(probes).argmax(dim=1) == chosen).sum()) for form in (means, sums)]
    return sums if agree[1] > agree[0] else means


def column_sizes(logits: Tensor) -> Tensor:
    """How large the logits of each column usually are: the median of their absolute values.

    Columns that are mostly zero have the mean instead, and 1 if they are always zero.

    Examples
    --------
    >>> column_sizes(torch.tensor([[1.0, -40.0, 0.0], [-2.0, 50.0, 0.0], [9.0, 60.0, 0.0]]))
    tensor([ 2., 50.,  1.])
    """
    sizes = logits.detach().abs()
    middle, mean = sizes.median(dim=0).values, sizes.mean(dim=0)
    sizes = torch.where(middle > 0, middle, mean)
    return torch.where((sizes > 0) & sizes.isfinite(), sizes, 1.0)


def code_heads(
    matrix: npt.NDArray[np.int8],
    device: torch.device | None = None,
    *,
    sizes: Tensor | None = None,
    decision: Head | None = None,
) -> dict[str, Head]:
    """All forms of class scores that come from the logits of columns.

    ``"soft"`` is equation 20 as the paper prints it: sums, and means for ternary codes.

    Parameters
    ----------
    matrix : array of shape (n_classes, n_columns)
        The codebook.
    device : torch.device, optional
        Where it is needed.
    sizes : tensor of shape (n_columns,), optional
        How large the logits of each column usually are; alike by default.
    decision : callable, optional
        From logits to the class scores that decide; Hamming decoding by default.
    """
    ternary = bool((matrix == 0).any())
    sizes = torch.ones(matrix.shape[1], device=device) if sizes is None else sizes
    decision = CodeDecoder(matrix, "hamming").to(device) if decision is None else decision
    soft = _means_or_sums(matrix, decision, sizes) if ternary else CodeDecoder(matrix).to(device)
    return {
        "soft": CodeDecoder(matrix, "soft", normalise=ternary).to(device),
        "log": CodeDecoder(matrix, "log-soft", normalise=ternary).to(device),
        # The logits of classes, as networks without a code have them.
        "logits": CodeDecoder(matrix, "normalised-linear").to(device),
        "log-likelihood": CodeDecoder(matrix, "normalised-logistic", normalise=ternary).to(device),
        "tempered": tempered(soft, 3.0, sizes),
        "sharp": tempered(soft, 10.0, sizes),
        "tempered-log": tempered(
            CodeDecoder(matrix, "normalised-logistic").to(device), sizes=sizes
        ),
        "fewest": fewest_columns(matrix, decision, sizes),
    }
