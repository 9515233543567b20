import copy
import itertools

import numpy as np
import pytest
import torch
from tests.robustness.certificates.milp import least_output
from torch import nn

from ecoc.errors import InvalidInputError
from ecoc.robustness.certificates import crown
from ecoc.robustness.certificates.bounds import IntervalBounds
from ecoc.robustness.certificates.crown import CrownBounds
from ecoc.robustness.certificates.linear import LinearBounds
from ecoc.robustness.threat import Region


def dense(seed, sizes):
    torch.manual_seed(seed)
    layers = []
    for before, after in itertools.pairwise(sizes):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def convolutional(seed, outputs=1):
    torch.manual_seed(seed)
    return nn.Sequential(
        nn.Conv2d(1, 3, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AvgPool2d(2, ceil_mode=True),
        nn.Conv2d(3, 4, 2, dilation=1),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.Flatten(),
        nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Dropout()),
        nn.Linear(6, outputs),
    ).eval()


def layers_of(network):
    linear = [layer for layer in network if isinstance(layer, nn.Linear)]
    return (
        [layer.weight.detach().double().numpy() for layer in linear],
        [layer.bias.detach().double().numpy() for layer in linear],
    )


@pytest.mark.parametrize("epsilon", [0.05, 0.2])
def test_exact_answers_lie_within_crown_within_intervals(epsilon):
    region = Region()
    network = dense(0, (4, 6, 5, 1))
    points = np.random.default_rng(0).random((5, 4))
    tight = CrownBounds([network], points, region).bounds(epsilon)
    loose = IntervalBounds([network], points, region).bounds(epsilon)
    hull = region.hull(points, epsilon)
    exact = np.array(
        [
            [least_output(*layers_of(network), low, high, [sign]) * sign for sign in (1, -1)]
            for low, high in zip(hull.lower, hull.upper, strict=True)
        ]
    )
    assert (exact[:, 0] >= tight.lower[:, 0]).all()
    assert (exact[:, 1] <= tight.upper[:, 0]).all()
    assert (tight.lower >= loose.lower).all()
    assert (tight.upper <= loose.upper).all()
    # The order is not one of equals.
    width = (exact[:, 1] - exact[:, 0]).mean()
    assert (tight.upper - tight.lower).mean() < 0.9 * (loose.upper - loose.lower).mean()
    assert width <= (tight.upper - tight.lower).mean()


def test_without_undecided_neurons_the_bounds_are_exact():
    """Near enough to a point a network is linear."""
    network = dense(1, (3, 8, 8, 1))
    points = np.random.default_rng(1).random((4, 3))
    epsilon = 1e-4
    found = CrownBounds([network], points, Region(box=None)).bounds(epsilon)
    for i, point in enumerate(points):
        x = torch.tensor(point, requires_grad=True)
        value = copy.deepcopy(network).double()(x[None])[0, 0]
        (gradient,) = torch.autograd.grad(value, x)
        least = value.item() - epsilon * gradient.abs().sum().item()
        assert found.lower[i, 0] == pytest.approx(least, abs=3e-5)


def test_exact_leads_of_column_networks_lie_above_the_joint_bound():
    """All columns in one mixed-integer program: a block network with a linear end."""
    region, epsilon = Region(), 0.1
    networks = [dense(seed, (3, 5, 1)) for seed in range(3)]
    points = np.random.default_rng(2).random((4, 3))
    forms = np.random.default_rng(7).normal(size=(4, 2, 3))
    columns = CrownBounds(networks, points, region)
    joint = columns.combined(epsilon, forms)
    apart = super(CrownBounds, columns).combined(epsilon, forms)
    hull = region.hull(points, epsilon)
    first = np.vstack([layers_of(network)[0][0] for network in networks])
    first_bias = np.concatenate([layers_of(network)[1][0] for network in networks])
    second = np.zeros((3, 15))
    for i, network in enumerate(networks):
        second[i, 5 * i : 5 * i + 5] = layers_of(network)[0][1]
    second_bias = np.concatenate([layers_of(network)[1][1] for network in networks])
    for i, (low, high) in enumerate(zip(hull.lower, hull.upper, strict=True)):
        for j, form in enumerate(forms[i]):
            exact = least_output([first, second], [first_bias, second_bias], low, high, form)
            assert exact >= joint[i, j]
            assert exact <= joint[i, j] + 2.0
    # Together is mostly better than one by one, where intervals may help single columns.
    assert (joint > apart + 1e-3).mean() > 0.5


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("box", [None, (0.0, 1.0)])
def test_no_point_of_the_region_is_outside_the_bounds(norm, box):
    network = convolutional(0, outputs=2)
    epsilon, generator = 0.15, np.random.default_rng(3)
    points = generator.random((3, 1, 7, 7))
    region = Region(norm, box)
    columns = CrownBounds([network], points, region)
    found = columns.bounds(epsilon)
    forms = np.array([[1.0, -1.0]])
    least = columns.combined(epsilon, np.stack([forms] * 3))
    low, high = region.limits
    for i, point in enumerate(points):
        change = generator.normal(size=(3000, 1, 7, 7))
        if norm == "linf":
            change = np.sign(change) * generator.random((3000, 1, 1, 1)) ** 0.1
        else:
            change /= np.sqrt((change**2).sum(axis=(1, 2, 3), keepdims=True))
        near = np.clip(point + epsilon * change, low, high)
        with torch.no_grad():
            values = network(torch.from_numpy(near).float()).numpy()
        assert (values >= found.lower[i]).all()
        assert (values <= found.upper[i]).all()
        assert (values @ forms.T >= least[i]).all()


def test_l2_bounds_are_tighter_than_those_of_the_box_around_the_ball():
    network = convolutional(1)
    points = np.random.default_rng(4).random((2, 1, 7, 7))
    ball = CrownBounds([network], points, Region("l2", None)).bounds(0.3)
    cube = CrownBounds([network], points, Region("linf", None)).bounds(0.3)
    assert (ball.lower > cube.lower).all()
    assert (ball.upper < cube.upper).all()


@pytest.mark.parametrize("limit", [("_MOST_NEURONS", 0), ("_AT_ONCE", 3)])
def test_limits_of_work_keep_the_bounds_sound(monkeypatch, limit):
    network, points = dense(2, (4, 8, 8, 8, 1)), np.random.default_rng(5).random((3, 4))
    usual = CrownBounds([network], points, Region()).bounds(0.3)
    monkeypatch.setattr(crown, *limit)
    other = CrownBounds([network], points, Region()).bounds(0.3)
    if limit[0] == "_AT_ONCE":
        assert other.lower == pytest.approx(usual.lower, abs=1e-9)
    else:
        assert (other.lower <= usual.lower + 1e-9).all()
        assert (other.lower < usual.lower).any()


def test_a_linear_network_is_bounded_as_linear_columns_are():
    torch.manual_seed(0)
    network = nn.Sequential(nn.Flatten(), nn.Linear(4, 3))
    weights, bias = (t.detach().double().numpy() for t in network[1].parameters())
    points = np.random.default_rng(6).random((5, 4))
    exact = LinearBounds(weights, bias, points, Region()).bounds(0.2)
    for kind in (CrownBounds, IntervalBounds):
        found = kind([network], points, Region()).bounds(0.2)
        assert found.lower == pytest.approx(exact.lower, abs=1e-4)
        assert (found.lower <= exact.lower).all()


def test_layers_that_are_not_known_are_named():
    network = nn.Sequential(nn.Conv2d(1, 1, 1), nn.MaxPool2d(2), nn.Flatten())
    with pytest.raises(InvalidInputError, match=r"not for MaxPool2d. Use method='ibp'"):
        CrownBounds([network], np.zeros((1, 1, 4, 4)), Region())
