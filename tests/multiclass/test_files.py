import importlib
import inspect
import io
import json
import os
import re
import subprocess
import sys
import zipfile

import numpy as np
import pytest
import sklearn
import skops.io
from sklearn.datasets import load_digits, load_iris, load_svmlight_file
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KDTree, KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import all_estimators
from skops.io import dumps, loads
from tests.multiclass.cases import blobs

from ecoc.codes import Codebook, one_vs_one
from ecoc.design import design_codebook
from ecoc.errors import FileFormatError, InvalidInputError
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.decoders import DECODERS, LossBased
from ecoc.multiclass.files import load_model, repeatable, save_model, sklearn_parts
from ecoc.tables.features import Feature
from ecoc.tables.learners import TRUSTED_TYPES, installed_learners, make_learner
from ecoc.tables.model import TableModel

X, y = blobs(n_classes=4, per_class=12, spread=1.5)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.skops"


def travelled(model, path, trusted=()):
    save_model(model, path, trusted=trusted)
    return load_model(path, trusted=trusted)


@pytest.mark.parametrize("name", installed_learners())
def test_every_learner_comes_back(name, path):
    learner = make_learner(name).estimator
    if name in {"forest", "hist-boosting"}:
        learner.set_params(**{"forest": {"n_estimators": 3}}.get(name, {"max_iter": 3}))
    model = ECOCClassifier(learner, random_state=0).fit(X, y)
    loaded = travelled(model, path, trusted=TRUSTED_TYPES.get(name, ()))
    assert loaded.column_scores(X) == pytest.approx(model.column_scores(X), rel=1e-12)
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert loaded.codebook_ == model.codebook_
    assert loaded.codebook_.provenance == model.codebook_.provenance
    assert not loaded.codebook_.matrix.flags.writeable


@pytest.mark.parametrize("decoding", DECODERS)
def test_every_decoder_comes_back(decoding, path):
    model = ECOCClassifier(LogisticRegression(), "dense-random", decoding=decoding, random_state=0)
    loaded = travelled(model.fit(X, y), path)
    assert type(loaded.decoder_) is type(model.decoder_)
    assert loaded.decision_function(X) == pytest.approx(model.decision_function(X))


@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
def test_calibrated_columns_come_back(calibration, path):
    labels = np.array(["ant", "bee", "cat", "dog"])[y]
    model = ECOCClassifier(SVC(), calibration=calibration).fit(X, labels)
    loaded = travelled(model, path)
    assert loaded.predict_proba(X) == pytest.approx(model.predict_proba(X))
    assert loaded.classes_.tolist() == ["ant", "bee", "cat", "dog"]


@pytest.mark.parametrize("kind", ["classifier", "pipeline", "table"])
def test_a_design_is_saved_as_its_codebook(kind, path):
    design = design_codebook(4, 7)
    model = ECOCClassifier(DecisionTreeClassifier(random_state=0), codebook=design)
    if kind != "classifier":
        model = make_pipeline(StandardScaler(), model)
    model.fit(X, y)
    if kind == "table":
        model = TableModel(model, tuple(Feature(name) for name in "abcd"), "kind")
    loaded = travelled(model, path)
    assert type(loaded) is type(model)
    found = {"classifier": lambda m: m, "pipeline": lambda m: m[-1]}.get(
        kind, lambda m: m.classifier
    )
    assert found(loaded).codebook == design.codebook
    assert found(model).codebook is design
    if kind == "table":
        assert loaded.features == model.features
        loaded = loaded.pipeline
        model = model.pipeline
    assert np.array_equal(loaded.predict(X), model.predict(X))


def test_what_could_not_be_loaded_is_not_saved(path):
    own = ECOCClassifier(SVC(), decoding=lambda scores, matrix: scores @ matrix.T).fit(X, y)
    with pytest.raises(InvalidInputError, match=r"FunctionDecoder, .*lambda"):
        save_model(own, path)
    named = make_pipeline(FunctionTransformer(os.path.join), own.set_params(decoding="auto"))
    own.fit(X, y)
    with pytest.raises(InvalidInputError, match=r"loaded again: posixpath\.join\. Use"):
        save_model(named, path)
    own.surprise = (i for i in ())
    with pytest.raises(InvalidInputError, match="cannot be saved: TypeError: cannot pickle"):
        save_model(own, path)
    del own.surprise
    with pytest.raises(InvalidInputError, match="not SVC"):
        save_model(SVC().fit(X, y), path)
    with pytest.raises(ValueError, match="not fitted"):
        save_model(ECOCClassifier(SVC()), path)
    with pytest.raises(InvalidInputError, match=r"must end in .skops, not '.pkl'"):
        save_model(own, path.with_suffix(".pkl"))
    with pytest.raises(InvalidInputError, match="does not exist"):
        save_model(own, path.parent / "missing" / "model.skops")
    assert not path.exists()


class Exploding:
    """What a hostile file would like to have made on loading."""

    def __reduce__(self):
        return subprocess.check_output, (["touch", "exploded"],)


def test_strange_types_are_refused_by_name(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    model = ECOCClassifier(SVC()).fit(X, y)
    model.surprise = Exploding()
    skops.io.dump(model, path)
    with pytest.raises(FileFormatError, match=r"not trusted: .*Exploding. It was not loaded"):
        load_model(path)
    model.surprise = subprocess.check_output
    skops.io.dump(model, path)
    with pytest.raises(FileFormatError, match=r"not trusted: subprocess.check_output"):
        load_model(path)
    assert list(tmp_path.iterdir()) == [path]


class Elsewhere(LogisticRegression):
    """A learner that is not scikit-learn's."""


def test_types_from_elsewhere_can_be_trusted(path):
    model = ECOCClassifier(Elsewhere()).fit(X, y)
    name = f"{__name__}.Elsewhere"
    with pytest.raises(InvalidInputError, match=rf"loaded again: {name}\. .*trusted=\['{name}'\]"):
        save_model(model, path)
    assert not path.exists()
    save_model(model, path, trusted=[name])
    with pytest.raises(FileFormatError, match=rf"not trusted: {name}\. It was not"):
        load_model(path)
    loaded = load_model(path, trusted=[name])
    assert np.array_equal(loaded.predict(X), model.predict(X))


# ------------------------------------------------------- all that scikit-learn ships

IMAGES, DIGITS = load_digits(n_class=4, return_X_y=True)
SOME = np.r_[:100]
IMAGES, DIGITS = IMAGES[SOME][:, 18:46:3], DIGITS[SOME]
NEEDS = {"estimator": GaussianNB(), "estimators": [("bayes", GaussianNB())]}
SMALL = {"n_estimators": 3, "max_iter": 3, "cv": 2, "Cs": 2, "nu": 0.1, "thresholds": 3}
CANNOT = {"ClassifierChain", "MultiOutputClassifier"}
"""Learners of several labels at once."""


CLASSIFIERS = {name: kind for name, kind in all_estimators("classifier") if name not in CANNOT}
SETTINGS = {
    "LabelPropagation": {"gamma": 0.01},
    "LabelSpreading": {"gamma": 0.01},
    "QuadraticDiscriminantAnalysis": {"reg_param": 0.5},
}


def small(name):
    """A classifier of scikit-learn that is trained quickly."""
    kind = CLASSIFIERS[name]
    known = inspect.signature(kind).parameters
    settings = {key: value for key, value in {**SMALL, **NEEDS}.items() if key in known}
    return kind(**settings, **SETTINGS.get(name, {}))


@pytest.mark.filterwarnings("ignore")  # of what the small settings cost
@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_of_scikit_learn_comes_back(name, path):
    comes_back(small(name), path)


KD_TREE, BALL_TREE = (KNeighborsClassifier(3, algorithm=a) for a in ("kd_tree", "ball_tree"))


@pytest.mark.parametrize(
    "learner",
    [
        KD_TREE,
        BALL_TREE,
        make_pipeline(SimpleImputer(), PCA(2), HistGradientBoostingClassifier(max_iter=3)),
        GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2),
    ],
)
def test_learners_with_parts_come_back(learner, path):
    comes_back(learner, path)


def comes_back(learner, path):
    model = ECOCClassifier(learner, "one-vs-rest", random_state=0).fit(IMAGES, DIGITS)
    loaded = travelled(model, path)
    assert np.array_equal(loaded.column_scores(IMAGES), model.column_scores(IMAGES))
    assert np.array_equal(loaded.predict(IMAGES), model.predict(IMAGES))


@pytest.mark.parametrize("n_symbols", [2, 3])
def test_requests_of_metadata_come_back(n_symbols, path):
    weights = np.ones(len(DIGITS))
    with sklearn.config_context(enable_metadata_routing=True):
        learner = GaussianNB().set_fit_request(sample_weight=True)
        model = ECOCClassifier(learner, n_symbols=n_symbols, random_state=0)
        model.fit(IMAGES, DIGITS, sample_weight=weights)
        save_model(model, path)
        loaded = load_model(path)
        assert np.array_equal(loaded.predict(IMAGES), model.predict(IMAGES))
        for each in (model, loaded):
            request = each.estimator.get_metadata_routing()
            assert request.fit.requests == {"sample_weight": True}
            each.fit(IMAGES, DIGITS, sample_weight=weights)


def test_nothing_that_acts_is_trusted():
    trusted = set(sklearn_parts())
    for name in trusted - {"numpy.dtype"}:
        module, _, attribute = name.rpartition(".")
        assert module.startswith("sklearn.")
        found = getattr(importlib.import_module(module), attribute)
        if not isinstance(found, type):
            assert module.startswith("sklearn.metrics."), name
    assert not [name for name in trusted if "dataset" in name or "fetch" in name or "load" in name]


@pytest.mark.parametrize(
    "act", [load_svmlight_file, sklearn.utils.gen_batches, np.load, np.save, print, eval]
)
def test_functions_that_act_are_refused(act, path):
    model = make_pipeline(FunctionTransformer(act), ECOCClassifier(SVC()).fit(X, y))
    skops.io.dump(model, path)
    with pytest.raises(FileFormatError, match=rf"not trusted: .*{act.__name__}"):
        load_model(path)


def test_a_search_tree_of_neighbours_is_made_anew(path):
    model = ECOCClassifier(KD_TREE).fit(X, y)
    model.estimators_[0]._tree = KDTree(X[:3])
    skops.io.dump(model, path)
    assert load_model(path).estimators_[0]._tree.get_arrays()[0].shape == X.shape


OLDER_NAMES = {
    "ecoc.codes.codebook": "ecoc.codes.provenance",
    "ecoc.multiclass.decoders.distances": "ecoc.multiclass.decoders.losses",
    "ecoc.multiclass.decoders.learned": "ecoc.multiclass.learned",
    "ecoc.multiclass.joint.kernel_ridge": "ecoc.multiclass.kernel_ridge",
    "ecoc.tables.features": "ecoc.multiclass.features",
    "ecoc.tables.model": "ecoc.multiclass.table_model",
}


@pytest.mark.parametrize("decoding", ["learned", LossBased("hinge")])
def test_files_from_before_types_moved_are_read(path, decoding):
    learner = make_learner("kernel-ridge").estimator
    classifier = ECOCClassifier(learner, decoding=decoding, random_state=0).fit(X, y)
    save_model(TableModel(classifier, tuple(map(Feature, "abcd"))), path)
    with zipfile.ZipFile(path) as file:
        entries = {name: file.read(name).decode("latin-1") for name in file.namelist()}
    moved = [name for name in OLDER_NAMES if f'"{name}"' in entries["schema.json"]]
    assert len(moved) == 5
    for present in moved:
        older = OLDER_NAMES[present]
        entries["schema.json"] = entries["schema.json"].replace(f'"{present}"', f'"{older}"')
    # Only the provenance of codebooks has moved, not they themselves.
    entries["schema.json"] = re.sub(
        r'("__class__": "Codebook",\s*"__module__": )"ecoc.codes.provenance"',
        r'\1"ecoc.codes.codebook"',
        entries["schema.json"],
    )
    assert '"ecoc.codes.provenance"' in entries["schema.json"]
    with zipfile.ZipFile(path, "w") as file:
        for name, content in entries.items():
            file.writestr(name, content.encode("latin-1"))
    assert np.array_equal(load_model(path).classifier.predict(X), classifier.predict(X))


def test_files_that_are_no_models(path):
    with pytest.raises(FileFormatError, match="cannot be read: No such file"):
        load_model(path)
    path.write_bytes(b"anything")
    with pytest.raises(FileFormatError, match="not a model file, or is cut off"):
        load_model(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("schema.json", "{}")
    with pytest.raises(FileFormatError, match="not a model file, or is damaged"):
        load_model(path)
    skops.io.dump({"a": 1}, path)
    with pytest.raises(FileFormatError, match="not dict"):
        load_model(path)
    skops.io.dump(ECOCClassifier(SVC()), path)
    with pytest.raises(FileFormatError, match="not fitted"):
        load_model(path)


def test_every_cut_is_noticed(path):
    save_model(ECOCClassifier(DecisionTreeClassifier()).fit(X, y), path)
    data = path.read_bytes()
    for length in range(0, len(data), len(data) // 20):
        path.write_bytes(data[:length])
        with pytest.raises(FileFormatError, match=r"model\.skops"):
            load_model(path)


def damaged(model, damage):
    """The bytes of a model that something was done to before saving."""
    damage(model)
    return skops.io.dumps(model)


def forged(codebook, **changes):
    copy = object.__new__(Codebook)
    copy.__dict__.update({**codebook.__dict__, **changes})
    return copy


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (lambda m: m.estimators_.pop(), "5 learners"),
        (lambda m: setattr(m, "codebook_", one_vs_one(5)), "there are 4 classes"),
        (
            lambda m: setattr(m, "codebook_", forged(m.codebook_, matrix=np.ones((4, 6), np.int8))),
            "whole model",
        ),
        (lambda m: setattr(m, "decoder_", "votes"), "must be a decoder"),
        (lambda m: delattr(m, "decoder_"), "not fitted"),
    ],
)
def test_models_that_do_not_fit_together(path, damage, message):
    model = ECOCClassifier(LogisticRegression(), "one-vs-one").fit(X, y)
    path.write_bytes(damaged(model, damage))
    with pytest.raises(FileFormatError, match=message):
        load_model(path)


def test_figures_are_those_of_the_matrix(path):
    model = ECOCClassifier(LogisticRegression(), "one-vs-one").fit(X, y)
    model.codebook_ = forged(model.codebook_, min_row_distance=1000)
    path.write_bytes(skops.io.dumps(model))
    assert load_model(path).codebook_.min_row_distance == one_vs_one(4).min_row_distance


def with_nodes(model, change):
    """The bytes of a model of trees whose first array of nodes was changed."""
    data = skops.io.dumps(model)
    out = io.BytesIO()
    changed = False
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith(".npy"):
                array = np.load(io.BytesIO(content), allow_pickle=False)
                if not changed and array.dtype.names and "left_child" in array.dtype.names:
                    array = array.copy()
                    change(array)
                    changed = True
                    stream = io.BytesIO()
                    np.save(stream, array)
                    content = stream.getvalue()
            target.writestr(name, content)
    assert changed
    return out.getvalue()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("left", 10**9, "lead out of it"),
        ("right", 0, "lead out of it"),
        ("feature_idx", 4, "lead out of it"),
        ("feature_idx", -1, "lead out of it"),
    ],
)
def test_boosted_trees_that_lead_astray_are_refused(path, field, value, message):
    learner = HistGradientBoostingClassifier(max_iter=2, min_samples_leaf=2)
    model = ECOCClassifier(learner, random_state=0).fit(X, y)
    model.estimators_[1]._predictors[1][0].nodes[field][0] = value
    skops.io.dump(model, path)
    with pytest.raises(FileFormatError, match=message):
        load_model(path)


def put(field, value):
    def change(nodes):
        nodes[field][0] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        put("left_child", 10**9),
        put("right_child", 10**9),
        put("left_child", -7),
        put("right_child", 0),
        put("feature", 4),
        put("feature", -2),
    ],
)
@pytest.mark.parametrize("learner", [DecisionTreeClassifier(), RandomForestClassifier(2)])
def test_trees_that_lead_astray_are_refused(path, learner, change):
    model = ECOCClassifier(learner, random_state=0).fit(X, y)
    path.write_bytes(with_nodes(model, change))
    with pytest.raises(FileFormatError, match="lead out of it"):
        load_model(path)


def test_nothing_but_the_classifier_is_at_the_end_of_a_pipeline(path):
    skops.io.dump(Pipeline([("svc", SVC().fit(X, y))]), path)
    with pytest.raises(FileFormatError, match="not SVC"):
        load_model(path)


BINARY_LEARNERS = [
    LogisticRegression(max_iter=500),
    DecisionTreeClassifier(random_state=0),
    make_pipeline(StandardScaler(), LogisticRegression()),
]


@pytest.mark.parametrize("learner", BINARY_LEARNERS)
def test_two_fits_with_one_seed_give_the_same_bytes(learner, tmp_path):
    x, y = load_iris(return_X_y=True)
    paths = [tmp_path / "a.skops", tmp_path / "b.skops"]
    kept = []
    for path in paths:
        kept.append(ECOCClassifier(learner, random_state=0).fit(x, y))
        save_model(kept[-1], path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    assert (load_model(paths[0]).predict(x) == kept[0].predict(x)).all()


@pytest.mark.slow
def test_another_process_writes_the_same_bytes(tmp_path):
    code = (
        "from sklearn.datasets import load_iris\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "from ecoc.multiclass import ECOCClassifier, save_model\n"
        "X, y = load_iris(return_X_y=True)\n"
        "save_model(ECOCClassifier(LogisticRegression(max_iter=500)).fit(X, y), path)\n"
    )
    here, there = tmp_path / "a.skops", tmp_path / "b.skops"
    exec(code, {"path": here})
    light = "assert not {'torch', 'dask'} & set(sys.modules), 'seconds for nothing'\n"
    alone = f"import sys\npath = sys.argv[1]\n{code}{light}"
    subprocess.run([sys.executable, "-c", alone, there], check=True)
    assert here.read_bytes() == there.read_bytes()


def test_sets_shared_parts_and_times():
    shared = [1.5, "a"]
    value = {"set": {"b", "a", "c"}, "first": shared, "second": shared}
    files = [repeatable(dumps(dict(value, set=set(order)))) for order in ("abc", "cba")]
    assert files[0] == files[1]
    assert loads(files[0]) == value
    with zipfile.ZipFile(io.BytesIO(files[0])) as file:
        assert {entry.date_time for entry in file.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        schema = json.loads(file.read("schema.json"))
    assert schema["__id__"] == 1


@pytest.mark.parametrize("decoding", ["coupling", "learned", "log-likelihood"])
def test_codebooks_of_symbols_come_back(path, decoding):
    data = blobs(8, per_class=12)
    model = ECOCClassifier(GaussianNB(), n_symbols=3, random_state=0, decoding=decoding).fit(*data)
    save_model(model, path)
    loaded = load_model(path)
    assert loaded.codebook_ == model.codebook_
    assert loaded.codebook_.n_symbols == 3
    assert np.array_equal(loaded.predict_proba(data[0]), model.predict_proba(data[0]))
    first = path.read_bytes()
    save_model(model, path)
    assert path.read_bytes() == first


def test_classifiers_from_before_symbols_are_read(path):
    model = ECOCClassifier(GaussianNB(), random_state=0).fit(X, y)
    for name in ("n_symbols", "max_classes"):
        delattr(model, name)
    object.__delattr__(model.codebook_, "n_symbols")
    skops.io.dump(model, path)
    loaded = load_model(path)
    assert np.array_equal(loaded.predict(X), ECOCClassifier(GaussianNB()).fit(X, y).predict(X))
    assert loaded.codebook_.n_symbols == 2
    assert loaded.get_params()["n_symbols"] is None
