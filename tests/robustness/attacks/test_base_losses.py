import numpy as np
import pytest
import torch

from ecoc.errors import InvalidInputError
from ecoc.robustness.attacks import ATTACK_LOSSES


def by_hand(name, s, y, t):
    others = np.delete(s, y)
    ranked = np.sort(s)[::-1]
    if name == "cross-entropy":
        total = np.log(np.exp(s).sum())
        return total - s[y] if t is None else s[t] - total
    if name == "margin":
        return others.max() - s[y] if t is None else s[t] - np.delete(s, t).max()
    if t is None:
        return (others.max() - s[y]) / (ranked[0] - ranked[2])
    return (s[t] - s[y]) / (ranked[0] - (ranked[2] + ranked[3]) / 2)


@pytest.mark.parametrize("targeted", [False, True])
@pytest.mark.parametrize("name", ATTACK_LOSSES)
def test_losses_against_a_loop(name, targeted):
    rng = np.random.default_rng(0)
    scores, y = rng.normal(size=(20, 5)), rng.integers(5, size=20)
    t = (y + rng.integers(1, 5, size=20)) % 5
    found = ATTACK_LOSSES[name](
        torch.tensor(scores), torch.tensor(y), torch.tensor(t) if targeted else None
    )
    expected = [
        by_hand(name, s, i, j if targeted else None) for s, i, j in zip(scores, y, t, strict=True)
    ]
    assert found.numpy() == pytest.approx(np.array(expected))


@pytest.mark.parametrize("name", ["margin", "dlr"])
def test_scaling_turns_no_gradient_off(name):
    scores = torch.tensor([[800.0, 2.0, -100.0]], requires_grad=True)
    (saturated,) = torch.autograd.grad(
        ATTACK_LOSSES["cross-entropy"](scores, torch.tensor([0])), scores
    )
    assert not saturated.any()
    (gradient,) = torch.autograd.grad(ATTACK_LOSSES[name](scores, torch.tensor([0])), scores)
    assert gradient.any()


def test_the_ratio_needs_classes():
    scores = torch.rand(2, 3)
    with pytest.raises(InvalidInputError, match="needs 4 classes"):
        ATTACK_LOSSES["dlr"](scores, torch.tensor([0, 1]), torch.tensor([1, 2]))
    with pytest.raises(InvalidInputError, match="use 'margin'"):
        ATTACK_LOSSES["dlr"](scores[:, :2], torch.tensor([0, 1]), None)
