from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest

from ecoc import Codebook, extend_codebook
from ecoc.codes import balanced_random, dense_random, one_vs_one, sparse_random
from ecoc.constructions import hadamard_matrix
from ecoc.design import Status
from ecoc.errors import InfeasibleError, InvalidInputError, TooLargeError


def entries(codebook):
    """The words that new rows may have: the symbols that each column has, without zeros."""
    unused = {0} if codebook.n_symbols == 2 else set()
    columns = [sorted(set(column.tolist()) - unused) for column in codebook.matrix.T]
    return list(product(*columns))


def doubled(a, b, n_symbols):
    if n_symbols > 2:
        return 2 * sum(x != y for x, y in zip(a, b, strict=True))
    return sum(1 - x * y for x, y in zip(a, b, strict=True))


def best_distance(codebook, new):
    """The largest least distance of new rows to any other, by trying all sets of words."""
    rows, q = codebook.matrix.tolist(), codebook.n_symbols
    words = entries(codebook)
    near = {word: min(doubled(word, row, q) for row in rows) for word in words}
    best = 0
    for chosen in combinations(words, new):
        least = min(near[word] for word in chosen)
        if least > best:
            among = [doubled(a, b, q) for a, b in combinations(chosen, 2)]
            best = max(best, min([least, *among]))
    return Fraction(best, 2)


CODEBOOKS = {
    "binary": (dense_random(5, 6, random_state=2), 2),
    "binary, one": (dense_random(6, 8, random_state=0), 1),
    "binary, three": (dense_random(4, 5, random_state=1), 3),
    "ternary": (one_vs_one(4), 2),
    "ternary, one": (sparse_random(5, 7, random_state=0), 1),
    "three symbols": (balanced_random(5, 4, n_symbols=3, random_state=0), 2),
}


@pytest.mark.parametrize("name", CODEBOOKS)
def test_no_extension_is_better(name):
    codebook, new = CODEBOOKS[name]
    extended = extend_codebook(codebook, new, random_state=0)
    best = best_distance(codebook, new)
    assert extended.distance == extended.bound == best
    assert extended.status is Status.OPTIMAL
    k = codebook.n_classes
    matrix = extended.codebook.matrix
    assert (matrix[:k] == codebook.matrix).all()
    apart = extended.codebook.row_distances()[k:]
    apart = np.where(np.arange(k + new) == np.arange(k, k + new)[:, None], np.inf, apart)
    assert apart.min() == best


@pytest.mark.parametrize(("k", "length", "new"), [(9, 24, 8), (12, 40, 2)])
def test_bounds_hold_and_are_near_where_not_all_words_can_be_tried(k, length, new):
    codebook = dense_random(k, length, random_state=0)
    extended = extend_codebook(codebook, new, random_state=0)
    assert extended.distance <= extended.bound <= extended.distance + 3
    assert extended.codebook.matrix[k:].all()


def test_a_known_code_is_found_again():
    # The rows of H and -H are 32 words of length 16 at least 8 apart; averages allow no more.
    half = Codebook(hadamard_matrix(16) * np.where(np.arange(16) % 3, 1, -1)[:, None])
    extended = extend_codebook(half, 16, random_state=0)
    assert extended.status is Status.OPTIMAL
    assert extended.distance == extended.codebook.min_row_distance == 8


def test_a_seed_repeats_and_a_time_limit_still_gives_rows():
    codebook = dense_random(10, 40, random_state=0)
    first, second = (extend_codebook(codebook, 3, random_state=5).codebook for _ in range(2))
    assert first == second
    assert extend_codebook(codebook, 3, time_limit=0).codebook.n_classes == 13


def test_wishes_are_followed_as_far_as_distances_allow():
    codebook = dense_random(6, 20, random_state=0)
    generator = np.random.default_rng(0)
    wishes = generator.normal(size=(2, 20))
    free = extend_codebook(codebook, 2, wishes=wishes)
    assert (free.codebook.matrix[6:] == np.sign(wishes)).all()
    # A wish for the row of another class cannot be granted.
    wishes[0] = codebook.matrix[3] * np.linspace(1, 2, 20)
    apart = extend_codebook(codebook, 2, wishes=wishes, min_distance=4)
    assert apart.distance >= 4
    changed = apart.codebook.matrix[6] != codebook.matrix[3]
    assert changed.sum() == 4
    assert changed[:10].sum() > changed[10:].sum()


def test_labels_go_with_the_rows():
    codebook = dense_random(3, 3, random_state=0).relabel(list("abc"))
    extended = extend_codebook(codebook, 1, labels=["d"])
    assert extended.codebook.labels == ("a", "b", "c", "d")
    with pytest.raises(InvalidInputError, match="because the codebook has labels"):
        extend_codebook(codebook, 1)
    with pytest.raises(InvalidInputError, match="for each of 2 new classes"):
        extend_codebook(codebook, 2, labels=["d"])
    with pytest.raises(InvalidInputError, match="the codebook has none"):
        extend_codebook(codebook.relabel(None), 1, labels=["d"])


def test_what_cannot_be_is_refused():
    codebook = dense_random(4, 3, random_state=0)
    with pytest.raises(InfeasibleError, match="8 words, too few for 5 more classes"):
        extend_codebook(codebook, 5)
    assert extend_codebook(codebook, 4).codebook.n_classes == 8
    with pytest.raises(InvalidInputError, match="must be a Codebook"):
        extend_codebook([[1], [-1]], 1)
    with pytest.raises(InvalidInputError, match="n_new_classes must be at least 1"):
        extend_codebook(codebook, 0)
    with pytest.raises(InvalidInputError, match=r"shape \(1, 3\)"):
        extend_codebook(codebook, 1, wishes=[1, 1, 1])
    with pytest.raises(InvalidInputError, match="min_distance is for wishes"):
        extend_codebook(codebook, 1, min_distance=1)
    with pytest.raises(TooLargeError, match="entries"):
        extend_codebook(codebook, 10_000_000)
