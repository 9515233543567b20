"""How near every prefix of a nested codebook is to its bound, and what classes added later cost.

    python benchmarks/nested.py                        # prefixes; some minutes on one core
    python benchmarks/nested.py --classes --data DIR   # new classes on digits and vowel
    python benchmarks/nested.py --smoke                # seconds

Prefixes: k classes and 2k columns. Beside the nested design stand columns that are added one by
one, each the best that local search finds for the columns before it (the way of Gupta & Amin,
NeurIPS 2022), and the columns of the optimal code in random order, mean of ten. A share is the sum
of the prefixes' distances over the sum of their bounds; a gap is the largest difference of one.

Classes: a model of all classes but two is given these two, and all, half, a quarter or none of its
columns are trained again. Five pairs of classes, half of the samples for training.
"""

# ruff: noqa: N803, N806  # X is what scikit-learn calls it
from __future__ import annotations

import argparse
import copy
import time

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from ecoc import Codebook, ECOCClassifier, design_codebook
from ecoc.datasets import load_dataset
from ecoc.design import _prefixes

CLASSES = (5, 8, 10, 12, 16, 20, 26, 32, 40, 50, 64)


def one_by_one(k: int, n_columns: int) -> Codebook:
    """Columns that are added one after the other, each the best for those before it."""
    matrix = np.zeros((k, n_columns), dtype=np.int8)
    sizes = np.ones(k, dtype=np.int64)
    limits = -(k - 2), k - 2, sizes, k - 1
    n_columns = _prefixes.grow(matrix, 0, n_columns, 2, 3.0, 20, *limits, 0)
    return Codebook(1 - 2 * matrix[:, :n_columns])


def compare(k: int) -> None:
    """Print the line of a number of classes."""
    began = time.perf_counter()
    design = design_codebook(k, 2 * k, nested=True, random_state=0)
    seconds = time.perf_counter() - began
    bounds = np.array([prefix.bound for prefix in design.prefixes])
    first = design.problem.first_prefix - 1

    def judged(codebook: Codebook) -> tuple[float, int]:
        reached = codebook.prefix_distances()[first:]
        # Columns that are missing bring nothing.
        reached = np.pad(reached, (0, max(0, len(bounds) - len(reached))), mode="edge")
        short = bounds - reached[: len(bounds)]
        return 1 - short.sum() / bounds.sum(), int(short.max())

    best = design_codebook(k, 2 * k, random_state=0).codebook
    generator = np.random.default_rng(0)
    orders = [
        judged(best.take_columns(generator.permutation(best.n_columns).tolist())) for _ in range(10)
    ]
    nested, grown = judged(design.codebook), judged(one_by_one(k, len(bounds) + first))
    met = sum(prefix.distance == prefix.bound for prefix in design.prefixes)
    last = design.prefixes[-1]
    print(
        f"{k:>3} {2 * k:>4}  {100 * nested[0]:>6.1f} {nested[1]:>4}  {met:>3} of {len(bounds):>3}"
        f"  {last.distance:>3} of {last.bound:>3}  {100 * grown[0]:>6.1f} {grown[1]:>4}"
        f"  {100 * np.mean([share for share, _ in orders]):>6.1f}"
        f" {np.mean([gap for _, gap in orders]):>5.1f}  {seconds:>7.1f}",
        flush=True,
    )


def add_classes(name: str, X: np.ndarray, y: np.ndarray, n_pairs: int) -> None:
    """Print the accuracy of models to which two classes were added."""
    labels = np.unique(y)
    for learner in (DecisionTreeClassifier(random_state=0), SVC()):
        n_columns = 2 * (len(labels) - 2)
        results: dict[str, list[tuple[float, float]]] = {}
        for pair in range(n_pairs):
            new = labels[2 * pair : 2 * pair + 2]
            train, test, y_train, y_test = train_test_split(
                X, y, test_size=0.5, stratify=y, random_state=0
            )
            scaler = StandardScaler().fit(train)
            train, test = scaler.transform(train), scaler.transform(test)
            known = ~np.isin(y_train, new)
            later = np.isin(y_test, new)
            settings = {"codebook": "optimal", "n_columns": n_columns, "random_state": 0}
            model = ECOCClassifier(learner, **settings).fit(train[known], y_train[known])
            models = {
                f"{count} of {n_columns}": copy.deepcopy(model).add_classes(
                    train, y_train, retrain=count
                )
                for count in (0, n_columns // 4, n_columns // 2, n_columns)
            }
            models["fitted anew"] = ECOCClassifier(learner, **settings).fit(train, y_train)
            for way, grown in models.items():
                right = grown.predict(test) == y_test
                results.setdefault(way, []).append((right.mean(), right[later].mean()))
        for way, values in results.items():
            whole, of_new = np.mean(values, axis=0)
            print(
                f"{name:<7} {type(learner).__name__:<23} {way:<12} {100 * whole:>5.1f} "
                f"{100 * of_new:>5.1f}",
                flush=True,
            )


def main() -> None:
    """Measure what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--classes", action="store_true", help="add classes to fitted models")
    parser.add_argument("--data", help="the folder of vowel.csv")
    parser.add_argument("--smoke", action="store_true", help="small settings")
    args = parser.parse_args()
    if args.smoke or not args.classes:
        print("  k    L  nested  gap  at bound   all columns  by one  gap  random   gap  seconds")
        for k in (5,) if args.smoke else CLASSES:
            compare(k)
    if args.smoke or args.classes:
        print("data    learner                 trained      all   new")
        X, y = load_digits(return_X_y=True)
        if args.smoke:
            few = y < 7
            add_classes("digits", X[few][:300], y[few][:300], 1)
            return
        add_classes("digits", X, y, 5)
        vowel = load_dataset("vowel", data=args.data)
        add_classes("vowel", np.asarray(vowel.X), np.asarray(vowel.y), 5)


if __name__ == "__main__":
    main()
