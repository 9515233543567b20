# ruff: noqa: N803, N806  # X is what scikit-learn calls it
import numpy as np
import pytest
import torch
from tests.nn.cases import TERNARY, digits, tiny_cnn, tiny_mlp
from torch import nn
from torch.nn import functional

from ecoc.nn import CodeDecoder, ECOCNetworkClassifier, NetworkClassifier
from ecoc.nn.networks import ColumnEnsemble, StackedNetworks, interval_bounds
from ecoc.nn.training.objectives import (
    Batch,
    ClassObjective,
    ColumnObjective,
    attacked_inputs,
    member_losses,
)
from ecoc.nn.training.trainer import TrainingSettings

CODE = torch.tensor(TERNARY.tolist(), dtype=torch.float32)
ATTACK = TrainingSettings(training="adversarial", epsilon=0.2, attack_steps=10)


def batch():
    X, y = digits()
    noise = 2 * torch.rand(20, 1, 8, 8, generator=torch.manual_seed(0)) - 1
    return Batch(torch.from_numpy(X[:20]), torch.from_numpy(y[:20]), noise)


def members():
    torch.manual_seed(0)
    return [tiny_cnn((1, 8, 8), 1) for _ in range(3)]


def within(found, inputs):
    inside = (found - inputs).abs().max() <= 0.2 + 1e-6
    return bool(inside and found.min() >= 0 and found.max() <= 1)


def test_the_attack_of_a_linear_column_is_the_worst_case():
    torch.manual_seed(0)
    column = nn.Sequential(nn.Flatten(), nn.Linear(64, 1))
    samples = batch()
    found = attacked_inputs(column, ColumnObjective(CODE[:, [0]]), samples, ATTACK)
    sides = CODE[samples.targets, 0][:, None]
    direction = -sides * column[1].weight.sign()
    worst = (samples.inputs.flatten(1) + 0.2 * direction).clamp(0, 1)
    assert torch.allclose(found.flatten(1), worst, atol=1e-6)


@pytest.mark.parametrize("through", ["column", "decoder"])
def test_attacks_stay_in_ball_and_box_and_raise_the_loss(through):
    decoder = CodeDecoder(TERNARY, "normalised-linear") if through == "decoder" else None
    objective = ColumnObjective(CODE, independent=False, decoder=decoder)
    module, samples = ColumnEnsemble(members()), batch()
    found = attacked_inputs(module, objective, samples, ATTACK)
    assert within(found, samples.inputs)
    before, after = (
        objective.attack_loss(module(inputs), samples.targets) for inputs in (samples.inputs, found)
    )
    assert after > before


def test_the_attack_through_the_decoder_moves_what_is_certain():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Flatten(), nn.Linear(64, CODE.shape[1]))
    module[1].weight.data *= 1e4
    objective = ColumnObjective(CODE, decoder=CodeDecoder(TERNARY, "normalised-linear"))
    samples = batch()
    inputs = samples.inputs.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(
        objective.attack_loss(module(inputs), samples.targets), inputs
    )
    assert gradient.flatten(1).any(dim=1).all()


def test_stacked_columns_are_attacked_each_by_itself():
    networks, samples = members(), batch()
    stacked = StackedNetworks(networks)
    found = attacked_inputs(stacked, ColumnObjective(CODE), samples, ATTACK)
    assert found.shape == (20, 3, 1, 8, 8)
    for column, network in enumerate(networks):
        own = ColumnObjective(CODE[:, [column]])
        used = own.used(samples.targets)
        alone = attacked_inputs(network, own, samples.take(used), ATTACK)
        assert torch.allclose(found[used, column], alone, atol=1e-5)


def test_the_interval_loss_is_that_of_the_bounds():
    settings = TrainingSettings(training="ibp", epsilon=0.1)
    network, samples = members()[0], batch()
    objective = ColumnObjective(CODE[:, [2]])
    lower = (samples.inputs - 0.1).clamp(min=0)
    upper = (samples.inputs + 0.1).clamp(max=1)
    low, high = interval_bounds(network, lower, upper)
    sides = CODE[samples.targets, 2]
    worst = torch.where(sides > 0, low[:, 0], high[:, 0])
    used = sides != 0
    nominal, bound = (
        functional.softplus(-sides * z)[used].mean() for z in (network(samples.inputs)[:, 0], worst)
    )
    start, end = (
        member_losses(network, objective, samples, settings, progress) for progress in (0.0, 1.0)
    )
    assert start.item() == pytest.approx(nominal.item(), rel=1e-5)
    assert end.item() == pytest.approx((nominal + bound).item() / 2, rel=1e-5)


def test_the_worst_class_outputs_have_the_largest_cross_entropy():
    lower = torch.randn(5, 3, generator=torch.manual_seed(0))
    upper = lower + 1
    targets = torch.tensor([0, 1, 2, 0, 1])
    objective = ClassObjective()
    worst = objective.losses(objective.worst(lower, upper, targets), targets)
    for seed in range(100):
        point = lower + torch.rand(5, 3, generator=torch.manual_seed(seed))
        assert objective.losses(point, targets) <= worst + 1e-6


def certified(model, X, y, radius):
    """The share of samples for which no column can leave its side."""
    inputs = torch.from_numpy(X)
    low, high = interval_bounds(
        model.column_module(), (inputs - radius).clamp(min=0), (inputs + radius).clamp(max=1)
    )
    sides = torch.tensor(model.code_book_[y].tolist())
    worst = torch.where(sides > 0, low, -high)
    return float(((worst > 0) | (sides == 0)).all(dim=1).float().mean())


def test_interval_training_gives_certified_columns():
    X, y = digits(3, 300)
    quick = {"architecture": tiny_mlp, "epochs": 15, "batch_size": 32, "random_state": 0}
    code = np.array([[1, 1, -1], [-1, 1, 1], [1, -1, 1]])
    shares = [
        certified(
            ECOCNetworkClassifier(
                code, training=training, epsilon=0.15, learning_rate=0.01, **quick
            ).fit(X, y),
            X,
            y,
            0.15,
        )
        for training in ("standard", "ibp")
    ]
    assert shares[1] > shares[0] + 0.3


@pytest.mark.parametrize(
    "parameters",
    [{"attack_through": "decoder"}, {"attack_through": "column"}, {"shared_trunk": True}],
)
def test_adversarial_training_of_every_kind_learns(parameters):
    X, y = digits()
    model = ECOCNetworkClassifier(
        TERNARY,
        architecture=tiny_mlp,
        training="adversarial",
        epsilon=0.05,
        attack_steps=2,
        epochs=12,
        batch_size=16,
        learning_rate=0.01,
        random_state=0,
        **parameters,
    ).fit(X, y)
    assert model.score(X, y) > 0.8


@pytest.mark.parametrize("training", ["adversarial", "ibp"])
def test_the_ordinary_network_can_be_hardened_too(training):
    X, y = digits()
    model = NetworkClassifier(
        tiny_mlp,
        training=training,
        epsilon=0.05,
        attack_steps=2,
        epochs=15,
        batch_size=16,
        learning_rate=0.01,
        random_state=0,
    ).fit(X, y)
    assert model.score(X, y) > 0.8
