import numpy as np
import pytest
import torch
from tests.nn.cases import tiny_mlp
from torch import nn

from ecoc.errors import InvalidInputError
from ecoc.nn.networks import ARCHITECTURES, LogitDifference, mlp
from ecoc.nn.networks.architectures import InputFormat, make_network

IMAGES = InputFormat((1, 8, 8), (1, 8, 8))


def size(network):
    return sum(parameter.numel() for parameter in network.parameters())


@pytest.mark.parametrize("shape", [(1, 8, 8), (3, 9, 12)])
@pytest.mark.parametrize("name", ARCHITECTURES)
def test_every_network_gives_one_logit_for_a_column_and_k_for_a_classifier(name, shape):
    inputs = InputFormat(shape, shape)
    batch = torch.rand(2, *shape)
    assert make_network(name, inputs, 1, 0, column=True).eval()(batch).shape == (2, 1)
    assert make_network(name, inputs, 5, 0).eval()(batch).shape == (2, 5)


def test_the_papers_network_has_the_papers_layers():
    inputs = InputFormat((1, 28, 28), (1, 28, 28))
    network = make_network("paper-mnist-cnn", inputs, 1, 0, column=True)
    kernels = [layer.weight.shape for layer in network if hasattr(layer, "weight")]
    assert kernels == [(32, 1, 5, 5), (64, 32, 5, 5), (1024, 3136), (2, 1024)]
    assert isinstance(network[-1], LogitDifference)


def test_resnet18_has_as_many_weights_as_resnet18():
    network = make_network("resnet18", InputFormat((3, 32, 32), (3, 32, 32)), 10, 0)
    assert size(network) == 11_173_962  # as reported for its CIFAR form with ten classes
    convolutions = [layer for layer in network.modules() if isinstance(layer, nn.Conv2d)]
    assert sum(layer.kernel_size == (3, 3) for layer in convolutions) + 1 == 18


def test_two_outputs_are_the_logit_of_their_softmax():
    outputs = torch.randn(4, 2)
    logit = LogitDifference()(outputs)[:, 0]
    assert torch.sigmoid(logit) == pytest.approx(outputs.softmax(dim=1)[:, 1], abs=1e-6)


def test_weights_depend_on_the_seed_alone():
    torch.manual_seed(7)
    before = torch.rand(1)
    torch.manual_seed(7)
    first = make_network("mlp", IMAGES, 1, 3)
    assert torch.rand(1) == before  # the global generator is left alone
    again, other = make_network("mlp", IMAGES, 1, 3), make_network("mlp", IMAGES, 1, 4)
    assert torch.equal(first[1].weight, again[1].weight)
    assert not torch.equal(first[1].weight, other[1].weight)


def test_vectors_and_ranges_are_brought_into_shape():
    images = torch.rand(3, 1, 8, 8)
    plain = make_network("small-cnn", IMAGES, 1, 0)
    flat = make_network("small-cnn", InputFormat((64,), (1, 8, 8), -2, 6), 1, 0)
    without_channel = make_network("small-cnn", InputFormat((8, 8), (1, 8, 8)), 1, 0)
    expected = plain(images).detach()
    assert flat(images.reshape(3, 64) * 8 - 2).detach() == pytest.approx(expected, abs=1e-5)
    assert torch.equal(without_channel(images[:, 0]), expected)


def test_a_factory_of_ones_own():
    network = make_network(tiny_mlp, IMAGES, 3, 0)
    assert [type(layer) for layer in network] == [nn.Flatten, nn.Linear, nn.ReLU, nn.Linear]
    wrapped = make_network(lambda shape, n: nn.Linear(shape[0], n), InputFormat((2,), (2,)), 1, 0)
    assert wrapped(torch.zeros(1, 2)).shape == (1, 1)
    assert mlp((2, 3), 4, hidden=())[1].in_features == 6


@pytest.mark.parametrize(
    ("architecture", "shape", "message"),
    [
        ("small_cnn", (1, 8, 8), "Did you mean 'small-cnn'"),
        ("small-cnn", (64,), "takes images"),
        ("small-cnn", (1, 3, 8), "at least 4 x 4 pixels, not 3 x 8"),
        (lambda shape, n: np.zeros(n), (2,), "must return a torch.nn.Module"),
    ],
)
def test_what_cannot_be_is_refused(architecture, shape, message):
    with pytest.raises(InvalidInputError, match=message):
        make_network(architecture, InputFormat(shape, shape), 1, 0)
