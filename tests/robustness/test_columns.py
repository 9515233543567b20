import numpy as np
import pytest
import torch
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from ecoc.errors import UnsupportedError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.joint import KernelRidgeColumns
from ecoc.robustness.columns import AffineMap, torch_columns

X, Y = load_wine(return_X_y=True)
LEARNERS = [
    LogisticRegression(max_iter=10_000),
    RidgeClassifier(),
    Ridge(),
    LinearDiscriminantAnalysis(),
    make_pipeline(StandardScaler(), LinearSVC(random_state=0)),
    make_pipeline(MinMaxScaler(), PCA(5), LogisticRegression()),
    make_pipeline("passthrough", StandardScaler(), SVC()),
    make_pipeline(StandardScaler(), SVC(kernel="linear")),
    make_pipeline(StandardScaler(), SVC(kernel="poly", degree=2, coef0=1.0)),
    make_pipeline(StandardScaler(), SVC(kernel="sigmoid", gamma=0.01)),
    make_pipeline(StandardScaler(), KernelRidgeColumns()),
    make_pipeline(StandardScaler(), KernelRidgeColumns("laplacian", gamma=0.1)),
    KernelRidgeColumns("polynomial", gamma=1e-4, degree=2),
    SVC(gamma=1e-4),
]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("codebook", ["one-vs-rest", "one-vs-one"])
def test_scores_and_gradients_are_those_of_the_columns(learner, codebook):
    model = ECOCClassifier(learner, codebook=codebook).fit(X[::2], Y[::2])
    module = torch_columns(model.estimators_)
    # Between the values that the feature has in the data, where some kernels have kinks.
    step = np.zeros(X.shape[1])
    step[2] = 0.005
    inputs = X[1:20:2] + step
    points = torch.tensor(inputs, requires_grad=True)
    scores = module(points)
    expected = model.column_scores(inputs)
    scale = np.abs(expected).max()
    assert scores.detach().numpy() == pytest.approx(expected, abs=1e-7 * scale)
    (gradient,) = torch.autograd.grad(scores[:, 1].sum(), points)
    step /= 5
    numerical = (model.column_scores(inputs + step) - model.column_scores(inputs - step)) / 2e-3
    assert gradient[:, 2].numpy() == pytest.approx(numerical[:, 1], rel=2e-3, abs=1e-5 * scale)


def test_columns_keep_their_places_whatever_they_are():
    sides = [Y == 0, Y == 1, Y == 2, Y < 2]
    learners = [SVC(gamma=1e-4), LogisticRegression(max_iter=10_000), SVC(gamma=1e-3), Ridge()]
    fitted = [learner.fit(X, side) for learner, side in zip(learners, sides, strict=True)]
    found = torch_columns(fitted)(torch.tensor(X[:9])).numpy()
    for column, learner in enumerate(fitted):
        score = getattr(learner, "decision_function", learner.predict)
        assert found[:, column] == pytest.approx(score(X[:9]))


def test_what_has_no_known_gradient_is_refused():
    tree = DecisionTreeClassifier(random_state=0).fit(X, Y == 0)
    with pytest.raises(UnsupportedError, match="Gradients of DecisionTreeClassifier"):
        torch_columns([tree])
    curved = make_pipeline(PolynomialFeatures(), SVC()).fit(X, Y == 0)
    with pytest.raises(UnsupportedError, match=r"^PolynomialFeatures is not known"):
        torch_columns([curved])
    cut = make_pipeline(MinMaxScaler(clip=True), SVC()).fit(X, Y == 0)
    with pytest.raises(UnsupportedError, match=r"^MinMaxScaler with clip=True"):
        torch_columns([cut])
    own = SVC(kernel=lambda a, b: a @ b.T).fit(X, Y == 0)
    with pytest.raises(UnsupportedError, match="Gradients of SVC"):
        torch_columns([own])


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler()],
        [StandardScaler(with_mean=False), MaxAbsScaler()],
        [StandardScaler(with_std=False), RobustScaler(with_centering=False)],
        [RobustScaler(), MinMaxScaler((-1, 3)), PCA(4, whiten=True)],
        [PCA(3), RobustScaler(with_scaling=False)],
    ],
    ids=lambda steps: "-".join(type(step).__name__ for step in steps),
)
def test_steps_that_multiply_and_shift_are_one_map(steps):
    # Far from the origin, where differences of probes would lose half of their digits.
    inputs = X + 1e6
    fitted = make_pipeline(*steps, "passthrough").fit(inputs)
    features = fitted.transform(inputs)
    found = AffineMap.of([step for _, step in fitted.steps[:-1]])
    near = 1e-9 * (1 + 1e6 * np.abs(found.matrix).sum(axis=1))
    assert (np.abs(inputs @ found.matrix.T + found.shift - features) < near).all()
    layer = found.layer()(torch.tensor(inputs))
    assert (np.abs(layer.numpy() - features) < near).all()


def test_no_steps_are_no_map():
    assert AffineMap.of([]) is None

    class Own(StandardScaler):
        pass

    with pytest.raises(UnsupportedError, match="Own is not known"):
        AffineMap.of([Own().fit(X)])
