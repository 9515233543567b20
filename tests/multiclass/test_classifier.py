# ruff: noqa: N803, N806  # X is what scikit-learn calls it
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_array, csr_matrix
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_digits, load_iris, load_wine, make_classification
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.multiclass.cases import blobs

from ecoc.codes import Codebook, balanced_random, exhaustive, one_vs_one, one_vs_rest, sparse_random
from ecoc.design import design_codebook
from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.export import to_onnx
from ecoc.multiclass import ColumnError, ECOCClassifier
from ecoc.multiclass.columns import score_symbols
from ecoc.multiclass.decoders import DECODERS, Coupling, Decoder, Hamming
from ecoc.multiclass.joint.kernel_ridge import KernelRidgeColumns


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return train_test_split(X / 16, y, train_size=600, test_size=600, stratify=y, random_state=0)


class Labels(ClassifierMixin, BaseEstimator):
    """A classifier that gives labels alone."""

    def fit(self, X, y):
        self.inner_ = DecisionTreeClassifier(random_state=0).fit(X, y)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)


# ---------------------------------------------------------------- predictions


def test_one_vs_one_decides_as_scikit_learn_does(digits):
    train, test, y_train, _ = digits
    ours = ECOCClassifier(LinearSVC(random_state=0), codebook="one-vs-one").fit(train, y_train)
    theirs = OneVsOneClassifier(LinearSVC(random_state=0)).fit(train, y_train)
    # The sides of a column are exchanged, which LIBLINEAR does not take quite alike.
    assert (ours.predict(test) == theirs.predict(test)).mean() > 0.99


def test_one_vs_rest_decides_as_scikit_learn_does(digits):
    train, test, y_train, _ = digits
    ours = ECOCClassifier(SVC(), codebook="one-vs-rest").fit(train, y_train)
    theirs = OneVsRestClassifier(SVC()).fit(train, y_train)
    assert np.array_equal(ours.predict(test), theirs.predict(test))


@pytest.mark.parametrize("decoding", [name for name in DECODERS if name != "self-healing"])
@pytest.mark.parametrize("codebook", ["optimal", "one-vs-one"])
def test_every_decoder_classifies(iris, codebook, decoding):
    X, y = iris
    for learner in (SVC(), GaussianNB(), Labels()):
        model = ECOCClassifier(learner, codebook=codebook, decoding=decoding).fit(X, y)
        assert model.score(X, y) > 0.85
        assert np.array_equal(model.decision_function(X).argmax(axis=1), model.predict(X))


def test_labels_alone_are_decoded_by_hamming_distance(iris):
    X, y = iris
    model = ECOCClassifier(Labels()).fit(X, y)
    assert model.decoder_ == Hamming()
    assert not hasattr(model, "predict_proba")


def test_two_classes(iris):
    X, y = iris
    names = np.array(["no", "yes"])[(y[y < 2])]
    model = ECOCClassifier(LogisticRegression()).fit(X[y < 2], names)
    plain = LogisticRegression().fit(X[y < 2], names)
    assert model.codebook_.n_columns == 1
    assert np.array_equal(model.predict(X), plain.predict(X))
    assert model.decision_function(X).shape == (150,)
    assert model.predict_proba(X) == pytest.approx(plain.predict_proba(X), abs=1e-4)


def test_regressors_are_trained_on_plus_and_minus_one(iris):
    X, y = iris
    model = ECOCClassifier(Ridge(), codebook="one-vs-one").fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.column_scores(X).min() < -0.5


def test_a_callable_decodes(iris):
    X, y = iris
    model = ECOCClassifier(SVC(), decoding=lambda scores, matrix: scores @ matrix.T).fit(X, y)
    linear = ECOCClassifier(SVC(), decoding="linear").fit(X, y)
    assert np.array_equal(model.predict(X), linear.predict(X))


# -------------------------------------------------------------- probabilities


@pytest.mark.parametrize("load", [load_wine, load_digits])
def test_log_loss_is_level_with_one_vs_rest(load):
    X, y = load(return_X_y=True)
    train, test, y_train, y_test = train_test_split(
        StandardScaler().fit_transform(X), y, train_size=0.5, stratify=y, random_state=0
    )
    learner = LogisticRegression()
    rest = OneVsRestClassifier(learner).fit(train, y_train).predict_proba(test)
    pairs = ECOCClassifier(learner, codebook="one-vs-one").fit(train, y_train)
    ours = ECOCClassifier(learner, codebook="one-vs-rest").fit(train, y_train)
    for model in (pairs, ours):
        proba = model.predict_proba(test)
        assert proba.sum(axis=1) == pytest.approx(1)
        assert (proba >= 0).all()
        assert log_loss(y_test, proba) < 1.3 * log_loss(y_test, rest)
        flat = clone(model).set_params(probabilities="normalised").fit(train, y_train)
        assert log_loss(y_test, proba) < log_loss(y_test, flat.predict_proba(test))


def test_calibration_gives_probabilities_to_learners_without(digits):
    train, test, y_train, y_test = digits
    model = ECOCClassifier(LinearSVC(), codebook="one-vs-rest")
    assert not hasattr(model.fit(train, y_train), "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(test)
    assert "calibration='sigmoid'" in str(caught.value.__cause__)
    model.set_params(calibration="sigmoid").fit(train, y_train)
    assert log_loss(y_test, model.predict_proba(test)) < 0.5


# ------------------------------------------------- faults, erasures, rejection


def test_lost_columns_are_decoded_as_erasures(digits):
    train, test, y_train, y_test = digits
    model = ECOCClassifier(SVC(), codebook="optimal").fit(train, y_train)
    lost = list(range(6))
    model.estimators_[:6] = [None] * 6  # their workers have died
    assert (model.predict(test, missing_columns=lost) == y_test).mean() > 0.93
    assert np.isnan(model.column_scores(test, missing_columns=lost)[:, :6]).all()
    assert model.margin(test, missing_columns=lost).max() < 4


def test_wrong_columns_within_the_margin_change_no_decision(digits):
    train, test, y_train, _ = digits
    model = ECOCClassifier(SVC(), codebook="optimal", decoding="hamming").fit(train, y_train)
    scores, margins = model.column_scores(test), model.margin(test)
    before = model.predict(test)
    assert margins.max() == model.codebook_.correctable_errors == 4
    generator = np.random.default_rng(0)
    for i, margin in enumerate(margins):
        wrong = generator.permutation(20)[:margin]
        scores[i, wrong] *= -50
    after = model.classes_[model.decoder_(scores, model.code_book_).argmax(axis=1)]
    assert np.array_equal(after, before)


class Broken(LogisticRegression):
    """Gives NaN for large samples, in columns whose +1 side has the long petals."""

    def decision_function(self, X):
        values = super().decision_function(X)
        return np.where((np.asarray(X)[:, 0] > 6.5) & (self.coef_[0, 2] > 1), np.nan, values)


def test_scores_that_are_not_finite_are_reported_or_erased(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = ECOCClassifier(Broken(max_iter=500), codebook="one-vs-rest").fit(X, names)
    with pytest.raises(
        ColumnError, match=r"column 2 \(virginica against setosa, versicolor\), for 30 of"
    ):
        model.predict(X)
    model.set_params(nan_scores="erase")
    assert (model.predict(X) == names).mean() > 0.7


def test_rejection_below_a_margin(digits):
    train, test, y_train, y_test = digits
    model = ECOCClassifier(DecisionTreeClassifier(random_state=0), reject_below=2, reject_label=-1)
    model.fit(train, y_train)
    labels = model.predict(test)
    rejected = labels == -1
    assert np.array_equal(rejected, model.margin(test) < 2)
    accepted = (labels == y_test)[~rejected].mean()
    assert accepted > clone(model).set_params(reject_below=None).fit(train, y_train).score(
        test, y_test
    )
    model.set_params(reject_label="unsure")
    assert set(model.predict(test)[rejected]) == {"unsure"}
    with pytest.raises(InvalidInputError, match="must not be a class"):
        model.set_params(reject_label=3).fit(train, y_train)
    with pytest.raises(InvalidInputError, match="reject_label must be given"):
        model.set_params(reject_label=None).fit(train, y_train)


# -------------------------------------------------------------- kinds of data


def test_data_frames_keep_their_names(iris):
    X, y = iris
    names = ["a", "b", "c", "d"]
    expected = ECOCClassifier(GaussianNB(), codebook="one-vs-one").fit(X, y).predict(X)
    for frame in (pd.DataFrame(X, columns=names), pl.DataFrame(X, schema=names)):
        model = ECOCClassifier(GaussianNB(), codebook="one-vs-one").fit(frame, y)
        assert model.feature_names_in_.tolist() == names
        assert model.estimators_[0].feature_names_in_.tolist() == names
        assert np.array_equal(model.predict(frame), expected)
        with pytest.raises(ValueError, match="feature names"):
            model.predict(frame[["b", "a", "c", "d"]])


def test_a_learner_that_is_a_pipeline_sees_the_frame(iris):
    X, y = iris
    frame = pd.DataFrame({"size": X[:, 0], "kind": np.where(X[:, 2] > 4, "long", "short")})
    learner = make_pipeline(
        make_column_transformer((OneHotEncoder(), ["kind"]), remainder="passthrough"),
        LogisticRegression(max_iter=500),
    )
    for y_frame in (y, pd.Series(y), pl.Series(y)):
        assert ECOCClassifier(learner).fit(frame, y_frame).score(frame, y) > 0.6


def test_texts_reach_a_vectoriser():
    texts = ["red apple", "red cherry", "yellow lemon", "yellow banana", "green pear", "green kiwi"]
    y = ["red", "red", "yellow", "yellow", "green", "green"]
    model = ECOCClassifier(make_pipeline(CountVectorizer(), MultinomialNB())).fit(texts, y)
    assert model.predict(["yellow plum", "green grape"]).tolist() == ["yellow", "green"]


@pytest.mark.parametrize("make", [csr_matrix, csr_array])
def test_sparse_features(digits, make):
    train, test, y_train, _ = digits
    for codebook in ("optimal", "one-vs-one"):
        model = ECOCClassifier(LinearSVC(random_state=0), codebook=codebook)
        dense = clone(model).fit(train, y_train).predict(test)
        sparse = model.fit(make(train), y_train).predict(make(test))
        assert (dense == sparse).mean() > 0.99


def test_precomputed_kernels(iris):
    X, y = iris
    gram = X @ X.T
    model = ECOCClassifier(SVC(kernel="precomputed"), codebook="optimal")
    plain = ECOCClassifier(SVC(kernel="linear"), codebook="optimal").fit(X, y)
    assert np.array_equal(model.fit(gram, y).predict(gram), plain.predict(X))
    assert cross_val_score(model, gram, y).mean() > 0.9
    for parameters in ({"codebook": "one-vs-one"}, {"decoding": "learned"}):
        with pytest.raises(InvalidInputError, match="precomputed kernel"):
            clone(model).set_params(**parameters).fit(gram, y)


def test_string_labels_and_given_codebooks(iris):
    X, y = iris
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    code = Codebook(one_vs_rest(3).matrix, labels=["virginica", "setosa", "versicolor"])
    model = ECOCClassifier(GaussianNB(), codebook=code).fit(X, names)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert model.codebook_.labels == tuple(model.classes_)
    assert np.array_equal(model.code_book_, model.codebook_.matrix)
    assert model.score(X, names) > 0.9


def test_a_class_absent_from_the_training_data(iris):
    X, y = iris
    code = exhaustive(4).relabel(range(4))
    model = ECOCClassifier(GaussianNB(), codebook=code)
    with pytest.warns(UserWarning, match=r"no sample of 3, which the codebook has, so columns"):
        model.fit(X, y)
    assert model.absent_classes_ == ("3",)
    assert model.codebook_.n_columns == 3 == 7 - len(model.dropped_columns_)
    assert model.score(X, y) > 0.9


# ------------------------------------------------------------- scikit-learn's ways


def test_grid_search_over_everything(iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), ECOCClassifier(SVC()))
    grid = {
        "ecocclassifier__codebook": ["optimal", one_vs_one(3), design_codebook(3, 3)],
        "ecocclassifier__n_columns": [None, 3],
        "ecocclassifier__decoding": ["auto", "hamming", Hamming()],
        "ecocclassifier__estimator__C": [0.1, 10],
    }
    search = GridSearchCV(pipeline, grid, cv=3).fit(X, y)
    assert search.best_score_ > 0.95
    assert cross_val_score(search.best_estimator_, X, y).mean() > 0.95


def test_weights_are_routed(iris):
    X, y = iris
    weights = np.where(np.arange(len(y)) % 3, 1.0, 0.0)
    kept = weights > 0
    model = ECOCClassifier(GaussianNB(), codebook="one-vs-one")
    expected = clone(model).fit(X[kept], y[kept]).predict(X)
    assert np.array_equal(clone(model).fit(X, y, sample_weight=weights).predict(X), expected)
    with pytest.raises(InvalidInputError, match=r"takes only sample_weight.*not colour"):
        model.fit(X, y, colour=weights)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = ECOCClassifier(
            GaussianNB().set_fit_request(sample_weight=True), codebook="one-vs-one"
        )
        scores = cross_val_score(routed, X, y, params={"sample_weight": weights})
        assert scores.mean() > 0.9
        assert np.array_equal(routed.fit(X, y, sample_weight=weights).predict(X), expected)


def test_partial_fit_of_all_batches_is_fit(iris):
    X, y = iris
    order = np.random.default_rng(0).permutation(150)
    for codebook in ("one-vs-rest", "one-vs-one"):
        # No smoothing: it would depend on the variances of the first batch.
        model = ECOCClassifier(GaussianNB(var_smoothing=0), codebook=codebook)
        expected = clone(model).fit(X, y).column_scores(X)
        for batch in np.array_split(order, 10):
            model.partial_fit(X[batch], y[batch], classes=[0, 1, 2])
        assert model.column_scores(X) == pytest.approx(expected, abs=1e-6)


def test_a_batch_leaves_columns_alone_that_do_not_use_its_classes(iris):
    X, y = iris
    model = ECOCClassifier(SGDClassifier(random_state=0), codebook="one-vs-one")
    model.partial_fit(X, y, classes=[0, 1, 2])
    before = [learner.coef_.copy() for learner in model.estimators_]
    model.partial_fit(X[y == 2], y[y == 2])
    same = [np.array_equal(a, b.coef_) for a, b in zip(before, model.estimators_, strict=True)]
    assert same == [True, False, False]
    assert not hasattr(ECOCClassifier(DecisionTreeClassifier()), "partial_fit")


@pytest.mark.parametrize(
    ("parameters", "classes", "y", "message"),
    [
        ({}, None, [0, 1, 2], "classes must be given"),
        ({}, [0, 1], [0, 1, 2], "got 2"),
        ({"decoding": "learned"}, [0, 1, 2], [0, 1, 2], "learns from all"),
        ({"codebook": "similarity"}, [0, 1, 2], [0, 1, 2], "partial_fit cannot"),
    ],
)
def test_what_partial_fit_cannot_do(parameters, classes, y, message):
    model = ECOCClassifier(SGDClassifier(), **parameters)
    with pytest.raises(InvalidInputError, match=message):
        model.partial_fit(np.eye(3), y, classes=classes)


def test_models_are_saved_with_skops(iris, tmp_path):
    skops_io = pytest.importorskip("skops.io")
    X, y = iris
    path = tmp_path / "model.skops"
    for parameters in (
        {"codebook": design_codebook(3, 3).codebook, "decoding": "learned"},
        {"codebook": "one-vs-one"},
    ):
        model = ECOCClassifier(LogisticRegression(max_iter=500), **parameters).fit(X, y)
        skops_io.dump(model, path)
        unknown = skops_io.get_untrusted_types(file=path)
        assert all(name.startswith("ecoc.") for name in unknown)
        loaded = skops_io.load(path, trusted=unknown)
        assert np.array_equal(loaded.predict(X), model.predict(X))
        assert loaded.predict_proba(X) == pytest.approx(model.predict_proba(X))
        assert loaded.codebook_ == model.codebook_


def test_the_same_seed_gives_the_same_model(iris):
    X, y = iris
    learner = DecisionTreeClassifier(max_features=1)
    first, second = (
        ECOCClassifier(learner, codebook="dense-random", random_state=seed).fit(X, y)
        for seed in (3, np.random.RandomState(3))
    )
    again = ECOCClassifier(learner, codebook="dense-random", random_state=3).fit(X, y)
    assert np.array_equal(first.column_scores(X), again.column_scores(X))
    assert first.codebook_ == again.codebook_
    assert second.codebook_.n_columns == 3
    assert (
        ECOCClassifier(learner, random_state=np.random.default_rng(0)).fit(X, y).score(X, y) > 0.9
    )


def test_jobs_change_nothing(iris):
    X, y = iris
    one, two = (
        ECOCClassifier(SVC(), codebook="one-vs-one", n_jobs=jobs).fit(X, y) for jobs in (1, 2)
    )
    assert np.array_equal(one.decision_function(X), two.decision_function(X))


def test_repr_tells_which_codebook_and_why(iris):
    model = ECOCClassifier(LogisticRegression(max_iter=500))
    assert repr(model) == "ECOCClassifier(estimator=LogisticRegression(max_iter=500))"
    lines = repr(model.fit(*iris)).splitlines()
    assert lines[1].startswith("# <Codebook 'one-vs-one': 3 classes x 3 columns")
    assert lines[2].startswith("# one-vs-one code, because LogisticRegression is linear")


def test_ternary_codes_of_any_kind(digits):
    train, test, y_train, y_test = digits
    code = sparse_random(10, 30, n_candidates=200, random_state=0)
    model = ECOCClassifier(SVC(), codebook=code).fit(train, y_train)
    plain = clone(model).set_params(decoding="linear").fit(train, y_train)
    assert model.score(test, y_test) > max(0.95, plain.score(test, y_test))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"probabilities": "coupled"}, "Did you mean 'coupling'"),
        ({"calibration": "sigmoidal"}, "Did you mean 'sigmoid'"),
        ({"nan_scores": "ignore"}, "nan_scores must be one of"),
        ({"decoding": "soft!"}, "Did you mean 'soft'"),
        ({"codebook": "one-vs-all"}, "codebook must be one of"),
        ({"n_columns": 0}, "n_columns must be at least 1"),
        ({"reject_below": -1, "reject_label": 9}, "reject_below"),
        ({"random_state": "seed"}, "random_state"),
    ],
)
def test_parameters_are_checked_in_fit(iris, parameters, message):
    with pytest.raises(InvalidInputError, match=message):
        ECOCClassifier(GaussianNB(), **parameters).fit(*iris)


def test_one_class_and_no_fit():
    with pytest.raises(InvalidInputError, match="at least 2 classes"):
        ECOCClassifier(GaussianNB()).fit(np.eye(3), [1, 1, 1])
    with pytest.raises(NotFittedError):
        ECOCClassifier(GaussianNB()).predict(np.eye(3))


def test_warnings_of_learners_reach_the_user(iris):
    X, y = iris
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ECOCClassifier(LogisticRegression(max_iter=2)).fit(X, y)
    assert any("[column 0 (0 against 1)" in str(warning.message) for warning in caught)


X, Y = blobs(4)


@pytest.mark.parametrize(
    "learner",
    [
        LogisticRegression(class_weight={0: 1, 1: 5}),
        make_pipeline(StandardScaler(), SVC(class_weight={0: 1, 1: 5})),
        BaggingClassifier(DecisionTreeClassifier(class_weight={0: 1.0})),
        GridSearchCV(SVC(), {"class_weight": [None, {0: 2}]}),
        GridSearchCV(make_pipeline(SVC()), [{"svc__C": [1]}, {"svc__class_weight": [{0: 2}]}]),
    ],
)
def test_weights_of_classes_would_be_those_of_sides(learner):
    with pytest.raises(InvalidInputError, match=r"class_weight|param_grid") as caught:
        ECOCClassifier(learner).fit(X, Y)
    assert "Give it to ECOCClassifier" in str(caught.value)
    assert "class_weight='balanced'" in str(caught.value)


def test_balanced_weights_are_taken():
    for learner in (
        SVC(class_weight="balanced"),
        GridSearchCV(SVC(), {"class_weight": [None, "balanced"]}, cv=2),
    ):
        assert ECOCClassifier(learner).fit(X, Y).score(X, Y) > 0.9
    part = ECOCClassifier(SGDClassifier(class_weight={0: 2.0}))
    with pytest.raises(InvalidInputError, match="class_weight of the learner"):
        part.partial_fit(X, Y, classes=np.unique(Y))


@pytest.mark.parametrize("learner", [SVC(), LogisticRegression(), SGDClassifier()])
def test_weights_of_samples_are_checked_first(learner):
    n = len(Y)
    for weights, message in [
        (np.ones(n - 1), rf"each of the {n} samples; got shape \({n - 1},\)"),
        (np.ones((n, 2)), rf"got shape \({n}, 2\)"),
        (2.0, r"got shape \(\)"),
        (["heavy"] * n, "finite numbers"),
        ([np.nan] * n, "finite numbers"),
    ]:
        with pytest.raises(InvalidInputError, match=f"^sample_weight must .*{message}"):
            ECOCClassifier(learner).fit(X, Y, sample_weight=weights)
    if hasattr(learner, "partial_fit"):
        with pytest.raises(InvalidInputError, match=r"^sample_weight must have one number"):
            ECOCClassifier(learner).partial_fit(X, Y, classes=[*range(9)], sample_weight=[1.0])


# ------------------------------------------------------- more than two symbols


class Few(ClassifierMixin, BaseEstimator):
    """A learner that takes no more than ten classes, as some foundation models do."""

    def fit(self, X, y, sample_weight=None):
        if len(np.unique(y)) > 10:
            raise ValueError("at most 10 classes")
        if not np.array_equal(np.unique(y), np.arange(len(np.unique(y)))):
            raise ValueError("labels must be 0, 1, 2 and so on")
        self.inner_ = DecisionTreeClassifier(random_state=0).fit(X, y, sample_weight)
        self.classes_ = self.inner_.classes_
        return self

    def predict(self, X):
        return self.inner_.predict(X)

    def predict_proba(self, X):
        return self.inner_.predict_proba(X)


def test_a_learner_of_ten_classes_takes_two_hundred():
    X, y = blobs(200, n_features=8, per_class=6, spread=0.2)
    X, y = X[np.argsort(y)], np.sort(y)
    model = ECOCClassifier(Few(), "balanced-random", max_classes=10, random_state=0)
    model.fit(X[::2], y[::2])
    assert model.codebook_.n_symbols == 10
    assert model.codebook_.n_columns == 46
    assert model.score(X[1::2], y[1::2]) > 0.9
    plain = ECOCClassifier(Few(), random_state=0).fit(X, y % 8)
    capped = ECOCClassifier(Few(), random_state=0, max_classes=10).fit(X, y % 8)
    assert capped.codebook_ == plain.codebook_
    code = balanced_random(20, 6, n_symbols=12, random_state=0)
    with pytest.raises(InvalidInputError, match="at most max_classes, 10, groups"):
        ECOCClassifier(Few(), codebook=code, max_classes=10).fit(X, y % 20)


def test_three_and_four_symbols_are_better_than_two_for_trees(digits):
    train, test, y_train, y_test = digits
    tree = DecisionTreeClassifier(random_state=0)
    two = ECOCClassifier(tree, n_columns=20, n_symbols=2, random_state=0).fit(train, y_train)
    four = ECOCClassifier(tree, n_columns=20, n_symbols=4, random_state=0).fit(train, y_train)
    assert four.codebook_.n_symbols == 4
    assert four.codebook_.n_columns == 20
    assert four.score(test, y_test) > two.score(test, y_test)
    auto = ECOCClassifier(tree, random_state=0).fit(train, y_train)
    assert auto.codebook_.n_symbols == 3
    asked = ECOCClassifier(tree, n_symbols="auto", random_state=0).fit(train, y_train)
    assert asked.codebook_ == auto.codebook_
    assert auto.score(test, y_test) > two.score(test, y_test)
    assert "best for learners such as DecisionTreeClassifier" in auto.codebook_reason_


def test_the_automatic_number_of_symbols_is_two_where_more_cannot_be_used(nine):
    tree = DecisionTreeClassifier(random_state=0)

    def product(scores, matrix):
        return scores @ matrix.T

    class Sums(Decoder):
        def class_scores(self, scores, matrix):
            return scores @ matrix.T

    assert ECOCClassifier(tree).fit(*nine).codebook_.n_symbols == 3
    for options in (
        {"decoding": product},
        {"decoding": Sums()},
        {"codebook": "optimal"},
        {"estimator": DecisionTreeRegressor(random_state=0)},
    ):
        model = ECOCClassifier(tree).set_params(**options).fit(*nine)
        assert model.codebook_.n_symbols == 2
        assert model.score(*nine) > 0.8


def test_trees_say_by_symbols_what_each_of_them_says(nine):
    X, y = nine
    model = ECOCClassifier(DecisionTreeClassifier(random_state=0, max_depth=3)).fit(X, y)
    apart = np.stack(
        [
            score_symbols(learner, X, "predict_proba", groups, 3)
            for learner, groups in zip(model.estimators_, model._task({}).groups, strict=True)
        ],
        axis=1,
    )
    assert model.column_scores(X).tolist() == apart.tolist()
    assert model.column_scores(X.astype(np.float32).tolist()).tolist() == apart.tolist()
    for strange in (np.inf, -np.inf):
        wrong = X.copy()
        wrong[0, 0] = strange
        with pytest.raises(ColumnError, match=r"column 0.*infinity"):
            model.predict(wrong)


@pytest.fixture(scope="module")
def nine():
    return blobs(9, n_features=5, per_class=20, spread=0.8)


SYMBOLS = balanced_random(9, 10, n_symbols=3, random_state=0)


@pytest.mark.parametrize("decoding", DECODERS)
def test_every_decoder_classifies_by_symbols(nine, decoding):
    X, y = nine
    for learner in (GaussianNB(), Labels()):
        model = ECOCClassifier(learner, codebook=SYMBOLS, decoding=decoding).fit(X, y)
        assert model.score(X, y) > 0.9
        scores = model.column_scores(X)
        assert scores.shape == (180, 10, 3)
        assert scores.sum(axis=2) == pytest.approx(1)
        assert model.decision_function(X).shape == (180, 9)


def test_probabilities_by_symbols(nine):
    X, y = nine
    model = ECOCClassifier(GaussianNB(), codebook=SYMBOLS).fit(X, y)
    p = model.predict_proba(X)
    assert p.sum(axis=1) == pytest.approx(1)
    assert np.array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))
    assert log_loss(y, p) < 0.6
    for options in ({"probabilities": "normalised"}, {"decoding": "learned"}):
        other = clone(model).set_params(**options).fit(X, y)
        assert other.predict_proba(X).sum(axis=1) == pytest.approx(1)
    assert not hasattr(ECOCClassifier(Labels(), codebook=SYMBOLS).fit(X, y), "predict_proba")


def test_ties_fall_to_the_same_class_in_labels_and_in_probabilities():
    # A tree with impure leaves on three classes: one sample is tied but for rounding.
    X, y = make_classification(
        60, 3, n_informative=3, n_redundant=0, n_classes=3, n_clusters_per_class=1, class_sep=0.5,
        random_state=15,
    )  # fmt: skip
    tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    model = ECOCClassifier(tree, random_state=0).fit(X, y)
    p = model.predict_proba(X)
    coupled = Coupling(logistic=False)(model.column_scores(X), model.codebook_.matrix)
    assert p == pytest.approx(coupled)
    assert (coupled.argmax(axis=1) != model.predict(X)).sum() == 1
    assert np.array_equal(p.argmax(axis=1), model.predict(X))


def test_symbols_of_a_column_are_those_of_the_codebook(nine):
    X, y = nine
    # Column 10 does not use the symbols 0 and 2, and its learner is told 0 and 1.
    matrix = np.hstack([SYMBOLS.matrix, np.where(np.arange(9) < 4, 1, 3)[:, None]])
    code = Codebook(matrix, n_symbols=4)
    for learner in (Few(), Labels()):
        model = ECOCClassifier(learner, codebook=code).fit(X, y)
        scores = model.column_scores(X)
        assert (scores[:, :10, 3] == 0).all()
        assert (scores[:, 10, [0, 2]] == 0).all()
        assert (scores[:, 10].argmax(axis=1) == matrix[y, 10]).mean() > 0.8
        assert model.score(X, y) > 0.9


class Forgetful(Few):
    """A learner that does not look at the samples of its last group, as a bootstrap may."""

    def fit(self, X, y):
        self.inner_ = GaussianNB().fit(X[y < y.max()], y[y < y.max()])
        self.classes_ = self.inner_.classes_
        return self


def test_a_learner_may_have_seen_fewer_groups(nine):
    X, y = nine
    model = ECOCClassifier(Forgetful(), codebook=SYMBOLS).fit(X, y)
    assert (model.column_scores(X)[:, :, 2] == 0).all()
    p = model.predict_proba(X)
    assert np.isfinite(p).all()
    assert p.sum(axis=1) == pytest.approx(1)


def test_lost_columns_of_symbols_are_decoded_as_erasures(nine):
    X, y = nine
    model = ECOCClassifier(GaussianNB(), codebook=SYMBOLS).fit(X, y)
    alone = ECOCClassifier(GaussianNB(), codebook=SYMBOLS.take_columns(range(2, 10))).fit(X, y)
    model.estimators_[0] = model.estimators_[1] = None
    assert np.isnan(model.column_scores(X, missing_columns=[0, 1])[:, :2]).all()
    assert np.array_equal(model.predict(X, missing_columns=[0, 1]), alone.predict(X))
    assert model.predict_proba(X, missing_columns=[0, 1]) == pytest.approx(alone.predict_proba(X))
    assert np.array_equal(model.margin(X, missing_columns=[0, 1]), alone.margin(X))
    two = ECOCClassifier(GaussianNB(), codebook="one-vs-rest").fit(X, y)
    two.estimators_[0] = None
    assert two.predict_proba(X, missing_columns=[0]).sum(axis=1) == pytest.approx(1)


class Uncertain(Few):
    def predict_proba(self, X):
        p = super().predict_proba(X)
        p[0, 0] = np.nan
        return p


def test_probabilities_that_are_not_finite_are_reported_or_erased(nine):
    X, y = nine
    model = ECOCClassifier(Uncertain(), codebook=SYMBOLS).fit(X, y)
    with pytest.raises(
        ColumnError, match=r"from column 0 \(.* against .* against .*, for 1 of 180"
    ):
        model.predict(X)
    mixed = model.set_params(nan_scores="erase")
    mixed.estimators_[1:] = [learner.inner_ for learner in mixed.estimators_[1:]]
    assert np.isnan(mixed.column_scores(X)).any(axis=2).sum() == 1
    assert (mixed.predict(X[1:]) == mixed.predict(X)[1:]).all()


def test_wrong_symbols_within_the_margin_change_no_decision(nine):
    X, y = nine
    model = ECOCClassifier(GaussianNB(), codebook=SYMBOLS, decoding="hamming").fit(X, y)
    margins, predicted = model.margin(X), model.predict(X)
    assert margins.max() >= SYMBOLS.correctable_errors > 0
    scores = model.column_scores(X)
    generator = np.random.default_rng(0)
    for sample in np.flatnonzero(margins > 0)[:30]:
        changed = generator.permutation(10)[: margins[sample]]
        other = scores[[sample]].copy()
        other[0, changed] = np.eye(3)[generator.integers(3, size=len(changed))]
        assert Hamming()(other, SYMBOLS.matrix).argmax() == predicted[sample]
    rejecting = clone(model).set_params(reject_below=2, reject_label=-1).fit(X, y)
    assert np.array_equal(rejecting.predict(X) == -1, margins < 2)


def test_symbols_with_weights_calibration_jobs_and_routing(nine):
    X, y = nine
    doubled = np.where(y == 3, 2.0, 1.0)
    repeated = np.vstack([X, X[y == 3]]), np.concatenate([y, y[y == 3]])
    weighted = ECOCClassifier(GaussianNB(), codebook=SYMBOLS).fit(X, y, sample_weight=doubled)
    same = ECOCClassifier(GaussianNB(), codebook=SYMBOLS).fit(*repeated)
    assert weighted.predict_proba(X) == pytest.approx(same.predict_proba(X), abs=1e-6)
    with sklearn.config_context(enable_metadata_routing=True):
        learner = GaussianNB().set_fit_request(sample_weight=True)
        routed = ECOCClassifier(learner, codebook=SYMBOLS).fit(X, y, sample_weight=doubled)
    assert np.array_equal(routed.predict_proba(X), weighted.predict_proba(X))
    jobs = ECOCClassifier(GaussianNB(), codebook=SYMBOLS, n_jobs=2)
    jobs.fit(X, y, sample_weight=doubled)
    assert np.array_equal(jobs.predict_proba(X), weighted.predict_proba(X))
    with pytest.raises(ColumnError, match=r"or in two groups; .* column 0 \("):
        ECOCClassifier(GaussianNB(), codebook=SYMBOLS).fit(X, y, sample_weight=1.0 * (y == 0))
    calibrated = ECOCClassifier(LinearSVC(random_state=0), codebook=SYMBOLS, calibration="sigmoid")
    calibrated.fit(X, y)
    assert calibrated.decoder_ == Coupling(logistic=False)
    assert calibrated.score(X, y) > 0.8
    alone = np.where(np.arange(9) == 0, 0, 1 + np.arange(9) % 2)
    code = Codebook(np.column_stack([alone, SYMBOLS.matrix]), n_symbols=3)
    few = np.flatnonzero((y > 0) | (np.arange(len(y)) == np.argmin(y)))
    with pytest.raises(ColumnError, match=r"in each of its groups; column 0 \(0 against .* has 1"):
        ECOCClassifier(SVC(), codebook=code, calibration="sigmoid").fit(X[few], y[few])


def test_batches_of_symbols(nine):
    X, y = nine
    model = ECOCClassifier(GaussianNB(), codebook=SYMBOLS)
    for part in np.array_split(np.argsort(y, kind="stable"), 4):
        # No batch has all the groups of all columns.
        model.partial_fit(X[part], y[part], classes=np.arange(9))
    whole = ECOCClassifier(GaussianNB(var_smoothing=1e-9), codebook=SYMBOLS).fit(X, y)
    assert (model.predict(X) == whole.predict(X)).mean() > 0.99


def test_precomputed_kernels_and_symbols(nine):
    X, y = nine
    kernel = ECOCClassifier(SVC(kernel="precomputed"), codebook=SYMBOLS).fit(X @ X.T, y)
    linear = ECOCClassifier(SVC(kernel="linear"), codebook=SYMBOLS).fit(X, y)
    assert np.array_equal(kernel.predict(X @ X.T), linear.predict(X))


class Trap(Few):
    def fit(self, X, y):
        raise AssertionError("nothing may be trained")


class Sums(Decoder):
    def class_scores(self, scores, matrix):
        return scores @ matrix.T


@pytest.mark.parametrize(
    ("learner", "options", "kind", "message"),
    [
        (Ridge(), {}, UnsupportedError, "needs a classifier; a regressor such as Ridge"),
        (Trap(), {"decoding": Sums()}, UnsupportedError, "Sums decodes codebooks of two symbols"),
        (Trap(), {"decoding": "haming"}, InvalidInputError, "Did you mean 'hamming'"),
        (Trap(), {"n_symbols": 4}, InvalidInputError, "that of the codebook, 3, not 4"),
        (Trap(), {"max_classes": 2}, InvalidInputError, "at most max_classes, 2, groups"),
        (
            DecisionTreeClassifier(class_weight={0: 1, 1: 2}),
            {},
            InvalidInputError,
            "must not hold a dict: every column has its own two sides, 1 and 0, or groups",
        ),
    ],
)
def test_what_symbols_cannot_do_is_refused_before_training(nine, learner, options, kind, message):
    with pytest.raises(kind, match=message):
        ECOCClassifier(learner, codebook=SYMBOLS, **options).fit(*nine)


def test_the_learned_and_healing_decoders_of_symbols(nine):
    X, y = nine
    tree = DecisionTreeClassifier(random_state=0)
    model = ECOCClassifier(tree, codebook=SYMBOLS, decoding="self-healing").fit(X, y)
    assert model.predict(X)[0] in model.classes_
    assert model.healed_columns_ == ()
    model.estimators_[4] = clone(tree).fit(X, (SYMBOLS.matrix[y, 4] + 1) % 3)
    assert (model.predict(X) == y).mean() > 0.9
    assert model.healed_columns_ == (4,)
    learned = ECOCClassifier(GaussianNB(), codebook=SYMBOLS, decoding="learned").fit(X, y)
    assert learned.decoder_.coefficients.shape == (9, 10, 3)
    with pytest.raises(InvalidInputError, match="partial_fit cannot use it"):
        clone(learned).partial_fit(X, y, classes=np.arange(9))


def test_searches_over_symbols(nine):
    X, y = nine
    grid = {"n_symbols": [None, 2, 3, "auto", 20], "n_columns": [6, None]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        search = GridSearchCV(
            ECOCClassifier(DecisionTreeClassifier(max_depth=3, random_state=0), random_state=0),
            grid,
            cv=2,
        ).fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    ("learner", "codebook"),
    [
        (LinearSVC(), one_vs_one(3)),
        (GaussianNB(), exhaustive(3)),
        (GaussianNB(), balanced_random(3, 1, n_symbols=3, random_state=0)),
    ],
    ids=["decision values", "probabilities", "three symbols"],
)
def test_the_outlier_score_is_the_least_loss_to_a_codeword(iris, learner, codebook):
    X, y = iris
    model = ECOCClassifier(learner, codebook=codebook).fit(X[::2], y[::2])
    expected = []
    for scores in model.column_scores(X[1::10]):
        losses = [
            np.mean([column_loss(s, m, learner) for s, m in zip(scores, word, strict=True)])
            for word in codebook.matrix
        ]
        expected.append(min(losses))
    assert model.outlier_score(X[1::10]) == pytest.approx(expected)


def column_loss(score, entry, learner):
    """Minus the logarithm of what a column gives to an entry, moved a little towards equal."""
    if np.ndim(score):
        return -np.log(0.98 * score[entry] + 0.02 / len(score))
    plus = 1 / (1 + np.exp(-score)) if isinstance(learner, LinearSVC) else (score + 1) / 2
    share = {1: plus, -1: 1 - plus, 0: 0.5}[int(entry)]
    return -np.log(0.98 * share + 0.01)


@pytest.mark.parametrize(
    ("learner", "codebook"),
    [
        (LogisticRegression(max_iter=200), "one-vs-one"),
        (KernelRidgeColumns(), "one-vs-rest"),
        (DecisionTreeClassifier(max_depth=3, random_state=0), "auto"),
    ],
)
def test_outliers_are_rejected_by_a_threshold_of_held_out_samples(iris, learner, codebook):
    X, y = iris
    share = 0.1
    model = ECOCClassifier(
        learner, codebook=codebook, reject_outliers=share, reject_label=-1, random_state=0
    ).fit(X, y)
    answers, scores = model.predict(X), model.outlier_score(X)
    assert np.array_equal(answers == -1, scores > model.outlier_threshold_)
    assert np.mean(answers == -1) <= 3 * share
    kept = answers != -1
    plain = clone(model).set_params(reject_outliers=None).fit(X, y)
    assert np.array_equal(answers[kept], plain.predict(X)[kept])


def test_the_threshold_leaves_a_share_of_other_samples_outside(digits):
    train, test, y_train, _ = digits
    model = ECOCClassifier(
        LogisticRegression(max_iter=50), reject_outliers=0.05, reject_label=-1, random_state=0
    ).fit(train, y_train)
    assert 0.01 < np.mean(model.predict(test) == -1) < 0.12
    assert np.mean(model.predict(test.max() - test) == -1) > 0.3


def test_what_rejection_of_outliers_needs(iris):
    X, y = iris
    model = ECOCClassifier(SGDClassifier(), reject_outliers=0.01, reject_label=-1)
    with pytest.raises(InvalidInputError, match="partial_fit cannot use it"):
        model.partial_fit(X, y, classes=[0, 1, 2])
    with pytest.raises(InvalidInputError, match="reject_label must be given"):
        clone(model).set_params(reject_label=None).fit(X, y)
    with pytest.raises(InvalidInputError, match="reject_outliers must be"):
        clone(model).set_params(reject_outliers=1.5).fit(X, y)
    with pytest.raises(InvalidInputError, match="must not be a class"):
        clone(model).set_params(reject_label=2).fit(X, y)
    fitted = clone(model).fit(X[y < 2], y[y < 2])
    with pytest.raises(InvalidInputError, match="reject_outliers"):
        fitted.add_classes(X[y == 2], y[y == 2])
    with pytest.raises(UnsupportedError, match="Rejected samples"):
        to_onnx(clone(model).set_params(estimator=LogisticRegression()).fit(X, y))
