"""How many symbols a code should have: accuracy by learner, length and number of symbols.

    python benchmarks/which_symbols.py --data FOLDER --out symbols.jsonl    # many hours
    python benchmarks/which_symbols.py --data FOLDER --learners tree --lengths 20
    python benchmarks/which_symbols.py --out symbols.jsonl --report         # only print
    python benchmarks/which_symbols.py --data FOLDER --networks             # heads on MNIST
    python benchmarks/which_symbols.py --smoke                              # seconds

Every classifier sees the same random splits, 70 to 30, stratified, of at most 1000 rows for
training and 1000 for testing, standardised by the training part. Slow learners (k-NN, logistic
regression, SVM, boosting) are tested on 500 rows. Codes are those of design_codebook, with five
seconds for each. "plain" is the learner itself, and "forest" a random
forest with as many trees as the code has columns. Learners are as scikit-learn has them, untuned;
"random tree" looks at the root of the number of features at each branch. `--symbols 0` is what
codebook="auto" takes. Records go to a file (--out), and a run that was stopped goes on where it
was.

Networks (--networks): 20 heads of q symbols on a shared trunk of two convolutions and 128
features, 10,000 images of MNIST, 5 epochs, cross-entropy of every column, decoded by the sum of
log-probabilities; beside them one head of ten classes, which is the usual network.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from _study import Records, Split, print_table, splits
from ecoc.codes import Codebook
from ecoc.datasets import Dataset, load_dataset, make_toy
from ecoc.design import design_codebook
from ecoc.multiclass import ECOCClassifier

SETS = ("glass", "ecoli", "yeast", "vowel", "segment", "pendigits", "digits", "soybean")
MADE = {"made-50": 50, "made-100": 100}
KEYS = ("set", "learner", "length", "method", "split")
SYMBOLS = (2, 3, 4, 5, 8, 16, 25)
LENGTHS = ("20", "100", "2k")
LEARNERS: dict[str, Callable[[int], BaseEstimator]] = {
    "tree": lambda seed: DecisionTreeClassifier(random_state=seed),
    # Without a seed: the classifier gives every column another one.
    "random tree": lambda _: DecisionTreeClassifier(max_features="sqrt"),
    "naive bayes": lambda _: GaussianNB(),
    "k-nn": lambda _: KNeighborsClassifier(),
    "logistic": lambda _: LogisticRegression(max_iter=300),
    "svm": lambda _: SVC(),
    "boosting": lambda seed: HistGradientBoostingClassifier(max_iter=30, random_state=seed),
}
SLOW = {"k-nn", "logistic", "svm", "boosting"}
"""Learners that have fewer rows to test on."""


def datasets(names: list[str], folder: str | None) -> Iterator[tuple[str, Dataset]]:
    """The data sets, those that are made among them."""
    for name in names:
        if name in MADE:
            yield name, made(MADE[name])
        else:
            yield name, load_dataset(name, data=folder)


def made(n_classes: int) -> Dataset:
    """Clusters of many classes in 20 features, 12 of which matter; the same every time."""
    features, labels = make_classification(
        n_samples=40 * n_classes,
        n_features=20,
        n_informative=12,
        n_redundant=4,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=0,
    )
    names = tuple(f"x{place}" for place in range(features.shape[1]))
    return Dataset(f"made-{n_classes}", features, labels, names, "made", "Clusters of many classes")


def classifier(learner: str, method: str, length: int, n_classes: int, seed: int) -> BaseEstimator:
    """A classifier that is not trained."""
    base = LEARNERS[learner](seed)
    if method == "plain":
        return base.set_params(random_state=seed) if "tree" in learner else base
    if method == "forest":
        return RandomForestClassifier(length, random_state=seed)
    if method == "auto":
        return ECOCClassifier(base, n_columns=length, random_state=seed)
    return ECOCClassifier(base, codebook=code(n_classes, length, int(method)), random_state=seed)


@cache
def code(n_classes: int, n_columns: int, q: int) -> Codebook:
    """The best code that is found within some seconds, the same for all learners and splits."""
    design = design_codebook(n_classes, n_columns, n_symbols=q, time_limit=5, random_state=0)
    if design.codebook is None:
        raise SystemExit(f"no code of {n_classes} classes, {n_columns} columns, {q} symbols")
    return design.codebook


def measure(  # noqa: PLR0917
    records: Records,
    name: str,
    split: Split,
    learner: str,
    lengths: list[str],
    numbers: list[int],
) -> None:
    """Train and test every method on a split."""
    n_classes = len(np.unique(split.y))
    for length in lengths:
        n_columns = 2 * n_classes if length == "2k" else int(length)
        methods = [str(q) for q in numbers if q == 2 or (q and q <= n_classes // 2)]
        methods += ["auto"] if 0 in numbers else []
        for method in ("plain", "forest", *methods):
            key = {
                "set": name,
                "learner": "-" if method == "forest" else learner,
                "length": "-" if method == "plain" else length,
                "method": method,
                "split": split.number,
            }
            if records.has(**key):
                continue
            same = [other for other in lengths if other == str(n_columns)]
            if length == "2k" and same:
                twin = key | {"length": same[0]}
                if records.has(**twin):
                    held = next(r for r in records.all if twin.items() <= r.items())
                    records.add(**held | key)
                    continue
            model = classifier(learner, method, n_columns, n_classes, split.number)
            began = time.process_time()
            model.fit(split.X, split.y)
            fitted = time.process_time()
            accuracy = float(np.mean(model.predict(split.X_test) == split.y_test))
            loss = None
            if hasattr(model, "predict_proba"):
                shares = model.predict_proba(split.X_test)
                loss = float(log_loss(split.y_test, shares, labels=model.classes_))
            records.add(
                **key,
                accuracy=accuracy,
                log_loss=loss,
                fit_seconds=fitted - began,
                predict_seconds=time.process_time() - fitted,
            )


def report(records: Records) -> None:
    """Mean accuracies over splits, a table for each learner and length."""
    values: dict[tuple[str, str, str, str], list[float]] = {}
    for record in records.all:
        key = (record["learner"], record["length"], record["set"], record["method"])
        values.setdefault(key, []).append(100 * record["accuracy"])
    means = {key: float(np.mean(found)) for key, found in values.items()}
    learners = [name for name in LEARNERS if any(key[0] == name for key in means)]
    sets = list(dict.fromkeys(key[2] for key in means))
    for learner in learners:
        for length in LENGTHS:
            held = {key[2:] for key in means if key[:2] == (learner, length)}
            names = (*map(str, SYMBOLS), "auto")
            columns = [m for m in names if any(method == m for _, method in held)]
            rows = []
            for name in sets:
                cells = [means.get((learner, length, name, m)) for m in columns]
                if any(cell is not None for cell in cells):
                    plain = means.get((learner, "-", name, "plain"))
                    rows.append([name, plain, means.get(("-", length, name, "forest")), *cells])
            if not rows:
                continue
            print(f"\n{learner}, {length} columns")
            shown = [["" if cell is None else cell for cell in row] for row in rows]
            full = [row[1:] for row in rows if None not in row]
            if full:
                mean = np.mean(full, axis=0).tolist()
                shown.append([f"mean of {len(full)} with all", *mean])
            heads = [m if m == "auto" else f"q={m}" for m in columns]
            print_table(["set", "plain", "forest", *heads], shown)


def heads_on_mnist(folder: str | None, n_seeds: int) -> None:
    """Accuracy of heads of several symbols on a shared trunk, and of one head of all classes."""
    import torch  # noqa: PLC0415  # nothing else here needs it
    from torch import nn  # noqa: PLC0415

    torch.set_num_threads(1)
    data = load_dataset("mnist", data=folder)
    rows = np.random.default_rng(0).permutation(60_000)[:10_000]
    pixels, y = images(torch, data.X[rows]), data.y[rows].astype(np.int64)
    test, y_test = images(torch, data.X[60_000:]), data.y[60_000:].astype(np.int64)
    one_head = np.arange(10)[:, None]
    codes = {f"q={q}": (code(10, 20, q).matrix, q) for q in (2, 4, 10)} | {"one": (one_head, 10)}
    table = []
    for name, (matrix, q) in codes.items():
        # The sides -1 and +1 are the symbols 0 and 1.
        symbols = torch.from_numpy((matrix > 0 if q == 2 else matrix).astype(np.int64))
        accuracies = []
        for seed in range(n_seeds):
            torch.manual_seed(seed)
            trunk = (
                *(nn.Conv2d(1, 16, 5, stride=2), nn.ReLU(), nn.Conv2d(16, 32, 5, stride=2)),
                *(nn.ReLU(), nn.Flatten(), nn.Linear(512, 128), nn.ReLU()),
            )
            network = nn.Sequential(*trunk, nn.Linear(128, matrix.shape[1] * q))
            optimiser = torch.optim.Adam(network.parameters(), lr=2e-3)
            for _ in range(5):
                for batch in torch.randperm(len(pixels)).split(100):
                    answers = network(pixels[batch]).reshape(-1, q)
                    loss = nn.functional.cross_entropy(answers, symbols[y[batch]].flatten())
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
            with torch.no_grad():
                logs = network(test).reshape(len(test), -1, q).log_softmax(dim=2)
                chosen = nn.functional.one_hot(symbols, q).to(logs.dtype)
                decided = torch.einsum("nlq,klq->nk", logs, chosen).argmax(dim=1).numpy()
            accuracies.append(100 * float(np.mean(decided == y_test)))
        table.append([name, matrix.shape[1], f"{np.mean(accuracies):.2f}", np.ptp(accuracies)])
        print(name, accuracies, flush=True)
    print_table(["heads", "columns", "accuracy", "range"], table)


def images(torch: object, pixels: np.ndarray) -> object:
    """Pixels from 0 to 1 as a network takes them."""
    values = torch.from_numpy(np.asarray(pixels, dtype=np.float32))  # type: ignore[attr-defined]
    return (values / values.max()).reshape(-1, 1, 28, 28)


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of data files (the variable ECOC_DATA)")
    parser.add_argument("--sets", nargs="+", default=[*SETS, *MADE])
    parser.add_argument("--learners", nargs="+", choices=list(LEARNERS), default=list(LEARNERS))
    parser.add_argument("--lengths", nargs="+", choices=LENGTHS, default=list(LENGTHS))
    parser.add_argument(
        "--symbols", nargs="+", type=int, default=list(SYMBOLS), help="0 is codebook='auto'"
    )
    parser.add_argument("--splits", type=int, default=2, help="random splits of each set")
    parser.add_argument("--out", help="file of records, JSON lines; goes on where it ends")
    parser.add_argument("--report", action="store_true", help="only print what --out holds")
    parser.add_argument("--networks", action="store_true", help="only heads on MNIST")
    parser.add_argument("--smoke", action="store_true", help="seconds, on bundled data")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # tiny classes, learners that do not converge
    if arguments.networks:
        heads_on_mnist(arguments.data, max(arguments.splits, 3))
        return
    records = Records(arguments.out, KEYS)
    sets: list[tuple[str, Dataset]] = []
    if arguments.smoke:
        sets = [("toy", make_toy(20, 10, n_classes=8))]
        arguments.learners, arguments.lengths, arguments.splits = ["tree"], ["20"], 1
    elif not arguments.report:
        sets = list(datasets(arguments.sets, arguments.data))
    # Learner by learner over all sets, so that a run that is stopped has tables.
    for learner in arguments.learners:
        for name, data in sets:
            for split in splits(data, arguments.splits, 1000, 500 if learner in SLOW else 1000):
                measure(records, name, split, learner, arguments.lengths, arguments.symbols)
                print(f"{learner}: {name}, split {split.number}", flush=True)
    report(records)


if __name__ == "__main__":
    main()
