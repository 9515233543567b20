import itertools

import pytest
import torch
from tests.nn.cases import tiny_cnn
from torch import nn

from ecoc.errors import InvalidInputError
from ecoc.nn.networks import (
    ColumnEnsemble,
    InputScaling,
    LogitDifference,
    StackedNetworks,
    interval_bounds,
    supports_intervals,
)


def box(*shape, radius=0.2):
    centre = torch.rand(*shape, generator=torch.manual_seed(1))
    return centre - radius, centre + radius


def networks():
    torch.manual_seed(0)
    normalisation = nn.BatchNorm2d(2)
    normalisation.weight.data = torch.tensor([-2.0, 1.5])  # one channel turns around
    normalisation.running_mean += 0.3
    return {
        "dense": nn.Sequential(nn.Flatten(), nn.Linear(8, 5), nn.Tanh(), nn.Linear(5, 2)),
        "convolutions": nn.Sequential(
            nn.Conv2d(2, 4, 3, stride=2, padding=1, groups=2), nn.ReLU(), nn.Flatten()
        ),
        "average": nn.Sequential(nn.AvgPool2d(2), nn.Flatten(), nn.Linear(2, 3)),
        "maximum": nn.Sequential(nn.Conv2d(2, 3, 1), nn.MaxPool2d(2), nn.Flatten()),
        "normalised": nn.Sequential(normalisation, nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval(),
        "scaled": nn.Sequential(InputScaling(-3, 5), nn.Flatten(), nn.Linear(8, 4), nn.Sigmoid()),
        "difference": nn.Sequential(nn.Flatten(), nn.Linear(8, 6), LogitDifference()),
        "nested": nn.Sequential(nn.Sequential(nn.Identity(), nn.Flatten()), nn.Dropout()).eval(),
    }


@pytest.mark.parametrize("name", networks())
def test_no_point_of_the_box_leaves_the_bounds(name):
    network = networks()[name].double()
    lower, upper = (end.double() for end in box(3, 2, 2, 2))
    low, high = interval_bounds(network, lower, upper)
    assert (low <= high).all()
    assert (low < high).any()
    for seed in range(300):
        share = torch.rand(lower.shape, generator=torch.manual_seed(seed), dtype=torch.float64)
        if seed % 2:
            share = share.round()  # corners, where a linear function has its extremes
        outputs = network(lower + share * (upper - lower))
        assert (outputs >= low - 1e-12).all()
        assert (outputs <= high + 1e-12).all()


def test_bounds_of_one_linear_layer_are_reached_at_corners():
    layer = nn.Linear(3, 2).double()
    lower, upper = (end.double() for end in box(1, 3))
    corners = torch.stack(
        [
            torch.where(torch.tensor(side), upper[0], lower[0])
            for side in itertools.product([True, False], repeat=3)
        ]
    )
    values = layer(corners).detach()
    low, high = (end.detach() for end in interval_bounds(layer, lower, upper))
    assert low[0] == pytest.approx(values.min(dim=0).values)
    assert high[0] == pytest.approx(values.max(dim=0).values)


def test_a_box_without_extent_has_the_outputs_as_bounds():
    network = networks()["convolutions"]
    point, _ = box(2, 2, 2, 2)
    low, high = interval_bounds(network, point, point)
    assert torch.allclose(low, network(point), atol=1e-6)
    assert torch.allclose(high, network(point), atol=1e-6)


def test_ensembles_and_stacked_networks_have_the_bounds_of_their_networks():
    torch.manual_seed(3)
    members = [nn.Sequential(InputScaling(0, 2), *tiny_cnn((1, 8, 8), 1)) for _ in range(3)]
    lower, upper = box(2, 1, 8, 8)
    single = [interval_bounds(member, lower, upper) for member in members]
    for joined in (ColumnEnsemble(members), StackedNetworks(members)):
        assert supports_intervals(joined)
        found = interval_bounds(joined, lower, upper)
        for end in (0, 1):
            expected = torch.cat([pair[end] for pair in single], dim=1)
            assert torch.allclose(found[end], expected, atol=1e-6)


def test_gradients_reach_the_weights():
    layer = nn.Linear(3, 2)
    low, high = interval_bounds(layer, *box(1, 3))
    (high - low).sum().backward()
    # The width grows with the size of every weight.
    assert torch.equal(layer.weight.grad > 0, layer.weight > 0)


@pytest.mark.parametrize(
    ("network", "message"),
    [
        (nn.Sequential(nn.Flatten(), nn.Softmax(dim=1)), "not for Softmax"),
        (nn.BatchNorm2d(2).train(), "BatchNorm2d in training mode"),
        (nn.Conv2d(2, 1, 3, padding=1, padding_mode="circular"), "padded with zeros"),
    ],
)
def test_unknown_layers_are_named(network, message):
    with pytest.raises(InvalidInputError, match=message):
        interval_bounds(network, *box(1, 2, 2, 2))
