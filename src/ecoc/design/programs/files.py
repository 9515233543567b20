"""Programs and solutions as files, to work with solvers that are not called from here."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from math import isfinite, isinf
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from ecoc._files import atomic_stream, decode_text, read_bytes
from ecoc._typing import Floats
from ecoc.errors import FileFormatError

if TYPE_CHECKING:
    from ecoc.design.programs.linear_program import LinearProgram

__all__ = ["read_solution", "write_lp", "write_mps"]

_TERMS_PER_LINE = 8
_SOLUTION_ENDS = ("# Rows", "# Dual")


def write_mps(program: LinearProgram, path: str | Path) -> None:
    """Write a program as a free MPS file, with its names and the section OBJSENSE.

    Examples
    --------
    >>> import tempfile
    >>> from ecoc.design.programs.formulations import build_ip3
    >>> program = build_ip3([3, 5, 6], 4, 2, indptr=[0], members=[]).program
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_mps(program, Path(folder, "small.mps"))
    ...     Path(folder, "small.mps").read_text().splitlines()[:3]
    ['NAME ecoc', 'OBJSENSE', '    MAX']
    """
    with _written(path) as file:
        file.write(f"NAME ecoc\nOBJSENSE\n    {program.sense.upper()}\nROWS\n N objective\n")
        names = list(program.row_names)
        bounds = list(zip(program.row_lower.tolist(), program.row_upper.tolist(), strict=True))
        file.writelines(
            f" {_row_type(low, high)} {name}\n"
            for name, (low, high) in zip(names, bounds, strict=True)
        )
        _write_mps_columns(program, names, file)
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
        limits = zip(program.lower.tolist(), program.upper.tolist(), strict=True)
        for name, (low, high) in zip(program.variable_names, limits, strict=True):
            file.writelines(f" {line}\n" for line in _mps_bounds(name, low, high))
        file.write("ENDATA\n")


def write_lp(program: LinearProgram, path: str | Path) -> None:
    """Write a program in the LP format of CPLEX, which reads like the formulas.

    Examples
    --------
    >>> import tempfile
    >>> from ecoc.design.programs.formulations import build_ip3
    >>> program = build_ip3([3, 5, 6], 4, 2, indptr=[0], members=[]).program
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_lp(program, Path(folder, "small.lp"))
    ...     Path(folder, "small.lp").read_text().splitlines()[:4]
    ['Maximize', ' objective: 1 t', 'Subject To', ' columns: 1 x_3 + 1 x_5 + 1 x_6 <= 2']
    """
    variables = list(program.variable_names)
    used = np.flatnonzero(program.objective)
    with _written(path) as file:
        goal = _terms([variables[i] for i in used], program.objective[used].tolist())
        file.write(f"{'Maximize' if program.sense == 'max' else 'Minimize'}\n objective: {goal}\n")
        file.write("Subject To\n")
        limits = zip(program.row_lower.tolist(), program.row_upper.tolist(), strict=True)
        rows = _slices(program.matrix)
        for name, (indices, values), (low, high) in zip(
            program.row_names, rows, limits, strict=True
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
            low, high = program.lower[i], program.upper[i]
            file.write(f" {_number(low)} <= {name} <= {_number(high)}\n")
        whole = [variables[i] for i in np.flatnonzero(program.integrality)]
        if whole:
            file.write("General\n")
            file.writelines(f" {name}\n" for name in whole)
        file.write("End\n")


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
