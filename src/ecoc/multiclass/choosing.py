"""Which codebook a classifier takes, and why."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
from sklearn.base import is_regressor
from sklearn.utils import get_tags

from ecoc._checks import RandomState, check_choice, check_int, check_seed, counted, listing
from ecoc.codes import STANDARD_CODES, Codebook, make_code, read_codebook
from ecoc.codes.standard import most_balanced_columns
from ecoc.codes.validation import check_symbols, normalised_columns
from ecoc.design import Design, design_codebook
from ecoc.errors import InvalidInputError
from ecoc.multiclass.adaptive import DATA_CODES, make_data_code

__all__ = [
    "CODEBOOKS",
    "MAX_PAIRWISE_CLASSES",
    "Choice",
    "choose_codebook",
    "class_limit",
    "is_linear",
    "is_name",
]

CODEBOOKS = ("auto", "optimal", "similarity", *DATA_CODES, *STANDARD_CODES)
"""The names that a codebook can be asked for by."""

MAX_PAIRWISE_CLASSES = 40
"""With more classes than this, ``"auto"`` does not take one-vs-one: 780 columns are enough."""

SYMBOL_SHARES = {"BaseDecisionTree": 1 / 3, "GaussianNB": 1 / 2, "BaseHistGradientBoosting": 0}
"""How many symbols were best for a kind of learner with many classes, as a share of these.

At least three, which is what 0 stands for. Kinds go by the name of a class or an ancestor; what
is not listed has two symbols. `benchmarks/which_symbols.py`, ten data sets of 6 to 100 classes.
Trees, 20 columns: with eleven classes and fewer three symbols were 1.4 points better than two in
the mean, with 50 and 100 classes 16 and 25 were 27 and 16 points better. Naive Bayes, 2k columns:
half as many symbols as classes were 11 points better than two in the mean, and 1 to 22 points on
nine of the ten sets. Boosting: three symbols had the better log loss on all sets at all lengths,
two thirds of that of two in the median, and as many right in the mean, more with few columns;
more than three cost more and brought little with 2k columns.
"""

_FEW_CLASSES = 20
"""Up to so many classes three symbols were as good for trees as more (Soybean, King-Rook).

Many randomised trees had no use for fewer than a third of the classes. Other learners have two
symbols up to here, however few columns there are.
"""

_FEWEST_SYMBOLS, _MOST_SYMBOLS = 3, 25

_MOST_SYMBOL_CLASSES = 500
"""With more classes the design of a code of symbols would take longer than training."""

_AUTOMATIC_EFFORT = 0.1
"""The share of the usual work that the design of a code of several symbols may do by default.

One distance more or less is not worth longer than columns take to train.
"""

_OF_SYMBOLS = ("auto", "optimal", "balanced-random", "digits")
"""The names of codebooks that come with any number of symbols."""

_FEWEST_CAPPED_COLUMNS = 8
"""Learners with a limit are costly: they get few columns, but no fewer than this."""

_FILE_SUFFIXES = {".json", ".csv", ".npz"}
_MAX_TARGET_CLASSES = 12
"""With more classes the codewords of the optimal code are assigned by similarity instead."""

_MAX_PROVED_TARGET_CLASSES = 7
"""With more classes the optimum by target distances can take hours to prove; it is searched."""


@dataclass(frozen=True)
class Choice:
    """A codebook for the classes of some training data.

    Attributes
    ----------
    codebook : Codebook
        One row for each class that was seen, in the order of the classes.
    reason : str
        Which codebook it is and why.
    absent_classes : tuple of str
        Classes of the codebook that were not seen.
    dropped_columns : tuple of int
        Columns that are useless without them: constant, or the same as an earlier one.
    length_note : str, optional
        Why the codebook has not as many columns as were asked for; the reason has it too.
    """

    codebook: Codebook
    reason: str
    absent_classes: tuple[str, ...] = ()
    dropped_columns: tuple[int, ...] = ()
    length_note: str | None = None

    def report(self) -> None:
        """Warn of what is not as it was asked for: the length, and classes that were not seen."""
        if self.length_note is not None:
            warnings.warn(f"{self.length_note}.", UserWarning, stacklevel=4)
        if not self.absent_classes:
            return
        dropped = self.dropped_columns
        without = f", so columns {listing(dropped)} are left out" if dropped else ""
        warnings.warn(
            f"The training data have no sample of {listing(self.absent_classes)}, which the "
            f"codebook has{without}; it will never be predicted.",
            UserWarning,
            stacklevel=4,
        )


def choose_codebook(
    codebook: object,
    classes: npt.NDArray[Any],
    *,
    estimator: object,
    n_columns: int | None = None,
    n_symbols: int | str | None = None,
    max_classes: int | None = None,
    random_state: RandomState = None,
    data: tuple[Any, npt.NDArray[np.intp]] | None = None,
    decoding: object = "auto",
    verbose: int = 0,
) -> Choice:
    """Find the codebook that is meant.

    Parameters
    ----------
    codebook : Codebook, Design, matrix, path or str
        A codebook, a file of one, or a name.
    classes : array of shape (n_classes,)
        The labels of the training data, sorted.
    estimator : object
        The learner, for ``"auto"`` and ``"ecoc-one"``.
    n_columns : int, optional
        The number of columns, for codes that come in several lengths.
    n_symbols : int or "auto", optional
        The number of symbols, for codes that come with several; fewer if there are fewer
        classes. ``"auto"`` is the limit of the learner, and without one, or for no more
        classes than that, what was best for its kind. None is ``"auto"`` for the codebook of
        that name, and two symbols for others.
    max_classes : int, optional
        How many classes the learner takes at most. With more classes than that, None stands
        for ``"auto"`` whatever the codebook.
    random_state : int, Generator or None
        The seed, for codes that need randomness.
    data : tuple of X and targets, optional
        The training data, for ``"similarity"`` and the codes of
        :data:`ecoc.multiclass.adaptive.DATA_CODES`.
    decoding : str, Decoder or callable, default="auto"
        The decoder, for ``"ecoc-one"``.
    verbose : int, default=0
        Tell where a design stands while it is made.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from sklearn.svm import SVC
    >>> choice = choose_codebook("auto", np.arange(4), estimator=SVC())
    >>> choice.codebook
    <Codebook 'designed': 4 classes x 7 columns, row distance 4, column distance 1>
    >>> choice.reason.partition(";")[0]
    'optimal code, because SVC is not known to be a linear learner'
    >>> tree = DecisionTreeClassifier()
    >>> print(choose_codebook("auto", np.arange(12), estimator=tree).reason.partition(";")[0])
    optimal code, 3 symbols, because 3 symbols were best for learners such as
    DecisionTreeClassifier
    >>> forest = DecisionTreeClassifier(max_features="sqrt")
    >>> many = choose_codebook("auto", np.arange(6), estimator=forest, n_columns=100)
    >>> many.codebook.n_columns, many.reason.partition(",")[0]
    (100, 'optimal codes side by side')
    >>> capped = choose_codebook("auto", np.arange(30), estimator=tree, max_classes=10)
    >>> capped.codebook.n_symbols, capped.codebook.n_columns
    (10, 8)
    """
    if n_columns is not None:
        check_int("n_columns", n_columns, minimum=1)
    if max_classes is not None:
        check_int("max_classes", max_classes, minimum=2)
    if isinstance(n_symbols, str) and n_symbols != "auto":
        raise InvalidInputError(
            f"n_symbols must be a whole number, 'auto' or None, not {n_symbols!r}."
        )
    if n_symbols not in {None, "auto"}:
        n_symbols = check_symbols(n_symbols)
        if max_classes is not None and n_symbols > max_classes:
            raise InvalidInputError(
                f"n_symbols must be at most max_classes, {max_classes}, not {n_symbols}: a column "
                "can have a group for each symbol."
            )
    if is_name(codebook):
        check_choice("codebook", codebook, CODEBOOKS)
        choice = _named(
            codebook,
            len(classes),
            alphabet=_alphabet(
                codebook,
                n_symbols,
                max_classes,
                k=len(classes),
                estimator=estimator,
                n_columns=n_columns,
            ),
            estimator=estimator,
            n_columns=n_columns,
            seed=check_seed(random_state),
            data=data,
            decoding=decoding,
            verbose=verbose,
        )
    else:
        given, source = _given(codebook, n_symbols)
        choice = _matched(given, source, classes)
        _check_groups(choice.codebook, max_classes)
        if given.n_columns == n_columns:
            return choice
    if n_columns in {None, choice.codebook.n_columns}:
        return choice
    # Not an error: searches over codebooks and lengths meet codes that have but one length.
    note = f"n_columns is {n_columns}, but {_own_length(choice.codebook)}"
    return replace(choice, reason=f"{choice.reason}; {note}", length_note=note)


def is_name(codebook: object) -> TypeGuard[str]:
    """Whether a codebook is asked for by its name, and is neither given nor in a file."""
    return isinstance(codebook, str) and Path(codebook).suffix.lower() not in _FILE_SUFFIXES


def _check_groups(codebook: Codebook, max_classes: int | None) -> None:
    """Refuse columns of more groups than the learner takes."""
    if max_classes is None or codebook.n_symbols <= max_classes:
        return
    groups = [len(np.unique(entries)) for entries in codebook.matrix.T]
    wide = [column for column, count in enumerate(groups) if count > max_classes]
    if wide:
        raise InvalidInputError(
            f"The columns of the codebook must have at most max_classes, {max_classes}, groups; "
            f"there are up to {max(groups)} in column {listing(wide)}."
        )


def _own_length(codebook: Codebook) -> str:
    k, n_columns = codebook.matrix.shape
    if codebook.is_binary and n_columns == _most_columns(k):
        return f"{k} classes have only {counted(n_columns, 'different column')}"
    return f"this code has {counted(n_columns, 'column')}"


def is_linear(estimator: object) -> bool:
    """Whether a learner separates its two sides by a hyperplane in the features it gets.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import PolynomialFeatures, StandardScaler
    >>> is_linear(make_pipeline(StandardScaler(), LogisticRegression()))
    True
    >>> is_linear(make_pipeline(PolynomialFeatures(), LogisticRegression()))
    False
    """
    steps = getattr(estimator, "steps", None)
    if steps is not None:
        maps = [type(step).__name__ for _, step in steps[:-1]]
        return not _FEATURE_MAPS.intersection(maps) and is_linear(steps[-1][1])
    inner = getattr(estimator, "estimator", None)
    if inner is not None and not isinstance(inner, str):
        return is_linear(inner)
    if getattr(estimator, "kernel", None) == "linear":
        return True
    ancestors = type(estimator).__mro__
    return any(
        cls.__module__.startswith("sklearn.linear_model") or cls.__name__ in _LINEAR
        for cls in ancestors
    )


def class_limit(estimator: object) -> int | None:
    """How many classes a learner says that it takes at most; None if it says nothing.

    It is read from what tabular foundation models have for it: ``max_num_classes_`` or
    ``max_num_classes`` (TabPFN, TabDPT), ``max_classes``, also of the fitted ``model_``
    (TabICL), and ``MAX_NUMBER_OF_CLASSES``, also of the inference configuration (TabPFN). A
    pipeline, and a learner around another that has no limit itself, have that of what is inside.

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> class_limit(DecisionTreeClassifier()) is None
    True
    """
    for learner in _from_outside(estimator):
        limit = _own_limit(learner)
        if limit is not None:
            return limit
    return None


def _own_limit(learner: object) -> int | None:
    owners = [learner, getattr(learner, "model_", None)]
    configuration = getattr(learner, "get_inference_config", None)
    if callable(configuration):
        try:
            owners.append(configuration())
        except Exception:  # noqa: BLE001  # a model that must first be loaded states no limit
            owners.append(None)
    for owner in owners:
        for name in _LIMITS:
            limit = getattr(owner, name, None)
            if isinstance(limit, int | np.integer) and limit >= 2:
                return int(limit)
    return None


_LIMITS = ("max_num_classes_", "max_num_classes", "max_classes", "MAX_NUMBER_OF_CLASSES")


def _from_outside(estimator: object) -> Iterator[object]:
    """A learner without its pipeline, and what is inside of it, such as in a search or forest."""
    steps = getattr(estimator, "steps", None)
    if steps is not None:
        yield from _from_outside(steps[-1][1])
        return
    yield estimator
    inner = getattr(estimator, "estimator", None)
    if inner is not None and not isinstance(inner, str):
        yield from _from_outside(inner)


_FEATURE_MAPS = {
    "AdditiveChi2Sampler",
    "KBinsDiscretizer",
    "KernelPCA",
    "Nystroem",
    "PolynomialCountSketch",
    "PolynomialFeatures",
    "RBFSampler",
    "RandomTreesEmbedding",
    "SkewedChi2Sampler",
    "SplineTransformer",
}
_LINEAR = {
    "BernoulliNB",
    "ComplementNB",
    "LinearDiscriminantAnalysis",
    "LinearSVC",
    "LinearSVR",
    "MultinomialNB",
    "NearestCentroid",
}


# ------------------------------------------------------------------- by name


@dataclass(frozen=True)
class _Alphabet:
    """The number of symbols of a code, and why; `capped` if it is the limit of a learner."""

    n_symbols: int = 2
    reason: str = ""
    capped: bool = False


def _alphabet(
    name: str,
    n_symbols: int | str | None,
    max_classes: int | None,
    *,
    k: int,
    estimator: object,
    n_columns: int | None,
) -> _Alphabet:
    if isinstance(n_symbols, int):
        if n_symbols > 2 and name not in _OF_SYMBOLS:
            raise InvalidInputError(
                f"codebook={name!r} has two symbols; leave n_symbols out, or use one of "
                f"{listing([repr(other) for other in _OF_SYMBOLS])}."
            )
        return _Alphabet(min(n_symbols, k))
    few = max_classes is None or k <= max_classes
    if name not in _OF_SYMBOLS or (n_symbols is None and name != "auto" and few):
        return _Alphabet()
    limit = class_limit(estimator) if max_classes is None else max_classes
    learner = type(next(_from_outside(estimator))).__name__
    if limit is not None and k > limit:
        return _Alphabet(limit, f"{learner} takes at most {limit} classes", capped=True)
    best, needed = _best_symbols(estimator, k), _needed_symbols(estimator, k, n_columns)
    # Groups of single classes leave nothing to the code.
    q = min(max(best, needed), _MOST_SYMBOLS, k // 2, k if limit is None else limit)
    if q <= 2 or k > _MOST_SYMBOL_CLASSES or is_regressor(estimator):
        return _Alphabet()
    if best < needed:
        return _Alphabet(q, f"{n_columns} columns of two symbols would be few for {k} classes")
    return _Alphabet(q, f"{q} symbols were best for learners such as {learner}")


def _best_symbols(estimator: object, k: int) -> int:
    """What was best for a kind of learner, whatever the number of columns."""
    ancestors = [cls.__name__ for cls in type(next(_from_outside(estimator))).__mro__]
    kind = next((name for name in ancestors if name in SYMBOL_SHARES), None)
    if kind is None:
        return 2
    if kind == "BaseDecisionTree" and k <= _FEW_CLASSES and not _is_randomised(estimator):
        return _FEWEST_SYMBOLS
    return max(_FEWEST_SYMBOLS, round(SYMBOL_SHARES[kind] * k))


def _needed_symbols(estimator: object, k: int, n_columns: int | None) -> int:
    """What codes with fewer columns than classes need, if the learner takes so many classes.

    Probabilities of k classes follow from those of L columns of q symbols only if L (q - 1) is at
    least k - 1; with 50 and 100 classes and 20 columns about twice that was best or nearly so for
    machines, logistic regression and boosting, and no harm to nearest neighbours
    (`benchmarks/which_symbols.py`).
    """
    if n_columns is None or n_columns >= k or k <= _FEW_CLASSES or not _takes_groups(estimator):
        return 2
    return 1 + -(-2 * (k - 1) // n_columns)


def _takes_groups(estimator: object) -> bool:
    """Whether a learner says that it takes more than two classes."""
    try:
        tags = get_tags(estimator).classifier_tags
    except (AttributeError, TypeError):
        return False
    return tags is not None and bool(tags.multi_class)


def _named(
    name: str,
    k: int,
    *,
    alphabet: _Alphabet,
    estimator: object,
    n_columns: int | None,
    seed: int | None,
    data: tuple[Any, npt.NDArray[np.intp]] | None,
    decoding: object,
    verbose: int,
) -> Choice:
    if k == 2:
        return Choice(make_code("one-vs-rest", 2), "two classes have only one column")
    if alphabet.n_symbols > 2:
        # What a designer asks for by name has different columns.
        repeats = name == "auto" and _is_randomised(estimator)
        return _of_symbols(
            name, k, alphabet, n_columns=n_columns, seed=seed, verbose=verbose, repeats=repeats
        )
    reason = "asked for by name"
    if name == "auto":
        name, reason = _automatic(k, estimator, n_columns)
    if name == "optimal":
        code, verdict = _optimal(k, _length(k, n_columns), seed, verbose=verbose)
        return Choice(code, f"optimal code, {reason}; {verdict}")
    if name == "similarity":
        return _similarity(k, _length(k, n_columns), seed, _needed(name, data), verbose)
    if name in DATA_CODES:
        _check_learner(name, estimator)
        features, targets = _needed(name, data)
        code = make_data_code(
            name,
            features,
            targets,
            estimator=estimator,
            n_columns=n_columns,
            decoding=decoding,
            random_state=seed,
        )
        return Choice(code.relabel(None), f"{name} code for the training data, {reason}")
    length = None
    if name == "dense-random" or (name == "sparse-random" and n_columns is not None):
        length = _length(k, n_columns)
    if name == "balanced-random" and n_columns is not None:
        length = min(n_columns, most_balanced_columns(k))
    code = make_code(name, k, length, random_state=seed)
    return Choice(code, f"{name} code, {reason}")


def _of_symbols(
    name: str,
    k: int,
    alphabet: _Alphabet,
    *,
    n_columns: int | None,
    seed: int | None,
    verbose: int,
    repeats: bool,
) -> Choice:
    q = alphabet.n_symbols
    because = f"{q} symbols" + (f", because {alphabet.reason}" if alphabet.reason else "")
    if name == "digits":
        return Choice(make_code("digits", k, n_symbols=q), f"digits code, {because}")
    wanted = n_columns
    if wanted is None and alphabet.capped:
        # Twice the columns without which probabilities of classes would not follow.
        wanted = max(_FEWEST_CAPPED_COLUMNS, 2 * -(-(k - 1) // (q - 1)))
    elif wanted is None:
        wanted = 2 * k
    if name == "balanced-random":
        length = min(wanted, most_balanced_columns(k, q))
        code = make_code(name, k, length, n_symbols=q, random_state=seed)
        return Choice(code, f"balanced-random code, {because}")
    if repeats and wanted > 2 * k:
        code, verdict = _side_by_side(k, wanted, seed, q, verbose=verbose)
        return Choice(code, f"optimal codes side by side, {because}; {verdict}")
    # Who asks for it by name may wait for it.
    effort = _AUTOMATIC_EFFORT if name == "auto" else 1.0
    code, verdict = _optimal(k, wanted, seed, q, effort=effort, verbose=verbose)
    return Choice(code, f"optimal code, {because}; {verdict}")


def _side_by_side(
    k: int, n_columns: int, seed: int | None, n_symbols: int, *, verbose: int
) -> tuple[Codebook, str]:
    """Optimal codes of 2k columns, the last one shorter, which may have columns in common.

    Few classes have few even columns: from some length on other columns would be uneven, and
    those cost more than it costs to have an even one twice.
    """
    parts = []
    for number, start in enumerate(range(0, n_columns, 2 * k)):
        length = min(2 * k, n_columns - start)
        # Each is made anew: the atlas would give the same one again and again.
        parts.append(
            _optimal(
                k,
                length,
                (seed or 0) + number,
                n_symbols,
                method="construction",
                effort=_AUTOMATIC_EFFORT,
                verbose=verbose,
            )
        )
    codes = [code for code, _ in parts]
    whole = codes[0].concatenate(*codes[1:], allow_repeated_columns=True)
    return whole, f"the first of {2 * k} columns: {parts[0][1]}"


def _is_randomised(estimator: object) -> bool:
    """Whether columns with the same groups are different learners, as the trees of a forest are."""
    return any(
        getattr(learner, "splitter", None) == "random"
        or getattr(learner, "bootstrap", False) is True
        or getattr(learner, "max_features", None) not in {None, 1.0}
        for learner in _from_outside(estimator)
        if hasattr(learner, "splitter") or hasattr(learner, "bootstrap")
    )


def _automatic(k: int, estimator: object, n_columns: int | None) -> tuple[str, str]:
    learner = type(estimator).__name__
    if n_columns is not None:
        return "optimal", "because n_columns is given"
    if not is_linear(estimator):
        return "optimal", f"because {learner} is not known to be a linear learner"
    if k <= MAX_PAIRWISE_CLASSES:
        return "one-vs-one", f"because {learner} is linear: for it, pairs of classes are easier"
    return "one-vs-rest", (
        f"because {learner} is linear, and {k} classes have too many pairs for one-vs-one"
    )


def _length(k: int, n_columns: int | None) -> int:
    """The columns asked for, 2k by default, or all that there are."""
    wanted = 2 * k if n_columns is None else n_columns
    return min(wanted, _most_columns(k))


def _most_columns(k: int) -> int:
    """How many different columns of +1 and -1 there are."""
    return (1 << (k - 1)) - 1


@lru_cache(maxsize=64)
def _optimal(
    k: int,
    n_columns: int,
    seed: int | None,
    n_symbols: int = 2,
    *,
    method: str = "auto",
    effort: float = 1.0,
    verbose: int = 0,
) -> tuple[Codebook, str]:
    # Cross-validation asks for the same code again and again.
    design = design_codebook(
        k,
        n_columns,
        n_symbols=n_symbols,
        method=method,
        effort=effort,
        random_state=seed,
        verbose=verbose,
    )
    return _codebook_of(design), design.verdict


def _similarity(
    k: int,
    n_columns: int,
    seed: int | None,
    data: tuple[Any, npt.NDArray[np.intp]],
    verbose: int,
) -> Choice:
    from ecoc.design import assign_codewords, class_similarity, target_distances

    similarity = class_similarity(*data, random_state=seed)
    if k > _MAX_TARGET_CLASSES:
        code, _ = _optimal(k, n_columns, seed, verbose=verbose)
        placed = assign_codewords(code, similarity, random_state=seed)
        return Choice(placed, "optimal code, similar classes on near codewords, asked for by name")
    design = design_codebook(
        k,
        n_columns,
        objective="target-distances",
        target_distances=target_distances(similarity, n_columns),
        random_state=seed,
        method="auto" if k <= _MAX_PROVED_TARGET_CLASSES else "search",
        verbose=verbose,
    )
    return Choice(
        _codebook_of(design).relabel(None),
        f"code for target distances from class centroids, asked for by name; {design.verdict}",
    )


def _needed(
    name: str, data: tuple[Any, npt.NDArray[np.intp]] | None
) -> tuple[Any, npt.NDArray[np.intp]]:
    """The training data, for a code that cannot do without them."""
    if data is None:
        raise InvalidInputError(
            f"codebook={name!r} looks at all the training data, so partial_fit cannot use it. "
            "Make the codebook first, or use another name."
        )
    return data


def _check_learner(name: str, estimator: object) -> None:
    """Refuse to train single columns by a model that has a codebook itself, such as networks."""
    if name == "ecoc-one" and hasattr(estimator, "codebook"):
        raise InvalidInputError(
            f"codebook='ecoc-one' trains columns one by one, which {type(estimator).__name__} does "
            "not do. Make the code with ecoc.multiclass.ecoc_one and another learner, and give it."
        )


# -------------------------------------------------------------- given as such


def _given(given: object, n_symbols: int | str | None) -> tuple[Codebook, str]:
    codebook, source = _codebook_and_source(given, n_symbols)
    if isinstance(n_symbols, int) and codebook.n_symbols != n_symbols:
        raise InvalidInputError(
            f"n_symbols must be that of the codebook, {codebook.n_symbols}, not {n_symbols}; leave "
            "it out where a codebook is given."
        )
    return codebook, source


def _codebook_and_source(codebook: object, n_symbols: int | str | None) -> tuple[Codebook, str]:
    if isinstance(codebook, Codebook):
        return codebook, "the codebook given"
    if isinstance(codebook, Design):
        return _codebook_of(codebook), f"the design given; {codebook.verdict}"
    if isinstance(codebook, str | os.PathLike):
        return read_codebook(codebook), f"read from {os.fspath(codebook)}"
    if codebook is None or isinstance(codebook, dict | set | int | float):
        raise InvalidInputError(
            f"codebook must be a Codebook, a Design, a matrix, a file name or one of "
            f"{listing([repr(name) for name in CODEBOOKS], limit=len(CODEBOOKS))}, "
            f"not {codebook!r}."
        )
    q = n_symbols if isinstance(n_symbols, int) else 2
    return Codebook(codebook, n_symbols=q), "the matrix given"  # type: ignore[arg-type]


def _codebook_of(design: Design) -> Codebook:
    if design.codebook is None:
        raise InvalidInputError(f"The design has no codebook: {design.verdict}.")
    return design.codebook


def _matched(codebook: Codebook, source: str, classes: npt.NDArray[Any]) -> Choice:
    """The rows of the classes seen, found by their labels where the codebook has labels."""
    seen = [str(label) for label in classes]
    if codebook.labels is None:
        if codebook.n_classes != len(seen):
            raise InvalidInputError(
                f"A codebook without labels must have a row for each class of y: it has "
                f"{codebook.n_classes} rows, and y has {len(seen)} classes ({listing(seen)}). "
                "Give it labels (codebook.relabel) if some classes may be absent."
            )
        return Choice(codebook, source)
    places = {label: row for row, label in enumerate(codebook.labels)}
    unknown = [label for label in seen if label not in places]
    if unknown:
        raise InvalidInputError(
            f"Every class of y must be a label of the codebook; {listing(unknown)} are not among "
            f"{listing(codebook.labels)}."
        )
    rows = [places[label] for label in seen]
    if len(rows) == codebook.n_classes:
        return Choice(codebook.take_rows(rows), source)
    absent = tuple(label for label in codebook.labels if label not in set(seen))
    taken = codebook.take_rows(rows, drop_useless_columns=True)
    return Choice(
        taken,
        f"{source}, without the rows of absent classes",
        absent,
        _dropped(codebook.matrix[rows], codebook.n_symbols, taken),
    )


def _dropped(before: npt.NDArray[np.int8], n_symbols: int, taken: Codebook) -> tuple[int, ...]:
    """The columns of a matrix that a codebook, with some of them in order, does not have."""
    after = taken.matrix
    if taken.n_symbols < n_symbols:
        # With fewer symbols than before they were numbered anew.
        before = normalised_columns(before, n_symbols)
        before = before if taken.n_symbols > 2 else 1 - 2 * before
    kept = 0
    dropped = []
    for column in range(before.shape[1]):
        if kept < after.shape[1] and np.array_equal(before[:, column], after[:, kept]):
            kept += 1
        else:
            dropped.append(column)
    return tuple(dropped)
