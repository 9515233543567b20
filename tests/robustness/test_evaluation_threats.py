import numpy as np
import pytest
import torch
from sklearn.tree import DecisionTreeClassifier
from tests.robustness.attacks.linear import best_margins, linear_case
from tests.robustness.maskings import Layer
from tests.robustness.networks import CodeModel, Scaled, digits, ordinary, samples
from torch import nn

from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.robustness import Ball, certify, evaluate_robustness

RADII = {"l1": (0.5, 64), "l0": (1, 64), "patch": (1, 8), "corruptions": (1, 5), "shear": (1, 5)}


def pictures(n):
    x, y = samples(n)
    return x.reshape(-1, 1, 8, 8), y


def evaluated(model, x, y, norm, **more):
    return evaluate_robustness(
        model, x, y, epsilons=RADII[norm], norm=norm, random_state=0, keep_examples=True, **more
    )


@pytest.mark.parametrize("norm", RADII)
def test_every_threat_and_its_points(norm):
    network, (x, y) = nn.Sequential(nn.Flatten(), ordinary()), pictures(10)
    result = evaluated(network, x, y, norm)
    assert result.norm == norm
    assert result.paper is None
    assert result.warnings == ()
    assert result.clean >= result.attacked[0] > result.attacked[1]
    if norm in {"l1", "l0", "patch"}:
        assert result.attacked[1] == 0
    examples = result.examples
    for point, row, radius in zip(examples.points, examples.samples, examples.radii, strict=True):
        centre = torch.as_tensor(x[row : row + 1])
        inside = Ball(centre, radius, norm).contains(torch.as_tensor(point[None]))
        assert bool(inside.all())
        with torch.no_grad():
            assert int(network(torch.as_tensor(point[None])).argmax()) != int(y[row])
    result.plot()


@pytest.mark.parametrize("norm", ["l1", "l0", "patch"])
def test_bumps_are_gone_around_in_every_threat(norm):
    x, y = pictures(10)
    bumps = Layer(lambda inputs: inputs + 0.003 * torch.sin(1000 * inputs))
    bumpy = evaluated(nn.Sequential(bumps, nn.Flatten(), ordinary()), x, y, norm)
    smooth = evaluated(nn.Sequential(nn.Flatten(), ordinary()), x, y, norm)
    assert bumpy.attacked[0] <= smooth.attacked[0] + 0.11
    assert bumpy.attacked[1] == 0


def test_saturated_scores_hide_nothing():
    network, (x, y) = ordinary(), samples(8)
    plain = evaluated(network, x, y, "l1")
    scaled = evaluated(Scaled(network, 50.0), x, y, "l1")
    assert abs(plain.attacked[0] - scaled.attacked[0]) <= 1.1 / 8


@pytest.mark.parametrize("norm", ["l1", "l0"])
def test_columns_are_attacked_too(norm):
    x, y = samples(6)
    result = evaluated(CodeModel(), x, [f"digit {label}" for label in y], norm)
    assert result.clean >= result.attacked[0] > result.attacked[1] == 0


@pytest.mark.parametrize(("norm", "epsilon"), [("l1", 0.3), ("l0", 1)])
def test_what_stands_of_a_linear_model_is_known(norm, epsilon):
    layer, x, y = linear_case(4, n_features=30, n=60)
    best = best_margins(layer, x, y, epsilon, norm, box=(0.0, 1.0))
    result = evaluate_robustness(layer, x, y, epsilons=[epsilon], norm=norm, random_state=0)
    assert 0.1 < (best > 0).mean() < 0.9
    assert result.attacked[0] == pytest.approx((best <= 0).mean(), abs=1e-9)


@pytest.mark.parametrize("norm", ["l1", "l0"])
def test_black_boxes(norm):
    x, y = digits()
    model = DecisionTreeClassifier(random_state=0).fit(x[:800], y[:800])
    result = evaluated(model, x[1300:1310], y[1300:1310], norm)
    assert result.clean > result.attacked[-1]
    assert "black box" in result.warnings[0]


def test_what_a_threat_does_not_have_is_refused():
    x, y = samples(2)
    with pytest.raises(InvalidInputError, match="needs images"):
        evaluated(ordinary(), x, y, "patch")
    with pytest.raises(UnsupportedError, match="protocol='paper' is for linf and l2"):
        evaluated(ordinary(), x, y, "l0", protocol="paper")
    with pytest.raises(InvalidInputError, match="whole number from 0 to 64"):
        evaluate_robustness(ordinary(), x, y, epsilons=[1, 2.5], norm="l0")
    with pytest.raises(InvalidInputError, match="norm must be one of"):
        evaluate_robustness(ordinary(), x, y, epsilons=[1], norm="l7")
    with pytest.raises(UnsupportedError, match="no certificates for norm='l1'"):
        certify(CodeModel(), np.asarray(x), epsilons=[0.1], norm="l1")
