"""A linear or integer program as a plain value, its files, and nothing about how it is solved."""

from __future__ import annotations

import io
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from math import isfinite, isinf
from pathlib import Path
from typing import Any, Literal, TextIO

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_choice, counted
from ecoc._files import atomic_stream, decode_text, read_bytes
from ecoc._typing import Bools, Floats
from ecoc.errors import FileFormatError, InvalidInputError

__all__ = ["LinearProgram", "NameBlock", "Names", "ProgramSize", "read_solution"]

_TERMS_PER_LINE = 8
_SOLUTION_ENDS = ("# Rows", "# Dual")


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
            f"{counted(self.n_variables, 'variable', form=',')}, "
            f"{counted(self.n_rows, 'row', form=',')}, "
            f"{counted(self.n_nonzeros, 'non-zero', form=',')}"
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
    '2 variables, 1 row, 2 non-zeros'
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
        """Write the program as a free MPS file, with its names and the section OBJSENSE.

        Examples
        --------
        >>> import tempfile
        >>> from ecoc.design.programs.formulations import build_ip3
        >>> program = build_ip3([3, 5, 6], 4, 2, indptr=[0], members=[]).program
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     program.write_mps(Path(folder, "small.mps"))
        ...     Path(folder, "small.mps").read_text().splitlines()[:3]
        ['NAME ecoc', 'OBJSENSE', '    MAX']
        """
        with _written(path) as file:
            file.write(f"NAME ecoc\nOBJSENSE\n    {self.sense.upper()}\nROWS\n N objective\n")
            names = list(self.row_names)
            bounds = list(zip(self.row_lower.tolist(), self.row_upper.tolist(), strict=True))
            file.writelines(
                f" {_row_type(low, high)} {name}\n"
                for name, (low, high) in zip(names, bounds, strict=True)
            )
            _write_mps_columns(self, names, file)
            file.write("RHS\n")
            for name, (low, high) in zip(names, bounds, strict=True):
                side = low if _row_type(low, high) in "GE" else high
                if side != 0 and isfinite(side):
                    file.write(f" RHS {name} {_number(side)}\n")
            file.write("RANGES\n")
            for name, (low, high) in zip(names, bounds, strict=True):
                if low != high and isfinite(low) and isfinite(high):
                    file.write(f" RANGE {name} {_number(high - low)}\n")
            file.write("BOUNDS\n")
            limits = zip(self.lower.tolist(), self.upper.tolist(), strict=True)
            for name, (low, high) in zip(self.variable_names, limits, strict=True):
                file.writelines(f" {line}\n" for line in _mps_bounds(name, low, high))
            file.write("ENDATA\n")

    def write_lp(self, path: str | Path) -> None:
        """Write the program in the LP format of CPLEX, which reads like the formulas.

        Examples
        --------
        >>> import tempfile
        >>> from ecoc.design.programs.formulations import build_ip3
        >>> program = build_ip3([3, 5, 6], 4, 2, indptr=[0], members=[]).program
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     program.write_lp(Path(folder, "small.lp"))
        ...     Path(folder, "small.lp").read_text().splitlines()[:4]
        ['Maximize', ' objective: 1 t', 'Subject To', ' columns: 1 x_3 + 1 x_5 + 1 x_6 <= 2']
        """
        variables = list(self.variable_names)
        used = np.flatnonzero(self.objective)
        with _written(path) as file:
            goal = _terms([variables[i] for i in used], self.objective[used].tolist())
            file.write(f"{'Maximize' if self.sense == 'max' else 'Minimize'}\n objective: {goal}\n")
            file.write("Subject To\n")
            limits = zip(self.row_lower.tolist(), self.row_upper.tolist(), strict=True)
            rows = _slices(self.matrix)
            for name, (indices, values), (low, high) in zip(
                self.row_names, rows, limits, strict=True
            ):
                terms = _terms([variables[j] for j in indices], values)
                # A row needs a variable in this format, even where all its coefficients vanish.
                terms = terms or f"0 {variables[0]}"
                if low == high:
                    file.write(f" {name}: {terms} = {_number(low)}\n")
                    continue
                both = isfinite(low) and isfinite(high)
                if isfinite(low):
                    file.write(f" {name}{'_low' if both else ''}: {terms} >= {_number(low)}\n")
                if isfinite(high):
                    file.write(f" {name}{'_high' if both else ''}: {terms} <= {_number(high)}\n")
            file.write("Bounds\n")
            for i, name in enumerate(variables):
                low, high = self.lower[i], self.upper[i]
                file.write(f" {_number(low)} <= {name} <= {_number(high)}\n")
            whole = [variables[i] for i in np.flatnonzero(self.integrality)]
            if whole:
                file.write("General\n")
                file.writelines(f" {name}\n" for name in whole)
            file.write("End\n")

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


@contextmanager
def _written(path: str | Path) -> Iterator[TextIO]:
    with atomic_stream(path) as stream:
        file = io.TextIOWrapper(stream, encoding="utf-8", newline="\n")
        try:
            yield file
        finally:
            file.detach()


def read_solution(path: str | Path, program: LinearProgram) -> Floats:
    r"""Read a solution of a program from the file that a solver wrote.

    Understood are the solution files of HiGHS (raw style), SCIP and Gurobi, and plain lines
    of a name and a value. Variables that the file leaves out are 0, as those solvers mean it.

    Parameters
    ----------
    path : str or Path
        The file.
    program : LinearProgram
        The program that was solved; its names must be the names in the file.

    Returns
    -------
    numpy.ndarray
        One value for each variable; whether they are feasible is not checked here.

    Raises
    ------
    FileFormatError
        If the file cannot be read, or names a variable that the program does not have.

    Examples
    --------
    >>> import tempfile
    >>> from ecoc.design.programs.formulations import build_ip3
    >>> program = build_ip3([3, 5, 6], 4, 2, indptr=[0], members=[]).program
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "best.sol")
    ...     _ = file.write_text("# Objective value = 1\nx_3 1\nx_5 1\nt 1\n")
    ...     read_solution(file, program)[:3]
    array([1., 1., 0.])
    """
    index = {name: i for i, name in enumerate(program.variable_names)}
    values = np.zeros(len(index))
    seen = np.zeros(len(index), dtype=bool)
    for number, line in _solution_lines(Path(path)):
        place = f"{path}, line {number}"
        words = line.split()
        name, position = words[0], index.get(words[0])
        if position is None:
            raise FileFormatError(
                f"{place}: {name!r} is not a variable of this program, "
                f"whose names are like {program.variable_names[0]!r}."
            )
        if seen[position]:
            raise FileFormatError(f"{place}: {name!r} has a value already.")
        seen[position] = True
        values[position] = _value(words, place)
    if not seen.any():
        raise FileFormatError(f"{path} has no line with the name of a variable and its value.")
    return values


def _solution_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines that should hold a value, with their numbers."""
    data = read_bytes(path)
    try:
        lines = decode_text(data).splitlines()
    except FileFormatError as error:
        raise FileFormatError(f"{path} cannot be read as a text file: {error}") from error
    is_highs = bool(lines) and lines[0].strip() == "Model status"
    started = not is_highs
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        if is_highs and line.startswith(_SOLUTION_ENDS):
            return
        if line.startswith("# Columns"):
            started = True
            continue
        # The headers of SCIP: they look like a name and a value, but end in a colon first.
        header = line.lower().startswith(("objective value:", "solution status:"))
        if started and line and not line.startswith("#") and not header:
            yield number, line


def _value(words: list[str], place: str) -> float:
    # SCIP adds the contribution to the objective in brackets as a third word.
    if len(words) != 2 and not (len(words) == 3 and words[2].startswith("(obj:")):
        raise FileFormatError(
            f"{place}: a line must be a name and a value, not {' '.join(words)[:60]!r}."
        )
    try:
        value = float(words[1])
    except ValueError:
        raise FileFormatError(f"{place}: {words[1]!r} is not a number.") from None
    if not isfinite(value):
        raise FileFormatError(f"{place}: the value must be finite, not {words[1]!r}.")
    return value


def _write_mps_columns(program: LinearProgram, rows: list[str], file: TextIO) -> None:
    file.write("COLUMNS\n")
    columns = _slices(program.matrix.tocsc())
    costs, whole = program.objective.tolist(), program.integrality.tolist()
    inside = False
    for j, (name, (indices, values)) in enumerate(
        zip(program.variable_names, columns, strict=True)
    ):
        if whole[j] != inside:
            inside = whole[j]
            file.write(f" MARKER 'MARKER' '{'INTORG' if inside else 'INTEND'}'\n")
        # The objective is always written: it declares a variable that is in no row.
        file.write(f" {name} objective {_number(costs[j])}\n")
        file.writelines(
            f" {name} {rows[i]} {_number(value)}\n"
            for i, value in zip(indices, values, strict=True)
        )
    if inside:
        file.write(" MARKER 'MARKER' 'INTEND'\n")


def _row_type(low: float, high: float) -> str:
    if low == high:
        return "E"
    if isfinite(high):
        return "L"
    return "G" if isfinite(low) else "N"


def _mps_bounds(name: str, low: float, high: float) -> list[str]:
    if low == high:
        return [f"FX BOUND {name} {_number(low)}"]
    if isinf(low) and isinf(high):
        return [f"FR BOUND {name}"]
    lines = [f"LO BOUND {name} {_number(low)}" if isfinite(low) else f"MI BOUND {name}"]
    lines.append(f"UP BOUND {name} {_number(high)}" if isfinite(high) else f"PL BOUND {name}")
    return lines


def _slices(matrix: Any) -> Iterator[tuple[list[int], list[float]]]:
    """Yield the indices and values of each row, or column, of a compressed matrix."""
    starts = matrix.indptr.tolist()
    for start, end in pairwise(starts):
        yield matrix.indices[start:end].tolist(), matrix.data[start:end].tolist()


def _terms(names: list[str], values: list[float]) -> str:
    parts: list[str] = []
    for i, (name, value) in enumerate(zip(names, values, strict=True)):
        sign = "- " if value < 0 else ("+ " if i else "")
        # Lines of this format are limited in length, so a long sum is broken.
        line_break = "\n  " if i and i % _TERMS_PER_LINE == 0 else ""
        parts.append(f"{line_break}{sign}{_number(abs(value))} {name}")
    return " ".join(parts)


def _number(value: float) -> str:
    if isinf(value):
        return "inf" if value > 0 else "-inf"
    whole = int(value)
    return str(whole) if whole == value else repr(float(value))
