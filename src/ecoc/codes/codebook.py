"""The codebook: a frozen value around a classes x columns matrix of -1, 0 and +1."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice, check_class_sizes, check_int, listing
from ecoc.codes import display, measures
from ecoc.codes.validation import (
    as_entries,
    as_labels,
    check_codebook,
    check_plain,
    first_equal,
    normalised_columns,
)
from ecoc.errors import InvalidCodebookError, InvalidInputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Codebook", "Provenance", "Separation"]

Separation = Literal["two-sided", "one-sided"]

MAX_NAME_LENGTH = 256


@dataclass(frozen=True)
class Provenance:
    """How a codebook was made.

    Parameters
    ----------
    method : str
        What made it, for example ``"dense-random"``.
    parameters : mapping, optional
        What the method was given. Plain values only (text, finite numbers, booleans,
        None, and lists and mappings of these), because it travels in JSON files.
    seed : int, optional
        The seed that makes it again; None where there was no randomness or no seed.

    Examples
    --------
    >>> Provenance("dense-random", {"n_candidates": 10_000}, seed=0)
    Provenance(method='dense-random', parameters={'n_candidates': 10000}, seed=0)
    """

    method: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    seed: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.method, str) or not self.method:
            raise InvalidInputError(f"method must be a text, not {self.method!r}.")
        check_plain("method", self.method)
        check_plain("parameters", self.parameters)
        if not isinstance(self.parameters, Mapping):
            raise InvalidInputError(f"parameters must be a mapping, not {self.parameters!r}.")
        object.__setattr__(self, "parameters", dict(self.parameters))
        if self.seed is not None:
            object.__setattr__(self, "seed", check_int("seed", self.seed, minimum=0))


@dataclass(frozen=True, eq=False, repr=False)
class Codebook:
    """An error-correcting output code: one row for each class, one column for each classifier.

    A codebook never changes. Two codebooks are equal when their matrices and labels
    are; name and provenance only tell its story.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns)
        Entries +1 and -1 say on which side of a column's classifier a class stands; 0
        leaves the class out of that classifier (ternary codes).
    labels : iterable of str or int, optional
        Distinct class labels, kept as text.
    name : str, optional
        A short name for people.
    provenance : Provenance, optional
        How the codebook was made.
    allow_repeated_columns : bool, default=False
        Accept columns that are equal or complementary to others. Such columns train
        the same classifier again.

    Raises
    ------
    InvalidCodebookError
        If a column lacks a +1 or a -1, two rows cannot be told apart, or columns repeat.
        The message names them.

    Examples
    --------
    >>> code = Codebook([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    >>> code
    <Codebook: 4 classes x 3 columns, row distance 2, column distance 2>
    >>> print(code)
    0  + + +
    1  + - -
    2  - + -
    3  - - +
    """

    matrix: npt.NDArray[np.int8]
    _: KW_ONLY
    labels: tuple[str, ...] | None = None
    name: str | None = None
    provenance: Provenance | None = None
    allow_repeated_columns: bool = False

    if TYPE_CHECKING:
        # Construction takes more than what the attributes then are.
        def __init__(
            self,
            matrix: npt.ArrayLike,
            *,
            labels: Iterable[object] | None = None,
            name: str | None = None,
            provenance: Provenance | None = None,
            allow_repeated_columns: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        matrix = as_entries(self.matrix)
        if not isinstance(self.allow_repeated_columns, bool | np.bool_):
            raise InvalidInputError("allow_repeated_columns must be True or False.")
        check_codebook(matrix, allow_repeated_columns=self.allow_repeated_columns)
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "allow_repeated_columns", bool(self.allow_repeated_columns))
        if self.labels is not None:
            object.__setattr__(self, "labels", as_labels(self.labels, matrix.shape[0]))
        if self.name is not None and not (
            isinstance(self.name, str)
            and 0 < len(self.name) <= MAX_NAME_LENGTH
            and self.name.isprintable()
        ):
            raise InvalidInputError(
                f"name must be printable text of 1 to {MAX_NAME_LENGTH} characters."
            )
        if self.provenance is not None and not isinstance(self.provenance, Provenance):
            raise InvalidInputError(f"provenance must be a Provenance, not {self.provenance!r}.")

    def __setstate__(self, state: dict[str, object]) -> None:
        # A pickled array comes back writable.
        self.__dict__.update(state)
        self.matrix.setflags(write=False)

    @classmethod
    def from_rows(
        cls,
        rows: Iterable[str],
        *,
        labels: Iterable[object] | None = None,
        name: str | None = None,
        provenance: Provenance | None = None,
        allow_repeated_columns: bool = False,
    ) -> Codebook:
        """Make a codebook from rows written with ``+``, ``-`` and ``0``.

        Examples
        --------
        >>> Codebook.from_rows(["+++", "+--", "-+-", "--+"]).min_row_distance
        2
        """
        return cls(
            parse_rows(rows),
            labels=labels,
            name=name,
            provenance=provenance,
            allow_repeated_columns=allow_repeated_columns,
        )

    # ----------------------------------------------------------------- shape

    @property
    def n_classes(self) -> int:
        """The number of classes (rows), k."""
        return int(self.matrix.shape[0])

    @property
    def n_columns(self) -> int:
        """The number of columns (binary classifiers), L."""
        return int(self.matrix.shape[1])

    @cached_property
    def is_binary(self) -> bool:
        """Whether every class takes part in every column (no 0 anywhere)."""
        return bool(self.matrix.all())

    @property
    def rows(self) -> tuple[str, ...]:
        """The rows written with ``+``, ``-`` and ``0``."""
        return format_rows(self.matrix)

    # -------------------------------------------------------------- measures

    def row_distances(self) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
        """Hamming distances of all pairs of rows (equation 1; a 0 counts one half).

        The diagonal is what the equation gives: half the number of zeros of the row.
        """
        return self._whole_if_binary(measures.distances(self.matrix))

    @cached_property
    def min_row_distance(self) -> float:
        """The least distance of two rows, d: an int, or a multiple of 1/2 for ternary codes."""
        doubled = measures.min_doubled_distance(self.matrix)
        assert doubled is not None  # noqa: S101  # a codebook has two rows
        return _halved(doubled)

    @cached_property
    def correctable_errors(self) -> int:
        """How many wrong columns Hamming decoding survives for certain.

        This is floor((d - 1) / 2) for +1/-1 codes. In a ternary code the columns that
        ignore the true class may answer anything, and only errors of the other columns
        are counted, so the guarantee is smaller than that formula would give.
        """
        return measures.correctable_errors(self.matrix)

    def row_distance_spectrum(self) -> dict[float, int]:
        """How many pairs of classes stand at each distance, in increasing order.

        Examples
        --------
        >>> Codebook.from_rows(["+++", "+--", "-+-", "--+"]).row_distance_spectrum()
        {2: 6}
        """
        return {
            _halved(int(2 * distance)): count
            for distance, count in measures.spectrum(self.matrix).items()
        }

    def column_distances(
        self, separation: Separation = "two-sided"
    ) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
        """Distances of all pairs of columns.

        Parameters
        ----------
        separation : {"two-sided", "one-sided"}, default="two-sided"
            A column and its complement are the same classifier, so the two-sided
            distance is the lesser of the distances to a column and to its complement.
            The one-sided distance, the paper's, first complements columns to have +1 in
            the first row (in a ternary code: for the first class used); it depends on
            which class comes first.
        """
        two_sided = check_choice("separation", separation, _SEPARATIONS) == "two-sided"
        return self._whole_if_binary(measures.distances(self._columns, two_sided=two_sided))

    def min_column_distance(self, separation: Separation = "two-sided") -> float | None:
        """The least distance of two columns; None for a single column."""
        check_choice("separation", separation, _SEPARATIONS)
        return self._min_column_distances[separation]

    @cached_property
    def _min_column_distances(self) -> dict[str, float | None]:
        # Different dichotomies of a binary code are at least 1 apart: the scan can stop there.
        floor = 0 if self.allow_repeated_columns else (2 if self.is_binary else 1)
        found = {
            rule: measures.min_doubled_distance(
                self._columns, two_sided=rule == "two-sided", at_least=floor
            )
            for rule in _SEPARATIONS
        }
        return {rule: None if least is None else _halved(least) for rule, least in found.items()}

    def column_balance(self, class_sizes: Sequence[int] | None = None) -> measures.ColumnBalance:
        """What stands on the two sides of each column: classes, or data points.

        Parameters
        ----------
        class_sizes : sequence of int, optional
            The number of data points of each class; every class counts 1 by default.

        Examples
        --------
        >>> code = Codebook.from_rows(["+-", "-+", "--"])
        >>> code.column_balance().imbalance
        array([0.33333333, 0.33333333])
        >>> code.column_balance(class_sizes=[50, 25, 25]).imbalance
        array([0. , 0.5])
        """
        if class_sizes is not None:
            class_sizes = check_class_sizes(class_sizes, self.n_classes)
        return measures.column_balance(self.matrix, class_sizes)

    @cached_property
    def _columns(self) -> npt.NDArray[np.int8]:
        return np.ascontiguousarray(normalised_columns(self.matrix).T)

    def _whole_if_binary(
        self, values: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
        return values.astype(np.int64) if self.is_binary else values

    # ------------------------------------------------------------ operations

    def take_rows(
        self, rows: Sequence[int] | npt.NDArray[np.integer], *, drop_useless_columns: bool = False
    ) -> Codebook:
        """The codebook of some of the classes, in the given order.

        Parameters
        ----------
        rows : sequence of int
            Which rows to keep.
        drop_useless_columns : bool, default=False
            Leave out the columns that no longer separate anything and those that
            become equal or complementary to an earlier one, instead of raising.
        """
        chosen = self._indices("rows", rows, self.n_classes)
        matrix = self.matrix[chosen]
        if drop_useless_columns:
            matrix = matrix[:, (matrix == 1).any(axis=0) & (matrix == -1).any(axis=0)]
            if matrix.shape[1]:
                groups = first_equal(np.ascontiguousarray(normalised_columns(matrix).T))
                matrix = matrix[:, groups == np.arange(len(groups))]
        labels = None if self.labels is None else tuple(self.labels[i] for i in chosen)
        return self._derived(matrix, labels=labels)

    def take_columns(self, columns: Sequence[int] | npt.NDArray[np.integer]) -> Codebook:
        """The codebook of some of the columns, in the given order."""
        return self._derived(self.matrix[:, self._indices("columns", columns, self.n_columns)])

    def complement_columns(self, columns: Sequence[int] | npt.NDArray[np.integer]) -> Codebook:
        """The same codebook with the sides of some columns exchanged."""
        signs = np.ones(self.n_columns, dtype=np.int8)
        signs[self._indices("columns", columns, self.n_columns)] = -1
        return self._derived(self.matrix * signs)

    def normalise(self) -> Codebook:
        """The same codebook with +1 in the first row (ternary: for the first class used)."""
        return self._derived(normalised_columns(self.matrix))

    def relabel(self, labels: Iterable[object] | None) -> Codebook:
        """The same codebook with other class labels, or with none."""
        return replace(self, labels=None if labels is None else as_labels(labels, self.n_classes))

    def concatenate(self, *others: Codebook, allow_repeated_columns: bool = False) -> Codebook:
        """The columns of this codebook followed by those of others for the same classes.

        Examples
        --------
        >>> a = Codebook.from_rows(["++", "+-", "-+"])
        >>> b = Codebook.from_rows(["+0", "-+", "--"])
        >>> a.concatenate(b).rows
        ('+++0', '+--+', '-+--')
        """
        for other in others:
            if other.n_classes != self.n_classes:
                raise InvalidInputError(
                    f"Codebooks to concatenate must have the same classes: this one has "
                    f"{self.n_classes}, another {other.n_classes}."
                )
            if self.labels is not None and other.labels not in {None, self.labels}:
                raise InvalidInputError(
                    "Codebooks to concatenate must have the same labels in the same order."
                )
        labels = next((c.labels for c in (self, *others) if c.labels is not None), None)
        return self._derived(
            np.hstack([self.matrix, *(other.matrix for other in others)]),
            labels=labels,
            allow_repeated_columns=allow_repeated_columns or self.allow_repeated_columns,
        )

    def is_equivalent(self, other: Codebook) -> bool:
        """Whether the codebooks differ only in the order and the sides of columns.

        Such codebooks train the same classifiers. Classes keep their places; labels
        do not matter.

        Examples
        --------
        >>> a = Codebook.from_rows(["++", "+-", "-+"])
        >>> a.is_equivalent(Codebook.from_rows(["+-", "--", "++"]))
        True
        """
        if self.matrix.shape != other.matrix.shape:
            return False
        return sorted(map(bytes, self._columns)) == sorted(map(bytes, other._columns))

    def _derived(
        self,
        matrix: npt.NDArray[np.int8],
        *,
        labels: tuple[str, ...] | None = None,
        allow_repeated_columns: bool | None = None,
    ) -> Codebook:
        """A codebook made from this one: another value, so its story does not carry over."""
        if allow_repeated_columns is None:
            allow_repeated_columns = self.allow_repeated_columns
        if labels is None and matrix.shape[0] == self.n_classes:
            labels = self.labels
        return Codebook(matrix, labels=labels, allow_repeated_columns=allow_repeated_columns)

    @staticmethod
    def _indices(
        what: str, values: Sequence[int] | npt.NDArray[np.integer], count: int
    ) -> list[int]:
        indices = [check_int(what, value, minimum=-count, maximum=count - 1) for value in values]
        return [index % count for index in indices]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Codebook):
            return NotImplemented
        return self.labels == other.labels and np.array_equal(self.matrix, other.matrix)

    def __hash__(self) -> int:
        return hash((self.matrix.shape, self.matrix.tobytes(), self.labels))

    # ----------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the codebook to a ``.json``, ``.csv`` or ``.npz`` file; ``ecoc.load`` reads it."""
        from ecoc.codes.files import write_codebook

        write_codebook(self, path)

    # ----------------------------------------------------------------- shows

    def __repr__(self) -> str:
        return display.summary(self)

    def __str__(self) -> str:
        return display.text(self)

    def _repr_html_(self) -> str:
        return display.html(self)

    def plot(self) -> Figure:
        """Draw the matrix and its row distances with matplotlib.

        Returns
        -------
        matplotlib.figure.Figure
            A figure that is not registered with pyplot: save it with ``savefig``, or
            let a notebook show it.
        """
        return display.figure(self)


_SEPARATIONS: tuple[Separation, ...] = ("two-sided", "one-sided")


def _halved(doubled: int) -> float:
    """Half of an integer: an int where it is whole."""
    return doubled // 2 if doubled % 2 == 0 else doubled / 2


def format_rows(matrix: npt.NDArray[np.int8]) -> tuple[str, ...]:
    """Write the rows of a matrix with ``+``, ``-`` and ``0``."""
    characters = np.frombuffer(b"-0+", dtype=np.uint8)[matrix.astype(np.intp) + 1]
    return tuple(row.tobytes().decode("ascii") for row in characters)


def parse_rows(rows: Iterable[str]) -> npt.NDArray[np.int8]:
    """Read rows written with ``+``, ``-`` and ``0``, all of one length."""
    texts = [rows] if isinstance(rows, str) else list(rows)
    parsed = []
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise InvalidCodebookError(f"Row {i} must be text of '+', '-' and '0'.")
        strange = [repr(character) for character in sorted(set(text) - set("+-0"))]
        if strange:
            raise InvalidCodebookError(
                f"Row {i} must hold only '+', '-' and '0'; got {listing(strange)}."
            )
        if len(text) != len(texts[0]):
            raise InvalidCodebookError(
                f"All rows must have the same length: row 0 has {len(texts[0])} columns, "
                f"row {i} has {len(text)}."
            )
        codes = np.frombuffer(text.encode("ascii"), dtype=np.uint8)
        parsed.append((codes == ord("+")).astype(np.int8) - (codes == ord("-")))
    if not parsed:
        raise InvalidCodebookError("A codebook needs at least 2 classes (rows); got no rows.")
    return np.array(parsed, dtype=np.int8)
