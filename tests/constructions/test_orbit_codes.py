"""The table of linear codes: every entry is what it says, counted word by word."""

import importlib.util
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from ecoc.constructions.fields import galois_field
from ecoc.constructions.orbit_codes import OrbitCode, arithmetic, orbit_codes

TABLED = [code for q in (2, 3, 4, 5) for code in orbit_codes(q)]


def weights_of(generator, q):
    """The weights of all words but 0, by adding up rows."""
    field = arithmetic(q)
    words = np.zeros((1, generator.shape[1]), dtype=np.uint8)
    products, sums = field.products.astype(np.uint8), field.sums.astype(np.uint8)
    for row in generator:
        words = np.vstack([sums[words, products[c, row]] for c in range(q)])
    return (words != 0).sum(axis=1)[1:]


def binary_weights(generator):
    """The weights of all words but 0, by the transform of how often each column occurs."""
    m, n = generator.shape
    counts = np.bincount(generator.T @ (1 << np.arange(m)), minlength=1 << m)
    for bit in range(m):
        pairs = counts.reshape(-1, 2, 1 << bit)
        counts = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
    return (n - counts[1:]) // 2


@pytest.mark.parametrize(
    "code", TABLED, ids=lambda c: f"{c.n_symbols}-{c.length}-{c.dimension}-{c.distance}"
)
def test_tabled_codes_are_what_they_say(code):
    generator = code.generator()
    assert generator.shape == (code.dimension, code.length)
    if code.n_symbols == 2:
        weights = binary_weights(generator)
        # No column is repeated, so that none is lost.
        assert len({tuple(column) for column in generator.T}) == code.length
    else:
        weights = weights_of(generator, code.n_symbols)
    assert weights.min() == code.distance


def test_codes_without_a_matrix_say_where_they_come_from():
    explicit = [code for code in TABLED if not code.polynomials]
    assert explicit
    assert all(code.source != "search" for code in explicit)
    assert all(len(code.points) == code.length for code in explicit)


def test_codes_that_follow_from_others_are_derived_again():
    path = Path(__file__).parents[2] / "tools" / "find_linear_codes.py"
    spec = importlib.util.spec_from_file_location("find_linear_codes", path)
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    tabled = {(code.n_symbols, code.points, code.distance, code.source) for code in TABLED}
    found = {(code.n_symbols, code.points, code.distance, code.source) for code in tool.derived()}
    assert found <= tabled
    missing = {source for *_, source in tabled - found if source != "search"}
    assert all("in the list of GUAVA" in source for source in missing)


def test_both_ways_to_count_agree():
    generator = np.random.default_rng(0).integers(0, 2, size=(5, 9))
    words = [np.array(m) @ generator % 2 for m in product((0, 1), repeat=5)]
    expected = sorted(int(word.sum()) for word in words[1:])
    assert sorted(binary_weights(generator)) == expected
    assert sorted(weights_of(generator, 2)) == expected


def test_no_code_is_kept_that_another_replaces():
    codes = [(c.n_symbols, c.dimension, c.length) for c in TABLED]
    assert len(set(codes)) == len(codes)


def test_an_orbit_of_one_polynomial_is_a_cyclic_code():
    # x^3 + x + 1 divides x^7 - 1: the simplex code of length 7.
    generator = OrbitCode(2, 3, 7, 4, (0b1011,), 0, (1,)).generator()
    words = {tuple(np.array(m) @ generator % 2) for m in product((0, 1), repeat=3)}
    assert len(words) == 8
    assert {sum(word) for word in words} == {0, 4}


def test_frobenius_joins_orbits():
    # Over GF(4), the powers of a primitive element x of GF(16) modulo the constants.
    plain = OrbitCode(2, 4, 5, 2, (0b11111,), 0, (1,)).generator()
    assert plain.shape[1] == 5
    joined = OrbitCode(2, 4, 10, 4, (0b11111,), 1, (0b11,)).generator()
    assert joined.shape[1] == 10
    alone = OrbitCode(2, 4, 5, 2, (0b11111,), 0, (0b11,)).generator()
    assert {tuple(c) for c in alone.T} < {tuple(c) for c in joined.T}


@pytest.mark.parametrize("q", [2, 3, 4, 5])
def test_arithmetic_is_that_of_a_field(q):
    field = arithmetic(q)
    elements = range(q)
    for a, b, c in product(elements, repeat=3):
        sums, products = field.sums, field.products
        assert products[a, sums[b, c]] == sums[products[a, b], products[a, c]]
        assert sums[a, sums[b, c]] == sums[sums[a, b], c]
        assert products[a, products[b, c]] == products[products[a, b], c]
    assert all(field.sums[a, field.negative[a]] == 0 for a in elements)
    assert all(sorted(field.products[a]) == list(elements) for a in range(1, q))


@pytest.mark.parametrize(("q", "degree"), [(2, 5), (3, 3), (4, 2), (5, 2)])
def test_powers_of_x_run_through_a_field(q, degree):
    # Multiplying by x modulo the polynomial of a primitive element comes back after q^m - 1.
    field = arithmetic(q)
    orders = []
    for number in range(q**degree, 2 * q**degree):
        monic = field.digits(number, degree + 1)
        if monic[0] == 0:
            continue
        point = (1, *(0,) * (degree - 1))
        for order in range(1, q**degree):
            point = field.times_x(point, monic)
            if point == (1, *(0,) * (degree - 1)):
                orders.append(order)
                break
    assert max(orders) == q**degree - 1
    # As many primitive polynomials as Euler's function says, for each degree.
    size = galois_field(q**degree).order - 1
    primitive = sum(np.gcd(i, size) == 1 for i in range(size)) // degree
    assert orders.count(size) == primitive
