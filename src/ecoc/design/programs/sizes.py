"""The size of a program in closed form, so that one that is too large is never begun."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb

from ecoc._checks import check_choice, check_int
from ecoc.codes.columns import MAX_CLASSES, column_counts_by_weight
from ecoc.design.problem import MAX_SCANNED_CLASSES, DesignProblem, balance_limit
from ecoc.design.programs.linear_program import ProgramSize
from ecoc.design.programs.rows import parity_matters
from ecoc.errors import InvalidInputError, TooLargeError

__all__ = ["MAX_PROGRAM_BYTES", "check_size", "job_size", "parity_pays", "program_size"]

MAX_PROGRAM_BYTES = 4 << 30
"""The memory that a program may take; a solver takes several times as much."""

MAX_PARITY_NONZEROS = 20_000_000
"""Past this the parity rows cost the solver more than they give."""


def program_size(
    formulation: str,
    n_classes: int,
    n_columns: int | None = None,
    *,
    columns_by_weight: Sequence[int] | None = None,
    n_edges: int = 0,
    n_cliques: int = 0,
    clique_nonzeros: int = 0,
    tight_pairs: int = 0,
    parity_cuts: bool = True,
    targets: bool = False,
    odd_triples: int = 0,
    cutoff: bool = False,
    min_row_distance: bool = False,
) -> ProgramSize:
    """Count the variables, rows and non-zeros of a program without building it.

    Parameters
    ----------
    formulation : {"IP1", "IP2", "IP3"}
        The formulation.
    n_classes : int
        The number of classes k.
    n_columns : int, optional
        The number of columns L, on which it depends whether parity cuts are of use; without
        it they are counted if they are asked for.
    columns_by_weight : sequence of int, optional
        The number of candidates that part w classes from class 0, for w = 0, ..., k - 1.
        By default all 2^(k-1) - 1 columns are candidates.
    n_edges : int
        The number of conflicting pairs, for IP2.
    n_cliques, clique_nonzeros : int
        The number of cliques and of all their members together, for IP3.
    tight_pairs : int
        For IP1, how often the distance of a pair equals a limit of separation, which empties
        its row.
    parity_cuts, targets, cutoff, min_row_distance : bool
        Which options of the program are used, as in :class:`ProgramOptions`.
    odd_triples : int
        With whole targets, the triples of classes whose targets have an odd sum.

    Examples
    --------
    >>> print(program_size("IP1", 10, parity_cuts=False))
    130,817 variables, 651,571 rows, 1,184,821 non-zeros
    >>> print(program_size("IP3", 10, 20, n_cliques=464, clique_nonzeros=4640))
    514 variables, 631 rows, 63,039 non-zeros
    """
    check_choice("formulation", formulation, ("IP1", "IP2", "IP3"))
    k = check_int("n_classes", n_classes, minimum=2)
    counts = _counts(columns_by_weight, k)
    n, pairs, triples = sum(counts), comb(k, 2), comb(k, 3)
    distances = sum(count * w * (k - w) for w, count in enumerate(counts))
    variables, rows, nonzeros = n, 1, n
    if formulation == "IP1":
        choices = comb(n, 2)
        variables += choices
        rows += 5 * choices
        nonzeros += 9 * choices - tight_pairs
    elif formulation == "IP2":
        rows += n_edges
        nonzeros += 2 * n_edges
    else:
        rows += n_cliques
        nonzeros += clique_nonzeros
    parity = parity_cuts and k >= 3
    if parity and not targets and n_columns is not None:
        parity = parity_matters(counts, k, n_columns)
    if targets:
        variables += pairs
        rows += 2 * pairs + (odd_triples if parity else 0) + cutoff
        nonzeros += 2 * (distances + pairs) + 3 * odd_triples * parity + pairs * cutoff
        if min_row_distance:
            rows += pairs
            nonzeros += distances
    else:
        variables += 1
        rows += pairs
        nonzeros += distances + pairs
        if parity:
            variables += 2
            rows += triples + 1
            spread = sum(
                count * (triples - comb(w, 3) - comb(k - w, 3)) for w, count in enumerate(counts)
            )
            nonzeros += spread + 2 * triples + 3
    return ProgramSize(variables, rows, nonzeros)


def _counts(columns_by_weight: Sequence[int] | None, n_classes: int) -> list[int]:
    if columns_by_weight is None:
        return [0] + [comb(n_classes - 1, w) for w in range(1, n_classes)]
    if len(columns_by_weight) != n_classes:
        raise InvalidInputError(
            f"columns_by_weight must have {n_classes} entries, for 0 to {n_classes - 1} classes, "
            f"not {len(columns_by_weight)}."
        )
    return [
        check_int(f"columns_by_weight[{w}]", count, minimum=0)
        for w, count in enumerate(columns_by_weight)
    ]


def check_size(
    problem: DesignProblem, formulation: str, *, n_cliques: int = 0, clique_nonzeros: int = 0
) -> None:
    """Refuse a program that would not fit, from closed forms and before anything is built.

    The clique rows of IP3 are counted where they are given; they can be added as needed.
    """
    name = formulation.upper()
    if problem.n_classes > MAX_CLASSES:
        raise TooLargeError(
            f"{name} for {problem.n_classes} classes would have 2^{problem.n_classes - 1} "
            f"variables. {_INSTEAD}"
        )
    # Edges take a while to count, so first without them.
    size = _size(problem, name, n_cliques=n_cliques, clique_nonzeros=clique_nonzeros)
    _refuse_if_too_large(size, problem, name)
    if name == "IP2":
        _refuse_if_too_large(job_size(problem, formulation), problem, name)


def job_size(problem: DesignProblem, formulation: str) -> ProgramSize:
    """The size of a program from closed forms, without the clique rows of IP3."""
    name = formulation.upper()
    return _size(problem, name, n_edges=problem.graph.n_edges if name == "IP2" else 0)


def _size(
    problem: DesignProblem,
    name: str,
    *,
    n_edges: int = 0,
    n_cliques: int = 0,
    clique_nonzeros: int = 0,
) -> ProgramSize:
    return program_size(
        name,
        problem.n_classes,
        problem.n_columns,
        columns_by_weight=_columns_by_weight(problem),
        parity_cuts=parity_pays(problem),
        targets=not problem.maximises,
        min_row_distance=True,
        n_edges=n_edges,
        n_cliques=n_cliques,
        clique_nonzeros=clique_nonzeros,
    )


def _refuse_if_too_large(size: ProgramSize, problem: DesignProblem, name: str) -> None:
    if size.n_bytes <= MAX_PROGRAM_BYTES:
        return
    raise TooLargeError(
        f"{name} for {problem.n_classes} classes would have {size}, about "
        f"{_bytes_text(size.n_bytes)} before the solver's own memory; at most "
        f"{_bytes_text(MAX_PROGRAM_BYTES)} are allowed. {_INSTEAD}"
    )


_INSTEAD = (
    "Use method='auto', whose bounds and constructions need no program, or ask for fewer classes "
    "or a stricter balance that leaves fewer columns."
)


def _columns_by_weight(problem: DesignProblem) -> list[int]:
    """How many admissible columns part w classes from the first, for w = 0, ..., k - 1.

    Where there are too many columns to look at, a balance by class sizes is left out of
    account: the count is then an upper bound.
    """
    k = problem.n_classes
    limit = k if problem.max_imbalance is None else balance_limit(problem.max_imbalance, None, k)
    if problem.class_sizes is None or problem.max_imbalance is None:
        return [comb(k - 1, w) if w > 0 and abs(k - 2 * w) <= limit else 0 for w in range(k)]
    if k > MAX_SCANNED_CLASSES:
        return [0, *(comb(k - 1, w) for w in range(1, k))]
    limit = balance_limit(problem.max_imbalance, problem.class_sizes, k)
    return list(column_counts_by_weight(tuple(problem.class_sizes), limit))


def parity_pays(problem: DesignProblem) -> bool:
    """Whether the parity rows of a problem are few enough to be worth it."""
    k = problem.n_classes
    rows = comb(k, 3)
    return rows * sum(_columns_by_weight(problem)) <= MAX_PARITY_NONZEROS


def _bytes_text(count: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB", "TiB", "PiB"):
        if count < 1024:
            return f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:.3g} EiB"
