"""Accuracies of masked networks beside those of an attack that knows what is behind the mask."""

import pytest
import torch
from tests.robustness import oracle
from tests.robustness.maskings import (
    OUTPUTS,
    Closed,
    Layer,
    Masked,
    OtherBackward,
    Sealed,
    shattered,
)
from tests.robustness.networks import codebook, columns, ordinary, samples
from torch import nn

from ecoc.codes import Codebook
from ecoc.nn import CodeDecoder
from ecoc.nn.networks import ColumnEnsemble
from ecoc.robustness import evaluate_robustness, evaluation
from ecoc.robustness.attacks import SPSA
from ecoc.robustness.models import attacked_model
from ecoc.robustness.protocols import AttackStage

EPSILON = 0.08


def strong(model, x, y, **options):
    options = {"epsilons": [EPSILON], "random_state": 0, **options}
    return evaluate_robustness(model, x, y, **options)


def unmasked(x, y, after=lambda z: z, **options):
    """The attack through the network behind the mask, judged by what the mask lets through."""
    options = {"epsilon": EPSILON, **options}
    stands = oracle.standing(
        ordinary(), [oracle.led], lambda z: after(z).argmax(1), x, y, **options
    )
    return stands.mean()


@pytest.mark.parametrize("name", OUTPUTS)
def test_masked_outputs_are_seen_through(name):
    x, y = samples(20)
    model = Masked(after=OUTPUTS[name])
    found = strong(model, x, y, keep_examples=True)
    assert found.withheld == ""
    assert found.attacked[0] <= unmasked(x, y, OUTPUTS[name]) + 0.03
    assert any("Gradients are masked" in warning for warning in found.warnings)
    points = torch.from_numpy(found.examples.points)
    with torch.no_grad():
        wrong = model(points).argmax(dim=1) != torch.from_numpy(found.examples.labels)
    assert wrong.all()


@pytest.mark.parametrize(
    "before", [shattered, lambda x: OtherBackward.apply(x, torch.neg)], ids=["shattered", "negated"]
)
def test_masked_inputs_are_seen_through(before):
    x, y = samples(20)
    found = strong(Masked(before=before), x, y)
    assert found.paper[0] > found.attacked[0] + 0.1
    assert found.attacked[0] <= unmasked(x, y) + 0.03


@pytest.mark.parametrize("before", [shattered, torch.Tensor.detach], ids=["shattered", "detached"])
def test_masks_that_are_layers_are_seen_through(before):
    x, y = samples(20)
    found = strong(nn.Sequential(Layer(before), ordinary()), x, y)
    assert found.withheld == ""
    assert found.paper[0] > found.attacked[0] + 0.1
    assert found.attacked[0] <= unmasked(x, y) + 0.03


@pytest.mark.parametrize(("size", "frequency"), [(0.003, 1000), (0.01, 300), (0.04, 40)])
def test_bumps_that_gradients_do_not_show_are_gone_around(size, frequency):
    def bumpy(inputs):
        return inputs + size * torch.sin(frequency * inputs)

    def straight_through(inputs):
        return ordinary()(inputs + (bumpy(inputs) - inputs).detach())

    x, y = samples(60)
    stands = oracle.standing(
        straight_through, [oracle.led], oracle.largest, x, y, epsilon=EPSILON, restarts=2
    )
    found = strong(Masked(before=bumpy), x, y)
    assert found.withheld == ""
    assert found.attacked[0] <= stands.mean() + 0.03
    assert any("around what is done to inputs" in warning for warning in found.warnings)


def test_a_network_without_a_linear_layer_is_seen_through():
    trunk, last = ordinary()[:2], ordinary()[2]
    spread = nn.Conv2d(32, 10, 1)
    spread.weight.data, spread.bias.data = last.weight.data[..., None, None], last.bias.data
    network = nn.Sequential(trunk, nn.Unflatten(1, (32, 1, 1)), spread, nn.Flatten())
    x, y = samples(20)
    found = strong(nn.Sequential(network, Layer(OUTPUTS["logits rounded to 1/2"])), x, y)
    assert found.withheld == ""
    assert found.attacked[0] <= unmasked(x, y, OUTPUTS["logits rounded to 1/2"]) + 0.03


def test_masks_are_seen_through_in_the_euclidean_norm():
    x, y = samples(20)
    after = OUTPUTS["logits rounded to 1/2"]
    found = strong(Masked(after=after), x, y, epsilons=[0.5], norm="l2")
    assert found.attacked[0] <= unmasked(x, y, after, epsilon=0.5, norm="l2") + 0.03


def test_a_random_model_is_named_and_attacked_in_the_mean():
    x, y = samples(6)
    found = strong(Masked(after=lambda z: z + 0.3 * torch.randn_like(z)), x, y)
    assert "The model is random" in found.warnings[0]
    assert found.attacked[0] == unmasked(x, y)


@pytest.mark.parametrize(
    "model",
    [Sealed(after=OUTPUTS["logits rounded to 1/2"]), Closed(), Masked(before=torch.Tensor.round)],
    ids=["sealed", "closed", "rounded inputs"],
)
def test_what_cannot_be_seen_through_is_withheld(model, monkeypatch):
    few = [AttackStage("spsa", SPSA(steps=2, samples=4), "logits", "black-box")]
    monkeypatch.setattr(evaluation, "escalation_stages", lambda *_: few)
    x, y = samples(8)
    found = strong(model, x, y, epsilons=[EPSILON, 1.0])
    assert found.attacked[0] is None
    assert "no layer was found whose gradients do" in found.withheld
    # Nothing is left, so that there is nothing to doubt.
    assert found.attacked[1] == 0.0
    assert "   0.08  withheld" in str(found)


@pytest.mark.parametrize(
    ("factor", "dtype"), [(1e-4, torch.float32), (1e4, torch.float32), (1e4, torch.float64)]
)
def test_gradients_of_any_size_are_believed(factor, dtype):
    x, y = samples(10)
    network = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    network.load_state_dict(ordinary().state_dict())
    network[2].weight.data *= factor
    network[2].bias.data *= factor
    found = strong(network.to(dtype), x, y)
    assert found.withheld == ""
    assert found.attacked == strong(ordinary(), x, y).attacked
    assert not any("do not say" in warning for warning in found.warnings)


class Uneven(nn.Module):
    """Columns whose logits are multiplied, each by a factor of its own."""

    def __init__(self, network, factors):
        super().__init__()
        self.network = network
        self.register_buffer("factors", factors)

    def forward(self, inputs):
        return self.factors * self.network(inputs)


class Rounded(nn.Module):
    """A network for each column, whose logits are rounded together."""

    def __init__(self):
        super().__init__()
        hidden, last = columns()[:2], columns()[2]
        self.networks = ColumnEnsemble(nn.Sequential(hidden, nn.Linear(32, 1)) for _ in range(15))
        for network, weight, bias in zip(
            self.networks.networks, last.weight.data, last.bias.data, strict=True
        ):
            network[1].weight.data, network[1].bias.data = weight[None], bias[None]

    def forward(self, inputs):
        return self.networks(inputs).round()


def test_networks_of_columns_are_found_behind_a_mask():
    x, y = samples(20)
    matrix = codebook().matrix
    model = nn.Sequential(Rounded(), CodeDecoder(matrix, "soft")).eval()
    decoder = CodeDecoder(matrix, "soft")
    with torch.no_grad():
        sizes = columns()(x).abs().median(dim=0).values
    losses = [oracle.votes(matrix, sizes, 1), oracle.votes(matrix, sizes, 3)]
    stands = oracle.standing(
        columns(), losses, lambda z: decoder(z.round()).argmax(1), x, y, epsilon=EPSILON
    )
    found = strong(model, x, y)
    assert found.withheld == ""
    assert found.paper[0] > found.attacked[0] + 0.1
    assert found.attacked[0] <= stands.mean() + 0.03


def test_networks_that_are_asked_at_once_are_seen_through():
    trunk, last = columns()[:2], columns()[2]
    networks = [nn.Sequential(*trunk, nn.Linear(32, 1), nn.Tanh()) for _ in last.weight]
    for network, weight, bias in zip(networks, last.weight, last.bias, strict=True):
        network[2].weight.data, network[2].bias.data = 100 * weight[None], 100 * bias[None]
    x, y = samples(20)
    model = nn.Sequential(ColumnEnsemble(networks), CodeDecoder(codebook(), "hamming")).eval()
    victim = attacked_model(model, x.numpy())
    assert victim.body is not victim.module
    found = strong(model, x, y)
    assert found.withheld == ""
    assert any("last linear layer" in warning for warning in found.warnings)
    assert found.paper[0] > found.attacked[0] + 0.1


@pytest.mark.parametrize("n_zeros", [0, 30])
def test_columns_of_uneven_sizes_do_not_hide_each_other(n_zeros):
    x, y = samples(100)
    matrix = columns_code(n_zeros)
    network = columns()
    factors = 10 ** (4 * torch.rand(15, generator=torch.manual_seed(1)) - 2)
    with torch.no_grad():
        sizes = network(x).abs().median(dim=0).values
    losses = [oracle.votes(matrix, sizes, 3), oracle.votes(matrix, sizes, 10)]
    losses.append(oracle.fewest(matrix, sizes))
    decide = oracle.nearest_codeword(matrix)
    stands = oracle.standing(network, losses, decide, x, y, epsilon=EPSILON, steps=40, restarts=2)
    model = nn.Sequential(Uneven(network, factors), CodeDecoder(matrix, "hamming")).eval()
    found = strong(model, x, y)
    assert found.withheld == ""
    assert found.attacked[0] <= stands.mean() + 0.01


def columns_code(n_zeros):
    """The code of the columns, some of whose entries are not used."""
    matrix = codebook().matrix.copy()
    places = torch.randperm(matrix.size, generator=torch.manual_seed(0))[:n_zeros].numpy()
    matrix.flat[places] = 0
    return Codebook(matrix).matrix
