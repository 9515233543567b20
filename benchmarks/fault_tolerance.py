"""What error correction is for: accuracy when columns fail after training.

    python benchmarks/fault_tolerance.py --data FOLDER --out faults.jsonl --plot faults.png
    python benchmarks/fault_tolerance.py --data FOLDER --quick   # 1 split, at most 500 rows
    python benchmarks/fault_tolerance.py --smoke                 # seconds, no outside data

RBF SVMs (C = 10, gamma = 1/n_features, features standardised) are the columns of every code.
Then 10 to 40 % of the columns fail, at least one, drawn at random ten times for each split:

    flipped  every answer is the opposite
    random   confidences stay, sides are drawn by a coin
    stuck    one side for every sample, chosen by a coin, at the mean confidence
    lost     no answer; the column is declared missing and decoded as an erasure

and, apart from that, each single column is flipped, of which the worst is reported. Splits
are random, stratified, 70 to 30, with at most 1500 rows for training and 3000 for testing.
Decoders are those that decoding="auto" takes, unless a line of a table names another.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.svm import SVC

from _study import Records, Split, code, print_table, splits
from ecoc.codes import Codebook, make_code
from ecoc.datasets import load_dataset
from ecoc.design import design_codebook
from ecoc.multiclass import ECOCClassifier
from ecoc.multiclass.decoders import Decoder, Hamming, LossBased, SelfHealing

SETS = ("glass", "ecoli", "yeast", "vowel", "segment", "pendigits", "soybean", "digits")
SHARES = (0.1, 0.2, 0.3, 0.4)
FAILURES = ("flipped", "random", "stuck", "lost")
KEYS = ("set", "split", "code", "decoding", "failure", "share")
N_DRAWS = 10
CODES = {
    "optimal 2k": ("optimal", 2),
    "optimal 4k": ("optimal", 4),
    "random 2k": ("dense-random", 2),
    "one-vs-one": ("one-vs-one", None),
    "one-vs-rest": ("one-vs-rest", None),
}


@dataclass(frozen=True)
class Trained:
    """A fitted model as what decoding needs: scores of the test part, computed once."""

    scores: np.ndarray
    matrix: np.ndarray
    decoders: dict[str, Decoder]
    truth: np.ndarray

    @classmethod
    def of(cls, model: ECOCClassifier, split: Split, decoders: dict[str, Decoder]) -> Trained:
        """A fitted model on the test part of a split."""
        places = {c: i for i, c in enumerate(model.classes_)}
        # A class that the training part lacks is never right.
        truth = np.array([places.get(label, -1) for label in split.y_test])
        return cls(model.column_scores(split.X_test), model.codebook_.matrix, decoders, truth)

    def accuracy(
        self, decoding: str, scores: np.ndarray, missing: Sequence[int] | None = None
    ) -> float:
        """How many decisions are right, in percent."""
        found = self.decoders[decoding](scores, self.matrix, missing_columns=missing)
        return 100 * float(np.mean(found.argmax(axis=1) == self.truth))


def train(split: Split, name: str) -> Trained:
    """Fit a code on a split."""
    kind, times = CODES[name]
    base = SVC(C=10, gamma=1 / split.X.shape[1], cache_size=500)
    length = None if times is None else times * len(np.unique(split.y))
    book = code(kind, split, base, length, seed=split.number)
    model = ECOCClassifier(base, codebook=book).fit(split.X, split.y)
    decoders: dict[str, Decoder] = {"auto": model.decoder_}
    if kind == "one-vs-one":
        # Votes treat a class whose columns are lost badly; mean losses do not.
        decoders["normalised-hinge"] = LossBased("hinge", normalise=True)
    elif times is not None:
        decoders["self-healing"] = SelfHealing()
    return Trained.of(model, split, decoders)


def failed(
    scores: np.ndarray, columns: np.ndarray, failure: str, rng: np.random.Generator
) -> np.ndarray:
    """Scores in which some columns have failed."""
    broken = scores.copy()
    part = scores[:, columns]
    if failure == "flipped":
        broken[:, columns] = -part
    elif failure == "random":
        broken[:, columns] = np.abs(part) * rng.choice([-1, 1], size=part.shape)
    elif failure == "stuck":
        broken[:, columns] = np.abs(part).mean(axis=0) * rng.choice([-1, 1], size=len(columns))
    return broken


def measure(records: Records, name: str, split: Split) -> None:
    """Measure all codes and failures on a split, unless that was done."""
    for book in CODES:
        place = {"set": name, "split": split.number, "code": book}
        # The last measurement of a model says that the others are there.
        if records.has(**place, decoding="auto", failure="worst column", share=0.0):
            continue
        model = train(split, book)
        n_columns = model.scores.shape[1]
        for decoding in reversed(model.decoders):
            where = {**place, "decoding": decoding, "columns": n_columns}
            records.add(
                **where, failure="none", share=0.0, accuracy=model.accuracy(decoding, model.scores)
            )
            for failure in FAILURES:
                for share in SHARES:
                    records.add(
                        **where,
                        failure=failure,
                        share=share,
                        accuracy=mean_over_draws(model, decoding, failure, share, split.number),
                    )
            every = [
                model.accuracy(
                    decoding,
                    failed(model.scores, np.array([c]), "flipped", np.random.default_rng()),
                )
                for c in range(n_columns)
            ]
            records.add(**where, failure="worst column", share=0.0, accuracy=min(every))


def mean_over_draws(model: Trained, decoding: str, failure: str, share: float, seed: int) -> float:
    """The mean accuracy when a share of the columns fails, drawn ten times."""
    n_columns = model.scores.shape[1]
    count = max(1, round(share * n_columns))
    found = []
    for draw in range(N_DRAWS):
        rng = np.random.default_rng([seed, draw])
        columns = rng.permutation(n_columns)[:count]
        if failure == "lost":
            found.append(model.accuracy(decoding, model.scores, columns.tolist()))
        else:
            found.append(model.accuracy(decoding, failed(model.scores, columns, failure, rng)))
    return float(np.mean(found))


# ------------------------------------------------------------------ the guarantee


def wrong_columns(book: Codebook, n_wrong: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Perfect answers for each class, with some columns wrong: at random, then the worst.

    The worst are columns in which the class and its nearest other class differ.
    """
    matrix = book.matrix.astype(float)
    drawn = np.repeat(matrix, 200, axis=0)
    for row in drawn:
        row[rng.permutation(matrix.shape[1])[:n_wrong]] *= -1
    yield drawn
    worst = matrix.copy()
    distances = book.row_distances().astype(float)
    np.fill_diagonal(distances, np.inf)
    for i, j in enumerate(distances.argmin(axis=1)):
        worst[i, np.flatnonzero(matrix[i] * matrix[j] < 0)[:n_wrong]] *= -1
    yield worst


def guarantee(k: int = 10) -> None:
    """Decisions that stay when columns of samples that are right everywhere else go wrong."""
    books = {
        "optimal 2k": design_codebook(k, 2 * k, random_state=0).codebook,
        "optimal 4k": design_codebook(k, 4 * k, random_state=0).codebook,
        "random 2k": make_code("dense-random", k, 2 * k, random_state=0),
        "one-vs-rest": make_code("one-vs-rest", k),
    }
    most = 12
    rows = []
    for name, book in books.items():
        bound = int((book.min_row_distance - 1) // 2)
        kept: list[list[float]] = [[], []]
        for n_wrong in range(most + 1):
            pairs = wrong_columns(book, n_wrong, np.random.default_rng(n_wrong))
            for shares, scores in zip(kept, pairs, strict=True):
                truth = np.repeat(np.arange(k), len(scores) // k)
                found = Hamming()(scores, book.matrix).argmax(axis=1)
                shares.append(100 * float(np.mean(found == truth)))
            if n_wrong <= bound and (kept[0][-1] < 100 or kept[1][-1] < 100):
                raise SystemExit(f"{name}: a decision changed with {n_wrong} <= {bound} wrong")
        for kind, shares in zip(("random", "worst"), kept, strict=True):
            rows.append([name, bound, kind, *(f"{share:.0f}" for share in shares)])
    print(
        f"\n## Hamming decoding, k = {k}: decisions that stay (%), by wrong columns\n\n"
        "Up to floor((d - 1) / 2) wrong columns, whichever they are, none can change.\n"
    )
    print_table(["code", "guaranteed", "which", *map(str, range(most + 1))], rows)


# ------------------------------------------------------------------------ tables


def labels(records: Records) -> list[tuple[str, str]]:
    """The codes and decoders that were measured, in the order of their first record."""
    order = list(CODES)
    found = {(r["code"], r["decoding"]) for r in records.all}
    return sorted(found, key=lambda pair: (order.index(pair[0]), pair[1]))


def mean(records: Records, pair: tuple[str, str], failure: str, share: float) -> float:
    """The mean over sets of the mean over splits."""
    by_set: dict[str, list[float]] = {}
    for r in records.all:
        if (r["code"], r["decoding"], r["failure"], r["share"]) == (*pair, failure, share):
            by_set.setdefault(r["set"], []).append(r["accuracy"])
    return float(np.mean([np.mean(values) for values in by_set.values()]))


def title(pair: tuple[str, str]) -> str:
    """What a line of a table is called."""
    return pair[0] if pair[1] == "auto" else f"{pair[0]}, {pair[1]}"


def report(records: Records) -> None:
    """Print what has been measured."""
    sets = list(dict.fromkeys(r["set"] for r in records.all))
    n_splits = len({r["split"] for r in records.all})
    print(f"\nmeans over {', '.join(sets)}; {n_splits} splits, {N_DRAWS} draws of columns each")
    for failure in FAILURES:
        print(f"\n## {failure}\n")
        print_table(
            ["code", "none", *(f"{share:.0%}" for share in SHARES)],
            [
                [
                    title(pair),
                    mean(records, pair, "none", 0.0),
                    *(mean(records, pair, failure, share) for share in SHARES),
                ]
                for pair in labels(records)
            ],
        )
    print("\n## the worst single column, flipped\n")
    print_table(
        ["code", "none", "worst column"],
        [
            [title(p), mean(records, p, "none", 0.0), mean(records, p, "worst column", 0.0)]
            for p in labels(records)
        ],
    )
    print("\n## 20 % flipped, set by set\n")
    rows = []
    for pair in labels(records):
        chosen = [
            r
            for r in records.all
            if (r["code"], r["decoding"], r["failure"], r["share"]) == (*pair, "flipped", 0.2)
        ]
        rows.append(
            [
                title(pair),
                *(float(np.mean([r["accuracy"] for r in chosen if r["set"] == s])) for s in sets),
            ]
        )
    print_table(["code", *sets], rows)


def plot(records: Records, path: str) -> None:
    """Draw the accuracies as curves, a panel for each failure."""
    from matplotlib.figure import Figure  # noqa: PLC0415  # only where a picture is wanted

    figure = Figure(figsize=(11, 3.4), layout="constrained")
    panels = figure.subplots(1, len(FAILURES), sharey=True)
    colours = dict(zip(CODES, ("C0", "C2", "C1", "C3", "C7"), strict=True))
    shares = [0, *(100 * share for share in SHARES)]
    for panel, failure in zip(panels, FAILURES, strict=True):
        for pair in labels(records):
            values = [mean(records, pair, failure, share) for share in SHARES]
            panel.plot(
                shares,
                [mean(records, pair, "none", 0.0), *values],
                color=colours[pair[0]],
                linestyle="-" if pair[1] == "auto" else ":",
                marker="o",
                markersize=3,
                label=title(pair),
            )
        panel.set_title(failure)
        panel.set_xlabel("columns failed (%)")
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("accuracy (%)")
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=4, fontsize="small")
    figure.savefig(path, dpi=150)


def main() -> None:
    """Measure what is asked for, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of data files (default: ECOC_DATA)")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--splits", type=int, default=5, help="random splits of each set")
    parser.add_argument("--quick", action="store_true", help="1 split, at most 500 rows")
    parser.add_argument("--smoke", action="store_true", help="seconds, on bundled data")
    parser.add_argument("--out", help="file of records, JSON lines; goes on where it ends")
    parser.add_argument("--report", action="store_true", help="only print what --out holds")
    parser.add_argument("--plot", metavar="PNG", help="draw the curves into this file")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # tiny classes in splits
    records = Records(arguments.out, KEYS)
    names, count, rows = arguments.sets, arguments.splits, (1500, 3000)
    if arguments.quick:
        count, rows = 1, (500, 1000)
    if arguments.smoke:
        names, count, rows = ["toy"], 1, (150, 100)
    if not arguments.report:
        sets = [load_dataset(name, data=arguments.data) for name in names]
        # Split by split over all sets, so that a run that is stopped has a table.
        made = zip(*(splits(data, count, *rows) for data in sets), strict=True)
        for parts in made:
            for name, split in zip(names, parts, strict=True):
                measure(records, name, split)
    report(records)
    guarantee()
    if arguments.plot:
        plot(records, arguments.plot)


if __name__ == "__main__":
    main()
