"""Tools of others run on what a model hands out."""

# ruff: noqa: N806  # X is what scikit-learn calls it
import pytest
import torch
from tests.nn.cases import TERNARY, digits, tiny_mlp

from ecoc.nn import ECOCNetworkClassifier

EPSILON = 0.2


@pytest.fixture(scope="module")
def model():
    return ECOCNetworkClassifier(
        TERNARY, architecture=tiny_mlp, epochs=12, batch_size=16, random_state=0
    ).fit(*digits())


def check(model, inputs, targets, attacked):
    """Attacked inputs lie in the ball and the box, and mislead the model itself."""
    assert (attacked - inputs).abs().max() <= EPSILON + 1e-6
    assert attacked.min() >= 0
    assert attacked.max() <= 1
    clean, after = ((model.predict(x) == targets.numpy()).mean() for x in (inputs, attacked))
    assert after < clean - 0.3


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("output", ["soft", "log-soft", "normalised-linear"])
def test_foolbox_attacks_a_model(model, output):
    foolbox = pytest.importorskip("foolbox")
    X, y = digits()
    inputs, targets = torch.from_numpy(X[:40]), torch.from_numpy(y[:40])
    wrapped = foolbox.PyTorchModel(model.as_module(output), bounds=(0, 1))
    attack = foolbox.attacks.LinfPGD(steps=10, rel_stepsize=0.25)
    _, attacked, _ = attack(wrapped, inputs, targets, epsilons=EPSILON)
    check(model, inputs, targets, attacked)


@pytest.mark.filterwarnings("ignore")
def test_autoattack_attacks_a_model(model):
    autoattack = pytest.importorskip("pyautoattack")
    X, y = digits()
    inputs, targets = torch.from_numpy(X[:40]), torch.from_numpy(y[:40])
    attack = autoattack.AutoAttack(
        model.as_module("normalised-linear"),
        eps=EPSILON,
        version="custom",
        attacks=["apgd-ce"],
        seed=0,
    )
    attacked, _ = attack.run_standard_evaluation(inputs, targets)
    check(model, inputs, targets, attacked)


@pytest.mark.filterwarnings("ignore")
def test_the_adversarial_robustness_toolbox_attacks_a_model(model):
    classification = pytest.importorskip("art.estimators.classification")
    evasion = pytest.importorskip("art.attacks.evasion")
    X, y = digits()
    inputs, targets = torch.from_numpy(X[:40]), torch.from_numpy(y[:40])
    wrapped = classification.PyTorchClassifier(
        model.as_module("normalised-linear"),
        loss=torch.nn.CrossEntropyLoss(),
        input_shape=inputs.shape[1:],
        nb_classes=len(model.classes_),
        clip_values=model.input_range_,
    )
    attack = evasion.ProjectedGradientDescent(
        wrapped, eps=EPSILON, eps_step=EPSILON / 4, max_iter=10, verbose=False
    )
    check(model, inputs, targets, torch.from_numpy(attack.generate(inputs.numpy())))
