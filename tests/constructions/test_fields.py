import numpy as np
import pytest

from ecoc.constructions.fields import galois_field, prime_power
from ecoc.errors import InvalidInputError

PRIME_POWERS = [2, 3, 4, 5, 7, 8, 9, 11, 16, 25, 27, 32, 49, 64, 81, 121, 125, 128, 243, 343]


def multiply(field, a, b):
    if a == 0 or b == 0:
        return 0
    exponent = (field.logarithms[a] + field.logarithms[b]) % (field.order - 1)
    return int(field.powers[exponent])


def test_prime_powers_are_told_from_other_numbers():
    found = [n for n in range(2, 50) if prime_power(n)]
    primes = [n for n in range(2, 50) if all(n % d for d in range(2, n))]
    assert found == sorted({p**m for p in primes for m in range(1, 6) if p**m < 50})
    assert prime_power(1) is None


@pytest.mark.parametrize("q", PRIME_POWERS)
def test_powers_of_the_primitive_element_are_all_of_the_field(q):
    field = galois_field(q)
    assert sorted(field.powers.tolist()) == list(range(1, q))
    assert field.powers[0] == 1


@pytest.mark.parametrize("q", [4, 5, 8, 9, 16, 25, 27])
def test_multiplication_is_distributive(q):
    field = galois_field(q)
    elements = range(q)
    for a in elements:
        for b in elements:
            for c in range(0, q, 3):
                left = multiply(field, c, int(field.subtract(a, b)))
                right = int(field.subtract(multiply(field, c, a), multiply(field, c, b)))
                assert left == right


@pytest.mark.parametrize("q", [3, 5, 7, 9, 25, 27, 49, 81])
def test_the_character_tells_squares(q):
    field = galois_field(q)
    squares = {multiply(field, a, a) for a in range(1, q)}
    expected = [0] + [1 if a in squares else -1 for a in range(1, q)]
    assert field.character(np.arange(q)).tolist() == expected


def test_other_orders_are_refused():
    with pytest.raises(InvalidInputError, match="prime power"):
        galois_field(12)
