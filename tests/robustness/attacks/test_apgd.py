import numpy as np
import pytest
import torch
from tests.robustness.attacks.linear import CASES, best_margins, linear_case
from tests.robustness.networks import ordinary, samples

from ecoc.errors import InvalidInputError
from ecoc.robustness import APGD, FGSM, PGD, EveryTarget
from ecoc.robustness.attacks.apgd import _checkpoints
from ecoc.robustness.attacks.losses import ATTACK_LOSSES

base = pytest.importorskip("pyautoattack.autopgd_base")


@pytest.mark.parametrize(("norm", "box"), CASES)
def test_the_best_attack_on_a_linear_model_is_found(norm, box):
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
