# ruff: noqa: N803, N806  # X is what scikit-learn calls it
from itertools import permutations, product

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from tests.multiclass.cases import blobs

from ecoc.codes import Codebook, one_vs_rest
from ecoc.errors import InvalidInputError
from ecoc.multiclass import (
    ECOCClassifier,
    decoc,
    ecoc_one,
    forest_ecoc,
    load_model,
    minimal_code,
)
from ecoc.multiclass.adaptive import _climbed, _Information


def clusters(k, *, per_class=6, seed=0, n_features=3):
    """Overlapping classes of unequal sizes, in an order that says nothing."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(k), per_class + np.arange(k) % 3)
    X = rng.normal(size=(k, n_features))[y] * 2 + rng.normal(size=(len(y), n_features))
    order = rng.permutation(len(y))
    return X[order], y[order]


def information(X, y, entries):
    """Torkkola's quadratic mutual information, from its definition by sums over samples."""
    squares = (((X[:, None] - X[None]) / X.std(axis=0)) ** 2).sum(axis=2)
    kernel = np.exp(-squares / (2 * np.median(squares[np.triu_indices(len(X), 1)])))
    used = np.flatnonzero(entries[y])
    side, kernel, n = entries[y[used]], kernel[np.ix_(used, used)], len(used)
    within = apart = between = 0.0
    for sign in (1, -1):
        members = side == sign
        share = members.mean()
        within += kernel[np.ix_(members, members)].sum() / n**2
        apart += share**2 * kernel.sum() / n**2
        between += share * kernel[members].sum() / n**2
    return within + apart - 2 * between


def splits(classes, k):
    """All columns that have some classes on two sides."""
    for signs in product((1, -1), repeat=len(classes) - 1):
        if -1 in signs:
            column = np.zeros(k, dtype=int)
            column[classes] = 1, *signs
            yield column


def nodes(code):
    """The classes of each column and of its sides."""
    for column in code.matrix.T:
        yield tuple(frozenset(np.flatnonzero(column == sign)) for sign in (1, -1))


@pytest.mark.parametrize(("k", "seed"), [(3, 0), (4, 1), (5, 2), (6, 3)])
def test_every_node_of_a_tree_has_the_best_of_all_splits(k, seed):
    X, y = clusters(k, seed=seed)
    for column in decoc(X, y).matrix.T:
        classes = np.flatnonzero(column)
        best = max(information(X, y, other) for other in splits(classes, k))
        assert information(X, y, column) == pytest.approx(best, rel=1e-9)


@pytest.mark.parametrize("k", [2, 5, 9, 16])
def test_a_tree_splits_every_side_again_and_every_pair_once(k):
    X, y = clusters(k)
    code = decoc(X, y, random_state=1)
    assert code.n_columns == k - 1
    above = {frozenset(range(k))}
    for first, second in nodes(code):
        assert first | second in above
        above |= {first, second}
    signs = code.matrix.astype(int)
    separated = ((signs[:, None] * signs[None]) < 0).sum(axis=2)
    assert (separated == 1 - np.eye(k, dtype=int)).all()


def test_climbs_end_where_no_class_would_rather_move():
    X, y = clusters(9, seed=4)
    known = _Information.of_data(X, y, np.random.default_rng(0))
    top = _climbed(known, np.zeros(9, dtype=bool))
    value = known.of_sides(top[None])[0]
    assert known.flipped(top).max() <= value * (1 + 1e-9)
    neighbours = top ^ np.eye(9, dtype=bool)
    assert known.flipped(top) == pytest.approx(known.of_sides(neighbours))


@pytest.mark.parametrize("k", [4, 14])
def test_trees_of_a_forest_share_no_split_of_more_than_two_classes(k):
    X, y = clusters(k, seed=5)
    forest = forest_ecoc(X, y, n_trees=3, random_state=0)
    assert np.array_equal(forest.matrix[:, : k - 1], decoc(X, y, random_state=0).matrix)
    # Three roots are three splits of all classes.
    assert (np.abs(forest.matrix).sum(axis=0) == k).sum() == 3
    assert forest.n_columns <= 3 * (k - 1)
    assert forest == forest_ecoc(X, y, n_trees=3, random_state=0)
    assert forest_ecoc(X, y, n_trees=1, random_state=0) == decoc(X, y, random_state=0)


@pytest.mark.parametrize("k", [3, 4, 5])
def test_no_minimal_code_tells_more(k):
    X, y = clusters(k, seed=k)
    length = (k - 1).bit_length()
    words = list(product((1, -1), repeat=length))
    value = {word: information(X, y, np.array(word)) for word in product((1, -1), repeat=k)}
    best = max(
        sum(value[column] for column in zip(*rows, strict=True)) for rows in permutations(words, k)
    )
    found = minimal_code(X, y)
    assert found.n_columns == length
    assert sum(value[tuple(column)] for column in found.matrix.T) == pytest.approx(best)


def test_sparse_features_and_other_labels_make_the_same_code():
    X, y = clusters(5)
    names = np.array(["e", "a", "b", "d", "c"])
    code = decoc(sparse.csr_matrix(X), names[y])
    assert code.labels == ("a", "b", "c", "d", "e")
    again = decoc(X, y).matrix[np.argsort(names)]
    assert {frozenset(pair) for pair in nodes(code)} == {
        frozenset(pair) for pair in nodes(Codebook(again))
    }


CENTRES = np.array([[0, 0], [2, 0], [0, 8], [8, 0], [8, 8]])
"""The first two classes overlap, and the others are far from all."""


def overlapping(scale=1):
    y = np.repeat(np.arange(5), 40)
    return scale * CENTRES[y] + np.random.default_rng(0).normal(size=(200, 2)), y


class Picky(GaussianNB):
    """A learner that two classes alone are too small for."""

    def fit(self, X, y, sample_weight=None):
        if len(X) < 70:
            raise ValueError("too few samples")
        return super().fit(X, y, sample_weight)


def test_ecoc_one_adds_columns_for_classes_that_are_confused():
    X, y = overlapping()
    initial = one_vs_rest(5)
    code = ecoc_one(X, y, GaussianNB(), initial=initial, n_columns=7, random_state=0)
    assert np.array_equal(code.matrix[:, :5], initial.matrix)
    assert 6 <= code.n_columns <= 7
    assert code.matrix[0, 5] * code.matrix[1, 5] == -1
    assert code == ecoc_one(X, y, GaussianNB(), initial=initial, n_columns=7, random_state=0)
    # What is told apart gets no more columns.
    assert ecoc_one(*overlapping(100), GaussianNB(), random_state=0).n_columns == 4


def test_ecoc_one_does_without_columns_that_cannot_be_trained():
    X, y = overlapping()
    code = ecoc_one(X, y, Picky(), initial="one-vs-rest", n_columns=6, random_state=0)
    assert code.n_columns == 6
    assert np.abs(code.matrix[:, 5]).sum() > 2


def test_ecoc_one_refuses_what_it_cannot_use():
    X, y = clusters(4)
    with pytest.raises(InvalidInputError, match="precomputed kernel"):
        ecoc_one(X @ X.T, y, SVC(kernel="precomputed"))
    with pytest.raises(InvalidInputError, match="initial must be 'decoc'"):
        ecoc_one(X, y, GaussianNB(), initial="one-vs-on")
    with pytest.raises(InvalidInputError, match="with 4 rows"):
        ecoc_one(X, y, GaussianNB(), initial=one_vs_rest(5))
    with pytest.raises(InvalidInputError, match="at least 2 classes"):
        ecoc_one(X, np.zeros(len(y)), GaussianNB())


@pytest.mark.parametrize("name", ["decoc", "forest-ecoc", "ecoc-one", "minimal"])
def test_classifiers_take_the_codes_by_name(name, tmp_path):
    X, y = blobs(5, per_class=12)
    names = np.array(["v", "w", "x", "y", "z"])[y]
    model = ECOCClassifier(GaussianNB(), codebook=name, random_state=0).fit(X, names)
    assert model.codebook_.name == name
    assert f"{name} code for the training data" in model.codebook_reason_
    again = clone(model).fit(X, names)
    assert model.codebook_ == again.codebook_
    model.save(tmp_path / "model.skops")
    loaded = load_model(tmp_path / "model.skops")
    assert np.array_equal(loaded.predict(X), model.predict(X))
    with pytest.raises(InvalidInputError, match="partial_fit cannot"):
        ECOCClassifier(GaussianNB(), codebook=name).partial_fit(X, y, classes=np.arange(5))


def test_the_length_of_a_forest_is_about_that_asked_for():
    X, y = clusters(6)
    with pytest.warns(UserWarning, match="n_columns is 10, but this code has 9"):
        model = ECOCClassifier(GaussianNB(), codebook="forest-ecoc", n_columns=10).fit(X, y)
    assert model.codebook_.n_columns == 9


def test_a_search_goes_over_names():
    X, y = blobs(4, per_class=8)
    names = ["decoc", "ecoc-one", "minimal", "ordinal", "ternary-complete"]
    search = GridSearchCV(ECOCClassifier(GaussianNB()), {"codebook": names}, cv=2).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
