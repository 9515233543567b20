# ruff: noqa: N803, N806  # X is what scikit-learn calls it
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
import skops.io
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.svm import SVC, LinearSVC

from ecoc.codes import Codebook, dense_random, one_vs_one, one_vs_rest, sparse_random
from ecoc.multiclass import ColumnError, ECOCClassifier
from ecoc.multiclass.columns import ColumnTask, column_scores, fit_columns
from ecoc.multiclass.joint.svm import SharedKernel

CLASSES = np.arange(10)
DENSE = dense_random(10, 12, random_state=0)
TERNARY = sparse_random(10, 40, random_state=0)
SLACK = 5e-3
KINDS = {"dense": np.asarray, "sparse": sp.csr_array}


class PlainSVC(SVC):
    """Not known to share its kernel, so that its columns are trained and asked one by one."""


def digits(n_samples=300, kind="dense"):
    """Fewer samples where they are sparse, which SVC is slow with."""
    X, y = load_digits(return_X_y=True)
    rows = slice(n_samples if kind == "dense" else 120)
    return KINDS[kind](X[rows] / 16), y[rows]


def plain(learner):
    return PlainSVC(**learner.get_params())


def train(learner, code, X, y, **options):
    return fit_columns(ColumnTask(learner, code.matrix, CLASSES, **options), X, y)


def shares(learner, code, y):
    return SharedKernel(learner).declines(None, code.matrix[y]) is None


def assert_same(together, alone, X):
    """Columns are equal as trained, and as scored one by one and together."""
    expected = column_scores(alone, X, "decision_function")
    for one, other, values in zip(together, alone, expected.T, strict=True):
        assert type(one) is SVC
        assert vars(one).keys() == vars(other).keys()
        assert one.get_params() == other.get_params()
        assert type(one.dual_coef_) is type(other.dual_coef_)
        assert type(one.support_vectors_) is type(other.support_vectors_)
        assert one.shape_fit_ == other.shape_fit_
        # Rounding may lead a solver to another point within its tolerance.
        near = np.abs(values) < SLACK
        assert np.abs(one.decision_function(X) - values).max() < SLACK
        assert np.array_equal(one.predict(X)[~near], other.predict(X)[~near])
    alone = np.column_stack([column.decision_function(X) for column in together])
    for rows in (slice(None), slice(20)):  # with and without a search for common vectors
        found = column_scores(together, X[rows], "decision_function")
        assert np.abs(found - alone[rows]).max() < 1e-9


@pytest.mark.parametrize(
    "learner",
    [
        SVC(),
        SVC(gamma="auto", C=100.0),
        SVC(gamma=0.5, shrinking=False, tol=1e-5),
        SVC(kernel="linear", C=0.1),
        SVC(kernel="poly", coef0=1.0),
        SVC(kernel="poly", degree=2, gamma=0.01),
        SVC(kernel="sigmoid", gamma=0.01, coef0=-0.5),
        SVC(class_weight="balanced", random_state=3),
        SVC(class_weight={0: 0.2}, cache_size=1),
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", KINDS)
def test_columns_are_those_of_training_each_alone(learner, kind):
    X, y = digits(kind=kind)
    assert shares(learner, DENSE, y)
    assert_same(train(learner, DENSE, X, y), train(plain(learner), DENSE, X, y), X)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("kind", KINDS)
def test_columns_with_zeros_take_their_part_of_the_kernel(kernel, kind):
    X, y = digits(kind=kind)
    learner = SVC(kernel=kernel, gamma=0.02)
    assert shares(learner, TERNARY, y)
    assert_same(train(learner, TERNARY, X, y), train(plain(learner), TERNARY, X, y), X)


@pytest.mark.parametrize("code", [one_vs_one(10), TERNARY], ids=["one-vs-one", "sparse-random"])
def test_columns_with_kernels_of_their_own_are_trained_alone_and_scored_together(code):
    X, y = digits()
    assert not shares(SVC(), code, y)  # "scale" depends on the samples of a column
    assert_same(train(SVC(), code, X, y), train(PlainSVC(), code, X, y), X)


@pytest.mark.parametrize("code", [DENSE, TERNARY], ids=["dense", "ternary"])
def test_weights_of_samples_count(code):
    X, y = digits()
    params = {"sample_weight": np.random.default_rng(0).random(len(y))}
    learner = SVC(gamma=0.02, class_weight="balanced")
    together = train(learner, code, X, y, params=params)
    assert_same(together, train(plain(learner), code, X, y, params=params), X)
    assert not np.allclose(together[0].intercept_, train(learner, code, X, y)[0].intercept_)


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, sp.csc_matrix])
@pytest.mark.parametrize("interface", ["spmatrix", "sparray"])
def test_sparse_columns_are_of_the_kind_that_scikit_learn_is_set_to(kind, interface):
    X, y = digits(60)
    if "sparse_interface" not in sklearn.get_config():
        pytest.skip("this scikit-learn gives out matrices only")
    with sklearn.config_context(sparse_interface=interface):
        together, alone = (train(learner, DENSE, kind(X), y) for learner in (SVC(), PlainSVC()))
        assert_same(together, alone, kind(X))


def test_samples_far_from_zero_lose_no_digits():
    X, y = digits()
    X += 1000.0
    learner = SVC(gamma=0.02)
    assert_same(train(learner, DENSE, X, y), train(plain(learner), DENSE, X, y), X)


def test_samples_that_occur_twice_in_a_column_count_twice():
    X, y = digits(100)
    X, y = np.concatenate([X, X, X]), np.concatenate([y, y, (y + 1) % 10])
    assert_same(train(SVC(), DENSE, X, y), train(PlainSVC(), DENSE, X, y), X)


def test_a_kernel_function_is_called_once_for_all_columns():
    X, y = digits()
    calls = []

    def kernel(left, right):
        calls.append(len(left))
        return laplacian_kernel(left, right, gamma=0.05)

    together = train(SVC(kernel=kernel), DENSE, X, y)
    assert calls == [300]
    column_scores(together, X[:50], "decision_function")
    assert calls == [300, 50]
    alone = train(PlainSVC(kernel=kernel), DENSE, X, y)
    assert_same(together, alone, X)
    assert not shares(SVC(kernel=kernel), TERNARY, y)
    with pytest.raises(ValueError, match=r"features|dimension"):
        column_scores(together, X[:, :3], "decision_function")


def test_a_precomputed_kernel_is_used_as_it_is():
    X, y = digits()
    gram = laplacian_kernel(X, gamma=0.05)
    learner = SVC(kernel="precomputed")
    together = train(learner, DENSE, gram, y)
    assert_same(together, train(plain(learner), DENSE, gram, y), gram)
    with pytest.raises(ValueError, match="300"):
        column_scores(together, gram[:, :7], "decision_function")
    with pytest.raises(ColumnError, match="Sparse precomputed kernels"):
        train(learner, DENSE, sp.csr_matrix(gram), y)


def test_fitted_columns_are_ordinary_estimators():
    X, y = digits()
    frame = pd.DataFrame(X, columns=[f"pixel {i}" for i in range(64)])
    learner = SVC(kernel="linear", C=2.0)
    one, other = (train(kind, DENSE, frame, y)[3] for kind in (learner, plain(learner)))
    assert repr(one) == "SVC(C=2.0, kernel='linear')"
    assert one.feature_names_in_.tolist() == frame.columns.tolist()
    assert one.n_features_in_ == 64
    assert np.array_equal(one.support_vectors_, other.support_vectors_)
    assert np.array_equal(one.coef_, other.coef_)
    assert np.array_equal(one.n_support_, other.n_support_)
    again = clone(one).fit(frame, (DENSE.matrix[y, 3] > 0).astype(int))
    assert np.array_equal(again.dual_coef_, one.dual_coef_)


@pytest.mark.parametrize("kind", KINDS)
def test_saved_columns_predict_the_same(kind):
    X, y = digits(kind=kind)
    model = ECOCClassifier(SVC(), DENSE).fit(X, y)
    data = skops.io.dumps(model)
    loaded = skops.io.loads(data, trusted=skops.io.get_untrusted_types(data=data))
    assert np.array_equal(loaded.column_scores(X), model.column_scores(X))
    assert np.array_equal(loaded.estimators_[0].predict(X), model.estimators_[0].predict(X))


def test_threads_give_the_same(monkeypatch):
    X, y = digits()
    expected = ECOCClassifier(SVC(), DENSE).fit(X, y)
    monkeypatch.setattr("ecoc.multiclass.joint.svm._BLOCK_ENTRIES", 1000)
    threads = ECOCClassifier(SVC(), DENSE, n_jobs=2).fit(X, y)
    for one, other in zip(threads.estimators_, expected.estimators_, strict=True):
        assert np.array_equal(one.dual_coef_, other.dual_coef_)
    assert np.abs(threads.column_scores(X) - expected.column_scores(X)).max() < 1e-9


def test_missing_and_strange_columns_are_scored_too():
    X, y = digits()
    model = ECOCClassifier(SVC(), DENSE).fit(X, y)
    expected = model.column_scores(X)
    found = model.column_scores(X, missing_columns=[0, 5])
    kept = np.delete(np.arange(12), [0, 5])
    assert np.isnan(found[:, [0, 5]]).all()
    assert np.abs(found[:, kept] - expected[:, kept]).max() < 1e-9
    other = LinearSVC().fit(X, DENSE.matrix[y, 2] > 0)
    model.estimators_[2] = other
    assert np.array_equal(model.column_scores(X)[:, 2], other.decision_function(X))


def test_too_large_a_matrix_is_not_made(monkeypatch, capsys):
    X, y = digits()
    monkeypatch.setattr("ecoc.multiclass.joint.svm.MAX_GRAM_BYTES", 8 * 300**2 - 1)
    reason = SharedKernel(SVC()).declines(X, DENSE.matrix[y])
    assert reason == "their Gram matrix needs 0.0 GiB and may have 0.0."
    quiet = ECOCClassifier(SVC(), DENSE).fit(X, y)
    assert "Gram" not in capsys.readouterr().err
    model = ECOCClassifier(SVC(), DENSE, verbose=1).fit(X, y)
    assert "Columns are trained one by one: their Gram matrix needs" in capsys.readouterr().err
    assert np.array_equal(model.predict(X), quiet.predict(X))


def test_parts_of_the_matrix_count_against_the_limit(monkeypatch):
    X, y = digits()
    signs = TERNARY.matrix[y]
    largest = int(np.count_nonzero(signs, axis=0).max())
    needed = 8 * (300**2 + 2 * largest**2)
    for limit, declined in ((needed, False), (needed - 1, True)):
        monkeypatch.setattr("ecoc.multiclass.joint.svm.MAX_GRAM_BYTES", limit)
        learner = SharedKernel(SVC(gamma=0.02), n_jobs=2)
        assert (learner.declines(X, signs) is not None) == declined


def test_few_columns_need_no_matrix():
    _, y = digits()
    learner = SVC(gamma=0.02)
    assert not shares(learner, one_vs_one(10), y)
    assert not shares(learner, Codebook([[1], [-1]]), y % 2)
    assert shares(learner, one_vs_rest(10), y)


@pytest.mark.parametrize(
    "options",
    [{"probability": True}, {"kernel": "cosine"}, {"gamma": -1.0}, {"gamma": "wide"}],
    ids=str,
)
def test_what_shares_nothing_or_is_wrong_is_left_to_svc(options):
    assert not SharedKernel.takes(SVC(**options))


def test_wrong_parameters_are_reported_by_svc_itself():
    X, y = digits()
    for options in ({"kernel": "cosine"}, {"gamma": -1.0}, {"C": -1.0}):
        with pytest.raises(ColumnError, match=f"column 0 .*The '{next(iter(options))}' parameter"):
            train(SVC(**options), DENSE, X, y)


def test_bad_data_are_reported():
    X, y = digits()
    broken = X.copy()
    broken[3, 4] = np.nan
    with pytest.raises(ColumnError, match="of all columns raised ValueError: Input X contains NaN"):
        train(SVC(), DENSE, broken, y)
    with pytest.raises(ColumnError, match=r"column 0 .*negative weights"):
        train(SVC(), DENSE, X, y, params={"sample_weight": np.full(len(y), -1.0)})
    together = train(SVC(), DENSE, X, y)
    with pytest.raises(ValueError, match="sparse input"):
        column_scores(together, sp.csr_matrix(X), "decision_function")


def test_columns_that_stop_early_are_named():
    X, y = digits()
    with pytest.warns(ConvergenceWarning, match=r"^Solver terminated early.*\[column 0 .*more\]$"):
        train(SVC(max_iter=2), DENSE, X, y)
