import numpy as np
import pytest
import torch
from tests.robustness.attacks.linear import CASES, best_margins, linear_case
from tests.robustness.networks import Scaled, ordinary, samples

from ecoc.errors import InvalidInputError
from ecoc.robustness import FGSM, PGD

foolbox = pytest.importorskip("foolbox")


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
