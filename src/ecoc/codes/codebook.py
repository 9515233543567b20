"""The codebook: a frozen value around a classes x columns matrix of symbols."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice, check_class_sizes, check_int
from ecoc.codes import display, measures
from ecoc.codes.validation import (
    as_entries,
    as_labels,
    check_codebook,
    check_plain,
    check_symbols,
    check_two_symbols,
    constant_columns,
    first_equal,
    format_rows,
    normalised_columns,
    parse_rows,
)
from ecoc.errors import InvalidInputError, UnsupportedError

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

    A codebook never changes. Two codebooks are equal when their matrices, symbols and labels
    are; name and provenance only tell its story.

    Parameters
    ----------
    matrix : array-like of shape (n_classes, n_columns)
        Two symbols: entries +1 and -1 say on which side of a column's classifier a class
        stands; 0 leaves the class out of that classifier (ternary codes). More symbols:
        entries 0 to n_symbols - 1 say in which group of a column a class stands.
    n_symbols : int, default=2
        How many symbols a column can have, q, for learners that take up to q classes: at
        most 127, and at most the number of classes. A column may use fewer, but at least two.
    labels : iterable of str or int, optional
        Distinct class labels, kept as text.
    name : str, optional
        A short name for people.
    provenance : Provenance, optional
        How the codebook was made.
    allow_repeated_columns : bool, default=False
        Accept columns that are equal or complementary to others, or equal with other
        symbols. Such columns train the same classifier again.

    Raises
    ------
    InvalidCodebookError
        If an entry is not a symbol, a column does not split the classes, two rows cannot be
        told apart, columns repeat, or there are more symbols than classes. The message names
        them.

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

    Columns of three groups need fewer of them:

    >>> print(Codebook([[0, 0], [0, 1], [1, 2], [2, 1], [2, 2]], n_symbols=3))
    0  0 0
    1  0 1
    2  1 2
    3  2 1
    4  2 2
    """

    matrix: npt.NDArray[np.int8]
    _: KW_ONLY
    n_symbols: int = 2
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
            n_symbols: int = 2,
            labels: Iterable[object] | None = None,
            name: str | None = None,
            provenance: Provenance | None = None,
            allow_repeated_columns: bool = False,
        ) -> None: ...

    def __post_init__(self) -> None:
        n_symbols = check_symbols(self.n_symbols)
        matrix = as_entries(self.matrix, n_symbols)
        if not isinstance(self.allow_repeated_columns, bool | np.bool_):
            raise InvalidInputError("allow_repeated_columns must be True or False.")
        check_codebook(matrix, n_symbols, allow_repeated_columns=self.allow_repeated_columns)
        object.__setattr__(self, "matrix", matrix)
        object.__setattr__(self, "n_symbols", n_symbols)
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
        n_symbols: int = 2,
        labels: Iterable[object] | None = None,
        name: str | None = None,
        provenance: Provenance | None = None,
        allow_repeated_columns: bool = False,
    ) -> Codebook:
        """Make a codebook from rows of text, as :attr:`rows` has them.

        Examples
        --------
        >>> Codebook.from_rows(["+++", "+--", "-+-", "--+"]).min_row_distance
        2
        >>> Codebook.from_rows(["000", "011", "122", "210"], n_symbols=3).min_row_distance
        2
        """
        n_symbols = check_symbols(n_symbols)
        return cls(
            parse_rows(rows, n_symbols),
            n_symbols=n_symbols,
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
        """The number of columns (classifiers), L."""
        return int(self.matrix.shape[1])

    @cached_property
    def is_binary(self) -> bool:
        """Whether every entry is +1 or -1: two symbols, and no class left out of a column."""
        return self.n_symbols == 2 and bool(self.matrix.all())

    @property
    def rows(self) -> tuple[str, ...]:
        """The rows as text, a character for each entry.

        Two symbols are ``+`` and ``-``, and ``0`` for a class left out; more are ``0`` to ``9``
        and ``a`` to ``z``. More than 36 are numbers with a space between them.
        """
        return format_rows(self.matrix, self.n_symbols)

    # -------------------------------------------------------------- measures

    def row_distances(self) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
        """Hamming distances of all pairs of rows (equation 1).

        A 0 of a ternary code counts one half. The diagonal is what the equation gives: half
        the number of such zeros of the row.
        """
        return self._whole(measures.distances(self.matrix, self.n_symbols))

    @cached_property
    def min_row_distance(self) -> float:
        """The least distance of two rows, d: an int, or a multiple of 1/2 for ternary codes."""
        doubled = measures.min_doubled_distance(self.matrix, self.n_symbols)
        assert doubled is not None  # noqa: S101  # a codebook has two rows
        return _halved(doubled)

    def prefix_distances(self) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
        """The least row distance of the first column, of the first two, and so on.

        0 where two rows are still equal. It is what is left when columns at the end are
        dropped.

        Examples
        --------
        >>> Codebook.from_rows(["++++", "+--+", "-+-+", "--+-"]).prefix_distances()
        array([0, 1, 2, 2])
        """
        return self._whole(measures.prefix_distances(self.matrix, self.n_symbols))

    @cached_property
    def correctable_errors(self) -> int:
        """How many wrong columns Hamming decoding survives for certain.

        This is floor((d - 1) / 2) where every class takes part in every column. In a ternary
        code the columns that ignore the true class may answer anything, and only errors of
        the other columns are counted, so the guarantee is smaller than that formula would
        give.
        """
        return measures.correctable_errors(self.matrix, self.n_symbols)

    def row_distance_spectrum(self) -> dict[float, int]:
        """How many pairs of classes stand at each distance, in increasing order.

        Examples
        --------
        >>> Codebook.from_rows(["+++", "+--", "-+-", "--+"]).row_distance_spectrum()
        {2: 6}
        """
        return {
            _halved(int(2 * distance)): count
            for distance, count in measures.spectrum(self.matrix, self.n_symbols).items()
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
            which class comes first. With more than two symbols there is one distance: how
            many classes at least stand elsewhere, however the symbols are renamed.

        Examples
        --------
        >>> Codebook([[0, 1], [1, 2], [2, 0], [2, 1]], n_symbols=3).column_distances()
        array([[0, 1],
               [1, 0]])
        """
        self._check_separation(separation)
        if self.n_symbols > 2:
            return measures.renaming_distances(self._columns, self.n_symbols)
        two_sided = separation == "two-sided"
        return self._whole(measures.distances(self._columns, two_sided=two_sided))

    def min_column_distance(self, separation: Separation = "two-sided") -> float | None:
        """The least distance of two columns; None for a single column."""
        self._check_separation(separation)
        return self._min_column_distances[separation]

    def _check_separation(self, separation: Separation) -> None:
        check_choice("separation", separation, _SEPARATIONS)
        if separation == "one-sided" and self.n_symbols > 2:
            raise InvalidInputError(
                f"One-sided distances are of columns of +1 and -1; columns of {self.n_symbols} "
                "symbols have the distance 'two-sided', up to renaming symbols."
            )

    @cached_property
    def _min_column_distances(self) -> dict[str, float | None]:
        # Different columns without zeros are at least 1 apart: the scan can stop there.
        if self.n_symbols > 2:
            floor = 0 if self.allow_repeated_columns else 1
            least = measures.min_renaming_distance(self._columns, self.n_symbols, at_least=floor)
            return {"two-sided": least}
        floor = 0 if self.allow_repeated_columns else (2 if self.is_binary else 1)
        distances = {
            rule: measures.min_doubled_distance(
                self._columns, two_sided=rule == "two-sided", at_least=floor
            )
            for rule in _SEPARATIONS
        }
        return {
            rule: None if least is None else _halved(least) for rule, least in distances.items()
        }

    def column_balance(self, class_sizes: Sequence[int] | None = None) -> measures.ColumnBalance:
        """What stands in the groups of each column: classes, or data points.

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
        return measures.column_balance(self.matrix, self.n_symbols, class_sizes)

    @cached_property
    def min_eigenvalue(self) -> float:
        """How well probabilities of columns tell those of classes; 0 if they do not.

        The least eigenvalue, on the vectors of sum 0, of the matrix of how many columns each
        two classes agree in. Class probabilities follow uniquely from the probabilities of
        all columns if and only if it is positive; that takes k <= L (q - 1) + 1. It is at
        most the minimum row distance.

        Examples
        --------
        >>> Codebook([[0, 0], [0, 1], [1, 2], [2, 1]], n_symbols=3).min_eigenvalue > 0
        True
        >>> Codebook.from_rows(["++", "+-", "-+", "--"]).min_eigenvalue
        0.0
        """
        if self.n_symbols == 2 and not self.is_binary:
            raise UnsupportedError(
                "The eigenvalue that tells whether probabilities are identifiable is known for "
                "codes in which every class takes part in every column, not for ternary codes."
            )
        return measures.min_eigenvalue(self.matrix, self.n_symbols)

    @cached_property
    def _columns(self) -> npt.NDArray[np.int8]:
        return np.ascontiguousarray(normalised_columns(self.matrix, self.n_symbols).T)

    def _whole(
        self, values: npt.NDArray[np.float64]
    ) -> npt.NDArray[np.int64] | npt.NDArray[np.float64]:
        return values.astype(np.int64) if self.is_binary or self.n_symbols > 2 else values

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
            become the same as an earlier one, instead of raising.

        Returns
        -------
        Codebook
            Where fewer classes are left than there were symbols, the symbols of every column
            are numbered anew and are as many as the classes; two become +1 and -1.
        """
        chosen = self._indices("rows", rows, self.n_classes)
        matrix, n_symbols = self.matrix[chosen], self.n_symbols
        if 2 <= len(chosen) < n_symbols:
            matrix, n_symbols = normalised_columns(matrix, n_symbols), len(chosen)
            if n_symbols == 2:
                matrix = 1 - 2 * matrix
        if drop_useless_columns and matrix.size:
            matrix = matrix[:, ~constant_columns(matrix, n_symbols)]
            if matrix.shape[1]:
                alike = np.ascontiguousarray(normalised_columns(matrix, n_symbols).T)
                matrix = matrix[:, first_equal(alike) == np.arange(len(alike))]
        labels = None if self.labels is None else tuple(self.labels[i] for i in chosen)
        return self._derived(matrix, n_symbols=n_symbols, labels=labels)

    def take_columns(self, columns: Sequence[int] | npt.NDArray[np.integer]) -> Codebook:
        """The codebook of some of the columns, in the given order."""
        return self._derived(self.matrix[:, self._indices("columns", columns, self.n_columns)])

    def complement_columns(self, columns: Sequence[int] | npt.NDArray[np.integer]) -> Codebook:
        """The same codebook of two symbols with the sides of some columns exchanged."""
        check_two_symbols(self, "complement_columns")
        signs = np.ones(self.n_columns, dtype=np.int8)
        signs[self._indices("columns", columns, self.n_columns)] = -1
        return self._derived(self.matrix * signs)

    def normalise(self) -> Codebook:
        """The same codebook with +1 in the first row (ternary: for the first class used).

        More than two symbols are numbered in the order in which a column first has them.
        """
        return self._derived(normalised_columns(self.matrix, self.n_symbols))

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
            if other.n_symbols != self.n_symbols:
                raise InvalidInputError(
                    f"Codebooks to concatenate must have as many symbols: this one has "
                    f"{self.n_symbols}, another {other.n_symbols}."
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
        """Whether the codebooks differ only in the order of columns and the names of symbols.

        Such codebooks train the same classifiers. Classes keep their places; labels
        do not matter.

        Examples
        --------
        >>> a = Codebook.from_rows(["++", "+-", "-+"])
        >>> a.is_equivalent(Codebook.from_rows(["+-", "--", "++"]))
        True
        """
        if (self.matrix.shape, self.n_symbols) != (other.matrix.shape, other.n_symbols):
            return False
        return sorted(map(bytes, self._columns)) == sorted(map(bytes, other._columns))

    def _derived(
        self,
        matrix: npt.NDArray[np.int8],
        *,
        n_symbols: int | None = None,
        labels: tuple[str, ...] | None = None,
        allow_repeated_columns: bool | None = None,
    ) -> Codebook:
        """A codebook made from this one: another value, so its story does not carry over."""
        if allow_repeated_columns is None:
            allow_repeated_columns = self.allow_repeated_columns
        if labels is None and matrix.shape[0] == self.n_classes:
            labels = self.labels
        return Codebook(
            matrix,
            n_symbols=self.n_symbols if n_symbols is None else n_symbols,
            labels=labels,
            allow_repeated_columns=allow_repeated_columns,
        )

    @staticmethod
    def _indices(
        what: str, values: Sequence[int] | npt.NDArray[np.integer], count: int
    ) -> list[int]:
        indices = [check_int(what, value, minimum=-count, maximum=count - 1) for value in values]
        return [index % count for index in indices]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Codebook):
            return NotImplemented
        return (
            self.n_symbols == other.n_symbols
            and self.labels == other.labels
            and np.array_equal(self.matrix, other.matrix)
        )

    def __hash__(self) -> int:
        return hash((self.n_symbols, self.matrix.shape, self.matrix.tobytes(), self.labels))

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

    def to_latex(self) -> str:
        r"""The matrix as a table for LaTeX, with the package booktabs.

        Examples
        --------
        >>> code = Codebook.from_rows(["+-", "-+"], labels=["cats & dogs", "birds"],
        ...     allow_repeated_columns=True)
        >>> print(code.to_latex(), end="")
        % \usepackage{booktabs}
        \begin{tabular}{l*{2}{c}}
        \toprule
        class & 0 & 1 \\
        \midrule
        cats \& dogs & $+$ & $-$ \\
        birds & $-$ & $+$ \\
        \bottomrule
        \end{tabular}
        """
        return display.latex(self)

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
