import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ecoc.errors import InvalidInputError
from ecoc.robustness.threat import Ball, unit

dtypes = st.sampled_from([torch.float32, torch.float64])
radii = st.one_of(st.sampled_from([0.0, 1e-12, 1e-7, 0.1, 0.3, 8 / 255, 1.0]), st.floats(1e-6, 2.0))
boxes = st.sampled_from([(0.0, 1.0), (-0.3, 1.1), None])


@given(radii, st.sampled_from(["linf", "l2"]), boxes, dtypes, st.integers(0, 10**6))
def test_whatever_is_projected_lies_inside_to_the_last_bit(epsilon, norm, box, dtype, seed):
    generator = torch.Generator().manual_seed(seed)
    centre = torch.rand(4, 2, 5, generator=generator, dtype=dtype)
    centre[0, 0, :2] = torch.tensor([0.0, 1.0])
    ball = Ball(centre, epsilon, norm, box)
    far = centre + 3 * torch.randn(centre.shape, generator=generator, dtype=dtype)
    samples = [ball.sample(generator, corners=corners) for corners in (False, True)]
    for points in (ball.project(far), *samples):
        assert points.dtype == dtype
        change = (points.double() - centre.double()).flatten(1)
        length = change.abs().amax(1) if norm == "linf" else change.norm(dim=1)
        assert bool((length <= epsilon).all())
        if box is not None:
            assert bool(((points >= box[0]) & (points <= box[1])).all())
        assert bool(ball.contains(points).all())
        assert torch.equal(ball.project(points), points)


def test_projections_against_numpy():
    rng = np.random.default_rng(0)
    centre, far = rng.random((50, 6)), rng.normal(size=(50, 6))
    wanted = np.clip(np.clip(far, centre - 0.2, centre + 0.2), 0, 1)
    found = Ball(torch.tensor(centre), 0.2).project(torch.tensor(far))
    assert found.numpy() == pytest.approx(wanted, abs=1e-12)
    change = far - centre
    length = np.linalg.norm(change, axis=1, keepdims=True)
    wanted = np.clip(centre + change * np.minimum(1, 0.2 / length), 0, 1)
    found = Ball(torch.tensor(centre), 0.2, "l2").project(torch.tensor(far))
    assert found.numpy() == pytest.approx(wanted, abs=1e-6)


def test_random_points_fill_the_ball():
    generator = torch.Generator().manual_seed(0)
    centre = torch.full((4000, 2), 0.5, dtype=torch.float64)
    for norm in ("linf", "l2"):
        ball = Ball(centre, 0.25, norm)
        points = ball.sample(generator)
        # In the plane a ball of half the radius has a quarter of the area.
        assert (ball.distance(points) < 0.125).double().mean().item() == pytest.approx(
            0.25, abs=0.03
        )
        surface = ball.sample(generator, corners=True)
        assert ball.distance(surface).numpy() == pytest.approx(np.full(4000, 0.25), abs=1e-6)


def test_parts_have_their_own_samples():
    ball = Ball(torch.rand(5, 3, generator=torch.Generator().manual_seed(0)), 0.1, "l2")
    part = ball.take(torch.tensor([3, 1]))
    assert len(part) == 2
    assert torch.equal(part.centre, ball.centre[[3, 1]])
    far = torch.full((5, 3), 2.0)
    assert torch.equal(part.project(far[[3, 1]]), ball.project(far)[[3, 1]])


def test_directions_keep_tiny_and_zero_gradients():
    gradient = torch.tensor([[3e-38, -4e-38], [0.0, 0.0], [0.0, 5.0]])
    assert torch.equal(unit(gradient, "linf"), torch.tensor([[1.0, -1.0], [0.0, 0.0], [0.0, 1.0]]))
    expected = np.array([[0.6, -0.8], [0.0, 0.0], [0.0, 1.0]])
    assert unit(gradient, "l2").numpy() == pytest.approx(expected, abs=1e-6)


def test_what_cannot_be_is_refused():
    x = torch.rand(2, 3)
    with pytest.raises(InvalidInputError, match="lie in the box, here 0 to 1"):
        Ball(x + 1, 0.1)
    with pytest.raises(InvalidInputError, match="lie in the box"):
        Ball(x * torch.nan, 0.1, box=None)
    with pytest.raises(InvalidInputError, match="Did you mean 'linf'"):
        Ball(x, 0.1, "linfty")
    with pytest.raises(InvalidInputError, match="epsilon must be at least 0"):
        Ball(x, -0.1)
    with pytest.raises(InvalidInputError, match="smaller limit first"):
        Ball(x, 0.1, box=(1.0, 0.0))
    with pytest.raises(InvalidInputError, match="pair of numbers"):
        Ball(x, 0.1, box=(0.0, 1.0, 2.0))
