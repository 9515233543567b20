import numpy as np
import pytest
import torch
from tests.robustness.attacks.linear import best_margins, linear_case
from tests.robustness.networks import ordinary, samples

from ecoc.errors import InvalidInputError
from ecoc.robustness.attacks import PGD, SPSA, Neighbours, Noise, ParticleSwarm


def without_gradients(x):
    with torch.no_grad():
        return ordinary()(x)


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("attack", [SPSA(steps=40, samples=20), ParticleSwarm(steps=60)])
def test_searches_come_near_the_best_attack_on_a_linear_model(attack, norm):
    layer, x, y = linear_case(2, n_features=4)
    best = best_margins(layer, x, y, 0.15, norm, box=None)
    found = attack(layer, x, y, epsilon=0.15, norm=norm, box=None)
    assert not bool(found.success[torch.tensor(best <= 0)].any())
    assert found.success[torch.tensor(best > 0)].double().mean() > 0.97


def test_they_need_no_gradients_and_beat_noise():
    x, y = samples(40)
    white = PGD(steps=20, loss="margin")(ordinary(), x, y, epsilon=0.15).success_rate
    noise = Noise()(without_gradients, x, y, epsilon=0.15).success_rate
    spsa = SPSA(steps=20, samples=16)(without_gradients, x, y, epsilon=0.15).success_rate
    swarm = ParticleSwarm(20, 20)(without_gradients, x, y, epsilon=0.15).success_rate
    assert noise < swarm <= white
    assert noise < spsa <= white


def test_neighbours_go_straight_to_the_nearest_of_another_class():
    x = torch.tensor([[0.5, 0.5]])
    pool = torch.tensor([[0.5, 0.6], [0.9, 0.5], [0.5, 0.0]])
    attack = Neighbours(pool, torch.tensor([0, 1, 1]), n_tries=1)
    model = lambda z: torch.stack([z[:, 1] * 0 + 0.85, z[:, 0]], 1)  # noqa: E731
    found = attack(model, x, [0], epsilon=0.5)
    assert torch.allclose(found.points, torch.tensor([[0.9, 0.5]]))
    assert found.success.all()
    assert not attack(model, x, [0], epsilon=0.3).success.any()


def test_neighbours_need_somebody_of_another_class():
    x, y = samples(4)
    found = Neighbours(x, y[:1].expand(4))(ordinary(), x, y[:1].expand(4), epsilon=1.0)
    assert np.array_equal(found.points[~found.success], x[~found.success])


def test_what_cannot_be_is_refused():
    for make in (
        lambda: Noise(0),
        lambda: SPSA(samples=0),
        lambda: SPSA(width=-1.0),
        lambda: ParticleSwarm(particles=0),
        lambda: ParticleSwarm(inertia=-0.1),
        lambda: Neighbours(torch.zeros(1, 2), torch.zeros(1), n_tries=0),
    ):
        with pytest.raises(InvalidInputError):
            make()
