# ruff: noqa: N803, N806  # X is what scikit-learn calls it
import functools
import json

import numpy as np
import pytest
import torch
from scipy.stats import norm as normal
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from torch import nn

from ecoc.errors import InvalidInputError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.decoders import Hamming, Soft
from ecoc.nn import ECOCNetworkClassifier, MulticlassTwin, NetworkClassifier
from ecoc.nn.networks import mlp
from ecoc.robustness import Smoothing, certified_radii, certify, evaluate_robustness

TINY = functools.partial(mlp, hidden=(8, 6))


@functools.cache
def digits():
    X, y = load_digits(n_class=5, return_X_y=True)
    return X / 16, y


@functools.cache
def iris():
    X, y = load_iris(return_X_y=True)
    return X / 8, y


@functools.cache
def fitted(name):
    X, y = digits()
    train, labels = X[:500], y[:500]
    if name == "linear":
        return ECOCClassifier(RidgeClassifier(), codebook="optimal", n_columns=8).fit(train, labels)
    if name == "ternary":
        learner = LogisticRegression(C=10.0, max_iter=500)
        return ECOCClassifier(learner, "one-vs-one", decoding="soft").fit(train, labels)
    if name == "rbf":
        return ECOCClassifier(SVC(), codebook="one-vs-rest").fit(train, labels)
    settings = {"epochs": 8, "batch_size": 32, "random_state": 0, "input_range": (0.0, 1.0)}
    if name == "columns":
        settings |= {"training": "ibp", "epsilon": 0.05, "learning_rate": 0.01}
        return ECOCNetworkClassifier("optimal", 6, TINY, **settings).fit(train, labels)
    if name == "trunk":
        settings |= {"shared_trunk": True, "decoding": "normalised-linear"}
        return ECOCNetworkClassifier("optimal", 6, TINY, **settings).fit(train, labels)
    if name == "twin":
        return MulticlassTwin("optimal", 6, TINY, decoding="normalised-linear", **settings).fit(
            train, labels
        )
    return NetworkClassifier(TINY, **settings).fit(train, labels)


def held_out(n=40):
    X, y = digits()
    return X[500 : 500 + n], y[500 : 500 + n]


MODELS = ["linear", "ternary", "rbf", "columns", "trunk", "twin", "ordinary"]


# ------------------------------------------------------------------ soundness


@pytest.mark.parametrize(
    ("name", "norm"),
    [("linear", "linf"), ("ternary", "l2"), ("rbf", "l2"), ("columns", "linf")],
)
def test_the_strong_battery_breaks_nothing_that_is_certified(name, norm):
    model = fitted(name)
    X, y = held_out(6)
    epsilons = [0.02] if norm == "linf" else [0.1]
    found = certify(model, X, y, epsilons=epsilons, norm=norm)
    assert found.certified[0].any(), "nothing to break"
    # It refuses radii that one of its attacks refutes.
    result = evaluate_robustness(
        model,
        X,
        y,
        epsilons=epsilons,
        norm=norm,
        certified_radii=found.radii,
        random_state=0,
        steps=10,
    )
    assert result.certified == found.certified_accuracy
    assert all(low <= high for low, high in zip(result.certified, result.attacked, strict=True))


@pytest.mark.parametrize(
    "decoding", ["soft", "normalised-linear", "hamming", "hamming-count", "all-bits"]
)
@pytest.mark.parametrize("name", ["linear", "ternary", "rbf", "columns"])
def test_corners_break_nothing_that_is_certified(name, decoding):
    """Corners of the ball that are steepest for each pair of classes, column by column."""
    model, (X, _) = fitted(name), held_out(10)
    matrix = model.codebook_.matrix.astype(float)
    radii = certified_radii(model, X, max_radius=0.3, decoding=decoding)
    assert (radii > 0).any()
    decoder = {
        "soft": Soft(),
        "normalised-linear": lambda z, m: z @ (m / np.abs(m).sum(1)[:, None]).T,
    }.get(decoding, Hamming())
    before = decoder(model.column_scores(X), matrix).argmax(axis=1)
    generator = np.random.default_rng(0)
    for _ in range(30):
        # Towards another sample, or at random: all within the certified radius.
        others = X[generator.permutation(len(X))] - X
        direction = np.where(generator.random(X.shape) < 0.8, np.sign(others), 0)
        near = np.clip(X + radii[:, None] * direction, 0, 1)
        scores = model.column_scores(near)
        same = decoder(scores, matrix).argmax(axis=1) == before
        assert same[radii > 0].all()
        if decoding == "all-bits":
            assert (matrix[before] * scores >= 0)[radii > 0].all()


@pytest.mark.parametrize("norm", ["linf", "l2"])
@pytest.mark.parametrize("box", [None, (0.0, 1.0)])
def test_exact_radii_are_exact(norm, box):
    """Just outside the radius there is a point with another decision, and we know where."""
    X, y = iris()
    learner = LogisticRegression(C=100.0, max_iter=1000)
    model = ECOCClassifier(learner, codebook="optimal", n_columns=3, decoding="linear").fit(X, y)
    radii = certified_radii(model, X, norm=norm, box=box, max_radius=10.0)
    weights = np.vstack([column.coef_ for column in model.estimators_])
    matrix = model.codebook_.matrix.astype(float)
    scores = model.column_scores(X) @ matrix.T
    predicted = scores.argmax(axis=1)
    flipped = 0
    for i in np.flatnonzero((radii > 0) & (radii < 10)):
        moved = []
        for rival in set(range(3)) - {predicted[i]}:
            form = (matrix[predicted[i]] - matrix[rival]) @ weights
            moved.append(_steepest(X[i], form, radii[i] * 1.001, norm, box))
        flipped += (model.predict(np.array(moved)) != model.classes_[predicted[i]]).any()
        inside = [x * 0.998 + X[i] * 0.002 for x in moved]
        assert (model.predict(np.array(inside)) == model.classes_[predicted[i]]).all()
    assert flipped == ((radii > 0) & (radii < 10)).sum()


def _steepest(point, form, radius, norm, box):
    """The point of the ball and box where a linear form is least, by bisection on its length."""
    low, high = (-np.inf, np.inf) if box is None else box
    if norm == "linf":
        return np.clip(point - radius * np.sign(form), low, high)
    start, end = 0.0, 1e6
    for _ in range(200):
        middle = (start + end) / 2
        far = np.linalg.norm(np.clip(point - middle * form, low, high) - point) > radius
        start, end = (start, middle) if far else (middle, end)
    return np.clip(point - start * form, low, high)


# ------------------------------------------------------------ what comes back


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_the_models(name):
    model, (X, y) = fitted(name), held_out()
    found = certify(model, X, y, epsilons=[0.01])
    decided = ~found.abstained
    assert decided.mean() > 0.8
    assert np.array_equal(found.predictions[decided], model.predict(X)[decided])
    assert found.certified_accuracy[0] <= found.clean_accuracy <= model.score(X, y)


@pytest.mark.parametrize("name", MODELS)
def test_certificates_shrink_with_the_radius_and_agree_with_radii(name):
    model, (X, _) = fitted(name), held_out(20)
    epsilons = [0.0, 0.01, 0.03, 0.1, 0.5]
    found = certify(model, X, epsilons=epsilons, batch_size=7)
    assert (found.certified[1:] <= found.certified[:-1]).all()
    assert not found.certified[-1].any()
    radii = certified_radii(model, X, max_radius=0.5, batch_size=40)
    for epsilon, mask in zip(epsilons[1:], found.certified[1:], strict=True):
        assert mask[radii > epsilon + 1e-6].all()
        # A single radius may be proved where bisection, which jumps, has passed it by.
        assert mask[radii < epsilon - 1e-6].sum() <= 1


def test_decodings_in_order_of_strength():
    model, (X, _) = fitted("columns"), held_out()
    masks = {
        decoding: certify(model, X, epsilons=[0.01, 0.04], decoding=decoding).certified
        for decoding in ("hamming", "hamming-count", "all-bits")
    }
    assert (masks["hamming"] >= masks["hamming-count"]).all()
    assert (masks["hamming"] >= masks["all-bits"]).all()


@pytest.mark.parametrize("name", ["columns", "trunk", "twin", "ordinary"])
def test_crown_proves_what_intervals_prove(name):
    model, (X, _) = fitted(name), held_out()
    crown = certify(model, X, epsilons=[0.01, 0.03, 0.1], method="crown")
    intervals = certify(model, X, epsilons=[0.01, 0.03, 0.1], method="ibp")
    assert (crown.certified >= intervals.certified).all()
    assert crown.certified.sum() > intervals.certified.sum()
    assert certify(model, X[:2], epsilons=[0.01]).method == "crown"


def test_a_network_with_maximum_pooling_falls_back_to_intervals():
    torch.manual_seed(0)
    network = nn.Sequential(
        nn.Conv2d(1, 2, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(18, 3)
    )
    found = certify(network, np.full((2, 1, 8, 8), 0.5), [0, 1], epsilons=[1e-4])
    assert found.method == "ibp"
    assert set(found.predictions) <= {0, 1, 2}


def test_learners_behind_scalers_are_certified():
    X, y = iris()
    for learner, method in (
        (make_pipeline(StandardScaler(), RidgeClassifier()), "linear"),
        (make_pipeline(MinMaxScaler(), Ridge()), "linear"),
        (make_pipeline(StandardScaler(), SVC()), "rbf"),
    ):
        model = ECOCClassifier(learner, codebook="one-vs-one").fit(X, y)
        found = certify(model, X, y, epsilons=[0.001, 0.01])
        assert found.method == method
        assert found.certified_accuracy[0] > 0.8
        generator = np.random.default_rng(0)
        for _ in range(20):
            near = np.clip(X + generator.choice([-1, 1], X.shape) * found.radii[:, None], 0, 1)
            stands = model.predict(near) == found.predictions
            assert stands[found.radii > 0].all()


def test_smoothing_is_honest():
    model, (X, y) = fitted("linear"), held_out(12)
    setting = Smoothing(sigma=0.2, n_draws=300, alpha=0.01)
    options = {"epsilons": [0.05, 0.2, 5.0], "norm": "l2", "method": "smoothing"}
    found = certify(model, X, y, smoothing=setting, random_state=0, **options)
    assert found.is_probabilistic
    assert found.smoothing == setting
    assert found.decoding == "hamming"
    for text in ("probability at least 0.99", "300 draws", "corrected for 8 columns"):
        assert text in found.guarantee
    assert found.certified[0].any()
    assert not found.certified[-1].any()
    again = certify(model, X, y, smoothing=setting, random_state=0, **options)
    assert np.array_equal(found.certified, again.certified)
    soft = certify(model, X, y, smoothing=setting, random_state=0, decoding="soft", **options)
    assert soft.certified[0].any()
    # With too few draws nothing can be said, and nothing is.
    few = certify(model, X, smoothing=Smoothing(0.2, 5), random_state=0, **options)
    assert few.abstained.all()
    assert not few.certified.any()


def test_an_ordinary_network_is_smoothed_by_its_classes():
    """For two linear classes the smoothed decision is the plain one: radii are distances."""
    layer = torch.nn.Linear(3, 2)
    layer.weight.data = torch.tensor([[1.0, 2.0, -1.0], [-0.5, 0.0, 1.0]])
    layer.bias.data = torch.tensor([-0.3, 0.2])
    X = np.random.default_rng(0).random((12, 3))
    direction = np.array([1.5, 2.0, -2.0])
    distances = np.abs(X @ direction - 0.5) / np.linalg.norm(direction)
    options = {"norm": "l2", "method": "smoothing", "box": None, "random_state": 0}
    radii = certified_radii(layer, X, smoothing=Smoothing(sigma=0.3, n_draws=4000), **options)
    assert (radii <= distances).all()
    assert radii[distances < 0.4] == pytest.approx(distances[distances < 0.4], abs=0.06)
    found = certify(layer, X, epsilons=[0.1], smoothing=Smoothing(0.3, 200), **options)
    assert (found.predictions == (X @ direction < 0.5))[~found.abstained].all()
    assert "most frequent class" in found.guarantee
    assert "corrected for 2 classes" in found.guarantee


def test_smoothed_decisions_move_no_more_than_they_say():
    """Linear columns have smoothed shares in closed form: the certificate must hold for them."""
    model, (X, _) = fitted("linear"), held_out(12)
    setting = Smoothing(sigma=0.3, n_draws=2000)
    radii = certified_radii(
        model, X, norm="l2", method="smoothing", smoothing=setting, random_state=1
    )
    weights = np.vstack([column.coef_ for column in model.estimators_])
    matrix = model.codebook_.matrix
    spread = setting.sigma * np.linalg.norm(weights, axis=1)

    def decided(points):
        shares = normal.cdf(model.column_scores(points) / spread)
        return Hamming()(2 * shares - 1, matrix).argmax(axis=1)

    assert (radii > 0).any()
    before = decided(X)
    for direction in (matrix[:, None] - matrix[None]).reshape(-1, matrix.shape[1]) @ weights:
        step = direction / max(np.linalg.norm(direction), 1e-12)
        after = decided(X + 0.999 * radii[:, None] * step)
        assert (after == before)[radii > 0].all()


def test_the_result_plots_prints_and_stores_itself():
    model, (X, y) = fitted("linear"), held_out()
    found = certify(model, X, y, epsilons=[0.01, 0.05])
    data = json.loads(json.dumps(found.to_dict()))
    assert data["certified_accuracy"] == list(found.certified_accuracy)
    assert np.array_equal(np.array(data["certified"]), found.certified)
    assert str(found).splitlines()[0].startswith("linear bounds, model decoding, linf, clean")
    assert "40 samples" in repr(found)
    assert "floating-point" in found.guarantee
    assert len(found.plot().axes[0].lines) == 2
    blind = certify(model, X, epsilons=[0.01, 0.05])
    assert blind.certified_accuracy is None
    assert blind.clean_accuracy is None
    assert "certified share" in str(blind)
    assert len(blind.plot().axes[0].lines) == 1
    assert blind.to_dict()["correct"] is None


def test_progress_goes_to_standard_error(capsys):
    X, y = held_out(5)
    certify(fitted("linear"), X, y, epsilons=[0.01], batch_size=3, verbose=True)
    assert capsys.readouterr().err.splitlines() == [
        "certified 3 of 5 samples",
        "certified 5 of 5 samples",
    ]


# ---------------------------------------------------------------------- errors


def test_what_cannot_be_is_refused():
    X, y = held_out(5)
    linear, ordinary = fitted("linear"), fitted("ordinary")
    tree = ECOCClassifier(DecisionTreeClassifier(), codebook="one-vs-rest").fit(X, y)
    learned = ECOCClassifier(RidgeClassifier(), "one-vs-rest", decoding="euclidean").fit(X, y)
    learned.decoder_ = object()
    smoothed = {"method": "smoothing", "norm": "l2"}
    for model, options, text in (
        (linear, {"epsilons": [0.2, 0.1]}, "increasing order"),
        (linear, {"epsilons": []}, "at least one"),
        (linear, {"method": "crow"}, "Did you mean 'crown'"),
        (linear, {"method": "crown"}, "no bounds for columns by RidgeClassifier"),
        (linear, {"decoding": "sof"}, "Did you mean 'soft'"),
        (linear, {"method": "smoothing"}, "use norm='l2'"),
        (
            linear,
            {"method": "smoothing", "norm": "l2", "decoding": "normalised-linear"},
            "cannot be smoothed",
        ),
        (linear, {"y": y[:3]}, "a label for each of the 5 samples"),
        (linear, {"box": (0.0, 0.5)}, "must lie in the box"),
        (tree, {}, "no bounds for columns by DecisionTreeClassifier"),
        (learned, {}, "no certificate for decoding by"),
        (ordinary, {"method": "linear"}, "is not for networks"),
        (ordinary, {"decoding": "hamming"}, "needs the columns of a codebook"),
        (ordinary, {**smoothed, "decoding": "hamming"}, "needs the columns of a codebook"),
        ("model", {}, "must be a fitted classifier"),
    ):
        with pytest.raises(InvalidInputError, match=text):
            certify(model, X, **{"epsilons": [0.1], **options})
    with pytest.raises(InvalidInputError, match="samples of shape \\(64,\\), as in training"):
        certify(ordinary, X[:, :10], epsilons=[0.1])
    with pytest.raises(InvalidInputError, match="at least one sample"):
        certify(linear, X[:0], epsilons=[0.1])


def test_a_model_that_rejects_gives_the_certified_class_or_rejects():
    X, y = held_out(60)
    options = {"codebook": "one-vs-rest", "decoding": "normalised-linear"}
    plain = ECOCClassifier(RidgeClassifier(), **options).fit(X, y)
    model = ECOCClassifier(RidgeClassifier(), reject_below=1, reject_label=-1, **options).fit(X, y)
    proved = certify(model, X, y, epsilons=[0.02])
    assert (proved.certified == certify(plain, X, epsilons=[0.02]).certified).all()
    assert (proved.abstained == (model.predict(X) == -1)).all()
    assert "the certified class or the rejection" in proved.guarantee
    moved = (X + 0.02 * np.sign(np.random.default_rng(0).normal(size=X.shape))).clip(0, 1)
    answers = model.predict(moved)
    certain = proved.certified[0]
    assert ((answers == proved.predictions) | (answers == -1))[certain].all()


def test_formulas_that_are_not_the_models_scores_are_refused():
    """A learner may bend its scores after the linear part, as a generalised linear model does."""

    class Bent(RidgeClassifier):
        def decision_function(self, X):
            return np.tanh(super().decision_function(X))

    X, y = held_out(20)
    model = ECOCClassifier(Bent(), codebook="one-vs-rest").fit(X, y)
    with pytest.raises(InvalidInputError, match="not what their coefficients say"):
        certify(model, X, epsilons=[0.1])
