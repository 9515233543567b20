"""What makes a matrix a codebook, checked with errors that name rows and columns.

The one rule for entries: a codebook of two symbols has +1 and -1, and 0 where a column leaves
a class out; a codebook of q >= 3 symbols has the whole numbers 0 to q - 1.
"""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int, counted, listing
from ecoc._typing import Entries
from ecoc.codes.measures import _as_float
from ecoc.errors import InvalidCodebookError, InvalidInputError, UnsupportedError

if TYPE_CHECKING:
    from ecoc.codes.codebook import Codebook

__all__ = [
    "MAX_SYMBOLS",
    "as_entries",
    "as_labels",
    "check_codebook",
    "check_plain",
    "check_symbols",
    "check_two_symbols",
    "constant_columns",
    "entry_names",
    "first_equal",
    "format_rows",
    "normalised_columns",
    "parse_rows",
]

MAX_LABEL_LENGTH = 256
MAX_PROVENANCE_DEPTH = 20
MAX_SYMBOLS = 127
"""The most symbols that fit in the signed bytes of a matrix."""

_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


# -------------------------------------------------------------------- symbols


def check_symbols(n_symbols: object, n_classes: int | None = None) -> int:
    """Return a number of symbols that a codebook, perhaps of so many classes, can have."""
    q = check_int("n_symbols", n_symbols, minimum=2, maximum=MAX_SYMBOLS)
    if n_classes is not None and q > max(n_classes, 2):
        raise InvalidCodebookError(
            f"n_symbols must be at most the number of classes, {n_classes}, not {q}: a column "
            f"cannot have more groups than there are classes. For learners that take up to {q} "
            f"classes, pass n_symbols={n_classes}."
        )
    return q


def check_two_symbols(codebook: Codebook, user: str, remedy: str = "") -> None:
    """Refuse a codebook of more than two symbols on behalf of what knows two alone."""
    if codebook.n_symbols > 2:
        raise UnsupportedError(
            f"{user} takes codebooks of two symbols, +1 and -1, not one of "
            f"{codebook.n_symbols} symbols.{remedy}"
        )


def entry_names(n_symbols: int) -> dict[int, str]:
    """How each entry is written: a character, or a number beyond 36 symbols."""
    if n_symbols == 2:
        return {1: "+", -1: "-", 0: "0"}
    digits = _DIGITS if n_symbols <= len(_DIGITS) else map(str, range(n_symbols))
    return dict(zip(range(n_symbols), digits, strict=False))


def format_rows(matrix: Entries, n_symbols: int = 2) -> tuple[str, ...]:
    """Write the rows of a matrix as text; symbols that are numbers have spaces between.

    Examples
    --------
    >>> format_rows(np.array([[1, -1, 0]], dtype=np.int8))
    ('+-0',)
    >>> format_rows(np.array([[0, 10, 2]], dtype=np.int8), n_symbols=12)
    ('0a2',)
    """
    names = entry_names(n_symbols)
    if n_symbols > len(_DIGITS):
        return tuple(" ".join(names[entry] for entry in row) for row in matrix.tolist())
    codes = np.zeros(128, dtype=np.uint8)
    codes[list(names)] = [ord(name) for name in names.values()]
    return tuple(row.tobytes().decode("ascii") for row in codes[matrix.astype(np.intp)])


def parse_rows(rows: Iterable[str], n_symbols: int = 2) -> Entries:
    """Read rows that are written as :func:`format_rows` does, all of one length."""
    texts = [rows] if isinstance(rows, str) else list(rows)
    names = entry_names(n_symbols)
    if n_symbols == 2:
        wanted = "'+', '-' and '0'"
    else:
        spaced = " with a space between" if n_symbols > len(_DIGITS) else ""
        wanted = f"the symbols '0' to '{names[n_symbols - 1]}'{spaced}"
    values = {name: entry for entry, name in names.items()}
    # A table of characters reads large matrices without a list of their entries.
    codes = np.zeros(128, dtype=np.int8)
    if n_symbols <= len(_DIGITS):
        codes[[ord(name) for name in values]] = list(values.values())
    parsed: list[Entries] = []
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidCodebookError(f"Row {i} must be text of {wanted}.")
        cells = text.split(" ") if n_symbols > len(_DIGITS) else text
        strange = [f"{cell!r:.80}" for cell in sorted(set(cells) - set(values))]
        if strange:
            raise InvalidCodebookError(f"Row {i} must hold only {wanted}; got {listing(strange)}.")
        if len(cells) != len(parsed[0] if parsed else cells):
            raise InvalidCodebookError(
                "All rows must have the same length: row 0 has "
                f"{counted(len(parsed[0]), 'column')}, row {i} has {len(cells)}."
            )
        if isinstance(cells, str):
            parsed.append(codes[np.frombuffer(cells.encode("ascii"), dtype=np.uint8)])
        else:
            parsed.append(np.array([values[cell] for cell in cells], dtype=np.int8))
    if not parsed:
        raise InvalidCodebookError("A codebook needs at least 2 classes (rows); got no rows.")
    return np.array(parsed, dtype=np.int8)


# ------------------------------------------------------------ entries and labels


def as_entries(matrix: npt.ArrayLike, n_symbols: int = 2) -> Entries:
    """Return a read-only int8 copy of a two-dimensional matrix of the entries of a codebook."""
    try:
        array = np.asarray(matrix)
    except ValueError as error:
        raise InvalidCodebookError("The matrix must have rows of equal length.") from error
    if array.ndim != 2:
        raise InvalidCodebookError(
            f"The matrix must have two dimensions (classes x columns), not {array.ndim}."
        )
    wanted = "-1, 0 and +1" if n_symbols == 2 else f"0 to {n_symbols - 1}"
    if array.dtype.kind not in "iuf":
        raise InvalidCodebookError(f"The matrix must hold the numbers {wanted}, not {array.dtype}.")
    with np.errstate(invalid="ignore"):
        if n_symbols == 2:
            right = (array == -1) | (array == 0) | (array == 1)
        else:
            right = (array >= 0) & (array < n_symbols) & (array == np.floor(array))
    wrong = np.argwhere(~right)
    if wrong.size:
        places = [f"{array[i, j]!s} in row {i}, column {j}" for i, j in wrong[:5]]
        others = " among others" if len(wrong) > 5 else ""
        if n_symbols == 2:
            rule = "Entries must be -1, 0 or +1"
            hint = (
                " For the symbols 0 to q - 1 pass n_symbols=q." if (array[~right] > 1).all() else ""
            )
        else:
            rule = f"Entries of a codebook of {n_symbols} symbols must be whole numbers {wanted}"
            hint = ""
        raise InvalidCodebookError(f"{rule}; got {listing(places)}{others}.{hint}")
    entries = np.array(array, dtype=np.int8, order="C")
    entries.setflags(write=False)
    return entries


def as_labels(labels: Iterable[object], n_classes: int) -> tuple[str, ...]:
    """Return class labels as distinct printable strings, one for each class."""
    if isinstance(labels, str):
        raise InvalidInputError("labels must be a sequence with one label for each class.")
    result = []
    for i, label in enumerate(labels):
        if isinstance(label, bool | float) or not isinstance(label, str | int | np.integer):
            raise InvalidInputError(f"labels[{i}] must be text or a whole number, not {label!r}.")
        text = str(label)
        if not 0 < len(text) <= MAX_LABEL_LENGTH:
            raise InvalidInputError(
                f"labels[{i}] must have 1 to {MAX_LABEL_LENGTH} characters, not {len(text)}."
            )
        if any(unicodedata.category(character) in {"Cc", "Cs"} for character in text):
            raise InvalidInputError(f"labels[{i}] must be printable, not {text!r}.")
        result.append(text)
    if len(result) != n_classes:
        raise InvalidInputError(
            f"labels must have one entry for each of the {n_classes} classes, not {len(result)}."
        )
    repeated = [label for label, count in Counter(result).items() if count > 1]
    if repeated:
        raise InvalidInputError(f"labels must be distinct; repeated: {listing(repeated)}.")
    return tuple(result)


# ------------------------------------------------------------- rows and columns


def normalised_columns(matrix: Entries, n_symbols: int = 2) -> Entries:
    """Columns with their symbols renamed, so that columns that split alike are equal.

    Two symbols: the first entry that is not 0 becomes +1. More: symbols are numbered in the
    order in which they first appear.

    Examples
    --------
    >>> normalised_columns(np.array([[2, 1], [0, 0], [2, 2]], dtype=np.int8), n_symbols=3)
    array([[0, 0],
           [1, 1],
           [0, 2]], dtype=int8)
    """
    columns = np.arange(matrix.shape[1])
    if n_symbols == 2:
        first = np.argmax(matrix != 0, axis=0)
        signs = matrix[first, columns]
        normalised: Entries = matrix * np.where(signs == 0, 1, signs).astype(np.int8)
        return normalised
    places = np.full((n_symbols, matrix.shape[1]), matrix.shape[0])
    for symbol in range(n_symbols):
        has = matrix == symbol
        places[symbol] = np.where(has.any(axis=0), np.argmax(has, axis=0), matrix.shape[0])
    numbers = np.argsort(np.argsort(places, axis=0, kind="stable"), axis=0, kind="stable")
    renamed: Entries = numbers.astype(np.int8)[matrix.astype(np.intp), columns]
    return renamed


def constant_columns(matrix: Entries, n_symbols: int = 2) -> npt.NDArray[np.bool_]:
    """For each column, whether it leaves its classifier nothing to tell apart."""
    constant: npt.NDArray[np.bool_]
    if n_symbols == 2:
        constant = ~((matrix == 1).any(axis=0) & (matrix == -1).any(axis=0))
    else:
        constant = (matrix == matrix[:1]).all(axis=0)
    return constant


def _words(vectors: Entries) -> npt.NDArray[np.uint64]:
    """Pack rows into 64-bit words, so that equal rows have equal words."""
    if vectors.size and vectors.max() > 1:
        packed = np.ascontiguousarray(vectors).view(np.uint8)
    else:
        packed = np.packbits(np.hstack([vectors == 1, vectors == -1]), axis=1)
    padding = -packed.shape[1] % 8
    return np.pad(packed, ((0, 0), (0, padding))).view(np.uint64)


def first_equal(vectors: Entries) -> npt.NDArray[np.int64]:
    """For each row of `vectors`, the index of the first row equal to it."""
    words = _words(vectors)
    order = np.lexsort(words.T[::-1])
    ordered = words[order]
    starts = np.ones(len(order), dtype=bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    # lexsort is stable, so the first of a run is the one that stands first.
    firsts = order[np.maximum.accumulate(np.where(starts, np.arange(len(order)), 0))]
    groups = np.empty(len(order), dtype=np.int64)
    groups[order] = firsts
    return groups


def check_codebook(matrix: Entries, n_symbols: int, *, allow_repeated_columns: bool) -> None:
    """Raise an :class:`InvalidCodebookError` unless the matrix is a codebook."""
    n_classes, n_columns = matrix.shape
    if n_classes < 2:
        raise InvalidCodebookError(
            f"A codebook needs at least 2 classes (rows); the matrix has {n_classes}."
        )
    if n_columns < 1:
        raise InvalidCodebookError("A codebook needs at least 1 column; the matrix has none.")
    check_symbols(n_symbols, n_classes)
    _check_sides(matrix, n_symbols)
    _check_rows(matrix, n_symbols)
    if not allow_repeated_columns:
        _check_repeats(matrix, n_symbols)


def _check_sides(matrix: Entries, n_symbols: int) -> None:
    one_sided = np.flatnonzero(constant_columns(matrix, n_symbols))
    if not one_sided.size:
        return
    several = one_sided.size > 1
    which = f"{'Columns' if several else 'Column'} {listing(one_sided.tolist())}"
    if n_symbols > 2:
        raise InvalidCodebookError(
            f"{which} {'have' if several else 'has'} one symbol for all classes. Every column "
            "trains a classifier and needs at least two symbols."
        )
    hint = "Every column trains a binary classifier and needs both a +1 and a -1."
    if not (matrix == -1).any():
        hint += " The matrix has no -1 at all: for a 0/1 matrix m, pass 2 * m - 1."
    raise InvalidCodebookError(f"{which} {'lack' if several else 'lacks'} a +1 or a -1. {hint}")


def _check_rows(matrix: Entries, n_symbols: int) -> None:
    groups = first_equal(matrix)
    repeated = np.flatnonzero(groups != np.arange(len(groups)))
    if repeated.size:
        pairs = [f"{groups[i]} and {i}" for i in repeated[:5].tolist()]
        raise InvalidCodebookError(
            f"Rows {listing(pairs)} are equal, so their classes cannot be told apart. "
            "Add columns that separate them."
        )
    if n_symbols > 2 or matrix.all():
        return
    values = _as_float(matrix)
    used = np.abs(values)
    for top in range(0, len(values), 2048):
        rows = slice(top, top + 2048)
        unseparated = (used[rows] @ used.T) == (values[rows] @ values.T)
        first, second = np.nonzero(np.triu(unseparated, k=1 + top))
        if first.size:
            pairs = [f"{i + top} and {j}" for i, j in zip(first[:5], second[:5], strict=True)]
            raise InvalidCodebookError(
                f"No column puts rows {listing(pairs)} on different sides, so their classes "
                "cannot be told apart. Add a column with +1 for one and -1 for the other."
            )


def _check_repeats(matrix: Entries, n_symbols: int) -> None:
    groups = first_equal(np.ascontiguousarray(normalised_columns(matrix, n_symbols).T))
    repeated = np.flatnonzero(groups != np.arange(len(groups)))
    if not repeated.size:
        return
    pairs = []
    for j in repeated[:5].tolist():
        likeness = f"equal to {groups[j]}"
        if not np.array_equal(matrix[:, j], matrix[:, groups[j]]):
            other = f"complementary to {groups[j]}"
            likeness = other if n_symbols == 2 else f"{likeness} with other symbols"
        pairs.append(f"{j} ({likeness})")
    more = f" and {repeated.size - 5} more" if repeated.size > 5 else ""
    which = "Columns" if repeated.size > 1 else "Column"
    raise InvalidCodebookError(
        f"{which} {', '.join(pairs)}{more} would train the same classifier again. "
        "Remove them, or pass allow_repeated_columns=True."
    )


def check_plain(name: str, value: object, *, depth: int = 0) -> None:
    """Check that `value` can be written to JSON and read back unchanged."""
    if depth > MAX_PROVENANCE_DEPTH:
        raise InvalidInputError(
            f"{name} must not be nested deeper than {MAX_PROVENANCE_DEPTH} levels."
        )
    if value is None or isinstance(value, bool | int):
        return
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise InvalidInputError(f"{name} must be valid Unicode text, not {value!r}.")
        return
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidInputError(f"{name} must be finite, not {value}.")
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise InvalidInputError(f"{name} must have text as keys, not {key!r}.")
            check_plain(f"{name} key", key, depth=depth + 1)
            check_plain(f"{name}[{key!r}]", item, depth=depth + 1)
        return
    if isinstance(value, list | tuple):
        for i, item in enumerate(value):
            check_plain(f"{name}[{i}]", item, depth=depth + 1)
        return
    raise InvalidInputError(
        f"{name} must be text, a number, a boolean, None, or a list or mapping of these, "
        f"not {type(value).__name__}."
    )
