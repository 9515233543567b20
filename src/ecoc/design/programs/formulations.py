"""The integer programs IP1, IP2 and IP3, which choose columns from a list of candidates.

All three share the variables x (which candidates are chosen), the limit on their number,
and the objective; they differ in how they forbid two columns that are too much alike:

* IP1 has a variable for each pair of candidates, as the paper states it first;
* IP2 has a row for each pair of conflicting candidates;
* IP3 has a row for each clique of an edge clique cover of these pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ecoc._checks import check_int, check_number, listing
from ecoc._typing import Ints
from ecoc.codes.columns import MAX_CLASSES
from ecoc.design.problem import DesignProblem
from ecoc.design.programs.linear_program import LinearProgram, NameBlock, Names
from ecoc.design.programs.rows import (
    Parts,
    ProgramOptions,
    RowBlock,
    derived_values,
    deviation,
    max_min,
)
from ecoc.design.programs.sizes import check_size, parity_pays
from ecoc.errors import InvalidInputError, TooLargeError, UnsupportedError
from ecoc.graphs import CliqueCover

__all__ = ["Formulation", "build_ip1", "build_ip2", "build_ip3", "build_program"]


@dataclass(frozen=True, eq=False)
class Formulation:
    """An integer program and the way back from its variables to columns.

    Attributes
    ----------
    name : str
        IP1, IP2 or IP3.
    program : LinearProgram
        The program itself.
    columns : numpy.ndarray of int
        The candidates; the first variables of the program, in this order.
    n_classes, n_columns : int
        The number of classes k, and the number of columns L allowed.
    options : ProgramOptions
        What was asked for.
    """

    name: str
    program: LinearProgram
    columns: Ints
    n_classes: int
    n_columns: int
    options: ProgramOptions = field(repr=False)

    def columns_of(self, x: npt.ArrayLike) -> Ints:
        """Return the columns that a solution chooses, in the order of the candidates.

        Examples
        --------
        >>> ip3 = build_ip3([3, 5, 6], 4, 2, indptr=[0], members=[])
        >>> ip3.columns_of(ip3.start_vector([6, 3]))
        array([3, 6])
        """
        values = np.asarray(x, dtype=np.float64)
        if values.shape != self.program.objective.shape:
            raise InvalidInputError(
                f"x must have one value for each of the {self.program.objective.size} "
                f"variables, not shape {values.shape}."
            )
        return self.columns[values[: self.columns.size] > 0.5]

    def start_vector(self, columns: npt.ArrayLike) -> npt.NDArray[np.float64]:
        """Return the values of all variables that choose these columns, the best ones for them.

        Whether the columns are feasible is not checked here: `program.is_feasible` does.
        """
        chosen = _whole_numbers("columns", columns)
        x = np.zeros(self.columns.size)
        x[_positions("columns", chosen, self.columns)] = 1
        derived = derived_values(
            self.columns, self.n_classes, self.n_columns, self.options, np.flatnonzero(x)
        )
        n_pairs = self.program.objective.size - x.size - derived.size
        together: npt.NDArray[np.float64] = np.empty(0)
        if n_pairs:
            first, second = np.triu_indices(x.size, k=1)
            together = x[first] * x[second]
        return np.concatenate([x, together, derived])


def build_ip1(
    columns: npt.ArrayLike,
    n_classes: int,
    n_columns: int,
    *,
    min_column_distance: int,
    max_column_distance: int | None = None,
    options: ProgramOptions | None = None,
) -> Formulation:
    """Build IP1 of the paper, which has a variable x_ij = x_i and x_j for each pair.

    Parameters
    ----------
    columns : array of int
        The candidates.
    n_classes, n_columns : int
        The number of classes k, and the number of columns L allowed.
    min_column_distance : int
        The separation rho that two chosen columns must have.
    max_column_distance : int, optional
        The distance that two chosen columns may have: L - rho as the paper writes it,
        k - rho if complements count as equal. By default k, which never binds.
    options : ProgramOptions, optional
        What else is asked for.

    Examples
    --------
    >>> build_ip1([3, 5, 6], 4, 2, min_column_distance=2).program
    <LinearProgram: max, 7 variables, 22 rows, 45 non-zeros>
    """
    parts = _checked(columns, n_classes, n_columns, options)
    least = check_int("min_column_distance", min_column_distance)
    most = n_classes if max_column_distance is None else max_column_distance
    most = check_int("max_column_distance", most)
    first, second = np.triu_indices(parts.columns.size, k=1)
    values = parts.columns.astype(np.uint64)
    distance = np.bitwise_count(values[first] ^ values[second]).astype(np.int64)
    labels = np.column_stack([parts.columns[first], parts.columns[second]])
    own = parts.columns.size + np.arange(first.size)
    blocks = [
        parts.rows(NameBlock("separate_low", labels), [own], [distance - least], 0, np.inf),
        parts.rows(NameBlock("separate_high", labels), [own], [most - distance], 0, np.inf),
        parts.rows(NameBlock("and_first", labels), [own, first], [1, -1], -np.inf, 0),
        parts.rows(NameBlock("and_second", labels), [own, second], [1, -1], -np.inf, 0),
        parts.rows(NameBlock("and_both", labels), [first, second, own], [1, 1, -1], -np.inf, 1),
    ]
    return _finish("IP1", parts.with_pairs(labels), blocks)


def build_ip2(
    columns: npt.ArrayLike,
    n_classes: int,
    n_columns: int,
    *,
    edges: npt.ArrayLike,
    options: ProgramOptions | None = None,
) -> Formulation:
    """Build IP2 of the paper: x_i + x_j <= 1 for each conflicting pair.

    Parameters
    ----------
    columns : array of int
        The candidates.
    n_classes, n_columns : int
        The number of classes k, and the number of columns L allowed.
    edges : array of int, shape (n_edges, 2)
        The conflicting pairs, as positions in `columns`.
    options : ProgramOptions, optional
        What else is asked for.

    Examples
    --------
    >>> build_ip2([3, 5, 6], 4, 2, edges=[(0, 1)]).program
    <LinearProgram: max, 4 variables, 8 rows, 23 non-zeros>
    """
    parts = _checked(columns, n_classes, n_columns, options)
    ends = np.asarray(edges, dtype=np.int64).reshape(-1, 2)
    if ends.size and not (ends.min() >= 0 and ends.max() < parts.columns.size):
        raise InvalidInputError(
            f"edges must be pairs of positions from 0 to {parts.columns.size - 1}."
        )
    if (ends[:, 0] == ends[:, 1]).any():
        raise InvalidInputError("edges must join two different columns.")
    names = NameBlock("conflict", parts.columns[ends])
    return _finish("IP2", parts, [parts.rows(names, list(ends.T), [1, 1], -np.inf, 1)])


def build_ip3(
    columns: npt.ArrayLike,
    n_classes: int,
    n_columns: int,
    *,
    indptr: npt.ArrayLike,
    members: npt.ArrayLike,
    options: ProgramOptions | None = None,
) -> Formulation:
    """Build IP3 of the paper: at most one column of each clique.

    Parameters
    ----------
    columns : array of int
        The candidates.
    n_classes, n_columns : int
        The number of classes k, and the number of columns L allowed.
    indptr, members : array of int
        The cliques: number i has the candidates at positions members[indptr[i]:indptr[i+1]].
    options : ProgramOptions, optional
        What else is asked for.

    Examples
    --------
    >>> build_ip3([3, 5, 6], 4, 2, indptr=[0, 3], members=[0, 1, 2]).program
    <LinearProgram: max, 4 variables, 8 rows, 24 non-zeros>
    """
    parts = _checked(columns, n_classes, n_columns, options)
    return _finish("IP3", parts, [clique_rows(parts.columns.size, indptr, members)])


def clique_rows(
    n_candidates: int, indptr: npt.ArrayLike, members: npt.ArrayLike, n_variables: int | None = None
) -> RowBlock:
    """Return the rows "at most one column of each clique" over the given candidates."""
    from scipy.sparse import csr_array

    starts = np.asarray(indptr, dtype=np.int64)
    inside = np.asarray(members, dtype=np.int64)
    if starts.ndim != 1 or not starts.size or starts[0] != 0 or starts[-1] != inside.size:
        raise InvalidInputError("indptr must start at 0 and end at the number of members.")
    if (np.diff(starts) < 1).any():
        raise InvalidInputError("indptr must increase: every clique has a member.")
    if inside.size and not (inside.min() >= 0 and inside.max() < n_candidates):
        raise InvalidInputError(f"members must be positions from 0 to {n_candidates - 1}.")
    matrix = csr_array(
        (np.ones(inside.size), inside.astype(np.int32), starts),
        shape=(starts.size - 1, n_variables or n_candidates),
    )
    matrix.sum_duplicates()
    if matrix.nnz != inside.size:
        raise InvalidInputError("members must name a column at most once in a clique.")
    return RowBlock(NameBlock("clique", range(starts.size - 1)), matrix, -np.inf, 1.0)


def _finish(name: str, parts: Parts, conflicts: list[RowBlock]) -> Formulation:
    return Formulation(
        name=name,
        program=_assemble(parts, conflicts),
        columns=parts.columns,
        n_classes=parts.n_classes,
        n_columns=parts.n_columns,
        options=parts.options,
    )


def _assemble(parts: Parts, conflicts: list[RowBlock]) -> LinearProgram:
    """Put the program together: limit on columns, conflicts, objective."""
    from scipy.sparse import csr_array, vstack

    n_candidates, n_choices = parts.columns.size, parts.n_choices
    targets = parts.options.targets
    goal = max_min(parts) if targets is None else deviation(parts, targets)
    n_variables = n_choices + goal.objective.size
    count = csr_array(np.ones((1, n_candidates)))
    blocks = [
        RowBlock(NameBlock("columns"), count, -np.inf, float(parts.n_columns)),
        *conflicts,
        *goal.rows,
    ]
    # Every block fills the variables from the left, so widening it costs nothing.
    wide = [
        csr_array((m.data, m.indices, m.indptr), shape=(m.shape[0], n_variables))
        for m in (block.matrix for block in blocks)
    ]
    limits = [block.limits() for block in blocks]
    lower = np.concatenate([np.zeros(n_choices), goal.lower])
    upper = np.concatenate([np.ones(n_choices), goal.upper])
    pairs = () if parts.pair_labels is None else (NameBlock("x", parts.pair_labels),)
    integral = np.full(goal.objective.size, goal.integral)
    return LinearProgram(
        sense="max" if targets is None else "min",
        objective=np.concatenate([np.zeros(n_choices), goal.objective]),
        matrix=vstack(wide, format="csr"),
        row_lower=np.concatenate([low for low, _ in limits]),
        row_upper=np.concatenate([high for _, high in limits]),
        lower=lower,
        upper=upper,
        integrality=np.concatenate([np.ones(n_choices, dtype=bool), integral]),
        variable_names=Names((NameBlock("x", parts.columns), *pairs, *goal.names)),
        row_names=Names(tuple(block.names for block in blocks)),
    )


def _checked(
    columns: npt.ArrayLike, n_classes: int, n_columns: int, options: ProgramOptions | None
) -> Parts:
    options = options or ProgramOptions()
    n_classes = check_int("n_classes", n_classes, minimum=2, maximum=MAX_CLASSES)
    n_columns = check_int("n_columns", n_columns, minimum=0)
    candidates = _whole_numbers("columns", columns)
    if np.unique(candidates).size != candidates.size:
        raise InvalidInputError("columns must be distinct.")
    last = (1 << (n_classes - 1)) - 1
    if candidates.size:
        outside = candidates[(candidates < 1) | (candidates > last)]
        if outside.size:
            raise InvalidInputError(
                f"columns of {n_classes} classes must be from 1 to {last}, "
                f"not {listing(outside.tolist())}."
            )
    check_number("min_row_distance", options.min_row_distance, minimum=0)
    if options.cutoff is not None:
        check_number("cutoff", options.cutoff, minimum=0)
    return Parts(candidates, n_classes, n_columns, options)


def _whole_numbers(name: str, values: npt.ArrayLike) -> Ints:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and not np.issubdtype(array.dtype, np.integer)):
        raise InvalidInputError(f"{name} must be a list of whole numbers.")
    whole: Ints = array.astype(np.int64)
    return whole


def _positions(name: str, values: npt.ArrayLike, candidates: Ints) -> Ints:
    wanted = _whole_numbers(name, values)
    order = np.argsort(candidates)
    places = np.searchsorted(candidates, wanted, sorter=order)
    inside = places < candidates.size
    positions = np.full(wanted.size, -1, dtype=np.int64)
    positions[inside] = order[places[inside]]
    known = inside.copy()
    known[inside] = candidates[positions[inside]] == wanted[inside]
    if not known.all():
        raise InvalidInputError(
            f"{name} must be among the candidates; these are not: "
            f"{listing(wanted[~known].tolist())}."
        )
    return positions


def build_program(
    problem: DesignProblem, formulation: str = "ip3", *, cutoff: float | None = None
) -> Formulation:
    """Build the integer program of a problem.

    Parameters
    ----------
    problem : DesignProblem
        What is wanted.
    formulation : {"ip3", "ip2", "ip1"}
        Which program of the paper.
    cutoff : float, optional
        A bound on the objective that is known from elsewhere.

    Examples
    --------
    >>> build_program(DesignProblem(8, 16, min_column_distance=2)).program
    <LinearProgram: max, 130 variables, 590 rows, 8,446 non-zeros>
    """
    if problem.nested:
        raise UnsupportedError(
            "The integer programs choose a set of columns and know no order of them; leave nested "
            "out."
        )
    candidates, graph = problem.candidates.to_array(), problem.graph
    options = ProgramOptions(
        targets=problem.target_distances,
        cutoff=cutoff,
        parity_cuts=parity_pays(problem),
        min_row_distance=1,
    )
    sizes = problem.n_classes, problem.n_columns
    if formulation == "ip1":
        least, most = problem.separation_limits
        return build_ip1(
            candidates,
            *sizes,
            min_column_distance=least,
            max_column_distance=most,
            options=options,
        )
    if formulation == "ip2":
        return build_ip2(candidates, *sizes, edges=graph.edges(), options=options)
    cover = _cover_that_fits(problem)
    if cover is None:
        return build_ip3(candidates, *sizes, indptr=[0], members=[], options=options)
    return build_ip3(
        candidates, *sizes, indptr=cover.indptr, members=cover.members, options=options
    )


def _cover_that_fits(problem: DesignProblem) -> CliqueCover | None:
    """The clique cover of a problem, or None if the program would be too large with it."""
    from ecoc.graphs import clique_cover

    try:
        cover = clique_cover(problem.graph)
        check_size(problem, "ip3", n_cliques=cover.n_cliques, clique_nonzeros=cover.members.size)
    except TooLargeError:
        return None
    return cover
