import numpy as np
import pytest

from ecoc.errors import InvalidInputError
from ecoc.robustness.certificates.linear import RBFBounds
from ecoc.robustness.threat import Region

BOXES = [None, (0.0, 1.0)]


def case(seed, d=3, centres=12, columns=4, n=5):
    generator = np.random.default_rng(seed)
    weights = generator.normal(size=(columns, centres))
    weights[generator.random(weights.shape) < 0.3] = 0
    gamma = np.array([0.5, 3.0, 0.5, 20.0])[:columns]
    return (
        generator.random((centres, d)),
        weights,
        generator.normal(size=columns),
        gamma,
        generator.random((n, d)),
    )


def moves(generator, n, d, norm):
    """Points of the unit ball, many of them on its surface or in its corners."""
    if norm == "linf":
        change = generator.uniform(-1, 1, (n, d))
        change[: n // 2] = np.sign(change[: n // 2])
        return change
    change = generator.normal(size=(n, d))
    change /= np.linalg.norm(change, axis=1, keepdims=True)
    change[n // 2 :] *= generator.random((n - n // 2, 1)) ** (1 / d)
    return change


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("box", BOXES)
@pytest.mark.parametrize("epsilon", [0.02, 0.2, 0.7])
@pytest.mark.parametrize("transformed", [False, True])
def test_no_point_of_the_region_is_outside_the_bounds(norm, box, epsilon, transformed):
    centres, weights, bias, gamma, points = case(0)
    region = Region(norm, box)
    generator = np.random.default_rng(1)
    matrix = shift = None
    if transformed:
        matrix, shift = generator.normal(size=(3, 3)), generator.normal(size=3)
    columns = RBFBounds(centres, weights, bias, gamma, points, region, matrix=matrix, shift=shift)
    found = columns.bounds(epsilon)
    low, high = region.limits
    for i, point in enumerate(points):
        near = np.clip(point + epsilon * moves(generator, 4000, 3, norm), low, high)
        inner = near if matrix is None else near @ matrix.T + shift
        squares = ((inner[:, None] - centres) ** 2).sum(axis=2)
        scores = np.stack(
            [np.exp(-g * squares) @ w + b for g, w, b in zip(gamma, weights, bias, strict=True)], 1
        )
        assert (scores >= found.lower[i]).all()
        assert (scores <= found.upper[i]).all()


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_one_bump_is_bounded_exactly(norm):
    region = Region(norm, None)
    points = np.array([[0.3, 0.1]])
    found = RBFBounds([[1.0, 0.1]], [[2.0]], [0.5], [1.5], points, region).bounds(0.2)
    # The nearest point lies on the line to the centre, the farthest away from it.
    assert found.upper[0, 0] == pytest.approx(0.5 + 2 * np.exp(-1.5 * 0.5**2), abs=1e-6)
    farthest = 0.9**2 + (0.2**2 if norm == "linf" else 0)
    assert found.lower[0, 0] == pytest.approx(0.5 + 2 * np.exp(-1.5 * farthest), abs=1e-6)


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_for_small_changes_the_bounds_become_the_gradients(norm):
    """Bumps cancel in the bounds as they do in the score."""
    centres, weights, bias, gamma, points = case(2)
    columns = RBFBounds(centres, weights, bias, gamma, points, Region(norm, None))
    epsilon = 1e-4
    found = columns.bounds(epsilon)
    for i, point in enumerate(points):
        away = point - centres
        values = np.exp(-gamma[:, None] * (away**2).sum(axis=1)) * weights
        gradient = -2 * gamma[:, None] * (values @ away)
        size = np.linalg.norm(gradient, ord=1 if norm == "linf" else 2, axis=1)
        expected = pytest.approx(epsilon * size, rel=1e-2, abs=2e-8)
        assert found.upper[i] - columns.scores[i] == expected
        assert columns.scores[i] - found.lower[i] == expected


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_columns_of_one_width_are_bounded_together(norm):
    centres, weights, bias, _, points = case(4)
    region, gamma, epsilon = Region(norm), np.full(4, 2.0), 0.1
    columns = RBFBounds(centres, weights, bias, gamma, points, region)
    forms = np.random.default_rng(0).normal(size=(len(points), 3, 4))
    found = columns.combined(epsilon, forms)
    for i, point in enumerate(points):
        # As one column for each combination.
        alone = RBFBounds(
            centres, forms[i] @ weights, forms[i] @ bias, np.full(3, 2.0), point[None], region
        )
        assert found[i] == pytest.approx(alone.bounds(epsilon).lower[0], abs=1e-6)
    assert (found > columns.bounds(epsilon).combined(forms)).all()
    mixed = RBFBounds(centres, weights, bias, [1.0, 2.0, 1.0, 1.0], points, region)
    assert not mixed.joint
    apart = mixed.bounds(epsilon).combined(forms)
    assert np.array_equal(mixed.combined(epsilon, forms), apart)


def test_radii_can_differ_from_point_to_point():
    centres, weights, bias, gamma, points = case(3)
    columns = RBFBounds(centres, weights, bias, gamma, points, Region("l2"))
    radii = np.linspace(0.1, 0.5, len(points))
    together = columns.bounds(radii)
    for i, radius in enumerate(radii):
        assert together.lower[i] == pytest.approx(columns.bounds(radius).lower[i])


def test_what_cannot_be_is_refused():
    with pytest.raises(InvalidInputError, match="must fit"):
        RBFBounds([[0.0]], [[1.0, 2.0]], [0.0], [1.0], [[0.5]], Region())
    with pytest.raises(InvalidInputError, match="gamma must be positive"):
        RBFBounds([[0.0]], [[1.0]], [0.0], [0.0], [[0.5]], Region())
