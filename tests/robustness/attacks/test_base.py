from dataclasses import dataclass

import numpy as np
import pytest
import torch
from tests.robustness.networks import Clock, images, ordinary, samples

from ecoc.errors import InvalidInputError
from ecoc.robustness import View
from ecoc.robustness.attacks import (
    APGD,
    FGSM,
    PGD,
    SPSA,
    Attack,
    AttackError,
    EveryTarget,
    HopSkipJump,
    Neighbours,
    Noise,
    ParticleSwarm,
    Square,
    base,
)
from ecoc.robustness.attacks.gradient import AnnealedPGD

POOL = samples(100, start=0)
ATTACKS = [
    FGSM(),
    PGD(steps=5),
    APGD(steps=8),
    AnnealedPGD(steps=8),
    Square(queries=20),
    SPSA(steps=2, samples=4),
    ParticleSwarm(particles=4, steps=3),
    HopSkipJump(steps=2, samples=8),
    EveryTarget(FGSM("margin")),
    Noise(4),
    Neighbours(*POOL),
]
NAMES = [type(attack).__name__ for attack in ATTACKS]


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("attack", ATTACKS, ids=NAMES)
def test_what_holds_for_every_attack(attack, norm):
    network, (x, y) = ordinary(), samples(50)
    epsilon = 0.2 if norm == "linf" else 1.5
    found = attack(network, x, y, epsilon=epsilon, norm=norm, random_state=3)
    again = attack(network, x, y, epsilon=epsilon, norm=norm, random_state=3)
    assert torch.equal(found.points, again.points)
    change = (found.points.double() - x.double()).abs()
    length = change.amax(1) if norm == "linf" else change.norm(dim=1)
    assert bool((length <= epsilon).all())
    assert bool(((found.points >= 0) & (found.points <= 1)).all())
    # Success and margins are what the model says about the points.
    scores = network(found.points).detach().double()
    assert torch.equal(found.success, scores.argmax(1) != y)
    own = scores.gather(1, y[:, None])[:, 0]
    others = scores.scatter(1, y[:, None], -torch.inf).amax(1)
    assert torch.allclose(found.margins, own - others, atol=1e-5)
    # What is misclassified as it is stays as it is.
    clean = network(x).argmax(1) != y
    assert torch.equal(found.points[clean], x[clean])
    assert bool((found.queries[clean] == 1).all())
    assert bool((found.queries[~clean] > 1).all())
    assert found.success_rate > clean.double().mean().item()


@pytest.mark.parametrize("attack", ATTACKS, ids=NAMES)
def test_no_sample_is_touched_at_radius_zero(attack):
    x, y = samples(10)
    found = attack(ordinary(), x, y, epsilon=0.0)
    assert torch.equal(found.points, x)


@pytest.mark.parametrize(
    "attack", [a for a in ATTACKS if not isinstance(a, EveryTarget)], ids=lambda a: type(a).__name__
)
def test_with_targets_only_they_count(attack):
    network, (x, y) = ordinary(), samples(40)
    targets = (y + 1) % 10
    found = attack(network, x, y, epsilon=0.6, targets=targets)
    assert torch.equal(found.success, network(found.points).argmax(1) == targets)
    either = attack(network, x, y, epsilon=0.6, targets=targets, accept="any")
    assert torch.equal(either.success, network(either.points).argmax(1) != y)
    assert int(either.success.sum()) >= int(found.success.sum())


@pytest.mark.parametrize("attack", ATTACKS[:-1], ids=NAMES[:-1])
def test_images_are_attacked_as_images(attack):
    x, y = samples(20)
    found = attack(images(), x.reshape(-1, 1, 8, 8), y, epsilon=0.3)
    assert found.points.shape == (20, 1, 8, 8)
    assert found.success.any()


def test_batches_change_nothing_for_attacks_without_chance():
    network, (x, y) = ordinary(), samples(30)
    attack = PGD(steps=5, random_start=False)
    whole = attack(network, x, y, epsilon=0.1)
    parts = attack(network, x, y, epsilon=0.1, batch_size=7)
    assert torch.equal(whole.success, parts.success)
    assert torch.allclose(whole.points, parts.points, atol=1e-6)


def test_success_is_judged_by_what_decides():
    x, y = samples(30)
    network = ordinary()
    # The surrogate is of no use at all: its gradient is that of another network's noise.
    view = View(network, surrogate=lambda z: 50 * z, decision=lambda z: z)
    found = PGD(steps=10, loss="margin")(view, x, y, epsilon=0.1)
    assert torch.equal(found.success, network(found.points).argmax(1) != y)
    flat = View(network, surrogate=lambda z: 0 * z)
    stalled = PGD(steps=10, loss="margin", random_start=False)(flat, x, y, epsilon=0.1)
    assert stalled.gradients_zero_share == 1
    assert stalled.success_rate < found.success_rate


def test_arrays_and_lists_are_taken_too():
    x, y = samples(5)
    found = FGSM()(ordinary(), x.double().numpy(), y.tolist(), epsilon=0.1)
    assert found.points.dtype == torch.float32
    assert repr(found) == f"<AttackResult: {int(found.success.sum())} of 5 broken>"


@dataclass(frozen=True)
class Cheat(Attack):
    def _run(self, search):
        search.look(search.standing, search.ball.centre + 10)


def test_points_outside_are_never_returned():
    x = torch.full((3, 2), 0.5)
    with pytest.raises(AttackError, match="left the ball"):
        Cheat()(lambda z: torch.stack([9 - z[:, 0], z[:, 0]], 1), x, [0, 0, 0], epsilon=0.1)


def test_what_cannot_be_is_refused():
    network, (x, y) = ordinary(), samples(5)
    with pytest.raises(InvalidInputError, match="whole number for each of the 5"):
        FGSM()(network, x, y[:3], epsilon=0.1)
    with pytest.raises(InvalidInputError, match="whole number for each of the 5"):
        FGSM()(network, x, y, targets=y.double(), epsilon=0.1)
    with pytest.raises(InvalidInputError, match="at least one"):
        FGSM()(network, x[:0], y[:0], epsilon=0.1)
    with pytest.raises(InvalidInputError, match="model must be"):
        FGSM()("network", x, y, epsilon=0.1)
    with pytest.raises(InvalidInputError, match="accept must be"):
        FGSM()(network, x, y, targets=y, accept="all", epsilon=0.1)
    with pytest.raises(InvalidInputError, match="NaN"):
        FGSM()(lambda z: z * np.nan, x, y, epsilon=0.1)
    with pytest.raises(InvalidInputError, match="chooses its targets itself"):
        EveryTarget()(network, x, y, targets=(y + 1) % 10, epsilon=0.1)


@pytest.mark.parametrize("attack", ATTACKS, ids=NAMES)
def test_a_time_limit_ends_an_attack_in_the_middle(attack, monkeypatch):
    asked = []

    def network(points):
        asked.append(len(points))
        return ordinary()(points)

    x, y = samples(10)
    monkeypatch.setattr(base, "time", Clock())
    found = attack(network, x, y, epsilon=0.01, time_limit=2.5)
    assert len(asked) <= 4  # the samples themselves, and then for as long as there is time
    assert len(found.points) == len(found.success) == 10


def test_what_was_found_by_the_time_limit_is_kept(monkeypatch):
    x, y = samples(20)
    monkeypatch.setattr(base, "time", Clock())
    some = PGD(steps=100)(ordinary(), x, y, epsilon=0.15, time_limit=20)
    monkeypatch.undo()
    every = PGD(steps=100)(ordinary(), x, y, epsilon=0.15)
    assert 0 < some.success.sum() < every.success.sum()
    with pytest.raises(InvalidInputError, match="time_limit"):
        FGSM()(ordinary(), x, y, epsilon=0.1, time_limit=-1)
