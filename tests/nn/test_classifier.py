# ruff: noqa: N806  # X is what scikit-learn calls it
import copy

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits
from tests.nn.cases import TERNARY, digits, tiny_mlp
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import ecoc
from ecoc.codes import balanced_random, one_vs_one
from ecoc.errors import InvalidInputError
from ecoc.multiclass.decoders import LossBased
from ecoc.nn import OUTPUTS, ECOCNetworkClassifier, NetworkClassifier, load_model

SYMBOLS = balanced_random(len(np.unique(digits()[1])), 4, n_symbols=3, random_state=0)
QUICK = {"architecture": tiny_mlp, "epochs": 2, "learning_rate": 0.01, "random_state": 0}


LEARNING = {**QUICK, "epochs": 12, "batch_size": 16}


@pytest.fixture(scope="module")
def fitted():
    return ECOCNetworkClassifier(TERNARY, **QUICK).fit(*digits())


def test_it_learns_digits():
    X, y = digits(10, 1000)
    model = ECOCNetworkClassifier(epochs=4, batch_size=32, random_state=0)
    assert model.fit(X[:700], y[:700]).score(X[700:], y[700:]) > 0.9
    assert model.codebook_.min_row_distance == 10
    assert model.codebook_reason_.startswith("optimal code")
    assert [len(record.losses) for record in model.records_] == [4] * 20


def test_prediction_attack_and_decoder_are_one(fitted):
    X, _ = digits()
    logits = fitted.column_scores(X)
    module = fitted.as_module()
    with torch.no_grad():
        scores = module(torch.from_numpy(X)).numpy()
        columns = fitted.column_module()(torch.from_numpy(X)).numpy()
    assert columns == pytest.approx(logits)
    assert fitted.decision_function(X) == pytest.approx(scores)
    assert (fitted.predict(X) == fitted.classes_[scores.argmax(axis=1)]).all()
    by_loss = LossBased("logistic", normalise=True)(logits, TERNARY)
    assert (by_loss.argmax(axis=1) == scores.argmax(axis=1)).all()


def test_decoding_can_be_changed_after_training(fitted):
    X, _ = digits()
    assert fitted.decoding_ == "normalised-logistic"
    paper = copy.deepcopy(fitted).set_params(decoding="soft")
    assert paper.decoding_ == "soft"
    agreement = (1 + np.tanh(fitted.column_scores(X) / 2)[:, None] * TERNARY) / 2
    used = np.asarray(TERNARY) != 0
    means = (agreement * used).sum(axis=2) / used.sum(axis=1)
    assert paper.decision_function(X) == pytest.approx(means, abs=1e-6)
    assert (paper.predict(X) == paper.classes_[means.argmax(axis=1)]).all()


def test_the_scale_of_columns_does_not_change_the_decision():
    X, y = digits()
    model = ECOCNetworkClassifier(architecture="mlp", epochs=3, random_state=0).fit(X, y)
    before = model.predict(X)
    for network in model.networks_:
        last = network[-1]
        with torch.no_grad():
            last.weight *= 50
            last.bias *= 50
    assert (model.predict(X) == before).all()


@pytest.mark.parametrize("output", OUTPUTS)
def test_every_form_is_offered_to_other_tools(fitted, output):
    X, _ = digits()
    inputs = torch.from_numpy(X[:5]).requires_grad_()
    found = fitted.as_module(output)(inputs)
    assert found.shape == (5, 4)
    (gradient,) = torch.autograd.grad(found[:, 0].sum(), inputs)
    assert bool(gradient.any()) == (output != "hamming")
    stacked = fitted.as_module(output, stacked=True)
    assert torch.allclose(stacked(inputs), found, atol=1e-5)


def test_what_is_done_to_a_module_leaves_the_model_alone(fitted):
    X, _ = digits()
    before = fitted.decision_function(X)
    module = fitted.as_module("log-soft").double()
    assert module(torch.from_numpy(X).double()).dtype == torch.float64
    for parameter in module.parameters():
        assert not parameter.requires_grad
        parameter.zero_()
    assert (fitted.decision_function(X) == before).all()


def test_probabilities_and_margins(fitted):
    X, _ = digits()
    found = fitted.predict_proba(X)
    assert found.shape == (len(X), 4)
    assert found.sum(axis=1) == pytest.approx(np.ones(len(X)))
    assert fitted.margin(X).shape == (len(X),)
    assert (fitted.code_book_ == TERNARY).all()


def test_the_outlier_score_is_the_least_loss_to_a_codeword(fitted):
    X, _ = digits()
    expected = []
    for logits in fitted.column_scores(X[:20]):
        losses = [
            np.mean([np.log1p(np.exp(-m * z)) for m, z in zip(word, logits, strict=True) if m])
            for word in TERNARY
        ]
        expected.append(min(losses))
    assert fitted.outlier_score(X[:20]) == pytest.approx(expected, rel=1e-5)


def test_two_classes_have_one_column():
    X, y = digits(2, 80)
    model = ECOCNetworkClassifier(**LEARNING).fit(X, y)
    assert model.codebook_.n_columns == 1
    assert model.score(X, y) > 0.9
    assert model.predict_proba(X).shape == (80, 2)


def test_a_shared_trunk_is_one_network_with_an_output_for_each_column():
    X, y = digits()
    model = ECOCNetworkClassifier(TERNARY, shared_trunk=True, **LEARNING).fit(X, y)
    assert len(model.networks_) == len(model.records_) == 1
    assert model.column_scores(X).shape == (len(X), 3)
    assert model.score(X, y) > 0.8


def two_outputs(input_shape, n_outputs):
    return tiny_mlp(input_shape, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epochs": 0}, "epochs must be at least 1"),
        ({"optimizer": "adm"}, "Did you mean 'adam'"),
        ({"schedule": "cosin"}, "Did you mean 'cosine'"),
        ({"training": "robust"}, "training must be one of"),
        ({"strategy": "process"}, "Did you mean 'processes'"),
        ({"decoding": "sof"}, "Did you mean 'soft'"),
        ({"attack_through": "code"}, "attack_through must be one of"),
        ({"device": "gpu"}, "device must be 'auto'"),
        ({"augment": 3}, "augment must be a function"),
        ({"augment": lambda batch, generator: batch[:1]}, "augment must return a batch"),
        ({"patience": 2}, "patience needs validation samples"),
        ({"validation_fraction": 2}, "validation_fraction must be at most 0.9"),
        ({"input_shape": (1, 8, 9)}, "as many values"),
        ({"input_range": (0, 0.5)}, "must hold all of X"),
        ({"input_range": (1, 0)}, "low < high"),
        ({"architecture": two_outputs}, r"shape \(n, 1\), not \(2, 2\)"),
        ({"architecture": "resnet18", "training": "ibp"}, "training='ibp' needs a network"),
        ({"codebook": "one-vs-none"}, "codebook must be one of"),
        ({"codebook": SYMBOLS}, "ECOCNetworkClassifier takes codebooks of two symbols"),
    ],
)
def test_parameters_that_cannot_be_are_refused(parameters, message):
    X, y = digits()
    with pytest.raises(InvalidInputError, match=message):
        ECOCNetworkClassifier(**{**QUICK, "codebook": TERNARY, **parameters}).fit(X, y)


def test_data_that_cannot_be_are_refused(fitted):
    X, y = digits()
    model = ECOCNetworkClassifier(TERNARY, **QUICK)
    with pytest.raises(InvalidInputError, match="only one class"):
        model.fit(X[:5], [1] * 5)
    with pytest.raises(InvalidInputError, match="NaN or infinite"):
        model.fit(np.where(X > 0.9, np.nan, X), y)
    with pytest.raises(InvalidInputError, match="X must have shape"):
        model.fit(X[0, 0, 0], y)
    with pytest.raises(InvalidInputError, match="array of numbers"):
        model.fit(np.array([["a"]] * len(y)), y)
    with pytest.raises(InvalidInputError, match=r"samples of shape \(1, 8, 8\)"):
        fitted.predict(X[:, :, :4])


def test_classes_that_are_absent_are_named():
    X, y = digits(3, 90)
    model = ECOCNetworkClassifier(one_vs_one(4).relabel(range(4)), **QUICK)
    with pytest.warns(UserWarning, match="no sample of 3"):
        model.fit(X, y)
    assert model.codebook_.n_classes == 3


def test_a_module_is_a_plain_torch_module(fitted):
    assert isinstance(fitted.as_module(), nn.Module)
    assert not fitted.as_module().training


@pytest.mark.parametrize("shared", [True, False])
def test_columns_trained_elsewhere_become_a_classifier(shared, tmp_path):
    X, y = digits()
    model = ECOCNetworkClassifier(TERNARY, shared_trunk=shared, **QUICK).fit(X, y)
    columns = model.networks_[0] if shared else model.networks_
    wrapped = ECOCNetworkClassifier.from_columns(
        columns, model.codebook_, X.shape[1:], classes=model.classes_
    )
    assert np.array_equal(wrapped.predict(X), model.predict(X))
    assert np.array_equal(wrapped.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(wrapped.margin(X), model.margin(X))
    wrapped.save(tmp_path / "wrapped.safetensors")
    again = ecoc.load(
        tmp_path / "wrapped.safetensors",
        architecture=lambda *_: copy.deepcopy(columns if shared else columns[0]),
    )
    assert np.array_equal(again.decision_function(X), model.decision_function(X))


def test_columns_that_do_not_fit_the_codebook_are_refused():
    code = one_vs_one(4)
    with pytest.raises(InvalidInputError, match="columns must give 6 outputs"):
        ECOCNetworkClassifier.from_columns(nn.Linear(3, 5), code, (3,))
    with pytest.raises(InvalidInputError, match="4 labels"):
        ECOCNetworkClassifier.from_columns(nn.Linear(3, 6), code, (3,), classes=[1, 2, 2, 3])
    with pytest.raises(InvalidInputError, match="decoding"):
        ECOCNetworkClassifier.from_columns(nn.Linear(3, 6), code, (3,), decoding="votes")


def test_a_loader_is_read_into_memory():
    X, y = digits()
    loader = DataLoader(TensorDataset(torch.tensor(X), torch.tensor(y)), batch_size=50)
    model = ECOCNetworkClassifier(TERNARY, **QUICK).fit(loader)
    same = ECOCNetworkClassifier(TERNARY, **QUICK).fit(X, y)
    assert np.array_equal(model.decision_function(X), same.decision_function(X))
    with pytest.raises(InvalidInputError, match="y must not be given"):
        ECOCNetworkClassifier(TERNARY, **QUICK).fit(loader, y)
    with pytest.raises(InvalidInputError, match="pairs of inputs and labels"):
        ECOCNetworkClassifier(TERNARY, **QUICK).fit(DataLoader(torch.tensor(X)))
    with pytest.raises(InvalidInputError, match="at least one batch"):
        ECOCNetworkClassifier(TERNARY, **QUICK).fit(DataLoader([]))


@pytest.mark.parametrize("kind", [ECOCNetworkClassifier, NetworkClassifier])
def test_outliers_are_rejected_by_a_threshold_of_validation_samples(kind, tmp_path):
    X, y = load_digits(return_X_y=True)
    model = kind(
        architecture="mlp",
        epochs=4,
        validation_fraction=0.2,
        reject_outliers=0.05,
        reject_label=-1,
        random_state=0,
    ).fit(X[:1000], y[:1000])
    answers = model.predict(X[1000:])
    assert 0.005 < np.mean(answers == -1) < 0.15
    assert np.array_equal(answers == -1, model.outlier_score(X[1000:]) > model.outlier_threshold_)
    logits = (
        model.column_scores(X[1000:])
        if hasattr(model, "column_scores")
        else (model.decision_function(X[1000:]))
    )
    told = model.rejected(logits, np.zeros(len(logits), dtype=int))
    assert np.mean(told == (answers == -1)) > 0.99
    model.save(tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors")
    assert again.outlier_threshold_ == model.outlier_threshold_
    assert np.array_equal(again.predict(X[1000:]), answers)


def test_what_rejection_of_outliers_needs():
    X, y = load_digits(return_X_y=True)
    model = ECOCNetworkClassifier(architecture="mlp", reject_outliers=0.01, reject_label=-1)
    with pytest.raises(InvalidInputError, match="set validation_fraction"):
        model.fit(X, y)
    with pytest.raises(InvalidInputError, match="reject_label must be given"):
        model.set_params(reject_label=None, validation_fraction=0.1).fit(X, y)
    with pytest.raises(InvalidInputError, match="must not be a class"):
        model.set_params(reject_label=3).fit(X, y)
