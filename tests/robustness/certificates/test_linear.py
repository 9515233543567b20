import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog, minimize

from ecoc.errors import InvalidInputError
from ecoc.robustness.certificates.linear import LinearBounds, largest_drop, linear_radii
from ecoc.robustness.threat import Region

BOXES = [None, (0.0, 1.0)]


def case(seed, n=6, d=5, columns=3):
    generator = np.random.default_rng(seed)
    weights = generator.normal(size=(columns, d))
    weights[generator.random(weights.shape) < 0.2] = 0
    points = generator.random((n, d))
    points[generator.random(points.shape) < 0.2] = 0
    return weights, generator.normal(size=columns), points


def least_by_solver(form, point, epsilon, region):
    """The least value of a linear form, by a general solver."""
    hull = region.hull(point[None], epsilon)
    limits = list(zip(hull.lower[0], hull.upper[0], strict=True))
    if region.norm == "linf":
        return linprog(form, bounds=limits).fun
    return minimize(
        lambda x: form @ x,
        point,
        jac=lambda x: form,
        bounds=limits,
        constraints={
            "type": "ineq",
            "fun": lambda x: epsilon**2 - ((x - point) ** 2).sum(),
            "jac": lambda x: -2 * (x - point),
        },
        options={"ftol": 1e-14, "maxiter": 500},
    ).fun


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("box", BOXES)
def test_bounds_are_what_a_solver_finds(norm, box):
    region = Region(norm, box)
    weights, bias, points = case(0)
    epsilons = np.linspace(0.05, 0.9, len(points))
    found = LinearBounds(weights, bias, points, region).bounds(epsilons)
    for i, point in enumerate(points):
        for j, form in enumerate(weights):
            low = least_by_solver(form, point, epsilons[i], region) + bias[j]
            high = bias[j] - least_by_solver(-form, point, epsilons[i], region)
            assert found.lower[i, j] == pytest.approx(low, abs=1e-6)
            assert found.upper[i, j] == pytest.approx(high, abs=1e-6)
            assert found.lower[i, j] <= low + 1e-9 * (1 + abs(low))


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("box", BOXES)
@given(seed=st.integers(0, 10_000))
def test_radius_and_drop_are_inverse(norm, box, seed):
    region = Region(norm, box)
    weights, bias, points = case(seed)
    scores = points @ weights.T + bias
    radii = linear_radii(weights, bias, points, region)
    for j in range(len(weights)):
        for i in range(len(points)):
            sign = np.sign(scores[i, j])
            form, point = sign * weights[j : j + 1], points[i : i + 1]
            if np.isinf(radii[i, j]):
                assert largest_drop(form, point, 1e6, region)[0, 0] < abs(scores[i, j])
                continue
            # Just outside of the radius the score can cross 0, just inside it cannot.
            outside = largest_drop(form, point, radii[i, j] * 1.0001 + 1e-12, region)[0, 0]
            inside = largest_drop(form, point, radii[i, j] * 0.9999, region)[0, 0]
            assert inside < abs(scores[i, j])
            assert outside >= abs(scores[i, j]) * (1 - 1e-9)


def test_without_a_box_the_radius_is_the_score_over_the_dual_norm():
    weights, bias, points = case(1)
    scores = np.abs(points @ weights.T + bias)
    for norm, dual in (("linf", 1), ("l2", 2)):
        radii = linear_radii(weights, bias, points, Region(norm, None))
        assert radii == pytest.approx(scores / np.linalg.norm(weights, ord=dual, axis=1))


def test_the_box_makes_radii_larger():
    weights, bias, points = case(2)
    for norm in ("linf", "l2"):
        free = linear_radii(weights, bias, points, Region(norm, None))
        boxed = linear_radii(weights, bias, points, Region(norm))
        assert (boxed >= free - 1e-12).all()
        assert (boxed > free + 1e-3).any()


@pytest.mark.parametrize("norm", ["linf", "l2"])
def test_combinations_are_bounded_as_forms_of_their_own(norm):
    region = Region(norm)
    weights, bias, points = case(3)
    forms = np.array([[1.0, -1.0, 0.0], [0.5, 0.5, -2.0]])
    columns = LinearBounds(weights, bias, points, region)
    every = np.broadcast_to(forms, (len(points), 2, 3)).copy()
    every[3] = -every[3]
    found = columns.combined(0.2, every)
    alone = LinearBounds(forms @ weights, forms @ bias, points, region).bounds(0.2)
    assert np.delete(found, 3, 0) == pytest.approx(np.delete(alone.lower, 3, 0), abs=1e-7)
    assert found[3] == pytest.approx(-alone.upper[3], abs=1e-7)
    apart = super(LinearBounds, columns).combined(0.2, every)
    assert (found >= apart - 1e-7).all()
    assert (found > apart + 1e-3).any()


def test_many_samples_are_taken_in_parts(monkeypatch):
    weights, bias, points = case(4, n=11)
    region = Region("l2")
    whole = LinearBounds(weights, bias, points, region)
    radii, bounds = whole.radii(), whole.bounds(0.3)
    forms = np.random.default_rng(0).normal(size=(11, 2, 3))
    combined = whole.combined(0.3, forms)
    monkeypatch.setattr("ecoc.robustness.certificates.linear._ENTRIES", 40)
    assert np.array_equal(whole.radii(), radii)
    assert np.array_equal(whole.bounds(0.3).lower, bounds.lower)
    assert np.array_equal(whole.combined(0.3, forms), combined)


def test_what_cannot_be_is_refused():
    with pytest.raises(InvalidInputError, match="must lie in the box"):
        LinearBounds([[1.0]], [0.0], [[2.0]], Region())
    with pytest.raises(InvalidInputError, match="must fit"):
        LinearBounds([[1.0, 2.0]], [0.0], [[0.5]], Region())
    with pytest.raises(InvalidInputError, match="finite"):
        LinearBounds([[1.0]], [0.0], [[np.nan]], Region())
    with pytest.raises(InvalidInputError, match="Did you mean 'linf'"):
        Region("lin")
