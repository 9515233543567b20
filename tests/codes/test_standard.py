from itertools import product

import numpy as np
import pytest

from ecoc.codes import (
    STANDARD_CODES,
    Codebook,
    balanced_random,
    dense_random,
    digits,
    exhaustive,
    make_code,
    one_vs_one,
    one_vs_rest,
    ordinal,
    sparse_random,
    standard,
    ternary_complete,
)
from ecoc.codes.measures import min_doubled_distance
from ecoc.errors import InfeasibleError, InvalidCodebookError, InvalidInputError, TooLargeError

# The supplement's table of the exhaustive code for k = 5, a row for each class.
PAPER_EXHAUSTIVE_5 = [
    "+++++++++++++++",
    "--------+++++++",
    "----++++----+++",
    "--++--++--++--+",
    "-+-+-+-+-+-+-+-",
]


def test_the_exhaustive_code_is_the_papers():
    assert list(exhaustive(5).rows) == PAPER_EXHAUSTIVE_5


@pytest.mark.parametrize("k", range(2, 9))
def test_the_exhaustive_code_has_every_dichotomy_once(k):
    columns = {tuple(c) for c in exhaustive(k).matrix.T.tolist()}
    expected = {(1, *signs) for signs in product([1, -1], repeat=k - 1)} - {(1,) * k}
    assert columns == expected


def test_the_exhaustive_code_stops_where_it_gets_too_large():
    assert exhaustive(16).n_columns == 2**15 - 1
    with pytest.raises(TooLargeError, match=r"2\^22 - 1 columns"):
        exhaustive(23)


@pytest.mark.parametrize("k", range(2, 8))
def test_sizes_of_the_fixed_codes(k):
    assert one_vs_rest(k).n_columns == (k if k > 2 else 1)
    assert one_vs_one(k).n_columns == k * (k - 1) // 2
    assert ((one_vs_one(k).matrix != 0).sum(axis=0) == 2).all()


def straightforward(k, length, *, ternary, n_candidates, seed):
    """The paper's procedure, a candidate at a time, on the same random numbers."""
    rng = np.random.default_rng(seed)
    size = (n_candidates, k, length)
    candidates = 2 * rng.integers(0, 2, size=size, dtype=np.int8) - 1
    if ternary:
        candidates = candidates * rng.integers(0, 2, size=size, dtype=np.int8)
    best = None
    for candidate in candidates:
        try:
            code = Codebook(candidate)
        except InvalidCodebookError:
            continue
        score = (code.min_row_distance, code.min_column_distance() or 0)
        if best is None or score > best[0]:
            best = (score, code)
    return best[1]


@pytest.mark.parametrize(
    ("make", "k", "length"),
    [
        (dense_random, 4, 5),
        (dense_random, 6, 9),
        (dense_random, 10, 20),
        (dense_random, 3, 2),
        (dense_random, 5, 3),
        (sparse_random, 8, 12),
        (sparse_random, 10, 20),
        (sparse_random, 12, 40),
    ],
)
def test_random_codes_follow_the_papers_procedure(make, k, length):
    expected = straightforward(k, length, ternary=make is sparse_random, n_candidates=400, seed=3)
    assert make(k, length, n_candidates=400, random_state=3) == expected


def test_sparse_codes_have_zeros_with_probability_one_half():
    share = (sparse_random(20, 60, n_candidates=50, random_state=0).matrix == 0).mean()
    assert share == pytest.approx(0.5, abs=0.06)


@pytest.mark.parametrize("name", ["dense-random", "sparse-random", "balanced-random"])
def test_one_seed_makes_one_code(name):
    assert make_code(name, 8, 12, random_state=5) == make_code(name, 8, 12, random_state=5)
    assert make_code(name, 8, 12, random_state=5) != make_code(name, 8, 12, random_state=6)


def test_more_candidates_are_never_worse():
    few = dense_random(10, 20, n_candidates=10, random_state=1).min_row_distance
    many = dense_random(10, 20, n_candidates=10_000, random_state=1).min_row_distance
    assert many >= few


def test_impossible_random_codes_are_refused_before_any_work():
    with pytest.raises(InfeasibleError, match="only 7 different columns"):
        dense_random(4, 8)
    with pytest.raises(InfeasibleError, match="at least 4 columns"):
        dense_random(9, 3)
    with pytest.raises(InfeasibleError, match="only 6 different columns"):
        sparse_random(3, 7)
    with pytest.raises(InfeasibleError, match="None of 10 random"):
        dense_random(5, 15, n_candidates=10, random_state=0)


@pytest.mark.parametrize(
    ("k", "q", "radices"),
    [(5, 3, [3, 2]), (10, 10, [10]), (12, 10, [4, 3]), (101, 10, [5, 5, 5]), (17, 4, [3, 3, 2])],
)
def test_digits_have_radices_that_are_about_equal(k, q, radices):
    code = digits(k, n_symbols=q)
    assert (code.matrix.max(axis=0) + 1).tolist() == radices
    places = np.cumprod([1, *radices[:0:-1]])[::-1]
    assert (code.matrix @ places).tolist() == list(range(k))


@pytest.mark.parametrize("k", range(2, 40))
def test_digits_are_the_fewest_columns(k):
    for q in range(2, k + 1):
        code = digits(k, n_symbols=q)
        assert q ** (code.n_columns - 1) < k <= q**code.n_columns
        assert code.is_binary == (q == 2)


@pytest.mark.parametrize(("k", "length", "q"), [(6, 5, 2), (7, 9, 3), (10, 20, 4), (12, 4, 10)])
def test_balanced_random_codes_are_the_best_of_their_candidates(k, length, q):
    count = 100
    rng = np.random.default_rng(3)
    groups = np.broadcast_to((np.arange(k) % q)[:, None], (count, k, length)).astype(np.int8)
    best = None
    for candidate in rng.permuted(groups, axis=1):
        try:
            code = Codebook(candidate if q > 2 else 1 - 2 * candidate, n_symbols=q)
        except InvalidCodebookError:
            continue
        d = code.min_row_distance
        score = (d, -code.row_distance_spectrum()[d])
        if best is None or score > best[0]:
            best = (score, code)
    found = balanced_random(k, length, n_symbols=q, n_candidates=count, random_state=3)
    assert found == best[1]
    sizes = found.column_balance().groups
    assert sizes.max() - sizes.min() <= 1


def test_batches_do_not_matter(monkeypatch):
    whole = balanced_random(8, 6, n_symbols=3, n_candidates=50, random_state=0)
    monkeypatch.setattr(standard, "_BATCH_ENTRIES", 1)
    assert balanced_random(8, 6, n_symbols=3, n_candidates=50, random_state=0) == whole


@pytest.mark.parametrize(("k", "q"), [(4, 2), (5, 2), (5, 3), (6, 3), (6, 4), (7, 3), (4, 4)])
def test_balanced_columns_are_counted(k, q):
    splits = set()
    for symbols in product(range(q), repeat=k):
        sizes = [symbols.count(symbol) for symbol in range(q)]
        if max(sizes) - min(sizes) <= 1:
            splits.add(
                frozenset(frozenset(i for i in range(k) if symbols[i] == s) for s in range(q))
            )
    assert standard._n_balanced_columns(k, q) == len(splits)


def test_impossible_codes_of_symbols_are_refused_before_any_work():
    with pytest.raises(InfeasibleError, match="only 1 different column;"):
        balanced_random(4, 2, n_symbols=4)
    with pytest.raises(InfeasibleError, match="1 column of 3 symbols can give only 3"):
        balanced_random(9, 1, n_symbols=3)
    with pytest.raises(InvalidInputError, match="at most the number of classes, 4, not 5"):
        digits(4, n_symbols=5)
    with pytest.raises(InvalidInputError, match="has two symbols; leave n_symbols out"):
        make_code("one-vs-one", 4, n_symbols=3)
    with pytest.raises(InvalidInputError, match="leave n_columns out"):
        make_code("digits", 4, 6, n_symbols=3)


@pytest.mark.parametrize("name", ["balanced-random", "digits"])
@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_every_number_of_symbols_has_its_codes(name, k):
    for q in range(2, k + 1):
        code = make_code(name, k, n_symbols=q, random_state=0)
        assert (code.n_symbols, code.provenance.parameters["n_symbols"]) == (q, q)


@pytest.mark.parametrize("name", STANDARD_CODES)
@pytest.mark.parametrize("k", [2, 3, 5])
def test_every_standard_code_is_made_by_its_name(name, k):
    code = make_code(name, k, random_state=0)
    assert code.name == name
    assert code.provenance.method == name
    assert min_doubled_distance(code.matrix) > 0


def test_names_and_sizes_are_checked():
    with pytest.raises(InvalidInputError, match="Did you mean 'one-vs-one'"):
        make_code("one-vs-on", 4)
    with pytest.raises(InvalidInputError, match="leave n_columns out"):
        make_code("one-vs-one", 4, 6)
    with pytest.raises(InvalidInputError, match="n_classes must be at least 2"):
        one_vs_rest(1)
    with pytest.raises(InvalidInputError, match="random_state"):
        dense_random(4, 5, random_state="x")


@pytest.mark.parametrize(("k", "length", "q"), [(6, 15, 3), (8, 105, 4), (6, 10, 2), (7, 100, 3)])
def test_balanced_columns_are_found_where_most_or_all_of_them_are_asked_for(k, length, q):
    code = balanced_random(k, length, n_symbols=q, random_state=0)
    assert code.n_columns == length
    assert code == balanced_random(k, length, n_symbols=q, random_state=0)
    sizes = {tuple(sorted(np.bincount(column + (q == 2)).tolist())) for column in code.matrix.T}
    assert max(max(size) for size in sizes) == -(-k // q)


@pytest.mark.parametrize("k", range(2, 7))
def test_the_complete_ternary_code_has_every_column_once(k):
    code = ternary_complete(k)
    assert code.n_columns == (3**k - 2 ** (k + 1) + 1) // 2
    columns = {tuple(column) for column in code.matrix.T.tolist()}
    signs = [signs for signs in product([0, 1, -1], repeat=k) if {1, -1} <= set(signs)]
    assert {*columns, *(tuple(-entry for entry in column) for column in columns)} == set(signs)
    n_pairs = k * (k - 1) // 2
    assert np.array_equal(code.matrix[:, :n_pairs], one_vs_one(k).matrix)
    if k == 6:
        with pytest.raises(TooLargeError, match="86526 columns"):
            ternary_complete(11)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_ordinal_codes_ask_what_an_order_suggests(k):
    for j in range(k - 1):
        for row in range(k):
            assert ordinal(k).matrix[row, j] == (1 if row > j else -1)
            followers = ordinal(k, splits="followers").matrix[row, j]
            assert followers == (0 if row < j else 1 if row == j else -1)
            previous = ordinal(k, splits="previous").matrix[row, j]
            assert previous == (0 if row > j + 1 else 1 if row == j + 1 else -1)
    with pytest.raises(InvalidInputError, match="splits must be"):
        ordinal(k, splits="next")


@pytest.mark.parametrize(("k", "length"), [(3, 3), (4, 12), (6, 39), (10, 50)])
def test_sparse_codes_have_the_published_length_where_there_are_so_many_columns(k, length):
    code = sparse_random(k, n_candidates=300, random_state=0)
    assert code.n_columns == length
    assert code == sparse_random(k, length, n_candidates=300, random_state=0)
