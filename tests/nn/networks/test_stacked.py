import pytest
import torch
from tests.nn.cases import normalised_cnn, tiny_cnn, tiny_mlp
from torch import nn

from ecoc.errors import InvalidInputError
from ecoc.nn.networks import ColumnEnsemble, StackedNetworks
from ecoc.nn.networks.architectures import InputFormat, make_network
from ecoc.nn.networks.stacked import can_stack

INPUTS = InputFormat((64,), (1, 8, 8), 0, 2)
FACTORIES = [tiny_cnn, tiny_mlp, normalised_cnn, "paper-mnist-cnn", "small-cnn", "mlp"]


def members(factory, n=3):
    return [make_network(factory, INPUTS, 1, seed, column=True) for seed in range(n)]


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("factory", FACTORIES)
def test_stacked_networks_are_the_networks(factory, training):
    networks = members(factory)
    stacked = StackedNetworks(networks).train(training)
    ensemble = ColumnEnsemble(networks).train(training)
    inputs = 2 * torch.rand(5, 64)
    assert torch.allclose(stacked(inputs), ensemble(inputs), atol=1e-5)


def test_each_network_can_have_inputs_of_its_own():
    networks = members(tiny_cnn)
    inputs = torch.rand(5, 3, 64)
    expected = torch.cat([net(inputs[:, place]) for place, net in enumerate(networks)], dim=1)
    assert torch.allclose(StackedNetworks(networks).separate(inputs), expected, atol=1e-6)


@pytest.mark.parametrize("factory", FACTORIES)
def test_weights_go_back_where_they_came_from(factory):
    networks = members(factory)
    others = [make_network(factory, INPUTS, 1, 9 + place, column=True) for place in range(3)]
    StackedNetworks(networks).write_to(others)
    for network, other in zip(networks, others, strict=True):
        for name, value in network.state_dict().items():
            assert torch.equal(other.state_dict()[name], value)


def test_gradients_are_those_of_each_network():
    networks = members(tiny_mlp)
    stacked = StackedNetworks(networks)
    inputs = torch.rand(5, 64)
    stacked(inputs).square().sum().backward()
    ColumnEnsemble(networks)(inputs).square().sum().backward()
    found = stacked.body[0].weight.grad
    expected = torch.stack([network[3].weight.grad for network in networks])
    assert found.shape == expected.shape
    assert torch.allclose(found, expected, atol=1e-6)


def test_layers_with_randomness_or_unknown_ones_are_refused():
    network = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.Dropout(), nn.Linear(2, 1)))
    assert not can_stack(network)
    with pytest.raises(InvalidInputError, match="Dropout is not supported"):
        StackedNetworks([network, network])
