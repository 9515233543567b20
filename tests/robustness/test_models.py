import numpy as np
import pytest
import torch
from sklearn.datasets import load_iris
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from tests.robustness.networks import CodeModel, ordinary, samples
from torch import nn

from ecoc.codes import one_vs_one, one_vs_rest
from ecoc.errors import InvalidInputError, UnsupportedError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.decoders import DECODERS
from ecoc.nn import OUTPUTS, CodeDecoder, CodeLoss, NetworkClassifier
from ecoc.nn.networks import ColumnEnsemble
from ecoc.robustness import View, certify, evaluate_robustness, models
from ecoc.robustness.models import adapt, as_view, attacked_model, code_heads, tempered

X, Y = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[Y]


def decided(attacked, points):
    with torch.no_grad():
        return attacked.decision(attacked.body(points)).argmax(1).numpy()


@pytest.mark.parametrize("decoding", [name for name in DECODERS if name != "self-healing"])
def test_every_decoder_of_a_classifier_decides(decoding):
    model = ECOCClassifier(SVC(), codebook="one-vs-rest", decoding=decoding).fit(X, NAMES)
    attacked = attacked_model(model, X)
    assert not attacked.is_black_box
    points = torch.tensor(X)
    assert np.array_equal(attacked.classes[decided(attacked, points)], model.predict(X))
    labels = attacked.places(NAMES, len(X))
    wrong, rejected = attacked.judge(points, labels)
    assert np.array_equal(wrong, model.predict(X) != NAMES)
    assert not rejected.any()


def test_learners_without_gradients_are_black_boxes():
    model = ECOCClassifier(DecisionTreeClassifier(random_state=0), codebook="one-vs-rest")
    attacked = attacked_model(model.fit(X, Y), X)
    assert attacked.is_black_box
    assert np.array_equal(decided(attacked, torch.tensor(X)), model.predict(X))


def test_a_module_that_does_not_agree_is_not_used():
    class Bent(SVC):
        def decision_function(self, X):  # noqa: N803
            return np.tanh(super().decision_function(X))

    model = ECOCClassifier(Bent(), codebook="one-vs-rest").fit(X, Y)
    assert attacked_model(model, X).is_black_box


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("learner", [SVC(), KNeighborsClassifier(), DecisionTreeClassifier()])
def test_other_classifiers_are_black_boxes(learner, classes):
    kept = np.isin(Y, range(classes))
    model = learner.fit(X[kept], NAMES[kept])
    attacked = attacked_model(model, X)
    assert attacked.is_black_box
    assert np.array_equal(attacked.classes[decided(attacked, torch.tensor(X))], model.predict(X))


def test_a_classifier_that_only_predicts_is_enough():
    class Constant:
        classes_ = np.array([3, 5])

        def predict(self, X):  # noqa: N803
            return np.where(X[:, 0] > 6, 5, 3)

    attacked = attacked_model(Constant(), X)
    assert np.array_equal(decided(attacked, torch.tensor(X)), X[:, 0] > 6)


def test_networks_with_columns_have_all_heads():
    x, y = samples()
    attacked = attacked_model(CodeModel(), x.numpy())
    forms = {"soft", "log", "log-likelihood", "logits"}
    assert set(attacked.heads) == forms | {"tempered", "tempered-log", "sharp", "fewest"}
    labels = attacked.places(np.array([f"digit {i}" for i in y]), len(y))
    assert torch.equal(labels, y)
    for head in attacked.heads:
        surrogate, decision = attacked.view(head)(x)
        assert decision.argmax(1).eq(y).double().mean() > 0.9
        # Forms of the same columns: they seldom disagree.
        assert surrogate.argmax(1).eq(decision.argmax(1)).double().mean() > 0.9


def test_ordinary_networks_have_their_logits():
    x, y = samples()
    assert set(attacked_model(ordinary(), None).heads) == {"logits"}
    model = NetworkClassifier(architecture="mlp", epochs=1, random_state=0)
    model.fit(x.numpy(), y.numpy())
    attacked = attacked_model(model, None)
    assert set(attacked.heads) == {"logits"}
    assert np.array_equal(attacked.classes[decided(attacked, x)], model.predict(x.numpy()))


def test_equation_20_is_a_sum_and_a_mean_for_ternary_codes():
    logits = torch.tensor([[1.0, -2.0, 0.5]])
    r = torch.sigmoid(logits[0])
    binary = code_heads(np.array([[1, 1, 1], [1, -1, -1]], dtype=np.int8))["soft"](logits)
    assert binary.tolist()[0] == pytest.approx([float(r.sum()), float(r[0] + 2 - r[1] - r[2])])
    ternary = code_heads(one_vs_one(3).matrix)["soft"](logits)
    assert ternary.tolist()[0][0] == pytest.approx(float(r[0] + r[1]) / 2)


@pytest.mark.parametrize("decoding", ["hamming", "soft"])
def test_sharp_scores_of_a_ternary_code_decide_as_the_model(decoding):
    matrix = np.array([[1, 1, 1, 1, 1], [-1, 0, -1, 0, 0], [0, -1, 0, 0, 0]], dtype=np.int8)
    decision = CodeDecoder(matrix, decoding)
    head = code_heads(matrix, decision=decision)["sharp"]
    signs = 2.0 * torch.randint(2, (200, 5), generator=torch.manual_seed(0)) - 1
    agreed = head(signs).argmax(1) == decision(50 * signs).argmax(1)
    # Ties are broken by rounding.
    assert agreed.double().mean() > 0.9


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
    attacked = attacked_model(network, None)
    with attacked.evaluating():
        assert not any(part.training for part in network.modules())
    assert [part.training for part in network.modules()] == [True, False, True]


def test_what_cannot_be_is_refused():
    with pytest.raises(InvalidInputError, match="not str"):
        attacked_model("model", X)
    healing = ECOCClassifier(SVC(), codebook="one-vs-rest", decoding="self-healing").fit(X, Y)
    with pytest.raises(InvalidInputError, match="decides about samples together"):
        attacked_model(healing, X)
    attacked = attacked_model(ECOCClassifier(SVC(), codebook="one-vs-rest").fit(X, NAMES), X)
    with pytest.raises(InvalidInputError, match="got rose"):
        attacked.places(np.array(["rose"]), 1)
    with pytest.raises(InvalidInputError, match="each of the 2 samples"):
        attacked.places(NAMES, 2)
    with pytest.raises(InvalidInputError, match="whole numbers from 0"):
        attacked_model(ordinary(), None).places(np.array([-1]), 1)


def test_the_body_runs_once_for_both_heads():
    calls = []

    def body(x):
        calls.append(len(x))
        return 2 * x

    view = View(body, surrogate=lambda z: z + 1, decision=torch.sign)
    surrogate, decision = view(torch.tensor([[1.0, -1.0]]))
    assert surrogate.tolist() == [[3.0, -1.0]]
    assert decision.tolist() == [[1.0, -1.0]]
    assert calls == [1]


def test_only_what_is_pushed_on_has_gradients():
    x = torch.ones(1, 2, requires_grad=True)
    for view in (View(lambda x: 2 * x), View(lambda x: 2 * x, decision=lambda z: z)):
        surrogate, decision = view(x)
        assert surrogate.requires_grad
        assert not decision.requires_grad


def test_models_hand_out_their_module():
    class Model:
        def as_module(self):
            return torch.nn.Identity()

    view = as_view(Model())
    assert isinstance(view.body, torch.nn.Identity)
    assert as_view(view) is view
    with pytest.raises(InvalidInputError, match="not int"):
        as_view(3)


NET = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
SIDE_BY_SIDE = ColumnEnsemble([nn.Linear(4, 1) for _ in range(3)])
POINTS = torch.tensor(X / 8, dtype=torch.float32)


@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("output", OUTPUTS)
@pytest.mark.parametrize("matrix", [one_vs_rest(3).matrix, [[1, 1, 0], [-1, 0, 1], [-1, -1, -1]]])
def test_a_module_that_ends_in_a_decoder_is_columns_and_decoder(matrix, output, normalise):
    module = nn.Sequential(NET, CodeDecoder(matrix, output, normalise=normalise))
    found = adapt(module)
    if output == "normalised-logistic" and not normalise and (np.array(matrix) == 0).any():
        assert found.codebook is None
        return
    assert np.array_equal(found.matrix, matrix)
    assert found.networks == [NET]
    scores = found.column_scores(POINTS.numpy())
    assert scores == pytest.approx(NET(POINTS).detach().numpy())
    truth = module(POINTS).detach().numpy()
    decided = found.decoder(scores, found.matrix).argmax(axis=1)
    best = truth[np.arange(len(truth)), decided]
    assert best == pytest.approx(truth.max(axis=1), abs=1e-6)


def test_what_stands_before_a_decoder_is_found_wherever_it_is():
    decoder = CodeDecoder(one_vs_rest(3))
    assert len(adapt(nn.Sequential(SIDE_BY_SIDE, decoder)).networks) == 3
    for module in (
        nn.Sequential(*NET, decoder),
        nn.Sequential(NET[0], nn.Sequential(*NET[1:], decoder)),
    ):
        (columns,) = adapt(module).networks
        assert torch.equal(columns(POINTS), NET(POINTS))
    assert adapt(NET).codebook is None
    assert adapt(nn.Sequential(decoder)).codebook is None


def test_bounds_and_attacks_take_a_module_that_ends_in_a_decoder():
    torch.manual_seed(0)
    code = [[1, 1, 0, 1], [-1, 0, 1, -1], [0, -1, -1, 1]]
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 4))
    loss, optimizer = CodeLoss(code), torch.optim.Adam(net.parameters(), lr=0.05)
    for _ in range(60):
        optimizer.zero_grad()
        loss(net(POINTS), torch.tensor(Y)).backward()
        optimizer.step()
    model = nn.Sequential(net, CodeDecoder(code))
    few, labels = POINTS[::5].numpy(), Y[::5]
    right = (model(POINTS[::5]).argmax(dim=1).numpy() == labels).mean()
    proof = certify(model, few, labels, epsilons=[0.005, 0.02])
    result = evaluate_robustness(
        model, few, labels, epsilons=[0.005, 0.02], steps=3, random_state=0
    )
    assert proof.method == "crown"
    assert proof.clean_accuracy == result.clean == pytest.approx(right)
    assert proof.certified_accuracy[0] > 0.5
    assert (np.array(proof.certified_accuracy) <= np.array(result.attacked)).all()


def test_columns_of_several_symbols_are_a_black_box():
    digits, labels = samples(60)
    tree = DecisionTreeClassifier(random_state=0)
    model = ECOCClassifier(tree, n_symbols=3, n_columns=8, reject_below=1, random_state=0)
    model.set_params(reject_label=-1).fit(digits[:40], labels[:40])
    attacked = attacked_model(model, digits.numpy())
    assert attacked.closed == "Columns of 3 symbols are asked for their answers alone."
    points = digits.double()
    answers = model.predict(points)
    wrong, rejected = attacked.judge(points, labels)
    assert np.array_equal(rejected, answers == -1)
    assert np.array_equal(wrong, (answers != -1) & (answers != labels.numpy()))
    assert rejected.any()
    sure = answers != -1
    assert np.array_equal(decided(attacked, points)[sure], answers[sure])
    result = evaluate_robustness(
        model, digits[:8], labels[:8], epsilons=[0.0, 1.0], random_state=0, time_limit=1
    )
    assert result.attacked[0] == result.clean
    assert "attacked as a black box" in result.warnings[0].lower()
    with pytest.raises(UnsupportedError, match=r"A certificate takes codebooks of two symbols"):
        certify(model, digits[:4], epsilons=[0.1], method="smoothing")


@pytest.mark.parametrize("n", [1, 2, 60])
@pytest.mark.parametrize(
    ("decoding", "factor", "deciding"),
    [
        ("soft", 1.0, "probabilities"),
        ("soft", 50.0, "signs"),
        ("hamming", 1.0, "signs"),
        ("normalised-linear", 50.0, "logits"),
    ],
)
def test_what_decides_does_not_depend_on_the_number_of_samples(decoding, factor, deciding, n):
    model = CodeModel(factor, decoding)
    assert attacked_model(model, samples(n)[0].numpy()).deciding == deciding


class Mixing(nn.Module):
    """A layer of one's own that goes wrong where networks stand side by side."""

    def __init__(self):
        super().__init__()
        self.layer = nn.ReLU()

    def forward(self, inputs):
        return self.layer(inputs - inputs.mean(dim=1, keepdim=True))


def chain(*between, width=5):
    return nn.Sequential(nn.Linear(4, width), *between, nn.ReLU(), nn.Linear(width, 1))


def coded(networks):
    return nn.Sequential(ColumnEnsemble(networks), CodeDecoder(one_vs_one(3))).eval()


@pytest.mark.parametrize("n", [1, 7])
def test_few_samples_meet_all_networks_at_once(monkeypatch, n):
    networks = [chain() for _ in range(3)]
    asked = []
    for network in networks:
        network.register_forward_hook(lambda *_: asked.append(n))
    attacked = attacked_model(coded(networks), X)
    monkeypatch.setattr(models, "_TOGETHER", 3 * 31 * 6)
    asked.clear()
    points = torch.tensor(X[:n], dtype=torch.float32, requires_grad=True)
    found = attacked.body(points)
    assert len(asked) == (0 if n == 1 else 3)
    (gradient,) = torch.autograd.grad(found[:, 1].sum(), points)
    expected = attacked.module(points)
    (right,) = torch.autograd.grad(expected[:, 1].sum(), points)
    assert torch.allclose(found, expected, atol=1e-5)
    assert torch.allclose(gradient, right, atol=1e-5)


@pytest.mark.parametrize(
    "networks",
    [
        [chain(), chain(), chain(width=6)],
        [chain(nn.Dropout()) for _ in range(3)],
        [chain(Mixing()) for _ in range(3)],
        [nn.Linear(4, 1) for _ in range(3)],
    ],
    ids=["forms", "randomness", "layers of one's own", "no chains"],
)
def test_networks_that_cannot_be_one_are_asked_one_by_one(networks):
    attacked = attacked_model(coded(networks), X)
    assert attacked.body is attacked.module
