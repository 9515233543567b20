"""Least-squares kernel columns against refits, linear solves and scikit-learn."""

# ruff: noqa: N806  # X and K are what the field calls them
import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris, make_classification
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.multiclass.joint.refits import left_out, samples

from ecoc.codes import one_vs_one, one_vs_rest
from ecoc.constructions.hadamard import hadamard_matrix
from ecoc.errors import InvalidInputError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.joint.kernel_ridge import KERNELS, KernelRidgeColumns, loo_scores

CHOICE = "a penalty or gamma chosen by leaving samples out counts a repeated sample twice"
REPEATS = {
    "check_sample_weight_equivalence_on_dense_data": CHOICE,
    "check_sample_weight_equivalence_on_sparse_data": CHOICE,
}


@parametrize_with_checks(
    [
        KernelRidgeColumns(),
        KernelRidgeColumns(gamma=0.1, alphas=1.0),
        KernelRidgeColumns(max_samples=10, n_components=8, random_state=0),
    ],
    expected_failed_checks=lambda model: {} if model.alphas == 1.0 else REPEATS,
)
def test_checks_of_scikit_learn(estimator, check):
    check(estimator)


def test_as_kernel_ridge_where_the_intercept_has_nothing_to_do():
    X, signs = samples(20, n_columns=1)
    # With every sample mirrored, and an odd kernel, the best intercept is zero.
    X, y = np.vstack([X, -X]), np.concatenate([signs[:, 0], -signs[:, 0]])
    ours = KernelRidgeColumns("linear", alphas=0.7).fit(X, y)
    theirs = KernelRidge(alpha=0.7, kernel="linear").fit(X, y)
    assert ours.intercept_ == pytest.approx(0, abs=1e-12)
    assert ours.decision_function(X) == pytest.approx(theirs.predict(X), abs=1e-10)


@pytest.mark.parametrize("kernel", KERNELS)
def test_each_column_takes_the_penalty_of_least_squared_error(kernel):
    X, signs = samples(25)
    grid = [0.01, 0.1, 1.0, 10.0]
    params = {} if kernel == "linear" else {"gamma": 0.2}
    params |= {"degree": 2, "coef0": 1.0} if kernel == "polynomial" else {}
    K = pairwise_kernels(X, metric=kernel, **params)
    model = KernelRidgeColumns(kernel, gamma=0.2, degree=2, alphas=grid)
    for column, learner in enumerate(model.fit_columns(X, signs)):
        y = signs[:, column].astype(float)
        ones = np.ones(25)
        values = [left_out(K, K, y, ones, alpha, centres_are_samples=True) for alpha in grid]
        errors = [np.mean((y - value) ** 2) for value in values]
        assert learner.alpha_ == grid[int(np.argmin(errors))]
        assert learner.loo_scores_ == pytest.approx(values[int(np.argmin(errors))], abs=1e-6)


def test_gamma_is_chosen_by_the_mean_error_of_all_columns():
    X, signs = samples(60)
    chosen = KernelRidgeColumns().fit_columns(X, signs)
    scale = 1 / (4 * X.var())
    errors = {}
    for multiple in (0.25, 0.5, 1.0, 2.0, 4.0):
        columns = KernelRidgeColumns(gamma=multiple * scale).fit_columns(X, signs)
        errors[multiple] = np.mean((loo_scores(columns) - signs) ** 2)
    best = min(errors, key=errors.get)
    assert {learner.gamma_ for learner in chosen} == {best * scale}
    assert np.mean((loo_scores(chosen) - signs) ** 2) == pytest.approx(errors[best])


@pytest.mark.parametrize("ternary", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_columns_trained_together_are_those_trained_alone(ternary, weighted):
    X, signs = samples(50, n_columns=4, ternary=ternary)
    signs = np.hstack([signs, -signs[:, :2]])
    weights = np.random.default_rng(2).integers(0, 3, size=50) if weighted else np.ones(50)
    # A gamma from the data is taken from the samples of all columns.
    model = KernelRidgeColumns(gamma=0.2 if ternary else "scale")
    together = model.fit_columns(X, signs, sample_weight=weights)
    scores = model.score_columns(together, X)
    for column, learner in enumerate(together):
        rows = np.flatnonzero(signs[:, column])
        sides = (signs[rows, column] > 0).astype(int)
        alone = clone(model).fit(X[rows], sides, sample_weight=weights[rows])
        assert learner.alpha_ == pytest.approx(alone.alpha_)
        assert scores[:, column] == pytest.approx(alone.decision_function(X), abs=1e-8)
        assert learner.decision_function(X) == pytest.approx(scores[:, column], abs=1e-12)
        assert np.array_equal(learner.predict(X), (scores[:, column] > 0).astype(int))
        assert learner.loo_scores_[rows] == pytest.approx(alone.loo_scores_, abs=1e-8, nan_ok=True)
        assert np.array_equal(
            np.isnan(learner.loo_scores_), (signs[:, column] == 0) | (weights == 0)
        )


def test_all_samples_as_landmarks_give_the_exact_solution():
    X, signs = samples(60)
    exact = KernelRidgeColumns(gamma=0.5)
    nearly = KernelRidgeColumns(gamma=0.5, max_samples=2, n_components=60)
    first, second = exact.fit_columns(X, signs), nearly.fit_columns(X, signs)
    assert loo_scores(second) == pytest.approx(loo_scores(first), abs=1e-6)
    assert nearly.score_columns(second, X) == pytest.approx(exact.score_columns(first, X), abs=1e-6)


def test_landmarks_are_training_samples_of_the_seed():
    X, signs = samples(60)
    model = KernelRidgeColumns(max_samples=30, n_components=10, random_state=3)
    first, again = model.fit_columns(X, signs), model.fit_columns(X, signs)
    other = clone(model).set_params(random_state=4).fit_columns(X, signs)
    assert np.array_equal(first[0].centres_, again[0].centres_)
    assert not np.array_equal(first[0].centres_, other[0].centres_)
    assert {tuple(row) for row in first[0].centres_} <= {tuple(row) for row in X}


def test_gamma_is_chosen_on_some_of_many_samples(monkeypatch):
    X, signs = samples(200)
    whole = KernelRidgeColumns().fit_columns(X, signs)
    monkeypatch.setattr("ecoc.multiclass.joint._kernel_regression._GAMMA_SAMPLES", 50)
    few = KernelRidgeColumns().fit_columns(X, signs)
    fixed = KernelRidgeColumns(gamma=few[0].gamma_).fit_columns(X, signs)
    multiples = np.array([0.25, 0.5, 1, 2, 4]) / (4 * X.var())
    assert few[0].gamma_ == pytest.approx(multiples[np.abs(multiples - few[0].gamma_).argmin()])
    assert whole[0].gamma_ == pytest.approx(multiples[np.abs(multiples - whole[0].gamma_).argmin()])
    # The solution itself is that of all samples.
    assert loo_scores(few) == pytest.approx(loo_scores(fixed), abs=1e-12)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("max_samples", [1000, 20])
def test_sparse_features_give_what_dense_ones_give(kernel, max_samples):
    X, signs = samples(40, ternary=True)
    X[np.abs(X) < 0.7] = 0
    model = KernelRidgeColumns(kernel, max_samples=max_samples, n_components=15, random_state=0)
    dense = model.fit_columns(X, signs)
    thin = model.fit_columns(sparse.csr_matrix(X), signs)
    assert sparse.issparse(thin[0].centres_)
    assert model.score_columns(thin, sparse.csr_matrix(X)) == pytest.approx(
        model.score_columns(dense, X), abs=1e-6
    )


def test_scores_of_any_columns_in_any_order(monkeypatch):
    X, signs = samples(40, n_columns=4, ternary=True)
    model = KernelRidgeColumns()
    columns = model.fit_columns(X, signs)
    stranger = KernelRidgeColumns("linear").fit(X, signs[:, 0] > 0)
    scores = model.score_columns(columns, X)
    monkeypatch.setattr("ecoc.multiclass.joint.kernel_ridge._BLOCK_SIZE", 100)
    picked = model.score_columns([columns[3], stranger, columns[1]], X)
    expected = [scores[:, 3], stranger.decision_function(X), scores[:, 1]]
    assert picked == pytest.approx(np.stack(expected, axis=1), abs=1e-12)


@pytest.mark.parametrize("n_classes", [4, 8])
def test_an_equidistant_code_decides_as_one_vs_rest(n_classes):
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    generator = np.random.default_rng(0)
    order = generator.permutation(len(y))
    train, test = order[:120], order[120:]
    noisy = X + generator.normal(scale=4, size=X.shape)
    learner = KernelRidgeColumns(gamma=3e-4, alphas=0.3)
    class_scores = []
    for matrix in (hadamard_matrix(n_classes)[:, 1:], one_vs_rest(n_classes).matrix):
        inner = matrix.astype(int) @ matrix.T
        assert len(set(inner[~np.eye(n_classes, dtype=bool)].tolist())) == 1
        columns = learner.fit_columns(noisy[train], matrix[y[train]])
        sums = learner.score_columns(columns, noisy[test]) @ matrix.T
        # Equal up to a constant for each sample and one factor.
        factor = inner[0, 0] - inner[0, 1]
        class_scores.append((sums - sums.mean(axis=1, keepdims=True)) / factor)
    assert class_scores[0] == pytest.approx(class_scores[1], abs=1e-9)
    models = [
        ECOCClassifier(learner, codebook=code, decoding="linear").fit(noisy[train], y[train])
        for code in (hadamard_matrix(n_classes)[:, 1:], "one-vs-rest")
    ]
    decisions = [model.predict(noisy[test]) for model in models]
    assert np.array_equal(*decisions)
    assert 0.5 < np.mean(decisions[0] == y[test]) < 1


def test_the_classifier_trains_all_columns_from_one_kernel():
    X, y = load_iris(return_X_y=True)
    model = ECOCClassifier(KernelRidgeColumns(), codebook=one_vs_one(3)).fit(X, y)
    assert len({id(learner.centres_) for learner in model.estimators_}) == 1
    scores = loo_scores(model.estimators_)
    assert np.array_equal(np.isnan(scores), model.code_book_[y] == 0)
    assert model.score(X, y) > 0.95


@pytest.mark.parametrize("max_samples", [1000, 100])
def test_saved_models_score_as_before_and_still_share_their_samples(max_samples, tmp_path):
    skops_io = pytest.importorskip("skops.io")
    X, y = load_iris(return_X_y=True)
    learner = KernelRidgeColumns(max_samples=max_samples, n_components=30, random_state=0)
    model = ECOCClassifier(learner, codebook="one-vs-rest").fit(X, y)
    for saved in (model, model.estimators_[1]):
        path = tmp_path / "model.skops"
        skops_io.dump(saved, path)
        unknown = skops_io.get_untrusted_types(file=path)
        assert all(name.startswith("ecoc.") for name in unknown)
        loaded = skops_io.load(path, trusted=unknown)
        fresh = X + 0.01
        assert np.array_equal(loaded.decision_function(fresh), saved.decision_function(fresh))
        if saved is model:
            assert len({id(column.centres_) for column in loaded.estimators_}) == 1


@pytest.mark.parametrize("max_samples", [1000, 20])
def test_only_ratios_of_weights_matter_to_the_penalties_by_default(max_samples):
    X, signs = samples(40)
    weights = np.random.default_rng(1).uniform(0.1, 3, size=40)
    model = KernelRidgeColumns(max_samples=max_samples, n_components=15, random_state=0)
    scores = [
        model.score_columns(model.fit_columns(X, signs, sample_weight=w), X)
        for w in (weights, 1000 * weights)
    ]
    assert scores[0] == pytest.approx(scores[1], abs=1e-7)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("max_samples", [100, 5])
def test_features_that_say_nothing_leave_the_mean(kernel, max_samples):
    y = np.array([0, 0, 0, 1] * 5)
    for value in (0.0, 3.0):
        X = np.full((20, 2), value)
        model = KernelRidgeColumns(kernel, max_samples=max_samples, n_components=4).fit(X, y)
        assert model.decision_function(X) == pytest.approx(-0.5, abs=1e-6)
        # Without a sample, the mean is that of the others.
        others = (-10 - (2 * y - 1)) / 19
        assert model.loo_scores_ == pytest.approx(others, abs=1e-6)


def test_repeated_and_contradictory_samples():
    X, y = make_classification(40, random_state=0)
    X, y = np.vstack([X, X]), np.concatenate([y, 1 - y])
    model = KernelRidgeColumns().fit(X, y)
    assert model.decision_function(X) == pytest.approx(0, abs=0.1)
    assert np.isfinite(model.loo_scores_).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "rfb"}, "kernel must be one of .* Did you mean 'rbf'"),
        ({"gamma": "los"}, "gamma must be one of .* Did you mean 'loo'"),
        ({"gamma": 0.0}, "gamma must be at least"),
        ({"degree": 0}, "degree must be at least 1"),
        ({"coef0": -1.0}, "coef0 must be at least 0"),
        ({"alphas": []}, "alphas must hold at least one"),
        ({"alphas": [1.0, 0.0]}, "alphas must be at least"),
        ({"alphas": "few"}, "alphas must be a number"),
        ({"max_samples": 1}, "max_samples must be at least 2"),
        ({"n_components": 0}, "n_components must be at least 1"),
    ],
)
def test_parameters_that_are_refused(parameters, message):
    X, signs = samples()
    with pytest.raises(InvalidInputError, match=message):
        KernelRidgeColumns(**parameters).fit_columns(X, signs)


def test_columns_that_are_refused():
    X, signs = samples()
    signs[:, 1] = np.abs(signs[:, 1])
    with pytest.raises(InvalidInputError, match="column 1 has them of one class") as raised:
        KernelRidgeColumns().fit_columns(X, signs)
    assert raised.value.column == 1
    weights = (signs[:, 2] > 0).astype(float)
    with pytest.raises(InvalidInputError, match="weight above 0; column 1, 2 ha"):
        KernelRidgeColumns().fit_columns(X, signs, sample_weight=weights)
    for wrong in (signs[:-1], signs[:, 0], 2 * signs):
        with pytest.raises(InvalidInputError, match="signs must hold -1, 0 and 1"):
            KernelRidgeColumns().fit_columns(X, wrong)
