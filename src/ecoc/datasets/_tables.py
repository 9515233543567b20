"""Raw tables and images: how they are read, encoded and checked."""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it
from __future__ import annotations

import csv
import gzip
import io
import math
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._files import MAX_BYTES, decode_text, read_bytes, read_up_to
from ecoc.datasets._specs import Spec
from ecoc.errors import FileFormatError

__all__ = [
    "EncodedTable",
    "check_table",
    "content",
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
                f"{source}: row {number} has {len(row)} values, and {width} are expected."
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
    found = Counter(table.labels)
    if found != Counter(spec.counts):
        wrong = sorted(
            label for label in {*found, *spec.counts} if found[label] != spec.counts.get(label, 0)
        )
        label = wrong[0]
        raise FileFormatError(
            f"{place} must have {spec.counts.get(label, 0)} samples of class {label!r}, not "
            f"{found[label]}."
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
        raw = _decompressed(raw, path)
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


def _decompressed(data: bytes, path: Path) -> bytes:
    try:
        with gzip.open(io.BytesIO(data)) as stream:
            raw = read_up_to(stream, MAX_BYTES)
    except (EOFError, OSError, zlib.error) as error:
        raise FileFormatError(f"{path}: not a whole gzip file: {error}.") from error
    if raw is None:
        raise FileFormatError(f"{path}: unpacks to more than the {MAX_BYTES >> 20} MiB read.")
    return raw
