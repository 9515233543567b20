"""Published codes that are made for some training data: DECOC, its forests, ECOC-ONE, minimal."""

# ruff: noqa: N803  # X is what scikit-learn calls it
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import get_tags

from ecoc._checks import (
    RandomState,
    check_choice,
    check_int,
    check_random_state,
    check_seed,
    fewest_columns,
)
from ecoc._typing import Floats, Ints
from ecoc.codes import STANDARD_CODES, Codebook, Provenance, make_code
from ecoc.codes.validation import normalised_columns
from ecoc.design.similarity import class_kernel
from ecoc.errors import InvalidInputError
from ecoc.multiclass.columns import (
    ColumnError,
    ColumnTask,
    fit_columns,
    score_method,
    scores_with_gaps,
)
from ecoc.multiclass.data import check_targets, take_rows
from ecoc.multiclass.decoders.learned import stratified_folds
from ecoc.multiclass.decoders.names import make_decoder
from ecoc.multiclass.decoders.probabilities import Coupling

__all__ = ["DATA_CODES", "decoc", "ecoc_one", "forest_ecoc", "make_data_code", "minimal_code"]

DATA_CODES = ("decoc", "forest-ecoc", "ecoc-one", "minimal")
"""The names of the codes that are made for training data."""

N_TREES = 3
"""How many trees a forest has by default."""

_EXACT_CLASSES = 12
"""Up to so many classes all splits of a node are looked at, and beyond it some climbs are made."""

_CLIMBS = 4
_MINIMAL_STARTS = 10
_VALIDATION_FOLDS = 5
"""A fifth of the samples validates the columns of ECOC-ONE."""

_TRIED_PAIRS = 3
"""So many confused pairs of classes may find no column that helps before ECOC-ONE ends."""

_PARTNERS = 4
"""So many other classes are tried on the sides of a confused pair, the most confused with it."""


# ------------------------------------------------------------------ mutual information


@dataclass(frozen=True)
class _Information:
    """What features say about the sides of a dichotomy, for any classes on either side.

    It is the quadratic mutual information of Torkkola (2003), the integral of the squared
    difference of p(x, side) and p(x) p(side), with densities estimated by Gaussian windows. All
    of it follows from sums of the kernel over pairs of classes.

    Attributes
    ----------
    sums : array of shape (n_classes, n_classes)
        The sum of the kernel over the samples of two classes.
    sizes : array of shape (n_classes,)
        The samples of each class.
    """

    sums: Floats
    sizes: Floats

    @classmethod
    def of_data(cls, X: Any, y: Any, generator: np.random.Generator) -> _Information:
        kernel = class_kernel(X, y, random_state=generator)
        sizes = np.unique(np.asarray(y), return_counts=True)[1].astype(np.float64)
        return cls(kernel * np.outer(sizes, sizes), sizes)

    @property
    def n_classes(self) -> int:
        return len(self.sizes)

    def part(self, classes: Ints) -> _Information:
        """The same for some of the classes."""
        return _Information(self.sums[np.ix_(classes, classes)], self.sizes[classes])

    def of_sides(self, sides: npt.NDArray[np.bool_]) -> Floats:
        """The information of each row of sides, True for the classes on the +1 side."""
        first = sides.astype(np.float64)
        inside = ((first @ self.sums) * first).sum(axis=1)
        with_all = first @ self.sums.sum(axis=1)
        return self.combined(inside, with_all, first @ self.sizes)

    def combined(self, inside: Floats, with_all: Floats, size: Floats) -> Floats:
        """The information, by sums of one side with itself and with all, and by its samples."""
        total, n = self.sums.sum(), self.sizes.sum()
        share = size / n
        within = 2 * inside - 2 * with_all + total
        apart = (share**2 + (1 - share) ** 2) * total
        between = share * with_all + (1 - share) * (total - with_all)
        information: Floats = (within + apart - 2 * between) / n**2
        return information

    def flipped(self, side: npt.NDArray[np.bool_]) -> Floats:
        """The information after each class alone has changed sides."""
        first = side.astype(np.float64)
        signs = 1 - 2 * first
        to_first, with_all = self.sums @ first, self.sums.sum(axis=1)
        inside = first @ to_first + 2 * signs * to_first + self.sums.diagonal()
        information = self.combined(
            inside, first @ with_all + signs * with_all, first @ self.sizes + signs * self.sizes
        )
        count = side.sum() + signs
        # All classes on one side are no split.
        return np.where((count > 0) & (count < len(side)), information, -np.inf)


def _splits(
    information: _Information, generator: np.random.Generator
) -> tuple[npt.NDArray[np.bool_], Floats]:
    """Splits of all classes in two with their information, the first class on the +1 side."""
    k = information.n_classes
    if k <= _EXACT_CLASSES:
        rest = np.array(list(product((True, False), repeat=k - 1))[1:], dtype=bool)
        sides = np.column_stack([np.ones(len(rest), dtype=bool), rest])
        return sides, information.of_sides(sides)
    # From no class at all this is the floating search that is published for it.
    starts = [np.zeros(k, dtype=bool), *(generator.random((_CLIMBS - 1, k)) < 0.5)]
    tops = np.array([_climbed(information, start) for start in starts])
    # Where a forest has used these before it can have their neighbours.
    best = tops[np.argmax(information.of_sides(tops))]
    neighbours = best ^ np.eye(k, dtype=bool)
    proper = np.isfinite(information.flipped(best))
    sides = np.concatenate([tops, neighbours[proper]])
    sides ^= ~sides[:, :1]
    return sides, information.of_sides(sides)


def _climbed(information: _Information, start: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The split that is reached by moving one class at a time, as long as that tells more."""
    side, value = start.copy(), -np.inf
    while True:
        values = information.flipped(side)
        place = int(np.argmax(values))
        if values[place] <= value + 1e-12 * abs(value):
            return side
        side[place] ^= True
        value = float(values[place])


def _tree(
    information: _Information, used: set[bytes], generator: np.random.Generator
) -> list[npt.NDArray[np.int8]]:
    """The columns of a tree of dichotomies; each node has its best split that is not used."""
    columns = []
    nodes = [np.arange(information.n_classes)]
    while nodes:
        classes = nodes.pop()
        if len(classes) == 1:
            continue
        sides, values = _splits(information.part(classes), generator)
        # What differs by rounding alone is a tie, and the first split has it.
        order = np.argsort(-np.round(values / max(values.max(), 1e-300), 10), kind="stable")
        candidates = np.zeros((len(order), information.n_classes), dtype=np.int8)
        candidates[:, classes] = np.where(sides[order], 1, -1)
        fresh = (place for place in range(len(order)) if candidates[place].tobytes() not in used)
        place = next(fresh, 0)
        columns.append(candidates[place])
        side = sides[order[place]]
        nodes += [classes[~side], classes[side]]
    return columns


def decoc(X: Any, y: Any, *, random_state: RandomState = None) -> Codebook:
    """DECOC: a tree of dichotomies, k - 1 columns, each the split that features tell best.

    The root splits all classes in two, and so on until the leaves are single classes; a column
    leaves out the classes that are not in its node. The split of a node has the largest quadratic
    mutual information of features and sides: of all splits for up to 12 classes, and else the
    best of a floating search and three climbs from random splits.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The features: finite numbers.
    y : array-like of shape (n_samples,)
        The class of each sample.
    random_state : int, Generator or None
        Seeds the choice of at most 2,000 samples, as many of each class as can be, and the
        climbs. None is the seed 0.

    Returns
    -------
    Codebook
        Its rows are the sorted classes, and have them as labels.

    Notes
    -----
    The windows of the densities are Gaussian, with the median of the squared distances of samples
    as their variance; features are divided by their standard deviations.

    References
    ----------
    .. [1] O. Pujol, P. Radeva, J. Vitrià (2006). Discriminant ECOC: a heuristic method for
       application dependent design of error correcting output codes. IEEE Transactions on
       Pattern Analysis and Machine Intelligence 28(6), 1007-1012.
    .. [2] K. Torkkola (2003). Feature extraction by non-parametric mutual information
       maximization. Journal of Machine Learning Research 3, 1415-1438.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 8], [9, 9], [8, 1], [8, 0]]
    >>> y = ["ant", "ant", "bee", "bee", "cow", "cow", "dog", "dog"]
    >>> print(decoc(X, y))
    ant  + + 0
    bee  + - 0
    cow  - 0 +
    dog  - 0 -
    """
    generator = _generator(random_state)
    information = _Information.of_data(X, y, generator)
    columns = _tree(information, set(), generator)
    return _codebook("decoc", columns, y, {}, random_state)


def forest_ecoc(
    X: Any, y: Any, *, n_trees: int = N_TREES, random_state: RandomState = None
) -> Codebook:
    """Forest-ECOC: several trees of DECOC, of which no two share a split if that can be.

    The first tree is that of :func:`decoc`. Each node of a further tree has the best split that
    no tree before has; two classes alone have one split, whose column is not repeated.

    Parameters
    ----------
    X, y, random_state
        As for :func:`decoc`.
    n_trees : int, default=3
        How many trees; each has at most k - 1 columns of its own.

    References
    ----------
    .. [1] S. Escalera, O. Pujol, P. Radeva (2007). Boosted landmarks of contextual descriptors
       and Forest-ECOC: a novel framework to detect and classify objects in cluttered scenes.
       Pattern Recognition Letters 28(13), 1759-1768.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 8], [9, 9], [8, 1], [8, 0]]
    >>> y = ["ant", "ant", "bee", "bee", "cow", "cow", "dog", "dog"]
    >>> print(forest_ecoc(X, y, n_trees=2))
    ant  + + 0 + +
    bee  + - 0 + +
    cow  - 0 + - 0
    dog  - 0 - + -
    """
    count = check_int("n_trees", n_trees, minimum=1)
    generator = _generator(random_state)
    information = _Information.of_data(X, y, generator)
    columns: dict[bytes, npt.NDArray[np.int8]] = {}
    for _ in range(count):
        tree = _tree(information, set(columns), generator)
        columns |= {column.tobytes(): column for column in tree if column.tobytes() not in columns}
    return _codebook("forest-ecoc", list(columns.values()), y, {"n_trees": count}, random_state)


def minimal_code(X: Any, y: Any, *, random_state: RandomState = None) -> Codebook:
    """The minimal code, ceil(log2 k) columns, whose columns the features tell best.

    Codewords are exchanged between classes, and with words that no class has, as long as the sum
    of the columns' mutual information with the features (see :func:`decoc`) grows: from the
    numbers of the classes, and from random words.

    Parameters
    ----------
    X, y, random_state
        As for :func:`decoc`.

    Notes
    -----
    The authors evolve codes by the errors of classifiers that are trained for each; here
    none is trained. :func:`ecoc.codes.digits` is a minimal code without a look at data.

    References
    ----------
    .. [1] M. A. Bautista, S. Escalera, X. Baró, P. Radeva, J. Vitrià, O. Pujol (2012). Minimal
       design of error-correcting output codes. Pattern Recognition Letters 33(6), 693-702.

    Examples
    --------
    >>> X = [[0, 0], [0, 1], [1, 0], [1, 1], [9, 8], [9, 9], [8, 1], [8, 0]]
    >>> y = ["ant", "ant", "cow", "cow", "bee", "bee", "dog", "dog"]
    >>> print(minimal_code(X, y))
    ant  + +
    bee  + -
    cow  - +
    dog  - -
    """
    generator = _generator(random_state)
    information = _Information.of_data(X, y, generator)
    k = information.n_classes
    words = np.array(list(product((True, False), repeat=fewest_columns(k))), dtype=bool)
    best, best_value = words, -np.inf
    for start in range(_MINIMAL_STARTS):
        order = generator.permutation(len(words)) if start else np.arange(len(words))
        placed = _exchanged(information, words[order])
        value = float(information.of_sides(placed.T).sum())
        if value > best_value * (1 + 1e-10):
            best, best_value = placed, value
    columns = normalised_columns(np.where(best, 1, -1).astype(np.int8))
    return _codebook("minimal", list(columns.T), y, {}, random_state)


def _exchanged(information: _Information, words: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """The words of the classes when no exchange of one for another tells more.

    The first words are those of the classes, the others are free.
    """
    k, sums = information.n_classes, information.sums
    words = words.astype(np.float64)
    # A free word is that of a class without samples, which leaves no special case.
    n_words = len(words)
    kernel, with_all, sizes = np.zeros((n_words, n_words)), np.zeros(n_words), np.zeros(n_words)
    kernel[:k, :k], with_all[:k], sizes[:k] = sums, sums.sum(axis=1), information.sizes
    value = -np.inf
    moved = True
    while moved:
        moved = False
        for place in range(k):
            to_first = kernel @ words
            change = words - words[place]
            inside = (words * to_first).sum(axis=0) + 2 * change * (to_first[place] - to_first)
            own = kernel[place, place] + kernel.diagonal() - 2 * kernel[place]
            inside += change**2 * own[:, None]
            values = information.combined(
                inside,
                with_all @ words + change * (with_all[place] - with_all)[:, None],
                sizes @ words + change * (sizes[place] - sizes)[:, None],
            ).sum(axis=1)
            other = int(np.argmax(values))
            if values[other] > values[place] + 1e-10 * abs(values[place]) and values[other] > value:
                words[[place, other]] = words[[other, place]]
                value, moved = float(values[other]), True
    return words[:k] > 0


# ---------------------------------------------------------------------------- ECOC-ONE


def ecoc_one(
    X: Any,
    y: Any,
    estimator: Any,
    *,
    initial: str | Codebook = "decoc",
    n_columns: int | None = None,
    decoding: Any = "auto",
    random_state: RandomState = None,
) -> Codebook:
    """ECOC-ONE: a code that gets columns for the classes that it still confuses.

    The columns of the initial code are trained on four fifths of the samples. Then, again and
    again, the pair of classes that is confused most gets a column: it begins with one class
    against the other, and other classes join and leave its sides as long as that lowers the error
    of the whole code, the mean of that on the samples trained on and that on the last fifth.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The features, as the learner takes them; for the initial code ``"decoc"`` finite numbers.
    y : array-like of shape (n_samples,)
        The class of each sample.
    estimator : object
        The learner of the columns.
    initial : str or Codebook, default="decoc"
        The code that columns are added to: ``"decoc"``, a name of
        :data:`ecoc.codes.STANDARD_CODES`, or a codebook whose rows are the sorted classes.
    n_columns : int, optional
        The most columns that the code may have, 2k by default; the initial ones stay all.
    decoding : str, Decoder or callable, default="auto"
        The decoder that the code is for, as in :class:`ecoc.ECOCClassifier`. With
        ``"loss-weighted"`` columns count by their errors. ``"auto"`` stands in for decoders
        that take long: the coupling, and those that learn by cross-fitting or from batches.
    random_state : int, Generator or None
        Seeds the initial code, the fifth that validates, and the learners.

    Notes
    -----
    Of the other classes the four that are confused most with the pair are tried. The code is
    finished when it has `n_columns`, when no pair is confused, or when none of the three pairs
    that are confused most has a column that lowers the error.

    References
    ----------
    .. [1] S. Escalera, O. Pujol, P. Radeva (2006). ECOC-ONE: a novel coding and decoding
       strategy. International Conference on Pattern Recognition 3, 578-581.
    .. [2] O. Pujol, S. Escalera, P. Radeva (2008). An incremental node embedding technique for
       error correcting output codes. Pattern Recognition 41(2), 713-725.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_digits(return_X_y=True)
    >>> code = ecoc_one(X, y, GaussianNB(), n_columns=12, random_state=0)
    >>> code.n_columns, bool((code.matrix[:, :9] == decoc(X, y, random_state=0).matrix).all())
    (12, True)
    """
    if get_tags(estimator).input_tags.pairwise:
        raise InvalidInputError(
            "ECOC-ONE trains columns on parts of the samples, which a precomputed kernel does not "
            "allow. Use a learner of features."
        )
    features = X if hasattr(X, "iloc") else X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    labels = check_targets(features, y)
    classes, targets = np.unique(labels, return_inverse=True)
    if len(classes) < 2:
        raise InvalidInputError(f"y must have at least 2 classes, not {len(classes)}.")
    seed = check_seed(random_state)
    code = _initial(initial, features, targets, seed)
    length = 2 * len(classes) if n_columns is None else check_int("n_columns", n_columns, minimum=1)
    folds = stratified_folds(targets, _VALIDATION_FOLDS, seed=seed or 0)
    growth = _Growth(
        ColumnTask(estimator, code.matrix, classes, seed=seed),
        features,
        targets,
        folds == 0,
        decoding,
    )
    matrix = growth.grown(length)
    parameters = {"initial": code.name or "codebook", "n_columns": length}
    return _codebook("ecoc-one", list(matrix.T), labels, parameters, random_state)


def _initial(
    initial: str | Codebook, X: Any, targets: npt.NDArray[np.intp], seed: int | None
) -> Codebook:
    k = int(targets.max()) + 1
    if isinstance(initial, str):
        if initial == "decoc":
            return decoc(X, targets, random_state=seed)
        if initial not in STANDARD_CODES:
            raise InvalidInputError(
                f"initial must be 'decoc', a Codebook or one of {', '.join(STANDARD_CODES)}, not "
                f"{initial!r}."
            )
        return make_code(initial, k, random_state=seed)
    if not isinstance(initial, Codebook) or initial.n_symbols > 2 or initial.n_classes != k:
        raise InvalidInputError(
            f"initial must be a name or a Codebook of +1, -1 and 0 with {k} rows, not {initial!r}."
        )
    return initial


@dataclass(frozen=True)
class _Column:
    """A column that was tried: its entries, its scores, and the error of the code with it."""

    entries: npt.NDArray[np.int8]
    scores: Floats
    error: float


@dataclass(frozen=True)
class _Growth:
    """A code that grows by columns for the pairs of classes that it confuses.

    Attributes
    ----------
    task : ColumnTask
        The learner, and the columns of the initial code.
    X, targets
        The samples.
    held_out : array of bool of shape (n_samples,)
        The samples that validate; columns are trained on the others.
    decoding : object
        The decoder that is meant.
    """

    task: ColumnTask
    X: Any
    targets: npt.NDArray[np.intp]
    held_out: npt.NDArray[np.bool_]
    decoding: Any
    weights: Floats = field(init=False)

    def __post_init__(self) -> None:
        parts = [part for part in (self.held_out, ~self.held_out) if part.any()]
        weights = sum(part / (len(parts) * part.sum()) for part in parts)
        object.__setattr__(self, "weights", weights)

    def grown(self, n_columns: int) -> npt.NDArray[np.int8]:
        """The initial columns, and those that were added."""
        matrix = self.task.matrix
        scores = self.scores(matrix)
        predicted = self.predicted(matrix, scores)
        while matrix.shape[1] < n_columns:
            error = float(self.weights[predicted != self.targets].sum())
            better = self._better(matrix, scores, predicted, error)
            if better is None:
                break
            matrix = np.column_stack([matrix, better.entries])
            scores = np.column_stack([scores, better.scores])
            predicted = self.predicted(matrix, scores)
        return matrix

    def _better(
        self, matrix: npt.NDArray[np.int8], scores: Floats, predicted: Ints, error: float
    ) -> _Column | None:
        """A column with which the code errs less, for one of the most confused pairs."""
        k = len(matrix)
        confusion = np.zeros((k, k))
        np.add.at(confusion, (self.targets, predicted), self.weights)
        confusion += confusion.T
        first, second = np.triu_indices(k, 1)
        order = np.argsort(-confusion[first, second], kind="stable")[:_TRIED_PAIRS]
        for i, j in zip(first[order].tolist(), second[order].tolist(), strict=True):
            if confusion[i, j] > 0:
                near = np.argsort(-(confusion[i] + confusion[j]), kind="stable")
                partners = [c for c in near.tolist() if c not in (i, j)][:_PARTNERS]
                column = self._floated(matrix, scores, (i, j), partners)
                if column is not None and column.error < error:
                    return column
        return None

    def _floated(
        self,
        matrix: npt.NDArray[np.int8],
        scores: Floats,
        pair: tuple[int, int],
        partners: Sequence[int],
    ) -> _Column | None:
        """The best column that tells a pair apart, found by moving one partner at a time."""
        entries = np.zeros(len(matrix), dtype=np.int8)
        entries[list(pair)] = 1, -1
        seen = {column.tobytes() for column in normalised_columns(matrix).T}
        best: _Column | None = None
        candidates = [entries, *_moved(entries, partners)]
        while True:
            signed = normalised_columns(np.array(candidates).T).T
            fresh = [column for column in signed if column.tobytes() not in seen]
            seen.update(column.tobytes() for column in fresh)
            tried = self._tried(matrix, scores, fresh)
            least = min(tried, key=lambda column: column.error, default=None)
            if least is None or (best is not None and least.error >= best.error):
                return best
            best = least
            candidates = _moved(best.entries, partners)

    def _tried(
        self,
        matrix: npt.NDArray[np.int8],
        scores: Floats,
        candidates: Sequence[npt.NDArray[np.int8]],
    ) -> list[_Column]:
        """Each candidate, trained and put behind the columns of the code."""
        found = []
        for entries, own in self._scored(candidates):
            longer = np.column_stack([matrix, entries])
            predicted = self.predicted(longer, np.column_stack([scores, own]))
            error = float(self.weights[predicted != self.targets].sum())
            found.append(_Column(entries, own, error))
        return found

    def _scored(
        self, candidates: Sequence[npt.NDArray[np.int8]]
    ) -> list[tuple[npt.NDArray[np.int8], Floats]]:
        """The candidates that the learner can be trained for, with their scores."""
        if not candidates:
            return []
        try:
            scores = self.scores(np.array(candidates).T)
        except ColumnError:
            # Some learners need more samples than two small classes have.
            single = [] if len(candidates) == 1 else [[column] for column in candidates]
            return [scored for column in single for scored in self._scored(column)]
        return list(zip(candidates, scores.T, strict=True))

    def scores(self, matrix: npt.NDArray[np.int8]) -> Floats:
        """The scores of columns for all samples, after training on those not held out."""
        task = replace(self.task, matrix=matrix)
        rows = np.flatnonzero(~self.held_out)
        learners = fit_columns(task, take_rows(self.X, rows), self.targets[rows])
        return scores_with_gaps(learners, self.X, score_method(learners[0]), task=task)

    def predicted(self, matrix: npt.NDArray[np.int8], scores: Floats) -> npt.NDArray[np.intp]:
        """The class of each sample."""
        code = Codebook(matrix)
        method = score_method(self.task.estimator)
        decoder = make_decoder(self.decoding, code, method)
        if decoder.needs == "cross-fitted" or decoder.whole_batch or isinstance(decoder, Coupling):
            decoder = make_decoder("auto", code, method)
        if decoder.needs == "training":
            decoder = decoder.fit(scores, self.targets, matrix)
        classes: npt.NDArray[np.intp] = decoder(scores, matrix).argmax(axis=1)
        return classes


def _moved(entries: npt.NDArray[np.int8], partners: Sequence[int]) -> list[npt.NDArray[np.int8]]:
    """A column with one of the partners on another side, or left out."""
    moved = []
    for partner, value in product(partners, (1, -1, 0)):
        if entries[partner] != value:
            other = entries.copy()
            other[partner] = value
            moved.append(other)
    return moved


# ------------------------------------------------------------------------- in common


def make_data_code(
    name: str,
    X: Any,
    y: Any,
    *,
    estimator: Any,
    n_columns: int | None = None,
    decoding: Any = "auto",
    random_state: RandomState = None,
) -> Codebook:
    """Make a code of :data:`DATA_CODES` by its name.

    Parameters
    ----------
    name : str
        Which code.
    X, y
        The training data.
    estimator : object
        The learner, for ``"ecoc-one"``.
    n_columns : int, optional
        The most columns of ``"ecoc-one"``. A forest has as many trees as have about so many
        columns; the other two have a length of their own.
    decoding : str, Decoder or callable, default="auto"
        The decoder, for ``"ecoc-one"``.
    random_state : int, Generator or None
        The seed.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [5.0], [6.0], [9.0]], [0, 0, 1, 1, 2]
    >>> print(make_data_code("decoc", X, y, estimator=None))
    0  + 0
    1  - +
    2  - -
    """
    check_choice("name", name, DATA_CODES)
    if name == "decoc":
        return decoc(X, y, random_state=random_state)
    if name == "minimal":
        return minimal_code(X, y, random_state=random_state)
    if name == "forest-ecoc":
        n_splits = len(np.unique(np.asarray(y))) - 1
        n_trees = N_TREES if n_columns is None else max(1, round(n_columns / max(n_splits, 1)))
        return forest_ecoc(X, y, n_trees=n_trees, random_state=random_state)
    return ecoc_one(
        X, y, estimator, n_columns=n_columns, decoding=decoding, random_state=random_state
    )


def _generator(random_state: RandomState) -> np.random.Generator:
    return check_random_state(0 if random_state is None else random_state)


def _codebook(
    method: str,
    columns: Sequence[npt.NDArray[np.int8]],
    y: Any,
    parameters: dict[str, Any],
    random_state: RandomState,
) -> Codebook:
    return Codebook(
        np.column_stack(columns),
        labels=[str(label) for label in np.unique(np.asarray(y)).tolist()],
        name=method,
        provenance=Provenance(
            method,
            {"n_classes": len(columns[0]), **parameters},
            seed=None if isinstance(random_state, np.random.Generator) else random_state,
        ),
    )
