"""What the benchmarks on data sets share: splits, records that survive a stop, and tables."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from ecoc.codes import Codebook
from ecoc.datasets import Dataset
from ecoc.multiclass import choose_codebook

TEST_SHARE = 0.3


@dataclass(frozen=True)
class Split:
    """A training and a test part, features scaled by the training part."""

    number: int
    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def splits(data: Dataset, count: int, max_train: int, max_test: int) -> Iterator[Split]:
    """Random splits, 70 to 30, stratified; the number of a split is its seed.

    Both parts are cut down to a most number of rows, which stay stratified because the rows
    that `StratifiedShuffleSplit` gives stand in random order.
    """
    for number in range(count):
        chooser = StratifiedShuffleSplit(1, test_size=TEST_SHARE, random_state=number)
        train, test = next(chooser.split(data.X, data.y))
        # A class that the cut would lose keeps its first sample.
        kept = np.union1d(train[:max_train], train[np.unique(data.y[train], return_index=True)[1]])
        scaler = StandardScaler().fit(data.X[kept])
        test = test[:max_test]
        yield Split(
            number,
            scaler.transform(data.X[kept]),
            data.y[kept],
            scaler.transform(data.X[test]),
            data.y[test],
        )


def code(
    name: str,
    split: Split,
    estimator: object,
    n_columns: int | None = None,
    *,
    seed: int = 0,
    n_symbols: int | str = 2,
) -> Codebook:
    """A codebook for the classes of a training part, its rows labelled by them.

    Labels let parts of the training data do without a class.
    """
    classes, targets = np.unique(split.y, return_inverse=True)
    chosen = choose_codebook(
        name,
        classes,
        estimator=estimator,
        n_columns=n_columns,
        n_symbols=n_symbols,
        random_state=seed,
        data=(split.X, targets),
    )
    return chosen.codebook.relabel(str(label) for label in classes)


class Records:
    """Measurements as lines of JSON; those that a file has already are not made again.

    Parameters
    ----------
    path : path or None
        The file; None keeps them in memory.
    keys : sequence of str
        The fields that tell one measurement from another.
    """

    def __init__(self, path: str | os.PathLike[str] | None, keys: Sequence[str]) -> None:
        self.path = None if path is None else Path(path)
        self.keys = tuple(keys)
        self.all: list[dict[str, Any]] = []
        if self.path is not None and self.path.is_file():
            lines = self.path.read_text(encoding="utf-8").splitlines(keepends=True)
            # The last line may have been cut off when the run was stopped.
            whole = [line for line in lines if line.endswith("\n")]
            self.all = [json.loads(line) for line in whole]
            if len(whole) < len(lines):
                self.path.write_text("".join(whole), encoding="utf-8")
        self._done = {self._key(record) for record in self.all}

    def _key(self, record: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(record[key] for key in self.keys)

    def has(self, **fields: object) -> bool:
        """Whether a measurement is there."""
        return self._key(fields) in self._done

    def add(self, **fields: object) -> None:
        """Keep a measurement."""
        self.all.append(fields)
        self._done.add(self._key(fields))
        if self.path is not None:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(fields) + "\n")


def corrected_t_test(differences: np.ndarray) -> float:
    """Two-sided p-value of paired differences over random splits of one data set.

    Splits overlap, so the variance of their mean is larger than that of independent
    measurements: by Nadeau & Bengio (2003) the factor 1/n becomes 1/n + n_test/n_train.
    Fewer than three splits say nothing.
    """
    n = len(differences)
    if n < 3 or not np.any(differences):
        return 1.0
    variance = np.var(differences, ddof=1)
    if variance == 0:
        return 0.0
    factor = 1 / n + TEST_SHARE / (1 - TEST_SHARE)
    t = np.mean(differences) / np.sqrt(variance * factor)
    return float(2 * stats.t.sf(abs(t), n - 1))


def print_table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table in Markdown, numbers with one decimal."""
    cells = [list(header)]
    cells += [[f"{c:.1f}" if isinstance(c, float) else str(c) for c in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    lines = [
        "| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |"
        for row in cells
    ]
    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    print("\n".join([lines[0], rule, *lines[1:]]))
