"""Whether gradients lead anywhere, ways around what hides them, and signs that they are hidden."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import torch
from torch import Tensor, nn

from ecoc._checks import listing
from ecoc.nn.networks.architectures import ColumnEnsemble
from ecoc.robustness.attacks.base import gradient_at, margin
from ecoc.robustness.models import AttackedModel, View
from ecoc.robustness.threat import CORRUPTION_NORMS, Box, Norm, check_box, unit

__all__ = ["BEATEN_SHARE", "Evidence", "Examination", "examine", "honest_share", "masking_signs"]


# ------------------------------------------------------------------ do gradients lead anywhere

_HONEST = 0.8
"""Gradients are believed if at least this share of them says what a step will do."""

_RISE = 0.1
"""What a step must reach of the rise that its gradient promises."""

_STEP = 0.1
"""The length of that step, as a share of the radius."""

_LEAST_STEP = 1e-3
"""And at least this share of the range of the samples: floats have to resolve it."""

_PROBED_NORMS = ("linf", "l2")
"""The threats whose own steps say whether gradients can be believed."""

_PROBED = 0.05
"""The l_inf radius of these steps for other threats, as a share of that range."""

_SAME = 1e-5
"""Answers that differ by less than this share of the largest differ by rounding alone."""

_ALIKE = 0.8
"""What stands behind a mask must decide as the model does for at least this share of samples."""

_FLAT = 0.5
"""At most this share of places may be left out because the network is constant around them."""

_CORNERS = 4
"""At how many random corners of a ball a network is asked whether it is constant there."""

_PROBES = 64
"""Samples at which gradients are tried."""

_DRAWS = 16
"""Answers of a random model that are averaged to attack it."""

_JUDGES = 16
"""How many such means decide whether a point is misclassified."""

_SHAPING = (nn.Flatten, nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d, nn.Identity)
"""What may end a network whose last layer with weights is not linear."""


@dataclass(frozen=True, eq=False)
class Examination:
    """How a model is best attacked with gradients.

    Attributes
    ----------
    model : AttackedModel
        The model, with gradients that go around what hides them where that is possible.
    notes : tuple of str
        What was found, a sentence each; empty for a model whose gradients can be believed.
    distrust : str
        Why no gradients of it can be believed, a sentence; empty if they can.
    detour : AttackedModel, optional
        The same with gradients that leave out what is done to inputs before the first layer and to
        outputs after the last one: what these do may be honest at every step and lead astray all
        the same. None where nothing is done there.
    """

    model: AttackedModel
    notes: tuple[str, ...] = ()
    distrust: str = ""
    detour: AttackedModel | None = None


def examine(
    model: AttackedModel,
    samples: Tensor,
    labels: Tensor,
    *,
    epsilon: float,
    norm: Norm = "linf",
    box: Box = (0.0, 1.0),
    seed: int = 0,
) -> Examination:
    """Find out whether the gradients of a model can be believed, and what to use instead.

    The model is asked twice about the same samples: if the answers differ, it is attacked in
    the mean of many. Then steps are taken along its gradients. Where the loss does not rise as
    they promise, they are taken from what the last linear layer gives, and straight through
    whatever is done to inputs before the first layer. Where it does, these are a detour.

    Parameters
    ----------
    model : AttackedModel
        The model.
    samples, labels : tensors
        Samples that it classifies correctly.
    epsilon : float
        The radius that steps are a share of.
    norm, box
        The threat.
    seed : int
        Seeds the points where gradients are tried.
    """
    if not len(samples):
        return Examination(model)
    samples, labels = samples[:_PROBES], labels[:_PROBES]
    given, notes = model, []
    is_random = _is_random(given, samples)
    if is_random:
        model = _averaged(given)
        notes.append(
            "The model is random: it answers differently when it is asked twice. It was attacked "
            f"in the mean of {_DRAWS} answers and judged by the mean of {_DRAWS * _JUDGES}."
        )
    if model.is_black_box or norm in CORRUPTION_NORMS:
        return Examination(model, tuple(notes))
    if norm not in _PROBED_NORMS:
        # A step along one feature, or to its end, says little about gradients.
        norm, epsilon = "linf", _PROBED * (float(samples.max() - samples.min()) or 1.0)
    probe = _Probe(samples, labels, epsilon, norm, box, seed)
    share = probe.share(model)
    behind = _behind_the_mask(given, samples)
    if share >= _HONEST:
        is_needed = behind is not None and not is_random and probe.is_bent(behind)
        return Examination(model, tuple(notes), detour=behind if is_needed else None)
    told = f"{100 * (1 - share):.0f} % of the gradients do not say what a step does to the scores"
    if behind is not None and not is_random and probe.is_honest_where_it_moves(model, behind):
        return Examination(model, tuple(notes))
    if behind is not None and _decides_alike(behind, probe.points):
        behind = _averaged(behind) if is_random else behind
        if probe.share(behind) >= _HONEST:
            notes.append(
                f"Gradients are masked: {told}. The model was attacked through the outputs of its "
                "last linear layer, whose gradients do."
            )
            return Examination(behind, tuple(notes))
    reason = f"Gradients are masked: {told}, and no layer was found whose gradients do."
    return Examination(model, tuple(notes), reason)


@dataclass(frozen=True, eq=False)
class _Probe:
    """Where gradients are tried: at samples, and at random points near them."""

    samples: Tensor
    own: Tensor
    epsilon: float
    norm: Norm
    box: Box
    seed: int
    points: Tensor = field(init=False)
    labels: Tensor = field(init=False)
    step: float = field(init=False)

    def __post_init__(self) -> None:
        samples = self.samples
        low, high = check_box(self.box)
        across = float(samples.max() - samples.min()) or 1.0
        wide = 1.0 if self.norm == "linf" else float(samples[0].numel()) ** 0.5
        step = max(_STEP * self.epsilon, _LEAST_STEP * across * wide)
        generator = torch.Generator().manual_seed(self.seed)
        noise = torch.randn(samples.shape, generator=generator).to(samples)
        near = (samples + max(self.epsilon, step) * unit(noise, self.norm)).clamp(low, high)
        object.__setattr__(self, "step", step)
        object.__setattr__(self, "points", torch.cat([samples, near]))
        object.__setattr__(self, "labels", torch.cat([self.own, self.own]))

    def share(self, model: AttackedModel) -> float:
        """The share of gradients that can be believed."""
        every = torch.ones(len(self.points), dtype=torch.bool)
        return self._share_of(model, every)

    @torch.no_grad()
    def is_bent(self, behind: AttackedModel) -> bool:
        """Whether more than scaling is done before the first layer, or anything after the last."""
        body = behind.body
        assert isinstance(body, _StraightThrough)  # noqa: S101  # it was made here
        if not _decides_alike(behind, self.points):
            return False
        shown, hidden = body(self.points).chunk(2, dim=1)
        if not _same(shown, hidden):
            return True
        # Halfway between two places a line is halfway between what it is there.
        here, there = self.points[: len(self.samples)], self.points[len(self.samples) :]
        ends = (body.reached(here) + body.reached(there)) / 2
        return not _same(body.reached((here + there) / 2), ends)

    def _share_of(self, model: AttackedModel, some: Tensor) -> float:
        points, labels = self.points[some], self.labels[some]
        view = model.view("logits")
        return honest_share(view, points, labels, step=self.step, norm=self.norm)

    @torch.no_grad()
    def is_honest_where_it_moves(self, model: AttackedModel, behind: AttackedModel) -> bool:
        """Whether gradients can be believed but where the last linear layer is constant.

        Units that are never active make a network constant in places: its gradients are zero
        there and hide nothing. A mask after that layer does not make the layer constant.
        """
        low, high = check_box(self.box)
        generator = torch.Generator().manual_seed(self.seed)
        here = behind.body(self.points)
        moves = torch.zeros(len(self.points), dtype=torch.bool, device=here.device)
        for _ in range(_CORNERS):
            noise = torch.randn(self.points.shape, generator=generator).to(self.points)
            reach = max(self.epsilon, self.step)
            corner = (self.points + reach * unit(noise, self.norm)).clamp(low, high)
            hidden = (behind.body(corner) - here).chunk(2, dim=1)[1]
            moves |= (hidden != 0).any(dim=1)
        if float(moves.double().mean()) < 1 - _FLAT:
            return False
        return self._share_of(model, moves) >= _HONEST


def honest_share(view: View, points: Tensor, labels: Tensor, *, step: float, norm: Norm) -> float:
    """The share of points at which a step along the gradient raises the margin as it promises.

    Parameters
    ----------
    view : View
        The model.
    points, labels : tensors
        Where gradients are taken.
    step : float
        The length of the step.
    norm : {"linf", "l2"}
        How it is measured.

    Examples
    --------
    >>> points, labels = torch.tensor([[0.3, 0.6], [0.7, 0.4]]), torch.tensor([0, 0])
    >>> honest_share(View(lambda x: 2 * x), points, labels, step=0.1, norm="linf")
    1.0
    >>> honest_share(View(lambda x: (2 * x).round()), points, labels, step=0.1, norm="linf")
    0.0
    """
    points = points.detach().requires_grad_()
    with torch.enable_grad():
        before = margin(view(points)[0], labels)
        gradient = gradient_at(points, before)
    with torch.no_grad():
        moved = points + step * unit(gradient, norm)
        after = margin(view(moved)[0], labels)
        change = (moved.double() - points.double()) * gradient.double()
        promised = change.flatten(1).sum(dim=1)
        rise = after.double() - before.double()
    return float(((promised > 0) & (rise >= _RISE * promised)).double().mean())


@torch.no_grad()
def _is_random(model: AttackedModel, samples: Tensor) -> bool:
    return not _same(model.body(samples), model.body(samples))


def _same(first: Tensor, second: Tensor) -> bool:
    """Whether answers differ by rounding alone, or are no numbers."""
    return not bool((first - second).abs().max() > _SAME * first.abs().max())


def _averaged(model: AttackedModel) -> AttackedModel:
    """A random model as the mean of its answers."""
    body = model.body

    def mean(points: Tensor) -> Tensor:
        return torch.stack([body(points) for _ in range(_DRAWS)]).mean(dim=0)

    return replace(model, body=mean, predict=None, n_judges=_JUDGES)


# ----------------------------------------------------------------- around what hides gradients


def _behind_the_mask(model: AttackedModel, samples: Tensor) -> AttackedModel | None:
    """The model with gradients of its last linear layer, or None where there is none such."""
    if model.module is None:
        return None
    body = _StraightThrough(model.module, samples)
    if not body.layers:
        return None
    width = body.width
    heads = {name: _of_the_rest(head, width) for name, head in model.heads.items()}
    decision, rejection = model.decision, model.rejection
    return replace(
        model,
        body=body,
        decision=lambda both: decision(both[:, :width]),
        heads=heads,
        rejection=None if rejection is None else lambda both: rejection(both[:, :width]),
    )


def _of_the_rest(head: Callable[[Tensor], Tensor], width: int) -> Callable[[Tensor], Tensor]:
    return lambda both: head(both[:, width:])


def _decides_alike(model: AttackedModel, points: Tensor) -> bool:
    """Whether the outputs behind the mask decide as the model, column by column or as classes."""
    with torch.no_grad():
        both = model.body(points)
    shown, hidden = both.chunk(2, dim=1)
    if model.matrix is None:
        alike = shown.argmax(dim=1) == hidden.argmax(dim=1)
    else:
        alike = shown.sign() == hidden.sign()
    return float(alike.double().mean()) >= _ALIKE


class _StraightThrough:
    """A body that gives its outputs and, beside them, those of its last linear layers.

    Gradients of the latter go from there to the inputs of the first layer, and count as
    gradients of the model's own inputs (backward pass differentiable approximation, Athalye,
    Carlini & Wagner 2018).
    """

    def __init__(self, module: nn.Module, samples: Tensor) -> None:
        self.module = module
        calls: list[_Call] = []
        with torch.no_grad(), _listening(module, calls):
            outputs = module(samples[:2])
        self.width = outputs.shape[1]
        ensembles = (part for part in module.modules() if isinstance(part, ColumnEnsemble))
        networks = next((each.networks for each in ensembles), ())
        parts = list(networks) if len(networks) == self.width else [module]
        self.layers: list[nn.Module] = []
        # A mask may be a layer too, but has no weights; and not all networks have layers with any.
        whole = [call.layer for call in calls if call.inputs.numel() == samples[:2].numel()]
        weighted = (layer for layer in whole if next(layer.parameters(), None) is not None)
        self.first = next(weighted, whole[0] if whole else None)
        each = self.width // len(parts)
        for part in parts:
            inside = set(part.modules())
            layers = [
                call.layer
                for call in calls
                if call.layer in inside and call.outputs.shape == (len(outputs), each)
            ]
            linear = [layer for layer in layers if isinstance(layer, nn.Linear)]
            shaping = [layer for layer in layers if isinstance(layer, _SHAPING)]
            if not layers:
                self.layers = []
                return
            self.layers.append((linear or shaping or layers)[-1])

    def reached(self, points: Tensor) -> Tensor:
        """What the first layer is given."""
        given: list[Tensor] = []
        if self.first is None:
            return points
        handle = self.first.register_forward_pre_hook(lambda _, inputs: given.append(inputs[0]))
        try:
            self.module(points)
        finally:
            handle.remove()
        return given[0]

    def __call__(self, points: Tensor) -> Tensor:
        """The outputs, and those of the last linear layers beside them."""
        found: dict[nn.Module, Tensor] = {}
        handles = [layer.register_forward_hook(_keep(found)) for layer in self.layers]
        if self.first is not None and torch.is_grad_enabled():
            handles.append(self.first.register_forward_pre_hook(_pass_straight(points)))
        try:
            outputs = self.module(points)
        finally:
            for handle in handles:
                handle.remove()
        # Detached: a backward pass that is no gradient makes something out of zeros too.
        return torch.cat([outputs.detach(), *(found[layer] for layer in self.layers)], dim=1)


def _keep(found: dict[nn.Module, Tensor]) -> Callable[[nn.Module, Any, Tensor], None]:
    def hook(layer: nn.Module, inputs: Any, outputs: Tensor) -> None:
        del inputs
        found[layer] = outputs

    return hook


def _pass_straight(points: Tensor) -> Callable[[nn.Module, tuple[Tensor, ...]], Any]:
    def hook(layer: nn.Module, inputs: tuple[Tensor, ...]) -> Any:
        del layer
        given = inputs[0]
        straight = points.reshape(given.shape).to(given)
        return (straight + (given - straight).detach(), *inputs[1:])

    return hook


@dataclass(frozen=True, eq=False)
class _Call:
    """A layer that was asked, and what it was given and gave."""

    layer: nn.Module
    inputs: Tensor
    outputs: Tensor


@contextmanager
def _listening(module: nn.Module, calls: list[_Call]) -> Iterator[None]:
    """Write down every layer with one tensor in and one out, in the order in which they end."""

    def hook(layer: nn.Module, inputs: tuple[Any, ...], outputs: Any) -> None:
        if inputs and isinstance(inputs[0], Tensor) and isinstance(outputs, Tensor):
            calls.append(_Call(layer, inputs[0], outputs))

    layers = [layer for layer in module.modules() if not list(layer.children())]
    handles = [layer.register_forward_hook(hook) for layer in layers]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


# ------------------------------------------------------------- signs that gradients are hidden

ZERO_SHARE = 0.05
"""From this share of zero gradients on, an attack is called stalled."""

BEATEN_SHARE = 0.01
"""From this share of all samples on, another kind of attack is said to beat gradients."""

GAP = 0.1
"""From this difference in accuracy on, the paper's attack is said to have missed much."""

LEFT_AT_LARGE = 0.05
"""An accuracy above this, with half of the box in reach, is not believed."""


@dataclass(frozen=True)
class Evidence:
    """Counts and accuracies of an evaluation that tell whether gradients are masked.

    Attributes
    ----------
    n_samples : int
        The number of samples.
    zero_gradients : mapping of str to float
        For each attack with gradients the share that was exactly zero.
    beaten_by : mapping of str to int
        For each attack without gradients how many samples it broke at a radius at which
        gradients had not.
    epsilons, attacked : sequence of float
        Radii and accuracies.
    paper : sequence of float, optional
        Accuracies under the paper's attack alone.
    large : float
        The radius from which on nothing should stand.
    """

    n_samples: int
    zero_gradients: Mapping[str, float]
    beaten_by: Mapping[str, int]
    epsilons: Sequence[float]
    attacked: Sequence[float]
    paper: Sequence[float] | None
    large: float


def masking_signs(evidence: Evidence) -> list[str]:
    """Say what speaks against believing the accuracies, a sentence or two each.

    Examples
    --------
    >>> signs = masking_signs(Evidence(100, {"pgd": 0.88}, {"noise": 0}, [0.1], [0.9], None, 0.5))
    >>> print(*signs)
    Gradients are masked: 88 % of those of pgd were exactly zero.
    """
    return [
        *_stalled(evidence),
        *_beaten(evidence),
        *_missed(evidence),
        *_standing_at_large(evidence),
    ]


def _stalled(evidence: Evidence) -> list[str]:
    stalled = [
        f"{100 * share:.0f} % of those of {name}"
        for name, share in evidence.zero_gradients.items()
        if share >= ZERO_SHARE
    ]
    if not stalled:
        return []
    return [f"Gradients are masked: {listing(stalled)} were exactly zero."]


def _beaten(evidence: Evidence) -> list[str]:
    return [
        f"Gradients may be masked: {name} broke {count} of {evidence.n_samples} samples that no "
        "attack with gradients broke at the same radius."
        for name, count in evidence.beaten_by.items()
        if count > BEATEN_SHARE * evidence.n_samples
    ]


def _missed(evidence: Evidence) -> list[str]:
    if evidence.paper is None:
        return []
    gaps = [
        (paper - attacked, epsilon, paper, attacked)
        for epsilon, paper, attacked in zip(
            evidence.epsilons, evidence.paper, evidence.attacked, strict=True
        )
    ]
    gap, epsilon, paper, attacked = max(gaps)
    if gap <= GAP:
        return []
    text = (
        f"Cross-entropy alone misses much: at {epsilon:g} it leaves {100 * paper:.0f} % where the "
        f"battery leaves {100 * attacked:.0f} %."
    )
    return [text]


def _standing_at_large(evidence: Evidence) -> list[str]:
    return [
        f"The attack is too weak: at {epsilon:g}, with half of the box in reach, it leaves "
        f"{100 * accuracy:.0f} %."
        for epsilon, accuracy in zip(evidence.epsilons, evidence.attacked, strict=True)
        if epsilon >= evidence.large and accuracy > LEFT_AT_LARGE
    ][:1]
