import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.robustness.corruptions import CORRUPTIONS, corrupt
from ecoc.robustness.threat import NORMS, Ball, Region, unit

dtypes = st.sampled_from([torch.float32, torch.float64])
radii = st.one_of(st.sampled_from([0.0, 1e-12, 1e-7, 0.1, 0.3, 8 / 255, 1.0]), st.floats(1e-6, 2.0))
boxes = st.sampled_from([(0.0, 1.0), (-0.3, 1.1), None])


@given(radii, st.sampled_from(["linf", "l2", "l1"]), boxes, dtypes, st.integers(0, 10**6))
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
        length = change.norm(dim=1, p={"linf": torch.inf, "l2": 2, "l1": 1}[norm])
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
    for norm in ("linf", "l2", "l1"):
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


def test_projection_to_l1_and_box_is_the_nearest_point():
    rng = np.random.default_rng(3)
    for epsilon in (0.1, 0.7, 2.0):
        centre, far = rng.random((40, 6)), 0.5 + 2 * rng.normal(size=(40, 6))
        centre[:10, 0], centre[10:20, 1] = 0, 1
        found = Ball(torch.tensor(centre), epsilon, "l1").project(torch.tensor(far)).numpy()
        for x, u, z in zip(centre, far, found, strict=True):
            assert z == pytest.approx(_nearest_by_bisection(x, u, epsilon), abs=2e-6)


def _nearest_by_bisection(x, u, epsilon):
    """The point that the conditions of Karush, Kuhn and Tucker single out."""

    def pulled(amount):
        change = np.sign(u - x) * np.maximum(np.abs(u - x) - amount, 0)
        return np.clip(x + change, 0, 1)

    low, high = 0.0, float(np.abs(u - x).max())
    if np.abs(pulled(0.0) - x).sum() <= epsilon:
        return pulled(0.0)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.abs(pulled(middle) - x).sum() > epsilon else (low, middle)
    return pulled(high)


@given(st.integers(0, 10**6), st.sampled_from([(3, 4, 5), (6, 4), (7,)]))
def test_pixels_are_counted_once_for_all_channels(seed, shape):
    generator = torch.Generator().manual_seed(seed)
    centre = torch.rand(3, *shape, generator=generator)
    count = int(torch.randint(0, 4, (), generator=generator))
    ball = Ball(centre, count, "l0")
    far = torch.randn(centre.shape, generator=generator)
    for points in (ball.project(far), ball.sample(generator), ball.sample(generator, corners=True)):
        changed = (points != centre).numpy()
        pixels = changed.any(axis=1) if len(shape) == 3 else changed
        assert (pixels.reshape(3, -1).sum(1) <= count).all()
        assert bool(ball.contains(points).all())
        assert torch.equal(ball.project(points), points)
    # The nearest point of the box in which so many pixels are kept has the least distance.
    kept = (ball.project(far).double() - far.double()).flatten(1).norm(dim=1)
    other = (ball.sample(generator).double() - far.double()).flatten(1).norm(dim=1)
    assert bool((kept <= other + 1e-9).all())


def test_patches_are_the_window_of_the_largest_change():
    rng = np.random.default_rng(0)
    centre, far = rng.random((10, 2, 5, 6)), rng.random((10, 2, 5, 6))
    ball = Ball(torch.tensor(centre), 2, "patch")
    found = ball.project(torch.tensor(far)).numpy()
    for x, u, z in zip(centre, far, found, strict=True):
        best = None
        for down in range(4):
            for across in range(5):
                inside = np.zeros((5, 6), bool)
                inside[down : down + 2, across : across + 2] = True
                candidate = np.where(inside, u, x)
                missing = ((candidate - u) ** 2).sum()
                if best is None or missing < best[0]:
                    best = missing, candidate
        assert np.array_equal(z, best[1])
    outside = torch.tensor(centre)
    outside[:, 0, 0, 0], outside[:, 1, 2, 0] = 0.5, 0.5
    assert ball.distance(outside).tolist() == [3.0] * 10
    assert not ball.contains(outside).any()


def test_a_ball_of_corruptions_has_these_alone():
    images = torch.rand(1, 1, 28, 28, generator=torch.Generator().manual_seed(0))
    for norm in ("corruptions", "fog"):
        ball = Ball(images, 2, norm)
        for kind in CORRUPTIONS:
            made = [torch.tensor(corrupt(images.numpy(), kind, s)) for s in (1, 2, 3)]
            for severity, points in enumerate(made, start=1):
                known = severity <= 2 and norm in {"corruptions", kind}
                assert bool(ball.contains(points).all()) == known, (norm, kind, severity)
                assert not ball.contains(points + 1e-3).any()
        assert ball.distance(images).tolist() == [0.0]
        assert bool(ball.contains(ball.sample(torch.Generator().manual_seed(0))).all())
        with pytest.raises(UnsupportedError, match="not projected"):
            ball.project(images)


@pytest.mark.parametrize(
    ("norm", "epsilon", "shape", "box", "message"),
    [
        ("patch", 2, (3, 10), (0.0, 1.0), "needs images"),
        ("corruptions", 2, (3, 10), (0.0, 1.0), "needs images"),
        ("l0", 2, (3, 10), None, "needs a box"),
        ("l0", 0.5, (3, 10), (0.0, 1.0), "whole number from 0 to 10"),
        ("l0", 11, (3, 10), (0.0, 1.0), "whole number from 0 to 10"),
        ("patch", 5, (3, 4, 6), (0.0, 1.0), "whole number from 0 to 4"),
        ("fog", 6, (3, 4, 6), (0.0, 1.0), "whole number from 0 to 5"),
    ],
)
def test_radii_that_a_threat_does_not_have_are_refused(norm, epsilon, shape, box, message):
    with pytest.raises(InvalidInputError, match=message):
        Ball(torch.rand(*shape), epsilon, norm, box)


@pytest.mark.parametrize("norm", NORMS[2:])
def test_there_are_no_certificates_for_other_threats(norm):
    with pytest.raises(UnsupportedError, match="no certificates for norm"):
        Region(norm)
