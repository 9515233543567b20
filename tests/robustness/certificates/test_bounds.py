import numpy as np
import pytest
import torch
from torch import nn

from ecoc.robustness.certificates.bounds import IntervalBounds, exact_copy
from ecoc.robustness.certificates.crown import CrownBounds
from ecoc.robustness.threat import Region


def network(seed, outputs=1):
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(3, 6), nn.ReLU(), nn.Linear(6, outputs))


def test_networks_stand_side_by_side():
    networks = [network(0), network(1)]
    points = np.random.default_rng(0).random((4, 3))
    both = IntervalBounds(networks, points, Region())
    with torch.no_grad():
        expected = torch.cat([n(torch.from_numpy(points).float()) for n in networks], 1)
    assert both.scores == pytest.approx(expected.numpy(), abs=1e-6)
    for i, one in enumerate(networks):
        alone = IntervalBounds([one], points, Region()).bounds(0.1)
        assert np.array_equal(both.bounds(0.1).lower[:, i], alone.lower[:, 0])


def test_a_common_last_layer_takes_combinations_in():
    points = np.random.default_rng(1).random((6, 3))
    columns = IntervalBounds([network(2, outputs=3)], points, Region())
    forms = np.random.default_rng(3).normal(size=(6, 2, 3))
    assert columns.joint
    folded = columns.combined(0.1, forms)
    apart = super(IntervalBounds, columns).combined(0.1, forms)
    assert (folded > apart).all()
    generator = np.random.default_rng(2)
    for i, point in enumerate(points):
        near = np.clip(point + generator.uniform(-0.1, 0.1, (2000, 3)), 0, 1)
        with torch.no_grad():
            values = columns.networks[0](torch.from_numpy(near)).numpy()
        assert (values @ forms[i].T >= folded[i]).all()


def test_the_model_itself_stays_as_it_is():
    given = network(3)
    given.train()
    copied = exact_copy(given)
    assert given.training
    assert given[0].weight.dtype == torch.float32
    assert copied[0].weight.dtype == torch.float64
    assert not copied.training


def cancelling(size, seed=0):
    """A network whose hidden biases are large and cancel in what comes after them."""
    torch.manual_seed(seed)
    first, last = nn.Linear(3, 8), nn.Linear(8, 2)
    first.bias.data += size
    last.bias.data -= (last.weight.sum(dim=1) * size).detach()
    return nn.Sequential(first, nn.ReLU(), last)


@pytest.mark.parametrize("kind", [IntervalBounds, CrownBounds])
def test_bounds_hold_for_the_network_as_it_computes(kind):
    region, points = Region(), np.random.default_rng(4).random((10, 3))
    network = cancelling(1e4)
    columns = kind([network], points, region)
    within = columns.bounds(1e-5)
    forms = np.tile([[[1.0, -1.0]]], (10, 1, 1))
    least = columns.combined(1e-5, forms)[:, 0]
    generator, seen = np.random.default_rng(5), []
    for _ in range(200):
        near = np.clip(points + generator.uniform(-1e-5, 1e-5, points.shape), 0, 1)
        with torch.no_grad():
            seen.append(network(torch.from_numpy(near).float()).double().numpy())
    lowest, highest = np.min(seen, axis=0), np.max(seen, axis=0)
    assert (within.lower <= lowest).all()
    assert (within.upper >= highest).all()
    assert (least <= np.min([s[:, 0] - s[:, 1] for s in seen], axis=0)).all()
    # What cancels takes the network far from exact arithmetic.
    assert np.abs(np.array(seen) - columns.scores).max() > 1e-4
    # Where nothing cancels it costs next to nothing.
    small = kind([cancelling(0.0)], points, region)
    width = (small.bounds(1e-5).upper - small.bounds(1e-5).lower).max()
    assert width < 2e-4
