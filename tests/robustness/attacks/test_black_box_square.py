import numpy as np
import pytest
import torch
from tests.robustness.attacks.linear import best_margins, linear_case
from tests.robustness.networks import images, samples

from ecoc.robustness.attacks import Square
from ecoc.robustness.attacks.black_box import _bump, _place, _window

square = pytest.importorskip("pyautoattack.square")


@pytest.mark.parametrize(("norm", "epsilon"), [("linf", 0.1), ("l2", 0.8)])
def test_as_many_fall_as_to_autoattack(norm, epsilon):
    x, y = samples(120)
    x = x.reshape(-1, 1, 8, 8)
    kind = {"linf": "Linf", "l2": "L2"}[norm]
    other = square.SquareAttack(images(), norm=kind, n_queries=200, eps=epsilon, n_restarts=1)
    with torch.random.fork_rng():
        points = other.perturb(x, y)
    rate = (images()(points).argmax(1) != y).double().mean().item()
    found = Square(queries=200)(images(), x, y, epsilon=epsilon, norm=norm)
    assert 0.2 < rate < 0.95
    # For l_2 the windows differ in detail, and those here find more.
    assert rate - 0.06 <= found.success_rate <= rate + (0.08 if norm == "linf" else 0.25)
    assert int(found.queries.max()) <= 201
    assert found.n_gradients == 0
    assert np.isnan(found.gradients_zero_share)


def test_corners_of_a_linear_model_are_found():
    layer, x, y = linear_case(2, n_features=4)
    best = best_margins(layer, x, y, 0.1, "linf", box=None)
    found = Square(queries=300)(layer, x, y, epsilon=0.1, box=None)
    assert np.array_equal(found.success, best > 0)


def test_windows_lie_in_the_image():
    generator = torch.Generator().manual_seed(0)
    for share in (1.0, 0.8, 0.1, 0.001):
        for image in ((3, 8, 6), (1, 1, 30)):
            height, width = _window(share, image)
            inside, (down, across) = _place(
                40, image, (height, width), generator, torch.device("cpu")
            )
            assert bool((inside.expand(40, 1, *image[1:]).sum((1, 2, 3)) == height * width).all())
            bump = _bump(height, width)
            shown = bump[down, across] * inside
            assert torch.allclose(shown.sum((1, 2, 3)), bump.sum().expand(40), atol=1e-4)


def test_bumps_are_a_hill_and_a_valley():
    bump = _bump(5, 6)
    assert torch.equal(bump[:, :3], -bump[:, 3:])
    assert bump[2, 4] == bump.max()
    assert bump.norm().item() == pytest.approx(1)
    assert _bump(1, 1).item() == 1
