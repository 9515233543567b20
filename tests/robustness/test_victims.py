import numpy as np
import pytest
import torch
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.robustness.networks import CodeModel, ordinary, samples

from ecoc.codes import one_vs_one
from ecoc.errors import InvalidInputError
from ecoc.multiclass import DECODERS, ECOCClassifier
from ecoc.nn import NetworkClassifier
from ecoc.robustness.victims import as_victim, code_heads, tempered

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def decided(victim, points):
    with torch.no_grad():
        return victim.decision(victim.body(points)).argmax(1).numpy()


@pytest.mark.parametrize("decoding", [name for name in DECODERS if name != "self-healing"])
def test_every_decoder_of_a_classifier_decides(decoding):
    model = ECOCClassifier(SVC(), codebook="one-vs-rest", decoding=decoding).fit(X, NAMES)
    victim = as_victim(model, X)
    assert not victim.is_black_box
    points = torch.tensor(X)
    assert np.array_equal(victim.classes[decided(victim, points)], model.predict(X))
    labels = victim.places(NAMES, len(X))
    assert np.array_equal(victim.wrong(points, labels), model.predict(X) != NAMES)


def test_learners_without_gradients_are_black_boxes():
    model = ECOCClassifier(DecisionTreeClassifier(random_state=0), codebook="one-vs-rest")
    victim = as_victim(model.fit(X, Y), X)
    assert victim.is_black_box
    assert np.array_equal(decided(victim, torch.tensor(X)), model.predict(X))


def test_a_module_that_does_not_agree_is_not_used():
    class Bent(SVC):
        def decision_function(self, X):  # noqa: N803
            return np.tanh(super().decision_function(X))

    model = ECOCClassifier(Bent(), codebook="one-vs-rest").fit(X, Y)
    assert as_victim(model, X).is_black_box


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", [SVC(), KNeighborsClassifier(), DecisionTreeClassifier()])
def test_other_classifiers_are_black_boxes(learner, classes):
    kept = np.isin(Y, range(classes))
    model = learner.fit(X[kept], NAMES[kept])
    victim = as_victim(model, X)
    assert victim.is_black_box
    assert np.array_equal(victim.classes[decided(victim, torch.tensor(X))], model.predict(X))


def test_a_classifier_that_only_predicts_is_enough():
    class Constant:
        classes_ = np.array([3, 5])

        def predict(self, X):  # noqa: N803
            return np.where(X[:, 0] > 6, 5, 3)

    victim = as_victim(Constant(), X)
    assert np.array_equal(decided(victim, torch.tensor(X)), X[:, 0] > 6)


def test_networks_with_columns_have_all_heads():
    victim, (x, y) = as_victim(CodeModel(), None), samples()
    forms = {"scores", "log", "log-likelihood", "logits"}
    assert set(victim.heads) == forms | {"tempered", "tempered-log", "sharp"}
    labels = victim.places(np.array([f"digit {i}" for i in y]), len(y))
    assert torch.equal(labels, y)
    for head in victim.heads:
        surrogate, decision = victim.view(head)(x)
        assert decision.argmax(1).eq(y).double().mean() > 0.9
        # Forms of the same columns: they seldom disagree.
        assert surrogate.argmax(1).eq(decision.argmax(1)).double().mean() > 0.9


def test_ordinary_networks_have_their_logits():
    x, y = samples()
    assert set(as_victim(ordinary(), None).heads) == {"logits"}
    model = NetworkClassifier(architecture="mlp", epochs=1, random_state=0)
    model.fit(x.numpy(), y.numpy())
    victim = as_victim(model, None)
    assert set(victim.heads) == {"logits"}
    assert np.array_equal(victim.classes[decided(victim, x)], model.predict(x.numpy()))


def test_equation_20_is_a_sum_and_a_mean_for_ternary_codes():
    logits = torch.tensor([[1.0, -2.0, 0.5]])
    r = torch.sigmoid(logits[0])
    binary = code_heads(np.array([[1, 1, 1], [1, -1, -1]], dtype=np.int8))["scores"](logits)
    assert binary.tolist()[0] == pytest.approx([float(r.sum()), float(r[0] + 2 - r[1] - r[2])])
    ternary = code_heads(one_vs_one(3).matrix)["scores"](logits)
    assert ternary.tolist()[0][0] == pytest.approx(float(r[0] + r[1]) / 2)


def test_tempered_heads_do_not_change_with_the_scale():
    decoder = torch.nn.Sequential(torch.nn.Sigmoid())
    logits = torch.tensor([[1.0, -3.0], [0.0, 0.0]])
    for sharpness in (1.0, 10.0):
        head = tempered(decoder, sharpness)
        assert torch.allclose(head(1000 * logits), head(logits))
        assert torch.isfinite(head(logits)).all()
    assert head(logits)[0, 0] > tempered(decoder)(logits)[0, 0]


def test_evaluation_mode_is_for_a_while():
    network = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.9))
    network.train()
    network[0].eval()
    victim = as_victim(network, None)
    with victim.evaluating():
        assert not any(part.training for part in network.modules())
    assert [part.training for part in network.modules()] == [True, False, True]


def test_what_cannot_be_is_refused():
    with pytest.raises(InvalidInputError, match="not str"):
        as_victim("model", X)
    healing = ECOCClassifier(SVC(), codebook="one-vs-rest", decoding="self-healing").fit(X, Y)
    with pytest.raises(InvalidInputError, match="decides about samples together"):
        as_victim(healing, X)
    victim = as_victim(ECOCClassifier(SVC(), codebook="one-vs-rest").fit(X, NAMES), X)
    with pytest.raises(InvalidInputError, match="got rose"):
        victim.places(np.array(["rose"]), 1)
    with pytest.raises(InvalidInputError, match="each of the 2 samples"):
        victim.places(NAMES, 2)
    with pytest.raises(InvalidInputError, match="whole numbers from 0"):
        as_victim(ordinary(), None).places(np.array([-1]), 1)
