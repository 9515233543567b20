import numpy as np
import pytest

from ecoc.constructions.fields import prime_power
from ecoc.constructions.hadamard import (
    cooper_wallis,
    goethals_seidel,
    load_table,
    multiplier_subgroup,
    periodic_autocorrelation,
    t_sequences,
    tabulated_quadruple,
    tabulated_quadruples,
    turyn_type_sequences,
    williamson_quadruple,
)
from ecoc.errors import InvalidInputError


def periodic(sequence):
    values = [int(x) for x in sequence]
    n = len(values)
    return [sum(values[i] * values[(i + s) % n] for i in range(n)) for s in range(n)]


def aperiodic(sequence, length):
    values = [int(x) for x in sequence]
    n = len(values)
    return np.array([sum(values[i] * values[i + s] for i in range(n - s)) for s in range(length)])


def test_autocorrelation_by_its_definition():
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 30):
        sequence = rng.choice([-1, 1], size=n)
        assert periodic_autocorrelation(sequence).tolist() == periodic(sequence)


@pytest.mark.parametrize("n", sorted(map(int, load_table()["turyn_type"])))
def test_turyn_type_sequences(n):
    x, y, z, w = turyn_type_sequences(n)
    assert [len(s) for s in (x, y, z, w)] == [n, n, n, n - 1]
    a, b, c, d = (aperiodic(s, n) for s in (x, y, z, w))
    assert (a + b + 2 * c + 2 * d)[1:].any() == 0


def test_turyn_type_sequences_that_are_not_there():
    with pytest.raises(InvalidInputError, match="length 34"):
        turyn_type_sequences(34)
    assert t_sequences(101) is None


@pytest.mark.parametrize("length", [1, 3, 5, 7, 11, 13, 17, 23, 47, 59, 107])
def test_t_sequences(length):
    sequences = t_sequences(length)
    assert (np.abs(sequences).sum(axis=0) == 1).all()
    total = sum(aperiodic(s, length) for s in sequences)
    assert total[0] == length
    assert not total[1:].any()


@pytest.mark.parametrize(
    "order",
    [1, *(w for w in range(3, 52, 2) if prime_power(2 * w - 1) and (2 * w - 1) % 4 == 1)],
)
def test_williamson_quadruples_are_symmetric_and_complementary(order):
    quadruple = williamson_quadruple(order)
    assert (quadruple[:, 1:] == quadruple[:, :0:-1]).all()
    total = sum(periodic_autocorrelation(f) for f in quadruple)
    assert total[0] == 4 * order
    assert not total[1:].any()


def test_products_of_t_sequences_and_williamson_sequences():
    functions = cooper_wallis(t_sequences(5), williamson_quadruple(7))
    assert functions.shape == (4, 5, 7)
    assert set(np.unique(functions)) == {-1, 1}
    total = sum(periodic_autocorrelation(f) for f in functions)
    assert np.count_nonzero(total) == 1


@pytest.mark.parametrize("order", tabulated_quadruples())
def test_tabulated_quadruples(order):
    quadruple = tabulated_quadruple(order)
    assert quadruple.shape == (4, order)
    total = np.array([periodic(f) for f in quadruple]).sum(axis=0)
    assert total[0] == 4 * order
    assert not total[1:].any()


def test_functions_that_do_not_fit_are_refused():
    with pytest.raises(InvalidInputError, match="sum to 0"):
        goethals_seidel(np.ones((4, 3)))
    with pytest.raises(InvalidInputError, match="four arrays"):
        goethals_seidel(np.ones((3, 3)))
    with pytest.raises(InvalidInputError, match="no unit"):
        multiplier_subgroup(21, 7)
