# ruff: noqa: N803, N806  # X is what scikit-learn calls it
import os
import threading
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tests.multiclass.cases import blobs

from ecoc.codes import one_vs_one, one_vs_rest
from ecoc.errors import InvalidInputError
from ecoc.multiclass import ColumnError, ECOCClassifier
from ecoc.multiclass.columns import (
    ColumnTask,
    column_scores,
    fit_columns,
    score_method,
    score_symbols,
)

CLASSES = np.array(["ant", "bee", "cow", "dog"])


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it was fitted with; raises, or warns, if asked to."""

    def __init__(self, fail_on=None, warn=None):
        self.fail_on = fail_on
        self.warn = warn

    def fit(self, X, y, sample_weight=None, other=None):
        if self.fail_on is not None and np.isin(self.fail_on, X[:, 0]):
            raise RuntimeError("no luck")
        if self.warn:
            warnings.warn(self.warn, ConvergenceWarning, stacklevel=1)
        self.seen_ = X, y, sample_weight, other
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return np.ones(len(X), dtype=int)


def task(estimator, code=None, **options):
    matrix = one_vs_one(4).matrix if code is None else code.matrix
    return ColumnTask(estimator, matrix, CLASSES, **options)


def test_columns_see_the_samples_of_their_classes_only():
    targets = np.array([0, 1, 2, 3, 0, 2])
    X = np.arange(6.0)[:, None]
    weights = np.arange(6) + 1.0
    params = {"sample_weight": weights, "other": "as it is"}
    fitted = fit_columns(task(Recorder(), params=params), X, targets)
    seen, sides, weight, other = fitted[1].seen_  # ant against cow
    assert seen.ravel().tolist() == [0, 2, 4, 5]
    assert sides.tolist() == [1, 0, 1, 0]
    assert weight.tolist() == [1, 3, 5, 6]
    assert other == "as it is"


def test_a_failing_learner_is_named_with_its_column():
    targets = np.array([0, 1, 2, 3])
    X = np.arange(4.0)[:, None]
    with pytest.raises(ColumnError, match=r"column 2 \(ant against dog\) raised RuntimeError: no"):
        fit_columns(task(Recorder(fail_on=3)), X, targets)


def test_warnings_name_the_columns_that_gave_them():
    targets = np.array([0, 1, 2, 3])
    X = np.arange(4.0)[:, None]
    with pytest.warns(ConvergenceWarning) as caught:
        fit_columns(task(Recorder(warn="did not converge")), X, targets)
    assert len(caught) == 1
    text = str(caught[0].message)
    assert text.startswith("did not converge [column 0 (ant against bee), column 1")
    assert text.endswith("and 3 more]")


def test_weights_must_leave_both_sides():
    targets = np.array([0, 1, 2, 3])
    X = np.arange(4.0)[:, None]
    params = {"sample_weight": np.array([1.0, 0.0, 1.0, 1.0])}
    with pytest.raises(ColumnError, match=r"one class or none to column 0 \(ant against bee\)"):
        fit_columns(task(Recorder(), params=params), X, targets)


def test_scores_have_the_sign_of_the_side_whatever_the_learner_offers():
    X, y = blobs(4)
    matrix = one_vs_rest(4).matrix
    for learner, method in [
        (LinearSVC(), "decision_function"),
        (LogisticRegression(), "decision_function"),
        (DecisionTreeClassifier(max_depth=3), "predict_proba"),
        (Recorder(), "predict"),
        (Ridge(), "predict"),
    ]:
        assert score_method(learner) == method
        fitted = fit_columns(task(learner, one_vs_rest(4)), X, y)
        scores = column_scores(fitted, X, method)
        assert scores.shape == matrix[y].shape
        if not isinstance(learner, Recorder):
            assert (scores * matrix[y] > 0).mean() > 0.9
    assert score_method(LogisticRegression(), probability=True) == "predict_proba"


def test_parallel_work_gives_the_same():
    X, y = blobs(4)
    work = task(DecisionTreeClassifier(max_features=1), seed=7)
    alone, together = (fit_columns(work, X, y, n_jobs=jobs) for jobs in (1, 2))
    expected = column_scores(alone, X, "predict_proba")
    assert np.array_equal(column_scores(together, X, "predict_proba", n_jobs=2), expected)


class Mapped(Recorder):
    """Keeps where its data are."""

    def fit(self, X, y):
        array = X.data if sp.issparse(X) else X
        self.file_ = getattr(array, "filename", None)
        self.process_ = os.getpid()
        return super().fit(X[:5], y)


@pytest.mark.parametrize("kind", [np.asarray, sp.csr_matrix, sp.csr_array])
@pytest.mark.slow
def test_processes_map_one_copy_of_the_data(kind):
    X = kind(np.random.default_rng(0).random((700, 400)))
    targets = np.arange(700) % 4
    fitted = fit_columns(task(Mapped(), one_vs_rest(4)), X, targets, n_jobs=2)
    assert os.getpid() not in {learner.process_ for learner in fitted}
    assert len({learner.file_ for learner in fitted}) == 1
    assert fitted[0].file_ is not None


class Threaded(Recorder):
    """Waits in prediction until another thread predicts too."""

    meeting = threading.Barrier(2, timeout=20)

    def predict(self, X):
        self.meeting.wait()
        return super().predict(X)


def test_prediction_uses_as_many_threads_as_asked_for():
    X, y = blobs(4)
    fitted = fit_columns(task(Threaded(), one_vs_rest(4)), X, y)
    assert column_scores(fitted, X, "predict", n_jobs=2).shape == (len(X), 4)


def test_columns_have_seeds_of_their_own_but_keep_the_user_s():
    X, y = blobs(4)
    seeded = fit_columns(task(DecisionTreeClassifier(), seed=0), X, y)
    assert len({learner.random_state for learner in seeded}) == 6
    fixed = fit_columns(task(DecisionTreeClassifier(random_state=5), seed=0), X, y)
    assert {learner.random_state for learner in fixed} == {5}
    plain = fit_columns(task(DecisionTreeClassifier()), X, y)
    assert {learner.random_state for learner in plain} == {None}


def test_calibration_uses_as_many_folds_as_the_smaller_side_allows():
    X, y = blobs(4)
    few = np.concatenate([np.flatnonzero(y != 0), np.flatnonzero(y == 0)[:2]])
    work = task(LinearSVC(), one_vs_rest(4), calibration="sigmoid")
    fitted = fit_columns(work, X[few], y[few])
    assert [learner.cv for learner in fitted] == [2, 5, 5, 5]
    assert all(isinstance(learner, CalibratedClassifierCV) for learner in fitted)
    with pytest.raises(ColumnError, match=r"Calibration needs 2 samples.*column 0"):
        fit_columns(work, X[few[:-1]], y[few[:-1]])


class Odd(ClassifierMixin, BaseEstimator):
    """A fitted column that has one method, and answers as it is told."""

    def __init__(self, method="decision_function", answer=None):
        self.method = method
        self.answer = answer

    def __getattr__(self, name):
        if name != self.__dict__.get("method"):
            raise AttributeError(name)
        return self.answer


def no_luck(_):
    raise RuntimeError("no luck")


WRONG_ANSWERS = [
    ("decision_function", lambda _: 1.0, r"must return .*\(9,\) .*not \(\)"),
    ("decision_function", lambda _: [1.0], r"not \(1,\)"),
    ("decision_function", lambda X: np.ones((len(X), 3)), r"not \(9, 3\)"),
    ("decision_function", lambda X: np.ones((1, len(X))), r"not \(1, 9\)"),
    ("decision_function", lambda X: np.ones(len(X) - 1), r"not \(8,\)"),
    ("predict_proba", lambda X: np.ones((len(X), 1)), r"\(9, 2\).* not \(9, 1\)"),
    ("predict_proba", lambda _: [[0.0, 1.0]], r"not \(1, 2\)"),
    ("predict_proba", lambda X: np.ones(len(X)), r"not \(9,\)"),
    ("predict", lambda _: 1, r"not \(\)"),
    ("predict", lambda X: np.ones((len(X), 2)), r"not \(9, 2\)"),
    ("predict", lambda X: np.full(len(X), -1), "labels 0 and 1"),
    ("predict", lambda X: np.full(len(X), "ant"), "raised ValueError"),
    ("decision_function", no_luck, "raised RuntimeError: no luck"),
    ("predict_proba", no_luck, "raised RuntimeError: no luck"),
]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(("method", "answer", "message"), WRONG_ANSWERS)
def test_answers_of_a_wrong_form_are_refused_under_the_column_s_name(
    method, answer, message, n_jobs
):
    right = {
        "decision_function": lambda X: np.ones(len(X)),
        "predict_proba": lambda X: np.tile([0.25, 0.75], (len(X), 1)),
        "predict": lambda X: np.ones(len(X), dtype=int),
    }[method]
    columns = [Odd(method, right) for _ in range(4)]
    assert column_scores(columns, np.zeros((9, 1)), method, n_jobs=n_jobs).shape == (9, 4)
    columns[2].answer = answer
    with pytest.raises(ColumnError, match=rf"The learner of column 2 .*{message}"):
        column_scores(columns, np.zeros((9, 1)), method, n_jobs=n_jobs)


class Joint(Recorder):
    """Trains and scores all columns together."""

    def fit_columns(self, X, signs, *, sample_weight=None):
        return [Recorder() for _ in signs.T]

    def score_columns(self, estimators, X):
        return np.ones(len(estimators)) if len(X) == 9 else no_luck(X)

    def decision_function(self, X):
        return np.ones(len(X))


def test_joint_answers_of_a_wrong_form_are_refused():
    with pytest.raises(ColumnError, match=r"all columns .*shape \(9, 3\), not \(3,\)"):
        column_scores([Joint()] * 3, np.zeros((9, 1)), "decision_function")
    with pytest.raises(ColumnError, match="all columns raised RuntimeError: no luck"):
        column_scores([Joint()] * 3, np.zeros((8, 1)), "decision_function")


def test_a_column_that_raises_in_prediction_is_named_by_its_classes():
    X, y = blobs(4)
    model = ECOCClassifier(LogisticRegression(), codebook="one-vs-one").fit(X, CLASSES[y])
    model.estimators_[3] = Odd("decision_function", lambda _: 1.0)
    for ask in (model.predict, model.decision_function, model.margin):
        with pytest.raises(ColumnError, match=r"column 3 \(bee against cow\) raised .*not \(\)"):
            ask(X)
    assert model.predict(X, missing_columns=[3]).shape == y.shape
    # A lost column before it does not move its name.
    with pytest.raises(ColumnError, match=r"column 3 \(bee against cow\) raised"):
        model.predict(X, missing_columns=[0])


def test_a_strange_column_among_svms_is_named():
    X, y = blobs(4)
    model = ECOCClassifier(SVC(), codebook="one-vs-rest").fit(X, CLASSES[y])
    model.estimators_[2] = Odd("decision_function", lambda _: [1.0])
    with pytest.raises(
        ColumnError, match=r"column 2 \(cow against ant, bee, dog\) raised .*\(1,\)"
    ):
        model.predict(X)


class Answer:
    """A fitted learner that answers what it is told to."""

    def __init__(self, answer, classes=None):
        self.answer = answer
        if classes is not None:
            self.classes_ = np.array(classes)

    def predict(self, X):
        return self.answer

    predict_proba = predict


def test_probabilities_stand_at_the_symbols_of_the_groups():
    X, groups = np.zeros((2, 1)), np.array([1, 2, 4])
    answer = np.array([[0.2, 0.3, 0.5], [1, 0, 0]])
    found = score_symbols(Answer(answer), X, "predict_proba", groups, 5)
    assert np.array_equal(found, [[0, 0.2, 0.3, 0, 0.5], [0, 1, 0, 0, 0]])
    # Group 1, symbol 2, was not seen.
    found = score_symbols(Answer(answer[:, :2], [0, 2]), X, "predict_proba", groups, 5)
    assert np.array_equal(found, [[0, 0.2, 0, 0, 0.3], [0, 1, 0, 0, 0]])
    found = score_symbols(Answer([2.0, np.nan]), X, "predict", groups, 5)
    assert np.array_equal(found, [[0, 0, 0, 0, 1], [np.nan] * 5], equal_nan=True)


@pytest.mark.parametrize(
    ("answer", "method", "message"),
    [
        (np.zeros((2, 2)), "predict_proba", r"shape \(2, 3\) for 2 samples and 3 groups, not"),
        (np.full((2, 3), -0.5), "predict_proba", "negative"),
        (np.zeros((2, 3)), "predict", r"shape \(2,\) for 2 samples, not \(2, 3\)"),
        (np.array([0, 3]), "predict", "labels 0 to 2 that it was trained on"),
    ],
)
def test_strange_answers_about_symbols_are_refused(answer, method, message):
    with pytest.raises(InvalidInputError, match=message):
        score_symbols(Answer(answer), np.zeros((2, 1)), method, np.arange(3), 3)


def test_errors_name_the_column_of_symbols():
    task = ColumnTask(
        DecisionTreeClassifier(max_depth=-1),
        np.array([[0, 1], [1, 1], [2, 3]], dtype=np.int8),
        np.array(["ant", "bee", "cat"]),
        n_symbols=4,
    )
    assert [groups.tolist() for groups in task.groups] == [[0, 1, 2], [1, 3]]
    assert task.sides(1, np.array([2, 0, 1]))[1].tolist() == [1, 0, 0]
    assert task.name(1) == "column 1 (ant, bee against cat)"
    with pytest.raises(ColumnError, match=r"column 0 \(ant against bee against cat\) raised"):
        fit_columns(task, np.eye(3), np.arange(3))
