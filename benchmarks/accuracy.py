"""Which learner wants which code: accuracy on real data, same splits and tuning for all.

    python benchmarks/accuracy.py --data FOLDER --out accuracy.jsonl   # 10 splits; hours
    python benchmarks/accuracy.py --data FOLDER --quick                # 2 splits, small sets
    python benchmarks/accuracy.py --learners tree svm --sets glass digits --splits 5
    python benchmarks/accuracy.py --learners lda naive-bayes --failing # 10, 20 % of columns flipped
    python benchmarks/accuracy.py --smoke                              # seconds, no outside data

Splits are random, stratified, 70 to 30, with at most 1500 rows for training and 3000 for
testing; features are standardised by the training part. SVMs (C in 1, 10, 100; gamma in
1/4, 1, 4 times 1/n_features) and logistic regression (C in 1, 10, 100) are tuned for each
method and split by 3-fold cross-validation on at most 400 rows of the training part;
the longer code and the learned decoders take what was found for the same code without them.
Least-squares kernel columns tune themselves by leave-one-out; trees, LDA and naive Bayes are not
tuned, and LDA does without the classes that have one row for training (one or two of Ecoli and of
Yeast). Records go to a file (--out), and a run that was stopped goes on where it was.

The cost of a code is the number of rows that its columns are trained on, all columns together, as a
share of those of one-vs-one, (k - 1) n for n rows of k classes. What a code of the data costs to
find, such as the columns that ECOC-ONE tries, is in the seconds and not in the cost. With --failing
10 and 20 % of the columns are flipped after training, as in fault_tolerance.py.
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.multiclass import OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from _study import Records, Split, code, corrected_t_test, print_table, splits
from ecoc.codes import Codebook
from ecoc.datasets import load_dataset, make_toy
from ecoc.design import design_codebook
from ecoc.errors import InfeasibleError
from ecoc.multiclass import ECOCClassifier, KernelRidgeColumns
from fault_tolerance import Trained, mean_over_draws
from which_symbols import code as designed_code

SETS = ("glass", "ecoli", "yeast", "vowel", "segment", "pendigits", "digits")
KEYS = ("set", "learner", "method", "split")
OURS = "optimal"
RIVAL = "output-code"
N_TREES = 100
TUNING_ROWS = 400
FAILING = (0.1, 0.2)
OWN_LENGTH = {"one-vs-one", "one-vs-rest", "decoc", "forest-ecoc", "ecoc-one"}
GAMMAS = (0.25, 1.0, 4.0)
PENALTIES = (1.0, 10.0, 100.0)


@dataclass(frozen=True)
class Learner:
    """A binary learner, what of it is tuned, and the rows that it needs of each class."""

    base: BaseEstimator
    methods: tuple[str, ...]
    penalties: tuple[float, ...] = ()
    gammas: tuple[float, ...] = ()
    smallest_class: int = 1

    def candidates(self, n_features: int) -> list[BaseEstimator]:
        """The learner at each point of its grid."""
        grid = {"C": self.penalties, "gamma": [g / n_features for g in self.gammas]}
        grid = {name: values for name, values in grid.items() if values}
        return [
            clone(self.base).set_params(**dict(zip(grid, point, strict=True)))
            for point in itertools.product(*grid.values())
        ]


@dataclass(frozen=True)
class Method:
    """How a multiclass classifier is made of a learner."""

    build: Callable[[BaseEstimator, Split, Method], BaseEstimator]
    code: str = ""
    times: int = 2
    decoding: str = "auto"
    same_tuning_as: str = ""
    n_symbols: int | str = 2
    cover: int = 1
    support: int = 200

    def codebook(self, base: BaseEstimator, split: Split) -> Codebook:
        """The code, of `times` columns for each class where its length is free."""
        if self.code == "ternary":
            labels = np.unique(split.y)
            return ternary_code(len(labels), self.times, self.cover, self.support).relabel(
                map(str, labels)
            )
        own = self.code in OWN_LENGTH
        length = None if own else self.times * len(np.unique(split.y))
        if self.n_symbols != 2 and length is not None:
            return code_of_symbols(split, base, length)
        return code(self.code, split, base, length, seed=split.number)


@cache
def ternary_code(k: int, percent: int, cover: int, most: int) -> Codebook:
    """The best ternary code at a share of the cost of one-vs-one, or at the least that there is.

    Every pair is set apart by as many columns as the cover says. Of the supports that pay for
    that, up to a largest one, it takes the smallest, whose columns are the easiest.
    """
    for share in range(percent, 301, 5):
        for support in range(2, min(k, most) + 1):
            with suppress(InfeasibleError):
                design = design_codebook(
                    k,
                    alphabet="ternary",
                    budget=share * k * (k - 1) / 100,
                    max_support=support,
                    min_cover=cover,
                    effort=0.1,
                    random_state=0,
                )
                if design.codebook is not None:
                    return design.codebook
    raise SystemExit(f"no ternary code of {k} classes")


def coded(base: BaseEstimator, split: Split, method: Method) -> BaseEstimator:
    """A classifier of ours; its codebook is made once for a split and not for each fold."""
    return ECOCClassifier(
        base,
        codebook=method.codebook(base, split),
        decoding=method.decoding,
        random_state=split.number,
    )


def many_trees(base: BaseEstimator, split: Split, _: Method) -> BaseEstimator:
    """Optimal codes of 2k columns side by side, until there are as many as trees in a forest."""
    whole = code("optimal", split, base, seed=split.number)
    for i in itertools.count(1):
        if whole.n_columns >= N_TREES:
            break
        more = code("optimal", split, base, seed=split.number + 1000 * i)
        whole = whole.concatenate(more, allow_repeated_columns=True)
    tree = clone(base).set_params(max_features="sqrt", min_samples_leaf=2)
    return ECOCClassifier(
        tree, codebook=whole.take_columns(np.arange(N_TREES)), random_state=split.number
    )


def code_of_symbols(split: Split, base: BaseEstimator, n_columns: int) -> Codebook:
    """The best code of the automatic number of symbols within 5 s, one for all splits."""
    q = code("digits", split, base, n_symbols="auto").n_symbols
    classes = [str(label) for label in np.unique(split.y)]
    return designed_code(len(classes), n_columns, q).relabel(classes)


def many_trees_of_symbols(base: BaseEstimator, split: Split, _: Method) -> BaseEstimator:
    """As many columns as a forest has trees, randomised as there; the code is the default."""
    tree = clone(base).set_params(max_features="sqrt")
    return ECOCClassifier(tree, n_columns=N_TREES, random_state=split.number)


def plain(base: BaseEstimator, split: Split, _: Method) -> BaseEstimator:
    """The learner as it is."""
    model = clone(base)
    return model.set_params(random_state=split.number)


def output_code(base: BaseEstimator, split: Split, _: Method) -> BaseEstimator:
    """What scikit-learn offers, at the same length."""
    return OutputCodeClassifier(base, code_size=2, random_state=split.number)


def forest(_: BaseEstimator, split: Split, method: Method) -> BaseEstimator:
    """The usual ensemble of trees, 100 or some for each class."""
    n_trees = method.times * len(np.unique(split.y)) if method.times else N_TREES
    return RandomForestClassifier(n_trees, random_state=split.number)


METHODS = {
    "optimal": Method(coded, "optimal"),
    "optimal-6k": Method(coded, "optimal", times=6, same_tuning_as="optimal"),
    "similarity": Method(coded, "similarity"),
    "dense-random": Method(coded, "dense-random"),
    "sparse-random": Method(coded, "sparse-random"),
    "one-vs-rest": Method(coded, "one-vs-rest"),
    "one-vs-one": Method(coded, "one-vs-one"),
    "decoc": Method(coded, "decoc"),
    "forest-ecoc": Method(coded, "forest-ecoc"),
    "ecoc-one": Method(coded, "ecoc-one"),
    "ternary-10": Method(coded, "ternary", times=10),
    "ternary-25": Method(coded, "ternary", times=25),
    "ternary-50": Method(coded, "ternary", times=50),
    "ternary-100": Method(coded, "ternary", times=100),
    "ternary-thrice": Method(coded, "ternary", times=50, cover=3),
    "ternary-fours": Method(coded, "ternary", times=100, cover=3, support=4),
    "output-code": Method(output_code),
    "plain": Method(plain),
    "forest": Method(forest, times=0),
    "forest-2k": Method(forest),
    "optimal-100-trees": Method(many_trees),
    "symbols": Method(coded, "optimal", n_symbols="auto"),
    "symbols-6k": Method(coded, "optimal", times=6, n_symbols="auto"),
    "symbols-100-trees": Method(many_trees_of_symbols, n_symbols="auto"),
    "optimal-learned": Method(coded, "optimal", decoding="learned", same_tuning_as="optimal"),
    "one-vs-one-learned": Method(
        coded, "one-vs-one", decoding="learned", same_tuning_as="one-vs-one"
    ),
}
CODES = ("optimal", "optimal-6k", "dense-random", "one-vs-one", "one-vs-rest")
PUBLISHED = ("decoc", "forest-ecoc", "ecoc-one", "sparse-random")
TERNARY = tuple(f"ternary-{kind}" for kind in ("10", "25", "50", "100", "thrice", "fours"))
LINEAR = ("optimal", "one-vs-one", "one-vs-rest", *PUBLISHED, *TERNARY)
LEARNERS = {
    "svm": Learner(
        SVC(cache_size=500),
        (*CODES, "similarity", *PUBLISHED, *TERNARY, "plain", "output-code"),
        PENALTIES,
        GAMMAS,
    ),
    "tree": Learner(
        DecisionTreeClassifier(),
        (
            *CODES,
            *PUBLISHED,
            *TERNARY,
            *("symbols", "symbols-6k", "plain", "output-code"),
            *("forest", "forest-2k", "optimal-100-trees", "symbols-100-trees"),
        ),
    ),
    "logistic": Learner(
        LogisticRegression(max_iter=1000),
        (
            *CODES,
            *PUBLISHED,
            *TERNARY,
            *("plain", "output-code", "optimal-learned", "one-vs-one-learned"),
        ),
        PENALTIES,
    ),
    "linear-svm": Learner(LinearSVC(), LINEAR, PENALTIES),
    "lda": Learner(LinearDiscriminantAnalysis(), LINEAR, smallest_class=2),
    "naive-bayes": Learner(GaussianNB(), LINEAR),
    "least-squares": Learner(KernelRidgeColumns(), CODES),
}


def tuned(learner: Learner, method: Method, split: Split) -> BaseEstimator:
    """The learner at the point of its grid that cross-validation prefers, the first of equals."""
    candidates = learner.candidates(split.X.shape[1])
    if len(candidates) == 1:
        return candidates[0]
    rows = np.random.default_rng(split.number).permutation(len(split.y))[:TUNING_ROWS]
    part, y = split.X[rows], split.y[rows]
    folds = list(StratifiedKFold(3, shuffle=True, random_state=split.number).split(part, y))
    model = method.build(candidates[0], split, method)
    nested = hasattr(model, "estimator")
    means = []
    for candidate in candidates:
        model = clone(model).set_params(estimator=candidate) if nested else candidate
        scores = [clone(model).fit(part[a], y[a]).score(part[b], y[b]) for a, b in folds]
        means.append(np.mean(scores))
    return candidates[int(np.argmax(means))]


def without_rare_classes(split: Split, least: int) -> Split:
    """The split without the classes that have fewer rows for training than a learner needs."""
    labels, counts = np.unique(split.y, return_counts=True)
    kept, kept_test = (np.isin(y, labels[counts >= least]) for y in (split.y, split.y_test))
    return replace(
        split,
        X=split.X[kept],
        y=split.y[kept],
        X_test=split.X_test[kept_test],
        y_test=split.y_test[kept_test],
    )


def training_cost(codebook: Codebook, y: np.ndarray) -> float:
    """The rows that all columns are trained on, as a share of those of one-vs-one."""
    sizes = np.unique(y, return_counts=True)[1]
    # With more symbols than two every column has all rows.
    used = codebook.matrix != 0 if codebook.n_symbols == 2 else np.ones_like(codebook.matrix)
    return float((sizes @ used).sum() / ((len(sizes) - 1) * sizes.sum()))


def failing_accuracies(model: ECOCClassifier, split: Split) -> dict[str, float]:
    """The accuracy when some columns of a code of two symbols are flipped after training."""
    if not isinstance(model, ECOCClassifier) or model.codebook_.n_symbols > 2:
        return {}
    trained = Trained.of(model, split, {"auto": model.decoder_})
    return {
        f"flipped {share:.0%}": mean_over_draws(trained, "auto", "flipped", share, split.number)
        for share in FAILING
    }


def measure(
    records: Records,
    name: str,
    split: Split,
    learner_name: str,
    methods: list[str] | None = None,
    *,
    failing: bool = False,
) -> None:
    """Measure all methods with a learner on a split, or some, unless that was done."""
    learner = LEARNERS[learner_name]
    split = without_rare_classes(split, learner.smallest_class)
    choices: dict[str, BaseEstimator] = {}
    for method_name in learner.methods:
        if methods is not None and method_name not in methods:
            continue
        place = {"set": name, "learner": learner_name, "method": method_name, "split": split.number}
        if records.has(**place):
            continue
        method = METHODS[method_name]
        began = time.perf_counter()
        tuning = method.same_tuning_as or method_name
        if tuning not in choices:
            choices[tuning] = tuned(learner, METHODS[tuning], split)
        base = choices[tuning]
        model = method.build(base, split, method).fit(split.X, split.y)
        correct = model.predict(split.X_test) == split.y_test
        records.add(
            **place,
            accuracy=100 * float(np.mean(correct)),
            n_train=len(split.y),
            n_test=len(split.y_test),
            params={p: v for p, v in base.get_params().items() if p in {"C", "gamma"}},
            columns=len(getattr(model, "estimators_", ())),
            cost=training_cost(model.codebook_, split.y)
            if isinstance(model, ECOCClassifier)
            else None,
            **(failing_accuracies(model, split) if failing else {}),
            seconds=round(time.perf_counter() - began, 2),
        )


class Table:
    """Accuracies of one learner, by set, method and split, where all methods have the split."""

    def __init__(self, records: list[dict[str, object]], learner: str) -> None:
        rows = [r for r in records if r["learner"] == learner]
        self.methods = [m for m in LEARNERS[learner].methods if any(r["method"] == m for r in rows)]
        found = {(r["set"], r["method"], r["split"]): r["accuracy"] for r in rows}
        self.sets, self.values, self.rows = [], [], []
        for name in dict.fromkeys(r["set"] for r in rows):
            numbers = sorted(
                n
                for n in {r["split"] for r in rows if r["set"] == name}
                if all((name, method, n) in found for method in self.methods)
            )
            if numbers:
                self.sets.append(name)
                self.values.append(
                    np.array([[found[name, m, n] for n in numbers] for m in self.methods])
                )
                self.rows += [r for r in rows if r["set"] == name and r["split"] in numbers]

    def mean_field(self, method: str, field: str) -> float | None:
        """The mean over sets of what else was measured; None where it was not."""
        by_set: dict[object, list[float]] = {}
        for r in self.rows:
            if r["method"] == method and r.get(field) is not None:
                by_set.setdefault(r["set"], []).append(r[field])
        if len(by_set) < len(self.sets):
            return None
        return float(np.mean([np.mean(values) for values in by_set.values()]))

    def of(self, method: str) -> list[np.ndarray]:
        """The accuracies of a method on each set, split by split."""
        place = self.methods.index(method)
        return [values[place] for values in self.values]

    def means(self) -> np.ndarray:
        """Mean accuracies, methods by sets."""
        return np.array([[row.mean() for row in values] for values in self.values]).T

    def print(self) -> None:
        """Means and standard errors, the mean over sets, and the average rank."""
        means = self.means()
        ranks = stats.rankdata(-means.round(9), axis=0).mean(axis=1)
        rows = []
        for i, method in enumerate(self.methods):
            errors = [v[i].std() / np.sqrt(max(v.shape[1] - 1, 1)) for v in self.values]
            cells = [f"{m:.1f} ± {e:.1f}" for m, e in zip(means[i], errors, strict=True)]
            cost = self.mean_field(method, "cost")
            shown = "" if cost is None else f"{cost:.2f}"
            rows.append([method, *cells, f"{means[i].mean():.2f}", float(ranks[i]), shown])
        rows.sort(key=lambda row: -float(row[-3]))
        print_table(["method", *self.sets, "mean", "rank", "cost"], rows)

    def print_failing(self) -> None:
        """The mean accuracy of each code without failures, and with some columns flipped."""
        fields = ["accuracy", *(f"flipped {share:.0%}" for share in FAILING)]
        found = {m: [self.mean_field(m, field) for field in fields] for m in self.methods}
        rows = [[m, *values] for m, values in found.items() if None not in values]
        if rows:
            rows.sort(key=lambda row: -row[-1])
            print("\nmeans over sets when columns are flipped after training:\n")
            print_table(["method", "none", *fields[1:]], rows)

    def compare(self, ours: str) -> None:
        """Our code against each other method, and on each set against the best of them."""
        if ours not in self.methods:
            return
        mine = self.of(ours)
        rows = []
        for other in self.methods:
            if other == ours:
                continue
            gaps = [a - b for a, b in zip(mine, self.of(other), strict=True)]
            gains = np.array([gap.mean() for gap in gaps])
            worse = [
                n
                for n, g in zip(self.sets, gaps, strict=True)
                if g.mean() < 0 and corrected_t_test(g) < 0.05
            ]
            p = stats.wilcoxon(gains).pvalue if len(gains) > 4 and np.any(gains) else np.nan
            rows.append(
                [
                    other,
                    f"{gains.mean():+.2f}",
                    f"{(gains > 0).sum()} / {(gains == 0).sum()} / {(gains < 0).sum()}",
                    f"{p:.3f}",
                    ", ".join(worse) or "none",
                ]
            )
        print(f"\n{ours} against the others (Wilcoxon over sets; per set corrected t-test, 5 %):\n")
        print_table(
            ["other", "gain", "sets won / tied / lost", "p", "significantly worse on"], rows
        )


def report(records: Records) -> None:
    """Print what has been measured."""
    for learner in LEARNERS:
        table = Table(records.all, learner)
        if not table.sets:
            continue
        counts = sorted({values.shape[1] for values in table.values})
        print(f"\n## {learner}, splits for each set: {', '.join(map(str, counts))}\n")
        table.print()
        table.print_failing()
        table.compare(OURS)
    _least_squares(records)


def _least_squares(records: Records) -> None:
    """Least-squares columns beside the methods with SVMs, on the splits that both have."""
    lines = [r for r in records.all if r["learner"] in {"svm", "least-squares"}]
    if "least-squares" not in {r["learner"] for r in lines}:
        return
    found: dict[tuple[object, object], dict[tuple[object, object], float]] = {}
    for r in lines:
        found.setdefault((r["learner"], r["method"]), {})[r["set"], r["split"]] = r["accuracy"]
    shared = set.intersection(*(set(places) for places in found.values()))
    if not shared:
        return
    rows = []
    for (learner, method), values in found.items():
        by_set = [
            np.mean([values[place] for place in shared if place[0] == name])
            for name in sorted({place[0] for place in shared})
        ]
        rows.append([learner, method, f"{np.mean(by_set):.2f}"])
    rows.sort(key=lambda row: -float(row[-1]))
    print(f"\n## least squares and SVMs, {len(shared)} splits that all have\n")
    print_table(["learner", "method", "mean"], rows)


def main() -> None:
    """Measure what is asked for, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", help="folder of data files (default: ECOC_DATA)")
    parser.add_argument("--sets", nargs="+", default=list(SETS))
    parser.add_argument("--learners", nargs="+", choices=list(LEARNERS), default=list(LEARNERS))
    parser.add_argument("--methods", nargs="+", choices=list(METHODS), help="only these")
    parser.add_argument("--splits", type=int, default=10, help="random splits of each set")
    parser.add_argument("--quick", action="store_true", help="2 splits, at most 500 rows")
    parser.add_argument("--smoke", action="store_true", help="seconds, on bundled data")
    parser.add_argument("--failing", action="store_true", help="with some columns flipped, too")
    parser.add_argument("--out", help="file of records, JSON lines; goes on where it ends")
    parser.add_argument("--report", action="store_true", help="only print what --out holds")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")  # tiny classes in folds, learners that do not converge
    records = Records(arguments.out, KEYS)
    if arguments.report:
        report(records)
        return
    names, count, rows = arguments.sets, arguments.splits, (1500, 3000)
    if arguments.quick:
        count, rows = 2, (500, 1000)
    sets = [] if arguments.smoke else [load_dataset(n, data=arguments.data) for n in names]
    if arguments.smoke:
        sets, names, count = [make_toy(20, 10, n_classes=4)], ["toy"], 2
        arguments.learners, arguments.failing = ["tree"], True
    made = [partial(splits, data, count, *rows) for data in sets]
    # Split by split over all sets, so that a run that is stopped has a table.
    for parts in zip(*(make() for make in made), strict=True):
        for name, split in zip(names, parts, strict=True):
            for learner in arguments.learners:
                measure(records, name, split, learner, arguments.methods, failing=arguments.failing)
    report(records)


if __name__ == "__main__":
    main()
