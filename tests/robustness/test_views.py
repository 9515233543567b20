import pytest
import torch

from ecoc.errors import InvalidInputError
from ecoc.robustness import View
from ecoc.robustness.views import as_view


def test_the_body_runs_once_for_both_heads():
    calls = []

    def body(x):
        calls.append(len(x))
        return 2 * x

    view = View(body, surrogate=lambda z: z + 1, decision=torch.sign)
    surrogate, decision = view(torch.tensor([[1.0, -1.0]]))
    assert surrogate.tolist() == [[3.0, -1.0]]
    assert decision.tolist() == [[1.0, -1.0]]
    assert calls == [1]


def test_only_what_is_pushed_on_has_gradients():
    x = torch.ones(1, 2, requires_grad=True)
    for view in (View(lambda x: 2 * x), View(lambda x: 2 * x, decision=lambda z: z)):
        surrogate, decision = view(x)
        assert surrogate.requires_grad
        assert not decision.requires_grad


def test_models_hand_out_their_module():
    class Model:
        def as_module(self):
            return torch.nn.Identity()

    view = as_view(Model())
    assert isinstance(view.body, torch.nn.Identity)
    assert as_view(view) is view
    with pytest.raises(InvalidInputError, match="not int"):
        as_view(3)
