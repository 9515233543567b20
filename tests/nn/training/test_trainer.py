# ruff: noqa: N806  # X is what scikit-learn calls it
import numpy as np
import pytest
import torch
from tests.nn.cases import TERNARY, digits, tiny_mlp
from torch import nn
from torch.nn import functional

from ecoc.nn import CodeDecoder, TrainingError
from ecoc.nn.networks import ColumnEnsemble
from ecoc.nn.networks.architectures import InputFormat, make_network
from ecoc.nn.training.objectives import ClassObjective, ColumnObjective
from ecoc.nn.training.trainer import (
    TrainingData,
    TrainingRecord,
    TrainingSettings,
    Unit,
    split_rows,
    train,
)

CODE = torch.tensor(TERNARY.tolist(), dtype=torch.float32)


def data(fraction=0.0):
    X, y = digits()
    return TrainingData(X, y, *split_rows(y, fraction, 0))


def network(seed=0):
    return make_network(tiny_mlp, InputFormat((1, 8, 8), (1, 8, 8)), 1, seed)


def by_hand(module, loss, settings):
    """Plain stochastic gradient descent with momentum, from its formula."""
    X, y = digits()
    velocity = [torch.zeros_like(p) for p in module.parameters()]
    n_batches = -(-len(y) // settings.batch_size)
    for epoch in range(settings.epochs):
        order = np.random.default_rng([settings.seed, 0, epoch]).permutation(len(y))
        for place, rows in enumerate(np.array_split(order, n_batches)):
            progress = (epoch * n_batches + place) / (settings.epochs * n_batches)
            value = loss(module(torch.from_numpy(X[rows])), torch.from_numpy(y[rows]))
            gradients = torch.autograd.grad(value, list(module.parameters()))
            with torch.no_grad():
                for p, v, g in zip(module.parameters(), velocity, gradients, strict=True):
                    step = g + settings.weight_decay * p
                    v.mul_(0.9).add_(step)
                    p.sub_(settings.rate(progress) * (step + 0.9 * v))


SGD = TrainingSettings(
    epochs=2, batch_size=32, optimizer="sgd", learning_rate=0.1, weight_decay=0.01
)


def test_a_column_is_trained_on_the_classes_it_uses():
    column = 1  # leaves out class 2
    trained, expected = network(), network()
    train(Unit("column", trained, ColumnObjective(CODE[:, [column]])), data(), SGD)

    def loss(outputs, targets):
        sides = CODE[targets, column]
        used = sides != 0
        return functional.binary_cross_entropy_with_logits(outputs[used, 0], (sides[used] + 1) / 2)

    by_hand(expected, loss, SGD)
    for own, other in zip(trained.parameters(), expected.parameters(), strict=True):
        assert torch.allclose(own, other, atol=1e-5)


def test_networks_are_trained_together_through_the_decoder():
    trained, expected = (ColumnEnsemble([network(s) for s in range(3)]) for _ in range(2))
    decoder = CodeDecoder(TERNARY, "log-soft")
    train(Unit("twin", trained, ClassObjective(decoder)), data(), SGD)
    by_hand(expected, lambda z, y: functional.cross_entropy(decoder(z), y), SGD)
    for own, other in zip(trained.parameters(), expected.parameters(), strict=True):
        assert torch.allclose(own, other, atol=1e-5)


def test_the_weights_of_the_best_epoch_are_kept():
    samples = data(fraction=0.3)
    settings = TrainingSettings(
        epochs=12, batch_size=16, learning_rate=0.5, optimizer="sgd", patience=3
    )
    module = network()
    objective = ColumnObjective(CODE[:, [0]])
    (record,) = train(Unit("column", module, objective), samples, settings)
    held_out = samples.validation
    outputs = module(torch.from_numpy(samples.inputs[held_out]))
    (loss,) = objective.losses(outputs, torch.from_numpy(samples.targets[held_out])).tolist()
    assert loss == pytest.approx(min(record.validation_losses), rel=1e-5)
    assert len(record.losses) == len(record.validation_losses)
    assert len(record.losses) in {12, record.best_epoch + 3}
    assert not module.training


def test_patience_ends_training_early():
    settings = TrainingSettings(epochs=50, learning_rate=0.0, patience=2)
    unit = Unit("column", network(), ColumnObjective(CODE[:, [0]]))
    (record,) = train(unit, data(fraction=0.2), settings)
    assert len(record.losses) == 3
    assert record.best_epoch == 1


def test_records_without_validation_keep_the_last_epoch():
    assert TrainingRecord((3.0, 2.0, 2.5)).best_epoch == 3
    assert TrainingRecord((3.0, 2.0, 2.5), (1.0, 0.5, 0.7)).best_epoch == 2


def test_mixed_precision_trains_nearly_the_same():
    losses = []
    for mixed in (False, True):
        settings = TrainingSettings(epochs=3, batch_size=32, mixed_precision=mixed)
        unit = Unit("column", network(), ColumnObjective(CODE[:, [0]]))
        losses.append(train(unit, data(), settings)[0].losses)
        assert all(p.dtype == torch.float32 for p in unit.module.parameters())
    assert losses[0] != losses[1]
    assert losses[0] == pytest.approx(losses[1], rel=0.05)


def test_a_loss_that_is_not_finite_is_an_error():
    settings = TrainingSettings(epochs=3, optimizer="sgd", learning_rate=1e30)
    with pytest.raises(TrainingError, match="loss of column is no longer finite"):
        train(Unit("column", network(), ColumnObjective(CODE[:, [0]])), data(), settings)


def test_every_epoch_is_told():
    told = []
    unit = Unit("network", nn.Sequential(nn.Flatten(), nn.Linear(64, 4)), ClassObjective())
    (record,) = train(unit, data(), TrainingSettings(epochs=3), on_epoch=told.append)
    assert told == pytest.approx(record.losses)
    assert told[-1] < told[0]
