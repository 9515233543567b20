"""What makes a matrix a codebook, checked with errors that name rows and columns."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from ecoc._checks import listing
from ecoc.codes.measures import Entries, _as_float
from ecoc.errors import InvalidCodebookError, InvalidInputError

__all__ = [
    "as_entries",
    "as_labels",
    "check_codebook",
    "check_plain",
    "first_equal",
    "normalised_columns",
]

MAX_LABEL_LENGTH = 256
MAX_PROVENANCE_DEPTH = 20


def as_entries(matrix: npt.ArrayLike) -> Entries:
    """Return a read-only int8 copy of a two-dimensional matrix of -1, 0 and +1."""
    try:
        array = np.asarray(matrix)
    except ValueError as error:
        raise InvalidCodebookError("The matrix must have rows of equal length.") from error
    if array.ndim != 2:
        raise InvalidCodebookError(
            f"The matrix must have two dimensions (classes x columns), not {array.ndim}."
        )
    if array.dtype.kind not in "iuf":
        raise InvalidCodebookError(
            f"The matrix must hold the numbers -1, 0 and +1, not {array.dtype}."
        )
    with np.errstate(invalid="ignore"):
        wrong = np.argwhere((array != -1) & (array != 0) & (array != 1))
    if wrong.size:
        places = [f"{array[i, j]!s} in row {i}, column {j}" for i, j in wrong[:5]]
        raise InvalidCodebookError(
            f"Entries must be -1, 0 or +1; got {listing(places)}"
            f"{' among others' if len(wrong) > 5 else ''}."
        )
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


def normalised_columns(matrix: Entries) -> Entries:
    """Complement columns so that the first entry that is not 0 is +1."""
    first = np.argmax(matrix != 0, axis=0)
    signs = matrix[first, np.arange(matrix.shape[1])]
    normalised: Entries = matrix * np.where(signs == 0, 1, signs).astype(np.int8)
    return normalised


def _words(vectors: Entries) -> npt.NDArray[np.uint64]:
    """Pack rows of -1/0/+1 into 64-bit words, so that equal rows have equal words."""
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


def check_codebook(matrix: Entries, *, allow_repeated_columns: bool) -> None:
    """Raise an :class:`InvalidCodebookError` unless the matrix is a codebook."""
    n_classes, n_columns = matrix.shape
    if n_classes < 2:
        raise InvalidCodebookError(
            f"A codebook needs at least 2 classes (rows); the matrix has {n_classes}."
        )
    if n_columns < 1:
        raise InvalidCodebookError("A codebook needs at least 1 column; the matrix has none.")
    _check_sides(matrix)
    _check_rows(matrix)
    if not allow_repeated_columns:
        _check_repeats(matrix)


def _check_sides(matrix: Entries) -> None:
    one_sided = np.flatnonzero(~((matrix == 1).any(axis=0) & (matrix == -1).any(axis=0)))
    if not one_sided.size:
        return
    hint = "Every column trains a binary classifier and needs both a +1 and a -1."
    if not (matrix == -1).any():
        hint += " The matrix has no -1 at all: for a 0/1 matrix m, pass 2 * m - 1."
    plural = "s" if one_sided.size > 1 else ""
    missing = "lack" if plural else "lacks"
    raise InvalidCodebookError(
        f"Column{plural} {listing(one_sided.tolist())} {missing} a +1 or a -1. {hint}"
    )


def _check_rows(matrix: Entries) -> None:
    groups = first_equal(matrix)
    repeated = np.flatnonzero(groups != np.arange(len(groups)))
    if repeated.size:
        pairs = [f"{groups[i]} and {i}" for i in repeated[:5].tolist()]
        raise InvalidCodebookError(
            f"Rows {listing(pairs)} are equal, so their classes cannot be told apart. "
            "Add columns that separate them."
        )
    if matrix.all():
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


def _check_repeats(matrix: Entries) -> None:
    groups = first_equal(np.ascontiguousarray(normalised_columns(matrix).T))
    repeated = np.flatnonzero(groups != np.arange(len(groups)))
    if not repeated.size:
        return
    pairs = []
    for j in repeated[:5].tolist():
        same = np.array_equal(matrix[:, j], matrix[:, groups[j]])
        pairs.append(f"{j} ({'equal' if same else 'complementary'} to {groups[j]})")
    more = f" and {repeated.size - 5} more" if repeated.size > 5 else ""
    plural = "s" if repeated.size > 1 else ""
    raise InvalidCodebookError(
        f"Column{plural} {', '.join(pairs)}{more} would train the same classifier again. "
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
        if any("\ud800" <= character <= "\udfff" for character in value):
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
