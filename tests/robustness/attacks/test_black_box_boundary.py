import pytest
import torch
from tests.robustness.attacks.linear import best_margins, linear_case
from tests.robustness.networks import ordinary, samples

from ecoc.errors import InvalidInputError
from ecoc.robustness.attacks import HopSkipJump, Noise


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("box", [(0.0, 1.0), None])
def test_predicted_classes_are_enough_for_a_linear_model(norm, box):
    layer, x, y = linear_case(2, n_features=3, n=100)

    def decided(z):
        return torch.nn.functional.one_hot(layer(z).argmax(1), 2).double()

    attack = HopSkipJump(steps=15, samples=60)
    found = attack(decided, x, y, epsilon=0.2, norm=norm, box=box)
    best = torch.tensor(best_margins(layer, x, y, 0.2, norm, box=box))
    if not (norm == "l2" and box):
        assert not bool(found.success[best <= 0].any())
        assert found.success[best > 0].double().mean() > 0.85
    assert torch.equal(found.success, layer(found.points).argmax(1) != y)
    assert found.success.any()


def test_it_beats_noise_without_scores():
    x, y = samples(40)
    model = ordinary()

    def decided(z):
        return torch.nn.functional.one_hot(model(z).argmax(1), 10).float()

    found = HopSkipJump(steps=10, samples=40)(decided, x, y, epsilon=0.2)
    assert found.success_rate > Noise(200)(decided, x, y, epsilon=0.2).success_rate + 0.2


def test_a_constant_model_stands():
    found = HopSkipJump()(
        lambda z: torch.tensor([[1.0, 0.0]]).expand(len(z), 2),
        torch.rand(3, 4),
        [0, 0, 0],
        epsilon=1.0,
    )
    assert not found.success.any()


def test_what_cannot_be_is_refused():
    for wrong in ({"steps": 0}, {"samples": 0}, {"starts": 0}):
        with pytest.raises(InvalidInputError):
            HopSkipJump(**wrong)
