"""What tables are measured with: a workspace, samples, codebooks, SVMs, standard errors."""

# ruff: noqa: N803  # X is what scikit-learn calls it

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice
from ecoc._typing import Floats
from ecoc.codes import Codebook, dense_random, one_vs_one, one_vs_rest, sparse_random
from ecoc.datasets import Dataset, load_dataset
from ecoc.errors import InfeasibleError

__all__ = [
    "ALWAYS_THERE",
    "CODEBOOK_TITLES",
    "PAPER_CODEBOOKS",
    "SCALES",
    "Measurement",
    "Samples",
    "Workspace",
    "accuracies",
    "draw",
    "fit",
    "paper_codebook",
    "paper_decoding",
    "proportion_error",
    "silent",
    "summarise",
]


PAPER_CODEBOOKS = ("ip3", "dense", "sparse", "one-vs-all", "one-vs-one")
"""Their names, in the order of the paper."""

CODEBOOK_TITLES = {
    "ip3": "IP3",
    "dense": "Dense",
    "sparse": "Sparse",
    "one-vs-all": "1-vs-all",
    "one-vs-one": "1-vs-1",
    "exhaustive": "Exhaustive",
    "multiclass": "Multiclass",
    "ip3-ibp": "IP3, trained with bounds",
}
"""What readers are shown."""


@cache
def paper_codebook(name: str, n_classes: int, n_columns: int, seed: int = 0) -> Codebook:
    """A codebook as in the paper's comparisons.

    Parameters
    ----------
    name : {"ip3", "dense", "sparse", "one-vs-all", "one-vs-one"}
        ``"ip3"`` is the optimal code with columns at least k/3 apart, as in Table 1; dense
        and sparse are the best of 10,000 random ones; where none of so many sparse ones is
        valid, as for 10 x 10, of ten or a hundred times as many.
    n_classes, n_columns : int
        Its size; one-vs-all and one-vs-one have the columns that they have.
    seed : int, default=0
        For the random ones and the search.

    Examples
    --------
    >>> paper_codebook("ip3", 10, 20).min_row_distance
    10
    >>> paper_codebook("one-vs-one", 10, 20).n_columns
    45
    """
    check_choice("name", name, PAPER_CODEBOOKS)
    if name == "one-vs-all":
        return one_vs_rest(n_classes)
    if name == "one-vs-one":
        return one_vs_one(n_classes)
    if name == "dense":
        return dense_random(n_classes, n_columns, random_state=seed)
    if name == "sparse":
        return _sparse(n_classes, n_columns, seed)
    from ecoc.design import design_codebook

    design = design_codebook(
        n_classes, n_columns, min_column_distance=max(1, n_classes // 3), random_state=seed
    )
    assert design.codebook is not None  # noqa: S101  # without a limit of time there is one
    return design.codebook


def _sparse(n_classes: int, n_columns: int, seed: int) -> Codebook:
    for candidates in (10_000, 100_000):
        with suppress(InfeasibleError):
            return sparse_random(n_classes, n_columns, n_candidates=candidates, random_state=seed)
    return sparse_random(n_classes, n_columns, n_candidates=1_000_000, random_state=seed)


SCALES = ("smoke", "quick", "full")
"""Seconds on stand-ins for the data; minutes on stated subsets; the paper's sizes."""

ALWAYS_THERE = ("toy", "digits")
"""The data sets that need no file."""


def silent(message: object) -> None:
    """Say nothing."""


@dataclass(frozen=True)
class Samples:
    """Training and test samples, and which they are.

    Attributes
    ----------
    X_train, y_train, X_test, y_test : array
        The samples and their classes.
    subset : str
        In words, which part of which data set they are.
    """

    X_train: npt.NDArray[Any]
    y_train: npt.NDArray[Any]
    X_test: npt.NDArray[Any]
    y_test: npt.NDArray[Any]
    subset: str

    @property
    def sizes(self) -> dict[str, int]:
        """The numbers of training and test samples."""
        return {"train": len(self.y_train), "test": len(self.y_test)}


@dataclass(frozen=True)
class Measurement:
    """What was measured for a cell; the fields are those of a record.

    Examples
    --------
    >>> Measurement({"best": 10}).subset
    'complete'
    """

    measured: Mapping[str, Any]
    standard_errors: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, Any] = field(default_factory=dict)
    subset: str = "complete"
    note: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Workspace:
    """The folder, scale, seed and data sets of a measurement.

    Attributes
    ----------
    folder : path
        Where designs and trained networks are kept between cells and runs.
    scale : {"smoke", "quick", "full"}
        Which sizes to use.
    seed : int
        What everything random starts from.
    jobs : int, optional
        How much runs at the same time, as joblib understands it.
    data : path, optional
        The folder of data files.
    say : callable
        Called with a line about what goes on.
    """

    folder: Path
    scale: str = "quick"
    seed: int = 0
    jobs: int | None = None
    data: str | os.PathLike[str] | None = None
    say: Callable[[str], object] = silent
    _loaded: dict[str, Dataset] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_choice("scale", self.scale, SCALES)

    def pick(self, smoke: Any, quick: Any, full: Any) -> Any:
        """The value for the scale.

        Examples
        --------
        >>> Workspace(Path("results"), "full").pick(1, 2, 3)
        3
        """
        return {"smoke": smoke, "quick": quick, "full": full}[self.scale]

    def dataset(self, name: str) -> Dataset:
        """A data set; at the scale smoke, digits stand in for what needs files."""
        if self.scale == "smoke" and name not in ALWAYS_THERE:
            name = "digits"
        if name not in self._loaded:
            self._loaded[name] = load_dataset(name, data=self.data)
        return self._loaded[name]

    def path(self, *parts: str) -> Path:
        """A place in the folder, whose parent is made."""
        place = self.folder.joinpath(*parts)
        place.parent.mkdir(parents=True, exist_ok=True)
        return place


def draw(
    dataset: Dataset, n_train: int | None, n_test: int | None, seed: int, *, stands_for: str = ""
) -> Samples:
    """Draw some training and test samples, each from its customary part; None is all.

    Sets without a customary split are cut, after shuffling, at seven tenths.

    Examples
    --------
    >>> drawn = draw(load_dataset("toy"), 50, None, 0)
    >>> drawn.subset
    '50 of 1,000 training samples (seed 0), all 1,000 test samples of toy'
    """
    rng = np.random.default_rng(seed)
    if dataset.n_train is None:
        order = rng.permutation(len(dataset.y))
        parts = np.split(order, [round(0.7 * len(order))])
    else:
        parts = np.split(np.arange(len(dataset.y)), [dataset.n_train])
    chosen, told = [], []
    for part, wanted, what in zip(parts, (n_train, n_test), ("training", "test"), strict=True):
        some = wanted is not None and wanted < len(part)
        chosen.append(np.sort(rng.choice(part, wanted, replace=False)) if some else part)
        told.append(
            f"{wanted:,} of {len(part):,} {what} samples (seed {seed})"
            if some
            else f"all {len(part):,} {what} samples"
        )
    stand_in = stands_for not in {"", dataset.name}
    subset = f"{', '.join(told)} of {dataset.name}"
    train, test = chosen
    return Samples(
        dataset.X[train],
        dataset.y[train],
        dataset.X[test],
        dataset.y[test],
        f"{subset}, standing in for {stands_for}" if stand_in else subset,
    )


def summarise(
    repetitions: Sequence[Mapping[str, float]], *, test_share: float | None = None
) -> tuple[dict[str, float], dict[str, float]]:
    """The mean of every value over repetitions, and its standard error.

    Parameters
    ----------
    repetitions : sequence of mappings
        The same names in each.
    test_share : float, optional
        For random splits of one data set: the samples that are tested divided by those that
        are trained on. Training sets that overlap make errors look too small; this is the
        correction of Nadeau & Bengio (2003).

    Examples
    --------
    >>> summarise([{"a": 1.0}, {"a": 3.0}])
    ({'a': 2.0}, {'a': 1.0})
    >>> summarise([{"a": 1.0}, {"a": 3.0}], test_share=1.5)
    ({'a': 2.0}, {'a': 2.0})
    """
    n = len(repetitions)
    means, errors = {}, {}
    for name in repetitions[0]:
        values = np.array([repetition[name] for repetition in repetitions])
        means[name] = round(float(values.mean()), 3)
        if n > 1:
            variance = float(values.var(ddof=1)) * (1 / n + (test_share or 0.0))
            errors[name] = round(math.sqrt(variance), 3)
    return means, errors


def proportion_error(percent: float, n: int) -> float:
    """The standard error of a percentage of `n` independent samples.

    It is half the width of Wilson's interval for one standard deviation, which does not
    shrink to nothing where all samples, or none, are counted.

    Examples
    --------
    >>> proportion_error(50, 100), proportion_error(0, 100)
    (4.975, 0.495)
    """
    share = percent / 100
    return round(100 * math.sqrt(share * (1 - share) / n + 1 / (4 * n * n)) / (1 + 1 / n), 3)


def paper_decoding(scores: Floats, matrix: Floats) -> Floats:
    """Minus the Hamming distances of equations 1 and 2, from the labels of columns alone.

    Codewords at the same distance are not told apart: the first class wins, as in an argmin.

    Examples
    --------
    >>> code = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    >>> paper_decoding(np.array([[-0.9, -0.1, -0.8]]), code)
    array([[-1., -1., -1.]])
    """
    minus_distances: Floats = (np.where(scores > 0, 1, -1) @ matrix.T - matrix.shape[1]) / 2
    return minus_distances


_DECODINGS = {
    "accuracy": paper_decoding,
    "accuracy_ties": "hamming",
    "accuracy_auto": "auto",
}
"""The paper's; the same with ties broken by the scores; and what ECOCClassifier takes."""


def fit(learner: Any, codebook: Codebook, samples: Samples, jobs: int | None = None) -> Any:
    """An ECOCClassifier of the training samples."""
    from ecoc.multiclass import ECOCClassifier

    model = ECOCClassifier(learner, codebook=codebook, n_jobs=jobs)
    return model.fit(samples.X_train, samples.y_train)


def accuracies(model: Any, X: Any, y: Any) -> dict[str, float]:
    """Accuracies in per cent on the same column scores, one for each decoding.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from ecoc.codes import one_vs_rest
    >>> from ecoc.datasets import load_dataset
    >>> from ecoc.paper.measuring import draw
    >>> samples = draw(load_dataset("toy"), 200, 200, 0)
    >>> sorted(accuracies(fit(SVC(), one_vs_rest(10), samples), samples.X_test, samples.y_test))
    ['accuracy', 'accuracy_auto', 'accuracy_ties']
    """
    from ecoc.multiclass.columns import score_method
    from ecoc.multiclass.decoders import make_decoder

    scores = model.column_scores(X)
    method = score_method(model.estimator)
    measured = {}
    for name, decoding in _DECODINGS.items():
        decoder = make_decoder(decoding, model.codebook_, method)
        chosen = decoder(scores, model.codebook_.matrix).argmax(axis=1)
        measured[name] = round(100 * float((model.classes_[chosen] == y).mean()), 3)
    return measured
