"""Learners that take few classes on sets with many: our codes, and those of tabpfn-extensions.

    python -m pip install -c constraints.txt tabpfn-extensions   # for this benchmark alone
    python benchmarks/many_class.py --data FOLDER --out many.jsonl
    python benchmarks/many_class.py --out many.jsonl --report    # only print
    python benchmarks/many_class.py --smoke                      # seconds, without the package

`ManyClassClassifier` wraps learners capped at about ten classes, such as TabPFN, and takes any
classifier of scikit-learn. Everyone gets the same learner, splits and number of fits, which is
its default for the set. "legacy_rest" is its default code, "balanced_cluster" its other one;
"digits" is the number of the class in a mixed radix, repeated with other orders of the classes
until the fits are spent. It trains nothing in `fit` and everything in each `predict_proba`. Its
telemetry is switched off. Distances are least row distances, beside the averaging bound. Trees
are fully grown, boosting has 20 rounds and is otherwise scikit-learn's default, for every method.
At most 1000 rows are trained on and tested on. Both learners take about 20 minutes on one core.
How sure coupled probabilities are was chosen on other sets than these.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable
from math import comb
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier

from _study import Records, Split, print_table, splits
from ecoc.codes import Codebook, digits
from ecoc.datasets import make_toy
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.decoders import Coupling
from which_symbols import datasets

SETS = ("digits", "vowel", "soybean", "made-50", "made-100")
SYMBOLS = (3, 5, 10)
KEYS = ("set", "learner", "symbols", "method", "split")
LEARNERS: dict[str, Callable[[int], BaseEstimator]] = {
    "tree": lambda seed: DecisionTreeClassifier(random_state=seed),
    "boosting": lambda seed: HistGradientBoostingClassifier(max_iter=20, random_state=seed),
}
THEIRS = ("legacy_rest", "balanced_cluster")


def n_fits(n_classes: int, q: int) -> int:
    """How many fits `ManyClassClassifier` spends by default."""
    digits_needed = next(n for n in range(1, 99) if q**n >= n_classes)
    base = max(digits_needed, -(-n_classes // (q - 1)))
    return max(base, min(4 * base, max(base, 4 * digits_needed)))


def averaging_bound(n_classes: int, n_columns: int, q: int) -> int:
    """The largest least distance that balanced columns leave room for."""
    size, more = divmod(n_classes, q)
    apart = comb(n_classes, 2) - (q - more) * comb(size, 2) - more * comb(size + 1, 2)
    return n_columns * apart // comb(n_classes, 2)


def repeated_digits(n_classes: int, q: int, length: int, seed: int) -> Codebook:
    """The mixed radix code for several orders of the classes, side by side."""
    plain, generator = digits(n_classes, n_symbols=q).matrix, np.random.default_rng(seed)
    blocks = [plain]
    while sum(block.shape[1] for block in blocks) < length:
        blocks.append(plain[generator.permutation(n_classes)])
    return Codebook(
        np.hstack(blocks)[:, :length], n_symbols=q, allow_repeated_columns=True, name="digits"
    )


def classifier(learner: str, method: str, q: int, split: Split) -> tuple[Any, int]:
    """A classifier that is not trained, and the number of its fits."""
    base, n_classes = LEARNERS[learner](split.number), len(np.unique(split.y))
    length = n_fits(n_classes, q)
    if method in THEIRS:
        os.environ["TABPFN_DISABLE_TELEMETRY"] = "1"
        from tabpfn_extensions.many_class import ManyClassClassifier  # noqa: PLC0415

        theirs = ManyClassClassifier(
            base,
            alphabet_size=q,
            n_estimators=length,
            random_state=split.number,
            codebook_config=method,
        )
        return theirs, length
    code = "optimal" if method == "ours" else repeated_digits(n_classes, q, length, split.number)
    ours = ECOCClassifier(
        base, codebook=code, n_symbols=q, n_columns=length, random_state=split.number
    )
    return ours, length


def least_distance(model: Any) -> int:
    """The least distance of two rows of a trained model's code."""
    if isinstance(model, ECOCClassifier):
        return int(model.codebook_.min_row_distance)
    rows = np.asarray(model.code_book_).T
    apart = (rows[:, None, :] != rows[None, :, :]).sum(axis=2)
    return int(apart[np.triu_indices(len(rows), 1)].min())


def measure(records: Records, name: str, split: Split, learner: str, methods: list[str]) -> None:
    """Train and test every method on a split."""
    n_classes = len(np.unique(split.y))
    for q in SYMBOLS:
        if q >= n_classes:
            continue
        for method in methods:
            key = {"set": name, "learner": learner, "symbols": q, "method": method}
            if records.has(**key, split=split.number):
                continue
            model, length = classifier(learner, method, q, split)
            began = time.process_time()
            model.fit(split.X, split.y)
            fitted = time.process_time()
            shares = model.predict_proba(split.X_test)
            predicted = time.process_time()
            records.add(
                **key,
                split=split.number,
                accuracy=float(np.mean(model.classes_[shares.argmax(axis=1)] == split.y_test)),
                log_loss=float(log_loss(split.y_test, shares, labels=model.classes_)),
                fit_seconds=fitted - began,
                predict_seconds=predicted - fitted,
                n_fits=length,
                distance=least_distance(model),
                bound=averaging_bound(n_classes, length, q),
            )


def report(records: Records) -> None:
    """Means over splits, a table for each learner."""
    groups: dict[tuple[str, str, int, str], list[dict[str, Any]]] = {}
    for record in records.all:
        key = (record["learner"], record["set"], record["symbols"], record["method"])
        groups.setdefault(key, []).append(record)
    methods = list(dict.fromkeys(key[3] for key in groups))
    for learner in dict.fromkeys(key[0] for key in groups):
        print(f"\n{learner}: accuracy, log loss / seconds of fit + predict_proba / distance")
        rows, sums = [], {method: np.zeros(2) for method in methods}
        cells_of = {key[1:3] for key in groups if key[0] == learner}
        for name, q in sorted(cells_of):
            row: list[object] = [f"{name}, q={q}"]
            whole = [groups.get((learner, name, q, method)) for method in methods]
            for method, found in zip(methods, whole, strict=True):
                if found is None:
                    row.append("")
                    continue
                mean = {
                    field: float(np.mean([record[field] for record in found]))
                    for field in ("accuracy", "log_loss", "fit_seconds", "predict_seconds")
                }
                if None not in whole:
                    sums[method] += mean["accuracy"], mean["log_loss"]
                row.append(
                    f"{100 * mean['accuracy']:.1f} {mean['log_loss']:.2f} / "
                    f"{mean['fit_seconds']:.1f} + {mean['predict_seconds']:.2f} / "
                    f"{found[0]['distance']} of {found[0]['bound']}"
                )
            rows.append(row)
        count = sum("" not in row for row in rows)
        if count:
            rows.append(
                ["mean", *(f"{100 * a / count:.2f} {b / count:.3f}" for a, b in sums.values())]
            )
        print_table(["set", *methods], rows)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of data files (the variable ECOC_DATA)")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--learners", nargs="+", choices=list(LEARNERS), default=list(LEARNERS))
    parser.add_argument("--splits", type=int, default=2, help="random splits of each set")
    parser.add_argument("--out", help="file of records, JSON lines; goes on where it ends")
    parser.add_argument("--report", action="store_true", help="only print what --out holds")
    parser.add_argument("--smoke", action="store_true", help="seconds, on bundled data")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    records = Records(arguments.out, KEYS)
    methods, sets = ["ours", *THEIRS, "digits"], []
    # Compiled once on a machine: no part of what a prediction takes.
    Coupling(logistic=False)(np.full((1, 2, 3), 1 / 3), [[0, 0], [1, 1], [2, 2]])
    if arguments.smoke:
        sets, methods = [("toy", make_toy(20, 10, n_classes=8))], ["ours", "digits"]
        arguments.learners, arguments.splits = ["tree"], 1
    elif not arguments.report:
        sets = list(datasets(arguments.sets, arguments.data))
    for learner in arguments.learners:
        for name, data in sets:
            for split in splits(data, arguments.splits, 1000, 1000):
                measure(records, name, split, learner, methods)
                print(f"{learner}: {name}, split {split.number}", flush=True)
    report(records)


if __name__ == "__main__":
    main()
