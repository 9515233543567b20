"""Thousands of damaged files of every format: each is read, or refused by an error of ours."""

# ruff: noqa: N806  # X is what scikit-learn calls it

import contextlib
import gzip
import itertools
import json
import random
import tempfile
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier
from tests.mutations import (
    damaged_archive,
    damaged_array,
    damaged_bytes,
    damaged_json,
    damaged_value,
    written,
)

from ecoc.cli.robustness import _read_arrays
from ecoc.codes import Codebook, balanced_random, one_vs_one, write_codebook
from ecoc.codes.files import read_file
from ecoc.datasets import load_dataset, loading
from ecoc.datasets._specs import SPECS
from ecoc.design import design_codebook, read_design
from ecoc.design.programs import build_ip3, read_solution
from ecoc.errors import EcocError
from ecoc.multiclass import ECOCClassifier, load_model, save_model
from ecoc.paper import read_records
from ecoc.paper.figures import pack, unpack
from ecoc.paper.records import latest
from ecoc.report import reproduction_markdown, reproduction_page
from ecoc.tables import TableModel
from ecoc.tables.features import Feature, encode, find_features, read_labels, rows_with_class
from ecoc.tables.reading import Table, read_table

pytestmark = pytest.mark.slow

DOCS = Path(__file__).parents[1] / "docs"
SPARE_BYTES = 1 << 30
"""What reading small files may take of the address space: claims of more are to be refused."""


@pytest.fixture
def tmp_path():
    """A folder in memory, where there is one: a disk takes milliseconds for every file."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        yield Path(folder)


@contextlib.contextmanager
def little_memory():
    """Let nobody take gigabytes: an allocation by a header's claim fails here."""
    resource = pytest.importorskip("resource")
    statm = Path("/proc/self/statm")
    if not statm.exists():
        yield
        return
    used = int(statm.read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + SPARE_BYTES, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)


def fuzz(path, damage, read, count, seed=0):
    """Damage a file many times and read it; all errors must be ours, and most must come."""
    whole = path.read_bytes()
    read()
    rng = random.Random(seed)
    refused = 0
    with little_memory():
        for number in range(count):
            data = damage(whole, rng)
            path.write_bytes(data)
            try:
                read()
            except EcocError:
                refused += 1
            except Exception as error:
                error.add_note(f"mutation {number} of {path.name}: {data[:300]!r}")
                raise
    path.write_bytes(whole)
    assert refused > count // 4


# ------------------------------------------------------------------- codebooks


@pytest.fixture(scope="module")
def design():

    return design_codebook(5, 8, min_column_distance=2, random_state=0)


@pytest.mark.parametrize(
    ("suffix", "damage"),
    [
        (".json", damaged_json),
        (".csv", damaged_bytes),
        (".npz", lambda data, rng: damaged_archive(data, rng, {"npy": damaged_array})),
    ],
)
@pytest.mark.parametrize(
    ("code", "count"),
    [
        (one_vs_one(4), 1500),
        (balanced_random(4, 3, n_symbols=3, random_state=0), 1000),
        (Codebook([[i, (i + i // 2) % 40] for i in range(40)], n_symbols=40), 500),
    ],
    ids=["two symbols", "three symbols", "forty symbols"],
)
def test_codebooks(suffix, damage, code, count, tmp_path):
    path = tmp_path / f"code{suffix}"
    labels = ("a", "b", "é", "d", *map(str, range(code.n_classes - 4)))
    write_codebook(replace(code, labels=labels), path)
    fuzz(path, damage, lambda: read_file(path), count)


def test_designs(design, tmp_path):

    path = tmp_path / "design.json"
    design.save(path)
    fuzz(path, damaged_json, lambda: read_design(path), 2000)


def test_solutions(tmp_path):

    program = build_ip3([3, 5, 6], 4, 2, indptr=[0], members=[]).program
    path = tmp_path / "best.sol"
    path.write_text("# Objective value = 1\nx_3 1\nx_5 1\nt 1\n")
    fuzz(path, damaged_bytes, lambda: read_solution(path, program), 2000)


# --------------------------------------------------------------------- records


def _first_records():
    found = {}
    for line in (DOCS / "results" / "records.jsonl").read_bytes().splitlines():
        plain = json.loads(line)
        found.setdefault(plain["experiment"], []).append(plain)
    return found


RECORDS = _first_records()


@pytest.mark.parametrize("experiment", RECORDS)
def test_records(experiment, tmp_path):

    path = tmp_path / "records.jsonl"
    lines = [json.dumps(plain).encode() for plain in RECORDS[experiment][:3]]
    path.write_bytes(b"\n".join(lines) + b"\n")

    def damage(whole, rng):
        if rng.random() < 0.3:
            return damaged_bytes(whole, rng)
        place = rng.randrange(len(lines))
        changed = written(damaged_value(json.loads(lines[place]), rng), rng)
        return b"\n".join([*lines[:place], changed, *lines[place + 1 :], b""])

    times_read = itertools.count()

    def read():
        records = read_records(path)
        latest(records)
        reproduction_markdown(records).encode()
        # Most of the time goes into drawing, and most damage is seen before.
        if next(times_read) % 50 == 0:
            reproduction_page(records).encode()

    fuzz(path, damage, read, 200)


def test_packed_arrays():

    rng = random.Random(0)
    packed = pack(np.arange(12).reshape(3, 4))
    for _ in range(2000):
        changed = damaged_value(packed, rng)
        with contextlib.suppress(EcocError):
            unpack(changed)
    huge = zlib.compress(bytes(10**7))
    with contextlib.suppress(EcocError):
        unpack({"shape": [10**7], "bytes": huge.hex()})


# ------------------------------------------------------------------- data sets


def _spec(monkeypatch, name, counts, **changes):

    spec = replace(loading.SPECS[name], counts=counts, content=None, train_content=None, **changes)
    monkeypatch.setitem(loading.SPECS, name, spec)


def _idx(array):
    head = bytes([0, 0, 8, array.ndim]) + np.array(array.shape, dtype=">u4").tobytes()
    return head + array.astype(np.uint8).tobytes()


def _damaged_idx(data, rng):
    if rng.random() < 0.5:
        return damaged_bytes(data, rng)
    claims = bytes(rng.choice((0, 1, 2, 28, 255)) for _ in range(rng.randrange(1, 17)))
    start = rng.choice((0, 3, 4))
    return data[:start] + claims + data[start + len(claims) :]


def _damaged_gzip(data, rng):
    if rng.random() < 0.5:
        return damaged_bytes(data, rng)
    return gzip.compress(_damaged_idx(gzip.decompress(data), rng), 1)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("glass", "RI,Na,class\n1.5,13,1\n1.4,12,1\n1.6,11,2\n"),
        ("soybean", "date,hail,class\nmay,?,rot\njune,yes,spot\nmay,no,rot\n"),
    ],
)
def test_tables_of_data_sets(name, text, tmp_path, monkeypatch):

    if name == "glass":
        _spec(monkeypatch, name, {"1": 2, "2": 1}, features=("RI", "Na"), n_features=2)
    else:
        _spec(monkeypatch, name, {"rot": 2, "spot": 1}, n_features=5)
    path = tmp_path / f"{name}.csv"
    path.write_text(text)
    fuzz(path, damaged_bytes, lambda: load_dataset(name, data=tmp_path), 2000)


@pytest.mark.parametrize("suffix", ["", ".gz"])
@pytest.mark.parametrize("part", ["train-images-idx3-ubyte", "t10k-labels-idx1-ubyte"])
def test_mnist(part, suffix, tmp_path, monkeypatch):

    _spec(monkeypatch, "mnist", {"1": 2, "3": 1}, n_train=2)
    for name, n in (("train", 2), ("t10k", 1)):
        images = np.arange(n * 784).reshape(n, 28, 28) % 251
        for kind, array in (("images-idx3", images), ("labels-idx1", np.array([1, 3][:n]))):
            data = _idx(array)
            data = gzip.compress(data) if suffix else data
            (tmp_path / f"{name}-{kind}-ubyte{suffix}").write_bytes(data)
    damage = _damaged_gzip if suffix else _damaged_idx
    path = tmp_path / f"{part}{suffix}"
    fuzz(path, damage, lambda: load_dataset("mnist", data=tmp_path), 1000)


def test_cifar10(tmp_path, monkeypatch):

    counts = dict.fromkeys(SPECS["cifar10"].counts, 0) | {"airplane": 2, "truck": 1}
    _spec(monkeypatch, "cifar10", counts, n_train=2)
    images = np.arange(3 * 3072).reshape(3, 32, 32, 3).astype(np.uint8)
    y = np.array([0, 9, 0], dtype=np.uint8)
    path = tmp_path / "cifar10-subset.npz"
    np.savez_compressed(path, x_train=images[:2], y_train=y[:2], x_test=images[2:], y_test=y[2:])

    def damage(data, rng):
        return damaged_archive(data, rng, {"npy": damaged_array})

    fuzz(path, damage, lambda: load_dataset("cifar10", data=tmp_path), 2000)


# --------------------------------------------------------- tables and their models


def test_tables(tmp_path):

    path = tmp_path / "table.csv"
    path.write_text("legs;coat;kind\n4;fur;dog\n2;feathers;bird\n6;none;bee\n")

    def read():
        table, _ = rows_with_class(read_table(path), "kind")
        read_labels(table, "kind")
        encode(table, find_features(table, "kind")[0])

    fuzz(path, damaged_bytes, read, 3000)


def test_models(tmp_path):

    X, y = [[4, 0], [2, 1], [6, 0], [4, 1]], ["dog", "bird", "bee", "cow"]
    classifier = ECOCClassifier(DecisionTreeClassifier(random_state=0), codebook="one-vs-rest").fit(
        X, y
    )
    path = tmp_path / "pets.skops"
    save_model(TableModel(classifier, (Feature("legs"), Feature("wings"))), path)
    table = Table(("legs", "wings"), (("4", "1"), ("6", "0")), (2, 3), "table.csv")

    def damage(data, rng):
        return damaged_archive(data, rng, {"json": damaged_json, "npy": damaged_array})

    fuzz(path, damage, lambda: load_model(path).predict(table, margin=True), 400)


def test_arrays_to_attack(tmp_path):

    path = tmp_path / "data.npz"
    np.savez_compressed(path, X=np.eye(3), y=np.array(["a", "b", "c"]))

    def damage(data, rng):
        return damaged_archive(data, rng, {"npy": damaged_array})

    fuzz(path, damage, lambda: _read_arrays(str(path)), 2000)


def test_a_bare_array_named_npz_is_named(tmp_path):
    path = tmp_path / "code.npz"
    with path.open("wb") as stream:
        np.save(stream, one_vs_one(4).matrix)
    with pytest.raises(EcocError, match=r"single array \(.npy\), not an NPZ file"):
        read_file(path)


# -------------------------------------------------------------------- networks


def _damaged_tensors(kind):
    """Damage to the description in a safetensors file, or to its bytes."""
    safetensors = pytest.importorskip("safetensors.torch")

    def damage(data, rng):
        if rng.random() < 0.3:
            return damaged_bytes(data, rng)
        size = int.from_bytes(data[:8], "little")
        metadata = json.loads(json.loads(data[8 : 8 + size])["__metadata__"][kind])
        changed = damaged_value(metadata, rng)
        if isinstance(changed, dict) and rng.random() < 0.9:
            changed |= {"digest": metadata["digest"], "version": metadata["version"]}
        text = written(changed, rng).decode("utf-8", "replace")
        return safetensors.save(safetensors.load(data), metadata={kind: text})

    return damage


@pytest.fixture(scope="module")
def small_data():
    X = np.arange(48, dtype=np.float32).reshape(12, 4) % 7
    return X, np.array(["a", "b", "c"] * 4)


def test_networks(small_data, tmp_path):
    nn = pytest.importorskip("ecoc.nn")

    X, y = small_data
    path = tmp_path / "net.safetensors"
    network = nn.ECOCNetworkClassifier("one-vs-rest", architecture="mlp", epochs=1, random_state=0)
    network.fit(X, y).save(path)

    fuzz(path, _damaged_tensors("ecoc-nn-model"), lambda: nn.load_model(path).predict(X), 600)


@pytest.mark.parametrize("file", ["run.json", "columns.safetensors"])
def test_checkpoints(file, small_data, tmp_path):
    nn = pytest.importorskip("ecoc.nn")

    def train():
        nn.ECOCNetworkClassifier(
            "one-vs-rest",
            architecture="mlp",
            shared_trunk=True,
            epochs=2,
            validation_fraction=0.2,
            checkpoint=tmp_path,
            random_state=0,
        ).fit(*small_data)

    train()
    path = tmp_path / file
    assert path.exists(), list(tmp_path.iterdir())
    whole = path.read_bytes()

    def read():
        data = path.read_bytes()
        try:
            train()
        finally:
            path.write_bytes(data)

    damage = damaged_json if file == "run.json" else _damaged_tensors("ecoc-nn-checkpoint")
    fuzz(path, damage, read, 120)
    assert path.read_bytes() == whole
