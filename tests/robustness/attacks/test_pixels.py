import numpy as np
import pytest
import torch
from tests.robustness.attacks.linear import best_margins, linear_case
from torch import nn

from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.robustness.attacks import (
    APGD,
    PGD,
    EveryTarget,
    Noise,
    PatchPGD,
    PixelGradient,
    PixelSearch,
    Square,
)
from ecoc.robustness.attacks.pixels import Corruptions
from ecoc.robustness.threat import Ball


def square_case(n_classes, lead=0.0, n=100):
    """A linear model of images of four by four that prefers its first class."""
    layer, x, _ = linear_case(n_classes, n_features=16, n=n)
    layer.bias.data[0] += lead
    y = layer(x).argmax(1)
    return layer, nn.Sequential(nn.Flatten(), layer), x.reshape(n, 4, 4), y


@pytest.mark.parametrize(
    ("n_classes", "norm", "epsilon", "lead"),
    [
        (2, "l0", 1, 0.0),
        (2, "l0", 3, 3.0),
        (2, "patch", 1, 0.0),
        (2, "patch", 2, 2.5),
        (4, "l0", 3, 5.0),
        (4, "patch", 2, 4.0),
    ],
)
def test_the_best_pixels_of_a_linear_model_are_found(n_classes, norm, epsilon, lead):
    attack = PixelGradient(steps=1) if n_classes == 2 else EveryTarget(PixelGradient(steps=1))
    layer, model, x, y = square_case(n_classes, lead)
    best = best_margins(layer, x.flatten(1), y, epsilon, norm, box=(0.0, 1.0))
    found = attack(model, x, y, epsilon=epsilon, norm=norm)
    assert 0.05 < (best > 0).mean() < 0.95
    assert np.array_equal(found.success, best > 0)
    if n_classes == 2:
        stands = best <= 0
        assert -found.margins[stands].numpy() == pytest.approx(best[stands], abs=1e-9)


def test_the_best_patch_of_a_linear_model_is_found_by_steps():
    layer, model, x, y = square_case(2, lead=2.5)
    best = best_margins(layer, x.flatten(1), y, 2, "patch", box=(0.0, 1.0))
    found = PatchPGD(places=1, steps=2)(model, x, y, epsilon=2, norm="patch")
    assert np.array_equal(found.success, best > 0)


@pytest.mark.parametrize(("norm", "epsilon"), [("l0", 2), ("patch", 2)])
def test_random_search_comes_near_the_best(norm, epsilon):
    layer, model, x, y = square_case(3, lead=2.5)
    best = best_margins(layer, x.flatten(1), y, epsilon, norm, box=(0.0, 1.0))
    found = PixelSearch(queries=1500)(model, x, y, epsilon=epsilon, norm=norm)
    assert not found.success[torch.tensor(best <= 0)].any()
    assert found.success[torch.tensor(best > 0)].double().mean() >= 0.95
    assert found.success.sum() > Noise()(model, x, y, epsilon=epsilon, norm=norm).success.sum()


@pytest.mark.parametrize("n_classes", [2, 4])
def test_l1_attack_on_a_linear_model_comes_near_the_best(n_classes):
    layer, x, y = linear_case(n_classes, n_features=30)
    best = best_margins(layer, x, y, 0.3, "l1", box=(0.0, 1.0))
    attack = APGD(steps=50) if n_classes == 2 else EveryTarget(APGD(steps=50))
    found = attack(layer, x, y, epsilon=0.3, norm="l1")
    assert 0.1 < (best > 0).mean() < 0.9
    assert not found.success[torch.tensor(best <= 0)].any()
    assert found.success[torch.tensor(best > 0.02)].all()
    stands = best <= 0
    if n_classes == 2:
        assert -found.margins[stands].numpy() == pytest.approx(best[stands], abs=0.1)


def test_one_pixel_of_a_network_against_all_of_them():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 3))
    model[1].weight.data *= 3
    x = torch.rand(60, 4, 4)
    y = model(x).argmax(1)
    broken = torch.zeros(60, dtype=torch.bool)
    for place in range(16):
        for colour in torch.linspace(0, 1, 21):
            points = x.clone().flatten(1)
            points[:, place] = colour
            broken |= model(points.reshape(x.shape)).argmax(1) != y
    assert 0.1 < broken.double().mean() < 0.9
    for norm in ("l0", "patch"):
        found = PixelSearch(queries=400)(model, x, y, epsilon=1, norm=norm).success
        # Colours between the corners of the box may break a sample that they do not.
        assert (found & ~broken).sum() == 0
        assert (found | ~broken).double().mean() >= 0.9


@pytest.mark.parametrize("norm", ["l0", "patch"])
@pytest.mark.parametrize("attack", [PixelGradient(), PixelSearch(queries=50), Noise()])
def test_colour_images_and_the_largest_radius(attack, norm):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Flatten(), nn.Linear(75, 3))
    x = torch.rand(8, 3, 5, 5)
    y = model(x).argmax(1)
    for epsilon in (0, 2, 5 if norm == "patch" else 25):
        found = attack(model, x, y, epsilon=epsilon, norm=norm)
        assert bool(Ball(x, epsilon, norm).contains(found.points).all())
        assert bool(found.success.any()) <= (epsilon > 0)


def test_corruptions_are_tried_up_to_the_severity():
    class Bright(nn.Module):
        def forward(self, x):
            light = x.mean((1, 2))
            return torch.stack([0.45 - light, light], dim=1)

    x = torch.full((1, 6, 6), 0.1)
    assert not Corruptions()(Bright(), x, [0], epsilon=1, norm="brightness").success
    found = Corruptions()(Bright(), x, [0], epsilon=5, norm="brightness")
    assert found.points.mean().item() == pytest.approx(0.3)
    assert Corruptions()(Bright(), x, [0], epsilon=5, norm="corruptions").success


@pytest.mark.parametrize(
    ("attack", "norm"),
    [
        (APGD(), "l0"),
        (PGD(), "l1"),
        (Square(), "patch"),
        (PixelGradient(), "linf"),
        (PixelSearch(), "l1"),
        (PatchPGD(), "l0"),
        (Corruptions(), "l2"),
        (EveryTarget(APGD()), "l0"),
    ],
)
def test_attacks_are_refused_for_threats_that_they_are_not_for(attack, norm):
    _, model, x, y = square_case(2, n=2)
    with pytest.raises(UnsupportedError, match="is no attack for norm"):
        attack(model, x, y, epsilon=1, norm=norm)


def test_parameters_are_checked():
    with pytest.raises(InvalidInputError):
        PixelSearch(queries=0)
    with pytest.raises(InvalidInputError):
        PatchPGD(places=0)
    with pytest.raises(InvalidInputError):
        PixelGradient(loss="nothing")
