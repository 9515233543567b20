# ruff: noqa: N803, N806  # X is the name that scikit-learn has for features
import copy
import pickle
import re
import subprocess
import sys
from itertools import permutations
from math import comb

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression
from sklearn.metrics import pairwise
from tests import strategies

from ecoc.codes import Codebook, dense_random, one_vs_one, one_vs_rest
from ecoc.design import DesignProblem, design_codebook
from ecoc.design.arrangement import assign_codewords
from ecoc.design.similarity import (
    DIRECTIONS,
    SIMILARITIES,
    ClassSimilarity,
    class_similarity,
    target_distances,
)
from ecoc.errors import InvalidInputError

SIGNS = {"group-similar": -1, "separate-hard-pairs": 1}


def clouds(centres, n_samples=30, noise=1.0, seed=0):
    """Normal clouds around centres, one for each class, in a random order."""
    generator = np.random.default_rng(seed)
    centres = np.asarray(centres, dtype=float)
    y = generator.permutation(np.repeat(np.arange(len(centres)), n_samples))
    return centres[y] + noise * generator.standard_normal((len(y), centres.shape[1])), y


def random_similarity(k, seed=0):
    values = np.random.default_rng(seed).random((k, k))
    return ClassSimilarity.from_matrix((values + values.T) / 2)


@st.composite
def similarities(draw, n_classes=None):
    k = n_classes or draw(st.integers(2, 7))
    # Few different values, so that ties are common.
    values = draw(hnp.arrays(np.int64, (k, k), elements=st.integers(0, 8)))
    return ClassSimilarity.from_matrix((values + values.T) / 16)


def pairs(matrix):
    return matrix[np.triu_indices(len(matrix), 1)]


LINE = [[0, 0], [2, 0], [5, 0], [12, 1]]


# ------------------------------------------------------------------ from data


@pytest.mark.parametrize("method", SIMILARITIES)
def test_nearer_clouds_are_more_alike(method):
    X, y = clouds([[0, 0], [1.5, 0], [4, 0]], n_samples=60)
    similarity = class_similarity(X, y, method)
    first, second, third = similarity.matrix[0, 1], similarity.matrix[1, 2], similarity.matrix[0, 2]
    assert first > second > third
    assert similarity.method == method
    assert similarity.classes == (0, 1, 2)
    assert "most similar 0 and 1" in repr(similarity)


@pytest.mark.parametrize("method", SIMILARITIES)
def test_labels_may_be_text_and_features_may_have_any_scale(method):
    X, y = clouds(LINE)
    names = np.array(["d", "b", "c", "a"])[y]
    plain = class_similarity(X, y, method)
    named = class_similarity(X * [1e-6, 1e6], names, method)
    assert named.classes == ("a", "b", "c", "d")
    order = [3, 1, 2, 0]
    # The folds of the same samples differ when the classes are sorted otherwise.
    tolerance = 0.1 if method == "confusion" else 1e-9
    np.testing.assert_allclose(named.matrix, plain.matrix[np.ix_(order, order)], atol=tolerance)


@pytest.mark.parametrize("method", SIMILARITIES)
@pytest.mark.parametrize("make", [sparse.csr_matrix, sparse.coo_array, sparse.csc_array])
def test_sparse_features_give_the_same(method, make):
    X, y = clouds(LINE)
    X[np.abs(X) < 0.5] = 0
    dense, thin = class_similarity(X, y, method), class_similarity(make(X), y, method)
    np.testing.assert_allclose(thin.matrix, dense.matrix, atol=1e-9)


def test_centroids_are_those_of_standardised_features():
    X, y = clouds(LINE)
    X = np.column_stack([X, np.full(len(y), 7.0)])
    standard = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1)
    means = np.array([standard[y == c].mean(axis=0) for c in range(4)])
    distances = np.linalg.norm(means[:, None] - means, axis=2)
    similarity = class_similarity(X, y)
    np.testing.assert_allclose(similarity.matrix, 1 - distances / distances.max(), atol=1e-12)


def test_the_kernel_discrepancy_is_the_unbiased_one():
    X, y = clouds(LINE, n_samples=9)
    Z = X / X.std(axis=0)
    squares = pairwise.euclidean_distances(Z, squared=True)
    kernel = np.exp(-squares / (2 * np.median(pairs(squares))))
    expected = np.zeros((4, 4))
    for p in range(4):
        for q in range(4):
            if p != q:
                within = sum((kernel[np.ix_(y == c, y == c)].sum() - 9) / (9 * 8) for c in (p, q))
                expected[p, q] = within - 2 * kernel[np.ix_(y == p, y == q)].mean()
    expected = np.sqrt(np.maximum(expected, 0))
    similarity = class_similarity(X, y, "kernel")
    np.testing.assert_allclose(similarity.matrix, 1 - expected / expected.max(), atol=1e-9)


def test_the_kernel_sees_what_centroids_do_not():
    generator = np.random.default_rng(0)
    angles = generator.uniform(0, 2 * np.pi, 150)
    ring = 3 * np.column_stack([np.cos(angles), np.sin(angles)])
    X = np.vstack([ring, 0.3 * generator.standard_normal((300, 2)) + [[0.2, 0]]])
    y = np.repeat([0, 1, 2], 150)
    matrix = class_similarity(X, y, "kernel").matrix
    assert matrix[1, 2] > 0.8
    assert max(matrix[0, 1], matrix[0, 2]) < 0.1


def test_identical_classes_are_wholly_alike():
    X = np.tile([[0.0], [1.0], [2.0]], (3, 1))
    y = np.repeat(["a", "b", "c"], 3)
    for method in ("centroids", "kernel"):
        np.testing.assert_array_equal(class_similarity(X, y, method).matrix, np.ones((3, 3)))


def test_samples_that_are_mostly_equal_have_a_kernel_width():
    X = np.zeros((30, 1))
    X[-3:] = 1
    similarity = class_similarity(X, np.repeat([0, 1, 2], 10), "kernel")
    assert similarity.matrix[0, 1] == 1
    assert similarity.matrix[0, 2] < 1


def test_confusion_counts_both_ways():
    class Shift:
        """Takes every class for the next one, the last one for itself."""

        def get_params(self, deep=True):
            return {}

        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.minimum(X[:, 0].astype(int) + 1, 2)

    X = np.repeat([[0.0], [1.0], [2.0]], 4, axis=0)
    similarity = class_similarity(X, X[:, 0], "confusion", estimator=Shift())
    np.testing.assert_allclose(similarity.matrix, [[1, 0.5, 0], [0.5, 1, 0.5], [0, 0.5, 1]])


def test_any_classifier_can_be_asked_for_its_confusions():
    X, y = clouds([[0, 0], [1, 0], [6, 0]], n_samples=50)
    similarity = class_similarity(X, y, "confusion", estimator=LinearDiscriminantAnalysis())
    assert similarity.matrix[0, 1] > 0.1 > similarity.matrix[0, 2]


def test_folds_adapt_to_the_smallest_class():
    X, y = clouds(LINE)
    kept = (y != 3) | (np.cumsum(y == 3) <= 2)
    similarity = class_similarity(X[kept], y[kept], "confusion", n_splits=10)
    assert similarity.n_classes == 4


@pytest.mark.parametrize(
    ("method", "options"), [("kernel", {"max_samples": 50}), ("confusion", {})]
)
def test_one_seed_gives_one_similarity(method, options):
    X, y = clouds([[0, 0], [1, 0], [2, 1], [3, 3]], n_samples=40)
    first, second, other = (
        class_similarity(X, y, method, random_state=seed, **options) for seed in (5, 5, 6)
    )
    assert first == second
    assert hash(first) == hash(second)
    assert first != other
    assert class_similarity(X, y, method, **options) == class_similarity(
        X, y, method, random_state=np.random.default_rng(0), **options
    )


def test_a_part_of_the_samples_tells_about_as_much():
    X, y = clouds([[0, 0], [1, 0], [4, 0]], n_samples=400)
    whole, part = (class_similarity(X, y, "kernel", max_samples=n) for n in (1200, 300))
    np.testing.assert_allclose(part.matrix, whole.matrix, atol=0.1)
    tiny = class_similarity(X, y, "kernel", max_samples=2)
    assert tiny.n_classes == 3


@pytest.mark.parametrize("kind", ["pandas", "polars", "lists"])
def test_tables_are_features_too(kind):
    X, y = clouds(LINE)
    expected = class_similarity(X, y)
    if kind == "lists":
        table, labels = X.tolist(), y.tolist()
    else:
        library = pytest.importorskip(kind)
        table = library.DataFrame({"u": X[:, 0], "v": X[:, 1]})
        labels = library.Series(y)
    assert class_similarity(table, labels) == expected


GOOD = np.arange(12.0).reshape(6, 2)
CLASSES = ["a", "a", "b", "b", "c", "c"]


def spoilt(value):
    X = GOOD.copy()
    X[4, 1] = value
    return X


@pytest.mark.parametrize(
    ("X", "y", "options", "message"),
    [
        (spoilt(np.nan), CLASSES, {}, "nan in row 4, column 1 (1 such values in all)"),
        (spoilt(-np.inf), CLASSES, {}, "-inf in row 4, column 1"),
        (spoilt(1e200), CLASSES, {}, "finite numbers up to 1e+100, but has 1e+200"),
        (sparse.csr_array(spoilt(np.nan)), CLASSES, {}, "nan in row 4, column 1"),
        (GOOD + 1j, CLASSES, {}, "X must be a matrix of numbers"),
        ([["x"]] * 6, CLASSES, {}, "X must be a matrix of numbers"),
        (GOOD[:, 0], CLASSES, {}, "X must have two dimensions (samples x features), not 1"),
        (GOOD[:, :0], CLASSES, {}, "X must have at least 1 feature, not 0"),
        (np.ones((6, 2)), CLASSES, {}, "all are constant"),
        (sparse.csr_array((6, 2)), CLASSES, {}, "all are constant"),
        (GOOD, ["a"] * 6, {}, "y must have at least 2 classes, not 1"),
        (GOOD[:0], [], {}, "y must have at least 2 classes, not 0"),
        (GOOD, CLASSES[:5], {}, "X has 6, y 5"),
        (GOOD, [CLASSES], {}, "y must have one dimension"),
        (GOOD, [0, 0, 1, 1, 2, np.nan], {}, "NaN or fractions"),
        (GOOD, np.array([0, 0, 1, 1, 2, np.nan], dtype=object), {}, "NaN or fractions"),
        (GOOD, [[0], [0, 1]], {}, "y must be a sequence of classes"),
        (GOOD, [0, 0, 1, 1, 2, 2.5], {}, "classes, not measurements"),
        (GOOD, ["a", "b", None, "a", "b", "b"], {}, "classes that can be sorted"),
        (GOOD, CLASSES, {"method": "centroid"}, "Did you mean 'centroids'?"),
        (GOOD, ["a"] * 5 + ["b"], {"method": "kernel"}, "only 1 has 'b'. Use method='centroids'"),
        (GOOD, ["a"] * 5 + ["b"], {"method": "confusion"}, "2 samples of each class"),
        (GOOD, CLASSES, {"estimator": LinearRegression()}, "no meaning for method='centroids'"),
        (GOOD, CLASSES, {"method": "confusion", "estimator": 3}, "fit and predict, not 3"),
        (
            GOOD,
            CLASSES,
            {"method": "confusion", "estimator": LinearRegression()},
            "LinearRegression() predicts what is no class",
        ),
        (GOOD, CLASSES, {"n_splits": 1}, "n_splits must be at least 2, not 1"),
        (GOOD, CLASSES, {"max_samples": 1}, "max_samples must be at least 2, not 1"),
        (GOOD, CLASSES, {"random_state": -1}, "random_state must be at least 0"),
    ],
)
def test_unusable_data_are_named(X, y, options, message):
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        class_similarity(X, y, **options)


# --------------------------------------------------------------------- values


def test_a_similarity_is_a_frozen_value():
    similarity = random_similarity(4)
    assert similarity.classes == (0, 1, 2, 3)
    assert similarity.method == "given"
    for twin in (similarity, pickle.loads(pickle.dumps(similarity)), copy.deepcopy(similarity)):
        assert twin == similarity
        with pytest.raises(ValueError, match="read-only"):
            twin.matrix[0, 1] = 0.5
    with pytest.raises(AttributeError):
        similarity.method = "centroids"
    assert similarity != ClassSimilarity.from_matrix(similarity.matrix, "abcd")
    assert similarity != "similarity"


def test_rounding_errors_in_a_matrix_are_forgiven():
    similarity = ClassSimilarity.from_matrix([[5, 1 + 1e-12], [1 - 1e-12, 3]])
    np.testing.assert_array_equal(similarity.matrix, np.ones((2, 2)))


@pytest.mark.parametrize(
    ("matrix", "classes", "message"),
    [
        ([[1, 2], [2, 1]], None, "has 2 in row 0, column 1. For distances d, pass 1 - d / d.max()"),
        ([[1, np.nan], [0, 1]], None, "has nan in row 0, column 1"),
        ([[1, 0.2], [0.3, 1]], None, "symmetric, but has 0.2 in row 0, column 1 and 0.3"),
        ([[1, 0.2]], [0, 1], "shape (2, 2), not (1, 2)"),
        ([[1, 0.2], [0.2, 1]], "abc", "shape (3, 3), not (2, 2)"),
        ([[1, 0.2], [0.2, 1]], "aa", "2 or more and distinct; got 2, of which 1"),
        ([[1, 0.2], [0.2, 1]], [[], []], "classes must be text or numbers"),
        ([[1]], None, "2 or more and distinct; got 1"),
        (0.5, None, "2 or more and distinct; got 1"),
        ([["x", "y"], ["y", "x"]], None, "matrix must be a matrix of numbers"),
        ([[1], [1, 2]], None, "matrix must be a matrix of numbers"),
    ],
)
def test_a_matrix_that_is_no_similarity_is_refused(matrix, classes, message):
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        ClassSimilarity.from_matrix(matrix, classes)


# -------------------------------------------------------------------- targets


@given(
    similarities(), st.integers(1, 40), st.sampled_from(DIRECTIONS), st.floats(0, 1), st.randoms()
)
def test_targets_are_what_they_should_be(similarity, length, direction, spread, random):
    k = similarity.n_classes
    targets = target_distances(similarity, length, direction, spread=spread)
    assert targets.dtype == np.int64
    np.testing.assert_array_equal(targets, targets.T)
    assert not targets.diagonal().any()
    wanted, alike = pairs(targets), pairs(similarity.matrix)
    assert 1 <= wanted.min() <= wanted.max() <= length

    # Monotone: what is more alike is not on the wrong side, what is equally alike is equal.
    order = np.argsort(alike, kind="stable")
    steps = SIGNS[direction] * np.diff(wanted[order])
    assert (steps >= 0).all()
    assert (steps[np.diff(alike[order]) == 0] == 0).all()

    # The mean is the most that so many different columns reach, up to rounding.
    sides = sorted((c.bit_count() for c in range(1, 2 ** (k - 1))), key=lambda w: -w * (k - w))
    mean = sum(w * (k - w) for w in sides[:length]) / comb(k, 2)
    assert abs(wanted.mean() - max(mean, 1)) <= 0.5 + 1e-9
    assert np.abs(wanted - max(mean, 1)).max() <= spread * mean + 0.5 + 1e-9

    # Another order of the classes gives the same targets in that order.
    moved = random.sample(range(k), k)
    again = ClassSimilarity.from_matrix(similarity.matrix[np.ix_(moved, moved)])
    np.testing.assert_array_equal(
        target_distances(again, length, direction, spread=spread), targets[np.ix_(moved, moved)]
    )


def test_the_mean_is_the_formula_of_the_averaging_bound():
    targets = target_distances(random_similarity(10), 20)
    assert pairs(targets).mean() == pytest.approx(20 * 25 / 45, abs=0.2)
    assert (pairs(targets).min(), pairs(targets).max()) == (9, 14)


def test_without_spread_or_difference_all_targets_are_equal():
    assert set(pairs(target_distances(random_similarity(6), 10, spread=0))) == {6}
    alike = ClassSimilarity.from_matrix(np.full((6, 6), 0.1))
    assert set(pairs(target_distances(alike, 10))) == {6}


def test_the_scale_of_similarities_does_not_matter():
    similarity = random_similarity(7)
    other = ClassSimilarity.from_matrix(0.3 + similarity.matrix / 5)
    np.testing.assert_array_equal(target_distances(similarity, 14), target_distances(other, 14))


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.eye(3), 5), {}, "ClassSimilarity.from_matrix"),
        ((random_similarity(3), 0), {}, "n_columns must be at least 1, not 0"),
        ((random_similarity(3), 5, "group-similer"), {}, "Did you mean 'group-similar'?"),
        ((random_similarity(3), 5), {"spread": 1.5}, "spread must be at most 1, not 1.5"),
    ],
)
def test_unusable_targets_are_refused(arguments, options, message):
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        target_distances(*arguments, **options)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_design_on_targets_goes_the_right_way(direction):
    X, y = clouds([[0, 0], [2, 0], [0, 9], [2, 9], [20, 0], [22, 1]])
    similarity = class_similarity(X, y)
    targets = target_distances(similarity, 10, direction)
    DesignProblem(6, 10, objective="target-distances", target_distances=targets)
    design = design_codebook(
        6,
        10,
        objective="target-distances",
        target_distances=targets,
        method="search",
        random_state=0,
    )
    distances = design.codebook.row_distances()
    correlation = np.corrcoef(pairs(similarity.matrix), pairs(distances))[0, 1]
    assert SIGNS[direction] * correlation > 0.5


# ---------------------------------------------------------------- assignments


def total(similarity, codebook, rows):
    distances = codebook.row_distances()[np.ix_(rows, rows)]
    return float((pairs(similarity.matrix) * pairs(distances)).sum())


@given(
    strategies.codebooks(max_classes=6) | strategies.symbol_codebooks(max_classes=6),
    st.data(),
    st.sampled_from(DIRECTIONS),
)
def test_small_assignments_are_the_best_ones(codebook, data, direction):
    k = codebook.n_classes
    similarity = data.draw(similarities(k))
    assume(not set(codebook.labels or ()) & set(map(str, range(k))))
    assigned = assign_codewords(codebook, similarity, direction)
    sign = -SIGNS[direction]
    best = min(sign * total(similarity, codebook, rows) for rows in permutations(range(k)))
    assert sign * total(similarity, assigned, range(k)) == pytest.approx(best, abs=1e-9)
    rows = assigned.provenance.parameters["rows"]
    np.testing.assert_array_equal(assigned.matrix, codebook.matrix[rows])
    assert (assigned.labels, assigned.name) == (codebook.labels, codebook.name)
    # An order that is among the best already is left alone.
    if sign * total(similarity, codebook, range(k)) == pytest.approx(best, abs=1e-9):
        assert assigned == codebook


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("seed", range(3))
def test_seven_classes_against_brute_force(direction, seed):
    codebook, similarity = dense_random(7, 10, random_state=seed), random_similarity(7, seed)
    assigned = assign_codewords(codebook, similarity, direction, random_state=1)
    sign = -SIGNS[direction]
    rows = np.array(list(permutations(range(7))))
    distances = codebook.row_distances()
    first, second = np.triu_indices(7, 1)
    totals = sign * distances[rows[:, first], rows[:, second]] @ pairs(similarity.matrix)
    assert sign * total(similarity, assigned, range(7)) == pytest.approx(totals.min())


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_many_classes_go_the_right_way(direction):
    X, y = clouds(np.random.default_rng(0).normal(size=(40, 4)) * 5, n_samples=5)
    codebook, similarity = dense_random(40, 30, random_state=0), class_similarity(X, y)
    assigned = assign_codewords(codebook, similarity, direction)
    correlation = np.corrcoef(pairs(similarity.matrix), pairs(assigned.row_distances()))[0, 1]
    assert SIGNS[direction] * correlation > 0.25
    assert assigned.row_distance_spectrum() == codebook.row_distance_spectrum()
    assert assigned.min_column_distance() == codebook.min_column_distance()


def test_more_starts_are_never_worse():
    codebook, similarity = dense_random(20, 15, random_state=0), random_similarity(20)
    totals = [
        total(similarity, assign_codewords(codebook, similarity, n_starts=n), range(20))
        for n in (0, 1, 5, 20)
    ]
    assert totals == sorted(totals, reverse=True)
    assert totals[0] < total(similarity, codebook, range(20))


def test_one_seed_gives_one_assignment():
    codebook, similarity = dense_random(25, 20, random_state=0), random_similarity(25)
    first, second, other = (
        assign_codewords(codebook, similarity, n_starts=1, random_state=seed) for seed in (3, 3, 4)
    )
    assert first == second
    assert first.provenance == second.provenance
    assert first.provenance.seed == 3
    assert first != other
    assert assign_codewords(codebook, similarity).provenance.seed == 0
    generator = np.random.default_rng(3)
    drawn = assign_codewords(codebook, similarity, n_starts=1, random_state=generator)
    assert drawn == first
    assert drawn.provenance.seed is None


@pytest.mark.parametrize("make", [one_vs_rest, one_vs_one])
def test_equidistant_codes_stay_as_they_are(make):
    codebook = make(5)
    assigned = assign_codewords(codebook, random_similarity(5))
    assert assigned == codebook
    assert "equally far apart" in assigned.provenance.parameters["note"]
    assert assigned.provenance.parameters["source"] == codebook.provenance.method


def test_classes_that_are_equally_alike_stay_where_they_are():
    codebook = dense_random(5, 6, random_state=0)
    assigned = assign_codewords(codebook, ClassSimilarity.from_matrix(np.full((5, 5), 0.4)))
    assert assigned == codebook
    assert "equally alike" in assigned.provenance.parameters["note"]


def test_labels_are_matched_with_the_classes():
    rows = ["++++", "--++", "+++-", "-+-+"]
    similarity = random_similarity(4)
    named = ClassSimilarity.from_matrix(similarity.matrix, ["10", 7, "x", "y"])
    order = [2, 0, 3, 1]
    labels = [str(named.classes[i]) for i in order]
    assigned = assign_codewords(Codebook.from_rows(rows, labels=labels), named)
    reordered = ClassSimilarity.from_matrix(similarity.matrix[np.ix_(order, order)])
    by_position = assign_codewords(Codebook.from_rows(rows), reordered)
    assert assigned.labels == tuple(labels)
    np.testing.assert_array_equal(assigned.matrix, by_position.matrix)
    foreign = assign_codewords(Codebook.from_rows(rows, labels=list("abcd")), reordered)
    np.testing.assert_array_equal(foreign.matrix, by_position.matrix)


def test_repeated_columns_are_kept():
    codebook = Codebook.from_rows(["+++", "--+", "---"], allow_repeated_columns=True)
    assigned = assign_codewords(codebook, random_similarity(3))
    assert assigned.allow_repeated_columns


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.eye(3), random_similarity(3)), {}, "codebook must be a Codebook"),
        ((one_vs_rest(3), np.eye(3)), {}, "similarity must be a ClassSimilarity"),
        ((one_vs_rest(3), random_similarity(4)), {}, "the codebook has 3, the similarity 4"),
        ((one_vs_rest(3), random_similarity(3), "far"), {}, "direction must be one of"),
        ((one_vs_rest(3), random_similarity(3)), {"n_starts": -1}, "n_starts must be at least 0"),
        (
            (one_vs_rest(3).relabel(["0", "1", "three"]), random_similarity(3)),
            {},
            "but not 'three'. Rename them with relabel",
        ),
    ],
)
def test_unusable_assignments_are_refused(arguments, options, message):
    with pytest.raises(InvalidInputError, match=re.escape(message)):
        assign_codewords(*arguments, **options)


def test_the_module_loads_without_scikit_learn():
    code = "import sys, ecoc.design.similarity; assert 'sklearn' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
