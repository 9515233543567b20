# ruff: noqa: N803, N806  # X is what scikit-learn calls it
import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import ecoc
from ecoc.codes import balanced_random, dense_random, one_vs_one
from ecoc.design import design_codebook
from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.growth import codewords_by_answers, with_columns


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:500], y[:500]


class CountingTree(DecisionTreeClassifier):
    """A tree that counts how many of its kind were trained."""

    trained = 0

    def fit(self, X, y, sample_weight=None):
        type(self).trained += 1
        return super().fit(X, y, sample_weight)


def same(first, second, X):
    assert first.codebook_ == second.codebook_
    assert (first.column_scores(X) == second.column_scores(X)).all()
    assert (first.predict(X) == second.predict(X)).all()


# ------------------------------------------------------------------- columns


def test_only_new_columns_are_trained_and_the_result_is_that_of_all_at_once(digits):
    X, y = digits
    X, y = X[y < 6], y[y < 6]
    model = ECOCClassifier(
        CountingTree(max_features=8), "dense-random", 5, random_state=3, warm_start=True
    ).fit(X, y)
    before = model.codebook_.matrix
    CountingTree.trained = 0
    model.set_params(n_columns=7).fit(X, y)
    assert CountingTree.trained == 2
    assert (model.codebook_.matrix[:, :5] == before).all()
    at_once = ECOCClassifier(CountingTree(max_features=8), model.codebook_, random_state=3)
    same(model, at_once.fit(X, y), X)


@pytest.mark.parametrize("learner", [RidgeClassifier(), GaussianNB()])
def test_a_codebook_whose_first_columns_are_fitted_adds_the_others(digits, learner):
    X, y = digits
    design = design_codebook(10, 14, nested=True, time_limit=0)
    model = ECOCClassifier(learner, design.codebook.take_columns(range(8)), warm_start=True)
    model.fit(X, y)
    model.set_params(codebook=design).fit(X, y)
    at_once = ECOCClassifier(learner, design).fit(X, y)
    assert np.allclose(model.column_scores(X), at_once.column_scores(X))
    # Dropped again, what is left answers as the short model did.
    short = ECOCClassifier(learner, design.codebook.take_columns(range(8))).fit(X, y)
    assert (model.predict(X, missing_columns=range(8, 14)) == short.predict(X)).all()


def test_a_decoder_that_learns_is_trained_for_all_columns(digits):
    X, y = digits
    X, y = X[y < 4][:100], y[y < 4][:100]
    model = ECOCClassifier(
        GaussianNB(), "dense-random", 4, "learned", random_state=0, warm_start=True
    ).fit(X, y)
    model.set_params(n_columns=5).fit(X, y)
    at_once = ECOCClassifier(GaussianNB(), model.codebook_, decoding="learned", random_state=0)
    same(model, at_once.fit(X, y), X)


def test_what_cannot_be_added_is_refused(digits):
    X, y = digits
    model = ECOCClassifier(GaussianNB(), "dense-random", 10, random_state=0, warm_start=True)
    model.fit(X, y)
    with pytest.warns(UserWarning, match="nothing was trained"):
        model.fit(X, y)
    with pytest.raises(InvalidInputError, match="at least 10, the columns that are fitted"):
        model.set_params(n_columns=8).fit(X, y)
    model.set_params(n_columns=12)
    with pytest.raises(InvalidInputError, match="must have the classes that are fitted"):
        model.fit(X[y < 9], y[y < 9])
    with pytest.raises(ValueError, match="64 features"):
        model.fit(X[:, :5], y)
    other = dense_random(10, 12, random_state=7)
    with pytest.raises(InvalidInputError, match="the first 10 columns of the codebook"):
        model.set_params(codebook=other, n_columns=None).fit(X, y)
    pairs = ECOCClassifier(GaussianNB(), "one-vs-one", warm_start=True).fit(X, y)
    with pytest.raises(UnsupportedError, match="leaves classes out"):
        pairs.set_params(n_columns=50).fit(X, y)


def test_several_symbols_and_too_few_columns():
    choice = with_columns(balanced_random(9, 4, n_symbols=3, random_state=0), 6, seed=0)
    assert choice.codebook.n_columns == 6
    choice = with_columns(dense_random(3, 2, random_state=0), 9, seed=0)
    assert choice.codebook.n_columns == 3
    assert "only 3 columns" in choice.length_note


# ------------------------------------------------------------------- classes


@pytest.fixture
def model(digits):
    X, y = digits
    known = y < 8
    learner = CountingTree(max_depth=6)
    return ECOCClassifier(learner, "optimal", 12, random_state=0).fit(X[known], y[known])


def test_new_classes_get_rows_and_no_column_is_trained(digits, model):
    X, y = digits
    before, rows = list(model.estimators_), model.codebook_.matrix
    CountingTree.trained = 0
    new = y >= 8
    model.add_classes(X[new], y[new])
    assert CountingTree.trained == 0
    assert model.estimators_ == before
    assert model.classes_.tolist() == list(range(10))
    assert (model.codebook_.matrix[:8] == rows).all()
    assert model.stale_columns_ == tuple(range(12))
    # Each new row is what most samples of the class are answered, where no other has it.
    answers = np.sign(model.column_scores(X[y == 9])).sum(axis=0)
    assert (model.codebook_.matrix[9] * answers > 0).mean() > 0.8
    assert set(model.predict(X[new])) & {8, 9}


def test_some_columns_are_trained_again(digits, model):
    X, y = digits
    before = list(model.estimators_)
    CountingTree.trained = 0
    model.add_classes(X, y, retrain=5)
    assert CountingTree.trained == 5
    kept = [column for column in range(12) if model.estimators_[column] is before[column]]
    assert tuple(kept) == model.stale_columns_
    # What is trained again is trained as if with the whole codebook.
    at_once = ECOCClassifier(model.estimator, model.codebook_, random_state=0).fit(X, y)
    fresh = [column for column in range(12) if column not in kept]
    scores = model.column_scores(X), at_once.column_scores(X)
    assert (scores[0][:, fresh] == scores[1][:, fresh]).all()


def test_with_all_columns_it_is_the_extended_codebook(digits, model):
    X, y = digits
    extended = ecoc.extend_codebook(model.codebook_, 2, random_state=0).codebook
    model.add_classes(X, y, retrain=12)
    assert model.codebook_ == extended
    assert model.stale_columns_ == ()
    same(model, ECOCClassifier(model.estimator, extended, random_state=0).fit(X, y), X)


def test_labels_keep_their_rows_wherever_new_ones_are_sorted(digits, tmp_path):
    X, y = digits
    names = np.array(["b", "d", "f", "h", "j", "l", "n", "p", "a", "k"])[y]
    known = y < 8
    model = ECOCClassifier(GaussianNB(), dense_random(8, 10, random_state=0))
    model.fit(X[known], names[known])
    rows = dict(zip(model.classes_.tolist(), model.codebook_.rows, strict=True))
    before = model.column_scores(X)
    model.add_classes(X[~known], names[~known])
    assert model.classes_.tolist() == sorted({*names.tolist()})
    after = dict(zip(model.classes_.tolist(), model.codebook_.rows, strict=True))
    assert rows.items() <= after.items()
    assert (model.column_scores(X) == before).all()
    model.save(tmp_path / "model.skops")
    assert (ecoc.load(tmp_path / "model.skops").predict(X) == model.predict(X)).all()


def test_what_cannot_be_learnt_is_refused(digits, model):
    X, y = digits
    known = y < 8
    with pytest.raises(InvalidInputError, match="a class that the model does not know"):
        model.add_classes(X[known], y[known])
    with pytest.raises(InvalidInputError, match="labels of the same kind"):
        model.add_classes(X[:2], ["new", "new"])
    with pytest.raises(InvalidInputError, match="y has none of 0, 1"):
        model.add_classes(X[~known], y[~known], retrain=1)
    with pytest.raises(InvalidInputError, match="retrain must be at most 12"):
        model.add_classes(X, y, retrain=13)
    pairs = ECOCClassifier(LogisticRegression(max_iter=5000), one_vs_one(3))
    pairs.fit(X[y < 3] / 16, y[y < 3])
    with pytest.raises(UnsupportedError, match="two symbols"):
        pairs.add_classes(X[y == 3] / 16, y[y == 3])
    learned = ECOCClassifier(GaussianNB(), dense_random(3, 3), decoding="learned")
    learned.fit(X[y < 3], y[y < 3])
    with pytest.raises(InvalidInputError, match="Decoders that learn"):
        learned.add_classes(X[y == 3], y[y == 3])


def test_answers_that_are_taken_are_changed_least():
    code = dense_random(5, 8, random_state=0)
    answers = code.matrix[[2]] * np.array([[1, 1, 1, 0.1, 1, 1, 1, 1]])
    row = codewords_by_answers(code, answers, (), seed=0).matrix[-1]
    assert np.flatnonzero(row != code.matrix[2]).tolist() == [3]
