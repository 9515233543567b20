from dataclasses import replace

import pytest

from ecoc.bounds import BoundProblem, best_bound
from ecoc.bounds.nested import nested_bound
from ecoc.bounds.problem import SymbolBoundProblem, first_prefix
from ecoc.bounds.symbols import best_symbol_bound


@pytest.mark.parametrize(("k", "q"), [(2, 2), (3, 2), (4, 2), (5, 2), (9, 3), (10, 3), (7, 7)])
def test_the_first_prefix_has_a_word_for_each_class(k, q):
    length = first_prefix(k, q)
    assert q ** (length - 1) < k <= q**length


def test_each_prefix_has_the_best_bound_of_its_length():
    problem = BoundProblem(9, 13, min_column_distance=2)
    bound = nested_bound(problem)
    lengths = range(4, 14)
    best = [best_bound(replace(problem, n_columns=length)) for length in lengths]
    prefixes = bound.proof["prefixes"]
    assert [prefix["n_columns"] for prefix in prefixes] == list(lengths)
    assert [prefix["value"] for prefix in prefixes] == [found.value for found in best]
    assert bound.value == sum(found.value for found in best)


def test_several_symbols_have_bounds_of_their_own():
    problem = SymbolBoundProblem(10, 6, 3)
    bound = nested_bound(problem)
    assert bound.value == sum(
        best_symbol_bound(replace(problem, n_columns=length)).value for length in (3, 4, 5, 6)
    )
