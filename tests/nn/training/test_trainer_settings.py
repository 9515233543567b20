from itertools import pairwise

import pytest
import torch
from torch import nn

from ecoc.errors import InvalidInputError
from ecoc.nn.training.trainer import SCHEDULES, TrainingSettings, find_device


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_rates_stay_within_zero_and_the_largest(schedule):
    settings = TrainingSettings(schedule=schedule, learning_rate=0.2)
    rates = [settings.rate(step / 100) for step in range(101)]
    assert max(rates) == pytest.approx(0.2)
    assert min(rates) >= 0
    assert all(abs(a - b) < 0.02 for a, b in pairwise(rates))


def test_the_shapes_of_the_schedules():
    constant, cosine, cycle = (
        TrainingSettings(schedule=s, learning_rate=1.0).rate
        for s in ("constant", "cosine", "one-cycle")
    )
    assert constant(0.9) == 1.0
    assert (cosine(0.0), cosine(0.5), cosine(1.0)) == pytest.approx((1.0, 0.5, 0.0))
    assert (cycle(0.0), cycle(0.3), cycle(1.0)) == pytest.approx((0.1, 1.0, 0.0))


@pytest.mark.parametrize(
    ("name", "kind"),
    [("adamw", torch.optim.AdamW), ("adam", torch.optim.Adam), ("sgd", torch.optim.SGD)],
)
def test_optimisers_by_name(name, kind):
    made = TrainingSettings(optimizer=name, weight_decay=0.5).make_optimizer(nn.Linear(2, 1))
    assert type(made) is kind
    assert made.param_groups[0]["weight_decay"] == 0.5


def test_devices():
    assert find_device("cpu").type == "cpu"
    assert find_device("auto").type in {"cpu", "cuda"}
    if not torch.cuda.is_available():
        with pytest.raises(InvalidInputError, match="needs a GPU"):
            find_device("cuda:0")
