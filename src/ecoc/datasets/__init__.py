"""Named data sets, checked to be what their names say."""

from ecoc.datasets.loading import (
    DATASETS,
    Dataset,
    DatasetNotFoundError,
    dataset_csv,
    load_dataset,
    make_toy,
)

__all__ = [
    "DATASETS",
    "Dataset",
    "DatasetNotFoundError",
    "dataset_csv",
    "load_dataset",
    "make_toy",
]
