"""A linear or integer program as a plain value, and nothing about how it is solved."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice
from ecoc._typing import Bools, Floats
from ecoc.errors import InvalidInputError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["LinearProgram", "NameBlock", "Names", "ProgramSize"]


@dataclass(frozen=True)
class ProgramSize:
    """How large a program is: variables, rows, non-zero coefficients, and bytes to hold it.

    A solver needs several times these bytes on top, for its own copies and its factors.
    """

    n_variables: int
    n_rows: int
    n_nonzeros: int

    @property
    def n_bytes(self) -> int:
        """The memory of the program itself: 8 + 4 per coefficient, 20 per row, 25 per variable."""
        return 12 * self.n_nonzeros + 20 * self.n_rows + 25 * self.n_variables

    def __str__(self) -> str:
        return (
            f"{self.n_variables:,} variables, {self.n_rows:,} rows, {self.n_nonzeros:,} non-zeros"
        )


@dataclass(frozen=True, eq=False)
class NameBlock:
    """Names that differ in numbers only: the prefix, then the numbers of each label.

    Parameters
    ----------
    prefix : str
        How every name of the block starts.
    labels : sequence of int, or two-dimensional array of int, optional
        One number, or one row of numbers, for each name. Without it the block is one name.
    """

    prefix: str
    labels: Sequence[int] | npt.NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return 1 if self.labels is None else len(self.labels)

    def __getitem__(self, index: int) -> str:
        if self.labels is None:
            return self.prefix
        return self._name(np.asarray(self.labels[index]).tolist())

    def __iter__(self) -> Iterator[str]:
        if self.labels is None:
            yield self.prefix
            return
        for label in self.labels:
            yield self._name(label.tolist() if isinstance(label, np.ndarray) else label)

    def _name(self, label: int | list[int]) -> str:
        numbers = label if isinstance(label, list) else [label]
        return "_".join([self.prefix, *map(str, numbers)])


@dataclass(frozen=True, eq=False)
class Names(Sequence[str]):
    """Many names held as a few blocks of labels, each made only when it is asked for.

    Examples
    --------
    >>> names = Names((NameBlock("x", [3, 5, 6]), NameBlock("t")))
    >>> list(names)
    ['x_3', 'x_5', 'x_6', 't']
    """

    blocks: tuple[NameBlock, ...]
    _starts: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        starts = [0]
        for block in self.blocks:
            starts.append(starts[-1] + len(block))
        object.__setattr__(self, "_starts", tuple(starts))

    def __len__(self) -> int:
        return self._starts[-1]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            raise IndexError(f"there are {len(self)} names, none with index {index}.")
        block = bisect_right(self._starts, position) - 1
        return self.blocks[block][position - self._starts[block]]

    def __iter__(self) -> Iterator[str]:
        for block in self.blocks:
            yield from block

    def followed_by(self, block: NameBlock) -> Names:
        """Return these names with one block more."""
        return Names((*self.blocks, block))


@dataclass(frozen=True, eq=False)
class LinearProgram:
    """Maximise or minimise c x subject to row_lower <= A x <= row_upper, lower <= x <= upper.

    Parameters
    ----------
    sense : {"max", "min"}
        The direction of the objective.
    objective : array of float, shape (n_variables,)
        The coefficients c.
    matrix : scipy.sparse.csr_array, shape (n_rows, n_variables)
        The coefficients A.
    row_lower, row_upper : array of float, shape (n_rows,)
        The limits of each row, infinite where there is none.
    lower, upper : array of float, shape (n_variables,)
        The limits of each variable.
    integrality : array of bool, shape (n_variables,)
        Which variables take whole numbers only.
    variable_names, row_names : Names
        Unique names without spaces.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> program = LinearProgram(
    ...     "max", [1, 1], csr_array([[1, 2]]), [0], [3], [0, 0], [1, 1], [True, True],
    ...     Names((NameBlock("x", range(2)),)), Names((NameBlock("limit"),)))
    >>> str(program.sizes)
    '2 variables, 1 rows, 2 non-zeros'
    >>> program.is_feasible([1, 1]), program.objective_value([1, 1])
    (True, 2.0)
    """

    sense: Literal["max", "min"]
    objective: Floats
    matrix: Any
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats
    integrality: Bools
    variable_names: Names
    row_names: Names

    def __post_init__(self) -> None:
        check_choice("sense", self.sense, ("max", "min"))
        n_rows, n_variables = self.matrix.shape
        for name, length in (
            ("objective", n_variables),
            ("lower", n_variables),
            ("upper", n_variables),
            ("row_lower", n_rows),
            ("row_upper", n_rows),
        ):
            self._freeze(name, np.float64, length)
        self._freeze("integrality", np.bool_, n_variables)
        for name, length in (("variable_names", n_variables), ("row_names", n_rows)):
            if len(getattr(self, name)) != length:
                raise InvalidInputError(
                    f"{name} must have {length} names, not {len(getattr(self, name))}."
                )
        if not np.isfinite(self.objective).all() or not np.isfinite(self.matrix.data).all():
            raise InvalidInputError("objective and matrix must be finite.")
        for name, low, high in (
            ("row", self.row_lower, self.row_upper),
            ("variable", self.lower, self.upper),
        ):
            wrong = np.flatnonzero(~(low <= high))
            if wrong.size:
                i = int(wrong[0])
                raise InvalidInputError(
                    f"the limits of {name} {i} must not cross, not {low[i]} and {high[i]}."
                )

    def _freeze(self, name: str, dtype: type, length: int) -> None:
        values: npt.NDArray[Any] = np.array(getattr(self, name), dtype=dtype)
        if values.shape != (length,):
            raise InvalidInputError(
                f"{name} must have shape ({length},), to fit the matrix, not {values.shape}."
            )
        values.setflags(write=False)
        object.__setattr__(self, name, values)

    @property
    def sizes(self) -> ProgramSize:
        """The number of variables, rows and non-zero coefficients."""
        n_rows, n_variables = self.matrix.shape
        return ProgramSize(n_variables, n_rows, self.matrix.nnz)

    @cached_property
    def is_integral(self) -> bool:
        """Whether every variable and every coefficient and finite limit is a whole number."""
        limits = np.concatenate([self.row_lower, self.row_upper, self.lower, self.upper])
        return bool(
            self.integrality.all()
            and _whole(self.matrix.data)
            and _whole(limits[np.isfinite(limits)])
        )

    @cached_property
    def integral_objective(self) -> bool:
        """Whether the objective can only be a whole number, so that a gap below 1 is a proof."""
        used = self.objective != 0
        return bool(self.integrality[used].all() and _whole(self.objective[used]))

    @cached_property
    def is_bounded(self) -> bool:
        """Whether the limits of the variables alone keep the objective from being infinite."""
        upward = self.objective if self.sense == "max" else -self.objective
        ends = np.where(upward > 0, self.upper, self.lower)
        return bool(np.isfinite(ends[upward != 0]).all())

    def objective_value(self, x: npt.ArrayLike) -> float:
        """Return c x."""
        return float(self.objective @ self._vector(x))

    def is_feasible(self, x: npt.ArrayLike, tolerance: float = 0.0) -> bool:
        """Tell whether `x` meets every row, limit and integrality.

        Whole numbers below 2^53 are added exactly in floating point, so with tolerance 0
        the answer is exact for a program and a point in whole numbers.
        """
        values = self._vector(x)
        if not np.isfinite(values).all():
            return False
        fraction = np.abs(values - np.round(values))[self.integrality]
        if fraction.size and fraction.max() > tolerance:
            return False
        rows = self.matrix @ values
        return bool(
            (values >= self.lower - tolerance).all()
            and (values <= self.upper + tolerance).all()
            and (rows >= self.row_lower - tolerance).all()
            and (rows <= self.row_upper + tolerance).all()
        )

    def with_rows(
        self, matrix: Any, lower: npt.ArrayLike, upper: npt.ArrayLike, prefix: str
    ) -> LinearProgram:
        """Return this program with more rows, named by the prefix and their number."""
        from scipy.sparse import vstack

        start, end = self.matrix.shape[0], self.matrix.shape[0] + matrix.shape[0]
        return replace(
            self,
            matrix=vstack([self.matrix, matrix], format="csr"),
            row_lower=np.concatenate([self.row_lower, np.asarray(lower)]),
            row_upper=np.concatenate([self.row_upper, np.asarray(upper)]),
            row_names=self.row_names.followed_by(NameBlock(prefix, range(start, end))),
        )

    def write_mps(self, path: str | Path) -> None:
        """Write a free MPS file, which every solver reads; see :mod:`.files`."""
        from ecoc.design.programs.files import write_mps

        write_mps(self, path)

    def write_lp(self, path: str | Path) -> None:
        """Write a file in the LP format, for people; see :mod:`ecoc.design.programs.files`."""
        from ecoc.design.programs.files import write_lp

        write_lp(self, path)

    def __repr__(self) -> str:
        return f"<LinearProgram: {self.sense}, {self.sizes}>"

    def _vector(self, x: npt.ArrayLike) -> Floats:
        values = np.asarray(x, dtype=np.float64)
        if values.shape != self.objective.shape:
            raise InvalidInputError(
                f"x must have one value for each of the {self.objective.size} variables, "
                f"not shape {values.shape}."
            )
        return values


def _whole(values: Floats) -> bool:
    return bool((values == np.round(values)).all())
