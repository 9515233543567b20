from dataclasses import dataclass

import numpy as np
import pytest
import torch
from tests.robustness.attacks.linear import CASES, best_margins, linear_case
from tests.robustness.networks import Scaled, ordinary, samples

from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.robustness import View
from ecoc.robustness.attacks import APGD, FGSM, PGD, Attack, EveryTarget
from ecoc.robustness.attacks.base import ATTACK_LOSSES
from ecoc.robustness.attacks.gradient import _checkpoints


@pytest.mark.parametrize(("norm", "box"), CASES)
@pytest.mark.parametrize(
    "attack",
    [
        FGSM(),
        FGSM("margin"),
        PGD(steps=20, random_start=False),
        PGD(steps=10, loss="margin", random_start=False),
    ],
)
def test_the_best_attack_on_a_linear_model_is_found(attack, norm, box):
    layer, x, y = linear_case(2)
    best = best_margins(layer, x, y, 0.15, norm, box=box)
    found = attack(layer, x, y, epsilon=0.15, norm=norm, box=box)
    assert 0.1 < (best > 0).mean() < 0.9
    assert np.array_equal(found.success, best > 0)
    # A sample that falls is left alone from then on; of the others the worst point is known.
    stands = best <= 0
    assert -found.margins[stands].numpy() == pytest.approx(best[stands], abs=1e-6)


@pytest.mark.parametrize(("norm", "box"), CASES)
def test_random_starts_come_near_the_best_attack(norm, box):
    layer, x, y = linear_case(2)
    best = best_margins(layer, x, y, 0.15, norm, box=box)
    found = PGD(steps=40)(layer, x, y, epsilon=0.15, norm=norm, box=box)
    assert not found.success[torch.tensor(best <= 0)].any()
    assert found.success[torch.tensor(best > 0.02)].all()


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_steps_are_those_of_foolbox(norm):
    foolbox = pytest.importorskip("foolbox")
    network, (x, y) = ordinary(), samples(80)
    kind = foolbox.attacks.LinfPGD if norm == "linf" else foolbox.attacks.L2PGD
    epsilon = 0.01 if norm == "linf" else 0.05
    # So small a ball that losses only grow: the worst point is the last one.
    theirs = kind(rel_stepsize=0.15, steps=6, random_start=False)
    wrapped = foolbox.PyTorchModel(network, bounds=(0, 1))
    _, clipped, broken = theirs(wrapped, x, foolbox.criteria.Misclassification(y), epsilons=epsilon)
    ours = PGD(steps=6, step_size=0.15, random_start=False)
    found = ours(network, x, y, epsilon=epsilon, norm=norm)
    stand = ~broken & ~found.success
    assert stand.sum() > 60
    assert (found.points - x).flatten(1).any(1)[stand].all()
    assert torch.allclose(found.points[stand], clipped[stand], atol=2e-6)
    assert torch.equal(found.success, broken)


@pytest.mark.parametrize(("norm", "epsilon"), [("linf", 0.08), ("l2", 0.5)])
def test_as_many_fall_as_to_foolbox(norm, epsilon):
    foolbox = pytest.importorskip("foolbox")
    network, (x, y) = ordinary(), samples(150)
    kind = foolbox.attacks.LinfPGD if norm == "linf" else foolbox.attacks.L2PGD
    theirs = kind(rel_stepsize=2.5 / 40, steps=40, random_start=False)
    wrapped = foolbox.PyTorchModel(network, bounds=(0, 1))
    _, _, broken = theirs(wrapped, x, foolbox.criteria.Misclassification(y), epsilons=epsilon)
    found = PGD(steps=40, random_start=False)(network, x, y, epsilon=epsilon, norm=norm)
    rate = broken.double().mean().item()
    assert 0.1 < rate < 0.9
    # The worst point of all steps counts here, and the last one there.
    assert rate - 0.01 <= found.success_rate <= rate + 0.04


def test_zero_gradients_are_counted_and_move_nothing():
    network, (x, y) = Scaled(ordinary(), 1000.0), samples()
    found = PGD(steps=10, random_start=False)(network, x, y, epsilon=0.1)
    assert found.gradients_zero_share > 0.9
    stands = ~found.success
    assert torch.equal(found.points[stands], x[stands])
    # Every step of every sample that stands is counted, though most were not computed.
    assert found.n_gradients >= 10 * int(stands.sum())
    healthy = PGD(steps=10, loss="margin")(network, x, y, epsilon=0.1)
    assert healthy.gradients_zero_share == 0
    assert healthy.success_rate > found.success_rate


def test_restarts_only_help():
    network, (x, y) = ordinary(), samples(100)
    once, often = (
        PGD(steps=1, restarts=restarts, step_size=0.5)(network, x, y, epsilon=0.12)
        for restarts in (1, 10)
    )
    assert bool((often.success | ~once.success).all())
    assert int(often.success.sum()) > int(once.success.sum())


def test_what_cannot_be_is_refused():
    for wrong in ({"steps": 0}, {"restarts": 0}, {"step_size": -1.0}, {"loss": "ce"}):
        with pytest.raises(InvalidInputError):
            PGD(**wrong)


@pytest.mark.parametrize(("norm", "box"), CASES)
def test_auto_pgd_finds_the_best_attack_on_a_linear_model(norm, box):
    layer, x, y = linear_case(2, seed=1)
    best = best_margins(layer, x, y, 0.15, norm, box=box)
    found = APGD(steps=60)(layer, x, y, epsilon=0.15, norm=norm, box=box)
    assert 0.1 < (best > 0).mean() < 0.9
    assert np.array_equal(found.success, best > 0)


def test_checkpoints_are_those_of_the_paper():
    # Croce & Hein: p0 = 0, p1 = 0.22, p_{j+1} = p_j + max(p_j - p_{j-1} - 0.03, 0.06).
    expected = {22, 41, 57, 70, 80, 87, 93, 99}
    assert {step for step in _checkpoints(100) if step <= 100} == expected
    assert {step for step in _checkpoints(10) if step <= 10} == {3, 5, 6, 7, 8, 9, 10}


@pytest.mark.parametrize(("norm", "epsilon"), [("linf", 0.08), ("l2", 0.5)])
@pytest.mark.parametrize(("loss", "theirs"), [("cross-entropy", "ce"), ("dlr", "dlr")])
def test_as_many_fall_as_to_autoattack(norm, epsilon, loss, theirs):
    base = pytest.importorskip("pyautoattack.autopgd_base")
    network, (x, y) = ordinary(), samples(150)
    kind = {"linf": "Linf", "l2": "L2"}[norm]
    with torch.random.fork_rng():
        other = base.APGDAttack(network, n_iter=30, norm=kind, eps=epsilon, loss=theirs)
        points = other.perturb(x, y)
    rate = (network(points).argmax(1) != y).double().mean().item()
    found = APGD(steps=30, loss=loss)(network, x, y, epsilon=epsilon, norm=norm)
    assert 0.1 < rate < 0.9
    assert found.success_rate == pytest.approx(rate, abs=0.02)


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_losses_are_as_high_as_autoattacks(norm):
    base = pytest.importorskip("pyautoattack.autopgd_base")
    network, (x, y) = ordinary(), samples(80)
    epsilon = 0.02 if norm == "linf" else 0.1
    kind = {"linf": "Linf", "l2": "L2"}[norm]
    with torch.random.fork_rng():
        other = base.APGDAttack(network, n_iter=30, norm=kind, eps=epsilon, loss="ce")
        other.init_hyperparam(x)
        theirs = other.attack_single_run(x, y)[2]
    found = APGD(steps=30, loss="cross-entropy")(network, x, y, epsilon=epsilon, norm=norm)
    stand = ~found.success
    ours = ATTACK_LOSSES["cross-entropy"](network(found.points), y, None)
    assert stand.sum() > 60
    assert torch.allclose(ours[stand], theirs[stand], rtol=0.05, atol=1e-3)


def test_fewer_steps_than_plain_steps_need():
    network, (x, y) = ordinary(), samples(150)
    long = PGD(steps=200, restarts=3, loss="margin")(network, x, y, epsilon=0.08)
    short = APGD(steps=30)(network, x, y, epsilon=0.08)
    assert short.success_rate >= long.success_rate - 0.02


@pytest.mark.parametrize(("norm", "box"), CASES)
def test_every_class_of_a_linear_model_is_tried(norm, box):
    layer, x, y = linear_case(5)
    best = best_margins(layer, x, y, 0.08, norm, box=box)
    found = EveryTarget(FGSM("margin"))(layer, x, y, epsilon=0.08, norm=norm, box=box)
    assert 0.1 < (best > 0).mean() < 0.9
    assert np.array_equal(found.success, best > 0)


def test_fewer_targets_are_the_likeliest():
    network, (x, y) = ordinary(), samples(60)
    rates = [
        EveryTarget(APGD(steps=10, random_start=False), n)(network, x, y, epsilon=0.08).success
        for n in (1, None)
    ]
    assert bool((rates[1] | ~rates[0]).all())
    assert rates[0].double().mean() > 0.8 * rates[1].double().mean()
    with pytest.raises(InvalidInputError, match="n_targets"):
        EveryTarget(n_targets=0)


@dataclass(frozen=True)
class Steps(Attack):
    """One step from the sample towards the target; what it goes for is written down."""

    length: float
    seen: list

    def _run(self, search):
        rows = search.standing
        self.seen.append(search.targets[rows].tolist())
        moved = search.ball.centre[rows].clone()
        moved[torch.arange(len(rows)), search.targets[rows]] += self.length
        search.look(rows, search.ball.take(rows).project(moved))


def test_the_last_run_goes_for_the_class_that_came_nearest():
    # Class 1 is next at the sample; a step is worth most towards class 2.
    gains = torch.tensor([1.0, 1.0, 4.0, 2.0])
    x = torch.tensor([[0.9, 0.5, 0.1, 0.15]] * 2)
    y = torch.tensor([0, 0])
    seen = []
    attack = EveryTarget(Steps(0.05, seen), last=Steps(0.2, seen))
    found = attack(lambda points: gains * points, x, y, epsilon=0.2)
    assert seen == [[1, 1], [2, 2], [3, 3], [2, 2]]
    assert found.success.all()


def test_the_last_run_can_push_on_other_scores():
    x, y = torch.tensor([[0.6, 0.2]]), torch.tensor([0])
    # The first run pushes the wrong way.
    view = View(lambda points: points, surrogate=torch.neg)
    away = APGD(steps=5, random_start=False)
    rates = [
        EveryTarget(away, last=away, last_scores=scores)(view, x, y, epsilon=0.3).success_rate
        for scores in (None, lambda points: points)
    ]
    assert rates == [0, 1]


def test_the_last_run_is_left_out_where_nothing_stands():
    seen = []
    attack = EveryTarget(Steps(0.5, seen), last=Steps(0.5, seen))
    found = attack(lambda points: points, torch.tensor([[0.5, 0.4]]), [0], epsilon=0.5)
    assert found.success.all()
    assert seen == [[1]]


def test_the_last_run_has_to_be_fit_for_the_threat():
    network, (x, y) = ordinary(), samples(3)
    with pytest.raises(UnsupportedError, match="PGD is no attack for norm='l1'"):
        EveryTarget(APGD(steps=2), last=PGD(steps=2))(network, x, y, epsilon=0.1, norm="l1")
