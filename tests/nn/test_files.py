# ruff: noqa: N806  # X is what scikit-learn calls it
import json

import numpy as np
import pytest
import safetensors.torch
import torch
from tests.nn.cases import TERNARY, digits, normalised_cnn, tiny_cnn, tiny_mlp

import ecoc
from ecoc.codes import one_vs_rest
from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.nn import ECOCNetworkClassifier, MulticlassTwin, NetworkClassifier, load_model
from ecoc.nn.training.checkpoints import digest

QUICK = {"epochs": 1, "random_state": 0}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "model.safetensors"
    ECOCNetworkClassifier("one-vs-rest", architecture="mlp", **QUICK).fit(*digits()).save(path)
    return path


@pytest.mark.parametrize(
    "model",
    [
        ECOCNetworkClassifier(architecture="mlp", **QUICK),
        ECOCNetworkClassifier(one_vs_rest(4), architecture="small-cnn", **QUICK),
        ECOCNetworkClassifier(TERNARY, architecture="mlp", shared_trunk=True, **QUICK),
        MulticlassTwin("one-vs-one", architecture="mlp", decoding="normalised-linear", **QUICK),
        NetworkClassifier("mlp", validation_fraction=0.2, input_range=(-1, 2), **QUICK),
    ],
    ids=repr,
)
def test_models_come_back_as_they_were(model, tmp_path):
    X, y = digits()
    names = np.array(["zero", "one", "two", "three"])[y]
    model.fit(X, names).save(tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors")
    assert type(again) is type(model)
    assert (again.decision_function(X) == model.decision_function(X)).all()
    assert (again.predict_proba(X) == model.predict_proba(X)).all()
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.input_range_ == model.input_range_
    assert again.records_ == model.records_
    assert again.epochs == 1
    again.save(tmp_path / "again.safetensors")
    first, second = ((tmp_path / f"{n}.safetensors").read_bytes() for n in ("model", "again"))
    assert first == second


@pytest.mark.parametrize("labels", [[3, 5, 7, 9], [0.5, 1.5, 2.5, 3.5], [-1, 0, 1, 2]])
def test_labels_keep_their_type(labels, tmp_path):
    X, y = digits()
    model = NetworkClassifier(tiny_mlp, **QUICK).fit(X, np.array(labels)[y].astype(int))
    model.save(tmp_path / "model.safetensors")
    again = ecoc.load(tmp_path / "model.safetensors", architecture=tiny_mlp)
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()


@pytest.mark.parametrize("factory", [tiny_cnn, normalised_cnn])
def test_networks_of_a_factory_need_it_again(factory, tmp_path):
    X, y = digits()
    path = tmp_path / "model.safetensors"
    model = ECOCNetworkClassifier(TERNARY, architecture=factory, **QUICK).fit(X, y)
    model.save(path)
    again = ecoc.load(path, architecture=factory)
    assert (again.decision_function(X) == model.decision_function(X)).all()
    with pytest.raises(FileFormatError, match="give it as architecture="):
        load_model(path)
    with pytest.raises(FileFormatError, match="not those of this architecture"):
        load_model(path, architecture=tiny_mlp)


def rewritten(path, change_metadata=None, change_tensors=None):
    """The file with other contents, and a digest that fits them."""
    data = path.read_bytes()
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    metadata = json.loads(header["ecoc-nn-model"])
    tensors = safetensors.torch.load(data)
    if change_tensors:
        change_tensors(tensors)
        metadata["digest"] = digest(tensors)
    if change_metadata:
        change_metadata(metadata)
    return safetensors.torch.save(tensors, metadata={"ecoc-nn-model": json.dumps(metadata)})


def set_in(*keys, value):
    def change(metadata):
        for key in keys[:-1]:
            metadata = metadata[key]
        metadata[keys[-1]] = value

    return change


HUGE = {"given": [1, 10**6, 10**6], "shape": [1, 10**6, 10**6], "range": [0, 1]}
DAMAGE = {
    "estimator": (set_in("estimator", value="os.system"), "no estimator 'os.system'"),
    "version": (set_in("version", value=99), "does not read"),
    "parameter": (set_in("parameters", "weights", value=1), "unknown parameters"),
    "architecture": (set_in("parameters", "architecture", value="mpl"), "Did you mean 'mlp'"),
    "classes": (set_in("classes", "values", value=[1, 1, 2, 3]), "different labels"),
    "fewer classes": (set_in("classes", "values", value=[1, 2]), "4 codewords for 2 classes"),
    "codebook": (set_in("codebook", value="{}"), "its codebook: format must be"),
    "inputs": (set_in("inputs", value=HUGE), "has the form"),
    "range": (set_in("inputs", "range", value=["a", "b"]), "range must be a number"),
    "records": (set_in("records", value=7), "not a whole model"),
}


@pytest.mark.parametrize("name", DAMAGE)
def test_a_changed_description_is_refused(name, stored, tmp_path):
    change, message = DAMAGE[name]
    path = tmp_path / "changed.safetensors"
    path.write_bytes(rewritten(stored, change_metadata=change))
    with pytest.raises(FileFormatError, match=message):
        load_model(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: t.pop("0/1.weight"), "not those of this architecture"),
        (lambda t: t.update({"0/1.weight": torch.zeros(2, 2)}), "has the form"),
        (lambda t: t["0/1.weight"].fill_(torch.nan), "not finite"),
        (lambda t: t.update({"0/1.weight": t["0/1.weight"].double()}), "has the form"),
    ],
)
def test_other_weights_are_refused(change, message, stored, tmp_path):
    path = tmp_path / "changed.safetensors"
    path.write_bytes(rewritten(stored, change_tensors=change))
    with pytest.raises(FileFormatError, match=message):
        load_model(path)


def test_damaged_bytes_are_refused(stored, tmp_path):
    path = tmp_path / "damaged.safetensors"
    data = stored.read_bytes()
    for damaged, message in [
        (data[:-100], "not a whole safetensors file"),
        (data[:-3] + b"abc", "not those that were written"),
        (b"\x80\x04pickle", "not a whole safetensors file"),
        (safetensors.torch.save({"a": torch.zeros(1)}), "not a file of the kind"),
        (
            safetensors.torch.save({"a": torch.zeros(1)}, metadata={"ecoc-nn-model": "["}),
            "not JSON",
        ),
    ]:
        path.write_bytes(damaged)
        with pytest.raises(FileFormatError, match=message):
            load_model(path)
    with pytest.raises(FileFormatError, match="cannot be read"):
        load_model(tmp_path / "missing.safetensors")


def test_labels_without_a_plain_form_are_refused(tmp_path):
    X, y = digits()
    model = NetworkClassifier(tiny_mlp, **QUICK).fit(X, y)
    model.classes_ = np.array([1, "a", None, 2], dtype=object)
    with pytest.raises(InvalidInputError, match="numbers or text"):
        model.save(tmp_path / "model.safetensors")


@pytest.mark.parametrize("name", ["model.pt", "model", "model.skops", "model.safetensors.bak"])
def test_names_that_nothing_would_read_are_refused(name, stored, tmp_path):
    with pytest.raises(InvalidInputError, match=r"must end in \.safetensors, not '"):
        load_model(stored).save(tmp_path / name)
    assert not any(tmp_path.iterdir())
