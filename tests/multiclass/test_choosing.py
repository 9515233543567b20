# ruff: noqa: N806  # X is what scikit-learn calls it
import warnings
from functools import partial

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from tests.multiclass.cases import blobs

from ecoc.codes import Codebook, digits, exhaustive, one_vs_one, one_vs_rest, write_codebook
from ecoc.design import design_codebook
from ecoc.errors import FileFormatError, InvalidCodebookError, InvalidInputError
from ecoc.multiclass import CODEBOOKS, ECOCClassifier, choose_codebook
from ecoc.multiclass.choosing import class_limit, is_linear

choose = partial(choose_codebook, estimator=DecisionTreeClassifier())


@pytest.mark.parametrize(
    ("learner", "linear"),
    [
        (LogisticRegression(), True),
        (SGDClassifier(), True),
        (LinearSVC(), True),
        (Ridge(), True),
        (MultinomialNB(), True),
        (SVC(kernel="linear"), True),
        (CalibratedClassifierCV(LinearSVC()), True),
        (make_pipeline(StandardScaler(), LogisticRegression()), True),
        (make_pipeline(Nystroem(), LogisticRegression()), False),
        (SVC(), False),
        (GaussianNB(), False),
        (RandomForestClassifier(), False),
        (object(), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_which_learners_are_linear(learner, linear):
    assert is_linear(learner) is linear


@pytest.mark.parametrize(
    ("k", "learner", "n_columns", "rows"),
    [
        (6, LogisticRegression(), None, 15),
        (41, LogisticRegression(), None, 41),
        (6, DecisionTreeClassifier(), None, 12),
        (6, LogisticRegression(), 9, 9),
        (3, DecisionTreeClassifier(), None, 3),
        (2, LogisticRegression(), None, 1),
    ],
)
def test_auto(k, learner, n_columns, rows):
    choice = choose_codebook("auto", np.arange(k), estimator=learner, n_columns=n_columns)
    assert choice.codebook.n_columns == rows
    assert choice.codebook.n_classes == k
    if k > 2:
        why = "n_columns" if n_columns else type(learner).__name__
        assert why in choice.reason


@pytest.mark.parametrize("name", CODEBOOKS)
@pytest.mark.parametrize("k", [2, 3, 4, 6])
def test_every_name_gives_a_codebook_for_few_classes(name, k):
    data = blobs(k, per_class=5)
    code = choose(name, np.arange(k), random_state=0, data=data).codebook
    assert code.n_classes == k
    if name in {"optimal", "similarity", "dense-random"}:
        assert code.n_columns <= min(2 * k, 2 ** (k - 1) - 1)


def test_lengths_are_cut_to_the_columns_that_exist():
    assert choose("optimal", np.arange(4), n_columns=50).codebook.n_columns == 7
    assert (
        choose("dense-random", np.arange(4), n_columns=50, random_state=0).codebook.n_columns == 7
    )


def test_random_codes_are_cut_to_columns_that_can_be_drawn():
    for n_columns in (3, 5, 50):
        code = choose("balanced-random", np.arange(5), n_columns=n_columns, random_state=0).codebook
        assert code.n_columns == min(n_columns, 5)


def test_codebooks_of_symbols_are_taken_as_they_are(tmp_path):
    code = digits(9, n_symbols=3)
    write_codebook(code, tmp_path / "code.json")
    for given in (code, tmp_path / "code.json"):
        assert choose(given, np.arange(9)).codebook == code
        assert choose(given, np.arange(9), n_symbols=3, max_classes=3).codebook == code
        with pytest.raises(InvalidInputError, match="that of the codebook, 3, not 4"):
            choose(given, np.arange(9), n_symbols=4)
        with pytest.raises(InvalidInputError, match="2, groups; there are up to 3 in column 0, 1"):
            choose(given, np.arange(9), max_classes=2)
    assert choose(code.matrix, np.arange(9), n_symbols=3).codebook == code
    # Symbols that no column uses need no group.
    narrow = Codebook([[0, 0], [0, 1], [3, 2], [3, 3]], n_symbols=4)
    with pytest.raises(InvalidInputError, match="up to 4 in column 1"):
        choose(narrow, np.arange(4), max_classes=3)
    assert choose(narrow, np.arange(4), max_classes=4).codebook == narrow


def test_classes_that_are_absent_leave_a_codebook_of_symbols():
    code = Codebook(
        [[0, 0, 3], [1, 1, 1], [2, 1, 0], [3, 1, 2], [3, 0, 1]], n_symbols=4, labels=list("abcde")
    )
    choice = choose(code, np.array(["b", "c", "d"]))
    assert choice.absent_classes == ("a", "e")
    # Column 1 has one group left, and the others are the same.
    assert choice.dropped_columns == (1, 2)
    assert choice.codebook == Codebook([[0], [1], [2]], n_symbols=3, labels=list("bcd"))
    two = choose(code, np.array(["a", "b"]))
    assert two.codebook == Codebook([[1], [-1]], labels=list("ab"))
    assert two.dropped_columns == (1, 2)


@pytest.mark.parametrize("name", ["auto", "optimal", "balanced-random", "digits"])
@pytest.mark.parametrize("k", [2, 3, 5, 12])
def test_names_with_symbols(name, k):
    choice = choose(name, np.arange(k), n_symbols=4, random_state=0)
    assert choice.codebook.n_symbols == min(k, 4)
    assert choice.codebook.n_classes == k
    if k > 2:
        assert f"{min(k, 4)} symbols" in choice.reason
        assert (name in {"auto", "optimal"}) == ("OPTIMAL: minimum row" in choice.reason)
    if name != "digits" and k == 12:
        assert choice.codebook.n_columns == 24
        nine = choose(name, np.arange(k), n_symbols=4, n_columns=9, random_state=0)
        assert nine.codebook.n_columns == 9


@pytest.mark.parametrize("name", ["one-vs-one", "similarity", "dense-random"])
def test_names_without_symbols(name):
    data = blobs(6, per_class=5)
    with pytest.raises(InvalidInputError, match=f"{name}' has two symbols"):
        choose(name, np.arange(6), n_symbols=3, data=data)
    for n_symbols, limit in (("auto", None), (None, 3), (2, 3)):
        choice = choose(
            name, np.arange(6), n_symbols=n_symbols, max_classes=limit, random_state=0, data=data
        )
        assert choice.codebook.n_symbols == 2


class Capped(DecisionTreeClassifier):
    max_classes = 10


class Loaded(DecisionTreeClassifier):
    def get_inference_config(self):
        return type("Config", (), {"MAX_NUMBER_OF_CLASSES": 7})()


class NotLoaded(DecisionTreeClassifier):
    def get_inference_config(self):
        raise RuntimeError("download the weights first")


@pytest.mark.parametrize(
    ("learner", "limit"),
    [
        (Capped(), 10),
        (make_pipeline(StandardScaler(), Capped()), 10),
        (GridSearchCV(make_pipeline(Capped()), {}), 10),
        (Loaded(), 7),
        (NotLoaded(), None),
        (RandomForestClassifier(), None),
        (object(), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_limits_that_learners_state(learner, limit):
    assert class_limit(learner) == limit


def test_a_limit_decides_the_symbols_of_many_classes():
    for options in ({"max_classes": 10}, {"n_symbols": "auto", "estimator": Capped()}):
        choice = choose("auto", np.arange(30), random_state=0, **options)
        assert (choice.codebook.n_symbols, choice.codebook.n_columns) == (10, 8)
        assert "takes at most 10 classes" in choice.reason
        # Up to the limit the code is the one that it would be without.
        few = choose("auto", np.arange(4), random_state=0, **options)
        assert few.codebook == choose("auto", np.arange(4), random_state=0).codebook
    many = choose("balanced-random", np.arange(100), max_classes=10, random_state=0)
    assert many.codebook.n_columns == 22
    two = choose("auto", np.arange(6), max_classes=2, random_state=0)
    assert two.codebook == choose("auto", np.arange(6), n_symbols=2, random_state=0).codebook


@pytest.mark.parametrize(
    ("learner", "k", "limit", "n_symbols"),
    [
        (DecisionTreeClassifier(), 12, None, 3),
        (make_pipeline(StandardScaler(), DecisionTreeClassifier()), 21, None, 7),
        (DecisionTreeClassifier(max_features="sqrt"), 12, None, 4),
        (DecisionTreeClassifier(), 7, None, 3),
        (DecisionTreeClassifier(), 5, None, 2),
        (DecisionTreeClassifier(), 12, 20, 3),
        (GaussianNB(), 12, None, 6),
        (GaussianNB(), 11, None, 5),
        (GaussianNB(), 5, None, 2),
        (HistGradientBoostingClassifier(), 30, None, 3),
        (KNeighborsClassifier(), 12, None, 2),
        (LogisticRegression(), 12, None, 2),
        (RandomForestClassifier(), 12, None, 2),
        (GaussianNB(), 12, 5, 5),
    ],
)
def test_automatic_symbols(learner, k, limit, n_symbols):
    choice = choose_codebook(
        "auto",
        np.arange(k),
        estimator=learner,
        n_symbols="auto",
        max_classes=limit,
        random_state=0,
    )
    assert choice.codebook.n_symbols == n_symbols
    if n_symbols == 2:
        plain = choose_codebook("auto", np.arange(k), estimator=learner, random_state=0)
        assert choice == plain


@pytest.mark.parametrize(
    ("learner", "k", "n_columns", "n_symbols"),
    [
        (SVC(), 50, 20, 6),
        (SVC(), 26, 10, 6),
        (SVC(), 50, 50, 2),
        (SVC(), 20, 10, 2),
        (LogisticRegression(), 50, 20, 6),
        (LogisticRegression(solver="liblinear"), 50, 20, 2),
        (Ridge(), 50, 20, 2),
        (HistGradientBoostingClassifier(), 50, 20, 6),
        (DecisionTreeClassifier(), 50, 20, 17),
        (object(), 50, 20, 2),
    ],
)
def test_few_columns_for_many_classes_have_more_symbols(learner, k, n_columns, n_symbols):
    choice = choose_codebook(
        "auto", np.arange(k), estimator=learner, n_columns=n_columns, random_state=0
    )
    assert choice.codebook.n_symbols == n_symbols
    few = "columns of two symbols would be few"
    assert (few in choice.reason) == (n_symbols == 6)


def test_randomised_trees_have_optimal_codes_side_by_side():
    random = {"estimator": DecisionTreeClassifier(max_features="sqrt"), "random_state": 0}
    choice = choose_codebook("auto", np.arange(6), n_columns=30, **random)
    assert choice.codebook.n_columns == 30
    # Each of the codes of 12 columns is as good as there are, also where the next begins.
    for start in (0, 12):
        part = choice.codebook.take_columns(np.arange(start, start + 12))
        assert part.min_row_distance == 9
    assert choice.codebook.allow_repeated_columns
    assert choice.length_note is None
    # Others have each column once.
    for learner, name in ((DecisionTreeClassifier(), "auto"), (random["estimator"], "optimal")):
        plain = choose_codebook(
            name, np.arange(6), estimator=learner, n_columns=15, n_symbols=3, random_state=0
        )
        assert plain.codebook.n_columns == 15
        assert not plain.codebook.allow_repeated_columns


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_symbols": 1}, "n_symbols must be"),
        ({"n_symbols": 200}, "n_symbols must be"),
        ({"n_symbols": "many"}, "n_symbols must be a whole number, 'auto' or None, not 'many'"),
        ({"max_classes": 1}, "max_classes must be"),
        ({"n_symbols": 4, "max_classes": 3}, "at most max_classes, 3, not 4"),
    ],
)
def test_numbers_of_symbols_that_are_refused(options, message):
    with pytest.raises(InvalidInputError, match=message):
        choose("auto", np.arange(9), **options)


def test_similar_classes_get_near_codewords():
    X = np.array([[0.0], [0.1], [9.0], [9.1], [0.05], [9.2]])
    targets = np.array([0, 1, 2, 3, 4, 5])
    distances = choose("similarity", np.arange(6), data=(X, targets)).codebook.row_distances()
    near = distances[0, 1] + distances[2, 3]
    assert near < distances[0, 2] + distances[1, 3]


def test_many_classes_get_the_optimal_code_in_another_order():
    X, targets = blobs(14, per_class=3)
    choice = choose("similarity", np.arange(14), data=(X, targets))
    assert choice.codebook.min_row_distance == 14
    assert "near codewords" in choice.reason


def test_similarity_needs_the_data():
    with pytest.raises(InvalidInputError, match="training data"):
        choose("similarity", np.arange(5))


def test_codebooks_designs_matrices_and_files(tmp_path):
    code = exhaustive(4)
    classes = np.arange(4)
    path = tmp_path / "code.json"
    write_codebook(code, path)
    design = design_codebook(4, 7)
    assert choose(code, classes).codebook == code
    assert choose(design, classes).codebook == design.codebook
    assert choose(code.matrix, classes).codebook == code
    assert choose(code.matrix.tolist(), classes).codebook == code
    assert choose(path, classes).codebook == code
    assert choose(str(path), classes).codebook == code


def test_rows_are_found_by_label():
    code = Codebook(exhaustive(4).matrix, labels=["b", "d", "a", "c"])
    choice = choose(code, np.array(["a", "b", "c", "d"]))
    assert choice.codebook.labels == ("a", "b", "c", "d")
    assert np.array_equal(choice.codebook.matrix, code.matrix[[2, 0, 3, 1]])
    numbers = Codebook(exhaustive(3).matrix, labels=[30, 10, 20])
    assert choose(numbers, np.array([10, 20, 30])).codebook.labels == ("10", "20", "30")


def test_absent_classes_take_their_columns_with_them():
    code = one_vs_rest(4).relabel(list("abcd"))
    choice = choose(code, np.array(["a", "c", "d"]))
    assert choice.absent_classes == ("b",)
    assert choice.dropped_columns == (1,)
    assert choice.codebook.rows == one_vs_rest(3).rows
    pairs = choose(one_vs_one(4).relabel(list("abcd")), np.array(["a", "c", "d"]))
    assert pairs.dropped_columns == (0, 3, 4)


@pytest.mark.parametrize(
    ("codebook", "error", "message"),
    [
        ("optimum", InvalidInputError, "Did you mean 'optimal'"),
        ("none.json", FileFormatError, "cannot be read"),
        (None, InvalidInputError, "codebook must be"),
        (exhaustive(5), InvalidInputError, "5 rows, and y has 4 classes"),
        (exhaustive(4).relabel(list("wxyz")), InvalidInputError, "0, 1, 2, 3 are not among"),
        ([[1, 1], [1, 1], [-1, 1], [1, -1]], InvalidCodebookError, "ows"),
        ([["a"]], InvalidInputError, "entries|must"),
    ],
)
def test_what_is_no_codebook_for_the_classes(codebook, error, message):
    with pytest.raises(error, match=message):
        choose(codebook, np.arange(4))


def test_the_length_of_a_given_codebook_is_fixed():
    assert choose(exhaustive(4), np.arange(4), n_columns=7).codebook.n_columns == 7
    for codebook, own in [(exhaustive(4), 7), ("one-vs-rest", 4), ("one-vs-one", 6)]:
        choice = choose(codebook, np.arange(4), n_columns=8)
        assert choice.codebook.n_columns == own
        with pytest.warns(
            UserWarning, match=rf"n_columns is 8, but .* {own} .*columns\."
        ) as caught:
            choice.report()
        assert choice.reason.endswith(str(caught[0].message)[:-1])


@pytest.mark.parametrize("codebook", ["auto", "optimal", "dense-random"])
def test_more_columns_than_there_are_get_a_warning(codebook):
    X, y = blobs(4)
    model = ECOCClassifier(DecisionTreeClassifier(), codebook, n_columns=600)
    note = "n_columns is 600, but 4 classes have only 7 different columns"
    with pytest.warns(UserWarning, match=note):
        model.fit(X, y)
    assert model.codebook_reason_.endswith(note)
    assert model.codebook_.n_columns == 7
    with pytest.warns(UserWarning, match="but 2 classes have only 1 different column"):
        model.fit(X, y > 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(n_columns=7).fit(X, y)


@pytest.mark.filterwarnings("ignore:n_columns is")
def test_searches_over_codebooks_and_lengths_have_a_score_everywhere():
    X, y = blobs(5)
    codebooks = ["auto", "optimal", "one-vs-rest", "one-vs-one", "dense-random", exhaustive(5)]
    model = ECOCClassifier(DecisionTreeClassifier(), random_state=0)
    grid = {"codebook": [*codebooks, "exhaustive"], "n_columns": [None, 6, 9]}
    search = GridSearchCV(model, grid, cv=2, error_score="raise").fit(X, y)
    assert (search.cv_results_["mean_test_score"] > 0.8).all()


class TenClasses(RandomForestClassifier):
    """A forest, which has a tree inside, that takes ten classes at the most."""

    max_classes = 10


def test_the_limit_of_a_learner_around_another_is_its_own():
    assert class_limit(TenClasses()) == 10
    assert class_limit(make_pipeline(StandardScaler(), TenClasses())) == 10
    choice = choose_codebook(
        "auto", np.arange(12), estimator=TenClasses(), n_symbols="auto", random_state=0
    )
    assert "TenClasses takes at most 10 classes" in choice.reason


@pytest.mark.parametrize(
    "options",
    [{"codebook": "optimal"}, {"codebook": "optimal", "n_symbols": 3}, {"codebook": "similarity"}],
)
def test_designs_tell_where_they_stand_if_the_classifier_does(monkeypatch, options):
    seen = []

    def spy(*arguments, verbose, **named):
        seen.append(verbose)
        return design_codebook(*arguments, **named)

    monkeypatch.setattr("ecoc.multiclass.choosing.design_codebook", spy)
    X, y = blobs(n_classes=4, per_class=5)
    # A number of its own: what was designed before is not designed again.
    ECOCClassifier(**options, estimator=GaussianNB(), verbose=7).fit(X, y)
    assert seen == [7]


def test_codes_that_train_columns_are_not_for_models_with_a_codebook():
    with pytest.raises(InvalidInputError, match="ECOCClassifier does not do"):
        choose_codebook(
            "ecoc-one", np.arange(3), estimator=ECOCClassifier(), data=blobs(3, per_class=4)
        )
