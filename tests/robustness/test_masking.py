import pytest
import torch

from ecoc.robustness.masking import Evidence, examine, honest_share, masking_signs
from ecoc.robustness.models import attacked_model

HEALTHY = {
    "n_samples": 200,
    "zero_gradients": {"pgd-ce-soft": 0.01},
    "beaten_by": {"noise": 0, "square": 2},
    "epsilons": (0.1, 0.5),
    "attacked": (0.4, 0.01),
    "paper": (0.45, 0.02),
    "large": 0.5,
}


def test_nothing_is_said_about_a_healthy_evaluation():
    assert masking_signs(Evidence(**HEALTHY)) == []
    assert masking_signs(Evidence(**{**HEALTHY, "paper": None})) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"zero_gradients": {"a": 0.06, "b": 0.0}}, "6 % of those of a were exactly zero"),
        ({"beaten_by": {"noise": 3}}, "noise broke 3 of 200 samples"),
        ({"paper": (0.9, 0.02)}, "at 0.1 it leaves 90 % where the battery leaves 40 %"),
        ({"attacked": (0.4, 0.06), "paper": None}, "at 0.5, with half of the box in reach"),
    ],
)
def test_each_sign_by_itself(change, said):
    (sign,) = masking_signs(Evidence(**{**HEALTHY, **change}))
    assert said in sign


class Steps(torch.autograd.Function):
    """Signs, with gradients that are zero."""

    @staticmethod
    def forward(ctx, values):
        return values.sign()

    @staticmethod
    def backward(ctx, gradient):
        return torch.zeros_like(gradient)


@pytest.mark.parametrize("hides", [False, True])
def test_a_network_that_is_constant_in_places_hides_nothing(hides):
    torch.manual_seed(0)
    points = torch.rand(40, 6)
    first, last = torch.nn.Linear(6, 8), torch.nn.Linear(8, 3)
    # No unit is active for those samples whose first feature is small.
    first.weight.data[:, 0] = 20.0
    first.bias.data[:] = -8.0

    class Hidden(torch.nn.Module):
        def forward(self, inputs):
            return Steps.apply(inputs) if hides else inputs

    network = torch.nn.Sequential(first, torch.nn.ReLU(), Hidden(), last)
    labels = network(points).argmax(dim=1)
    model = attacked_model(network, points.numpy())
    share = honest_share(model.view("logits"), points, labels, step=0.01, norm="linf")
    assert share < 0.8
    seen = examine(model, points, labels, epsilon=0.05)
    assert bool(seen.distrust) == hides


def test_a_model_whose_answers_are_no_numbers_is_not_random():
    class Lost(torch.nn.Module):
        def forward(self, inputs):
            return inputs[:, :3] / 0 * 0

    points = torch.rand(8, 6)
    model = attacked_model(Lost(), points.numpy())
    seen = examine(model, points, torch.zeros(8, dtype=torch.long), epsilon=0.05)
    assert not any("random" in note for note in seen.notes)
