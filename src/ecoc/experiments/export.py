"""Data sets as CSV files, for ``ecoc fit`` and for other programs."""

from __future__ import annotations

import csv
import io

from ecoc.experiments.datasets import Dataset

__all__ = ["dataset_csv"]


def dataset_csv(dataset: Dataset) -> str:
    """The table of a data set: a line of names, the features, and the label as ``class``.

    Parameters
    ----------
    dataset : Dataset
        What :func:`ecoc.experiments.load_dataset` returned.

    Examples
    --------
    >>> from ecoc.experiments import load_dataset
    >>> dataset_csv(load_dataset("toy")).splitlines()[0]
    'x1,x2,class'
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*dataset.feature_names, "class"])
    for values, label in zip(dataset.X.tolist(), dataset.y.tolist(), strict=True):
        writer.writerow([*map(_shortest, values), label])
    return stream.getvalue()


def _shortest(value: float) -> str:
    """A number that reads back as itself, whole ones without a point."""
    return str(int(value)) if value == int(value) else repr(value)
