import numpy as np
import pytest
import torch
from torch import nn

from ecoc.robustness.certificates.bounds import IntervalBounds, exact_copy
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
