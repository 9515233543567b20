"""Time to fit and to predict: the columns of an RBF SVM that share their kernel, and others.

    python benchmarks/speed_classifier.py --data DIRECTORY    # MNIST, PCA to 25 features; minutes
    python benchmarks/speed_classifier.py --data DIRECTORY --train 5000 --test 5000
    python benchmarks/speed_classifier.py --digits            # scikit-learn's digits, thrice
    python benchmarks/speed_classifier.py --smoke             # scikit-learn's digits; seconds

DIRECTORY holds the files of MNIST, see `ecoc.datasets.load_dataset`. Everything runs on one
core, in turns, and times are those of the processor, so that a busy machine disturbs all of
them, and as little as may be. A ratio is the time of another classifier over ours in the same
turn: its median, and the smallest and largest of all turns.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.decomposition import PCA
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from ecoc import Codebook, design_codebook
from ecoc.datasets import load_dataset
from ecoc.errors import InvalidCodebookError
from ecoc.multiclass import ECOCClassifier

Array = npt.NDArray[Any]
N_FEATURES = 25
CODE_SIZE = 2


class PlainSVC(SVC):
    """An SVC that is not known to share its kernel, so that columns are trained one by one."""


@dataclass(frozen=True)
class Data:
    """Features and labels, to train with and to predict."""

    train: Array
    y_train: Array
    test: Array
    y_test: Array


@dataclass
class Times:
    """What a classifier took, turn by turn, and its accuracy."""

    fit: list[float] = field(default_factory=list)
    predict: list[float] = field(default_factory=list)
    accuracy: float = 0.0


def main() -> None:
    """Print the tables."""
    options = _parse()
    with threadpool_limits(1):
        data = _load(options)
        n_classes = len(np.unique(data.y_train))
        n_columns = CODE_SIZE * n_classes
        code, seconds = _timed(lambda: design_codebook(n_classes, n_columns).codebook)
        print(f"{len(data.train):,} to train, {len(data.test):,} to predict, ", end="")
        print(f"{data.train.shape[1]} features; {n_columns} columns, designed in {seconds:.2f} s")
        # Compiled before the clock runs.
        ECOCClassifier(SVC(), code).fit(data.train[:200], data.y_train[:200])
        scale = 1 / (data.train.shape[1] * data.train.var())
        for times in options.gamma:
            print(f"\ngamma = {times:g} x 'scale', {options.repeats} turns")
            _print_times(data, code, times * scale, options.repeats)
            _print_equality(data, times * scale, n_classes)


def _print_times(data: Data, code: Codebook, gamma: float, repeats: int) -> None:
    classifiers: dict[str, Callable[[], Any]] = {
        "ours, shared kernel": lambda: ECOCClassifier(SVC(gamma=gamma), code),
        "ours, column by column": lambda: ECOCClassifier(PlainSVC(gamma=gamma), code),
        "OutputCodeClassifier": lambda: OutputCodeClassifier(
            SVC(gamma=gamma), code_size=CODE_SIZE, random_state=0
        ),
        "OneVsRestClassifier": lambda: OneVsRestClassifier(SVC(gamma=gamma)),
        "OneVsOneClassifier": lambda: OneVsOneClassifier(SVC(gamma=gamma)),
        "SVC": lambda: SVC(gamma=gamma),
    }
    results = {name: Times() for name in classifiers}
    for _ in range(repeats):
        for name, make in classifiers.items():
            model, seconds = _timed(lambda make=make: make().fit(data.train, data.y_train))
            results[name].fit.append(seconds)
            labels, seconds = _timed(lambda model=model: model.predict(data.test))
            results[name].predict.append(seconds)
            results[name].accuracy = float(np.mean(labels == data.y_test))
    ours = next(iter(results.values()))
    print(_line("", "accuracy", "fit, s", "over ours", "predict, s", "over ours"))
    for name, result in results.items():
        print(
            _line(
                *(name, f"{result.accuracy:.2%}"),
                *(f"{statistics.median(result.fit):.2f}", _ratio(result.fit, ours.fit)),
                f"{statistics.median(result.predict):.3f}",
                _ratio(result.predict, ours.predict),
            ),
            flush=True,
        )


def _print_equality(data: Data, gamma: float, n_classes: int) -> None:
    """Compare labels with those of OutputCodeClassifier for its own code and decoding."""
    for seed in range(1000):
        other = OutputCodeClassifier(SVC(gamma=gamma), code_size=CODE_SIZE, random_state=seed)
        # The first numbers that it draws are its code; a random code may be none of ours.
        draws = np.random.RandomState(seed).uniform(size=(n_classes, CODE_SIZE * n_classes))
        try:
            code = Codebook(np.where(draws > 0.5, 1, -1))
            break
        except InvalidCodebookError:
            continue
    else:
        raise RuntimeError("No random code without equal or constant columns was found.")
    theirs = other.fit(data.train, data.y_train)
    if not np.array_equal(np.where(theirs.code_book_ > 0, 1, -1), code.matrix):
        raise RuntimeError("OutputCodeClassifier draws its code in another way.")
    ours = ECOCClassifier(SVC(gamma=gamma), code, decoding="euclidean")
    same = ours.fit(data.train, data.y_train).predict(data.test) == theirs.predict(data.test)
    print(f"with the code and decoding of OutputCodeClassifier (seed {seed}): ", end="")
    print(f"{np.count_nonzero(same):,} of {len(same):,} labels are the same", flush=True)


def _load(options: argparse.Namespace) -> Data:
    """The data set; all but the digits are reduced to their first principal components."""
    if options.digits:
        return _noisy_digits()
    if options.smoke:
        data, splits = load_dataset("digits"), (slice(300), slice(300, 400))
    else:
        data = load_dataset("mnist", data=options.data)
        first = data.n_train or 0
        splits = slice(min(options.train, first)), slice(first, first + options.test)
    train, test = (data.X[split] / data.X.max() for split in splits)
    pca = PCA(N_FEATURES, random_state=0).fit(train)
    return Data(pca.transform(train), data.y[splits[0]], pca.transform(test), data.y[splits[1]])


def _noisy_digits() -> Data:
    """Every image of the digits three times with noise: 2,700 to train, the others to predict."""
    data, rng = load_dataset("digits"), np.random.default_rng(0)
    images = (
        np.concatenate([data.X + rng.normal(0, 1, data.X.shape) for _ in range(3)]) / data.X.max()
    )
    y = np.tile(data.y, 3)
    order = rng.permutation(len(y))
    first, rest = order[:2700], order[2700:]
    return Data(images[first], y[first], images[rest], y[rest])


def _timed(function: Callable[[], Any]) -> tuple[Any, float]:
    start = time.process_time()
    result = function()
    return result, time.process_time() - start


def _ratio(others: list[float], ours: list[float]) -> str:
    ratios = [other / our for other, our in zip(others, ours, strict=True)]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} .. {max(ratios):.2f})"


def _line(name: str, *cells: str) -> str:
    return f"{name:<24}" + "".join(
        f"{cell:>{width}}" for cell, width in zip(cells, WIDTHS, strict=True)
    )


WIDTHS = (10, 9, 26, 12, 26)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", help="the directory of MNIST; ECOC_DATA by default")
    parser.add_argument("--train", type=int, default=10_000, help="samples to train with")
    parser.add_argument("--test", type=int, default=10_000, help="samples to predict")
    parser.add_argument("--repeats", type=int, default=3, help="turns of all classifiers")
    parser.add_argument(
        "--gamma", type=float, nargs="+", default=[1, 4], help="multiples of gamma='scale'"
    )
    parser.add_argument("--digits", action="store_true", help="the digits instead of MNIST")
    parser.add_argument("--smoke", action="store_true", help="a small data set, one turn")
    options = parser.parse_args()
    if options.smoke:
        options.repeats, options.gamma = 1, [1]
    return options


if __name__ == "__main__":
    main()
