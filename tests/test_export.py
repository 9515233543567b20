import json
import sys
from contextlib import nullcontext

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_digits
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import ecoc
from ecoc.cli import main
from ecoc.codes import dense_random, one_vs_one
from ecoc.errors import InvalidInputError, MissingDependencyError, UnsupportedError
from ecoc.export import _Network, to_onnx
from ecoc.multiclass import ECOCClassifier, KernelRidgeColumns
from ecoc.multiclass.onnx import OperatorGraph
from ecoc.tables import Feature, TableModel

ort = pytest.importorskip("onnxruntime")

DIGITS, LABELS = load_digits(return_X_y=True)
# Values between the thresholds of trees, where single precision would round across them.
DIGITS = DIGITS + np.random.default_rng(0).normal(scale=0.01, size=DIGITS.shape)
TRAIN, TARGETS = DIGITS[:300], LABELS[:300]
SOME = slice(1000, 1150)


def code(learner, **settings):
    return ECOCClassifier(learner, random_state=0, **{"codebook": "optimal"} | settings)


def run(model, *outputs, missing_columns=False, **inputs):
    options = ort.SessionOptions()
    options.log_severity_level = 3  # an input with a default is no constant, it warns
    wanted = not outputs or "probabilities" in outputs
    exported = to_onnx(model, missing_columns=missing_columns, probabilities=wanted)
    there = ort.InferenceSession(exported.SerializeToString(), options)
    names = outputs or [output.name for output in there.get_outputs()]
    return dict(zip(names, there.run(list(names), inputs), strict=True))


FIVE_KINDS = {
    "linear": LogisticRegression(C=1e-3, max_iter=500),
    "tree": DecisionTreeClassifier(),
    # Shares of 16 trees add up without rounding, so that classes of equal scores stay equal.
    "forest": RandomForestClassifier(16),
    "svc": SVC(),
    "mlp": MLPClassifier((16,), max_iter=20),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", FIVE_KINDS)
def test_five_kinds_of_columns_decide_alike_on_all_digits(kind):
    model = code(FIVE_KINDS[kind], n_columns=15).fit(TRAIN, TARGETS)
    result = run(model, "label", "scores", X=DIGITS)
    assert np.array_equal(result["label"], model.predict(DIGITS))
    assert result["scores"] == pytest.approx(model.decision_function(DIGITS), abs=1e-5)


OTHERS = {
    "votes": (code(LogisticRegression(C=1e-3, max_iter=500), codebook="one-vs-one")),
    "kernels of their own": code(SVC(), codebook="sparse-random", n_columns=12),
    "polynomial": code(SVC(kernel="poly", degree=2), n_columns=12),
    "sigmoid": code(SVC(kernel="sigmoid"), n_columns=12),
    "linear kernel": code(SVC(kernel="linear"), n_columns=12),
    "support vector regression": code(SVR(), n_columns=12),
    "kernel ridge": code(KernelRidgeColumns(), n_columns=12),
    "laplacian": code(KernelRidgeColumns(kernel="laplacian", n_components=30), n_columns=12),
    "ridge": code(RidgeClassifier()),
    "regression": code(Ridge()),
    "a tree of regression": code(DecisionTreeRegressor(max_depth=4)),
    "a forest of regression": code(RandomForestRegressor(4, max_depth=4), n_columns=12),
    "extra trees": code(ExtraTreesClassifier(4, max_depth=4), n_columns=12),
    "boosting": code(GradientBoostingClassifier(n_estimators=2, max_depth=2), n_columns=12),
    "histograms": code(HistGradientBoostingClassifier(max_iter=2), n_columns=12),
    "naive Bayes": code(GaussianNB(var_smoothing=1e-3), n_columns=12),
    "calibrated": code(LinearSVC(C=0.01), n_columns=12, calibration="sigmoid"),
    "calibrated trees": code(
        DecisionTreeClassifier(max_depth=4), n_columns=12, calibration="sigmoid"
    ),
    "learned": code(RidgeClassifier(), n_columns=12, decoding="learned"),
    "a stump that only guesses": code(DecisionTreeClassifier(max_depth=1, min_samples_leaf=0.4)),
    "three symbols": code(DecisionTreeClassifier(), n_symbols=3, n_columns=8),
    "a forest of symbols": code(RandomForestClassifier(3), n_symbols=4, n_columns=8),
    "networks of symbols": code(
        make_pipeline(StandardScaler(), MLPClassifier((8,), max_iter=5)), n_symbols=3, n_columns=5
    ),
    "scaled before": make_pipeline(StandardScaler(), code(SVC(), n_columns=12)),
    "scaled in each column": code(make_pipeline(StandardScaler(), SVC()), n_columns=12),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", OTHERS)
def test_other_models_decide_alike(name):
    model = OTHERS[name].fit(TRAIN, TARGETS)
    result = run(model, "label", "scores", X=DIGITS[::4])
    assert np.array_equal(result["label"], model.predict(DIGITS[::4]))
    assert result["scores"] == pytest.approx(model.decision_function(DIGITS[::4]), abs=1e-5)


def test_every_output_and_columns_that_are_missing():
    model = code(FIVE_KINDS["linear"], n_columns=15).fit(TRAIN, TARGETS)
    missing = np.zeros((1, 15), dtype=bool)
    missing[0, [2, 7]] = True
    for columns, mask in (([], {}), ([2, 7], {"missing": missing})):
        result = run(model, missing_columns=True, X=DIGITS[SOME], **mask)
        asked = (DIGITS[SOME], columns)
        assert list(result) == ["label", "scores", "probabilities"]
        assert np.array_equal(result["label"], model.predict(*asked))
        assert result["scores"] == pytest.approx(model.decision_function(*asked), abs=1e-5)
        assert result["probabilities"] == pytest.approx(model.predict_proba(*asked), abs=1e-5)


def test_probabilities_by_sums_and_by_the_learned_decoder():
    for settings in ({"probabilities": "normalised"}, {"decoding": "learned"}):
        model = code(GaussianNB(var_smoothing=1e-3), n_columns=12, **settings).fit(TRAIN, TARGETS)
        result = run(model, "probabilities", X=DIGITS[SOME])
        assert result["probabilities"] == pytest.approx(model.predict_proba(DIGITS[SOME]), abs=1e-9)


def test_probabilities_of_symbols_are_those_of_the_decoder():
    model = OTHERS["three symbols"].fit(TRAIN, TARGETS)
    result = run(model, "probabilities", X=DIGITS[SOME])
    difference = np.abs(result["probabilities"] - model.predict_proba(DIGITS[SOME]))
    assert np.quantile(difference, 0.99) < 1e-5
    assert difference.max() < 1e-3


def test_columns_without_probabilities_export_none():
    model = code(SVC(), n_columns=12).fit(TRAIN, TARGETS)
    assert [each.name for each in to_onnx(model).graph.output] == ["label", "scores"]


def test_missing_values_go_where_the_trees_send_them():
    holes = np.where(np.random.default_rng(1).random(TRAIN.shape) < 0.1, np.nan, TRAIN)
    for learner in (
        DecisionTreeClassifier(max_depth=5),
        HistGradientBoostingClassifier(max_iter=2),
        make_pipeline(SimpleImputer(), DecisionTreeClassifier(max_depth=5)),
    ):
        model = code(learner, n_columns=12).fit(holes, TARGETS)
        result = run(model, "label", "scores", X=holes)
        assert np.array_equal(result["label"], model.predict(holes))
        assert result["scores"] == pytest.approx(model.decision_function(holes), abs=1e-9)


def test_columns_of_nothing_are_left_out_by_the_imputer():
    holes = TRAIN.copy()
    holes[:, 3] = np.nan
    for keep in (False, True):
        imputer = SimpleImputer(keep_empty_features=keep)
        model = make_pipeline(imputer, code(RidgeClassifier(), n_columns=12))
        with nullcontext() if keep else pytest.warns(UserWarning, match="Skipping"):
            model.fit(holes, TARGETS)
            truth = model.predict(holes)
        assert np.array_equal(run(model, "label", X=holes)["label"], truth)


def test_scores_that_are_erased():
    model = code(MLPClassifier((4,), max_iter=3), n_columns=12, nan_scores="erase")
    with pytest.warns(match="converged"):
        model.fit(TRAIN, TARGETS)
    model.estimators_[3].coefs_[0][:] = np.nan
    result = run(model, "label", "scores", X=DIGITS)
    assert np.array_equal(result["label"], model.predict(DIGITS))
    assert result["scores"] == pytest.approx(model.decision_function(DIGITS), abs=1e-9)


def test_labels_of_every_type():
    names = np.array([f"digit {label}" for label in TARGETS])
    for labels in (names, names.astype(object), TARGETS + 0.0, TARGETS % 2 == 0):
        model = code(RidgeClassifier(), codebook="one-vs-rest").fit(TRAIN, labels)
        result = run(model, X=DIGITS[SOME])
        assert result["label"].tolist() == model.predict(DIGITS[SOME]).tolist()


def test_what_cannot_be_exported_is_said():
    with pytest.raises(UnsupportedError, match=r"BaggingClassifier .* These have: linear"):
        to_onnx(code(BaggingClassifier(LinearSVC(C=0.01), 2), n_columns=12).fit(TRAIN, TARGETS))
    with pytest.raises(UnsupportedError, match=r"InverseHamming .* These have: Hamming"):
        to_onnx(code(RidgeClassifier(), decoding="inverse-hamming").fit(TRAIN, TARGETS))
    with pytest.raises(UnsupportedError, match="kernel 'precomputed'"):
        to_onnx(code(SVC(kernel="precomputed")).fit(TRAIN @ TRAIN.T, TARGETS))
    rooted = make_pipeline(FunctionTransformer(np.sqrt), code(RidgeClassifier()))
    rooted.fit(TRAIN**2, TARGETS)
    with pytest.raises(UnsupportedError, match="FunctionTransformer"):
        to_onnx(rooted)
    with pytest.raises(UnsupportedError, match="calibration='sigmoid'"):
        to_onnx(code(RidgeClassifier(), calibration="isotonic", n_columns=12).fit(TRAIN, TARGETS))
    with pytest.raises(UnsupportedError, match="reject_below=None"):
        to_onnx(code(RidgeClassifier(), reject_below=1, reject_label=-1).fit(TRAIN, TARGETS))
    with pytest.raises(InvalidInputError, match="not RidgeClassifier"):
        to_onnx(RidgeClassifier().fit(TRAIN, TARGETS))
    lost = code(RidgeClassifier()).fit(TRAIN, TARGETS)
    lost.estimators_[2] = None
    with pytest.raises(UnsupportedError, match="lost columns"):
        to_onnx(lost)


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(MissingDependencyError, match=r"ecoc\[onnx\]"):
        to_onnx(code(RidgeClassifier()).fit(TRAIN, TARGETS))


# ---------------------------------------------------------------------- tables


def test_a_model_of_a_table_is_exported_from_the_command_line(tmp_path):
    def call(*arguments, expect=0):
        result = CliRunner().invoke(main, list(map(str, arguments)))
        assert result.exit_code == expect, result.output
        return result

    rows = [
        f"{a:.4f},{b:.4f},{['ant', 'bee', 'cat'][label % 3]}"
        for (a, b), label in zip(TRAIN[:, 20:22], TARGETS, strict=True)
    ]
    data, model, target = (tmp_path / name for name in ("data.csv", "m.skops", "m.onnx"))
    data.write_text("\n".join(["a,b,kind", *rows]), encoding="utf-8")
    call("fit", data, "-t", "kind", "--learner", "tree", "--folds", 2, "-o", model, "-q")
    result = call("export", model, "-o", target, "--json")
    assert json.loads(result.stdout)["inputs"] == ["X"]
    there = ort.InferenceSession(target.read_bytes())
    assert json.loads(there.get_modelmeta().custom_metadata_map["features"]) == ["a", "b"]
    numbers = np.array([row.split(",")[:2] for row in rows], dtype=float)
    predicted = call("predict", model, data).stdout.split()[1:]
    assert there.run(["label"], {"X": numbers})[0].tolist() == predicted

    result = call("export", model, "-o", target, "--missing-columns")
    assert "X, missing" in result.stdout
    assert f"written to {target}" in result.stderr
    result = call("export", model, "-o", tmp_path / "m.txt", expect=2)
    assert ".onnx" in result.stderr


def test_a_table_with_texts_is_refused():
    numbers = np.eye(3)[[0, 1, 2, 0, 1, 2]]
    classifier = ECOCClassifier(RidgeClassifier(), codebook="one-vs-rest")
    classifier.fit(numbers, ["a", "b", "c"] * 2)
    model = TableModel(classifier, (Feature("colour", ("blue", "red")), Feature("size")))
    with pytest.raises(UnsupportedError, match=r"colour\. Export model\.pipeline"):
        to_onnx(model)
    assert to_onnx(model.pipeline).graph.input[0].name == "X"


# -------------------------------------------------------------------- networks

torch = pytest.importorskip("torch")


@pytest.fixture(scope="module")
def network():
    images = DIGITS.reshape(-1, 1, 8, 8)
    model = ecoc.nn.ECOCNetworkClassifier(
        "one-vs-rest", architecture="mlp", epochs=1, shared_trunk=True, random_state=0
    )
    return model.fit(images[:300], TARGETS), images.astype(np.float32)


def test_networks_and_their_decoder_are_one_graph(network):
    model, images = network
    result = run(model, missing_columns=True, X=images[SOME])
    assert np.array_equal(result["label"], model.predict(images[SOME]))
    assert result["scores"] == pytest.approx(model.decision_function(images[SOME]), abs=1e-5)
    truth = model.predict_proba(images[SOME])
    assert np.quantile(np.abs(result["probabilities"] - truth), 0.99) < 1e-5


@pytest.mark.parametrize("normalise", [True, False])
def test_forms_of_scores_are_those_of_the_decoder_of_torch(normalise):
    logits = np.random.default_rng(0).normal(scale=3, size=(20, 6))
    for codebook in (dense_random(4, 6, random_state=0), one_vs_one(4)):
        graph = OperatorGraph()
        found = _Network(_Coded(codebook), graph.input("z", np.float64, ["n", 6]), None)
        forms = [form for form in ecoc.nn.OUTPUTS if form != "log-soft"]
        outputs = {
            form: (found._decoded(form, normalise=normalise), np.float64, ["n", 4])
            for form in forms
        }
        there = ort.InferenceSession(graph.model(outputs).SerializeToString())
        for form, result in zip(forms, there.run(None, {"z": logits}), strict=True):
            decoder = ecoc.nn.CodeDecoder(codebook, form, normalise=normalise)
            assert result == pytest.approx(decoder(torch.from_numpy(logits)).numpy(), abs=1e-9)


class _Coded:
    def __init__(self, codebook):
        self.codebook_ = codebook


def test_pipelines_of_networks_are_refused(network):
    model, images = network
    with pytest.raises(UnsupportedError, match="ends in networks"):
        to_onnx(make_pipeline(FunctionTransformer().fit(images), model))
