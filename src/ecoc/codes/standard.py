"""The standard codes that every other code is compared with."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import combinations, product
from math import ceil, factorial, log2

import numpy as np
import numpy.typing as npt

from ecoc._checks import (
    RandomState,
    check_choice,
    check_enough_columns,
    check_enough_rows,
    check_int,
    check_random_state,
    fewest_columns,
)
from ecoc._workers import one_thread
from ecoc.codes.codebook import Codebook, Provenance
from ecoc.codes.columns import columns_to_matrix
from ecoc.codes.validation import (
    check_symbols,
    constant_columns,
    first_equal,
    normalised_columns,
)
from ecoc.errors import InfeasibleError, InvalidInputError, TooLargeError

__all__ = [
    "STANDARD_CODES",
    "balanced_random",
    "dense_random",
    "digits",
    "exhaustive",
    "make_code",
    "one_vs_one",
    "one_vs_rest",
    "ordinal",
    "sparse_random",
    "ternary_complete",
]

MAX_EXHAUSTIVE_CLASSES = 22
MAX_COMPLETE_CLASSES = 10

_BATCH_ENTRIES = 1 << 22
"""Entries of the candidates that are looked at together."""


def one_vs_rest(n_classes: int) -> Codebook:
    """One column for each class: that class against all others (a single one for k = 2).

    Examples
    --------
    >>> print(one_vs_rest(3))
    0  + - -
    1  - + -
    2  - - +
    """
    k = check_int("n_classes", n_classes, minimum=2)
    matrix = 2 * np.eye(k, dtype=np.int8) - 1
    # With two classes the second column is the complement of the first.
    return _standard("one-vs-rest", matrix if k > 2 else matrix[:, :1])


def one_vs_one(n_classes: int) -> Codebook:
    """One column for each pair of classes; a column does not use the other classes.

    Examples
    --------
    >>> print(one_vs_one(3))
    0  + + 0
    1  - 0 +
    2  0 - -
    """
    k = check_int("n_classes", n_classes, minimum=2)
    pairs = np.array(list(combinations(range(k), 2)))
    matrix = np.zeros((k, len(pairs)), dtype=np.int8)
    places = np.arange(len(pairs))
    matrix[pairs[:, 0], places] = 1
    matrix[pairs[:, 1], places] = -1
    return _standard("one-vs-one", matrix)


def exhaustive(n_classes: int) -> Codebook:
    """All 2^(k-1) - 1 columns, the first row +1, in the order of the paper's supplement.

    Examples
    --------
    >>> print(exhaustive(4))
    0  + + + + + + +
    1  - - - - + + +
    2  - - + + - - +
    3  - + - + - + -
    """
    k = check_int("n_classes", n_classes, minimum=2)
    if k > MAX_EXHAUSTIVE_CLASSES:
        raise TooLargeError(
            f"The exhaustive code of {k} classes has 2^{k - 1} - 1 columns; this function "
            f"stops at {MAX_EXHAUSTIVE_CLASSES} classes. Use a designed or a random code."
        )
    # The paper counts upwards with +1 for a one, and with the last class as the lowest bit.
    return _standard("exhaustive", _paper_order(k))


def _paper_order(k: int) -> npt.NDArray[np.int8]:
    columns = (1 << (k - 1)) - 1 - np.arange((1 << (k - 1)) - 1, dtype=np.int64)
    matrix = columns_to_matrix(columns, k)
    matrix[1:] = matrix[:0:-1].copy()
    return matrix


def ternary_complete(n_classes: int) -> Codebook:
    """All (3^k - 2^(k+1) + 1) / 2 columns of +1, -1 and 0, the first class used on the +1 side.

    Columns that use all classes come last; these are the exhaustive code.

    References
    ----------
    .. [1] E. Allwein, R. Schapire, Y. Singer (2000). Reducing multiclass to binary: a unifying
       approach for margin classifiers. Journal of Machine Learning Research 1, 113-141.

    Examples
    --------
    >>> print(ternary_complete(3))
    0  + + 0 + + +
    1  - 0 + + - -
    2  0 - - - + -
    """
    k = check_int("n_classes", n_classes, minimum=2)
    if k > MAX_COMPLETE_CLASSES:
        raise TooLargeError(
            f"The complete ternary code of {k} classes has {_n_columns_that_exist(k, ternary=True)}"
            f" columns; this function stops at {MAX_COMPLETE_CLASSES} classes. Use sparse_random."
        )
    every = np.array(list(product((1, -1, 0), repeat=k)), dtype=np.int8).T
    kept = every[:, ~constant_columns(every)]
    kept = kept[:, (normalised_columns(kept) == kept).all(axis=0)]
    # Columns of few classes come first, so the code begins with one-vs-one.
    return _standard(
        "ternary-complete", kept[:, np.argsort(np.abs(kept).sum(axis=0), kind="stable")]
    )


def ordinal(n_classes: int, *, splits: str = "ordered") -> Codebook:
    """The k - 1 columns that an order of the classes suggests; rows are in that order.

    A classifier has sorted labels in its rows; where their order is another, as with texts,
    relabel the code: ``ordinal(3).relabel(["low", "middle", "high"])``.

    Parameters
    ----------
    n_classes : int
        The number of classes, k.
    splits : {"ordered", "followers", "previous"}, default="ordered"
        What a column asks: is the class above the j-th (ordered partitions [1]_), is it the j-th
        or one that follows, or is it the j-th or a previous one [2]_.

    Notes
    -----
    The remaining scheme of [2]_, each class against the next alone, is no codebook: no column
    tells the first class from the third.

    References
    ----------
    .. [1] E. Frank, M. Hall (2001). A simple approach to ordinal classification. European
       Conference on Machine Learning, 145-156.
    .. [2] P. A. Gutiérrez, M. Pérez-Ortiz, J. Sánchez-Monedero, F. Fernández-Navarro,
       C. Hervás-Martínez (2016). Ordinal regression methods: survey and experimental study.
       IEEE Transactions on Knowledge and Data Engineering 28(1), 127-146.

    Examples
    --------
    >>> print(ordinal(4))
    0  - - -
    1  + - -
    2  + + -
    3  + + +
    >>> print(ordinal(4, splits="followers"))
    0  + 0 0
    1  - + 0
    2  - - +
    3  - - -
    """
    k = check_int("n_classes", n_classes, minimum=2)
    check_choice("splits", splits, _ORDINAL_NAMES)
    rows, columns = np.indices((k, k - 1))
    if splits == "ordered":
        matrix = np.where(rows > columns, 1, -1)
    elif splits == "followers":
        matrix = np.where(rows == columns, 1, np.where(rows > columns, -1, 0))
    else:
        matrix = np.where(rows > columns + 1, 0, np.where(rows > columns, 1, -1))
    return _standard(_ORDINAL_NAMES[splits], matrix.astype(np.int8))


_ORDINAL_NAMES = {
    "ordered": "ordinal",
    "followers": "one-vs-followers",
    "previous": "one-vs-previous",
}
"""The name of the ordinal code for each kind of splits."""


def digits(n_classes: int, *, n_symbols: int = 2) -> Codebook:
    """The numbers of the classes in digits: the fewest columns that tell them apart.

    The radix of a digit is at most the number of symbols; the radices are as near to each
    other as they can be (mixed radix), so that the groups of a column are about as large. With
    two symbols it is the compact code of ceil(log2 k) columns [1]_, without a look at data;
    :func:`ecoc.multiclass.minimal_code` looks at them.

    Parameters
    ----------
    n_classes : int
        The number of classes, k.
    n_symbols : int, default=2
        The largest radix, q; the digits of two symbols are +1 and -1.

    References
    ----------
    .. [1] M. A. Bautista, S. Escalera, X. Baró, P. Radeva, J. Vitrià, O. Pujol (2012). Minimal
       design of error-correcting output codes. Pattern Recognition Letters 33(6), 693-702.

    Examples
    --------
    >>> print(digits(5, n_symbols=3))
    0  0 0
    1  0 1
    2  1 0
    3  1 1
    4  2 0
    """
    k = check_int("n_classes", n_classes, minimum=2)
    q = check_symbols(n_symbols, k)
    rest = np.arange(k)
    columns = []
    for radix in reversed(_radices(k, q)):
        columns.append(rest % radix)
        rest //= radix
    matrix = np.stack(columns[::-1], axis=1)
    return _with_symbols("digits", matrix, q, {"n_classes": k, "n_symbols": q})


def _radices(k: int, q: int) -> list[int]:
    """As few radices as can be, none above q, whose product is at least k; largest first."""
    count = fewest_columns(k, q)
    largest = next(radix for radix in range(2, q + 1) if radix**count >= k)
    n_smaller = sum(
        largest ** (count - smaller) * (largest - 1) ** smaller >= k for smaller in range(1, count)
    )
    return [largest] * (count - n_smaller) + [largest - 1] * n_smaller


def balanced_random(
    n_classes: int,
    n_columns: int,
    *,
    n_symbols: int = 2,
    n_candidates: int = 1_000,
    random_state: RandomState = None,
) -> Codebook:
    """The best of many random codebooks whose columns have groups of equal size, or nearly.

    Candidates that are not valid codebooks are discarded. Of the rest the one with the
    largest minimum row distance is taken; among equals the one with the fewest pairs of
    classes at that distance, then the first.

    Parameters
    ----------
    n_classes, n_columns : int
        The size of the codebook, k x L.
    n_symbols : int, default=2
        The number of groups of each column, q; two are +1 and -1.
    n_candidates : int, default=1_000
        How many random matrices are tried.
    random_state : int, Generator or None
        The same seed gives the same codebook.

    Raises
    ------
    InfeasibleError
        If the columns are more than exist, or no candidate was valid.

    Examples
    --------
    >>> code = balanced_random(10, 20, n_symbols=4, random_state=0)
    >>> code.min_row_distance, code.column_balance().max_imbalance
    (14, 0.1)
    """
    k = check_int("n_classes", n_classes, minimum=2)
    length = check_int("n_columns", n_columns, minimum=1)
    q = check_symbols(n_symbols, k)
    count = check_int("n_candidates", n_candidates, minimum=1)
    generator = check_random_state(random_state)
    check_enough_columns(k, length, _n_balanced_columns(k, q))
    check_enough_rows(k, length, q)
    best_matrix = None
    best_score = (-1, 0)
    batch = max(1, _BATCH_ENTRIES // (k * max(k, length) * q))
    with one_thread():
        for start in range(0, count, batch):
            shape = (min(batch, count - start), k, length)
            groups = np.broadcast_to((np.arange(k, dtype=np.int8) % q)[:, None], shape)
            candidates = generator.permuted(groups, axis=1)
            best = _best_balanced(candidates, q, best_score)
            if best is not None:
                best_matrix, best_score = best
        if best_matrix is None:
            # Few columns exist, and some of them came twice in every matrix.
            pool = _different_columns(k, q, length, generator)
            picks = [generator.permutation(len(pool))[:length] for _ in range(min(count, batch))]
            best = _best_balanced(pool[np.array(picks)].transpose(0, 2, 1), q, best_score)
            best_matrix = None if best is None else best[0]
    if best_matrix is None:
        raise _none_valid(k, length, count)
    parameters = {"n_classes": k, "n_columns": length, "n_symbols": q, "n_candidates": count}
    return _with_symbols("balanced-random", best_matrix, q, parameters, random_state)


def _different_columns(
    k: int, q: int, length: int, generator: np.random.Generator
) -> npt.NDArray[np.int8]:
    """At least so many different balanced columns, as rows, drawn until they have come."""
    pool = np.empty((0, k), dtype=np.int8)
    draws = np.broadcast_to(np.arange(k, dtype=np.int8) % q, (max(64, 4 * length), k))
    while len(pool) < length:
        drawn = normalised_columns(generator.permuted(draws, axis=1).T, max(q, 3)).T
        pool = np.unique(np.concatenate([pool, drawn]), axis=0)
    return pool


def _n_balanced_columns(k: int, q: int) -> int:
    """How many ways there are to split k classes into q groups of equal size, or nearly."""
    small, n_large = divmod(k, q)
    orders = factorial(small) ** (q - n_large) * factorial(small + 1) ** n_large
    return int(factorial(k) // (orders * factorial(q - n_large) * factorial(n_large)))


def most_balanced_columns(k: int, q: int = 2) -> int:
    """The most balanced columns to ask for: random ones are seldom all those that there are."""
    return max(fewest_columns(k, q), _n_balanced_columns(k, q) // 2)


def _best_balanced(
    candidates: npt.NDArray[np.int8], q: int, score: tuple[int, int]
) -> tuple[npt.NDArray[np.int8], tuple[int, int]] | None:
    """The best valid candidate of a batch above a score: its distance, its nearest pairs."""
    _, k, length = candidates.shape
    agreements = np.zeros((len(candidates), k, k), dtype=np.float32)
    for symbol in range(q):
        has = (candidates == symbol).astype(np.float32)
        agreements += has @ has.transpose(0, 2, 1)
    agreements[:, np.arange(k), np.arange(k)] = -1
    most = agreements.max(axis=(1, 2))
    n_nearest = (agreements == most[:, None, None]).sum(axis=(1, 2)) // 2
    for place in np.lexsort([n_nearest, most]):
        # Negative, so that fewer pairs are a larger score.
        reached = (length - int(most[place]), -int(n_nearest[place]))
        if reached <= score or reached[0] == 0:
            return None
        alike = np.ascontiguousarray(normalised_columns(candidates[place], max(q, 3)).T)
        if (first_equal(alike) == np.arange(length)).all():
            return candidates[place], reached
    return None


def _with_symbols(
    method: str,
    matrix: npt.NDArray[np.integer],
    q: int,
    parameters: dict[str, int],
    random_state: RandomState = None,
) -> Codebook:
    """A codebook of the symbols 0 to q - 1, or of +1 for 0 and -1 for 1."""
    return Codebook(
        matrix if q > 2 else 1 - 2 * matrix,
        n_symbols=q,
        name=method,
        provenance=Provenance(
            method,
            parameters,
            seed=None if isinstance(random_state, np.random.Generator) else random_state,
        ),
    )


def _none_valid(k: int, length: int, n_candidates: int) -> InfeasibleError:
    return InfeasibleError(
        f"None of {n_candidates} random {k} x {length} matrices is a valid codebook. "
        "Ask for another number of columns or for more candidates."
    )


def dense_random(
    n_classes: int,
    n_columns: int,
    *,
    n_candidates: int = 10_000,
    random_state: RandomState = None,
) -> Codebook:
    """The best of many random +1/-1 codebooks (Allwein, Schapire & Singer 2000).

    Candidates that are not valid codebooks are discarded. Of the rest the one with the
    largest minimum row distance is taken; among equals the one with the largest
    two-sided column distance, then the first.

    Parameters
    ----------
    n_classes, n_columns : int
        The size of the codebook, k x L.
    n_candidates : int, default=10_000
        How many random matrices are tried.
    random_state : int, Generator or None
        The same seed gives the same codebook.

    Raises
    ------
    InfeasibleError
        If the columns are more than exist, or no candidate was valid.

    Examples
    --------
    >>> dense_random(10, 20, random_state=0)
    <Codebook 'dense-random': 10 classes x 20 columns, row distance 8, column distance 2>
    """
    return _best_random(
        "dense-random",
        n_classes,
        n_columns,
        n_candidates=n_candidates,
        random_state=random_state,
        ternary=False,
    )


def sparse_random(
    n_classes: int,
    n_columns: int | None = None,
    *,
    n_candidates: int = 10_000,
    random_state: RandomState = None,
) -> Codebook:
    """The best of many random ternary codebooks: 0 with probability 1/2, +1 and -1 with 1/4.

    The choice among candidates, the other parameters and the errors are those of
    :func:`dense_random`; a 0 counts one half in a distance (equation 1). Where so few classes
    make nearly every candidate invalid, columns are drawn one by one until they are different
    and have two sides, and candidates are drawn from these.

    Parameters
    ----------
    n_classes : int
        The number of classes, k.
    n_columns : int, optional
        The number of columns, L: ceil(15 log2 k) by default, as published, or half of all that
        there are if that is less.
    n_candidates, random_state
        As for :func:`dense_random`.

    References
    ----------
    .. [1] E. Allwein, R. Schapire, Y. Singer (2000). Reducing multiclass to binary: a unifying
       approach for margin classifiers. Journal of Machine Learning Research 1, 113-141.

    Examples
    --------
    >>> code = sparse_random(10, random_state=0)
    >>> code.n_columns, code.is_binary, code.min_row_distance
    (50, False, 22.5)
    """
    if n_columns is None:
        k = check_int("n_classes", n_classes, minimum=2)
        # All columns would leave no choice.
        most = _n_columns_that_exist(k, ternary=True) // 2
        n_columns = max(1, min(ceil(15 * log2(k)), most))
    return _best_random(
        "sparse-random",
        n_classes,
        n_columns,
        n_candidates=n_candidates,
        random_state=random_state,
        ternary=True,
    )


def _best_random(
    method: str,
    n_classes: int,
    n_columns: int,
    *,
    n_candidates: int,
    random_state: RandomState,
    ternary: bool,
) -> Codebook:
    k = check_int("n_classes", n_classes, minimum=2)
    length = check_int("n_columns", n_columns, minimum=1)
    count = check_int("n_candidates", n_candidates, minimum=1)
    generator = check_random_state(random_state)
    _check_possible(k, length, ternary=ternary)
    best_matrix = None
    best_score = (-1.0, -1.0)
    batch = max(1, _BATCH_ENTRIES // (k * length))
    # Thousands of small products: threads inside each of them only get in each other's way.
    with one_thread():
        for start in range(0, count, batch):
            size = (min(batch, count - start), k, length)
            candidates = _signs(generator, size)
            if ternary:
                candidates *= generator.integers(0, 2, size=size, dtype=np.int8)
            best = _best_of(candidates, ternary=ternary)
            if best is not None and best[1] > best_score:
                best_matrix, best_score = best
        if best_matrix is None and ternary:
            # Few classes: a column is often one-sided, and among many columns one always is.
            pool = _different_ternary_columns(k, length, generator)
            for start in range(0, count, batch):
                places = np.broadcast_to(
                    np.arange(len(pool)), (min(batch, count - start), len(pool))
                )
                picks = generator.permuted(places, axis=1)[:, :length]
                best = _best_of(pool[picks].transpose(0, 2, 1), ternary=True)
                if best is not None and best[1] > best_score:
                    best_matrix, best_score = best
    if best_matrix is None:
        raise _none_valid(k, length, count)
    return Codebook(
        best_matrix,
        name=method,
        provenance=Provenance(
            method,
            {"n_classes": k, "n_columns": length, "n_candidates": count},
            seed=None if isinstance(random_state, np.random.Generator) else random_state,
        ),
    )


def _different_ternary_columns(
    k: int, length: int, generator: np.random.Generator
) -> npt.NDArray[np.int8]:
    """At least so many different columns with two sides, as rows, drawn until they have come."""
    pool = np.empty((0, k), dtype=np.int8)
    size = (k, max(64, 4 * length))
    while len(pool) < length:
        drawn = _signs(generator, size) * generator.integers(0, 2, size=size, dtype=np.int8)
        drawn = normalised_columns(drawn[:, ~constant_columns(drawn)])
        pool = np.unique(np.concatenate([pool, drawn.T]), axis=0)
    return pool


def _signs(generator: np.random.Generator, size: tuple[int, ...]) -> npt.NDArray[np.int8]:
    signs = generator.integers(0, 2, size=size, dtype=np.int8)
    signs *= 2
    signs -= 1
    return signs


def _n_columns_that_exist(k: int, *, ternary: bool) -> int:
    return (int(3**k) - (2 << k) + 1) // 2 if ternary else (1 << (k - 1)) - 1


def _check_possible(k: int, length: int, *, ternary: bool) -> None:
    check_enough_columns(k, length, _n_columns_that_exist(k, ternary=ternary))
    if not ternary:
        check_enough_rows(k, length)


def _best_of(
    candidates: npt.NDArray[np.int8], *, ternary: bool
) -> tuple[npt.NDArray[np.int8], tuple[float, float]] | None:
    """The best valid candidate of a batch with its (row, column) distances, doubled."""
    sided = ((candidates == 1).any(axis=1) & (candidates == -1).any(axis=1)).all(axis=1)
    candidates = candidates[sided]
    rows = candidates.astype(np.float32)
    row_distances, separated = _row_measures(rows, ternary=ternary)
    # Few candidates reach the best distance: look at columns in that order, best first.
    for distance in np.unique(row_distances[separated])[::-1]:
        level = np.flatnonzero(separated & (row_distances == distance))
        column_distances, distinct = _column_measures(rows[level])
        if distinct.any():
            winner = int(np.argmax(np.where(distinct, column_distances, -1.0)))
            return candidates[level[winner]], (float(distance), float(column_distances[winner]))
    return None


def _row_measures(
    rows: npt.NDArray[np.float32], *, ternary: bool
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """Doubled minimum row distance of each candidate, and whether all its rows separate."""
    _, k, length = rows.shape
    diagonal = np.arange(k)
    products = rows @ rows.transpose(0, 2, 1)
    products[:, diagonal, diagonal] = -np.inf
    doubled: npt.NDArray[np.float32] = length - products.max(axis=(1, 2))
    if not ternary:
        return doubled, doubled > 0
    used = np.abs(rows)
    separates = used @ used.transpose(0, 2, 1) > products
    return doubled, np.asarray(separates.all(axis=(1, 2)))


def _column_measures(
    rows: npt.NDArray[np.float32],
) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.bool_]]:
    """Doubled two-sided column distance of each candidate, and whether no column repeats."""
    _, k, length = rows.shape
    products = np.abs(rows.transpose(0, 2, 1) @ rows)
    if length == 1:
        return np.full(len(rows), 2.0 * k, dtype=np.float32), np.ones(len(rows), dtype=bool)
    used = np.einsum("cii->ci", products)
    first, second = np.triu_indices(length, 1)
    pairs = products[:, first, second]
    # Columns are equal or complementary if they agree wherever either is used.
    repeated = (pairs == used[:, first]) & (pairs == used[:, second])
    return k - pairs.max(axis=1), ~repeated.any(axis=1)


def _standard(method: str, matrix: npt.NDArray[np.int8]) -> Codebook:
    return Codebook(
        matrix, name=method, provenance=Provenance(method, {"n_classes": matrix.shape[0]})
    )


_FIXED_CODES: dict[str, Callable[[int], Codebook]] = {
    "one-vs-rest": one_vs_rest,
    "one-vs-one": one_vs_one,
    "exhaustive": exhaustive,
    "ternary-complete": ternary_complete,
    **{name: partial(ordinal, splits=splits) for splits, name in _ORDINAL_NAMES.items()},
}
_CODES_OF_SYMBOLS = ("balanced-random", "digits")

STANDARD_CODES = (*_FIXED_CODES, "dense-random", "sparse-random", *_CODES_OF_SYMBOLS)
"""The names of the standard codes."""


def make_code(
    name: str,
    n_classes: int,
    n_columns: int | None = None,
    *,
    n_symbols: int = 2,
    random_state: RandomState = None,
) -> Codebook:
    """Make a standard code by its name.

    Parameters
    ----------
    name : str
        Which code: ``"one-vs-rest"``, ``"one-vs-one"``, ``"exhaustive"``,
        ``"ternary-complete"``, ``"ordinal"``, ``"one-vs-followers"``, ``"one-vs-previous"``,
        ``"dense-random"``, ``"sparse-random"``, ``"balanced-random"`` or ``"digits"``.
    n_classes : int
        The number of classes, k.
    n_columns : int, optional
        The number of columns, L; random codes only. The default is 2k or as many as there are,
        and for sparse-random ceil(15 log2 k).
    n_symbols : int, default=2
        The number of symbols, q; more than two for balanced-random and digits only.
    random_state : int, Generator or None
        For the random codes.

    Examples
    --------
    >>> make_code("one-vs-one", 5)
    <Codebook 'one-vs-one': 5 classes x 10 columns, ternary, row distance 5.5, column distance 2>
    >>> make_code("digits", 10, n_symbols=4)
    <Codebook 'digits': 10 classes x 2 columns, 4 symbols, row distance 1, column distance 7>
    """
    check_choice("name", name, STANDARD_CODES)
    k = check_int("n_classes", n_classes, minimum=2)
    if name not in _CODES_OF_SYMBOLS and check_symbols(n_symbols) > 2:
        raise InvalidInputError(
            f"The {name} code has two symbols; leave n_symbols out, or make the code "
            f"{' or '.join(_CODES_OF_SYMBOLS)}."
        )
    if name == "balanced-random":
        q = check_symbols(n_symbols, k)
        length = min(2 * k, most_balanced_columns(k, q)) if n_columns is None else n_columns
        return balanced_random(k, length, n_symbols=q, random_state=random_state)
    if name == "sparse-random":
        return sparse_random(k, n_columns, random_state=random_state)
    if name == "dense-random":
        length = min(2 * k, _n_columns_that_exist(k, ternary=False))
        return dense_random(k, n_columns or length, random_state=random_state)
    if n_columns is not None:
        raise InvalidInputError(
            f"The {name} code has as many columns as its classes ask for; leave n_columns out."
        )
    if name == "digits":
        return digits(k, n_symbols=n_symbols)
    return _FIXED_CODES[name](k)
